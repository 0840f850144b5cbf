/* test_sig.c - signatures: counting basic elements in any number of bytes, hashes. */
#include "model.h"

Suite *suite_sig(void);

/* Elements in the first `bytes` of repeated m; -1 if one is cut. */
static int64_t count_elements(const struct model *m, int64_t bytes)
{
    int64_t n = 0;
    if (!m->n)
        return bytes ? -1 : 0;
    for (size_t i = 0; bytes > 0; i = (i + 1) % m->n, n++)
        bytes -= m->e[i].bytes;
    return bytes < 0 ? -1 : n;
}

START_TEST(elements_against_model)
{
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct rng r = {seed * 7 + 3};
        struct model m = model_random(&r, 1 + (int)(seed % 5), 200, NULL);
        for (int i = 0; i < 20; i++) {
            int64_t bytes = rng_range(&r, 0, 3 * model_size(&m) + 2), n = count_elements(&m, bytes);
            ck_assert_int_eq(dt_elements(m.type, (size_t)bytes), n);
            if (n >= 0)
                ck_assert_int_eq(dt_elements_bytes(m.type, n), bytes);
        }
        model_free(&m);
    }
}
END_TEST

struct listing {
    const struct model *m;
    size_t i;
};

static int compare_run(void *arg, const struct dt_type *basic, int64_t n)
{
    struct listing *l = arg;
    for (int64_t k = 0; k < n * basic->elem.parts; k++, l->i++)
        ck_assert_ptr_eq(l->m->e[l->i].basic, basic);
    return 0;
}

START_TEST(runs_in_order)
{
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct rng r = {seed * 11 + 5};
        struct model m = model_random(&r, 1 + (int)(seed % 5), 200, NULL);
        struct listing l = {&m, 0};
        sig_walk(m.type->sig, compare_run, &l);
        ck_assert_uint_eq(l.i, m.n);
        model_free(&m);
    }
}
END_TEST

START_TEST(hash_depends_on_elements_only)
{
    struct dt_type *a, *b, *c, *in = dt_find(MPI_INT), *dbl = dt_find(MPI_DOUBLE);
    const int64_t lens[4] = {3, 2, 3, 2}, off[4] = {0, 16, 32, 48};
    struct dt_type *types[4] = {in, dbl, in, dbl};
    ck_assert_int_eq(dt_make_struct(4, lens, off, types, &a), MPI_SUCCESS);
    ck_assert_int_eq(dt_make_struct(2, lens, off, types, &b), MPI_SUCCESS);
    ck_assert_int_eq(dt_make_struct(2, lens, off, types + 1, &c), MPI_SUCCESS);
    ck_assert_uint_eq(dt_sig_hash(a, 3), dt_sig_hash(b, 6));
    ck_assert_uint_ne(dt_sig_hash(a, 3), dt_sig_hash(b, 5));
    ck_assert_uint_ne(dt_sig_hash(b, 1), dt_sig_hash(c, 1));
    ck_assert_uint_eq(dt_sig_hash(in, 0), dt_sig_hash(dbl, 0));
    ck_assert_uint_ne(dt_sig_hash(in, 2), dt_sig_hash(dbl, 1));
    dt_drop(a);
    ck_assert_int_eq(dt_make_vector(5, 2, 7, in, &a), MPI_SUCCESS);
    ck_assert_uint_eq(dt_sig_hash(a, 10), dt_sig_hash(in, 100));
    ck_assert_uint_eq(dt_sig_hash(dt_find(MPI_2INT), 5), dt_sig_hash(in, 10));
    dt_drop(a);
    dt_drop(b);
    dt_drop(c);
}
END_TEST

/* The first elements of repeated m as a type of their own: `parts` of them, or one more where a
 * pair would be cut. How many bytes they have. */
static size_t first_elements(const struct model *m, size_t parts, struct dt_type **out)
{
    enum { MOST = 700 };
    static int64_t len[MOST], off[MOST];
    static struct dt_type *type[MOST];
    size_t bytes = 0, n = 0;
    for (size_t i = 0; i < parts && n < MOST; i += m->e[i % m->n].basic->elem.parts, n++) {
        len[n] = 1;
        off[n] = (int64_t)(n * 32);
        type[n] = m->e[i % m->n].basic;
        bytes += type[n]->elem.bytes;
    }
    ck_assert_int_eq(dt_make_struct((int64_t)n, len, off, type, out), MPI_SUCCESS);
    return bytes;
}

START_TEST(hash_of_the_first_bytes)
{
    for (uint64_t seed = 0; seed < 1000; seed++) {
        struct rng r = {seed * 13 + 7};
        struct model m = model_random(&r, 1 + (int)(seed % 5), 200, NULL);
        for (int i = 0; i < 10 && m.n; i++) {
            struct dt_type *first;
            size_t bytes = first_elements(&m, (size_t)rng_range(&r, 0, 3 * (int64_t)m.n), &first);
            ck_assert_uint_eq(dt_sig_hash_part(m.type, bytes), dt_sig_hash(first, 1));
            dt_drop(first);
        }
        ck_assert_uint_eq(dt_sig_hash_part(m.type, (size_t)(3 * m.type->size)),
                          dt_sig_hash(m.type, m.type->size ? 3 : 0));
        model_free(&m);
    }
    /* a pair may be cut between its value and its index */
    ck_assert_uint_eq(dt_sig_hash_part(dt_find(MPI_FLOAT_INT), 12),
                      dt_sig_hash_part(dt_find(MPI_FLOAT_INT), 13));
    ck_assert_uint_ne(dt_sig_hash_part(dt_find(MPI_FLOAT_INT), 12),
                      dt_sig_hash_part(dt_find(MPI_FLOAT_INT), 16));
    ck_assert_uint_eq(dt_sig_hash_part(dt_find(MPI_DOUBLE_INT), 8),
                      dt_sig_hash(dt_find(MPI_DOUBLE), 1));
}
END_TEST

START_TEST(packed_is_seen)
{
    struct dt_type *a, *types[2] = {dt_find(MPI_INT), dt_find(MPI_PACKED)};
    const int64_t lens[2] = {3, 2}, off[2] = {0, 16};
    ck_assert_int_eq(dt_make_struct(2, lens, off, types, &a), MPI_SUCCESS);
    ck_assert(dt_sig_packed(types[1]) && dt_sig_packed(a));
    ck_assert(!dt_sig_packed(types[0]));
    dt_drop(a);
    ck_assert_int_eq(dt_make_struct(1, lens, off, types, &a), MPI_SUCCESS);
    ck_assert(!dt_sig_packed(a));
    dt_drop(a);
}
END_TEST

Suite *suite_sig(void)
{
    Suite *s = suite_create("dt/sig");
    TCase *t = room_case("sig", 60);
    tcase_add_test(t, elements_against_model);
    tcase_add_test(t, runs_in_order);
    tcase_add_test(t, hash_depends_on_elements_only);
    tcase_add_test(t, hash_of_the_first_bytes);
    tcase_add_test(t, packed_is_seen);
    suite_add_tcase(s, t);
    return s;
}
