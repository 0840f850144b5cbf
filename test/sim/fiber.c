/* fiber.c - fibers (fiber.h): stacks and the switch, in assembler for x86-64 and arm64. */
#include "fiber.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define FIBER_TSAN 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define FIBER_TSAN 1
#endif
#endif
#ifdef FIBER_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

void fiber_swap_stack(void **save, void *load);
void fiber_start(void);

/* Saves callee-saved registers, stores the stack pointer in *save, loads the other one.
 * A new fiber's stack holds fiber_start as the return address and the fiber in a saved register. */
#if defined(__x86_64__)
__asm__(
    ".text\n.globl fiber_swap_stack\n.hidden fiber_swap_stack\n.type fiber_swap_stack,@function\n"
    "fiber_swap_stack:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n"
    ".size fiber_swap_stack,.-fiber_swap_stack\n"
    ".globl fiber_start\n.hidden fiber_start\n.type fiber_start,@function\n"
    "fiber_start:\n"
    "  movq %rbx, %rdi\n"
    "  call fiber_main\n"
    "  ud2\n"
    ".size fiber_start,.-fiber_start\n");
enum { FRAME_WORDS = 7, FRAME_FIBER = 4, FRAME_RETURN = 6 };
#elif defined(__aarch64__)
__asm__(
    ".text\n.globl fiber_swap_stack\n.hidden fiber_swap_stack\n.type fiber_swap_stack,%function\n"
    "fiber_swap_stack:\n"
    "  sub sp, sp, #160\n"
    "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
    "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
    "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n  stp d14, "
    "d15, [sp, #144]\n"
    "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
    "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
    "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
    "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n  ldp d14, "
    "d15, [sp, #144]\n"
    "  add sp, sp, #160\n"
    "  ret\n"
    ".size fiber_swap_stack,.-fiber_swap_stack\n"
    ".globl fiber_start\n.hidden fiber_start\n.type fiber_start,%function\n"
    "fiber_start:\n"
    "  mov x0, x19\n"
    "  bl fiber_main\n"
    "  brk #1\n"
    ".size fiber_start,.-fiber_start\n");
enum { FRAME_WORDS = 20, FRAME_FIBER = 0, FRAME_RETURN = 11 };
#else
#error "fiber.c knows x86-64 and aarch64"
#endif

enum { GUARD = 65536 };

/* First thing on the new stack. */
void fiber_main(struct fiber *f) __attribute__((used, noreturn));
void fiber_main(struct fiber *f)
{
#ifdef FIBER_ASAN
    __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
    f->fn(f->arg);
    abort(); /* fn ends by switching away */
}

int fiber_make(struct fiber *f, size_t stack_bytes, void (*fn)(void *), void *arg)
{
    memset(f, 0, sizeof *f);
    f->size = stack_bytes + GUARD;
    char *m = mmap(NULL, f->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK,
                   -1, 0);
    if (m == MAP_FAILED)
        return -errno;
    mprotect(m, GUARD, PROT_NONE);
    f->stack = m;
    f->low = m + GUARD;
    f->usable = stack_bytes;
    f->fn = fn;
    f->arg = arg;
    uintptr_t *top = (uintptr_t *)(m + f->size - 64); /* 16-byte aligned at fiber_start's call */
    uintptr_t *frame = top - FRAME_WORDS;
    memset(frame, 0, FRAME_WORDS * sizeof *frame);
    frame[FRAME_FIBER] = (uintptr_t)f;
    frame[FRAME_RETURN] = (uintptr_t)fiber_start;
    f->sp = frame;
#ifdef FIBER_TSAN
    f->tsan = __tsan_create_fiber(0);
#endif
    return 0;
}

void fiber_adopt(struct fiber *f)
{
    memset(f, 0, sizeof *f);
    pthread_attr_t attr;
    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        pthread_attr_getstack(&attr, &f->low, &f->usable);
        pthread_attr_destroy(&attr);
    }
#ifdef FIBER_TSAN
    f->tsan = __tsan_get_current_fiber();
#endif
}

void fiber_free(struct fiber *f)
{
#ifdef FIBER_TSAN
    if (f->stack && f->tsan)
        __tsan_destroy_fiber(f->tsan);
#endif
    if (f->stack)
        munmap(f->stack, f->size);
    f->stack = NULL;
}

void fiber_switch(struct fiber *from, struct fiber *to)
{
#ifdef FIBER_ASAN
    __sanitizer_start_switch_fiber(from->done ? NULL : &from->asan_stack, to->low, to->usable);
#endif
#ifdef FIBER_TSAN
    __tsan_switch_to_fiber(to->tsan, 0);
#endif
    fiber_swap_stack(&from->sp, to->sp);
#ifdef FIBER_ASAN
    __sanitizer_finish_switch_fiber(from->asan_stack, NULL, NULL);
#endif
}
