/* shadow.c - the accesses to the memory of one process, by address. Start with race_shadow_add().
 *
 *   record of up to 16 pages  -> these pages (4 KiB)
 *   of up to 16 spans         -> these spans (2 MiB)
 *   longer                    -> the root
 *
 * A new access is tested against the records of its nodes, of those above and of those below. What
 * may go, and why only that, stands in doc/design/race.md 6. */
#include "base/vec.h"
#include "race/model/model.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_BITS = 12, SPAN_BITS = 21, MOST_NODES = 16, PAGES_OF_SPAN = 512, LOOK_AHEAD = 64 };
enum level { PAGE, SPAN, ROOT };

struct race_shadow_node {
    uint64_t index;          /* address >> bits of the level */
    enum level level;
    unsigned kinds;          /* open state: bits of the kinds of its records */
    uint32_t n, room;
    uint32_t most;           /* more are closed */
    uint64_t longest;        /* bytes of its longest record, hull */
    struct race_access **rec;   /* by address */
    uint64_t open[PAGES_OF_SPAN / 64]; /* span: its pages that exist */
    uint64_t number;         /* of those made so far */
};

static const int bits_of[] = {[PAGE] = PAGE_BITS, [SPAN] = SPAN_BITS, [ROOT] = 63};

/* --- nodes ------------------------------------------------------------------------------------ */

static uint64_t key_of(enum level level, uint64_t index)
{
    return index << 2 | (uint64_t)level;
}

static struct race_shadow_node *node_find(const struct race_shadow *g, enum level level,
                                          uint64_t index)
{
    return map_get(&g->nodes, key_of(level, index));
}

static void account(struct race_shadow *g, int64_t bytes)
{
    g->n.bytes = (uint64_t)((int64_t)g->n.bytes + bytes);
    if (g->n.bytes > g->n.peak)
        g->n.peak = g->n.bytes;
}

/* Of a batch and its vector clock. These are shared: an upper bound. */
static int64_t batch_bytes(const struct race_batch *b)
{
    return (int64_t)(sizeof *b +
                     (b->vclock ? sizeof *b->vclock + b->vclock->n * sizeof *b->vclock->e : 0));
}

/* Of a node before it is closed. */
static uint32_t most_records(const struct race_shadow *g)
{
    enum { LEAST = 64, EACH = 1024 };
    size_t n = g->budget / EACH;
    return n < LEAST ? LEAST : n < UINT32_MAX / 4 ? (uint32_t)n : UINT32_MAX / 4;
}

static struct race_shadow_node *node_make(struct race_shadow *g, enum level level, uint64_t index)
{
    struct race_shadow_node *n = node_find(g, level, index);
    if (n)
        return n;
    struct race_shadow_node *above = NULL;
    if (level == PAGE && !(above = node_make(g, SPAN, index >> (SPAN_BITS - PAGE_BITS))))
        return NULL;
    n = calloc(1, sizeof *n);
    if (!n || map_put(&g->nodes, key_of(level, index), n)) {
        free(n);
        return NULL;
    }
    n->index = index;
    n->level = level;
    n->most = most_records(g);
    n->number = ++g->made;
    if (above)
        above->open[index / 64 % 8] |= 1ull << (index & 63);
    account(g, sizeof *n);
    return n;
}

static void node_free(struct race_shadow *g, struct race_shadow_node *n)
{
    struct race_shadow_node *above = NULL;
    if (n->level == PAGE)
        above = node_find(g, SPAN, n->index >> (SPAN_BITS - PAGE_BITS));
    if (above)
        above->open[n->index / 64 % 8] &= ~(1ull << (n->index & 63));
    account(g, -(int64_t)(sizeof *n + n->room * sizeof *n->rec));
    free(n->rec);
    free(n);
}

/* Its nodes: level and the first and last index. */
static enum level nodes_of(const struct race_interval *l, uint64_t *first, uint64_t *last)
{
    for (enum level level = PAGE; level < ROOT; level++) {
        *first = l->at >> bits_of[level];
        *last = (race_interval_end(l) - 1) >> bits_of[level];
        if (*last - *first < MOST_NODES)
            return level;
    }
    *first = *last = 0;
    return ROOT;
}

/* Index of the first record that begins at `at` or behind it. */
static uint32_t node_place(const struct race_shadow_node *n, uint64_t at)
{
    uint32_t low = 0, high = n->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (n->rec[mid]->interval.at < at)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static int node_put(struct race_shadow *g, struct race_shadow_node *n, struct race_access *r)
{
    uint32_t room = n->room;
    if (!VEC_FITS(n->rec, n->room, n->n + 1, 4))
        return 0;
    account(g, (int64_t)((n->room - room) * sizeof *n->rec));
    uint32_t at = node_place(n, r->interval.at);
    memmove(n->rec + at + 1, n->rec + at, (n->n - at) * sizeof *n->rec);
    n->rec[at] = r;
    n->n++;
    uint64_t bytes = race_interval_end(&r->interval) - r->interval.at;
    n->longest = bytes > n->longest ? bytes : n->longest;
    n->kinds |= 1u << r->effect.kind;
    return 1;
}

static void node_take(struct race_shadow_node *n, const struct race_access *r)
{
    for (uint32_t i = node_place(n, r->interval.at);
         i < n->n && n->rec[i]->interval.at == r->interval.at; i++)
        if (n->rec[i] == r) {
            memmove(n->rec + i, n->rec + i + 1, (n->n - i - 1) * sizeof *n->rec);
            n->n--;
            break;
        }
    if (!n->n) {
        n->kinds = 0;
        n->longest = 0;
    }
}

/* An open batch has a list of its records, for its end. */
static void unlink_open(struct race_access *r)
{
    for (struct race_access **at = &r->batch->open; *at; at = &(*at)->next)
        if (*at == r) {
            *at = r->next;
            return;
        }
}

static void access_drop(struct race_shadow *g, struct race_access *r)
{
    uint64_t first, last;
    unlink_open(r);
    enum level level = nodes_of(&r->interval, &first, &last);
    for (uint64_t i = first; i <= last; i++) {
        struct race_shadow_node *n = node_find(g, level, i);
        if (n)
            node_take(n, r);
    }
    if (--r->batch->kept == 0)
        account(g, -batch_bytes(r->batch));
    race_batch_drop(r->batch);
    free(r);
    g->n.records--;
    account(g, -(int64_t)sizeof *r);
}

static int access_keep(struct race_shadow *g, const struct race_access *of)
{
    uint64_t first, last, i;
    enum level level = nodes_of(&of->interval, &first, &last);
    struct race_access *r = malloc(sizeof *r);
    if (!r)
        return 0;
    *r = *of;
    r->number = ++g->kept;
    race_batch_ref(r->batch);
    r->next = NULL;
    if (r->batch->done == RACE_OPEN) {
        r->next = r->batch->open;
        r->batch->open = r;
    }
    if (r->batch->kept++ == 0)
        account(g, batch_bytes(r->batch));
    g->n.records++;
    account(g, sizeof *r);
    for (i = first; i <= last; i++) {
        struct race_shadow_node *n = node_make(g, level, i);
        if (!n || !node_put(g, n, r)) {
            access_drop(g, r);
            return 0;
        }
    }
    return 1;
}

/* --- the walk --------------------------------------------------------------------------------- */

/* What to do with the records of a node that touch r's hull. */
struct walk {
    struct race_shadow *g;
    const struct race_access *r;
    struct race_access **drop; /* dominated, or between the first and r of a series */
    struct race_access *first; /* of r's series */
    uint32_t n, room;
    int again;              /* r is kept: test what its open batch left undecided */
    uint64_t most;          /* only with those complete by this clock */
};

static void note_drop(struct walk *w, struct race_access *old)
{
    if (VEC_FITS(w->drop, w->room, w->n + 1, 16))
        w->drop[w->n++] = old;
}

/* Rule A: of a series the first stays, and the last. */
static void note_follows(struct walk *w, struct race_access *old)
{
    struct race_access *first = w->first;
    int later = first && race_issued(old) > race_issued(first);
    w->first = later ? first : old;
    if (first)
        note_drop(w, later ? old : first);
}

/* Records that share several nodes meet in the first of them only. */
static int first_common(const struct race_shadow_node *n, const struct race_access *a,
                        const struct race_access *b)
{
    uint64_t at = a->interval.at > b->interval.at ? a->interval.at : b->interval.at;
    return n->level == ROOT || at >> bits_of[n->level] == n->index;
}

static void visit(struct walk *w, const struct race_shadow_node *n)
{
    const struct race_access *r = w->r;
    uint64_t end = race_interval_end(&r->interval);
    /* nothing here can conflict: only an equal access, which this one replaces, is of interest */
    int quiet = !(n->kinds & race_conflicting_kinds((enum race_kind)r->effect.kind));
    for (uint32_t i = node_place(n, quiet ? r->interval.at + 1 : end); i > 0; i--) {
        struct race_access *old = n->rec[i - 1];
        if (quiet ? old->interval.at != r->interval.at
                  : n->longest < r->interval.at && old->interval.at < r->interval.at - n->longest)
            break;
        if (old == r || old->batch->done > w->most ||
            race_interval_end(&old->interval) <= r->interval.at || !first_common(n, old, r))
            continue;
        if (!w->again && race_access_dominated(old, r)) {
            race_access_replaced(w->g, old, r);
            note_drop(w, old);
            continue;
        }
        if (!w->again && !w->g->ordered && race_access_follows(old, r))
            note_follows(w, old);
        if (!quiet)
            race_access_test(w->g, old, r, w->again);
    }
}

static void visit_below(struct walk *w, const struct race_shadow_node *span)
{
    uint64_t first = w->r->interval.at >> PAGE_BITS;
    uint64_t last = (race_interval_end(&w->r->interval) - 1) >> PAGE_BITS;
    uint64_t page0 = span->index << (SPAN_BITS - PAGE_BITS);
    for (unsigned k = PAGES_OF_SPAN / 64; k-- > 0;)
        for (uint64_t open = span->open[k], bit; open; open &= ~(1ull << bit)) {
            bit = 63 - (uint64_t)__builtin_clzll(open);
            uint64_t index = page0 + 64 * k + bit;
            const struct race_shadow_node *page =
                index < first || index > last ? NULL : node_find(w->g, PAGE, index);
            if (page)
                visit(w, page);
        }
}

/* Nodes on its way to the root, and those below its own. From high to low, as in a node: where a
 * page begins does not decide which of two pairs is found first. */
static void walk_nodes(struct walk *w)
{
    uint64_t first, last;
    struct race_shadow *g = w->g;
    enum level level = nodes_of(&w->r->interval, &first, &last);
    struct race_shadow_node *n;
    if (level == PAGE)
        for (uint64_t i = last + 1; i-- > first;)
            if ((n = node_find(g, PAGE, i)) != NULL)
                visit(w, n);
    if (level == ROOT) {
        size_t at = 0;
        for (struct map_entry *e; (e = map_next(&g->nodes, &at)) != NULL;)
            visit(w, e->value);
        return;
    }
    first = w->r->interval.at >> SPAN_BITS;
    last = (race_interval_end(&w->r->interval) - 1) >> SPAN_BITS;
    for (uint64_t i = last + 1; i-- > first;)
        if ((n = node_find(g, SPAN, i)) != NULL) {
            visit(w, n);
            if (level == SPAN)
                visit_below(w, n);
        }
    if ((n = node_find(g, ROOT, 0)) != NULL)
        visit(w, n);
}

/* --- memory ----------------------------------------------------------------------------------- */

static struct race_shadow_node *heaviest(const struct race_shadow *g)
{
    struct race_shadow_node *most = NULL;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&g->nodes, &at)) != NULL;) {
        struct race_shadow_node *n = e->value;
        if (!most || n->n > most->n || (n->n == most->n && n->number < most->number))
            most = n;
    }
    return most;
}

/* Two records of one sort become their hull; both go. A batch that is open stays as it is: its end
 * has to find its records. */
static int hull(struct race_shadow *g, struct race_access *a, struct race_access *b)
{
    uint64_t at = a->interval.at < b->interval.at ? a->interval.at : b->interval.at;
    uint64_t ea = race_interval_end(&a->interval), eb = race_interval_end(&b->interval);
    uint64_t end = ea > eb ? ea : eb;
    if (end - at > UINT32_MAX || a->batch->done == RACE_OPEN || b->batch->done == RACE_OPEN)
        return 0;
    if (g->ordered) {
        g->ordered(g->arg, a, NULL);
        g->ordered(g->arg, b, NULL);
    }
    struct race_access r = *a;
    r.batch = a->batch == b->batch ? a->batch : race_batch_of_both(a->batch, b->batch);
    if (!r.batch)
        return 0;
    r.interval = (struct race_interval){at, (uint32_t)(end - at), 0, 1};
    r.tick = a->batch != b->batch ? 0 : a->tick < b->tick ? a->tick : b->tick;
    uint32_t weight = (uint32_t)a->weight + b->weight;
    r.weight = (uint16_t)(weight < UINT16_MAX ? weight : UINT16_MAX);
    r.effect.flags |= RACE_HULL;
    race_batch_ref(r.batch);
    access_drop(g, a);
    access_drop(g, b);
    if (!access_keep(g, &r))
        g->n.lost++;
    race_batch_drop(r.batch);
    return 1;
}

/* Records of one sort that lie beside each other in a node become hulls. 0: nothing was gained. */
static int node_close(struct race_shadow *g, struct race_shadow_node *n)
{
    uint32_t before = n->n;
    for (uint32_t i = 0; i + 1 < n->n;) {
        uint32_t j = i + 1, last = n->n - i > LOOK_AHEAD ? i + LOOK_AHEAD : n->n;
        while (j < last && !race_access_same_sort(n->rec[i], n->rec[j]))
            j++;
        if (j == last || !hull(g, n->rec[i], n->rec[j]))
            i++; /* else the hull stands near place i, and may grow on */
    }
    g->n.closed += n->n < before;
    return n->n < before;
}

/* Room for one more? */
static int make_room(struct race_shadow *g)
{
    while (!g->full && g->n.bytes > g->budget) {
        struct race_shadow_node *n = heaviest(g);
        g->full = !n || !node_close(g, n);
    }
    g->full &= g->n.bytes > g->budget;
    return !g->full;
}

/* Each access is tested against all records of a node: their number is kept low where merging
 * helps. */
static void close_long(struct race_shadow *g, const struct race_interval *l)
{
    uint64_t first, last;
    enum level level = nodes_of(l, &first, &last);
    for (uint64_t i = first; i <= last; i++) {
        struct race_shadow_node *n = node_find(g, level, i);
        if (n && n->n > n->most) {
            node_close(g, n);
            n->most = 2 * n->n > most_records(g) ? 2 * n->n : most_records(g);
        }
    }
}

/* --- what others call ------------------------------------------------------------------------- */

void race_shadow_init(struct race_shadow *g, size_t budget,
                      void (*found)(void *arg, const struct race_conflict *f), void *arg)
{
    *g = (struct race_shadow){.budget = budget, .found = found, .arg = arg};
    map_init(&g->nodes);
}

/* Is r one more of those that its epoch does at one place? Of those that race with each other two
 * stay, and of open requests of one place some. A graph shows each. */
static int repeats(const struct race_shadow *g, const struct race_access *r)
{
    enum { MOST = 64 };
    uint64_t first, last, racing = 0, same = 0;
    enum level level = nodes_of(&r->interval, &first, &last);
    const struct race_shadow_node *n = g->ordered ? NULL : node_find(g, level, first);
    if (!n || r->batch->done != RACE_OPEN)
        return 0;
    for (uint32_t i = node_place(n, r->interval.at + 1); i > 0; i--) {
        const struct race_access *old = n->rec[i - 1];
        if (old->interval.at != r->interval.at)
            return 0;
        enum race_repeat how = race_access_repeats(g, old, r);
        racing += how == RACE_WITH_ITSELF;
        same += race_access_same_request(old, r);
        if (how == RACE_REPEATS || racing == 2 || same == MOST)
            return 1;
    }
    return 0;
}

void race_shadow_add(struct race_shadow *g, const struct race_access *r)
{
    struct walk w = {.g = g, .r = r, .most = RACE_OPEN};
    if (repeats(g, r)) {
        g->n.dropped++;
        return;
    }
    if (g->ordered)
        g->ordered(g->arg, NULL, r);
    walk_nodes(&w);
    g->n.dropped += w.n;
    while (w.n)
        access_drop(g, w.drop[--w.n]);
    free(w.drop);
    if (!make_room(g) || !access_keep(g, r))
        g->n.lost++;
    if (!g->ordered)
        close_long(g, &r->interval);
}

void race_shadow_add_local(struct race_shadow *g, const struct race_access *r)
{
    struct walk w = {.g = g, .r = r, .again = 1, .most = RACE_OPEN}; /* it replaces nothing */
    g->undecided = 0;
    walk_nodes(&w);
    if (g->undecided && (!make_room(g) || !access_keep(g, r)))
        g->n.lost++;
}

/* All records, each once, in an array that stays while they go. */
static struct race_access **all(const struct race_shadow *g, size_t *n)
{
    struct race_access **list = malloc((g->n.records + 1) * sizeof *list);
    size_t at = 0;
    *n = 0;
    for (struct map_entry *e; list && (e = map_next(&g->nodes, &at)) != NULL;) {
        const struct race_shadow_node *node = e->value;
        for (uint32_t i = 0; i < node->n; i++) {
            uint64_t first, last;
            nodes_of(&node->rec[i]->interval, &first, &last);
            if (first == node->index)
                list[(*n)++] = node->rec[i];
        }
    }
    return list;
}

void race_shadow_complete(struct race_shadow *g, struct race_batch *b, uint64_t done)
{
    b->done = done;
    for (const struct race_access *r = b->open; r; r = r->next) {
        struct walk w = {.g = g, .r = r, .again = 1, .most = RACE_OPEN};
        walk_nodes(&w);
    }
    b->open = NULL;
    g->full = 0;
}

void race_shadow_end(struct race_shadow *g, struct race_batch *b, uint64_t done, int goes)
{
    struct race_access *r = b->open;
    race_shadow_complete(g, b, done);
    for (struct race_access *next; goes && r; r = next) {
        next = r->next;
        access_drop(g, r);
    }
}

/* Nodes without records go, those of pages before those of spans. */
static void purge(struct race_shadow *g)
{
    for (int level = PAGE; level <= ROOT; level++) {
        size_t at = 0, n = 0;
        uint64_t *keys = malloc((g->nodes.count + 1) * sizeof *keys);
        for (struct map_entry *e; keys && (e = map_next(&g->nodes, &at)) != NULL;) {
            struct race_shadow_node *node = e->value;
            uint64_t below = 0;
            node->most = most_records(g);
            for (int i = 0; i < PAGES_OF_SPAN / 64; i++)
                below |= node->open[i];
            if (!node->n && !below && node->level == (enum level)level)
                keys[n++] = e->key;
        }
        while (n--)
            node_free(g, map_del(&g->nodes, keys[n]));
        free(keys);
    }
}

/* What is open now is complete after the floor, and what goes did not happen after that: this
 * decides between the two. */
static void last_test(struct race_shadow *g, const struct race_access *r, uint64_t floor)
{
    struct walk w = {.g = g, .r = r, .again = 1, .most = floor};
    r->batch->done = floor + 1;
    walk_nodes(&w);
    r->batch->done = RACE_OPEN;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = (*(struct race_access *const *)a)->number,
             y = (*(struct race_access *const *)b)->number;
    return (x > y) - (x < y);
}

/* Those that are open to the front, in the order in which they were kept: that of the nodes depends
 * on where memory lies. Their number. */
static size_t open_first(struct race_access **list, size_t n)
{
    size_t open = 0;
    for (size_t i = 0; i < n; i++) {
        struct race_access *r = list[i];
        if (r->batch->done != RACE_OPEN)
            continue;
        list[i] = list[open];
        list[open++] = r;
    }
    if (open)
        qsort(list, open, sizeof *list, by_number);
    return open;
}

void race_shadow_phase(struct race_shadow *g, uint64_t floor)
{
    size_t n;
    if (g->ordered)
        return;
    struct race_access **list = all(g, &n);
    size_t open = open_first(list, n);
    for (size_t i = 0; i < open; i++)
        last_test(g, list[i], floor);
    for (size_t i = 0; i < n; i++)
        if (list[i]->batch->done <= floor)
            access_drop(g, list[i]);
    free(list);
    purge(g);
    g->full = 0;
}

void race_shadow_free(struct race_shadow *g)
{
    size_t n, at = 0;
    struct race_access **list = all(g, &n);
    for (size_t i = 0; i < n; i++)
        access_drop(g, list[i]);
    free(list);
    for (struct map_entry *e; (e = map_next(&g->nodes, &at)) != NULL;) {
        struct race_shadow_node *node = e->value;
        free(node->rec);
        free(node);
    }
    map_destroy(&g->nodes);
}
