/* collcall.h - one path for every collective function, whatever its form; private to api/.
 *
 *   MPI_Xxx, MPI_Ixxx, MPI_Xxx_init, and their _c forms: fill in what they were given, call
 *   collcall(). */
#ifndef API_COLL_COLLCALL_H
#define API_COLL_COLLCALL_H

#include "coll/coll.h"

enum collcall_form {
    COLLCALL_RUN, COLLCALL_BEGIN, COLLCALL_PREPARE,
    COLLCALL_FORMS = 3,  /* mask of the above */
    COLLCALL_WATCHED = 4 /* a watcher looks on (collcall.c) */
};

struct collcall {
    const char *name;
    enum collcall_form form;
    MPI_Comm comm;
    MPI_Datatype stype, rtype;
    MPI_Op op;
    MPI_Request *request; /* BEGIN, PREPARE */
    const void *site;     /* of a watched call: where the program makes it */
    struct coll_args a;   /* call, buffers, counts, root as given; handles are resolved into it */
};

/* Check, run or start, leave: returns the MPI function's result. `site` is the place of the
 * program's call, for watchers. */
int collcall_at(struct collcall *x, const void *site);
#define collcall(x) collcall_at((x), __builtin_return_address(0))

#endif
