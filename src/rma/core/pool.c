/* pool.c - two-level pools of operation and target elements ([design] Operation and Target Element
 * Pools). Start with rma_op_alloc().
 *
 * A new element comes from the window's share, then from the shared one. A freed element goes back
 * to the window's share until that is full, then to the shared one. So no window can starve
 * another: its own share is refilled first. Shares are counts. The memory is slabs of the process,
 * which grow to the largest use, never beyond the sum of the shares. */
#include "rma/core/core.h"

#include <stdlib.h>
#include <string.h>

/* Operation ids: index in the slabs in the low bits, a generation above, so that an answer that was
 * given before or forged finds nothing.  Ids come again after 2,048 uses of an element: what may be
 * later than that compares more (op_of() in native.c). */
enum { ID_INDEX_BITS = 21, ID_INDEX_MASK = (1 << ID_INDEX_BITS) - 1 };

static int quota_take(struct rma_quota *own, struct rma_quota *shared)
{
    struct rma_quota *q = own->free ? own : shared;
    if (!q->free && !own->overdraft)
        return 0;
    if (q->free) {
        q->free--;
    } else {
        own->overdraft = 0;
        own->over++;
    }
    return 1;
}

static void quota_give(struct rma_quota *own, struct rma_quota *shared)
{
    if (own->over) {
        own->over--;
        return;
    }
    struct rma_quota *q = own->free < own->size ? own : shared;
    q->free++;
    WR_ASSERT(q->free <= q->size);
}

int rma_pools_init(struct rma *r)
{
    r->op_quota.size = r->op_quota.free = (unsigned)cvar.rma_op_global;
    r->target_quota.size = r->target_quota.free = (unsigned)cvar.rma_target_global;
    return 0;
}

void rma_pools_free(struct rma *r)
{
    for (unsigned i = 0; i < r->op_slabs; i++)
        free(r->op_slab[i]);
    for (unsigned i = 0; i < r->target_slabs; i++)
        free(r->target_slab[i]);
    free(r->op_slab);
    free(r->target_slab);
}

/* --- operations ------------------------------------------------------------------------ */

static int op_grow(struct rma *r)
{
    if ((r->op_slabs + 1) * RMA_SLAB > ID_INDEX_MASK)
        return 0;
    if ((r->op_slabs & (r->op_slabs - 1)) == 0) {
        struct rma_op **more = realloc(r->op_slab,
                                       (r->op_slabs ? 2 * r->op_slabs : 1) * sizeof *more);
        if (!more)
            return 0;
        r->op_slab = more;
    }
    struct rma_op *slab = calloc(RMA_SLAB, sizeof *slab);
    if (!slab)
        return 0;
    for (unsigned i = RMA_SLAB; i-- > 0;) {
        slab[i].id = r->op_slabs * RMA_SLAB + i + 1;
        slab[i].link.next = (struct list *)r->op_free;
        r->op_free = &slab[i];
    }
    r->op_slab[r->op_slabs++] = slab;
    return 1;
}

struct rma_op *rma_op_alloc(struct rma_win *w)
{
    struct rma *r = rma_self();
    if ((!r->op_free && !op_grow(r)) || !quota_take(&w->table.op_quota, &r->op_quota))
        return NULL;
    struct rma_op *op = r->op_free;
    r->op_free = (struct rma_op *)op->link.next;
    /* The caller sets the rest, so that is not cleared. */
    op->flags = op->aop = 0;
    memset(&op->elem, 0, sizeof *op - offsetof(struct rma_op, elem));
    uint64_t used = atomic_load_explicit(&w->near.pvars.v[PVAR_RMA_OPS_USED],
                                         memory_order_relaxed) +
                    1;
    atomic_store_explicit(&w->near.pvars.v[PVAR_RMA_OPS_USED], used, memory_order_relaxed);
    pvar_set_max(&w->near.pvars, PVAR_RMA_OPS_HIGH, used);
    return op;
}

void rma_op_free(struct rma_win *w, struct rma_op *op)
{
    struct rma *r = rma_self();
    uint32_t gen = (op->id >> ID_INDEX_BITS) + 1;
    op->id = (op->id & ID_INDEX_MASK) | gen << ID_INDEX_BITS;
    op->t = NULL;
    op->link.next = (struct list *)r->op_free;
    r->op_free = op;
    quota_give(&w->table.op_quota, &r->op_quota);
    counter_add(&w->near.pvars.v[PVAR_RMA_OPS_USED], (uint64_t)-1);
}

struct rma_op *rma_op_by_id(uint32_t id)
{
    const struct rma *r = rma_self();
    uint32_t index = (id & ID_INDEX_MASK) - 1;
    if (index >= r->op_slabs * RMA_SLAB)
        return NULL;
    struct rma_op *op = &r->op_slab[index / RMA_SLAB][index % RMA_SLAB];
    return op->id == id && op->t ? op : NULL;
}

/* --- targets ---------------------------------------------------------------------------- */

static int target_grow(struct rma *r)
{
    if ((r->target_slabs & (r->target_slabs - 1)) == 0) {
        void **more = realloc(r->target_slab,
                              (r->target_slabs ? 2 * r->target_slabs : 1) * sizeof *more);
        if (!more)
            return 0;
        r->target_slab = more;
    }
    struct rma_target *slab = calloc(RMA_SLAB, sizeof *slab);
    if (!slab)
        return 0;
    for (unsigned i = RMA_SLAB; i-- > 0;) {
        slab[i].link.next = (struct list *)r->target_free;
        r->target_free = &slab[i];
    }
    r->target_slab[r->target_slabs++] = slab;
    return 1;
}

struct rma_target *rma_target_alloc(struct rma_win *w)
{
    struct rma *r = rma_self();
    if ((!r->target_free && !target_grow(r)) ||
        !quota_take(&w->table.target_quota, &r->target_quota))
        return NULL;
    struct rma_target *t = r->target_free;
    r->target_free = (struct rma_target *)t->link.next;
    memset(t, 0, sizeof *t);
    pvar_set_max(&w->near.pvars, PVAR_RMA_TARGETS_HIGH, w->table.ntargets + 1);
    counter_add(&w->near.pvars.v[PVAR_RMA_TARGETS_USED], 1);
    return t;
}

void rma_target_free(struct rma_win *w, struct rma_target *t)
{
    struct rma *r = rma_self();
    rma_target_gone(t);
    t->link.next = (struct list *)r->target_free;
    r->target_free = t;
    quota_give(&w->table.target_quota, &r->target_quota);
    counter_add(&w->near.pvars.v[PVAR_RMA_TARGETS_USED], (uint64_t)-1);
}
