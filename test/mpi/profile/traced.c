/* A known number of calls of each kind, for mpiexec -trace: messages in both orders of completion,
 * operations in epochs, one of which MPI_Win_test ends, and a rank that comes late. With an
 * argument: so many puts more. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

enum { MESSAGES = 10 };

int main(int argc, char **argv)
{
    int rank, ranks, *mem, in[MESSAGES], one = 1;
    MPI_Win win;
    MPI_Group all;
    MPI_Request request[MESSAGES];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    for (int i = 0; i < MESSAGES; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, left, i % 2, MPI_COMM_WORLD, &request[i]);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Send(&rank, 1, MPI_INT, right, i % 2, MPI_COMM_WORLD);
    MPI_Waitall(MESSAGES, request, MPI_STATUSES_IGNORE);
    if (rank == 0)
        MPI_Send(&rank, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    else if (rank == 1)
        MPI_Recv(in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    MPI_Win_set_name(win, "an \"array\"");
    MPI_Win_fence(0, win);
    MPI_Put(&one, 1, MPI_INT, right, 0, 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
    for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 5); i++) {
        MPI_Put(&one, 1, MPI_INT, right, 0, 1, MPI_INT, win);
        MPI_Win_flush(right, win);
    }
    MPI_Win_unlock(right, win);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Win_post(all, 0, win);
    MPI_Win_start(all, 0, win);
    MPI_Win_complete(win);
    for (int done = 0; !done; nanosleep(&(struct timespec){0, 1000000}, NULL))
        MPI_Win_test(win, &done); /* rarely: each one is an event */
    MPI_Group_free(&all);
    if (rank == ranks - 1)
        nanosleep(&(struct timespec){0, 50000000}, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
