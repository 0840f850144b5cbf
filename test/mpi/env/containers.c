/* containers.c - processes of one host in namespaces of their own share it: memory is mapped,
 * private memory is reached, sleepers are woken.  Argument 1: rank 1 ends in between.
 * Prints one line a rank. */
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 100000, ROUNDS = 50 };

static int rank, size, errors;

#define EXPECT(cond)                                                                               \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            printf("rank %d, line %d: %s\n", rank, __LINE__, #cond);                               \
            errors++;                                                                              \
        }                                                                                          \
    } while (0)

/* Each puts its number into each element of its right neighbour, all add to rank 0's first. */
static void use(MPI_Win win, int64_t *mine)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int64_t *from = malloc(N * sizeof *from), *got = malloc(N * sizeof *got), one = 1;
    for (int round = 0; round < ROUNDS; round++) {
        int n = round % 2 ? N - 1 : 100;
        for (int i = 0; i < n; i++)
            from[i] = 1000000 * round + 1000 * rank + i % 1000;
        MPI_Win_lock_all(0, win);
        MPI_Put(from, n, MPI_INT64_T, right, 1, n, MPI_INT64_T, win);
        MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, win);
        MPI_Win_flush_all(win);
        MPI_Get(got, n, MPI_INT64_T, right, 1, n, MPI_INT64_T, win);
        MPI_Win_unlock_all(win);
        EXPECT(memcmp(got, from, (size_t)n * sizeof *got) == 0);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
        for (int i = 0; i < n; i++)
            if (mine[1 + i] != 1000000 * round + 1000 * left + i % 1000) {
                EXPECT(!"what the left neighbour put");
                break;
            }
        EXPECT(rank || mine[0] == (int64_t)(round + 1) * size);
        MPI_Win_unlock(rank, win);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    free(from);
    free(got);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm host;
    int64_t *mine, *theirs = NULL;
    int there, unit;
    MPI_Aint bytes;
    MPI_Win win;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &there);

    MPI_Win_allocate(N * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    memset(mine, 0, N * sizeof *mine);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_shared_query(win, (rank + 1) % size, &bytes, &unit, &theirs);
    EXPECT(theirs && bytes == N * (MPI_Aint)sizeof *mine);
    use(win, mine);
    MPI_Win_free(&win);

    mine = calloc(N, sizeof *mine); /* private: by its owner or by message */
    MPI_Win_create(mine, N * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    use(win, mine);
    MPI_Win_free(&win);

    /* Large messages, to one that sleeps. */
    for (int i = 0; i < 3; i++) {
        if (rank == 0) {
            usleep(200000);
            for (int r = 1; r < size; r++)
                MPI_Send(mine, N, MPI_INT64_T, r, i, MPI_COMM_WORLD);
        } else {
            MPI_Recv(mine, N, MPI_INT64_T, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (rank == 1 && argc > 1 && atoi(argv[1]) && i == 1) {
            printf("ends\n");
            fflush(stdout);
            _exit(9); /* the first process of a namespace is not killed from inside */
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free(mine);
    if (!errors)
        printf("%d processes on the host, mapped, right\n", there);
    MPI_Comm_free(&host);
    MPI_Finalize();
    return errors != 0;
}
