/* calls.c - how often the program makes each call, and where; how long locks of windows are held.
 * Start with profile_called().
 *
 * The traced library counts (trace.h). Calls come without proc->lock; an entry is claimed by its
 * key, and only several threads need an atomic addition. */
#include "profile/profile_types.h"

#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "base/sched.h"
#include "obj/obj.h"
#include "place/place.h"
#include "profile/trace.h"
#include "rma/rma.h"

enum {
    MADE = 1024,  /* a power of two */
    PLACES = 512, /* keys with a place; the others leave room for one key of each function */
    WINS = 32, OPEN = 16 /* windows with locks, and locks that this process holds */
};

struct made {
    atomic_ullong key; /* 0: a free place */
    const char *call;
    const void *site;
    atomic_ullong n;
};

/* A window whose locks were taken. */
struct held {
    struct profile_held look;
    uint64_t n, ns, waits;
    uint64_t win; /* its id, 0: a free place */
};

/* What the program did last on a window, as far as it may be a flag (profile_put_called()). */
struct flagging {
    uint64_t win;       /* its id, 0: a free place */
    int rank, step;     /* 1 put, 2 flushed, 3 put of one element */
    MPI_Aint disp;      /* of the put */
    const void *put, *flush; /* where */
    uint64_t n;
};

struct holder {
    MPI_Win win;
    int rank;
    uint64_t since;
    struct held *held; /* NULL: a free place */
};

struct profile_calls {
    atomic_uint used;
    struct made made[MADE];
    struct held held[WINS];
    struct holder open[OPEN];
    struct flagging flagging[WINS];
};

size_t profile_calls_bytes(void)
{
    return sizeof(struct profile_calls);
}

/* --- counts ----------------------------------------------------------------------------------- */

static struct made *made_of(struct profile_calls *c, const char *call, const void *site)
{
    uint64_t key = ((uint64_t)(uintptr_t)site * 0x9e3779b97f4a7c15u) ^ (uint64_t)(uintptr_t)call;
    uint64_t at = key ^ key >> 32;
    for (unsigned i = 0; i < MADE; i++) {
        struct made *m = &c->made[(at + i) & (MADE - 1)];
        unsigned long long is = atomic_load_explicit(&m->key, memory_order_relaxed);
        if (is == key)
            return m;
        if (is)
            continue;
        if (site && atomic_load_explicit(&c->used, memory_order_relaxed) >= PLACES)
            return made_of(c, call, NULL);
        if (atomic_compare_exchange_strong_explicit(&m->key, &is, key, memory_order_relaxed,
                                                    memory_order_relaxed)) {
            atomic_fetch_add_explicit(&c->used, site != NULL, memory_order_relaxed);
            m->call = call;
            m->site = site;
            return m;
        }
        if (is == key) /* another thread was first, with the same call */
            return m;
    }
    return NULL;
}

void profile_called(const char *call, const void *site)
{
    site = site_program_call(site, &call);
    struct made *m = made_of(proc->profile->calls, call, site);
    if (!m)
        return;
    if (proc->threaded)
        atomic_fetch_add_explicit(&m->n, 1, memory_order_relaxed);
    else
        atomic_store_explicit(&m->n, atomic_load_explicit(&m->n, memory_order_relaxed) + 1,
                              memory_order_relaxed);
}

/* --- locks ------------------------------------------------------------------------------------ */

static struct held *held_of(struct profile_calls *c, uint64_t win)
{
    struct held *room = NULL;
    for (int i = 0; i < WINS; i++) {
        struct held *h = &c->held[i];
        if (h->win == win)
            return h;
        room = !h->win && !room ? h : room;
    }
    if (room)
        room->win = win;
    return room;
}

static void lock_calls(void)
{
    if (proc->threaded)
        lock_acquire(&proc->lock);
}

static void unlock_calls(void)
{
    if (proc->threaded)
        lock_release(&proc->lock);
}

void profile_locked(MPI_Win win, int rank)
{
    struct profile *y = proc->profile;
    uint64_t now = time_now();
    lock_calls();
    const struct rma_win *w = obj_find(OBJ_WIN, win);
    struct held *h = w ? held_of(y->calls, rma_win_id(w)) : NULL;
    for (int i = 0; h && i < OPEN; i++) {
        struct holder *o = &y->calls->open[i];
        if (o->held)
            continue;
        *o = (struct holder){win, rank, now, h};
        atomic_store_explicit(&y->holding, &h->look, memory_order_relaxed);
        break;
    }
    unlock_calls();
}

/* After a lock was given back, the sampler goes on with another one that is held. */
static void still_holding(struct profile *y)
{
    struct profile_held *still = NULL;
    for (int i = 0; i < OPEN; i++)
        if (y->calls->open[i].held)
            still = &y->calls->open[i].held->look;
    atomic_store_explicit(&y->holding, still, memory_order_relaxed);
}

void profile_unlocking(MPI_Win win, int rank)
{
    struct profile *y = proc->profile;
    uint64_t now = time_now();
    lock_calls();
    for (int i = 0; i < OPEN; i++) {
        struct holder *o = &y->calls->open[i];
        if (o->held && o->win == win && o->rank == rank) {
            o->held->n++;
            o->held->ns += now - o->since;
            o->held = NULL;
        }
    }
    still_holding(y);
    unlock_calls();
}

void profile_lock_waited(struct profile *y, uint64_t win)
{
    struct held *h = y->calls ? held_of(y->calls, win) : NULL;
    if (h)
        h->waits++;
}

void profile_locks_of(struct profile *y, uint64_t win, struct profile_locks *out)
{
    for (int i = 0; y->calls && i < WINS; i++) {
        struct held *h = &y->calls->held[i];
        if (h->win != win)
            continue;
        *out = (struct profile_locks){
            h->n, h->ns, h->waits, atomic_load_explicit(&h->look.seen, memory_order_relaxed),
            atomic_load_explicit(&h->look.seen_outside, memory_order_relaxed)};
        for (int k = 0; k < OPEN; k++) /* freed inside an epoch: an error of the program */
            if (y->calls->open[k].held == h)
                y->calls->open[k].held = NULL;
        still_holding(y);
        memset(h, 0, sizeof *h); /* the window is gone, or this is the end */
    }
}

/* --- flags ------------------------------------------------------------------------------------ */

static struct flagging *flagging_of(struct profile_calls *c, MPI_Win win)
{
    const struct rma_win *w = obj_find(OBJ_WIN, win);
    uint64_t id = w ? rma_win_id(w) : 0;
    struct flagging *room = NULL;
    for (int i = 0; id && i < WINS; i++) {
        struct flagging *g = &c->flagging[i];
        if (g->win == id)
            return g;
        room = !g->win && !room ? g : room;
    }
    if (room)
        *room = (struct flagging){.win = id};
    return room;
}

/* A flag has a place of its own in the program, and beside the data. */
static int is_flag(const struct flagging *g, int rank, MPI_Aint disp, MPI_Count count,
                   const void *site)
{
    return g->step == 2 && rank == g->rank && count == 1 && disp != g->disp && site != g->put;
}

void profile_put_called(MPI_Win win, int rank, MPI_Aint disp, MPI_Count count, const void *site)
{
    lock_calls();
    struct flagging *g = flagging_of(proc->profile->calls, win);
    if (g && is_flag(g, rank, disp, count, site)) {
        g->step = 3;
    } else if (g) {
        g->step = 1;
        g->rank = rank;
        g->disp = disp;
        g->put = site;
    }
    unlock_calls();
}

void profile_flush_called(MPI_Win win, int rank, const void *site)
{
    lock_calls();
    struct flagging *g = flagging_of(proc->profile->calls, win);
    if (g && g->step == 1 && rank == g->rank) {
        g->step = 2;
        g->flush = site;
    } else if (g) {
        g->n += g->step == 3 && rank == g->rank;
        g->step = 0;
    }
    unlock_calls();
}

void profile_flags_of(struct profile *y, uint64_t win, struct profile_flags *out)
{
    for (int i = 0; y->calls && i < WINS; i++) {
        struct flagging *g = &y->calls->flagging[i];
        if (g->win != win)
            continue;
        *out = (struct profile_flags){g->n, site_portable((uint64_t)(uintptr_t)g->flush)};
        memset(g, 0, sizeof *g);
    }
}

/* --- lists ------------------------------------------------------------------------------------ */

static const char others[] = "(others)";

static int weighs_less(const struct profile_call *a, const struct profile_call *b)
{
    return a->ns != b->ns ? a->ns < b->ns : a->calls < b->calls;
}

static void merge(struct profile_call *a, const struct profile_call *b)
{
    a->calls += b->calls;
    a->waits += b->waits;
    a->ns += b->ns;
    if (b->max > a->max) {
        a->max = b->max;
        a->max_rank = b->max_rank;
    }
}

static struct profile_call *find(struct profile_call *list, uint32_t n,
                                 const struct profile_call *c)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i].site == c->site && !strcmp(list[i].call, c->call))
            return &list[i];
    return NULL;
}

/* The last place is for what does not fit. A page from another process may name a place for that:
 * without it there is one such entry at most, and so always a place for it. */
void profile_call_add(struct profile_call *list, uint32_t *n, const struct profile_call *c)
{
    struct profile_call x = *c, *had, *least = NULL;
    int is_rest = !strcmp(x.call, others);
    if (is_rest)
        x.site = 0;
    had = find(list, *n, &x);
    if (had) {
        merge(had, &x);
        return;
    }
    uint32_t own = 0;
    for (uint32_t i = 0; i < *n; i++)
        if (strcmp(list[i].call, others)) {
            own++;
            least = !least || weighs_less(&list[i], least) ? &list[i] : least;
        }
    if (*n < PROFILE_CALLS && (is_rest || own < PROFILE_CALLS - 1)) {
        list[(*n)++] = x;
        return;
    }
    if (!is_rest && least && weighs_less(least, &x)) {
        struct profile_call out = *least;
        *least = x;
        x = out;
    }
    x.site = 0;
    memcpy(x.call, others, sizeof others);
    had = find(list, *n, &x);
    if (had)
        merge(had, &x);
    else if (*n < PROFILE_CALLS)
        list[(*n)++] = x;
}

void profile_call_places(struct profile_page *p)
{
    for (uint32_t i = 0; i < p->calls;) {
        struct profile_call *c = &p->call[i], *to = NULL;
        for (uint32_t j = 0; !c->site && j < p->calls; j++) {
            struct profile_call *x = &p->call[j];
            if (x->site && !strcmp(x->call, c->call) && (!to || weighs_less(to, x)))
                to = x;
        }
        if (!to) {
            i++;
            continue;
        }
        merge(to, c);
        *c = p->call[--p->calls];
    }
}

/* Behind profile_places(): the waits have the places that are known. */
void profile_calls_of(struct profile_page *p, const struct profile_calls *c,
                      const struct profile_look *look)
{
    for (unsigned i = 0; c && i < MADE; i++) {
        const struct made *m = &c->made[i];
        uint64_t site = (uint64_t)(uintptr_t)m->site;
        struct profile_call x = {.site = site ? look->site(look->arg, site) : 0};
        x.calls = atomic_load_explicit((atomic_ullong *)&m->n, memory_order_relaxed);
        if (!m->call || !x.calls)
            continue;
        strncpy(x.call, look->text(look->arg, m->call), PROFILE_CALL - 1);
        profile_call_add(p->call, &p->calls, &x);
        p->counted = 1;
    }
    for (uint32_t i = 0; i < p->waits; i++) {
        const struct profile_wait *w = &p->wait[i];
        struct profile_call x = {
            .site = w->site, .waits = w->n, .ns = w->ns, .max = w->max, .max_rank = w->max_rank};
        memcpy(x.call, w->call, sizeof x.call);
        profile_call_add(p->call, &p->calls, &x);
    }
    profile_call_places(p);
}
