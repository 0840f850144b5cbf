/* test_order.c - dt_order against the list of blocks. */
#include "model.h"

#include "dt/make.h"

Suite *suite_order(void);

static enum dt_ascent listed(const struct dt_type *t)
{
    static struct iovec iov[4096];
    size_t bytes, n = dt_iov(t, 1, NULL, 0, SIZE_MAX, iov, 4096, &bytes);
    enum dt_ascent order = DT_ASCENDING;
    int64_t end = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        int64_t at = (int64_t)(intptr_t)iov[i].iov_base;
        if (i && at < (int64_t)(intptr_t)iov[i - 1].iov_base)
            return DT_UNSORTED;
        if (at < end)
            order = DT_OVERLAPPING;
        if (at + (int64_t)iov[i].iov_len > end)
            end = at + (int64_t)iov[i].iov_len;
    }
    return order;
}

static void expect(struct dt_type *t, enum dt_ascent want, int64_t first, uint64_t lowest)
{
    int64_t at;
    uint64_t bits;
    ck_assert_int_eq(dt_order(t, &at, &bits), want);
    ck_assert_int_eq(listed(t), want);
    ck_assert_int_eq(at, first);
    ck_assert_uint_eq(bits & -bits, lowest);
    dt_drop(t);
}

START_TEST(known)
{
    struct dt_type *t, *u, *i = dt_find(MPI_INT);
    const int64_t len[3] = {1, 2, 1}, up[3] = {8, 16, 40}, down[3] = {40, 16, 8};
    const int64_t over[3] = {8, 16, 20};
    ck_assert_int_eq(dt_make_vector(5, 2, 4, i, &t), 0);
    expect(t, DT_ASCENDING, 0, 8);
    ck_assert_int_eq(dt_make_vector_b(3, 1, -16, i, &t), 0);
    expect(t, DT_UNSORTED, 0, 4);
    ck_assert_int_eq(dt_make_vector_b(3, 2, 4, i, &t), 0);
    expect(t, DT_OVERLAPPING, 0, 4);
    ck_assert_int_eq(dt_make_indexed_b(3, len, 0, up, i, &t), 0);
    expect(t, DT_ASCENDING, 8, 4);
    ck_assert_int_eq(dt_make_indexed_b(3, len, 0, down, i, &t), 0);
    expect(t, DT_UNSORTED, 40, 4);
    ck_assert_int_eq(dt_make_indexed_b(3, len, 0, over, i, &t), 0);
    expect(t, DT_OVERLAPPING, 8, 4);
    ck_assert_int_eq(dt_make_vector(5, 2, 4, i, &u), 0);
    ck_assert_int_eq(dt_make_vector_b(3, 1, 8, u, &t), 0); /* interleaved: descends between kids */
    dt_drop(u);
    expect(t, DT_UNSORTED, 0, 8);
}
END_TEST

Suite *suite_order(void)
{
    Suite *s = suite_create("dt/order");
    TCase *c = room_case("order", 60);
    tcase_add_test(c, known);
    suite_add_tcase(s, c);
    return s;
}
