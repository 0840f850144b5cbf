/* marks.c - the blocks of a type by their number. Start with dt_iov_from() and first_at().
 *
 * Where block n begins is not known from the layout, since adjacent blocks are one. So a type keeps
 * marks: where each step-th block begins, as far as calls have come, and where the last ones ended.
 * When there are MARKS of them, every second one goes and the step doubles. A program that asks
 * piece by piece begins where the piece before has ended. */
#include <stdlib.h>

#include "dt/dt_types.h"

enum { MARKS = 256, STEP = 64 };

struct position {
    int64_t block, byte; /* a block begins at this packed byte, or the data ends */
};

struct dt_marks {
    int64_t step;            /* STEP times a power of two */
    int64_t n, at[MARKS];    /* block i * step begins at byte at[i]; at[0] is 0 */
    struct position from, within; /* where the last call of each function ended */
};

/* The marks of a type that needs some. NULL: it has few blocks, or there is no memory. */
static struct dt_marks *marks_of(struct dt_type *t)
{
    if (!t->marks && t->node && t->node->blocks > STEP) {
        t->marks = calloc(1, sizeof *t->marks);
        if (t->marks) {
            t->marks->step = STEP;
            t->marks->n = 1;
        }
    }
    return t->marks;
}

static void note(struct dt_marks *m, struct position p)
{
    if (!m || p.block != m->n * m->step)
        return;
    if (m->n == MARKS) {
        for (int i = 1; i < MARKS / 2; i++)
            m->at[i] = m->at[2 * i];
        m->n /= 2;
        m->step *= 2;
    }
    m->at[m->n++] = p.byte;
}

/* Up to max blocks from *p on, which moves behind them. */
static size_t give(struct dt_type *t, struct position *p, struct iovec *iov, size_t max)
{
    size_t bytes, n = dt_iov(t, 1, NULL, (size_t)p->byte, SIZE_MAX, iov, max, &bytes);
    proc->dt->listed += n;
    for (size_t i = 0; i < n; i++) {
        note(t->marks, *p);
        p->block++;
        p->byte += (int64_t)iov[i].iov_len;
    }
    return n;
}

static struct position later(struct position a, struct position b, int b_fits)
{
    return b_fits && b.block > a.block ? b : a;
}

/* The last known position that is not behind this block. */
static struct position first_at(const struct dt_marks *m, int64_t block)
{
    if (!m)
        return (struct position){0, 0};
    int64_t i = block / m->step < m->n ? block / m->step : m->n - 1;
    struct position p = {i * m->step, m->at[i]};
    p = later(p, m->from, m->from.block <= block);
    return later(p, m->within, m->within.block <= block);
}

/* The same for a packed byte. */
static struct position first_below(const struct dt_marks *m, int64_t byte)
{
    if (!m)
        return (struct position){0, 0};
    int64_t i = cum_find(m->at, m->n, byte);
    struct position p = {i * m->step, m->at[i]};
    p = later(p, m->from, m->from.byte <= byte);
    return later(p, m->within, m->within.byte <= byte);
}

size_t dt_iov_from(struct dt_type *t, int64_t first, struct iovec *iov, size_t max)
{
    struct dt_marks *m = marks_of(t);
    struct position p = first_at(m, first);
    struct iovec skipped[STEP];
    while (p.block < first && p.byte < t->size)
        give(t, &p, skipped, (size_t)(first - p.block < STEP ? first - p.block : STEP));
    size_t n = p.byte < t->size && max ? give(t, &p, iov, max) : 0;
    if (m)
        m->from = p;
    return n;
}

int64_t dt_iov_within(struct dt_type *t, int64_t bytes, int64_t *held)
{
    struct dt_marks *m = marks_of(t);
    struct position p = first_below(m, bytes), end = p;
    struct iovec iov[STEP];
    while (p.byte == end.byte && p.byte < t->size) {
        size_t n = give(t, &end, iov, STEP);
        for (size_t i = 0; i < n && (int64_t)iov[i].iov_len <= bytes - p.byte; i++) {
            p.block++;
            p.byte += (int64_t)iov[i].iov_len;
        }
    }
    if (m)
        m->within = p;
    *held = p.byte;
    return p.block;
}
