/* overlap.c - have what a call reads and what it writes bytes in common? MPI-4.1 2.3 and 3.10
 * forbid it. Types may interleave two buffers, so bytes are compared, not spans. Start with
 * bounds_common(). */
#include <stdlib.h>

#include "base/vec.h"
#include "bounds/bounds_types.h"
#include "dt/dt.h"

enum { RUNS_MAX = 1 << 16 }; /* of one side: with more, nothing is named */

struct run {
    uint64_t at, end;
};
struct side { /* what is read, or what is written */
    struct run *v;
    size_t n, room;
    struct run hull, other; /* its own, and that of the other side */
    int full;
};

static int is_of(const struct watch_buffer *b, int writes)
{
    return b->writes == writes && b->t && b->count > 0;
}

static void hull_of(struct side *s, const struct watch_buffer *b, int n, int writes)
{
    s->hull = (struct run){UINT64_MAX, 0};
    for (int i = 0; i < n; i++) {
        int64_t lo, hi;
        if (!is_of(&b[i], writes) || dt_bounds(b[i].t, (size_t)b[i].count, &lo, &hi) || lo >= hi)
            continue;
        uint64_t at = (uint64_t)(uintptr_t)b[i].buf + (uint64_t)lo,
                 end = (uint64_t)(uintptr_t)b[i].buf + (uint64_t)hi;
        s->hull.at = at < s->hull.at ? at : s->hull.at;
        s->hull.end = end > s->hull.end ? end : s->hull.end;
    }
}

static int is_apart(struct run a, struct run b)
{
    return a.at >= a.end || b.at >= b.end || a.at >= b.end || b.at >= a.end;
}

static int add(void *arg, uintptr_t at, size_t n, size_t len, int64_t stride)
{
    struct side *s = arg;
    if (stride == (int64_t)len) {
        len *= n;
        n = 1;
    }
    for (size_t i = 0; i < n && !s->full; i++, at += (uintptr_t)stride) {
        struct run r = {at, at + len};
        if (is_apart(r, s->other))
            continue;
        s->full = s->n == RUNS_MAX || !VEC_FITS(s->v, s->room, s->n + 1, 64);
        if (!s->full)
            s->v[s->n++] = r;
    }
    return s->full;
}

static int by_address(const void *a, const void *b)
{
    const struct run *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Ascending and disjoint: a send may name a byte twice. */
static void collect(struct side *s, const struct watch_buffer *b, int n, int writes)
{
    size_t k = 0;
    for (int i = 0; i < n && !s->full; i++)
        if (is_of(&b[i], writes))
            dt_runs(b[i].t, (size_t)b[i].count, b[i].buf, add, s);
    if (s->full)
        return;
    if (s->n)
        qsort(s->v, s->n, sizeof *s->v, by_address);
    for (size_t i = 1; i < s->n; i++) {
        if (s->v[i].at > s->v[k].end)
            s->v[++k] = s->v[i];
        else if (s->v[i].end > s->v[k].end)
            s->v[k].end = s->v[i].end;
    }
    s->n = s->n ? k + 1 : 0;
}

static uint64_t common(const struct side *x, const struct side *y)
{
    uint64_t bytes = 0;
    for (size_t i = 0, k = 0; i < x->n && k < y->n;) {
        const struct run *a = &x->v[i], *b = &y->v[k];
        if (!is_apart(*a, *b))
            bytes += (a->end < b->end ? a->end : b->end) - (a->at > b->at ? a->at : b->at);
        if (a->end < b->end)
            i++;
        else
            k++;
    }
    return bytes;
}

uint64_t bounds_common(const struct watch_buffer *b, int n)
{
    struct side out = {0}, in = {0};
    uint64_t bytes = 0;
    hull_of(&out, b, n, 0);
    hull_of(&in, b, n, 1);
    if (is_apart(out.hull, in.hull))
        return 0;
    out.other = in.hull;
    in.other = out.hull;
    collect(&out, b, n, 0);
    if (!out.full)
        collect(&in, b, n, 1);
    if (!out.full && !in.full)
        bytes = common(&out, &in);
    free(out.v);
    free(in.v);
    return bytes;
}
