/* upcall.c - which threads run code of the program that the library has called (upcall.h). */
#include "obj/upcall.h"

#include <stdlib.h>

/* frame: of a function that has nothing of the call's on its stack. Stacks grow downwards. */
static int was_left(const struct upcall *c, const char *frame)
{
    return c->frame && frame >= c->frame;
}

__attribute__((noinline)) int upcall_finds(void)
{
    const char *here = __builtin_frame_address(0);
    for (const struct upcall *c = proc->obj->upcalls; c; c = c->outer)
        if (c->thread == thread_self() && !was_left(c, here))
            return 1;
    return 0;
}

static void end_left(const char *frame)
{
    for (struct upcall *c = proc->obj->upcalls, *outer; c; c = outer) {
        outer = c->outer;
        if (c->thread == thread_self() && was_left(c, frame))
            upcall_unmark(c);
    }
}

__attribute__((noinline)) struct upcall *upcall_mark(void)
{
    struct upcall *c = malloc(sizeof *c);
    end_left(__builtin_frame_address(0));
    if (!c)
        return NULL;
    upcall_begin(c);
    c->frame = __builtin_frame_address(0);
    return c;
}

void upcall_unmark(struct upcall *c)
{
    if (!c)
        return;
    upcall_end(c);
    free(c);
}

void upcall_finalize(void)
{
    for (struct upcall *c = proc->obj->upcalls, *outer; c; c = outer) {
        outer = c->outer;
        if (c->frame)
            upcall_unmark(c);
    }
}
