/* replica_calls.c - operations and synchronization of a window with copies. Start with
 * rma_replicas_op() and rma_replicas_sync(); doc/design/replicas.md has the rules.
 *
 *   put          to the owner; then, once its lock is held, the same bytes to each copy
 *   get          from the owner
 *   accumulate   at the owner; before a synchronization ends the owner puts it to its copies
 *                (replica_forward.c), or on one node the origin does (replica_near.c)
 *   flush        both are under way at once
 *   end of epoch copies first: the next holder of the lock finds them whole
 *   own stores   the whole part is put to its copies where no other process may access it: in a
 *                fence, before a post, at the end of an exclusive lock on oneself */
#include "rma/rma_types.h"

#include "coll/coll.h"
#include "watch/watch.h"

enum { AT_ONCE = 8 }; /* copies whose flushes are under way at once */

/* --- copies ----------------------------------------------------------------------------------- */

static int keeper_failed(const struct rma_replicas *x, int rank)
{
    return boot_failed_count() && boot_failed(rankmap_world(x->map, rank));
}

/* A copy that is lost with its keeper is no error: the window goes on with those that are left. */
static int but_failed(int err)
{
    return err_class(err) == MPIX_ERR_PROC_FAILED ? MPI_SUCCESS : err;
}

static int to_copies(struct rma_replicas *x, int rank, const struct rma_args *a, uint64_t off)
{
    const struct rma_place *p = rma_places_of(x, rank);
    int err = MPI_SUCCESS;
    for (int j = 0; j < x->k; j++) {
        struct rma_args b = *a;
        b.rank = p[j].rank;
        b.disp = (MPI_Aint)(p[j].at + off);
        b.notify = 0;
        if (!keeper_failed(x, b.rank))
            err = rma_graver(err, but_failed(rma_op_begin(x->copies, &b, NULL)));
    }
    return err;
}

static int a_keeper_failed(const struct rma_replicas *x)
{
    for (int r = 0; boot_failed_count() && r < x->n; r++)
        if (keeper_failed(x, r))
            return 1;
    return 0;
}

/* An answer that a failed process owes may end the wait for all answers, also where the wait
 * returns another error. Then each living one is asked again. */
int rma_replicas_flush(struct rma_replicas *x)
{
    int err = rma_take_err(&x->err), e = x->copies ? rma_flush_all(x->copies) : MPI_SUCCESS;
    err = rma_graver(err, but_failed(e));
    if (!e || (err_class(e) != MPIX_ERR_PROC_FAILED && !a_keeper_failed(x)))
        return err;
    for (int r = 0; r < x->n; r++)
        if (!keeper_failed(x, r))
            err = rma_graver(err, but_failed(rma_flush(x->copies, r)));
    return rma_graver(err, but_failed(rma_win_take_err(x->copies))); /* of evicted elements */
}

/* fn of each copy of one part. */
static int at_copies(struct rma_replicas *x, int rank, int (*fn)(struct rma_win *w, int rank))
{
    int err = MPI_SUCCESS;
    for (int j = 0; j < x->k; j++)
        err = rma_graver(err, but_failed(fn(x->copies, rma_places_of(x, rank)[j].rank)));
    return err;
}

/* Flushes of the copies of one part, AT_ONCE of them under way at once: copies [from, from + n). */
struct asked {
    struct rma_flushing f[AT_ONCE];
    int from, n;
};

static void ask(struct rma_replicas *x, int rank, struct asked *a)
{
    for (a->n = 0; a->n < AT_ONCE && a->from + a->n < x->k; a->n++)
        rma_flush_begin(x->copies, rma_places_of(x, rank)[a->from + a->n].rank, &a->f[a->n]);
}

/* Those that were asked, and the copies behind them, have what this process has put there. */
static int answers(struct rma_replicas *x, int rank, struct asked *a)
{
    int err = MPI_SUCCESS;
    while (a->n) {
        for (int j = 0; j < a->n; j++)
            err = rma_graver(err, but_failed(rma_flush_end(&a->f[j])));
        a->from += a->n;
        ask(x, rank, a);
    }
    return err;
}

/* Its own part as it is now, to its copies. No other process may change it meanwhile. */
static int publish(struct rma_win *w)
{
    struct rma_replicas *x = w->replicas;
    struct dt_type *byte = dt_find(MPI_BYTE);
    struct rma_args a = {.kind = RMA_PUT, .origin = w->base, .ocount = w->bytes, .otype = byte,
                         .tcount = w->bytes, .ttype = byte};
    if (!x->k || !w->bytes)
        return MPI_SUCCESS;
    struct asked flush;
    flush.from = 0;
    rma_forward_settle(w); /* what they bring is older */
    int err = to_copies(x, w->rank, &a, 0);
    ask(x, w->rank, &flush);
    return rma_graver(err, answers(x, w->rank, &flush));
}

/* --- operations ------------------------------------------------------------------------------- */

/* 1: the whole target buffer is in the part; *off: its displacement in bytes; *p: its bytes. Else
 * the owner reports it. */
static int is_inside(const struct rma_replicas *x, const struct rma_args *a, uint64_t *off,
                     struct rma_putting *p)
{
    int64_t lo, hi;
    if (a->rank < 0 || a->rank >= x->n || !x->k)
        return 0;
    const struct rma_owned *o = &x->part[a->rank];
    if (dt_bounds(a->ttype, (size_t)a->tcount, &lo, &hi) || lo == hi ||
        rma_offset((uint64_t)a->disp, (uint64_t)o->unit, lo, hi, (uint64_t)o->bytes, off))
        return 0;
    p->rank = a->rank;
    p->from = *off + (uint64_t)lo;
    p->end = *off + (uint64_t)hi;
    return 1;
}

/* Only a process that has the lock may put to the copies. 0: it has not got it, and the next
 * synchronization returns why. A far lock that was waited for when its owner failed looks granted
 * (rma_target_peer_failed), and the one that has it may put to the copies yet. */
static int has_lock(struct rma_win *w, int rank)
{
    if (rma_in(w, SET_PASSIVE) && !rma_holds_lock(w, rank) &&
        (rma_lock_now(w, rank) || rma_is_revoked(w)))
        return 0;
    const struct rma_target *t = rma_near_of(w, rank) ? NULL : rma_target_find(w, rank);
    return !t || !(t->flags & TARGET_FAILED);
}

static int put_to_copies(struct rma_replicas *x, const struct rma_args *a, uint64_t off, int req)
{
    int err = to_copies(x, a->rank, a, off);
    /* with the end of its request the origin is the program's again */
    return req ? rma_graver(err, at_copies(x, a->rank, rma_flush_local)) : err;
}

static int put(struct rma_win *w, const struct rma_args *a, MPI_Request *req, uint64_t off,
               struct rma_putting *p)
{
    struct rma_replicas *x = w->replicas;
    rma_putting_begin(x, p);
    int err = rma_op_begin(w, a, req);
    if (err) {
        rma_putting_end(p);
        return err;
    }
    if (has_lock(w, a->rank))
        err = put_to_copies(x, a, off, req != NULL);
    rma_putting_end(p);
    if (!err && p->passed)
        err = rma_changes_note(&x->changes, a, off);
    x->err = x->err ? x->err : err; /* it has begun; the next synchronization returns it */
    return MPI_SUCCESS;
}

int rma_replicas_op(struct rma_win *w, const struct rma_args *a, MPI_Request *req)
{
    struct rma_replicas *x = w->replicas;
    struct rma_putting p;
    uint64_t off;
    if (a->kind == RMA_GET || !is_inside(x, a, &off, &p))
        return rma_op_begin(w, a, req);
    if (a->kind == RMA_PUT)
        return put(w, a, req, off, &p);
    int err = rma_op_begin(w, a, req);
    if (err)
        return err;
    err = rma_changes_note(&x->changes, a, off);
    x->err = x->err ? x->err : err; /* as that of a put */
    return MPI_SUCCESS;
}

/* --- synchronization -------------------------------------------------------------------------- */

static int exposes_nothing(struct rma_win *w)
{
    return w->expo == EXPO_NONE && rma_near_own(w)->lock == RMA_UNLOCKED &&
           !rma_in(w, SET_LOCK_ALL);
}

/* Whose accumulates a call that ends an epoch waits for; FORWARD_NONE: there are none. */
static int ends_for(struct rma_win *w, const struct watch_sync *s)
{
    struct rma_replicas *x = w->replicas;
    int rank = s->call == WATCH_UNLOCK ? s->rank : FORWARD_ALL;
    if (s->call == WATCH_POST || (s->call == WATCH_UNLOCK && rank < 0))
        return FORWARD_NONE;
    return rma_changes_due(&x->changes, rank) || rma_forward_asked(x, rank) ? rank : FORWARD_NONE;
}

/* What the accumulates of an epoch have made is in the copies, before the epoch ends. */
static int accumulated(struct rma_win *w, const struct watch_sync *s, struct rma_forwarding *f)
{
    if (f->rank == FORWARD_NONE)
        return MPI_SUCCESS;
    int err = f->rank >= 0                  ? rma_flush(w, f->rank)
              : s->call == WATCH_UNLOCK_ALL ? rma_flush_all(w)
                                            : rma_flush_epoch(w);
    return rma_graver(err, rma_forward_wait(f));
}

/* Before the call that ends an epoch, or lets others in. */
static int first(struct rma_win *w, const struct watch_sync *s)
{
    struct rma_forwarding f;
    rma_forward_take(w, ends_for(w, s), &f);
    int err = rma_replicas_flush(w->replicas);
    err = rma_graver(err, accumulated(w, s, &f));
    if (s->call == WATCH_UNLOCK && s->rank == w->rank && w->replicas->exclusive &&
        rma_near_own(w)->lock != RMA_UNLOCKED)
        return rma_graver(err, publish(w));
    if (s->call == WATCH_POST && !(s->assert & MPI_MODE_NOSTORE) && exposes_nothing(w))
        return rma_graver(err, publish(w));
    return err;
}

/* Behind the fence no operation of the last epoch is under way, and none of the next has begun. */
static int in_fence(struct rma_win *w, int stores, struct rma_forwarding *f)
{
    struct request *r;
    int err = stores ? publish(w) : MPI_SUCCESS;
    err = rma_graver(err, rma_forward_wait(f));
    int e = coll_ibarrier_members(w->comm, &r);
    if (!e) {
        request_wait_inner(r);
        e = request_finish(r, MPI_STATUS_IGNORE);
    }
    return rma_graver(err, e);
}

static int fence(struct rma_win *w, const struct watch_sync *s,
                 int (*run)(struct rma_win *w, const struct watch_sync *s))
{
    int stores = !(s->assert & MPI_MODE_NOSTORE), runs = !rma_fence_check(w, s->assert);
    struct rma_forwarding f;
    rma_forward_take(w, runs ? FORWARD_ALL : FORWARD_NONE, &f);
    int err = runs ? rma_replicas_flush(w->replicas) : MPI_SUCCESS;
    struct watch_sync waits = *s; /* puts to copies do not wait for a fence */
    waits.assert &= ~MPI_MODE_NOPRECEDE;
    err = rma_graver(err, run(w, &waits));
    return runs ? rma_graver(err, in_fence(w, stores, &f)) : err;
}

static int flush(struct rma_win *w, const struct watch_sync *s,
                 int (*run)(struct rma_win *w, const struct watch_sync *s))
{
    struct rma_replicas *x = w->replicas;
    struct asked a;
    struct rma_forwarding f;
    int there = s->rank >= 0 && s->rank < w->size && rma_in(w, SET_PASSIVE);
    a.from = a.n = 0;
    rma_forward_take(w, there ? s->rank : FORWARD_NONE, &f);
    if (there)
        ask(x, s->rank, &a);
    int err = run(w, s);
    err = rma_graver(err, answers(x, s->rank, &a));
    err = rma_graver(err, rma_forward_wait(&f)); /* after puts to the same place */
    return rma_graver(err, rma_take_err(&x->err));
}

static int flush_all(struct rma_win *w, const struct watch_sync *s,
                     int (*run)(struct rma_win *w, const struct watch_sync *s))
{
    struct rma_forwarding f;
    rma_forward_take(w, rma_in(w, SET_PASSIVE) ? FORWARD_ALL : FORWARD_NONE, &f);
    int err = run(w, s), e = rma_replicas_flush(w->replicas);
    e = rma_graver(e, rma_forward_wait(&f));
    if (e && rma_is_failure(err) && !rma_is_failure(e))
        rma_win_add_err(w, err); /* for the next call: nothing else may know of it */
    return rma_graver(err, e);
}

/* Of calls that wait for nothing elsewhere. */
static int locally(struct rma_win *w, const struct watch_sync *s)
{
    struct rma_replicas *x = w->replicas;
    int all = s->call == WATCH_FLUSH_LOCAL_ALL || s->rank == MPIX_ALL;
    if (!x->k || (!all && (s->rank < 0 || s->rank >= w->size)))
        return MPI_SUCCESS;
    if (s->call == WATCH_FLUSH_LOCAL_ALL)
        return but_failed(rma_flush_local_all(x->copies));
    if (s->call == WATCH_FLUSH_LOCAL)
        return at_copies(x, s->rank, rma_flush_local);
    return all ? rma_order(x->copies, MPIX_ALL) : at_copies(x, s->rank, rma_order);
}

/* With MPI_MODE_NOCHECK no lock is taken, and the window does not know of which type it was. */
static int note_type(struct rma_win *w, const struct watch_sync *s,
                     int (*run)(struct rma_win *w, const struct watch_sync *s))
{
    int err = run(w, s);
    if (!err && s->rank == w->rank)
        w->replicas->exclusive = s->type == MPI_LOCK_EXCLUSIVE;
    return err;
}

int rma_replicas_sync(struct rma_win *w, const struct watch_sync *s,
                      int (*run)(struct rma_win *w, const struct watch_sync *s))
{
    struct rma_replicas *x = w->replicas;
    int err;
    switch (s->call) {
    case WATCH_FENCE:
        return fence(w, s, run);
    case WATCH_LOCK:
        return note_type(w, s, run);
    case WATCH_FLUSH:
        return flush(w, s, run);
    case WATCH_FLUSH_ALL:
        return flush_all(w, s, run);
    case WATCH_UNLOCK:
    case WATCH_UNLOCK_ALL:
    case WATCH_COMPLETE:
    case WATCH_POST:
        err = first(w, s);
        return rma_graver(err, run(w, s));
    case WATCH_FLUSH_LOCAL:
    case WATCH_FLUSH_LOCAL_ALL:
        err = run(w, s); /* with an error of one target it has waited for the others */
        return rma_graver(err, locally(w, s));
    case WATCH_ORDER:
        err = run(w, s);
        return err ? err : locally(w, s);
    case WATCH_START:
        err = run(w, s);
        if (!err && x->k)
            rma_posts_wait(w);
        return err;
    default:
        return run(w, s);
    }
}
