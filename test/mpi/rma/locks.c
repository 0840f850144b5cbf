/* locks.c - passive target locks: exclusion, several locks at once in crossed orders, lock_all
 * beside exclusive locks, many waiting requests, NOCHECK, nothing inside an epoch. (rma.md, section
 * 5: numbers 2, 3, 4, 5, 7 and 15) */
#include "rw.h"
#include <unistd.h>

enum { ROUNDS = 60 };

static int64_t *cell(struct rw *w, int i) { return (int64_t *)(void *)(w->mem + 8 * i); }

/* get, add, put under an exclusive lock: no update is lost.  With big data no request fits in a
 * small queue: only it is resent, its place stays. */
static void exclusive(struct rw *w, int n, int rounds)
{
    int64_t *v = calloc((size_t)n, sizeof *v);
    int i, k, bad = 0;

    rw_own(w);
    memset(w->mem, 0, 8 * (size_t)n);
    rw_disown(w);
    MPI_Barrier(w->comm);
    for (i = 0; i < rounds; i++) {
        int t = i % 3 ? 0 : w->size - 1;

        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, w->win);
        MPI_Get(v, n, MPI_INT64_T, t, rw_disp(w, t, 0), n, MPI_INT64_T, w->win);
        MPI_Win_flush(t, w->win);
        for (k = 0; k < n; k++)
            v[k]++;
        MPI_Put(v, n, MPI_INT64_T, t, rw_disp(w, t, 0), n, MPI_INT64_T, w->win);
        MPI_Win_unlock(t, w->win);
    }
    MPI_Barrier(w->comm);
    rw_own(w);
    for (k = 0; k < n; k++) {
        int64_t want = 0;

        if (w->rank == 0)
            want += (int64_t)(rounds - (rounds + 2) / 3) * w->size;
        if (w->rank == w->size - 1)
            want += (int64_t)((rounds + 2) / 3) * w->size;
        bad += *cell(w, k) != want;
    }
    rw_disown(w);
    MUST(bad == 0, "exclusive locks, %d elements, %s: %d wrong", n, rw_flavour_names[w->flavour],
         bad);
    free(v);
    MPI_Barrier(w->comm);
}

/* Writers keep two cells equal under exclusive locks, readers look under shared ones. */
static void readers(struct rw *w)
{
    int64_t v[2];
    int i;

    rw_own(w);
    memset(w->mem, 0, 16);
    rw_disown(w);
    MPI_Barrier(w->comm);
    for (i = 0; i < ROUNDS; i++) {
        if ((i + w->rank) % 3 == 0) {
            v[0] = v[1] = w->rank * 1000 + i;
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win);
            MPI_Put(&v[0], 1, MPI_INT64_T, 0, rw_disp(w, 0, 0), 1, MPI_INT64_T, w->win);
            MPI_Put(&v[1], 1, MPI_INT64_T, 0, rw_disp(w, 0, 8), 1, MPI_INT64_T, w->win);
            MPI_Win_unlock(0, w->win);
        } else {
            if (i % 2)
                MPI_Win_lock_all(0, w->win);
            else
                MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win);
            MPI_Get(&v[0], 1, MPI_INT64_T, 0, rw_disp(w, 0, 0), 1, MPI_INT64_T, w->win);
            MPI_Get(&v[1], 1, MPI_INT64_T, 0, rw_disp(w, 0, 8), 1, MPI_INT64_T, w->win);
            if (i % 2)
                MPI_Win_unlock_all(w->win);
            else
                MPI_Win_unlock(0, w->win);
            CHECK_EQ(v[0], v[1]);
        }
    }
    MPI_Barrier(w->comm);
}

/* Every rank locks all targets, lowest first, and touches them in an order of its own; locks on two
 * windows as well.  Unlocks come in yet another order.  (2, 15) */
static void crossed(struct rw *a, struct rw *b, int type)
{
    int i, k, n = a->size;
    int64_t one = 1;

    rw_own(a);
    memset(a->mem, 0, 8);
    rw_disown(a);
    rw_own(b);
    memset(b->mem, 0, 8);
    rw_disown(b);
    MPI_Barrier(a->comm);
    for (i = 0; i < ROUNDS / 2; i++) {
        for (k = 0; k < n; k++)
            MPI_Win_lock(type, k, 0, a->win);
        MPI_Win_lock(type, 0, 0, b->win);
        MPI_Accumulate(&one, 1, MPI_INT64_T, 0, rw_disp(b, 0, 0), 1, MPI_INT64_T, MPI_SUM, b->win);
        for (k = 0; k < n; k++) {
            int t = (k * (a->rank + 1) + a->rank) % n;

            if (k && n % (a->rank + 1) == 0)
                t = (k + a->rank) % n;
            MPI_Accumulate(&one, 1, MPI_INT64_T, t, rw_disp(a, t, 0), 1, MPI_INT64_T, MPI_SUM,
                           a->win);
        }
        MPI_Win_unlock(0, b->win);
        for (k = n - 1; k >= 0; k--)
            MPI_Win_unlock(k, a->win);
    }
    MPI_Barrier(a->comm);
    rw_own(b);
    if (b->rank == 0)
        CHECK_EQ(*cell(b, 0), (int64_t)(ROUNDS / 2) * n);
    rw_disown(b);
    MPI_Barrier(a->comm);
}

/* P0 holds shared(1); P2 asks for exclusive(1); P3, inside an older lock_all, now first touches 1
 *    and only then lets P0 release it. A lock_all that queued behind P2 would deadlock. (3) */
static void joins(struct rw *w)
{
    int64_t v = 5;
    int t = 1;

    if (w->size < 4)
        return;
    if (w->rank == 3)
        MPI_Win_lock_all(0, w->win);
    MPI_Barrier(w->comm);
    switch (w->rank) {
    case 0:
        MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w->win);
        MPI_Put(&v, 1, MPI_INT64_T, t, rw_disp(w, t, 0), 1, MPI_INT64_T, w->win);
        MPI_Win_flush(t, w->win);
        MPI_Send(NULL, 0, MPI_INT, 2, 1, w->comm);
        MPI_Recv(NULL, 0, MPI_INT, 3, 2, w->comm, MPI_STATUS_IGNORE);
        MPI_Win_unlock(t, w->win);
        break;
    case 2:
        MPI_Recv(NULL, 0, MPI_INT, 0, 1, w->comm, MPI_STATUS_IGNORE);
        MPI_Send(NULL, 0, MPI_INT, 3, 3, w->comm);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, w->win);
        MPI_Put(&v, 1, MPI_INT64_T, t, rw_disp(w, t, 8), 1, MPI_INT64_T, w->win);
        MPI_Win_unlock(t, w->win);
        break;
    case 3:
        MPI_Recv(NULL, 0, MPI_INT, 2, 3, w->comm, MPI_STATUS_IGNORE);
        usleep(20000); /* so that the exclusive request is likely to be queued; right in any case */
        MPI_Put(&v, 1, MPI_INT64_T, t, rw_disp(w, t, 16), 1, MPI_INT64_T, w->win);
        MPI_Win_flush(t, w->win);
        MPI_Send(NULL, 0, MPI_INT, 0, 2, w->comm);
        MPI_Win_unlock_all(w->win);
        break;
    }
    MPI_Barrier(w->comm);
}

/* LOCK_ALL of one window and then a lock of another against a lock of each, in the same order of
 * windows: no rank waits for long, although what they first touch is what they locked last. (2) */
static void all_then_one(struct rw *a, struct rw *b)
{
    int64_t one = 1;
    int i, p = a->size > 2 ? 2 : 0, q = a->size > 3 ? 3 : 0;

    rw_own(a), memset(a->mem, 0, 8), rw_disown(a);
    rw_own(b), memset(b->mem, 0, 8), rw_disown(b);
    MPI_Barrier(a->comm);
    for (i = 0; i < ROUNDS && a->rank < 2; i++) {
        if ((a->rank + i / 8) % 2)
            MPI_Win_lock_all(0, a->win);
        else
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, q, 0, a->win);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, p, 0, b->win);
        MPI_Accumulate(&one, 1, MPI_INT64_T, p, rw_disp(b, p, 0), 1, MPI_INT64_T, MPI_SUM, b->win);
        MPI_Win_flush(p, b->win);
        MPI_Accumulate(&one, 1, MPI_INT64_T, q, rw_disp(a, q, 0), 1, MPI_INT64_T, MPI_SUM, a->win);
        MPI_Win_flush(q, a->win); /* under both locks */
        MPI_Win_unlock(p, b->win);
        if ((a->rank + i / 8) % 2)
            MPI_Win_unlock_all(a->win);
        else
            MPI_Win_unlock(q, a->win);
    }
    MPI_Barrier(a->comm);
    rw_own(a);
    CHECK_EQ(*cell(a, 0), a->rank == q ? ROUNDS * (a->size > 1 ? 2 : 1) : 0);
    rw_disown(a);
    rw_own(b);
    CHECK_EQ(*cell(b, 0), b->rank == p ? ROUNDS * (b->size > 1 ? 2 : 1) : 0);
    rw_disown(b);
    MPI_Barrier(a->comm);
}

/* Epochs without an operation, lock and unlock only; nothing but rput inside. */
static void empty(struct rw *w)
{
    int i, t;
    int64_t v = w->rank, got = -1;
    MPI_Request req[2];

    for (i = 0; i < 20; i++) {
        t = (w->rank + i) % w->size;
        MPI_Win_lock(i % 2 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, t, 0, w->win);
        MPI_Win_unlock(t, w->win);
        MPI_Win_lock_all(i % 3 ? 0 : MPI_MODE_NOCHECK, w->win);
        MPI_Win_unlock_all(w->win);
    }
    MPI_Barrier(w->comm);
    /* wait on a request sends lock and operation by itself (7) */
    t = (w->rank + 1) % w->size;
    MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w->win);
    MPI_Rput(&v, 1, MPI_INT64_T, t, rw_disp(w, t, 8 * (size_t)w->rank), 1, MPI_INT64_T, w->win,
             &req[0]);
    MPI_Wait(&req[0], MPI_STATUS_IGNORE);
    MPI_Win_flush(t, w->win);
    MPI_Rget(&got, 1, MPI_INT64_T, t, rw_disp(w, t, 8 * (size_t)w->rank), 1, MPI_INT64_T, w->win,
             &req[1]);
    MPI_Wait(&req[1], MPI_STATUS_IGNORE);
    CHECK_EQ(got, v);
    MPI_Win_unlock(t, w->win);
    MPI_Barrier(w->comm);
}

/* NOCHECK where no other rank locks: each works on its right neighbour only. (5) */
static void nocheck(struct rw *w)
{
    int i, t, k;
    int64_t one = 1;

    rw_own(w);
    memset(w->mem, 0, 8 * 16);
    rw_disown(w);
    MPI_Barrier(w->comm);
    for (i = 0; i < ROUNDS; i++) {
        for (k = 0; k < w->size; k++)
            MPI_Win_lock(MPI_LOCK_SHARED, k, MPI_MODE_NOCHECK, w->win);
        for (k = 0; k < w->size; k++) {
            t = (w->rank + k) % w->size;
            MPI_Accumulate(&one, 1, MPI_INT64_T, t, rw_disp(w, t, 0), 1, MPI_INT64_T, MPI_SUM,
                           w->win);
        }
        for (k = 0; k < w->size; k++)
            MPI_Win_unlock(k, w->win);
    }
    MPI_Barrier(w->comm);
    rw_own(w);
    CHECK_EQ(*cell(w, 0), (int64_t)ROUNDS * w->size);
    rw_disown(w);
    MPI_Barrier(w->comm);
}

int main(int argc, char **argv)
{
    struct rw w, b;
    int f, no_nocheck;

    mt_init(&argc, &argv);
    no_nocheck = argc > 1 && strcmp(argv[1], "--no-nocheck") == 0;
    for (f = 0; f < RW_FLAVOURS; f++) {
        if (!rw_make(&w, f, 8 * 20000, MPI_COMM_WORLD))
            continue;
        rw_make(&b, RW_ALLOCATE, 64, MPI_COMM_WORLD);
        exclusive(&w, 1, ROUNDS);
        exclusive(&w, 20000, 6);
        readers(&w);
        crossed(&w, &b, MPI_LOCK_EXCLUSIVE);
        crossed(&w, &b, MPI_LOCK_SHARED);
        joins(&w);
        all_then_one(&w, &b);
        empty(&w);
        if (!no_nocheck)
            nocheck(&w);
        rw_free(&b);
        rw_free(&w);
    }
    return mt_finish();
}
