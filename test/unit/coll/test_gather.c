/* test_gather.c - coll/gather.c: blocks arrive in their places, every rank gathers. */
#include "fake.h"
#include "unit.h"

#include <string.h>

#include "var/var.h"

Suite *suite_gather(void);

enum { MANY = 1024 };
static int in[FAKE_MAX][MANY], out[FAKE_MAX][MANY];
static int counts[FAKE_MAX], displs[FAKE_MAX];

static void lay_out(int p, int vector, int n)
{
    /* Vector forms: irregular blocks, from the last rank to the first, with gaps. */
    int at = 3;
    for (int i = p - 1; i >= 0; i--) {
        counts[i] = vector ? (i * 3 + n) % 5 : n;
        displs[i] = vector ? at : i * n;
        at += counts[i] + 2;
    }
}

static int value(int from, int to, int k)
{
    return from * 10000 + to * 100 + k;
}

static void set_vectors(struct coll_args *a, int n)
{
    a->scount = a->rcount = n;
    a->scounts = a->rcounts = coll_ints(counts);
    a->sdispls = a->rdispls = coll_ints(displs);
}

static void gather(int p, int root, int n, int vector, int in_place, int all)
{
    fake_open(p, 0);
    fake_call(all      ? vector ? COLL_ALLGATHERV : COLL_ALLGATHER
              : vector ? COLL_GATHERV
                       : COLL_GATHER,
              fake_int(), NULL, root);
    lay_out(p, vector, n);
    memset(out, 0xff, sizeof out);
    for (int i = 0; i < p; i++) {
        int place = in_place && (all || i == root);
        for (int k = 0; k < counts[i]; k++)
            (place ? &out[i][displs[i]] : in[i])[k] = value(i, 0, k);
        set_vectors(&f.args[i], n);
        f.args[i].sbuf = place ? MPI_IN_PLACE : in[i];
        f.args[i].scount = counts[i];
        f.args[i].rbuf = all || i == root ? out[i] : NULL;
        if (!all && i != root) {
            f.args[i].rtype = NULL;
            f.args[i].rcounts.v = f.args[i].rdispls.v = NULL;
        }
    }
    fake_run();
    for (int i = 0; i < p; i++)
        for (int m = 0; m < p && (all || i == root); m++) {
            for (int k = 0; k < counts[m]; k++)
                job_check(out[i][displs[m] + k] == value(m, 0, k));
            job_check(!vector || out[i][displs[m] + counts[m]] == -1);
        }
    fake_close();
}

static void scatter(int p, int root, int n, int vector, int in_place)
{
    fake_open(p, 0);
    fake_call(vector ? COLL_SCATTERV : COLL_SCATTER, fake_int(), NULL, root);
    lay_out(p, vector, n);
    for (int m = 0; m < p; m++)
        for (int k = 0; k < counts[m]; k++)
            in[root][displs[m] + k] = value(root, m, k);
    memset(out, 0xff, sizeof out);
    for (int i = 0; i < p; i++) {
        set_vectors(&f.args[i], n);
        f.args[i].sbuf = i == root ? in[i] : NULL;
        f.args[i].rbuf = in_place && i == root ? MPI_IN_PLACE : out[i];
        f.args[i].rcount = counts[i];
        if (i != root) {
            f.args[i].stype = NULL;
            f.args[i].scounts.v = f.args[i].sdispls.v = NULL;
        }
    }
    fake_run();
    for (int i = 0; i < p; i++) {
        for (int k = 0; k < counts[i] && !(in_place && i == root); k++)
            job_check(out[i][k] == value(root, i, k));
        job_check(out[i][counts[i]] == -1);
    }
    fake_close();
}

static void each(void (*check)(int p, int root, int n))
{
    for (int p = 1; p <= 9; p++)
        for (int root = 0; root < p; root++)
            for (int n = 0; n < 8; n += n < 1 ? 1 : 6)
                check(p, root, n);
}

static void one_gather(int p, int root, int n)
{
    for (int x = 0; x < 4; x++)
        gather(p, root, n, x & 1, x >> 1, 0);
}

static void one_scatter(int p, int root, int n)
{
    for (int x = 0; x < 4; x++)
        scatter(p, root, n, x & 1, x >> 1);
}

static void one_allgather(int p, int root, int n)
{
    for (int x = 0; x < 4 && root == 0; x++)
        gather(p, 0, n, x & 1, x >> 1, 1);
}

static void body_gather(void)
{
    fake_init();
    fake_algorithms("gather=linear,scatter=linear");
    each(one_gather);
    each(one_scatter);
    fake_algorithms("gather=binomial,scatter=binomial");
    each(one_gather);
    each(one_scatter);
    fake_algorithms("");
}

static void body_allgather(void)
{
    fake_init();
    fake_algorithms("allgather=bruck");
    each(one_allgather);
    fake_algorithms("allgather=ring");
    each(one_allgather);
    fake_algorithms("");
}

START_TEST(blocks_arrive_in_their_places)
{
    ck_assert_int_eq(job_run(1, NULL, body_gather, 60), 0);
}
END_TEST

START_TEST(every_rank_gathers)
{
    ck_assert_int_eq(job_run(1, NULL, body_allgather, 60), 0);
}
END_TEST

Suite *suite_gather(void)
{
    Suite *s = suite_create("coll/gather");
    TCase *t = tcase_create("gather");
    tcase_set_timeout(t, 90);
    tcase_add_test(t, blocks_arrive_in_their_places);
    tcase_add_test(t, every_rank_gathers);
    suite_add_tcase(s, t);
    return s;
}
