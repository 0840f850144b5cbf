/* Hangs in the way that the argument names, for the hang report. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void circle(int rank, int ranks)
{
    int in;
    MPI_Recv(&in, 1, MPI_INT, (rank + 1) % ranks, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Rank 0 keeps its own lock, and reads a pipe: no signal may interrupt it. */
static void held(int rank)
{
    int *mem, fd[2];
    char c;
    MPI_Win win;
    MPI_Win_allocate(sizeof *mem, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    MPI_Win_set_name(win, "halo");
    if (rank == 0)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && (pipe(fd) || read(fd[0], &c, 1) < 0))
        exit(3); /* interrupted */
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Win_flush(0, win);
}

/* Rank 0 waits for one more notification than the others make; its window has a long name. */
static void noted(int rank)
{
    int *mem, in;
    MPI_Win win;
    MPI_Win_allocate(sizeof *mem, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    MPI_Win_set_name(win, "a name of a window that has more than the fifty characters of most");
    MPIX_Win_notify_set_num(win, MPI_INFO_NULL, 3);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < rank; i++)
        MPIX_Put_notify(NULL, 0, MPI_INT, 0, 0, 0, MPI_INT, 2, win);
    if (rank == 0)
        MPIX_Win_notify_wait(win, 2, 4);
    MPI_Recv(&in, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1 && !strcmp(argv[1], "circle"))
        circle(rank, ranks);
    else if (argc > 1 && !strcmp(argv[1], "noted"))
        noted(rank);
    else if (argc > 1)
        held(rank);
    return MPI_Finalize();
}
