/* part.c - partitioned messages: a set-up message, then one message for all partitions. Start
 * with part_make().
 *
 * If the receiver has offered its receive (offer.h), the message begins with a claim, and each
 * partition is written there as it gets ready. */
#include "p2p/part.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "dt/dt.h"
#include "obj/err.h"
#include "p2p/spares.h"
#include "p2p/refuse.h"
#include "progress/progress.h"
#include "var/var.h"
#include "watch/watch.h"

/* The stream of one-sided calls, which send no such messages. */
enum { PART_STREAM = CTX_RMA << 4 };

struct part {
    struct request r;
    int refs; /* the request, and its setup message while that is under way */
    int is_send, partitions, nready;
    unsigned char *ready; /* by partition */
    struct request *inner;   /* the message under way; NULL: none, or partitions fill it */
    struct p2p_req *filling; /* the message, while partitions are written one by one; else NULL */
    void *buf;
    MPI_Aint count;       /* elements in all partitions */
    struct dt_type *type;
    int peer, tag;
    int number;           /* the sender's; 0: the setup message has not come */
    const void *site;     /* watchers hear of the set-up message; NULL: they do not */
    int lost;             /* the error in its place: its sender has failed */
    struct progress_hook hook; /* a started receive waits for the number */
};

/* Tags of data are negative, out of the way of users' tags. */
static int data_tag(const struct part *p)
{
    return INT_MIN + p->number;
}

static void part_drop(struct part *p)
{
    if (--p->refs > 0)
        return;
    progress_hook_del(&p->hook);
    dt_drop(p->type);
    free(p->ready);
    free(p);
}

static void part_free(struct request *r)
{
    part_drop((struct part *)r);
}

static void part_done(struct request *inner, void *arg)
{
    struct part *p = arg;
    p->filling = NULL;
    p->inner = NULL;
    int tag = p->r.status.MPI_TAG, err = request_finish(inner, &p->r.status);
    if (p->r.status.MPI_SOURCE != MPI_PROC_NULL)
        p->r.status.MPI_TAG = tag;
    request_complete(&p->r, err);
}

static int part_follow(struct part *p, struct request *inner)
{
    p->inner = inner;
    request_then(inner, part_done, p); /* it may be done */
    return MPI_SUCCESS;
}

/* The user's tag waits in the status until the data is there. */
static int part_send(struct part *p)
{
    struct request *inner;
    if (p->r.comm->revoked)
        return comm_revoked_error();
    int err = p2p_isend(p->buf, p->count, p->type, p->peer, data_tag(p), p->r.comm, PART_STREAM,
                        &inner);
    return err ? err : part_follow(p, inner);
}

/* A partition that is shorter costs more by itself than together with others. */
enum { PART_LEAST = 4096 };

/* Partition i has become ready, and not all are: write it, and what was ready before. */
static void part_write(struct part *p, int i)
{
    size_t bytes = (size_t)p->type->size * (size_t)(p->count / p->partitions);
    int least = cvar.p2p_prepost == 2 ? 1 : PART_LEAST;
    if (p->filling) {
        want_fill(p->filling, (size_t)i * bytes, bytes);
        return;
    }
    if (p->peer == MPI_PROC_NULL || bytes < (size_t)least)
        return;
    int world = comm_peer_world(p->r.comm, p->peer);
    struct p2p_req *q;
    if (!want_parts(world) || send_make(p->buf, p->count, p->type, p->peer, data_tag(p), p->r.comm,
                                        PART_STREAM, &q))
        return;
    if (!want_begin(q)) {
        req_recycle(q);
        return;
    }
    p->filling = q;
    request_then(&q->r, part_done, p);
    for (int k = 0; k < p->partitions; k++)
        if (p->ready[k])
            want_fill(q, (size_t)k * bytes, bytes);
}

static int part_recv(struct part *p)
{
    struct request *inner;
    if (p->r.comm->revoked)
        return comm_revoked_error();
    int err = p2p_irecv(p->buf, p->count, p->type, p->peer, data_tag(p), p->r.comm, PART_STREAM,
                        &inner);
    return err ? err : part_follow(p, inner);
}

static int part_look(void *arg)
{
    struct part *p = arg;
    if (!p->number && !p->lost)
        return 0;
    progress_hook_del(&p->hook);
    int err = p->lost ? p->lost : part_recv(p);
    if (err)
        request_complete(&p->r, err);
    return 1;
}

static int part_start(struct request *r)
{
    struct part *p = (struct part *)r;
    if (r->comm->revoked)
        return comm_revoked_error();
    r->status.MPI_TAG = p->tag;
    if (p->is_send) {
        memset(p->ready, 0, (size_t)p->partitions);
        p->nready = 0;
        return MPI_SUCCESS;
    }
    if (p->number || p->peer == MPI_PROC_NULL)
        return part_recv(p);
    progress_hook_add(&p->hook);
    return MPI_SUCCESS;
}

static const struct request_ops part_ops = {.start = part_start, .free = part_free};

/* The set-up message stands for the data, whose types are those of all messages to come. */
static void tell_setup(const struct part *p, const struct request *inner)
{
    struct p2p_took took;
    size_t bytes;
    if (!p2p_request_took(inner, &took) || dt_total(p->type, (size_t)p->count, &bytes))
        return;
    struct p2p_told m = {took.world, took.tag, took.seq, 1, bytes, p->type, p->site};
    watch_told(&m);
}

static void setup_done(struct request *inner, void *arg)
{
    struct part *p = arg;
    if (p->site && !p->is_send)
        tell_setup(p, inner);
    int err = request_finish(inner, MPI_STATUS_IGNORE);
    p->lost = p->is_send ? 0 : err; /* a sender gets it with the data */
    part_drop(p);
}

/* Sends the number of this request to the receiver. */
static int setup(struct part *p)
{
    struct request *inner;
    struct p2p_label label;
    struct dt_type *t = dt_find(MPI_INT);
    int told = p->site && p->is_send && watch_label(p->type, p->count, p->site, &label);
    int err = told         ? p2p_isend_labelled(&p->number, 1, t, p->peer, p->tag, p->r.comm,
                                                PART_STREAM, &label, &inner)
              : p->is_send ? p2p_isend(&p->number, 1, t, p->peer, p->tag, p->r.comm, PART_STREAM,
                                       &inner)
                           : p2p_irecv(&p->number, 1, t, p->peer, p->tag, p->r.comm, PART_STREAM,
                                       &inner);
    if (err)
        return err;
    p->refs++;
    request_then(inner, setup_done, p);
    return MPI_SUCCESS;
}

int part_make(void *buf, int partitions, MPI_Aint count, struct dt_type *t, int peer, int tag,
              struct comm *c, int is_send, const void *site, MPI_Request *request)
{
    struct part *p = calloc(1, sizeof *p);
    if (!p || !(p->ready = calloc((size_t)partitions + 1, 1))) {
        free(p);
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for a request", proc->call);
    }
    request_init(&p->r, REQUEST_PART, &part_ops, c);
    p->r.what = "a partitioned message";
    p->refs = 1;
    p->is_send = is_send;
    p->partitions = partitions;
    p->buf = buf;
    p->count = count * partitions;
    p->type = dt_ref(t);
    p->peer = peer;
    p->tag = tag;
    p->site = site;
    p->hook = (struct progress_hook){.fn = part_look, .arg = p};
    list_init(&p->hook.link);
    if (is_send)
        p->number = ++proc->p2p->parts;
    int err = request_publish(&p->r, request);
    if (!err && peer != MPI_PROC_NULL && (err = setup(p)) != 0) {
        request_release(&p->r);
        *request = MPI_REQUEST_NULL;
    } else if (err) {
        part_drop(p);
    }
    return err;
}

/* A started send whose partitions are not all ready: what it has claimed would stay claimed, and
 * one that has claimed nothing ends here. The messages under way end by themselves. */
void part_revoke(struct request *r)
{
    struct part *p = (struct part *)r;
    if (r->kind != REQUEST_PART || !r->active || r->done || !p->is_send ||
        p->nready == p->partitions)
        return;
    if (p->filling)
        want_revoke(p->filling); /* part_done() ends this one */
    else
        request_complete(r, comm_revoked_error());
}

int part_awaits(const struct request *r, struct p2p_awaited *out)
{
    const struct part *p = (const struct part *)r;
    if (r->kind != REQUEST_PART || !r->active || r->done || !r->comm)
        return 0;
    int world = p->is_send && p->nready < p->partitions ? boot_rank() /* its own MPI_Pready */
                : !p->is_send && !p->number ? comm_peer_world(r->comm, p->peer)
                                            : -1;
    if (world < 0 && (!p->inner || !p2p_request_awaits(p->inner, out)))
        return 0;
    if (world < 0)
        world = out->world;
    *out = (struct p2p_awaited){.world = world, .is_send = p->is_send, .rank = p->peer,
                                .tag = p->tag, .comm = r->comm};
    return 1;
}

struct part *part_of(struct request *r, int is_send)
{
    struct part *p = (struct part *)r;
    return r->kind == REQUEST_PART && p->is_send == is_send ? p : NULL;
}

int part_check(const struct part *p, int i)
{
    return i >= 0 && i < p->partitions
               ? MPI_SUCCESS
               : err_make(MPI_ERR_ARG, "%s: partition %d, the message has %d", proc->call, i,
                          p->partitions);
}

int part_ready(struct part *p, int i)
{
    int err = part_check(p, i);
    if (!err && !p->r.active)
        err = err_make(MPI_ERR_REQUEST, "%s: the request was not started", proc->call);
    if (!err && p->ready[i])
        err = err_make(MPI_ERR_ARG, "%s: partition %d is ready already", proc->call, i);
    if (err)
        return err;
    p->ready[i] = 1;
    p->nready++;
    if (p->r.done) /* its receiver has failed, or the communicator was revoked */
        return MPI_SUCCESS;
    if (p->nready < p->partitions || p->filling)
        part_write(p, i);
    if (p->nready < p->partitions)
        return MPI_SUCCESS;
    if (!p->filling)
        return part_send(p);
    want_filled(p->filling);
    return MPI_SUCCESS;
}

int part_arrived(struct part *p)
{
    if (!p->r.active || p->r.done) {
        progress_glance();
        return 1;
    }
    progress_test();
    return p->r.done;
}
