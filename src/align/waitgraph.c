/* waitgraph.c - the wait-for graph: elimination, and the part that the verdict rests on. Start with
 * graph_strike() and graph_core(). */
#include "align/waitgraph.h"

#include <stddef.h>
#include <string.h>

static struct waiter *find(struct waiter *w, int n, int world)
{
    int low = 0, high = n;
    while (low < high) {
        int half = (low + high) / 2;
        if (w[half].world < world)
            low = half + 1;
        else
            high = half;
    }
    return low < n && w[low].world == world ? &w[low] : NULL;
}

static const struct wait_comm *comm_of(const struct waiter *x, uint64_t key)
{
    for (int i = 0; i < x->comms; i++)
        if (x->comm[i].key == key)
            return &x->comm[i];
    return NULL;
}

/* It has not made the call, and may make it.  One that is in MPI_Finalize has sent its last history
 * to the judge, which knows better. */
static int misses(const struct waiter *x, uint64_t key, uint32_t number)
{
    const struct wait_comm *c = x->stuck && x->mode != WAIT_ENDED ? comm_of(x, key) : NULL;
    return c && c->calls < number;
}

/* Its own wait for the same call, in the same sequence; -1: none. */
static int same_call(const struct waiter *x, const struct wait_item *it)
{
    for (int i = 0; i < x->items; i++) {
        const struct wait_item *y = &x->item[i];
        if ((y->need == NEED_CALL || y->need == NEED_ALL) && y->key == it->key &&
            y->number == it->number && y->hist == it->hist && x->never >> i & 1)
            return i;
    }
    return -1;
}

/* What was found for a communicator in this pass: many processes ask the same. */
struct seen {
    uint64_t key;
    uint32_t need, number;
    int is;
};
enum { SEEN = 16 };

static int look(struct waiter *w, int n, const struct wait_item *it)
{
    int many = 0;
    for (int i = 0; i < n; i++)
        if (it->need == NEED_ANY)
            many += w[i].stuck && comm_of(&w[i], it->key);
        else if (misses(&w[i], it->key, it->number))
            return 1;
    return it->need == NEED_ANY && many == it->size;
}

static int look_once(struct waiter *w, int n, const struct wait_item *it, struct seen *seen,
                     int *used)
{
    for (int i = 0; i < *used && i < SEEN; i++)
        if (seen[i].key == it->key && seen[i].need == it->need && seen[i].number == it->number)
            return seen[i].is;
    struct seen s = {it->key, it->need, it->number, look(w, n, it)};
    seen[(*used)++ % SEEN] = s;
    return s.is;
}

static int never_served(struct waiter *w, int n, const struct wait_item *it, struct seen *seen,
                        int *used)
{
    if (it->need == NEED_ANY || it->need == NEED_ALL)
        return look_once(w, n, it, seen, used);
    const struct waiter *x = find(w, n, it->world);
    if (!x || !x->stuck)
        return 0;
    if (it->need == NEED_PROCESS)
        return 1;
    return misses(x, it->key, it->number) || same_call(x, it) >= 0;
}

static uint64_t all_of(const struct waiter *x)
{
    return x->items ? ~0ull >> (64 - x->items) : 0;
}

int graph_strike(struct waiter *w, int n)
{
    int left = 0, changed = 1;
    for (int i = 0; i < n; i++) {
        w[i].stuck = w[i].mode == WAIT_ENDED || w[i].items > 0;
        w[i].never = all_of(&w[i]);
        w[i].reason = 0;
        left += w[i].stuck;
    }
    while (changed) {
        struct seen seen[SEEN];
        int used = 0;
        changed = 0;
        for (int i = 0; i < n; i++) {
            struct waiter *x = &w[i];
            for (int j = 0; x->stuck && j < x->items; j++)
                if (x->never >> j & 1 && !never_served(w, n, &x->item[j], seen, &used)) {
                    x->never &= ~(1ull << j);
                    changed = 1;
                }
            if (x->stuck && x->mode != WAIT_ENDED &&
                (x->mode == WAIT_ANY ? x->never != all_of(x) : x->never == 0)) {
                x->stuck = 0;
                left--;
                changed = 1;
            }
        }
    }
    return left;
}

/* --- the core --------------------------------------------------------------------------------- */

struct walk {
    struct waiter *w;
    int n, full;
    int calls; /* a call is missing: not only messages inside one collective */
    struct stuck_core *c;
};

static void follow(struct walk *k, struct waiter *x, int item);

static void edge(struct walk *k, const struct waiter *a, const struct waiter *b)
{
    struct stuck_core *c = k->c;
    int from = (int)(a - k->w), to = (int)(b - k->w);
    for (int i = 0; i < c->edges; i++)
        if (c->from[i] == from && c->to[i] == to)
            return;
    if (c->edges == CORE_EDGES) {
        k->full = 1;
        return;
    }
    c->from[c->edges] = from;
    c->to[c->edges++] = to;
}

static void enlist(struct walk *k, const struct waiter *x)
{
    struct stuck_core *c = k->c;
    for (int i = 0; i < c->n; i++)
        if (c->member[i] == (int)(x - k->w))
            return;
    if (c->n == CORE_MAX)
        k->full = 1;
    else
        c->member[c->n++] = (int)(x - k->w);
}

/* That process x never makes another call. */
static void rest_on(struct walk *k, struct waiter *x)
{
    enlist(k, x);
    if (x->mode == WAIT_ENDED || x->reason)
        return;
    for (int i = 0; i < x->items && !k->full; i++)
        if (x->never >> i & 1) {
            follow(k, x, i);
            if (x->mode == WAIT_ALL)
                return;
        }
}

static void follow(struct walk *k, struct waiter *x, int item)
{
    const struct wait_item *it = &x->item[item];
    if (k->full || x->reason >> item & 1)
        return;
    x->reason |= 1ull << item;
    enlist(k, x);
    if (it->need == NEED_PROCESS || it->need == NEED_CALL) {
        struct waiter *y = find(k->w, k->n, it->world);
        edge(k, x, y);
        if (it->need == NEED_CALL && !misses(y, it->key, it->number))
            follow(k, y, same_call(y, it));
        else
            rest_on(k, y);
        k->calls |= it->need == NEED_PROCESS || misses(y, it->key, it->number);
        return;
    }
    for (int i = 0; i < k->n && !k->full; i++) {
        struct waiter *y = &k->w[i];
        int needed = it->need == NEED_ANY ? y->stuck && comm_of(y, it->key) && y != x
                                          : misses(y, it->key, it->number);
        if (!needed)
            continue;
        edge(k, x, y);
        rest_on(k, y);
        k->calls = 1;
        if (it->need == NEED_ALL)
            return;
    }
}

int graph_core(struct waiter *w, int n, struct stuck_core *c)
{
    for (int i = 0; i < n; i++) {
        if (!w[i].stuck || w[i].mode == WAIT_ENDED)
            continue;
        struct walk k = {w, n, 0, 0, c};
        memset(c, 0, sizeof *c);
        for (int j = 0; j < n; j++)
            w[j].reason = 0;
        rest_on(&k, &w[i]);
        if (!k.full && k.calls)
            return c->n;
    }
    c->n = 0;
    return 0;
}
