/* note_batch.c - batches of notified operations at the owner of the counter: whether its program
 * has seen their notification (sync/note_clock.c). Records and sight come in either order. Start
 * with race_note_batch(). */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "race/watched.h"

struct marked { /* it was seen, and is open still */
    struct list link;
    int src;
    struct race_note_end end;
};
struct early {
    struct race_note_end end; /* clock 0: its notification was not seen */
    uint32_t names;           /* race_batch.names */
};
struct named { /* by one origin, and not seen yet */
    uint64_t *number, before; /* 0: it will not come; so many were named and seen before */
    uint32_t n, room, first;
};
struct race_notes {
    struct map rows;    /* index + 1 -> struct race_row */
    struct map batches; /* race_batch_key() -> batch whose notification was not seen yet */
    struct map early;   /* the same -> struct early, of batches that have not come */
    struct map named;   /* world rank + 1 */
    struct list marked;
};

static struct race_notes *notes_of(struct race_win *x)
{
    if (x->notes)
        return x->notes;
    struct race_notes *s = calloc(1, sizeof *s);
    if (!s)
        race_no_memory();
    map_init(&s->rows);
    map_init(&s->batches);
    map_init(&s->early);
    map_init(&s->named);
    list_init(&s->marked);
    return x->notes = s;
}

static void put(struct map *m, uint64_t key, void *value)
{
    if (!value || map_put(m, key, value)) /* what is missing would make races */
        race_no_memory();
}

struct race_row *race_note_row(struct race_win *x, unsigned index)
{
    struct map *rows = &notes_of(x)->rows;
    struct race_row *c = map_get(rows, (uint64_t)index + 1);
    if (c)
        return c;
    put(rows, (uint64_t)index + 1, c = calloc(1, sizeof *c));
    map_init(&c->groups);
    return c;
}

static void mark(struct race_notes *s, int src, struct race_batch *b,
                 const struct race_note_end *end)
{
    if (b->noted)
        return;
    b->noted = end->clock;
    b->noted_by = end->tid;
    struct marked *k = b->done == RACE_OPEN && am_ordered(src) ? malloc(sizeof *k) : NULL;
    if (!k)
        return;
    *k = (struct marked){.src = src, .end = *end};
    list_push(&s->marked, &k->link);
}

static struct early *early_of(struct race_notes *s, uint64_t key)
{
    struct early *e = map_get(&s->early, key);
    if (!e)
        put(&s->early, key, e = calloc(1, sizeof *e));
    return e;
}

void race_note_batch(struct race_win *x, int src, struct race_batch *b, int notifies)
{
    if (!notifies && !x->notes)
        return;
    struct race_notes *s = notes_of(x);
    uint64_t key = race_batch_key(src, b->number);
    struct early *e = map_del(&s->early, key);
    if (e)
        b->names = e->names;
    if (e && e->end.clock)
        mark(s, src, b, &e->end);
    else if (e || notifies)
        put(&s->batches, key, race_batch_ref(b));
    free(e);
}

void race_note_keep(struct race_win *x, int src, uint64_t number)
{
    struct race_notes *s = notes_of(x);
    uint64_t key = race_batch_key(src, number);
    struct race_batch *b = map_get(&s->batches, key), *open = map_get(&proc->race->open, key);
    if (b || open)
        (b ? b : open)->names++;
    else if (!am_ordered(src)) /* else it has gone */
        early_of(s, key)->names++;
    if (!b && open && !open->noted)
        put(&s->batches, key, race_batch_ref(open));
}

void race_note_seen(struct race_win *x, int src, const struct race_note_end *end)
{
    struct race_notes *s = notes_of(x);
    struct race_batch *b = map_del(&s->batches, race_batch_key(src, end->number));
    if (!b && (b = map_get(&proc->race->open, race_batch_key(src, end->number))) != NULL)
        race_batch_ref(b); /* a later notification covers it */
    if (b) {
        mark(s, src, b, end);
        race_batch_drop(b);
        return;
    }
    struct early *e = early_of(s, race_batch_key(src, end->number));
    if (!e->end.clock)
        e->end = *end;
}

/* --- batches that nothing is kept of -------------------------------------------------------- */

/* It has come, it is complete or was announced, and none of its records is kept: so it makes no
 * difference whether it was seen. */
static int may_drop(int src, const struct race_batch *b)
{
    if (!b || b->kept || b->names)
        return 0;
    return b->done != RACE_OPEN || (b->announced && am_ordered(src));
}

static int purge_one(struct race_notes *s, int src, uint64_t number)
{
    uint64_t key = race_batch_key(src, number);
    struct race_batch *b = map_get(&s->batches, key);
    if (!may_drop(src, b))
        return 0;
    struct race_batch *open = b->done == RACE_OPEN ? map_del(&proc->race->open, key) : NULL;
    if (open) /* rule A has dropped its only record, so its end tells nothing */
        race_batch_drop(open);
    race_batch_drop(map_del(&s->batches, key));
    return 1;
}

void race_note_purge(struct race_win *x, struct race_row *c)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n; i++)
        if (c->batch[i].covers || !purge_one(x->notes, c->batch[i].src, c->batch[i].number))
            c->batch[n++] = c->batch[i];
    c->n = n;
}

void race_notes_phase(struct race_win *x)
{
    size_t at = 0;
    for (struct map_entry *e; x->notes && (e = map_next(&x->notes->rows, &at)) != NULL;) {
        struct race_row *c = e->value;
        race_note_purge(x, c);
        if (c->n)
            continue;
        free(c->batch);
        c->batch = NULL;
        c->room = 0;
    }
}

/* --- named in order --------------------------------------------------------------------------- */

static struct named *named_by(struct race_notes *s, int src)
{
    struct named *n = map_get(&s->named, (uint64_t)src + 1);
    if (!n)
        put(&s->named, (uint64_t)src + 1, n = calloc(1, sizeof *n));
    return n;
}

uint64_t race_note_name(struct race_win *x, int src, uint64_t number)
{
    struct named *n = named_by(notes_of(x), src);
    if (!number)
        return n->before + n->n - n->first;
    if (n->first > n->n / 2) {
        memmove(n->number, n->number + n->first, (n->n - n->first) * sizeof *n->number);
        n->n -= n->first;
        n->first = 0;
    }
    if (!VEC_FITS(n->number, n->room, n->n + 1, 8))
        race_no_memory();
    n->number[n->n++] = number;
    return n->before + n->n - n->first;
}

void race_note_seen_all(struct race_win *x, int src, const struct race_note_end *end)
{
    struct named *n = named_by(notes_of(x), src);
    struct race_note_end one = *end;
    for (; n->first < n->n && n->before < end->number; n->before++)
        if ((one.number = n->number[n->first++]) != 0)
            race_note_seen(x, src, &one);
}

uint64_t race_note_forget(struct race_win *x, int src, uint64_t number)
{
    struct race_notes *s = notes_of(x);
    const struct named *n = map_get(&s->named, (uint64_t)src + 1);
    free(map_del(&s->early, race_batch_key(src, number)));
    for (uint32_t i = n ? n->n : 0; n && i-- > n->first;)
        if (n->number[i] == number) {
            n->number[i] = 0;
            return n->before + i + 1 - n->first;
        }
    return 0;
}

/* --- what origins know ------------------------------------------------------------------------ */

int race_note_known(struct race_win *x, int src, const struct race_vclock *v,
                    struct race_note_end *end)
{
    enum { LOOKS = 64 };
    struct race_notes *s = notes_of(x);
    int n = 0;
    /* What does not fit goes to the end, so that every entry is looked at in its turn. */
    for (struct list *l; n < LOOKS && (l = list_pop(&s->marked)) != NULL; n++) {
        struct marked *k = LIST_OBJ(l, struct marked, link);
        if (!map_get(&proc->race->open, race_batch_key(k->src, k->end.number))) {
            free(k); /* its origin has completed it */
            continue;
        }
        if (k->src != src || race_vclock_of(v, k->end.tid) < k->end.clock) {
            list_push(&s->marked, l);
            continue;
        }
        *end = k->end;
        free(k);
        return 1;
    }
    return 0;
}

void race_notes_free(struct race_win *x)
{
    struct race_notes *s = x->notes;
    struct list *l;
    size_t at = 0;
    if (!s)
        return;
    for (struct map_entry *e; (e = map_next(&s->rows, &at)) != NULL;) {
        struct race_row *c = e->value;
        race_vclock_drop(c->vclock);
        map_destroy(&c->groups);
        free(c->batch);
        free(c);
    }
    at = 0;
    for (struct map_entry *e; (e = map_next(&s->batches, &at)) != NULL;)
        race_batch_drop(e->value);
    at = 0;
    for (struct map_entry *e; (e = map_next(&s->early, &at)) != NULL;)
        free(e->value);
    at = 0;
    for (struct map_entry *e; (e = map_next(&s->named, &at)) != NULL;) {
        struct named *n = e->value;
        free(n->number);
        free(n);
    }
    while ((l = list_pop(&s->marked)) != NULL)
        free(LIST_OBJ(l, struct marked, link));
    map_destroy(&s->rows);
    map_destroy(&s->batches);
    map_destroy(&s->early);
    map_destroy(&s->named);
    free(s);
    x->notes = NULL;
}
