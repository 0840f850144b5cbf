/* wait.c - an MPI program that waits for what never comes: wait recv|barrier|fence; wait abort
 * CODE. Or one that ends with an epoch open: wait open.  Or one whose ranks sleep outside MPI: wait
 * pause. Or one with a request that is refused: wait refused; or with locks in a window that
 * promised to have none: wait locks; or with counts that differ in a collective call: wait
 * counts; or with window and counter in Intel MPI's order: wait swapped. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* On ranks that are far from each other: the get is refused there. */
static void refused(int rank, int size, MPI_Win win)
{
    MPI_Request req;
    int x;
    MPI_Win_set_name(win, "halo");
    if (!rank) {
        MPI_Win_lock(MPI_LOCK_SHARED, size - 1, 0, win);
        MPI_Rget(&x, 1, MPI_INT, size - 1, 1, 1, MPI_INT, win, &req);
        MPI_Wait(&req, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void locks(int rank, MPI_Win win)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
    MPI_Win_set_info(win, info);
    MPI_Info_free(&info);
    MPI_Win_set_name(win, "halo");
    for (int i = 0; i < 2; i++) {
        MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
        MPI_Win_unlock_all(win);
        MPI_Win_lock(MPI_LOCK_SHARED, rank, MPI_MODE_NOCHECK, win);
        MPI_Win_unlock(rank, win);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    exit(0);
}

static void swapped(int rank, MPI_Win win)
{
    MPIX_Win_notify_set_num(win, MPI_INFO_NULL, 2);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 2; i++)
        MPIX_Put_notify(NULL, 0, MPI_INT, rank, 0, 0, MPI_INT, win, i);
    MPIX_Win_notify_wait(win, 1, 1);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    exit(0);
}

int main(int argc, char **argv)
{
    int rank, size, x = 0, *base;
    MPI_Win win;
    const char *what = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d ready\n", rank);
    fflush(stdout);
    if (!strcmp(what, "open")) {
        MPI_Win_lock_all(0, win);
        MPI_Finalize();
        return 0;
    }
    if (!strcmp(what, "refused"))
        refused(rank, size, win);
    if (!strcmp(what, "locks"))
        locks(rank, win);
    if (!strcmp(what, "swapped"))
        swapped(rank, win);
    if (!strcmp(what, "counts")) {
        int many[64] = {0};
        MPI_Bcast(many, rank ? 1 : 64, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (!strcmp(what, "recv")) {
        MPI_Recv(&x, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "abort")) {
        if (rank == size - 1)
            MPI_Abort(MPI_COMM_WORLD, atoi(argv[2]));
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        if (!rank || !strcmp(what, "pause"))
            for (;;)
                pause();
        if (!strcmp(what, "fence"))
            MPI_Win_fence(0, win);
        else
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
