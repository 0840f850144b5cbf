/* win.c - windows: creation, memory, attached regions, information, end.
 *
 * Creation: duplicate the communicator (its context id, never used twice, is the window's id in packets), find the
 * node peers, share the node segment, reach everybody's memory, agree on errors.  After the last agreement every
 * member knows the id, so packets may come. */
#include "rma/core/types.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/atomic.h"
#include "coll/coll.h"

struct plan { /* what a creation call asks for */
    int flavor;
    void *base;
    MPI_Aint size, disp_unit;
    struct info *info;
};

struct rma_win *rma_win_find(uint32_t id)
{
    return map_get(&rma_room()->wins, (uint64_t)id + 1);
}

uint64_t rma_ops_total(const struct rma_win *w)
{
    uint64_t n = 0;
    for (int i = PVAR_RMA_PUT; i <= PVAR_RMA_CAS; i++)
        n += atomic_load_explicit(&w->near.pvars.v[i], memory_order_relaxed);
    return n;
}

/* --- parts ------------------------------------------------------------------------------------ */

static int plan_check(const struct plan *p)
{
    if (p->size < 0)
        return err_make(MPI_ERR_SIZE, "%s: size is %lld, less than 0", rma_call(), (long long)p->size);
    if (p->disp_unit <= 0)
        return err_make(MPI_ERR_DISP, "%s: displacement unit is %lld; it must be positive", rma_call(),
                        (long long)p->disp_unit);
    if (p->flavor == MPI_WIN_FLAVOR_CREATE && !p->base && p->size)
        return err_make(MPI_ERR_BASE, "%s: base is NULL and size %lld", rma_call(), (long long)p->size);
    return MPI_SUCCESS;
}

/* MPI_Win_allocate or MPI_Win_allocate_shared: memory that the library makes. */
static int memory_ours(const struct rma_win *w)
{
    return w->flavor == MPI_WIN_FLAVOR_ALLOCATE || w->flavor == MPI_WIN_FLAVOR_SHARED;
}

static struct rma_win *win_blank(const struct plan *p)
{
    struct rma *r = rma_room();
    struct rma_win *w = r->spare;
    if (w)
        r->spare = (struct rma_win *)w->heap;
    else if ((w = aligned_alloc(64, (sizeof *w + 63) / 64 * 64)) != NULL)
        w->near.obj.handle = 0;
    else
        return NULL;
    _Static_assert(offsetof(struct rma_win, near.obj) == 0, "what follows is cleared, the handle stays 0");
    memset((char *)w + sizeof w->near.obj, 0, sizeof *w - sizeof w->near.obj);
    w->flavor = (uint8_t)p->flavor;
    w->create_flavor = p->flavor;
    w->model = MPI_WIN_UNIFIED;
    w->base = p->base;
    w->bytes = p->size;
    w->disp_unit = p->disp_unit;
    w->attr_unit = p->disp_unit <= INT_MAX ? (int)p->disp_unit : 0;
    w->op_quota.size = w->op_quota.free = (unsigned)cvar.rma_op_win;
    w->target_quota.size = w->target_quota.free = (unsigned)cvar.rma_target_win;
    list_init(&w->link);
    list_init(&w->active);
    list_init(&w->ready);
    list_init(&w->resps);
    list_init(&w->slots_used);
    list_init(&w->keys);
    map_init(&w->posts);
    map_init(&w->far_errors);
    map_init(&w->left);
    rma_gone_init(&w->gone);
    rma_lockq_init(&w->lockq);
    attr_list_init(&w->attrs);
    w->errhandler = errhandler_builtin(ERRHANDLER_FATAL);
    return w;
}

void rma_win_drop(struct rma_win *w)
{
    struct rma *r = rma_room();
    if (w->near.obj.handle) {
        _Atomic(struct rma_win_near *) *at = &r->fast.win[w->near.obj.handle & (RMA_FAST_WINS - 1)];
        if (atomic_load_explicit(at, memory_order_relaxed) == &w->near)
            atomic_store_explicit(at, &r->fast.none, memory_order_relaxed);
        obj_del(OBJ_WIN, &w->near.obj);
    }
    if (w->id)
        map_del(&r->wins, (uint64_t)w->id + 1);
    list_del(&w->link);
    list_del(&w->active);
    for (int i = 0; i < PVAR_COUNT; i++)
        if (pvar_table[i].cls == PVAR_COUNTER)
            counter_add(&r->closed.v[i], w->near.pvars.v[i]);
        else if (pvar_table[i].cls == PVAR_HIGHWATER)
            counter_max(&r->closed.v[i], w->near.pvars.v[i]);
    rma_native_close(w);
    rma_lockq_free(&w->lockq);
    map_destroy(&w->posts);
    rma_errors_free(w);
    map_destroy(&w->left);
    rma_gone_clear(&w->gone);
    if (w->near.near)
        rma_node_close(w);
    rma_slots_free(w);
    rma_pscw_free(w);
    free(w->heap);
    mem_move_back(w->moved);
    while (w->nregions)
        mem_move_back(w->regions[--w->nregions].moved);
    free(w->regions);
    free(w->empties);
    info_drop(w->info);
    errhandler_drop(w->errhandler);
    if (w->comm)
        comm_drop(w->comm);
    w->heap = (void *)r->spare; /* not freed before the end: rma_near_win() */
    r->spare = w;
}

/* --- hints --------------------------------------------------------------------------------------- */

enum hint_kind { HINT_TEXT, HINT_TRUTH, HINT_ORDER, HINT_OPS, HINT_NUMBER };

static const struct {
    const char *key, *value; /* default */
    enum hint_kind kind;
    int made; /* the window is made by it: what comes later is ignored */
} hints[] = {{"no_locks", "false", HINT_TRUTH, 0},
             {"accumulate_ordering", "rar,raw,war,waw", HINT_ORDER, 0},
             {"accumulate_ops", "same_op_no_op", HINT_OPS, 0},
             {"mpi_accumulate_granularity", "0", HINT_NUMBER, 1},
             {"same_size", "false", HINT_TRUTH, 0},
             {"same_disp_unit", "false", HINT_TRUTH, 0},
             {"alloc_shared_noncontig", "false", HINT_TRUTH, 0}, /* told as set last, as MPICH does: its test rma/win_info */
             {"mpi_assert_memory_alloc_kinds", NULL, HINT_TEXT, 0}};
enum { HINTS = sizeof hints / sizeof *hints };

static void hints_apply(struct rma_win *w)
{
    w->ordered_acc = strcmp(info_value(w->info, "accumulate_ordering"), "none") != 0;
    w->no_locks = (uint8_t)info_truth(w->info, "no_locks", 0);
}

/* Lists of rar, raw, war, waw in any order, or none. */
static int is_ordering(const char *v)
{
    if (!strcasecmp(v, "none"))
        return 1;
    for (;; v += 4) {
        if (strncasecmp(v, "rar", 3) && strncasecmp(v, "raw", 3) && strncasecmp(v, "war", 3) && strncasecmp(v, "waw", 3))
            return 0;
        if (v[3] != ',')
            return v[3] == '\0';
    }
}

static int is_number(const char *v)
{
    size_t digits = strspn(v, "0123456789");
    return digits > 0 && digits < 10 && !v[digits];
}

/* A value that a key cannot have is ignored, as an unknown key is: MPI_Win_get_info tells what is in effect. */
static int is_hint(enum hint_kind kind, const char *v)
{
    switch (kind) {
    case HINT_TRUTH:
        return !strcasecmp(v, "true") || !strcasecmp(v, "false");
    case HINT_ORDER:
        return is_ordering(v);
    case HINT_OPS:
        return !strcasecmp(v, "same_op") || !strcasecmp(v, "same_op_no_op");
    case HINT_NUMBER:
        return is_number(v);
    default:
        return 1;
    }
}

/* As the library tells it: in lower case. */
static int hint_put(struct info *i, const char *key, const char *value)
{
    char text[MPI_MAX_INFO_VAL + 1];
    size_t n = 0;
    for (; value[n] && n < MPI_MAX_INFO_VAL; n++)
        text[n] = (char)tolower((unsigned char)value[n]);
    text[n] = '\0';
    return info_put(i, key, text);
}

static int hints_take(struct rma_win *w, const struct info *given, int made)
{
    if (!w->info)
        w->info = info_make();
    if (!w->info)
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for hints", rma_call());
    for (int i = 0; i < HINTS; i++) {
        const char *v = given && !(made && hints[i].made) ? info_value(given, hints[i].key) : NULL;
        if (v && !is_hint(hints[i].kind, v))
            v = NULL;
        if (!v && !info_value(w->info, hints[i].key))
            v = hints[i].value;
        if (v && hint_put(w->info, hints[i].key, v))
            return err_make(MPI_ERR_NO_MEM, "%s: no memory for hints", rma_call());
    }
    hints_apply(w);
    return MPI_SUCCESS;
}

static unsigned acc_hints(const struct rma_win *w)
{
    unsigned h = 0;
    const char *grain = info_value(w->info, "mpi_accumulate_granularity");
    const char *ops = info_value(w->info, "accumulate_ops");
    if (grain && atoll(grain) > 0 && atoll(grain) <= 16)
        h |= ACC_SINGLE_ELEMENTS;
    if (ops && !strncmp(ops, "same_op", 7))
        h |= ACC_SAME_OP;
    return h;
}

int rma_win_set_info(struct rma_win *w, struct info *info)
{
    return hints_take(w, info, 1);
}

/* Of memory made here: what its address and that of its peers' parts is known to be a multiple of (bytes). */
static int64_t alignment_had(const struct rma_win *w)
{
    uintptr_t at = (uintptr_t)w->base, low = at & -at;
    return (int64_t)(at && low < w->align ? low : w->align);
}

int rma_win_get_info(struct rma_win *w, struct info **out)
{
    char text[24];
    const struct {
        const char *key;
        int64_t value;
    } sizes[] = {{"slots", w->nslots},
                 {"op_win_pool", w->op_quota.size},
                 {"target_win_pool", w->target_quota.size},
                 {"lock_entries", cvar.rma_lock_entries},
                 {"piggyback_threshold", cvar.rma_hold},
                 {"mpi_minimum_memory_alignment", alignment_had(w)}};
    size_t told = sizeof sizes / sizeof *sizes;
    if (!memory_ours(w))
        told--; /* the last */
    struct info *i = info_copy(w->info);
    if (i && info_put(i, "large_pages", w->large_pages ? "true" : "false")) {
        info_drop(i);
        i = NULL;
    }
    for (size_t k = 0; i && k < told; k++) {
        snprintf(text, sizeof text, "%lld", (long long)sizes[k].value);
        if (info_put(i, sizes[k].key, text)) {
            info_drop(i);
            i = NULL;
        }
    }
    *out = i;
    return i ? MPI_SUCCESS : err_make(MPI_ERR_NO_MEM, "%s: no memory for hints", rma_call());
}

/* --- creation ------------------------------------------------------------------------------------- */

/* Whether some open window shows memory of [base, base+bytes) to others: they may store there while it is copied, and a network that
 * it was registered with knows the pages that it has now. */
static int is_shown(const void *base, size_t bytes)
{
    const struct rma *r = rma_room();
    uint64_t from = (uint64_t)(uintptr_t)base, to = from + bytes;
    for (const struct list *l = r->windows.next; l != &r->windows; l = l->next) {
        const struct rma_win *w = LIST_OBJ(l, struct rma_win, link);
        uint64_t at = (uint64_t)(uintptr_t)w->base;
        if (at < to && from < at + (uint64_t)w->bytes)
            return 1;
        for (unsigned i = 0; i < w->nregions; i++)
            if (w->regions[i].base < to && from < w->regions[i].base + w->regions[i].size)
                return 1;
    }
    return 0;
}

/* A large buffer goes into shared memory if it may, so that near peers map it; as it is, they come by CMA or message.  From here to
 * win_publish() nothing waits, so what is_shown() said stays true. */
static void memory_move(struct rma_win *w)
{
    if (!w->bytes)
        return;
    w->moved = mem_move_hold(w->base, (size_t)w->bytes);
    if (!w->moved && cvar.rma_move > 0 && w->bytes >= cvar.rma_move && w->nears > 1 &&
        !mem_segment_of(w->base, (size_t)w->bytes) && !is_shown(w->base, (size_t)w->bytes) &&
        mem_move(w->base, (size_t)w->bytes, &w->moved) != 0)
        w->moved = NULL;
    if (w->moved && mem_segment_of(w->base, (size_t)w->bytes))
        rma_count(w, PVAR_RMA_MOVED, 1);
}

/* Memory of MPI_Alloc_mem comes when touched; peers that store into it must find it there. */
static int memory_reserve(struct rma_win *w)
{
    struct mem_segment *s = w->nears > 1 && w->bytes ? mem_segment_of(w->base, (size_t)w->bytes) : NULL;
    if (!s || s->fd < 0 || mem_segment_reserve(s, (size_t)((char *)w->base - (char *)s->base), (size_t)w->bytes) == 0)
        return MPI_SUCCESS;
    return err_make(MPI_ERR_NO_MEM, "%s: no %lld bytes of memory", rma_call(), (long long)w->bytes);
}

static int memory_share(struct rma_win *w, unsigned flags)
{
    if (mem_segment_create((size_t)w->bytes, flags, &w->memory) != 0)
        return 0;
    if (mem_segment_align(w->memory, w->align) == 0)
        return 1;
    mem_segment_drop(w->memory);
    w->memory = NULL;
    return 0;
}

static int memory_make(struct rma_win *w)
{
    int large = w->large_pages;
    w->large_pages = 0; /* unless they are had */
    if (w->flavor == MPI_WIN_FLAVOR_CREATE) {
        memory_move(w);
        return memory_reserve(w);
    }
    if (w->flavor != MPI_WIN_FLAVOR_ALLOCATE || !w->bytes)
        return MPI_SUCCESS;
    if (w->node.area) {
        w->base = w->node.area + w->node.n.me * w->node.part;
        return MPI_SUCCESS;
    }
    w->large_pages = large && memory_share(w, MEM_LARGE);
    if (w->large_pages || (w->nears > 1 && memory_share(w, 0))) {
        w->base = w->memory->base;
        return MPI_SUCCESS;
    }
    /* Nobody to share with, or the system has no shared memory left: peers come by CMA or message. */
    if ((uint64_t)w->bytes < (uint64_t)PTRDIFF_MAX - w->align)
        w->heap = calloc(1, (size_t)w->bytes + w->align); /* pages of it come when touched */
    if (!w->heap)
        return err_make(MPI_ERR_NO_MEM, "%s: no %lld bytes of memory, aligned to %zu", rma_call(), (long long)w->bytes, w->align);
    w->base = (char *)w->heap + (-(uintptr_t)w->heap & (w->align - 1));
    return MPI_SUCCESS;
}

/* What everybody learns from everybody, in one exchange. */
struct agreed {
    uint64_t most; /* bytes of the largest window */
    uint64_t kept; /* the node segment that all can use again, or 0 */
};

/* This process's part that may fail alone; then everybody learns of it.  c: the user's communicator, whose
 * collectives are likely to run through shared memory already. */
static int local_part(struct rma_win *w, const struct plan *p, struct comm *c, struct agreed *out)
{
    int err = plan_check(p);
    if (!err)
        err = hints_take(w, p->info, 0);
    w->large_pages = p->info && info_truth(p->info, "large_pages", 0);
    size_t align = memory_ours(w) ? info_alignment(p->info) : 0;
    if (!err && rma_slots_init(w))
        err = err_make(MPI_ERR_NO_MEM, "%s: no memory for slots", rma_call());
    if (!err)
        err = rma_node_find(w);
    if (!err && w->flavor == MPI_WIN_FLAVOR_SHARED && !w->all_near)
        err = err_make(MPI_ERR_RMA_SHARED, "%s: %d of %d processes are on other nodes", rma_call(),
                       w->size - (int)w->nears, w->size);
    int64_t kept = err ? 0 : (int64_t)rma_node_offer(w);
    int64_t v[5] = {err ? err_class(err) : 0, p->size, kept, -kept, align > RMA_PAGE ? (int64_t)align : 0 /* a page, as ever */};
    int e = coll_allreduce_i64(v, 5, COLL_MAX, c);
    w->align = v[4] ? (size_t)v[4] : RMA_PAGE;
    out->most = (uint64_t)v[1];
    out->kept = v[2] == -v[3] ? (uint64_t)v[2] : 0; /* highest and lowest are one */
    if (!err && !e && v[0])
        err = err_make((int)v[0], "%s failed on another process", rma_call());
    return err ? err : e;
}

static int win_publish(struct rma_win *w)
{
    struct rma *r = rma_room();
    if (obj_add(OBJ_WIN, &w->near.obj))
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for a window handle", rma_call());
    /* Only now: a packet that names it finds everything that a handler touches. */
    if (map_put(&r->wins, (uint64_t)w->id + 1, w))
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for a window", rma_call());
    list_push(&r->windows, &w->link);
    rma_count(w, PVAR_RMA_WIN_BYTES, sizeof *w + w->nslots * sizeof *w->slots);
    return MPI_SUCCESS;
}

/* From here on everybody comes along to the last agreement, whatever fails. */
static int shared_part(struct rma_win *w)
{
    int err = memory_make(w);
    rma_node_record(w);
    rma_native_open(w, acc_hints(w));
    if (w->flavor == MPI_WIN_FLAVOR_SHARED)
        err = rma_node_shared(w, info_truth(w->info, "alloc_shared_noncontig", 0));
    if (!err)
        err = win_publish(w);
    err = rma_node_attach(w, acc_hints(w), err);
    return w->all_near ? err : coll_agree_error(err, w->comm);
}

static int make(const struct plan *p, struct comm *c, struct rma_win **out)
{
    struct rma_win *w = win_blank(p);
    struct agreed all;
    if (!w)
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for a window", rma_call());
    int err = coll_comm_dup(c, &w->comm);
    if (err) {
        rma_win_drop(w);
        return err;
    }
    w->map = w->comm->map;
    w->rank = w->comm->rank;
    w->size = w->comm->size;
    w->id = w->comm->ctx_recv;
    err = local_part(w, p, c, &all);
    if (!err)
        err = rma_node_open(w, all.most, all.kept);
    if (!err)
        err = shared_part(w);
    if (err) {
        rma_win_drop(w);
        return err;
    }
    /* Last: from here on the fast path may find it. */
    atomic_store_explicit(&rma_room()->fast.win[w->near.obj.handle & (RMA_FAST_WINS - 1)], &w->near,
                          memory_order_release);
    *out = w;
    return MPI_SUCCESS;
}

int rma_win_create(void *base, MPI_Aint size, MPI_Aint disp_unit, struct info *info, struct comm *c,
                   struct rma_win **out)
{
    struct plan p = {MPI_WIN_FLAVOR_CREATE, base, size, disp_unit, info};
    return make(&p, c, out);
}

int rma_win_allocate(MPI_Aint size, MPI_Aint disp_unit, struct info *info, struct comm *c, void *base_out,
                     struct rma_win **out)
{
    struct plan p = {MPI_WIN_FLAVOR_ALLOCATE, NULL, size, disp_unit, info};
    int err = make(&p, c, out);
    if (!err)
        *(void **)base_out = (*out)->base;
    return err;
}

int rma_win_allocate_shared(MPI_Aint size, MPI_Aint disp_unit, struct info *info, struct comm *c, void *base_out,
                            struct rma_win **out)
{
    struct plan p = {MPI_WIN_FLAVOR_SHARED, NULL, size, disp_unit, info};
    int err = make(&p, c, out);
    if (!err)
        *(void **)base_out = (*out)->base;
    return err;
}

int rma_win_create_dynamic(struct info *info, struct comm *c, struct rma_win **out)
{
    struct plan p = {MPI_WIN_FLAVOR_DYNAMIC, NULL, 0, 1, info};
    return make(&p, c, out);
}

/* --- end --------------------------------------------------------------------------------------------- */

/* Over several nodes; not for ever when a member is dead, since the others may not come either. */
static void last_barrier(struct rma_win *w)
{
    struct request *r;
    if (coll_ibarrier_members(w->comm, &r) != MPI_SUCCESS)
        return;
    request_wait(r);
    request_finish(r, MPI_STATUS_IGNORE);
}

int rma_win_free(struct rma_win *w)
{
    if (!rma_ask(w, ASK_FREE_MAY) || w->expo != EXPO_NONE)
        return err_make(MPI_ERR_RMA_SYNC, "%s: an epoch is open (window 0x%x in state %s%s)", rma_call(),
                        (unsigned)w->near.obj.handle, rma_state_name(w), w->expo != EXPO_NONE ? ", exposed" : "");
    int err = attr_delete_all(OBJ_WIN, w->near.obj.handle, &w->attrs);
    if (err)
        return err;
    rma_barriers_wait(w, 0);
    w->leaving = 1;
    if (w->all_near)
        rma_node_barrier(w);
    else
        last_barrier(w);
    rma_leave(w);
    w->node.reusable = w->all_near && !w->dead && !boot_dead_count();
    rma_win_drop(w);
    return MPI_SUCCESS;
}

/* --- attached regions ------------------------------------------------------------------------------------ */

/* Index of the first region that begins above addr. */
static unsigned region_above(const struct rma_win *w, uint64_t addr)
{
    unsigned lo = 0, hi = w->nregions;
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        if (w->regions[mid].base <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

const struct rma_attached *rma_win_region(const struct rma_win *w, uint64_t addr)
{
    unsigned i = region_above(w, addr);
    return i > 0 && addr - w->regions[i - 1].base < w->regions[i - 1].size ? &w->regions[i - 1] : NULL;
}

/* Memory may lie across regions that follow each other without a gap. */
char *rma_win_local(struct rma_win *w, uint64_t off, uint64_t len)
{
    if (w->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return off <= (uint64_t)w->bytes && len <= (uint64_t)w->bytes - off ? (char *)w->base + off : NULL;
    uint64_t at = off, left = len;
    for (unsigned i = region_above(w, off); i > 0 && i <= w->nregions && w->regions[i - 1].base <= at; i++) {
        const struct rma_attached *g = &w->regions[i - 1];
        uint64_t here = at - g->base < g->size ? g->size - (at - g->base) : 0;
        if (left <= here)
            return (char *)(uintptr_t)off;
        if (!here)
            return NULL;
        at += here;
        left -= here;
    }
    return NULL;
}

/* A layout may leave out what lies between attached regions: only its blocks count.  addr: of its buffer, perhaps MPI_BOTTOM. */
int rma_win_holds(struct rma_win *w, uint64_t addr, const struct dt_type *t, size_t count, size_t from, size_t len)
{
    enum { BLOCKS = 32 };
    struct iovec v[BLOCKS];
    for (size_t done = 0, got; done < len; done += got) {
        size_t n = dt_iov(t, count, NULL, from + done, len - done, v, BLOCKS, &got);
        if (!n)
            return 0;
        for (size_t i = 0; i < n; i++)
            if (!rma_win_local(w, addr + (uint64_t)(uintptr_t)v[i].iov_base, v[i].iov_len))
                return 0;
    }
    return len > 0;
}

/* Show the list to near peers.  The version is odd meanwhile: pairs with rma_region_shown(). */
static void regions_publish(struct rma_win *w)
{
    struct rma_peer *p = rma_peer_of(w, w->node.n.me);
    unsigned v = atomic_load_explicit(&p->version, memory_order_relaxed);
    unsigned n = w->nregions < RMA_REGIONS ? w->nregions : RMA_REGIONS;
    atomic_store_explicit(&p->version, v + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    sched_point(); /* nearby readers see that the list is not to be used */
    for (unsigned i = 0; i < n; i++) {
        __atomic_store_n(&p->region[i].base, w->regions[i].base, __ATOMIC_RELAXED);
        __atomic_store_n(&p->region[i].size, w->regions[i].size, __ATOMIC_RELAXED);
    }
    atomic_store_explicit(&p->nregions, n, memory_order_relaxed);
    __atomic_store_n(&p->overflow, (uint32_t)(w->nregions > RMA_REGIONS), __ATOMIC_RELAXED);
    atomic_store_explicit(&p->version, v + 2, memory_order_release);
}

static int not_dynamic(const struct rma_win *w)
{
    return err_make(MPI_ERR_RMA_FLAVOR, "%s: window 0x%x was not made by MPI_Win_create_dynamic", rma_call(),
                    (unsigned)w->near.obj.handle);
}

/* A region without bytes overlaps none, and is only there to be detached: kept apart, so that every other one has bytes and a base of its
 * own. */
static int attach_empty(struct rma_win *w, uint64_t addr)
{
    uint64_t *more = realloc(w->empties, (w->nempties + 1) * sizeof *more);
    if (!more)
        return err_make(MPI_ERR_RMA_ATTACH, "%s: no memory for one more region", rma_call());
    w->empties = more;
    w->empties[w->nempties++] = addr;
    return MPI_SUCCESS;
}

static int detach_empty(struct rma_win *w, uint64_t addr)
{
    for (unsigned i = 0; i < w->nempties; i++)
        if (w->empties[i] == addr) {
            w->empties[i] = w->empties[--w->nempties];
            return MPI_SUCCESS;
        }
    return err_make(MPI_ERR_RMA_ATTACH, "%s: no attached region begins at %p", rma_call(), (void *)(uintptr_t)addr);
}

int rma_win_attach(struct rma_win *w, void *base, MPI_Aint size)
{
    uint64_t addr = (uint64_t)(uintptr_t)base;
    if (w->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return not_dynamic(w);
    if (size < 0)
        return err_make(MPI_ERR_SIZE, "%s: size is %lld, less than 0", rma_call(), (long long)size);
    if (!base && size)
        return err_make(MPI_ERR_BASE, "%s: base is NULL and size %lld", rma_call(), (long long)size);
    if ((uint64_t)size > UINT64_MAX - addr)
        return err_make(MPI_ERR_RMA_ATTACH, "%s: [%p, +%lld) goes beyond the end of memory", rma_call(), base,
                        (long long)size);
    if (!size)
        return attach_empty(w, addr);
    unsigned i = region_above(w, addr);
    if ((i > 0 && w->regions[i - 1].base + w->regions[i - 1].size > addr) ||
        (i < w->nregions && addr + (uint64_t)size > w->regions[i].base))
        return err_make(MPI_ERR_RMA_ATTACH, "%s: [%p, +%lld) overlaps memory that is attached already", rma_call(),
                        base, (long long)size);
    if (w->nregions == w->regions_room) {
        unsigned room = w->regions_room ? 2 * w->regions_room : 16;
        struct rma_attached *more = realloc(w->regions, room * sizeof *more);
        if (!more)
            return err_make(MPI_ERR_RMA_ATTACH, "%s: no memory for one more region", rma_call());
        w->regions = more;
        w->regions_room = room;
    }
    memmove(w->regions + i + 1, w->regions + i, (w->nregions - i) * sizeof *w->regions);
    w->regions[i] = (struct rma_attached){addr, (uint64_t)size, mem_move_hold(base, (size_t)size)};
    w->nregions++;
    regions_publish(w);
    return MPI_SUCCESS;
}

int rma_win_detach(struct rma_win *w, const void *base)
{
    uint64_t addr = (uint64_t)(uintptr_t)base;
    if (w->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return not_dynamic(w);
    unsigned i = region_above(w, addr);
    if (i == 0 || w->regions[i - 1].base != addr)
        return detach_empty(w, addr);
    mem_move_back(w->regions[i - 1].moved);
    memmove(w->regions + i - 1, w->regions + i, (w->nregions - i) * sizeof *w->regions);
    w->nregions--;
    w->detached++;
    regions_publish(w);
    return MPI_SUCCESS;
}

/* --- questions ------------------------------------------------------------------------------------------ */

int rma_win_shared_query(struct rma_win *w, int rank, MPI_Aint *size, MPI_Aint *disp_unit, void *base_out)
{
    if (w->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return err_make(MPI_ERR_RMA_FLAVOR, "%s: window 0x%x is dynamic: it has no memory of its own", rma_call(),
                        (unsigned)w->near.obj.handle);
    if (rank != MPI_PROC_NULL && (rank < 0 || rank >= w->size))
        return err_make(MPI_ERR_RANK, "%s: rank %d is not in the window (0 to %d)", rma_call(), rank, w->size - 1);
    const struct rma_near *n = rank == MPI_PROC_NULL ? NULL : rma_near_of(w, rank);
    for (unsigned i = 0; rank == MPI_PROC_NULL && i < w->nears && !n; i++)
        if (w->near.near[i].kind == RMA_NEAR_MAPPED && w->near.near[i].size > 0)
            n = &w->near.near[i];
    int reach = n && n->kind == RMA_NEAR_MAPPED;
    *size = reach ? (MPI_Aint)n->size : 0;
    *disp_unit = reach ? (MPI_Aint)n->disp_unit : 0;
    *(void **)base_out = reach && n->size ? n->base : NULL;
    return MPI_SUCCESS;
}

int rma_win_group(struct rma_win *w, struct group **out)
{
    *out = group_make(w->map, w->rank);
    return *out ? MPI_SUCCESS : err_make(MPI_ERR_NO_MEM, "%s: no memory for a group", rma_call());
}

void *rma_win_attr(struct rma_win *w, int keyval)
{
    switch (keyval) {
    case MPI_WIN_BASE:
        return w->base;
    case MPI_WIN_SIZE:
        return &w->bytes;
    case MPI_WIN_DISP_UNIT:
        return w->attr_unit ? &w->attr_unit : NULL;
    case MPI_WIN_CREATE_FLAVOR:
        return &w->create_flavor;
    case MPI_WIN_MODEL:
        return &w->model;
    default:
        return NULL;
    }
}

MPI_Aint rma_win_unit(const struct rma_win *w)
{
    return w->disp_unit;
}

struct attr_list *rma_win_attrs(struct rma_win *w)
{
    return &w->attrs;
}

char *rma_win_name(struct rma_win *w)
{
    return w->name;
}

struct errhandler **rma_win_errhandler(struct rma_win *w)
{
    return &w->errhandler;
}

struct pvar_set *rma_win_pvars(struct rma_win *w)
{
    return &w->near.pvars;
}

struct comm *rma_win_comm(struct rma_win *w)
{
    return w->comm;
}
