/* p2p.c - the calls of p2p.h and the life of their requests. */
#include "p2p/p2p.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "obj/err.h"
#include "p2p/p2p_types.h"
#include "p2p/refuse.h"
#include "var/var.h"

/* Other processes wait for those of collectives: some are spare. */
static __attribute__((noinline, cold)) struct p2p_req *req_more(struct p2p *s, int flags, int leave)
{
    struct p2p_req *q = malloc(sizeof *q), *x;
    if (!q && flags & P2P_STREAM && s->spares > leave) {
        q = s->spare;
        s->spare = q->next_free;
        s->spares--;
    }
    while (q && s->spares < P2P_SPARES && (x = malloc(sizeof *x)) != NULL) {
        x->next_free = s->spare;
        s->spare = x;
        s->spares++;
    }
    return q;
}

int p2p_init(void)
{
    struct p2p *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    proc->p2p = s;
    match_init(s);
    map_init(&s->peers);
    list_init(&s->busy);
    list_init(&s->open);
    list_init(&s->pulls);
    native_init(s);
    offer_init(s);
    want_init(s);
    s->me = boot_rank();
    s->ranks = comm_rank_mask();
    s->crowded = boot_host_processes() > sysconf(_SC_NPROCESSORS_ONLN);
    s->hook.fn = peer_retry;
    s->hook.arg = s;
    struct p2p_peer *self = peer_get(s->me);
    s->scratch_size = 65536;
    s->scratch = malloc(s->scratch_size);
    if (!self || !s->scratch || !(s->free = req_more(s, P2P_STANDARD, 0)))
        return -ENOMEM;
    s->free->next_free = NULL;
    self->path->init();
    am_on_death(peer_reap);
    am_on_stall(peer_name_awaited);
    return 0;
}

static void requests_free(struct p2p_req *q)
{
    for (struct p2p_req *next; q; q = next) {
        next = q->next_free;
        free(q);
    }
}

static int on_late(int src, const void *msg, size_t len)
{
    (void)src;
    (void)msg;
    (void)len;
    return 0;
}

void p2p_finalize(void)
{
    struct p2p *s = proc->p2p;
    if (!s)
        return;
    /* Credits may still come in until the transport closes. */
    for (int type = P2P_EAGER; type < P2P_PACKETS_END; type++)
        am_handler(type, on_late);
    progress_hook_del(&s->hook);
    native_finalize(s);
    want_finalize(s);
    for (struct list *l = s->open.next; l != &s->open; l = l->next) {
        /* sends without a waiter */
        struct p2p_req *q = LIST_OBJ(l, struct p2p_req, op.link);
        if (q->leaving)
            q->leaving->q = NULL;
        if (q->late)
            want_late_drop(q);
        if (q->native)
            native_withdraw(q);
    }
    for (struct list *l = s->pulls.next; l != &s->pulls; l = l->next) {
        struct p2p_req *q = LIST_OBJ(l, struct p2p_req, op.link);
        if (q->native) /* it awaits WRITTEN */
            native_withdraw(q);
    }
    size_t cursor = 0;
    for (struct map_entry *e; (e = map_next(&s->peers, &cursor));)
        peer_drop(e->value); /* first: it refers to messages that came in part and stand in no
                              * bin */
    map_destroy(&s->peers);
    for (int i = 0; i < P2P_UNEX_BINS; i++)
        for (struct list *l = s->unex[0][i].next; l != &s->unex[0][i];) {
            struct p2p_unex *u = LIST_OBJ(l, struct p2p_unex, link[0]);
            l = l->next;
            match_take(u);
            free(u);
        }
    requests_free(s->free);
    requests_free(s->spare);
    offer_finalize(s);
    refuse_finalize(s);
    free(s->buffer);
    free(s->wire_id);
    free(s->scratch);
    free(s->bounce);
    free(s);
    proc->p2p = NULL;
}

/* Sends that will not be waited for: buffered ones and those of freed requests. */
static int left_behind(void)
{
    struct p2p *s = proc->p2p;
    for (struct list *l = s->open.next; l != &s->open; l = l->next) {
        struct p2p_req *q = LIST_OBJ(l, struct p2p_req, op.link);
        if (q->r.freed || q->copy)
            return 1;
    }
    return native_left_behind();
}

static int drained(void *arg)
{
    (void)arg;
    return list_empty(&proc->p2p->busy) && !left_behind();
}

int p2p_is_drained(void)
{
    return drained(NULL);
}

int p2p_has_queued(void)
{
    return !list_empty(&proc->p2p->busy);
}

uint32_t p2p_sent_to(int world)
{
    const struct p2p_peer *p = map_get(&proc->p2p->peers, (uint64_t)world);
    return p ? p->seq_out : 0;
}

int p2p_all_came(int world, uint32_t sent)
{
    const struct p2p_peer *p = map_get(&proc->p2p->peers, (uint64_t)world);
    return p ? p->ordered || p->seq_in == sent : am_ordered(world) || !sent;
}

void p2p_drain_wait(void)
{
    progress_wait(drained, NULL, "messages to be taken before MPI_Finalize", -1);
}

/* --- requests ----------------------------------------------------------------- */

struct p2p_req *req_alloc(int flags, int leave)
{
    struct p2p *s = proc->p2p;
    struct p2p_req *q = s->free;
    if (!q)
        return req_more(s, flags, leave);
    s->free = q->next_free;
    return q;
}

void req_recycle(struct p2p_req *q)
{
    if (q->holds)
        dt_drop(q->type);
    if (q->twin)
        q->twin->twin = NULL;
    q->next_free = proc->p2p->free;
    proc->p2p->free = q;
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

/* Blocking calls have their request on the stack. */
static int is_done(void *arg)
{
    return ((struct p2p_req *)arg)->r.done;
}

int p2p_request_awaits(const struct request *r, struct p2p_awaited *out)
{
    const struct p2p_req *q = (const struct p2p_req *)r;
    if (!request_is(r, &req_ops) || r->done || q->copy || q->twin || !r->comm)
        return 0;
    /* a send that waits for room, and what data have reached, go on by themselves */
    if (q->is_send ? q->state != P2P_OPEN || q->next || q->got : q->state != P2P_POSTED)
        return 0;
    *out = (struct p2p_awaited){.world = q->world, .is_send = q->is_send, .rank = q->target,
                                .tag = q->tag, .comm = r->comm};
    return 1;
}

int p2p_awaits(int (*cond)(void *), void *arg, struct p2p_awaited *out)
{
    return cond == is_done ? p2p_request_awaits(arg, out) : probe_awaits(cond, arg, out);
}

static int wait_here(struct p2p_req *q, MPI_Status *status)
{
    progress_wait_why(is_done, q, q->r.what, q->r.peer, WHY_MESSAGE, NULL);
    if (status && status != MPI_STATUS_IGNORE) {
        /* only calls that return several statuses set it (MPI-3.1 3.2.5) */
        int keep = status->MPI_ERROR;
        *status = q->r.status;
        status->MPI_ERROR = keep;
    }
    return q->r.error;
}

/* --- calls ---------------------------------------------------------------------- */

/* A short message of one block to a peer with room: no request is made. 1: sent. */
static inline int send_short(const void *buf, MPI_Aint count, struct dt_type *t, int dest, int tag,
                             struct comm *c, int flags)
{
    if ((flags & P2P_MODE & ~P2P_READY) != P2P_STANDARD || dest < 0 ||
        !dt_is_block(t, (size_t)count))
        return 0;
    struct p2p_peer *p = peer_get(comm_peer_world(c, dest));
    size_t size;
    if (!p || !list_empty(&p->pending) ||
        __builtin_mul_overflow((size_t)t->size, (size_t)count, &size) || size >= p->short_end ||
        p->eager_out + size + P2P_CHARGE > (size_t)cvar.p2p_eager_window || peer_far_ahead(p))
        return 0;
    struct p2p_match h = {c->ctx_send | ((unsigned)flags & P2P_STREAM) >> 4, c->src, tag,
                          p->seq_out};
    struct iovec v[2] = {{&h, sizeof h}, {dt_start(t, buf), size}};
    if (am_request(p->world, P2P_EAGER, v, size ? 2 : 1, 0) != 0)
        return 0; /* the slow path finds the reason */
    p->seq_out++;
    p->eager_out += size + P2P_CHARGE;
    pvar_set_add(pvar_proc(), PVAR_P2P_EAGER, 1);
    return 1;
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

int p2p_recv(void *buf, MPI_Aint count, struct dt_type *t, int source, int tag, struct comm *c,
             int flags, MPI_Status *status)
{
    struct p2p_req q;
    int err = recv_fill(&q, REQUEST_RECV, buf, count, t, source, tag, c, flags);
    if (!err)
        err = recv_begin(&q);
    return err ? err : wait_here(&q, status);
}

int p2p_request_took(const struct request *r, struct p2p_took *took)
{
    const struct p2p_req *q = (const struct p2p_req *)r;
    if (!request_is(r, &req_ops) || q->is_send || q->target < 0)
        return 0;
    if (!r->done || !r->active || r->error || status_cancelled(&r->status))
        return 0;
    *took = (struct p2p_took){q->world, q->target, r->status.MPI_TAG,
                              (uint32_t)r->status.MPI_ERROR};
    return 1;
}

int p2p_recv_took(void *buf, MPI_Aint count, struct dt_type *t, int source, int tag, struct comm *c,
                  MPI_Status *status, struct p2p_took *took, int *known)
{
    struct p2p_req q;
    int err = recv_fill(&q, REQUEST_RECV, buf, count, t, source, tag, c, P2P_STANDARD);
    *known = 0;
    if (!err)
        err = recv_begin(&q);
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

int p2p_isend(const void *buf, MPI_Aint count, struct dt_type *t, int dest, int tag, struct comm *c,
              int flags, struct request **out)
{
    struct p2p_req *q = req_alloc(flags, 0);
    if (!q)
        return no_memory(out);
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

int p2p_sendrecv(const void *sbuf, MPI_Aint scount, struct dt_type *st, int dest, int stag,
                 void *rbuf, MPI_Aint rcount, struct dt_type *rt, int source, int rtag,
                 struct comm *c, int flags, MPI_Status *status)
{
    struct p2p_req r;
    int err = recv_fill(&r, REQUEST_RECV, rbuf, rcount, rt, source, rtag, c, flags);
    if (!err)
        err = recv_begin(&r);
    if (err)
        return err;
    int serr = p2p_send(sbuf, scount, st, dest, stag, c, flags);
    if (serr && r.state == P2P_POSTED) {
        match_unpost(&r);
        return serr;
    }
    err = wait_here(&r, status);
    return serr ? serr : err;
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
