/* test_by_text.c - coll/by_text.c: a message goes to the call of its text and kind, in whatever
 * order messages come; those of one text keep their order; errors. */
#include "live.h"
#include "unit.h"

#include "obj/err.h"

Suite *suite_by_text(void);

enum { N = 4 };
static const char *const text[N] = {"costarring", "liquid", "", "liquids"};

static uint64_t value(int t, enum coll_use use, int nth)
{
    return (uint64_t)(100 * nth + 10 * t + (int)use);
}

/* Process 0 asks in the reverse order, but for the two of one text. */
static void body_sorted(void)
{
    live_start();
    uint64_t v;
    if (boot_rank() == 1)
        for (int nth = 0; nth < 2; nth++)
            for (int t = 0; t < N; t++)
                for (int use = TEXT_GROUP; use <= TEXT_LEADERS; use++) {
                    v = value(t, (enum coll_use)use, nth);
                    ok(text_send(text[t], (enum coll_use)use, &v, sizeof v, 0));
                }
    for (int nth = 0; nth < 2 && boot_rank() == 0; nth++)
        for (int t = N - 1; t >= 0; t--)
            for (int use = TEXT_LEADERS; use >= TEXT_GROUP; use--) {
                ok(text_recv(text[t], (enum coll_use)use, &v, sizeof v, 1));
                job_check(v == value(t, (enum coll_use)use, nth));
            }
    job_check(list_empty(&proc->coll->strays) && list_empty(&proc->coll->takers));
    live_stop();
}

START_TEST(each_call_gets_its_own)
{
    ck_assert_int_eq(job_run(2, NULL, body_sorted, 30), 0);
}
END_TEST

/* Another length, the longest text, to itself; what is not taken is freed at the end. */
static void body_edges(void)
{
    live_start();
    char longest[COLL_TEXT_MAX + 1];
    uint64_t v = 7, w = 0;
    uint32_t half = 1;
    int me = boot_rank();
    memset(longest, 'x', COLL_TEXT_MAX);
    longest[COLL_TEXT_MAX] = 0;
    ok(text_send("other", TEXT_GROUP, &v, sizeof v, me));
    ok(text_send("short", TEXT_GROUP, &half, sizeof half, me));
    ok(text_send(longest, TEXT_GROUP, &v, sizeof v, me));
    ok(text_recv(longest, TEXT_GROUP, &w, sizeof w, me));
    job_check(w == 7);
    job_check(err_class(text_recv("short", TEXT_GROUP, &w, sizeof w, me)) == MPI_ERR_OTHER);
    job_check(!list_empty(&proc->coll->strays));
    live_stop();
}

START_TEST(edges)
{
    ck_assert_int_eq(job_run(1, NULL, body_edges, 30), 0);
}
END_TEST

/* What came before the death is there, and no more comes. */
static void body_gone(void)
{
    live_start();
    struct comm *c = proc->obj->world;
    uint64_t v = 5;
    if (c->rank == 1)
        ok(text_send("before", TEXT_GROUP, &v, sizeof v, 0));
    if (c->rank == 0)
        ok(text_recv("before", TEXT_GROUP, &v, sizeof v, 1));
    live_lose(c, 1);
    int err = text_recv("after", TEXT_GROUP, &v, sizeof v, 1);
    job_check(err_class(err) == MPIX_ERR_PROC_FAILED);
    job_check(list_empty(&proc->coll->takers));
    live_leave();
}

START_TEST(a_failed_sender_is_an_error)
{
    ck_assert_int_eq(job_run(2, NULL, body_gone, 30), 0);
}
END_TEST

Suite *suite_by_text(void)
{
    Suite *s = suite_create("coll/by_text");
    TCase *t = tcase_create("by_text");
    tcase_set_timeout(t, 90);
    tcase_add_test(t, each_call_gets_its_own);
    tcase_add_test(t, edges);
    tcase_add_test(t, a_failed_sender_is_an_error);
    suite_add_tcase(s, t);
    return s;
}
