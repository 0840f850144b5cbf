/* revoked.c - MPIX_Win_revoke: a window's communicator is revoked, here or by another member. Start
 * with rma_comm_revoked() and doc/design/survive.md.
 *
 *   handles    hidden, those of the duplicates too, so no call finds them but those that end them;
 *              the inline path finds no window, so it executes nothing for this
 *   as origin  what waits for a call of another member ends (sync/revoked_epochs.c, and the
 *              conditions of waits); what has left for a living target is answered as ever
 *   as target  handlers go on, but for locks: they are denied, since a holder may have given up */
#include "rma/window/window_types.h"

#include "coll/survive.h"

void rma_win_hide(struct rma_win *w)
{
    w->hidden = 1;
    rma_win_slow(w);
    obj_hide(OBJ_WIN, &w->near.obj);
}

void rma_comm_revoked(struct comm *c)
{
    struct rma_win *w = rma_self() ? rma_win_find(comm_ctx(c)) : NULL, *dup;
    if (!w || w->comm != c || !w->made) /* make() hides it */
        return;
    rma_win_hide(w);
    for (unsigned i = 0; (dup = rma_dup_next(w, &i)) != NULL;)
        rma_win_hide(dup);
    rma_epochs_revoke(w);
    rma_lockq_deny(w);
    progress_signal();
}

void rma_win_revoke(struct rma_win *w)
{
    coll_revoke(w->comm);
}

int rma_win_is_revoked(const struct rma_win *w)
{
    return rma_is_revoked(w);
}

struct rma_win *rma_win_find_revoked(int handle)
{
    struct rma *r = rma_self();
    if (!r || !proc->obj->revocations || !handle)
        return NULL;
    for (struct list *l = r->windows.next; l != &r->windows; l = l->next) {
        struct rma_win *w = LIST_OBJ(l, struct rma_win, link);
        if (w->near.obj.handle == handle && w->hidden)
            return w;
    }
    return NULL;
}
