/* test_waitgraph.c - align/waitgraph.c: messages in a ring, one that has not reported may serve,
 * all of several, one of several, any source, a collective call needs all, two communicators,
 * messages inside a call, itself. */
#include "unit.h"

#include <string.h>

#include "align/waitgraph.h"

Suite *suite_waitgraph(void);

enum { MANY = 8 };
static struct wait_item items[MANY][4];
static struct wait_comm comms[MANY][4];
static struct waiter w[MANY];
static struct stuck_core core;
static int n;

static void fresh(void)
{
    memset(items, 0, sizeof items);
    memset(comms, 0, sizeof comms);
    memset(w, 0, sizeof w);
    n = 0;
}

/* One more process that has reported; its place. */
static int reports(int world, enum wait_mode mode)
{
    w[n] = (struct waiter){.world = world, .mode = mode, .item = items[n], .comm = comms[n]};
    return n++;
}

static void needs(int at, enum wait_need need, int world, uint64_t key, uint32_t number, int size)
{
    items[at][w[at].items++] = (struct wait_item){.key = key, .world = world, .size = size,
                                                  .number = number, .need = need};
}

static void has(int at, uint64_t key, uint32_t calls)
{
    comms[at][w[at].comms++] = (struct wait_comm){.key = key, .calls = calls};
}

static int stuck(void)
{
    int many = graph_strike(w, n);
    ck_assert_int_eq(graph_core(w, n, &core), core.n);
    return many;
}

START_TEST(messages_in_a_ring)
{
    fresh();
    for (int i = 0; i < 4; i++)
        needs(reports(i, WAIT_ALL), NEED_PROCESS, (i + 1) % 4, 0, 0, 0);
    ck_assert_int_eq(stuck(), 4);
    ck_assert_int_eq(core.n, 4);
    ck_assert_int_eq(core.edges, 4);
}
END_TEST

START_TEST(one_that_has_not_reported_may_serve)
{
    fresh();
    for (int i = 0; i < 3; i++) /* the fourth computes */
        needs(reports(i, WAIT_ALL), NEED_PROCESS, i + 1, 0, 0, 0);
    ck_assert_int_eq(stuck(), 0);
    ck_assert_int_eq(core.n, 0);
    w[0].items = 0; /* it waits for something else */
    ck_assert_int_eq(stuck(), 0);
}
END_TEST

START_TEST(all_of_several)
{
    fresh();
    int a = reports(0, WAIT_ALL), b = reports(3, WAIT_ALL);
    needs(a, NEED_PROCESS, 9, 0, 0, 0); /* comes */
    needs(a, NEED_PROCESS, 3, 0, 0, 0); /* never */
    needs(b, NEED_PROCESS, 0, 0, 0, 0);
    ck_assert_int_eq(stuck(), 2);
    ck_assert_int_eq(core.n, 2);
    ck_assert_uint_eq(w[a].reason, 2);
}
END_TEST

START_TEST(one_of_several)
{
    fresh();
    int a = reports(0, WAIT_ANY), b = reports(3, WAIT_ALL);
    needs(a, NEED_PROCESS, 9, 0, 0, 0);
    needs(a, NEED_PROCESS, 3, 0, 0, 0);
    needs(b, NEED_PROCESS, 0, 0, 0, 0);
    ck_assert_int_eq(stuck(), 0);
    needs(reports(9, WAIT_ALL), NEED_PROCESS, 9, 0, 0, 0);
    ck_assert_int_eq(stuck(), 3);
    ck_assert_int_eq(core.n, 3);
    ck_assert_uint_eq(w[a].reason, 3);
}
END_TEST

START_TEST(any_source)
{
    fresh();
    for (int i = 0; i < 3; i++) {
        int at = reports(i, WAIT_ALL);
        needs(at, NEED_ANY, -1, 7, 0, 4);
        has(at, 7, 0);
    }
    ck_assert_int_eq(stuck(), 0); /* the fourth member has not reported */
    int last = reports(5, WAIT_ENDED);
    has(last, 7, 2);
    ck_assert_int_eq(stuck(), 4); /* it ends, and sends nothing */
    ck_assert_int_eq(core.n, 4);
    w[last].mode = WAIT_ALL; /* it waits for something that comes */
    ck_assert_int_eq(stuck(), 0);
}
END_TEST

START_TEST(a_collective_call_needs_all)
{
    fresh();
    int a = reports(0, WAIT_ALL), b = reports(1, WAIT_ALL), c = reports(2, WAIT_ALL);
    needs(a, NEED_ALL, -1, 7, 3, 0);
    needs(b, NEED_ALL, -1, 7, 3, 0);
    has(a, 7, 3);
    has(b, 7, 3);
    has(c, 7, 2);
    needs(c, NEED_PROCESS, 0, 0, 0, 0);
    ck_assert_int_eq(stuck(), 3);
    ck_assert_int_eq(core.n, 2); /* 1 hangs, too, and keeps none of them */
    comms[2][0].calls = 3; /* nonblocking, and under way */
    ck_assert_int_eq(stuck(), 0);
    comms[2][0].calls = 2;
    w[c].mode = WAIT_ENDED; /* that is the judge's affair */
    ck_assert_int_eq(stuck() > 1, 0);
    ck_assert_int_eq(core.n, 0);
}
END_TEST

START_TEST(two_communicators)
{
    fresh();
    int a = reports(0, WAIT_ALL), b = reports(1, WAIT_ALL);
    needs(a, NEED_ALL, -1, 7, 1, 0);
    needs(b, NEED_ALL, -1, 8, 1, 0);
    has(a, 7, 1);
    has(a, 8, 0);
    has(b, 7, 0);
    has(b, 8, 1);
    ck_assert_int_eq(stuck(), 2);
    ck_assert_int_eq(core.n, 2);
    comms[0][1].calls = 1; /* it has begun that call */
    ck_assert_int_eq(stuck(), 0);
}
END_TEST

START_TEST(messages_inside_a_call)
{
    fresh();
    int a = reports(0, WAIT_ALL), b = reports(1, WAIT_ALL), c = reports(2, WAIT_ALL);
    needs(a, NEED_CALL, 1, 7, 3, 0);
    needs(b, NEED_CALL, 2, 7, 3, 0);
    needs(c, NEED_PROCESS, 0, 0, 0, 0);
    has(a, 7, 3);
    has(b, 7, 3);
    has(c, 7, 2);
    ck_assert_int_eq(stuck(), 3);
    ck_assert_int_eq(core.n, 3);
    items[b][0].hist = 5; /* another sequence: the judge finds it */
    ck_assert_int_eq(stuck(), 0);
    items[b][0].hist = 0;
    /* only messages of one call are missing: they are on their way */
    items[c][0] = (struct wait_item){.need = NEED_CALL, .world = 0, .key = 7, .number = 3};
    comms[c][0].calls = 3;
    graph_strike(w, n);
    ck_assert_int_eq(graph_core(w, n, &core), 0);
}
END_TEST

START_TEST(itself)
{
    fresh();
    needs(reports(4, WAIT_ALL), NEED_PROCESS, 4, 0, 0, 0);
    ck_assert_int_eq(stuck(), 1);
    ck_assert_int_eq(core.n, 1);
}
END_TEST

Suite *suite_waitgraph(void)
{
    Suite *s = suite_create("align/waitgraph");
    TCase *t = tcase_create("graph");
    tcase_add_test(t, messages_in_a_ring);
    tcase_add_test(t, one_that_has_not_reported_may_serve);
    tcase_add_test(t, all_of_several);
    tcase_add_test(t, one_of_several);
    tcase_add_test(t, any_source);
    tcase_add_test(t, a_collective_call_needs_all);
    tcase_add_test(t, two_communicators);
    tcase_add_test(t, messages_inside_a_call);
    tcase_add_test(t, itself);
    suite_add_tcase(s, t);
    return s;
}
