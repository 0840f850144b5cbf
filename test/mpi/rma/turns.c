/* turns.c - whose turn it is for a lock (rma.md 5.3): one exclusive locker beside readers that lock
 * all again and again; shared locks on several targets in different orders beside exclusive
 * lockers; LOCK_ALL that does not wait for locks it does not touch.
 *
 * Waits are counted in acquisitions of the lock by others.  A deadlock ends by the timeout. */
#include "pv.h"
#include "rw.h"

enum { TURNS = 15, ROUNDS = 150 };
/* Cells of the counters: acquisitions of the lock of rank 0 by readers; the readers may end. */
enum { TAKEN, STOP };

static struct rw b; /* the counters, at rank 0; all ranks have it locked with NOCHECK */

static int64_t counted(int cell, int64_t more)
{
    int64_t got = 0;

    MPI_Fetch_and_op(&more, &got, MPI_INT64_T, 0, rw_disp(&b, 0, 8 * (size_t)cell), MPI_SUM, b.win);
    MPI_Win_flush(0, b.win);
    return got;
}

static void put(struct rw *w, int t, int cell, int64_t v)
{
    MPI_Put(&v, 1, MPI_INT64_T, t, rw_disp(w, t, 8 * (size_t)cell), 1, MPI_INT64_T, w->win);
    MPI_Win_flush(t, w->win);
}

static int64_t get(struct rw *w, int t, int cell)
{
    int64_t v = -1;

    MPI_Get(&v, 1, MPI_INT64_T, t, rw_disp(w, t, 8 * (size_t)cell), 1, MPI_INT64_T, w->win);
    MPI_Win_flush(t, w->win);
    return v;
}

static int ascending(const void *a, const void *b64)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b64;

    return x < y ? -1 : x > y;
}

/* Most of the time is inside the epoch, so that some reader holds the lock at any time.
 * Returns 1 at the end. */
static int read_all(struct rw *w)
{
    int i, over;

    MPI_Win_lock_all(0, w->win);
    put(w, 0, 1 + w->rank, 1); /* the lock is held from here on */
    counted(TAKEN, 1);
    for (i = 0; i < 16; i++)
        put(w, i % w->size, 1 + w->rank, i);
    over = counted(STOP, 0) != 0;
    MPI_Win_unlock_all(w->win);
    return over;
}

/* The last rank locks rank 0 exclusively until it has had its turns; all others lock all.  Each of
 * them may pass it once while it is queued: main() judges rma_lock_wait_max, which says so exactly.
 * From outside that shows less well.  Before it is queued the writer looks at the lock for some
 * microseconds, in which each may take it tens of times. */
static void one_writer(struct rw *w)
{
    int64_t wait[TURNS];
    int i, others = w->size - 1;

    if (w->rank < others) {
        while (!read_all(w))
            ;
    } else {
        for (i = 0; i < TURNS; i++) {
            int64_t before = counted(TAKEN, 0);

            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win);
            put(w, 0, 0, i);
            wait[i] = counted(TAKEN, 0) - before;
            CHECK_EQ(get(w, 0, 0), i);
            MPI_Win_unlock(0, w->win);
        }
        counted(STOP, 1);
        qsort(wait, TURNS, sizeof *wait, ascending);
        MUST(wait[TURNS / 2] <= 100 * others, "half of the waits: %lld acquisitions by %d others",
             (long long)wait[TURNS / 2], others);
    }
    MPI_Barrier(w->comm);
}

/* Even ranks hold shared locks on all targets, each beginning with another and going up or down;
 * odd ones lock one exclusively. */
static void several_orders(struct rw *w)
{
    int i, k, n = w->size;

    for (i = 0; i < ROUNDS; i++) {
        int step = (i + w->rank / 2) % 2 ? 1 : n - 1;

        if (w->rank % 2) {
            int t = (i + w->rank) % n;
            int64_t v;

            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, w->win);
            v = get(w, t, 0);
            put(w, t, 0, v + 1);
            CHECK_EQ(get(w, t, 0), v + 1);
            MPI_Win_unlock(t, w->win);
        } else {
            for (k = 0; k < n; k++) {
                int t = (w->rank + k * step) % n;

                MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w->win);
                CHECK_EQ(get(w, t, 0), get(w, t, 0)); /* no writer beside a reader */
            }
            for (k = 0; k < n; k++)
                MPI_Win_unlock((w->rank + k) % n, w->win);
        }
    }
    MPI_Barrier(w->comm);
}

/* Rank 1 holds 1 and will want 0; rank 0 locks all and touches 2 only, while rank 1 holds 1. */
static void untouched(struct rw *w)
{
    if (w->rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w->win);
        put(w, 1, 0, 7);
        MPI_Send(NULL, 0, MPI_INT, 0, 1, w->comm);
        MPI_Recv(NULL, 0, MPI_INT, 0, 2, w->comm, MPI_STATUS_IGNORE);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win);
        put(w, 0, 0, 7);
        CHECK_EQ(get(w, 0, 0) + get(w, 1, 0), 14);
        MPI_Win_unlock(0, w->win);
        MPI_Win_unlock(1, w->win);
    } else if (w->rank == 0) {
        MPI_Recv(NULL, 0, MPI_INT, 1, 1, w->comm, MPI_STATUS_IGNORE);
        MPI_Win_lock_all(0, w->win);
        put(w, 2, 1, 8);
        MPI_Send(NULL, 0, MPI_INT, 1, 2, w->comm);
        CHECK_EQ(get(w, 2, 1), 8);
        MPI_Win_unlock_all(w->win);
    }
    MPI_Barrier(w->comm);
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : "";
    struct rw w;
    long long longest;

    mt_init(&argc, &argv);
    pv_begin();
    rw_make(&w, RW_ALLOCATE, 8 * (1 + (size_t)mt_size), MPI_COMM_WORLD);
    rw_make(&b, RW_ALLOCATE, 16, MPI_COMM_WORLD);
    rw_own(&w), memset(w.mem, 0, 8 * (1 + (size_t)mt_size)), rw_disown(&w);
    rw_own(&b), memset(b.mem, 0, 16), rw_disown(&b);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, b.win);
    if (!*only || strcmp(only, "writer") == 0)
        one_writer(&w);
    if (!*only || strcmp(only, "orders") == 0)
        several_orders(&w);
    if (!*only || strcmp(only, "untouched") == 0)
        untouched(&w);
    longest = pv_read(w.win, "rma_lock_wait_max");
    MUST(longest < mt_size, "a writer waited for %lld grants to %d others", longest, mt_size - 1);
    MPI_Win_unlock_all(b.win);
    rw_free(&b);
    rw_free(&w);
    return mt_finish();
}
