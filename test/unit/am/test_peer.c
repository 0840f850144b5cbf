/* test_peer.c - am/peer.c: on first talk, dead peer, bad addresses, late addresses, idle peers,
 * no descriptor. */
#include "job.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "am/am_types.h"
#include "base/event.h"
#include "base/proc.h"
#include "boot/boot_types.h"
#include "mem/mem_types.h"
#include "progress/progress.h"
#include "var/var.h"

Suite *suite_peer(void);

static int on_any(int src, const void *msg, size_t len)
{
    return 0;
}

static void start(void)
{
    job_check(mem_init() == 0 && progress_init() == 0 && am_init() == 0);
    am_handler(AM_TEST, on_any);
}

static void stop(void)
{
    job_check(boot_barrier() == 0);
    am_finalize();
    progress_finalize();
    mem_finalize();
}

/* Peers exist from the first word on, not before. */
static void lazy(void)
{
    start();
    const struct am *a = proc->am;
    job_check(a->peers.count == 0);
    job_check(am_peer_known(1) == NULL);
    if (boot_rank() == 0)
        job_check(am_request(3, AM_TEST, NULL, 0, 0) == 0 && a->peers.count == 1 &&
                  am_peer_known(3) != NULL);
    stop();
}

START_TEST(on_first_talk)
{
    ck_assert_int_eq(job_run(4, NULL, lazy, 20), 0);
}
END_TEST

static uint64_t told;

static void on_event(enum event_id id, int window, int peer, int value)
{
    if (id == EVENT_PEER_FAILED)
        told = told * 100 + (uint64_t)(peer * 10 + value);
}

/* The launcher reports a death: sends to it fail, its credits come back, replies kept for it are
 * dropped. Of two deaths between two looks a tool is told both. */
static void death(void)
{
    start();
    struct job_page *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                                 -1, 0);
    struct am *a = proc->am;
    struct event_sink sink = {on_event};
    if (boot_rank() == 0) {
        char text[100] = {0};
        struct iovec v = {text, sizeof text};
        unsigned all = (unsigned)cvar.shm_cells;
        job_check(am_request(1, AM_TEST, NULL, 0, all - 1) == 0);
        job_check(am_request(2, AM_TEST, NULL, 0, 1) == 0);
        /* more than it has room for, as it has gone and reads none */
        for (unsigned i = 0; i < all + 5; i++)
            job_check(am_reply(1, AM_TEST, &v, 1) == 0);
        job_check(!list_empty(&a->zcopiers));
        job_check(am_request(2, AM_TEST, NULL, 0, 1) == AM_AGAIN);
        proc->boot->page = page; /* unmapped by boot_finalize */
        proc->boot->page_bytes = 4096;
        atomic_store(&page->dead[1], 1);
        atomic_store(&page->dead[3], 1);
        atomic_store(&page->dead_count, 2);
        proc->tool = (void *)&sink;
        progress_poll();
        progress_poll();
        proc->tool = NULL;
        job_check(told == 1132);
        job_check(list_empty(&a->zcopiers));
        job_check(am_request(1, AM_TEST, NULL, 0, 0) == -ENOTCONN);
        job_check(am_reply(1, AM_TEST, NULL, 0) == -ENOTCONN);
        job_check(am_request(3, AM_TEST, NULL, 0, 0) == -ENOTCONN); /* never talked to before */
        job_check(am_max(1) == 0);
        am_credit_return(1, 5); /* a late one counts no more */
        job_check(am_request(2, AM_TEST, NULL, 0, all) == AM_AGAIN);
        job_check(am_request(2, AM_TEST, NULL, 0, all - 1) == 0);
        am_credit_return(2, all);
        job_words()[0] = 1;
    } else {
        while (!*(volatile uint64_t *)job_words())
            usleep(1000);
    }
    stop();
}

START_TEST(dead_peer)
{
    ck_assert_int_eq(job_run(4, NULL, death, 20), 0);
}
END_TEST

/* A published address that is cut short or names nothing of ours leads nowhere, and nothing
 * breaks. */
static void addresses(void)
{
    start();
    if (boot_rank() == 0) {
        job_check(boot_put("am.1", "\xff", 1) == 0);
        job_check(am_request(1, AM_TEST, NULL, 0, 0) == -EHOSTUNREACH);
        job_check(boot_put("am.1", "\003shm\xff\xff", 6) == 0);
        job_check(am_request(1, AM_TEST, NULL, 0, 0) == -EHOSTUNREACH);
        job_check(boot_put("am.1", "\003shm\001\000x", 7) == 0);
        job_check(am_request(1, AM_TEST, NULL, 0, 0) == -EPROTO);
        job_check(boot_put("am.1", "", 0) == 0);
        job_check(am_request(1, AM_TEST, NULL, 0, 0) == -EHOSTUNREACH);
    }
    stop();
}

/* The launcher takes its time with an address: until it is there requests are refused, then all is
 * as ever; and nothing but that is at an end while it does not come. */
static int slow, slow_gets;

static int slow_get(const char *key, void *value, size_t *len)
{
    slow_gets++;
    return slow ? slow : job_ops.get(key, value, len);
}

static void slow_launcher(void)
{
    static struct boot_ops ops;
    start();
    if (boot_rank() == 0) {
        ops = job_ops;
        ops.get = slow_get;
        proc->boot->ops = &ops;
        slow = -EINPROGRESS;
        job_check(am_request(1, AM_TEST, NULL, 0, 0) == AM_AGAIN && slow_gets == 1);
        /* not so often */
        job_check(am_request(1, AM_TEST, NULL, 0, 0) == AM_AGAIN && slow_gets == 1);
        job_check(am_max(1) == 0 && am_reach(1) == AM_AGAIN);
        proc->am->lack.since -= 11000000000u; /* longer than a shortage may last */
        usleep(11000);
        job_check(am_request(1, AM_TEST, NULL, 0, 0) == AM_AGAIN && slow_gets > 1);
        job_check(am_peer_way_back(2) == TP_AGAIN);
        proc->am->cut.since -= 11000000000u;
        usleep(11000);
        job_check(am_peer_way_back(2) == TP_AGAIN); /* and does not end the process */
        slow = 0;
        usleep(11000);
        job_check(am_request(1, AM_TEST, NULL, 0, 0) == 0 && am_peer_way_back(2) == 0);
        proc->boot->ops = &job_ops;
    }
    stop();
}

START_TEST(late_addresses)
{
    ck_assert_int_eq(job_run(3, NULL, slow_launcher, 20), 0);
}
END_TEST

START_TEST(bad_addresses)
{
    ck_assert_int_eq(job_run(2, NULL, addresses, 20), 0);
}
END_TEST

/* Records of processes without outstanding packets shrink; the transport stays known. */
static void idle(void)
{
    start();
    struct am *a = proc->am;
    if (boot_rank() == 0) {
        job_check(am_request(1, AM_TEST, NULL, 0, 0) == 0 &&
                  am_request(2, AM_TEST, NULL, 0, 1) == 0);
        job_check(a->peers.count == 2 && a->idle.count == 0);
        a->peers_max = 2;
        job_check(am_request(3, AM_TEST, NULL, 0, 0) == 0);
        job_check(a->peers.count == 2 && a->idle.count == 1 && a->peers_max == AM_PEERS);
        job_check(!am_peer_known(1) && am_peer_known(2)->owed == 1 && am_peer_known(3));
        job_check(boot_put("am.1", "", 0) == 0); /* need not be asked again */
        job_check(am_max(1) > 0 && am_request(1, AM_TEST, NULL, 0, 1) == 0 &&
                  am_peer_known(1)->owed == 1);
        am_credit_return(1, 1);
        am_credit_return(2, 1);
        a->peers_max = 2;
        job_check(am_request(4, AM_TEST, NULL, 0, 0) == 0);
        job_check(a->peers.count == 1 && a->idle.count == 1);
        for (int i = 1; i < 5; i++)
            job_check(am_request(i, AM_TEST, NULL, 0, 0) == 0);
    }
    stop();
}

START_TEST(idle_peers)
{
    ck_assert_int_eq(job_run(5, NULL, idle, 20), 0);
}
END_TEST

/* All descriptors that the limit leaves, and the reserve of mem/, which would help. */
static int files_take(struct rlimit *had)
{
    int fd, first = -1;
    job_check(getrlimit(RLIMIT_NOFILE, had) == 0);
    job_check(setrlimit(RLIMIT_NOFILE, &(struct rlimit){64, had->rlim_max}) == 0);
    close(proc->mem->spare_fd);
    proc->mem->spare_fd = -1;
    while ((fd = fcntl(0, F_DUPFD, 3)) >= 0)
        first = first < 0 ? fd : first;
    return first;
}

static void files_give(const struct rlimit *had, int first)
{
    int wake = mem_wake_fd();
    for (int fd = first; fd < 64; fd++) {
        struct stat a, b;
        if (fd != wake && fstat(0, &a) == 0 && fstat(fd, &b) == 0 && a.st_ino == b.st_ino &&
            a.st_dev == b.st_dev)
            close(fd);
    }
    job_check(setrlimit(RLIMIT_NOFILE, had) == 0);
}

static int asked, answered;

static int on_question(int src, const void *msg, size_t len)
{
    asked++;
    job_check(am_reply(src, AM_TEST + 1, NULL, 0) == 0);
    return 0;
}

static int on_reply(int src, const void *msg, size_t len)
{
    answered++;
    return 0;
}

static int is_set(void *arg)
{
    return *(volatile int *)arg != 0;
}

/* A process that cannot connect back holds the question until it can. Then the answer leaves,
 * and the packets behind it keep their order. */
static void cut_off(void)
{
    start();
    struct am *a = proc->am;
    volatile uint64_t *word = (volatile uint64_t *)job_words();
    am_handler(AM_TEST, on_question);
    am_reply_handler(AM_TEST + 1, on_reply);
    if (boot_rank() == 0) {
        struct rlimit had;
        int first = files_take(&had);
        /* weather */
        job_check(am_request(1, AM_TEST, NULL, 0, 1) == AM_AGAIN && am_reach(1) == AM_AGAIN &&
                  am_max(1) == 0);
        a->lack.since -= 11000000000u; /* ... for so long */
        usleep(11000);
        job_check(am_request(1, AM_TEST, NULL, 0, 1) == -EMFILE && am_reach(1) == -EMFILE);
        word[0] = 1;
        while (!word[1])
            usleep(1000);
        for (int i = 0; i < 30; i++, usleep(1000))
            progress_poll();
        job_check(asked == 0 && a->cut.since && a->peers.count == 0);
        files_give(&had, first);
        progress_wait(is_set, &asked, "a question", -1);
        job_check(!a->cut.since && am_reach(1) == 0 && am_request(1, AM_TEST, NULL, 0, 1) == 0);
        progress_wait(is_set, &answered, "an answer", -1);
        word[2] = 1;
    } else {
        while (!word[0])
            usleep(1000);
        job_check(am_request(0, AM_TEST, NULL, 0, 1) == 0);
        word[1] = 1;
        progress_wait(is_set, &answered, "an answer", -1);
        progress_wait(is_set, &asked, "a question", -1);
        while (!word[2])
            progress_poll();
    }
    stop();
}

START_TEST(no_descriptor)
{
    asked = answered = 0;
    ck_assert_int_eq(job_run(2, NULL, cut_off, 30), 0);
}
END_TEST

Suite *suite_peer(void)
{
    Suite *s = suite_create("am/peer");
    TCase *t = tcase_create("peer");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, on_first_talk);
    tcase_add_test(t, dead_peer);
    tcase_add_test(t, bad_addresses);
    tcase_add_test(t, late_addresses);
    tcase_add_test(t, idle_peers);
    tcase_add_test(t, no_descriptor);
    suite_add_tcase(s, t);
    return s;
}
