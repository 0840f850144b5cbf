/* notify_tasks: rank 0 gives tasks to workers, which sleep while they have none.  A task is put
 * into the worker's memory, its result into rank 0's; each put is counted where it arrives.  Rank 0
 * has a counter for each worker, and sleeps until any has a result.  The work: count primes. */
#include <mpi.h>
#include <stdio.h>

enum { TASKS = 200, TASK = 500 };
#ifdef MPIX_NOTIFY_MAX
static int primes_in(int task)
{
    int count = 0, d;
    for (int n = task ? task * TASK : 2; n < (task + 1) * TASK; n++) {
        for (d = 2; d * d <= n && n % d; d++)
            ;
        count += d * d > n;
    }
    return count;
}

int main(int argc, char **argv)
{
    int rank, ranks, w, *box, result = 0, sum = 0, task = 0; /* rank 0: a box for each worker */
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Request done[ranks];
    MPI_Win_allocate(ranks * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &box, &win);
    MPIX_Win_notify_set_num(win, MPI_INFO_NULL, ranks);
    MPI_Win_lock_all(0, win);
    for (w = 1; rank == 0 && w < ranks; w++)
        MPIX_Win_notify_request(win, w, 1, &done[w]);
    for (int busy = ranks - 1; rank == 0 && busy;) {
        MPI_Waitany(ranks - 1, &done[1], &w, MPI_STATUS_IGNORE);
        MPIX_Win_notify_take(win, ++w, 1); /* worker w has put its result */
        sum += box[w];
        int next = task < TASKS ? task++ : -1; /* -1: there are no more */
        busy -= next < 0;
        MPIX_Put_notify(&next, 1, MPI_INT, w, 0, 1, MPI_INT, 0, win);
        MPI_Win_flush_local(w, win); /* `next` may change */
        if (next >= 0)
            MPIX_Win_notify_request(win, w, 1, &done[w]);
    }
    for (; rank > 0; result = primes_in(*box)) { /* the first result says: I am here */
        MPIX_Put_notify(&result, 1, MPI_INT, 0, rank, 1, MPI_INT, rank, win);
        MPIX_Win_notify_take(win, 0, 1); /* sleeps until a task is here */
        if (*box < 0)
            break;
        MPI_Win_flush_local(0, win); /* `result` may change */
    }
    MPI_Win_unlock_all(win);
    if (rank == 0)
        printf("%d primes below %d in %d tasks\n", sum, TASKS * TASK, task);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
#else
int main(void) { return puts("notify_tasks: this MPI has no notified operations") < 0; }
#endif
