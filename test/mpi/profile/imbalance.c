/* Slow on purpose: the last rank "computes" (sleeps) longer than the others, so that they wait for
 * it at the barrier. With an argument: in MPI_Win_wait and MPI_Win_complete. */
#include <mpi.h>
#include <time.h>

static void exchange(MPI_Group all, MPI_Win win)
{
    MPI_Win_post(all, 0, win);
    MPI_Win_start(all, 0, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
}

int main(int argc, char **argv)
{
    int rank, ranks, *mem;
    MPI_Win win;
    MPI_Group all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    for (int i = 0; i < 20; i++) {
        nanosleep(&(struct timespec){0, rank == ranks - 1 ? 60000000 : 4000000}, NULL);
        if (argc == 1)
            MPI_Barrier(MPI_COMM_WORLD);
        else
            exchange(all, win);
    }
    MPI_Group_free(&all);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
