/* sched.h - which thread runs next: the hook by which the simulator replaces the kernel.
 *
 * In production `sched` is NULL and waits spin, yield and sleep.  In the simulator ranks and their
 * threads are fibers of one thread; every wait of the library ends in sched->yield().  Clocks and
 * random numbers come from the seed. */
#ifndef BASE_SCHED_H
#define BASE_SCHED_H

#include <stddef.h>
#include <stdint.h>

struct sched_ops {
    /* Let others run.  The caller waits for `what` from process `peer` (world rank or -1).
     * idle = 1: the caller can do nothing until another fiber moves. */
    void (*yield)(const char *what, int peer, int idle);
    uint64_t (*now)(void);    /* ns */
    uint64_t (*random)(void); /* 64 random bits */
    void *(*self)(void);      /* identity of the calling fiber, never NULL */
    void (*point)(void);      /* others may run now, as if the kernel had taken the core away; may
                               * be NULL */
};

/* set before the first rank starts, never changed after */
extern const struct sched_ops *sched __attribute__((visibility("hidden")));

/* A place between two steps that other processes see, where the simulator may run them.  Nothing in
 * production. */
static inline void sched_point(void)
{
    if (__builtin_expect(sched != NULL, 0) && sched->point)
        sched->point();
}

/* A turn of a short wait that only spins.  The simulator runs other fibers here, which would not
 * run otherwise.  Nothing in production. */
static inline void sched_turn(const char *what, int peer)
{
    if (__builtin_expect(sched != NULL, 0))
        sched->yield(what, peer, 0);
}

/* Identity of the calling thread (or fiber): never NULL, unique among live threads. */
void *thread_self(void);
/* Monotonic time in ns. */
uint64_t time_now(void);
/* One turn of a short wait for another process or thread inside a bounded critical section.  It
 * spins for the first turns, then yields the core.  Waits for anything else are progress_wait(). */
void thread_pause(unsigned turn);
/* 64 random bits (ids on the wire, tokens); from the seed in the simulator. */
uint64_t random_bits(void);

#endif
