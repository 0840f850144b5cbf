/* dup.c - duplicates of a window (MPIX_Win_idup): random programs of all ranks over several of
 * them, with checked results; their errors, limits and ends.
 *
 * Each rank owns longs in each rank's window, one part per channel; the first is a common counter.
 * It alone puts to its part, so after a flush of a channel a get of that part is what was put. */
#include "rw.h"

enum { CHANNELS = 6, SLOTS = 24, LONG = 400, STEPS = 300, COUNTER = 0 };

struct chan {
    MPI_Win win;
    long want[SLOTS];      /* in the window of `peer`: of this channel's part */
    long out[SLOTS];       /* origin buffers, unchanged until the flush */
    int dirty;
};

static int size, rank;
static unsigned base; /* of the seeds: the argument */

static size_t part_of(int owner, int channel)
{
    return 64 + ((size_t)owner * CHANNELS + (size_t)channel) * SLOTS * sizeof(long);
}

static size_t bytes_of(void)
{
    return part_of(size, 0) + LONG * sizeof(long);
}

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16;
}

static MPI_Win idup(MPI_Win of)
{
    MPI_Win dup = MPI_WIN_NULL;
    MPI_Request req = MPI_REQUEST_NULL;
    int done = 0;

    MPIX_Win_idup(of, MPI_INFO_NULL, &dup, &req);
    MPI_Test(&req, &done, MPI_STATUS_IGNORE);
    CHECK(done && dup != MPI_WIN_NULL && dup != of);
    return dup;
}

static void verify(struct rw *w, struct chan *c, int channel, int peer)
{
    long got[SLOTS];
    int i;

    MPI_Win_flush(peer, c->win);
    c->dirty = 0;
    MPI_Get(got, SLOTS, MPI_LONG, peer, rw_disp(w, peer, part_of(rank, channel)), SLOTS, MPI_LONG,
            c->win);
    MPI_Win_flush(peer, c->win);
    for (i = 0; i < SLOTS; i++)
        CHECK(got[i] == c->want[i]);
}

/* One channel each: puts of one or many, fetches, requests, and frees and makes duplicates. */
static void steps(struct rw *w, unsigned seed, long *adds)
{
    struct chan chan[CHANNELS];
    long one = 1, old, big[SLOTS];
    int i, s, peer = (int)(next(&seed) % (unsigned)size);

    memset(chan, 0, sizeof chan);
    memset(big, 0, sizeof big);
    for (i = 0; i < CHANNELS; i++) {
        chan[i].win = i ? idup(chan[next(&seed) % (unsigned)i].win) : w->win;
        MPI_Put(big, SLOTS, MPI_LONG, peer, rw_disp(w, peer, part_of(rank, i)), SLOTS, MPI_LONG,
                chan[i].win);
        MPI_Win_flush(peer, chan[i].win);
    }
    for (s = 1; s <= STEPS; s++) {
        int channel = (int)(next(&seed) % CHANNELS), slot = (int)(next(&seed) % SLOTS);
        struct chan *c = &chan[channel];
        MPI_Aint at = rw_disp(w, peer, part_of(rank, channel) + (size_t)slot * sizeof(long));
        MPI_Request r;

        switch (next(&seed) % 12) {
        case 0:
            verify(w, c, channel, peer);
            break;
        case 1:
            MPI_Win_flush_all(c->win);
            break;
        case 2: /* its operations are complete when it is gone */
            if (channel && next(&seed) % 4 == 0) {
                MPI_Win_free(&c->win);
                CHECK(c->win == MPI_WIN_NULL);
                c->win = idup(w->win);
                verify(w, c, channel, peer);
            }
            break;
        case 3:
            MPI_Fetch_and_op(&one, &old, MPI_LONG, peer, rw_disp(w, peer, COUNTER), MPI_SUM,
                             c->win);
            MPI_Win_flush(peer, c->win);
            adds[peer]++;
            break;
        case 4:
            MPI_Accumulate(&one, 1, MPI_LONG, peer, rw_disp(w, peer, COUNTER), 1, MPI_LONG, MPI_SUM,
                           c->win);
            adds[peer]++;
            break;
        case 5:
            MPI_Win_flush(peer, c->win);
            c->out[slot] = c->want[slot] = s;
            MPI_Rput(&c->out[slot], 1, MPI_LONG, peer, at, 1, MPI_LONG, c->win, &r);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
            break;
        case 6: /* all slots, one message */
            MPI_Win_flush(peer, c->win);
            for (i = 0; i < SLOTS; i++)
                c->out[i] = c->want[i] = s * 100 + i;
            MPI_Put(c->out, SLOTS, MPI_LONG, peer, rw_disp(w, peer, part_of(rank, channel)), SLOTS,
                    MPI_LONG, c->win);
            break;
        case 7:
            MPIX_Win_order(peer, c->win);
            break;
        default: /* at most one put of a slot between flushes */
            MPI_Win_flush_local(peer, c->win);
            MPIX_Win_order(peer, c->win);
            c->out[slot] = c->want[slot] = s;
            MPI_Put(&c->out[slot], 1, MPI_LONG, peer, at, 1, MPI_LONG, c->win);
        }
    }
    for (i = 0; i < CHANNELS; i++)
        if (next(&seed) % 2)
            verify(w, &chan[i], i, peer);
    for (i = CHANNELS - 1; i > 0; i--) { /* in another order than they were made */
        int k = 1 + (int)(next(&seed) % (CHANNELS - 1));
        if (chan[k].win != MPI_WIN_NULL)
            MPI_Win_free(&chan[k].win);
    }
    MPI_Win_flush_all(w->win);
    /* what a freed one has put is there; those that are left end with the epoch */
    MPI_Win_unlock_all(w->win);
    MPI_Win_lock_all(0, w->win);
    for (i = 0; i < CHANNELS; i++) {
        long got[SLOTS];
        int k;
        MPI_Get(got, SLOTS, MPI_LONG, peer, rw_disp(w, peer, part_of(rank, i)), SLOTS, MPI_LONG,
                w->win);
        MPI_Win_flush(peer, w->win);
        for (k = 0; k < SLOTS; k++)
            CHECK(got[k] == chan[i].want[k]);
    }
    for (i = 1; i < CHANNELS; i++)
        if (chan[i].win != MPI_WIN_NULL)
            MPI_Win_free(&chan[i].win);
}

static void random_programs(int flavour)
{
    struct rw w;
    long *adds = mt_alloc(sizeof *adds * (size_t)size), *sum = mt_alloc(sizeof *sum * (size_t)size);
    long value = 0, none = 0;

    memset(adds, 0, sizeof *adds * (size_t)size);
    if (rw_make(&w, flavour, bytes_of(), MPI_COMM_WORLD)) {
        MPI_Win_lock_all(0, w.win);
        steps(&w, base + (unsigned)(rank * 77 + flavour * 1000 + 1), adds);
        steps(&w, base + (unsigned)(rank * 99 + flavour * 1000 + 5), adds);
        MPI_Win_unlock_all(w.win);
        MPI_Allreduce(adds, sum, size, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        MPI_Win_lock_all(0, w.win);
        MPI_Fetch_and_op(&none, &value, MPI_LONG, rank, rw_disp(&w, rank, COUNTER), MPI_NO_OP,
                         w.win);
        MPI_Win_flush(rank, w.win);
        CHECK(value == sum[rank]);
        MPI_Win_unlock_all(w.win);
        rw_free(&w);
    }
    free(adds), free(sum);
}

#define FAILS(class, call) CHECK(mt_class(call) == (class))

/* Calls that a duplicate refuses, in and out of the window's epoch. */
static void epochs(struct rw *w, MPI_Win dup)
{
    int flag;

    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, dup));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_unlock(0, dup));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, dup));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_unlock_all(dup));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_fence(0, dup));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_post(w->all, 0, dup));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_start(w->all, 0, dup));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_complete(dup));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_wait(dup));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_test(dup, &flag));
}

static void properties(void)
{
    struct rw w;
    MPI_Win dup, win;
    MPI_Win *many = mt_alloc(sizeof *many * 256);
    MPI_Group g;
    MPI_Info info;
    void *base;
    char name[MPI_MAX_OBJECT_NAME], text[MPI_MAX_INFO_VAL + 1];
    int flag, len, i, same, peer = (rank + 1) % size;
    MPI_Aint at = (MPI_Aint)part_of(rank, 0);
    long v = 5, got = 0;

    CHECK(rw_make(&w, RW_ALLOCATE, bytes_of(), MPI_COMM_WORLD));
    MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
    win = w.win;
    dup = idup(win);
    /* outside of an epoch: nothing but to wait for one */
    FAILS(MPI_ERR_RMA_SYNC, MPI_Put(&v, 1, MPI_LONG, peer, 0, 1, MPI_LONG, dup));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush(peer, dup));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush_all(dup));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_free(&win));
    epochs(&w, dup);
    MPI_Win_lock_all(0, w.win);
    epochs(&w, dup);
    FAILS(MPI_ERR_RANK, MPI_Win_flush(size, dup));
    FAILS(MPI_SUCCESS, MPI_Put(&v, 1, MPI_LONG, peer, at, 1, MPI_LONG, dup));
    FAILS(MPI_SUCCESS, MPI_Win_flush(peer, dup));
    FAILS(MPI_SUCCESS, MPI_Get(&got, 1, MPI_LONG, peer, at, 1, MPI_LONG, dup));
    FAILS(MPI_SUCCESS, MPI_Win_flush_local_all(dup));
    CHECK(got == v);
    /* what lies outside: the flush of its channel reports it, no other one, and only once */
    same = MPI_Put(&v, 1, MPI_LONG, peer, (MPI_Aint)w.bytes, 1, MPI_LONG, dup);
    if (same == MPI_SUCCESS) {
        FAILS(MPI_SUCCESS, MPI_Win_flush(peer, w.win));
        same = MPI_Win_flush(peer, dup);
    }
    FAILS(MPI_ERR_RMA_RANGE, same);
    FAILS(MPI_SUCCESS, MPI_Win_flush(peer, dup));
    FAILS(MPI_SUCCESS, MPI_Win_unlock_all(w.win));

    MPI_Win_get_attr(dup, MPI_WIN_BASE, &base, &flag);
    CHECK(flag && base == w.mem);
    MPI_Win_get_attr(dup, MPI_WIN_SIZE, &base, &flag);
    CHECK(flag && *(MPI_Aint *)base == (MPI_Aint)w.bytes);
    MPI_Win_set_name(w.win, "first");
    MPI_Win_set_name(dup, "second");
    MPI_Win_get_name(w.win, name, &len);
    CHECK(!strcmp(name, "first"));
    MPI_Win_get_group(dup, &g);
    MPI_Group_compare(g, w.all, &same);
    CHECK(same == MPI_IDENT);
    MPI_Group_free(&g);
    info = rw_info("accumulate_ordering", "none");
    MPI_Win_set_info(dup, info);
    MPI_Info_free(&info);
    MPI_Win_get_info(dup, &info);
    MPI_Info_get(info, "accumulate_ordering", MPI_MAX_INFO_VAL, text, &flag);
    CHECK(flag && !strcmp(text, "none"));
    MPI_Info_free(&info);
    MPI_Win_get_info(w.win, &info);
    MPI_Info_get(info, "accumulate_ordering", MPI_MAX_INFO_VAL, text, &flag);
    CHECK(flag && strcmp(text, "none"));
    MPI_Info_free(&info);

    for (i = 0; i < 254; i++)
        many[i] = idup(i % 2 ? w.win : dup);
    {
        MPI_Request r;
        FAILS(MPI_ERR_OTHER, MPIX_Win_idup(w.win, MPI_INFO_NULL, &win, &r));
    }
    for (i = 0; i < 254; i++)
        MPI_Win_free(&many[(i * 7) % 254]); /* 7 and 254 have no common divisor */
    MPI_Win_free(&dup);
    rw_free(&w);
    free(many);
}

int main(int argc, char **argv)
{
    int f;

    mt_init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    base = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    properties();
    for (f = 0; f < RW_FLAVOURS; f++)
        random_programs(f);
    return mt_finish();
}
