/* cleanup.c - CLEANUP_OPS_{TARGET,WIN,GLOBAL}: give back the elements of complete operations.
 *
 * Only the issued part of a list is walked.  Target elements stay for the rest of the epoch (lazy deallocation);
 * restore.c and the end of the epoch free them. */
#include "rma/core/types.h"

int rma_cleanup_target(struct rma_target *t)
{
    int n = 0;
    for (struct list *l = t->ops.next, *after; l != t->next; l = after) {
        struct rma_op *op = LIST_OBJ(l, struct rma_op, link);
        after = l->next;
        if (op->flags & OP_DONE) {
            rma_op_finish(op);
            n++;
        }
    }
    return n;
}

int rma_cleanup_win(struct rma_win *w)
{
    int n = 0;
    for (struct rma_target *t = rma_target_next(w, NULL); t; t = rma_target_next(w, t))
        n += rma_cleanup_target(t);
    return n;
}

int rma_cleanup_global(void)
{
    struct rma *r = rma_room();
    int n = 0;
    for (struct list *l = r->active.next; l != &r->active; l = l->next)
        n += rma_cleanup_win(LIST_OBJ(l, struct rma_win, active));
    return n;
}
