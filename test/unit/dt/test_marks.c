/* test_marks.c - blocks by their number against the list of all; the work is counted. */
#include "model.h"

#include "dt/make.h"

#include <stdlib.h>

Suite *suite_marks(void);

enum { PIECE = 70, MOST_STEPS = 128 /* at least half of the marks are in use */ };

static struct iovec *all;
static int64_t n_all;

static void list_all(const struct dt_type *t)
{
    size_t bytes, room = dt_blocks(t, 1);
    all = malloc((room + 1) * sizeof *all);
    n_all = (int64_t)dt_iov(t, 1, NULL, 0, SIZE_MAX, all, room, &bytes);
    ck_assert_int_eq((int64_t)bytes, t->size);
}

/* Asks for a piece. Returns how many blocks were listed for it. */
static uint64_t ask(struct dt_type *t, int64_t first, size_t max)
{
    struct iovec iov[PIECE];
    uint64_t before = proc->dt->listed;
    int64_t rest = first < n_all ? n_all - first : 0;
    size_t n = dt_iov_from(t, first, iov, max);
    ck_assert_int_eq((int64_t)n, rest < (int64_t)max ? rest : (int64_t)max);
    ck_assert(n == 0 || !memcmp(iov, all + first, n * sizeof *iov));
    return proc->dt->listed - before;
}

/* Blocks [0, n) hold sum bytes: does `bytes` hold these in whole? */
static uint64_t within(struct dt_type *t, int64_t bytes, int64_t n, int64_t sum)
{
    uint64_t before = proc->dt->listed;
    int64_t held = -1;
    ck_assert_int_eq(dt_iov_within(t, bytes, &held), n);
    ck_assert_int_eq(held, sum);
    return proc->dt->listed - before;
}

static void within_random(struct dt_type *t, struct rng *r)
{
    int64_t bytes = rng_range(r, 0, t->size), n = 0, sum = 0;
    while (n < n_all && sum + (int64_t)all[n].iov_len <= bytes)
        sum += (int64_t)all[n++].iov_len;
    within(t, bytes, n, sum);
}

START_TEST(against_list)
{
    for (uint64_t seed = 0; seed < 1500; seed++) {
        struct rng r = {seed * 5 + 1};
        struct model m = model_random(&r, 1 + (int)(seed % 5), seed % 3 ? 300 : 40000, NULL);
        list_all(m.type);
        for (int i = 0; i < 40; i++)
            if (rng_range(&r, 0, 2))
                ask(m.type, rng_range(&r, 0, n_all + 2), (size_t)rng_range(&r, 0, PIECE));
            else
                within_random(m.type, &r);
        free(all);
        model_free(&m);
    }
}
END_TEST

/* Runs of 1 to 3 blocks, whose neighbours join, in a vector: 200,000 blocks. */
static struct dt_type *long_type(int64_t n)
{
    const int64_t len[4] = {1, 2, 1, 3}, at[4] = {8, 16, 40, 60};
    struct dt_type *t, *u;
    ck_assert_int_eq(dt_make_indexed_b(4, len, 0, at, dt_find(MPI_INT), &u), 0);
    ck_assert_int_eq(dt_make_vector_b(n / 4, 1, 104, u, &t), 0);
    dt_drop(u);
    list_all(t);
    ck_assert_int_eq(n_all, n);
    return t;
}

START_TEST(pieces_cost_alike)
{
    const int64_t n = 200000;
    struct dt_type *t = long_type(n);
    int64_t first, sum = 0, step = 1;
    for (first = 0; first < n; first += PIECE)
        ck_assert_uint_le(ask(t, first, PIECE), PIECE);
    ck_assert_uint_eq(ask(t, n, PIECE), 0);
    for (first = 0; first < n; first++) {
        sum += (int64_t)all[first].iov_len;
        if (first % 97 == 0) /* 97 blocks are in two lists of 64 */
            ck_assert_uint_le(within(t, sum, first + 1, sum), 2 * 64 + 64);
    }
    ck_assert_uint_le(within(t, t->size, n, t->size), 3 * 64);
    /* from any place: no more than from one mark to the next */
    while (step * MOST_STEPS < n)
        step *= 2;
    for (int i = 0; i < 2000; i++) {
        struct rng r = {(uint64_t)i * 3 + 1};
        ck_assert_uint_le(ask(t, rng_range(&r, 0, n), 1), (uint64_t)step * 2);
    }
    free(all);
    dt_drop(t);
}
END_TEST

/* A type has a mark of each function: they do not disturb each other. */
START_TEST(both_by_turns)
{
    struct dt_type *t = long_type(100000);
    int64_t sum = 0;
    for (int64_t i = 0; i < n_all; i++) {
        if (i % 50 == 0) {
            ck_assert_uint_le(ask(t, i, 50), 50);
            ck_assert_uint_le(within(t, sum, i, sum), 3 * 64);
        }
        sum += (int64_t)all[i].iov_len;
    }
    free(all);
    dt_drop(t);
}
END_TEST

Suite *suite_marks(void)
{
    Suite *s = suite_create("marks");
    TCase *c = room_case("marks", 60);
    tcase_add_test(c, against_list);
    tcase_add_test(c, pieces_cost_alike);
    tcase_add_test(c, both_by_turns);
    suite_add_tcase(s, c);
    return s;
}
