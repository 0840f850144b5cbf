/* threads_types.h - private types of the look at threads. */
#ifndef THREADS_TYPES_H
#define THREADS_TYPES_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/lock.h"

enum {
    THREADS_CALLS = 32, /* of different places: beyond them they are not kept */
    THREADS_USERS = 256 /* threads in a collective call, and in a wait: of the others */
};

struct bad_call {
    const char *call, *other; /* other: what another thread is in; NULL: its own thread is wrong */
    uint64_t site;            /* return address */
    int is_said;
};
struct comm;
struct request;
struct threads_collective { /* that a thread is in */
    void *thread;
    const struct comm *comm;
    const char *call;
    uint64_t site;
};
struct threads_wait { /* that a thread is in */
    void *thread;
    struct request *const *r;
    int n;
    const char *call;
};

struct threads {
    void *main_thread;
    _Atomic(void *) last; /* the thread that began a call last */
    atomic_uint marks;    /* calls that have looked for others so far, under proc->lock */
    const char *marked;   /* the last of them; under that */
    struct lock lock;     /* of bad and n */
    struct bad_call bad[THREADS_CALLS];
    int n;
    atomic_int unsaid;
    /* with MPI_THREAD_MULTIPLE, under proc->lock: */
    struct threads_collective collective[THREADS_USERS];
    struct threads_wait wait[THREADS_USERS];
    int collectives, waits;
    uint64_t named[THREADS_CALLS]; /* places of collective calls */
    int nnamed;
};

extern const struct watcher threads_together; /* together.c */

#endif
