/* node.c - the node segment of a window, and how each near member's memory is reached.
 *
 *   segment, made by the lowest near rank; O(members on the node), nothing O(P):
 *     | barrier | host indexes | records | lock words | accumulate control | (poster, starter) pairs | short windows |
 *
 * A window that ends leaves its segment to the next one of the same processes: making one and mapping it everywhere
 * takes some 25 system calls, using a kept one none.  A member keeps it only after the last barrier of MPI_Win_free,
 * so when all name the same cookie, nobody looks at it any more; it is taken out while they compare.  The barrier at its beginning goes on
 * counting; of the rest each member clears what is its own before the others may look.
 *
 * Each member fills its record, then attaches the memory of the others: mapped when it is a segment, by CMA when
 * a cookie can be read (yama, seccomp or a user namespace may refuse), by active message otherwise. */
#include "rma/core/types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coll/coll.h"
#include "p2p/p2p.h"

enum { LINE = 64, SETUP_TAG = 1 };

struct layout { /* offsets in the segment */
    size_t hosts, peers, peer_bytes, locks, lock_bytes, accs, acc_bytes, pairs, area, part, total;
};
/* Windows of up to so many bytes in all lie in the node segment itself; larger ones on their owners' NUMA nodes. */
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
    if (ours && n > 1 && most && most <= AREA_MAX / n && w->align == RMA_PAGE) {
        l.part = (size_t)(most + RMA_PAGE - 1) / RMA_PAGE * RMA_PAGE;
        l.total = l.area + n * l.part;
    }
    return l;
}

struct rma_peer *rma_peer_of(const struct rma_win *w, unsigned i)
{
    return w->near.near[i].peer;
}

/* --- who is near -------------------------------------------------------------------------- */

static int by_rank(const void *a, const void *b)
{
    const struct rma_near *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

int rma_node_find(struct rma_win *w)
{
    int on_node = boot_local_size();
    int most = on_node < w->size ? on_node : w->size;
    w->near.near = aligned_alloc(_Alignof(struct rma_near), (size_t)most * sizeof *w->near.near);
    if (!w->near.near)
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for %d node peers", rma_call(), most);
    memset(w->near.near, 0, (size_t)most * sizeof *w->near.near);
    unsigned n = 0;
    for (int i = 0; i < on_node; i++) {
        int world = boot_local_rank(i), rank = rankmap_find(w->map, world);
        if (rank >= 0)
            w->near.near[n++] = (struct rma_near){.rank = rank, .host_index = boot_host_index(world)};
    }
    qsort(w->near.near, n, sizeof *w->near.near, by_rank);
    w->nears = n;
    w->all_near = (int)n == w->size;
    int together = w->near.near[n - 1].rank - w->near.near[0].rank == (int)n - 1;
    w->near.first = (unsigned)w->near.near[0].rank;
    w->near.count = together ? n : 0;
    for (unsigned i = 0; i < n; i++)
        if (w->near.near[i].rank == w->rank)
            w->node.n.me = i;
    w->node.n.peers = n;
    return MPI_SUCCESS;
}

struct rma_near *rma_near_search(const struct rma_win *w, int rank)
{
    struct rma_near key = {.rank = rank};
    return bsearch(&key, w->near.near, w->nears, sizeof key, by_rank);
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
    /* Once: who is last at the last barrier goes on while others still read its word. */
    int err = mem_segment_create(bytes, MEM_ONCE, &w->node.seg);
    if (!err)
        w->node.page = w->node.seg->base;
    return err;
}

/* Leader: make it and tell the key; others: attach.  A key of size 0 says that the leader failed. */
static int page_share(struct rma_win *w, size_t bytes)
{
    struct mem_key key = {.size = 0};
    uint32_t ctx = w->id | CTX_RMA;
    if (w->node.n.me == 0) {
        int err = page_make(w, bytes);
        if (!err && w->node.seg)
            mem_segment_key(w->node.seg, &key);
        int lost = MPI_SUCCESS;
        for (unsigned i = 1; i < w->nears; i++) { /* behind one that has died others wait */
            int e = p2p_send_world(&key, sizeof key, rma_world(w, w->near.near[i].rank), ctx, w->rank, SETUP_TAG);
            lost = lost ? lost : e;
        }
        if (lost)
            return lost;
        w->node.cookie = key.cookie >> 1;
        return err ? err_from_errno(err, "segment of a window") : MPI_SUCCESS;
    }
    int leader = w->near.near[0].rank;
    int err = p2p_recv_world(&key, sizeof key, rma_world(w, leader), ctx, leader, SETUP_TAG);
    if (err)
        return err;
    if (!key.size)
        return err_make(MPI_ERR_NO_MEM, "%s: rank %d could not make the segment of the window", rma_call(), leader);
    err = mem_segment_attach(&key, &w->node.seg);
    if (err)
        return err_from_errno(err, "segment of a window");
    w->node.page = w->node.seg->base;
    w->node.cookie = key.cookie >> 1;
    return MPI_SUCCESS;
}

/* --- kept segments ---------------------------------------------------------------------------- */

static void kept_forget(struct rma_kept *k)
{
    mem_segment_drop(k->seg);
    free(k->ranks);
    memset(k, 0, sizeof *k);
}

static struct rma_kept *kept_find(const struct rma_win *w)
{
    struct rma_kept *k = rma_room()->kept;
    for (int i = 0; i < RMA_KEPT; i++) {
        unsigned j = 0;
        if (!k[i].cookie || k[i].n != w->nears)
            continue;
        while (j < w->nears && k[i].ranks[j] == rma_world(w, w->near.near[j].rank))
            j++;
        if (j == w->nears)
            return &k[i];
    }
    return NULL;
}

/* Newest first; the oldest goes. */
static void kept_put(const struct rma_kept *k)
{
    struct rma_kept *all = rma_room()->kept;
    int last = 0;
    while (last < RMA_KEPT - 1 && all[last].cookie)
        last++;
    kept_forget(&all[last]);
    memmove(all + 1, all, (size_t)last * sizeof *all);
    all[0] = *k;
}

/* What this process could use again for w, taken from the others: to be compared by everybody.  0: nothing. */
uint64_t rma_node_offer(struct rma_win *w)
{
    struct rma_kept *k = w->all_near && w->nears > 1 ? kept_find(w) : NULL;
    if (!k)
        return 0;
    w->node.offer = *k;
    memset(k, 0, sizeof *k);
    return w->node.offer.cookie;
}

static void offer_back(struct rma_win *w)
{
    if (w->node.offer.cookie)
        kept_put(&w->node.offer);
    w->node.offer.cookie = 0;
}

/* All members name `cookie`: use it, if it is large enough (which all find alike).  1 used, 0 make a new one. */
static int page_reuse(struct rma_win *w, uint64_t cookie, size_t bytes)
{
    struct rma_kept *k = &w->node.offer;
    if (!cookie || k->cookie != cookie) {
        offer_back(w);
        return 0;
    }
    int fits = k->seg->size >= bytes;
    if (fits) {
        w->node.seg = k->seg;
        w->node.page = k->seg->base;
        w->node.bars = k->bars;
        w->node.cookie = cookie;
        k->seg = NULL;
    }
    kept_forget(k);
    return fits;
}

static void page_keep(struct rma_win *w)
{
    struct rma_kept k = {w->node.seg, w->node.cookie, w->node.bars, w->nears, NULL};
    k.ranks = malloc(w->nears * sizeof *k.ranks);
    if (!k.ranks) {
        mem_segment_drop(k.seg);
        return;
    }
    for (unsigned i = 0; i < w->nears; i++)
        k.ranks[i] = rma_world(w, w->near.near[i].rank);
    kept_put(&k);
}

void rma_node_finalize(void)
{
    for (int i = 0; i < RMA_KEPT; i++)
        kept_forget(&rma_room()->kept[i]);
    free(rma_room()->cma_known);
}

void rma_node_record(struct rma_win *w)
{
    struct rma_peer *p = rma_peer_of(w, w->node.n.me);
    p->rank = w->rank;
    p->host_index = boot_host_index(boot_rank());
    p->base = (uint64_t)(uintptr_t)w->base;
    p->size = (uint64_t)w->bytes;
    p->disp_unit = (uint64_t)w->disp_unit;
    struct rma *r = rma_room();
    if (!r->cookie)
        r->cookie = random_bits();
    p->cookie = r->cookie;
    p->cookie_at = (uint64_t)(uintptr_t)&r->cookie;
    p->key.size = 0;
    p->error = 0;
    atomic_store_explicit(&p->unmapped, 0, memory_order_relaxed);
    acc_asked_init(&p->asked);
    atomic_store_explicit(&p->version, 0, memory_order_relaxed);
    atomic_store_explicit(&p->nregions, 0, memory_order_relaxed);
    p->overflow = 0;
    struct mem_segment *seg = w->bytes && !w->node.area ? mem_segment_of(w->base, (size_t)w->bytes) : NULL;
    if (seg && seg->fd >= 0) {
        mem_segment_key(seg, &p->key);
        p->key_off = (uint64_t)((char *)w->base - (char *)seg->base);
    }
    ((int32_t *)(uintptr_t)w->node.n.host_index)[w->node.n.me] = p->host_index;
}

/* Zero what is this member's own; a new segment is zero already. */
static void own_clear(struct rma_win *w, const struct layout *l)
{
    char *page = w->node.page;
    unsigned me = w->node.n.me;
    memset(page + l->locks + me * l->lock_bytes, 0, l->lock_bytes);
    memset(page + l->accs + me * l->acc_bytes, 0, l->acc_bytes);
    memset(page + l->pairs + me * w->nears * sizeof(struct shmpair), 0, w->nears * sizeof(struct shmpair));
    if (l->part)
        memset(page + l->area + me * l->part, 0, l->part);
}

int rma_node_open(struct rma_win *w, uint64_t most_bytes, uint64_t kept)
{
    unsigned stripes = acc_stripes(most_bytes, w->flavor == MPI_WIN_FLAVOR_DYNAMIC);
    struct layout l = layout_of(w, stripes, most_bytes);
    int again = page_reuse(w, kept, l.total);
    if (!again) {
        int err = page_share(w, l.total);
        if (w->nears > 1 || !w->all_near) /* else some would wait at the barrier for who failed here */
            err = coll_agree_error(err, w->comm);
        if (err)
            return err;
        if (w->node.seg && w->node.n.me == 0)
            mem_segment_shut(w->node.seg); /* all have it, and a process has few descriptors */
    }
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
    if (again)
        own_clear(w, &l);
    rma_peer_of(w, me)->stripes = stripes;
    shmlock_init(w->near.near[me].lockword, w->nears, me);
    /* Without what the user put there. */
    rma_count(w, PVAR_RMA_WIN_BYTES, (l.total - w->nears * l.part) / w->nears + w->nears * sizeof *w->near.near);
    return MPI_SUCCESS;
}

struct bar_wait {
    struct rma_win *w;
    unsigned number;
};

static int bar_over(void *arg)
{
    struct bar_wait *x = arg;
    return shmbar_poll(x->w->node.bar, &x->w->node.n, x->number) != 0;
}

void rma_node_barrier(struct rma_win *w)
{
    struct bar_wait x = {w, ++w->node.bars};
    shmbar_arrive(w->node.bar, &w->node.n, x.number);
    progress_wait(bar_over, &x, "the other processes of a window", -1);
}

/* --- MPI_Win_allocate_shared ------------------------------------------------------------------ */

/* Where each member's part begins: no padding, or aligned, and pages of its own.  UINT64_MAX: beyond all memory. */
static uint64_t part_offset(const struct rma_win *w, unsigned upto, int noncontig)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), off = 0;
    if (w->node.area || page < w->align) /* the area has no room for the pages of systems with large ones */
        page = w->align;
    for (unsigned i = 0; i < upto; i++) {
        uint64_t size = rma_peer_of(w, i)->size; /* of an MPI_Aint, so there is room to round it up */
        if (__builtin_add_overflow(off, noncontig ? (size + page - 1) / page * page : size, &off))
            return UINT64_MAX;
    }
    return off;
}

/* The node segment has room for it: no memory to be made. */
static int shared_in_area(struct rma_win *w, int noncontig)
{
    for (unsigned i = 0; i < w->nears; i++)
        w->near.near[i].mapping = w->node.area + part_offset(w, i, noncontig);
    w->base = w->bytes ? w->near.near[w->node.n.me].mapping : NULL;
    return MPI_SUCCESS;
}

int rma_node_shared(struct rma_win *w, int noncontig)
{
    unsigned me = w->node.n.me;
    struct rma_peer *first = rma_peer_of(w, 0);
    rma_node_barrier(w); /* all sizes are there */
    if (w->node.area)
        return shared_in_area(w, noncontig);
    uint64_t total = part_offset(w, w->nears, noncontig);
    int err = 0;
    if (total > INT64_MAX) /* found by all alike */
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for what %u processes want together: more than %lld bytes", rma_call(),
                        w->nears, (long long)INT64_MAX);
    if (me == 0 && total) {
        err = mem_segment_create(total, MEM_NO_RESERVE, &w->memory);
        if (!err)
            mem_segment_key(w->memory, &first->key);
        first->error = err ? MPI_ERR_NO_MEM : 0;
    }
    rma_node_barrier(w);
    if (me != 0 && total && !first->error)
        err = mem_segment_attach(&first->key, &w->memory);
    if (!err && first->error)
        err = -ENOMEM;
    if (!err && w->memory)
        err = mem_segment_align(w->memory, w->align);
    uint64_t off = part_offset(w, me, noncontig);
    if (!err && w->bytes)
        err = mem_segment_reserve(w->memory, off, (size_t)w->bytes);
    if (err)
        return err_make(MPI_ERR_NO_MEM, "%s: no %llu bytes of shared memory, aligned to %zu: %s", rma_call(),
                        (unsigned long long)total, w->align, strerror(-err));
    w->base = w->memory && w->bytes ? (char *)w->memory->base + off : NULL;
    for (unsigned i = 0; i < w->nears; i++) {
        struct rma_near *n = &w->near.near[i];
        n->mapping = w->memory ? (char *)w->memory->base + part_offset(w, i, noncontig) : NULL;
    }
    return MPI_SUCCESS;
}

/* --- everybody's memory ---------------------------------------------------------------------------- */

/* Tried with the first window; what the system allows between two processes does not change. */
static int cma_works(const struct rma_near *n)
{
    struct rma *room = rma_room();
    uint64_t cookie = 0;
    struct iovec l = {&cookie, sizeof cookie}, r = {(void *)(uintptr_t)n->peer->cookie_at, sizeof cookie};
    if (!cvar.rma_cma)
        return 0;
    if (room->cma_known && room->cma_known[n->host_index])
        return 1;
    if (mem_cma_read(n->host_index, &l, 1, &r, 1) != 0 || cookie != n->peer->cookie)
        return 0;
    if (!room->cma_known)
        room->cma_known = calloc((size_t)boot_host_processes(), 1);
    if (room->cma_known)
        room->cma_known[n->host_index] = 1;
    return 1;
}

static void near_attach(struct rma_win *w, struct rma_near *n)
{
    struct rma_peer *p = n->peer;
    n->disp_unit = p->disp_unit;
    n->size = p->size;
    n->remote = p->base;
    n->kind = RMA_NEAR_MAPPED;
    if (n->rank == w->rank) {
        n->base = w->base;
        return;
    }
    if (w->flavor == MPI_WIN_FLAVOR_SHARED) {
        n->base = n->mapping;
        return;
    }
    if (p->size == 0 && w->flavor != MPI_WIN_FLAVOR_DYNAMIC) {
        n->base = (char *)n; /* no access to 0 bytes is in range */
        return;
    }
    if (w->node.area) {
        n->mapping = n->base = w->node.area + (size_t)(n - w->near.near) * w->node.part;
        return;
    }
    if (p->key.size && mem_segment_attach(&p->key, &n->seg) == 0) {
        n->mapping = n->base = (char *)n->seg->base + p->key_off;
        return;
    }
    atomic_fetch_add_explicit(&p->unmapped, 1, memory_order_relaxed);
    n->kind = cma_works(n) ? RMA_NEAR_CMA : RMA_NEAR_AM;
}

/* err: what went wrong here so far.  Agrees with the other members on the node. */
int rma_node_attach(struct rma_win *w, unsigned acc_hints, int err)
{
    unsigned me = w->node.n.me;
    struct rma_peer *p = rma_peer_of(w, me);
    p->error = err ? err_class(err) : 0;
    rma_node_barrier(w); /* all records are there */
    for (unsigned i = 0; i < w->nears; i++)
        if (rma_peer_of(w, i)->error)
            return err ? err : err_make(rma_peer_of(w, i)->error, "%s failed on another process", rma_call());
    for (unsigned i = 0; i < w->nears; i++) {
        struct rma_near *n = &w->near.near[i];
        near_attach(w, n);
        n->units = n->base && n->disp_unit ? n->size / n->disp_unit : 0;
        n->me = (uint64_t)mem_host_index() + 1;
    }
    rma_node_barrier(w); /* all have tried */
    if (w->flavor != MPI_WIN_FLAVOR_DYNAMIC && atomic_load_explicit(&p->unmapped, memory_order_relaxed) == 0)
        acc_hints |= ACC_ALL_MAPPED;
    acc_ctl_init(w->near.near[me].acc, p->stripes, acc_hints);
    if (w->memory && w->memory->owner)
        mem_segment_shut(w->memory);
    rma_node_barrier(w); /* all are ready */
    return MPI_SUCCESS;
}

void rma_node_close(struct rma_win *w)
{
    offer_back(w);
    for (unsigned i = 0; i < w->nears; i++)
        mem_segment_drop(w->near.near[i].seg);
    mem_segment_drop(w->memory);
    if (w->node.seg && w->node.reusable)
        page_keep(w);
    else if (w->node.seg)
        mem_segment_drop(w->node.seg);
    else
        free(w->node.page);
    free(w->near.near);
    w->near.near = NULL;
}
