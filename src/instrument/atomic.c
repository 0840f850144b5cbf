/* atomic.c - atomic operations: they are done here, and order threads by their address. */
#include "instrument/instrument.h"

#define BUILTIN_CAS(p, e, v)                                                                       \
    __atomic_compare_exchange_n(p, e, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

#define TOUCH(p, stores) touch((const void *)(uintptr_t)(p), sizeof *(p), stores, CALLER)

#define LOAD_STORE(bits, type)                                                                     \
    type __tsan_atomic##bits##_load(const volatile type *p, int order);                            \
    type __tsan_atomic##bits##_load(const volatile type *p, int order)                             \
    {                                                                                              \
        TOUCH(p, 0);                                                                               \
        type v = __atomic_load_n(p, __ATOMIC_SEQ_CST);                                             \
        order_after(p, order);                                                                     \
        return v;                                                                                  \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile type *p, type v, int order);                         \
    void __tsan_atomic##bits##_store(volatile type *p, type v, int order)                          \
    {                                                                                              \
        TOUCH(p, 1);                                                                               \
        order_before(p, order);                                                                    \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                  \
    }

#define CHANGE(bits, type, name, builtin)                                                          \
    type __tsan_atomic##bits##_##name(volatile type *p, type v, int order);                        \
    type __tsan_atomic##bits##_##name(volatile type *p, type v, int order)                         \
    {                                                                                              \
        TOUCH(p, 1);                                                                               \
        order_before(p, order);                                                                    \
        type was = builtin(p, v, __ATOMIC_SEQ_CST);                                                \
        order_after(p, order);                                                                     \
        return was;                                                                                \
    }

#define COMPARE(bits, type, name)                                                                  \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile type *p, type *expected, type v,    \
                                                      int order, int failed);                      \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile type *p, type *expected, type v,    \
                                                      int order, int failed)                       \
    {                                                                                              \
        TOUCH(p, 1);                                                                               \
        order_before(p, order);                                                                    \
        int done = BUILTIN_CAS(p, expected, v);                                                    \
        order_after(p, done ? order : failed);                                                     \
        return done;                                                                               \
    }

#define COMPARE_VALUE(bits, type)                                                                  \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type expected, type v,       \
                                                    int order, int failed);                        \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type expected, type v,       \
                                                    int order, int failed)                         \
    {                                                                                              \
        TOUCH(p, 1);                                                                               \
        order_before(p, order);                                                                    \
        int done = BUILTIN_CAS(p, &expected, v);                                                   \
        order_after(p, done ? order : failed);                                                     \
        return expected;                                                                           \
    }

#define ATOMICS(bits, type)                                                                        \
    LOAD_STORE(bits, type)                                                                         \
    CHANGE(bits, type, exchange, __atomic_exchange_n)                                              \
    CHANGE(bits, type, fetch_add, __atomic_fetch_add)                                              \
    CHANGE(bits, type, fetch_sub, __atomic_fetch_sub)                                              \
    CHANGE(bits, type, fetch_and, __atomic_fetch_and)                                              \
    CHANGE(bits, type, fetch_or, __atomic_fetch_or)                                                \
    CHANGE(bits, type, fetch_xor, __atomic_fetch_xor)                                              \
    CHANGE(bits, type, fetch_nand, __atomic_fetch_nand)                                            \
    COMPARE(bits, type, strong)                                                                    \
    COMPARE(bits, type, weak)                                                                      \
    COMPARE_VALUE(bits, type)
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

/* Fences order by operations that have no address: all of them meet at one object, which orders
 * more than the language does. */
static char fences;

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
    order_before(&fences, order);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    order_after(&fences, order);
}

void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
