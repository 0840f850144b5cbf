#include "unit.h"

#include <stdlib.h>

#include "unit_rma.h"
#include "world.h"

/* Near ranks that are not consecutive are found, each of them, and no other rank. */

static struct rma_near near_of[512];

static void check(unsigned n, const char *what, int must)
{
    struct rma_win w = {.nears = n};
    w.near.near = near_of;
    rma_spread_make(&w);
    ck_assert_msg(w.near.spread || !must, "%s: no table", what);
    if (!w.near.spread)
        return;
    for (unsigned i = 0; i < n; i++)
        ck_assert_msg(rma_near_spread(&w.near, near_of[i].rank) == &near_of[i], "%s %u", what, i);
    for (int r = -3, i = 0; r < 70000; r += 1 + r / 100) {
        while (i < (int)n && near_of[i].rank < r)
            i++;
        if (i == (int)n || near_of[i].rank != r)
            ck_assert_ptr_null(rma_near_spread(&w.near, r));
    }
    free(w.near.spread);
}

START_TEST(distances)
{
    static const int step[] = {2, 3, 7, 8, 64, 100, 1023, 4096, 1000003};
    for (size_t s = 0; s < sizeof step / sizeof *step; s++)
        for (unsigned n = 2; n <= 256; n = n * 3 / 2 + 1) {
            for (unsigned i = 0; i < n; i++)
                near_of[i].rank = (int)(5 + i * (unsigned)step[s]);
            check(n, "equal distances", 1);
        }
}
END_TEST

START_TEST(any_distance)
{
    srand(7);
    for (int times = 0; times < 200; times++) {
        unsigned n = 2 + (unsigned)rand() % 60;
        int at = rand() % 10;
        for (unsigned i = 0; i < n; i++)
            near_of[i].rank = at += 1 + rand() % 40;
        /* The multipliers are random. Up to 20 ranks, all of them fail once in 10^8 times at most;
         * with 31 ranks once in some hundred. */
        check(n, "any distances", n <= 20);
    }
}
END_TEST

Suite *suite_spread(void)
{
    Suite *s = suite_create("spread");
    TCase *t = tcase_create("spread");
    tcase_add_test(t, distances);
    tcase_add_test(t, any_distance);
    suite_add_tcase(s, t);
    return s;
}
