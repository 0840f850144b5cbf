/* fiber.h - cooperative threads of one kernel thread.
 *
 * A switch saves the callee-saved registers on the stack and swaps stack pointers; signal masks
 * and the rest of the context, for which swapcontext makes a system call, are not touched. */
#ifndef SIM_FIBER_H
#define SIM_FIBER_H

#include <stddef.h>

struct fiber {
    void *sp;          /* saved stack pointer while it does not run */
    void *stack;       /* lowest address of its mapping; NULL for the thread's own stack */
    size_t size;       /* bytes mapped, guard page included */
    void (*fn)(void *arg);
    void *arg;
    void *low;         /* usable stack: lowest address and bytes, for the sanitizer */
    size_t usable;
    void *asan_stack;  /* the sanitizer's fake stack while it does not run */
    void *tsan;        /* ThreadSanitizer's fiber */
    int done;
};

/* A fiber that will run fn(arg) on its own stack; fn must end by a last switch away, with done
 * set. */
int fiber_make(struct fiber *f, size_t stack_bytes, void (*fn)(void *), void *arg);
/* The calling thread itself, so that it can be switched back to. */
void fiber_adopt(struct fiber *f);
void fiber_free(struct fiber *f);
/* From the running fiber `from` to `to`. */
void fiber_switch(struct fiber *from, struct fiber *to);

#endif
