/* recv.c - receiving: search the unexpected messages, else post; take what arrives. Start with
 * recv_begin() and recv_eager(). */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "obj/err.h"
#include "obj/failed.h"
#include "p2p/p2p_types.h"
#include "watch/watch.h"

void recv_tell(struct p2p_req *q)
{
    const MPI_Status *s = &q->r.status;
    struct p2p_told m = {q->world, s->MPI_TAG, (uint32_t)s->MPI_ERROR, 0, q->full, q->type,
                         q->site};
    q->eager = 0;
    if (q->full <= q->size && !status_cancelled(s))
        watch_told(&m);
}

/* Others know it, or a watcher wants to: p2p_tell() gives it an id, so that receives without one
 * are not asked. */
static __attribute__((cold, noinline)) void known_done(struct p2p_req *q, int err)
{
    wire_id_drop(q);
    if (q->eager && !err)
        recv_tell(q);
}

void recv_done(struct p2p_req *q, int err)
{
    q->state = P2P_IDLE;
    if (q->wire_id)
        known_done(q, err);
    if (!err && q->full > q->size)
        err = err_make(MPI_ERR_TRUNCATE,
                       "the message from rank %d with tag %d has %zu bytes, the buffer %zu",
                       q->r.status.MPI_SOURCE, q->r.status.MPI_TAG, q->full, q->size);
    else if (!err && q->full < q->size && q->type->elem.bytes != 1 &&
             dt_elements(q->type, q->full) < 0)
        err = err_make(MPI_ERR_TYPE,
                       "the message from rank %d with tag %d has %zu bytes, which end inside an "
                       "element of the datatype",
                       q->r.status.MPI_SOURCE, q->r.status.MPI_TAG, q->full);
    request_complete(&q->r, err);
}

enum { TAG_AND_SEQ = sizeof(int32_t) + sizeof(uint32_t) };
_Static_assert(offsetof(struct p2p_match, seq) == offsetof(struct p2p_match, tag) + sizeof(int32_t),
               "side by side");
_Static_assert(offsetof(MPI_Status, MPI_ERROR) == offsetof(MPI_Status, MPI_TAG) + sizeof(int),
               "side by side");

static void set_status(struct p2p_req *q, const struct p2p_match *m, int world, size_t size)
{
    size_t n = size < q->size ? size : q->size;
    q->world = world;
    q->full = size;
    q->r.status.MPI_SOURCE = p2p_rank(m->src);
    /* in one move: MPI_TAG, and the message's number in MPI_ERROR, which users do not get
     * (p2p_request_took()) */
    memcpy((char *)&q->r.status + offsetof(MPI_Status, MPI_TAG),
           (const char *)m + offsetof(struct p2p_match, tag), TAG_AND_SEQ);
    q->r.status.count_lo = (int)(uint32_t)n;
    q->r.status.count_hi_and_cancelled = (int)((n >> 32) << 1); /* not cancelled */
}

/* The message does not end here. A receive that a failure has suspended has its message now, and is
 * waited for as any other. */
static void begin_long(struct p2p_req *q, const struct p2p_match *m, int world, size_t size)
{
    set_status(q, m, world, size);
    request_resume(&q->r);
}

void recv_eager(struct p2p_req *q, const struct p2p_match *m, int world, const void *data,
                size_t len)
{
    set_status(q, m, world, len);
    size_t n = len < q->size ? len : q->size;
    if (n && q->block) /* without bytes the buffer may be NULL */
        memcpy(q->start, data, n);
    else if (n)
        dt_unpack(q->type, q->count, q->buf, 0, data, n);
    recv_done(q, MPI_SUCCESS);
}

/* Put a piece at its place; what lies beyond the buffer is lost. */
static void fill(struct p2p_req *q, const void *data, size_t len)
{
    size_t left = q->size > q->got ? q->size - q->got : 0, n = len < left ? len : left;
    if (n && q->block)
        memcpy(q->start + q->got, data, n);
    else if (n)
        dt_unpack(q->type, q->count, q->buf, q->got, data, n);
    q->got += len;
}

void recv_first(struct p2p_req *q, struct p2p_peer *p, const struct p2p_match *m, size_t size,
                const void *data, size_t len)
{
    begin_long(q, m, p->world, size);
    q->got = 0;
    q->state = P2P_PULLING;
    list_push(&proc->p2p->pulls, &q->op.link);
    fill(q, data, len);
    p->in_req = q;
}

/* The last piece of a stored message is here. */
static void complete_kept(struct p2p_peer *p, struct p2p_unex *u)
{
    struct p2p_req *q = u->taker;
    p->in_unex = NULL;
    if (q)
        list_del(&q->op.link);
    if (q)
        recv_consume(q, u);
    else if (u->dropped)
        recv_drop(u);
}

void recv_more(struct p2p_peer *p, const void *data, size_t len)
{
    struct p2p_req *q = p->in_req;
    struct p2p_unex *u = p->in_unex;
    if (q) {
        fill(q, data, len);
        if (q->got < q->full)
            return;
        p->in_req = NULL;
        list_del(&q->op.link);
        peer_credit(p, q->full + P2P_CHARGE);
        recv_done(q, MPI_SUCCESS);
    } else if (u && len <= u->size - u->arrived) {
        memcpy(u->data + u->arrived, data, len);
        u->arrived += len;
        if (u->arrived == u->size)
            complete_kept(p, u);
    }
}

void recv_drop(struct p2p_unex *u)
{
    if (u->type != P2P_RTS && u->arrived < u->size)
        u->dropped = 1;
    else
        free(u);
}

void recv_give_back(struct p2p_unex *u)
{
    struct p2p_peer *p = peer_get(u->world);
    if (p && u->type != P2P_RTS)
        peer_credit(p, u->size + P2P_CHARGE);
    recv_drop(u);
}

void recv_written(struct p2p_req *q, const struct p2p_rts *h, int world)
{
    set_status(q, &h->m, world, h->size);
    recv_done(q, MPI_SUCCESS);
}

void recv_await(struct p2p_req *q, const struct p2p_rts *h, int world)
{
    begin_long(q, &h->m, world, h->size);
    q->remote = h->sreq;
    q->want = h->size;
    q->next = q->got = 0;
    q->began = 0; /* a pull that follows is not measured */
    q->state = P2P_AWAITING;
    list_push(&proc->p2p->pulls, &q->op.link);
}

static void finish_sender(struct p2p_peer *p, uint64_t sreq)
{
    struct p2p_fin f = {sreq};
    peer_control(p, P2P_FIN, &f, sizeof f);
}

/* Both sides are this process: copy from layout to layout. */
static void recv_self(struct p2p_req *q, struct p2p_req *s)
{
    WR_ASSERT(s && s->is_send);
    size_t n = s->size < q->size ? s->size : q->size;
    dt_copy_part(s->buf, s->count, s->type, q->buf, q->count, q->type, 0, n);
    list_del(&s->op.link);
    send_done(s, MPI_SUCCESS);
    recv_done(q, MPI_SUCCESS);
}

void recv_rendezvous(struct p2p_req *q, const struct p2p_rts *h, int world, const void *tail)
{
    begin_long(q, &h->m, world, h->size);
    q->remote = h->sreq;
    q->want = h->size < q->size ? h->size : q->size;
    q->next = q->got = 0;
    q->began = 0;
    struct p2p_peer *p = peer_get(world);
    if (!p) {
        recv_done(
            q, err_make(MPI_ERR_NO_MEM, "receive: no memory for the record of process %d", world));
    } else if (world == proc->p2p->me) {
        recv_self(q, wire_id_find(h->sreq, world));
    } else {
        p->path->pull(q, p, h, tail);
    }
}

void recv_consume(struct p2p_req *q, struct p2p_unex *u)
{
    struct p2p_peer *p = peer_get(u->world);
    if (u->type != P2P_RTS && u->arrived < u->size && (!p || p->dead)) {
        if (p)
            p->in_unex = NULL;
        recv_done(q, err_make(MPIX_ERR_PROC_FAILED,
                              "receive: process %d of the job died in the middle of a message",
                              u->world));
        free(u);
        return;
    }
    if (u->type != P2P_RTS && u->arrived < u->size) {
        u->taker = q;
        q->world = u->world;
        q->state = P2P_PULLING;
        list_push(&proc->p2p->pulls, &q->op.link);
        return;
    }
    if (u->type == P2P_RTS) {
        struct p2p_rts h = {u->m, u->sreq, u->size, u->nruns, u->key, u->flags};
        recv_rendezvous(q, &h, u->world, u->data);
    } else {
        if (p)
            peer_credit(p, u->size + P2P_CHARGE);
        if (p && u->type == P2P_EAGER_SYNC)
            finish_sender(p, u->sreq);
        recv_eager(q, &u->m, u->world, u->data, u->size);
    }
    free(u);
}

/* q is filled in; from here to its completion by recv_done(). */
int recv_begin(struct p2p_req *q)
{
    if (q->target == MPI_ANY_SOURCE) /* a persistent one has noted the last sender */
        q->world = -1;
    if (q->target == MPI_PROC_NULL) {
        status_proc_null(&q->r.status);
        request_complete(&q->r, MPI_SUCCESS);
        return MPI_SUCCESS;
    }
    struct p2p_unex *u = match_find(q->ctx, q->src, q->tag);
    if (u) {
        match_take(u);
        recv_consume(q, u);
        return MPI_SUCCESS;
    }
    match_post(q);
    if (__builtin_expect(am_failed_count() != 0, 0)) {
        int dead = q->world < 0 ? comm_unacked(q->r.comm) : am_failed(q->world) ? q->world : -1;
        if (dead >= 0 && !peer_hold(q, dead)) {
            match_unpost(q);
            recv_done(q, peer_death(q, dead));
        }
    }
    return MPI_SUCCESS;
}
