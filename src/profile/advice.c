/* advice.c - what the sums mean: a cause, its evidence, a remedy.  Each rule asks for a share of
 * the run that no chance makes; a program that is well gets no advice. Start with
 * profile_advise(). */
#include "profile/profile_types.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* Parts of the run (percent) from which a cause is worth a word. */
enum {
    POOL_FROM = 5, LOCK_FROM = 10, FLUSH_FROM = 10, LATE_FROM = 15, MESSAGE_FROM = 20,
    CORES_FROM = 30
};
/* A lock that is handed over at once costs less (ns). */
enum { LOCK_HELD_NS = 20000 };

struct view {
    const struct profile_page *p;
    struct profile_advice *out;
    int n;
};

static double share(const struct profile_page *p, uint64_t ns)
{
    return p->all_run ? 100.0 * (double)ns / (double)p->all_run : 0;
}

static double mean_us(const struct profile_wait *w)
{
    return w->n ? (double)w->ns / (double)w->n / 1e3 : 0;
}

/* NULL: it has been given, or there is no room. */
static struct profile_advice *next(struct view *v, const char *cause)
{
    for (int i = 0; i < v->n; i++)
        if (!strcmp(v->out[i].cause, cause))
            return NULL;
    int kept = v->p->crowded && strcmp(cause, "few-cores"); /* a place for it */
    if (v->n >= PROFILE_ADVICE - kept)
        return NULL;
    struct profile_advice *a = &v->out[v->n++];
    memset(a, 0, sizeof *a);
    a->cause = cause;
    return a;
}

/* Time of all waits for this reason, and the longest of them. */
static uint64_t sum_of(const struct profile_page *p, enum progress_why why,
                       const struct profile_wait **top)
{
    uint64_t ns = 0;
    *top = NULL;
    for (uint32_t i = 0; i < p->waits; i++) {
        if (p->wait[i].why != why)
            continue;
        ns += p->wait[i].ns;
        if (!*top || p->wait[i].ns > (*top)->ns)
            *top = &p->wait[i];
    }
    return ns;
}

static void pools(struct view *v)
{
    const struct profile_wait *top;
    uint64_t ns = sum_of(v->p, WHY_POOL, &top);
    const struct profile_win *w = top ? profile_win_of(v->p, top->win) : NULL;
    if (!w || share(v->p, ns) < POOL_FROM)
        return;
    struct profile_advice *a = next(v, "pool-empty");
    if (!a)
        return;
    char name[48], where[160];
    profile_win_text(v->p, top->win, name, sizeof name);
    profile_call_at(top, where, sizeof where);
    snprintf(a->evidence, sizeof a->evidence,
             "%.0f %% of the run: operations on %s waited for an element of a pool (%s). Target "
             "elements ran out %llu times, operation elements %llu times; at most %llu and %llu "
             "were in use.",
             share(v->p, ns), name, where, (unsigned long long)w->v[PVAR_RMA_TARGETS_DRY],
             (unsigned long long)w->v[PVAR_RMA_OPS_DRY],
             (unsigned long long)w->v[PVAR_RMA_TARGETS_HIGH],
             (unsigned long long)w->v[PVAR_RMA_OPS_HIGH]);
    if (w->v[PVAR_RMA_TARGETS_DRY])
        snprintf(a->remedy, sizeof a->remedy,
                 "Set MPIR_CVAR_CH3_RMA_TARGET_WIN_POOL_SIZE=%d (default 256): no epoch reaches "
                 "more targets. MPIR_CVAR_CH3_RMA_OP_WIN_POOL_SIZE=256 lets operations overlap.",
                 w->size);
    else
        snprintf(
            a->remedy, sizeof a->remedy,
            "Set MPIR_CVAR_CH3_RMA_OP_WIN_POOL_SIZE=%llu (default 256), or flush more often.",
            (unsigned long long)(w->v[PVAR_RMA_OPS_HIGH] < 64 ? 256 : 4 * w->v[PVAR_RMA_OPS_HIGH]));
}

static void locks(struct view *v)
{
    const struct profile_wait *top;
    uint64_t ns = sum_of(v->p, WHY_LOCK, &top);
    if (!top || share(v->p, ns) < LOCK_FROM || top->ns / (top->n ? top->n : 1) < LOCK_HELD_NS)
        return;
    struct profile_advice *a = next(v, "lock-convoy");
    if (!a)
        return;
    char name[48], where[160], awaited[64];
    profile_win_text(v->p, top->win, name, sizeof name);
    profile_call_at(top, where, sizeof where);
    profile_awaited(v->p, top, awaited, sizeof awaited);
    snprintf(a->evidence, sizeof a->evidence,
             "%.0f %% of the run: ranks queue for locks of %s (%s; holders: %s). A wait takes %.0f "
             "us at the mean, and a free lock less than 1: holders keep it for that long.",
             share(v->p, ns), name, where, awaited, mean_us(top));
    const struct profile_win *w = profile_win_of(v->p, top->win);
    size_t n = strlen(a->evidence);
    if (w && w->locks.n && w->locks.seen)
        snprintf(a->evidence + n, sizeof a->evidence - n,
                 " A lock was held for %.0f us at the mean, %.0f %% of it outside MPI.",
                 (double)w->locks.ns / (double)w->locks.n / 1e3,
                 100.0 * (double)w->locks.seen_outside / (double)w->locks.seen);
    snprintf(a->remedy, sizeof a->remedy,
             "Compute outside the lock, or use MPI_Accumulate under one MPI_Win_lock_all: it needs "
             "no lock of its own.");
}

static void targets(struct view *v)
{
    const struct profile_wait *top = NULL;
    uint64_t ns = 0;
    for (uint32_t i = 0; i < v->p->waits; i++)
        if (profile_target_was_busy(&v->p->wait[i])) {
            ns += v->p->wait[i].ns;
            top = top ? top : &v->p->wait[i];
        }
    if (!top || share(v->p, ns) < FLUSH_FROM)
        return;
    struct profile_advice *a = next(v, "target-computing");
    if (!a)
        return;
    char name[48], where[160], awaited[64];
    const struct profile_win *w = profile_win_of(v->p, top->win);
    profile_win_text(v->p, top->win, name, sizeof name);
    profile_call_at(top, where, sizeof where);
    profile_awaited(v->p, top, awaited, sizeof awaited);
    snprintf(a->evidence, sizeof a->evidence,
             "%.0f %% of the run: operations%s%s waited for their target (%s), %.0f us at the mean "
             "(%s). It was outside MPI and did not answer.",
             share(v->p, ns), *name ? " on " : "", name, awaited, mean_us(top), where);
    snprintf(a->remedy, sizeof a->remedy,
             "Set MPIR_CVAR_ASYNC_PROGRESS=1%s, or let the target call MPI now and then.",
             w && w->flavor == MPI_WIN_FLAVOR_ALLOCATE
                 ? ""
                 : ", or make the window by MPI_Win_allocate, which ranks of a host map");
}

/* What the kernel took from ready processes may have made any of them late. */
static void late(struct view *v)
{
    uint64_t taken = v->p->delayed;
    for (uint32_t i = 0; i < v->p->waits; i++) {
        const struct profile_wait *w = &v->p->wait[i];
        int meets = w->why == WHY_FENCE || w->why == WHY_COLLECTIVE || w->why == WHY_POST ||
                    w->why == WHY_COMPLETE;
        uint64_t ns = w->ns > taken ? w->ns - taken : 0;
        if (!meets || share(v->p, ns) < LATE_FROM)
            continue;
        char where[160], awaited[64];
        int rank = profile_late_rank(v->p, w);
        struct profile_advice *a = next(v, "late-arrival");
        if (!a)
            return;
        profile_call_at(w, where, sizeof where);
        profile_awaited(v->p, w, awaited, sizeof awaited);
        if (rank >= 0)
            snprintf(a->evidence, sizeof a->evidence,
                     "%.0f %% of the run: rank %d comes last to %s, by %.0f us at the mean; the "
                     "others wait for it.",
                     share(v->p, w->ns), rank, where, mean_us(w));
        else
            snprintf(a->evidence, sizeof a->evidence,
                     "%.0f %% of the run: ranks wait %.0f us at the mean in %s (for: %s).",
                     share(v->p, w->ns), mean_us(w), where, awaited);
        snprintf(a->remedy, sizeof a->remedy,
                 "Give ranks equal work before it%s, or wait later: a nonblocking or one-sided "
                 "call lets the early ones go on.",
                 rank >= 0 ? " (this one less)" : "");
    }
}

static void messages(struct view *v)
{
    const struct profile_wait *top;
    uint64_t ns = sum_of(v->p, WHY_MESSAGE, &top), taken = v->p->delayed;
    if (!top || share(v->p, ns > taken ? ns - taken : 0) < MESSAGE_FROM)
        return;
    struct profile_advice *a = next(v, "late-message");
    if (!a)
        return;
    char where[160], awaited[64];
    profile_call_at(top, where, sizeof where);
    profile_awaited(v->p, top, awaited, sizeof awaited);
    snprintf(a->evidence, sizeof a->evidence,
             "%.0f %% of the run: ranks wait for messages, %.0f us at the mean in %s (for: %s).",
             share(v->p, ns), mean_us(top), where, awaited);
    snprintf(a->remedy, sizeof a->remedy,
             "Send earlier, or post MPI_Irecv and compute before MPI_Wait.");
}

static void flushes(struct view *v)
{
    enum { MANY = 1000 };
    for (uint32_t i = 0; i < v->p->wins; i++) {
        const struct profile_win *w = &v->p->win[i];
        uint64_t ops = profile_ops(w), waits = w->v[PVAR_RMA_FLUSH_WAITS];
        if (!w->id || waits < MANY || (double)waits < 0.9 * (double)ops ||
            share(v->p, w->v[PVAR_RMA_WAIT_FLUSH]) < FLUSH_FROM)
            continue;
        struct profile_advice *a = next(v, "flush-of-each");
        if (!a)
            return;
        char name[48];
        profile_win_text(v->p, w->id, name, sizeof name);
        snprintf(a->evidence, sizeof a->evidence,
                 "%.0f %% of the run: %s has %llu operations and %llu flushes that waited: each "
                 "operation waits for its own answer.",
                 share(v->p, w->v[PVAR_RMA_WAIT_FLUSH]), name, (unsigned long long)ops,
                 (unsigned long long)waits);
        snprintf(a->remedy, sizeof a->remedy,
                 "Issue several operations before one flush: they travel together.");
    }
}

/* Each step of the four waits for an answer, so that the target knows of the data. */
static void flagged(struct view *v)
{
    enum { MANY = 100 };
    for (uint32_t i = 0; i < v->p->wins; i++) {
        const struct profile_win *w = &v->p->win[i];
        const struct profile_wait *at = NULL;
        if (!w->id || w->flags.n < MANY || share(v->p, w->v[PVAR_RMA_WAIT_FLUSH]) < FLUSH_FROM)
            continue;
        for (uint32_t k = 0; k < v->p->waits && !at; k++)
            if (v->p->wait[k].site == w->flags.site)
                at = &v->p->wait[k];
        struct profile_advice *a = next(v, "flush-then-flag");
        if (!a)
            return;
        char name[48], where[160] = "MPI_Win_flush";
        profile_win_text(v->p, w->id, name, sizeof name);
        if (at)
            profile_call_at(at, where, sizeof where);
        snprintf(a->evidence, sizeof a->evidence,
                 "%.0f %% of the run: flushes on %s. %s is followed by a flag for the same target, "
                 "%llu times: a put of one element, and another flush.",
                 share(v->p, w->v[PVAR_RMA_WAIT_FLUSH]), name, where,
                 (unsigned long long)w->flags.n);
        snprintf(a->remedy, sizeof a->remedy,
                 "Use MPIX_Put_notify for the data: it takes the place of both flushes and of the "
                 "flag. The target calls MPIX_Win_notify_wait.");
    }
}

static void created(struct view *v)
{
    enum { MANY = 1000 };
    for (uint32_t i = 0; i < v->p->wins; i++) {
        const struct profile_win *w = &v->p->win[i];
        uint64_t slow = w->v[PVAR_RMA_CMA] + w->v[PVAR_RMA_AM];
        if (!w->id || w->flavor != MPI_WIN_FLAVOR_CREATE || v->p->host_ranks < v->p->ranks ||
            slow < MANY || slow < w->v[PVAR_RMA_MAPPED] ||
            share(v->p, w->v[PVAR_RMA_WAIT_FLUSH]) < FLUSH_FROM)
            continue;
        struct profile_advice *a = next(v, "created-window");
        if (!a)
            return;
        char name[48];
        profile_win_text(v->p, w->id, name, sizeof name);
        snprintf(a->evidence, sizeof a->evidence,
                 "%s is made from the program's own memory, which ranks of a host cannot map: %llu "
                 "operations went by process_vm or by message.",
                 name, (unsigned long long)slow);
        snprintf(a->remedy, sizeof a->remedy,
                 "MPI_Win_allocate gives memory that they reach by load and store; or set "
                 "MPIR_CVAR_RMA_MOVE_MIN.");
    }
}

/* Beside another cause, or where ranks wait or have no core for a good part of the run: of the
 * others' sums the kernel's share is taken away, so that they may be silent. */
static void cores(struct view *v)
{
    const struct profile_page *p = v->p;
    if (!p->crowded || (!v->n && share(p, p->waiting) < CORES_FROM &&
                        share(p, p->delayed) < CORES_FROM))
        return;
    struct profile_advice *a = next(v, "few-cores");
    if (!a)
        return;
    snprintf(a->evidence, sizeof a->evidence,
             "More ranks than cores: %d ranks share %d, and ranks wait for %.0f %% of the run. An "
             "awaited rank may have no core, and a rank that sleeps needs a wake-up.",
             p->host_ranks, p->cores, share(p, p->waiting));
    snprintf(a->remedy, sizeof a->remedy,
             "Start at most as many ranks as there are cores (%d), or use more hosts.", p->cores);
}

int profile_advise(const struct profile_page *p, struct profile_advice *out)
{
    struct view v = {p, out, 0};
    pools(&v);
    locks(&v);
    targets(&v);
    late(&v);
    messages(&v);
    flagged(&v);
    flushes(&v);
    created(&v);
    cores(&v);
    return v.n;
}
