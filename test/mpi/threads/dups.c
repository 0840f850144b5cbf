/* dups.c - four threads of each process with a channel each to the same memory: thread 0 has the
 * window, each other one a duplicate. All have the same target, with cells of their own and one
 * counter for all. Duplicates end and begin meanwhile. */
#include "team.h"
#include "../rma/pv.h"
#include "../rma/rw.h"

enum { TURNS = 200, CELLS = 8, WORD = sizeof(int64_t) };

static struct rw w;
static MPI_Win channel[T];
static int peer;
static int64_t puts_of[T];

static MPI_Win idup(void)
{
    MPI_Win dup = MPI_WIN_NULL;
    MPI_Request r;

    MPIX_Win_idup(w.win, MPI_INFO_NULL, &dup, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    return dup;
}

static MPI_Aint cell(int t, int i)
{
    return rw_disp(&w, peer, (size_t)(1 + (w.rank * T + t) * CELLS + i) * WORD);
}

static void *own_channel(void *arg)
{
    int t = (int)(intptr_t)arg, i;
    int64_t was, before = -1, one = 1, got;

    for (i = 0; i < TURNS; i++) {
        int64_t x = (int64_t)t * TURNS + i;

        MPI_Put(&x, 1, MPI_INT64_T, peer, cell(t, i % CELLS), 1, MPI_INT64_T, channel[t]);
        puts_of[t]++;
        MPI_Win_flush(peer, channel[t]);
        MPI_Get(&got, 1, MPI_INT64_T, peer, cell(t, i % CELLS), 1, MPI_INT64_T, channel[t]);
        MPI_Win_flush(peer, channel[t]);
        wrong[t] += got != x;
        MPI_Fetch_and_op(&one, &was, MPI_INT64_T, peer, rw_disp(&w, peer, 0), MPI_SUM, channel[t]);
        MPI_Win_flush(peer, channel[t]);
        wrong[t] += was <= before; /* it grows */
        before = was;
        MPI_Accumulate(&one, 1, MPI_INT64_T, peer, rw_disp(&w, peer, 0), 1, MPI_INT64_T, MPI_SUM,
                       channel[t]);
        if (i % 16 == 0)
            MPI_Win_flush_all(channel[t]);
        if (t && i % 50 == 49) {
            MPI_Win_free(&channel[t]);
            channel[t] = idup();
        }
    }
    MPI_Win_flush_all(channel[t]);
    return NULL;
}

/* Several in flight: what a flush waits for is this thread's. */
static void *many(void *arg)
{
    int t = (int)(intptr_t)arg, i, k;
    int64_t x[CELLS], got[CELLS];

    for (i = 0; i < TURNS / 8; i++) {
        for (k = 0; k < CELLS; k++) {
            x[k] = (int64_t)(t + 1) * 1000000 + i * CELLS + k;
            MPI_Put(&x[k], 1, MPI_INT64_T, peer, cell(t, k), 1, MPI_INT64_T, channel[t]);
            puts_of[t]++;
        }
        MPI_Win_flush(peer, channel[t]);
        MPI_Get(got, CELLS, MPI_INT64_T, peer, cell(t, 0), CELLS, MPI_INT64_T, channel[t]);
        MPI_Win_flush_local(peer, channel[t]);
        for (k = 0; k < CELLS; k++)
            wrong[t] += got[k] != x[k];
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int flavour, t;

    pv_begin();
    if (!mt_init_threads(&argc, &argv))
        return mt_finish();
    for (flavour = 0; flavour < RW_FLAVOURS; flavour++) {
        int64_t all = 0, sum = 0, none = 0;

        if (!rw_make(&w, flavour, (size_t)(1 + mt_size * T * CELLS) * WORD, MPI_COMM_WORLD))
            continue;
        peer = (w.rank + 1) % w.size;
        MPI_Win_lock_all(0, w.win);
        for (t = 0; t < T; t++)
            channel[t] = t ? idup() : w.win;
        memset(puts_of, 0, sizeof puts_of);
        run(own_channel);
        run(many);
        for (t = 1; t < T; t++)
            MPI_Win_free(&channel[t]);
        for (t = 0; t < T; t++)
            all += puts_of[t];
        /* all that duplicates did is the window's */
        CHECK_EQ(pv_read(w.win, "rma_put"), all);
        CHECK_EQ(pv_read(w.win, "rma_get"), (int64_t)T * (TURNS + TURNS / 8));
        CHECK_EQ(pv_read(w.win, "rma_fetch_and_op"), (int64_t)T * TURNS);
        MPI_Win_unlock_all(w.win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock_all(0, w.win);
        MPI_Fetch_and_op(&none, &sum, MPI_INT64_T, w.rank, rw_disp(&w, w.rank, 0), MPI_NO_OP,
                         w.win);
        MPI_Win_flush(w.rank, w.win);
        CHECK_EQ(sum, (int64_t)T * TURNS * 2);
        MPI_Win_unlock_all(w.win);
        rw_free(&w);
    }
    return mt_finish();
}
