/* test_shrink.c - coll/shrink.c: the communicator of the living keeps their order, on revoked ones,
 * too; nothing else goes on there (coll/revoke.c). */
#include "live.h"
#include "unit.h"

#include "boot/boot_types.h"
#include "coll/agree.h"
#include "coll/survive.h"
#include "obj/err.h"

Suite *suite_shrink(void);

static void body_shrink(void)
{
    live_start();
    struct comm *c = proc->obj->world, *made, *again;
    int gone = c->size / 2, me = c->rank;
    live_lose(c, gone);
    ok(coll_shrink(c, &made));
    job_check(made->size == c->size - 1 && made->rank == me - (me > gone));
    for (int i = 0; i < made->size; i++)
        job_check(comm_world(made, i) == i + (i >= gone));
    int64_t n = 1;
    ok(coll_allreduce_i64(&n, 1, COLL_SUM, made));
    job_check(n == made->size);
    ok(coll_shrink(made, &again));
    job_check(again->size == made->size && comm_ctx(again) != comm_ctx(made));
    ok(coll_barrier(again));
    comm_drop(again);
    comm_drop(made);
    live_leave();
}

START_TEST(the_living_keep_their_order)
{
    for (int n = 3; n <= 5; n++)
        ck_assert_int_eq(job_run(n, NULL, body_shrink, 30), 0);
}
END_TEST

static void body_revoked(void)
{
    live_start();
    struct comm *c = proc->obj->world, *d, *made;
    int h, flag = 3 + c->rank;
    int64_t n = 1;
    ok(coll_comm_dup(c, &d));
    d->maker = NULL;
    h = d->obj.handle;
    if (c->rank == c->size - 1)
        coll_revoke(d);
    int err = c->rank < c->size - 1 ? coll_allreduce_i64(&n, 1, COLL_SUM, d) : MPI_SUCCESS;
    job_check(c->rank == c->size - 1 || err_class(err) == MPIX_ERR_REVOKED);
    job_check(d->revoked && !obj_find(OBJ_COMM, h) && comm_find(h) == d);
    coll_revoke(d); /* nothing more */
    ok(coll_agree(d, &flag));
    ok(coll_shrink(d, &made));
    job_check(!made->revoked && made->size == c->size);
    ok(coll_barrier(made));
    comm_drop(made);
    ok(comm_release(d));
    job_check(!comm_find(h));
    n = 1;
    ok(coll_allreduce_i64(&n, 1, COLL_SUM, c));
    job_check(n == c->size);
    live_stop();
}

START_TEST(a_revoked_one_can_be_shrunk)
{
    for (int n = 1; n <= 5; n++)
        ck_assert_int_eq(job_run(n, NULL, body_revoked, 30), 0);
}
END_TEST

/* Processes 1 and 2 as those of another job, which have left: the one behind them is told, whether
 * they leave before the revocation or after. */
static void past_those_that_leave(int before)
{
    live_start();
    struct comm *c = proc->obj->world, *d;
    int size = proc->boot->size;
    ok(coll_comm_dup(c, &d));
    d->maker = NULL;
    ok(coll_barrier(c));
    job_check(boot_barrier() == 0);
    if (c->rank == 1 || c->rank == 2) /* silent */
        live_leave();
    if (c->rank == 0) {
        proc->boot->size = 1;
        for (int step = 0; step < 2; step++)
            if (step == before) {
                coll_revoke(d);
            } else {
                boot_leaves(1);
                boot_leaves(2);
            }
        for (int i = 0; i < 1000 || !list_empty(&survive_room()->outbox); i++)
            progress_poll();
        proc->boot->size = size;
    }
    while (!d->revoked)
        progress_poll();
    live_leave();
}

static void body_left_before(void)
{
    past_those_that_leave(1);
}

static void body_left_after(void)
{
    past_those_that_leave(0);
}

START_TEST(those_behind_members_that_have_left)
{
    ck_assert_int_eq(job_run(4, NULL, body_left_before, 30), 0);
    ck_assert_int_eq(job_run(4, NULL, body_left_after, 30), 0);
}
END_TEST

Suite *suite_shrink(void)
{
    Suite *s = suite_create("coll/shrink");
    TCase *t = tcase_create("shrink");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, the_living_keep_their_order);
    tcase_add_test(t, a_revoked_one_can_be_shrunk);
    tcase_add_test(t, those_behind_members_that_have_left);
    suite_add_tcase(s, t);
    return s;
}
