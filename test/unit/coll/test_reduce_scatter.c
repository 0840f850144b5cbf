/* test_reduce_scatter.c - coll/reduce_scatter.c: each gets its block. */
#include "fake.h"
#include "unit.h"

#include <string.h>

#include "var/var.h"

Suite *suite_reduce_scatter(void);

enum { MANY = 256 };
static uint64_t in[FAKE_MAX][MANY], out[FAKE_MAX][MANY];
static int counts[FAKE_MAX];

/* even: the _block form with `even` elements each; else irregular counts, some 0. */
static void check(int p, int even, int ordered, int in_place)
{
    int n = 0, at = 0;
    fake_open(p, 0);
    fake_call(even ? COLL_REDUCE_SCATTER_BLOCK : COLL_REDUCE_SCATTER, fake_map_type(),
              ordered ? fake_compose() : dt_op_find(MPI_SUM), 0);
    for (int i = 0; i < p; i++)
        n += counts[i] = even ? even : (i * 5) % 7;
    for (int i = 0; i < p; i++) {
        for (int k = 0; k < n; k++)
            in[i][k] = ordered ? fake_map(i, k) : (uint64_t)(i * 1000 + k);
        memcpy(out[i], in[i], sizeof in[i]);
        f.args[i].sbuf = in_place ? MPI_IN_PLACE : in[i];
        f.args[i].rbuf = out[i];
        f.args[i].rcount = even;
        f.args[i].rcounts = coll_ints(counts);
    }
    fake_run();
    for (int i = 0; i < p; at += counts[i++])
        for (int k = 0; k < counts[i]; k++) {
            uint64_t sum = 0;
            for (int m = 0; m < p; m++)
                sum += (uint64_t)(m * 1000 + at + k);
            job_check(out[i][k] == (ordered ? fake_map_range(0, p, at + k) : sum));
        }
    fake_close();
}

static void body(void)
{
    static const char *const algorithms[] = {"reduce_scatter=binomial", "reduce_scatter=pairwise"};
    fake_init();
    for (int a = 0; a < 2; a++)
        for (int p = 1; p <= 9; p++)
            for (int x = 0; x < 4; x++) {
                fake_algorithms(algorithms[a]);
                check(p, 0, x & 1, x >> 1);
                check(p, 1, x & 1, x >> 1);
                check(p, 9, x & 1, x >> 1);
            }
    fake_algorithms("");
}

START_TEST(each_gets_its_block)
{
    ck_assert_int_eq(job_run(1, NULL, body, 60), 0);
}
END_TEST

Suite *suite_reduce_scatter(void)
{
    Suite *s = suite_create("coll/reduce_scatter");
    TCase *t = tcase_create("reduce_scatter");
    tcase_set_timeout(t, 90);
    tcase_add_test(t, each_gets_its_block);
    suite_add_tcase(s, t);
    return s;
}
