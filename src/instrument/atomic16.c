/* atomic16.c - atomic operations on 16 bytes, as atomic.c. They are made of one compare and swap.
 * It is inline on x86-64; other processors take it from the compiler's library (-latomic). Programs
 * without such operations do not link this file. */
#include "instrument/instrument.h"

__extension__ typedef unsigned __int128 wide;

/* *expected: what was there */
static int cas(volatile wide *p, wide *expected, wide v)
{
#ifdef __x86_64__
    uint64_t low = (uint64_t)*expected, high = (uint64_t)(*expected >> 64);
    unsigned char done;
    __asm__ volatile("lock cmpxchg16b %1\n\tsete %0"
                     : "=q"(done), "+m"(*p), "+a"(low), "+d"(high)
                     : "b"((uint64_t)v), "c"((uint64_t)(v >> 64))
                     : "memory", "cc");
    *expected = (wide)high << 64 | low;
    return done;
#else
    return __atomic_compare_exchange_n(p, expected, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
#endif
}

#define TOUCH(p, stores) touch((const void *)(uintptr_t)(p), sizeof *(p), stores, CALLER)

wide __tsan_atomic128_load(const volatile wide *p, int order);
wide __tsan_atomic128_load(const volatile wide *p, int order)
{
    wide was = 0;
    TOUCH(p, 0);
    cas((volatile wide *)(uintptr_t)p, &was, was);
    order_after(p, order);
    return was;
}

/* What is there becomes `now`, an expression of `was` and v. */
#define CHANGE(name, now)                                                                          \
    wide __tsan_atomic128_##name(volatile wide *p, wide v, int order);                             \
    wide __tsan_atomic128_##name(volatile wide *p, wide v, int order)                              \
    {                                                                                              \
        wide was = 0;                                                                              \
        TOUCH(p, 1);                                                                               \
        order_before(p, order);                                                                    \
        while (!cas(p, &was, now))                                                                 \
            ;                                                                                      \
        order_after(p, order);                                                                     \
        return was;                                                                                \
    }
CHANGE(exchange, v)
CHANGE(fetch_add, was + v)
CHANGE(fetch_sub, was - v)
CHANGE(fetch_and, was & v)
CHANGE(fetch_or, was | v)
CHANGE(fetch_xor, was ^ v)
CHANGE(fetch_nand, ~(was & v))

void __tsan_atomic128_store(volatile wide *p, wide v, int order);
void __tsan_atomic128_store(volatile wide *p, wide v, int order)
{
    wide was = 0;
    TOUCH(p, 1);
    order_before(p, order);
    while (!cas(p, &was, v))
        ;
}

static int compare(volatile wide *p, wide *expected, wide v, int order, int failed)
{
    order_before(p, order);
    int done = cas(p, expected, v);
    order_after(p, done ? order : failed);
    return done;
}

int __tsan_atomic128_compare_exchange_strong(volatile wide *p, wide *expected, wide v, int order,
                                             int failed);
int __tsan_atomic128_compare_exchange_strong(volatile wide *p, wide *expected, wide v, int order,
                                             int failed)
{
    TOUCH(p, 1);
    return compare(p, expected, v, order, failed);
}

int __tsan_atomic128_compare_exchange_weak(volatile wide *p, wide *expected, wide v, int order,
                                           int failed);
int __tsan_atomic128_compare_exchange_weak(volatile wide *p, wide *expected, wide v, int order,
                                           int failed)
{
    TOUCH(p, 1);
    return compare(p, expected, v, order, failed);
}

wide __tsan_atomic128_compare_exchange_val(volatile wide *p, wide expected, wide v, int order,
                                           int failed);
wide __tsan_atomic128_compare_exchange_val(volatile wide *p, wide expected, wide v, int order,
                                           int failed)
{
    TOUCH(p, 1);
    compare(p, &expected, v, order, failed);
    return expected;
}
