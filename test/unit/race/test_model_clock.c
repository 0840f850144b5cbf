/* test_model_clock.c - race/model/clock.c: sparse vector clocks are as dense ones; entries below
 * the floor are not kept. */
#include "unit.h"

#include <stdint.h>

#include "race/model/model.h"

Suite *suite_model_clock(void);

enum { THREADS = 12, STEPS = 20000 };

static uint32_t rnd(uint64_t *s, uint32_t below)
{
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*s >> 33) % below;
}

static void same(const struct race_vclock *v, const uint64_t *dense)
{
    int wrong = 0;
    for (uint32_t t = 0; t < THREADS; t++)
        wrong += race_vclock_of(v, t) != dense[t];
    for (uint32_t i = 1; i < v->n; i++)
        wrong += v->e[i - 1].tid >= v->e[i].tid;
    if (wrong)
        ck_abort_msg("%d entries are wrong", wrong);
}

START_TEST(views_are_as_dense_clocks)
{
    struct race_vclock *v[THREADS];
    uint64_t dense[THREADS][THREADS] = {{0}}, s = 7, floor = 0;
    for (int t = 0; t < THREADS; t++)
        v[t] = race_vclock_make(0, NULL, 0);
    for (uint64_t step = 1; step < STEPS; step++) {
        uint32_t a = rnd(&s, THREADS), b = rnd(&s, THREADS);
        struct race_vclock *old = v[a];
        if (rnd(&s, 1000) == 0) { /* a collective of all: a floor */
            floor = step << 20;
            for (int t = 0; t < THREADS; t++) {
                race_vclock_drop(v[t]);
                v[t] = race_vclock_make(floor, NULL, 0);
                for (int u = 0; u < THREADS; u++)
                    dense[t][u] = floor;
            }
            continue;
        }
        if (rnd(&s, 2)) {
            dense[a][a] = floor + step;
            v[a] = race_vclock_with(old, a, floor + step);
        } else {
            int holds = 1, self = (int)rnd(&s, THREADS + 1); /* THREADS: none of them */
            for (int t = 0; t < THREADS; t++)
                holds &= t == self || dense[a][t] >= dense[b][t];
            if (race_vclock_includes(v[a], v[b], (uint32_t)self) != holds)
                ck_abort_msg("step %d: holds", (int)step);
            for (int t = 0; t < THREADS; t++)
                if (dense[b][t] > dense[a][t])
                    dense[a][t] = dense[b][t];
            v[a] = race_vclock_join(old, v[b]);
        }
        race_vclock_drop(old);
        same(v[a], dense[a]);
    }
    for (int t = 0; t < THREADS; t++)
        race_vclock_drop(v[t]);
}
END_TEST

START_TEST(entries_below_the_floor_are_not_kept)
{
    struct race_vclock_entry e[] = {{1, 0, 5}, {2, 0, 50}};
    struct race_vclock *v = race_vclock_make(10, e, 2);
    ck_assert_uint_eq(v->n, 1);
    ck_assert_uint_eq(race_vclock_of(v, 1), 10);
    ck_assert_uint_eq(race_vclock_of(v, 2), 50);
    ck_assert(race_vclock_includes(v, NULL, 0));
    ck_assert_uint_eq(race_vclock_of(NULL, 2), 0);
    race_vclock_drop(v);
}
END_TEST

START_TEST(the_higher_floor_holds)
{
    struct race_vclock_entry e[] = {{1, 0, 15}};
    struct race_vclock *low = race_vclock_make(10, e, 1), *high = race_vclock_make(20, NULL, 0);
    struct race_vclock *a = race_vclock_join(low, high), *b = race_vclock_join(high, low);
    for (uint32_t t = 0; t < 3; t++) {
        ck_assert_uint_eq(race_vclock_of(a, t), 20);
        ck_assert_uint_eq(race_vclock_of(b, t), 20);
    }
    race_vclock_drop(low);
    race_vclock_drop(high);
    race_vclock_drop(a);
    race_vclock_drop(b);
}
END_TEST

Suite *suite_model_clock(void)
{
    Suite *s = suite_create("model_clock");
    TCase *t = tcase_create("race_view");
    tcase_add_test(t, views_are_as_dense_clocks);
    tcase_add_test(t, entries_below_the_floor_are_not_kept);
    tcase_add_test(t, the_higher_floor_holds);
    suite_add_tcase(s, t);
    return s;
}
