/* atomic.h - the few memory-order idioms of the library.
 *
 * Everything else uses <stdatomic.h> directly with an explicit order. Each use has a comment that
 * names its pair.
 *
 * ThreadSanitizer does not model fences: under it fence_full() is a locked instruction on one word,
 * which orders all callers among themselves. */
#ifndef BASE_ATOMIC_H
#define BASE_ATOMIC_H

#include <stdatomic.h>
#include <stdint.h>

#if defined(__SANITIZE_THREAD__)
#define BASE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define BASE_TSAN 1
#endif
#endif

#ifdef BASE_TSAN
extern atomic_uint base_tsan_fence; /* base/time.c */
#endif

/* Full memory fence: orders every earlier load and store of this thread before every later one, as
 * seen by any processor (MEM_SYNC of the design paper). */
static inline void fence_full(void)
{
#ifdef BASE_TSAN
    atomic_fetch_add_explicit(&base_tsan_fence, 1, memory_order_seq_cst);
#elif defined(__x86_64__)
    /* A locked add to the stack is a full fence for write-back memory. It takes half the time of
     * mfence, which also waits for write-combining buffers. */
    __asm__ __volatile__("lock; addl $0, -64(%%rsp)" ::: "memory", "cc");
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

/* A full fence where an atomic read-modify-write of this thread stands directly beside it, before
 * or after: where that is a full fence by itself, only the compiler needs one. */
static inline void fence_beside_rmw(void)
{
#if defined(__x86_64__) && !defined(BASE_TSAN)
    __asm__ __volatile__("" ::: "memory");
#else
    fence_full();
#endif
}

/* Earlier loads and stores of this thread precede its later stores, as seen by any processor. On
 * x86-64 only the compiler needs it. */
static inline void fence_release(void)
{
#ifdef BASE_TSAN
    fence_full();
#else
    atomic_thread_fence(memory_order_release);
#endif
}

/* A hint to the processor that this is a spin loop. */
static inline void cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("isb" ::: "memory");
#endif
}

/* Counter that one thread at a time writes and any thread reads (PVARs): relaxed load and store, no
 * locked instruction.  Approximate when two threads race. */
static inline void counter_add(_Atomic uint64_t *c, uint64_t n)
{
#if defined(__x86_64__) && !defined(BASE_TSAN)
    /* The same in one instruction, which compilers do not make of an atomic load and store. */
    __asm__("addq %1, %0" : "+m"(*(uint64_t *)c) : "er"(n) : "cc");
#else
    atomic_store_explicit(c, atomic_load_explicit(c, memory_order_relaxed) + n,
                          memory_order_relaxed);
#endif
}

/* Every 256th call: 1, else 0; approximate in the same way. */
static inline int counter_wraps(atomic_uchar *c)
{
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__) && !defined(BASE_TSAN)
    int zero;
    __asm__("addb $1, %0" : "+m"(*(unsigned char *)c), "=@ccz"(zero));
    return zero;
#else
    unsigned char n = (unsigned char)(atomic_load_explicit(c, memory_order_relaxed) + 1);
    atomic_store_explicit(c, n, memory_order_relaxed);
    return n == 0;
#endif
}

static inline void counter_max(_Atomic uint64_t *c, uint64_t n)
{
    if (n > atomic_load_explicit(c, memory_order_relaxed))
        atomic_store_explicit(c, n, memory_order_relaxed);
}

#endif
