/* stream.c - accesses of one place at a constant distance: what comes as foreseen is noted later,
 * all of it at once. Start with stream_miss().
 *
 * Between two operations of a thread its accesses have one clock, so when they are noted does not
 * matter: streams_close() comes before records of the next clock. A full log becomes records of
 * this clock with streams open. What they foresee is noted behind it, and one at distance 0 was
 * noted before. */
#include "instrument/instrument.h"

static struct streams none; /* stays as it is: pc is never NULL */
__thread struct streams *instrument_streams = &none;

void streams_set(struct streams *s)
{
    instrument_streams = s ? s : &none;
}

/* The next one is not foreseen any more. */
static void stream_close(struct stream *s, struct stream_past *p)
{
    uint64_t next = s->next, from = s->from, step = (uint64_t)s->step, len = p->len;
    int up = s->step > 0;
    s->next = s->from = 0;
    /* Not listed: a signal's handler closed it between two lines of access_one(), which went on. */
    if (!next || !from || !p->listed)
        return;
    p->last = next - step;
    if (next == from)
        return;
    uint64_t low = up ? from : p->last, high = up ? p->last : from, by = up ? step : -step;
    if (by <= len) {
        instrument_note(low, high - low + len, p->stores, s->pc);
        return;
    }
    for (uint64_t at = low; at <= high; at += by)
        instrument_note(at, len, p->stores, s->pc);
}

static void stream_open(struct streams *t, unsigned i)
{
    struct stream *s = &t->of[i];
    struct stream_past *p = &t->past[i];
    s->next = s->from = p->last + (uint64_t)s->step;
    if (!p->listed)
        t->list[t->n++] = (uint16_t)i;
    p->listed = 1;
}

/* The third access at one distance opens a stream. A stream that had some goes on behind a gap, as
 * in the next row of a matrix, with the second one. */
void stream_miss(uint64_t at, unsigned len, unsigned stores, const void *pc)
{
    struct streams *t = instrument_streams;
    struct stream *s = stream_of(pc);
    struct stream_past *p = &t->past[s - t->of];
    int had = s->next != s->from;
    stream_close(s, p);
    instrument_note(at, len, stores, pc);
    if (t != instrument_streams || t == &none) /* the thread has its log only now */
        return;
    if (s->pc != pc) {
        *s = (struct stream){.pc = pc};
        *p = (struct stream_past){at, len, (uint16_t)stores, p->listed};
        return;
    }
    int64_t step = (int64_t)(at - p->last);
    p->last = at;
    if (step == s->step && step <= STRIDE_MAX && step >= -STRIDE_MAX)
        stream_open(t, (unsigned)(s - t->of));
    else if (!had)
        s->step = step;
}

/* Stores first: where a load of the same bytes follows, it is not noted. */
void streams_close(struct streams *t)
{
    for (unsigned stores = 2; stores-- > 0;)
        for (unsigned i = 0; i < t->n; i++)
            if (t->past[t->list[i]].stores == stores)
                stream_close(&t->of[t->list[i]], &t->past[t->list[i]]);
    for (unsigned i = 0; i < t->n; i++)
        t->past[t->list[i]].listed = 0;
    t->n = 0;
}
