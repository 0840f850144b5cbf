#include "live.h"
#include "unit.h"

#include <stdlib.h>

Suite *suite_send(void);

/* Seven flood one that does not receive: what it holds stays within the window of each (P5), and when it does
 * receive, all arrives in order. */
static void body_flood(void)
{
    enum { N = 3000, LEN = 500 };
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_CHAR);
    if (c->rank) {
        static char out[N][LEN];
        static struct request *r[N];
        for (int i = 0; i < N; i++) {
            live_fill(out[i], LEN, (unsigned)(i + c->rank));
            ok(p2p_isend(out[i], LEN, t, 0, 3, c, 0, &r[i]));
            job_check(peer_get(0)->eager_out <= (size_t)cvar.p2p_eager_window);
        }
        live_meet();
        for (int i = 0; i < N; i++) {
            request_wait(r[i]);
            ok(request_finish(r[i], NULL));
        }
    } else {
        char in[LEN];
        live_meet(); /* all has been sent, or waits at its sender */
        size_t held = 0;
        for (int bin = 0; bin < P2P_UNEX_BINS; bin++)
            for (struct list *l = proc->p2p->unex[0][bin].next; l != &proc->p2p->unex[0][bin]; l = l->next) {
                struct p2p_unex *u = LIST_OBJ(l, struct p2p_unex, link[0]);
                held += u->type == P2P_RTS ? 0 : u->arrived;
            }
        job_check(held > 0 && held <= 7 * (size_t)cvar.p2p_eager_window);
        for (int i = 0; i < N; i++)
            for (int from = 1; from < 8; from++) {
                ok(p2p_recv(in, LEN, t, from, 3, c, 0, NULL));
                job_check(live_same(in, LEN, (unsigned)(i + from)));
            }
    }
    live_stop();
}

START_TEST(flood_is_bounded)
{
    static const char *const sets[] = {"MPIR_CVAR_P2P_EAGER_WINDOW=32768", NULL};
    ck_assert_int_eq(job_run(8, NULL, body_flood, 120), 0);
    ck_assert_int_eq(job_run(8, sets, body_flood, 120), 0);
}
END_TEST

/* A synchronous send ends only when it is matched; a standard one of few bytes at once. */
static void body_modes(void)
{
    int x = 1, y = 2;
    struct request *r;
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_INT);
    if (c->rank == 0) {
        ok(p2p_isend(&x, 1, t, 1, 1, c, P2P_SYNC, &r));
        ok(p2p_send(&y, 1, t, 1, 2, c, P2P_STANDARD));
        live_meet();
        job_check(!r->done);
        live_meet();
        request_wait(r);
        ok(request_finish(r, NULL));
    } else {
        int z;
        live_meet();
        ok(p2p_recv(&z, 1, t, 0, 2, c, 0, NULL));
        job_check(z == 2);
        live_meet();
        ok(p2p_recv(&z, 1, t, 0, 1, c, 0, NULL));
        job_check(z == 1);
    }
    live_stop();
}

START_TEST(synchronous_waits_for_the_match)
{
    ck_assert_int_eq(job_run(2, NULL, body_modes, 30), 0);
}
END_TEST

/* Short, longer and long messages in turn, one tag: order must hold across all the ways they travel. */
static void body_order(void)
{
    static const size_t len[] = {10, 20000, 100, 300000, 0, 70000, 8000};
    enum { N = 210 };
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_CHAR);
    if (c->rank == 0) {
        char *out[N];
        struct request *r[N];
        for (int i = 0; i < N; i++) {
            out[i] = malloc(len[i % 7] + 1);
            live_fill(out[i], len[i % 7], (unsigned)i);
            ok(p2p_isend(out[i], (MPI_Aint)len[i % 7], t, 1, 3, c, 0, &r[i]));
        }
        for (int i = 0; i < N; i++) {
            request_wait(r[i]);
            ok(request_finish(r[i], NULL));
            free(out[i]);
        }
    } else {
        char *in = malloc(300000);
        for (int i = 0; i < N; i++) {
            MPI_Status st;
            ok(p2p_recv(in, 300000, t, 0, i % 3 ? 3 : MPI_ANY_TAG, c, 0, &st));
            job_check(status_count(&st) == (int64_t)len[i % 7] && live_same(in, len[i % 7], (unsigned)i));
        }
        free(in);
    }
    live_stop();
}

START_TEST(order_holds_across_protocols)
{
    static const char *const sets[] = {"MPIR_CVAR_NOLOCAL=1", NULL};
    static const char *const tight[] = {"MPIR_CVAR_SHM_CELLS=4", "MPIR_CVAR_SHM_CELL_BYTES=512", NULL};
    ck_assert_int_eq(job_run(2, NULL, body_order, 60), 0);
    ck_assert_int_eq(job_run(2, sets, body_order, 60), 0);
    /* no single copy: windows of segments bounded by the few cells */
    static const char *const tight_far[] = {"MPIR_CVAR_SHM_CELLS=4", "MPIR_CVAR_SHM_CELL_BYTES=512", "MPIR_CVAR_NOLOCAL=1", NULL};
    ck_assert_int_eq(job_run(2, tight, body_order, 60), 0);
    ck_assert_int_eq(job_run(2, tight_far, body_order, 60), 0);
}
END_TEST

Suite *suite_send(void)
{
    Suite *s = suite_create("p2p/send");
    TCase *t = tcase_create("send");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, flood_is_bounded);
    tcase_add_test(t, synchronous_waits_for_the_match);
    tcase_add_test(t, order_holds_across_protocols);
    suite_add_tcase(s, t);
    return s;
}
