/* Slow on purpose: each rank holds the lock of rank 0 while it "computes" (sleeps, so that a busy
 * machine changes nothing). */
#include <mpi.h>
#include <time.h>

int main(int argc, char **argv)
{
    int rank, *mine, one = 1;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_set_name(win, "histogram");
    for (int i = 0; i < 60; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        nanosleep(&(struct timespec){0, 2000000}, NULL);
        MPI_Win_unlock(0, win);
    }
    MPI_Win_free(&win);
    return MPI_Finalize();
}
