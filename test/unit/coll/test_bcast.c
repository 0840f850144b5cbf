/* test_bcast.c - coll/bcast.c: every member gets the roots data, barrier takes log p rounds. */
#include "fake.h"
#include "unit.h"

#include <string.h>

#include "var/var.h"

Suite *suite_bcast(void);

struct pair { /* MPI_DOUBLE_INT: 12 bytes of data in 16 */
    double value;
    int index, gap;
};

static void bcast(int p, int root, int n, int scattered)
{
    static struct pair buf[FAKE_MAX][64];
    fake_open(p, 0);
    fake_call(COLL_BCAST, dt_find(scattered ? MPI_DOUBLE_INT : MPI_INT), NULL, root);
    for (int i = 0; i < p; i++) {
        memset(buf[i], 0x5a, sizeof buf[i]);
        f.args[i].rbuf = buf[i];
        f.args[i].rcount = n;
    }
    int *ints = (int *)buf[root];
    for (int k = 0; k < n; k++) {
        if (scattered)
            buf[root][k] = (struct pair){k * 1.5, k, 0x5a5a5a5a};
        else
            ints[k] = k * 3 + root;
    }
    fake_run();
    for (int i = 0; i < p; i++)
        job_check(memcmp(buf[i], buf[root], sizeof buf[i]) == 0);
    fake_close();
}

static void body_bcast(void)
{
    static const char *const algorithms[] = {"bcast=binomial", "bcast=scatter_ring"};
    fake_init();
    for (int a = 0; a < 2; a++)
        for (int p = 1; p <= 9; p++)
            for (int root = 0; root < p; root++)
                for (int n = 0; n <= 33; n += n < 2 ? 1 : 31) {
                    fake_algorithms(algorithms[a]);
                    bcast(p, root, n, 0);
                    bcast(p, root, n, 1);
                }
    fake_algorithms("");
}

START_TEST(every_member_gets_the_roots_data)
{
    ck_assert_int_eq(job_run(1, NULL, body_bcast, 60), 0);
}
END_TEST

/* No schedule may end before all have begun: run one member last. */
static void body_barrier(void)
{
    fake_init();
    for (int p = 2; p <= 9; p++) {
        fake_open(p, 0);
        fake_call(COLL_BARRIER, NULL, NULL, 0);
        long before = f.messages;
        fake_run();
        int rounds = 0;
        while (1 << rounds < p)
            rounds++;
        job_check(f.messages - before == (long)p * rounds);
        fake_close();
    }
}

START_TEST(barrier_takes_log_p_rounds)
{
    ck_assert_int_eq(job_run(1, NULL, body_barrier, 60), 0);
}
END_TEST

Suite *suite_bcast(void)
{
    Suite *s = suite_create("coll/bcast");
    TCase *t = tcase_create("bcast");
    tcase_set_timeout(t, 90);
    tcase_add_test(t, every_member_gets_the_roots_data);
    tcase_add_test(t, barrier_takes_log_p_rounds);
    suite_add_tcase(s, t);
    return s;
}
