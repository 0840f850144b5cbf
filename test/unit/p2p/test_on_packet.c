/* test_on_packet.c - p2p/on_packet.c: forged. */
#include "live.h"
#include "unit.h"

#include <stdlib.h>

Suite *suite_on_packet(void);

/* Packets as a hostile or broken peer would send them: nothing of them is used, and the honest ones
 * still work. */

static void forge(int type, const void *msg, size_t len)
{
    struct iovec v = {(void *)(uintptr_t)msg, len};
    int rc;
    while ((rc = am_request(0, type, &v, 1, 0)) == AM_AGAIN)
        progress_poll();
    job_check(rc == 0);
}

enum { BIG = 200000, GUARD = 64 };

static char *guarded(size_t n)
{
    char *m = malloc(n + 2 * GUARD);
    job_check(m != NULL);
    memset(m, 0x5a, n + 2 * GUARD);
    return m + GUARD;
}

static int guards_hold(const char *m, size_t n)
{
    for (int i = 1; i <= GUARD; i++)
        if (m[-i] != 0x5a || m[n + (size_t)i - 1] != 0x5a)
            return 0;
    return 1;
}

/* Every packet too short and too long; names that name nothing. */
static void forge_lengths(void)
{
    _Alignas(8) char zero[4096] = {0}, ones[256];
    memset(ones, 0xff, sizeof ones);
    for (int type = P2P_EAGER_SYNC; type < P2P_PACKETS_END; type++)
        for (size_t len = 0; len < 60; len++)
            if (type != P2P_EAGER_SYNC && type != P2P_EAGER_MORE) {
                forge(type, ones, len);
                if (type != P2P_CANCEL && !(type == P2P_RTS && len == sizeof(struct p2p_rts)))
                    forge(type, zero, len);
            }
    for (size_t len = 0; len < sizeof(struct p2p_match); len++) {
        forge(P2P_EAGER, ones, len);
        forge(P2P_EAGER_SYNC, ones, len);
        forge(P2P_EAGER_MORE, ones, len);
    }
    forge(P2P_EAGER_MORE, ones, 200);
    struct p2p_rts r = {.m = {77, 1, 1, 0}, .size = 100, .nruns = 3};
    forge(P2P_RTS, &r, sizeof r); /* runs that are not there */
    memcpy(zero, &r, sizeof r);
    ((struct p2p_rts *)zero)->nruns = P2P_RTS_RUNS + 1;
    forge(P2P_RTS, zero, sizeof r + (P2P_RTS_RUNS + 1) * sizeof(struct p2p_run));
    struct p2p_eager_first f = {{77, 1, 1, 0}, UINT32_MAX, 0};
    forge(P2P_EAGER_FIRST, &f, sizeof f);
    f.size = P2P_EAGER_LIMIT + 1;
    forge(P2P_EAGER_FIRST, &f, sizeof f);
}

static void body_forged(void)
{
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_CHAR);
    char *b = guarded(BIG);
    struct request *r;
    if (c->rank == 1)
        forge_lengths();
    live_meet();
    job_check(proc->p2p->unexpected == 0);
    /* A message of three pieces whose second one is too long, and a credit for more than was
     * sent. */
    if (c->rank == 1) {
        struct {
            struct p2p_eager_first h;
            char data[100];
        } f = {{{c->ctx_send, 1, 5, 0}, 300, 0}, {0}};
        memset(f.data, 1, sizeof f.data);
        forge(P2P_EAGER_FIRST, &f, sizeof f.h + sizeof f.data);
        forge(P2P_EAGER_FIRST, &f, sizeof f.h + sizeof f.data); /* nothing comes between */
        char more[sizeof(struct p2p_match) + 201] = {0};
        forge(P2P_EAGER_MORE, more, sizeof more);
        forge(P2P_EAGER_MORE, more, sizeof more - 1);
        struct p2p_ack a = {.bytes = 1000000};
        forge(P2P_ACK, &a, sizeof a);
    } else {
        ok(p2p_recv(b, 300, t, 1, 5, c, 0, NULL));
        job_check(b[0] == 1 && b[99] == 1 && b[100] == 0 && b[299] == 0 && b[300] == 0x5a &&
                  guards_hold(b, BIG));
        job_check(peer_get(1)->eager_out <= (size_t)cvar.p2p_eager_window);
    }
    live_meet();
    /* Rank 0 sends; rank 1 asks for what is not there. */
    struct p2p_pull bad[] = {{0, 1, 0, BIG + 1, 100, 100}, {0, 1, BIG, BIG, 1, 1},
                             {0, 1, BIG + 1, BIG, 0, 1},   {0, 1, UINT64_MAX, BIG, 100, 100},
                             {0, 1, 0, BIG, 100, 0},       {0, 1, 0, BIG, UINT32_MAX, 1},
                             {0, 1, 0, BIG, BIG, BIG},     {0, 1, 0, BIG, 9, 1}};
    if (c->rank == 0) {
        live_fill(b, BIG, 3);
        ok(p2p_isend(b, BIG, t, 1, 6, c, P2P_SYNC, &r));
        ok(p2p_send(&((struct p2p_req *)r)->wire_id, 8, dt_find(MPI_BYTE), 1, 7, c, 0));
    } else {
        uint64_t name;
        ok(p2p_recv(&name, 8, dt_find(MPI_BYTE), 0, 7, c, 0, NULL));
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            bad[i].sreq = name;
            forge(P2P_PULL, &bad[i], sizeof bad[i]);
        }
        struct p2p_cancel not_asked = {.sreq = name, .done = 1};
        forge(P2P_CANCELLED, &not_asked, sizeof not_asked);
        struct p2p_fin wrong = {name + 1};
        forge(P2P_FIN, &wrong, sizeof wrong);
        memset(b, 0, BIG);
        ok(p2p_recv(b, BIG, t, 0, 6, c, 0, NULL));
        job_check(live_same(b, BIG, 3));
    }
    if (c->rank == 0) {
        request_wait(r);
        ok(request_finish(r, NULL));
        job_check(list_empty(&proc->p2p->open));
    }
    job_check(guards_hold(b, BIG));
    free(b - GUARD);
    live_stop();
}

START_TEST(forged)
{
    static const char *const far[] = {"MPIR_CVAR_NOLOCAL=1", NULL};
    ck_assert_int_eq(job_run(2, NULL, body_forged, 60), 0);
    ck_assert_int_eq(job_run(2, far, body_forged, 60), 0);
}
END_TEST

Suite *suite_on_packet(void)
{
    Suite *s = suite_create("on_packet");
    TCase *t = tcase_create("forged");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, forged);
    suite_add_tcase(s, t);
    return s;
}
