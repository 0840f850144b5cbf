/* test_probe.c - p2p/probe.c: probes. */
#include "live.h"
#include "unit.h"

Suite *suite_probe(void);

static void body(void)
{
    int x, flag, y[3] = {10, 11, 12};
    MPI_Status st;
    struct request *m, *none;
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_INT);
    if (c->rank == 0) {
        live_meet();
        for (int i = 0; i < 3; i++)
            ok(p2p_send(y, i + 1, t, 1, i, c, 0));
        live_meet();
    } else {
        ok(p2p_probe(0, 0, c, &flag, NULL, &st));
        job_check(!flag);
        live_meet();
        ok(p2p_probe(MPI_ANY_SOURCE, 1, c, NULL, NULL, &st)); /* blocking */
        job_check(st.MPI_SOURCE == 0 && st.MPI_TAG == 1 && status_count(&st) == 8);
        live_meet();
        /* the first sent; taken out of matching */
        ok(p2p_probe(0, MPI_ANY_TAG, c, &flag, &m, &st));
        job_check(flag && m && st.MPI_TAG == 0 && status_count(&st) == 4);
        ok(p2p_probe(0, 0, c, &flag, NULL, &st));
        job_check(!flag);
        int in[3];
        ok(p2p_recv(in, 3, t, 0, MPI_ANY_TAG, c, 0, &st));
        job_check(st.MPI_TAG == 1);
        ok(p2p_mrecv(&x, 1, t, m, NULL, &st));
        job_check(x == 10 && st.MPI_TAG == 0 && st.MPI_SOURCE == 0);
        ok(p2p_probe(0, 2, c, NULL, &m, &st));
        struct request *r;
        ok(p2p_imrecv(in, 3, t, m, &r));
        request_wait(r);
        ok(request_finish(r, &st));
        job_check(in[2] == 12 && status_count(&st) == 12);
    }
    ok(p2p_probe(MPI_PROC_NULL, 5, c, &flag, &none, &st));
    job_check(flag && !none && st.MPI_SOURCE == MPI_PROC_NULL && status_count(&st) == 0);
    x = 5;
    ok(p2p_mrecv(&x, 1, t, NULL, NULL, &st));
    job_check(x == 5 && st.MPI_SOURCE == MPI_PROC_NULL);
    live_stop();
}

START_TEST(probes)
{
    ck_assert_int_eq(job_run(2, NULL, body, 30), 0);
}
END_TEST

Suite *suite_probe(void)
{
    Suite *s = suite_create("p2p/probe");
    TCase *t = tcase_create("probe");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, probes);
    suite_add_tcase(s, t);
    return s;
}
