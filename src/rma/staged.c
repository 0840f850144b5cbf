/* staged.c - operations whose buffers lie in memory of devices.
 *
 * The origin is copied to the host before the operation begins, the result to the device when it
 * is done: so MPI_Win_flush, and whatever else completes it, finds it there.  Such an operation
 * always has a request; without one of the program's it is internal.  Start with
 * rma_op_begin_staged(): operations that leave the inline path come there, also those of windows
 * with copies (replica_calls.c), and all while a watcher looks at them or at memory. */
#include "rma/rma_types.h"

#include <stdlib.h>

#include "rma/coherent/home.h"

struct rma_staged {
    struct rma_win *w;
    struct rma_buffer origin, compare, result;
    struct dt_type *type; /* of the result, with a reference */
    size_t back;          /* bytes that come back */
    int internal;         /* the request is */
};

static void staged_free(struct rma_staged *s)
{
    free(s->origin.host);
    free(s->compare.host);
    free(s->result.host);
    if (s->type)
        dt_drop(s->type);
    free(s);
}

/* Which buffers are on a device? 1: some are; 0: none; else -1 and *err. */
static int find(const struct rma_win *w, const struct rma_args *a, struct rma_staged *s, int *err)
{
    s->origin.what = "origin buffer";
    s->compare.what = "compare buffer";
    s->result.what = a->kind == RMA_GET ? "origin buffer" : "result buffer";
    *err = rma_buffer_find(w, a->origin, (size_t)a->ocount, a->otype, &s->origin);
    if (!*err && a->compare)
        *err = rma_buffer_find(w, a->compare, 1, a->ttype, &s->compare);
    if (!*err)
        *err = rma_buffer_find(w, a->result, (size_t)a->rcount, a->rtype, &s->result);
    return *err ? -1 : s->origin.space || s->compare.space || s->result.space;
}

/* b becomes the operation on buffers of the host. */
static int stage(struct rma_win *w, struct rma_args *b, struct rma_staged *s)
{
    int err = dt_total(b->ttype, (size_t)b->tcount, &s->back);
    if (!err && s->origin.space && (err = rma_buffer_out(w, &s->origin)) == MPI_SUCCESS) {
        b->origin = s->origin.host;
        b->otype = s->origin.elem;
        b->ocount = (MPI_Aint)s->origin.n;
    }
    if (!err && s->compare.space && (err = rma_buffer_out(w, &s->compare)) == MPI_SUCCESS)
        b->compare = s->compare.host;
    if (!err && s->result.space && (err = rma_buffer_room(&s->result)) == MPI_SUCCESS) {
        s->type = dt_ref(b->rtype); /* the program may free it before the end */
        s->back = s->back < s->result.bytes ? s->back : s->result.bytes;
        b->result = s->result.host;
        b->rtype = s->result.elem;
        b->rcount = (MPI_Aint)s->result.n;
    }
    return err;
}

static int bring(const struct rma_staged *s, int waits)
{
    return s->result.space ? rma_buffer_in(s->w, &s->result, s->back, waits) : MPI_SUCCESS;
}

/* In a handler, or in the call that finds it done. The lock is held while it spins, so that no
 * other thread finds the target's element between two states. */
static void end(struct rma_op *op)
{
    struct rma_staged *s = op->req->staged;
    s->w->copying = 1;
    if (!op->err)
        op->err = bring(s, 0);
    s->w->copying = 0;
    if (op->err && s->internal)
        rma_op_failed(op);
    op->req->end = NULL;
    staged_free(s);
}

static void internal_done(struct request *r, void *arg)
{
    (void)arg;
    request_release(r);
}

static int run(struct rma_win *w, const struct rma_args *b, struct rma_staged *s, MPI_Request *req)
{
    struct rma_request *q;
    int later, err = rma_request_make(w, &q, req);
    if (err) {
        staged_free(s);
        return err;
    }
    q->end = end;
    q->staged = s;
    s->internal = !req;
    if (!req)
        request_then(&q->r, internal_done, NULL);
    err = rma_op_with(w, b, q, req != NULL, &later);
    if (later && !err)
        return MPI_SUCCESS; /* s and q may be gone */
    if (!err)
        err = bring(s, 1);
    staged_free(s);
    if (!err) {
        request_complete(&q->r, MPI_SUCCESS);
        return MPI_SUCCESS;
    }
    q->r.done = 1;
    request_release(&q->r);
    if (req)
        *req = MPI_REQUEST_NULL;
    return err;
}

int rma_op_begin_staged(struct rma_win *w, const struct rma_args *a, MPI_Request *req)
{
    if (w->replicas)
        return rma_replicas_op(w, a, req);
    if (!w->buffers || a->rank == MPI_PROC_NULL)
        return rma_op_begin(w, a, req);
    struct rma_staged found = {.w = w}, *s;
    struct rma_args b = *a;
    int err, any = find(w, a, &found, &err);
    if (any <= 0)
        return any ? err : rma_op_begin(w, a, req);
    if ((s = malloc(sizeof *s)) == NULL)
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for an operation", rma_call());
    *s = found;
    err = stage(w, &b, s);
    if (err) {
        staged_free(s);
        return err;
    }
    return run(w, &b, s, req);
}
