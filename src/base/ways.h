/* ways.h - two ways to move the same bytes; which one is faster depends on the machine.
 *
 * For each size, in powers of two, the time of both ways is kept. The expected way (0) has the
 * first WAYS_FIRST turns, the other one the next WAYS_TRIAL; then the faster one is picked. Once in
 * WAYS_AGAIN turns the slower one is tried again, because a peer may move to another core. Not
 * thread-safe: under the lock of its owner. */
#ifndef BASE_WAYS_H
#define BASE_WAYS_H

#include <stddef.h>
#include <stdint.h>

enum { WAYS_FIRST = 16, WAYS_TRIAL = 4, WAYS_AGAIN = 256, WAYS_SIZES = 28 };

struct ways {
    uint32_t ns[WAYS_SIZES][2];  /* smoothed, 0: never measured */
    uint16_t turns[WAYS_SIZES];
};

static inline unsigned ways_size(size_t bytes)
{
    unsigned bits = bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
    return bits < WAYS_SIZES ? bits : WAYS_SIZES - 1;
}

static inline unsigned ways_best(const struct ways *w, unsigned size)
{
    return w->ns[size][1] && w->ns[size][1] < w->ns[size][0];
}

/* The way to take now: 0 or 1. */
static inline unsigned ways_pick(struct ways *w, size_t bytes)
{
    unsigned size = ways_size(bytes), turn = w->turns[size]++;
    if (turn < WAYS_FIRST)
        return 0;
    if (turn < WAYS_FIRST + WAYS_TRIAL)
        return 1;
    if (turn < WAYS_FIRST + WAYS_TRIAL + WAYS_AGAIN)
        return ways_best(w, size);
    w->turns[size] = WAYS_FIRST + WAYS_TRIAL;
    return !ways_best(w, size);
}

/* `way` took so long. Times below the smoothed one count more than those above it: a thread that
 * lost its core is no measure of the way. */
static inline void ways_took(struct ways *w, size_t bytes, unsigned way, uint64_t ns)
{
    uint32_t *old = &w->ns[ways_size(bytes)][way];
    uint64_t most = 4 * (uint64_t)*old, now = !ns ? 1 : ns < UINT32_MAX ? ns : UINT32_MAX;
    if (!*old)
        *old = (uint32_t)now;
    else if (now < *old)
        *old -= (uint32_t)((*old - now + 1) / 2);
    else
        *old += (uint32_t)(((now < most ? now : most) - *old) / 16);
}

#endif
