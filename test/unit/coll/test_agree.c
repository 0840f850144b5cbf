/* test_agree.c - coll/agree.c: what is agreed on, failures that are acknowledged by all or not,
 * messages that break the rules, records that are freed. */
#include "live.h"
#include "unit.h"

#include "boot/boot_types.h"
#include "coll/agree.h"
#include "coll/survive.h"
#include "obj/err.h"
#include "obj/failed.h"
#include "var/var.h"

Suite *suite_agree(void);

static void body_flag(void)
{
    live_start();
    struct comm *c = proc->obj->world;
    for (int i = 0; i < 3; i++) {
        int flag = ~(1 << (c->rank + i));
        ok(coll_agree(c, &flag));
        job_check(flag == ~(((1 << c->size) - 1) << i));
    }
    if (c->size > 1) { /* different calls: an error at all */
        struct comm *made = NULL;
        int any = 1, err = c->rank ? coll_agree(c, &any) : coll_shrink(c, &made);
        job_check(err_class(err) == MPI_ERR_OTHER && !made);
    }
    int flag = 1;
    ok(coll_agree(c, &flag));
    live_stop();
}

START_TEST(bits_that_all_have_set)
{
    for (int n = 1; n <= 6; n++)
        ck_assert_int_eq(job_run(n, NULL, body_flag, 30), 0);
}
END_TEST

/* As MPIX_Comm_ack_failed does it: first this process deals with the failure. */
static void see_and_ack(struct comm *c)
{
    while (failed_count(c, comm_failed) < 1)
        progress_poll();
    comm_ack(c);
}

static void body_acked(void)
{
    live_start();
    struct comm *c = proc->obj->world;
    int flag = 3, i = 0;
    live_lose(c, c->size - 1);
    job_check(err_class(coll_agree(c, &flag)) == MPIX_ERR_PROC_FAILED && flag == 3);
    if (c->rank == 0)
        see_and_ack(c);
    flag = c->rank ? 6 : 3;
    job_check(err_class(coll_agree(c, &flag)) == MPIX_ERR_PROC_FAILED);
    job_check(flag == 2);
    if (c->rank)
        see_and_ack(c);
    job_check(comm_acked(c, &i) == c->size - 1 && comm_acked(c, &i) == -1);
    ok(coll_agree(c, &flag));
    live_leave();
}

START_TEST(an_error_until_all_have_acknowledged)
{
    for (int n = 3; n <= 5; n++)
        ck_assert_int_eq(job_run(n, NULL, body_acked, 30), 0);
}
END_TEST

/* Process 2 as one of another job, which has ended its agreements and leaves after some looks;
 * process 0 has failed. */
static int looks;

static int leaves(void *arg)
{
    if (looks > 0 && !--looks)
        boot_leaves(2);
    return looks > 0;
}

static void without_the_one_that_leaves(int after)
{
    live_start();
    struct comm *c = proc->obj->world;
    struct progress_hook later = {.fn = leaves};
    int flag = 5, size = proc->boot->size;
    live_lose(c, 0);
    if (c->rank == 2) /* silent */
        live_leave();
    proc->boot->size = 2;
    looks = after + 1;
    if (after)
        progress_hook_add(&later);
    else
        (void)leaves(NULL);
    job_check(err_class(coll_agree(c, &flag)) == MPIX_ERR_PROC_FAILED && flag == 5);
    job_check(boot_has_left(2) && !boot_failed(2));
    /* nothing more is sent to it, nor kept for it */
    uint64_t sent = pvar_proc()->v[PVAR_AM_SENT];
    outbox_send(survive_room(), 2, AM_COLL + COLL_PKT_AGREE, &flag, sizeof flag);
    job_check(pvar_proc()->v[PVAR_AM_SENT] == sent && list_empty(&survive_room()->outbox));
    see_and_ack(c);
    ok(coll_agree(c, &flag)); /* it has not failed: there is nothing more to acknowledge */
    progress_hook_del(&later);
    proc->boot->size = size;
    live_leave();
}

static void body_has_left(void)
{
    without_the_one_that_leaves(0);
}

static void body_leaves(void)
{
    without_the_one_that_leaves(1000);
}

START_TEST(members_that_have_left)
{
    ck_assert_int_eq(job_run(3, NULL, body_has_left, 30), 0);
    ck_assert_int_eq(job_run(3, NULL, body_leaves, 30), 0);
}
END_TEST

static size_t kept(void)
{
    size_t n = proc->coll->survive->agrees.count;
    job_check(atomic_load(&pvar_proc()->v[PVAR_AGREEMENTS]) == n);
    return n;
}

static void agree_and_drop(struct comm *of, int n)
{
    struct comm *d;
    for (int i = 0; i < n; i++) {
        int flag = i;
        ok(coll_comm_dup(of, &d));
        d->maker = NULL;
        ok(coll_agree(d, &flag));
        job_check(flag == i);
        comm_drop(d);
    }
}

/* Only an agreement of all lets records go. That of MPI_COMM_WORLD, which lives, stays. */
static void body_records(void)
{
    live_start();
    struct comm *c = proc->obj->world, *self;
    int flag = 1, one = c->rank;
    ok(coll_agree(c, &flag));
    agree_and_drop(c, 1000);
    job_check(kept() <= 65 && map_get(&proc->coll->survive->agrees, comm_ctx(c)));
    ok(coll_agree(c, &flag));
    struct rankmap *m = rankmap_make(&one, 1);
    uint64_t id;
    ok(coll_ctx_agree_map(c, m, 0, 0, &id));
    self = comm_make(m, 0, NULL, id, id);
    agree_and_drop(self, 200);
    job_check(c->size == 1 || kept() >= 200);
    ok(coll_agree(c, &flag));
    job_check(kept() <= 65 && flag == 1);
    job_check(proc->coll->survive->unknown == 0);
    comm_drop(self);
    rankmap_drop(m);
    live_stop();
}

START_TEST(records_are_freed)
{
    ck_assert_int_eq(job_run(1, NULL, body_records, 30), 0);
    ck_assert_int_eq(job_run(3, NULL, body_records, 30), 0);
}
END_TEST

static uint64_t refused(void)
{
    return atomic_load(&pvar_proc()->v[PVAR_AM_MALFORMED]);
}

/* Messages that break the rules are refused, and change nothing. */
static void body_malformed(void)
{
    live_start();
    struct comm *c = proc->obj->world;
    struct agree_msg m = {.ctx = comm_ctx(c), .number = 1, .step = AGREE_UP};
    size_t len = offsetof(struct agree_msg, value.failed);
    const struct agree_msg bad[] = {{.ctx = m.ctx, .number = 0, .step = AGREE_UP},
                                    {.ctx = m.ctx, .number = 1, .step = AGREE_ASK + 1},
                                    {.ctx = m.ctx, .number = 1, .step = 0},
                                    {.ctx = m.ctx, .number = 1, .step = AGREE_UP,
                                     .value.nfailed = AGREE_NAMED + 1}};
    if (c->rank == 1) {
        for (int i = 0; i < 4; i++)
            outbox_send(survive_room(), 0, AM_COLL + COLL_PKT_AGREE, &bad[i], len);
        outbox_send(survive_room(), 0, AM_COLL + COLL_PKT_AGREE, &m, len - 1);
    }
    int flag = 5 << c->rank;
    ok(coll_agree(c, &flag));
    job_check(flag == 0 && proc->coll->survive->agrees.count == 1);
    while (c->rank == 0 && refused() < 5)
        progress_poll();
    job_check(refused() == (c->rank ? 0 : 5));
    live_stop();
}

START_TEST(messages_that_break_the_rules)
{
    ck_assert_int_eq(job_run(2, NULL, body_malformed, 30), 0);
}
END_TEST

static void send_late(enum agree_step step, uint64_t ctx)
{
    const struct agree_msg m = {.ctx = ctx, .number = 1, .step = step, .ballot = 2};
    outbox_send(survive_room(), 0, AM_COLL + COLL_PKT_AGREE, &m,
                offsetof(struct agree_msg, value.failed));
}

static int have_come(void *arg)
{
    return survive_room()->unknown == *(unsigned *)arg;
}

/* Messages about communicators that were freed: the answers make no record, the next agreement of
 * all lets the records of the others go, but for what may be of an agreement to come. */
static void body_late(void)
{
    enum { LATE = 100 };
    live_start();
    struct comm *c = proc->obj->world;
    const struct survive *s = survive_room();
    unsigned all = 2 * LATE + 1;
    uint64_t first = (uint64_t)7 << 32, last = first + 3 * LATE * CTX_STEP;
    for (uint64_t i = 0; c->rank == 1 && i < LATE; i++) {
        send_late(AGREE_ACCEPT + (uint32_t)i % 3, first + 3 * i * CTX_STEP);
        send_late(AGREE_REPORT, first + (3 * i + 1) * CTX_STEP);
        send_late(AGREE_ASK, first + (3 * i + 2) * CTX_STEP);
    }
    if (c->rank == 1)
        send_late(AGREE_REPORT, last);
    if (c->rank == 0)
        progress_wait(have_come, &all, "messages that make records", -1);
    ok(coll_barrier(c));
    int flag = 1;
    job_check(kept() == (c->rank ? 0 : all) && s->unknown == kept());
    struct agree *a = map_get(&s->agrees, last);
    if (a) /* as if it had come from another job */
        LIST_OBJ(a->early.next, struct agree_early, link)->src = boot_first() + boot_size();
    ok(coll_agree(c, &flag));
    job_check(s->unknown == (c->rank == 0) && kept() == 1u + s->unknown);
    job_check(map_get(&s->agrees, last) == a);
    live_stop();
}

START_TEST(late_messages_leave_nothing)
{
    ck_assert_int_eq(job_run(2, NULL, body_late, 30), 0);
}
END_TEST

Suite *suite_agree(void)
{
    Suite *s = suite_create("coll/agree");
    TCase *t = tcase_create("agree");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, bits_that_all_have_set);
    tcase_add_test(t, an_error_until_all_have_acknowledged);
    tcase_add_test(t, members_that_have_left);
    tcase_add_test(t, records_are_freed);
    tcase_add_test(t, messages_that_break_the_rules);
    tcase_add_test(t, late_messages_leave_nothing);
    suite_add_tcase(s, t);
    return s;
}
