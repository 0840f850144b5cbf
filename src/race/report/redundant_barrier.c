/* redundant_barrier.c - fences, barriers and exclusive locks that nothing needed, for the advice of
 * mode full (redundant.c). Without loads and stores little could be said of them. Start with
 * race_barrier_used().
 *
 * A barrier is a collective call that ends a phase (collective.c); all processes give it the same
 * number. A pair of accesses that conflict needs
 *
 *   completed by a fence   a fence on that window, that one or a later one before the later access
 *   of two threads, with   a barrier between the two
 *   one in between
 *   else of two threads    the locks of their windows, as far as known
 *
 * It takes one that stays in any case, else the last one. So each pair keeps something that orders
 * it where all else goes. Needed in any case: what opens or closes an epoch, and what stands before
 * or behind accumulates, whose order is no race. */
#include "race/report/report.h"

#include <stdlib.h>

#include "var/var.h"

enum { MOST_PHASES = 1 << 20, WINS = 64, LOOK_BACK = 256 };
struct race_barrier_phase {
    struct race_call_site *place; /* NULL: one that is not asked about */
    uint64_t win;             /* of a fence, else 0 */
};
struct race_barriers {
    struct race_barrier_phase *began;      /* by number of the phase that it began */
    int64_t *needed;          /* bits of these */
    uint32_t n, room;
    struct race_call_site *now;   /* the candidate that this process is in */
    uint64_t now_win;
    int64_t wins;             /* bits of windows whose locks are needed */
    int unseen;                /* something may not have been seen */
};

/* Buffers name no window: their own fence is needed. */
#define NO_WINDOW UINT64_MAX

static uint32_t words(uint32_t phases)
{
    return (phases + 63) / 64;
}

static struct race_barriers *barriers(void)
{
    const struct race *r = proc->race;
    return r->runtime ? r->barriers : NULL;
}

static uint32_t phase_of(uint64_t clock)
{
    uint64_t p = clock >> RACE_PHASE_BITS;
    return p < MOST_PHASES ? (uint32_t)p : MOST_PHASES;
}

static int64_t bit_of(uint64_t win)
{
    return win ? (int64_t)(1ull << (win ^ win >> 6 ^ win >> 12) % WINS) : 0;
}

int race_barrier_init(void)
{
    struct race *r = proc->race;
    if (!cvar.race_advice || !race_is_full())
        return 0;
    r->barriers = calloc(1, sizeof *r->barriers);
    return r->barriers ? 0 : -1;
}

void race_barrier_free(void)
{
    struct race_barriers *m = proc->race->barriers;
    if (!m)
        return;
    free(m->began);
    free(m->needed);
    free(m);
    proc->race->barriers = NULL;
}

/* --- barriers --------------------------------------------------------------------------------- */

/* Room for the phase; 0: none, and nothing is said of barriers. */
static int has_room(struct race_barriers *m, uint32_t phase)
{
    if (phase < m->room)
        return 1;
    uint32_t room = m->room ? m->room : 64;
    while (room <= phase && room < MOST_PHASES)
        room *= 2;
    struct race_barrier_phase *began = phase < room ? realloc(m->began, room * sizeof *began)
                                                    : NULL;
    if (began)
        m->began = began;
    int64_t *needed = began ? realloc(m->needed, words(room) * sizeof *needed) : NULL;
    if (!needed) {
        m->unseen = 1;
        return 0;
    }
    m->needed = needed;
    for (uint32_t i = words(m->room); i < words(room); i++)
        needed[i] = 0;
    for (uint32_t i = m->room; i < room; i++)
        began[i] = (struct race_barrier_phase){0};
    m->room = room;
    return 1;
}

static void need(struct race_barriers *m, uint32_t phase)
{
    if (has_room(m, phase))
        m->needed[phase / 64] |= (int64_t)(1ull << phase % 64);
}

void race_barrier_begins(enum race_call call, const void *site, uint64_t win)
{
    struct race_barriers *m = barriers();
    struct race_call_site *p = m ? race_call_site_of(call, race_site(site)) : NULL;
    if (!p)
        return;
    if (m->now) { /* two threads: which of the two ends the phase is not told apart */
        race_call_site_needed(m->now);
        race_call_site_needed(p);
    }
    m->now = p;
    m->now_win = win;
}

void race_barrier_ended_phase(uint64_t floor)
{
    struct race_barriers *m = barriers();
    uint32_t phase = phase_of(floor);
    if (!m || !has_room(m, phase))
        return;
    m->began[phase] = (struct race_barrier_phase){m->now, m->now_win};
    m->n = phase + 1;
    m->now = NULL;
    m->now_win = 0;
}

/* One that has ended no phase may be needed. */
void race_barrier_ends(void)
{
    struct race_barriers *m = barriers();
    if (m && m->now)
        race_call_site_needed(m->now);
    if (m)
        m->now = NULL;
}

/* --- epochs ----------------------------------------------------------------------------------- */

void race_barrier_fenced(struct race_win *x, int modes)
{
    struct race_barriers *m = barriers();
    uint32_t phase = phase_of(proc->race->floor);
    if (!m)
        return;
    if (!x->last_fence || modes) /* it opens an epoch, or closes one */
        need(m, phase);
    x->last_fence = modes & MPI_MODE_NOSUCCEED ? 0 : phase;
}

/* Another kind of epoch begins, or the window goes: its last fence is needed. */
void race_barrier_no_fence(struct race_win *x)
{
    struct race_barriers *m = barriers();
    if (m && x->last_fence)
        need(m, x->last_fence);
    x->last_fence = 0;
}

void race_barrier_unseen(void)
{
    if (proc->race->barriers)
        proc->race->barriers->unseen = 1;
}

void race_barrier_locked(const struct race_win *x, const void *site)
{
    struct race_call_site *p = barriers() ? race_call_site_of(RACE_CALL_LOCK, race_site(site))
                                          : NULL;
    if (p)
        race_call_site_on(p, bit_of(x->id));
}

void race_barrier_atomic(const struct race_win *x)
{
    struct race_barriers *m = barriers();
    uint32_t phase = phase_of(proc->race->floor);
    if (!m)
        return;
    need(m, phase);
    need(m, phase + 1);
    m->wins |= bit_of(x->id);
}

/* --- pairs ------------------------------------------------------------------------------------ */

/* One of the barriers `first` to `last`, which all order the pair; of those behind the first only
 * fences on the window, if one is given. */
static void need_one(struct race_barriers *m, uint64_t win, uint32_t first, uint32_t last)
{
    uint32_t best = 0, p = last < m->n ? last : m->n ? m->n - 1 : 0;
    uint32_t end = p > first + LOOK_BACK ? p - LOOK_BACK : first;
    for (; p >= end && p; p--) {
        if (win && p != first && m->began[p].win != win)
            continue;
        if (!m->began[p].place || (uint64_t)m->needed[p / 64] >> p % 64 & 1)
            return; /* it stays */
        best = best ? best : p;
    }
    need(m, best ? best : first);
}

void race_barrier_used(const struct race_access *early, const struct race_access *late)
{
    struct race_barriers *m = barriers();
    const struct race_batch *b = early->batch;
    if (!m)
        return;
    if (!late || b->done == RACE_OPEN) { /* what becomes of it is not known */
        m->unseen = 1;
        return;
    }
    uint32_t done = phase_of(b->done), issued = phase_of(race_issued(late));
    if (b->done_call == RACE_CALL_FENCE) {
        need_one(m, b->win ? b->win : NO_WINDOW, done + 1, issued);
    } else if (b->tid == late->batch->tid) {
        return;
    } else if (done < issued) {
        need_one(m, 0, done + 1, issued);
    } else {
        m->wins |= bit_of(b->win) | bit_of(late->batch->win);
    }
}

/* --- the end ---------------------------------------------------------------------------------- */

static void windows_end(void)
{
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&proc->race->wins, &at)) != NULL;)
        race_barrier_no_fence(e->value);
}

int race_barrier_judge(int64_t *wins)
{
    struct race *r = proc->race;
    struct race_barriers *m = r->barriers;
    struct comm *world = proc->obj->world;
    if (!m)
        return 1;
    windows_end();
    int64_t v[2] = {m->unseen || !r->runtime || r->shadow.n.lost, m->n};
    if (coll_allreduce_i64(v, 2, COLL_MAX, world) || v[0])
        return 1;
    int64_t some = has_room(m, (uint32_t)v[1]);
    if (coll_allreduce_i64(&some, 1, COLL_MIN, world) || !some)
        return 1;
    if (coll_allreduce_i64(m->needed, (int)words((uint32_t)v[1] + 1), COLL_BOR, world) ||
        coll_allreduce_i64(&m->wins, 1, COLL_BOR, world))
        return 1;
    for (uint32_t p = 0; p < m->n; p++)
        if (m->began[p].place && (uint64_t)m->needed[p / 64] >> p % 64 & 1)
            race_call_site_needed(m->began[p].place);
    *wins = m->wins;
    return 0;
}
