/* tree.c - the pages of all processes go up a binomial tree to rank 0: at most log2 P messages to a
 * process, and its own page and at most log2 P that come early in memory.
 *
 * A process always sends to its parent, whatever it has got from its children: so a parent never
 * waits for a living child that has given up. */
#include "profile/profile_types.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "dt/dt.h"
#include "obj/obj.h"
#include "p2p/p2p.h"

enum { TAG = INT_MIN + 64 }; /* coll_types.h has the others of this stream */

static void add_child(struct profile_page *p, int child, struct comm *world)
{
    MPI_Status status;
    struct profile_page *b = calloc(1, sizeof *b);
    char none;
    int err = p2p_recv(b ? (void *)b : &none, b ? (MPI_Aint)sizeof *b : 0, dt_find(MPI_BYTE), child,
                       TAG, world, P2P_TOOL, &status);
    if (p && !err && b && profile_page_is_good(b, sizeof *b))
        profile_page_add(p, b);
    else if (p)
        p->missing++;
    free(b);
}

void profile_gather(struct profile_page *p)
{
    struct comm *world = proc->obj->world;
    int rank = world->rank, size = world->size;
    for (unsigned step = 1; step < (unsigned)size; step <<= 1) {
        if ((unsigned)rank & step) {
            p2p_send(p, p ? (MPI_Aint)sizeof *p : 0, dt_find(MPI_BYTE), rank - (int)step, TAG,
                     world, P2P_TOOL);
            return;
        }
        if ((unsigned)rank + step < (unsigned)size)
            add_child(p, rank + (int)step, world);
    }
}
