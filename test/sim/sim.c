/* sim.c - the scheduler: fibers, time, deadlock, deaths, and the checks after each step. Start
 * with sim_run(). */
#include "sim.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/env/init.h"
#include "base/sched.h"
#include "coll/coll_types.h"
#include "mem/mem_types.h"
#include "memory.h"
#include "mpi.h"
#include "obj/obj.h"
#include "p2p/p2p_types.h"
#include "rma/rma_types.h"
#include "sim_types.h"
#include "virtual.h"

struct sim *the_sim;

enum {
    STACK = 512 * 1024, QUIET_ROUNDS = 2500 /* turns of each, 1 us: a refused LOCK waits for up to 2
    ms */, A_SECOND = 1000000 /* steps: now_ns() */
};

uint64_t sim_draw_bits(struct sim *s)
{
    /* splitmix64 */
    uint64_t z = (s->rng += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

uint64_t sim_random(void)
{
    return sim_draw_bits(the_sim);
}

uint64_t sim_seed(void)
{
    return the_sim->k.seed;
}

int sim_rank(void)
{
    return the_sim->now->rank;
}

int sim_thread(void)
{
    return the_sim->now->thread;
}

long sim_sent(int rank, int type)
{
    return type < 0 ? the_sim->ranks[rank].sent_all : the_sim->ranks[rank].sent[type & 255];
}

struct sim_launcher sim_launched(int rank)
{
    return the_sim->ranks[rank].launcher;
}

long sim_received(int rank, int type)
{
    return type < 0 ? the_sim->ranks[rank].received_all : the_sim->ranks[rank].received[type & 255];
}

long sim_time(void)
{
    return the_sim->step;
}

void sim_count_sent(int rank, int type, size_t len)
{
    struct sim *s = the_sim;
    s->result.messages++;
    s->result.bytes += (long)len;
    s->ranks[rank].sent_all++;
    s->ranks[rank].sent[type & 255]++;
}

void sim_count_received(int rank, int type)
{
    the_sim->ranks[rank].received_all++;
    the_sim->ranks[rank].received[type & 255]++;
}

void (*sim_memory_off)(int off); /* set by a program that counts the memory of ranks */

void *sim_alloc(size_t len)
{
    if (sim_memory_off)
        sim_memory_off(1);
    void *p = malloc(len);
    if (sim_memory_off)
        sim_memory_off(0);
    if (!p)
        sim_fail("the simulator has no memory left");
    return p;
}

void sim_release(void *p)
{
    free(p);
}

void sim_moved(struct sim *s)
{
    s->quiet = 0;
    s->times_idle = 0;
}

void sim_event(const char *fmt, ...)
{
    struct sim *s = the_sim;
    char *line = s->history[s->events++ % 256];
    va_list ap;
    int n = snprintf(line, sizeof s->history[0], "%8ld  %d.%d  ", s->step,
                     s->now ? s->now->rank : -1, s->now ? s->now->thread : 0);
    va_start(ap, fmt);
    vsnprintf(line + n, sizeof s->history[0] - (size_t)n, fmt, ap);
    va_end(ap);
    for (const char *p = line; *p; p++)
        s->result.hash = (s->result.hash ^ (unsigned char)*p) * 0x100000001b3ull;
    if (s->k.verbose)
        printf("%s\n", line);
}

/* In which state each window of a rank is, what it holds and what it waits for there. */
static void print_windows(const struct rma *r)
{
    static const char *const held[] = {[RMA_LOCKED_SHARED] = "shared",
                                       [RMA_LOCKED_EXCLUSIVE] = "exclusive",
                                       [RMA_LOCKED_NOCHECK] = "nocheck"};
    for (const struct list *l = r->windows.next; l != &r->windows; l = l->next) {
        const struct rma_win *w = LIST_OBJ(l, struct rma_win, link);
        fprintf(stderr, "    window %#x: %s%s, %u operations, %u barriers out, %u posts awaited",
                (unsigned)w->near.obj.handle, rma_state_name(w),
                w->expo == EXPO_NONE ? "" : ", exposed", w->table.nops, w->fence.barriers,
                w->access.nwaiting);
        for (unsigned i = 0; i < w->nears; i++)
            if (w->near.near[i].lock)
                fprintf(stderr, "; holds %d %s", w->near.near[i].rank, held[w->near.near[i].lock]);
        for (const struct rma_target *t = rma_target_next(w, NULL); t; t = rma_target_next(w, t))
            fprintf(stderr, "; target %d: %s%s, %u of %u operations to send, %u answers awaited",
                    t->rank, rma_target_state_name(t),
                    t->flags & TARGET_REFUSED ? " (refused)" : "", t->queued, t->nops,
                    t->tokens_out);
        size_t cursor = 0;
        for (const struct map_entry *e; (e = map_next(&w->target.lockq.holders, &cursor)) != NULL;)
            fprintf(stderr, "; its lock is held by process %d (%s)", (int)e->key - 1,
                    (uintptr_t)e->value == SHMLOCK_EXCLUSIVE ? "exclusive" : "shared");
        for (const struct list *q = w->target.lockq.entries.next; q != &w->target.lockq.entries;
             q = q->next)
            fprintf(stderr, "; process %d waits for its lock",
                    LIST_OBJ(q, struct lock_entry, link)->src);
        if (w->target.lockq.stamps != w->target.lockq.admitted)
            fprintf(stderr, "; %d refused requests have not come back",
                    (int)(w->target.lockq.stamps - w->target.lockq.admitted));
        fprintf(stderr, "\n");
    }
}

static void print_state(struct sim *s)
{
    unsigned first = s->events > 60 ? s->events - 60 : 0;
    fprintf(stderr, "last events (step, rank.thread):\n");
    for (unsigned i = first; i < s->events; i++)
        fprintf(stderr, "  %s\n", s->history[i % 256]);
    fprintf(stderr, "fibers:\n");
    for (int i = 0; i < s->nfibers; i++) {
        struct sim_fiber *f = &s->fibers[i];
        if (f->fiber.done)
            continue;
        struct proc *p = s->ranks[f->rank].proc;
        fprintf(stderr, "  rank %d thread %d: in %s, waits for %s", f->rank, f->thread,
                p->call ? p->call : "user code", f->what ? f->what : "its turn");
        if (f->peer >= 0)
            fprintf(stderr, " (rank %d)", f->peer);
        fprintf(stderr, "; inbox %d requests, %d replies\n", s->ranks[f->rank].queued[TP_REQUEST],
                s->ranks[f->rank].queued[TP_REPLY]);
        if (p->rma && f->thread == 0)
            print_windows(p->rma);
    }
    fprintf(stderr, "replay: seed %llu, ranks %d, threads %d, nodes %d\n",
            (unsigned long long)s->k.seed, s->k.ranks, s->k.threads, s->k.nodes);
}

static void stop(int status, const char *title)
{
    fprintf(stderr, "sim: %s (seed %llu)\n", title, (unsigned long long)the_sim->k.seed);
    print_state(the_sim);
    fflush(NULL);
    _Exit(status);
}

void sim_fail(const char *fmt, ...)
{
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    stop(1, text);
    abort();
}

/* The next fiber: any that is not computing, by the seed. Time moves on when all compute. */
static struct sim_fiber *choose(struct sim *s)
{
    for (;;) {
        int ready[SIM_RANKS * SIM_THREADS], n = 0;
        long soonest = -1;
        for (int i = 0; i < s->nfibers; i++) {
            struct sim_fiber *f = &s->fibers[i];
            if (f->fiber.done || !f->started)
                continue;
            if (f->asleep_until > s->step) {
                if (soonest < 0 || f->asleep_until < soonest)
                    soonest = f->asleep_until;
                continue;
            }
            if (f->rank == s->k.quiet_rank && f->idle && sim_draw_bits(s) % 32)
                continue;
            ready[n++] = i;
        }
        if (n)
            return &s->fibers[ready[sim_draw_bits(s) % (uint64_t)n]];
        s->step = soonest > s->step ? soonest : s->step + 1;
    }
}

static void switch_to(struct sim *s, struct sim_fiber *to)
{
    struct sim_fiber *from = s->now;
    if (to == from)
        return;
    s->now = to;
    proc = s->ranks[to->rank].proc;
    fiber_switch(&from->fiber, &to->fiber);
    /* Back again: the fiber that switched here has set now and proc. */
}

/* The invariants of every window of the rank that yields. */
static void check_windows(void)
{
    const struct rma *r = proc->rma;
    if (!r || the_sim->ranks[the_sim->now->rank].at_point)
        return;
    for (const struct list *l = r->windows.next; l && l != &r->windows; l = l->next)
        rma_check_invariants(LIST_OBJ(l, struct rma_win, link));
}

static int any_computes(const struct sim *s)
{
    for (int i = 0; i < s->nfibers; i++)
        if (!s->fibers[i].fiber.done && s->fibers[i].started && s->fibers[i].asleep_until)
            return 1;
    return 0;
}

/* Does a fiber wait for time alone: until the network cannot write for a dead process any more
 * (rma/engine/native.c, p2p/by_network.c)? */
static int waits_for_network(const struct sim *s)
{
    for (int i = 0; i < s->k.ranks; i++) {
        const struct rma *r = s->ranks[i].proc ? s->ranks[i].proc->rma : NULL;
        const struct p2p *p = s->ranks[i].proc ? s->ranks[i].proc->p2p : NULL;
        if (p && !s->ranks[i].dead && p->fail_hook.link.next && !list_empty(&p->fail_hook.link))
            return 1;
        if (!r || s->ranks[i].dead)
            continue;
        for (const struct list *l = r->windows.next; l && l != &r->windows; l = l->next)
            for (const struct rma_target *t = NULL;
                 (t = rma_target_next(LIST_OBJ(l, struct rma_win, link), t)) != NULL;)
                if (t->flags & TARGET_FAILED && t->natives)
                    return 1;
    }
    return 0;
}

/* Does a rank compare collective calls (align/)?  It acts when a wait has lasted, and waits for
 * the answers of others, so some seconds in which nothing moves are no deadlock yet. */
static int waits_for_checker(struct sim *s)
{
    enum { TIMES = 16 };
    int checked = 0;
    for (int i = 0; i < s->k.ranks; i++)
        checked |= s->ranks[i].proc && !s->ranks[i].dead && s->ranks[i].proc->check;
    return checked && s->times_idle++ < TIMES;
}

/* Before MPI_Finalize everything a program made is gone: windows, elements, handles. */
static void check_leaks(const unsigned *before)
{
    static const char *const kinds[OBJ_KINDS] = {
        [OBJ_COMM] = "communicators", [OBJ_GROUP] = "groups",     [OBJ_TYPE] = "datatypes",
        [OBJ_WIN] = "windows",        [OBJ_REQUEST] = "requests", [OBJ_OP] = "operations",
        [OBJ_INFO] = "infos",         [OBJ_KEYVAL] = "keyvals"};
    const struct rma *r = proc->rma;
    if (!list_empty(&r->windows) || !list_empty(&r->active) || !list_empty(&r->called))
        sim_fail("rank %d: windows left at the end", sim_rank());
    if (r->op_quota.free != r->op_quota.size || r->target_quota.free != r->target_quota.size)
        sim_fail("rank %d: elements in use at the end", sim_rank());
    for (int k = 0; k < OBJ_KINDS; k++)
        if (kinds[k] && proc->obj->table[k].live != before[k])
            sim_fail("rank %d: %u %s at the end, %u at the beginning", sim_rank(),
                     proc->obj->table[k].live, kinds[k], before[k]);
}

static void yield(const char *what, int peer, int idle)
{
    struct sim *s = the_sim;
    struct sim_fiber *f = s->now;
    f->what = what;
    f->peer = peer;
    f->idle = idle ? f->idle + 1 : 0;
    s->step++;
    s->result.steps++;
    if (s->k.native)
        sim_native_step(s);
    s->quiet = idle ? s->quiet + 1 : 0;
    if (s->result.steps > s->k.max_steps)
        stop(3, "too many steps: livelock?");
    check_windows();
    /* Enough rounds that every fiber had its turns, also one that is seldom chosen. */
    if (s->quiet >
            (long)QUIET_ROUNDS * s->live * (s->k.quiet_rank >= 0 ? 8 : 1) + 4L * s->k.max_delay &&
        s->in_flight == s->held && !any_computes(s)) {
        int network = waits_for_network(s);
        if (!network && !waits_for_checker(s))
            stop(2, "deadlock: no rank can move");
        s->step += network ? A_SECOND : A_SECOND / 4; /* less than the checker waits for answers */
        s->quiet = 0;
    }
    switch_to(s, choose(s));
    f->what = NULL;
    if (s->aborted)
        sim_end_rank();
}

void sim_compute(int steps)
{
    struct sim *s = the_sim;
    s->now->asleep_until = s->step + steps;
    yield("nothing: it computes", -1, 0);
    s->now->asleep_until = 0;
    sim_moved(s); /* what it does now may free others, even without a message */
}

static uint64_t now_ns(void)
{
    return (uint64_t)the_sim->step * 1000u;
}

static void *self(void)
{
    return &the_sim->now->id;
}

/* Inside a handler or a near protocol: what the rank owns may be between two states, so its
 * invariants wait. */
static void point(void)
{
    struct sim *s = the_sim;
    struct sim_rank_state *r = &s->ranks[s->now->rank];
    if (r->dies_at && --r->dies_at == 0) {
        s->result.kills++;
        sim_die();
    }
    if (!sim_chance(s, s->k.preempt_percent))
        return;
    r->at_point++;
    yield("its turn in the middle of a step", -1, 0);
    r->at_point--;
}

static const struct sched_ops sim_sched = {yield, now_ns, sim_random, self, point};

/* The last act of a fiber; another one must run from here on. */
static void leave(struct sim *s, struct sim_fiber *f)
{
    f->fiber.done = 1;
    s->live--;
    sim_moved(s);
    if (s->live == 0)
        fiber_switch(&f->fiber, &s->home);
    struct sim_fiber *next = choose(s);
    s->now = next;
    proc = s->ranks[next->rank].proc;
    fiber_switch(&f->fiber, &next->fiber);
    abort();
}

void sim_die_at(int points)
{
    the_sim->ranks[the_sim->now->rank].dies_at = points;
}

/* What was sent to it is lost, what it sent arrives.  */
void sim_cut(int rank)
{
    sim_event("rank %d is cut off", rank);
    the_sim->ranks[rank].cut = 1;
}

void sim_unreachable(int rank, int err)
{
    the_sim->ranks[rank].no_way = sim_rank();
    the_sim->ranks[rank].no_way_err = err;
}

int sim_gone(int rank)
{
    return the_sim->ranks[rank].dead || the_sim->ranks[rank].cut;
}

void sim_die(void)
{
    struct sim *s = the_sim;
    struct sim_fiber *f = s->now;
    struct sim_rank_state *r = &s->ranks[f->rank];
    SIM_CHECK(s->k.mortal); /* else its resources would leak */
    if (s->k.late_news) {
        sim_cut(f->rank);
        sim_compute((int)(sim_random() % (unsigned)s->k.late_news));
    }
    sim_event("rank %d dies", f->rank);
    for (int c = 0; c < 2; c++)
        for (struct list *l; (l = list_pop(&r->inbox[c])) != NULL;
             sim_release(LIST_OBJ(l, struct sim_msg, link))) {
            sim_zcopy_read(LIST_OBJ(l, struct sim_msg, link), -ENOTCONN);
            s->in_flight--;
        }
    r->queued[0] = r->queued[1] = 0;
    sim_native_close(s, f->rank);
    /* the system closes its socket; what else it had stays until the end of the run: others look at
     * it */
    mem_wake_close();
    r->dead = 1;
    sim_barrier_check(s);
    atomic_store(&s->job.page.dead[f->rank], 1);
    atomic_fetch_add(&s->job.page.dead_count, 1);
    leave(s, f);
    abort();
}

void sim_end_rank(void)
{
    SIM_CHECK(the_sim->k.mortal); /* what it has is cleared up at the end of the run */
    mem_wake_close();
    leave(the_sim, the_sim->now);
    abort();
}

static void run_thread(void *arg)
{
    struct sim_fiber *f = arg;
    struct sim *s = the_sim;
    s->thread_program(f->thread, s->arg);
    s->ranks[f->rank].running_threads--;
    leave(s, f);
}

static void run_rank(void *arg)
{
    struct sim_fiber *f = arg;
    struct sim *s = the_sim;
    struct sim_rank_state *r = &s->ranks[f->rank];
    int provided;
    static const struct tp_ops *const real[] = {&sim_tp_ops, NULL},
                                      *const native[] = {&sim_tp_native_ops, NULL},
                                      *const tx[] = {&sim_tp_tx_ops, NULL},
                                      *const alone[] = {&virtual_tp_ops, NULL},
                                      *const far[] = {&sim_tp_far_ops, NULL};
    if (tp_use(s->k.world       ? alone
               : s->k.far       ? far
               : s->k.native_tx ? tx
               : s->k.native    ? native
                                : real) != 0)
        sim_fail("no memory");
    api_start(s->k.threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided,
              &sim_boot_ops);
    unsigned before[OBJ_KINDS]; /* the library has some of its own */
    for (int i = 0; i < OBJ_KINDS; i++)
        before[i] = proc->obj->table[i].live;
    if (s->thread_program)
        for (int i = 0; i < s->nfibers; i++)
            if (s->fibers[i].rank == f->rank && s->fibers[i].thread > 0) {
                r->running_threads++;
                s->fibers[i].started = 1;
            }
    if (s->k.seed % 2 && !s->k.world) { /* as after very many ids; virtual ranks make 0 */
        uint32_t any = (uint32_t)s->k.seed * 0x9e3779b9u + (uint32_t)f->rank * 0x85ebca6bu;
        proc->coll->ctx_round = any & ~comm_rank_mask();
    }
    s->program(s->arg);
    while (r->running_threads > 0)
        yield("the other threads of this rank", -1, 1);
    if (!s->k.mortal) /* what the dead leave behind at the others is no leak */
        check_leaks(before);
    api_stop();
    if (s->k.aborts)
        sim_fail("the job came to its end");
    if (sim_native_left(s, f->rank))
        sim_fail("rank %d: memory is registered with the card at the end", sim_rank());
    (void)tp_use(NULL);
    r->ended = 1;
    sim_barrier_check(s);
    leave(s, f);
}

struct sim_knobs sim_defaults(uint64_t seed)
{
    return (struct sim_knobs){
        .seed = seed, .ranks = 2, .threads = 1, .nodes = 2, .ordered = 1, .quiet_rank = -1};
}

struct sim_knobs sim_draw(uint64_t seed, int ranks)
{
    struct sim s = {.rng = seed ^ 0x5eed};
    struct sim_knobs k = sim_defaults(seed);
    k.ranks = ranks;
    static const int nodes_of[] = {0, 0, 1, 2}; /* 0: every rank alone */
    int n = nodes_of[sim_draw_bits(&s) % 4];
    k.nodes = n == 0 || n > ranks ? ranks : n;
    k.max_delay = (int)(sim_draw_bits(&s) % 3) * 20;
    k.again_percent = sim_chance(&s, 40) ? (int)(sim_draw_bits(&s) % 40) : 0;
    k.refuse_percent = sim_chance(&s, 30) ? (int)(sim_draw_bits(&s) % 20) : 0;
    k.inbox = sim_chance(&s, 30) ? 2 + (int)(sim_draw_bits(&s) % 6) : 0;
    k.quiet_rank = sim_chance(&s, 25) ? (int)(sim_draw_bits(&s) % (uint64_t)ranks) : -1;
    k.preempt_percent = sim_chance(&s, 50) ? 5 + (int)(sim_draw_bits(&s) % 40) : 0;
    k.native = sim_chance(&s, 50) ? (int)(sim_draw_bits(&s) % (SIM_NATIVE_ALL + 1)) : 0;
    k.native_ordered = sim_chance(&s, 50);
    k.replies = sim_chance(&s, 25) ? 2 + (int)(sim_draw_bits(&s) % 8) : 0;
    k.native_coherent = sim_chance(&s, 50);
    k.am_zcopy_min = sim_chance(&s, 50) ? 16 << sim_draw_bits(&s) % 6 : 0;
    return k;
}

static void drop_kv(struct sim_kv *kv)
{
    while (kv) {
        struct sim_kv *next = kv->next;
        free(kv);
        kv = next;
    }
}

void sim_run(const struct sim_knobs *k, void (*program)(void *arg),
             void (*thread_program)(int thread, void *arg), void *arg, struct sim_result *out)
{
    struct sim *s = calloc(1, sizeof *s);
    struct proc *outer = proc;
    const struct sched_ops *outer_sched = sched;
    the_sim = s;
    s->k = *k;
    if (!s->k.inbox)
        s->k.inbox = 64;
    if (!s->k.replies)
        s->k.replies = 64;
    if (!s->k.am_max)
        s->k.am_max = 4096;
    if (!s->k.max_steps)
        s->k.max_steps = 50000000;
    s->program = program;
    s->thread_program = thread_program;
    s->arg = arg;
    s->rng = k->seed;
    s->result.hash = 0xcbf29ce484222325ull;
    s->job.page.magic = JOB_PAGE_MAGIC;
    s->job.page.version = JOB_PAGE_VERSION;
    s->job.page.size = s->job.page.universe = (uint32_t)k->ranks;
    list_init(&s->mems);
    fiber_adopt(&s->home);
    if (s->k.mortal)
        memory_begin();
    for (int r = 0; r < k->ranks; r++) {
        struct sim_rank_state *st = &s->ranks[r];
        st->proc = calloc(1, sizeof *st->proc);
        st->proc->sim = st;
        list_init(&st->inbox[0]);
        list_init(&st->inbox[1]);
        list_init(&st->kept);
        list_init(&st->nic);
        list_init(&st->reports);
        list_init(&st->txs);
        for (int t = 0; t < (thread_program ? k->threads : 1); t++) {
            struct sim_fiber *f = &s->fibers[s->nfibers++];
            f->rank = r;
            f->thread = t;
            f->peer = -1;
            f->started = t == 0;
            fiber_make(&f->fiber, STACK, t == 0 ? run_rank : run_thread, f);
        }
    }
    s->live = s->nfibers;
    sched = &sim_sched;
    s->now = choose(s);
    proc = s->ranks[s->now->rank].proc;
    fiber_switch(&s->home, &s->now->fiber);
    sched = outer_sched;
    proc = outer;
    for (int i = 0; i < s->nfibers; i++)
        fiber_free(&s->fibers[i].fiber);
    for (int r = 0; r < k->ranks; r++) {
        free(s->ranks[r].proc);
        drop_kv(s->ranks[r].kv);
    }
    drop_kv(s->published);
    if (s->k.mortal)
        memory_drop();
    if (out)
        *out = s->result;
    the_sim = NULL;
    free(s);
}
