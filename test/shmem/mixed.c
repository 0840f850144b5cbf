/* mixed.c - MPI and SHMEM in one process, in each order of begin and end: first, last, between. */
#include <mpi.h>

#include "sh.h"

static long word;

static void both(int mpi)
{
    long sum = 0, *heap = shmem_malloc(sizeof *heap);
    int rank = -1;
    *heap = 0;
    shmem_barrier_all();
    shmem_long_atomic_add(heap, me + 1, (me + 1) % npes);
    shmem_long_p(&word, me, (me + 1) % npes);
    shmem_barrier_all();
    CHECK_EQ(*heap, (me + npes - 1) % npes + 1);
    CHECK_EQ(word, (me + npes - 1) % npes);
    if (mpi) {
        MPI_Win w;
        long *m;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        CHECK_EQ(rank, me);
        MPI_Allreduce(heap, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQ(sum, npes * (npes + 1) / 2);
        MPI_Win_allocate(sizeof *m, sizeof *m, MPI_INFO_NULL, MPI_COMM_WORLD, &m, &w);
        MPI_Win_fence(0, w);
        MPI_Put(heap, 1, MPI_LONG, (me + 1) % npes, 0, 1, MPI_LONG, w);
        shmem_long_p(&word, 50 + me, (me + 1) % npes);
        MPI_Win_fence(0, w);
        shmem_barrier_all();
        CHECK_EQ(*m, (me + 2 * npes - 2) % npes + 1);
        CHECK_EQ(word, 50 + (me + npes - 1) % npes);
        MPI_Win_free(&w);
    }
    shmem_barrier_all();
    shmem_free(heap);
}

int main(int argc, char **argv)
{
    const char *order = argc > 1 ? argv[1] : "first";
    if (!strcmp(order, "first"))
        MPI_Init(&argc, &argv);
    shmem_init();
    sh_begun();
    both(!strcmp(order, "first"));
    if (!strcmp(order, "last") || !strcmp(order, "within"))
        MPI_Init(&argc, &argv);
    both(strcmp(order, "none") != 0);
    if (!strcmp(order, "within")) {
        MPI_Finalize();
        both(0);
    }
    int failed = sh_finish();
    if (!strcmp(order, "first") || !strcmp(order, "last")) {
        int rank = -1;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        failed |= rank != me;
        MPI_Finalize();
    }
    return failed;
}
