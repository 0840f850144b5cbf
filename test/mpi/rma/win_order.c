/* win_order.c - MPIX_Win_order: a reader that has read a writer's flag sees the data of that round,
 * or newer ones.  Writes to the same bytes end with the last.  Nothing is flushed in between. */
#include "rw.h"

/* up to 255 rounds: what is half written has no other value */
enum { ROUNDS = 240, SLOTS = 4, LONGS = 3000, DATA = 8 * LONGS, FLAG = SLOTS * DATA,
       SAME = FLAG + 64, BYTES = SAME + DATA };
static const int lens[] = {1, 3, 40, 600, LONGS};

/* Rank 0 writes to the last rank, in each round another length, by another operation. */
static void write_round(struct rw *w, int to, int64_t r, int64_t *data, int64_t *flag)
{
    int i, n = lens[r % 5];
    MPI_Aint at = rw_disp(w, to, (size_t)(r % SLOTS) * DATA);

    for (i = 0; i < n; i++)
        data[i] = r;
    *flag = r;
    if (r % 3 == 2)
        MPI_Accumulate(data, n, MPI_INT64_T, to, at, n, MPI_INT64_T, MPI_REPLACE, w->win);
    else
        MPI_Put(data, n, MPI_INT64_T, to, at, n, MPI_INT64_T, w->win);
    MPIX_Win_order(r % 7 ? to : MPIX_ALL, w->win);
    MPI_Accumulate(flag, 1, MPI_INT64_T, to, rw_disp(w, to, FLAG), 1, MPI_INT64_T, MPI_REPLACE,
                   w->win);
    MPIX_Win_order(to, w->win);
}

static void writer(struct rw *w, int to)
{
    int64_t r, *data = mt_alloc(8 * (size_t)LONGS * (ROUNDS + 1));
    int64_t *flag = mt_alloc(8 * (ROUNDS + 1));

    for (r = 1; r <= ROUNDS; r++) {
        write_round(w, to, r, data + r * LONGS, flag + r);
        if (r % 50 == 0)
            MPI_Win_flush(to, w->win);
    }
    MPI_Win_flush(to, w->win);
    free(data), free(flag);
}

/* Flag first, then data. A slot is written again SLOTS rounds later, so it may be newer. */
static void reader(struct rw *w, int from)
{
    int64_t flag = 0, none = 0, got, *data = mt_alloc(DATA);
    int i, n, bad = 0;

    while (flag < ROUNDS) {
        MPI_Fetch_and_op(&none, &got, MPI_INT64_T, from, rw_disp(w, from, FLAG), MPI_NO_OP, w->win);
        MPI_Win_flush(from, w->win);
        CHECK(got >= flag);
        flag = got;
        if (!flag)
            continue;
        n = lens[flag % 5];
        MPI_Get(data, n, MPI_INT64_T, from, rw_disp(w, from, (size_t)(flag % SLOTS) * DATA), n,
                MPI_INT64_T, w->win);
        MPI_Win_flush(from, w->win);
        for (i = 0; i < n; i++)
            bad += data[i] < flag;
    }
    MUST(bad == 0, "%s: %d words are older than their flag", rw_flavour_names[w->flavour], bad);
    free(data);
}

static void flags(struct rw *w)
{
    int to = w->size - 1;

    MPI_Win_lock_all(0, w->win);
    if (w->rank == 0)
        writer(w, to);
    else
        reader(w, to);
    MPI_Win_unlock_all(w->win);
    MPI_Barrier(w->comm);
}

/* Short over long over short, and what is read between them. */
static void same(struct rw *w, int sync)
{
    int64_t *a = mt_alloc(DATA), *b = mt_alloc(DATA), *c = mt_alloc(DATA), one = -1, old = -2;
    int i, t = (w->rank + 1) % w->size, n = 700;

    for (i = 0; i < LONGS; i++)
        a[i] = 1000 + i, b[i] = 5000 + i, c[i] = -1;
    rw_begin(w, sync, t);
    MPI_Put(a, n, MPI_INT64_T, t, rw_disp(w, t, SAME), n, MPI_INT64_T, w->win);
    MPIX_Win_order(t, w->win);
    MPI_Get(c, n, MPI_INT64_T, t, rw_disp(w, t, SAME), n, MPI_INT64_T, w->win);
    MPIX_Win_order(t, w->win);
    MPI_Put(b, 3, MPI_INT64_T, t, rw_disp(w, t, SAME), 3, MPI_INT64_T, w->win);
    MPIX_Win_order(MPIX_ALL, w->win);
    MPI_Put(b + 1, 1, MPI_INT64_T, t, rw_disp(w, t, SAME), 1, MPI_INT64_T, w->win);
    MPIX_Win_order(t, w->win);
    MPI_Fetch_and_op(&one, &old, MPI_INT64_T, t, rw_disp(w, t, SAME), MPI_SUM, w->win);
    rw_end(w, sync, t);
    CHECK_EQ(old, 5001);
    for (i = 0; i < n; i++)
        CHECK_EQ(c[i], 1000 + i);
    MPI_Barrier(w->comm);
    rw_own(w);
    for (i = 0; i < n; i++)
        CHECK_EQ(((int64_t *)(void *)(w->mem + SAME))[i],
                 i == 0 ? 5000 : i < 3 ? 5000 + i : 1000 + i);
    memset(w->mem + SAME, 0, DATA);
    rw_disown(w);
    MPI_Barrier(w->comm);
    free(a), free(b), free(c);
}

static void edges(struct rw *w)
{
    MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
    CHECK_EQ(mt_class(MPIX_Win_order(0, w->win)), MPI_ERR_RMA_SYNC);
    CHECK_EQ(mt_class(MPIX_Win_order(MPIX_ALL, w->win)), MPI_ERR_RMA_SYNC);
    CHECK_EQ(MPIX_Win_order(MPI_PROC_NULL, w->win), MPI_SUCCESS);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win);
    CHECK_EQ(MPIX_Win_order(0, w->win), MPI_SUCCESS);
    CHECK_EQ(MPIX_Win_order(MPIX_ALL, w->win), MPI_SUCCESS);
    CHECK_EQ(mt_class(MPIX_Win_order(w->size, w->win)), MPI_ERR_RANK);
    CHECK_EQ(mt_class(MPIX_Win_order(-77, w->win)), MPI_ERR_RANK);
    if (w->size > 1)
        CHECK_EQ(mt_class(MPIX_Win_order(1, w->win)), MPI_ERR_RMA_SYNC);
    MPI_Win_unlock(0, w->win);
    MPI_Win_set_errhandler(w->win, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_EQ(mt_class(MPIX_Win_order(0, MPI_WIN_NULL)), MPI_ERR_WIN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Barrier(w->comm);
}

int main(int argc, char **argv)
{
    struct rw w;
    int f, sync;

    mt_init(&argc, &argv);
    for (f = 0; f < RW_FLAVOURS; f++) {
        if (!rw_make(&w, f, BYTES, MPI_COMM_WORLD))
            continue;
        edges(&w);
        for (sync = 0; sync < RW_SYNCS; sync++)
            same(&w, sync);
        flags(&w);
        rw_free(&w);
    }
    return mt_finish();
}
