/* pieces.c - rank 0 puts to rank 1 and gets from it, argv[1] rounds, each from and to memory of
 * several kinds, and looks at the bytes (doctor.test counts the registrations). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LEN = 24576, LONG = 100000, WIN = 4 * LONG };

static int wrong;

/* Puts `len` bytes of `from`, which get the value v, and gets them into `to`. */
static void there_and_back(char *from, char *to, int len, int v, MPI_Win w)
{
    memset(from, v, (size_t)len);
    MPI_Put(from, len, MPI_BYTE, 1, LONG, len, MPI_BYTE, w);
    MPI_Win_flush(1, w);
    memset(to, ~v, (size_t)len);
    MPI_Get(to, len, MPI_BYTE, 1, LONG, len, MPI_BYTE, w);
    MPI_Win_flush(1, w);
    for (int i = 0; i < len; i++)
        wrong += to[i] != (char)v;
}

int main(int argc, char **argv)
{
    int rank, n = argc > 1 ? atoi(argv[1]) : 1;
    char *mine, *block;
    MPI_Win w;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(WIN, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &w);
    MPI_Alloc_mem(2 * LONG, MPI_INFO_NULL, &block);
    MPI_Win_lock_all(0, w);
    if (rank == 1) { /* so that rank 0's part is registered for others */
        MPI_Get(block, LONG, MPI_BYTE, 0, 0, LONG, MPI_BYTE, w);
        MPI_Win_flush(0, w);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n && rank == 0; i++) {
        /* the program's own, which is elsewhere in each round */
        char *own = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        char *heap = malloc(LEN + (size_t)i * 64);
        there_and_back(own, heap, LEN, i, w);
        there_and_back(heap, block + LONG, LEN, i + 1, w);
        there_and_back(block, mine, LONG, i + 2, w);
        there_and_back(mine, block, LONG, i + 3, w);
        free(heap);
        munmap(own, LEN);
        if (i % 16 == 15) { /* another block, and pages that are given back */
            MPI_Free_mem(block);
            MPI_Alloc_mem(2 * LONG, MPI_INFO_NULL, &block);
        }
    }
    MPI_Win_unlock_all(w);
    MPI_Free_mem(block);
    MPI_Win_free(&w);
    if (wrong)
        printf("%d bytes are wrong\n", wrong);
    MPI_Finalize();
    return wrong != 0;
}
