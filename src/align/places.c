/* places.c - equal calls that come from different lines of the program
 * (MPIR_CVAR_COLL_CHECK_PLACES). Start with places_look().
 *
 * Legal programs do this, so it is a hint: it is printed, and no finding. A line that is not known
 * is not compared: two addresses may be one line. */
#include <stdlib.h>
#include <string.h>

#include "align/align_types.h"
#include "base/hash.h"
#include "base/log.h"

enum { PLACES = 6, REPORTS_MAX = 32 /* of a process */, LINE = 80 };

struct place {
    const struct align_entry *e;
    char line[LINE];
};

/* The places of call k, each address once; 0: nothing is to be said of them. */
static int addresses(const struct align_view *v, int n, uint32_t k, struct place *p)
{
    int many = 0;
    for (int i = 0; i < n; i++) {
        const struct align_entry *e = view_at(&v[i], k);
        int j = 0;
        if (!e->site || e->site >> SITE_OFFSET != view_at(v, k)->site >> SITE_OFFSET)
            return 0; /* another program */
        while (j < many && p[j].e->site != e->site)
            j++;
        if (j == PLACES)
            return 0;
        if (j == many)
            p[many++].e = e;
    }
    return many > 1 ? many : 0;
}

/* wait: until addr2line has answered. 0: not all are known yet. */
static int find_lines(struct place *p, int n, int wait)
{
    int known = 1;
    for (int i = 0; i < n; i++)
        known &= site_lookup(p[i].e->site) | wait; /* each is asked for, which keeps its line */
    for (int i = 0; known && i < n; i++)
        (wait ? site_text : site_text_known)(p[i].e->site, p[i].line, LINE);
    return known;
}

/* Which of the places have a line that no place before them has; how many. */
static int lines_of_all(const struct place *p, int n, int *which)
{
    int many = 0;
    for (int i = 0; i < n; i++) {
        int j = 0;
        if (!strchr(p[i].line, ':'))
            return 0;
        while (j < many && strcmp(p[which[j]].line, p[i].line) != 0)
            j++;
        if (j == many)
            which[many++] = i;
    }
    return many;
}

static int is_reported(const struct place *p, const int *which, int n)
{
    struct map *told = &proc->check->hints;
    uint64_t key = 0;
    for (int i = 0; i < n; i++) /* in any order */
        key += hash_bytes(HASH_BYTES, p[which[i]].line, strlen(p[which[i]].line));
    if (told->count >= REPORTS_MAX || map_get(told, key | 1))
        return 1;
    map_put(told, key | 1, told);
    return 0;
}

static const char *line_of(const struct place *p, int n, const struct align_entry *e)
{
    int i = 0;
    while (i < n && p[i].e->site != e->site)
        i++;
    return i < n ? p[i].line : "";
}

static void report_places(struct align *a, const struct align_view *v, int n, uint32_t k,
                          const struct place *p, int places, const int *which, int lines)
{
    int *ranks = malloc((size_t)n * sizeof *ranks);
    if (!ranks)
        return;
    align_rename(a);
    log_warn("hint: equal calls come from different places on %s, call %u:", a->name, k);
    for (int i = 0; i < lines; i++) {
        const struct place *one = &p[which[i]];
        char call[96], line[TEXT_LINE];
        int many = 0;
        for (int j = 0; j < n; j++)
            if (!strcmp(line_of(p, places, view_at(&v[j], k)), one->line))
                ranks[many++] = v[j].rank;
        text_call(one->e, call, sizeof call);
        text_group(v->between, ranks, many, call, one->line, line, sizeof line);
        log_warn("%s", line);
    }
    free(ranks);
}

int places_look(struct align *a, const struct align_view *v, int n, int wait)
{
    uint32_t from = a->placed + 1, to = UINT32_MAX;
    for (int i = 0; i < n; i++) {
        from = v[i].first > from ? v[i].first : from;
        to = v[i].calls < to ? v[i].calls : to;
    }
    for (uint32_t k = from; k <= to; k++) {
        struct place p[PLACES];
        int which[PLACES], places = addresses(v, n, k, p);
        if (places && !find_lines(p, places, wait))
            return 1;
        int lines = lines_of_all(p, places, which);
        if (lines > 1 && !is_reported(p, which, lines))
            report_places(a, v, n, k, p, places, which, lines);
        a->placed = k;
    }
    return 0;
}
