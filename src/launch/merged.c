/* merged.c - equal lines of ranks become one (merged.h). Start with merged_push(). */
#include "launch/merged.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#define MS 1000000u /* ns */

enum { PIECE = 4096, LABEL = 128 };

struct merged *merged_new(int ranks, struct sink *sink, const char *prompt, const char *awaited)
{
    struct merged *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    *g = (struct merged){.sink = sink, .ranks = ranks, .prompt = prompt, .awaited = awaited,
                         .rank = calloc((size_t)ranks, sizeof *g->rank),
                         .done = calloc((size_t)ranks, 2)}; /* the second half: merged_push() */
    if (g->rank && g->done)
        return g;
    merged_free(g);
    return NULL;
}

void merged_free(struct merged *g)
{
    for (int r = 0; g && g->rank && r < g->ranks; r++)
        free(g->rank[r].text);
    if (g) {
        free(g->rank);
        free(g->done);
    }
    free(g);
}

int merged_room(const struct merged *g, int rank)
{
    return g->rank[rank].have < MERGED_BYTES;
}

void merged_add(struct merged *g, int rank, const char *bytes, size_t n, uint64_t now)
{
    struct merged_rank *k = &g->rank[rank];
    if (!VEC_FITS(k->text, k->room, k->have + n, 256))
        return;
    memcpy(k->text + k->have, bytes, n);
    k->have += n;
    g->last = now;
    if (!g->first)
        g->first = now;
}

void merged_list(const char *set, int ranks, char *text, size_t len)
{
    size_t at = 0;
    *text = 0;
    for (int r = 0, end; r < ranks; r = end + 1) {
        for (end = r; end + 1 < ranks && set[r] && set[end + 1];)
            end++;
        if (!set[r])
            continue;
        if (at + 32 > len) { /* two numbers and their signs */
            snprintf(text + at, len - at, "..");
            return;
        }
        at += (size_t)snprintf(text + at, len - at, "%s%d", at ? "," : "", r);
        if (end > r)
            at += (size_t)snprintf(text + at, len - at, "-%d", end);
    }
}

/* The length of the first line; 0: there is none yet. */
static size_t line_of(const struct merged_rank *k, int rests)
{
    size_t most = k->have < PIECE ? k->have : PIECE;
    const char *end = most ? memchr(k->text, '\n', most) : NULL;
    if (end)
        return (size_t)(end - k->text) + 1;
    return rests || most == PIECE ? most : 0;
}

static void drop(struct merged_rank *k, size_t n)
{
    k->have -= n;
    memmove(k->text, k->text + n, k->have);
}

/* The line of rank r, and that of all that have the same. 0: the sink has no room. */
static int print_line(struct merged *g, int r, size_t n, char *same)
{
    struct sink *s = g->sink;
    char list[LABEL], label[LABEL + 8];
    const char *line = g->rank[r].text;
    int piece = line[n - 1] == '\n' || n == PIECE; /* else it is the rest of what the rank wrote */
    memset(same, 0, (size_t)g->ranks);
    for (int o = r; o < g->ranks; o++)
        same[o] = o == r || (!g->done[o] && g->rank[o].have >= n &&
                             !memcmp(g->rank[o].text, line, n) && (piece || g->rank[o].have == n));
    merged_list(same, g->ranks, list, sizeof list);
    size_t m = (size_t)snprintf(label, sizeof label, "[%s] ", list);
    if (sink_room(s) < n + m + 1 && !s->broken)
        return 0;
    if (s->mid_line && !(s->tty && g->typed))
        sink_add(s, "\n", 1);
    g->typed = 0;
    sink_add(s, label, m);
    sink_add(s, line, n);
    for (int o = g->ranks - 1; o >= r; o--) /* r is the last: its text is `line` */
        if (same[o]) {
            g->done[o] = 1;
            drop(&g->rank[o], n);
        }
    return 1;
}

/* One line of each rank that has one. 0: none had one, or the sink is full. */
static int print_round(struct merged *g, int rests)
{
    int n = 0;
    memset(g->done, 0, (size_t)g->ranks);
    for (int r = 0; r < g->ranks; r++) {
        size_t len = g->done[r] ? 0 : line_of(&g->rank[r], rests);
        if (!len)
            continue;
        if (!print_line(g, r, len, g->done + g->ranks))
            return 0;
        n++;
    }
    return n;
}

/* Have all that are awaited come to a prompt? */
static int at_prompts(const struct merged *g)
{
    size_t n = strlen(g->prompt);
    for (int r = 0; g->awaited && r < g->ranks; r++) {
        const struct merged_rank *k = &g->rank[r];
        if (g->awaited[r] && (k->have < n || memcmp(k->text + k->have - n, g->prompt, n)))
            return 0;
    }
    return g->awaited != NULL;
}

/* From when on it rests (ns). */
static uint64_t rests_at(const struct merged *g)
{
    return g->last + (uint64_t)(at_prompts(g) ? MERGED_PROMPT_MS : MERGED_QUIET_MS) * MS;
}

void merged_push(struct merged *g, uint64_t now, int all)
{
    int rests = all || now >= rests_at(g);
    if (!g->first || (!rests && now < g->first + (uint64_t)MERGED_LATE_MS * MS))
        return;
    while (print_round(g, rests))
        ;
    g->first = 0;
    for (int r = 0; r < g->ranks; r++)
        if (g->rank[r].have)
            g->first = now;
    sink_flush(g->sink);
}

uint64_t merged_due(const struct merged *g)
{
    uint64_t quiet = rests_at(g), late = g->first + (uint64_t)MERGED_LATE_MS * MS;
    if (!g->first || sink_room(g->sink) < STREAM_BYTES)
        return UINT64_MAX;
    return quiet < late ? quiet : late;
}
