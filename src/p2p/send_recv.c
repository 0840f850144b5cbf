/* send_recv.c - the calls of p2p.h that send and receive, and their requests. Start with
 * p2p_send() and p2p_irecv(). */
#include <stdlib.h>
#include <string.h>

#include "obj/continue.h"
#include "obj/err.h"
#include "p2p/p2p.h"
#include "p2p/spares.h"
#include "p2p/refuse.h"
#include "var/var.h"
#include "watch/watch.h"

/* Without memory for an id it is not told. */
static void tell(struct p2p_req *q, const void *site)
{
    q->site = site;
    q->eager = wire_id_make(q) != 0;
}

/* Of a receive that has begun, and has its site. No process: there is nothing to tell. */
static void tell_begun(struct p2p_req *q)
{
    if (q->target == MPI_PROC_NULL && q->world < 0)
        return;
    if (!q->r.done)
        tell(q, q->site);
    else if (!q->r.error)
        recv_tell(q);
}

static void req_free(struct request *r)
{
    req_recycle((struct p2p_req *)r);
}

/* A request that outlives the call: its sender may get to know it. */
static int begin(struct p2p_req *q)
{
    if (q->is_send)
        return send_begin(q);
    int err = recv_begin(q);
    if (!err && q->state == P2P_POSTED && q->size >= proc->p2p->offer_min)
        offer_posted(q);
    return err;
}

static int req_start(struct request *r)
{
    struct p2p_req *q = (struct p2p_req *)r;
    if (r->comm->revoked)
        return comm_revoked_error();
    q->cancelled = 0;
    return begin(q);
}

static int req_cancel(struct request *r)
{
    struct p2p_req *q = (struct p2p_req *)r;
    if (r->done && q->twin) {
        /* buffered: this one is complete when its copy is known to be cancelled or sent */
        r->done = 0;
        q->state = P2P_CANCELLING;
        return req_cancel(&q->twin->r);
    }
    if (q->state == P2P_POSTED && !offer_cancel(q))
        return MPI_SUCCESS; /* decided later */
    if (q->state == P2P_POSTED || (q->is_send && q->state == P2P_QUEUED && q->next == 0)) {
        if (q->state == P2P_POSTED)
            match_unpost(q);
        else
            list_del(&q->op.link); /* peer_try() finds the queue empty and settles the rest */
        int err = refuse_is(q->ctx, q->src) ? comm_revoked_error() : MPI_SUCCESS;
        status_empty(&r->status);
        status_set_cancelled(&r->status, !err);
        q->full = 0;
        if (q->is_send)
            send_done(q, err);
        else
            recv_done(q, err);
    } else if ((q->state == P2P_OPEN && q->got == 0) || (r->done && q->is_send && q->eager)) {
        struct p2p_peer *p = peer_get(q->world);
        if (!p || p->dead || q->cancelled) /* no process to ask, or it was asked */
            return MPI_SUCCESS;
        if (q->world == proc->p2p->me) {
            send_cancel_own(q);
            return MPI_SUCCESS;
        }
        if (q->state != P2P_OPEN) {
            /* eager, complete but not yet waited for: open again until the receiver answers */
            q->eager = 0;
            q->offer = 0; /* fill_left() has not set these two */
            r->peer = q->world;
            r->done = 0;
            q->state = P2P_CANCELLING;
            list_push(&proc->p2p->open, &q->op.link);
        }
        p->path->cancel(q, p);
    }
    return MPI_SUCCESS;
}

static const struct request_ops req_ops = {
    .start = req_start, .cancel = req_cancel, .free = req_free};

/* The same of a persistent receive whose messages watch_told() hears of. */
static int req_start_told(struct request *r)
{
    int err = req_start(r);
    if (!err)
        tell_begun((struct p2p_req *)r);
    return err;
}

static const struct request_ops told_ops = {
    .start = req_start_told, .cancel = req_cancel, .free = req_free};

static int is_ours(const struct request *r)
{
    return request_is(r, &req_ops) || request_is(r, &told_ops);
}

/* What send and receive share.  The communicator's reference comes with request_publish(). */
static int req_fill(struct p2p_req *q, enum request_kind kind, const void *buf, MPI_Aint count,
                    struct dt_type *t, struct comm *c)
{
    request_init(&q->r, kind, &req_ops, c);
    q->state = P2P_IDLE;
    q->holds = 0;
    q->waits = 0;
    q->eager = 0;
    q->cancelled = 0;
    q->copy = NULL;
    q->twin = NULL;
    q->wire_id = 0;
    q->native = NULL;
    q->leaving = NULL;
    q->offer = 0;
    q->buf = (void *)(uintptr_t)buf;
    q->count = (size_t)count;
    q->type = t;
    q->full = 0;
    q->block = dt_is_block(t, (size_t)count);
    q->start = dt_start(t, buf);
    if (__builtin_mul_overflow((size_t)t->size, (size_t)count, &q->size) ||
        q->size > (size_t)INT64_MAX)
        return dt_total(t, (size_t)count, &q->size);
    return MPI_SUCCESS;
}

static int send_fill(struct p2p_req *q, enum request_kind kind, const void *buf, MPI_Aint count,
                     struct dt_type *t, int dest, int tag, struct comm *c, int flags)
{
    q->is_send = 1;
    q->late = NULL;
    q->flags = flags;
    q->ctx = c->ctx_send | ((unsigned)flags & P2P_STREAM) >> 4;
    q->src = c->src;
    q->tag = tag;
    q->target = dest;
    q->world = dest == MPI_PROC_NULL ? -1 : comm_peer_world(c, dest);
    int err = req_fill(q, kind, buf, count, t, c);
    q->r.what = "a message to be taken";
    q->r.peer = q->world;
    return err;
}

static int recv_fill(struct p2p_req *q, enum request_kind kind, void *buf, MPI_Aint count,
                     struct dt_type *t, int source, int tag, struct comm *c, int flags)
{
    q->is_send = 0;
    q->flags = flags;
    q->ctx = c->ctx_recv | ((unsigned)flags & P2P_STREAM) >> 4;
    q->src = p2p_from(c, source);
    q->tag = tag;
    q->target = source;
    q->world = source < 0 ? -1 : comm_peer_world(c, source);
    int err = req_fill(q, kind, buf, count, t, c);
    q->r.what = "a message";
    q->r.peer = q->world;
    return err;
}

/* The library's own messages run no functions of continuations: there the program may be in any
 * call. */
static int is_programs(const struct p2p_req *q)
{
    return q->r.comm && !(q->flags & P2P_STREAM);
}

/* Blocking calls have their request on the stack. */
static int is_done(void *arg)
{
    const struct p2p_req *q = arg;
    return q->r.done || (continue_interrupts(NULL, 0) && is_programs(q));
}

int p2p_request_awaits(const struct request *r, struct p2p_awaited *out)
{
    const struct p2p_req *q = (const struct p2p_req *)r;
    if (!is_ours(r) || r->done || q->copy || q->twin || !r->comm)
        return 0;
    /* a send that waits for room, and what data have reached, go on by themselves */
    if (q->is_send ? q->state != P2P_OPEN || q->next || q->got : q->state != P2P_POSTED)
        return 0;
    *out = (struct p2p_awaited){.world = q->world, .is_send = q->is_send, .rank = q->target,
                                .tag = q->tag, .comm = r->comm};
    return 1;
}

int call_awaits(int (*cond)(void *), void *arg, struct p2p_awaited *out)
{
    return cond == is_done ? p2p_request_awaits(arg, out) : -1;
}

static __attribute__((noinline)) void wait_long(struct p2p_req *q)
{
    for (;;) {
        progress_wait_why(is_done, q, q->r.what, q->r.peer, WHY_MESSAGE, NULL);
        if (q->r.done)
            return;
        continue_run(NULL, 0);
    }
}

static int wait_here(struct p2p_req *q, MPI_Status *status)
{
    if (q->r.done)
        progress_glance();
    else
        wait_long(q);
    if (status && status != MPI_STATUS_IGNORE) {
        /* only calls that return several statuses set it (MPI-3.1 3.2.5) */
        int keep = status->MPI_ERROR;
        *status = q->r.status;
        status->MPI_ERROR = keep;
    }
    return q->r.error;
}

/* --- calls ---------------------------------------------------------------------- */

/* A short message of one block to a peer with room: no request is made. NULL: it has not left. */
static inline struct p2p_peer *send_short(const void *buf, MPI_Aint count, struct dt_type *t,
                                          int dest, int tag, struct comm *c, int flags)
{
    if ((flags & P2P_MODE & ~P2P_READY) != P2P_STANDARD || dest < 0 ||
        !dt_is_block(t, (size_t)count))
        return NULL;
    struct p2p_peer *p = peer_get(comm_peer_world(c, dest));
    size_t size;
    if (!p || !list_empty(&p->pending) ||
        __builtin_mul_overflow((size_t)t->size, (size_t)count, &size) || size >= p->short_end ||
        p->eager_out + size + P2P_CHARGE > (size_t)cvar.p2p_eager_window || peer_far_ahead(p))
        return NULL;
    struct p2p_match h = {c->ctx_send | ((unsigned)flags & P2P_STREAM) >> 4, c->src, tag,
                          p->seq_out};
    struct iovec v[2] = {{&h, sizeof h}, {dt_start(t, buf), size}};
    if (am_request(p->world, P2P_EAGER, v, size ? 2 : 1, 0) != 0)
        return NULL; /* the slow path finds the reason */
    p->seq_out++;
    p->eager_out += size + P2P_CHARGE;
    pvar_set_add(pvar_proc(), PVAR_P2P_EAGER, 1);
    return p;
}

int p2p_send_at_once(const void *buf, MPI_Aint count, struct dt_type *t, int dest, int tag,
                     struct comm *c, int flags)
{
    return send_short(buf, count, t, dest, tag, c, flags) != NULL;
}

int p2p_send(const void *buf, MPI_Aint count, struct dt_type *t, int dest, int tag, struct comm *c,
             int flags)
{
    if (send_short(buf, count, t, dest, tag, c, flags))
        return MPI_SUCCESS;
    struct p2p_req q;
    int err = send_fill(&q, REQUEST_SEND, buf, count, t, dest, tag, c, flags);
    q.waits = 1;
    if (!err)
        err = send_begin(&q);
    return err ? err : wait_here(&q, NULL);
}

int p2p_send_labelled(const void *buf, MPI_Aint count, struct dt_type *t, int dest, int tag,
                      struct comm *c, int flags, const struct p2p_label *label)
{
    struct p2p_req q;
    int err = send_fill(&q, REQUEST_SEND, buf, count, t, dest, tag, c, flags | P2P_LABELLED);
    q.waits = 1;
    q.label = *label;
    if (!err)
        err = send_begin(&q);
    return err ? err : wait_here(&q, NULL);
}

int p2p_recv(void *buf, MPI_Aint count, struct dt_type *t, int source, int tag, struct comm *c,
             int flags, MPI_Status *status)
{
    struct p2p_req q;
    int err = recv_fill(&q, REQUEST_RECV, buf, count, t, source, tag, c, flags | P2P_AWAITED);
    if (!err)
        err = recv_begin(&q);
    return err ? err : wait_here(&q, status);
}

int p2p_request_took(const struct request *r, struct p2p_took *took)
{
    const struct p2p_req *q = (const struct p2p_req *)r;
    if (!is_ours(r) || q->is_send || q->target < 0)
        return 0;
    if (!r->done || !r->active || r->error || status_cancelled(&r->status))
        return 0;
    *took = (struct p2p_took){q->world, q->target, r->status.MPI_TAG,
                              (uint32_t)r->status.MPI_ERROR};
    return 1;
}

static int recv_begin_told(struct p2p_req *q, const void *site)
{
    if (q->target != MPI_PROC_NULL && watch_wants(WATCH_TOLD))
        tell(q, site);
    return recv_begin(q);
}

void p2p_tell(struct request *r, const void *site)
{
    struct p2p_req *q = (struct p2p_req *)r;
    if (!request_is(r, &req_ops) || q->is_send || !watch_wants(WATCH_TOLD))
        return;
    q->site = site;
    if (r->kind == REQUEST_PERSISTENT_RECV)
        r->ops = &told_ops;
    else
        tell_begun(q);
}

void p2p_label_starts(struct request *r, const struct p2p_label *label)
{
    struct p2p_req *q = (struct p2p_req *)r;
    if (!request_is(r, &req_ops) || !q->is_send)
        return;
    q->flags |= P2P_LABELLED;
    q->label = *label;
}

int p2p_recv_took(void *buf, MPI_Aint count, struct dt_type *t, int source, int tag, struct comm *c,
                  const void *site, MPI_Status *status, struct p2p_took *took, int *known)
{
    struct p2p_req q;
    int err = recv_fill(&q, REQUEST_RECV, buf, count, t, source, tag, c, P2P_AWAITED);
    *known = 0;
    if (!err)
        err = recv_begin_told(&q, site);
    if (err)
        return err;
    err = wait_here(&q, status);
    *known = p2p_request_took(&q.r, took);
    return err;
}

static int no_memory(struct request **out)
{
    *out = NULL;
    return err_make(MPI_ERR_NO_MEM, "no memory for one more request");
}

/* A filled request on the heap: hold the type, begin. */
static int launch(struct p2p_req *q, int err, struct request **out)
{
    if (!err) {
        dt_ref(q->type);
        q->holds = 1;
        err = begin(q);
    }
    if (err) {
        req_recycle(q);
        *out = NULL;
        return err;
    }
    *out = &q->r;
    return MPI_SUCCESS;
}

/* Its message has left by send_short(): what waits, MPI_Cancel and the answer to that look at.
 * req_cancel() sets what its peer's failure looks at besides. It holds nothing. */
static void fill_left(struct p2p_req *q, const struct p2p_peer *p, struct comm *c, int flags)
{
    request_init(&q->r, REQUEST_SEND, &req_ops, c);
    q->r.what = "a message to be taken";
    q->r.done = 1;
    q->is_send = 1;
    q->eager = 1;
    q->state = P2P_IDLE;
    q->world = p->world;
    q->seq = p->seq_out - 1;
    q->flags = flags;
    q->holds = q->waits = q->cancelled = 0;
    q->got = 0;
    q->wire_id = 0;
    q->native = NULL;
    q->leaving = NULL;
    q->late = NULL;
    q->twin = NULL;
    q->copy = NULL;
}

int p2p_isend(const void *buf, MPI_Aint count, struct dt_type *t, int dest, int tag, struct comm *c,
              int flags, struct request **out)
{
    struct p2p_req *q = req_alloc(flags, 0);
    if (!q)
        return no_memory(out);
    const struct p2p_peer *p = send_short(buf, count, t, dest, tag, c, flags);
    if (!p)
        return launch(q, send_fill(q, REQUEST_SEND, buf, count, t, dest, tag, c, flags), out);
    fill_left(q, p, c, flags);
    *out = &q->r;
    return MPI_SUCCESS;
}

int p2p_isend_later(const void *buf, MPI_Aint count, struct dt_type *t, int dest, int tag,
                    struct comm *c, int flags, struct request **out)
{
    struct p2p_req *q = req_alloc(flags, 0);
    if (!q)
        return no_memory(out);
    int err = send_fill(q, REQUEST_SEND, buf, count, t, dest, tag, c, flags);
    q->waits = (flags & P2P_AWAITED) != 0;
    return launch(q, err, out);
}

int p2p_isend_labelled(const void *buf, MPI_Aint count, struct dt_type *t, int dest, int tag,
                       struct comm *c, int flags, const struct p2p_label *label,
                       struct request **out)
{
    struct p2p_req *q = req_alloc(flags, 0);
    if (!q)
        return no_memory(out);
    q->label = *label;
    flags |= P2P_LABELLED;
    return launch(q, send_fill(q, REQUEST_SEND, buf, count, t, dest, tag, c, flags), out);
}

int p2p_irecv(void *buf, MPI_Aint count, struct dt_type *t, int source, int tag, struct comm *c,
              int flags, struct request **out)
{
    struct p2p_req *q = req_alloc(flags, P2P_SPARES_SEND);
    if (!q)
        return no_memory(out);
    return launch(q, recv_fill(q, REQUEST_RECV, buf, count, t, source, tag, c, flags), out);
}

int recv_make(void *buf, MPI_Aint count, struct dt_type *t, struct comm *c, struct p2p_req **out)
{
    struct p2p_req *q = req_alloc(P2P_STANDARD, 0);
    if (!q)
        return err_make(MPI_ERR_NO_MEM, "no memory for one more request");
    int err = recv_fill(q, REQUEST_RECV, buf, count, t, MPI_PROC_NULL, MPI_ANY_TAG, c, 0);
    if (err) {
        req_recycle(q);
        return err;
    }
    dt_ref(t);
    q->holds = 1;
    *out = q;
    return MPI_SUCCESS;
}

int send_make(const void *buf, MPI_Aint count, struct dt_type *t, int dest, int tag,
              struct comm *c, int flags, struct p2p_req **out)
{
    struct p2p_req *q = req_alloc(flags, 0);
    int err = q ? send_fill(q, REQUEST_SEND, buf, count, t, dest, tag, c, flags)
                : err_make(MPI_ERR_NO_MEM, "no memory for one more request");
    if (err) {
        if (q)
            req_recycle(q);
        return err;
    }
    dt_ref(t);
    q->holds = 1;
    *out = q;
    return MPI_SUCCESS;
}

/* r is filled in, or err is not MPI_SUCCESS; told: NULL, a constant, or what watchers hear. */
static inline __attribute__((always_inline)) int
exchange(struct p2p_req *r, int err, const void *sbuf, MPI_Aint scount, struct dt_type *st,
         int dest, int stag, struct comm *c, int flags, const struct p2p_ends_told *told,
         MPI_Status *status)
{
    if (!err)
        err = told ? recv_begin_told(r, told->site) : recv_begin(r);
    if (err)
        return err;
    int serr = told && told->label
                   ? p2p_send_labelled(sbuf, scount, st, dest, stag, c, flags, told->label)
                   : p2p_send(sbuf, scount, st, dest, stag, c, flags);
    if (serr && r->state == P2P_POSTED) {
        match_unpost(r);
        if (told && r->wire_id)
            wire_id_drop(r);
        return serr;
    }
    err = wait_here(r, status);
    return serr ? serr : err;
}

int p2p_sendrecv(const void *sbuf, MPI_Aint scount, struct dt_type *st, int dest, int stag,
                 void *rbuf, MPI_Aint rcount, struct dt_type *rt, int source, int rtag,
                 struct comm *c, int flags, MPI_Status *status)
{
    struct p2p_req r;
    int err = recv_fill(&r, REQUEST_RECV, rbuf, rcount, rt, source, rtag, c, flags | P2P_AWAITED);
    return exchange(&r, err, sbuf, scount, st, dest, stag, c, flags, NULL, status);
}

int p2p_sendrecv_told(const void *sbuf, MPI_Aint scount, struct dt_type *st, int dest, int stag,
                      void *rbuf, MPI_Aint rcount, struct dt_type *rt, int source, int rtag,
                      struct comm *c, struct p2p_ends_told told, MPI_Status *status)
{
    struct p2p_req r;
    int err = recv_fill(&r, REQUEST_RECV, rbuf, rcount, rt, source, rtag, c, P2P_AWAITED);
    return exchange(&r, err, sbuf, scount, st, dest, stag, c, 0, &told, status);
}

static int prepare(struct p2p_req *q, int err, struct request **out)
{
    if (err) {
        req_recycle(q);
        *out = NULL;
        return err;
    }
    dt_ref(q->type);
    q->holds = 1;
    *out = &q->r;
    return MPI_SUCCESS;
}

int p2p_send_init(const void *buf, MPI_Aint count, struct dt_type *t, int dest, int tag,
                  struct comm *c, int flags, struct request **out)
{
    struct p2p_req *q = req_alloc(flags, 0);
    if (!q)
        return no_memory(out);
    return prepare(q, send_fill(q, REQUEST_PERSISTENT_SEND, buf, count, t, dest, tag, c, flags),
                   out);
}

int p2p_recv_init(void *buf, MPI_Aint count, struct dt_type *t, int source, int tag, struct comm *c,
                  int flags, struct request **out)
{
    struct p2p_req *q = req_alloc(flags, 0);
    if (!q)
        return no_memory(out);
    return prepare(q, recv_fill(q, REQUEST_PERSISTENT_RECV, buf, count, t, source, tag, c, flags),
                   out);
}

/* --- by world rank ----------------------------------------------------------------- */

static void fill_world(struct p2p_req *q, void *buf, size_t len, int world, uint32_t ctx,
                       uint32_t src, int tag)
{
    req_fill(q, REQUEST_SEND, buf, (MPI_Aint)len, dt_find(MPI_BYTE), NULL);
    q->flags = P2P_STANDARD;
    q->ctx = ctx;
    q->src = src;
    q->tag = tag;
    q->target = p2p_rank(src);
    q->world = q->r.peer = world;
    q->r.what = "the set-up of a communicator";
}

int p2p_send_world(const void *buf, size_t len, int world, uint32_t ctx, uint32_t src, int tag)
{
    struct p2p_req q;
    fill_world(&q, (void *)(uintptr_t)buf, len, world, ctx, src, tag);
    q.is_send = 1;
    q.late = NULL;
    int err = send_begin(&q);
    return err ? err : wait_here(&q, NULL);
}

int p2p_recv_world(void *buf, size_t len, int world, uint32_t ctx, uint32_t src, int tag)
{
    struct p2p_req q;
    fill_world(&q, buf, len, world, ctx, src, tag);
    q.is_send = 0;
    if (refuse_is(ctx, src))
        return comm_revoked_error();
    int err = recv_begin(&q);
    return err ? err : wait_here(&q, NULL);
}
