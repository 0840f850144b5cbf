/* awaits.c - which window a wait of this room is for: each file knows its own waits. */
#include "rma/sync/sync_types.h"

struct rma_win *rma_awaits(int (*cond)(void *), void *arg)
{
    struct rma_win *w = rma_start_awaits(cond, arg);
    w = w ? w : rma_exposure_awaits(cond, arg);
    w = w ? w : rma_flush_awaits(cond, arg);
    w = w ? w : rma_note_awaits(cond, arg);
    return w ? w : rma_lock_awaits(cond, arg);
}
