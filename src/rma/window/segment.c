/* segment.c - the node segment of a window. Start with rma_node_open().
 *
 *   segment, made by the lowest near rank; O(members on the node), nothing O(P):
 *     | barrier | host indexes | records | lock words | accumulate control | (poster, starter)
 *     pairs | short windows |
 *
 * A freed window leaves its segment to the next one of the same processes. Making and mapping one
 * takes some 25 system calls; reusing one takes none. A member keeps it only after the last barrier
 * of MPI_Win_free. So when all members name the same segment, no member uses it any more; it is
 * taken out while they compare. The barrier at its beginning goes on counting. Each member clears
 * its own part of the rest before the others may look. How memory is reached: peers.c. */
#include "rma/window/window_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coll/coll.h"
#include "obj/request.h"

enum { LINE = 64 };

struct layout { /* offsets in the segment */
    size_t hosts, peers, peer_bytes, locks, lock_bytes, accs, acc_bytes, pairs, area, part, total;
};
/* Windows of up to so many bytes in all lie in the node segment itself; larger ones on their
 * owners' NUMA nodes. */
enum { AREA_MAX = 256 << 10 };

static size_t line(size_t n)
{
    return (n + LINE - 1) / LINE * LINE;
}

static struct layout layout_of(const struct rma_win *w, unsigned stripes, uint64_t most)
{
    struct layout l;
    size_t n = w->nears;
    int dynamic = w->flavor == MPI_WIN_FLAVOR_DYNAMIC;
    l.hosts = line(sizeof(struct shmbar));
    l.peers = l.hosts + line(n * sizeof(int32_t));
    l.peer_bytes = line(dynamic ? sizeof(struct rma_peer) : offsetof(struct rma_peer, region));
    l.locks = l.peers + n * l.peer_bytes;
    l.lock_bytes = shmlock_bytes((unsigned)n);
    l.accs = l.locks + n * l.lock_bytes;
    l.acc_bytes = acc_ctl_bytes(stripes);
    l.pairs = l.accs + n * l.acc_bytes;
    l.total = l.pairs + line(n * n * sizeof(struct shmpair));
    l.area = (l.total + RMA_PAGE - 1) / RMA_PAGE * RMA_PAGE;
    l.part = 0;
    int ours = w->flavor == MPI_WIN_FLAVOR_ALLOCATE || w->flavor == MPI_WIN_FLAVOR_SHARED;
    if (ours && n > 1 && most && most <= AREA_MAX / n && w->mem.align == RMA_PAGE) {
        l.part = (size_t)(most + RMA_PAGE - 1) / RMA_PAGE * RMA_PAGE;
        l.total = l.area + n * l.part;
    }
    return l;
}

static struct layout opening_layout(const struct rma_win *w, const struct rma_opening *o)
{
    return layout_of(w, acc_stripes(o->most, w->flavor == MPI_WIN_FLAVOR_DYNAMIC), o->most);
}

/* --- the segment ---------------------------------------------------------------------------- */

static int page_make(struct rma_win *w, size_t bytes)
{
    if (w->nears == 1) {
        w->node.page = aligned_alloc(LINE, bytes);
        if (!w->node.page)
            return -ENOMEM;
        memset(w->node.page, 0, bytes);
        return 0;
    }
    /* MEM_ONCE: the last process at the last barrier goes on while others still read its word. */
    int err = mem_segment_create(bytes, MEM_ONCE, &w->node.seg);
    if (!err)
        w->node.page = w->node.seg->base;
    return err;
}

/* The key goes from the leader to the near members, in an exchange of all members: as in each step
 * of window creation, the failure of any ends it, since the leader may have given up because of one
 * far away. */
static int key_share(struct rma_win *w, struct mem_key *key, struct request **r)
{
    struct coll_piece in = {w->near.near[0].rank, key, sizeof *key}, *out = w->node.pieces;
    int leads = w->node.n.me == 0, n = 0;
    for (unsigned i = 1; leads && i < w->nears; i++)
        out[n++] = (struct coll_piece){w->near.near[i].rank, key, sizeof *key};
    return coll_iexchange(w->comm, &in, !leads, out, n, r);
}

/* Leader: make it and publish the key; others: attach. Size 0 of the key: the leader failed. */
int rma_node_key_begin(struct rma_win *w, struct rma_opening *o, struct request **r)
{
    struct layout l = opening_layout(w, o);
    o->err = w->node.n.me == 0 ? page_make(w, l.total) : 0;
    if (!o->err && w->node.seg)
        mem_segment_key(w->node.seg, &o->key);
    return key_share(w, &o->key, r);
}

int rma_node_key_end(struct rma_win *w, struct rma_opening *o, int lost)
{
    int leads = w->node.n.me == 0;
    free(w->node.pieces);
    w->node.pieces = NULL;
    if (lost)
        return lost;
    if (!leads && !o->key.size)
        return err_make(MPI_ERR_NO_MEM, "%s: rank %d could not make the segment of the window",
                        rma_call(), w->near.near[0].rank);
    if (!leads)
        o->err = mem_segment_attach(&o->key, &w->node.seg);
    if (o->err)
        return err_from_errno(o->err, "segment of a window");
    if (!leads)
        w->node.page = w->node.seg->base;
    w->node.seg_id = o->key.seg_id >> 1;
    return MPI_SUCCESS;
}

/* --- kept segments ---------------------------------------------------------------------------- */

static void cached_discard(struct rma_cached_seg *k)
{
    mem_segment_drop(k->seg);
    free(k->ranks);
    memset(k, 0, sizeof *k);
}

static struct rma_cached_seg *cached_find(const struct rma_win *w)
{
    struct rma_cached_seg *k = rma_self()->cached;
    for (int i = 0; i < RMA_CACHED_SEGS; i++) {
        unsigned j = 0;
        if (!k[i].seg_id || k[i].n != w->nears)
            continue;
        while (j < w->nears && k[i].ranks[j] == rma_world(w, w->near.near[j].rank))
            j++;
        if (j == w->nears)
            return &k[i];
    }
    return NULL;
}

/* Newest first; the oldest is dropped. */
static void cached_put(const struct rma_cached_seg *k)
{
    struct rma_cached_seg *all = rma_self()->cached;
    int last = 0;
    while (last < RMA_CACHED_SEGS - 1 && all[last].seg_id)
        last++;
    cached_discard(&all[last]);
    memmove(all + 1, all, (size_t)last * sizeof *all);
    all[0] = *k;
}

/* A segment that this process could reuse for w, taken out; all members compare. 0: none. */
uint64_t rma_node_offer(struct rma_win *w)
{
    struct rma_cached_seg *k = w->all_near && w->nears > 1 ? cached_find(w) : NULL;
    if (!k)
        return 0;
    w->node.offer = *k;
    memset(k, 0, sizeof *k);
    return w->node.offer.seg_id;
}

static void offer_back(struct rma_win *w)
{
    if (w->node.offer.seg_id)
        cached_put(&w->node.offer);
    w->node.offer.seg_id = 0;
}

/* All members name `seg_id`: use it, if it is large enough (all find the same). 1: used, 0: make a
 * new one. */
static int page_reuse(struct rma_win *w, uint64_t seg_id, size_t bytes)
{
    struct rma_cached_seg *k = &w->node.offer;
    if (!seg_id || k->seg_id != seg_id) {
        offer_back(w);
        return 0;
    }
    int fits = k->seg->size >= bytes;
    if (fits) {
        w->node.seg = k->seg;
        w->node.page = k->seg->base;
        w->node.bars = k->bars;
        w->node.seg_id = seg_id;
        k->seg = NULL;
    }
    cached_discard(k);
    return fits;
}

static void page_keep(struct rma_win *w)
{
    struct rma_cached_seg k = {w->node.seg, w->node.seg_id, w->node.bars, w->nears, NULL};
    k.ranks = malloc(w->nears * sizeof *k.ranks);
    if (!k.ranks) {
        mem_segment_drop(k.seg);
        return;
    }
    for (unsigned i = 0; i < w->nears; i++)
        k.ranks[i] = rma_world(w, w->near.near[i].rank);
    cached_put(&k);
}

void rma_node_finalize(void)
{
    for (int i = 0; i < RMA_CACHED_SEGS; i++)
        cached_discard(&rma_self()->cached[i]);
    free(rma_self()->cma_known);
}

/* Zero this member's part; a new segment is zero already. */
static void own_clear(struct rma_win *w, const struct layout *l)
{
    char *page = w->node.page;
    unsigned me = w->node.n.me;
    memset(page + l->locks + me * l->lock_bytes, 0, l->lock_bytes);
    memset(page + l->accs + me * l->acc_bytes, 0, l->acc_bytes);
    memset(page + l->pairs + me * w->nears * sizeof(struct shmpair), 0,
           w->nears * sizeof(struct shmpair));
    if (l->part)
        memset(page + l->area + me * l->part, 0, l->part);
}

int rma_node_open_begin(struct rma_win *w, uint64_t most_bytes, uint64_t kept,
                        struct rma_opening *o)
{
    *o = (struct rma_opening){.most = most_bytes};
    o->again = page_reuse(w, kept, opening_layout(w, o).total);
    return o->again;
}

/* Else some would wait at the barrier for the member that failed here. */
int rma_node_agrees(const struct rma_win *w)
{
    return w->nears > 1 || !w->all_near;
}

int rma_node_open(struct rma_win *w, uint64_t most_bytes, uint64_t kept)
{
    struct rma_opening o;
    struct request *r;
    if (!rma_node_open_begin(w, most_bytes, kept, &o)) {
        int err = rma_node_key_begin(w, &o, &r);
        if (!err) {
            request_wait_inner(r);
            err = request_finish(r, MPI_STATUS_IGNORE);
        }
        err = rma_node_key_end(w, &o, err);
        if (rma_node_agrees(w))
            err = coll_agree_error(err, w->comm);
        if (err)
            return err;
    }
    rma_node_opened(w, &o);
    return MPI_SUCCESS;
}

void rma_node_opened(struct rma_win *w, const struct rma_opening *o)
{
    unsigned stripes = acc_stripes(o->most, w->flavor == MPI_WIN_FLAVOR_DYNAMIC);
    struct layout l = layout_of(w, stripes, o->most);
    if (!o->again && w->node.seg && w->node.n.me == 0)
        mem_segment_shut(w->node.seg); /* all members have it, and descriptors are few */
    char *page = w->node.page;
    w->node.bar = (struct shmbar *)page;
    w->node.pairs = (struct shmpair *)(page + l.pairs);
    w->node.n.host_index = (int32_t *)(page + l.hosts);
    w->node.area = l.part ? page + l.area : NULL;
    w->node.part = l.part;
    for (unsigned i = 0; i < w->nears; i++) {
        struct rma_near *n = &w->near.near[i];
        n->peer = (struct rma_peer *)(page + l.peers + i * l.peer_bytes);
        n->lockword = (struct shmlock *)(page + l.locks + i * l.lock_bytes);
        n->acc = (struct acc_ctl *)(page + l.accs + i * l.acc_bytes);
    }
    unsigned me = w->node.n.me;
    if (o->again)
        own_clear(w, &l);
    rma_peer_of(w, me)->stripes = stripes;
    shmlock_init(w->near.near[me].lockword, w->nears, me);
    /* Without the user's data. */
    rma_count(w, PVAR_RMA_WIN_BYTES,
              (l.total - w->nears * l.part) / w->nears + w->nears * sizeof *w->near.near);
}

struct bar_wait {
    struct rma_win *w;
    unsigned number;
    int err;
};

/* Some member may never come: it has failed, or has given up because another has, which may be far
 * away. */
static int will_not_meet(struct bar_wait *x)
{
    struct comm *c = x->w->comm;
    if (comm_misaligned(c))
        x->err = comm_verdict(c);
    else if (boot_failed_count() && coll_failed_member(c) >= 0)
        x->err = rma_failed_error(x->w, rankmap_find(x->w->map, coll_failed_member(c)));
    return x->err != MPI_SUCCESS;
}

static int bar_over(void *arg)
{
    struct bar_wait *x = arg;
    return shmbar_poll(x->w->node.bar, &x->w->node.n, x->number) > 0 || will_not_meet(x);
}

unsigned rma_node_arrive(struct rma_win *w)
{
    shmbar_arrive(w->node.bar, &w->node.n, ++w->node.bars);
    return w->node.bars;
}

int rma_node_arrived(struct rma_win *w, unsigned number, int *err)
{
    struct bar_wait x = {w, number, MPI_SUCCESS};
    int over = bar_over(&x);
    w->dead |= x.err != MPI_SUCCESS;
    *err = x.err;
    return over;
}

int rma_node_barrier(struct rma_win *w)
{
    struct bar_wait x = {w, rma_node_arrive(w), MPI_SUCCESS};
    rma_await(w, WHY_WINDOW, bar_over, &x, "the other processes of a window", -1);
    w->dead |= x.err != MPI_SUCCESS;
    return x.err;
}

void rma_node_close(struct rma_win *w)
{
    offer_back(w);
    free(w->node.pieces);
    for (unsigned i = 0; i < w->nears; i++) {
        mem_segment_drop(w->near.near[i].seg);
        rma_note_unmap(&w->near.near[i]);
        rma_alone_detach(&w->near.near[i]);
        if (w->node.boxes)
            mem_segment_drop(w->node.boxes[i].seg);
    }
    free(w->node.boxes);
    w->node.boxes = NULL;
    mem_segment_drop(w->mem.made);
    if (w->mem.block && w->dead) /* members may still store to it */
        mem_arena_retire(w->mem.block);
    else if (w->mem.block)
        mem_arena_free(w->mem.block);
    if (w->node.seg && w->node.reusable)
        page_keep(w);
    else if (w->node.seg)
        mem_segment_drop(w->node.seg);
    else
        free(w->node.page);
    free(w->near.near);
    w->near.near = w->records = NULL;
    free(w->near.spread);
    w->near.spread = NULL;
}
