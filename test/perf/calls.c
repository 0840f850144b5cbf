/* calls.c - the library's calls that must stay short, each CALLS times, under callgrind
 * (test/perf/calls.test counts the instructions). One rank: the window is this process's own, which
 * is a near target like any other. With Open MPI's header only those that count_both() names. */
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <valgrind/callgrind.h>

enum { CALLS = 1000 };

static MPI_Win win;
static int64_t from[8192], to[8192], expected;

static void nothing(void) { __asm__ volatile("" ::: "memory"); }
static void put8(void) { MPI_Put(from, 8, MPI_BYTE, 0, 0, 8, MPI_BYTE, win); }
static void flush(void) { MPI_Win_flush(0, win); }
static void put_flush(void)
{
    put8();
    flush();
}
static void comm_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}
static void send_null(void) { MPI_Send(from, 8, MPI_BYTE, MPI_PROC_NULL, 3, MPI_COMM_WORLD); }
static void waitall(void)
{
    MPI_Request r[2];
    MPI_Isend(from, 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(to, 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

#ifndef OPEN_MPI
static void order(void) { MPIX_Win_order(0, win); }
static void put_order(void)
{
    put8();
    order();
}
static MPI_Request taken; /* what is done in its call gives no new one */
static void rfop8(void) { MPIX_Rfetch_and_op(from, to, MPI_INT64_T, 0, 0, MPI_SUM, win, &taken); }
static void rput8(void) { MPI_Rput(from, 8, MPI_BYTE, 0, 0, 8, MPI_BYTE, win, &taken); }
static void rfop8_wait(void)
{
    rfop8();
    MPI_Wait(&taken, MPI_STATUS_IGNORE);
}
static void racc8(void)
{
    MPI_Raccumulate(from, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, win, &taken);
}
static void get8(void) { MPI_Get(to, 8, MPI_BYTE, 0, 0, 8, MPI_BYTE, win); }
static MPI_Win dynamic;
static MPI_Aint handle; /* of this process's memory */
static void put_handle8(void) { MPI_Put(from, 8, MPI_BYTE, 0, handle, 8, MPI_BYTE, dynamic); }
static void get_handle8(void) { MPI_Get(to, 8, MPI_BYTE, 0, handle, 8, MPI_BYTE, dynamic); }
static void acc8(void) { MPI_Accumulate(from, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, win); }
static void acc_double(void)
{
    MPI_Accumulate(from, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_SUM, win);
}
static void fop8(void) { MPI_Fetch_and_op(from, to, MPI_INT64_T, 0, 0, MPI_SUM, win); }
static void cas8(void) { MPI_Compare_and_swap(from, &expected, to, MPI_INT64_T, 0, 0, win); }
static void acc64k(void)
{
    MPI_Accumulate(from, 8192, MPI_INT64_T, 0, 0, 8192, MPI_INT64_T, MPI_SUM, win);
}
static void lock(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Win_unlock(0, win);
}
static void lock_all(void)
{
    MPI_Win_lock_all(0, win);
    MPI_Win_unlock_all(win);
}

/* A word of the origin's own: the locked add is the near one. */
static void put_notify8(void) { MPIX_Put_notify(from, 8, MPI_BYTE, 0, 0, 8, MPI_BYTE, 0, win); }
static void notify_value(void)
{
    MPI_Count value;
    MPIX_Win_notify_get_value(win, 0, &value);
}
static void notify_test(void)
{
    int flag;
    MPIX_Win_notify_test(win, 0, 1, &flag);
}
static void notify_take(void) { MPIX_Win_notify_take(win, 0, 1); }

/* For one process: the call without its communication. */
static void barrier(void)
{
    MPI_Barrier(MPI_COMM_SELF);
}

static void allreduce8(void)
{
    MPI_Allreduce(&from[0], &from[1], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

/* What the checker of collective calls adds to them: nothing else is collected (calls.test). */
static void barrier_check(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce8_check(void)
{
    MPI_Allreduce(&from[0], &from[1], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Messages to oneself: the whole way of a short one, without a process to wait for. */
static void sendrecv8(void)
{
    MPI_Sendrecv(from, 8, MPI_BYTE, 0, 3, to, 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void isend8(void)
{
    MPI_Request r;
    MPI_Isend(from, 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &r);
    MPI_Recv(to, 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

#endif

#ifndef OPEN_MPI
/* A message to oneself, whose receive has a continuation instead of a wait, while so many other
 * requests have one. */
enum { OTHERS = 100000 };
static MPI_Request cont, other[OTHERS];
static int others, ran;

static int on_done(int error, void *data)
{
    (void)data;
    ran++;
    return error;
}
static int query(void *x, MPI_Status *st)
{
    (void)x, (void)st;
    return MPI_SUCCESS;
}
static int freed(void *x)
{
    (void)x;
    return MPI_SUCCESS;
}
static int cancelled(void *x, int done)
{
    (void)x, (void)done;
    return MPI_SUCCESS;
}
static void outstanding(int n)
{
    for (; others < n; others++) {
        MPI_Request r;
        MPI_Grequest_start(query, freed, cancelled, NULL, &r);
        other[others] = r;
        MPIX_Continue(&r, on_done, NULL, 0, MPI_STATUS_IGNORE, cont);
    }
}
static void recv_wait(void)
{
    MPI_Request r;
    MPI_Irecv(to, 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &r);
    MPI_Send(from, 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}
static void continue10(void)
{
    MPI_Request r;
    MPI_Irecv(to, 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &r);
    MPIX_Continue(&r, on_done, NULL, 0, MPI_STATUS_IGNORE, cont);
    MPI_Send(from, 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
}
static void continue100k(void) { continue10(); }
/* Attaching alone. What completes these receives, and runs the functions, is not counted. */
static MPI_Request posted[CALLS + 1];
static int attached;
static void continue_attach(void)
{
    MPIX_Continue(&posted[attached++], on_done, NULL, 0, MPI_STATUS_IGNORE, cont);
}
static void post_all(void)
{
    for (int i = 0; i <= CALLS; i++)
        MPI_Irecv(to, 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &posted[i]);
}
/* The same of receives that are complete: each function runs in the call that attaches it. */
static void continue_done(void) { continue_attach(); }
static void complete_all(void)
{
    attached = 0;
    MPI_Start(&cont);
    post_all();
    for (int i = 0; i <= CALLS; i++)
        MPI_Send(from, 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
    for (int i = 0, flag; i <= CALLS; i++)
        MPI_Request_get_status(posted[i], &flag, MPI_STATUS_IGNORE);
}
#endif

#define COUNT(fn)                                  \
    do {                                           \
        fn(); /* what is bound at the first call */ \
        CALLGRIND_ZERO_STATS;                      \
        for (int i = 0; i < CALLS; i++)            \
            fn();                                  \
        CALLGRIND_DUMP_STATS_AT(#fn);              \
    } while (0)

/* What is counted through the front of Open MPI's interface, too. */
static void count_both(void)
{
    COUNT(comm_rank);
    COUNT(send_null);
    COUNT(put_flush);
    COUNT(waitall);
}

#ifndef OPEN_MPI
static void by_handle(void)
{
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
    MPIX_Memhandle_create(dynamic, to, sizeof to, &handle);
    MPI_Win_lock_all(0, dynamic);
    COUNT(put_handle8);
    COUNT(get_handle8);
    MPI_Win_unlock_all(dynamic);
    MPIX_Memhandle_free(dynamic, handle);
    MPI_Win_free(&dynamic);
}
#endif

int main(int argc, char **argv)
{
    void *base;
    MPI_Init(&argc, &argv);
#ifndef OPEN_MPI
    if (argc > 1) { /* of two ranks */
        COUNT(barrier_check);
        COUNT(allreduce8_check);
        MPI_Finalize();
        return 0;
    }
#endif
    MPI_Win_allocate(sizeof from, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    COUNT(nothing);
    count_both();
#ifndef OPEN_MPI
    COUNT(put8);
    COUNT(get8);
    COUNT(acc8);
    COUNT(acc_double);
    COUNT(fop8);
    COUNT(cas8);
    COUNT(flush);
    COUNT(order);
    COUNT(put_order);
    COUNT(rput8);
    COUNT(rfop8);
    COUNT(rfop8_wait);
    COUNT(racc8);
    COUNT(acc64k);
    MPIX_Win_notify_set_num(win, MPI_INFO_NULL, 1);
    COUNT(put_notify8);
    COUNT(notify_value);
    COUNT(notify_test);
    COUNT(notify_take);
#endif
    MPI_Win_unlock_all(win);
#ifndef OPEN_MPI
    COUNT(lock);
    COUNT(lock_all);
    COUNT(barrier);
    COUNT(allreduce8);
    COUNT(sendrecv8);
    COUNT(isend8);
    COUNT(recv_wait);
    by_handle();
    MPIX_Continue_init(0, 0, MPI_INFO_NULL, &cont);
    MPI_Start(&cont);
    outstanding(10);
    COUNT(continue10);
    outstanding(OTHERS);
    COUNT(continue100k);
    post_all();
    COUNT(continue_attach);
    for (int i = 0; i <= CALLS; i++)
        MPI_Send(from, 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
    for (int i = 0; i < others; i++)
        MPI_Grequest_complete(other[i]);
    MPI_Wait(&cont, MPI_STATUS_IGNORE);
    complete_all();
    COUNT(continue_done);
    MPI_Wait(&cont, MPI_STATUS_IGNORE);
    MPI_Request_free(&cont);
    if (ran != OTHERS + 4 * (CALLS + 1))
        return 1;
#endif
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
