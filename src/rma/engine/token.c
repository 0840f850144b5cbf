/* token.c - tokens and the threads that wait for their answers.
 *
 *     thread: resp on its stack --- token ---> DONE on the tail ---> target ---> ACK (token)
 *             resp counted down <---------------------------------------------------'
 *
 * Each waiting thread has its own response object ([design] RMA + threads). An answer that is late,
 * or for another thread, ends no other flush (rma.md 5.6, 5.8). */
#include "rma/engine/engine_types.h"

static int is_open(const struct rma_win *w, uint32_t token)
{
    for (const struct list *l = w->resps.next; l != &w->resps; l = l->next)
        if (LIST_OBJ(l, struct rma_resp, link)->token == token)
            return 1;
    return 0;
}

uint32_t rma_token_next(const struct rma_win *w)
{
    uint32_t next = w->token;
    do /* 0 names the window's counter; a thread may wait until its token would come again */
        next = (next + 1) & RMA_TOKEN_MASK;
    while (!next || is_open(w, next));
    return next;
}

void rma_resp_open(struct rma_win *w, struct rma_resp *r, int rank)
{
    w->token = rma_token_next(w);
    *r = (struct rma_resp){.token = w->token, .rank = rank};
    list_push(&w->resps, &r->link);
}

void rma_resp_close(struct rma_resp *r)
{
    list_del(&r->link);
}

static int is_answered_by(const struct rma_resp *r, int rank, uint32_t token)
{
    return r->token == token && (r->rank == rank || r->rank == -1);
}

void rma_token_done(struct rma_win *w, int rank, uint32_t token, int err)
{
    if (token == 0) {
        if (w->acks)
            rma_acks_add(w, -1);
        if (err) /* of an evicted element: no other one asks without a token */
            rma_target_err_stays(w, rank, err, 0);
        return;
    }
    for (struct list *l = w->resps.next; l != &w->resps; l = l->next) {
        struct rma_resp *r = LIST_OBJ(l, struct rma_resp, link);
        if (!is_answered_by(r, rank, token))
            continue;
        if (r->pending)
            r->pending--;
        r->err = rma_graver(r->err, err);
    }
    progress_signal();
}

enum rma_asked rma_token_asked(const struct rma_win *w, int rank, uint32_t token)
{
    for (const struct list *l = w->resps.next; l != &w->resps; l = l->next) {
        const struct rma_resp *r = LIST_OBJ(l, struct rma_resp, link);
        if (is_answered_by(r, rank, token))
            return r->alone ? RMA_ASKED_ALONE : RMA_ASKED;
    }
    return RMA_ASKED_NONE;
}
