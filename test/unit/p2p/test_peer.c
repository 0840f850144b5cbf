/* test_peer.c - p2p/peer.c: credit returns, sends queue in order; a failed peer. */
#include "live.h"
#include "unit.h"

#include <malloc.h>

#include "boot/boot.h"

Suite *suite_peer(void);

/* Credit comes back as messages are taken; after all is received less than a quarter of the window
 * is out. */
static void body_credit(void)
{
    enum { N = 20000 };
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_INT);
    for (int i = 0; i < N; i++) {
        int x = i;
        if (c->rank == 0) {
            ok(p2p_send(&x, 1, t, 1, 0, c, 0));
        } else {
            ok(p2p_recv(&x, 1, t, 0, 0, c, 0, NULL));
            job_check(x == i);
        }
    }
    live_meet();
    live_meet();
    job_check(peer_get(1 - c->rank)->eager_in * 4 < (size_t)cvar.p2p_eager_window);
    job_check(peer_get(1 - c->rank)->eager_out * 4 <= (size_t)cvar.p2p_eager_window + 4096);
    live_stop();
}

START_TEST(credit_returns)
{
    ck_assert_int_eq(job_run(2, NULL, body_credit, 60), 0);
}
END_TEST

/* Rings of four cells: sends queue at the peer, in order, and the hook goes when nothing is pending
 * (P4). */
static void body_queue(void)
{
    enum { N = 300 };
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_INT);
    static struct request *r[N];
    static int x[N];
    if (c->rank == 0) {
        for (int i = 0; i < N; i++) {
            x[i] = i;
            ok(p2p_isend(&x[i], 1, t, 1, 0, c, 0, &r[i]));
        }
        job_check(!list_empty(&peer_get(1)->pending) && !list_empty(&proc->p2p->busy));
        job_words()[0] = 1;
        for (int i = 0; i < N; i++) {
            request_wait(r[i]);
            ok(request_finish(r[i], NULL));
        }
        job_check(list_empty(&peer_get(1)->pending) && list_empty(&proc->p2p->busy));
    } else {
        while (*(volatile uint64_t *)&job_words()[0] == 0)
            ;
        for (int i = 0; i < N; i++) {
            int y;
            ok(p2p_recv(&y, 1, t, 0, 0, c, 0, NULL));
            job_check(y == i);
        }
    }
    live_stop();
}

START_TEST(sends_queue_in_order)
{
    static const char *const sets[] = {"MPIR_CVAR_SHM_CELLS=4", NULL};
    ck_assert_int_eq(job_run(2, sets, body_queue, 60), 0);
}
END_TEST

/* The peer fails before it answers MPI_Cancel of short messages that had left. Their requests are
 * memory that was never used, and not 0. */
static void body_unanswered(void)
{
    enum { N = 40 };
    mallopt(M_PERTURB, 0xa5);
    live_start();
    struct comm *c = proc->obj->world;
    live_meet();
    job_check(boot_barrier() == 0); /* in live_meet() rank 1 would still answer */
    if (c->rank == 0) {
        struct request *r[N];
        int x = 7;
        for (int i = 0; i < N; i++) {
            ok(p2p_isend(&x, 1, dt_find(MPI_INT), 1, 5, c, 0, &r[i]));
            job_check(r[i]->done);
        }
        for (int i = 0; i < N; i++) {
            ok(r[i]->ops->cancel(r[i]));
            job_check(!r[i]->done && r[i]->peer == 1);
        }
        boot_fail_now(1, "for this test");
        for (int i = 0; i < N; i++) {
            request_wait(r[i]);
            job_check(err_class(request_finish(r[i], NULL)) == MPIX_ERR_PROC_FAILED);
        }
    }
    job_check(boot_barrier() == 0);
    _exit(0);
}

START_TEST(a_cancel_that_the_dead_do_not_answer)
{
    ck_assert_int_eq(job_run(2, NULL, body_unanswered, 60), 0);
}
END_TEST

Suite *suite_peer(void)
{
    Suite *s = suite_create("p2p/peer");
    TCase *t = tcase_create("peer");
    tcase_set_timeout(t, 180);
    tcase_add_test(t, credit_returns);
    tcase_add_test(t, sends_queue_in_order);
    tcase_add_test(t, a_cancel_that_the_dead_do_not_answer);
    suite_add_tcase(s, t);
    return s;
}
