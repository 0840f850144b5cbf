/* test_core_evicted.c - rma/core/evicted.c: every rank, scattered, cut. */
#include "unit.h"

#include <errno.h>
#include <limits.h>

#include "unit_rma.h"
#include "rma/rma_types.h"

enum { RANKS = 1000000 };

static size_t bytes(const struct rma_evicted_set *g)
{
    return (g->locked.slots ? (g->locked.mask + 1) * sizeof *g->locked.slots : 0) +
           (g->cut.slots ? (g->cut.mask + 1) * sizeof *g->cut.slots : 0);
}

/* Every rank of a million is found, and no other; the set stays small; all are removed in
 * another order. */
START_TEST(every_rank)
{
    struct rma_evicted_set g;
    int wrong = 0; /* counted: Check writes a line of its own for each assertion that holds */
    rma_evicted_init(&g);
    ck_assert(!rma_evicted(&g, 0) && bytes(&g) == 0);
    for (int r = 0; r < RANKS; r++)
        wrong += rma_evicted(&g, r) || rma_evicted_put(&g, r, 0) || g.count != (unsigned)r + 1;
    ck_assert_int_eq(wrong, 0);
    ck_assert_uint_le(bytes(&g), 512 * 1024);
    for (int i = 0; i < RANKS; i++) {
        int r = (int)((long)i * 7 % RANKS), next = (int)((long)(i + 1) * 7 % RANKS);
        wrong += !rma_evicted(&g, r) || rma_evicted_err(&g, r);
        rma_evicted_del(&g, r);
        wrong += rma_evicted(&g, r) || (i + 1 < RANKS && !rma_evicted(&g, next)) ||
                 g.count != RANKS - 1 - (unsigned)i;
        rma_evicted_del(&g, r);
        wrong += g.count != RANKS - 1 - (unsigned)i;
    }
    ck_assert_int_eq(wrong, 0);
    ck_assert_uint_eq(g.locked.count, 0);
    rma_evicted_clear(&g);
    ck_assert_uint_eq(bytes(&g), 0);
}
END_TEST

/* Far apart, the highest that there can be among them; neighbours are not taken for them. */
START_TEST(scattered)
{
    enum { STEP = 4099, MANY = 10000 };
    struct rma_evicted_set g;
    rma_evicted_init(&g);
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(rma_evicted_put(&g, INT_MAX - i * STEP, 0), 0);
    ck_assert_uint_le(bytes(&g), MANY * 43); /* 16 in a table that is at least 3/8 full */
    for (int i = 0; i < MANY; i++) {
        int r = INT_MAX - i * STEP;
        ck_assert(rma_evicted(&g, r) && !rma_evicted(&g, r - 1) && (!i || !rma_evicted(&g, r + 1)));
    }
    rma_evicted_clear(&g);
    ck_assert_uint_eq(g.count, 0);
}
END_TEST

/* A rank that cannot be reached is not locked, and its error is kept, beside locked ranks of the
 * same word. */
START_TEST(cut)
{
    struct rma_evicted_set g;
    rma_evicted_init(&g);
    for (int r = 0; r < 300; r++)
        ck_assert_int_eq(rma_evicted_put(&g, r, r % 3 ? 0 : -EMSGSIZE - r), 0);
    for (int r = 0; r < 300; r++)
        ck_assert(rma_evicted(&g, r) && rma_evicted_err(&g, r) == (r % 3 ? 0 : -EMSGSIZE - r));
    for (int r = 0; r < 300; r += 3)
        rma_evicted_del(&g, r);
    ck_assert(g.count == 200 && g.cut.count == 0);
    for (int r = 0; r < 300; r++)
        ck_assert(rma_evicted(&g, r) == (r % 3 != 0) && !rma_evicted_err(&g, r));
    rma_evicted_clear(&g);
}
END_TEST

Suite *suite_evicted(void)
{
    Suite *s = suite_create("rma/gone");
    TCase *t = tcase_create("gone");
    tcase_add_test(t, every_rank);
    tcase_add_test(t, scattered);
    tcase_add_test(t, cut);
    suite_add_tcase(s, t);
    return s;
}
