/* sample.c - a thread that looks each millisecond what this process does: computing, working in
 * MPI, or waiting there. It reads the words that mpiexec reads too (base/where.h). So calls pay
 * nothing. A put that is a store counts as computing. */
#include <string.h>

#include "base/own_thread.h"
#include "base/proc.h"
#include "base/sched.h"
#include "base/where.h"
#include "profile/profile_types.h"

enum { EVERY_NS = 1000000 };

/* Half of the marks stay, each for twice the time. */
static void thin_out(struct profile_sampler *s)
{
    for (unsigned i = 0; i < s->n / 2; i++)
        s->seen[i] = s->seen[2 * i];
    s->n /= 2;
    s->every *= 2;
}

static void note(struct profile_sampler *s)
{
    uint64_t now = time_now();
    enum profile_state is = !s->of->call       ? PROFILE_COMPUTING
                            : s->of->wait_what ? PROFILE_WAITING
                                               : PROFILE_WORKING;
    struct profile_held *held = atomic_load_explicit(&s->of->profile->holding,
                                                     memory_order_relaxed);
    const struct where_wait *wait = (const struct where_wait *)s->of->progress;
    const char *front = is == PROFILE_WAITING && wait ? wait->call : NULL;
    s->in_call = front ? front : s->of->call;
    s->wait_what = s->of->wait_what;
    s->wait_peer = s->of->wait_peer;
    s->wait_since = is == PROFILE_WAITING && wait ? wait->since : 0;
    s->wait_site = wait ? wait->site : 0;
    s->ns[is] += now - s->last;
    if (held)
        atomic_fetch_add_explicit(&held->seen, now - s->last, memory_order_relaxed);
    if (held && is == PROFILE_COMPUTING)
        atomic_fetch_add_explicit(&held->seen_outside, now - s->last, memory_order_relaxed);
    s->last = now;
    s->looks++;
    if (s->n == sizeof s->seen)
        thin_out(s);
    s->seen[s->n++] = (uint8_t)is;
}

static void *look(void *arg)
{
    struct profile_sampler *s = arg;
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

int profile_sample_start(struct profile_sampler *s)
{
    lock_init(&s->lock);
    s->of = proc;
    s->every = EVERY_NS;
    s->last = time_now();
    int err = thread_start(&s->thread, look, s);
    s->on = !err;
    return err;
}

void profile_sample_stop(struct profile_sampler *s)
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

static char mark(const struct profile_sampler *s, unsigned from, unsigned to)
{
    static const char marks[PROFILE_STATES + 1] = "#+.";
    unsigned n[PROFILE_STATES] = {0}, most = 0;
    for (unsigned i = from; i < (to > from ? to : from + 1); i++)
        n[s->seen[i] % PROFILE_STATES]++;
    for (unsigned k = 1; k < PROFILE_STATES; k++)
        most = n[k] > n[most] ? k : most;
    return marks[most];
}

void profile_sample_row(const struct profile_sampler *s, struct profile_row *r)
{
    uint64_t all = s->ns[PROFILE_COMPUTING] + s->ns[PROFILE_WORKING] + s->ns[PROFILE_WAITING];
    r->samples = s->looks;
    if (all)
        r->working = (uint64_t)((double)r->run * (double)s->ns[PROFILE_WORKING] / (double)all);
    for (unsigned i = 0; i < PROFILE_STRIP; i++)
        r->strip[i] = s->n ? mark(s, i * s->n / PROFILE_STRIP, (i + 1) * s->n / PROFILE_STRIP)
                           : ' ';
}
