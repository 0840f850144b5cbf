#include "live.h"
#include "unit.h"

#include <stdlib.h>

Suite *suite_offer(void);

enum { BIG = 300000 };

static const char *const always[] = {"MPIR_CVAR_P2P_PREPOST=2", NULL};

static uint64_t counted(enum pvar_id id)
{
    return atomic_load(&pvar_proc()->v[id]);
}

/* Rank 1 posts and leaves MPI; rank 0 sends.  Returns whether the data was there before rank 1
 * looked. */
static int exchange(char *b, size_t len, size_t room, unsigned seed)
{
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_CHAR);
    struct request *r;
    MPI_Status st;
    int there = 0;
    if (c->rank == 0) {
        live_fill(b, len, seed);
        ok(p2p_recv(NULL, 0, t, 1, 1, c, 0, NULL));
        ok(p2p_send(b, (MPI_Aint)len, t, 1, 2, c, 0));
        job_check(boot_barrier() == 0);
    } else if (c->rank == 1) {
        memset(b, 1, BIG);
        ok(p2p_irecv(b, (MPI_Aint)room, t, 0, 2, c, 0, &r));
        ok(p2p_send(NULL, 0, t, 0, 1, c, 0));
        if (len <= room)
            job_check(boot_barrier() == 0); /* the send ends without this process */
        there = live_same(b, len, seed);
        request_wait(r);
        int err = request_finish(r, &st);
        job_check(err_class(err) == (len > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
        job_check(live_same(b, len < room ? len : room, seed) && (room == BIG || b[room] == 1));
        if (len > room)
            job_check(boot_barrier() == 0);
    }
    live_meet();
    return there;
}

/* The first exchange finds out that offers are taken. */
static void body_hit(void)
{
    live_start();
    char *b = malloc(BIG);
    struct comm *c = proc->obj->world;
    struct request *r;
    if (c->rank == 1) {
        ok(p2p_irecv(b, BIG, dt_find(MPI_CHAR), 0, 3, c, 0, &r));
        live_meet();
        request_wait(r);
        ok(request_finish(r, NULL));
    } else {
        live_meet();
        ok(p2p_send(b, 10, dt_find(MPI_CHAR), 1, 3, c, 0));
    }
    live_meet();
    for (unsigned i = 0; i < 3; i++)
        job_check(exchange(b, BIG - i, BIG, i) == c->rank);
    exchange(b, BIG, BIG / 2, 7);
    if (c->rank == 0)
        job_check(counted(PVAR_P2P_OFFERS_WRITTEN) + counted(PVAR_P2P_OFFERS_LATE) == 3);
    else
        job_check(counted(PVAR_P2P_OFFERS) >= 4 && counted(PVAR_P2P_OFFERS_MISSED) >= 1);
    job_check(proc->p2p->malformed == 0);
    free(b);
    live_stop();
}

START_TEST(written_while_it_computes)
{
    ck_assert_int_eq(job_run(2, always, body_hit, 60), 0);
}
END_TEST

/* A cancel meets a claim.  Its message does not come, because the sender could not write, gave the
 * word back, and cancelled what had not left: the receive is cancelled when VOID comes. */
static void body_cancel(void)
{
    live_start();
    struct comm *c = proc->obj->world;
    char *b = malloc(BIG);
    struct request *hello, *r;
    MPI_Status st;
    int flag = 0;
    if (c->rank == 1)
        ok(p2p_irecv(b, BIG, dt_find(MPI_CHAR), 0, 3, c, 0, &hello));
    live_meet(); /* rank 0 takes offers now, and has the first one */
    live_meet();
    if (c->rank == 1) {
        ok(p2p_irecv(b, BIG, dt_find(MPI_CHAR), 0, 4, c, 0, &r));
        struct p2p_req *q = (struct p2p_req *)r;
        job_check(q->offer != 0);
        const struct p2p_offers *o = proc->p2p->offers;
        unsigned slot = q->offer - 1;
        atomic_store(&o->word[slot].w, word_make(o->version[slot], WORD_CLAIMED, 99));
        ok(r->ops->cancel(r));
        job_check(!r->done && q->offer);
        atomic_store(&o->word[slot].w, word_make(o->version[slot], WORD_OPEN, 0));
        request_wait(r); /* for ever, if the wish is lost */
        ok(request_finish(r, &st));
        flag = st.count_hi_and_cancelled & 1;
        job_check(flag && ((struct p2p_req *)hello)->state == P2P_POSTED);
    }
    live_meet();
    if (c->rank == 0) {
        ok(p2p_send(b, 10, dt_find(MPI_CHAR), 1, 3, c, 0));
    } else {
        request_wait(hello);
        ok(request_finish(hello, NULL));
    }
    live_meet();
    job_check(proc->p2p->malformed == 0);
    free(b);
    live_stop();
}

START_TEST(cancelled_after_a_claim)
{
    ck_assert_int_eq(job_run(2, always, body_cancel, 60), 0);
}
END_TEST

Suite *suite_offer(void)
{
    Suite *s = suite_create("p2p/offer");
    TCase *t = tcase_create("offer");
    tcase_set_timeout(t, 90);
    tcase_add_test(t, cancelled_after_a_claim);
    suite_add_tcase(s, t);
    /* an emulator of processors refuses process_vm_writev */
    TCase *k = tcase_create("kernel");
    tcase_set_timeout(k, 90);
    tcase_set_tags(k, "kernel");
    tcase_add_test(k, written_while_it_computes);
    suite_add_tcase(s, k);
    return s;
}
