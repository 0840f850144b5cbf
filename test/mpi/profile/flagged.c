/* Rank 0 tells rank 1 of data: by a flag behind a flush, or (with an argument) by notifications, of
 * which rank 1 waits for the later ones. */
#include <mpi.h>
#include <time.h>

enum { TIMES = 200, FEW = 5 };

static void flags(int rank, MPI_Win win)
{
    double data[8] = {0}, flag = 1;
    if (rank) /* the first flush waits: only a wait that lasts has a place */
        nanosleep(&(struct timespec){0, 20000000}, NULL);
    for (int i = 0; rank == 0 && i < TIMES; i++) {
        MPI_Put(data, 8, MPI_DOUBLE, 1, 0, 8, MPI_DOUBLE, win);
        MPI_Win_flush(1, win); /* the first */
        MPI_Put(&flag, 1, MPI_DOUBLE, 1, 8, 1, MPI_DOUBLE, win);
        MPI_Win_flush(1, win);
    }
}

/* The same calls without a flag: each put has its place, and its flush. */
static void plain(int rank, MPI_Win win)
{
    double value = 1;
    for (int i = 0; rank == 0 && i < 2 * TIMES; i++) {
        MPI_Put(&value, 1, MPI_DOUBLE, 1, i % 8, 1, MPI_DOUBLE, win);
        MPI_Win_flush(1, win);
    }
}

static void notify(int rank, MPI_Win win)
{
    double value = 1;
    MPI_Request req;
    if (rank)
        MPIX_Win_notify_request(win, 1, 1, &req);
    for (int i = 0; i <= FEW; i++) {
        if (rank && i < FEW)
            MPIX_Win_notify_take(win, 2, 1);
        else if (rank)
            MPI_Wait(&req, MPI_STATUS_IGNORE);
        else
            nanosleep(&(struct timespec){0, 100000000}, NULL);
        if (!rank) {
            MPIX_Put_notify(&value, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, i < FEW ? 2 : 1, win);
            MPI_Win_flush(1, win); /* so that it leaves before the next sleep */
        }
    }
}

int main(int argc, char **argv)
{
    int rank;
    double *mine;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(9 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                     &win);
    MPI_Win_set_name(win, "halo");
    MPIX_Win_notify_set_num(win, MPI_INFO_NULL, 3);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc < 2)
        flags(rank, win);
    else if (argv[1][0] == 'n')
        notify(rank, win);
    else
        plain(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
