/* win_revoke.c - windows that are revoked while their members are in epochs of any kind, wait in
 * them, and die: no call waits for ever, what was flushed is there, nothing lands in the memory
 * behind MPIX_Win_shrink, and MPI_Win_free ends. */
#include "ulfm.h"

#include "coll/coll_types.h"
#include "rma/shared/shmlock_types.h"

enum { KINDS = 9, ROUNDS = 2, TRIES = 100, NOTES = 3 };

/* A member. Word r of each part is for puts of the process that has rank r in MPI_COMM_WORLD: they
 * count up. */
struct part {
    int rank, size; /* in MPI_COMM_WORLD */
    MPI_Comm c;     /* of those that agree */
    MPI_Win win, other;
    long *mem;
    int n, me, name[SIM_RANKS]; /* of win: members, own rank, ranks in MPI_COMM_WORLD */
    long put[SIM_RANKS], flushed[SIM_RANKS], value[SIM_RANKS]; /* by name; puts read value */
    struct limit limit; /* when it revokes */
};

static int ends(int err)
{
    int c = class_of(err);
    SIM_CHECK(!c || c == MPIX_ERR_PROC_FAILED || c == MPIX_ERR_PROC_FAILED_PENDING ||
              c == MPIX_ERR_REVOKED);
    return c;
}

/* A window of c's members, or (MPI_WIN_NULL) some did not get it. */
static MPI_Win window(struct part *x, long **mem)
{
    MPI_Win win = MPI_WIN_NULL;
    MPI_Info info;
    int unacked;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpix_notify_num", "3"));
    int err = MPI_Win_allocate(SIM_RANKS * (MPI_Aint)sizeof **mem, sizeof **mem, info, x->c, mem,
                               &win);
    MPI_Info_free(&info);
    may_fail(err);
    if (!err) {
        MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
        memset(*mem, 0, SIM_RANKS * sizeof **mem);
    }
    if (!all_say(x->c, !err, &unacked) && !err) {
        may_fail(MPI_Win_free(&win));
        win = MPI_WIN_NULL;
    }
    return win;
}

/* --- operations ----------------------------------------------------------------------------- */

static int put(struct part *x, MPI_Win win, int t)
{
    int name = x->name[t];
    x->value[name] = ++x->put[name];
    return ends(MPI_Put(&x->value[name], 1, MPI_LONG, t, x->rank, 1, MPI_LONG, win));
}

static void put_is_there(struct part *x, int t)
{
    x->flushed[x->name[t]] = x->put[x->name[t]];
}

static int put_and_flush(struct part *x, MPI_Win win, int t)
{
    int err = put(x, win, t);
    if (!err)
        err = sim_random() % 4 ? ends(MPI_Win_flush(t, win)) : ends(MPI_Win_flush_all(win));
    if (!err)
        put_is_there(x, t);
    return err;
}

/* --- epochs: until the window is revoked ----------------------------------------------------- */

static void in_fences(struct part *x)
{
    int assert = sim_random() % 2 ? MPI_MODE_NOPRECEDE : 0;
    for (;;) {
        if (over(&x->limit) || ends(MPI_Win_fence(assert, x->win)))
            return;
        for (int t = 0; t < x->n; t++)
            if (!assert)
                put_is_there(x, t);
        assert = 0;
        for (int t = 0; t < x->n; t++)
            if (put(x, x->win, t))
                return;
    }
}

static void in_pscw(struct part *x)
{
    MPI_Group all, others;
    OK(MPI_Win_get_group(x->win, &all));
    OK(MPI_Group_excl(all, 1, &x->me, &others));
    for (int err = 0; !err && x->n > 1;) {
        if (over(&x->limit) || ends(MPI_Win_post(others, 0, x->win)) || over(&x->limit) ||
            ends(MPI_Win_start(others, 0, x->win)))
            break;
        for (int t = 0; t < x->n && !err; t++)
            if (t != x->me)
                err = put(x, x->win, t);
        if (err || over(&x->limit) || (err = ends(MPI_Win_complete(x->win))) != 0)
            break;
        for (int t = 0; t < x->n; t++)
            put_is_there(x, t);
        if (sim_random() % 2) {
            err = ends(MPI_Win_wait(x->win));
        } else {
            for (int flag = 0; !flag && !err;)
                err = ends(MPI_Win_test(x->win, &flag));
        }
    }
    MPI_Group_free(&others);
    MPI_Group_free(&all);
}

static void in_locks(struct part *x)
{
    for (unsigned i = 0;; i++) {
        int t = (int)((sim_seed() + i / 4) % (unsigned)x->n), type = MPI_LOCK_EXCLUSIVE;
        if (sim_random() % 4 == 0)
            type = MPI_LOCK_SHARED;
        if (ends(MPI_Win_lock(type, t, 0, x->win)))
            return;
        if (put(x, x->win, t) || over(&x->limit) || /* it holds the lock, or has asked for it */
            (sim_random() % 2 && ends(MPI_Win_flush(t, x->win))) || over(&x->limit) ||
            ends(MPI_Win_unlock(t, x->win)))
            return;
        put_is_there(x, t);
    }
}

static void in_lock_all(struct part *x, int dup)
{
    MPI_Win win = x->win;
    MPI_Request r;
    for (;;) {
        if (ends(MPI_Win_lock_all(0, x->win)))
            return;
        if (dup) {
            MPI_Win made = MPI_WIN_NULL;
            if (ends(MPIX_Win_idup(x->win, MPI_INFO_NULL, &made, &r)))
                return;
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
            win = made;
        }
        int err = 0;
        for (int t = 0; !err && t < x->n; t++)
            err = over(&x->limit) || put_and_flush(x, win, t);
        if (!err && dup)
            err = ends(MPI_Win_free(&win));
        if (err && dup) { /* it stays, with the error of a death; then it goes */
            OK(MPIX_Win_revoke(win));
            ERR(MPIX_ERR_REVOKED, MPI_Win_flush_all(win));
            OK(MPI_Win_free(&win));
        }
        if (err || ends(MPI_Win_unlock_all(x->win)))
            return;
    }
}

/* Each waits for its left neighbour. */
static void in_notes(struct part *x, int request)
{
    int right = (x->me + 1) % x->n;
    MPI_Request r;
    if (ends(MPI_Win_lock_all(0, x->win)))
        return;
    for (;;) {
        int name = x->name[right];
        if (over(&x->limit))
            return;
        x->value[name] = ++x->put[name];
        if (ends(MPIX_Put_notify(&x->value[name], 1, MPI_LONG, right, x->rank, 1, MPI_LONG, 1,
                                 x->win)) ||
            ends(MPI_Win_flush_all(x->win)))
            return;
        put_is_there(x, right);
        if (!request) {
            if (ends(MPIX_Win_notify_take(x->win, 1, 1)))
                return;
            continue;
        }
        if (ends(MPIX_Win_notify_request(x->win, 1, 1, &r)))
            return;
        int err = ends(MPI_Wait(&r, MPI_STATUS_IGNORE));
        if (err == MPIX_ERR_PROC_FAILED_PENDING) {
            OK(MPIX_Win_revoke(x->win));
            err = ends(MPI_Wait(&r, MPI_STATUS_IGNORE));
        }
        SIM_CHECK(r == MPI_REQUEST_NULL);
        if (err || ends(MPIX_Win_notify_take(x->win, 1, 1)))
            return;
    }
}

/* Requests, and locks that were called and not asked for, before those of another window, which is
 * not revoked. */
static void in_order_of_calls(struct part *x)
{
    MPI_Request r;
    for (unsigned i = 0;; i++) {
        int t = (int)((sim_seed() + i / 4) % (unsigned)x->n), name = x->name[t];
        if (ends(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, x->win)))
            return;
        x->value[name] = ++x->put[name];
        if (ends(MPI_Rput(&x->value[name], 1, MPI_LONG, t, x->rank, 1, MPI_LONG, x->win, &r)))
            return;
        if (x->other != MPI_WIN_NULL) {
            int err = MPI_Win_lock(MPI_LOCK_SHARED, t, 0, x->other);
            may_fail(err);
            if (!err)
                may_fail(MPI_Win_unlock(t, x->other));
        }
        (void)ends(MPI_Wait(&r, MPI_STATUS_IGNORE));
        if (over(&x->limit) || ends(MPI_Win_unlock(t, x->win)))
            return;
        put_is_there(x, t);
    }
}

static void epochs(struct part *x, int kind)
{
    switch (kind) {
    case 0: in_fences(x); break;
    case 1: in_pscw(x); break;
    case 2:
    case 3: in_locks(x); break;
    case 4: in_lock_all(x, 0); break;
    case 5: in_lock_all(x, 1); break;
    case 6: in_notes(x, 0); break;
    case 7: in_notes(x, 1); break;
    default: in_order_of_calls(x); break;
    }
}

/* --- and then -------------------------------------------------------------------------------- */

static void is_revoked(struct part *x)
{
    char name[MPI_MAX_OBJECT_NAME];
    int flag = 0, n;
    long v = 0;
    MPI_Group g;
    OK(MPIX_Win_is_revoked(x->win, &flag));
    SIM_CHECK(flag == 1);
    ERR(MPIX_ERR_REVOKED, MPI_Put(&v, 1, MPI_LONG, 0, 0, 1, MPI_LONG, x->win));
    ERR(MPIX_ERR_REVOKED, MPI_Win_fence(0, x->win));
    ERR(MPIX_ERR_REVOKED, MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, x->win));
    ERR(MPIX_ERR_REVOKED, MPI_Win_flush(0, x->win));
    ERR(MPIX_ERR_REVOKED, MPI_Win_unlock_all(x->win));
    ERR(MPIX_ERR_REVOKED, MPIX_Win_notify_test(x->win, 1, 1, &flag));
    OK(MPI_Win_set_name(x->win, "revoked"));
    OK(MPI_Win_get_name(x->win, name, &n));
    OK(MPI_Win_get_group(x->win, &g));
    MPI_Group_free(&g);
    OK(MPIX_Win_get_failed(x->win, &g));
    MPI_Group_free(&g);
}

/* What a process that lives holds of this one's puts: the last that was flushed, or what was put
 * since. */
static void are_there(struct part *x, int exactly)
{
    int err = MPI_Win_lock_all(0, x->win);
    may_fail(err);
    for (int t = 0; t < x->n && !err; t++) {
        int name = x->name[t];
        long got = -1;
        int e = MPI_Get(&got, 1, MPI_LONG, t, x->rank, 1, MPI_LONG, x->win);
        may_fail(e);
        int f = MPI_Win_flush(t, x->win);
        may_fail(f);
        SIM_CHECK(e || f || (got >= x->flushed[name] && got <= x->put[name]));
        SIM_CHECK(e || f || !exactly || got == x->put[name] || x->flushed[name] < x->put[name]);
    }
    if (!err)
        may_fail(MPI_Win_unlock_all(x->win));
}

static void puts_once_more(struct part *x)
{
    int err = MPI_Win_lock_all(0, x->win);
    may_fail(err);
    for (int t = 0; t < x->n && !err; t++)
        (void)put_and_flush(x, x->win, t);
    if (!err)
        may_fail(MPI_Win_unlock_all(x->win));
}

static void goes_on(struct part *x)
{
    MPI_Win old = x->win;
    int unacked, first = (int)(sim_seed() % 3);
    x->win = shrunk(x->c, x->win);
    members_of(x->win, &x->n, &x->me, x->name);
    are_there(x, 0);
    (void)all_say(x->c, 1, &unacked); /* old puts may land before, not after */
    puts_once_more(x);
    if (first)
        may_fail(MPI_Win_free(&old));
    are_there(x, 1);
    may_fail(MPI_Win_free(&x->win));
    if (!first)
        may_fail(MPI_Win_free(&old));
}

static void begin(struct part *x, int round)
{
    memset(x->put, 0, sizeof x->put);
    memset(x->flushed, 0, sizeof x->flushed);
    members_of(x->win, &x->n, &x->me, x->name);
    uint64_t h = (sim_seed() + 77u * (unsigned)round + 1) * 0x9e3779b97f4a7c15ull;
    x->limit.gives_up = x->me == (int)((h >> 33) % (unsigned)x->n);
    x->limit.turns = (int)((h >> 20) % 12);
}

static void revokes(void *arg)
{
    struct part x = {.other = MPI_WIN_NULL};
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &x.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &x.size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    x.c = copy_of(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    int dies = sim_seed() % 2 && is_doomed(x.rank, x.size);
    if (dies)
        sim_die_at(1 + (int)(sim_random() % (90u * (unsigned)x.size)));
    for (int i = 0; i < ROUNDS; i++) {
        int kind = (int)((sim_seed() + 4u * (unsigned)i) % KINDS);
        long *unused;
        if ((x.win = window(&x, &x.mem)) == MPI_WIN_NULL)
            continue;
        x.other = kind == KINDS - 1 ? window(&x, &unused) : MPI_WIN_NULL;
        begin(&x, i);
        epochs(&x, kind);
        OK(MPIX_Win_revoke(x.win));
        is_revoked(&x);
        if ((sim_seed() + (unsigned)i) % 3)
            goes_on(&x);
        else
            OK(MPI_Win_free(&x.win));
        if (x.other != MPI_WIN_NULL)
            may_fail(MPI_Win_free(&x.other));
        SIM_CHECK(!rma_self()->lazy_alls); /* no lock of another window looks for lazy ones */
    }
    if (dies)
        sim_die();
    OK(MPI_Comm_free(&x.c));
}

/* One has the window and revokes it, while others are still making it. */
static void revokes_early(void *arg)
{
    int rank, size;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 4; i++) {
        MPI_Win win = MPI_WIN_NULL;
        long *mem, v = 1;
        int err = class_of(MPI_Win_allocate(sizeof v, sizeof v, MPI_INFO_NULL, MPI_COMM_WORLD,
                                            &mem, &win));
        SIM_CHECK(!err || err == MPIX_ERR_REVOKED);
        if (!err) {
            MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
            if (rank == (int)((sim_seed() + (unsigned)i) % (unsigned)size))
                OK(MPIX_Win_revoke(win));
            while (!err)
                err = ends(MPI_Win_fence(0, win));
            ERR(MPIX_ERR_REVOKED, MPI_Put(&v, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
            OK(MPI_Win_free(&win));
        }
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
}

/* --- exactly --------------------------------------------------------------------------------- */

/* Rank 2 holds the lock of rank 1, which ranks 0 and 3 have asked for, and revokes. Three waits
 * cost two answers, and each member is told twice. */
static void denied_exactly(void *arg)
{
    struct job j = job_of_mortals(4);
    struct counts c, target;
    long v = 5, notices = 0;
    (void)arg;
    if (j.rank == 2) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        put1(&j, &v, 1, 2);
        OK(MPI_Win_flush(1, j.win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    target = mark(1);
    c = mark(j.rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (j.rank == 0 || j.rank == 3) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        put1(&j, &v, 1, j.rank);
        ERR(MPIX_ERR_REVOKED, MPI_Win_flush(1, j.win));
        SENT(&c, 1, PUT); /* with LOCK */
        MPI_Send(NULL, 0, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
    } else if (j.rank == 1) {
        while (inside(j.win)->target.lockq.count < 2)
            turn();
        tell(2);
        hear(0);
        hear(3);
        SENT(&target, 2, GRANTED);
        SIM_CHECK(j.mem[0] == 0 && j.mem[2] == 5 && j.mem[3] == 0);
        SIM_CHECK(!inside(j.win)->target.lockq.count);
    } else {
        hear(1);
        OK(MPIX_Win_revoke(j.win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = 0; r < j.size; r++)
        notices += sim_sent(r, AM_COLL + COLL_PKT_REVOKE);
    SIM_CHECK(notices == 8);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&j.win));
}

/* Rank 2 asks for a lock together with gets, and has reserved room for their answers. That is there
 * again after each denial. */
static void denied_often(void *arg)
{
    enum { WINDOWS = 30, GETS = 8 };
    (void)arg;
    for (int i = 0; i < WINDOWS; i++) {
        struct job j = job_of_mortals(GETS);
        long got[GETS];
        if (j.rank == 0) {
            OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
            OK(MPI_Win_flush(1, j.win));
            put1(&j, &(long){1}, 1, 0);
            OK(MPI_Win_flush(1, j.win));
            tell(2);
            hear(1);
            OK(MPIX_Win_revoke(j.win));
        } else if (j.rank == 2) {
            hear(0);
            OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
            for (int k = 0; k < GETS; k++)
                OK(MPI_Get(&got[k], 1, MPI_LONG, 1, k, 1, MPI_LONG, j.win));
            ERR(MPIX_ERR_REVOKED, MPI_Win_unlock(1, j.win));
        } else {
            while (!inside(j.win)->target.lockq.count)
                turn();
            tell(0);
        }
        OK(MPIX_Win_revoke(j.win));
        OK(MPI_Win_free(&j.win));
    }
}

/* A near process that waits for a lock: rank 2 leaves the queue, and holds nothing. */
static void near_waits(void *arg)
{
    struct job j = job_of_mortals(4);
    (void)arg;
    if (j.rank == 0) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        tell(2);
        while (!(rma_near_of(inside(j.win), 1)->lockword->tail))
            turn();
        OK(MPIX_Win_revoke(j.win));
        hear(2);
    } else if (j.rank == 2) {
        hear(0);
        ERR(MPIX_ERR_REVOKED, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        const struct shmlock *l = rma_near_of(inside(j.win), 1)->lockword;
        SIM_CHECK(l->head == l->tail && shmlock_writer(l->word) == 0);
        tell(0);
        tell(1);
    } else {
        hear(2);
    }
    OK(MPIX_Win_revoke(j.win));
    OK(MPI_Win_free(&j.win));
}

/* Rank 1 has locked the first window whole, and asks for that before it locks the other one. The
 * first is revoked meanwhile: the lock of the other is no worse. */
static void lazy_waits(void *arg)
{
    struct job j = job_of_mortals(4), other = job_of_mortals(4);
    (void)arg;
    if (j.rank == 0) {
        struct rma_win *w = inside(j.win);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, j.win));
        tell(1);
        while (!rma_near_of(w, 0)->lockword->tail && !w->target.lockq.count)
            turn();
        OK(MPIX_Win_revoke(j.win));
        hear(1);
    } else {
        hear(0);
        OK(MPI_Win_lock_all(0, j.win));
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, other.win));
        OK(MPI_Win_unlock(1, other.win));
        tell(0);
    }
    OK(MPIX_Win_revoke(j.win));
    OK(MPI_Win_free(&j.win));
    OK(MPI_Win_free(&other.win));
}

/* Others were refused at rank 1, and never come again: it has nothing to look for. */
static void idle_soon(void *arg)
{
    struct job j = job_of_mortals(4);
    (void)arg;
    if (j.rank == 1) {
        struct rma_win *w = inside(j.win);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        for (int r = 0; r < j.size; r++)
            if (r != 1)
                tell(r);
        while (w->target.lockq.stamps == w->target.lockq.admitted)
            turn();
        OK(MPIX_Win_revoke(j.win));
    } else { /* one may come too late */
        hear(1);
        int err = ends(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        long v = 1;
        if (!err)
            err = ends(MPI_Put(&v, 1, MPI_LONG, 1, j.rank, 1, MPI_LONG, j.win));
        if (!err)
            ERR(MPIX_ERR_REVOKED, MPI_Win_flush(1, j.win));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; j.rank == 1 && i < 10; i++)
        turn();
    SIM_CHECK(j.rank != 1 || list_empty(&rma_self()->active));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_free(&j.win));
}

static void poor_near(struct sim_knobs *k)
{
    mortal_poor(k);
    k->nodes = 1;
}

/* A request waits in a lock queue of one place; the others are refused, and come again. */
static void crowded(struct sim_knobs *k)
{
    mortal(k);
    far_away(k);
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_LOCK_ENTRY_WIN_POOL_SIZE",
                  "1");
}

const struct scenario scenarios_win_revoke[] = {
    {"revoke-windows-2", 2, 1, revokes, NULL, mortal},
    {"revoke-windows-4", 4, 1, revokes, NULL, mortal},
    {"revoke-windows-7", 7, 1, revokes, NULL, mortal},
    {"revoke-windows-near-5", 5, 1, revokes, NULL, mortal_near},
    {"revoke-windows-poor-5", 5, 1, revokes, NULL, mortal_poor},
    {"revoke-windows-poor-near-5", 5, 1, revokes, NULL, poor_near},
    {"revoke-windows-crowded-5", 5, 1, revokes, NULL, crowded},
    {"revoke-windows-early-2", 2, 1, revokes_early, NULL, mortal},
    {"revoke-windows-early-5", 5, 1, revokes_early, NULL, mortal},
    {"revoke-windows-held-3", 3, 1, near_waits, NULL, mortal_near},
    {"revoke-windows-idle-4", 4, 1, idle_soon, NULL, crowded},
    {"revoke-windows-lazy-near-2", 2, 1, lazy_waits, NULL, mortal_near},
    {"revoke-windows-lazy-far-2", 2, 1, lazy_waits, NULL, calm},
    {"revoke-windows-often", 3, 1, denied_often, NULL, calm},
    {"revoke-windows-counts", 4, 1, denied_exactly, NULL, calm},
    {NULL, 0, 0, NULL, NULL, NULL},
};
