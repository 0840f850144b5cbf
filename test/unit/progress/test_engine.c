/* test_engine.c - progress/engine.c: hooks run and leave, waits until the condition holds, what
 * holds at once looks around, times out asleep, hooks look before sleep, strangers are no news,
 * a server does not sleep, a look at a network lets others run, long waits ask, inner waits that
 * last, busy ones ask, none starves beside the restless, progress thread dozes, all of several are
 * slept on, completions wake other threads. */
#include "unit.h"
#include "up.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "mem/mem_types.h"
#include "progress/progress.h"
#include "progress/progress_types.h"
#include "var/var.h"
#include "watch/watch.h"

Suite *suite_engine(void);

struct counting {
    struct progress_hook hook, *kill;
    int runs, limit;
    int nested;
};

static int count_up(void *arg)
{
    struct counting *c = arg;
    c->nested += progress_poll(); /* P2: does nothing */
    if (c->kill)
        progress_hook_del(c->kill);
    return ++c->runs <= c->limit;
}

static int enough(void *arg)
{
    struct counting *c = arg;
    return c->runs >= 10;
}

START_TEST(hooks_run_and_leave)
{
    struct counting a = {.limit = 3}, b = {.limit = 0}, c = {.limit = 0};
    a.hook = (struct progress_hook){.fn = count_up, .arg = &a};
    b.hook = (struct progress_hook){.fn = count_up, .arg = &b};
    c.hook = (struct progress_hook){.fn = count_up, .arg = &c};
    progress_hook_add(&a.hook);
    progress_hook_add(&a.hook); /* harmless */
    progress_hook_add(&b.hook);
    progress_hook_add(&c.hook);
    ck_assert_int_eq(progress_poll(), 1);
    ck_assert_int_eq(a.runs + b.runs + c.runs, 3);
    a.kill = &b.hook; /* removes the next one, and itself later */
    ck_assert_int_eq(progress_poll(), 1);
    ck_assert_int_eq(b.runs, 1);
    ck_assert_int_eq(c.runs, 2);
    a.kill = &a.hook;
    progress_poll();
    progress_poll();
    ck_assert_int_eq(a.runs, 3);
    ck_assert_int_eq(c.runs, 4);
    ck_assert_int_eq(a.nested, 0);
    progress_hook_del(&c.hook);
    progress_hook_del(&c.hook);
    ck_assert_int_eq(progress_poll(), 0);
}
END_TEST

START_TEST(waits_until_the_condition_holds)
{
    struct counting a = {.limit = 0};
    a.hook = (struct progress_hook){.fn = count_up, .arg = &a};
    progress_hook_add(&a.hook);
    progress_wait(enough, &a, "ten runs", -1);
    ck_assert_int_ge(a.runs, 10);
    progress_hook_del(&a.hook);
}
END_TEST

static int always(void *arg)
{
    (void)arg;
    return 1;
}

/* Programs spin on what is true at once, and others wait for them. */
START_TEST(what_holds_at_once_looks_around)
{
    struct counting a = {.limit = 0};
    a.hook = (struct progress_hook){.fn = count_up, .arg = &a};
    progress_hook_add(&a.hook);
    for (int i = 0; i < 128; i++)
        progress_wait(always, NULL, "nothing", -1);
    ck_assert_int_eq(a.runs, 2);
    for (int i = 0; i < 128; i++)
        progress_glance();
    ck_assert_int_eq(a.runs, 4);
    progress_hook_del(&a.hook);
}
END_TEST

static int never(void *arg)
{
    return 0;
}

START_TEST(times_out_asleep)
{
    struct timespec c0, c1;
    uint64_t start = time_now();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &c0);
    ck_assert_int_eq(progress_wait_for(never, NULL, "nothing", -1, 300000000), -ETIMEDOUT);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &c1);
    uint64_t wall = time_now() - start;
    int64_t cpu = (c1.tv_sec - c0.tv_sec) * 1000000000ll + c1.tv_nsec - c0.tv_nsec;
    ck_assert(wall >= 300000000);
    ck_assert_msg(cpu < (int64_t)wall / 2, "%lld ns of processor in %llu ns of waiting",
                  (long long)cpu, (unsigned long long)wall);
    ck_assert_ptr_null((void *)proc->wait_what);
}
END_TEST

struct late {
    struct progress_hook hook;
    int came;
};

/* News that came after the last look of an ordinary pass, when the process had raised its flag
 * already, or just before. */
static int late_news(void *arg)
{
    struct late *l = arg;
    const struct mem *m = proc->mem;
    if (!(atomic_load_explicit(&m->record[m->index].sleeping, memory_order_relaxed) & 1) || l->came)
        return 0;
    return l->came = 1;
}

static int late_came(void *arg)
{
    return ((struct late *)arg)->came;
}

/* P1 for what a hook looks at, which the condition and the transports do not. */
START_TEST(hooks_look_before_sleep)
{
    struct late l = {.came = 0};
    l.hook = (struct progress_hook){.fn = late_news, .arg = &l};
    progress_hook_add(&l.hook);
    progress_wait_for(late_came, &l, "late news", -1, 5000000000u);
    ck_assert_int_eq(l.came, 1);
    progress_hook_del(&l.hook);
}
END_TEST

/* A hook that ends each sleep by a wake-up, and the looks between the first and the last. */
struct waker {
    struct progress_hook hook;
    uint64_t first;
    int looks, strange;
};
enum { WAKER_SLEEPS = 20 };

/* As a process of another job would: without this job's number. */
static void strangers_wake(uint64_t wake)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int n = snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "windrose.%016llx",
                     (unsigned long long)wake);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(sendto(fd, "", 1, 0, (struct sockaddr *)&a,
                            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)),
                     1);
    close(fd);
}

static int wake_armed(void *arg)
{
    struct waker *w = arg;
    const struct mem *m = proc->mem;
    w->looks += pvar_proc()->v[PVAR_SLEEPS] > w->first;
    if (!(atomic_load_explicit(&m->record[m->index].sleeping, memory_order_relaxed) & 1))
        return 0;
    if (w->strange)
        strangers_wake(mem_wake_id());
    else
        mem_wake_self();
    return 0;
}

static int slept_enough(void *arg)
{
    return pvar_proc()->v[PVAR_SLEEPS] >= ((struct waker *)arg)->first + WAKER_SLEEPS;
}

static int looks_between_sleeps(int strange)
{
    struct waker w = {.first = pvar_proc()->v[PVAR_SLEEPS], .strange = strange};
    w.hook = (struct progress_hook){.fn = wake_armed, .arg = &w};
    progress_hook_add(&w.hook);
    progress_wait(slept_enough, &w, "sleeps", -1);
    progress_hook_del(&w.hook);
    return w.looks;
}

/* What another user's process sends ends a sleep, and the waiter looks once and sleeps again; a
 * peer's makes it spin. */
START_TEST(strangers_are_no_news)
{
    enum { SPINS = 32 };
    uint64_t before = pvar_proc()->v[PVAR_WAKE_FOREIGN];
    ck_assert_int_gt(looks_between_sleeps(0), SPINS * (WAKER_SLEEPS - 1));
    ck_assert_uint_eq(pvar_proc()->v[PVAR_WAKE_FOREIGN], before);
    proc->mem->uid++;
    ck_assert_int_lt(looks_between_sleeps(1), 8 * WAKER_SLEEPS);
    ck_assert_uint_ge(pvar_proc()->v[PVAR_WAKE_FOREIGN], before + WAKER_SLEEPS - 1);
    /* A process of this job, whatever its user. */
    before = pvar_proc()->v[PVAR_WAKE_FOREIGN];
    ck_assert_int_gt(looks_between_sleeps(0), SPINS * (WAKER_SLEEPS - 1));
    ck_assert_uint_eq(pvar_proc()->v[PVAR_WAKE_FOREIGN], before);
    proc->mem->uid--;
}
END_TEST

enum { WAITERS = 3 };

struct mailbox {
    int flag[WAITERS];
    int index;
};

static int flagged(void *arg)
{
    return *(int *)arg;
}

static void *waiter(void *arg)
{
    lock_acquire(&proc->lock);
    progress_wait(flagged, arg, "its flag", -1);
    lock_release(&proc->lock);
    return NULL;
}

/* Several threads asleep, one of them polling: each completion reaches the right one at once. */
START_TEST(completions_wake_other_threads)
{
    struct mailbox m = {.index = 0};
    pthread_t t[WAITERS];
    proc->threaded = 1;
    for (int i = 0; i < WAITERS; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, waiter, &m.flag[i]), 0);
    usleep(50000); /* most will be asleep; any timing must work */
    for (int i = 0; i < WAITERS; i++) {
        lock_acquire(&proc->lock);
        m.flag[i] = 1;
        progress_signal();
        lock_release(&proc->lock);
        pthread_join(t[i], NULL);
    }
    proc->threaded = 0;
}
END_TEST

/* A transport that never lets its process sleep: it reports that news are waiting, or that nothing
 * announces them. */
static int restless(void *arg, int arm)
{
    return arm ? *(int *)arg : -1;
}

static int64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* P3 where no thread can sleep: a thread that waits delays no other one, nor does a second. */
START_TEST(none_starves_beside_the_restless)
{
    static const int says[] = {1, -ENOTSUP};
    struct mailbox m = {.index = 0};
    pthread_t t[2];
    int answer = says[_i];
    struct progress_source s = {.fd = restless, .arg = &answer};
    progress_source_add(&s);
    proc->threaded = 1;
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, waiter, &m.flag[i]), 0);
    usleep(50000); /* they have used up their yields */
    for (int i = 0; i < 2; i++) {
        uint64_t start = time_now();
        lock_acquire(&proc->lock);
        m.flag[i] = 1;
        progress_signal();
        lock_release(&proc->lock);
        pthread_join(t[i], NULL);
        ck_assert(time_now() - start < 5000000000u);
    }
    progress_source_del(&s);
    proc->threaded = 0;
}
END_TEST

/* A thread that waits for nothing, as the progress thread, dozes where nothing reports news, and
 * finds it soon. */
START_TEST(progress_thread_dozes)
{
    int answer = -ENOTSUP;
    struct progress_source s = {.fd = restless, .arg = &answer};
    progress_source_add(&s);
    int64_t cpu = cpu_ns();
    ck_assert_int_eq(progress_wait_for(never, NULL, NULL, -1, 500000000), -ETIMEDOUT);
    cpu = cpu_ns() - cpu;
    ck_assert_msg(cpu < 250000000, "%lld ns of processor", (long long)cpu);
    progress_source_del(&s);
}
END_TEST

static int several_fd(void *arg, int arm)
{
    return arm ? 0 : *(const int *)arg;
}

static int several_fds(void *arg, int *fd)
{
    memcpy(fd, arg, PROGRESS_FDS * sizeof *fd);
    return PROGRESS_FDS;
}

/* A source of many descriptors, beside one of one: all are slept on. */
START_TEST(all_of_several_are_slept_on)
{
    int fd[PROGRESS_FDS][2], ends[PROGRESS_FDS], lone[2];
    for (int i = 0; i < PROGRESS_FDS; i++) {
        ck_assert_int_eq(pipe(fd[i]), 0);
        ends[i] = fd[i][0];
    }
    ck_assert_int_eq(pipe(lone), 0);
    struct progress_source s = {.fd = several_fd, .fds = several_fds,
                                .arg = ends}, one = {.fd = several_fd, .arg = lone};
    progress_source_add(&s);
    progress_source_add(&one);
    while (!proc->progress->fds) /* no sleep yet: under load a yield may take as long */
        ck_assert_int_eq(progress_wait_for(never, NULL, NULL, -1, 100000000), -ETIMEDOUT);
    /* those of the last sleep: the wake-up's is the first */
    const struct pollfd *p = proc->progress->fds;
    for (int i = 0; i < PROGRESS_FDS; i++)
        ck_assert_int_eq(p[1 + i].fd, ends[i]);
    ck_assert_int_eq(p[1 + PROGRESS_FDS].fd, lone[0]);
    progress_source_del(&one);
    progress_source_del(&s);
    for (int i = 0; i < PROGRESS_FDS; i++) {
        close(fd[i][0]);
        close(fd[i][1]);
    }
    close(lone[0]);
    close(lone[1]);
}
END_TEST

static int stalls, stalled_peer, lasting;

static void on_stall(int peer, int lasts)
{
    stalls++;
    stalled_peer = peer;
    lasting += lasts;
}

static const struct watcher asks = {.wait_stalls = on_stall};

/* Long waits, asleep or busy, and a user's own loop of tests, ask which processes live; short
 * waits never do. */
struct servant {
    struct progress_hook hook;
    struct progress_source source;
    uint64_t look_ns, until;
    int arms;
};

static int servant_fd(void *arg, int arm)
{
    struct servant *s = arg;
    s->arms += arm;
    return arm ? 0 : -1;
}

static int serve(void *arg) /* and count nothing */
{
    struct servant *s = arg;
    for (uint64_t end = time_now() + s->look_ns; time_now() < end;)
        ;
    return 0;
}

static int slept_or_late(void *arg)
{
    const struct servant *s = arg;
    return s->arms || time_now() >= s->until;
}

/* Whether a wait whose looks take that long comes to sleep within `ms`. */
static int sleeps(struct servant *s, uint64_t look_ns, const char *what, unsigned ms)
{
    proc->progress->spin = proc->progress->spin_max = 64;
    s->arms = 0;
    s->look_ns = look_ns;
    s->until = time_now() + ms * (uint64_t)1000000;
    progress_wait(slept_or_late, s, what, -1);
    return s->arms;
}

/* What a network does for peers shows in the time of a look alone. */
START_TEST(a_server_does_not_sleep)
{
    struct progress *p = proc->progress;
    struct servant s = {.look_ns = 0};
    s.hook = (struct progress_hook){.fn = serve, .arg = &s};
    s.source = (struct progress_source){.fd = servant_fd, .arg = &s, .network = 1};
    progress_hook_add(&s.hook);
    progress_source_add(&s.source);
    p->crowded = 0;
    ck_assert_int_eq(sleeps(&s, 5000, "something", 50), 0);
    ck_assert_int_eq(sleeps(&s, 0, "something", 5000), 1);
    ck_assert_int_eq(sleeps(&s, 200000, "something", 5000), 1); /* they were without the core */
    ck_assert_int_eq(sleeps(&s, 5000, NULL, 5000), 1); /* the progress thread */
    p->crowded = 1;
    ck_assert_int_eq(sleeps(&s, 5000, "something", 5000), 1);
    p->crowded = 0;
    progress_source_del(&s.source);
    s.source.network = 0; /* such a look works for another process */
    progress_source_add(&s.source);
    ck_assert_int_eq(sleeps(&s, 5000, "something", 5000), 1);
    progress_source_del(&s.source);
    progress_hook_del(&s.hook);
}
END_TEST

static int looks;

static int look_300(void *arg)
{
    return ++looks == 300;
}

static int look_busily(void *arg) /* no 256 in a row find nothing */
{
    return ++looks % 200 == 0 || looks == 300;
}

static int looked_300(void *arg)
{
    return looks >= 300;
}

/* What a wait of 300 looks makes of a budget of 1024: a yield doubles or halves it, nothing else
 * here changes it. */
static int64_t spin_after(int network, int (*look)(void *), int skips)
{
    struct progress *p = proc->progress;
    int none = -1;
    struct progress_hook h = {.fn = look};
    struct progress_source s = {.fd = several_fd, .arg = &none, .network = network};
    progress_hook_add(&h);
    progress_source_add(&s);
    p->spin = 1024;
    p->spin_max = 4096;
    p->skip = 0;
    p->skips_left = skips;
    looks = 0;
    progress_wait(looked_300, NULL, "something", -1);
    progress_source_del(&s);
    progress_hook_del(&h);
    return p->spin;
}

/* A process that looks at a network lets the awaited one run in time, even on its own core. */
START_TEST(a_look_at_a_network_lets_others_run)
{
    ck_assert_int_eq(spin_after(0, look_300, 0), 1024);
    ck_assert_int_ne(spin_after(1, look_300, 0), 1024);
    ck_assert_int_eq(spin_after(1, look_busily, 0), 1024);
    ck_assert_int_eq(spin_after(1, look_300, 2), 1024);
    cvar.progress_yield = 0;
    ck_assert_int_eq(spin_after(1, look_300, 0), 1024);
}
END_TEST

/* What a yield may take before the next waits sleep at once. */
START_TEST(many_processes_yield_for_longer)
{
    struct progress *p = proc->progress;
    ck_assert_uint_eq(progress_slice(1, 2), 150000);
    ck_assert_uint_eq(progress_slice(2, 2), 150000);
    ck_assert_uint_eq(progress_slice(3, 2), 175000);
    ck_assert_uint_eq(progress_slice(64, 2), 925000);
    ck_assert_uint_eq(progress_slice(4096, 2), 1000000);
    p->slice = UINT64_MAX;
    spin_after(1, look_300, 0);
    ck_assert_int_eq(p->skip, 0);
    p->slice = 0;
    spin_after(1, look_300, 0);
    ck_assert_int_eq(p->skip, 1);
    ck_assert_int_eq(p->skips_left, 2);
}
END_TEST

START_TEST(long_waits_ask)
{
    ck_assert_int_eq(watch_add(&asks), 0);
    ck_assert_int_eq(progress_wait_for(never, NULL, "a test", 7, 300000000), -ETIMEDOUT);
    ck_assert_int_eq(stalls, 0);
    ck_assert_int_eq(progress_wait_for(never, NULL, "a test", 7, 1300000000), -ETIMEDOUT);
    ck_assert_int_gt(stalls, 0);
    ck_assert_int_eq(stalled_peer, 7);
    ck_assert_int_gt(lasting, 0);
    stalls = lasting = 0;
    for (int i = 0; i < 100 && !lasting; i++) /* short, but of a wait that lasts */
        progress_pause("a test", 7, 10000000, time_now() - 1300000000u);
    ck_assert_int_gt(lasting, 0);
    stalls = lasting = 0;
    uint64_t end = time_now() + 1300000000u;
    while (time_now() < end)
        progress_test();
    ck_assert_int_gt(stalls, 0);
    ck_assert_int_eq(stalled_peer, -1);
    ck_assert_int_gt(lasting, 0);
    watch_drop(&asks);
    ck_assert_int_eq(progress_wait_for(never, NULL, "a test", 7, 1200000000), -ETIMEDOUT);
}
END_TEST

static int told;

static void tell(struct where_wait *w, const void *of)
{
    ck_assert_uint_eq(w->site, told < 2 ? 0 : 7); /* the outer one's, kept */
    w->site = 7 + (uint64_t)told++;
    strcpy(w->about, of ? "outer" : "inner");
}

static const struct watcher tells = {.wait_second = tell};

/* Waits inside itself, first shortly, and then for long. */
static int has_waited_inside(void *arg)
{
    const struct where_wait *w = &proc->progress->wait;
    uint64_t since = w->since;
    if (told != 1 || !since)
        return told == 3;
    ck_assert_int_eq(progress_wait_for(never, NULL, "a test", 7, 300000000), -ETIMEDOUT);
    ck_assert_int_eq(told, 1);
    ck_assert_uint_eq(w->since, since);
    ck_assert_str_eq(w->about, "outer");
    ck_assert_int_eq(progress_wait_for(never, NULL, "a test", 7, 1500000000), -ETIMEDOUT);
    ck_assert_int_eq(told, 2);
    ck_assert_uint_eq(w->since, 0);
    return 0;
}

/* What mpiexec reads of a wait that lasts is there again after a wait inside it. */
START_TEST(inner_waits_that_last)
{
    ck_assert_int_eq(watch_add(&tells), 0);
    progress_wait_why(has_waited_inside, NULL, "a test", 7, WHY_OTHER, &told);
    ck_assert_int_eq(told, 3);
    ck_assert_uint_eq(proc->progress->wait.since, 0);
    ck_assert_str_eq(proc->progress->wait.about, "");
    watch_drop(&tells);
}
END_TEST

/* What comes all the time may come from others than the one that is missed: tests that find
 * something, and waits that end soon. */
START_TEST(busy_ones_ask)
{
    struct counting a = {.limit = INT_MAX};
    a.hook = (struct progress_hook){.fn = count_up, .arg = &a};
    stalls = lasting = 0;
    ck_assert_int_eq(watch_add(&asks), 0);
    progress_hook_add(&a.hook);
    uint64_t end = time_now() + 3500000000u;
    while (time_now() < end)
        progress_test();
    progress_hook_del(&a.hook);
    ck_assert_int_ge(stalls, 2); /* and not only once */
    ck_assert_int_le(stalls, 4);
    ck_assert_int_eq(lasting, 0);
    stalls = 0;
    for (int i = 0; i < 7; i++)
        ck_assert_int_eq(progress_wait_for(never, NULL, "a test", 7, 300000000), -ETIMEDOUT);
    ck_assert_int_ge(stalls, 1);
    ck_assert_int_le(stalls, 3);
    ck_assert_int_eq(stalled_peer, 7);
    ck_assert_int_eq(lasting, 0);
    watch_drop(&asks);
}
END_TEST

Suite *suite_engine(void)
{
    Suite *s = suite_create("progress/engine");
    TCase *t = tcase_create("engine");
    tcase_add_checked_fixture(t, progress_up, progress_down);
    tcase_set_timeout(t, 30);
    tcase_add_test(t, hooks_run_and_leave);
    tcase_add_test(t, waits_until_the_condition_holds);
    tcase_add_test(t, what_holds_at_once_looks_around);
    tcase_add_test(t, times_out_asleep);
    tcase_add_test(t, hooks_look_before_sleep);
    tcase_add_test(t, strangers_are_no_news);
    tcase_add_test(t, a_server_does_not_sleep);
    tcase_add_test(t, a_look_at_a_network_lets_others_run);
    tcase_add_test(t, many_processes_yield_for_longer);
    tcase_add_test(t, long_waits_ask);
    tcase_add_test(t, inner_waits_that_last);
    tcase_add_test(t, busy_ones_ask);
    tcase_add_loop_test(t, none_starves_beside_the_restless, 0, 2);
    tcase_add_test(t, progress_thread_dozes);
    tcase_add_test(t, all_of_several_are_slept_on);
    tcase_add_loop_test(t, completions_wake_other_threads, 0, 5);
    suite_add_tcase(s, t);
    return s;
}
