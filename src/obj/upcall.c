/* upcall.c - which threads run code of the program that the library has called (upcall.h). */
#include "obj/upcall.h"

#include <stdlib.h>

static const uint64_t magic = 0x77a1c0debeefd1ceu;

static void end(struct upcall *c)
{
    upcall_end(c);
    free(c);
}

/* It may read what lies beyond the end of the stack. */
__attribute__((noinline, no_sanitize("address"))) static int is_gone(const struct upcall *c)
{
    return c->witness->magic != magic || c->witness->mark != c;
}

/* frame: of a function that has nothing of the call's on its stack. Stacks grow downwards. A thread
 * that changes stacks comes back: only a mark without its witness is ended. */
static int counts(struct upcall *c, const char *frame)
{
    if (c->thread != thread_self())
        return 0;
    if (!c->witness)
        return 1;
    if (is_gone(c)) {
        end(c);
        return 0;
    }
    c->left |= frame >= c->frame;
    return !c->left;
}

__attribute__((noinline)) int upcall_finds(void)
{
    const char *here = __builtin_frame_address(0);
    int found = 0;
    for (struct upcall *c = proc->obj->upcalls, *outer; c; c = outer) {
        outer = c->outer;
        found |= counts(c, here);
    }
    return found;
}

__attribute__((noinline)) void upcall_mark(struct upcall_witness *w)
{
    struct upcall *c = malloc(sizeof *c);
    (void)upcall_finds(); /* ends those that were left */
    if (!c)
        return;
    upcall_begin(c);
    c->frame = __builtin_frame_address(0);
    c->left = 0;
    c->witness = w;
    w->mark = c;
    w->magic = magic;
}

/* Its mark may have been ended, where another stack's was taken for left. */
void upcall_unmark(struct upcall_witness *w)
{
    struct upcall *c = proc->obj->upcalls;
    while (c && (c != w->mark || c->witness != w))
        c = c->outer;
    w->magic = 0;
    if (c)
        end(c);
}

void upcall_finalize(void)
{
    for (struct upcall *c = proc->obj->upcalls, *outer; c; c = outer) {
        outer = c->outer;
        if (c->witness)
            end(c);
    }
}
