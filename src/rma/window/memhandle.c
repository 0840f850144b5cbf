/* memhandle.c - memory handles of a dynamic window: made and freed by the owner of the memory.
 * Start with rma_memhandle_create(); core/handle.h says what a handle is.
 *
 * Its memory is attached as long as it lives. It is registered with the networks, and shown to near
 * processes, which map it if it lies in a segment. It ends when it is freed, or when its memory is
 * detached: first no process finds it, then those that know a key have left (sync/handle_end.c),
 * then the registrations go. */
#include "rma/window/window_types.h"

#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"

static struct rma_handles *handles_of(struct rma_win *w)
{
    struct rma_handles *h = w->mem.handles;
    if (h || !(h = calloc(1, sizeof *h)))
        return h;
    map_init(&h->by_base);
    list_init(&h->ending);
    list_init(&h->kept);
    return w->mem.handles = h;
}

/* --- shown to near processes ------------------------------------------------------------------ */

static int table_make(struct rma_win *w, struct rma_handles *h)
{
    struct rma_peer *p = rma_near_own(w)->peer;
    size_t bytes = RMA_SHOWN * sizeof(struct rma_shown);
    if (mem_segment_create(bytes, MEM_ONCE, &h->seg)) {
        h->seg = NULL;
        return -1;
    }
    mem_segment_key(h->seg, &p->handles.key);
    /* Release pairs with the acquire in table_of() (near/handle_near.c): the key. */
    atomic_store_explicit(&p->handles.num, RMA_SHOWN, memory_order_release);
    return 0;
}

static void show(struct rma_win *w, struct rma_handle *g)
{
    struct rma_handles *h = w->mem.handles;
    if (w->nears == 1 || !g->size || (!h->seg && table_make(w, h)))
        return;
    struct rma_shown *all = h->seg->base, *s = NULL;
    for (unsigned i = 0; i < RMA_SHOWN_PLACES && !s; i++) {
        struct rma_shown *one = &all[rma_shown_place(g->base, i)];
        if (!atomic_load_explicit(&one->base, memory_order_relaxed))
            s = one;
    }
    if (!s)
        return;
    g->shown = s;
    struct mem_segment *seg = mem_segment_of((void *)(uintptr_t)g->addr, (size_t)g->size);
    fence_release(); /* behind the clearing in hide(): pairs with the fence in found() */
    memset(&s->key, 0, sizeof s->key);
    if (seg && seg->fd >= 0) {
        mem_segment_key(seg, &s->key);
        s->off = g->addr - (uint64_t)(uintptr_t)seg->base;
    }
    s->addr = g->addr;
    s->size = g->size;
    sched_point(); /* a near process may look now */
    /* Release pairs with the acquire in found() (near/handle_near.c): what precedes. */
    atomic_store_explicit(&s->base, g->base, memory_order_release);
}

/* Pairs with the acquire in is_alive() (near/handle_near.c). */
static void hide(struct rma_handle *g)
{
    if (g->shown)
        atomic_store_explicit(&g->shown->base, 0, memory_order_release);
    g->shown = NULL;
}

/* --- the networks ----------------------------------------------------------------------------- */

/* A failure is no error: messages do the same. */
static void reg_all(const struct rma_win *w, struct rma_handle *g)
{
    const struct tp_ops *ops;
    struct tp_caps caps;
    struct tp *tp;
    if (!cvar.rma_native || w->all_near || w->coherent || !g->size)
        return;
    for (int i = 0; g->nregs < RMA_REGS && (tp = am_tp_open(i, &ops, &caps)) != NULL; i++) {
        struct rma_reg *reg = &g->reg[g->nregs];
        if (!ops->reg || rma_pays_from(&caps) == SIZE_MAX ||
            ops->reg(tp, (void *)(uintptr_t)g->addr, (size_t)g->size, 0, TP_MAY_READ | TP_MAY_WRITE,
                     &reg->mem))
            continue;
        reg->tp = tp;
        reg->ops = ops;
        g->nregs++;
    }
}

/* --- made, freed ------------------------------------------------------------------------------ */

/* The first region with memory of [addr, addr+size), or the next one above `after`; NULL: none. */
static struct rma_attached *region_from(const struct rma_win *w, uint64_t addr, uint64_t size,
                                        const struct rma_attached *after)
{
    unsigned i = rma_region_above(w, after ? after->base : addr);
    struct rma_attached *all = w->mem.regions;
    if (!after && i > 0 && addr - all[i - 1].base < all[i - 1].size)
        return size ? &all[i - 1] : NULL;
    return i < w->mem.nregions && all[i].base < addr + size ? &all[i] : NULL;
}

/* They stay attached until it has ended. */
static void regions_count(struct rma_win *w, const struct rma_handle *g, int handles, int ending)
{
    for (struct rma_attached *r = NULL; (r = region_from(w, g->addr, g->size, r)) != NULL;) {
        r->handles += (unsigned)handles;
        r->ending += (unsigned)ending;
    }
}

/* The next base for so many bytes; 0: all of its class were given. */
static uint64_t base_next(struct rma_handles *h, uint64_t size)
{
    unsigned c = RMA_HANDLE_LEAST;
    while (c < RMA_HANDLE_CLASS && (UINT64_C(1) << c) / 2 < size)
        c++;
    if (c == RMA_HANDLE_CLASS || h->next[c] >> (RMA_HANDLE_CLASS - c))
        return 0;
    return UINT64_C(1) << RMA_HANDLE_SIGN | (uint64_t)c << RMA_HANDLE_CLASS | h->next[c]++ << c;
}

static int no_memory(void)
{
    return err_make(MPI_ERR_NO_MEM, "%s: no memory for one more handle", rma_call());
}

/* The memory is attached now. */
static int make(struct rma_win *w, uint64_t addr, uint64_t size, uint64_t *disp)
{
    struct rma_handles *h = handles_of(w);
    struct rma_handle *g = h ? calloc(1, sizeof *g) : NULL;
    if (!g)
        return no_memory();
    list_init(&g->link);
    g->addr = addr;
    g->size = size;
    g->base = base_next(h, size);
    if (!g->base || map_put(&h->by_base, g->base, g)) {
        int err = g->base ? no_memory()
                          : err_make(MPI_ERR_RMA_ATTACH, "%s: no handle of so many bytes is left",
                                     rma_call());
        free(g);
        return err;
    }
    regions_count(w, g, 1, 0);
    reg_all(w, g);
    show(w, g);
    *disp = g->base;
    return MPI_SUCCESS;
}

int rma_memhandle_create(struct rma_win *w, void *base, MPI_Aint size, uint64_t *disp)
{
    uint64_t addr = (uint64_t)(uintptr_t)base;
    w = rma_root(w);
    int dynamic = w->flavor == MPI_WIN_FLAVOR_DYNAMIC;
    int attached = dynamic && (!size || (size > 0 && rma_win_local(w, addr, (uint64_t)size)));
    int err = attached ? MPI_SUCCESS : rma_win_attach(w, base, size);
    if (err)
        return err;
    if (!attached)
        w->mem.regions[rma_region_above(w, addr) - 1].by_handle = 1;
    err = make(w, addr, (uint64_t)size, disp);
    if (!attached && err)
        (void)rma_win_detach(w, base);
    return err;
}

static void handle_free(struct rma_handle *g)
{
    rma_regs_drop(g->reg, &g->nregs);
    free(g->holders);
    free(g);
}

static void handle_end(struct rma_win *w, struct rma_handle *g)
{
    struct rma_handles *h = w->mem.handles;
    map_del(&h->by_base, g->base);
    hide(g);
    rma_recent_own_end(w, g->base);
    regions_count(w, g, -1, 1);
    int gone = rma_handle_farewell(w, g);
    regions_count(w, g, 0, -1);
    if (gone)
        handle_free(g);
    else
        list_push(&h->kept, &g->link);
    progress_signal(); /* another thread may wait to detach */
}

/* A handle of which some memory lies in [addr, addr+size), or NULL. */
static struct rma_handle *handle_over(const struct rma_win *w, uint64_t addr, uint64_t size)
{
    const struct rma_handles *h = w->mem.handles;
    size_t at = 0;
    for (struct map_entry *e; h && (e = map_next(&h->by_base, &at)) != NULL;) {
        struct rma_handle *g = e->value;
        if (g->addr < addr + size && addr < g->addr + g->size)
            return g;
    }
    return NULL;
}

static struct rma_attached *region_at(const struct rma_win *w, uint64_t addr)
{
    struct rma_attached *r = region_from(w, addr, 1, NULL);
    return r && r->base == addr ? r : NULL;
}

struct ends {
    const struct rma_win *w;
    uint64_t addr;
};

static int none_ends(void *arg)
{
    const struct ends *x = arg;
    const struct rma_attached *r = region_at(x->w, x->addr);
    return !r || !r->ending;
}

void rma_memhandles_end(struct rma_win *w, uint64_t addr)
{
    struct ends x = {w, addr};
    for (struct rma_attached *r; (r = region_at(w, addr)) != NULL && (r->handles || r->ending);) {
        struct rma_handle *g = r->handles ? handle_over(w, addr, r->size) : NULL;
        r->by_handle = 0; /* the caller detaches it, no end of a handle does */
        if (g)
            handle_end(w, g);
        else
            rma_await(w, WHY_WINDOW, none_ends, &x, "the users of a memory handle", -1);
    }
}

int rma_memhandle_free(struct rma_win *w, uint64_t disp)
{
    w = rma_root(w);
    struct rma_handle *g = rma_is_handle(disp) ? rma_handle_at(w, disp) : NULL;
    if (!g || g->base != disp)
        return err_make(MPI_ERR_ARG, "%s: 0x%llx is no memory handle that this process made on %s",
                        rma_call(), (unsigned long long)disp, rma_win_text(w));
    uint64_t addr = g->addr, size = g->size;
    handle_end(w, g); /* other threads may have detached it meanwhile */
    for (uint64_t at = addr;;) {
        const struct rma_attached *r = region_from(w, at, addr + size - at, NULL);
        if (!r)
            return MPI_SUCCESS;
        at = r->base + r->size;
        int err = r->by_handle && !r->handles && !r->ending
                      ? rma_win_detach(w, (void *)(uintptr_t)r->base)
                      : MPI_SUCCESS;
        if (err || at >= addr + size)
            return err;
    }
}

void rma_memhandles_drop(struct rma_win *w)
{
    struct rma_handles *h = w->mem.handles;
    if (!h)
        return;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&h->by_base, &at)) != NULL;)
        handle_free(e->value);
    map_destroy(&h->by_base);
    while (!list_empty(&h->kept)) {
        struct rma_handle *g = LIST_OBJ(h->kept.next, struct rma_handle, link);
        list_del(&g->link);
        handle_free(g);
    }
    if (h->seg)
        mem_segment_drop(h->seg);
    free(h);
    w->mem.handles = NULL;
}
