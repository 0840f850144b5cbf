/* notify.c - notified operations and waits for them by four threads of each process: each thread
 * with a counter of its own, all threads with one, and waits beside a thread that sets a value. */
#include "team.h"

enum { TURNS = 300, SHARED = T, SET = T + 1, COUNTERS = T + 2 };
static MPI_Win win;
static volatile int64_t *mem;
static int left, right;

static int64_t element(int origin, int t, int i) { return 1 + origin * 1000000 + t * 10000 + i; }

/* There, seen, and back: the neighbour's thread t reads before this one writes again. */
static void *own_counter(void *arg)
{
    int t = (int)(intptr_t)arg, i, there;
    MPI_Count n;
    MPI_Request r;

    for (i = 0; i < TURNS; i++) {
        int64_t x = element(mt_rank, t, i);

        MPIX_Put_notify(&x, 1, MPI_INT64_T, right, t, 1, MPI_INT64_T, t, win);
        switch (i % 4) {
        case 0: MPIX_Win_notify_wait(win, t, 1); break;
        case 1:
            for (there = 0; !there;)
                MPIX_Win_notify_test(win, t, 1, &there);
            break;
        case 2:
            for (n = 0; n < 1;)
                MPIX_Win_notify_get_value(win, t, &n);
            break;
        default:
            MPIX_Win_notify_request(win, t, 1, &r);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        }
        MPIX_Win_notify_take(win, t, 1);
        wrong[t] += mem[t] != element(left, t, i);
        /* the left neighbour may write again: a message of no bytes says so */
        MPI_Sendrecv(NULL, 0, MPI_BYTE, left, t, NULL, 0, MPI_BYTE, right, t, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    return NULL;
}

/* All take from one: each notification ends one of them. */
static void *one_counter(void *arg)
{
    int i;

    for (i = 0; i < TURNS; i++) {
        static const int64_t one = 1;

        MPIX_Accumulate_notify(&one, 1, MPI_INT64_T, right, T, 1, MPI_INT64_T, MPI_SUM, SHARED,
                               win);
        MPIX_Win_notify_take(win, SHARED, 1);
    }
    return arg;
}

/* One thread sets what the others wait for. */
static void *set_beside(void *arg)
{
    int t = (int)(intptr_t)arg;

    if (t)
        MPIX_Win_notify_wait(win, SET, 100);
    else
        MPIX_Win_notify_set_value(win, SET, 100);
    return NULL;
}

int main(int argc, char **argv)
{
    int64_t *base;
    MPI_Count v = -1;
    int round;

    if (!mt_init_threads(&argc, &argv))
        return mt_finish();
    left = (mt_rank + mt_size - 1) % mt_size;
    right = (mt_rank + 1) % mt_size;
    MPI_Win_allocate((T + 1) * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, (T + 1) * 8);
    mem = base;
    MPIX_Win_notify_set_num(win, MPI_INFO_NULL, COUNTERS);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    run(own_counter);
    run(one_counter);
    MPI_Win_flush(right, win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(mem[T], T * TURNS);
    MPIX_Win_notify_get_value(win, SHARED, &v);
    CHECK_EQ(v, 0);
    for (round = 0; round < 20; round++) {
        MPIX_Win_notify_set_value(win, SET, 0);
        run(set_beside);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    return mt_finish();
}
