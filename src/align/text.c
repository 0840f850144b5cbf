/* text.c - the message about calls that differ. Start with text_verdict(). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "align/align_types.h"
#include "dt/make.h"

static const char *op_name(uint32_t op)
{
    static const char *const ops[] = {"", "MPI_MAX", "MPI_MIN", "MPI_SUM", "MPI_PROD", "MPI_LAND",
                                      "MPI_BAND", "MPI_LOR", "MPI_BOR", "MPI_LXOR", "MPI_BXOR",
                                      "MPI_MINLOC", "MPI_MAXLOC", "MPI_REPLACE", "MPI_NO_OP",
                                      "an operation that does not commute",
                                      "an operation of the program", "", "MPI_MODE_NOPRECEDE",
                                      "MPI_MODE_NOSUCCEED",
                                      "MPI_MODE_NOPRECEDE|MPI_MODE_NOSUCCEED"};
    return op < sizeof ops / sizeof *ops ? ops[op] : "?";
}

static uint32_t call_of(const struct align_entry *e)
{
    return e->what & ((1u << WHAT_FORM) - 1);
}

static uint32_t form_of(const struct align_entry *e)
{
    return e->what >> WHAT_FORM & 3;
}

static uint32_t op_of(const struct align_entry *e)
{
    return e->what >> WHAT_OP & ((1u << (WHAT_ROOT - WHAT_OP)) - 1);
}

static uint32_t root_of(const struct align_entry *e)
{
    return e->what >> WHAT_ROOT;
}

/* Appends; returns the new length, at most size - 1. */
static size_t add(char *buf, size_t size, size_t at, const char *text)
{
    int n = at < size ? snprintf(buf + at, size - at, "%s", text) : 0;
    at += n > 0 ? (size_t)n : 0;
    return at < size ? at : size - 1;
}

static int names_data(uint32_t call)
{
    const uint32_t none = 1u << COLL_BARRIER | 1u << COLL_GATHERV | 1u << COLL_ALLGATHERV |
                          1u << COLL_SCATTERV | 1u << COLL_ALLTOALLV | 1u << COLL_ALLTOALLW |
                          1u << COLL_REDUCE_SCATTER;
    return call < COLL_NEIGHBOR_ALLGATHER && !(none >> call & 1);
}

static void root_text(uint32_t root, char *buf, size_t len)
{
    int r = (int)root - 3;
    if (r == MPI_ROOT || r == MPI_PROC_NULL)
        snprintf(buf, len, "root %s", r == MPI_ROOT ? "MPI_ROOT" : "MPI_PROC_NULL");
    else
        snprintf(buf, len, "root %d", r);
}

/* MPI_Ibcast, MPI_Bcast_init, MPI_File_iread_all, MPI_File_read_all_begin. */
static size_t name_text(const struct align_entry *e, char *buf, size_t len)
{
    uint32_t call = call_of(e), form = form_of(e), part = op_of(e);
    const char *name = call < WATCH_CALLS && check_names[call] ? check_names[call] : "?";
    size_t at = add(buf, len, 0, strncmp(name, "X_", 2) != 0 ? "MPI_" : "MPI");
    if (form == WATCH_NONBLOCKING && call < COLL_CALLS) {
        char low[2] = {(char)(name[0] | 0x20), 0};
        at = add(buf, len, add(buf, len, at, "I"), low);
        name++;
    } else if (form == WATCH_NONBLOCKING && !strncmp(name, "File_", 5)) {
        at = add(buf, len, at, "File_i");
        name += sizeof "File_" - 1;
    }
    at = add(buf, len, at, name);
    if (form == WATCH_PERSISTENT)
        at = add(buf, len, at, "_init");
    if (part > OP_PARTS)
        at = add(buf, len, at, part == OP_PARTS + WATCH_BEGIN ? "_begin" : "_end");
    return at;
}

/* The entry has the index + 1 of the predefined type of all elements; 0: there is not one. */
static const char *type_name(const struct align_entry *e)
{
    int type = (int)(e->bytes_type >> TYPE_BIT);
    const char *name = dt_predefined_name(type - 1);
    return name ? name : "more than one type";
}

/* types: they are what differs. */
static void call_text(const struct align_entry *e, int types, char *buf, size_t len)
{
    uint32_t call = call_of(e);
    char args[4][64];
    int n = 0;
    if (root_of(e) != ROOT_NONE && call < COLL_CALLS)
        root_text(root_of(e), args[n++], sizeof *args);
    if (op_of(e) && op_of(e) <= OP_PARTS)
        snprintf(args[n++], sizeof *args, "%s", op_name(op_of(e)));
    if (names_data(call) && entry_bytes(e) != BYTES_NONE)
        snprintf(args[n++], sizeof *args, "%s%llu bytes%s%s",
                 entry_bytes(e) == BYTES_MANY ? "at least " : "",
                 (unsigned long long)entry_bytes(e), types ? " of " : "",
                 types ? type_name(e) : "");
    else if (types)
        snprintf(args[n++], sizeof *args, "%s", type_name(e));
    size_t at = name_text(e, buf, len);
    for (int i = 0; i < n; i++)
        at = add(buf, len, add(buf, len, at, i ? ", " : "("), args[i]);
    if (n)
        add(buf, len, at, ")");
}

void text_call(const struct align_entry *e, char *buf, size_t len)
{
    call_text(e, 0, buf, len);
}

void text_ranks(const int *ranks, int n, char *buf, size_t len)
{
    size_t at = 0;
    *buf = 0;
    for (int i = 0, j; i < n; i = j) {
        char one[40];
        for (j = i + 1; j < n && ranks[j] == ranks[j - 1] + 1;)
            j++;
        if (j - i > 2)
            snprintf(one, sizeof one, "%d-%d", ranks[i], ranks[j - 1]);
        else
            snprintf(one, sizeof one, "%d", ranks[j = i + 1, i]);
        if (at + strlen(one) + 5 > len) {
            add(buf, len, at, ",...");
            return;
        }
        at = add(buf, len, at, i ? "," : "");
        at = add(buf, len, at, one);
    }
}

/* --- verdict -------------------------------------------------------------------------------- */

enum { GROUPS = TEXT_LINES - 3 };

struct alike {
    const struct align_view *v; /* one of its members */
    int *ranks, n;
    int ended;                  /* it made fewer calls and makes no more */
};

int shows_call(const struct align_view *v, uint32_t k)
{
    return view_at(v, k) || (v->calls < k && v->final);
}

static int same_group(const struct alike *g, const struct align_view *v, uint32_t k)
{
    int ended = v->calls < k;
    if (g->ended != ended)
        return 0;
    return ended ? g->v->calls == v->calls && g->v->final == v->final
                 : entries_alike(g->v, v, k);
}

/* Groups of the views that show call k or have ended before it; the largest first. */
static int make_groups(const struct align_view *v, int n, uint32_t k, struct alike *g, int *ranks)
{
    int groups = 0, used = 0;
    for (int i = 0; i < n; i++) {
        int j = 0;
        if (!shows_call(&v[i], k))
            continue;
        while (j < groups && !same_group(&g[j], &v[i], k))
            j++;
        if (j == GROUPS)
            continue;
        if (j == groups)
            g[groups++] = (struct alike){.v = &v[i], .ended = v[i].calls < k};
    }
    for (int j = 0; j < groups; j++) {
        g[j].ranks = ranks + used;
        for (int i = 0; i < n; i++)
            if (shows_call(&v[i], k) && same_group(&g[j], &v[i], k))
                g[j].ranks[g[j].n++] = v[i].rank;
        used += g[j].n;
    }
    return groups;
}

/* In what the calls of the groups differ; 1: in the types alone. */
static int title(const struct alike *g, int groups, uint32_t k, char *buf, size_t len)
{
    const struct align_entry *first = NULL;
    int call = 0, root = 0, op = 0, bytes = 0, many = 0, pos = 0;
    for (int i = 0; i < groups; i++) {
        const struct align_entry *e = view_at(g[i].v, k);
        if (!e)
            continue;
        first = first ? first : e;
        call |= call_of(e) != call_of(first) || form_of(e) != form_of(first);
        root |= !g[i].v->between && root_of(e) != root_of(first);
        op |= op_of(e) != op_of(first);
        bytes |= entry_bytes(e) != entry_bytes(first) &&
                 (names_data(call_of(e)) || call_of(e) == COLL_REDUCE_SCATTER);
        /* if the calls before were alike, it is the amount that makes another history */
        many |= entry_bytes(e) == BYTES_MANY && names_data(call_of(e)) && e->hist != first->hist;
        pos |= g[i].v->order && e->pos != first->pos;
    }
    int fence = first && call_of(first) == WATCH_WIN_FENCE;
    for (int i = 0; i < groups; i++)
        if (g[i].ended) {
            char ranks[64];
            text_ranks(g[i].ranks, g[i].n, ranks, sizeof ranks);
            snprintf(buf, len, "rank%s %s made %u call%s and %s %s", g[i].n > 1 ? "s" : "", ranks,
                     g[i].v->calls, g[i].v->calls == 1 ? "" : "s", g[i].n > 1 ? "are" : "is",
                     g[i].v->final == ALIGN_FREED ? "done with it" : "in MPI_Finalize");
            return 0;
        }
    int same = first && !call && !root && !op && !bytes, types = 0;
    if (same && pos)
        snprintf(buf, len, "order across communicators differs");
    else if (same && k > 1 && first == view_at(g[0].v, g[0].v->first))
        snprintf(buf, len, "collective calls differ before the last that are kept");
    else if (same && many)
        snprintf(buf, len, "counts differ");
    else if ((types = same) && !names_data(call_of(first)))
        snprintf(buf, len, "types differ");
    else if (same)
        snprintf(buf, len, "types differ (same %llu bytes%s)",
                 (unsigned long long)entry_bytes(first),
                 entry_bytes(first) == BYTES_MANY ? " or more" : "");
    else
        snprintf(buf, len, "%s", call  ? "collective calls differ"
                                 : root ? "root differs"
                                 : op   ? fence ? "assertion differs" : "operation differs"
                                        : "counts differ");
    return types;
}

void text_group(int between, const int *ranks, int n, const char *call, const char *at, char *line,
                size_t len)
{
    char some[80];
    text_ranks(ranks, n, some, sizeof some);
    int end = snprintf(line, len, "  %srank%s %-8s %-36s %s", between ? "world " : "",
                       n > 1 ? "s" : " ", some, call, at);
    while (end > 0 && (size_t)end < len && line[end - 1] == ' ') /* no place */
        line[--end] = 0;
}

static void group_line(const struct alike *g, uint32_t k, int types,
                       void (*site)(uint64_t id, char *buf, size_t len), char *line, size_t len)
{
    char call[96], at[80] = "";
    const struct align_entry *e = view_at(g->v, k);
    if (e) {
        call_text(e, types, call, sizeof call);
        site(e->site, at, sizeof at);
    } else {
        snprintf(call, sizeof call, "%s",
                 g->v->final == ALIGN_FREED ? "no call: it has freed it" : "MPI_Finalize");
    }
    text_group(g->v->between, g->ranks, g->n, call, at, line, len);
}

static const struct align_entry *entry_before(const struct align_view *v, int n, uint32_t k)
{
    const struct align_entry *e = NULL;
    for (int i = 0; i < n && !e && k > 1; i++)
        e = view_at(&v[i], k - 1);
    return e;
}

static void last_alike(const struct align_view *v, int n, uint32_t k,
                       void (*site)(uint64_t id, char *buf, size_t len), char *line, size_t len)
{
    const struct align_entry *e = entry_before(v, n, k);
    char call[96], at[80];
    if (!e) {
        snprintf(line, len, k > 1 ? "  (earlier calls are not kept: MPIR_CVAR_COLL_CHECK_RING)"
                                  : "  no call before it.");
        return;
    }
    text_call(e, call, sizeof call);
    site(e->site, at, sizeof at);
    snprintf(line, len, "  the last call alike: call %u, %s, %s.", k - 1, call, at);
}

int text_sites(const struct align_view *v, int n, uint32_t k, uint64_t site[TEXT_LINES])
{
    struct alike g[GROUPS];
    int *ranks = malloc((size_t)(n ? n : 1) * sizeof *ranks), sites = 0;
    int groups = ranks ? make_groups(v, n, k, g, ranks) : 0;
    for (int i = 0; i < groups; i++)
        if (view_at(g[i].v, k))
            site[sites++] = view_at(g[i].v, k)->site;
    const struct align_entry *before = entry_before(v, n, k);
    if (before)
        site[sites++] = before->site;
    free(ranks);
    return sites;
}

void text_verdict(const struct align_view *v, int n, uint32_t k, const char *name,
                  void (*site)(uint64_t id, char *buf, size_t len), struct align_text *out)
{
    struct alike g[GROUPS];
    int *ranks = malloc((size_t)(n ? n : 1) * sizeof *ranks);
    memset(out, 0, sizeof *out);
    if (!ranks) {
        snprintf(out->brief, sizeof out->brief, "collective calls differ on %s, call %u", name, k);
        snprintf(out->line[out->n++], TEXT_LINE, "collective calls differ on %s, call %u", name, k);
        return;
    }
    int groups = make_groups(v, n, k, g, ranks);
    char what[120];
    int types = title(g, groups, k, what, sizeof what);
    snprintf(out->line[out->n++], TEXT_LINE, "%s on %s, call %u:", what, name, k);
    size_t at = add(out->brief, sizeof out->brief, 0, what);
    at = add(out->brief, sizeof out->brief, add(out->brief, sizeof out->brief, at, " on "), name);
    for (int i = 0; i < groups; i++) {
        char *line = out->line[out->n++], squeezed[TEXT_LINE];
        size_t to = 0;
        group_line(&g[i], k, types, site, line, TEXT_LINE);
        for (const char *p = line + 2; *p; p++) /* columns are for several lines */
            if (*p != ' ' || (p[1] && p[1] != ' '))
                squeezed[to++] = *p;
        squeezed[to] = 0;
        at = add(out->brief, sizeof out->brief, at, i ? "; " : ": ");
        at = add(out->brief, sizeof out->brief, at, squeezed);
    }
    last_alike(v, n, k, site, out->line[out->n++], TEXT_LINE);
    free(ranks);
}
