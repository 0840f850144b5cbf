/* engine.c - the wait of the library: poll, spin, yield, sleep (progress.h;
 * doc/design/progress.md P1 to P10). Start with progress_wait(). */
#include "progress/progress.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/bare.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "mem/mem.h"
#include "place/place.h"
#include "progress/progress_types.h"
#include "var/var.h"
#include "watch/watch.h"

/* Idle polls that spin at full speed; after which watchers are told that a wait lasts. */
enum { RELAX_FROM = 64, SEEN_FROM = 256 };
/* The spin budget never falls below this (polls, about 1 us): a peer that runs beside us answers
 * within it. */
enum { SPIN_MIN = 32 };
/* Looks at a network are system calls, over tcp 0.3 to 0.5 us each: the whole budget is a
 * millisecond of them.  The kernel may have put the awaited process on this very core.  After so
 * many looks it may run, if it is there. */
enum { SPIN_GLIMPSE = 256 };
/* A yield longer (ns) than progress_slice() gave a slice to a process that computes.  Each further
 * process of the core takes up to YIELD_EACH: it is woken, looks, and sleeps or yields.  Linux
 * wants slices of 0.7 ms times 1 + log2 of the cores, but ends them at a tick: 3.5 to 4 ms were
 * seen at 250 ticks a second.  One core with 1000 ticks may have slices as short as
 * YIELD_SLICE_MOST. */
enum { YIELD_SLICE = 150000, YIELD_EACH = 25000, YIELD_SLICE_MOST = 1000000 };
/* A sleep shorter than this (ns) was not worth its two switches: about 10 us, and as much until the
 * thread runs again. */
enum { SLEEP_SHORT_NS = 60000 };
/* A look that took between these (ns) and found nothing has done something for a peer.  A longer
 * one has lost the core meanwhile. */
enum {
    SERVED_MIN = 2000,
    SERVED_MAX = 50000,
    SERVED_LOOKS = 4 /* so many in a row are no interrupt */
};
/* At most 2^this waits go to sleep without a yield before one tries again. */
enum { SKIP_MAX = 6 };
/* A sleep ends after this long, so that a waiter notices a failed peer. */
enum { SLEEP_MAX_MS = 200 };
/* Without a descriptor to sleep on, a sleep lasts 1 ms, then twice as long each time, at most this
 * long. */
enum {
    BACKOFF_MAX_MS = 8,
    BACKOFF_DOUBLES = 3,
    BACKOFF_AFTER = 16 /* turns that gave the core away, of a wait where cores are few */
};
/* A wait that has lasted so long (ns) asks which processes are alive.  A process that gets messages
 * all the time, in waits or tests of any length, asks as often.  The second: turns without a sleep
 * between looks at the clock. */
static const uint64_t STALL_NS = 1000000000u;
enum { STALL_TURNS = 1024 };
/* MPI_Test: fruitless polls in a row before the core is yielded. */
enum { TEST_TURNS = 512, TEST_TURNS_CROWDED = 8 };

/* Its waiter sleeps on a descriptor that another thread has read. */
static void on_met(void)
{
    progress_signal();
}

uint64_t progress_slice(int64_t processes, int64_t cores)
{
    int64_t further = (processes - 1) / cores, ns = YIELD_SLICE + YIELD_EACH * further;
    return (uint64_t)(ns < YIELD_SLICE_MOST ? ns : YIELD_SLICE_MOST);
}

int progress_init(void)
{
    struct progress *p = calloc(1, sizeof *p);
    if (!p)
        return -ENOMEM;
    list_init(&p->hooks);
    list_init(&p->sources);
    p->wait.magic = WHERE_MAGIC;
    p->wait.front = site_front_waits();
    long found = sysconf(_SC_NPROCESSORS_ONLN), cores = found > 0 ? found : 1;
    /* Where no core is free the progress thread that is woken is one more process that spins. */
    int each = cvar.async_progress == PROGRESS_ASYNC ? 2 : 1;
    p->crowded = boot_host_processes() * each > cores;
    p->slice = progress_slice((int64_t)boot_host_processes() * each, cores);
    /* With more processes than cores every spin delays the awaited process. */
    p->spin_max = p->crowded ? cvar.progress_spin / 64 : cvar.progress_spin;
    p->spin = p->spin_max;
    proc->progress = p;
    progress_is_here();
    boot_on_met(on_met);
    return 0;
}

void progress_finalize(void)
{
    struct progress *p = proc->progress;
    if (!p)
        return;
    boot_on_met(NULL);
    progress_async_stop();
    free(p->fds);
    free(p);
    proc->progress = NULL;
}

void progress_hook_add(struct progress_hook *h)
{
    if (!h->link.next)
        list_init(&h->link);
    if (list_empty(&h->link))
        list_push(&proc->progress->hooks, &h->link);
}

void progress_hook_del(struct progress_hook *h)
{
    struct progress *p = proc->progress;
    if (!h->link.next)
        return;
    /* The pass under way must not step on a node that has left the list. */
    if (p->cursor == &h->link)
        p->cursor = h->link.next;
    list_del(&h->link);
}

void progress_source_add(struct progress_source *s)
{
    list_push(&proc->progress->sources, &s->link);
    proc->progress->nsources++;
    proc->progress->networks += s->network;
}

void progress_source_del(struct progress_source *s)
{
    list_del(&s->link);
    proc->progress->nsources--;
    proc->progress->networks -= s->network;
}

static inline __attribute__((always_inline)) int poll_hooks(struct progress *p, int for_others)
{
    if (p->polling) /* a hook, or user code called by one: the pass under way does the work */
        return 0;
    p->polling = 1;
    progress_polled(p, 1);
    int events = 0;
    for (p->cursor = p->hooks.next; p->cursor != &p->hooks;) {
        struct progress_hook *h = LIST_OBJ(p->cursor, struct progress_hook, link);
        p->cursor = p->cursor->next;
        if (for_others && h->program)
            continue;
        events += h->fn(h->arg);
    }
    p->cursor = NULL;
    p->polling = 0;
    if (events)
        progress_signal();
    return events;
}

static inline __attribute__((always_inline)) int poll_once(struct progress *p)
{
    return poll_hooks(p, 0);
}

int progress_poll_for_others(struct progress *p)
{
    atomic_store_explicit(&p->stand_in, thread_self(), memory_order_relaxed);
    int events = poll_hooks(p, 1);
    atomic_store_explicit(&p->stand_in, NULL, memory_order_relaxed);
    return events;
}

int progress_is_helper(void)
{
    struct progress *p = proc->progress;
    void *self = thread_self();
    return p && (atomic_load_explicit(&p->stand_in, memory_order_relaxed) == self ||
                 atomic_load_explicit(&p->server, memory_order_relaxed) == self);
}

int progress_has_helper(void)
{
    const struct progress *p = proc->progress;
    return p->async_on || p->standin;
}

int progress_is_polling(void)
{
    return proc->progress->polling;
}

int progress_poll(void)
{
    return poll_once(proc->progress);
}

uint64_t progress_polls(void)
{
    return atomic_load_explicit(&proc->progress->polls, memory_order_relaxed);
}

void progress_signal_threads(void)
{
    struct progress *p = proc->progress;
    if (p->asleep) {
        p->asleep = 0; /* one write wakes the poller, which then wakes the others */
        mem_wake_self();
    }
    if (p->followers)
        lock_cond_signal(&p->cond);
}

/* The wait began at *since, or before; 0: a first look.  A wait for nothing (what: NULL) depends on
 * no process: the progress thread has one from MPI_Init to MPI_Finalize.  Short waits and
 * successful tests do not prove that all are alive: what came may be from other processes than the
 * awaited one.  An example is a manager that gets work from all workers but the failed one.  So
 * there is a question once a second even then. Returns whether the wait lasts. */
static __attribute__((cold)) int look_after(struct progress *p, uint64_t *since, const char *what,
                                             int peer, int (*cond)(void *), void *arg)
{
    if (!watch_wants(WATCH_STALLS | WATCH_TURNS | WATCH_LASTING) || !what)
        return 0;
    uint64_t now = time_now();
    if (!*since)
        *since = now;
    if (watch_wants(WATCH_TURNS))
        watch_wait_turns(&(struct progress_waiting){cond, arg, peer, *since, now});
    int lasts = now - *since > STALL_NS;
    if (!watch_wants(WATCH_STALLS) || sched) /* simulated ranks are asked by no failure detector */
        return lasts;
    if (!p->looked)
        p->looked = now;
    if (lasts || now - p->looked > STALL_NS) {
        p->looked = now;
        watch_wait_stalls(peer, lasts);
    }
    return lasts;
}

/* The clock costs as much as a turn. */
static int is_turn_to_look(struct progress *p)
{
    return __builtin_expect(++p->turns % STALL_TURNS == 0, 0);
}

/* How long the next sleep may be.  While a hook is active its work may wait for room at a peer,
 * which no descriptor reports: look again soon, then at growing intervals. */
static int sleep_ms(const struct progress *p, int fruitless)
{
    if (p->hooks.next->next == &p->hooks || list_empty(&p->hooks))
        return SLEEP_MAX_MS;
    int ms = fruitless < 8 ? 1 << fruitless : SLEEP_MAX_MS;
    return ms < SLEEP_MAX_MS ? ms : SLEEP_MAX_MS;
}

/* Where there is no descriptor to sleep on: sleep no longer than the wait has lasted; 0: keep
 * looking.  What the progress thread (what: NULL) finds is no answer to a wait.  Where cores are
 * few, other processes need this one. */
static int backoff_ms(const struct progress *p, const char *what, int fruitless)
{
    if (what && (!p->crowded || fruitless < BACKOFF_AFTER))
        return 0;
    fruitless -= what ? BACKOFF_AFTER : 0;
    return fruitless < BACKOFF_DOUBLES ? 1 << fruitless : BACKOFF_MAX_MS;
}

/* --- how long to spin, whether to yield ----------------------------------------------
 *
 * Learned from waits, since nothing reports on which core the awaited process runs:
 *   satisfied while spinning         it runs beside us: spin longer
 *   a yield comes back at once       no process wants this core: spin longer
 *   a sleep is a short one           it cost more than spinning would have: spin longer
 *   others ran during the yield      the awaited one may be among them: spin less
 *   and for a whole slice            they compute.  A sleeper that is woken gets the core sooner
 *                                    than a process that yielded.  So sleep at once in the next
 *                                    waits, in ever more of them */
static void spin_longer(struct progress *p)
{
    p->spin = 2 * p->spin < p->spin_max ? 2 * p->spin : p->spin_max;
}

static void spin_less(struct progress *p)
{
    int64_t least = SPIN_MIN < p->spin_max ? SPIN_MIN : p->spin_max;
    p->spin = p->spin / 2 > least ? p->spin / 2 : least;
}

/* progress_poll() in the second half of the budget.  A network that executes a peer's put or get
 * here may report nothing (libfabric).  No look finds an event, and a peer that puts again and
 * again would meet a sleeper every so often.  But such a look takes time: its system calls take 5
 * us, those of a look that finds nothing 0.3.  Where cores are few, other processes need this one,
 * and no call waits for the progress thread. */
static int poll_timed(struct progress *p, int *served)
{
    uint64_t before = time_now();
    int events = progress_poll();
    uint64_t ns = time_now() - before;
    if (ns >= SERVED_MIN && ns <= SERVED_MAX && !p->crowded)
        ++*served;
    return events;
}

/* 1: others ran. */
static int yield_measured(struct progress *p)
{
    uint64_t ns = progress_step_aside(1);
    progress_yielded(p, ns);
    if (ns < PROGRESS_YIELD_EMPTY) {
        spin_longer(p);
        p->skip = 0;
    } else {
        spin_less(p);
    }
    if (ns > p->slice) {
        p->skip = p->skip < SKIP_MAX ? p->skip + 1 : SKIP_MAX;
        p->skips_left = 1 << p->skip;
    }
    return ns >= PROGRESS_YIELD_EMPTY;
}

/* Publish to the peers of the host how soon this process answers messages.  At the end, if a peer
 * has sent because of it, look for what is under way: otherwise it would wait until the next
 * call. */
static enum mem_attention attend(enum mem_attention was, enum mem_attention is)
{
    enum { LAST_LOOKS = 16 }; /* about 1 us, a message's way */
    if (was != is && mem_attend(is) && is == MEM_BUSY)
        for (int i = 0; i < LAST_LOOKS; i++)
            progress_poll();
    return is;
}

/* A wait whose condition did not hold at once. */
struct wait_loop {
    int (*cond)(void *arg);
    void *arg;
    const char *what;
    int peer;
    uint64_t end;   /* time limit (ns); 0: none */
    uint64_t since; /* look_after() */
    int64_t idle;   /* polls without an event */
    int yields;     /* in this idle time */
    int served;     /* polls of this idle time in which the networks had something to do */
    int fruitless;  /* sleeps without news */
    struct progress_seen *seen; /* NULL: there is no watcher */
    const void *of; /* progress_wait_why() */
    uint64_t site;  /* as a watcher found it; 0: not looked for yet */
};

static void loop_seen(const struct wait_loop *l)
{
    if (l->seen)
        watch_wait_lasts(l->seen);
}

/* The record of no wait. */
static struct where_wait no_wait(const struct progress *p)
{
    return (struct where_wait){
        .magic = WHERE_MAGIC, .slept_in = p->wait.slept_in, .front = p->wait.front};
}

/* The record belongs to the wait that looked last, as proc->wait_what does: to an inner one, or to
 * that of another thread. The outer one takes it again when it looks. */
static __attribute__((cold, noinline)) void loop_lasts(struct progress *p, struct wait_loop *l)
{
    p->lasting = l;
    p->wait = no_wait(p);
    p->wait.site = l->site;
    watch_wait_second(&p->wait, l->of);
    l->site = p->wait.site;
    p->wait.since = l->since; /* last: mpiexec may read meanwhile */
}

void progress_never_ends(void)
{
    proc->progress->wait.never = proc->progress->lasting != NULL;
}

static inline void loop_look_after(struct progress *p, struct wait_loop *l)
{
    uint64_t since = l->since; /* a copy: the loop stays in registers */
    int lasts = look_after(p, &since, l->what, l->peer, l->end ? NULL : l->cond, l->arg);
    l->since = since;
    if (lasts && p->lasting != l)
        loop_lasts(p, l);
}

static inline void loop_poll(struct progress *p, struct wait_loop *l)
{
    int timed = l->what && !sched && p->networks && l->idle > p->spin / 2 && l->idle <= p->spin;
    /* Without a call: each function that returns after a system call under it costs 10 ns
     * (ucx.md). */
    if ((timed ? poll_timed(p, &l->served) : poll_once(p)) > 0) {
        l->idle = 0;
        l->yields = l->fruitless = l->served = 0;
    } else if (l->served >= SERVED_LOOKS) {
        l->idle = 0;
        l->served = 0;
    } else {
        l->idle++;
    }
}

static inline void loop_spin(struct progress *p, struct wait_loop *l)
{
    if (proc->threaded)
        progress_let_in();
    int glimpse = p->networks && l->idle && l->idle % SPIN_GLIMPSE == 0 && !p->skips_left;
    if (glimpse && cvar.progress_yield)
        l->yields += yield_measured(p);
    if (l->idle > RELAX_FROM) /* it costs about 30 ns, a quarter of a message's latency */
        cpu_relax();
}

static inline void loop_yield(struct progress *p, struct wait_loop *l)
{
    l->yields++;
    loop_seen(l);
    yield_measured(p);
}

/* 1: the condition holds. */
static int loop_sleep(struct progress *p, struct wait_loop *l)
{
    if (!l->yields && p->skips_left)
        p->skips_left--;
    loop_seen(l);
    loop_look_after(p, l);
    if (proc->call)
        p->wait.slept_in = p->lasting == l && p->wait.call ? p->wait.call : proc->call;
    l->yields = (int)cvar.progress_yield; /* look at everything once, then sleep again */
    uint64_t slept;
    int backoff = backoff_ms(p, l->what, l->fruitless);
    int ms = l->end ? 1 : sleep_ms(p, l->fruitless++);
    int met = progress_doze(p, l->cond, l->arg, ms, backoff, &slept);
    /* News, perhaps none for this process: a network that executes a peer's put or get here may
     * report nothing, and the next may follow at once. */
    if (slept) {
        l->idle = 0;
        l->yields = l->fruitless = l->served = 0;
    }
    if (slept && slept < SLEEP_SHORT_NS)
        spin_longer(p);
    return met;
}

/* Until the condition holds: 0; or the time is over: -ETIMEDOUT. A condition that held is never
 * tested again: the test may have acted, such as sent a message. */
static int loop_run(struct progress *p, struct wait_loop *l)
{
    enum mem_attention attends = MEM_BUSY;
    int met = 0, err = 0;
    while (!met) {
        if (l->what) {
            proc->wait_what = l->what;
            proc->wait_peer = l->peer;
        }
        if (l->end && time_now() >= l->end) {
            err = -ETIMEDOUT;
            break;
        }
        loop_poll(p, l);
        if (l->cond(l->arg))
            break;
        if (is_turn_to_look(p)) {
            /* not of a short wait: finding its place takes longer than a message */
            if (l->idle >= SEEN_FROM)
                loop_seen(l);
            loop_look_after(p, l);
        }
        attends = attend(attends, sched || l->idle <= p->spin ? MEM_SPINS : MEM_WAITS);
        if (sched) /* with a time limit it can go on when no other process moves */
            progress_step_aside(l->idle > 0 && !l->end);
        else if (l->idle <= p->spin)
            loop_spin(p, l);
        else if (l->yields < cvar.progress_yield && !p->skips_left)
            loop_yield(p, l);
        else
            met = loop_sleep(p, l);
    }
    attend(attends, MEM_BUSY);
    if (__builtin_expect(p->lasting == l, 0)) {
        p->lasting = NULL;
        p->wait = no_wait(p);
    }
    if (l->idle > 0 && l->idle <= p->spin && p->spin < p->spin_max && !l->yields && !err)
        spin_longer(p);
    return err;
}

/* The watchers may change while the wait lasts. */
static __attribute__((cold, noinline)) int loop_watched(struct progress *p, struct wait_loop *l,
                                                        enum progress_why why, const void *of)
{
    struct progress_seen seen = {.why = why, .of = of, .cond = l->cond, .arg = l->arg,
                                 .what = l->what, .peer = l->peer, .since = time_now(),
                                 .polls = progress_polls()};
    l->seen = &seen;
    int err = loop_run(p, l);
    seen.until = time_now();
    watch_wait_over(&seen);
    return err;
}

BARE int progress_wait_for(int (*cond)(void *arg), void *arg, const char *what, int peer,
                           uint64_t timeout_ns)
{
    struct progress *p = proc->progress;
    WR_ASSERT_DEBUG(!p->polling);
    uint64_t end = timeout_ns ? time_now() + timeout_ns : 0;
    /* first: nothing in this function may come between the condition and its caller */
    progress_glance();
    if (cond(arg))
        return 0;
    const char *outer_what = proc->wait_what;
    int outer_peer = proc->wait_peer;
    struct wait_loop l = {cond, arg, what, peer, .end = end};
    int err = loop_run(p, &l);
    proc->wait_what = outer_what;
    proc->wait_peer = outer_peer;
    return err;
}

static int never(void *arg)
{
    (void)arg;
    return 0;
}

void progress_pause(const char *what, int peer, uint64_t ns, uint64_t since)
{
    const char *outer_what = proc->wait_what;
    int outer_peer = proc->wait_peer;
    struct wait_loop l = {never, NULL, what, peer, .end = time_now() + ns, .since = since};
    WR_ASSERT_DEBUG(!proc->progress->polling);
    loop_run(proc->progress, &l);
    proc->wait_what = outer_what;
    proc->wait_peer = outer_peer;
}

BARE void progress_wait_why(int (*cond)(void *arg), void *arg, const char *what, int peer,
                            enum progress_why why, const void *of)
{
    struct progress *p = proc->progress;
    WR_ASSERT_DEBUG(!p->polling);
    /* first, as above */
    progress_glance();
    if (cond(arg))
        return;
    const char *outer_what = proc->wait_what;
    int outer_peer = proc->wait_peer;
    struct wait_loop l = {cond, arg, what, peer, .of = of};
    if (watch_wants(WATCH_WAITS) && what)
        loop_watched(p, &l, why, of);
    else
        loop_run(p, &l);
    proc->wait_what = outer_what;
    proc->wait_peer = outer_peer;
}

void progress_wait(int (*cond)(void *arg), void *arg, const char *what, int peer)
{
    progress_wait_why(cond, arg, what, peer, WHY_OTHER, NULL);
}

void progress_glance(void)
{
    enum { GLANCE = 64 };
    if (++proc->progress->glances % GLANCE == 0)
        progress_test();
}

void progress_test(void)
{
    struct progress *p = proc->progress;
    int events = progress_poll();
    if (events > 0) {
        p->test_idle = 0;
        p->test_since = 0;
    }
    if (is_turn_to_look(p))
        look_after(p, &p->test_since, "MPI_Test", -1, NULL, NULL);
    if (events > 0)
        return;
    if (sched || ++p->test_idle >= (p->crowded ? TEST_TURNS_CROWDED : TEST_TURNS)) {
        p->test_idle = 0;
        look_after(p, &p->test_since, "MPI_Test", -1, NULL, NULL);
        progress_yielded(p, progress_step_aside(0));
    } else if (proc->threaded) {
        progress_let_in();
    }
}
