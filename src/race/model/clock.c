/* clock.c - what threads know of each other. Views are immutable and shared; so are batches of
 * accesses that have one. */
#include "race/model/model.h"

#include <stdlib.h>
#include <string.h>

static struct race_view *blank(uint64_t floor, uint32_t room)
{
    struct race_view *v = malloc(sizeof *v + room * sizeof *v->e);
    if (v)
        *v = (struct race_view){.refs = 1, .floor = floor};
    return v;
}

static void append(struct race_view *v, struct race_entry e)
{
    if (e.clock > v->floor)
        v->e[v->n++] = e;
}

struct race_view *race_view_make(uint64_t floor, const struct race_entry *e, uint32_t n)
{
    struct race_view *v = blank(floor, n);
    for (uint32_t i = 0; v && i < n; i++)
        append(v, e[i]);
    return v;
}

struct race_view *race_view_ref(struct race_view *v)
{
    if (v)
        v->refs++;
    return v;
}

void race_view_drop(struct race_view *v)
{
    if (v && --v->refs == 0)
        free(v);
}

/* Index of the first entry with this tid or a higher one. */
static uint32_t place(const struct race_view *v, uint32_t tid)
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

uint64_t race_view_of(const struct race_view *v, uint32_t tid)
{
    if (!v)
        return 0;
    uint32_t i = place(v, tid);
    return i < v->n && v->e[i].tid == tid ? v->e[i].clock : v->floor;
}

struct race_view *race_view_join(const struct race_view *a, const struct race_view *b)
{
    static const struct race_view nothing = {.refs = 1};
    a = a ? a : &nothing;
    b = b ? b : &nothing;
    struct race_view *v = blank(a->floor > b->floor ? a->floor : b->floor, a->n + b->n);
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

struct race_view *race_view_with(const struct race_view *v, uint32_t tid, uint64_t clock)
{
    struct {
        struct race_view v;
        struct race_entry e;
    } one = {.v = {.refs = 1, .n = 1}, .e = {tid, 0, clock}};
    return race_view_join(v, &one.v);
}

int race_view_holds(const struct race_view *a, const struct race_view *b, uint32_t self)
{
    if (!b)
        return 1;
    if (!a || a->floor < b->floor)
        return 0;
    for (uint32_t i = 0; i < b->n; i++)
        if (b->e[i].tid != self && race_view_of(a, b->e[i].tid) < b->e[i].clock)
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
    race_view_drop(b->view);
    free(b);
}
