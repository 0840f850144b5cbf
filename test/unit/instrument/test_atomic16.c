/* test_atomic16.c - instrument/atomic16.c: operations on 16 bytes, one thread and several. */
#include "unit.h"

#include <pthread.h>
#include <stdint.h>

#include "host.h"

Suite *suite_atomic16(void);

__extension__ typedef unsigned __int128 wide;
enum { RELAXED, ACQUIRE = 2, RELEASE, ACQ_REL, SEQ_CST, TIMES = 20000, THREADS = 3 };

wide __tsan_atomic128_load(const volatile wide *p, int order);
void __tsan_atomic128_store(volatile wide *p, wide v, int order);
wide __tsan_atomic128_exchange(volatile wide *p, wide v, int order);
wide __tsan_atomic128_fetch_add(volatile wide *p, wide v, int order);
wide __tsan_atomic128_fetch_sub(volatile wide *p, wide v, int order);
wide __tsan_atomic128_fetch_and(volatile wide *p, wide v, int order);
wide __tsan_atomic128_fetch_or(volatile wide *p, wide v, int order);
wide __tsan_atomic128_fetch_xor(volatile wide *p, wide v, int order);
wide __tsan_atomic128_fetch_nand(volatile wide *p, wide v, int order);
int __tsan_atomic128_compare_exchange_strong(volatile wide *p, wide *e, wide v, int o, int f);
int __tsan_atomic128_compare_exchange_weak(volatile wide *p, wide *e, wide v, int o, int f);
wide __tsan_atomic128_compare_exchange_val(volatile wide *p, wide e, wide v, int o, int f);

static volatile wide x;

static wide of(uint64_t high, uint64_t low)
{
    return (wide)high << 64 | low;
}

#define FETCH(name, now)                                                                           \
    do {                                                                                           \
        wide was = x;                                                                              \
        ck_assert(__tsan_atomic128_##name(&x, v, ACQ_REL) == was);                                 \
        ck_assert(x == (now));                                                                     \
    } while (0)

START_TEST(values)
{
    wide v = of(0x5c00000000000001, 0xf00000000000000f), e;
    x = of(0x1122334455667788, 0x99aabbccddeeff01);
    ck_assert(__tsan_atomic128_load(&x, SEQ_CST) == x);
    FETCH(fetch_add, was + v);
    FETCH(fetch_sub, was - v);
    FETCH(fetch_or, was | v);
    FETCH(fetch_xor, was ^ v);
    FETCH(fetch_nand, ~(was & v));
    FETCH(fetch_and, was & v);
    FETCH(exchange, v);
    __tsan_atomic128_store(&x, of(7, 8), RELEASE);
    e = of(7, 9);
    ck_assert(!__tsan_atomic128_compare_exchange_strong(&x, &e, 9, SEQ_CST, RELAXED));
    ck_assert(e == of(7, 8));
    ck_assert(__tsan_atomic128_compare_exchange_strong(&x, &e, of(1, 2), SEQ_CST, RELAXED));
    ck_assert(x == of(1, 2));
    ck_assert(!__tsan_atomic128_compare_exchange_weak(&x, &e, 9, SEQ_CST, RELAXED));
    ck_assert(e == of(1, 2));
    while (!__tsan_atomic128_compare_exchange_weak(&x, &e, 3, SEQ_CST, RELAXED))
        ;
    ck_assert(__tsan_atomic128_compare_exchange_val(&x, 4, 5, SEQ_CST, RELAXED) == 3);
    ck_assert(__tsan_atomic128_compare_exchange_val(&x, 3, 5, SEQ_CST, RELAXED) == 3);
    ck_assert(x == 5);
}
END_TEST

static void *adds(void *arg)
{
    for (int i = 0; i < TIMES; i++)
        __tsan_atomic128_fetch_add(&x, of(1, UINT64_MAX), RELAXED); /* carries */
    return arg;
}

START_TEST(several_threads)
{
    pthread_t id[THREADS];
    wide sum = 0;
    x = 0;
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&id[i], NULL, adds, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(id[i], NULL);
    for (int i = 0; i < THREADS * TIMES; i++)
        sum += of(1, UINT64_MAX);
    ck_assert(x == sum);
}
END_TEST

struct worker {
    int marked, go;
    struct stamp s;
};

static void *stores(void *arg)
{
    struct worker *w = arg;
    w->s = host_mark();
    __tsan_atomic128_store(&x, 1, RELEASE);
    flag_set(&w->marked);
    flag_wait(&w->go);
    return NULL;
}

START_TEST(memory_orders)
{
    pthread_t id;
    struct worker w = {0};
    host_run(0);
    ck_assert_int_eq(pthread_create(&id, NULL, stores, &w), 0);
    flag_wait(&w.marked);
    __tsan_atomic128_load(&x, RELAXED);
    ck_assert(!host_knows(w.s));
    __tsan_atomic128_load(&x, ACQUIRE);
    ck_assert(host_knows(w.s));
    flag_set(&w.go);
    pthread_join(id, NULL);
}
END_TEST

Suite *suite_atomic16(void)
{
    Suite *s = suite_create("atomic16");
    TCase *t = tcase_create("atomic16");
    tcase_add_test(t, values);
    tcase_add_test(t, several_threads);
    tcase_add_test(t, memory_orders);
    suite_add_tcase(s, t);
    return s;
}
