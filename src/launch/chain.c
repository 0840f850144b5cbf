/* chain.c - chains and circles of waiting ranks.  The numbers come from the ranks' memory and may
 * be any; each rank is visited a constant number of times. */
#include "launch/chain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 12 /* ranks of one chain in a line */, LINE_MAX_BYTES = 400 };

struct chains {
    const int *peer;
    const char *never;
    int n;
    int *walk;  /* number of the walk that came by; 0: none */
    int *root;  /* where the chain of a rank ends; -1: in a circle */
    int *depth; /* steps to there */
    int *count; /* ranks whose chain ends here */
};

static int waits(const struct chains *c, int r)
{
    return c->peer[r] >= 0 && c->peer[r] < c->n;
}

/* "0 -> 2 -> 1", of `steps` arrows. */
static void put_chain(const struct chains *c, int r, int steps, char *text, size_t len)
{
    size_t at = (size_t)snprintf(text, len, "%d", r);
    for (int i = 0; i < steps && at < len; i++) {
        r = c->peer[r];
        if (i == SHOWN && steps > SHOWN + 1) {
            snprintf(text + at, len - at, " -> ..");
            return;
        }
        at += (size_t)snprintf(text + at, len - at, " -> %d", r);
    }
}

/* The ranks from `from` to the end of what is known already get their root and depth. */
static void assign(struct chains *c, int from, int steps, int root, int depth)
{
    for (int r = from; steps > 0; r = c->peer[r], steps--) {
        c->root[r] = root;
        c->depth[r] = depth + steps;
        if (root >= 0)
            c->count[root]++;
    }
}

/* One walk from rank `from`.  The length of a circle that it found, which begins at *at; else 0. */
static int follow(struct chains *c, int from, int *at)
{
    int r = from, steps = 0, circle = 0;
    while (!c->walk[r] && waits(c, r)) {
        c->walk[r] = from + 1;
        r = c->peer[r];
        steps++;
    }
    if (!c->walk[r]) { /* it waits for no rank: an end */
        c->walk[r] = from + 1;
        c->root[r] = r;
        assign(c, from, steps, r, 0);
    } else if (c->walk[r] == from + 1 && steps) {
        *at = r;
        do {
            circle++;
            r = c->peer[r];
        } while (r != *at);
        assign(c, from, steps, -1, 0);
    } else {
        assign(c, from, steps, c->root[r], c->depth[r]);
    }
    return circle;
}

/* Are all in the circle from rank `at` on known to wait for ever? */
static int is_proven(const struct chains *c, int at)
{
    int r = at;
    do
        if (!c->never || !c->never[r])
            return 0;
    while ((r = c->peer[r]) != at);
    return 1;
}

static void tell_circles(struct chains *c, void (*line)(void *to, const char *text), void *to)
{
    char text[LINE_MAX_BYTES], chain[LINE_MAX_BYTES - 100];
    int told = 0;
    for (int r = 0; r < c->n; r++) {
        int at, size = c->walk[r] ? 0 : follow(c, r, &at);
        if (!size || told++ >= CHAIN_LINES)
            continue;
        put_chain(c, at, size, chain, sizeof chain);
        int proven = is_proven(c, at);
        if (size == 1)
            snprintf(text, sizeof text, "deadlock%s: rank %d waits for itself",
                     proven ? "" : ", if it still waits", at);
        else
            snprintf(text, sizeof text, "deadlock%s: %d ranks wait for each other: %s",
                     proven ? "" : ", if they still wait", size, chain);
        line(to, text);
    }
}

/* The deepest rank behind `root`. */
static int deepest(const struct chains *c, int root)
{
    int best = root;
    for (int r = 0; r < c->n; r++)
        if (c->root[r] == root && c->depth[r] > c->depth[best])
            best = r;
    return best;
}

static void tell_roots(struct chains *c, void (*line)(void *to, const char *text), void *to)
{
    char text[LINE_MAX_BYTES], chain[LINE_MAX_BYTES - 100];
    for (int told = 0; told < CHAIN_LINES; told++) {
        int most = 0;
        for (int r = 0; r < c->n; r++)
            most = c->count[r] > c->count[most] ? r : most;
        if (c->count[most] < 2)
            return;
        int from = deepest(c, most);
        put_chain(c, from, c->depth[from], chain, sizeof chain);
        snprintf(text, sizeof text, "rank %d keeps %d ranks waiting: %s", most, c->count[most],
                 chain);
        line(to, text);
        c->count[most] = 0;
    }
}

int chain_tell(const int *peer, const char *never, int n, void (*line)(void *to, const char *text),
               void *to)
{
    int *words = calloc((size_t)n + !n, 4 * sizeof *words);
    if (!words)
        return -ENOMEM;
    struct chains c = {peer, never, n, words, words + n, words + 2 * (size_t)n,
                       words + 3 * (size_t)n};
    tell_circles(&c, line, to);
    if (n)
        tell_roots(&c, line, to);
    free(words);
    return 0;
}
