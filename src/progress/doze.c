/* doze.c - giving the core away, and sleeping on descriptors. Start with progress_doze(). */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>

#include "base/atomic.h"
#include "base/proc.h"
#include "base/sched.h"
#include "base/vec.h"
#include "mem/mem.h"
#include "progress/progress.h"
#include "progress/progress_types.h"
#include "var/var.h"

/* Other threads have had the lock, and noted calls of their own.  A thread of the library is in no
 * call: what it finds noted belongs to another thread, which may have left that call. */
static void note_again(const char *call)
{
    if (!progress_is_helper())
        proc->call = call;
}

void progress_let_in(void)
{
    const char *call = proc->call;
    lock_yield(&proc->lock);
    note_again(call);
}

static void retake(unsigned depth, const char *call)
{
    if (!depth)
        return;
    lock_retake(&proc->lock, depth);
    note_again(call);
}

uint64_t progress_step_aside(int idle)
{
    const char *call = proc->call;
    unsigned depth = proc->threaded ? lock_drop(&proc->lock) : 0;
    uint64_t before = time_now();
    if (sched) /* `proc` is this rank's again when it returns */
        sched->yield(proc->wait_what, proc->wait_peer, idle);
    else
        sched_yield();
    uint64_t away = time_now() - before;
    retake(depth, call);
    return away;
}

/* A turn that was to sleep and did not.  In fairness, a thread that waits for the lock gets it
 * before this one takes it again. */
static void give_way(void)
{
    if (proc->threaded)
        progress_let_in();
    if (proc->progress->blind) /* no news are waiting: give the core away, too */
        progress_step_aside(1);
}

enum progress_armed progress_arm(struct progress *p, struct pollfd **fds, int *fds_room,
                                 int networks, int *nfds)
{
    enum progress_armed is = PROGRESS_MAY_SLEEP;
    int room = p->nsources * PROGRESS_FDS + 1, n = 1;
    if (!VEC_FITS(*fds, *fds_room, room, (size_t)room))
        return PROGRESS_NEWS;
    for (struct list *l = p->sources.next; l != &p->sources; l = l->next) {
        struct progress_source *s = LIST_OBJ(l, struct progress_source, link);
        if (networks && !s->network)
            continue;
        int err = s->fd(s->arg, 1);
        if (err > 0)
            return PROGRESS_NEWS;
        if (err < 0)
            is = PROGRESS_BLIND;
        int fd[PROGRESS_FDS] = {-1}, many = 0;
        if (!err)
            many = s->fds ? s->fds(s->arg, fd) : (fd[0] = s->fd(s->arg, 0)) >= 0;
        for (int i = 0; i < many; i++)
            (*fds)[n++] = (struct pollfd){.fd = fd[i], .events = POLLIN};
    }
    *nfds = n;
    return is;
}

static enum progress_armed arm_all(struct progress *p, int *nfds)
{
    enum progress_armed is = progress_arm(p, &p->fds, &p->fds_room, 0, nfds);
    if (is != PROGRESS_NEWS)
        p->fds[0] = (struct pollfd){.fd = mem_wake_fd(), .events = POLLIN};
    return is;
}

/* Whether only wake-ups by other users' processes ended a sleep.  They are no news.  But the caller
 * looks once: their datagrams may have filled the queue, so that a peer's did not fit. */
static int only_strangers(const struct pollfd *fds, int nfds)
{
    for (int i = 0; i < nfds; i++) /* the first is the wake-up's, which tp/shm names again */
        if (fds[i].revents && fds[i].fd != fds[0].fd)
            return 0;
    return !mem_wake_heard();
}

/* Sleep on the descriptors, without the lock.  Returns ns until a descriptor woke us. 0: none did,
 * or it was another thread, which has handled its news. */
static uint64_t sleep_on(struct progress *p, int nfds, int max_ms)
{
    struct pollfd *fds = p->fds; /* only the poller touches it */
    uint64_t slept = 0;
    pvar_set_add(pvar_proc(), PVAR_SLEEPS, 1);
    p->asleep = 1;
    const char *call = proc->call;
    unsigned depth = proc->threaded ? lock_drop(&proc->lock) : 0;
    uint64_t before = time_now();
    int ready = poll(fds, (nfds_t)nfds, max_ms);
    if (ready > 0)
        slept = time_now() - before + 1;
    progress_is_here();
    retake(depth, call);
    if (!p->asleep || (ready > 0 && only_strangers(fds, nfds)))
        slept = 0;
    p->asleep = 0;
    return slept;
}

int progress_doze(struct progress *p, int (*cond)(void *), void *arg, int max_ms, int backoff_ms,
                  uint64_t *slept)
{
    int met = 0, nfds = 0;
    *slept = 0;
    progress_polled(p, PROGRESS_SLEEP);
    if (p->poller && !(p->blind && !backoff_ms)) {
        const char *call = proc->call;
        p->followers++;
        lock_cond_wait(&p->cond, atomic_load_explicit(&p->cond.seq, memory_order_acquire),
                       &proc->lock, (uint64_t)max_ms * 1000000u);
        p->followers--;
        note_again(call);
        return 0;
    }
    if (p->poller) {
        give_way();
        return 0;
    }
    p->poller = 1;
    /* Raise the flag before the last look: pairs with the fence in mem_wake() of the process that
     * brings news. */
    mem_wake_arm();
    /* The look is for the hooks, too: some wait for words in shared memory whose writer wakes
     * us. */
    enum progress_armed is = progress_poll() == 0 ? arm_all(p, &nfds) : PROGRESS_NEWS;
    p->blind = is == PROGRESS_BLIND;
    int ms = !p->blind || max_ms < backoff_ms ? max_ms : backoff_ms;
    int sleeps = is != PROGRESS_NEWS && ms > 0;
    if (sleeps && !(met = cond(arg)))
        *slept = sleep_on(p, nfds, ms);
    mem_wake_disarm();
    p->poller = 0;
    if (p->followers) /* news may be for them, and one of them must poll next */
        lock_cond_signal(&p->cond);
    if (!sleeps)
        give_way();
    return met;
}
