/* test_rows.c - align/digest.c, row by row: what two processes must give alike in each call, and
 * beside it what the standard lets them give in their own way. */
#include "unit.h"

#include <mpi.h>
#include <string.h>

#include "align/align_types.h"
#include "boot/boot.h"
#include "dt/dt.h"
#include "dt/make.h"
#include "var/var.h"

Suite *suite_rows(void);

enum { MEMBERS = 3 };
static struct dt_type *t_int, *t_float, *t_double, *t_packed, *pair; /* pair: of two ints */
static struct comm first, second, mine, theirs; /* of ranks 0 and 1; the last two between groups */
static struct dt_op sum = {.index = DT_SUM, .commute = 1}, max = {.index = DT_MAX, .commute = 1};
static struct dt_op user = {.commute = 1}, other_user = {.commute = 1}, ordered = {.commute = 0};
static char buf[8];

static void setup(void)
{
    char why[256];
    ck_assert_int_eq(var_init(why, sizeof why), 0);
    ck_assert_int_eq(boot_init(NULL), 0);
    ck_assert_int_eq(obj_init(), 0);
    ck_assert_int_eq(dt_init(), 0);
    t_int = dt_find(MPI_INT);
    t_float = dt_find(MPI_FLOAT);
    t_double = dt_find(MPI_DOUBLE);
    t_packed = dt_find(MPI_PACKED);
    ck_assert_int_eq(dt_make_contiguous(2, t_int, &pair), 0);
    first = (struct comm){.rank = 0, .size = MEMBERS};
    second = (struct comm){.rank = 1, .size = MEMBERS};
    mine = theirs = first;
    mine.remote = theirs.remote = (struct rankmap *)buf; /* that there is one is all that counts */
}

static void teardown(void)
{
    dt_drop(pair);
    dt_finalize();
    obj_finalize();
    boot_finalize();
    var_finalize();
}

/* As align.c does: the call goes into the history, and what Alltoallv names beside it. */
static struct align_view noted(struct align_history *h, const struct coll_args *a,
                               enum watch_form form, struct align_entry *e)
{
    struct align_call c;
    digest_coll(a, form, &c);
    ck_assert_int_eq(history_add(h, &c, buf, 8), 0);
    if (a->call == COLL_ALLTOALLV)
        history_elements(h, a);
    ck_assert_uint_eq(history_copy(h, e, 1), 1);
    return (struct align_view){.calls = 1, .first = 1, .soft = h->soft, .e = e,
                               .between = a->comm->remote != NULL, .rank = a->comm->rank};
}

static int forms_alike(const struct coll_args *a, enum watch_form of_a, const struct coll_args *b,
                       enum watch_form of_b)
{
    struct align_history h = {0}, g = {0};
    struct align_entry x, y;
    struct align_view v = noted(&h, a, of_a, &x), w = noted(&g, b, of_b, &y);
    int differ = views_differ(&v, &w) != 0;
    ck_assert_int_eq(differ, views_differ(&w, &v) != 0);
    free(h.ring);
    free(g.ring);
    return !differ;
}

static int alike(const struct coll_args *a, const struct coll_args *b)
{
    return forms_alike(a, WATCH_BLOCKING, b, WATCH_BLOCKING);
}

/* The second process of a call that the first one makes as it stands in a. */
static struct coll_args partner(const struct coll_args *a)
{
    struct coll_args b = *a;
    b.comm = &second;
    return b;
}

static struct coll_args args(enum coll_call call)
{
    return (struct coll_args){.call = call, .comm = &first};
}

/* --- rows ----------------------------------------------------------------------------------- */

START_TEST(each_call_and_form_is_itself)
{
    for (int i = 0; i < COLL_CALLS; i++)
        for (int j = 0; j < COLL_CALLS; j++) {
            struct coll_args a = args((enum coll_call)i), b = args((enum coll_call)j);
            b.comm = &second;
            ck_assert_int_eq(alike(&a, &b), i == j);
        }
    for (int f = WATCH_BLOCKING; f <= WATCH_PERSISTENT; f++)
        for (int g = WATCH_BLOCKING; g <= WATCH_PERSISTENT; g++) {
            struct coll_args a = args(COLL_BARRIER), b = partner(&a);
            ck_assert_int_eq(forms_alike(&a, (enum watch_form)f, &b, (enum watch_form)g), f == g);
        }
}
END_TEST

START_TEST(roots_count_where_there_is_one)
{
    const unsigned with = 1u << COLL_BCAST | 1u << COLL_REDUCE | 1u << COLL_GATHER |
                          1u << COLL_GATHERV | 1u << COLL_SCATTER | 1u << COLL_SCATTERV;
    for (int i = 0; i < COLL_CALLS; i++) {
        struct coll_args a = args((enum coll_call)i), b = partner(&a);
        b.root = 2;
        ck_assert_int_eq(alike(&a, &b), !(with >> i & 1));
    }
}
END_TEST

START_TEST(operations)
{
    const enum coll_call calls[] = {COLL_REDUCE, COLL_ALLREDUCE, COLL_SCAN, COLL_EXSCAN,
                                    COLL_REDUCE_SCATTER, COLL_REDUCE_SCATTER_BLOCK};
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct coll_args a = args(calls[i]), b;
        a.op = &sum;
        b = partner(&a);
        ck_assert(alike(&a, &b));
        b.op = &max;
        ck_assert(!alike(&a, &b));
        b.op = &user;
        ck_assert(!alike(&a, &b));
        a.op = &other_user; /* a number of its own in each process */
        ck_assert(alike(&a, &b));
        a.op = &ordered;
        ck_assert(!alike(&a, &b));
    }
}
END_TEST

/* What stands in (rtype, rcount) of all: the data as they are, not how they are put together. */
START_TEST(data_of_all)
{
    const enum coll_call calls[] = {COLL_BCAST, COLL_REDUCE, COLL_ALLREDUCE, COLL_SCAN,
                                    COLL_EXSCAN, COLL_REDUCE_SCATTER_BLOCK, COLL_ALLGATHER,
                                    COLL_ALLTOALL};
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct coll_args a = args(calls[i]), b;
        a.rtype = t_int;
        a.rcount = 4;
        b = partner(&a);
        b.sbuf = MPI_IN_PLACE; /* in its own way */
        b.stype = t_double;
        b.scount = 77;
        ck_assert(alike(&a, &b));
        b.rtype = pair;
        b.rcount = 2;
        ck_assert(alike(&a, &b));
        b.rcount = 3;
        ck_assert(!alike(&a, &b));
        b.rtype = t_float; /* as many bytes */
        b.rcount = 4;
        ck_assert(!alike(&a, &b));
        b.rtype = t_packed;
        b.rcount = 16;
        ck_assert(alike(&a, &b));
        b.rcount = 15;
        ck_assert(!alike(&a, &b));
        a.rcount = b.rcount = 0; /* of any type */
        b.rtype = t_double;
        ck_assert(alike(&a, &b));
    }
}
END_TEST

/* Each amount is another call, also where the entry has no room for it. Of packed data the amount
 * is all that is compared. */
START_TEST(amounts_beyond_the_entry)
{
    const MPI_Aint amounts[] = {0, 1, 1ll << 32, BYTES_MANY - 1, BYTES_MANY, BYTES_NONE,
                                1ll << 33, (1ll << 33) + 1, 1ll << 40, (1ll << 40) + 1, 1ll << 62};
    const int n = sizeof amounts / sizeof *amounts;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            struct coll_args a = args(COLL_BCAST), b;
            a.rtype = t_packed;
            a.rcount = amounts[i];
            b = partner(&a);
            b.rcount = amounts[j];
            ck_assert_int_eq(alike(&a, &b), i == j);
        }
}
END_TEST

/* Gather and scatter: the root names one part on its one side, the others on their other. */
START_TEST(parts_of_a_root)
{
    for (int gather = 0; gather < 2; gather++) {
        struct coll_args root = args(gather ? COLL_GATHER : COLL_SCATTER), b = partner(&root);
        struct dt_type **part = gather ? &root.rtype : &root.stype;
        struct dt_type **other = gather ? &b.stype : &b.rtype;
        MPI_Aint *n = gather ? &root.rcount : &root.scount, *m = gather ? &b.scount : &b.rcount;
        *part = t_int;
        *n = 2;
        *other = pair;
        *m = 1;
        ck_assert(alike(&root, &b));
        *(gather ? &root.sbuf : (const void **)&root.rbuf) = MPI_IN_PLACE;
        *(gather ? &root.stype : &root.rtype) = NULL;
        *(gather ? &b.rtype : &b.stype) = t_double; /* not significant off the root */
        *(gather ? &b.rcount : &b.scount) = 99;
        ck_assert(alike(&root, &b));
        *m = 2;
        ck_assert(!alike(&root, &b));
        *other = t_float;
        ck_assert(!alike(&root, &b));
        *other = t_packed;
        *m = 8;
        ck_assert(alike(&root, &b));
    }
}
END_TEST

/* Amounts that match in pairs differ between processes. */
START_TEST(amounts_of_pairs)
{
    const enum coll_call calls[] = {
        COLL_GATHERV, COLL_ALLGATHERV, COLL_SCATTERV, COLL_ALLTOALLV, COLL_ALLTOALLW,
        COLL_NEIGHBOR_ALLGATHER, COLL_NEIGHBOR_ALLGATHERV, COLL_NEIGHBOR_ALLTOALL,
        COLL_NEIGHBOR_ALLTOALLV, COLL_NEIGHBOR_ALLTOALLW};
    static const int some[MEMBERS] = {1, 0, 5}, more[MEMBERS] = {7, 2, 0};
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct coll_args a = args(calls[i]), b;
        a.stype = a.rtype = t_int;
        a.scount = a.rcount = 1;
        a.scounts = a.rcounts = coll_ints(some);
        b = partner(&a);
        b.scount = b.rcount = 5;
        b.scounts = b.rcounts = coll_ints(more);
        ck_assert(alike(&a, &b));
        if (calls[i] == COLL_ALLGATHERV) /* each names the elements of all */
            continue;
        b.stype = b.rtype = t_double;
        ck_assert(alike(&a, &b));
    }
}
END_TEST

START_TEST(elements_that_all_name)
{
    static const int none[MEMBERS], one[MEMBERS] = {0, 4, 0}, each[MEMBERS] = {1, 1, 1};
    struct coll_args a = args(COLL_ALLGATHERV), b;
    a.rtype = t_int;
    a.rcounts = coll_ints(one);
    b = partner(&a);
    b.rtype = pair;
    ck_assert(alike(&a, &b));
    b.rtype = t_float;
    ck_assert(!alike(&a, &b));
    b.rcounts = a.rcounts = coll_ints(none);
    ck_assert(alike(&a, &b));
    a = args(COLL_ALLTOALLV);
    a.stype = a.rtype = t_int;
    a.scounts = a.rcounts = coll_ints(each);
    b = partner(&a);
    b.rtype = t_float;
    ck_assert(!alike(&a, &b));
    b.rcounts = coll_ints(one); /* it may have to do with others than the first */
    ck_assert(alike(&a, &b));
}
END_TEST

START_TEST(counts_of_a_reduction_for_all)
{
    static const int some[MEMBERS] = {1, 2, 5}, turned[MEMBERS] = {2, 1, 5};
    static const int64_t wide[MEMBERS] = {1, 2, 5};
    struct coll_args a = args(COLL_REDUCE_SCATTER), b;
    a.rtype = t_int;
    a.op = &sum;
    a.rcounts = coll_ints(some);
    b = partner(&a);
    b.rtype = t_float;
    ck_assert(!alike(&a, &b));
    b.rtype = t_int;
    b.rcounts = coll_wide(wide);
    for (int level = CHECK_WATCH; level <= CHECK_STRICT; level++) {
        cvar.coll_check = level;
        b.rcounts = coll_wide(wide);
        ck_assert(alike(&a, &b));
        b.rcounts = coll_ints(turned);
        ck_assert_int_eq(alike(&a, &b), level < CHECK_STRICT);
    }
    a.comm = &mine; /* each group has its own */
    b.comm = &theirs;
    ck_assert(alike(&a, &b));
}
END_TEST

START_TEST(between_groups)
{
    struct coll_args a = args(COLL_BCAST), b;
    a.comm = &mine;
    a.rtype = t_int;
    a.rcount = 1;
    a.root = MPI_ROOT;
    b = a;
    b.comm = &theirs;
    b.root = 0;
    b.rcount = 4;
    ck_assert(alike(&a, &b));
    b.root = MPI_PROC_NULL;
    b.rtype = t_double;
    ck_assert(alike(&a, &b));
    b.call = COLL_GATHER;
    ck_assert(!alike(&a, &b));
    a.call = b.call = COLL_ALLREDUCE;
    a.op = &sum;
    b.op = &max;
    ck_assert(!alike(&a, &b));
}
END_TEST

Suite *suite_rows(void)
{
    Suite *s = suite_create("rows");
    TCase *t = tcase_create("digest");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, each_call_and_form_is_itself);
    tcase_add_test(t, roots_count_where_there_is_one);
    tcase_add_test(t, operations);
    tcase_add_test(t, data_of_all);
    tcase_add_test(t, amounts_beyond_the_entry);
    tcase_add_test(t, parts_of_a_root);
    tcase_add_test(t, amounts_of_pairs);
    tcase_add_test(t, elements_that_all_name);
    tcase_add_test(t, counts_of_a_reduction_for_all);
    tcase_add_test(t, between_groups);
    suite_add_tcase(s, t);
    return s;
}
