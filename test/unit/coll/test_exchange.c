/* test_exchange.c - coll/exchange.c: messages of known lengths between some members; one of another
 * length is an error at its receiver, and no process waits. */
#include "live.h"
#include "unit.h"

#include "obj/err.h"

Suite *suite_exchange(void);

/* All send to rank 0 and to themselves; rank 0 answers the last one alone. */
static void body_meet(void)
{
    live_start();
    struct comm *c = proc->obj->world;
    struct request *r;
    int out[2] = {c->rank * 10, c->rank * 10 + 1}, in[8][2] = {{0}}, self = -1, back = 7, got = -1;
    struct coll_piece to[3] = {{0, out, sizeof out}, {c->rank, &out[1], sizeof out[1]},
                               {c->size - 1, &back, sizeof back}};
    struct coll_piece from[10];
    int n = 0;
    for (int i = 0; c->rank == 0 && i < c->size; i++)
        from[n++] = (struct coll_piece){i, in[i], sizeof in[i]};
    from[n++] = (struct coll_piece){c->rank, &self, sizeof self};
    if (c->rank == c->size - 1)
        from[n++] = (struct coll_piece){0, &got, sizeof got};
    job_check(!coll_iexchange(c, from, n, to, c->rank ? 2 : 3, &r));
    request_wait(r);
    job_check(!request_finish(r, NULL));
    job_check(self == out[1]);
    for (int i = 0; c->rank == 0 && i < c->size; i++)
        job_check(in[i][0] == i * 10 && in[i][1] == i * 10 + 1);
    job_check(c->rank != c->size - 1 || got == 7);
    /* nothing for most */
    job_check(!coll_iexchange(c, NULL, 0, NULL, 0, &r));
    request_wait(r);
    job_check(!request_finish(r, NULL));
    live_stop();
}

START_TEST(members_meet)
{
    ck_assert_int_eq(job_run(1, NULL, body_meet, 30), 0);
    ck_assert_int_eq(job_run(3, NULL, body_meet, 30), 0);
}
END_TEST

/* Shorter and longer than expected: rank 1 sees it, rank 0 goes on. */
static void body_wrong(void)
{
    live_start();
    struct comm *c = proc->obj->world;
    static char big[100000];
    struct request *r;
    for (int longer = 0; longer < 2; longer++) {
        struct coll_piece out = {1, big, longer ? sizeof big : 10},
                          in = {0, big, longer ? 0 : 20};
        int err = c->rank ? coll_iexchange(c, &in, 1, NULL, 0, &r)
                          : coll_iexchange(c, NULL, 0, &out, 1, &r);
        job_check(!err);
        request_wait(r);
        err = request_finish(r, NULL);
        job_check(c->rank ? err_class(err) == MPI_ERR_TRUNCATE : !err);
    }
    live_stop();
}

START_TEST(a_wrong_length_is_an_error)
{
    ck_assert_int_eq(job_run(2, NULL, body_wrong, 30), 0);
}
END_TEST

Suite *suite_exchange(void)
{
    Suite *s = suite_create("coll/exchange");
    TCase *tc = tcase_create("exchange");
    tcase_set_timeout(tc, 90);
    tcase_add_test(tc, members_meet);
    tcase_add_test(tc, a_wrong_length_is_an_error);
    suite_add_tcase(s, tc);
    return s;
}
