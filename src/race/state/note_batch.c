/* note_batch.c - batches of notified operations at the owner of the counter: whether its program
 * has seen their notification (sync/note_clock.c). Records and sight come in either order. */
#include <stdlib.h>

#include "race/watched.h"

struct marked { /* it was seen, and is open still */
    struct list link;
    int src;
    struct race_note_end end;
};
struct race_notes {
    struct map rows;    /* index + 1 -> what note_clock.c keeps of a counter */
    struct map batches; /* key_of() -> batch whose notification was not seen yet */
    struct map early;   /* the same -> struct race_note_end, of batches that have not come */
    struct list marked;
};

static uint64_t key_of(int src, uint64_t number)
{
    return (uint64_t)src << 40 | number;
}

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
    list_init(&s->marked);
    return x->notes = s;
}

struct map *race_note_rows(struct race_win *x)
{
    return &notes_of(x)->rows;
}

static void put(struct map *m, uint64_t key, void *value)
{
    if (!value || map_put(m, key, value)) /* what is missing would make races */
        race_no_memory();
}

static void mark(struct race_notes *s, int src, struct race_batch *b,
                 const struct race_note_end *end)
{
    if (b->noted)
        return;
    b->noted = end->clock;
    b->noted_by = end->tid;
    struct marked *k = b->done == RACE_OPEN ? malloc(sizeof *k) : NULL;
    if (!k)
        return;
    *k = (struct marked){.src = src, .end = *end};
    list_push(&s->marked, &k->link);
}

void race_note_batch(struct race_win *x, int src, struct race_batch *b)
{
    struct race_notes *s = notes_of(x);
    struct race_note_end *end = map_del(&s->early, key_of(src, b->number));
    if (!end) {
        put(&s->batches, key_of(src, b->number), race_batch_ref(b));
        return;
    }
    mark(s, src, b, end);
    free(end);
}

void race_note_seen(struct race_win *x, int src, const struct race_note_end *end)
{
    struct race_notes *s = notes_of(x);
    struct race_batch *b = map_del(&s->batches, key_of(src, end->number));
    if (!b && (b = map_get(&proc->race->open, key_of(src, end->number))) != NULL)
        race_batch_ref(b); /* a later notification covers it */
    if (b) {
        mark(s, src, b, end);
        race_batch_drop(b);
        return;
    }
    if (map_get(&s->early, key_of(src, end->number)))
        return;
    struct race_note_end *early = malloc(sizeof *early);
    if (early)
        *early = *end;
    put(&s->early, key_of(src, end->number), early);
}

int race_note_known(struct race_win *x, int src, const struct race_vclock *v,
                    struct race_note_end *end)
{
    enum { LOOKS = 64 };
    struct race_notes *s = notes_of(x);
    int n = 0;
    /* What does not fit goes to the end, so that every entry is looked at in its turn. */
    for (struct list *l; n < LOOKS && (l = list_pop(&s->marked)) != NULL; n++) {
        struct marked *k = LIST_OBJ(l, struct marked, link);
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
    for (struct map_entry *e; (e = map_next(&s->batches, &at)) != NULL;)
        race_batch_drop(e->value);
    at = 0;
    for (struct map_entry *e; (e = map_next(&s->early, &at)) != NULL;)
        free(e->value);
    while ((l = list_pop(&s->marked)) != NULL)
        free(LIST_OBJ(l, struct marked, link));
    map_destroy(&s->rows);
    map_destroy(&s->batches);
    map_destroy(&s->early);
    free(s);
    x->notes = NULL;
}
