/* test_model_interval.c - race/model/interval.c: they overlap as their bytes do, long lists are not
 * expanded, neighbours grow together. */
#include "unit.h"

#include <stdint.h>
#include <string.h>

#include "race/model/model.h"

Suite *suite_model_interval(void);

enum { SPACE = 4096, PAIRS = 1000000 };

static uint32_t rnd(uint64_t *s, uint32_t below)
{
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*s >> 33) % below;
}

/* A random interval in [0, SPACE): runs do not overlap. */
static struct race_interval random_lane(uint64_t *s)
{
    struct race_interval l = {.len = 1 + rnd(s, rnd(s, 2) ? 4 : 40), .blocks = 1};
    if (rnd(s, 4)) {
        l.stride = l.len + rnd(s, rnd(s, 2) ? 4 : 60);
        l.blocks = 2 + rnd(s, 30);
        while ((l.blocks - 1) * l.stride + l.len > SPACE / 2)
            l.blocks--;
        if (l.blocks == 1)
            l.stride = 0;
    }
    l.at = rnd(s, SPACE / 2);
    return l;
}

static void paint(const struct race_interval *l, uint8_t *bytes)
{
    memset(bytes, 0, SPACE);
    for (uint32_t i = 0; i < l->blocks; i++)
        memset(bytes + l->at + (uint64_t)i * l->stride, 1, l->len);
}

START_TEST(lanes_touch_as_their_bytes_do)
{
    static uint8_t x[SPACE], y[SPACE];
    uint64_t s = 1;
    int overlap = 0;
    struct race_interval a = {0};
    for (int i = 0; i < PAIRS; i++) {
        if (i % 64 == 0) { /* painting is dear */
            a = random_lane(&s);
            paint(&a, x);
        }
        struct race_interval b = random_lane(&s);
        int both = 0;
        for (uint32_t j = 0; j < b.blocks && !both; j++)
            both = memchr(x + b.at + (uint64_t)j * b.stride, 1, b.len) != NULL;
        if (both != (race_intervals_overlap(&a, &b) == RACE_OVERLAP) ||
            both != (race_intervals_overlap(&b, &a) == RACE_OVERLAP))
            ck_abort_msg("pair %d: %u+%ux%u/%u and %u+%ux%u/%u: %d", i, (unsigned)a.at, a.len,
                         a.blocks, a.stride, (unsigned)b.at, b.len, b.blocks, b.stride, both);
        overlap += both;
        if (race_interval_covers(&a, &b)) {
            paint(&b, y);
            for (int k = 0; k < SPACE; k++)
                if (y[k] && !x[k])
                    ck_abort_msg("pair %d: byte %d is not covered", i, k);
        }
    }
    ck_assert_int_gt(overlap, PAIRS / 20); /* both answers are common */
    ck_assert_int_lt(overlap, PAIRS - PAIRS / 20);
}
END_TEST

START_TEST(long_lists_are_not_expanded)
{
    /* even and odd words of a gigabyte; then strides of 8 and 12 */
    struct race_interval a = {0, 4, 8, 1u << 27}, b = {4, 4, 8, 1u << 27};
    ck_assert_int_eq(race_intervals_overlap(&a, &b), RACE_DISJOINT);
    b.at = 7;
    ck_assert_int_eq(race_intervals_overlap(&a, &b), RACE_OVERLAP);
    struct race_interval c = {0, 2, 12, 1u << 26}, d = {2, 2, 8, 1u << 27};
    ck_assert_int_eq(race_intervals_overlap(&c, &d), RACE_DISJOINT); /* residues modulo 4 */
    struct race_interval e = {0, 1, 10007, 10000}, f = {1, 1, 10009, 10000};
    ck_assert_int_eq(race_intervals_overlap(&e, &f), RACE_MAY_OVERLAP);
}
END_TEST

START_TEST(neighbours_grow_together)
{
    struct race_interval l = {100, 8, 0, 1}, next = {108, 8, 0, 1}, far = {120, 8, 0, 1};
    ck_assert(race_interval_grow(&l, &next));
    ck_assert_uint_eq(l.len, 16);
    ck_assert(!race_interval_grow(&l, &far));
    ck_assert(race_interval_covers(&l, &next));
    ck_assert(!race_interval_covers(&l, &far));
}
END_TEST

/* Place of each byte in its element, from 1. */
static void paint_elements(const struct race_interval *l, uint32_t size, uint8_t *bytes)
{
    memset(bytes, 0, SPACE);
    for (uint32_t i = 0; i < l->blocks; i++)
        for (uint32_t k = 0; k < l->len; k++)
            bytes[l->at + (uint64_t)i * l->stride + k] = (uint8_t)(1 + k % size);
}

START_TEST(elements_are_shifted_as_their_bytes_are)
{
    static uint8_t x[SPACE], y[SPACE];
    uint64_t s = 7;
    int seen[2] = {0, 0};
    for (int i = 0; i < PAIRS / 100; i++) {
        uint32_t size = 1u << rnd(&s, 4);
        struct race_interval a = random_lane(&s), b = random_lane(&s);
        int shifted = 0, overlap = 0;
        a.len = size * (1 + rnd(&s, 3));
        b.len = size * (1 + rnd(&s, 3));
        a.stride = a.blocks > 1 ? a.len + rnd(&s, 5) : 0;
        b.stride = b.blocks > 1 ? b.len + rnd(&s, 5) : 0;
        b.at = a.at + rnd(&s, 24);
        paint_elements(&a, size, x);
        paint_elements(&b, size, y);
        for (int k = 0; k < SPACE; k++) {
            overlap |= x[k] && y[k];
            shifted |= x[k] && y[k] && x[k] != y[k];
        }
        if (overlap) /* else it does not matter */
            ck_assert_int_eq(race_intervals_misaligned(&a, &b, size), shifted);
        seen[shifted]++;
    }
    ck_assert_int_gt(seen[0], 100);
    ck_assert_int_gt(seen[1], 100);
}
END_TEST

Suite *suite_model_interval(void)
{
    Suite *s = suite_create("model_interval");
    TCase *t = tcase_create("race_lane");
    tcase_add_test(t, lanes_touch_as_their_bytes_do);
    tcase_add_test(t, elements_are_shifted_as_their_bytes_are);
    tcase_add_test(t, long_lists_are_not_expanded);
    tcase_add_test(t, neighbours_grow_together);
    suite_add_tcase(s, t);
    return s;
}


