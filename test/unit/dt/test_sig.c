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

Suite *suite_sig(void)
{
    Suite *s = suite_create("dt/sig");
    TCase *t = room_case("sig", 60);
    tcase_add_test(t, elements_against_model);
    tcase_add_test(t, runs_in_order);
    tcase_add_test(t, hash_depends_on_elements_only);
    suite_add_tcase(s, t);
    return s;
}
