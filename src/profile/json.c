/* json.c - the same as the page, for programs: everything that the page has room for. Start with
 * profile_json_print(). */
#include "base/json_char.h"
#include "profile/profile_types.h"

static void put_string(struct profile_text *out, const char *s)
{
    char c[JSON_CHAR];
    profile_put(out, "\"");
    while (*s)
        profile_put(out, "%s", json_next(&s, c));
    profile_put(out, "\"");
}

static void put_number(struct profile_text *out, const char *name, uint64_t v, const char *end)
{
    profile_put(out, "\"%s\": %llu%s", name, (unsigned long long)v, end);
}

static void put_rows(const struct profile_page *p, struct profile_text *out)
{
    profile_put(out, "  \"rows\": [");
    for (uint32_t i = 0; i < p->rows; i++) {
        const struct profile_row *r = &p->row[i];
        profile_put(out, "%s\n    {\"rank\": %d, ", i ? "," : "", r->rank);
        put_number(out, "run_ns", r->run, ", ");
        put_number(out, "computing_ns", r->computing, ", ");
        put_number(out, "working_ns", r->working, ", ");
        put_number(out, "waiting_ns", r->waiting, "}");
    }
    profile_put(out, "],\n");
}

static void put_peers(const struct profile_wait *w, struct profile_text *out)
{
    const char *comma = "", *what = w->why == WHY_NOTIFY ? "counter" : "rank";
    profile_put(out, w->why == WHY_NOTIFY ? "\"counters\": [" : "\"awaited\": [");
    for (int i = 0; i < PROFILE_PEERS; i++)
        if (w->peer[i].ns) {
            profile_put(out, "%s{\"%s\": %d, \"ns\": %llu}", comma, what, w->peer[i].rank,
                        (unsigned long long)w->peer[i].ns);
            comma = ", ";
        }
    profile_put(out, "]");
}

static void put_waits(const struct profile_page *p, struct profile_text *out)
{
    profile_put(out, "  \"waits\": [");
    for (uint32_t i = 0; i < p->waits; i++) {
        const struct profile_wait *w = &p->wait[i];
        char win[48];
        profile_win_text(p, w->win, win, sizeof win);
        profile_put(out, "%s\n    {\"reason\": ", i ? "," : "");
        put_string(out, profile_why_text(w));
        profile_put(out, ", \"call\": ");
        put_string(out, w->call);
        profile_put(out, ", \"place\": ");
        put_string(out, w->place);
        profile_put(out, ", \"window\": ");
        put_string(out, win);
        profile_put(out, ", ");
        put_number(out, "waits", w->n, ", ");
        put_number(out, "ns", w->ns, ", ");
        put_number(out, "max_ns", w->max, ", ");
        profile_put(out, "\"max_rank\": %d, \"late_rank\": %d, \"ranks\": %u, ", w->max_rank,
                    profile_late_rank(p, w), w->ranks);
        put_peers(w, out);
        profile_put(out, "}");
    }
    profile_put(out, "],\n");
}

/* "calls" is 0 for ranks that do not count: "counted_ranks" do. */
static void put_calls(const struct profile_page *p, struct profile_text *out)
{
    profile_put(out, "  \"counted_ranks\": %u,\n  \"calls\": [", p->counted);
    for (uint32_t i = 0; i < p->calls; i++) {
        const struct profile_call *c = &p->call[i];
        profile_put(out, "%s\n    {\"call\": ", i ? "," : "");
        put_string(out, c->call);
        profile_put(out, ", \"place\": ");
        put_string(out, c->place);
        profile_put(out, ", ");
        put_number(out, "calls", c->calls, ", ");
        put_number(out, "waits", c->waits, ", ");
        put_number(out, "ns", c->ns, ", ");
        put_number(out, "max_ns", c->max, ", ");
        profile_put(out, "\"max_rank\": %d}", c->waits ? c->max_rank : -1);
    }
    profile_put(out, "],\n");
}

static void put_wins(const struct profile_page *p, struct profile_text *out)
{
    profile_put(out, "  \"windows\": [");
    for (uint32_t i = 0; i < p->wins; i++) {
        const struct profile_win *w = &p->win[i];
        profile_put(out, "%s\n    {\"name\": ", i ? "," : "");
        put_string(out, w->name);
        profile_put(out, ", \"kind\": \"%s\", \"size\": %d", w->id ? profile_flavor(w->flavor) : "",
                    w->size);
        if (w->locks.n) {
            profile_put(out, ", \"locks\": {");
            put_number(out, "n", w->locks.n, ", ");
            put_number(out, "held_ns", w->locks.ns, ", ");
            put_number(out, "waits", w->locks.waits, ", ");
            put_number(out, "seen_ns", w->locks.seen, ", ");
            put_number(out, "seen_outside_ns", w->locks.seen_outside, "}");
        }
        for (int k = 0; k < PVAR_COUNT; k++)
            if (pvar_table[k].bind == PVAR_WIN && w->v[k])
                profile_put(out, ", \"%s\": %llu", pvar_table[k].name, (unsigned long long)w->v[k]);
        profile_put(out, "}");
    }
    profile_put(out, "],\n");
}

void profile_json_print(const struct profile_page *p, const char *program, struct profile_text *out)
{
    struct profile_advice advice[PROFILE_ADVICE];
    int n = profile_advise(p, advice);
    profile_put(out, "{\n  \"program\": ");
    put_string(out, program);
    if (*p->incomplete) {
        profile_put(out, ", \"incomplete\": ");
        put_string(out, p->incomplete);
    }
    profile_put(out, ", \"ranks\": %d, \"cores\": %d, \"host_ranks\": %d,\n  ", p->ranks, p->cores,
                p->host_ranks);
    put_number(out, "run_ns", p->run, ", ");
    put_number(out, "all_run_ns", p->all_run, ", ");
    put_number(out, "computing_ns", p->computing, ", ");
    put_number(out, "working_ns", p->working, ", ");
    put_number(out, "waiting_ns", p->waiting, ", ");
    put_number(out, "delayed_ns", p->delayed, ",\n");
    put_rows(p, out);
    put_waits(p, out);
    put_calls(p, out);
    put_wins(p, out);
    profile_put(out, "  \"advice\": [");
    for (int i = 0; i < n; i++) {
        profile_put(out, "%s\n    {\"cause\": \"%s\", \"evidence\": ", i ? "," : "",
                    advice[i].cause);
        put_string(out, advice[i].evidence);
        profile_put(out, ", \"remedy\": ");
        put_string(out, advice[i].remedy);
        profile_put(out, "}");
    }
    profile_put(out, "]\n}\n");
}
