/* test_schedule.c - coll/schedule.c: many at once, persistent starts again, mismatch is an error
 * and no hang. */
#include "live.h"
#include "unit.h"

#include <stdlib.h>

#include "obj/err.h"
#include "p2p/p2p_types.h"
#include "var/var.h"

Suite *suite_sched(void);

/* Many nonblocking collectives at once, waited for in reverse order: tags keep them apart. */
static void body_many(void)
{
    enum { N = 60 };
    struct request *r[N];
    int in[N], out[N];
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_INT);
    for (int i = 0; i < N; i++) {
        in[i] = c->rank + i;
        out[i] = i % c->size == c->rank ? i : -1;
        if (i % 3 == 0)
            ok(coll_ibcast(&out[i], 1, t, i % c->size, c, &r[i]));
        else if (i % 3 == 1)
            ok(coll_iallreduce(&in[i], &out[i], 1, t, dt_op_find(MPI_SUM), c, &r[i]));
        else
            ok(coll_ibarrier(c, &r[i]));
    }
    for (int i = N - 1; i >= 0; i--) {
        request_wait(r[i]);
        ok(request_finish(r[i], NULL));
        int sum = c->size * i + c->size * (c->size - 1) / 2;
        job_check(i % 3 == 2 || out[i] == (i % 3 ? sum : i));
    }
    live_stop();
}

START_TEST(many_at_once)
{
    ck_assert_int_eq(job_run(4, NULL, body_many, 30), 0);
}
END_TEST

static void body_persistent(void)
{
    struct request *r;
    int in, out;
    live_start();
    struct comm *c = proc->obj->world;
    struct coll_args a = {.call = COLL_ALLREDUCE, .comm = c, .sbuf = &in, .rbuf = &out, .rcount = 1,
                          .rtype = dt_find(MPI_INT), .op = dt_op_find(MPI_MAX)};
    ok(coll_prepare(&a, &r));
    job_check(!r->active);
    for (int i = 0; i < 20; i++) {
        in = c->rank * 10 + i;
        ok(request_start(r));
        request_wait(r);
        ok(request_finish(r, NULL));
        job_check(out == (c->size - 1) * 10 + i);
    }
    request_release(r);
    live_stop();
}

START_TEST(persistent_starts_again)
{
    ck_assert_int_eq(job_run(3, NULL, body_persistent, 30), 0);
}
END_TEST

static size_t counted(enum pvar_id id)
{
    return atomic_load(&pvar_proc()->v[id]);
}

/* Both processes copy the long messages of a blocking call: the sender waits in it. That of a
 * nonblocking one may compute, so the receiver reads its memory, if it can. */
static void body_long(void)
{
    enum { N = 300000 };
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_BYTE);
    struct request *r;
    char *b = calloc(N, 1);
    proc->p2p->crowded = 0;
    memset(b, c->rank ? 0 : 7, N);
    ok(coll_bcast(b, N, t, 0, c));
    size_t pulled = counted(PVAR_P2P_PULLED), read = counted(PVAR_P2P_READ);
    job_check(b[0] == 7 && b[N - 1] == 7);
    job_check(c->rank == 0 || (pulled > 0 && read == 0));
    memset(b, c->rank ? 0 : 8, N);
    ok(coll_ibcast(b, N, t, 0, c, &r));
    request_wait(r);
    ok(request_finish(r, NULL));
    job_check(b[0] == 8 && b[N - 1] == 8);
    job_check(c->rank == 0 || peer_get(0)->cma == P2P_CMA_REFUSED ||
              (counted(PVAR_P2P_PULLED) == pulled && counted(PVAR_P2P_READ) > 0));
    free(b);
    live_stop();
}

START_TEST(both_copy_what_a_blocking_call_sends)
{
    ck_assert_int_eq(job_run(2, NULL, body_long, 30), 0);
}
END_TEST

/* Mismatched lengths: an error at the receiver of too much, no hang for the others. The sender
 * of too little gets no error. */
static void body_mismatch(void)
{
    int buf[4] = {0};
    live_start();
    struct comm *c = proc->obj->world;
    struct request *r;
    ok(coll_ibcast(buf, c->rank == 1 ? 1 : 4, dt_find(MPI_INT), 0, c, &r));
    request_wait(r);
    int err = request_finish(r, NULL);
    job_check(c->rank == 1 ? err_class(err) == MPI_ERR_TRUNCATE : err == MPI_SUCCESS);
    live_stop();
}

START_TEST(mismatch_is_an_error_and_no_hang)
{
    ck_assert_int_eq(job_run(4, NULL, body_mismatch, 30), 0);
}
END_TEST

/* Rank 2 fails while rank 1 has not looked at what rank 0 sends: the schedule ends with an error,
 * and not before the message, whose memory the user may free then. */
static void body_given_up(void)
{
    static char big[1 << 20];
    volatile uint64_t *words = job_words();
    int got;
    live_start();
    struct comm *c = proc->obj->world;
    if (c->rank == 0) {
        struct coll_piece in = {2, &got, sizeof got}, out = {1, big, sizeof big};
        struct request *r;
        ok(coll_iexchange(c, &in, 1, &out, 1, &r));
        boot_fail_now(2, "for this test");
        for (int i = 0; i < 1000; i++)
            progress_poll();
        job_check(!r->done);
        words[0] = 1;
        request_wait(r);
        job_check(err_class(request_finish(r, NULL)) == MPIX_ERR_PROC_FAILED);
        words[1] = 1;
    } else if (c->rank == 1) {
        while (!words[0])
            usleep(1000);
        while (!words[1])
            progress_poll();
    }
    _exit(0);
}

/* Rank 1 sends and fails; rank 0 has not looked meanwhile. What came is taken before the failure
 * ends anything. */
static void body_sent_before(void)
{
    int v = 5, got = 0;
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_INT);
    if (c->rank == 1) {
        ok(coll_bcast(&v, 1, t, 1, c));
        ok(p2p_send(&v, 1, t, 0, 7, c, 0));
        live_leave();
    }
    job_check(boot_barrier() == 0);
    boot_fail_now(1, "for this test");
    ok(coll_bcast(&got, 1, t, 1, c));
    job_check(got == 5);
    ok(p2p_recv(&got, 1, t, 1, 7, c, 0, MPI_STATUS_IGNORE));
    job_check(err_class(coll_bcast(&got, 1, t, 1, c)) == MPIX_ERR_PROC_FAILED);
    int err = p2p_recv(&got, 1, t, 1, 7, c, 0, MPI_STATUS_IGNORE);
    job_check(err_class(err) == MPIX_ERR_PROC_FAILED);
    _exit(0);
}

START_TEST(what_was_sent_before_a_failure_counts)
{
    ck_assert_int_eq(job_run(2, NULL, body_sent_before, 30), 0);
}
END_TEST

START_TEST(a_schedule_ends_after_its_last_send)
{
    ck_assert_int_eq(job_run(3, NULL, body_given_up, 30), 0);
}
END_TEST

Suite *suite_sched(void)
{
    Suite *s = suite_create("coll/sched");
    TCase *t = tcase_create("sched");
    tcase_set_timeout(t, 90);
    tcase_add_test(t, many_at_once);
    tcase_add_test(t, persistent_starts_again);
    tcase_add_test(t, both_copy_what_a_blocking_call_sends);
    tcase_add_test(t, mismatch_is_an_error_and_no_hang);
    tcase_add_test(t, a_schedule_ends_after_its_last_send);
    tcase_add_test(t, what_was_sent_before_a_failure_counts);
    suite_add_tcase(s, t);
    return s;
}
