/* trace_tree.c - the events of all processes go to rank 0, along the binomial tree of the report.
 * Start with trace_gather().
 *
 *   up:   all have come to MPI_Finalize
 *   down: each process gets the clock of its parent, and so that of rank 0
 *   up:   the begin of the first event: time 0 of the file
 *   up:   its own chunks, then those of its children, one after the other: one chunk of memory
 *
 * A process sends its last chunk in any case, so a parent never waits for a living child. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "boot/boot.h"
#include "dt/dt.h"
#include "obj/obj.h"
#include "p2p/p2p.h"
#include "place/place.h"
#include "profile/trace_ring.h"
#include "rma/rma.h"

enum { TAG_CLOCK = INT_MIN + 66, TAG_CHUNK = INT_MIN + 67, TAG_FIRST = INT_MIN + 68, PINGS = 8 };

struct gather {
    struct trace *t;
    struct comm *world;
    int64_t offset; /* ns: what makes this process's clock rank 0's */
    double rate;    /* ns of a tick */
    struct trace_chunk *c;
    void (*take)(void *to, struct trace_chunk *c);
    void *to;
};

static int put(struct gather *g, const void *p, size_t len, int to, int tag)
{
    return p2p_send(p, (MPI_Aint)len, dt_find(MPI_BYTE), to, tag, g->world, P2P_TOOL);
}

static int get(struct gather *g, void *p, size_t len, int from, int tag)
{
    MPI_Status status;
    return p2p_recv(p, (MPI_Aint)len, dt_find(MPI_BYTE), from, tag, g->world, P2P_TOOL, &status);
}

/* --- clocks ----------------------------------------------------------------------------------- */

/* Rank 0's clock, as this process knows it. */
static uint64_t clock_of_root(const struct gather *g)
{
    return time_now() + (uint64_t)g->offset;
}

/* The shortest question and answer has the best middle. */
static void ask_clock(struct gather *g, int parent)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < PINGS; i++) {
        uint64_t theirs = 0, asked = time_now();
        if (put(g, &asked, sizeof asked, parent, TAG_CLOCK) ||
            get(g, &theirs, sizeof theirs, parent, TAG_CLOCK))
            return;
        uint64_t now = time_now();
        if (now - asked >= best)
            continue;
        best = now - asked;
        g->offset = (int64_t)(theirs - (asked + best / 2));
    }
}

static void answer_clock(struct gather *g, int child)
{
    for (int i = 0; i < PINGS; i++) {
        uint64_t asked, now;
        if (get(g, &asked, sizeof asked, child, TAG_CLOCK))
            return;
        now = clock_of_root(g);
        if (put(g, &now, sizeof now, child, TAG_CLOCK))
            return;
    }
}

static int elsewhere(const struct gather *g, int rank)
{
    return boot_host_index(comm_world(g->world, rank)) < 0;
}

/* Processes of a host have one clock. */
static void align(struct gather *g)
{
    unsigned rank = (unsigned)g->world->rank, size = (unsigned)g->world->size;
    unsigned low = rank ? rank & -rank : size;
    if (rank) {
        int parent = (int)(rank - low);
        if (get(g, &g->offset, sizeof g->offset, parent, TAG_CLOCK) == MPI_SUCCESS &&
            elsewhere(g, parent))
            ask_clock(g, parent);
    }
    for (unsigned step = 1; step < low && rank + step < size; step <<= 1) {
        int child = (int)(rank + step);
        if (put(g, &g->offset, sizeof g->offset, child, TAG_CLOCK) == MPI_SUCCESS &&
            elsewhere(g, child))
            answer_clock(g, child);
    }
}

static uint64_t time_of(const struct gather *g, uint64_t ticks)
{
    double ns = (double)(int64_t)(ticks - g->t->tick0) * g->rate;
    return g->t->ns0 + (uint64_t)(int64_t)ns + (uint64_t)g->offset;
}

static uint64_t begin_of(const struct gather *g, const struct trace_event *e)
{
    uint64_t at = time_of(g, e->at);
    return e->kind == TRACE_WAIT ? at - e->lasts : at; /* noted at its end, in ns */
}

/* The least v of all processes, at rank 0. */
static uint64_t least(struct gather *g, uint64_t v)
{
    unsigned rank = (unsigned)g->world->rank, size = (unsigned)g->world->size;
    unsigned low = rank ? rank & -rank : size;
    for (unsigned step = 1; step < low && rank + step < size; step <<= 1) {
        uint64_t theirs;
        if (get(g, &theirs, sizeof theirs, (int)(rank + step), TAG_FIRST) == MPI_SUCCESS)
            v = theirs < v ? theirs : v;
    }
    if (rank)
        put(g, &v, sizeof v, (int)(rank - low), TAG_FIRST);
    return v;
}

static uint64_t first_of(const struct gather *g)
{
    const struct trace *t = g->t;
    uint64_t n = atomic_load_explicit(&t->n, memory_order_relaxed), first = UINT64_MAX;
    for (uint64_t at = n > t->room ? n - t->room : 0; at < n; at++) {
        uint64_t begins = begin_of(g, &t->ring[at & (t->room - 1)]);
        first = begins < first ? begins : first;
    }
    return first;
}

/* --- what this process knows ------------------------------------------------------------------ */

static void pass(struct gather *g)
{
    unsigned rank = (unsigned)g->world->rank;
    if (rank)
        put(g, g->c, sizeof *g->c, (int)(rank - (rank & -rank)), TAG_CHUNK);
    else
        g->take(g->to, g->c);
}

static void begin(struct gather *g, enum trace_part part)
{
    memset(g->c, 0, sizeof *g->c);
    g->c->magic = TRACE_MAGIC;
    g->c->part = part;
    g->c->rank = boot_rank();
}

/* The index of a name; they are constants, so that their addresses tell them apart. */
static uint64_t index_of(const char **names, unsigned *n, const char *name)
{
    unsigned i = 0;
    while (i < *n && names[i] != name)
        i++;
    if (i == *n && *n < TRACE_NAMES)
        names[(*n)++] = name;
    return i;
}

static void pass_names(struct gather *g, const char **names, unsigned n)
{
    for (unsigned at = 0; at < n; at += TRACE_BLOCK) {
        begin(g, TRACE_NAMES_PART);
        g->c->first = at;
        for (unsigned i = at; i < n && i < at + TRACE_BLOCK; i++, g->c->n++)
            strncpy(g->c->u.name[i - at], names[i], TRACE_CALL_LEN - 1);
        pass(g);
    }
}

static void pass_wins(struct gather *g)
{
    const struct trace *t = g->t;
    uint64_t n = atomic_load_explicit(&t->n, memory_order_relaxed);
    begin(g, TRACE_WINS_PART);
    g->c->lost = n > t->room ? n - t->room : 0;
    for (uint64_t i = 0; i < t->wins && i < TRACE_WINS; i++, g->c->n++)
        memcpy(g->c->u.win[i], t->win[i].name, PROFILE_NAME);
    pass(g);
}

/* Handles are used again: the first window of that handle that was freed after the event. */
static int32_t win_of(const struct trace *t, const struct trace_event *e)
{
    int32_t best = -1;
    for (uint64_t i = 0; e->window != -1 && i < t->wins && i < TRACE_WINS; i++)
        if (t->win[i].handle == e->window && t->win[i].until >= e->at &&
            (best < 0 || t->win[i].until < t->win[best].until))
            best = (int32_t)i;
    return best;
}

static void portable(const struct gather *g, struct trace_event *e)
{
    e->window = win_of(g->t, e);
    e->at = begin_of(g, e);
    if (e->kind != TRACE_WAIT)
        e->lasts = (uint64_t)((double)e->lasts * g->rate);
}

/* Few places call the library: each is looked up once. */
static uint64_t site_of(struct map *sites, uint64_t address)
{
    uint64_t *known = address ? map_get(sites, address) : NULL;
    if (known || !address)
        return known ? *known : 0;
    uint64_t site = site_portable(address);
    if ((known = malloc(sizeof *known))) {
        *known = site;
        if (map_put(sites, address, known))
            free(known);
    }
    return site;
}

static void pass_events(struct gather *g, uint64_t from, uint64_t to, const char **names,
                        unsigned *n)
{
    struct map sites;
    size_t cursor = 0;
    map_init(&sites);
    for (uint64_t at = from; at < to;) {
        begin(g, TRACE_EVENTS_PART);
        for (; at < to && g->c->n < TRACE_BLOCK; at++) {
            struct trace_event *e = &g->c->u.event[g->c->n++];
            *e = g->t->ring[at & (g->t->room - 1)];
            e->name.index = index_of(names, n, e->name.text);
            e->site = site_of(&sites, e->site);
            if (g->t->sends_unsure && e->kind == TRACE_SENT)
                e->message = 0;
            portable(g, e);
        }
        pass(g);
    }
    for (struct map_entry *e; (e = map_next(&sites, &cursor)) != NULL;)
        free(e->value);
    map_destroy(&sites);
}

static void pass_own(struct gather *g)
{
    struct trace *t = g->t;
    uint64_t n = atomic_load_explicit(&t->n, memory_order_relaxed);
    uint64_t from = n > t->room ? n - t->room : 0;
    const char *names[TRACE_NAMES];
    unsigned count = 0;
    for (uint64_t at = from; at < n; at++) /* all names go before the events */
        index_of(names, &count, t->ring[at & (t->room - 1)].name.text);
    pass_names(g, names, count);
    pass_wins(g);
    pass_events(g, from, n, names, &count);
}

/* --- all -------------------------------------------------------------------------------------- */

static int is_sound(const struct trace_chunk *c)
{
    return c->magic == TRACE_MAGIC && c->rank >= 0 && c->rank < boot_size() &&
           c->part <= TRACE_LAST_PART && c->n <= TRACE_BLOCK;
}

/* The chunks of a child's subtree, up to its last. */
static void pass_child(struct gather *g, int child)
{
    while (!get(g, g->c, sizeof *g->c, child, TAG_CHUNK) && is_sound(g->c) &&
           g->c->part != TRACE_LAST_PART)
        pass(g);
}

void trace_gather(struct trace *t, void (*take)(void *to, struct trace_chunk *c), void *to)
{
    struct gather g = {.t = t, .world = proc->obj->world, .c = t->chunk, .take = take, .to = to};
    unsigned rank = (unsigned)g.world->rank, size = (unsigned)g.world->size;
    unsigned low = rank ? rank & -rank : size;
    uint64_t ticks, ns;
    least(&g, 0);
    trace_both_clocks(&ticks, &ns);
    g.rate = ticks > t->tick0 ? (double)(ns - t->ns0) / (double)(ticks - t->tick0) : 1;
    align(&g);
    if (t->last.name)
        trace_call(&t->last);
    uint64_t first = least(&g, first_of(&g));
    if (!rank) {
        begin(&g, TRACE_ZERO_PART);
        g.c->lost = first;
        pass(&g);
    }
    pass_own(&g);
    for (unsigned step = 1; step < low && rank + step < size; step <<= 1)
        pass_child(&g, (int)(rank + step));
    if (rank) {
        begin(&g, TRACE_LAST_PART);
        pass(&g);
    }
}
