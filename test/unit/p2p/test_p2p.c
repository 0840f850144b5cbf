/* test_p2p.c - p2p/p2p.c: every size, every size between nodes, every size read from memory, to
 * oneself, no process. */
#include "live.h"
#include "unit.h"

#include <stdlib.h>

Suite *suite_p2p(void);

static const size_t sizes[] = {0, 1, 8, 4000, 8100, 8200, 30000, 65536, 65537, 200000, 3000000};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Every size, expected and not, by every mode: data, status, order. */
static void body_sizes(void)
{
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_CHAR);
    char *out = malloc(3000000), *in = malloc(3000000);
    for (int late = 0; late < 2; late++)
        for (int mode = P2P_STANDARD; mode <= P2P_READY; mode++)
            for (int i = 0; i < SIZES; i++) {
                struct request *r;
                MPI_Status st;
                size_t n = sizes[i];
                if (c->rank == 0) {
                    live_fill(out, n, (unsigned)i);
                    live_meet();
                    ok(p2p_isend(out, (MPI_Aint)n, t, 1, i, c, mode, &r));
                    if (late)
                        live_meet();
                    request_wait(r);
                    ok(request_finish(r, NULL));
                    continue;
                }
                memset(in, 0, n);
                if (!late)
                    ok(p2p_irecv(in, (MPI_Aint)n, t, 0, i, c, 0, &r));
                live_meet();
                if (late) {
                    live_meet();
                    ok(p2p_irecv(in, (MPI_Aint)n, t, MPI_ANY_SOURCE, MPI_ANY_TAG, c, 0, &r));
                }
                request_wait(r);
                ok(request_finish(r, &st));
                job_check(live_same(in, n, (unsigned)i));
                job_check(st.MPI_SOURCE == 0 && st.MPI_TAG == i && status_count(&st) == (int64_t)n);
            }
    free(in);
    free(out);
    live_stop();
}

START_TEST(every_size)
{
    ck_assert_int_eq(job_run(2, NULL, body_sizes, 60), 0);
}
END_TEST

START_TEST(every_size_between_nodes)
{
    static const char *const sets[] = {"MPIR_CVAR_NOLOCAL=1", NULL};
    ck_assert_int_eq(job_run(2, sets, body_sizes, 60), 0);
}
END_TEST

START_TEST(every_size_read_from_memory)
{
    static const char *const sets[] = {"MPIR_CVAR_P2P_CMA_MIN=0", "MPIR_CVAR_P2P_EAGER_MAX=0",
                                       NULL};
    ck_assert_int_eq(job_run(2, sets, body_sizes, 60), 0);
}
END_TEST

/* Messages to oneself, all sizes. */
static void body_self(void)
{
    live_start();
    struct comm *c = proc->obj->self;
    struct dt_type *t = dt_find(MPI_CHAR);
    char *out = malloc(3000000), *in = malloc(3000000);
    for (int i = 0; i < SIZES; i++) {
        struct request *r;
        live_fill(out, sizes[i], 3);
        memset(in, 0, sizes[i]);
        ok(p2p_isend(out, (MPI_Aint)sizes[i], t, 0, 5, c, i % 2 ? P2P_SYNC : 0, &r));
        ok(p2p_recv(in, (MPI_Aint)sizes[i], t, 0, 5, c, 0, NULL));
        request_wait(r);
        ok(request_finish(r, NULL));
        job_check(live_same(in, sizes[i], 3));
    }
    free(in);
    free(out);
    live_stop();
}

START_TEST(to_oneself)
{
    ck_assert_int_eq(job_run(1, NULL, body_self, 60), 0);
}
END_TEST

static void body_null(void)
{
    MPI_Status st;
    int x = 7;
    struct request *r;
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_INT);
    ok(p2p_send(&x, 1, t, MPI_PROC_NULL, 0, c, 0));
    ok(p2p_recv(&x, 1, t, MPI_PROC_NULL, 0, c, 0, &st));
    job_check(st.MPI_SOURCE == MPI_PROC_NULL && st.MPI_TAG == MPI_ANY_TAG &&
              status_count(&st) == 0 && x == 7);
    ok(p2p_recv_init(&x, 1, t, MPI_PROC_NULL, 0, c, 0, &r));
    for (int i = 0; i < 2; i++) {
        ok(request_start(r));
        request_wait(r);
        ok(request_finish(r, &st));
        job_check(st.MPI_SOURCE == MPI_PROC_NULL);
    }
    request_release(r);
    live_stop();
}

START_TEST(no_process)
{
    ck_assert_int_eq(job_run(1, NULL, body_null, 30), 0);
}
END_TEST

Suite *suite_p2p(void)
{
    Suite *s = suite_create("p2p/p2p");
    TCase *t = tcase_create("p2p");
    tcase_set_timeout(t, 180);
    tcase_add_test(t, every_size);
    tcase_add_test(t, every_size_between_nodes);
    tcase_add_test(t, every_size_read_from_memory);
    tcase_add_test(t, to_oneself);
    tcase_add_test(t, no_process);
    suite_add_tcase(s, t);
    return s;
}
