/* Slow on purpose: the target of each put is outside MPI for milliseconds (it sleeps). The ranks
 * are nodes of their own, so that a put needs an answer. */
#include <mpi.h>
#include <time.h>

int main(int argc, char **argv)
{
    int rank, *mine, one = 1;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_free(&win);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_set_name(win, "table");
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 60; i++) {
        if (rank == 1) {
            int flag;
            nanosleep(&(struct timespec){0, 5000000}, NULL);
            MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        } else {
            MPI_Accumulate(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win);
            MPI_Win_flush(1, win);
        }
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
