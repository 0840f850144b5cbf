/* upcall.h - around calls of the program's own code by the library: functions of continuations, of
 * MPIX_Async_start, of operations, attributes and generalized requests, and error handlers. While
 * its thread is in there, no function of a continuation runs (continue.h), and none of
 * MPIX_Async_start. proc->lock protects it. */
#ifndef OBJ_UPCALL_H
#define OBJ_UPCALL_H

#include <stdatomic.h>

#include "base/proc.h"
#include "base/sched.h"
#include "obj/obj.h"

/* On the stack of the thread that calls. */
struct upcall {
    struct upcall *outer;
    void *thread;
    struct upcall_witness *witness; /* of upcall_mark(); else NULL */
    const char *frame;              /* of upcall_mark(): where its caller's stack began */
    int left;                       /* of upcall_mark(): it was seen to be over */
    int counted; /* by upcall_wanted(): calls look whether they wait in vain */
};

/* On the stack of the function that calls an error handler. What comes after that function was left
 * overwrites it. */
struct upcall_witness {
    volatile uint64_t magic;
    struct upcall *volatile mark;
};

/* One more (1) or less (-1) of: a call of the program's code, while continuations are in use; what
 * has such code to run at the next safe point, a continuation request or a function of
 * MPIX_Async_start. While there is one, all calls leave their short way, by the test of the phase
 * that each has. So none pays for it otherwise. A flush that is no more than a fence has no test:
 * one in 256 leaves its short way. Where a checker has set the phase, it stays. */
static inline void upcall_wanted(int change)
{
    struct obj_room *o = proc->obj;
    o->upcalls_wanted += (unsigned)change;
    int want = o->upcalls_wanted != 0, from = want ? PROC_INIT : PROC_CHECKED;
    if (want == o->phase_raised ||
        atomic_load_explicit(&proc->phase, memory_order_relaxed) != from)
        return;
    /* relaxed: a thread that sees the old one makes its call as if it had come before */
    atomic_store_explicit(&proc->phase, want ? PROC_CHECKED : PROC_INIT, memory_order_relaxed);
    o->phase_raised = want;
}

static inline void upcall_begin(struct upcall *c)
{
    struct obj_room *o = proc->obj;
    c->outer = o->upcalls;
    c->thread = thread_self();
    c->witness = NULL;
    o->upcalls = c;
    c->counted = o->continues != NULL;
    if (c->counted)
        upcall_wanted(1);
}

/* Of all threads: some have begun later and end earlier. */
static inline void upcall_end(struct upcall *c)
{
    struct upcall **at = &proc->obj->upcalls;
    while (*at != c)
        at = &(*at)->outer;
    *at = c->outer;
    if (c->counted)
        upcall_wanted(-1);
}

/* Around an error handler, which may leave by longjmp or an exception and never come back. Its mark
 * is on the heap. It counts for nothing once a look finds the stack shorter than at its begin, or
 * its witness overwritten; the latter ends it. w: zero, and on the caller's stack until
 * upcall_unmark(). Without memory there is no mark. */
void upcall_mark(struct upcall_witness *w) __attribute__((cold));
void upcall_unmark(struct upcall_witness *w);
void upcall_finalize(void);

int upcall_finds(void);
/* Whether this thread is in such a call. */
static inline int upcall_inside(void)
{
    return proc->obj->upcalls && upcall_finds();
}

#endif
