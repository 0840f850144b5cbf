/* test_atomic.c - instrument/atomic.c: each operation of each width does what it is to do, and
 * orders as its memory order promises. */
#include "unit.h"

#include <pthread.h>
#include <stdint.h>

#include "host.h"

Suite *suite_atomic(void);

enum { RELAXED, CONSUME, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST };

#define DECLARE(bits, type)                                                                        \
    type __tsan_atomic##bits##_load(const volatile type *p, int order);                            \
    void __tsan_atomic##bits##_store(volatile type *p, type v, int order);                         \
    type __tsan_atomic##bits##_exchange(volatile type *p, type v, int order);                      \
    type __tsan_atomic##bits##_fetch_add(volatile type *p, type v, int order);                     \
    type __tsan_atomic##bits##_fetch_sub(volatile type *p, type v, int order);                     \
    type __tsan_atomic##bits##_fetch_and(volatile type *p, type v, int order);                     \
    type __tsan_atomic##bits##_fetch_or(volatile type *p, type v, int order);                      \
    type __tsan_atomic##bits##_fetch_xor(volatile type *p, type v, int order);                     \
    type __tsan_atomic##bits##_fetch_nand(volatile type *p, type v, int order);                    \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *p, type *e, type v, int o,    \
                                                      int f);                                      \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type *p, type *e, type v, int o,      \
                                                    int f);                                        \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type e, type v, int o, int f);
DECLARE(8, uint8_t)
DECLARE(16, uint16_t)
DECLARE(32, uint32_t)
DECLARE(64, uint64_t)
void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_signal_fence(int order);

#define FETCH(bits, type, name, now)                                                               \
    do {                                                                                           \
        type was = x, v = (type)0x5c;                                                              \
        ck_assert_uint_eq(__tsan_atomic##bits##_##name(&x, v, ACQ_REL), was);                      \
        ck_assert_uint_eq(x, (type)(now));                                                         \
    } while (0)
#define VALUES(bits, type)                                                                         \
    START_TEST(values##bits)                                                                       \
    {                                                                                              \
        volatile type x = (type)0x1122334455667793;                                                \
        type e = x;                                                                                \
        ck_assert_uint_eq(__tsan_atomic##bits##_load(&x, SEQ_CST), x);                             \
        FETCH(bits, type, exchange, v);                                                            \
        FETCH(bits, type, fetch_add, was + v);                                                     \
        FETCH(bits, type, fetch_sub, was - v);                                                     \
        FETCH(bits, type, fetch_or, was | v);                                                      \
        FETCH(bits, type, fetch_xor, was ^ v);                                                     \
        FETCH(bits, type, fetch_nand, ~(was & v));                                                 \
        FETCH(bits, type, fetch_and, was & v);                                                     \
        __tsan_atomic##bits##_store(&x, 7, RELEASE);                                               \
        e = 8;                                                                                     \
        ck_assert(!__tsan_atomic##bits##_compare_exchange_strong(&x, &e, 9, SEQ_CST, RELAXED));    \
        ck_assert_uint_eq(e, 7);                                                                   \
        ck_assert(__tsan_atomic##bits##_compare_exchange_strong(&x, &e, 9, SEQ_CST, RELAXED));     \
        ck_assert_uint_eq(x, 9);                                                                   \
        ck_assert(!__tsan_atomic##bits##_compare_exchange_weak(&x, &e, 1, SEQ_CST, RELAXED));      \
        ck_assert_uint_eq(e, 9);                                                                   \
        while (!__tsan_atomic##bits##_compare_exchange_weak(&x, &e, 1, SEQ_CST, RELAXED))          \
            ;                                                                                      \
        ck_assert_uint_eq(__tsan_atomic##bits##_compare_exchange_val(&x, 4, 5, SEQ_CST, 0), 1);    \
        ck_assert_uint_eq(__tsan_atomic##bits##_compare_exchange_val(&x, 1, 5, SEQ_CST, 0), 1);    \
        ck_assert_uint_eq(x, 5);                                                                   \
    }                                                                                              \
    END_TEST
VALUES(8, uint8_t)
VALUES(16, uint16_t)
VALUES(32, uint32_t)
VALUES(64, uint64_t)

static volatile uint32_t word;
struct worker {
    int order, how, marked, go;
    struct stamp s;
};

static void *writes(void *arg)
{
    struct worker *w = arg;
    w->s = host_mark();
    if (w->how == 0)
        __tsan_atomic32_store(&word, 1, w->order);
    else if (w->how == 1)
        __tsan_atomic32_fetch_add(&word, 1, w->order);
    else
        __tsan_atomic_thread_fence(w->order);
    flag_set(&w->marked);
    flag_wait(&w->go);
    return NULL;
}

/* Is what stands before the writing by `release` known behind the reading by `acquire`? */
static int ordered(int how, int release, int acquire)
{
    pthread_t id;
    struct worker w = {.order = release, .how = how};
    ck_assert_int_eq(pthread_create(&id, NULL, writes, &w), 0);
    flag_wait(&w.marked);
    ck_assert(!host_knows(w.s));
    if (how == 0)
        __tsan_atomic32_load(&word, acquire);
    else if (how == 1)
        __tsan_atomic32_exchange(&word, 0, acquire);
    else
        __tsan_atomic_thread_fence(acquire);
    int knows = host_knows(w.s);
    flag_set(&w.go);
    pthread_join(id, NULL);
    return knows;
}

START_TEST(memory_orders)
{
    host_run(0);
    for (int how = 0; how < 3; how++) {
        ck_assert(!ordered(how, RELAXED, ACQUIRE));
        ck_assert(!ordered(how, RELEASE, RELAXED));
        ck_assert(ordered(how, RELEASE, ACQUIRE));
        ck_assert(ordered(how, SEQ_CST, CONSUME));
        ck_assert(ordered(how, ACQ_REL, ACQ_REL));
        ck_assert(ordered(how, RELEASE, SEQ_CST));
    }
    __tsan_atomic_signal_fence(SEQ_CST);
}
END_TEST

START_TEST(one_that_fails_has_its_own_order)
{
    pthread_t id;
    struct worker w = {.order = RELEASE};
    uint32_t e = 77;
    host_run(0);
    ck_assert_int_eq(pthread_create(&id, NULL, writes, &w), 0);
    flag_wait(&w.marked);
    ck_assert(!__tsan_atomic32_compare_exchange_strong(&word, &e, 3, ACQUIRE, RELAXED));
    ck_assert(!host_knows(w.s));
    ck_assert(__tsan_atomic32_compare_exchange_strong(&word, &e, 3, ACQUIRE, RELAXED));
    ck_assert(host_knows(w.s));
    flag_set(&w.go);
    pthread_join(id, NULL);
}
END_TEST

START_TEST(they_are_loads_and_stores)
{
    struct race_log_entry list[8];
    host_run(1);
    host_clear();
    __tsan_atomic32_load(&word, RELAXED);
    __tsan_atomic32_fetch_add(&word, 1, RELAXED);
    unsigned n = host_noted(list, 8);
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_eq(list[0].at, (uintptr_t)&word);
    ck_assert_uint_eq(list[0].stores, 0);
    ck_assert_uint_eq(list[1].stores, 1);
    ck_assert_uint_eq(list[1].len, 4);
}
END_TEST

Suite *suite_atomic(void)
{
    Suite *s = suite_create("atomic");
    TCase *t = tcase_create("atomic");
    tcase_add_test(t, values8);
    tcase_add_test(t, values16);
    tcase_add_test(t, values32);
    tcase_add_test(t, values64);
    tcase_add_test(t, memory_orders);
    tcase_add_test(t, one_that_fails_has_its_own_order);
    tcase_add_test(t, they_are_loads_and_stores);
    suite_add_tcase(s, t);
    return s;
}
