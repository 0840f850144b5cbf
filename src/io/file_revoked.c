/* file_revoked.c - MPIX_File_revoke: the communicators of a file are revoked, those of its windows
 * too, here or by another member. Start with revoked_comm() and doc/design/survive.md.
 *
 *   f->comm      blocking collectives, set_view, sync ... end
 *   f->aside     nonblocking collectives end
 *   windows      of the shared pointer, and of the buffers of two_phase.c: waits in them end
 *   f->revoked   no call takes it but those that end the file, or read what it has
 *
 * Each has a notice of its own. Whichever comes first revokes the others here. */
#include "coll/survive.h"
#include "io/io_types.h"
#include "rma/rma.h"

static struct comm *comm_of(struct rma_win *w)
{
    return w ? rma_win_comm(w) : NULL;
}

static int has(const struct io_file *f, const struct comm *c)
{
    return f->comm == c || f->aside == c || comm_of(f->pointer_win) == c ||
           comm_of(two_phase_win(f)) == c;
}

/* Each coll_revoke() of one that is not revoked comes here again, and finds less to do. */
void io_revoke(struct io_file *f)
{
    f->revoked = 1;
    coll_revoke(f->comm);
    if (f->aside)
        coll_revoke(f->aside);
    if (f->pointer_win)
        rma_win_revoke(f->pointer_win);
    if (two_phase_win(f))
        rma_win_revoke(two_phase_win(f));
}

void revoked_comm(struct comm *c)
{
    struct io_room *r = io_self();
    if (!r)
        return;
    for (struct list *l = r->files.next; l != &r->files; l = l->next) {
        struct io_file *f = LIST_OBJ(l, struct io_file, link);
        if (f->comm && has(f, c)) {
            io_revoke(f);
            return;
        }
    }
}

int io_is_revoked(const struct io_file *f)
{
    return f->revoked;
}
