/* flood.c - seven against one: floods of locks, of locks with data, of puts and of accumulates
 * with big data, while the target is busy with something else. Its performance variables show
 * that its queues keep to their bounds; nothing is lost, and the first to ask is not forgotten.
 * `small`: the run has a lock queue of a few places. (rma.md, section 5, number 4) */
#include "pv.h"
#include "rw.h"
#include <time.h>

enum { LOCKS = 150, PUTS = 4000, BIG = 40000, CELLS = 2 * BIG };

static int far, fars; /* rank 0 is reached by messages: from here; from how many */

/* Away from MPI for some milliseconds: what comes meanwhile must wait somewhere. */
static void away(int ms)
{
    struct timespec t = {0, ms * 1000000L};

    nanosleep(&t, NULL);
}

static int64_t *cells(struct rw *w) { return (int64_t *)(void *)w->mem; }

static void clear(struct rw *w)
{
    rw_own(w);
    memset(w->mem, 0, w->bytes);
    rw_disown(w);
    MPI_Barrier(w->comm);
}

/* The target keeps its own lock until every rank's request has reached it: what one test of a
 * request sends arrives before a message that is sent after it. */
static void held(struct rw *w)
{
    int64_t v = w->rank;
    MPI_Request q;
    int r, flag;

    clear(w);
    if (w->rank == 0)
        rw_own(w);
    MPI_Barrier(w->comm);
    if (w->rank == 0) {
        for (r = 0; r < fars; r++)
            MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 1, w->comm, MPI_STATUS_IGNORE);
        rw_disown(w);
    } else {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win); /* near ranks wait here */
        MPI_Rput(&v, 1, MPI_INT64_T, 0, rw_disp(w, 0, 8 * (size_t)w->rank), 1, MPI_INT64_T, w->win,
                 &q);
        MPI_Test(&q, &flag, MPI_STATUS_IGNORE);
        if (far)
            MPI_Send(NULL, 0, MPI_INT, 0, 1, w->comm);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        MPI_Win_unlock(0, w->win);
    }
    MPI_Barrier(w->comm);
    for (r = 1; r < w->size && w->rank == 0; r++)
        CHECK_EQ(cells(w)[r], r);
    MPI_Barrier(w->comm);
}

/* LOCK-OP-UNLOCK, exclusive and shared, small. */
static void locks(struct rw *w)
{
    int64_t one = 1;
    int i;

    clear(w);
    for (i = 0; i < LOCKS; i++) {
        if (w->rank == 0) {
            if (i % 50 == 0)
                away(5);
            continue;
        }
        MPI_Win_lock(i % 3 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, w->win);
        MPI_Accumulate(&one, 1, MPI_INT64_T, 0, rw_disp(w, 0, 0), 1, MPI_INT64_T, MPI_SUM, w->win);
        MPI_Win_unlock(0, w->win);
    }
    MPI_Barrier(w->comm);
    if (w->rank == 0) {
        rw_own(w);
        CHECK_EQ(cells(w)[0], (int64_t)LOCKS * (w->size - 1));
        rw_disown(w);
    }
    MPI_Barrier(w->comm);
}

/* Get, add, put under an exclusive lock, of data that no queue keeps: none is lost. */
static void big_locks(struct rw *w)
{
    int64_t *v = mt_alloc(8 * BIG);
    int i, k;

    clear(w);
    for (i = 0; i < 6; i++) {
        if (w->rank == 0) {
            away(3);
            continue;
        }
        for (k = 0; k < BIG; k++)
            v[k] = w->rank;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win);
        MPI_Accumulate(v, 64, MPI_INT64_T, 0, rw_disp(w, 0, 8 * BIG), 64, MPI_INT64_T, MPI_SUM,
                       w->win);
        MPI_Put(v, BIG, MPI_INT64_T, 0, rw_disp(w, 0, 0), BIG, MPI_INT64_T, w->win);
        MPI_Win_unlock(0, w->win);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win);
        MPI_Get(v, BIG, MPI_INT64_T, 0, rw_disp(w, 0, 0), BIG, MPI_INT64_T, w->win);
        MPI_Win_unlock(0, w->win);
        for (k = 1; k < BIG && v[k] == v[0]; k++)
            ;
        MUST(k == BIG && v[0] > 0 && v[0] < w->size,
             "under the lock cell %d is %lld and cell 0 %lld", k, (long long)v[k % BIG],
             (long long)v[0]);
    }
    MPI_Barrier(w->comm);
    if (w->rank == 0) {
        rw_own(w);
        CHECK_EQ(cells(w)[BIG], (int64_t)6 * (w->size - 1) * w->size / 2);
        rw_disown(w);
    }
    free(v);
    MPI_Barrier(w->comm);
}

/* Puts without end, small and then big, and no flush but the unlock. */
static void many_puts(struct rw *w)
{
    int64_t *v = mt_alloc(8 * PUTS), *big = mt_alloc(8 * BIG);
    int i, part = BIG / w->size;

    for (i = 0; i < PUTS; i++)
        v[i] = (int64_t)w->rank * PUTS + i;
    for (i = 0; i < BIG; i++)
        big[i] = w->rank;
    clear(w);
    MPI_Win_lock_all(0, w->win);
    if (w->rank == 0)
        away(20);
    else {
        for (i = 0; i < PUTS; i++)
            MPI_Put(&v[i], 1, MPI_INT64_T, 0, rw_disp(w, 0, 8 * (size_t)(w->rank * 500 + i % 500)),
                    1, MPI_INT64_T, w->win);
        for (i = 0; i < 20; i++)
            MPI_Put(big, part, MPI_INT64_T, 0, rw_disp(w, 0, 8 * (size_t)(BIG + w->rank * part)),
                    part, MPI_INT64_T, w->win);
    }
    MPI_Win_unlock_all(w->win);
    MPI_Barrier(w->comm);
    if (w->rank == 0) {
        int r;

        rw_own(w);
        for (r = 1; r < w->size; r++) {
            CHECK_EQ(cells(w)[r * 500 + 499], (int64_t)r * PUTS + PUTS - 1);
            CHECK_EQ(cells(w)[BIG + r * part], r);
            CHECK_EQ(cells(w)[BIG + (r + 1) * part - 1], r);
        }
        rw_disown(w);
    }
    free(v);
    free(big);
    MPI_Barrier(w->comm);
}

/* Accumulates and fetches with big data on the same elements. */
static void accumulates(struct rw *w)
{
    int64_t *v = mt_alloc(8 * BIG), *old = mt_alloc(8 * BIG);
    int i;

    for (i = 0; i < BIG; i++)
        v[i] = i % 7 + 1;
    clear(w);
    MPI_Win_lock_all(0, w->win);
    if (w->rank == 0)
        away(20);
    else
        for (i = 0; i < 8; i++)
            if (i % 4 == 3)
                MPI_Get_accumulate(v, BIG, MPI_INT64_T, old, BIG, MPI_INT64_T, 0, rw_disp(w, 0, 0),
                                   BIG, MPI_INT64_T, MPI_SUM, w->win);
            else
                MPI_Accumulate(v, BIG, MPI_INT64_T, 0, rw_disp(w, 0, 0), BIG, MPI_INT64_T, MPI_SUM,
                               w->win);
    MPI_Win_unlock_all(w->win);
    MPI_Barrier(w->comm);
    if (w->rank == 0) {
        rw_own(w);
        for (i = 0; i < BIG; i++)
            MUST(cells(w)[i] == 8LL * (w->size - 1) * (i % 7 + 1), "element %d is %lld", i,
                 (long long)cells(w)[i]);
        rw_disown(w);
    }
    free(v);
    free(old);
    MPI_Barrier(w->comm);
}

/* What the queues were at most, and that the flood was one. */
static void bounds(struct rw *w, int small)
{
    long long places = pv_cvar("MPIR_CVAR_CH3_RMA_TARGET_LOCK_ENTRY_WIN_POOL_SIZE");
    long long bytes = pv_cvar("MPIR_CVAR_CH3_RMA_TARGET_LOCK_DATA_BYTES");
    long long ops = pv_cvar("MPIR_CVAR_CH3_RMA_OP_WIN_POOL_SIZE") +
                    pv_cvar("MPIR_CVAR_CH3_RMA_OP_GLOBAL_POOL_SIZE");
    long long targets = pv_cvar("MPIR_CVAR_CH3_RMA_TARGET_WIN_POOL_SIZE") +
                        pv_cvar("MPIR_CVAR_CH3_RMA_TARGET_GLOBAL_POOL_SIZE");
    const char *name = rw_flavour_names[w->flavour];
    long long high;

    high = pv_read(w->win, "rma_lock_queue_high");
    MUST(high <= places, "%s: %lld lock requests waited, %lld may", name, high, places);
    high = pv_read(w->win, "rma_lock_data_high");
    MUST(high <= bytes, "%s: %lld bytes waited with lock requests, %lld may", name, high, bytes);
    high = pv_read(w->win, "rma_op_elements_high");
    MUST(high <= ops, "%s: %lld operation elements, there are %lld", name, high, ops);
    high = pv_read(w->win, "rma_target_elements_high");
    MUST(high <= targets, "%s: %lld target elements, there are %lld", name, high, targets);
    CHECK_EQ(pv_read(w->win, "rma_op_elements"), 0);
    if (w->rank == 0) {
        MUST(pv_read(w->win, "rma_locks_queued") > 0 || !fars, "%s: no lock request had to wait",
             name);
        if (small && fars > places)
            MUST(pv_read(w->win, "rma_locks_discarded") > 0 &&
                     pv_read(w->win, "rma_lock_queue_high") == places,
                 "%s: the lock queue did not run over", name);
    }
    if (!fars && w->flavour == RW_ALLOCATE) /* the first; the count is that of all windows so far */
        CHECK_EQ(pv_read(w->win, "rma_messages"), 0); /* mapped: no message, nothing queued */
}

int main(int argc, char **argv)
{
    int f, small = argc > 1 && strcmp(argv[1], "--small") == 0;
    struct rw w;
    MPI_Comm node;
    MPI_Group here, all;
    int zero = 0;

    pv_begin();
    mt_init(&argc, &argv);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(node, &here);
    MPI_Group_translate_ranks(all, 1, &zero, here, &far);
    far = far == MPI_UNDEFINED;
    MPI_Allreduce(&far, &fars, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Group_free(&all);
    MPI_Group_free(&here);
    MPI_Comm_free(&node);
    for (f = 0; f < RW_FLAVOURS; f++) {
        if (f == RW_ALLOC_MEM || !rw_make(&w, f, 8 * CELLS, MPI_COMM_WORLD))
            continue;
        held(&w);
        locks(&w);
        big_locks(&w);
        many_puts(&w);
        accumulates(&w);
        bounds(&w, small);
        rw_free(&w);
    }
    MPI_T_finalize();
    return mt_finish();
}
