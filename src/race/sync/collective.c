/* collective.c - what this process acquires by collectives: all members from each other, or along
 * the edges that the call promises. Start with race_ended() and end_phase(). A request is
 * watched by a table before its own. */
#include "race/report/report.h"
#include "race/watched.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "boot/boot.h"
#include "dt/dt.h"
#include "obj/neighbors.h"

/* --- joins ------------------------------------------------------------------------------------ */

/* Clocks as an array, for reductions by MPI_MAX. */
static int64_t *dense(void)
{
    const struct race *r = proc->race;
    const struct race_thread *t = race_self();
    int64_t *v = malloc(r->tids * sizeof *v);
    if (!v)
        race_no_memory();
    race_advice_release();
    for (uint32_t i = 0; i < r->tids; i++)
        v[i] = (int64_t)race_vclock_of(t->vclock, i);
    v[t->tid] = (int64_t)t->clock;
    return v;
}

static void acquire_dense(const int64_t *v)
{
    const struct race *r = proc->race;
    const struct race_thread *t = race_self();
    struct race_vclock_entry *e = malloc(r->tids * sizeof *e);
    uint32_t k = 0;
    if (!e)
        race_no_memory();
    for (uint32_t i = 0; i < r->tids; i++)
        if (i != t->tid)
            e[k++] = (struct race_vclock_entry){i, 0, (uint64_t)v[i]};
    struct race_vclock *vclock = race_vclock_make(t->vclock->floor, e, k);
    if (!vclock)
        race_no_memory();
    race_acquire(vclock);
    race_vclock_drop(vclock);
    free(e);
}

/* Members exchange their vector clocks. */
static void join(struct comm *c)
{
    int64_t *v = dense();
    if (!coll_allreduce_i64(v, (int)proc->race->tids, COLL_MAX, c))
        acquire_dense(v);
    free(v);
}

/* A collective without data need not wait for others; this one has some. */
int race_exchange_atomics(struct comm *c, int sent)
{
    struct race *r = proc->race;
    enum { WHOLE = 128 };
    uint8_t mine = (uint8_t)(r->atomics | (sent && race_is_whole() ? WHOLE : 0));
    uint8_t whole = mine & WHOLE;
    uint8_t *all = malloc((size_t)c->size); /* other threads may be here, too */
    if (!all)
        race_no_memory();
    if (coll_allgather_bytes(&mine, all, 1, c)) {
        free(all);
        return -1;
    }
    for (int i = 0; i < c->size; i++) {
        whole &= all[i];
        for (uint32_t t = (uint32_t)(comm_world(c, i) - boot_first()); t < r->tids;
             t += (uint32_t)boot_size())
            r->shadow.thread_atomics[t] |= all[i] & RACE_ATOMICS;
    }
    free(all);
    return whole != 0;
}

/* The end of a phase at this process: everything that is complete is known to all. Another thread
 * may have acquired more meanwhile, also of the next phase. */
static void begin_phase(uint64_t floor)
{
    struct race *r = proc->race;
    size_t at = 0;
    struct race_vclock *v = race_vclock_make(floor, NULL, 0);
    if (!v)
        race_no_memory();
    race_acquire(v);
    race_vclock_drop(v);
    r->floor = floor;
    for (int i = 0; i < r->threads; i++)
        if (r->thread[i].clock < floor)
            r->thread[i].clock = floor;
    r->atomics = 0;
    race_barrier_ended_phase(floor);
    race_shadow_phase(&r->shadow, floor);
    for (struct map_entry *e; (e = map_next(&r->wins, &at)) != NULL;)
        race_notes_phase(e->value);
    race_report_undecided(floor, 1);
    race_count();
    for (uint32_t i = 0; i < r->tids; i++)
        r->shadow.thread_atomics[i] >>= RACE_ATOMICS_BITS;
}

/* All records are where they belong, then the phase ends. Where some thread goes on beside the
 * call, or some records wait for a lock, that is not so. Nor does it end where another thread is in
 * such a call: of two phases that overlap nowhere each process sees the same first, and so the
 * numbers of phases agree. Once a process has failed no phase ends any more: some members may have
 * ended the last one, and others not. */
static void end_phase(struct comm *c)
{
    struct race *r = proc->race;
    size_t at = 0;
    int sent = !r->ending++;
    if (!boot_failed_count()) {
        for (struct map_entry *e; (e = map_next(&r->wins, &at)) != NULL;)
            sent &= race_send_open(e->value);
        race_wait_acks();
        int whole = race_exchange_atomics(c, sent);
        if (!whole && !boot_failed_count())
            join(c);
        else if (whole > 0 && !boot_failed_count())
            begin_phase(r->floor + (1ull << RACE_PHASE_BITS));
    }
    r->ending--;
}

void race_joined(struct comm *c)
{
    if (proc->race->off || !race_is_inside(c))
        return;
    race_advice_release();
    race_tick();
    if (c->size == boot_size()) /* all of the job */
        end_phase(c);
    else
        join(c);
}

/* --- collectives ------------------------------------------------------------------------------ */

/* The clocks that travel with a collective: this process's, and those that it receives. */
struct clocks {
    int64_t *v;     /* [threads of the job] */
    int64_t *from;  /* [n] such: of neighbours, before they are added up */
    int n, receives;
};

static void clocks_free(struct clocks *c)
{
    free(c->v);
    free(c->from);
    *c = (struct clocks){0};
}

/* Those of a neighbourhood acquire from their neighbours and from no other: these may begin much
 * later. */
static int with_neighbors(const struct coll_args *a, struct clocks *c, struct coll_args *out)
{
    int *src, *dst, n;
    if (topo_neighbors(a->comm, &c->n, &src, &n, &dst, "the race checker"))
        return 0;
    free(src);
    c->from = calloc((size_t)c->n + 1, proc->race->tids * sizeof *c->from);
    if (!c->from)
        race_no_memory();
    out->call = COLL_NEIGHBOR_ALLGATHER;
    out->sbuf = c->v;
    out->scount = out->rcount;
    out->stype = out->rtype;
    out->rbuf = c->from;
    out->op = NULL;
    c->receives = 1;
    return 1;
}

/* Which collective on clocks carries what the program's carries. 0: none, nor will the program's
 * begin: there are no neighbours. */
static int edges(const struct coll_args *a, struct clocks *c, struct coll_args *out)
{
    *c = (struct clocks){.v = dense(), .receives = 1};
    *out = (struct coll_args){.comm = a->comm, .root = a->root, .rbuf = c->v,
                              .rcount = (MPI_Aint)proc->race->tids, .rtype = dt_find(MPI_INT64_T),
                              .sbuf = MPI_IN_PLACE, .op = dt_op_find(MPI_MAX)};
    if (a->call >= COLL_NEIGHBOR_ALLGATHER)
        return with_neighbors(a, c, out);
    switch (a->call) {
    case COLL_BCAST: case COLL_SCATTER: case COLL_SCATTERV:
        out->call = COLL_BCAST;
        c->receives = a->root != a->comm->rank;
        break;
    case COLL_REDUCE: case COLL_GATHER: case COLL_GATHERV:
        out->call = COLL_REDUCE;
        c->receives = a->root == a->comm->rank;
        if (!c->receives) {
            out->sbuf = c->v;
            out->rbuf = NULL;
        }
        break;
    case COLL_SCAN: case COLL_EXSCAN:
        out->call = COLL_SCAN;
        break;
    default:
        out->call = COLL_ALLREDUCE;
        break;
    }
    return 1;
}

static void clocks_acquire(const struct clocks *c)
{
    uint32_t tids = proc->race->tids;
    for (int i = 0; i < c->n; i++)
        for (uint32_t k = 0; k < tids; k++)
            if (c->from[(size_t)i * tids + k] > c->v[k])
                c->v[k] = c->from[(size_t)i * tids + k];
    if (c->receives)
        acquire_dense(c->v);
}

/* A blocking one was done: it carries clocks. */
static void done(const struct coll_args *a, const void *site)
{
    struct coll_args out;
    struct clocks c;
    if (proc->race->off || boot_failed_count() || !race_is_inside(a->comm))
        return;
    int carries = edges(a, &c, &out);
    if (carries && out.call == COLL_ALLREDUCE) {
        clocks_free(&c);
        if (a->call == COLL_BARRIER)
            race_barrier_begins(RACE_CALL_BARRIER, site, 0);
        race_joined(a->comm);
        race_barrier_ends();
        return;
    } else if (carries) {
        race_tick();
        c.v[race_self()->tid] = (int64_t)race_self()->clock;
        if (!coll_run(&out))
            clocks_acquire(&c);
    }
    clocks_free(&c);
}

/* Wrapped around a request's own functions. */
struct race_watch {
    struct request_ops ops;
    struct coll_args a;       /* collective; a.comm NULL: a message */
    struct comm *comm;        /* send: to rank `dest` of its peers */
    int dest;
    struct request *coming;   /* the collective on the clocks, under way if it is active;
                                 persistent: made and freed with the request, else NULL if it has
                                 not begun */
    struct clocks clocks;
    void (*done)(void *arg);  /* an operation: once */
    void *done_arg;
    int receives;             /* a message */
    struct race_use *use;     /* its buffers; NULL: not known */
};

static struct race_watch *watch_of(const struct request *r)
{
    return (struct race_watch *)((char *)(uintptr_t)r->ops - offsetof(struct race_watch, ops));
}

static int clocks_pending(const struct race_watch *x)
{
    return x->coming && x->coming->active;
}

static void clocks_came(struct request *coming, void *arg)
{
    struct request *r = arg;
    coming->then = NULL; /* it may be started again */
    request_complete(r, r->error);
}

/* A request is complete when its clocks have come, too: a test must not wait for them. */
static void hold(struct request *r)
{
    const struct race_watch *x = watch_of(r);
    if (!r->done || r->error || x->coming->done)
        return;
    r->done = 0;
    request_then(x->coming, clocks_came, r);
}

static void data_came(struct request *r, void *arg)
{
    r->then = NULL;
    hold(r);
    if (r->done)
        request_complete(r, r->error);
    (void)arg;
}

/* All members make it in the order of their calls. Persistent ones may start in any order, so what
 * they start here has its tag from then, too. */
static void make_clocks(struct race_watch *x, int (*make)(const struct coll_args *,
                                                          struct request **))
{
    struct coll_args out;
    if (edges(&x->a, &x->clocks, &out)) {
        race_tick();
        x->clocks.v[race_self()->tid] = (int64_t)race_self()->clock;
        if (!make(&out, &x->coming))
            return;
        x->coming = NULL;
    }
    clocks_free(&x->clocks);
}

/* A persistent one starts: with the clocks of now. If it ended with an error last time, its clocks
 * were left. */
static void start_clocks(struct race_watch *x)
{
    if (clocks_pending(x) && x->coming->done)
        request_finish(x->coming, MPI_STATUS_IGNORE);
    if (!x->coming || x->coming->active)
        return;
    int64_t *now = dense();
    race_tick();
    now[race_self()->tid] = (int64_t)race_self()->clock;
    memcpy(x->clocks.v, now, proc->race->tids * sizeof *now);
    free(now);
    request_start(x->coming);
}

static void wait_for_clocks(struct request *r)
{
    if (!clocks_pending(watch_of(r)))
        return;
    if (r->done)
        hold(r);
    else if (!r->then)
        r->then = data_came;
}

static int on_start(struct request *r)
{
    struct race_watch *x = watch_of(r);
    if (x->comm)
        race_sending(x->comm, x->dest);
    int err = x->ops.inner->start(r);
    if (!err)
        race_use_start(x->use);
    if (!err && x->a.comm && !proc->race->off) {
        start_clocks(x);
        wait_for_clocks(r);
    }
    return err;
}

static int on_query(struct request *r, MPI_Status *st)
{
    struct race_watch *x = watch_of(r);
    int (*query)(struct request *, MPI_Status *) = x->ops.inner->query;
    if (clocks_pending(x) && !r->error) {
        int again = request_is_persistent(r);
        request_wait_inner(x->coming); /* they have come, see hold() */
        if (!request_finish(x->coming, MPI_STATUS_IGNORE))
            clocks_acquire(&x->clocks);
        if (!again) {
            x->coming = NULL;
            clocks_free(&x->clocks);
        }
    }
    if (!request_is_suspended(r))
        race_use_end(x->use);
    if (x->done) {
        x->done(x->done_arg);
        x->done = NULL;
        return query ? query(r, st) : MPI_SUCCESS;
    }
    if (x->receives && r->comm && !r->error && !status_cancelled(&r->status))
        race_received(r->comm, r->status.MPI_SOURCE);
    return query ? query(r, st) : MPI_SUCCESS;
}

static void on_free(struct request *r)
{
    struct race_watch *x = watch_of(r);
    r->ops = x->ops.inner;
    if (x->done)
        x->done(x->done_arg);
    race_use_free(x->use);
    if (r->ops->free)
        r->ops->free(r);
    x->use = NULL;
    if (clocks_pending(x)) /* its numbers are still on their way: kept until the process ends */
        return;
    if (x->coming)
        request_release(x->coming);
    clocks_free(&x->clocks);
    free(x);
}

static struct race_watch *wrap(struct request *r)
{
    if (r->ops->free == on_free)
        return watch_of(r);
    struct race_watch *x = proc->race->off ? NULL : calloc(1, sizeof *x);
    if (!x)
        return NULL;
    x->ops = *r->ops;
    x->ops.inner = r->ops;
    x->ops.query = on_query;
    x->ops.free = on_free;
    if (x->ops.start)
        x->ops.start = on_start;
    r->ops = &x->ops;
    return x;
}

void race_watch_recv(struct request *r)
{
    struct race_watch *x = wrap(r);
    if (x)
        x->receives = 1;
}

static struct race_use *use_of(const struct request *r)
{
    return r->ops->free == on_free ? watch_of(r)->use : NULL;
}

void race_watch_uses(struct request *r, const struct watch_buffer *b, int n, const void *site)
{
    struct race_watch *x = wrap(r);
    if (x)
        x->use = race_use_make(b, n, !request_is_persistent(r), site);
}

void race_watch_partition(struct request *r, int i)
{
    race_use_partition(use_of(r), i);
}

/* How the program learns of its end is not known from now on. */
void race_watch_released(struct request *r)
{
    race_use_end(use_of(r));
}

void race_watch_done(struct request *r, void (*fn)(void *arg), void *arg)
{
    struct race_watch *x = wrap(r);
    if (x) {
        x->done = fn;
        x->done_arg = arg;
    } else {
        fn(arg);
    }
}

void race_watch_send_init(struct request *r, struct comm *c, int dest)
{
    struct race_watch *x = wrap(r);
    if (x) {
        x->comm = c;
        x->dest = dest;
    }
}

static struct race_watch *watch_collective(const struct coll_args *a, struct request *r)
{
    struct race_watch *x = race_is_inside(a->comm) ? wrap(r) : NULL;
    if (x)
        x->a = *a;
    return x;
}

/* A nonblocking or persistent one: edges at each start and completion. */
static void started(const struct watch_turn *t)
{
    struct race_watch *x = watch_collective(t->args, t->request);
    if (!x)
        return;
    x->use = race_coll_use(t);
    if (proc->race->off)
        return;
    make_clocks(x, t->form == WATCH_NONBLOCKING ? coll_begin : coll_prepare);
    if (t->form == WATCH_NONBLOCKING)
        wait_for_clocks(t->request);
}

int race_ended(struct watch_turn *t, int err)
{
    if (err || t->win || t->file)
        return err;
    if (!t->args && t->call != WATCH_COMM_IDUP && t->call != WATCH_COMM_IDUP_WITH_INFO)
        race_joined(t->comm);
    else if (t->args && t->form == WATCH_BLOCKING) {
        race_coll_access(t, 0);
        done(t->args, t->site);
        race_coll_access(t, 1); /* written behind what it acquires */
    } else if (t->args) {
        started(t);
    }
    return MPI_SUCCESS;
}
