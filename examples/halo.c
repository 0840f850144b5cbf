/* halo: a row of cells is cut into one part for each rank.  A cell's next state depends on its two
 * neighbours, so each rank puts its outer cells into its neighbours' memory before each step.
 * Two buffers take turns: a neighbour may already put for the next step while this one is computed.
 * The rule is Wolfram's number 110.  The last row is the same for every number of ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 64, STEPS = 50, RULE = 110, STRIDE = CELLS + 2 }; /* a buffer: halo, cells, halo */

static int first_of(int rank, int ranks) { return CELLS * rank / ranks; }

int main(int argc, char **argv)
{
    int rank, ranks;
    char *memory;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > CELLS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    int n = first_of(rank + 1, ranks) - first_of(rank, ranks);
    int left_n = first_of(left + 1, ranks) - first_of(left, ranks);
    MPI_Win_allocate(2 * STRIDE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    for (int i = 0; i < 2 * STRIDE; i++)
        memory[i] = 0;
    if (rank == ranks - 1)
        memory[n] = 1; /* the row begins with a single living cell, its last */
    MPI_Win_fence(0, win);
    for (int step = 0; step < STEPS; step++) {
        int at = STRIDE * (step % 2), next = STRIDE - at;

        /* My first cell is the left neighbour's right halo, my last one the right one's left. */
        MPI_Put(&memory[at + 1], 1, MPI_CHAR, left, at + left_n + 1, 1, MPI_CHAR, win);
        MPI_Put(&memory[at + n], 1, MPI_CHAR, right, at, 1, MPI_CHAR, win);
        MPI_Win_fence(0, win); /* both halo cells of this step are here */
        for (int i = 1; i <= n; i++) {
            int pattern = memory[at + i - 1] * 4 + memory[at + i] * 2 + memory[at + i + 1];
            memory[next + i] = RULE >> pattern & 1;
        }
    }
    int counts[CELLS], firsts[CELLS];
    char row[CELLS + 1] = "";
    for (int r = 0; r < ranks; r++) {
        firsts[r] = first_of(r, ranks);
        counts[r] = first_of(r + 1, ranks) - firsts[r];
    }
    MPI_Gatherv(&memory[STRIDE * (STEPS % 2) + 1], n, MPI_CHAR, row, counts, firsts, MPI_CHAR, 0,
                MPI_COMM_WORLD);
    for (int i = 0; i < CELLS; i++)
        row[i] = row[i] ? '#' : '.';
    if (rank == 0)
        printf("%s\n", row);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
