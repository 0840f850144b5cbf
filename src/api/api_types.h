/* api_types.h - what api/ stores for a process; private to api/. */
#ifndef API_API_TYPES_H
#define API_API_TYPES_H

#include "base/map.h"

/* Values of the predefined attributes of communicators: users get pointers to them, which stay
 * valid. */
struct api_attrs {
    int tag_ub, host, io, wtime_is_global, universe_size, appnum, ft;
};

/* MPI_COMM_WORLD's part of the library's life: MPI_Init to MPI_Finalize; sessions may begin before
 * and end after. */
enum api_world { WORLD_NEW, WORLD_OPEN, WORLD_CLOSED };

struct api {
    void *main_thread; /* the one that called MPI_Init */
    enum api_world world;
    int sessions;      /* open */
    struct api_attrs attrs;
    struct comm *parent; /* MPI_Comm_get_parent; NULL: there is none, or it is freed */
    struct errhandler *file_errhandler; /* of MPI_FILE_NULL */
    struct map small; /* pieces of MPI_Alloc_mem that are not segments, by address */
};

void api_attrs_init(struct api_attrs *a);

/* Is MPI_T in use? Then it holds the variables, perhaps with settings of its own, and frees them if
 * it ends last. */
int tool_holds_vars(void);

#endif
