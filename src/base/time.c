/* time.c - the clock, pauses and random bits (sched.h); the simulator has its own. */
#include "base/sched.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/proc.h"

const struct sched_ops *sched;

#ifdef BASE_TSAN
atomic_uint base_tsan_fence;
#endif

static struct proc the_proc;
#ifdef BASE_RANKS_AS_THREADS
_Thread_local
#endif
struct proc *proc = &the_proc;

void *thread_self(void)
{
    /* Not state: only its address is used, which differs between live threads. */
    static _Thread_local char self __attribute__((tls_model("initial-exec"))); /* without a call */
    return sched ? sched->self() : &self;
}

uint64_t time_now(void)
{
    if (sched)
        return sched->now();
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void thread_pause(unsigned turn)
{
    enum { SPIN_TURNS = 100 };
    if (sched)
        sched->yield("a short critical section", -1, 1);
    else if (turn < SPIN_TURNS)
        cpu_relax();
    else
        sched_yield();
}

uint64_t random_bits(void)
{
    if (sched)
        return sched->random();
    uint64_t bits;
    /* Up to 256 bytes come whole once the kernel's pool is ready; before that use clock and pid. */
    if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != (ssize_t)sizeof bits)
        bits = (time_now() * 0x9e3779b97f4a7c15ull) ^ ((uint64_t)getpid() << 32);
    return bits;
}
