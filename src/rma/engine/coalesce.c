/* coalesce.c - coalesced packets: many similar small puts or accumulates to one far target as one
 * element. Start with rma_near_coalesce().
 *
 *     queue of a target:   [op] ... [op] [packet: {disp, data} {disp, data} {disp, data} ...
 *
 * If a message is expensive (caps.gather), operations wait until they fill one. When more wait than
 * flags need for piggybacking, the next one similar to its predecessor opens a coalesced packet:
 * its element gets a buffer. The call packs it and its similar successors there, in packet form
 * (COALESCED, packets.h). Only the first operation has an element.
 *
 * For the rest of this room a coalesced packet is one operation: its element is queued, sent, sent
 * again with a LOCK, and freed as any other. Invariants: what is packed for sending takes no more
 * operations (rma_coalesce_seal); nor does what a synchronization is to end, nor what is not last
 * in its queue. There are COALESCE_BUFFERS buffers; without a free one, each operation gets an
 * element. */
#include "rma/engine/engine_types.h"

#include <stdlib.h>
#include <string.h>

enum { COALESCE_BUFFERS = 64, COALESCE_FEW = 8 }; /* operations that a packet must have room for */
enum { WAIT_NS = 5000000 }; /* wait for a buffer, before operations get elements instead */

static inline void entry_make(struct rma_op *op, const struct rma_args *a, size_t bytes)
{
    char *out = op->coalesced + op->bytes;
    uint64_t disp = (uint64_t)a->disp;
    memcpy(out, &disp, sizeof disp);
    if (bytes == 8) {
        memcpy(out + sizeof disp, a->origin, 8); /* two instructions for the usual length */
    } else {
        memcpy(out + sizeof disp, a->origin, bytes);
        if (bytes % RMA_PAD)
            memset(out + sizeof disp + bytes, 0, rma_pad(bytes) - bytes);
    }
    op->bytes += op->step_bytes;
    op->coalesced_ops++;
}

static inline int alike(const struct rma_op *op, const struct rma_args *a)
{
    return op->a.ttype == a->ttype && op->a.tcount == a->tcount && op->a.op == a->op &&
           op->kind == a->kind;
}

/* The data lie at the origin as in the packet, and at the target as they came. */
static inline int plain(const struct rma_args *a)
{
    return a->otype == a->ttype && a->ocount == a->tcount;
}

int rma_coalesce_full(const struct rma_op *op)
{
    return op->bytes + op->step_bytes > op->coalesce_room;
}

/* To an open packet: touches memory alone. */
static inline int append(struct rma_target *t, const struct rma_args *a, size_t *bytes)
{
    const struct rma_win *w = t->w;
    struct rma_op *op = t->coalesced;
    if (!op || !alike(op, a) || !plain(a) || rma_coalesce_full(op) || w->starved)
        return 0;
    if (a->disp < 0 && w->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return 0;
    *bytes = op->each_bytes;
    entry_make(op, a, op->each_bytes);
    return 1;
}

static inline int add(struct rma_target *t, const struct rma_args *a, size_t *bytes)
{
    if (t->lone >= RMA_LONE_SOON && !t->coalesced)
        return (*bytes = rma_native_soon(t, a)) != 0;
    return append(t, a, bytes);
}

int rma_coalesce_add(struct rma_target *t, const struct rma_args *a, size_t *bytes)
{
    return add(t, a, bytes);
}

/* The element of a rank, that of the last operation first; NULL: it has none. */
static inline struct rma_target *target_of(struct rma_win *w, int rank)
{
    struct rma_target *t = w->table.recent;
    if (t && t->rank == rank)
        return t;
    t = rank >= 0 && rank < w->size ? rma_target_find(w, rank) : NULL;
    if (t)
        w->table.recent = t;
    return t;
}

static inline __attribute__((always_inline)) int coalesce(struct rma_win_near *near, int rank,
                                                          MPI_Aint disp, int n,
                                                          struct dt_type *type, struct dt_op *op,
                                                          const void *origin, int packed)
{
    struct rma_win *w = (struct rma_win *)near;
    struct rma_target *t = target_of(w, rank);
    if (!t)
        return 0;
    const struct rma_args a = {.kind = op ? RMA_ACC : RMA_PUT,
                               .rank = rank,
                               .origin = origin,
                               .ocount = n,
                               .otype = type,
                               .disp = disp,
                               .tcount = n,
                               .ttype = type,
                               .op = op};
    size_t bytes;
    if (!(packed ? append(t, &a, &bytes) : add(t, &a, &bytes)))
        return 0;
    rma_count(w, op ? PVAR_RMA_ACC : PVAR_RMA_PUT, 1);
    rma_count(w, PVAR_RMA_BYTES, bytes);
    return 1;
}

int rma_near_coalesce(struct rma_win_near *near, int rank, MPI_Aint disp, int n,
                      struct dt_type *type, struct dt_op *op, const void *origin)
{
    return coalesce(near, rank, disp, n, type, op, origin, 0);
}

int rma_near_pack(struct rma_win_near *near, int rank, MPI_Aint disp, int n, struct dt_type *type,
                  struct dt_op *op, const void *origin)
{
    return coalesce(near, rank, disp, n, type, op, origin, 1);
}

void rma_coalesce_init(struct rma *r)
{
    r->coalesce_buffers_max = COALESCE_BUFFERS;
}

static char *buffer_take(struct rma *r)
{
    struct coalesce_buffer *b = r->coalesce_idle;
    if (b) {
        r->coalesce_idle = b->next;
    } else {
        if (r->coalesce_buffers >= r->coalesce_buffers_max || (b = malloc(sizeof *b)) == NULL)
            return NULL;
        r->coalesce_buffers++;
    }
    return b->bytes;
}

int rma_coalesce_behind(const struct rma_target *t, const struct rma_args *a)
{
    const struct rma_op *last = LIST_OBJ(t->ops.prev, struct rma_op, link);
    int held = !t->w->starved && !t->sync && !(t->flags & TARGET_DRAIN);
    return held && last->coalesced && alike(last, a) && plain(a);
}

static int over(void *arg)
{
    return !rma_coalesce_dry(arg);
}

void rma_coalesce_wait(struct rma_target *t)
{
    t->pins++;
    progress_wait_for(over, t, "room for operations", t->world, WAIT_NS);
    t->pins--;
}

void rma_coalesce_finalize(struct rma *r)
{
    while (r->coalesce_idle) {
        struct coalesce_buffer *b = r->coalesce_idle;
        r->coalesce_idle = b->next;
        free(b);
    }
}

/* Room for a coalesced packet at the end of t's queue: less what shares the packet with it, and the
 * header. */
static size_t room_for(const struct rma_target *t, const struct rma_op *before, size_t bytes)
{
    size_t room = t->gather < COALESCE_BYTES ? t->gather : COALESCE_BYTES;
    size_t packet = t->packet - 2 * sizeof(struct rma_hdr);
    room = room < packet ? room : packet;
    size_t shared = before->coalesced ? 0
                                      : (t->queued - 1) * (sizeof(struct rma_hdr) + rma_pad(bytes));
    return room > shared ? room - shared : 0;
}

void rma_coalesce_make(struct rma_target *t, struct rma_op *op)
{
    const struct rma_op *before = LIST_OBJ(op->link.prev, struct rma_op, link);
    const struct dt_type *e = op->a.ttype;
    size_t step = sizeof(uint64_t) + rma_pad(op->bytes);
    int no_result = (op->kind == RMA_PUT || op->kind == RMA_ACC) && !op->req && !op->a.notify;
    if (!no_result || op->flags)
        return;
    if (!alike(before, &op->a) || !plain(&op->a))
        return;
    if ((!before->coalesced && t->queued <= (unsigned)cvar.rma_hold) || !cvar.rma_hold ||
        t->w->starved || t->sync ||
        t->flags & (TARGET_DRAIN | TARGET_REFUSED | TARGET_FAILED | TARGET_NEAR))
        return;
    if (!(e->flags & DT_PREDEFINED) || !rma_coalesce_type(e) ||
        rma_route_of(t, op) == RMA_ROUTE_NATIVE)
        return;
    size_t room = room_for(t, before, op->bytes);
    if (room < COALESCE_FEW * step || (op->coalesced = buffer_take(rma_self())) == NULL)
        return;
    op->each_bytes = (uint32_t)op->bytes;
    op->step_bytes = (uint32_t)step;
    op->coalesce_room = (uint32_t)room;
    op->bytes = 0;
    entry_make(op, &op->a, op->each_bytes);
    t->coalesced = op;
}
