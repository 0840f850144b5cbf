/* sample.c - a thread that looks each millisecond what this process does: computing, working in
 * MPI, or waiting there. It reads the words that mpiexec reads too (base/where.h). So calls pay
 * nothing. A put that is a store counts as computing. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/proc.h"
#include "base/sched.h"
#include "say/say_types.h"

enum { EVERY_NS = 1000000 };

/* Half of the marks stay, each for twice the time. */
static void thin_out(struct say_sampler *s)
{
    for (unsigned i = 0; i < s->n / 2; i++)
        s->seen[i] = s->seen[2 * i];
    s->n /= 2;
    s->every *= 2;
}

static void note(struct say_sampler *s)
{
    uint64_t now = time_now();
    enum say_state is = !s->of->call        ? SAY_COMPUTING
                        : s->of->wait_what ? SAY_WAITING
                                           : SAY_WORKING;
    struct say_held *held = atomic_load_explicit(&s->of->say->holding,
                                                 memory_order_relaxed);
    s->ns[is] += now - s->last;
    if (held)
        atomic_fetch_add_explicit(&held->seen, now - s->last, memory_order_relaxed);
    if (held && is == SAY_COMPUTING)
        atomic_fetch_add_explicit(&held->seen_outside, now - s->last, memory_order_relaxed);
    s->last = now;
    s->looks++;
    if (s->n == sizeof s->seen)
        thin_out(s);
    s->seen[s->n++] = (uint8_t)is;
}

static void *look(void *arg)
{
    struct say_sampler *s = arg;
    lock_acquire(&s->lock);
    while (!s->stop) {
        unsigned seq = atomic_load_explicit(&s->cond.seq, memory_order_relaxed);
        lock_cond_wait(&s->cond, seq, &s->lock, s->every);
        if (!s->stop)
            note(s);
    }
    lock_release(&s->lock);
    return NULL;
}

int say_sample_start(struct say_sampler *s)
{
    sigset_t all, old;
    lock_init(&s->lock);
    s->of = proc;
    s->every = EVERY_NS;
    s->last = time_now();
    /* Signals belong to the user's threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int err = pthread_create(&s->thread, NULL, look, s);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    s->on = !err;
    return -err;
}

void say_sample_stop(struct say_sampler *s)
{
    if (!s->on)
        return;
    lock_acquire(&s->lock);
    s->stop = 1;
    lock_cond_signal(&s->cond);
    lock_release(&s->lock);
    pthread_join(s->thread, NULL);
    s->on = 0;
}

static char mark(const struct say_sampler *s, unsigned from, unsigned to)
{
    static const char marks[SAY_STATES + 1] = "#+.";
    unsigned n[SAY_STATES] = {0}, most = 0;
    for (unsigned i = from; i < (to > from ? to : from + 1); i++)
        n[s->seen[i] % SAY_STATES]++;
    for (unsigned k = 1; k < SAY_STATES; k++)
        most = n[k] > n[most] ? k : most;
    return marks[most];
}

void say_sample_row(const struct say_sampler *s, struct say_row *r)
{
    uint64_t all = s->ns[SAY_COMPUTING] + s->ns[SAY_WORKING] + s->ns[SAY_WAITING];
    r->samples = s->looks;
    if (all)
        r->working = (uint64_t)((double)r->run * (double)s->ns[SAY_WORKING] / (double)all);
    for (unsigned i = 0; i < SAY_STRIP; i++)
        r->strip[i] = s->n ? mark(s, i * s->n / SAY_STRIP, (i + 1) * s->n / SAY_STRIP) : ' ';
}
