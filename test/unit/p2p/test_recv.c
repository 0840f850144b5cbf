/* test_recv.c - p2p/recv.c: too long a message, between two pieces. */
#include "live.h"
#include "unit.h"

#include <stdlib.h>

Suite *suite_recv(void);

/* Too long a message: an error that names both sizes, what fits is there, and nothing behind the
 * buffer changes. */
static void body_truncate(void)
{
    static const size_t len[] = {100, 20000, 400000};
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_CHAR);
    char *b = malloc(400000);
    for (int late = 0; late < 2; late++)
        for (int i = 0; i < 3; i++) {
            size_t n = len[i], room = n / 2;
            struct request *r;
            if (c->rank == 0) {
                live_fill(b, n, 9);
                live_meet();
                ok(p2p_isend(b, (MPI_Aint)n, t, 1, 0, c, 0, &r));
                if (late)
                    live_meet();
                request_wait(r);
                ok(request_finish(r, NULL));
                continue;
            }
            char text[MPI_MAX_ERROR_STRING];
            MPI_Status st;
            memset(b, 1, n);
            if (!late)
                ok(p2p_irecv(b, (MPI_Aint)room, t, 0, 0, c, 0, &r));
            live_meet();
            if (late) {
                live_meet();
                ok(p2p_irecv(b, (MPI_Aint)room, t, 0, 0, c, 0, &r));
            }
            request_wait(r);
            int err = request_finish(r, &st);
            job_check(err_class(err) == MPI_ERR_TRUNCATE);
            err_text(err, text, sizeof text);
            char size[32];
            snprintf(size, sizeof size, "%zu", n);
            job_check(strstr(text, size) != NULL);
            job_check(live_same(b, room, 9) && b[room] == 1 && b[n - 1] == 1);
        }
    free(b);
    live_stop();
}

START_TEST(too_long_a_message)
{
    static const char *const sets[] = {"MPIR_CVAR_NOLOCAL=1", NULL};
    ck_assert_int_eq(job_run(2, NULL, body_truncate, 30), 0);
    ck_assert_int_eq(job_run(2, sets, body_truncate, 30), 0);
}
END_TEST

/* A receive of a longer eager message may be posted between its pieces: it waits for the rest. */
static void body_half(void)
{
    live_start();
    struct comm *c = proc->obj->world;
    struct p2p_peer *p = peer_get(0);
    struct p2p_unex *u = malloc(sizeof *u + 10);
    struct request *r;
    char in[10];
    memset(u, 0, sizeof *u);
    u->type = P2P_EAGER;
    u->m = (struct p2p_match){c->ctx_recv, 0, 4, 0};
    u->size = 10;
    u->arrived = 4;
    memcpy(u->data, "0123", 4);
    match_keep(u);
    p->in_unex = u;
    ok(p2p_irecv(in, 10, dt_find(MPI_CHAR), 0, 4, c, 0, &r));
    job_check(!r->done && proc->p2p->unexpected == 0);
    recv_more(p, "456", 3);
    job_check(!r->done);
    recv_more(p, "789", 3);
    job_check(r->done && p->in_unex == NULL && !memcmp(in, "0123456789", 10));
    ok(request_finish(r, NULL));
    live_stop();
}

START_TEST(between_two_pieces)
{
    ck_assert_int_eq(job_run(1, NULL, body_half, 30), 0);
}
END_TEST

Suite *suite_recv(void)
{
    Suite *s = suite_create("p2p/recv");
    TCase *t = tcase_create("recv");
    tcase_set_timeout(t, 90);
    tcase_add_test(t, too_long_a_message);
    tcase_add_test(t, between_two_pieces);
    suite_add_tcase(s, t);
    return s;
}
