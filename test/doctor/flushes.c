/* flushes.c - rank 0 puts to rank 1: argv[1] puts before each of ten flushes (doctor.test counts
 * what they ask of the network). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEN = 24576, SHORT = 16384, FLUSHES = 10, MOST = 16 };

int main(int argc, char **argv)
{
    int rank, n = argc > 1 ? atoi(argv[1]) : 1, wrong = 0;
    char *mine, *from = malloc((size_t)MOST * LEN);
    MPI_Win w;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate((MPI_Aint)MOST * LEN, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &w);
    memset(mine, 0, (size_t)MOST * LEN);
    MPI_Win_lock_all(0, w);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2 && rank == 0; i++) { /* the key comes; another length is not counted */
        MPI_Put(memset(from, 9, SHORT), SHORT, MPI_BYTE, 1, 0, SHORT, MPI_BYTE, w);
        MPI_Win_flush(1, w);
    }
    for (int i = 1; i <= FLUSHES && rank == 0; i++) {
        memset(from, i, (size_t)MOST * LEN);
        for (int k = 0; k < n; k++)
            MPI_Put(from + (size_t)k * LEN, LEN, MPI_BYTE, 1, (MPI_Aint)k * LEN, LEN, MPI_BYTE, w);
        MPI_Win_flush(1, w);
    }
    MPI_Win_unlock_all(w);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w);
    for (size_t i = 0; rank == 1 && i < (size_t)n * LEN; i++)
        wrong += mine[i] != FLUSHES;
    MPI_Win_unlock(rank, w);
    if (wrong)
        printf("%d bytes are wrong\n", wrong);
    MPI_Win_free(&w);
    free(from);
    MPI_Finalize();
    return wrong != 0;
}
