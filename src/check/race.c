/* race.c - the clock of this process, what it knows of others and learns from collectives. */
#include "check/race_proc.h"

#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "check/check_types.h"
#include "dt/dt.h"
#include "var/var.h"

/* --- the clock -------------------------------------------------------------------------------- */

struct race_thread *race_self(void)
{
    struct race *r = proc->race;
    return &r->thread[r->runtime ? r->runtime->number() : 0];
}

/* The thread's loads and stores so far have its clock and what it knows now. */
static void flush(const struct race *r)
{
    if (r->runtime)
        r->runtime->flush();
}

uint64_t race_tick(void)
{
    flush(proc->race);
    return ++race_self()->clock;
}

struct race_view *race_knowledge(void)
{
    const struct race_thread *t = race_self();
    return race_view_with(t->view, t->tid, t->clock);
}

void race_know(struct race_thread *t, struct race_view *v)
{
    race_view_drop(t->view);
    t->view = v;
    t->view_no = ++proc->race->view_nos;
    if (t->clock < v->floor) /* it slept while others ended a phase */
        t->clock = v->floor;
}

void race_learn(const struct race_view *v)
{
    struct race *r = proc->race;
    struct race_thread *t = race_self();
    if (race_view_holds(t->view, v))
        return;
    flush(r);
    struct race_view *both = race_view_join(t->view, v);
    if (both)
        race_know(t, both);
    else /* no memory: what it does not know makes races, so it notes no more */
        r->off = 1;
}

/* The segment of this library that holds the code. */
static int own_code(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct race *r = arg;
    uint64_t here = (uint64_t)(uintptr_t)race_tick;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uint64_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        uint64_t end = start + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type == PT_LOAD && here >= start && here < end) {
            r->code_at = start;
            r->code_end = end;
            return 1;
        }
    }
    return 0;
}

static int is_own(const struct race *r, uint64_t address)
{
    return address >= r->code_at && address < r->code_end;
}

/* Not every slow function is reached by a jump: then its return address lies in this library, and
 * the program's stands above it on the stack. */
static uint64_t program_address(const struct race *r, uint64_t address)
{
    void *frame[24];
    if (!is_own(r, address) || sched)
        return address;
    int n = backtrace(frame, 24);
    for (int i = 0; i < n; i++)
        if (!is_own(r, (uint64_t)(uintptr_t)frame[i]))
            return (uint64_t)(uintptr_t)frame[i];
    return address;
}

uint64_t race_place(uint64_t key)
{
    struct race *r = proc->race;
    void *known = map_get(&r->sites, key);
    if (known)
        return (uint64_t)(uintptr_t)known;
    uint64_t site = site_portable(key);
    if (site)
        map_put(&r->sites, key, (void *)(uintptr_t)site);
    return site;
}

uint64_t race_site(const void *address)
{
    return race_place(program_address(proc->race, (uint64_t)(uintptr_t)address));
}

/* --- joins ------------------------------------------------------------------------------------ */

static int spans_job(const struct comm *c)
{
    return !c->remote && c->size == boot_size();
}

/* Clocks as an array, for reductions by MPI_MAX. NULL: no memory. */
static int64_t *dense(void)
{
    const struct race *r = proc->race;
    const struct race_thread *t = race_self();
    int64_t *v = malloc(r->tids * sizeof *v);
    for (uint32_t i = 0; v && i < r->tids; i++)
        v[i] = (int64_t)race_view_of(t->view, i);
    if (v)
        v[t->tid] = (int64_t)t->clock;
    return v;
}

static void learn_dense(const int64_t *v)
{
    struct race *r = proc->race;
    const struct race_thread *t = race_self();
    struct race_entry *e = malloc(r->tids * sizeof *e);
    uint32_t k = 0;
    for (uint32_t i = 0; e && i < r->tids; i++)
        if (i != t->tid)
            e[k++] = (struct race_entry){i, 0, (uint64_t)v[i]};
    struct race_view *view = e ? race_view_make(t->view->floor, e, k) : NULL;
    if (view)
        race_learn(view);
    else
        r->off = 1;
    race_view_drop(view);
    free(e);
}

/* Members exchange what they know. */
static void join(struct comm *c)
{
    int64_t *v = dense();
    if (v && !coll_allreduce_i64(v, (int)proc->race->tids, COLL_MAX, c))
        learn_dense(v);
    free(v);
}

/* Does the calling thread know all that other threads of its process did? */
static int is_whole(const struct race *r)
{
    const struct race_thread *me = race_self();
    if (r->forks)
        return 0;
    for (int i = 0; i < r->threads; i++) {
        const struct race_thread *t = &r->thread[i];
        if (t != me && race_view_of(me->view, t->tid) < t->clock)
            return 0;
    }
    return 1;
}

/* All are here, whole: 1. The barrier is needed, since a collective without data need not be
 * one. */
static int all_whole(const struct race *r, struct comm *c)
{
    int64_t whole = is_whole(r);
    int err = r->threads == 1 ? coll_barrier(c) : coll_allreduce_i64(&whole, 1, COLL_MIN, c);
    return !err && whole && !boot_failed_count();
}

/* The end of a phase: all records are where they belong, then everything that is complete is
 * known to all. Where some thread goes on beside the call that is not so. */
static void end_phase(struct comm *c)
{
    struct race *r = proc->race;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&r->wins, &at)) != NULL;)
        race_send_open(e->value);
    race_settle();
    if (!all_whole(r, c)) {
        if (r->threads > 1 && !boot_failed_count())
            join(c);
        return;
    }
    uint64_t floor = r->floor + (1ull << RACE_PHASE_BITS);
    struct race_view *v = race_view_make(floor, NULL, 0);
    if (!v) {
        r->off = 1;
        return;
    }
    r->floor = floor;
    for (int i = 0; i < r->threads; i++)
        r->thread[i].clock = floor;
    race_know(race_self(), v);
    r->fetched = 0;
    race_region_phase(&r->region, floor);
    memset(r->region.did, 0, r->tids);
}

void race_joined(struct comm *c)
{
    if (c->remote || proc->race->off)
        return;
    race_tick();
    if (spans_job(c))
        end_phase(c);
    else
        join(c);
}

/* --- collectives ------------------------------------------------------------------------------ */

/* Which collective on clocks carries what the program's carries. */
static int edges(const struct coll_args *a, int64_t *v, struct coll_args *out)
{
    *out = (struct coll_args){.comm = a->comm, .root = a->root, .rbuf = v,
                              .rcount = (MPI_Aint)proc->race->tids, .rtype = dt_find(MPI_INT64_T),
                              .sbuf = MPI_IN_PLACE, .op = dt_op_find(MPI_MAX)};
    switch (a->call) {
    case COLL_BCAST: case COLL_SCATTER: case COLL_SCATTERV:
        out->call = COLL_BCAST;
        return a->root == a->comm->rank ? 0 : 1;
    case COLL_REDUCE: case COLL_GATHER: case COLL_GATHERV:
        out->call = COLL_REDUCE;
        if (a->root != a->comm->rank) {
            out->sbuf = v;
            out->rbuf = NULL;
        }
        return a->root == a->comm->rank;
    case COLL_SCAN: case COLL_EXSCAN:
        out->call = COLL_SCAN;
        return 1;
    default: /* neighbours, too: more than they promise, so that nothing is invented */
        out->call = COLL_ALLREDUCE;
        return 1;
    }
}

void race_collective(const struct coll_args *a)
{
    struct coll_args out;
    if (a->comm->remote || proc->race->off || boot_failed_count())
        return;
    int64_t *v = dense();
    int hears = edges(a, v, &out);
    if (v && out.call == COLL_ALLREDUCE) {
        free(v);
        race_joined(a->comm);
        return;
    }
    race_tick();
    if (v && !coll_run(&out) && hears)
        learn_dense(v);
    free(v);
}

/* Wrapped around a request's own functions. */
struct watch {
    struct request_ops ops;
    const struct request_ops *inner;
    struct coll_args a;       /* collective; a.comm NULL: a message */
    struct comm *comm;        /* send: to rank `dest` of its peers */
    int dest;
    struct request *clocks;   /* of a collective that is under way */
    int64_t *v;
    int hears;
    void (*done)(void *arg);  /* an operation: once */
    void *done_arg;
};

static struct watch *watch_of(const struct request *r)
{
    return (struct watch *)((char *)(uintptr_t)r->ops - offsetof(struct watch, ops));
}

static void begin_clocks(struct watch *x)
{
    struct coll_args out;
    if (x->clocks || proc->race->off || !(x->v = dense()))
        return;
    race_tick();
    x->hears = edges(&x->a, x->v, &out);
    if (coll_begin(&out, &x->clocks)) {
        x->clocks = NULL;
        free(x->v);
        x->v = NULL;
    }
}

static int on_start(struct request *r)
{
    struct watch *x = watch_of(r);
    if (x->comm)
        race_sending(x->comm, x->dest);
    int err = x->inner->start(r);
    if (!err && x->a.comm)
        begin_clocks(x);
    return err;
}

static int on_query(struct request *r, MPI_Status *st)
{
    struct watch *x = watch_of(r);
    if (x->clocks && !r->error) {
        request_wait(x->clocks); /* all members have begun it */
        if (!request_finish(x->clocks, MPI_STATUS_IGNORE) && x->hears)
            learn_dense(x->v);
        x->clocks = NULL;
        free(x->v);
        x->v = NULL;
    }
    if (x->done) {
        x->done(x->done_arg);
        x->done = NULL;
        return x->inner->query ? x->inner->query(r, st) : MPI_SUCCESS;
    }
    if (r->kind != REQUEST_RMA && !x->a.comm && !x->comm && r->comm && !r->error &&
        !status_cancelled(&r->status))
        race_received(r->comm, r->status.MPI_SOURCE);
    return x->inner->query ? x->inner->query(r, st) : MPI_SUCCESS;
}

static void on_free(struct request *r)
{
    struct watch *x = watch_of(r);
    r->ops = x->inner;
    if (x->done)
        x->done(x->done_arg);
    if (r->ops->free)
        r->ops->free(r);
    if (!x->clocks) /* else its numbers are still on their way: kept until the process ends */
        free(x);
}

static struct watch *wrap(struct request *r)
{
    struct watch *x = proc->race->off ? NULL : calloc(1, sizeof *x);
    if (!x)
        return NULL;
    x->inner = r->ops;
    x->ops = *r->ops;
    x->ops.query = on_query;
    x->ops.free = on_free;
    if (x->ops.start)
        x->ops.start = on_start;
    r->ops = &x->ops;
    return x;
}

void race_watch_recv(struct request *r)
{
    wrap(r);
}

void race_watch_done(struct request *r, void (*fn)(void *arg), void *arg)
{
    struct watch *x = wrap(r);
    if (x) {
        x->done = fn;
        x->done_arg = arg;
    } else {
        fn(arg);
    }
}

void race_watch_send_init(struct request *r, struct comm *c, int dest)
{
    struct watch *x = wrap(r);
    if (x) {
        x->comm = c;
        x->dest = dest;
    }
}

static struct watch *watch_collective(const struct coll_args *a, struct request *r)
{
    struct watch *x = a->comm->remote ? NULL : wrap(r);
    if (x)
        x->a = *a;
    return x;
}

void race_collective_prepared(const struct coll_args *a, struct request *r)
{
    watch_collective(a, r);
}

void race_collective_begun(const struct coll_args *a, struct request *r)
{
    struct watch *x = watch_collective(a, r);
    if (x)
        begin_clocks(x);
}

/* --- messages --------------------------------------------------------------------------------- */

static int has_left(void *arg)
{
    const struct race_peer *p = arg;
    return list_empty(&p->posts) || boot_failed_count();
}

void race_sending(struct comm *c, int dest)
{
    struct race *r = proc->race;
    if (dest < 0 || r->off)
        return;
    int world = comm_peer_world(c, dest);
    struct race_peer *p = (uint32_t)world == r->me ? NULL : race_peer_of(world);
    const struct race_thread *t = race_self();
    if (r->runtime)
        r->runtime->flush(); /* loads and stores are news as well */
    if (!p || (p->sent_any && p->sent_view == t->view_no && p->sent_clock == t->clock))
        return;
    race_tick();
    struct race_view *v = race_knowledge();
    p->sent_any = 1;
    p->sent_view = t->view_no;
    p->sent_clock = t->clock;
    race_send_clock(world, 0, 0, v);
    race_view_drop(v);
    progress_wait(has_left, p, "room for a clock of the race checker", world);
    if (!am_ordered(world)) /* the message might overtake it */
        race_settle();
}

void race_received(struct comm *c, int source)
{
    if (source < 0 || source >= comm_peer_size(c))
        return;
    struct race_peer *p = map_get(&proc->race->peers, (uint64_t)comm_peer_world(c, source) + 1);
    if (!p || !p->heard)
        return;
    race_learn(p->heard);
    if (proc->race->threads > 1) /* another thread may receive what was sent before */
        return;
    race_view_drop(p->heard);
    p->heard = NULL;
}

/* --- life ------------------------------------------------------------------------------------- */

/* The program's exit status becomes the code of MPIR_CVAR_RACE_EXIT. */
static void at_exit(int status, void *arg)
{
    const struct race_exit *x = arg;
    if (status || !x->found || !x->code)
        return;
    fflush(NULL);
    _exit(x->code);
}

static int threads_make(struct race *r)
{
    struct race_view *v = race_view_make(0, NULL, 0);
    if (!v)
        return -ENOMEM;
    r->threads = race_is_full() ? RACE_THREADS : 1;
    r->tids = (uint32_t)(r->threads * boot_size());
    for (int i = 0; i < r->threads; i++)
        r->thread[i] = (struct race_thread){(uint32_t)(i * boot_size() + boot_rank()), 0,
                                            ++r->view_nos, race_view_ref(v)};
    race_view_drop(v);
    return 0;
}

int race_is_full(void)
{
    return !strcmp(cvar.race, "full");
}

int race_init(void)
{
    if (!strcmp(cvar.race, "off"))
        return 0;
    if (strcmp(cvar.race, "rma") && strcmp(cvar.race, "full"))
        log_fatal("MPI_Init: MPIR_CVAR_RACE is \"%s\"; it may be off, rma or full", cvar.race);
    struct race *r = calloc(1, sizeof *r);
    struct race_exit *x = calloc(1, sizeof *x);
    uint8_t *did = r && x && !threads_make(r) ? calloc(r->tids, 1) : NULL;
    if (!did) {
        free(r);
        free(x);
        return -ENOMEM;
    }
    r->me = (uint32_t)boot_rank();
    r->exit = x;
    x->code = (int)cvar.race_exit;
    map_init(&r->wins);
    map_init(&r->peers);
    map_init(&r->open);
    map_init(&r->pairs);
    map_init(&r->sites);
    map_init(&r->objects);
    list_init(&r->busy);
    race_region_init(&r->region, (size_t)cvar.race_mem, race_report, NULL);
    r->region.ranks = (uint32_t)boot_size();
    r->region.did = did;
    dl_iterate_phdr(own_code, r);
    proc->race = r;
    rma_watched(1);
    if (!sched && x->code)
        on_exit(at_exit, x);
    race_msg_init();
    return race_full_init();
}

void race_ending(void)
{
    struct race *r = proc->race;
    size_t at = 0;
    if (!r)
        return;
    for (struct map_entry *e; (e = map_next(&r->wins, &at)) != NULL;)
        race_send_open(e->value);
    race_settle();
    if (!boot_failed_count())
        race_summary();
    r->off = 1;
    race_full_stop();
}

void race_finalize(void)
{
    struct race *r = proc->race;
    if (!r)
        return;
    progress_hook_del(&r->hook);
    race_wins_free();
    race_msg_free();
    race_region_free(&r->region);
    free(r->region.did);
    map_destroy(&r->pairs);
    map_destroy(&r->sites);
    race_full_free();
    race_view_drop(r->tell);
    if (sched || !r->exit->code)
        free(r->exit);
    free(r);
    proc->race = NULL;
}
