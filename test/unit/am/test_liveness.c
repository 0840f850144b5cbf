/* test_liveness.c - which processes are asked whether they live: three processes that pretend to
 * be on more than one host, so that they watch each other. */
#include "job.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "am/am_types.h"
#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot_types.h"
#include "mem/mem.h"
#include "progress/progress.h"
#include "tp/tp_types.h"
#include "var/var.h"
#include "watch/watch.h"

Suite *suite_alive(void);

static struct boot_ops watched;
static const char *const quick[] = {"MPIR_CVAR_PEER_TIMEOUT=1", "MPIR_CVAR_PEER_INTERFACE=lo",
                                    NULL};

static int on_any(int src, const void *msg, size_t len)
{
    return 0;
}

static void start(void)
{
    job_check(mem_init() == 0 && progress_init() == 0 && am_init() == 0);
    am_handler(AM_TEST, on_any);
    job_check(boot_detector_turn() == 0); /* one host: no process watches */
    am_stalled(1, 1);
    watched = *proc->boot->ops;
    watched.watched = 1;
    proc->boot->ops = &watched;
    proc->boot->map.host_size = 1;
    job_check(boot_detector_start(0) == 0 && boot_detector_turn() > 0);
    job_check(am_publish() == 0 && boot_barrier() == 0);
    job_check(watch_add(&am_watcher) == 0);
}

static void stop(void)
{
    am_finalize();
    job_check(proc->boot->watch == NULL);
    progress_finalize();
    mem_finalize();
}

static int two_is_dead(void *arg)
{
    return boot_failed(2);
}

static void (*asked)(int);

static void names_two(void (*ask)(int rank))
{
    for (int i = 0; i < 100; i++) /* more than the sample holds */
        ask(2);
    asked = ask;
}

/* Rank 0 waits for no rank by name, but a room knows that the wait is for rank 2. Rank 1 waits
 * for rank 0, which reports the failure to it. */
static void hear(void)
{
    start();
    if (boot_rank() == 2)
        _exit(0);
    if (boot_rank() == 0)
        am_on_stall(names_two);
    job_check(progress_wait_for(two_is_dead, NULL, "a death", boot_rank() == 0 ? -1 : 0,
                                8000000000u) == 0);
    job_check(strstr(boot_failed_why(2), "has ended") != NULL);
    job_check((boot_rank() == 0) == (asked != NULL));
    job_check(am_request(2, AM_TEST, NULL, 0, 0) == -ENOTCONN);
    job_check(!boot_failed(0) && !boot_failed(1));
    job_words()[boot_rank()] = 1; /* the first to leave has ended, too */
    while (!((volatile uint64_t *)job_words())[!boot_rank()])
        usleep(1000);
    stop();
}

START_TEST(named_and_told)
{
    ck_assert_int_eq(job_run(3, quick, hear, 30), 0);
}
END_TEST

static int one_is_dead(void *arg)
{
    return boot_failed(1);
}

/* A connection broke, and the process answers: some time later it is dead all the same.  Those that
 * are known are asked, dropped records too. */
static void broken(void)
{
    start();
    if (boot_rank() == 0) {
        struct am *a = proc->am;
        job_check(am_request(1, AM_TEST, NULL, 0, 0) == 0 &&
                  am_request(2, AM_TEST, NULL, 0, 0) == 0);
        unsigned char card[BOOT_CARD_MAX], again[BOOT_CARD_MAX];
        job_check(am_peer_known(1)->card != NULL &&
                  am_peer_card(1, card) == am_peer_known(1)->card_bytes);
        a->peers_max = 1;
        job_check(am_request(0, AM_TEST, NULL, 0, 0) == 0 && !am_peer_known(1) &&
                  a->idle.count == 1);
        job_check(am_peer_card(1, again) > 0 && !memcmp(card, again, sizeof(int)));
        /* A process that is served all the time asks; this does not put off the question of a
         * lasting wait. */
        am_stalled(-1, 0);
        uint64_t calm = a->alive.next_calm;
        job_check(calm > time_now() && a->alive.next == 0);
        am_stalled(-1, 0);
        job_check(a->alive.next_calm == calm);
        am_stalled(-1, 1);
        job_check(a->alive.next > time_now() && a->alive.next == a->alive.next_calm);
        for (int i = 0; i < 20; i++) {
            a->alive.next = 0;
            am_stalled(-1, 1);
            usleep(10000);
        }
        job_check(boot_failed_count() == 0);
        am_lost(a, 1, -ECONNRESET);
        am_lost(a, 1, -ECONNRESET);
        job_check(a->alive.nlost == 1 && am_is_lost(a, 1) && !am_is_lost(a, 2));
        uint64_t from = time_now();
        job_check(progress_wait_for(one_is_dead, NULL, "a death", -1, 20000000000u) == 0);
        job_check(time_now() - from > 4000000000u && a->alive.nlost == 0);
        job_check(strstr(boot_failed_why(1), "the connection to it broke") != NULL);
        job_words()[0] = 1;
    }
    while (!*(volatile uint64_t *)job_words())
        usleep(1000);
    stop();
}

START_TEST(lost_and_known)
{
    ck_assert_int_eq(job_run(3, quick, broken, 40), 0);
}
END_TEST

/* A transport reports that the connection to a process of another job has ended. The word that it
 * has left comes later: then it is no failure, and there is room for the replies that it owes, also
 * where too many others are lost before the next look. */
static void left_behind(void)
{
    enum { OTHER = 10, OWED = 3 };
    proc->boot->universe = OTHER + AM_LOST + 2;
    job_check(mem_init() == 0 && progress_init() == 0 && am_init() == 0);
    struct am *a = proc->am;
    struct am_peer *p = calloc(1, sizeof *p);
    const unsigned all = a->tps[0].credits;
    job_check(p != NULL);
    p->rank = OTHER;
    p->owed = OWED;
    p->t = &a->tps[0];
    p->t->credits -= OWED;
    list_init(&p->zcopies);
    list_init(&p->link);
    job_check(map_put(&a->peers, OTHER, p) == 0);
    am_lost(a, OTHER, -ECONNRESET);
    am_lost_look(a);
    job_check(am_is_lost(a, OTHER) && a->tps[0].credits == all - OWED);
    boot_leaves(OTHER);
    am_lost_look(a);
    job_check(a->alive.nlost == 0 && !boot_failed(OTHER) && a->tps[0].credits == all);

    const int next = OTHER + 1;
    p->rank = next;
    p->owed = OWED;
    p->t->credits -= OWED;
    map_del(&a->peers, OTHER);
    job_check(map_put(&a->peers, (uint64_t)next, p) == 0);
    am_lost(a, next, -ECONNRESET);
    boot_leaves(next);
    for (int i = 1; i <= AM_LOST; i++) {
        job_check(a->tps[0].credits == all - OWED && am_is_lost(a, next));
        am_lost(a, (unsigned)(next + i), -ECONNRESET);
    }
    job_check(a->tps[0].credits == all && !am_is_lost(a, next) && !boot_failed(next));
    stop();
}

START_TEST(lost_and_left)
{
    ck_assert_int_eq(job_run(1, NULL, left_behind, 20), 0);
}
END_TEST

static int is_greeted(void *arg)
{
    return proc->am->alive.greeted;
}

static int word_is_set(void *arg)
{
    return *(volatile uint64_t *)job_words() != 0;
}

/* A greeting is answered, and the record has its credit back. */
static void greet(void)
{
    start();
    if (boot_rank() == 0) {
        job_check(am_request(1, AM_INTERNAL, NULL, 0, 1) == 0 && am_peer_known(1)->owed == 1);
        job_check(progress_wait_for(is_greeted, NULL, "an answer", 1, 8000000000u) == 0);
        job_check(am_peer_known(1)->owed == 0);
        job_words()[0] = 1;
    }
    job_check(progress_wait_for(word_is_set, NULL, "the end", 0, 8000000000u) == 0);
    stop();
}

START_TEST(greeting)
{
    ck_assert_int_eq(job_run(2, quick, greet, 30), 0);
}
END_TEST

/* A network that both have, and that does not lead to the other: weather, until that one is
 * dead. */
static void apart(void)
{
    struct tp_ops cut = tp_none_ops;
    const struct tp_ops *const list[] = {&tp_self_ops, &cut, NULL};
    cut.name = "cut";
    job_check(tp_use(list) == 0);
    start();
    if (boot_rank() == 0) {
        struct am *a = proc->am;
        int host = proc->boot->map.host;
        proc->boot->map.host = host + 1; /* the other is elsewhere, for as long as it is tried */
        job_check(am_request(1, AM_TEST, NULL, 0, 0) == AM_AGAIN && am_is_lost(a, 1) &&
                  !boot_failed(1));
        job_check(am_request(1, AM_TEST, NULL, 0, 0) == AM_AGAIN && a->alive.nlost == 1);
        proc->boot->map.host = host;
        job_check(progress_wait_for(one_is_dead, NULL, "a death", -1, 20000000000u) == 0);
        job_check(strstr(boot_failed_why(1),
                         "cut, which both have, does not lead there: does UCX_NET_DEVICES") !=
                  NULL);
        job_check(am_request(1, AM_TEST, NULL, 0, 0) == -ENOTCONN);
        job_words()[0] = 1;
    }
    while (!*(volatile uint64_t *)job_words())
        usleep(1000);
    stop();
}

START_TEST(unreachable)
{
    ck_assert_int_eq(job_run(2, quick, apart, 30), 0);
}
END_TEST

static int connects(struct tp *tp, unsigned peer, const void *addr, size_t len)
{
    return 0;
}

static int refuses_one(struct tp *tp, unsigned peer, enum tp_class cls, const struct iovec *iov,
                       int n, struct tp_done *d)
{
    return peer == 1 ? -ENOTCONN : 0;
}

/* A network that refuses messages to a process does not report why: the error comes when the
 * failure detector knows that. */
static void refused(void)
{
    struct tp_ops cut = tp_none_ops;
    const struct tp_ops *const list[] = {&tp_self_ops, &cut, NULL};
    cut.name = "cut";
    cut.connect = connects;
    cut.am = refuses_one;
    job_check(tp_use(list) == 0);
    start();
    if (boot_rank() == 1)
        _exit(0);
    if (boot_rank() == 0) {
        job_check(am_request(2, AM_TEST, NULL, 0, 0) == 0);
        job_check(am_request(1, AM_TEST, NULL, 0, 0) == AM_AGAIN);
        job_check(am_in_doubt(1) && proc->am->alive.nlost == 1 && !boot_failed(1));
        uint64_t from = time_now();
        job_check(progress_wait_for(one_is_dead, NULL, "a death", -1, 20000000000u) == 0);
        job_check(time_now() - from < 4000000000u);
        job_check(strstr(boot_failed_why(1), "has ended") != NULL);
        progress_poll();
        job_check(am_request(1, AM_TEST, NULL, 0, 0) == -ENOTCONN && !am_in_doubt(1));
        job_words()[0] = 1;
    }
    while (!*(volatile uint64_t *)job_words())
        usleep(1000);
    stop();
}

START_TEST(refused_and_told)
{
    ck_assert_int_eq(job_run(3, quick, refused, 30), 0);
}
END_TEST

Suite *suite_alive(void)
{
    Suite *s = suite_create("alive");
    TCase *t = tcase_create("alive");
    tcase_add_test(t, named_and_told);
    tcase_add_test(t, lost_and_known);
    tcase_add_test(t, lost_and_left);
    tcase_add_test(t, greeting);
    tcase_add_test(t, unreachable);
    tcase_add_test(t, refused_and_told);
    suite_add_tcase(s, t);
    return s;
}
