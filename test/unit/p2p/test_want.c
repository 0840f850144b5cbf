#include "live.h"
#include "unit.h"

#include <stdlib.h>

Suite *suite_want(void);

enum { BIG = 300000 };

static const char *const always[] = {"MPIR_CVAR_P2P_PREPOST=2", NULL};

/* What a hostile or broken peer may send about offers. */
static void forge(int type, const void *msg, size_t len)
{
    struct iovec v = {(void *)(uintptr_t)msg, len};
    int rc;
    while ((rc = am_request(0, type, &v, 1, 0)) == AM_AGAIN)
        progress_poll();
    job_check(rc == 0);
}

static void forge_offers(void)
{
    struct p2p_prepost m = {.slot = P2P_OFFERS};
    struct p2p_forget f = {{0}};
    struct p2p_void v = {.gen = 1};
    struct p2p_written w = {1, 1, 0};
    forge(P2P_PREPOST, &m, sizeof m); /* before FORGET */
    forge(P2P_VOID, &v, sizeof v);    /* not asked for */
    forge(P2P_WRITTEN, &w, sizeof w);
    forge(P2P_FORGET, &f, sizeof f);
    forge(P2P_PREPOST, &m, sizeof m); /* no such word */
    m.slot = 0;
    m.seen = 1000; /* what was not sent */
    forge(P2P_PREPOST, &m, sizeof m);
    m.seen = 0;
    m.gen = 1;
    forge(P2P_PREPOST, &m, sizeof m); /* words that are not there: it takes none any more */
}

static void body_hostile(void)
{
    live_start();
    struct comm *c = proc->obj->world;
    char *b = malloc(BIG);
    struct request *r;
    if (c->rank == 1)
        forge_offers();
    live_meet();
    if (c->rank == 0)
        job_check(proc->p2p->malformed == 5 && peer_get(1)->wants->n == 0 &&
                  !peer_get(1)->wants->word);
    /* a message that claims to be written, and is not */
    struct p2p_rts h = {.m = {c->ctx_send, c->src, 9, 0}, .size = 10, .flags = P2P_RTS_WRITTEN};
    if (c->rank == 1) {
        h.m.tag = 8; /* no receive */
        forge(P2P_RTS, &h, sizeof h);
        live_meet();
        h.m.tag = 9;
        forge(P2P_RTS, &h, sizeof h);
    } else {
        ok(p2p_irecv(b, 10, dt_find(MPI_CHAR), 1, 9, c, 0, &r));
        live_meet();
        request_wait(r);
        job_check(err_class(request_finish(r, NULL)) == MPI_ERR_OTHER);
        job_check(proc->p2p->malformed == 7);
    }
    live_meet();
    free(b);
    live_stop();
}

START_TEST(hostile_offers)
{
    ck_assert_int_eq(job_run(2, always, body_hostile, 60), 0);
}
END_TEST

/* Where the kernel refuses to write, all goes as without offers. */
static void body_refused(void)
{
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_CHAR);
    struct request *r;
    char *b = malloc(BIG);
    if (c->rank == 0)
        peer_get(1)->cma = P2P_CMA_REFUSED;
    for (unsigned i = 0; i < 4; i++) {
        if (c->rank == 0) {
            live_fill(b, BIG, i);
            ok(p2p_recv(NULL, 0, t, 1, 1, c, 0, NULL));
            ok(p2p_send(b, BIG, t, 1, 2, c, 0));
        } else {
            memset(b, 0, BIG);
            ok(p2p_irecv(b, BIG, t, 0, 2, c, 0, &r));
            ok(p2p_send(NULL, 0, t, 0, 1, c, 0));
            request_wait(r);
            ok(request_finish(r, NULL));
            job_check(live_same(b, BIG, i));
        }
        live_meet();
    }
    struct pvar_set *v = pvar_proc();
    job_check(atomic_load(&v->v[PVAR_P2P_OFFERS_WRITTEN]) == 0 &&
              atomic_load(&v->v[PVAR_P2P_OFFERS_LATE]) == 0);
    job_check((c->rank == 1) == (atomic_load(&v->v[PVAR_P2P_OFFERS_MISSED]) > 0));
    free(b);
    live_stop();
}

START_TEST(writing_is_refused)
{
    ck_assert_int_eq(job_run(2, always, body_refused, 60), 0);
}
END_TEST

/* The first receive of rank 0 has been offered to rank 1 when this returns. */
static struct request *offered(char *b, int tag)
{
    struct comm *c = proc->obj->world;
    struct request *r = NULL;
    if (c->rank == 0)
        ok(p2p_irecv(b, BIG, dt_find(MPI_CHAR), 1, tag, c, 0, &r));
    live_meet(); /* rank 1 takes offers now */
    live_meet();
    if (c->rank == 0)
        job_check(((struct p2p_req *)r)->offer != 0);
    else
        job_check(peer_get(0)->wants->n == 1);
    return r;
}

/* A part that cannot be written: there is no other try, all is pulled, and the time of that is not
 * taken for the time of a pull. */
static void body_part(void)
{
    live_start();
    struct comm *c = proc->obj->world;
    char *b = malloc(BIG), ways[sizeof proc->p2p->near_ways];
    struct request *r = offered(b, 2);
    memcpy(ways, &proc->p2p->near_ways, sizeof ways);
    if (c->rank == 0) {
        ((struct p2p_req *)r)->began = 1;
    } else {
        struct p2p_req *q;
        const struct p2p_peer *p = peer_get(0);
        live_fill(b, BIG, 5);
        ok(send_make(b, BIG, dt_find(MPI_CHAR), 0, 2, c, 0, &q));
        job_check(want_begin(q));
        q->late->w.addr = 64; /* nothing lies there */
        want_fill(q, 0, BIG / 2);
        job_check(q->late->failed && p->cma == P2P_CMA_REFUSED);
        want_fill(q, BIG / 2, BIG - BIG / 2);
        job_check(q->late->failed && p->cma == P2P_CMA_REFUSED);
        want_filled(q);
        r = &q->r;
    }
    request_wait(r);
    ok(request_finish(r, NULL));
    job_check(live_same(b, BIG, 5) && proc->p2p->malformed == 0);
    job_check(memcmp(ways, &proc->p2p->near_ways, sizeof ways) == 0);
    live_meet();
    free(b);
    live_stop();
}

START_TEST(a_part_is_refused)
{
    ck_assert_int_eq(job_run(2, always, body_part, 60), 0);
}
END_TEST

/* Claims the first want and sends what h says about it. */
static void forge_claim(struct p2p_rts h)
{
    struct comm *c = proc->obj->world;
    const struct p2p_peer *p = peer_get(0);
    const struct p2p_want *w = &p->wants->want[0];
    h.m = (struct p2p_match){c->ctx_send, c->src, w->tag, p->seq_out};
    h.sreq += w->rreq;
    atomic_store(&p->wants->word[w->slot].w, word_make(w->version, WORD_CLAIMED, p->seq_out));
    forge(P2P_RTS, &h, sizeof h);
}

/* A claim for a message without bytes, which no sender writes, does not make its receive wait. What
 * was written into another receive ends it, too. */
static void body_claims(void)
{
    live_start();
    struct comm *c = proc->obj->world;
    char *b = malloc(BIG);
    for (unsigned i = 0; i < 2; i++) {
        struct request *r = offered(b, 2 + (int)i);
        if (c->rank == 1) {
            forge_claim(i ? (struct p2p_rts){.sreq = 1, .size = 9, .flags = P2P_RTS_WRITTEN}
                          : (struct p2p_rts){.size = 0});
            peer_get(0)->wants->n = 0;
        } else {
            request_wait(r);
            job_check(err_class(request_finish(r, NULL)) == MPI_ERR_OTHER);
            job_check(proc->p2p->malformed == i + 1);
        }
        live_meet();
    }
    free(b);
    live_stop();
}

START_TEST(claims_that_do_not_fit)
{
    ck_assert_int_eq(job_run(2, always, body_claims, 60), 0);
}
END_TEST

Suite *suite_want(void)
{
    Suite *s = suite_create("p2p/want");
    TCase *t = tcase_create("want");
    tcase_set_timeout(t, 90);
    tcase_add_test(t, hostile_offers);
    tcase_add_test(t, writing_is_refused);
    tcase_add_test(t, a_part_is_refused);
    tcase_add_test(t, claims_that_do_not_fit);
    suite_add_tcase(s, t);
    return s;
}
