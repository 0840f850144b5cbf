/* report.c - which pairs of accesses are reported, and when: once for each pair of places.
 * print.c has the text. Start with race_report(). */
#include "race/report/report.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "boot/boot.h"
#include "dt/dt.h"
#include "var/var.h"

enum { MOST_UNDECIDED = 1024 };

/* Was this pair of places reported before? */
static int is_known(const struct race_conflict *f)
{
    struct race *r = proc->race;
    uint64_t a = hash_mix(f->old->site, (uint64_t)f->old->effect.kind | 64);
    uint64_t b = hash_mix(f->now->site, (uint64_t)f->now->effect.kind | 64);
    uint64_t key = hash_mix(a < b ? hash_mix(1, a) : hash_mix(1, b), a < b ? b : a) | 1;
    key = hash_mix(key, (uint64_t)f->rule << 1 | (f->possible != 0));
    if (map_get(&r->pairs, key))
        return 1;
    map_put(&r->pairs, key, r);
    return 0;
}

/* It was found `count` times. */
static void report(const struct race_conflict *f, uint32_t count)
{
    struct race *r = proc->race;
    pvar_set_add(pvar_proc(), f->possible                  ? PVAR_RACE_POSSIBLE
                              : race_rule_is_value(f->rule) ? PVAR_RACE_VALUE
                                                            : PVAR_RACE_FOUND, count);
    race_graph_race(f);
    if (is_known(f))
        return;
    if (f->possible) {
        r->possible++;
        if (!cvar.race_possible)
            return;
    } else if (race_rule_is_value(f->rule)) {
        if (!cvar.race_value)
            return;
        r->values++;
    } else {
        r->races++;
    }
    r->exit->found = 1;
    if (r->reported++ < (uint64_t)cvar.race_reports)
        race_print_later(f);
}

/* What the verdict about a pair may depend on is the same for the two. */
static int same_access(const struct race_access *a, const struct race_access *b)
{
    int same_call = a->site == b->site && a->effect.kind == b->effect.kind && a->call == b->call;
    return same_call && a->batch->tid == b->batch->tid && a->batch->win == b->batch->win &&
           a->batch->atomics == b->batch->atomics &&
           race_issued(a) >> RACE_PHASE_BITS == race_issued(b) >> RACE_PHASE_BITS;
}

/* A pair in a loop waits once. */
static int is_queued(const struct race_conflict *f)
{
    struct race *r = proc->race;
    for (struct list *l = r->undecided.next; l != &r->undecided; l = l->next) {
        struct race_undecided *w = LIST_OBJ(l, struct race_undecided, link);
        if (w->rule != f->rule || w->count == UINT32_MAX || !same_access(&w->old, f->old) ||
            !same_access(&w->now, f->now))
            continue;
        w->count++;
        return 1;
    }
    return 0;
}

/* 0: there is no room. */
static int hold(const struct race_conflict *f)
{
    struct race *r = proc->race;
    if (is_queued(f))
        return 1;
    struct race_undecided *w = r->nundecided < MOST_UNDECIDED ? malloc(sizeof *w) : NULL;
    if (!w) {
        r->unresolved++;
        return 0;
    }
    *w = (struct race_undecided){.old = *f->old, .now = *f->now, .rule = f->rule, .count = 1};
    race_batch_ref(w->old.batch);
    race_batch_ref(w->now.batch);
    list_push(&r->undecided, &w->link);
    r->nundecided++;
    return 1;
}

static void show(enum pvar_id id, uint64_t value)
{
    atomic_store_explicit(&pvar_proc()->v[id], value, memory_order_relaxed);
}

void race_count(void)
{
    const struct race_counts *n = &proc->race->shadow.n;
    show(PVAR_RACE_TESTS, n->tests);
    show(PVAR_RACE_RECORDS, n->records);
    show(PVAR_RACE_BYTES, n->peak);
    show(PVAR_RACE_MERGED, n->merged);
    show(PVAR_RACE_CLOSED, n->closed);
    show(PVAR_RACE_LOST, n->lost);
}

void race_report_undecided(uint64_t clock, int received)
{
    struct race *r = proc->race;
    for (struct list *l = r->undecided.next, *next; l != &r->undecided; l = next) {
        struct race_undecided *w = LIST_OBJ(l, struct race_undecided, link);
        struct race_conflict f = {&w->old, &w->now, w->rule, 0, 0};
        next = l->next;
        if (race_issued(&w->old) >= clock || race_issued(&w->now) >= clock)
            continue;
        f.possible = !received || race_may_be_lock(&r->shadow, &f);
        if (!r->off)
            report(&f, w->count);
        list_del(l);
        race_batch_drop(w->old.batch);
        race_batch_drop(w->now.batch);
        free(w);
        r->nundecided--;
    }
}

void race_report(void *arg, const struct race_conflict *f)
{
    struct race_conflict now = *f;
    (void)arg;
    if (proc->race->off)
        return;
    if (now.depends && hold(f))
        return;
    now.possible |= now.depends || boot_failed_count(); /* see end_phase() */
    report(&now, 1);
}

void race_ordered(void *arg, const struct race_access *early, const struct race_access *late)
{
    (void)arg;
    if (early) {
        race_advice_used(early, late);
        race_barrier_used(early, late);
    } else {
        race_advice_came(late);
    }
    if (early && late)
        race_graph_edge(early, late);
    else if (late)
        race_graph_node(late);
}

void race_summary(void)
{
    struct race *r = proc->race;
    int64_t v[6] = {(int64_t)r->races,         (int64_t)r->values,     (int64_t)r->possible,
                    (int64_t)r->shadow.n.lost, (int64_t)r->unresolved, (int64_t)r->shadow.n.closed};
    if (coll_allreduce_i64(v, 6, COLL_SUM, proc->obj->world) || race_rank())
        return;
    if (v[0] || v[1] || v[3])
        race_line("race checker: %lld race%s, %lld of uncertain value, %lld possible; "
                  "%lld accesses found no memory (MPIR_CVAR_RACE_MEM)",
                  (long long)v[0], v[0] == 1 ? "" : "s", (long long)v[1], (long long)v[2],
                  (long long)v[3]);
    if (v[5] && v[2])
        race_line("race checker: %lld possible; accesses were merged: a larger MPIR_CVAR_RACE_MEM "
                  "may show which of these are races", (long long)v[2]);
    if (v[4])
        race_line("race checker: %lld verdict%s found no room to wait for the end of the phase: "
                  "only possible", (long long)v[4], v[4] == 1 ? "" : "s");
}
