/* What the race checker costs: three programs, the best of some runs each, ms for one iteration.
 *
 *   stencil    two rows of a grid to each neighbour, a fence, then the points (loads and stores)
 *   transpose  a column of blocks to each process, from runs at a stride, a fence
 *   strided    as ARMCI: puts and accumulates of 64 runs to all others, a flush, a barrier
 *
 *   cost [RUNS] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 512, ROWS = 256, TURNS = 20 };
static int rank, size;

static void stencil(double *grid, double *next, MPI_Win win)
{
    int up = (rank + size - 1) % size, down = (rank + 1) % size;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Put(grid + N, N, MPI_DOUBLE, up, (ROWS + 1) * N, N, MPI_DOUBLE, win);
    MPI_Put(grid + ROWS * N, N, MPI_DOUBLE, down, 0, N, MPI_DOUBLE, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (int i = 1; i <= ROWS; i++)
        for (int j = 1; j < N - 1; j++) {
            int k = i * N + j;
            next[k] = 0.25 * (grid[k - 1] + grid[k + 1] + grid[k - N] + grid[k + N]);
        }
    for (int i = 1; i <= ROWS; i++)
        for (int j = 1; j < N - 1; j++)
            grid[i * N + j] = next[i * N + j];
}

static void transpose(double *grid, double *next, MPI_Win win)
{
    MPI_Datatype column;
    int each = ROWS / size;
    MPI_Type_vector(each, each, N, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++)
            next[j * N + i] = grid[i * N + j] + 1;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    for (int r = 0; r < size; r++)
        MPI_Put(next + r * each * N, 1, column, r, rank * each, 1, column, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Type_free(&column);
}

static void strided(double *grid, double *next, MPI_Win win)
{
    MPI_Datatype runs;
    MPI_Type_vector(64, 16, N, MPI_DOUBLE, &runs);
    MPI_Type_commit(&runs);
    MPI_Win_lock_all(0, win);
    for (int r = 0; r < size; r++) {
        MPI_Put(next, 1, runs, r, rank * 32, 1, runs, win);
        MPI_Accumulate(next, 1, runs, r, rank * 32 + 16, 1, runs, MPI_SUM, win);
    }
    MPI_Win_flush_all(win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_free(&runs);
    (void)grid;
}

int main(int argc, char **argv)
{
    static void (*const programs[])(double *, double *, MPI_Win) = {stencil, transpose, strided};
    static const char *const names[] = {"stencil", "transpose", "strided"};
    int runs = argc > 1 ? atoi(argv[1]) : 10;
    double *grid, *next = calloc((ROWS + 2) * N, sizeof *next);
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate((ROWS + 2) * N * sizeof *grid, sizeof *grid, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &grid, &win);
    for (int i = 0; i < (ROWS + 2) * N; i++)
        grid[i] = i % 7;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int p = 0; p < 3; p++) {
        double best = 1e9;
        for (int run = 0; run < runs; run++) {
            MPI_Barrier(MPI_COMM_WORLD);
            double since = MPI_Wtime();
            for (int i = 0; i < TURNS; i++)
                programs[p](grid, next, win);
            MPI_Barrier(MPI_COMM_WORLD);
            double took = (MPI_Wtime() - since) / TURNS * 1e3;
            best = took < best ? took : best;
        }
        if (!rank)
            printf("%s %.4f\n", names[p], best);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    free(next);
    return 0;
}
