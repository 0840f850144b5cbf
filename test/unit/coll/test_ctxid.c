/* test_ctxid.c - coll/ctxid.c: ids are new and common, ids are used again, groups meet, the
 * failed one is named. */
#include "live.h"
#include "unit.h"

#include "obj/err.h"

Suite *suite_ctxid(void);

static struct rankmap *subset(int parity)
{
    int ranks[64], n = 0;
    for (int i = 0; i < boot_size(); i++)
        if (i % 2 == parity)
            ranks[n++] = i;
    return rankmap_make(ranks, n);
}

/* Every id is new: to this process while its communicator lives, and between the two halves. */
static void body_agree(void)
{
    uint64_t recv, send, half;
    live_start();
    struct comm *c = proc->obj->world, *dup[20];
    for (int i = 0; i < 20; i++) {
        ok(coll_comm_dup(c, &dup[i]));
        job_check(dup[i]->ctx_recv % CTX_STEP == 0 && dup[i]->ctx_recv == dup[i]->ctx_send);
        for (int k = 0; k < i; k++)
            job_check(dup[k]->ctx_recv != dup[i]->ctx_recv);
        int64_t v[2] = {dup[i]->ctx_recv, -(int64_t)dup[i]->ctx_recv};
        ok(coll_allreduce_i64(v, 2, COLL_MAX, dup[i])); /* the same everywhere, and it works */
        job_check(v[0] == dup[i]->ctx_recv && v[1] == -v[0]);
    }
    ok(coll_ctx_agree(c, &recv, &send));
    job_check(recv == send && recv != dup[0]->ctx_recv);
    struct rankmap *m = subset(c->rank % 2);
    ok(coll_ctx_agree_map(c, m, c->rank / 2, c->rank % 2 ? 0 : 0x7fffffff, &half));
    uint64_t all[8];
    ok(coll_allgather_bytes(&half, all, sizeof half, c));
    for (int i = 0; i < c->size; i++)
        job_check((all[i] == half) == (i % 2 == c->rank % 2));
    struct request *r;
    struct comm *later = comm_make(c->map, c->rank, NULL, CTX_NONE, CTX_NONE);
    ok(coll_ctx_iagree(c, later, &r));
    request_wait(r);
    ok(request_finish(r, NULL));
    job_check(later->ctx_recv && later->ctx_recv == later->ctx_send && comm_ctx(later) != recv);
    comm_drop(later);
    rankmap_drop(m);
    for (int i = 0; i < 20; i++)
        comm_drop(dup[i]);
    live_stop();
}

START_TEST(ids_are_new_and_common)
{
    ck_assert_int_eq(job_run(4, NULL, body_agree, 30), 0);
}
END_TEST

/* The counter goes round: ids that live are passed over, and when all live there is a clear
 * error. */
static void body_round(void)
{
    struct comm *dup[40];
    live_start();
    struct comm *c = proc->obj->world;
    proc->coll->ctx_bits = 4; /* 16 ids a process, 14 of them free at rank 0 */
    ok(coll_comm_dup(c, &dup[0]));
    for (int i = 0; i < 100; i++) {
        struct comm *d;
        ok(coll_comm_dup(c, &d));
        job_check(d->ctx_recv != dup[0]->ctx_recv && d->ctx_recv != CTX_WORLD &&
                  d->ctx_recv != CTX_SELF);
        comm_drop(d);
    }
    int n = 1, err = MPI_SUCCESS;
    while (!err && n < 40)
        err = coll_comm_dup(c, &dup[n++]);
    job_check(err_class(err) == MPI_ERR_OTHER && n - 1 == 14);
    for (int i = 0; i < n - 1; i++)
        comm_drop(dup[i]);
    ok(coll_comm_dup(c, &dup[0]));
    comm_drop(dup[0]);
    live_stop();
}

START_TEST(ids_are_used_again)
{
    ck_assert_int_eq(job_run(2, NULL, body_round, 30), 0);
}
END_TEST

/* Two groups meet, talk, and become one. */
static void body_inter(void)
{
    uint64_t local_id, recv, send, one;
    struct rankmap *remote;
    int64_t extra;
    live_start();
    struct comm *c = proc->obj->world;
    int half = c->rank % 2;
    struct rankmap *m = subset(half);
    ok(coll_ctx_agree_map(c, m, c->rank / 2, 0, &local_id));
    struct comm *local = comm_make(m, c->rank / 2, NULL, local_id, local_id);
    struct coll_leaders to = {c, 1 - half, 99, NULL};
    ok(coll_intercomm_exchange(local, 0, &to, &recv, &send, &remote, 100 + half, &extra));
    job_check(extra == 101 - half && recv != send);
    job_check(remote->size == c->size / 2 + (half ? c->size % 2 : 0));
    for (int i = 0; i < remote->size; i++)
        job_check(rankmap_world(remote, i) == 2 * i + 1 - half);
    struct comm *inter = comm_make(m, c->rank / 2, remote, recv, send);
    inter->local = local;
    ok(coll_run(&(struct coll_args){.call = COLL_BARRIER, .comm = inter}));
    uint64_t r2, s2;
    ok(coll_ctx_agree(inter, &r2, &s2));
    job_check(r2 != s2 && r2 != recv);
    ok(coll_ctx_merge(inter, &one));
    uint64_t all[8];
    ok(coll_allgather_bytes(&one, all, sizeof one, c));
    for (int i = 0; i < c->size; i++)
        job_check(all[i] == one);
    comm_drop(inter); /* and the local one with it */
    rankmap_drop(remote);
    rankmap_drop(m);
    live_stop();
}

START_TEST(groups_meet)
{
    for (int n = 2; n <= 5; n++)
        ck_assert_int_eq(job_run(n, NULL, body_inter, 30), 0);
}
END_TEST

/* Process 2 holds the leader for dead and 3 knows nothing: it learns whose death it was. What is no
 * id of the leader's is none. */
static void body_told(void)
{
    enum { LATER = 7 };
    uint64_t id, step = CTX_STEP;
    live_start();
    struct comm *c = proc->obj->world;
    volatile uint64_t *words = job_words();
    if (c->rank == 2) { /* before the leader's message comes, which would count */
        boot_fail_now(0, "for this test");
        while (!am_failed(0))
            progress_poll();
        words[0] = 1;
    }
    while (c->rank == 0 && !words[0])
        usleep(100);
    int err = coll_ctx_agree_map(c, c->map, c->rank, LATER, &id);
    job_check(c->rank < 2 || err_class(err) == MPIX_ERR_PROC_FAILED);
    job_check(c->rank == 2 || !boot_failed(0));
    if (c->rank == 2) {
        const uint64_t bad[] = {2, 3, 4 * step + 1, UINT32_MAX, (1u << proc->coll->ctx_bits) * step,
                                0};
        for (unsigned i = 0; i < 6; i++)
            job_check(p2p_send_world(&bad[i], sizeof *bad, 3, CTX_COLL, 2, INT_MIN | LATER) == 0);
    }
    for (int i = 0; i < 6 && c->rank == 3; i++)
        job_check(err_class(coll_ctx_agree_map(c, c->map, 3, LATER, &id)) == MPI_ERR_OTHER);
    job_check(rankmap_dead(c->map, 0) == (c->rank == 2 ? 0 : -1) && rankmap_dead(c->map, 1) == -1);
    job_check(boot_barrier() == 0);
    _exit(0); /* two of them would not meet again */
}

START_TEST(the_failed_one_is_named)
{
    ck_assert_int_eq(job_run(4, NULL, body_told, 30), 0);
}
END_TEST

Suite *suite_ctxid(void)
{
    Suite *s = suite_create("coll/ctxid");
    TCase *t = tcase_create("ctxid");
    tcase_set_timeout(t, 90);
    tcase_add_test(t, ids_are_new_and_common);
    tcase_add_test(t, ids_are_used_again);
    tcase_add_test(t, groups_meet);
    tcase_add_test(t, the_failed_one_is_named);
    suite_add_tcase(s, t);
    return s;
}
