/* request.c - the requests of MPI_Rput and its kin. */
#include "rma/rma_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All of it has left, and nothing else of it has to. */
static int is_out(const struct rma_op *op)
{
    return op->bytes && op->sent == op->bytes && !op->a.notify && !(op->flags & OP_PULLED) &&
           !(op->t->flags & TARGET_FAILED);
}

static void request_poke(struct request *r)
{
    struct rma_request *q = (struct rma_request *)r;
    if (!q->op)
        return;
    struct rma_target *t = q->op->t;
    if (is_out(q->op) || (t->flags & TARGET_DRAIN && !list_empty(&t->ready)))
        return; /* polls do the rest: a wait for many requests pokes each of them */
    /* The user need not flush to make it complete (rma.md 5.7): send lock and operations now. */
    t->flags |= TARGET_DRAIN;
    rma_ready(t);
    rma_advance_target(t);
}

/* NULL: it has been freed. */
static const struct rma_win *window_of(const struct rma_request *q)
{
    struct rma_win *w = rma_win_find(q->win);
    return w ? rma_channel(w, (unsigned)q->channel) : NULL;
}

static struct errhandler *request_blame(struct request *r, int *win, char **name)
{
    struct rma_request *q = (struct rma_request *)r;
    const struct rma_win *w = window_of(q);
    const char *now = w ? w->name : q->win_name;
    *win = q->win_handle;
    *name = now && *now ? strdup(now) : NULL;
    return errhandler_ref(w ? w->errhandler : q->errhandler);
}

/* The window as it is named now, or was when the operation failed. */
static const char *where(const struct rma_request *q, char *text, size_t len)
{
    const struct rma_win *w = window_of(q);
    if (w)
        return rma_win_text(w);
    if (q->win_name)
        snprintf(text, len, "window \"%s\"", q->win_name);
    else
        snprintf(text, len, "window 0x%x", (unsigned)q->win_handle);
    return text;
}

/* Many may have been refused since, each with its own text: the error names at least the place. */
static int request_tell(struct request *r, MPI_Status *st)
{
    (void)st;
    const struct rma_request *q = (struct rma_request *)r;
    char text[ERR_TEXT], win[MPI_MAX_OBJECT_NAME + 16];
    if (!r->error)
        return MPI_SUCCESS;
    err_text(err_class(r->error), text, sizeof text);
    r->error = err_retell(r->error,
                          "%s: %s on rank %d of %s: %s (details discarded: too many later errors)",
                          rma_call(), q->call, q->rank, where(q, win, sizeof win), text);
    err_returned_by(r->error, rma_call());
    return MPI_SUCCESS;
}

static void request_free(struct request *r)
{
    struct rma_request *q = (struct rma_request *)r;
    errhandler_drop(q->errhandler);
    free(q->win_name);
    free(q);
}

static const struct request_ops request_table = {.poke = request_poke, .query = request_tell,
                                                 .blame = request_blame, .free = request_free};

int rma_request_make(const struct rma_win *w, struct rma_request **out, MPI_Request *req)
{
    struct rma_request *q = malloc(sizeof *q);
    if (!q)
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for a request", rma_call());
    request_init(&q->r, REQUEST_RMA, &request_table, NULL);
    q->r.what = "a one-sided operation";
    q->op = NULL;
    q->end = NULL;
    q->win = w->id;
    q->channel = w->channel;
    q->call = rma_call();
    q->errhandler = NULL;
    q->win_name = NULL;
    int err = req ? request_publish(&q->r, req) : MPI_SUCCESS;
    if (err) {
        free(q);
        return err;
    }
    *out = q;
    return MPI_SUCCESS;
}
