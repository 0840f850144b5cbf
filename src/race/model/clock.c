/* clock.c - vector clocks: which events of each other thread happen before. They are immutable and
 * shared; so are batches of accesses that have one. Start with race_vclock_join(). */
#include "race/model/model.h"

#include <stdlib.h>
#include <string.h>

static struct race_vclock *blank(uint64_t floor, uint32_t room)
{
    struct race_vclock *v = malloc(sizeof *v + room * sizeof *v->e);
    if (v)
        *v = (struct race_vclock){.refs = 1, .floor = floor};
    return v;
}

static void append(struct race_vclock *v, struct race_vclock_entry e)
{
    if (e.clock > v->floor)
        v->e[v->n++] = e;
}

struct race_vclock *race_vclock_make(uint64_t floor, const struct race_vclock_entry *e, uint32_t n)
{
    struct race_vclock *v = blank(floor, n);
    for (uint32_t i = 0; v && i < n; i++)
        append(v, e[i]);
    return v;
}

struct race_vclock *race_vclock_ref(struct race_vclock *v)
{
    if (v)
        v->refs++;
    return v;
}

void race_vclock_drop(struct race_vclock *v)
{
    if (v && --v->refs == 0)
        free(v);
}

/* Index of the first entry with this tid or a higher one. */
static uint32_t place(const struct race_vclock *v, uint32_t tid)
{
    uint32_t low = 0, high = v->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (v->e[mid].tid < tid)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

uint64_t race_vclock_of(const struct race_vclock *v, uint32_t tid)
{
    if (!v)
        return 0;
    uint32_t i = place(v, tid);
    return i < v->n && v->e[i].tid == tid ? v->e[i].clock : v->floor;
}

struct race_vclock *race_vclock_join(const struct race_vclock *a, const struct race_vclock *b)
{
    static const struct race_vclock nothing = {.refs = 1};
    a = a ? a : &nothing;
    b = b ? b : &nothing;
    struct race_vclock *v = blank(a->floor > b->floor ? a->floor : b->floor, a->n + b->n);
    uint32_t i = 0, j = 0;
    while (v && (i < a->n || j < b->n)) {
        if (j == b->n || (i < a->n && a->e[i].tid < b->e[j].tid)) {
            append(v, a->e[i++]);
        } else if (i == a->n || b->e[j].tid < a->e[i].tid) {
            append(v, b->e[j++]);
        } else {
            append(v, a->e[i].clock > b->e[j].clock ? a->e[i] : b->e[j]);
            i++;
            j++;
        }
    }
    return v;
}

struct race_vclock *race_vclock_with(const struct race_vclock *v, uint32_t tid, uint64_t clock)
{
    struct {
        struct race_vclock v;
        struct race_vclock_entry e;
    } one = {.v = {.refs = 1, .n = 1}, .e = {tid, 0, clock}};
    return race_vclock_join(v, &one.v);
}

int race_vclock_includes(const struct race_vclock *a, const struct race_vclock *b, uint32_t self)
{
    if (!b)
        return 1;
    if (!a || a->floor < b->floor)
        return 0;
    for (uint32_t i = 0; i < b->n; i++)
        if (b->e[i].tid != self && race_vclock_of(a, b->e[i].tid) < b->e[i].clock)
            return 0;
    return 1;
}

/* --- batches ---------------------------------------------------------------------------------- */

struct race_batch *race_batch_ref(struct race_batch *b)
{
    b->refs++;
    return b;
}

void race_batch_drop(struct race_batch *b)
{
    if (--b->refs)
        return;
    race_vclock_drop(b->vclock);
    free(b);
}
