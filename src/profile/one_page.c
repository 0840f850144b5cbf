/* one_page.c - the page: at most PROFILE_LINES lines for any number of ranks. Start with
 * profile_page_print(). */
#include "profile/profile_types.h"

#include <stdio.h>
#include <string.h>

enum { WHYS = 9, WINS = 4, CALLS = 6, FEW = 7 /* rows where there are more ranks than rows */ };

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static double percent(uint64_t part, uint64_t all)
{
    return all ? 100.0 * (double)part / (double)all : 0;
}

static void put_row(const struct profile_row *r, const char *note, struct profile_text *out)
{
    profile_put(out, " rank %-6d %4.0f %%  %4.0f %%  %4.0f %%   %.*s%s\n", r->rank,
                percent(r->computing, r->run), percent(r->working, r->run),
                percent(r->waiting, r->run), (int)strnlen(r->strip, PROFILE_STRIP), r->strip, note);
}

static void put_rows(const struct profile_page *p, struct profile_text *out)
{
    uint32_t n = p->rows, all = (uint32_t)p->ranks <= PROFILE_ROWS;
    profile_put(out, " %-11s %6s  %6s  %6s   # computing  + working in MPI  . waiting\n", "",
                "busy", "in MPI", "waits");
    for (uint32_t i = 0; i < n; i++) {
        int most = i < 3, least = i + 3 >= n, median = i == n / 2;
        if (!all && !most && !least && !median)
            continue;
        put_row(&p->row[i],
                all      ? ""
                : most   ? "  computes most"
                : median ? "  median"
                         : "  computes least",
                out);
    }
    profile_put(out, " all %-7d %4.0f %%  %4.0f %%  %4.0f %%\n", p->ranks,
                percent(p->computing, p->all_run), percent(p->working, p->all_run),
                percent(p->waiting, p->all_run));
}

static void put_whys(const struct profile_page *p, struct profile_text *out)
{
    profile_put(out, " WHY RANKS WAITED             seconds  %% of run  %-22s where\n",
                "waited for");
    if (!p->waits)
        profile_put(out, " (no call waited)\n");
    for (uint32_t i = 0; i < p->waits && i < WHYS; i++) {
        const struct profile_wait *w = &p->wait[i];
        char awaited[64], where[160];
        profile_awaited(p, w, awaited, sizeof awaited);
        profile_where(w->place, w->call, where, sizeof where);
        profile_put(out, " %-28s %7.3f  %6.1f %%  %-22s %s\n", profile_why_text(w), seconds(w->ns),
                    percent(w->ns, p->all_run), awaited, where);
    }
}

static const char *route_of(const struct profile_win *w, double *share)
{
    static const struct {
        enum pvar_id id;
        const char *name;
    } routes[] = {{PVAR_RMA_MAPPED, "load and store"},
                  {PVAR_RMA_CMA, "process_vm"},
                  {PVAR_RMA_NATIVE, "network's own"},
                  {PVAR_RMA_AM, "message"}};
    uint64_t all = 0;
    int best = 0;
    for (int i = 0; i < 4; i++) {
        all += w->v[routes[i].id];
        best = w->v[routes[i].id] > w->v[routes[best].id] ? i : best;
    }
    *share = percent(w->v[routes[best].id], all);
    return all ? routes[best].name : "-";
}

uint64_t profile_ops(const struct profile_win *w)
{
    return w->v[PVAR_RMA_PUT] + w->v[PVAR_RMA_GET] + w->v[PVAR_RMA_ACC] + w->v[PVAR_RMA_GACC] +
           w->v[PVAR_RMA_FOP] + w->v[PVAR_RMA_CAS];
}

static void put_pools(const struct profile_win *w, struct profile_text *out)
{
    char dry[32];
    uint64_t n = w->v[PVAR_RMA_OPS_DRY] + w->v[PVAR_RMA_TARGETS_DRY];
    profile_count((double)n, dry, sizeof dry);
    if (n)
        profile_put(
            out,
            "   pools: operations %llu used at most, targets %llu; dry %s times, %llu evicted, "
            "lock_all gave up %llu\n",
            (unsigned long long)w->v[PVAR_RMA_OPS_HIGH],
            (unsigned long long)w->v[PVAR_RMA_TARGETS_HIGH], dry,
            (unsigned long long)w->v[PVAR_RMA_EVICTIONS],
            (unsigned long long)w->v[PVAR_RMA_SWITCHES]);
}

static void put_locks(const struct profile_win *w, struct profile_text *out)
{
    const struct profile_locks *l = &w->locks;
    char n[32], waits[32];
    profile_count((double)l->n, n, sizeof n);
    profile_count((double)l->waits, waits, sizeof waits);
    if (!l->n)
        return;
    profile_put(out, "   locks: %s, %s waits for them; held %.1f us at the mean", n, waits,
                (double)l->ns / (double)l->n / 1e3);
    if (l->seen)
        profile_put(out, ", %.0f %% of it outside MPI", percent(l->seen_outside, l->seen));
    profile_put(out, "\n");
}

static void put_win(const struct profile_page *p, const struct profile_win *w,
                    struct profile_text *out)
{
    char name[48], bytes[32], ops[32];
    double share;
    const char *route = route_of(w, &share);
    profile_win_text(p, w->id, name, sizeof name);
    profile_bytes((double)w->v[PVAR_RMA_BYTES], bytes, sizeof bytes);
    profile_count((double)profile_ops(w), ops, sizeof ops);
    profile_put(out, " %-24.24s %-9s %11s %9s  %3.0f %% %-15s %6.2f %6.2f %6.2f %6.2f %6.2f\n",
                w->id ? name : w->name, w->id ? profile_flavor(w->flavor) : "", ops, bytes, share,
                route, seconds(w->v[PVAR_RMA_WAIT_LOCK]), seconds(w->v[PVAR_RMA_WAIT_FENCE]),
                seconds(w->v[PVAR_RMA_WAIT_POST] + w->v[PVAR_RMA_WAIT_COMPLETE]),
                seconds(w->v[PVAR_RMA_WAIT_FLUSH]), seconds(w->v[PVAR_RMA_WAIT_POOL]));
    put_locks(w, out);
    put_pools(w, out);
}

static void put_wins(const struct profile_page *p, struct profile_text *out)
{
    if (!p->wins)
        return;
    profile_put(out, " %-24s %-9s %11s %9s  %-21s %6s %6s %6s %6s %6s\n", "WINDOWS (waits: s)",
                "kind", "operations", "bytes", "  route", "lock", "fence", "pscw", "flush",
                "pools");
    for (uint32_t i = 0; i < p->wins && i < WINS; i++)
        put_win(p, &p->win[i], out);
}

/* Where not all ranks load the library that counts, nothing is said of calls that did not wait. */
static void put_calls(const struct profile_page *p, struct profile_text *out)
{
    int all = p->counted == (uint32_t)p->ranks;
    if (!p->calls)
        return;
    profile_put(out, " %-40s %9s %9s %9s %9s %9s  %s\n",
                all ? "CALLS (times: of their waits)" : "CALLS THAT WAITED", "calls", "waits",
                "total s", "mean us", "max us", "rank of max");
    for (uint32_t i = 0; i < p->calls && i < CALLS; i++) {
        const struct profile_call *c = &p->call[i];
        char where[160], n[32], waits[32], max[32], rank[16];
        profile_where(c->place, c->call, where, sizeof where);
        profile_count((double)c->calls, n, sizeof n);
        profile_count((double)c->waits, waits, sizeof waits);
        profile_count((double)c->max / 1e3, max, sizeof max);
        snprintf(rank, sizeof rank, "%d", c->max_rank);
        profile_put(out, " %-40.60s %9s %9s %9.3f %9.1f %9s  %s\n", where, all ? n : "-", waits,
                    seconds(c->ns), c->waits ? (double)c->ns / (double)c->waits / 1e3 : 0.0, max,
                    c->waits ? rank : "-");
    }
}

void profile_page_print(const struct profile_page *p, const char *program, struct profile_text *out)
{
    struct profile_advice advice[PROFILE_ADVICE];
    int n = profile_advise(p, advice);
    profile_put(out, "== where the time went: %.60s, %d rank%s, %d on a host of %d cores, %.3f s\n",
                program, p->ranks, p->ranks == 1 ? "" : "s", p->host_ranks, p->cores,
                seconds(p->run));
    if (*p->incomplete)
        profile_put(out, " %s\n", p->incomplete);
    else if (p->missing)
        profile_put(out, " (%u processes or groups of them are missing: they failed)\n",
                    p->missing);
    put_rows(p, out);
    put_whys(p, out);
    put_wins(p, out);
    put_calls(p, out);
    profile_put(out, n ? " ADVICE\n" : " ADVICE: none\n");
    for (int i = 0; i < n; i++)
        profile_put(out, " %d. %s\n    %s\n", i + 1, advice[i].evidence, advice[i].remedy);
}
