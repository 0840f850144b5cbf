/* direct.c - an operation on a near target, done at once: by load and store, by CMA, or by the
 * owner (delegate.c). Start with rma_direct(). */
#include "rma/near/near_types.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* lo, hi: what the elements span, from the displacement on. */
static int range_error(const struct rma_near *n, const struct rma_args *a, int64_t lo, int64_t hi)
{
    char bytes[64] = "";
    int64_t at;
    if (!__builtin_mul_overflow((int64_t)a->disp, (int64_t)n->disp_unit, &at) &&
        !__builtin_add_overflow(at, lo, &lo) && !__builtin_add_overflow(at, hi - 1, &hi))
        snprintf(bytes, sizeof bytes, ": bytes %lld to %lld", (long long)lo, (long long)hi);
    return err_make(MPI_ERR_RMA_RANGE,
                    "%s: %lld element%s at displacement %lld (unit %llu%s) %s not lie in the %llu "
                    "bytes of rank %d",
                    rma_call(), (long long)a->tcount, a->tcount == 1 ? "" : "s",
                    (long long)a->disp, (unsigned long long)n->disp_unit, bytes,
                    a->tcount == 1 ? "does" : "do", (unsigned long long)n->size, a->rank);
}

/* Where the operation acts in this process's view: *off is an offset in the window, in dynamic
 * windows an address. MPI error code or NOT_HERE. */
static int locate(struct rma_win *w, const struct rma_near *n, const struct rma_args *a,
                  uint64_t *off)
{
    int64_t lo, hi;
    int err = dt_bounds(a->ttype, (size_t)a->tcount, &lo, &hi);
    if (err)
        return err;
    int lies = rma_near_place(w, n, (uint64_t)a->disp, lo, hi, off);
    if (lies == 1)
        return MPI_SUCCESS;
    if (w->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return range_error(n, a, lo, hi);
    /* Several blocks may lie in several regions: only the owner can check. */
    int one_block = dt_is_block(a->ttype, (size_t)a->tcount), own = n->rank == w->rank;
    size_t bytes;
    /* of a handle that has ended there is no address */
    if (own && !one_block && !rma_is_handle((uint64_t)a->disp) &&
        !dt_total(a->ttype, (size_t)a->tcount, &bytes) &&
        rma_win_holds(w, *off, a->ttype, (size_t)a->tcount, 0, bytes))
        return MPI_SUCCESS;
    if (lies == NOT_HERE || (!one_block && !own))
        return NOT_HERE;
    return err_make(MPI_ERR_RMA_RANGE,
                    "%s: displacement %lld (address 0x%llx) is not attached at rank %d", rma_call(),
                    (long long)a->disp, (unsigned long long)a->disp, a->rank);
}

/* base: of the memory where it is mapped, else unused */
static int move(const struct rma_near *n, const struct rma_args *a, size_t bytes, uint64_t off,
                int mapped, char *base)
{
    size_t tcount = (size_t)a->tcount;
    if (mapped) {
        char *at = (char *)((uintptr_t)base + off); /* dt_copy ends with the shorter side */
        if (a->kind == RMA_PUT)
            dt_copy(a->origin, (size_t)a->ocount, a->otype, at, tcount, a->ttype);
        else
            dt_copy(at, tcount, a->ttype, a->result, (size_t)a->rcount, a->rtype);
        return 0;
    }
    const void *there = (const void *)(uintptr_t)(n->remote + off);
    if (dt_is_block(a->ttype, tcount) &&
        (a->kind == RMA_PUT ? dt_is_block(a->otype, (size_t)a->ocount)
                            : dt_is_block(a->rtype, (size_t)a->rcount)))
        return rma_cma_block(n->host_index, a, there, bytes, 0);
    if (a->kind == RMA_PUT)
        return rma_cma_copy(n->host_index, a->origin, (size_t)a->ocount, a->otype, there, tcount,
                            a->ttype, bytes, 1);
    return rma_cma_copy(n->host_index, a->result, (size_t)a->rcount, a->rtype, there, tcount,
                        a->ttype, bytes, 0);
}

/* A put or get of one block that the owner of the memory could execute: by the faster way, as
 * measured so far. 0 or -errno of CMA. */
static int move_block(struct rma_win *w, struct rma_near *n, const struct rma_args *a,
                      size_t bytes, uint64_t off, enum pvar_id *way)
{
    enum { EITHER_WAY = 512 }; /* bytes; fewer are not worth two looks at the clock */
    struct rma *r = rma_self();
    struct ways *ways = a->kind == RMA_PUT ? &r->put_ways : &r->get_ways;
    const void *there = (const void *)(uintptr_t)(n->remote + off);
    uint64_t begin = bytes >= EITHER_WAY ? time_now() : 0;
    unsigned pick = begin ? ways_pick(ways, bytes) : 0;
    uint32_t asked = w->delegate.asked;
    size_t done = 0;
    if (pick)
        progress_poll(); /* so that processes that ask this one need not wait for long */
    else
        done = rma_delegate_copy(w, n, a, off, bytes);
    *way = done < bytes ? PVAR_RMA_CMA : PVAR_RMA_AM;
    int err = done < bytes ? rma_cma_block(n->host_index, a, there, bytes, done) : 0;
    /* An owner that was asked and did not answer in time counts, too; one that was not asked
     * does not. */
    if (begin && !err && (pick || asked != w->delegate.asked))
        ways_took(ways, bytes, pick, time_now() - begin);
    return err;
}

static int accumulate(const struct rma_near *n, const struct rma_args *a, size_t bytes,
                      uint64_t off, int mapped, char *base)
{
    const struct acc_target at = mapped ? acc_mapped(n->acc, base)
                                        : acc_by_cma(n->acc, n->remote, n->host_index);
    if (a->kind == RMA_CAS)
        return acc_cas(&at, off, a->ttype, a->origin, a->compare, a->result);
    if (a->kind == RMA_FOP)
        return acc_element(&at, off, a->ttype, a->op, a->origin, a->result);
    if (a->kind == RMA_ACC && a->tcount == 1 && a->ocount == 1 && a->otype == a->ttype &&
        (a->ttype->flags & DT_PREDEFINED))
        return acc_element(&at, off, a->ttype, a->op, a->origin, NULL);
    struct acc_args x = {.elem = a->ttype->basic,
                         .op = a->op,
                         .off = off,
                         .tcount = (size_t)a->tcount,
                         .ttype = a->ttype,
                         .len = bytes,
                         .origin = a->origin,
                         .ocount = (size_t)a->ocount,
                         .otype = a->otype,
                         .fetches = a->kind != RMA_ACC,
                         .result = a->result,
                         .rcount = (size_t)a->rcount,
                         .rtype = a->rtype};
    return acc_apply(&at, &x);
}

static int is_acc(const struct rma_args *a)
{
    return a->kind != RMA_PUT && a->kind != RMA_GET;
}

/* A side has one element of the target's type, or no data. */
static int one_or_none(const struct dt_type *t, MPI_Aint count, const struct rma_args *a)
{
    return !t || (t == a->ttype && count == 1);
}

/* Is it one element of memory that only its owner maps? Then *q is what to delegate. */
static int is_one(const struct rma_near *n, const struct rma_args *a, uint64_t off,
                  struct rma_delegate_op *q)
{
    if (n->kind != RMA_NEAR_CMA || !is_acc(a) || a->tcount != 1 || a->ttype->basic != a->ttype)
        return 0;
    if (!one_or_none(a->otype, a->ocount, a) || !one_or_none(a->rtype, a->rcount, a) ||
        !acc_delegable(n->acc, off, a->ttype))
        return 0;
    *q = (struct rma_delegate_op){.elem = a->ttype,
                               .aop = a->kind == RMA_CAS ? (unsigned)RMA_SWAP
                                                         : (unsigned)a->op->index,
                               .disp = (uint64_t)a->disp,
                               .off = off,
                               /* MPI_NO_OP: the origin buffer is ignored */
                               .origin = a->otype ? a->origin : NULL,
                               .compare = a->compare,
                               .result = a->result};
    return 1;
}

/* The kernel refuses a copy to or from an ended process before the launcher reports its failure. */
__attribute__((cold)) int rma_memory_error(struct rma_win *w, int rank, int err)
{
    int world = rma_world(w, rank);
    if (boot_failed_count() && boot_failed(world))
        return rma_failed_error(w, rank);
    int cls = err == -ESRCH    ? MPIX_ERR_PROC_FAILED
              : err == -EFAULT ? MPI_ERR_RMA_RANGE
                               : MPI_ERR_OTHER;
    return err_make(cls, "%s: memory of rank %d (process %d): %s", rma_call(), rank, world,
                    strerror(-err));
}

/* This process's own memory, of which devices may have a newer instance. */
static int by_itself(struct rma_win *w, const struct rma_near *n, const struct rma_args *a,
                     size_t bytes)
{
    uint64_t off = 0;
    int err = locate(w, n, a, &off);
    if (!err)
        err = rma_home_own(w, a, off, bytes);
    if (err)
        return err;
    err = is_acc(a) ? accumulate(n, a, bytes, off, 1, w->base) : move(n, a, bytes, off, 1, w->base);
    if (err)
        return rma_memory_error(w, a->rank, err);
    rma_count(w, PVAR_RMA_MAPPED, 1);
    return MPI_SUCCESS;
}

/* A peer's memory of which devices may have a newer instance: here if no device has. */
static int at_home_alone(struct rma_win *w, const struct rma_near *n, const struct rma_args *a,
                         size_t bytes)
{
    uint64_t off = 0;
    int64_t lo, hi;
    int err = locate(w, n, a, &off);
    if (!err)
        err = dt_bounds(a->ttype, (size_t)a->tcount, &lo, &hi);
    if (err)
        return err;
    if (!rma_alone_enter(n->alone, off + (uint64_t)lo, (uint64_t)(hi - lo)))
        return NOT_HERE;
    char *base = n->alone->base;
    err = is_acc(a) ? accumulate(n, a, bytes, off, 1, base) : move(n, a, bytes, off, 1, base);
    rma_alone_leave(n->alone);
    if (err)
        return rma_memory_error(w, a->rank, err);
    rma_count(w, PVAR_RMA_MAPPED, 1);
    return MPI_SUCCESS;
}

/* A peer's memory by its handle. It is mapped, and *over is 1; or *real is the same by address. */
static int by_handle(struct rma_win *w, struct rma_near *n, const struct rma_args *a, size_t bytes,
                     struct rma_args *real, int *over)
{
    char *base;
    int err = rma_handle_direct(w, n, a, real, &base);
    *over = err || base;
    if (err || !base)
        return err;
    err = is_acc(a) ? accumulate(n, a, bytes, (uint64_t)real->disp, 1, base)
                    : move(n, a, bytes, (uint64_t)real->disp, 1, base);
    if (err)
        return rma_memory_error(w, a->rank, err);
    rma_count(w, PVAR_RMA_MAPPED, 1);
    return MPI_SUCCESS;
}

int rma_direct(struct rma_win *w, struct rma_near *n, const struct rma_args *a, size_t bytes,
               enum rma_called called)
{
    int self = n->rank == w->rank;
    int mapped = n->kind == RMA_NEAR_MAPPED || self;
    uint64_t off = 0;
    struct rma_args real;
    if (!self && rma_is_handle((uint64_t)a->disp) && w->flavor == MPI_WIN_FLAVOR_DYNAMIC) {
        int over, err = by_handle(w, n, a, bytes, &real, &over);
        if (over)
            return err;
        a = &real;
    }
    if (n->kind == RMA_NEAR_AM) {
        if (self)
            return by_itself(w, n, a, bytes);
        return n->alone ? at_home_alone(w, n, a, bytes) : NOT_HERE;
    }
    int err = locate(w, n, a, &off);
    if (err)
        return err;
    if (self && rma_is_handle((uint64_t)a->disp) && w->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        rma_recent_own(w, n, a);
    if (called == RMA_LATER_TOO && !self && rma_may_bundle(n, a, bytes) &&
        rma_bundle_add(w, n, a, off, bytes))
        return MPI_SUCCESS;
    struct rma_delegate_op q;
    int one = called && !self && is_one(n, a, off, &q);
    /* A burst is coalesced into few packets, so it does not pay a round trip per operation. */
    if (!self && !(one && (q.result || !rma_burst(w, n))) && rma_by_message(n, a, bytes))
        return NOT_HERE;
    if (one && rma_delegate(w, n, &q))
        return MPI_SUCCESS;
    enum pvar_id way = mapped ? PVAR_RMA_MAPPED : PVAR_RMA_CMA;
    if (called && !self && rma_may_copy(w, n, a, bytes))
        err = move_block(w, n, a, bytes, off, &way);
    else if (is_acc(a))
        err = accumulate(n, a, bytes, off, mapped, n->base);
    else
        err = move(n, a, bytes, off, mapped, n->base);
    if (err)
        return rma_memory_error(w, a->rank, err);
    rma_count(w, way, 1);
    return MPI_SUCCESS;
}

static inline int near_move(void *to, const void *from, size_t n)
{
    uintptr_t both = (uintptr_t)to | (uintptr_t)from;
    if (n == 8 && rma_near_copy8(to, from))
        return 0;
    if (n == 4 && !(both & 3))
        __atomic_store_n((uint32_t *)to, __atomic_load_n((const uint32_t *)from, __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
    else if (n == 2 && !(both & 1))
        __atomic_store_n((uint16_t *)to, __atomic_load_n((const uint16_t *)from, __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
    else if (n == 1)
        __atomic_store_n((uint8_t *)to, __atomic_load_n((const uint8_t *)from, __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
    else
        memmove(to, from, n);
    return 0;
}

int rma_near_put(const void *origin, void *at, size_t n)
{
    return near_move(at, origin, n);
}

int rma_near_get(void *origin, const void *at, size_t n)
{
    return near_move(origin, at, n);
}

int rma_near_alone(struct rma_win_near *near, struct rma_near *n, int64_t disp, uint64_t bytes,
                   const void *from, void *to)
{
    struct rma_win *w = (struct rma_win *)near;
    struct rma_alone *a = n->alone;
    /* The element of a near target may have earlier operations; then the slow path looks. */
    if (rma_near_record(w, n)->lazy || w->table.near_targets || rma_unsure(w) ||
        (uint64_t)disp >= a->units)
        return 0;
    uint64_t off = (uint64_t)disp * n->disp_unit;
    if (!bytes || n->size - off < bytes || !rma_alone_enter(a, off, bytes))
        return 0;
    char *at = a->base + off;
    if (from)
        near_move(at, from, bytes);
    else
        near_move(to, at, bytes);
    rma_alone_leave(a);
    rma_near_count(n, from ? PVAR_RMA_PUT : PVAR_RMA_GET, bytes);
    return 1;
}
