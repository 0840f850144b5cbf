/* op.c - RMA_OP: one path for put, get, accumulate, get_accumulate, fetch_and_op, compare_and_swap.
 *
 *     admit() -> near and open: done here and now
 *             -> element, queue -> issue.c
 *             -> pools dry: restore.c, then from the top again */
#include "rma/core/types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_HERE = -1 }; /* rma_direct: by message, please */

const char *rma_call(void)
{
    return proc->call ? proc->call : "RMA";
}

/* --- requests -------------------------------------------------------------------------- */

static void request_poke(struct request *r)
{
    struct rma_request *q = (struct rma_request *)r;
    if (!q->op)
        return;
    /* The user need not flush to make it complete (rma.md 5.7): send lock and operations now. */
    struct rma_target *t = q->op->t;
    t->flags |= TARGET_HURRY;
    rma_ready(t);
    rma_advance_target(t);
}

static struct errhandler *request_blame(struct request *r, int *win)
{
    struct rma_request *q = (struct rma_request *)r;
    struct rma_win *w = rma_win_find(q->win);
    *win = q->win_handle;
    return errhandler_ref(w ? w->errhandler : q->errhandler);
}

/* Many may have been refused since, each with a text of its own: the user is told at least where. */
static int request_tell(struct request *r, MPI_Status *st)
{
    (void)st;
    const struct rma_request *q = (struct rma_request *)r;
    char text[ERR_TEXT];
    if (r->error) {
        err_text(err_class(r->error), text, sizeof text);
        r->error = err_retell(r->error, "%s: an operation on rank %d of window 0x%x: %s (what else there was to say of it has gone with later errors)",
                              rma_call(), q->rank, (unsigned)q->win_handle, text);
    }
    return MPI_SUCCESS;
}

static void request_fail(struct rma_request *q, const struct rma_win *w, int rank)
{
    q->rank = rank;
    q->errhandler = errhandler_ref(w->errhandler);
    q->win_handle = w->near.obj.handle;
}

static void request_free(struct request *r)
{
    errhandler_drop(((struct rma_request *)r)->errhandler);
    free(r);
}

static const struct request_ops request_table = {.poke = request_poke, .query = request_tell, .blame = request_blame, .free = request_free};

static int request_make(const struct rma_win *w, struct rma_request **out, MPI_Request *req)
{
    struct rma_request *q = malloc(sizeof *q);
    if (!q)
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for a request", rma_call());
    request_init(&q->r, REQUEST_RMA, &request_table, NULL);
    q->r.what = "a one-sided operation";
    q->op = NULL;
    q->win = w->id;
    q->errhandler = NULL;
    int err = request_publish(&q->r, req);
    if (err) {
        free(q);
        return err;
    }
    *out = q;
    return MPI_SUCCESS;
}

/* --- near ---------------------------------------------------------------------------------- */

int rma_offset(uint64_t disp, uint64_t unit, int64_t lo, int64_t hi, uint64_t size, uint64_t *off)
{
    uint64_t start;
    if (disp > INT64_MAX || __builtin_mul_overflow(disp, unit, &start) || start > INT64_MAX)
        return -ERANGE;
    int64_t first, end;
    if (__builtin_add_overflow((int64_t)start, lo, &first) || __builtin_add_overflow((int64_t)start, hi, &end) ||
        first < 0 || (uint64_t)end > size)
        return -ERANGE;
    *off = start;
    return 0;
}

static int range_error(const struct rma_win *w, const struct rma_args *a, uint64_t size)
{
    return err_make(MPI_ERR_RMA_RANGE, "%s: %lld elements at displacement %lld do not lie in the %llu bytes of rank %d",
                    rma_call(), (long long)a->tcount, (long long)a->disp, (unsigned long long)size, a->rank);
    (void)w;
}

int rma_region_shown(const struct rma_peer *p, uint64_t addr, uint64_t len)
{
    /* Acquire: pairs with the release of rma_regions_publish(); an odd or changed version means it is at it. */
    unsigned v = atomic_load_explicit(&p->version, memory_order_acquire);
    sched_point();
    unsigned n = atomic_load_explicit(&p->nregions, memory_order_relaxed);
    int found = 0;
    if (v & 1 || n > RMA_REGIONS)
        return NOT_HERE;
    for (unsigned i = 0; i < n && !found; i++) {
        uint64_t base = __atomic_load_n(&p->region[i].base, __ATOMIC_RELAXED);
        uint64_t size = __atomic_load_n(&p->region[i].size, __ATOMIC_RELAXED);
        if (addr < base || addr - base >= size)
            continue;
        uint64_t here = size - (addr - base);
        found = len <= here;
        addr += here; /* the rest may lie in the region that follows without a gap */
        len -= found ? len : here;
    }
    int more = __atomic_load_n(&p->overflow, __ATOMIC_RELAXED) != 0;
    atomic_thread_fence(memory_order_acquire);
    sched_point();
    if (atomic_load_explicit(&p->version, memory_order_relaxed) != v || (!found && more))
        return NOT_HERE;
    return found;
}

/* Where the operation acts, as seen from here: *off in the window (an address in dynamic ones). MPI code or NOT_HERE. */
static int locate(struct rma_win *w, const struct rma_near *n, const struct rma_args *a, uint64_t *off)
{
    int64_t lo, hi;
    int err = dt_bounds(a->ttype, (size_t)a->tcount, &lo, &hi);
    if (err)
        return err;
    if (w->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return rma_offset((uint64_t)a->disp, n->disp_unit, lo, hi, n->size, off) ? range_error(w, a, n->size)
                                                                                 : MPI_SUCCESS;
    *off = (uint64_t)a->disp;
    uint64_t first = *off + (uint64_t)lo, len = (uint64_t)(hi - lo);
    int one_block = dt_is_block(a->ttype, (size_t)a->tcount), shown;
    size_t bytes;
    if (n->rank == w->rank)
        shown = rma_win_local(w, first, len) || (!one_block && !dt_total(a->ttype, (size_t)a->tcount, &bytes) &&
                                                 rma_win_holds(w, *off, a->ttype, (size_t)a->tcount, 0, bytes));
    else
        shown = rma_region_shown(n->peer, first, len);
    if (shown == 0 && (one_block || n->rank == w->rank))
        return err_make(MPI_ERR_RMA_RANGE, "%s: displacement %lld (address 0x%llx) is not attached at rank %d", rma_call(),
                        (long long)a->disp, (unsigned long long)a->disp, a->rank);
    /* Several blocks may lie in several regions: the owner looks. */
    return shown == 1 ? MPI_SUCCESS : NOT_HERE;
}

/* --- by CMA ---------------------------------------------------------------------------------
 *
 * The kernel looks up the page of every remote piece, about 0.4 us each, so the number of remote pieces decides:
 *   get   a stretch of memory with many pieces is read whole, gaps included, and the pieces are picked here
 *   put   must not touch the gaps: piece by piece, or by message where the target listens (by_message) */
enum { CMA_BLOCKS = 256, CMA_STRETCH = 128 << 10, CMA_FEW = 4, CMA_GAPS = 32 };

/* Read all of r[0..n), which ascend, by one piece that spans them, if that is worth it: 1 done, 0 not, or -errno. */
static int cma_read_stretch(int host, const struct iovec *l, size_t nl, const struct iovec *r, size_t nr, size_t bytes)
{
    uintptr_t first = (uintptr_t)r[0].iov_base, at = first;
    for (size_t i = 0; i < nr; i++) {
        if ((uintptr_t)r[i].iov_base < at)
            return 0;
        at = (uintptr_t)r[i].iov_base + r[i].iov_len;
    }
    size_t span = at - first;
    if (nr <= CMA_FEW || span > CMA_STRETCH || span / CMA_GAPS > bytes)
        return 0;
    char *all = malloc(span);
    if (!all)
        return 0;
    struct iovec here = {all, span}, there = {(void *)first, span};
    int err = mem_cma_read(host, &here, 1, &there, 1);
    for (size_t i = 0, j = 0, from = 0, to = 0; !err && i < nr && j < nl;) {
        size_t a = r[i].iov_len - from, b = l[j].iov_len - to, len = a < b ? a : b;
        memcpy((char *)l[j].iov_base + to, all + ((uintptr_t)r[i].iov_base - first) + from, len);
        from = a == len ? (i++, 0) : from + len;
        to = b == len ? (j++, 0) : to + len;
    }
    free(all);
    return err ? err : 1;
}

/* Copy between two layouts across processes. */
static int cma_copy(int host, const void *local, size_t lcount, const struct dt_type *lt, const void *remote,
                    size_t rcount, const struct dt_type *rt, size_t bytes, int write)
{
    struct iovec l[CMA_BLOCKS], r[CMA_BLOCKS];
    for (size_t at = 0, n, m; at < bytes; at += n) {
        size_t nl = dt_iov(lt, lcount, local, at, bytes - at, l, CMA_BLOCKS, &n);
        size_t nr = dt_iov(rt, rcount, remote, at, n, r, CMA_BLOCKS, &m);
        if (m < n) {
            nl = dt_iov(lt, lcount, local, at, m, l, CMA_BLOCKS, &n);
            n = m;
        }
        if (!nl || !nr)
            return -EFAULT;
        int done = write ? 0 : cma_read_stretch(host, l, nl, r, nr, n);
        if (!done)
            done = write ? mem_cma_write(host, l, nl, r, nr) : mem_cma_read(host, l, nl, r, nr);
        if (done < 0)
            return done;
    }
    return 0;
}

/* Contiguous on both sides: the common case, one call. */
static int cma_block(int host, const struct rma_args *a, const void *there, size_t bytes)
{
    int put = a->kind == RMA_PUT;
    void *here = put ? (char *)(uintptr_t)dt_start(a->otype, a->origin) : (char *)dt_start(a->rtype, a->result);
    struct iovec l = {here, bytes}, r = {(char *)(uintptr_t)dt_start(a->ttype, there), bytes};
    return put ? mem_cma_write(host, &l, 1, &r, 1) : mem_cma_read(host, &l, 1, &r, 1);
}

/* Memory reached by CMA of a target that is inside MPI: its handler is faster than two system calls for an accumulate,
 * or than one look-up per piece; if much is to be done, even when it has to be woken.  A target that computes is
 * not asked. */
static int by_message(const struct rma_near *n, const struct rma_args *a, size_t bytes)
{
    enum { PIECES_WAKE = 64, ACC_WAKE = 32 << 10, BLOCK_LONG = 4096 };
    enum mem_attention there, least = MEM_SPINS;
    if (n->kind != RMA_NEAR_CMA || (there = mem_attention(n->host_index)) == MEM_BUSY || a->kind == RMA_GET)
        return 0;
    if (a->kind == RMA_PUT) {
        size_t blocks = dt_blocks(a->ttype, (size_t)a->tcount);
        if (blocks <= CMA_FEW || bytes / blocks >= BLOCK_LONG)
            return 0;
        if (blocks > PIECES_WAKE)
            least = MEM_WAITS;
    } else if (bytes > ACC_WAKE) {
        least = MEM_WAITS;
    }
    return there >= least && mem_ask(n->host_index) >= least;
}

static int move(const struct rma_near *n, const struct rma_args *a, size_t bytes, uint64_t off, int mapped)
{
    size_t tcount = (size_t)a->tcount;
    if (mapped) {
        char *at = (char *)((uintptr_t)n->base + off); /* the shorter side ends it */
        if (a->kind == RMA_PUT)
            dt_copy(a->origin, (size_t)a->ocount, a->otype, at, tcount, a->ttype);
        else
            dt_copy(at, tcount, a->ttype, a->result, (size_t)a->rcount, a->rtype);
        return 0;
    }
    const void *there = (const void *)(uintptr_t)(n->remote + off);
    if (dt_is_block(a->ttype, tcount) &&
        (a->kind == RMA_PUT ? dt_is_block(a->otype, (size_t)a->ocount) : dt_is_block(a->rtype, (size_t)a->rcount)))
        return cma_block(n->host_index, a, there, bytes);
    if (a->kind == RMA_PUT)
        return cma_copy(n->host_index, a->origin, (size_t)a->ocount, a->otype, there, tcount, a->ttype, bytes, 1);
    return cma_copy(n->host_index, a->result, (size_t)a->rcount, a->rtype, there, tcount, a->ttype, bytes, 0);
}

static int accumulate(const struct rma_near *n, const struct rma_args *a, size_t bytes, uint64_t off, int mapped)
{
    struct acc_target at = {.ctl = n->acc,
                            .base = n->base,
                            .remote = n->remote,
                            .host_index = mapped ? -1 : n->host_index};
    if (a->kind == RMA_CAS)
        return acc_cas(&at, off, a->ttype, a->origin, a->compare, a->result);
    if (a->kind == RMA_FOP)
        return acc_one(&at, off, a->ttype, a->op, a->origin, a->result);
    if (a->kind == RMA_ACC && a->tcount == 1 && a->ocount == 1 && a->otype == a->ttype &&
        (a->ttype->flags & DT_PREDEFINED))
        return acc_one(&at, off, a->ttype, a->op, a->origin, NULL);
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

/* One element of memory that its owner has for itself?  Then *q says what to ask of him. */
static int is_one(const struct rma_near *n, const struct rma_args *a, uint64_t off, struct rma_question *q)
{
    if (n->kind != RMA_NEAR_CMA || a->kind == RMA_PUT || a->kind == RMA_GET || a->tcount != 1 || a->ttype->basic != a->ttype ||
        !acc_askable(n->acc, off, a->ttype) || (a->otype && (a->otype != a->ttype || a->ocount != 1)) ||
        (a->rtype && (a->rtype != a->ttype || a->rcount != 1)))
        return 0;
    *q = (struct rma_question){.elem = a->ttype,
                               .aop = a->kind == RMA_CAS ? (unsigned)RMA_SWAP : (unsigned)a->op->index,
                               .disp = (uint64_t)a->disp,
                               .off = off,
                               .origin = a->otype ? a->origin : NULL, /* MPI_NO_OP: ignored, whatever it is */
                               .compare = a->compare,
                               .result = a->result};
    return 1;
}

int rma_direct(struct rma_win *w, struct rma_near *n, const struct rma_args *a, size_t bytes, int called)
{
    int self = n->rank == w->rank;
    int mapped = n->kind == RMA_NEAR_MAPPED || self;
    uint64_t off = 0;
    if (n->kind == RMA_NEAR_AM && !self)
        return NOT_HERE;
    int err = locate(w, n, a, &off);
    if (err)
        return err;
    struct rma_question q;
    int one = called && !self && is_one(n, a, off, &q);
    /* A burst leaves in few packets, and takes no time of a round trip each. */
    if (!self && !(one && (q.result || !rma_burst(w, n))) && by_message(n, a, bytes))
        return NOT_HERE;
    if (one && rma_one(w, n, &q))
        return MPI_SUCCESS;
    err = a->kind == RMA_PUT || a->kind == RMA_GET ? move(n, a, bytes, off, mapped) : accumulate(n, a, bytes, off, mapped);
    if (err)
        return err_make(err == -EFAULT ? MPI_ERR_RMA_RANGE : MPI_ERR_OTHER, "%s: memory of rank %d (process %d): %s",
                        rma_call(), a->rank, rma_world(w, a->rank), strerror(-err));
    rma_count(w, mapped ? PVAR_RMA_MAPPED : PVAR_RMA_CMA, 1);
    return MPI_SUCCESS;
}

static inline int near_move(void *to, const void *from, size_t n)
{
    uintptr_t both = (uintptr_t)to | (uintptr_t)from;
    if (n == 8 && rma_near_copy8(to, from))
        return 0;
    if (n == 4 && !(both & 3))
        __atomic_store_n((uint32_t *)to, __atomic_load_n((const uint32_t *)from, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    else if (n == 2 && !(both & 1))
        __atomic_store_n((uint16_t *)to, __atomic_load_n((const uint16_t *)from, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    else if (n == 1)
        __atomic_store_n((uint8_t *)to, __atomic_load_n((const uint8_t *)from, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
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

/* --- the queue -------------------------------------------------------------------------------- */

static void hold_types(const struct rma_args *a)
{
    if (a->otype)
        dt_ref(a->otype);
    if (a->rtype)
        dt_ref(a->rtype);
    dt_ref(a->ttype);
}

static inline void type_drop(struct dt_type *t)
{
    if (t && !(t->flags & DT_PREDEFINED))
        dt_drop(t);
}

void rma_op_finish(struct rma_op *op)
{
    struct rma_target *t = op->t;
    struct rma_win *w = t->w;
    list_del(&op->link);
    t->nops--;
    w->nops--;
    if (op->err && !op->req && !t->err)
        t->err = op->err;
    if (op->req) {
        op->req->op = NULL;
        if (op->err)
            request_fail(op->req, w, t->rank);
        request_complete(&op->req->r, op->err);
    }
    type_drop(op->a.otype);
    type_drop(op->a.rtype);
    type_drop(op->a.ttype);
    if (op->train)
        rma_train_free(op);
    rma_op_free(w, op);
}

static void enqueue(struct rma_win *w, struct rma_target *t, struct rma_op *op, const struct rma_args *a, size_t bytes)
{
    op->t = t;
    op->kind = (uint8_t)a->kind;
    op->a = *a;
    op->bytes = bytes;
    op->seq = ++w->seq;
    if (a->kind != RMA_PUT && a->kind != RMA_GET)
        op->elem = a->ttype->basic;
    if (a->kind != RMA_PUT && a->kind != RMA_ACC)
        op->flags |= OP_ANSWERS;
    if (a->op)
        op->aop = (uint8_t)a->op->index;
    if (op->aop == DT_NO_OP)
        op->flags |= OP_NO_DATA;
    hold_types(&op->a);
    if (t->next == &t->ops)
        t->next = &op->link;
    t->train = NULL; /* no longer the last */
    list_push(&t->ops, &op->link);
    t->nops++;
    t->queued++;
    w->nops++;
}

/* More small operations wait than are held back for flags to ride on.  Where a message costs much they go when they fill one,
 * by the measure of the last of them. */
static int spills(const struct rma_win *w, const struct rma_target *t, size_t bytes)
{
    const struct rma_quota *own = &w->op_quota, *all = &rma_room()->op_quota;
    const struct rma_op *before = t->queued > 1 ? LIST_OBJ(t->ops.prev->prev, struct rma_op, link) : NULL;
    if (before && before->train && (rma_train_full(before) || !rma_is_small(t, before->bytes)))
        return 1;
    if (t->queued <= (unsigned)cvar.rma_hold)
        return 0;
    /* With many targets the elements would be used up by what is held back. */
    return t->queued * (sizeof(struct rma_hdr) + rma_pad(bytes)) >= t->gather ||
           2 * (own->free + all->free) < own->size + all->size;
}

enum { BEHIND = 1024, MANY = 64 }; /* operations that wait for one target (count) */

/* What is due of t after one more operation; then send it. */
static void nudge(struct rma_win *w, struct rma_target *t, size_t bytes, int direct)
{
    if (!cvar.rma_hold || w->starved)
        t->flags |= TARGET_HURRY;
    else if (!cvar.rma_delay && (spills(w, t, bytes) || !rma_is_small(t, bytes)))
        t->flags |= TARGET_SPILL;
    if (!(t->flags & (TARGET_HURRY | TARGET_SPILL | TARGET_REFUSED)) && !t->sync && !w->starved && !direct)
        return; /* held back */
    if (!rma_target_due(t))
        return;
    /* Where the transport has refused some each sixteenth tries again, and every poll does. */
    int refused = t->queued >= MANY && !list_empty(&t->ready);
    rma_ready(t);
    if (!refused || t->queued % 16 == 0)
        rma_advance_target(t);
}

static struct rma_target *target_make(struct rma_win *w, int rank, enum verdict v)
{
    struct rma_target *t = rma_target_add(w, rank);
    if (!t)
        return NULL;
    int lazy = v == ADMIT_LOCK_FIRST;
    rma_target_born(t, lazy ? TARGET_LOCK_CALLED : TARGET_LOCK_GRANTED);
    if (lazy) { /* LOCK_ALL by the per-target protocol */
        t->lock = SHMLOCK_SHARED;
        t->flags |= TARGET_JOIN;
    }
    return t;
}

int rma_overtakes(const struct rma_win *w, const struct rma_near *n)
{
    return rma_unsure(w) && n->kind != RMA_NEAR_MAPPED && n->rank != w->rank;
}

/* A near operation must not pass earlier ones to the same target that are still queued or went by message. */
static int in_order(const struct rma_win *w, const struct rma_near *n, const struct rma_target *t)
{
    return !rma_overtakes(w, n) && (!t || (!t->nops && !(t->flags & TARGET_DIRTY) && !t->tokens_out));
}

static int op_run(struct rma_win *w, const struct rma_args *a, size_t bytes, struct rma_request *req, int *later)
{
    struct rma_near *n = rma_near_of(w, a->rank);
    for (int waited = 0;;) {
        struct rma_target *t = w->ntargets ? rma_target_find(w, a->rank) : NULL;
        enum verdict v = rma_admit(w, a->rank, n, t);
        if (v == ADMIT_NO)
            return err_make(MPI_ERR_RMA_SYNC, "%s: no epoch admits operations on rank %d (window 0x%x is in state %s)",
                            rma_call(), a->rank, (unsigned)w->near.obj.handle, rma_state_name(w));
        if (v == ADMIT_WAIT) {
            rma_switch_wait(w);
            continue;
        }
        if (v == ADMIT_QUEUE && n && rma_fence_poll(w) + rma_start_poll(w))
            continue;
        if (n && v == ADMIT_ISSUE && in_order(w, n, t)) {
            int err = rma_direct(w, n, a, bytes, 1);
            if (err != NOT_HERE)
                return err;
        }
        int err = MPI_SUCCESS;
        if (!t && rma_gone_err(&w->gone, a->rank))
            return rma_cut_error(w, a->rank, rma_gone_err(&w->gone, a->rank));
        if (!t && !(t = target_make(w, a->rank, v))) {
            if ((err = rma_restore_target(w)) != MPI_SUCCESS)
                return err;
            continue;
        }
        if (t->flags & TARGET_DEAD)
            return rma_dead_error(w, a->rank);
        if (!waited++ && !req && rma_train_behind(t, a)) {
            rma_train_wait(t);
            continue;
        }
        struct rma_op *op = rma_op_alloc(w);
        if (!op) {
            if ((err = rma_restore_op(w)) != MPI_SUCCESS)
                return err;
            continue;
        }
        enqueue(w, t, op, a, bytes);
        if (n)
            op->flags |= OP_DIRECT;
        op->req = req;
        if (req)
            req->op = op;
        *later = 1;
        rma_train_open(t, op);
        int train = op->train != NULL; /* whatever becomes of op */
        nudge(w, t, bytes, n != NULL);
        /* The target does not keep up, or its answers are not read: room for what waits comes with them. */
        if ((train && !list_empty(&t->ready)) || (t->queued >= BEHIND && t->queued % (BEHIND / 4) == 0))
            progress_test();
        return MPI_SUCCESS;
    }
}

/* --- the call ------------------------------------------------------------------------------------- */

/* What moves, of *bytes that the target buffer has.  A message may be shorter than the buffer that it goes to, not longer (MPI-3.1
 * 11.3.1): all of the origin moves into as much of the target, or all of the target into as much of the result buffer.  A fetching
 * accumulate does as much as it fetches. */
static int check_sizes(const struct rma_args *a, size_t *bytes)
{
    size_t target = *bytes, other;
    int err;
    if (a->otype && !(a->op && a->op->index == DT_NO_OP) && !(a->otype == a->ttype && a->ocount == a->tcount)) {
        if ((err = dt_total(a->otype, (size_t)a->ocount, &other)) != MPI_SUCCESS)
            return err;
        if (other > target || (a->rtype && other != target))
            return err_make(MPI_ERR_TYPE, "%s: the origin has %zu bytes, the target %zu", rma_call(), other, target);
        *bytes = other;
    }
    if (a->rtype) {
        if ((err = dt_total(a->rtype, (size_t)a->rcount, &other)) != MPI_SUCCESS)
            return err;
        if (other < target)
            return err_make(MPI_ERR_TYPE, "%s: the %s has room for %zu bytes, the target has %zu", rma_call(),
                            a->kind == RMA_GET ? "origin" : "result", other, target);
    }
    return MPI_SUCCESS;
}

static int op_check(const struct rma_win *w, const struct rma_args *a, int request, size_t *bytes)
{
    if (a->rank < 0 || a->rank >= w->size)
        return err_make(MPI_ERR_RANK, "%s: target rank %d is not in the window (0 to %d)", rma_call(), a->rank,
                        w->size - 1);
    if (a->disp < 0 && w->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return err_make(MPI_ERR_DISP, "%s: target displacement %lld is negative", rma_call(), (long long)a->disp);
    if (request && !rma_ask(w, ASK_IN_PASSIVE))
        return err_make(MPI_ERR_RMA_SYNC, "%s: request-based operations need a passive-target epoch (state %s)",
                        rma_call(), rma_state_name(w));
    int err = dt_total(a->ttype, (size_t)a->tcount, bytes);
    return err ? err : check_sizes(a, bytes);
}

int rma_op(struct rma_win *w, const struct rma_args *a, MPI_Request *req)
{
    static const uint8_t counter[] = {[RMA_PUT] = PVAR_RMA_PUT,   [RMA_GET] = PVAR_RMA_GET,
                                      [RMA_ACC] = PVAR_RMA_ACC,   [RMA_GACC] = PVAR_RMA_GACC,
                                      [RMA_FOP] = PVAR_RMA_FOP,   [RMA_CAS] = PVAR_RMA_CAS};
    struct rma_request *q = NULL;
    size_t bytes = 0;
    int later = 0, err = MPI_SUCCESS;
    if (!req && rma_train_append(w, a, &bytes)) {
        rma_count(w, counter[a->kind], 1);
        rma_count(w, PVAR_RMA_BYTES, bytes);
        return MPI_SUCCESS;
    }
    if (a->rank != MPI_PROC_NULL && (err = op_check(w, a, req != NULL, &bytes)) != MPI_SUCCESS)
        return err;
    if (req && (err = request_make(w, &q, req)) != MPI_SUCCESS)
        return err;
    if (a->rank != MPI_PROC_NULL) {
        struct rma_near *n = rma_near_of(w, a->rank);
        if (bytes)
            err = op_run(w, a, bytes, q, &later);
        else if (rma_admit(w, a->rank, n, rma_target_find(w, a->rank)) == ADMIT_NO)
            err = err_make(MPI_ERR_RMA_SYNC, "%s: no epoch admits operations on rank %d (state %s)", rma_call(),
                           a->rank, rma_state_name(w));
    }
    if (!err && a->rank != MPI_PROC_NULL) {
        rma_count(w, counter[a->kind], 1);
        rma_count(w, PVAR_RMA_BYTES, bytes);
    }
    if (q && err) {
        q->r.done = 1;
        request_release(&q->r);
        *req = MPI_REQUEST_NULL;
    } else if (q && !later) {
        request_complete(&q->r, MPI_SUCCESS);
    }
    return err;
}
