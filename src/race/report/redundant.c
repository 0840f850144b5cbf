/* redundant.c - completions that nothing needed, by place (MPIR_CVAR_RACE_ADVICE=1): flushes, and
 * what redundant_barrier.c has found of fences, barriers and locks. Start with race_advice_done()
 * and race_advice_used().
 *
 *   origin:  a flush is needed if others may acquire its end before a later call completes the same
 *            operations: the thread sends, enters a barrier, gives up a lock, or accumulates
 *   owner:   it is needed if it orders two accesses that conflict otherwise, and no later call
 *            that happens before the later access completed operations of that thread
 *
 * Both are put together at MPI_Finalize. What is not known counts as needed. */
#include "race/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "boot/boot.h"
#include "var/var.h"

enum { AT_TARGET = 1, HERE = 2, MOST = 4096 };
struct race_call_site {
    uint64_t site, runs;
    int64_t wins;        /* bits of windows: redundant_barrier.c */
    uint32_t call, used; /* used: bits of the above */
};
struct ends { /* of operations of one thread on one window: clocks, ascending */
    uint64_t *at;
    uint32_t n, room;
};
struct race_advice {
    struct map places;
    struct map ends;     /* window and thread */
    struct race_call_site **late; /* flushes behind which nothing has completed the same again */
    struct race_target **late_at;
    uint32_t n, room;
    int full;            /* something was left out: no advice */
};

static int is_flush(unsigned call)
{
    return call >= RACE_CALL_FLUSH && call <= RACE_CALL_FLUSH_LOCAL_ALL;
}

static int is_local(unsigned call)
{
    return call == RACE_CALL_FLUSH_LOCAL || call == RACE_CALL_FLUSH_LOCAL_ALL;
}

static struct race_call_site *call_site_of(struct race_advice *a, uint64_t site, unsigned call)
{
    uint64_t key = (site << 8 ^ site >> 56) ^ call;
    struct race_call_site *p = map_get(&a->places, key);
    if (p && (p->site != site || p->call != call)) {
        a->full = 1;
        return NULL;
    }
    if (p)
        return p;
    p = a->places.count < MOST ? calloc(1, sizeof *p) : NULL;
    if (!p || map_put(&a->places, key, p)) {
        free(p);
        a->full = 1;
        return NULL;
    }
    *p = (struct race_call_site){.site = site, .call = call};
    return p;
}

struct race_call_site *race_call_site_of(enum race_call call, uint64_t site)
{
    struct race_call_site *p = call_site_of(proc->race->advice, site, call);
    if (p)
        p->runs++;
    return p;
}

void race_call_site_needed(struct race_call_site *p)
{
    p->used |= AT_TARGET;
}

void race_call_site_on(struct race_call_site *p, int64_t wins)
{
    p->wins |= wins;
}

int race_advice_init(void)
{
    struct race *r = proc->race;
    if (!cvar.race_advice)
        return 0;
    r->advice = calloc(1, sizeof *r->advice);
    if (!r->advice)
        return -1;
    map_init(&r->advice->places);
    map_init(&r->advice->ends);
    return 0;
}

void race_advice_free(void)
{
    struct race_advice *a = proc->race->advice;
    size_t at = 0;
    if (!a)
        return;
    for (struct map_entry *e; (e = map_next(&a->places, &at)) != NULL;)
        free(e->value);
    at = 0;
    for (struct map_entry *e; (e = map_next(&a->ends, &at)) != NULL;) {
        struct ends *x = e->value;
        free(x->at);
        free(x);
    }
    map_destroy(&a->places);
    map_destroy(&a->ends);
    free(a->late);
    free(a->late_at);
    free(a);
    proc->race->advice = NULL;
}

/* What is completed again needs no earlier completion. */
static void discard(struct race_advice *a, const struct race_target *t)
{
    for (uint32_t i = 0; i < a->n;)
        if (a->late_at[i] == t) {
            a->n--;
            a->late[i] = a->late[a->n];
            a->late_at[i] = a->late_at[a->n];
        } else {
            i++;
        }
}

static int make_room(struct race_advice *a)
{
    if (a->n < a->room)
        return 1;
    uint32_t room = a->room ? 2 * a->room : 16;
    struct race_call_site **late = realloc(a->late, room * sizeof *late);
    if (late)
        a->late = late;
    struct race_target **at = late ? realloc(a->late_at, room * sizeof *at) : NULL;
    if (!at)
        return 0;
    a->late_at = at;
    a->room = room;
    return 1;
}

void race_advice_done(struct race_target *t, enum race_call call, uint64_t site)
{
    struct race_advice *a = proc->race->advice;
    int has_work = t->left.count || !list_empty(&t->pending);
    if (!a)
        return;
    if (!is_local(call))
        discard(a, t);
    struct race_call_site *p = is_flush(call) ? call_site_of(a, site, call) : NULL;
    if (!p || is_local(call) || !has_work)
        return;
    if (!make_room(a)) {
        p->used |= AT_TARGET;
        return;
    }
    a->late[a->n] = p;
    a->late_at[a->n++] = t;
}

void race_advice_run(enum race_call call, uint64_t site)
{
    struct race_advice *a = proc->race->advice;
    struct race_call_site *p = a && is_flush(call) ? call_site_of(a, site, call) : NULL;
    if (p)
        p->runs++;
}

void race_advice_release(void)
{
    struct race_advice *a = proc->race->advice;
    for (uint32_t i = 0; a && i < a->n; i++)
        a->late[i]->used |= AT_TARGET;
    if (a)
        a->n = 0;
}

void race_advice_gone(const struct race_target *t)
{
    if (proc->race->advice)
        discard(proc->race->advice, t);
}

static struct ends *ends_of(struct race_advice *a, const struct race_batch *b)
{
    return map_get(&a->ends, b->win << 24 ^ b->tid);
}

/* What is left out makes earlier completions needed. */
void race_advice_came(const struct race_access *r)
{
    struct race_advice *a = proc->race->advice;
    const struct race_batch *b = r->batch;
    if (!a || b->done == RACE_OPEN || b->done_by || !b->win)
        return;
    struct ends *x = ends_of(a, b);
    if (!x) {
        x = calloc(1, sizeof *x);
        if (!x || map_put(&a->ends, b->win << 24 ^ b->tid, x)) {
            free(x);
            return;
        }
    }
    if (x->n && x->at[x->n - 1] >= b->done)
        return;
    if (VEC_FITS(x->at, x->room, x->n + 1, 16))
        x->at[x->n++] = b->done;
}

/* Has the thread of `early` completed something later that happens before `late`? */
static int is_completed_again(struct race_advice *a, const struct race_access *early,
                              const struct race_access *late)
{
    const struct race_batch *b = early->batch;
    const struct ends *x = late && b->win && !b->done_by ? ends_of(a, b) : NULL;
    uint64_t seen = x ? race_seen_clock(late, b->tid) : 0;
    uint32_t low = 0, high = x ? x->n : 0;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (x->at[mid] <= seen)
            low = mid + 1;
        else
            high = mid;
    }
    return low && x->at[low - 1] > b->done;
}

void race_advice_used(const struct race_access *early, const struct race_access *late)
{
    struct race_advice *a = proc->race->advice;
    const struct race_batch *b = early->batch;
    struct race_call_site *p = NULL;
    if (a && is_flush(b->done_call) && !(late && race_is_noted(early, late)))
        p = call_site_of(a, b->done_site, b->done_call);
    if (!p)
        return;
    if (early->effect.flags & RACE_BUFFER)
        p->used |= HERE;
    else if (!is_completed_again(a, early, late))
        p->used |= AT_TARGET;
}

/* --- the end ---------------------------------------------------------------------------------- */

static void print_barrier_advice(const struct race_call_site *p)
{
    char at[160];
    race_site_text(p->site, at, sizeof at);
    race_line("advice: %s%s%s, %llu time%s: %s (this run)", race_call_text(p->call, p->site),
              *at ? " at " : "", at, (unsigned long long)p->runs, p->runs == 1 ? "" : "s",
              p->call == RACE_CALL_LOCK
                  ? "nothing needed it to be exclusive; MPI_LOCK_SHARED would do"
                  : "no access to a window or buffer needed it");
}

static void print_advice(const struct race_call_site *p)
{
    char at[160];
    int here = !race_is_full() || p->used & HERE; /* loads and stores may not be seen */
    const char *instead = ", nor here";
    if (portable_front_call(p->site)) /* what calls of SHMEM complete is theirs to say */
        return;
    if (!p->runs || p->used & AT_TARGET || (here && is_local(p->call)))
        return;
    if (!is_flush(p->call)) {
        print_barrier_advice(p);
        return;
    }
    if (here)
        instead = p->call == RACE_CALL_FLUSH ? "; MPI_Win_flush_local would do"
                                             : "; MPI_Win_flush_local_all would do";
    race_site_text(p->site, at, sizeof at);
    race_line("advice: %s%s%s, %llu time%s: nothing at the target needed it%s (this run)",
              race_call_text(p->call, p->site), *at ? " at " : "", at,
              (unsigned long long)p->runs, p->runs == 1 ? "" : "s", instead);
}

static int by_site(const void *a, const void *b)
{
    const struct race_call_site *x = a, *y = b;
    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    return (int)x->call - (int)y->call;
}

/* list: n places of all processes */
static void judge(struct race_call_site *list, size_t n)
{
    qsort(list, n, sizeof *list, by_site);
    for (size_t i = 0; i < n; i++) {
        if (i + 1 < n && !by_site(&list[i], &list[i + 1])) {
            list[i + 1].runs += list[i].runs;
            list[i + 1].used |= list[i].used;
        } else if (list[i].call) {
            print_advice(&list[i]);
        }
    }
}

static void judge_barriers(struct race_advice *a)
{
    int64_t wins = 0;
    int unseen = race_barrier_judge(&wins);
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&a->places, &at)) != NULL;) {
        struct race_call_site *p = e->value;
        if (!is_flush(p->call) && (unseen || p->wins & wins))
            p->used |= AT_TARGET;
    }
}

void race_advice_print(void)
{
    struct race_advice *a = proc->race->advice;
    struct comm *world = proc->obj->world;
    int64_t v[2];
    if (!a)
        return;
    judge_barriers(a);
    v[0] = (int64_t)a->places.count;
    v[1] = a->full || proc->race->shadow.n.lost;
    if (coll_allreduce_i64(v, 2, COLL_MAX, world))
        return;
    if (v[1] && !race_rank())
        race_line("advice: none, since not everything was kept (MPIR_CVAR_RACE_MEM)");
    if (v[1] || !v[0])
        return;
    size_t each = (size_t)v[0], size = (size_t)world->size, n = 0, at = 0;
    struct race_call_site *mine = calloc(each, sizeof *mine),
                          *all = calloc(each * size, sizeof *all);
    for (struct map_entry *e; mine && (e = map_next(&a->places, &at)) != NULL;)
        mine[n++] = *(const struct race_call_site *)e->value;
    v[0] = mine && all;
    int err = coll_allreduce_i64(v, 1, COLL_MIN, world);
    if (!err && v[0] && !coll_allgather_bytes(mine, all, each * sizeof *mine, world) &&
        !race_rank())
        judge(all, each * size);
    free(mine);
    free(all);
}
