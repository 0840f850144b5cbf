/* test_alltoall.c - coll/alltoall.c: each gets each others block, rings of two are not mixed up. */
#include "fake.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "obj/neighbors.h"
#include "var/var.h"

Suite *suite_alltoall(void);

enum { MANY = 1024 };
static int in[FAKE_MAX][MANY], out[FAKE_MAX][MANY];
static int scounts[FAKE_MAX][FAKE_MAX], rcounts[FAKE_MAX][FAKE_MAX], displs[FAKE_MAX],
    bytes[FAKE_MAX];
static MPI_Datatype types[FAKE_MAX];

static int value(int from, int to, int k)
{
    return from * 10000 + to * 100 + k;
}

static int count_of(enum coll_call call, int from, int to, int n)
{
    int lo = from < to ? from : to, hi = from < to ? to : from;
    return call == COLL_ALLTOALL ? n : (lo * 3 + hi * 5 + n) % 6; /* symmetric: in place wants it */
}

static void exchange(enum coll_call call, int p, int n, int in_place)
{
    fake_open(p, 0);
    fake_call(call, fake_int(), NULL, 0);
    memset(out, 0xff, sizeof out);
    for (int i = 0; i < p; i++) {
        displs[i] = call == COLL_ALLTOALL ? i * n : i * 8;
        bytes[i] = displs[i] * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    for (int i = 0; i < p; i++) {
        for (int m = 0; m < p; m++) {
            scounts[i][m] = count_of(call, i, m, n);
            rcounts[i][m] = count_of(call, m, i, n);
            for (int k = 0; k < scounts[i][m]; k++)
                (in_place ? out : in)[i][displs[m] + k] = value(i, m, k);
        }
        struct coll_args *a = &f.args[i];
        a->sbuf = in_place ? MPI_IN_PLACE : in[i];
        a->rbuf = out[i];
        a->scount = a->rcount = n;
        a->scounts = coll_ints(scounts[i]);
        a->rcounts = coll_ints(rcounts[i]);
        a->sdispls = a->rdispls = coll_ints(call == COLL_ALLTOALLW ? bytes : displs);
        a->stypes = a->rtypes = types;
    }
    fake_run();
    for (int i = 0; i < p; i++)
        for (int m = 0; m < p; m++)
            for (int k = 0; k < rcounts[i][m]; k++)
                job_check(out[i][displs[m] + k] == value(m, i, k));
    fake_close();
}

/* The first sends to all others, and no bytes come to it. */
static void from_one(int p)
{
    fake_open(p, 0);
    fake_call(COLL_ALLTOALLV, fake_int(), NULL, 0);
    memset(out, 0xff, sizeof out);
    memset(scounts, 0, sizeof scounts);
    memset(rcounts, 0, sizeof rcounts);
    for (int i = 0; i < p; i++) {
        displs[i] = i;
        in[0][i] = value(0, i, 0);
        scounts[0][i] = rcounts[i][0] = i > 0;
        f.args[i].sbuf = in[i];
        f.args[i].rbuf = out[i];
        f.args[i].scounts = coll_ints(scounts[i]);
        f.args[i].rcounts = coll_ints(rcounts[i]);
        f.args[i].sdispls = f.args[i].rdispls = coll_ints(displs);
    }
    fake_run();
    for (int i = 0; i < p; i++)
        job_check(out[i][0] == (i ? value(0, i, 0) : -1));
    fake_close();
}

static void body_exchange(void)
{
    static const char *const algorithms[] = {"alltoall=linear", "alltoall=bruck"};
    fake_init();
    for (int a = 0; a < 2; a++)
        for (int p = 1; p <= 9; p++)
            for (int n = 0; n < 6; n += n < 1 ? 1 : 4)
                for (int place = 0; place < 2; place++) {
                    fake_algorithms(algorithms[a]);
                    exchange(COLL_ALLTOALL, p, n, place);
                    exchange(COLL_ALLTOALLV, p, n, place);
                    exchange(COLL_ALLTOALLW, p, n, place);
                }
    fake_algorithms("");
    for (int p = 1; p <= 9; p++)
        from_one(p);
}

START_TEST(each_gets_each_others_block)
{
    ck_assert_int_eq(job_run(1, NULL, body_exchange, 60), 0);
}
END_TEST

/* A ring of p processes (periodic): what goes down arrives from above, also when both neighbours
 * are one process or this process itself. */
static void body_ring(void)
{
    fake_init();
    for (int p = 2; p <= 5; p++) {
        fake_open(p, 0);
        struct comm_topo *t = topo_make(TOPO_CART);
        t->ndims = 1;
        t->dims = malloc(sizeof(int));
        t->periods = malloc(sizeof(int));
        t->dims[0] = p;
        t->periods[0] = 1;
        fake_call(COLL_NEIGHBOR_ALLTOALL, fake_int(), NULL, 0);
        for (int i = 0; i < p; i++) {
            f.comm[i].topo = t;
            in[i][0] = value(i, 0, 0); /* down */
            in[i][1] = value(i, 1, 0); /* up */
            f.args[i].sbuf = in[i];
            f.args[i].rbuf = out[i];
            f.args[i].scount = f.args[i].rcount = 1;
        }
        fake_run();
        for (int i = 0; i < p; i++) {
            job_check(out[i][0] == value((i + p - 1) % p, 1, 0));
            job_check(out[i][1] == value((i + 1) % p, 0, 0));
        }
        topo_drop(t);
        fake_close();
    }
}

START_TEST(rings_of_two_are_not_mixed_up)
{
    ck_assert_int_eq(job_run(1, NULL, body_ring, 60), 0);
}
END_TEST

Suite *suite_alltoall(void)
{
    Suite *s = suite_create("coll/alltoall");
    TCase *t = tcase_create("alltoall");
    tcase_set_timeout(t, 90);
    tcase_add_test(t, each_gets_each_others_block);
    tcase_add_test(t, rings_of_two_are_not_mixed_up);
    suite_add_tcase(s, t);
    return s;
}
