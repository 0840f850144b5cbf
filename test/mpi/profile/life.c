/* A job that ends before MPI_Finalize, for mpiexec -trace and -report. Argument "segv": rank 1
 * crashes after a barrier to which it comes late; "kill": by a signal that no handler sees; "hang":
 * both receive what is never sent; "exit": rank 1 ends without MPI_Finalize. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int rank, in = 0, *mem;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    if (rank == 1)
        nanosleep(&(struct timespec){0, 50000000}, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1 && !strcmp(how, "segv"))
        raise(SIGSEGV);
    if (rank == 1 && !strcmp(how, "kill"))
        raise(SIGKILL);
    if (rank == 1 && !strcmp(how, "exit"))
        _exit(3);
    if (*how)
        MPI_Recv(&in, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
