/* test_walk.c - positions: pack and unpack cut at random points, block lists from random points. */
#include "model.h"

#include <string.h>

Suite *suite_walk(void);

static void check_pack(const struct model *m, size_t count, struct rng *r)
{
    struct image i = image_make(m, count, r);
    size_t total = (size_t)model_size(m) * count;
    char *want = model_pack(m, count, i.base), *got = malloc(total + 1);
    for (size_t from = 0; from < total;) {
        size_t len = (size_t)rng_range(r, 1, rng_next(r) & 1 ? 9 : (int64_t)total);
        size_t n = dt_pack(m->type, count, i.base, from, got + from, len);
        ck_assert_uint_eq(n, len < total - from ? len : total - from);
        from += n;
    }
    ck_assert_uint_eq(dt_pack(m->type, count, i.base, total, got, 5), 0);
    ck_assert_mem_eq(got, want, total);
    free(want);
    free(got);
    image_free(&i);
}

static void check_unpack(const struct model *m, size_t count, struct rng *r)
{
    struct image a = image_make(m, count, r), b = image_make(m, count, r);
    size_t total = (size_t)model_size(m) * count;
    char *data = malloc(total + 1);
    for (size_t k = 0; k < total; k++)
        data[k] = (char)rng_next(r);
    memcpy(b.memory, a.memory, a.len);
    model_unpack(m, count, a.base, data, total);
    for (size_t from = 0; from < total;) {
        size_t len = (size_t)rng_range(r, 1, rng_next(r) & 1 ? 9 : (int64_t)total);
        from += dt_unpack(m->type, count, b.base, from, data + from,
                          len < total - from ? len : total - from);
    }
    ck_assert_mem_eq(a.memory, b.memory, a.len);
    free(data);
    image_free(&a);
    image_free(&b);
}

static void check_iov(const struct model *m, size_t count, struct rng *r)
{
    struct image i = image_make(m, count, r);
    size_t total = (size_t)model_size(m) * count, at = 0, blocks = 0;
    char *want = model_pack(m, count, i.base), *got = malloc(total + 1);
    while (at < total) {
        struct iovec iov[7];
        size_t bytes, len = (size_t)rng_range(r, 1, (int64_t)total);
        size_t max = (size_t)rng_range(r, 1, 7),
               n = dt_iov(m->type, count, i.base, at, len, iov, max, &bytes);
        ck_assert(n >= 1 && n <= max && bytes >= 1 && bytes <= len);
        for (size_t k = 0; k < n; k++) {
            if (k)
                ck_assert_ptr_ne((char *)iov[k - 1].iov_base + iov[k - 1].iov_len, iov[k].iov_base);
            memcpy(got + at, iov[k].iov_base, iov[k].iov_len);
            at += iov[k].iov_len;
            bytes -= iov[k].iov_len;
        }
        ck_assert_uint_eq(bytes, 0);
    }
    ck_assert_mem_eq(got, want, total);
    struct iovec *all = malloc((dt_blocks(m->type, count) + 1) * sizeof *all);
    size_t bytes;
    blocks = dt_iov(m->type, count, i.base, 0, SIZE_MAX, all, dt_blocks(m->type, count), &bytes);
    ck_assert_uint_eq(bytes, total);
    ck_assert_uint_le(blocks, dt_blocks(m->type, count));
    free(all);
    free(want);
    free(got);
    image_free(&i);
}

struct gathered {
    char *at;
    size_t left;
    int calls, most; /* it ends itself after so many calls */
};

static int gather(void *arg, uintptr_t at, size_t n, size_t len, int64_t stride)
{
    struct gathered *g = arg;
    ck_assert_int_lt(g->calls, g->most);
    ck_assert_uint_ge(len, 1);
    for (size_t i = 0; i < n; i++, at += (uintptr_t)stride) {
        ck_assert_uint_le(len, g->left);
        memcpy(g->at, (void *)at, len);
        g->at += len;
        g->left -= len;
    }
    return ++g->calls == g->most;
}

static void check_runs(const struct model *m, size_t count, struct rng *r)
{
    struct image i = image_make(m, count, r);
    size_t total = (size_t)model_size(m) * count;
    char *want = model_pack(m, count, i.base), *got = malloc(total + 1);
    struct gathered all = {got, total, 0, INT32_MAX}, some = {got, total, 0, 2};
    dt_runs(m->type, count, i.base, gather, &all);
    ck_assert_uint_eq(all.left, 0);
    ck_assert_mem_eq(got, want, total);
    dt_runs(m->type, count, i.base, gather, &some);
    ck_assert_int_eq(some.calls, all.calls < 2 ? all.calls : 2);
    ck_assert_mem_eq(got, want, total - some.left);
    free(want);
    free(got);
    image_free(&i);
}

START_TEST(against_model)
{
    for (uint64_t seed = 0; seed < 4000; seed++) {
        struct rng r = {seed * 3 + 1};
        struct model m = model_random(&r, 1 + (int)(seed % 5), 300, NULL);
        size_t count = (size_t)rng_range(&r, 0, 4);
        check_pack(&m, count, &r);
        check_unpack(&m, count, &r);
        check_iov(&m, count, &r);
        check_runs(&m, count, &r);
        model_free(&m);
    }
}
END_TEST

/* Shapes with kernels of their own: arrays of structs, columns of matrices, in both directions, at
 * odd cuts. */
static struct model shape(int kind, struct rng *r)
{
    struct model m = {.align = 1};
    int64_t rows = rng_range(r, 5, 40), pitch = rng_range(r, 5, 20), blk = 1 << rng_range(r, 0, 4);
    struct dt_type *b, *row;
    ck_assert_int_eq(dt_make_contiguous(blk, dt_find(MPI_BYTE), &b), MPI_SUCCESS);
    if (kind == 0) { /* rows of 3 blocks */
        const int64_t lens[3] = {1, 2, 1}, off[3] = {0, 2 * blk, 5 * blk};
        ck_assert_int_eq(dt_make_indexed_b(3, lens, 0, off, b, &row), MPI_SUCCESS);
        pitch = 6 * blk + rng_range(r, 0, 9);
    } else { /* a column */
        ck_assert_int_eq(dt_make_vector(rows, 1, pitch, b, &row), MPI_SUCCESS);
        pitch = rng_next(r) & 1 ? blk : blk + 1;
    }
    if (rng_next(r) & 1)
        pitch = -pitch;
    int64_t n = rng_range(r, 1, 30);
    ck_assert_int_eq(dt_make_vector_b(n, 1, pitch, row, &m.type), MPI_SUCCESS);
    m.n = (size_t)m.type->size;
    m.e = malloc(m.n * sizeof *m.e);
    size_t k = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < (kind ? rows : 4); j++)
            for (int64_t x = 0; x < blk; x++) {
                static const int at[4] = {0, 2, 3, 5};
                int64_t start = kind ? j * (row->extent - blk) / (rows - 1) : at[j] * blk;
                m.e[k++] = (struct entry){i * pitch + start + x, 1, dt_find(MPI_BYTE), 0};
            }
    ck_assert_uint_eq(k, m.n);
    m.lb = m.type->lb;
    m.ub = m.lb + m.type->extent;
    dt_drop(b);
    dt_drop(row);
    return m;
}

START_TEST(rows_and_columns)
{
    for (uint64_t seed = 0; seed < 600; seed++) {
        struct rng r = {seed * 29 + 3};
        struct model m = shape((int)(seed & 1), &r);
        size_t count = (size_t)rng_range(&r, 1, 2);
        check_pack(&m, count, &r);
        check_unpack(&m, count, &r);
        check_iov(&m, count, &r);
        check_runs(&m, count, &r);
        model_free(&m);
    }
}
END_TEST

/* Larger than 4 GiB by position, small by memory: the same bytes again and again (stride 0 and
 * negative). */
START_TEST(positions_past_4g)
{
    struct dt_type *t, *u;
    char data[64], out[64];
    for (int i = 0; i < 64; i++)
        data[i] = (char)i;
    ck_assert_int_eq(dt_make_vector_b(1ll << 31, 1, 0, dt_find(MPI_DOUBLE), &t), MPI_SUCCESS);
    ck_assert_int_eq(dt_make_vector_b(4, 1, -8, t, &u), MPI_SUCCESS);
    ck_assert_int_eq(u->size, 1ll << 36);
    size_t from = (3ull << 34) - 5; /* in the third of four, 5 bytes before its end */
    ck_assert_uint_eq(dt_pack(u, 1, data + 24, from, out, 10), 10);
    ck_assert_mem_eq(out, data + 24 - 16 + 3, 5);
    ck_assert_mem_eq(out + 5, data + 24 - 24, 5);
    struct iovec iov[2];
    size_t bytes;
    ck_assert_uint_eq(dt_iov(u, 1, NULL, (size_t)u->size - 4, 99, iov, 2, &bytes), 1);
    ck_assert_int_eq((intptr_t)iov[0].iov_base, -20);
    ck_assert_uint_eq(bytes, 4);
    dt_drop(t);
    dt_drop(u);
}
END_TEST

Suite *suite_walk(void)
{
    Suite *s = suite_create("dt/walk");
    TCase *t = room_case("walk", 60);
    tcase_add_test(t, against_model);
    tcase_add_test(t, rows_and_columns);
    tcase_add_test(t, positions_past_4g);
    suite_add_tcase(s, t);
    return s;
}
