/* route.c - how an operation leaves: by active message, or by the network's own put, get and atomics.
 *
 * Decided in one place (issue.c), when the operation leaves the queue, so that queue, states and pools know no
 * routes.  Accumulates go native only for element types whose atomicity the network card was given at window creation;
 * put and get once the target's key is known and unless they can carry a flag.  No transport offers one-sided access yet, so
 * the key (t->far) is never there. */
#include "rma/rma_types.h"

enum rma_route rma_route(const struct rma_win *w, const struct rma_target *t, const struct rma_op *op)
{
    (void)w;
    if (!cvar.rma_native || !t->far || op->elem)
        return RMA_ROUTE_AM;
    return RMA_ROUTE_NATIVE;
}
