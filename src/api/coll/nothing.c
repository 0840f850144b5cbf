/* nothing.c - blocking collective calls that move no bytes: arguments are checked, then the call is
 * over. Start with nothing_over().
 *
 * These functions only succeed. In any doubt they return 0 and have changed nothing. Then the whole
 * path follows (collcall.c), which finds the error, or does the same. So a process may take one
 * path and another process the other. */
#include "api/coll/nothing.h"

#include "api/api.h"
#include "coll/coll.h"
#include "dt/dt.h"

#define INLINE static inline __attribute__((always_inline))

/* The predefined type of a handle, or NULL. */
INLINE const struct dt_type *predefined(MPI_Datatype h)
{
    const struct obj *o = proc->obj->table[OBJ_TYPE].builtin[h & 0xff];
    const struct dt_type *t = (const struct dt_type *)o;
    return o && o->handle == h && t->flags & DT_COMMITTED ? t : NULL;
}

INLINE int are_predefined(MPI_Datatype s, MPI_Datatype r)
{
    return predefined(s) && (s == r || predefined(r));
}

INLINE int are_none(const int *counts, int n)
{
    int some = 0;
    for (int i = 0; i < n; i++)
        some |= counts[i];
    return !some;
}

/* A communicator of one group, where no lock is to be taken; else NULL. */
INLINE struct comm *plain_comm(MPI_Comm h)
{
    if (proc->threaded)
        return NULL;
    struct comm *c = obj_find(OBJ_COMM, h);
    return c && !c->remote ? c : NULL;
}

/* The look at the network may end the job, with a message that names the call. */
INLINE int nothing_over(const char *call, struct comm *c)
{
    proc->call = call;
    int over = coll_nothing(c);
    proc->call = NULL;
    return over;
}

/* The same where others may move bytes. */
INLINE int nothing_here(const char *call, struct comm *c)
{
    proc->call = call;
    int over = coll_nothing_here(c);
    proc->call = NULL;
    return over;
}

INLINE int is_root_of(int root, const struct comm *c)
{
    return root >= 0 && root < c->size;
}

int nothing_even(const char *call, MPI_Comm comm, MPI_Datatype stype, MPI_Datatype rtype)
{
    struct comm *c = plain_comm(comm);
    return c && are_predefined(stype, rtype) && nothing_over(call, c);
}

int nothing_rooted(const char *call, MPI_Comm comm, MPI_Datatype stype, MPI_Datatype rtype,
                   int root)
{
    struct comm *c = plain_comm(comm);
    return c && is_root_of(root, c) && are_predefined(stype, rtype) && nothing_over(call, c);
}

int nothing_rooted_v(const char *call, MPI_Comm comm, MPI_Datatype stype, MPI_Datatype rtype,
                     int root, const int *counts)
{
    struct comm *c = plain_comm(comm);
    if (!c || !is_root_of(root, c) || !are_predefined(stype, rtype))
        return 0;
    if (root == c->rank && (!counts || !are_none(counts, c->size)))
        return 0;
    return nothing_here(call, c);
}

int nothing_v(const char *call, MPI_Comm comm, MPI_Datatype stype, MPI_Datatype rtype,
              const int *counts)
{
    struct comm *c = plain_comm(comm);
    return c && counts && are_predefined(stype, rtype) && are_none(counts, c->size) &&
           nothing_over(call, c);
}

/* A predefined operation that the type has. */
INLINE int fits(MPI_Op op, MPI_Datatype type)
{
    const struct dt_type *t = predefined(type);
    unsigned o = dt_op_handle_index(op);
    return t && o && o < DT_REPLACE && t->ops >> o & 1;
}

int nothing_op(const char *call, MPI_Comm comm, MPI_Datatype type, MPI_Op op)
{
    struct comm *c = plain_comm(comm);
    return c && fits(op, type) && nothing_over(call, c);
}

int nothing_op_rooted(const char *call, MPI_Comm comm, MPI_Datatype type, MPI_Op op, int root)
{
    struct comm *c = plain_comm(comm);
    return c && is_root_of(root, c) && fits(op, type) && nothing_over(call, c);
}

int nothing_op_v(const char *call, MPI_Comm comm, MPI_Datatype type, MPI_Op op, const int *counts)
{
    struct comm *c = plain_comm(comm);
    return c && counts && fits(op, type) && are_none(counts, c->size) && nothing_over(call, c);
}
