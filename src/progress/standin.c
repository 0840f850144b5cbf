/* standin.c - a thread that serves the processes that a network leads to while no thread of the
 * program is in MPI (doc/design/progress.md). Start with stand_in().
 *
 *      the program is in MPI, or was since the last look   pause: 50 us, twice as long each time
 *      it has not looked since                             a pass over the hooks, arm, then
 *                                                          sleep on the networks' descriptors
 *
 * So it is no sleeper beside a program that polls: a message that comes to such a program wakes no
 * thread. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/proc.h"
#include "base/sched.h"
#include "base/own_thread.h"
#include "base/vec.h"
#include "boot/boot.h"
#include "progress/progress.h"
#include "progress/progress_types.h"
#include "var/var.h"

/* Pauses (ns). A look beside a program that polls takes 5 us of its core, and 45 us in some virtual
 * machines. A program that sleeps in MPI is woken by the descriptors itself. */
enum { PAUSE_NS = 50000, PAUSE_MAX_NS = 8000000 };
/* A sleep on the descriptors ends after 1 ms, then twice as long each time, at most this long (ms).
 * What the program has begun meanwhile may wait for this thread.  Some networks report events only
 * to the thread that armed them last. */
enum { SLEEP_MAX_MS = 16 };
/* Passes in a row while there are events. Then the program may have the lock. */
enum { PASSES = 32 };
/* At exit and before fork(): how long to wait for the end of a pass (ms). How long a thread that
 * may make no more sleeps (ns). */
enum { PASS_WAIT_MS = 1000, SECOND_NS = 1000000000 };

struct standin {
    struct progress *p;
    struct proc *of;
    pthread_t thread;
    pid_t pid; /* a child made by fork() has no such thread */
    int stop_fd;
    /* held while it tries or has proc->lock; and by others, so that it does neither */
    struct lock turn;
    int over; /* no more turns; under that */
    uint64_t polls; /* of struct progress, at the last look */
    uint64_t pause; /* ns, the last one that was not hurried */
    int hurried;    /* the last one was */
    int sleep_ms;   /* the last one, 0: none since the program looked */
    struct pollfd *fds;
    int fds_room;
};

/* The program may be in MPI: how long until the next look (ns), twice as long each time. */
static uint64_t pause_ns(struct standin *s)
{
    s->sleep_ms = 0;
    s->pause = s->pause ? 2 * s->pause : PAUSE_NS;
    if (s->pause > PAUSE_MAX_NS)
        s->pause = PAUSE_MAX_NS;
    return s->pause;
}

/* Under proc->lock. Returns how long to sleep (ns), and how many descriptors end it; 0 ns: look
 * again. */
static uint64_t serve(struct standin *s, struct progress *p, int *nfds)
{
    int turns = 0;
    while (progress_poll_for_others(p) > 0)
        if (++turns == PASSES)
            break;
    s->polls = progress_polls();
    enum progress_armed is = PROGRESS_NEWS;
    if (turns < PASSES)
        is = progress_arm(p, &s->fds, &s->fds_room, 1, nfds);
    if (is == PROGRESS_NEWS) {
        *nfds = 1;
        if (!turns) /* a network that claims events and has none takes no core */
            return pause_ns(s);
        s->pause = 0;
        return 0;
    }
    /* What waits for so many passes waits no longer than one sleep. */
    progress_polled(p, PROGRESS_SLEEP);
    s->polls = progress_polls();
    s->pause = 0;
    s->sleep_ms = s->sleep_ms ? 2 * s->sleep_ms : 1;
    if (s->sleep_ms > SLEEP_MAX_MS)
        s->sleep_ms = SLEEP_MAX_MS;
    return 1000000u * (uint64_t)(is == PROGRESS_BLIND ? 1 : s->sleep_ms);
}

/* The program was in MPI since the last look. If it is not now, it may have left for long: look
 * again soon, but not twice in a row. Returns as pause_ns(). */
static uint64_t program_polls(struct standin *s)
{
    if (lock_seen_held(&proc->lock) || s->hurried) {
        s->hurried = 0;
        return pause_ns(s);
    }
    s->hurried = 1;
    return PAUSE_NS;
}

/* Returns as serve(). The program's passes are seen without the lock: a fence in a thread that
 * polls takes longer than all else here. */
static uint64_t look(struct standin *s, struct progress *p, int *nfds)
{
    uint64_t polls = progress_polls();
    if (polls != s->polls) {
        s->polls = polls;
        return program_polls(s);
    }
    s->hurried = 0;
    if (!lock_try(&proc->lock))
        return pause_ns(s);
    uint64_t ns = p->poller || p->followers ? pause_ns(s) : serve(s, p, nfds);
    lock_release(&proc->lock);
    return ns;
}

/* A look, if it is its turn. */
static uint64_t turn(struct standin *s, struct progress *p, int *nfds)
{
    *nfds = 1;
    if (!lock_try(&s->turn))
        return pause_ns(s);
    uint64_t ns = s->over ? SECOND_NS : look(s, p, nfds);
    lock_release(&s->turn);
    return ns;
}

static void *stand_in(void *arg)
{
    struct standin *s = arg;
    int nfds = 1;
#ifdef BASE_RANKS_AS_THREADS
    proc = s->of;
#endif
    do {
        uint64_t ns = turn(s, s->p, &nfds);
        struct timespec t = {(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};
        if (ppoll(s->fds, (nfds_t)nfds, &t, NULL) <= 0)
            s->fds[0].revents = 0;
    } while (!s->fds[0].revents);
    return NULL;
}

static struct standin *own(void)
{
    return proc && proc->progress ? proc->progress->standin : NULL;
}

/* 0: the pass under way takes too long. */
static int turn_held(struct standin *s)
{
    for (int ms = 0; ms < PASS_WAIT_MS; ms++) {
        if (lock_try(&s->turn))
            return 1;
        poll(NULL, 0, 1);
    }
    return 0;
}

/* exit() without MPI_Finalize: the networks' libraries clean up next, and no pass may be in them
 * then. */
static void at_exit(void)
{
    struct standin *s = own();
    if (!s || s->pid != getpid() || !turn_held(s))
        return;
    s->over = 1;
    lock_release(&s->turn);
}

/* A child inherits the locks of the networks' libraries as they are, and may clean up at its exit:
 * no pass may hold one. */
static void before_fork(void)
{
    struct standin *s = own();
    if (s && s->pid == getpid())
        turn_held(s);
}

static void after_fork(void)
{
    struct standin *s = own();
    if (s && lock_mine(&s->turn))
        lock_release(&s->turn);
}

static void standin_free(struct standin *s)
{
    if (s->stop_fd >= 0)
        close(s->stop_fd);
    free(s->fds);
    free(s);
}

/* There are peers that only a network leads to: on other nodes, or of other jobs. A first job on
 * one node may meet some later, and would pay for the thread before. */
static int has_far_peers(void)
{
    return boot_local_size() < boot_size() || (boot_far() && boot_first());
}

/* There are networks, and each has a descriptor to sleep on. */
static int may_sleep(const struct progress *p)
{
    const struct list *l = p->sources.next;
    for (; l != &p->sources; l = l->next) {
        struct progress_source *s = LIST_OBJ(l, struct progress_source, link);
        if (s->network && s->fd(s->arg, 0) < 0)
            return 0;
    }
    return p->networks > 0;
}

int progress_standin_wanted(void)
{
    return cvar.async_progress == PROGRESS_STANDIN && !sched && may_sleep(proc->progress) &&
           has_far_peers();
}

int progress_standin_start(void)
{
    struct progress *p = proc->progress;
    struct standin *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    lock_init(&s->turn);
    s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int err = s->stop_fd < 0 ? -errno : 0;
    if (!err && !VEC_FITS(s->fds, s->fds_room, 1, 1))
        err = -ENOMEM;
    if (!err) {
        s->fds[0] = (struct pollfd){.fd = s->stop_fd, .events = POLLIN};
        s->p = p;
        s->of = proc;
        s->pid = getpid();
        err = thread_start(&s->thread, stand_in, s);
    }
    if (err) {
        standin_free(s);
        return err;
    }
    p->standin = s;
    atexit(at_exit);
    pthread_atfork(before_fork, after_fork, after_fork);
    return 0;
}

void progress_standin_stop(void)
{
    struct progress *p = proc->progress;
    struct standin *s = p->standin;
    if (!s)
        return;
    p->standin = NULL;
    eventfd_write(s->stop_fd, 1);
    pthread_join(s->thread, NULL); /* also under the lock: the thread only tries it */
    turn_held(s); /* another thread of the program may be in before_fork() */
    standin_free(s);
}
