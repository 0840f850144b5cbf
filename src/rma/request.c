/* request.c - the requests of MPI_Rput and its kin. */
#include "rma/rma_types.h"

#include <stdio.h>
#include <stdlib.h>

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
    char text[ERR_TEXT], where[24];
    if (r->error) {
        const struct rma_win *w = rma_win_find(q->win);
        err_text(err_class(r->error), text, sizeof text);
        snprintf(where, sizeof where, "window 0x%x", (unsigned)q->win_handle);
        r->error = err_retell(r->error, "%s: an operation on rank %d of %s: %s (details discarded: too many later errors)",
                              rma_call(), q->rank, w ? rma_win_text(w) : where, text);
    }
    return MPI_SUCCESS;
}

static void request_free(struct request *r)
{
    errhandler_drop(((struct rma_request *)r)->errhandler);
    free(r);
}

static const struct request_ops request_table = {.poke = request_poke, .query = request_tell, .blame = request_blame, .free = request_free};

int rma_request_make(const struct rma_win *w, struct rma_request **out, MPI_Request *req)
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
