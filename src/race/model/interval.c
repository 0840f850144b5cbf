/* interval.c - which bytes two accesses have in common. Datatypes are intervals, runs at a stride;
 * they are not expanded. */
#include "race/model/model.h"

enum { MOST_BLOCKS = 4096 }; /* of the shorter list, before the answer is RACE_MAY_OVERLAP */

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* A byte of l in [at, end)? */
static int interval_reaches(const struct race_interval *l, uint64_t at, uint64_t end)
{
    if (at >= race_interval_end(l) || end <= l->at)
        return 0;
    if (l->blocks == 1 || at < l->at + l->len)
        return 1;
    /* the first run that ends behind `at` */
    uint64_t k = (at - l->at - l->len) / l->stride + 1;
    return k < l->blocks && l->at + k * l->stride < end;
}

/* Both have one stride: the runs i of a and j of b touch for some i - j, which lies beside the
 * quotient of the distance. */
static int overlap_equal(const struct race_interval *a, const struct race_interval *b)
{
    if (a->at > b->at) {
        const struct race_interval *t = a;
        a = b;
        b = t;
    }
    uint64_t d = b->at - a->at, q = d / a->stride, r = d % a->stride;
    /* run q of a begins r bytes before b's first, run q + 1 behind it */
    return (q < a->blocks && r < a->len) || (q + 1 < a->blocks && a->stride - r < b->len);
}

/* Residues modulo the common divisor of the strides: apart in them is apart everywhere. */
static int disjoint_by_gcd(const struct race_interval *a, const struct race_interval *b)
{
    uint64_t g = gcd(a->stride, b->stride);
    uint64_t r = (a->at > b->at ? a->at - b->at : b->at - a->at) % g;
    uint32_t first = a->at > b->at ? b->len : a->len, second = a->at > b->at ? a->len : b->len;
    return first + second <= g && r >= first && g - r >= second;
}

enum race_overlap race_intervals_overlap(const struct race_interval *a,
                                         const struct race_interval *b)
{
    if (a->at >= race_interval_end(b) || b->at >= race_interval_end(a))
        return RACE_DISJOINT;
    if (a->blocks == 1)
        return interval_reaches(b, a->at, a->at + a->len) ? RACE_OVERLAP : RACE_DISJOINT;
    if (b->blocks == 1)
        return interval_reaches(a, b->at, b->at + b->len) ? RACE_OVERLAP : RACE_DISJOINT;
    if (a->stride == b->stride)
        return overlap_equal(a, b) ? RACE_OVERLAP : RACE_DISJOINT;
    if (disjoint_by_gcd(a, b))
        return RACE_DISJOINT;
    if (a->blocks > b->blocks) {
        const struct race_interval *t = a;
        a = b;
        b = t;
    }
    /* only runs of a that reach into b */
    uint64_t from = b->at > a->at ? (b->at - a->at) / a->stride : 0, tried = 0;
    for (uint64_t i = from; i < a->blocks; i++) {
        uint64_t at = a->at + i * a->stride;
        if (at >= race_interval_end(b))
            break;
        if (++tried > MOST_BLOCKS)
            return RACE_MAY_OVERLAP;
        if (interval_reaches(b, at, at + a->len))
            return RACE_OVERLAP;
    }
    return RACE_DISJOINT;
}

/* Runs of a and b that touch, beginning with those of a. */
static int runs_misaligned(const struct race_interval *a, const struct race_interval *b,
                           uint32_t size)
{
    for (uint64_t i = 0; i < a->blocks && i < MOST_BLOCKS; i++) {
        uint64_t at = a->at + i * a->stride, end = at + a->len, k = 0;
        if (b->blocks > 1 && at >= b->at + b->len)
            k = (at - b->at - b->len) / b->stride + 1;
        for (; k < b->blocks && b->at + k * b->stride < end; k++) {
            uint64_t other = b->at + k * b->stride;
            uint64_t apart = other > at ? other - at : at - other;
            if (other + b->len > at && apart % size)
                return 1;
        }
    }
    return 0;
}

int race_intervals_misaligned(const struct race_interval *a, const struct race_interval *b,
                              uint32_t size)
{
    int even = (a->blocks == 1 || a->stride % size == 0) &&
               (b->blocks == 1 || b->stride % size == 0);
    if (size < 2)
        return 0;
    if (even) /* all runs are alike */
        return (a->at > b->at ? a->at - b->at : b->at - a->at) % size != 0;
    return a->blocks < b->blocks ? runs_misaligned(a, b, size) : runs_misaligned(b, a, size);
}

int race_interval_covers(const struct race_interval *a, const struct race_interval *b)
{
    if (a->at > b->at || race_interval_end(a) < race_interval_end(b))
        return 0;
    if (a->blocks == 1)
        return 1;
    if (b->blocks == 1)
        return (b->at - a->at) % a->stride + b->len <= a->len;
    return a->stride == b->stride && (b->at - a->at) % a->stride + b->len <= a->len;
}

int race_interval_grow(struct race_interval *l, const struct race_interval *next)
{
    if (l->blocks != 1 || next->blocks != 1 || next->at != l->at + l->len ||
        next->len > UINT32_MAX - l->len)
        return 0;
    l->len += next->len;
    return 1;
}
