/* handle_near.c - near memory by a handle (core/handle.h). Its owner shows it in a table of shared
 * memory. Memory in a segment is mapped at the first use; other memory is reached by its address,
 * as without a handle. Start with rma_handle_direct().
 *
 * Each operation looks whether the handle is still shown. One that is not goes by message, and its
 * owner refuses it. No message says here that a handle has ended: records of ended ones, and the
 * mappings that keep their memory, are looked for before there would be twice as many as live.
 *
 * The inline path finds the one of each target that was used last (recent.h). */
#include "rma/near/near_types.h"

#include <stdlib.h>

#include "base/atomic.h"

/* Records, and bytes of mappings, among which none is looked for that has ended. */
enum { HELD_LEAST = 4096, MAPPED_LEAST = 16 << 20 };

static const struct rma_shown *table_of(const struct rma_win *w, struct rma_held *h,
                                        const struct rma_near *n)
{
    size_t i = (size_t)(n - w->near.near);
    if (!h->tables && !(h->tables = calloc(w->nears, sizeof *h->tables)))
        return NULL;
    if (h->tables[i])
        return h->tables[i]->base;
    /* Acquire pairs with the release in table_make() (window/memhandle.c). */
    if (atomic_load_explicit(&n->peer->handles.num, memory_order_acquire) != RMA_SHOWN)
        return NULL;
    struct mem_key key = n->peer->handles.key; /* read once: peers can write the record */
    if (key.size < RMA_SHOWN * sizeof(struct rma_shown) ||
        mem_segment_attach_again(&key, &h->tables[i]) != 0) {
        h->tables[i] = NULL;
        return NULL;
    }
    return h->tables[i]->base;
}

/* Acquire pairs with the release in hide() (window/memhandle.c): a process that was told of the end
 * finds it hidden. */
static int is_alive(const struct rma_near_held *m)
{
    return atomic_load_explicit(&m->shown->base, memory_order_acquire) == m->base;
}

static void unmap(struct rma_held *h, struct rma_near_held *m)
{
    if (!m->seg)
        return;
    h->mapped -= m->seg->size;
    mem_segment_drop(m->seg);
    m->seg = NULL;
}

static void held_free(struct rma_held *h, struct rma_near_held *m)
{
    map_del(&h->near, rma_held_name(m->rank, m->base));
    if (h->recent == m)
        h->recent = NULL;
    unmap(h, m);
    free(m);
}

static uint64_t twice(uint64_t live, uint64_t least)
{
    return 2 * live > least ? 2 * live : least;
}

/* Before there are more of either than this, some may have ended. A scan costs no more than what
 * was added since the last one. */
static void drop_ended(struct rma_held *h, uint64_t more)
{
    if (h->near.count < twice(h->live, HELD_LEAST) &&
        h->mapped + more <= twice(h->mapped_live, MAPPED_LEAST))
        return;
    struct rma_near_held *ended = NULL;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&h->near, &at)) != NULL;) {
        struct rma_near_held *m = e->value;
        if (is_alive(m))
            continue;
        m->next = ended; /* a deletion moves others */
        ended = m;
    }
    for (struct rma_near_held *m; (m = ended) != NULL;) {
        ended = m->next;
        held_free(h, m);
    }
    h->live = h->near.count;
    h->mapped_live = h->mapped;
}

/* Several handles of one segment count it several times. */
static void map_it(struct rma_held *h, struct rma_near_held *m, const struct mem_key *key,
                   uint64_t off)
{
    if (!key->size)
        return;
    drop_ended(h, key->size);
    if (mem_segment_attach_again(key, &m->seg) != 0) {
        m->seg = NULL;
        return;
    }
    h->mapped += m->seg->size;
    if (m->size <= m->seg->size && off <= m->seg->size - m->size)
        m->at = (char *)m->seg->base + off;
    else
        unmap(h, m);
}

/* A record of the handle, if n shows it. */
static struct rma_near_held *found(const struct rma_win *w, struct rma_held *h,
                                   const struct rma_near *n, uint64_t base)
{
    const struct rma_shown *all = table_of(w, h, n), *s = NULL;
    for (unsigned i = 0; all && i < RMA_SHOWN_PLACES && !s; i++) {
        const struct rma_shown *one = &all[rma_shown_place(base, i)];
        /* Acquire pairs with the release in show() (window/memhandle.c). */
        if (atomic_load_explicit(&one->base, memory_order_acquire) == base)
            s = one;
    }
    struct rma_near_held *m = s ? malloc(sizeof *m) : NULL;
    if (!m)
        return NULL;
    sched_point(); /* its owner may end it */
    *m = (struct rma_near_held){.rank = n->rank, .base = base, .addr = s->addr, .size = s->size,
                                .shown = s};
    struct mem_key key = s->key;
    uint64_t off = s->off;
    /* The entry may be another one's now: then what was read is of neither. Pairs with the fence
     * in show(), between the clearing of this one and what it writes. */
    atomic_thread_fence(memory_order_acquire);
    if (!is_alive(m)) {
        free(m);
        return NULL;
    }
    map_it(h, m, &key, off);
    return m;
}

/* The inline path looks for handles from now on. */
static void look_inline(struct rma_win *w)
{
    struct rma_win *dup;
    if (w->near.alone) /* a line that the inline path reads */
        return;
    w->near.alone = 1;
    for (unsigned i = 0; (dup = rma_dup_next(w, &i)) != NULL;)
        dup->near.alone = 1;
}

/* --- what near.h finds ------------------------------------------------------------------------ */

static struct rma_recent *recent_of(const struct rma_win *w, struct rma_held *h,
                                    const struct rma_near *n)
{
    size_t bytes = w->nears * sizeof *h->recents;
    if (!h->recents && (h->recents = aligned_alloc(_Alignof(struct rma_recent), bytes)) != NULL)
        for (unsigned i = 0; i < w->nears; i++)
            h->recents[i] = rma_recent_none;
    return h->recents ? &h->recents[n - w->records] : NULL;
}

/* Operations of w on n may look there. They pass what is queued or under way, so none does where
 * MPIX_Win_order may have been called, nor before the lock of n is held. */
static void recent_show(struct rma_win *w, const struct rma_near *n, const struct rma_recent *r)
{
    if (r && !n->lazy && !w->orders)
        /* Release pairs with the acquire in rma_recent_at(). */
        __atomic_store_n(&w->near.near[n - w->records].recent, r, __ATOMIC_RELEASE);
}

/* The window or duplicate that was called; w is the window. */
static struct rma_win *called_by(struct rma_win *w, const struct rma_args *a)
{
    return a->channel ? w->channels->of[a->channel] : w;
}

void rma_recent_own(struct rma_win *w, const struct rma_near *n, const struct rma_args *a)
{
    const struct rma_handle *g = rma_handle_at(w, (uint64_t)a->disp);
    struct rma_held *h = g ? rma_held_of(w) : NULL;
    struct rma_recent *r = h ? recent_of(w, h, n) : NULL;
    if (!r)
        return;
    /* It lives until rma_recent_own_end(). */
    rma_recent_set(r, g->base, g->size, (const _Atomic uint64_t *)&r->base, g->addr);
    recent_show(called_by(w, a), n, r);
}

void rma_recent_own_end(struct rma_win *w, uint64_t base)
{
    struct rma_held *h = w->native.held;
    struct rma_recent *r = h && h->recents ? &h->recents[rma_near_own(w) - w->records] : NULL;
    if (r && r->base == base)
        __atomic_store_n(&r->base, RMA_NO_BASE, __ATOMIC_RELEASE);
}

/* The record of a handle that n shows now, or NULL. */
static struct rma_near_held *held_of(struct rma_win *w, const struct rma_near *n, uint64_t disp)
{
    struct rma_held *h = rma_held_of(w);
    uint64_t base = rma_handle_base(disp), name = rma_held_name(n->rank, base);
    struct rma_near_held *m = h ? map_get(&h->near, name) : NULL;
    if (!h || (m && (m->rank != n->rank || m->base != base)))
        return NULL;
    if (m && !is_alive(m)) {
        held_free(h, m);
        return NULL;
    }
    if (!m)
        drop_ended(h, 0);
    if (!m && (m = found(w, h, n, base)) != NULL && map_put(&h->near, name, m)) {
        unmap(h, m);
        free(m);
        return NULL;
    }
    if (m && m->at) {
        h->recent = m;
        m->recent = recent_of(w, h, n);
        if (m->recent)
            rma_recent_set(m->recent, base, m->size, &m->shown->base, (uintptr_t)m->at);
        look_inline(w);
    }
    return m;
}

int rma_handle_direct(struct rma_win *w, const struct rma_near *n, const struct rma_args *a,
                      struct rma_args *real, char **base)
{
    struct rma_near_held *m = held_of(w, n, (uint64_t)a->disp);
    int64_t lo, hi;
    uint64_t off;
    if (!m)
        return NOT_HERE;
    recent_show(called_by(w, a), n, m->recent);
    int err = dt_bounds(a->ttype, (size_t)a->tcount, &lo, &hi);
    if (err)
        return err;
    if (rma_offset((uint64_t)a->disp - m->base, 1, lo, hi, m->size, &off))
        return err_make(MPI_ERR_RMA_RANGE,
                        "%s: bytes %lld to %lld of a memory handle do not lie in its %llu bytes at "
                        "rank %d",
                        rma_call(), (long long)((uint64_t)a->disp - m->base) + (long long)lo,
                        (long long)((uint64_t)a->disp - m->base) + (long long)hi - 1,
                        (unsigned long long)m->size, a->rank);
    *real = *a;
    real->disp = (MPI_Aint)(m->addr + off);
    *base = m->at ? (char *)((uintptr_t)m->at - (uintptr_t)m->addr) : NULL;
    return MPI_SUCCESS;
}

/* The mapped record of the handle with this byte, or NULL. */
static __attribute__((noinline)) struct rma_near_held *known(struct rma_held *h, int rank,
                                                             uint64_t disp)
{
    uint64_t base = rma_handle_base(disp);
    struct rma_near_held *m =
        rma_is_handle(disp) ? map_get(&h->near, rma_held_name(rank, base)) : NULL;
    if (!m || !m->at || m->base != base || m->rank != rank)
        return NULL;
    if (m->recent && is_alive(m))
        rma_recent_set(m->recent, base, m->size, &m->shown->base, (uintptr_t)m->at);
    return h->recent = m;
}

/* The record of a mapped handle with all these bytes, from *off of it on; NULL: take the slow path.
 * As held_of() finds it: h->recent is mapped. */
static inline struct rma_near_held *shown(struct rma_win *w, const struct rma_near *n,
                                          int64_t disp, uint64_t bytes, uint64_t *off)
{
    struct rma_held *h = rma_root(w)->native.held;
    /* The element of a near target may have earlier operations; then the slow path looks. */
    const struct rma_near *own = rma_near_record(w, n);
    if (!h || own->lazy || own->bundles || w->table.near_targets || rma_unsure(w))
        return NULL;
    /* A byte of another handle, or of none, is beyond the end of this one. */
    struct rma_near_held *m = h->recent;
    if (__builtin_expect(!m || (uint64_t)disp - m->base >= m->size || m->rank != n->rank, 0) &&
        !(m = known(h, n->rank, (uint64_t)disp)))
        return NULL;
    *off = (uint64_t)disp - m->base;
    if (!bytes || *off > m->size || m->size - *off < bytes || !is_alive(m))
        return NULL;
    recent_show(w, own, m->recent);
    return m;
}

int rma_near_handle(struct rma_win_near *near, struct rma_near *n, int64_t disp, uint64_t bytes,
                    const void *from, void *to)
{
    uint64_t off;
    const struct rma_near_held *m = shown((struct rma_win *)near, n, disp, bytes, &off);
    if (!m)
        return 0;
    char *at = m->at + off;
    rma_near_count(n, from ? PVAR_RMA_PUT : PVAR_RMA_GET, bytes);
    if (bytes == 8 && rma_near_copy8(from ? at : to, from ? from : at))
        return 1;
    return from ? !rma_near_put(from, at, bytes) : !rma_near_get(to, at, bytes);
}

int rma_near_handle_acc(struct rma_win_near *near, struct rma_near *n, int64_t disp,
                        const struct dt_type *elem, unsigned op, const void *origin,
                        const void *compare, void *result)
{
    uint64_t off;
    const struct rma_near_held *m =
        shown((struct rma_win *)near, n, disp, elem->elem.bytes, &off);
    if (!m)
        return 0;
    /* Its owner's stripes are by address, as for operations without a handle. */
    off += m->addr;
    struct acc_target at = acc_mapped(n->acc, (char *)((uintptr_t)m->at - (uintptr_t)m->addr));
    return op == RMA_SWAP ? !acc_cas(&at, off, elem, origin, compare, result)
                          : !acc_element(&at, off, elem, proc->obj->table[OBJ_OP].builtin[op],
                                         origin, result);
}

void rma_held_free(struct rma_win *w)
{
    struct rma_held *h = w->native.held;
    if (!h)
        return;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&h->near, &at)) != NULL;) {
        struct rma_near_held *m = e->value;
        unmap(h, m);
        free(m);
    }
    map_destroy(&h->near);
    for (unsigned i = 0; h->tables && i < w->nears; i++)
        if (h->tables[i])
            mem_segment_drop(h->tables[i]);
    free(h->tables);
    free(h->recents);
    free(h);
    w->native.held = NULL;
}
