/* bytes.c - the bytes of count elements of a datatype, as strided intervals. Start with
 * race_intervals_of(). */
#include "dt/dt.h"
#include "race/watched.h"

enum { LONGEST = 1 << 30 };

/* The runs of one block of any length. */
static void add_block(struct race_intervals *to, uint64_t at, uint64_t len)
{
    while (len && to->n < RACE_INTERVALS) {
        uint32_t part = (uint32_t)(len < LONGEST ? len : LONGEST);
        to->l[to->n++] = (struct race_interval){at, part, 0, 1};
        at += part;
        len -= part;
    }
}

/* A block behind the last interval makes it longer if it is adjacent, or has its length and
 * stride. */
static int extend(struct race_interval *l, uint64_t at, uint64_t len)
{
    if (l->blocks == 1 && at == l->at + l->len && len <= LONGEST - l->len) {
        l->len += (uint32_t)len;
        return 1;
    }
    uint64_t end = race_interval_end(l),
             step = at - (l->at + (uint64_t)(l->blocks - 1) * l->stride);
    if (len != l->len || at < end || step > UINT32_MAX ||
        (l->blocks > 1 && step != l->stride))
        return 0;
    l->stride = (uint32_t)step;
    l->blocks++;
    return 1;
}

/* More intervals than there is room for: the last becomes the hull of the rest. */
static void hull_of_rest(struct race_intervals *to, const struct dt_type *t, size_t count,
                         uint64_t base)
{
    int64_t lo, hi;
    if (dt_bounds(t, count, &lo, &hi))
        return;
    to->n = 0;
    add_block(to, base + (uint64_t)lo, (uint64_t)(hi - lo));
    to->hull = 1;
}

static int is_strided(size_t n, size_t len, int64_t stride)
{
    return n > 1 && n <= UINT32_MAX && len <= LONGEST && stride > (int64_t)len &&
           stride <= UINT32_MAX;
}

/* Runs that begin where the last interval would have its next one make that longer. */
static int go_on(struct race_intervals *to, uint64_t at, uint32_t n, uint32_t len, uint32_t stride)
{
    struct race_interval *l = to->n ? &to->l[to->n - 1] : NULL;
    if (!l || l->len != len || (l->blocks > 1 && l->stride != stride) ||
        at != l->at + (uint64_t)l->blocks * stride || n > UINT32_MAX - l->blocks)
        return 0;
    l->stride = stride;
    l->blocks += n;
    return 1;
}

static int add_run(void *arg, uintptr_t at, size_t n, size_t len, int64_t stride)
{
    struct race_intervals *to = arg;
    if (stride == (int64_t)len) {
        len *= n;
        n = 1;
    }
    int interval = is_strided(n, len, stride);
    if (interval && go_on(to, at, (uint32_t)n, (uint32_t)len, (uint32_t)stride))
        return 0;
    if (interval && to->n < RACE_INTERVALS) {
        to->l[to->n++] = (struct race_interval){at, (uint32_t)len, (uint32_t)stride, (uint32_t)n};
        return 0;
    }
    for (size_t i = 0; i < n; i++, at += (uintptr_t)stride) {
        if (to->n && extend(&to->l[to->n - 1], at, len))
            continue;
        to->full = to->n == RACE_INTERVALS;
        if (to->full)
            return 1;
        add_block(to, at, len);
    }
    return 0;
}

void race_intervals_of(const struct dt_type *t, size_t count, uint64_t base,
                       struct race_intervals *to)
{
    size_t bytes;
    to->n = to->full = to->hull = 0;
    if (!t || dt_total(t, count, &bytes) || !bytes)
        return;
    dt_runs(t, count, (void *)(uintptr_t)base, add_run, to);
    if (to->full)
        hull_of_rest(to, t, count, base);
}
