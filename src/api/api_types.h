/* api_types.h - what api/ keeps for a process; private to api/. */
#ifndef API_API_TYPES_H
#define API_API_TYPES_H

/* Values of the predefined attributes of communicators: users get pointers to them that stay good. */
struct api_attrs {
    int tag_ub, host, io, wtime_is_global, universe_size, appnum;
};

struct api {
    void *main_thread; /* the one that called MPI_Init */
    struct api_attrs attrs;
};

void api_attrs_init(struct api_attrs *a);

/* Is MPI_T in use?  Then it has read the variables, has perhaps set some, and frees them if it ends last. */
int tool_holds_vars(void);

#endif
