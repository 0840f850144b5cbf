/* upcall.h - around calls of the program's own code by the library: functions of continuations, of
 * operations, attributes and generalized requests. While its thread is in there, no function of a
 * continuation runs (continue.h). proc->lock protects it. */
#ifndef OBJ_UPCALL_H
#define OBJ_UPCALL_H

#include "base/proc.h"
#include "base/sched.h"
#include "obj/obj.h"

/* On the stack of the thread that calls. */
struct upcall {
    struct upcall *outer;
    void *thread;
};

static inline void upcall_begin(struct upcall *c)
{
    struct obj_room *o = proc->obj;
    c->outer = o->upcalls;
    c->thread = thread_self();
    o->upcalls = c;
    if (o->upcalls_changed)
        o->upcalls_changed();
}

/* Of all threads: some have begun later and end earlier. */
static inline void upcall_end(struct upcall *c)
{
    struct obj_room *o = proc->obj;
    struct upcall **at = &o->upcalls;
    while (*at != c)
        at = &(*at)->outer;
    *at = c->outer;
    if (o->upcalls_changed)
        o->upcalls_changed();
}

/* Whether this thread is in such a call. */
static inline int upcall_inside(void)
{
    for (const struct upcall *c = proc->obj->upcalls; c; c = c->outer)
        if (c->thread == thread_self())
            return 1;
    return 0;
}

#endif
