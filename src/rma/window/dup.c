/* dup.c - duplicates of a window: MPIX_Win_idup. Start with rma_win_idup().
 *
 * A duplicate is another channel to the same memory. It has what operations need: elements, tokens,
 * answers, errors, hints, counters. It has no record at other processes, so it costs no message:
 * its packets name its window, and their token the channel (packets.h). All else is its window's:
 * memory, near table, keys, locks, counters of notifications, what it is as a target.
 *
 *   state   LOCK_ALL_GRANTED while its window is under LOCK_ALL, else UNSET (state.c). The window's
 *           MPI_Win_unlock_all completes its operations first
 *   locks   the window's: the first operation on a rank takes what it needs (op_begin.c)
 *   near    copies of the window's records, with counters of their own (near.h). What near.h does
 *           not do is done as the window's own, with its bundles and delegated operations; what
 *           goes by message is the duplicate's
 *   answers the origin finds the duplicate by the channel (replies.c). A freed one has none under
 *           way, unless a member failed: the next holder of the channel goes on with its tokens, so
 *           they are older than its elements. After a failure none counts answers without a token
 *           (w->dead) */
#include "rma/window/window_types.h"

#include <stdlib.h>
#include <string.h>

#include "watch/watch.h"

/* Its number, 0: no memory, or none is free. A number comes again only after all others. */
static unsigned channel_new(struct rma_win *p)
{
    if (!p->channels && !(p->channels = calloc(1, sizeof *p->channels)))
        return 0;
    struct rma_channels *all = p->channels;
    for (unsigned i = 1; i < RMA_CHANNELS; i++) {
        unsigned c = (all->last + i) % RMA_CHANNELS;
        if (c && !all->of[c])
            return c;
    }
    return 0;
}

/* What a duplicate has in common with its window, and never frees. */
static void share(struct rma_win *w, struct rma_win *p)
{
    w->parent = p;
    w->comm = p->comm;
    w->map = p->map;
    w->id = p->id;
    w->src = p->src;
    w->rank = p->rank;
    w->model = p->model;
    w->size = p->size;
    w->helped = p->helped;
    w->all_near = p->all_near;
    w->all_mapped = p->all_mapped;
    atomic_init(&w->near.all_here, atomic_load_explicit(&p->near.all_here, memory_order_relaxed));
    w->loads = p->loads;
    w->dead = p->dead;
    w->own = p->own;
    w->near.first = p->near.first;
    w->near.count = p->near.count;
    w->records = p->near.near;
    w->near.spread = p->near.spread;
    w->near.spread_mul = p->near.spread_mul;
    w->near.spread_shift = p->near.spread_shift;
    w->near.by_target = p->near.by_target;
    w->near.by_cma = p->near.by_cma;
    w->near.alone = p->near.alone;
    w->nears = p->nears;
    w->node = p->node;
    w->mem.align = p->mem.align;
    w->mem.large_pages = p->mem.large_pages;
    w->native.min = p->native.min;
    w->native.pull_min = p->native.pull_min;
    w->native.acc = p->native.acc;
    w->promise = p->promise;
    w->coherent = p->coherent;
    w->buffers = p->buffers;
}

void rma_dup_leave(struct rma_win *w)
{
    struct rma_win *p = w->parent;
    struct rma_channels *all = p->channels;
    uint64_t before = rma_ops_total(p);
    for (int i = 0; i < PVAR_COUNT; i++)
        if (pvar_table[i].cls == PVAR_COUNTER) {
            counter_add(&p->near.pvars.v[i], rma_pvar(w, (enum pvar_id)i));
            atomic_store_explicit(&w->near.pvars.v[i], 0, memory_order_relaxed);
        }
    p->fence.ops += rma_ops_total(p) - before; /* they are of no fence epoch */
    if (all->of[w->channel] == w) {
        all->of[w->channel] = NULL;
        all->used--;
        /* the next holder's operations begin behind this one's (rma_win_idup) */
        all->token[w->channel] = (w->token + 1) & RMA_TOKEN_MASK;
    }
    w->id = 0;
    w->comm = NULL;
    free(w->near.near);
    w->near.near = w->records = NULL;
    w->near.spread = NULL;
    w->nears = 0;
    w->coherent = NULL;
    w->buffers = NULL;
}

/* Near records of its own, for near.h: it counts there, so two threads with two duplicates write no
 * common cache line. Locks, bundles and what is known of the owner stay in the window's. */
static int copies_make(struct rma_win *w)
{
    const struct rma_near *of = w->records;
    struct rma_near *n = aligned_alloc(_Alignof(struct rma_near), w->nears * sizeof *n);
    for (unsigned i = 0; n && i < w->nears; i++) {
        n[i] = (struct rma_near){.kind = of[i].kind,
                                 .rank = of[i].rank,
                                 .disp_unit = of[i].disp_unit,
                                 .base = of[i].base,
                                 .size = of[i].size,
                                 .remote = of[i].remote,
                                 .acc = of[i].acc,
                                 .me = of[i].me,
                                 .host_index = of[i].host_index,
                                 .alone = of[i].alone,
                                 .recent = &rma_recent_none};
        rma_near_follow(&n[i], &of[i]);
    }
    w->near.near = n;
    if (!n)
        w->nears = 0; /* what is dropped counts over these */
    return n ? 0 : -1;
}

static int no_memory(void)
{
    return err_make(MPI_ERR_NO_MEM, "%s: no memory for a duplicate of a window", rma_call());
}

/* Its own things. After an error the caller drops it. */
static int fill(struct rma_win *w, struct rma_win *of, struct info *info)
{
    if (copies_make(w) || rma_slots_init(w))
        return no_memory();
    w->ordered_acc = of->ordered_acc;
    w->notes.covers = of->notes.covers;
    w->orders = of->notes.covers;
    w->no_locks = 1; /* it refuses all locks */
    int err = MPI_SUCCESS;
    if (of->parent && of->info && !(w->info = info_copy(of->info)))
        err = no_memory();
    if (!err && info)
        err = rma_win_set_info(w, info);
    if (!err && obj_add(OBJ_WIN, &w->near.obj))
        err = no_memory();
    return err;
}

int rma_dup_hints(struct rma_win *w)
{
    w->info = w->info ? w->info : info_copy(w->parent->info);
    return w->info ? MPI_SUCCESS : no_memory();
}

int rma_dups_hints(const struct rma_win *w)
{
    struct rma_win *dup;
    int err = MPI_SUCCESS;
    for (unsigned i = 0; !err && (dup = rma_dup_next(w, &i)) != NULL;)
        err = rma_dup_hints(dup);
    return err;
}

int rma_win_idup(struct rma_win *of, struct info *info, struct rma_win **out)
{
    struct rma_win *p = rma_root(of);
    if (p->replicas)
        return err_make(MPI_ERR_UNSUPPORTED_OPERATION, "%s: %s has copies (mpix_win_replicas)",
                        rma_call(), rma_win_text(p));
    unsigned c = channel_new(p);
    if (!c && p->channels)
        return err_make(MPI_ERR_OTHER, "%s: %s has %d duplicates, which is all it can have",
                        rma_call(), rma_win_text(p), RMA_CHANNELS - 1);
    struct rma_win *w = c ? rma_win_blank(p->flavor, p->base, p->bytes, p->disp_unit) : NULL;
    if (!w)
        return no_memory();
    share(w, p);
    w->channel = (uint8_t)c;
    w->token = p->channels->token[c];
    /* native.c knows operations by it, too */
    w->seq = (uint64_t)c << 48 | (uint64_t)w->token << 24;
    p->channels->of[c] = w;
    p->channels->used++;
    p->channels->last = c;
    errhandler_drop(w->errhandler);
    w->errhandler = errhandler_ref(of->errhandler);
    int err = fill(w, of, info);
    if (err) {
        rma_win_drop(w);
        return err;
    }
    watch_made(OBJ_WIN, &w->near.obj);
    list_push(&rma_self()->windows, &w->link);
    rma_count(w, PVAR_RMA_WIN_BYTES,
              sizeof *w + w->table.nslots * sizeof *w->table.slots +
                  w->nears * sizeof *w->near.near);
    if (rma_in(p, SET_LOCK_ALL))
        rma_win_goto(w, WIN_LOCK_ALL_GRANTED);
    rma_near_admit(p); /* its bundles are no longer its own */
    rma_win_fast(w);
    *out = w;
    return MPI_SUCCESS;
}

unsigned rma_win_channel(const struct rma_win *w)
{
    return w->channel;
}

struct rma_win *rma_win_root(struct rma_win *w)
{
    return rma_root(w);
}

static int none_ends(void *channels)
{
    return !((const struct rma_channels *)channels)->ending;
}

/* Its operations so far, with those in bundles of its window, which name it. */
static int ops_end(struct rma_win *w)
{
    if (rma_bundles_due(w->parent))
        rma_bundle_drain(w->parent, NULL);
    int err = rma_dup_end(w);
    int missed = rma_missed_drop(w);
    return rma_graver(err, missed);
}

int rma_dup_free(struct rma_win *w)
{
    int err = ops_end(w);
    if (rma_is_revoked(w)) /* what has ended with an error, has */
        err = MPI_SUCCESS;
    if (!err)
        err = attr_delete_all(OBJ_WIN, w->near.obj.handle, &w->attrs);
    if (!err)
        err = ops_end(w); /* of what the attributes' functions did */
    rma_await(w, WHY_FLUSH, none_ends, w->parent->channels, "another thread's MPI_Win_unlock_all",
              -1);
    if (!err)
        rma_win_drop(w);
    return err;
}
