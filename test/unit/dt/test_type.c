/* test_type.c - constructors: size, bounds, basic type, alignment against the model; overflow; long
 * chains; darray. */
#include "model.h"

#include "obj/err.h"

Suite *suite_type(void);

static void check_type(const struct model *m)
{
    const struct dt_type *t = m->type;
    int64_t lo, hi;
    ck_assert_int_eq(t->size, model_size(m));
    ck_assert_int_eq(t->lb, m->lb);
    ck_assert_int_eq(t->extent, m->ub - m->lb);
    model_bounds(m, 1, &lo, &hi);
    ck_assert_int_eq(t->true_lb, lo);
    ck_assert_int_eq(t->true_ub, hi);
    for (size_t count = 0; count < 4; count++) {
        int64_t a, b;
        model_bounds(m, count, &lo, &hi);
        ck_assert_int_eq(dt_bounds(t, count, &a, &b), MPI_SUCCESS);
        ck_assert(a == lo && b == hi);
    }
    struct dt_type *basic = m->n ? m->e[0].basic : NULL;
    for (size_t i = 1; i < m->n; i++)
        if (m->e[i].basic != basic)
            basic = NULL;
    if (m->n)
        ck_assert_ptr_eq(t->basic, basic);
    if (t->flags & DT_CONTIG)
        ck_assert(t->size == 0 || (t->extent == t->size && t->true_ub - t->true_lb == t->size));
}

START_TEST(against_model)
{
    for (uint64_t seed = 0; seed < 6000; seed++) {
        struct rng r = {seed};
        struct model m = model_random(&r, 1 + (int)(seed % 5), 400, NULL);
        check_type(&m);
        model_free(&m);
    }
}
END_TEST

START_TEST(overflow_is_an_error)
{
    struct dt_type *t = dt_find(MPI_DOUBLE), *big, *bad = NULL;
    ck_assert_int_eq(dt_make_contiguous(1ll << 59, t, &big), MPI_SUCCESS);
    ck_assert_int_eq(err_class(dt_make_contiguous(4, big, &bad)), MPI_ERR_COUNT);
    ck_assert_int_eq(err_class(dt_make_vector(3, 1, 1ll << 3, big, &bad)), MPI_ERR_COUNT);
    ck_assert_int_eq(err_class(dt_make_resized(t, INT64_MAX, 5, &bad)), MPI_ERR_COUNT);
    const int64_t lens[2] = {1, 1}, off[2] = {INT64_MIN, INT64_MAX - 8};
    struct dt_type *types[2] = {t, t};
    ck_assert_int_eq(err_class(dt_make_struct(2, lens, off, types, &bad)), MPI_ERR_COUNT);
    ck_assert_int_eq(err_class(dt_make_indexed_b(2, lens, 0, off, t, &bad)), MPI_ERR_COUNT);
    ck_assert_int_eq(err_class(dt_make_indexed(2, lens, 0, off, t, &bad)), MPI_ERR_COUNT);
    const int64_t dims[3] = {1ll << 30, 1ll << 30, 4}, ones[3] = {1, 1, 1}, zeros[3] = {0, 0, 0};
    ck_assert_int_eq(err_class(dt_make_subarray(3, dims, ones, zeros, MPI_ORDER_C, t, &bad)),
                     MPI_ERR_COUNT);
    size_t bytes;
    int64_t lo, hi;
    ck_assert_int_eq(err_class(dt_total(big, 8, &bytes)), MPI_ERR_COUNT);
    ck_assert_int_eq(err_class(dt_bounds(big, SIZE_MAX, &lo, &hi)), MPI_ERR_COUNT);
    ck_assert_ptr_null(bad);
    dt_drop(big);
}
END_TEST

/* Types nested without end: depth stays bounded, nothing recurses along the chain. */
/* Is a byte of count instances of one model in those of the other? */
static int share_bytes(const struct model *a, size_t n, const struct model *b, size_t m)
{
    for (size_t i = 0; i < n * a->n; i++)
        for (size_t j = 0; j < m * b->n; j++) {
            const struct entry *x = &a->e[i % a->n], *y = &b->e[j % b->n];
            int64_t p = x->off + (int64_t)(i / a->n) * (a->ub - a->lb);
            int64_t q = y->off + (int64_t)(j / b->n) * (b->ub - b->lb);
            if (p < q + y->bytes && q < p + x->bytes)
                return 1;
        }
    return 0;
}

START_TEST(overlap_is_true)
{
    int said = 0, apart = 0;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct rng r = {seed};
        struct model a = model_random(&r, 1 + (int)(seed % 3), 12, NULL);
        struct model b = model_random(&r, 1 + (int)(seed % 3), 12, NULL);
        size_t n = (size_t)rng_range(&r, 0, 3), m = (size_t)rng_range(&r, 0, 3);
        int share = share_bytes(&a, n, &b, m), says = dt_overlap(a.type, n, b.type, m);
        ck_assert(share || !says);
        if (dt_is_block(a.type, n) && dt_is_block(b.type, m))
            ck_assert_int_eq(says, share);
        ck_assert_int_eq(dt_overlap(a.type, n, a.type, m), share_bytes(&a, n, &a, m));
        said += says;
        apart += !share;
        model_free(&a);
        model_free(&b);
    }
    ck_assert(said > 10 && apart > 10);
}
END_TEST

START_TEST(long_chains)
{
    struct dt_type *t = dt_ref(dt_find(MPI_INT)), *next;
    const int64_t lens[2] = {1, 1};
    for (int i = 0; i < 2000; i++) {
        const int64_t off[2] = {0, 8 * i + 8};
        struct dt_type *types[2] = {t, dt_find(i % 2 ? MPI_SHORT : MPI_INT)};
        ck_assert_int_eq(dt_make_struct(2, lens, off, types, &next), MPI_SUCCESS);
        struct dt_contents c = {.combiner = MPI_COMBINER_STRUCT, .ntypes = 1, .types = &t};
        ck_assert_int_eq(dt_contents_set(next, &c), MPI_SUCCESS);
        dt_drop(t);
        t = next;
    }
    ck_assert_int_le(t->node->depth, NODE_DEPTH_MAX);
    ck_assert_int_le(t->sig->depth, NODE_DEPTH_MAX);
    ck_assert_int_eq(t->size, 4 + 1000 * 6);
    dt_drop(t);
    t = dt_ref(dt_find(MPI_INT));
    for (int i = 0; i < 200000; i++) {
        ck_assert_int_eq(dt_make_resized(t, 0, 4 + i % 2 * 4, &next), MPI_SUCCESS);
        struct dt_contents c = {.combiner = MPI_COMBINER_RESIZED, .ntypes = 1, .types = &t};
        ck_assert_int_eq(dt_contents_set(next, &c), MPI_SUCCESS);
        dt_drop(t);
        t = next;
    }
    dt_drop(t); /* frees 200,000 types: not by recursion */
}
END_TEST

START_TEST(markers)
{
    struct dt_type *t, *u;
    const int64_t lens[3] = {1, 1, 1}, off[3] = {-4, 0, 20};
    struct dt_type *types[3] = {dt_find(MPI_LB), dt_find(MPI_INT), dt_find(MPI_UB)};
    ck_assert_int_eq(dt_make_struct(3, lens, off, types, &t), MPI_SUCCESS);
    ck_assert_int_eq(t->lb, -4);
    ck_assert_int_eq(t->extent, 24);
    ck_assert_int_eq(t->size, 4);
    ck_assert_int_eq(dt_make_contiguous(2, t, &u), MPI_SUCCESS);
    ck_assert_int_eq(u->lb, -4);
    ck_assert_int_eq(u->extent, 48);
    dt_drop(t);
    dt_drop(u);
    const int64_t off2[2] = {0, 6};
    struct dt_type *types2[2] = {dt_find(MPI_INT), dt_find(MPI_UB)};
    ck_assert_int_eq(dt_make_struct(2, lens, off2, types2, &t), MPI_SUCCESS);
    ck_assert_int_eq(t->extent, 6); /* a marker: no padding */
    dt_drop(t);
}
END_TEST

/* Owner of global index g in one dimension, by the definition. */
static int owner(int64_t g, int64_t n, int dist, int darg, int p)
{
    int64_t k = darg;
    if (dist == MPI_DISTRIBUTE_NONE)
        return 0;
    if (darg == MPI_DISTRIBUTE_DFLT_DARG)
        k = dist == MPI_DISTRIBUTE_CYCLIC ? 1 : (n + p - 1) / p;
    return (int)(g / k % p);
}

static void check_darray(struct rng *r)
{
    int nd = (int)rng_range(r, 1, 3), dist[3], darg[3], ps[3], size = 1;
    int order = rng_next(r) & 1 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    int64_t gs[3], all = 1;
    for (int d = 0; d < nd; d++) {
        static const int kinds[3] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC,
                                     MPI_DISTRIBUTE_NONE};
        gs[d] = rng_range(r, 1, 9);
        dist[d] = kinds[rng_next(r) % 3];
        ps[d] = dist[d] == MPI_DISTRIBUTE_NONE ? 1 : (int)rng_range(r, 1, 3);
        darg[d] = MPI_DISTRIBUTE_DFLT_DARG;
        if (dist[d] == MPI_DISTRIBUTE_CYCLIC && rng_next(r) & 1)
            darg[d] = (int)rng_range(r, 1, 4);
        if (dist[d] == MPI_DISTRIBUTE_BLOCK && rng_next(r) & 1)
            darg[d] = (int)((gs[d] + ps[d] - 1) / ps[d]) + (int)rng_range(r, 0, 2);
        size *= ps[d];
        all *= gs[d];
    }
    for (int rank = 0; rank < size; rank++) {
        struct dt_type *t;
        int *data = calloc((size_t)all, sizeof *data),
            *out = malloc((size_t)(all + 1) * sizeof *out);
        size_t n = 0;
        int coord[3], rest = rank;
        for (int d = nd - 1; d >= 0; d--) {
            coord[d] = rest % ps[d];
            rest /= ps[d];
        }
        ck_assert_int_eq(
            dt_make_darray(size, rank, nd, gs, dist, darg, ps, order, dt_find(MPI_INT), &t),
            MPI_SUCCESS);
        ck_assert_int_eq(t->extent, all * 4);
        for (int64_t i = 0; i < all; i++)
            data[i] = (int)i;
        ck_assert_uint_eq(dt_pack(t, 1, data, 0, out, (size_t)all * 4), (size_t)t->size);
        for (int64_t i = 0; i < all; i++) {
            int64_t left = i;
            int mine = 1;
            for (int k = 0; k < nd; k++) {
                int d = order == MPI_ORDER_C ? nd - 1 - k : k;
                mine &= owner(left % gs[d], gs[d], dist[d], darg[d], ps[d]) == coord[d];
                left /= gs[d];
            }
            if (mine)
                ck_assert_int_eq(out[n++], (int)i);
        }
        ck_assert_int_eq(t->size, (int64_t)n * 4);
        dt_drop(t);
        free(data);
        free(out);
    }
}

START_TEST(darray_against_owner)
{
    struct rng r = {77};
    for (int i = 0; i < 400; i++)
        check_darray(&r);
}
END_TEST

Suite *suite_type(void)
{
    Suite *s = suite_create("dt/type");
    TCase *t = room_case("type", 60);
    tcase_add_test(t, against_model);
    tcase_add_test(t, overflow_is_an_error);
    tcase_add_test(t, overlap_is_true);
    tcase_add_test(t, long_chains);
    tcase_add_test(t, markers);
    tcase_add_test(t, darray_against_owner);
    suite_add_tcase(s, t);
    return s;
}
