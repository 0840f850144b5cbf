#include "unit.h"

#include <pthread.h>

#include "unit_rma.h"
#include "world.h"

/* What the inline path finds of a memory handle: its bytes and none beside them, while it is shown,
 * and never parts of two. */

enum { SIZE = 64, SHIFT = 7, TIMES = 300000 };

static struct rma_recent recent;
static _Atomic uint64_t shown[2];
static atomic_int over;

static uint64_t address_of(uint64_t base)
{
    return base * 3;
}

static int finds(uint64_t disp, uint64_t bytes, char **at)
{
    return rma_recent_at(&recent, (int64_t)disp, bytes, at);
}

START_TEST(range)
{
    const uint64_t base = UINT64_C(1) << 62 | 5 << SHIFT;
    char *at;
    recent = rma_recent_none;
    ck_assert(!finds(0, 1, &at) && !finds(base, 1, &at) && !finds(RMA_NO_BASE, 0, &at));
    shown[0] = base;
    rma_recent_set(&recent, base, SIZE, &shown[0], address_of(base));
    ck_assert(finds(base, SIZE, &at));
    ck_assert_uint_eq((uintptr_t)at, address_of(base));
    ck_assert(finds(base + SIZE - 1, 1, &at));
    ck_assert_uint_eq((uintptr_t)at, address_of(base) + SIZE - 1);
    ck_assert(!finds(base + SIZE - 1, 2, &at) && !finds(base + SIZE, 1, &at));
    ck_assert(!finds(base - 1, 1, &at) && !finds(base - 1, 2, &at) && !finds(base - 8, 16, &at));
    ck_assert(!finds(base, (uint64_t)-8, &at) && !finds(base + 8, (uint64_t)-8, &at));
    shown[0] = 0;
    ck_assert(!finds(base, 8, &at));
    shown[0] = base + (1 << SHIFT); /* another one in its place */
    ck_assert(!finds(base, 8, &at) && !finds(base + (1 << SHIFT), 8, &at));
}
END_TEST

/* Handles in two places of the table by turns. */
static void *writer(void *arg)
{
    (void)arg;
    for (uint64_t i = 1; i < TIMES; i++) {
        uint64_t base = UINT64_C(1) << 62 | i << SHIFT;
        atomic_store(&shown[i % 2], base);
        rma_recent_set(&recent, base, SIZE, &shown[i % 2], address_of(base));
    }
    atomic_store(&over, 1);
    return NULL;
}

START_TEST(two_threads)
{
    pthread_t t;
    char *at;
    recent = rma_recent_none;
    atomic_store(&over, 0);
    ck_assert_int_eq(pthread_create(&t, NULL, writer, NULL), 0);
    while (!atomic_load(&over)) {
        uint64_t base = atomic_load(&shown[0]);
        if (finds(base + 8, 8, &at))
            ck_assert_uint_eq((uintptr_t)at, address_of(base) + 8);
    }
    ck_assert_int_eq(pthread_join(t, NULL), 0);
}
END_TEST

Suite *suite_recent(void)
{
    Suite *s = suite_create("recent");
    TCase *t = tcase_create("recent");
    tcase_add_test(t, range);
    tcase_add_test(t, two_threads);
    suite_add_tcase(s, t);
    return s;
}
