/* Random one-sided programs under the race checker (src/race), against all pairs of their
 * accesses. Two windows of each rank show the same 64 bytes; the buffers of operations lie in 64
 * others. An access is a mask of the bytes that it touches.
 *
 *   race-*          the bytes on which a race is reported are those on which two accesses meet that
 *                   nothing orders. Programs with accumulates that fetch may have possible ones
 *   race-starved-*  4 KiB for records: nothing but these bytes is reported
 *   race-unordered  ends of operations overtake their records
 *   race-notes-*    some operations notify their target, which waits for that
 *
 * The oracle has clocks of its own: `sure` is what a rank knows of another by the calls alone,
 * `wide` what it may know by the messages of the checker that have come before they are due.
 * doc/design/race.md has the edges. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "race/watched.h"
#include "scripted.h"

enum { RANKS = 6, BYTES = 64, WINS = 2, MOST = 700, ROUNDS = 4, MOST_MSGS = 64 };
enum { SURE, WIDE, ORACLES };
enum kind { LOAD, STORE, GET, PUT, ACC, READ }; /* of an access; LOAD, STORE: of a buffer */
enum where { WINDOW, BUFFER };
typedef uint64_t clocks[RANKS];

struct access {
    int rank, owner, win, target;
    enum where where;
    enum kind kind;
    int op, elem, esize, odd;    /* odd: address modulo esize */
    uint64_t mask, number, done; /* done: clock of its rank, 0 while it is open */
    clocks know[ORACLES];
    int unsettled;               /* its lock may not be held yet */
    int fence;                   /* number of the fence that let it in; 0: none */
    int post;                    /* number of the post of its target + 1; 0: none */
    int notifies;
    uint64_t noted;              /* clock of its target, which saw its notification; 0: not yet */
};
struct noted { /* an operation that notifies */
    int origin, owner, win, index, settled; /* settled: its origin knows that it has its lock */
    int access;                  /* its own; -1: it has no bytes, or is not done yet */
    int before;                  /* accesses before it, if it covers these; else 0 */
    uint64_t seen;               /* clock of its owner; 0: not yet */
    clocks sent[ORACLES];
};
struct told { /* a pair that the checker has found */
    int owner, possible, rank[2], kind[2];
    enum where where;
    uint64_t mask;
};
struct holder { /* of the lock of one window of one rank: what its former holders knew */
    clocks exclusive[ORACLES], shared[ORACLES];
};
enum { COLLS = 200, POSTS = 40, NOTES = 64 /* each a counter of its own */ };
static struct oracle {
    int size, met, meeting, fetches;
    struct access a[MOST];
    int n;
    struct told told[4 * MOST];
    int ntold;
    clocks now[RANKS][ORACLES];
    struct holder lock[WINS][RANKS];
    int settled[RANKS][WINS][RANKS]; /* by rank and target: it holds the lock, and knows that */
    int type[RANKS][WINS][RANKS];    /* of that lock; 0: none */
    int all[RANKS][WINS];
    clocks coll[COLLS][RANKS][ORACLES]; /* what a member knew when it came to collective number n */
    int colls[RANKS];
    clocks fence[WINS][COLLS][RANKS][ORACLES];
    int fences[RANKS][WINS];
    clocks post[WINS][POSTS][RANKS][ORACLES], complete[WINS][POSTS][RANKS][ORACLES];
    int posts[RANKS][WINS];
    struct {
        clocks sent[MOST_MSGS], wide;
        int nsent, got;
    } msg[RANKS][RANKS];
    struct noted note[2 * NOTES];
    int nnotes;
    char *window[RANKS], *buffer[RANKS];
    struct rma_win *w[RANKS][WINS];
    uint64_t races, values;
} o;

struct play {
    int rank, size, fence, opened[WINS], messages;
    uint64_t common, own;
    char *pages, *window, *buffer;
    MPI_Win win[WINS];
    MPI_Comm half;
    MPI_Datatype every2;
    struct {
        MPI_Request r;
        int a[3];
        int is_get;
    } req[16];
    int nreq, counters;
    struct noted *noting; /* the next operation notifies */
};
static int with_notes, covers; /* the second window has mpix_notify_order=target */

static unsigned draw(uint64_t *state, unsigned below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33) % below;
}

/* --- clocks ----------------------------------------------------------------------------------- */

static void join(clocks to, const clocks from)
{
    for (int i = 0; i < RANKS; i++)
        if (from[i] > to[i])
            to[i] = from[i];
}

static void join_both(clocks to[ORACLES], clocks from[ORACLES])
{
    for (int k = 0; k < ORACLES; k++)
        join(to[k], (const uint64_t *)from[k]);
}

static uint64_t tick(int rank)
{
    for (int k = 0; k < ORACLES; k++)
        o.now[rank][k][rank]++;
    return o.now[rank][SURE][rank];
}

/* Those of `rank` on target (-1: any) of window win; BUFFER: in its own buffers, and gets. */
static void finish(int rank, int win, int target, enum where where)
{
    uint64_t done = tick(rank);
    for (int i = 0; i < o.n; i++) {
        struct access *a = &o.a[i];
        int is_read = (a->kind == GET || a->kind == READ) && !a->notifies;
        if (a->rank == rank && a->win == win && (target < 0 || a->target == target) && !a->done &&
            (where == WINDOW || a->where == BUFFER || is_read))
            a->done = done;
    }
}

/* The lock is held: what former holders did is before this. */
static void settle(int rank, int win, int target, int type)
{
    clocks former[ORACLES];
    memcpy(former, o.lock[win][target].exclusive, sizeof former);
    if (type == MPI_LOCK_EXCLUSIVE)
        join_both(former, o.lock[win][target].shared);
    o.settled[rank][win][target] = 1;
    for (int i = 0; i < o.n; i++) {
        struct access *a = &o.a[i];
        if (a->rank != rank || a->win != win || a->target != target || !a->unsettled)
            continue;
        join_both(a->know, former);
        a->unsettled = 0;
    }
    join_both(o.now[rank], former);
}

static int type_of(int rank, int win, int target)
{
    return o.all[rank][win] ? MPI_LOCK_SHARED : o.type[rank][win][target];
}

/* The checker waits for a far lock: now it is held. */
int __real_rma_lock_now(struct rma_win *w, int rank);
int __wrap_rma_lock_now(struct rma_win *w, int rank);
int __wrap_rma_lock_now(struct rma_win *w, int rank)
{
    int err = __real_rma_lock_now(w, rank), me = sim_rank();
    for (int i = 0; i < WINS && me < RANKS; i++)
        if (o.w[me][i] == w && type_of(me, i, rank) && !o.settled[me][i][rank])
            settle(me, i, rank, type_of(me, i, rank));
    return err;
}

static void release(int rank, int win, int target, int type)
{
    struct holder *h = &o.lock[win][target];
    join_both(type == MPI_LOCK_EXCLUSIVE ? h->exclusive : h->shared, o.now[rank]);
    o.settled[rank][win][target] = 0;
}

/* --- accesses --------------------------------------------------------------------------------- */

static struct access *add(const struct play *p, int win, int target, enum where where,
                          enum kind kind, uint64_t mask)
{
    SIM_CHECK(o.n < MOST);
    struct access *a = &o.a[o.n++];
    *a = (struct access){.rank = p->rank, .owner = where == WINDOW ? target : p->rank, .win = win,
                         .target = target, .where = where, .kind = kind, .esize = 1,
                         .mask = mask, .number = o.now[p->rank][SURE][p->rank]};
    memcpy(a->know, o.now[p->rank], sizeof a->know);
    return a;
}

static uint64_t bytes_of(int at, int n)
{
    return (n == 64 ? ~0ull : (1ull << n) - 1) << at;
}

static int board(const struct play *p, int win)
{
    return race_win_find(o.w[p->rank][win])->lock_table != NULL;
}

struct shape { /* of one side */
    MPI_Datatype type;
    int at, count, elem, esize, bytes;
    uint64_t mask;
};

static struct shape draw_shape(struct play *p)
{
    struct shape s = {.type = MPI_INT64_T, .elem = 8, .esize = 8};
    unsigned how = draw(&p->own, 6);
    s.at = 8 * (int)draw(&p->own, 5);
    s.count = 1 + (int)draw(&p->own, 2);
    if (how == 0) {
        s.type = MPI_INT32_T;
        s.elem = s.esize = 4;
    } else if (how == 1) {
        s.at += 4;
    } else if (how == 2) { /* runs with gaps: the buffer has these bytes without gaps */
        s.type = p->every2;
        s.mask = bytes_of(s.at, 8) | (s.count > 1 ? bytes_of(s.at + 16, 8) : 0);
    }
    s.bytes = s.count * s.esize;
    s.mask = s.mask ? s.mask : bytes_of(s.at, s.bytes);
    return s;
}

/* What is known at once of the access at the target: post, fence, lock. */
static void let_in(const struct play *p, struct access *a)
{
    int me = p->rank, type = type_of(me, a->win, a->target);
    if (type && o.settled[me][a->win][a->target])
        return;
    a->unsettled = type != 0;
    a->fence = p->fence == a->win + 1 ? o.fences[me][a->win] : 0;
    a->post = p->opened[a->win];
}

/* Its owner has seen it: the operation is complete for what follows there. So are all that its
 * origin called before on that window of the owner, where notifications cover them. */
static void mark_noted(const struct noted *e)
{
    for (int i = 0; e->seen && i < o.n; i++) {
        struct access *a = &o.a[i];
        int its = a->rank == e->origin && a->win == e->win && a->target == e->owner;
        if (its && a->where == WINDOW && !a->noted && (i == e->access || i < e->before))
            a->noted = e->seen;
    }
}

static void note(struct play *p, int win, int t, const struct shape *s, enum kind kind, int op,
                 int from, int to, int size)
{
    int me = p->rank, first = o.n;
    tick(me);
    /* near, the operation has taken the lock that MPI_Win_lock_all left */
    if (o.all[me][win] && !o.settled[me][win][t] && board(p, win) &&
        rma_holds_lock(o.w[me][win], t))
        settle(me, win, t, MPI_LOCK_SHARED);
    struct access *a = add(p, win, t, WINDOW, kind, s->mask);
    if (kind == ACC || kind == READ) {
        a->op = op;
        a->elem = s->elem;
        a->esize = s->esize;
        a->odd = s->at % s->esize;
    }
    let_in(p, a);
    if (p->noting) {
        p->noting->access = (int)(a - o.a);
        a->notifies = 1;
        mark_noted(p->noting);
    }
    if (from >= 0)
        add(p, win, t, BUFFER, LOAD, bytes_of(from, size));
    if (to >= 0)
        add(p, win, t, BUFFER, STORE, bytes_of(to, size));
    if (p->nreq && p->req[p->nreq - 1].a[0] < 0)
        for (int i = 0; i < 3; i++)
            p->req[p->nreq - 1].a[i] = first + i < o.n ? first + i : -1;
}

static int place(struct play *p, int size)
{
    return 8 * (int)draw(&p->own, (unsigned)(BYTES - size) / 8 + 1);
}

static void put_or_get(struct play *p, int win, int t, int passive)
{
    struct shape s = draw_shape(p);
    int b = place(p, s.bytes), get = (int)draw(&p->own, 2), n = s.bytes / s.esize;
    MPI_Datatype plain = s.esize == 4 ? MPI_INT32_T : MPI_INT64_T;
    int may_ask = passive && p->nreq < 16 && !p->noting;
    MPI_Request *r = may_ask && draw(&p->own, 4) == 0 ? &p->req[p->nreq].r : NULL;
    if (r) {
        p->req[p->nreq].a[0] = -1;
        p->req[p->nreq++].is_get = get;
    }
    char *at = p->buffer + b;
    if (p->noting && get)
        OK(MPIX_Get_notify(at, n, plain, t, s.at, s.count, s.type, p->noting->index, p->win[win]));
    else if (p->noting)
        OK(MPIX_Put_notify(at, n, plain, t, s.at, s.count, s.type, p->noting->index, p->win[win]));
    else if (get && r)
        OK(MPI_Rget(at, n, plain, t, s.at, s.count, s.type, p->win[win], r));
    else if (get)
        OK(MPI_Get(at, n, plain, t, s.at, s.count, s.type, p->win[win]));
    else if (r)
        OK(MPI_Rput(at, n, plain, t, s.at, s.count, s.type, p->win[win], r));
    else
        OK(MPI_Put(at, n, plain, t, s.at, s.count, s.type, p->win[win]));
    note(p, win, t, &s, get ? GET : PUT, 0, get ? -1 : b, get ? b : -1, s.bytes);
}

static void accumulate(struct play *p, int win, int t)
{
    static const MPI_Op ops[] = {MPI_SUM, MPI_SUM, MPI_MAX, MPI_REPLACE};
    struct shape s = draw_shape(p);
    int b = place(p, s.bytes), n = s.bytes / s.esize, k = (int)draw(&p->own, 4);
    int result = place(p, s.bytes), reads = (int)draw(&p->own, 3) == 0;
    MPI_Datatype plain = s.esize == 4 ? MPI_INT32_T : MPI_INT64_T;
    char *at = p->buffer + b;
    if (p->noting) {
        OK(MPIX_Accumulate_notify(at, n, plain, t, s.at, s.count, s.type, ops[k], p->noting->index,
                                  p->win[win]));
        note(p, win, t, &s, ACC, (int)ops[k], b, -1, s.bytes);
        return;
    }
    if (!o.fetches || draw(&p->own, 2)) {
        OK(MPI_Accumulate(at, n, plain, t, s.at, s.count, s.type, ops[k], p->win[win]));
        note(p, win, t, &s, ACC, (int)ops[k], b, -1, s.bytes);
        return;
    }
    MPI_Op op = reads ? MPI_NO_OP : ops[k];
    OK(MPI_Get_accumulate(at, n, plain, p->buffer + result, n, plain, t, s.at, s.count, s.type, op,
                          p->win[win]));
    note(p, win, t, &s, reads ? READ : ACC, (int)op, reads ? -1 : b, result, s.bytes);
}

static void wait_one(struct play *p, int i)
{
    OK(MPI_Wait(&p->req[i].r, MPI_STATUS_IGNORE));
    uint64_t done = tick(p->rank);
    for (int k = 0; k < 3; k++) {
        struct access *a = p->req[i].a[k] >= 0 ? &o.a[p->req[i].a[k]] : NULL;
        if (a && !a->done && (a->where == BUFFER || p->req[i].is_get))
            a->done = done;
    }
    p->req[i] = p->req[--p->nreq];
}

static void wait_all(struct play *p)
{
    while (p->nreq)
        wait_one(p, (int)draw(&p->own, (unsigned)p->nreq));
}

static void some_ops(struct play *p, int win, int t, int passive)
{
    for (int n = 1 + (int)draw(&p->own, 2); n-- && o.n < MOST - 150;)
        if (draw(&p->own, 3))
            put_or_get(p, win, t, passive);
        else
            accumulate(p, win, t);
}

/* --- synchronization -------------------------------------------------------------------------- */

/* All are here, and none has learnt anything of another. */
static void meet(const struct play *p)
{
    int mine = o.meeting, flag;
    if (++o.met == p->size) {
        o.met = 0;
        o.meeting++;
    }
    while (o.meeting == mine) {
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        sim_compute(1);
    }
}

static int any_rank(struct play *p)
{
    return (int)draw(&p->own, (unsigned)p->size);
}

/* This rank comes to its next collective. */
static int enter(const struct play *p)
{
    int n = o.colls[p->rank]++;
    SIM_CHECK(n < COLLS);
    tick(p->rank);
    memcpy(o.coll[n][p->rank], o.now[p->rank], sizeof o.coll[n][p->rank]);
    return n;
}

/* It has heard of members first to last. */
static void leave(const struct play *p, int n, int first, int last)
{
    for (int r = first; r <= last; r++)
        join_both(o.now[p->rank], o.coll[n][r]);
}

static void message(const struct play *p, int from, int to, int request)
{
    int v = 0, me = p->rank, tag = 100 + p->messages;
    MPI_Request r;
    if (from == to)
        return;
    if (me == from) {
        int n = o.msg[from][to].nsent++;
        SIM_CHECK(n < MOST_MSGS);
        tick(me);
        memcpy(o.msg[from][to].sent[n], o.now[me][SURE], sizeof(clocks));
        join(o.msg[from][to].wide, o.now[me][WIDE]);
        if (request) {
            OK(MPI_Isend(&v, 1, MPI_INT, to, tag, MPI_COMM_WORLD, &r));
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        } else {
            OK(MPI_Send(&v, 1, MPI_INT, to, tag, MPI_COMM_WORLD));
        }
    } else if (me == to) {
        if (request) {
            OK(MPI_Irecv(&v, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &r));
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        } else {
            OK(MPI_Recv(&v, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
        join(o.now[me][SURE], o.msg[from][to].sent[o.msg[from][to].got++]);
        join(o.now[me][WIDE], o.msg[from][to].wide);
    }
}

static void notify(struct play *p, int win, int owner, int index)
{
    int me = p->rank;
    SIM_CHECK(o.nnotes < 2 * NOTES);
    struct noted *e = &o.note[o.nnotes++];
    tick(me);
    *e = (struct noted){.origin = me, .owner = owner, .win = win, .index = index, .access = -1,
                        .settled = !type_of(me, win, owner) || o.settled[me][win][owner],
                        .before = covers && win ? o.n : 0};
    memcpy(e->sent, o.now[me], sizeof e->sent);
    p->noting = e;
    switch (draw(&p->own, 4)) {
    case 0: OK(MPIX_Put_notify(NULL, 0, MPI_INT, owner, 0, 0, MPI_INT, index, p->win[win])); break;
    case 1: accumulate(p, win, owner); break;
    default: put_or_get(p, win, owner, 0);
    }
    p->noting = NULL;
}

/* Waits until so many notifications have come. */
static void await(struct play *p, MPI_Win win, int index, int many)
{
    int flag = 0;
    MPI_Count value = 0;
    MPI_Request r;
    switch (draw(&p->own, 5)) {
    case 0: OK(MPIX_Win_notify_wait(win, index, many)); break;
    case 1: OK(MPIX_Win_notify_take(win, index, many)); break;
    case 2:
        for (; !flag; sim_compute(1))
            OK(MPIX_Win_notify_test(win, index, many, &flag));
        break;
    case 3:
        for (; value < many; sim_compute(1))
            OK(MPIX_Win_notify_get_value(win, index, &value));
        break;
    default:
        OK(MPIX_Win_notify_request(win, index, many, &r));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    }
}

/* All notifications of one counter are seen: each operation that raised it is complete here, and
 * what its origin knew is known. */
static void see(const struct play *p, int win, int index)
{
    int me = p->rank;
    for (int i = 0; i < o.nnotes; i++) {
        struct noted *e = &o.note[i];
        if (e->owner != me || e->win != win || e->index != index)
            continue;
        join_both(o.now[me], e->sent);
        /* of former holders of its lock those that have released it, perhaps */
        if (!e->settled)
            join(o.now[me][WIDE], o.lock[win][me].exclusive[WIDE]);
    }
    uint64_t now = tick(me);
    for (int i = 0; i < o.nnotes; i++)
        if (o.note[i].owner == me && o.note[i].win == win && o.note[i].index == index) {
            o.note[i].seen = now;
            mark_noted(&o.note[i]);
        }
}

/* One or two ranks notify an owner, which waits for both. */
static void notifications(struct play *p, int win, int passive)
{
    int from = (int)draw(&p->common, (unsigned)p->size), index = p->counters++;
    int owner = (int)draw(&p->common, (unsigned)p->size), many = 1 + (int)draw(&p->common, 2);
    SIM_CHECK(index < NOTES);
    for (int i = 0; i < many; i++) {
        if ((from + i) % p->size != p->rank)
            continue;
        if (draw(&p->own, 2))
            some_ops(p, win, owner, passive);
        notify(p, win, owner, index);
        if (draw(&p->own, 2))
            some_ops(p, win, owner, passive);
    }
    if (owner != p->rank)
        return;
    if (draw(&p->own, 3) == 0)
        some_ops(p, win, owner, passive);
    await(p, p->win[win], index, many);
    see(p, win, index);
    some_ops(p, win, owner, passive);
}

/* What all do at the same place of the program. */
static void together(struct play *p)
{
    int me = p->rank, half = p->size / 2, v = 0, sum[RANKS], n, root = (int)draw(&p->common, 2);
    int from = (int)draw(&p->common, (unsigned)p->size);
    int to = (int)draw(&p->common, (unsigned)p->size);
    MPI_Request r;
    int what = (int)draw(&p->common, with_notes ? 18 : 12);
    if (what >= 9 && with_notes && p->opened[0] < 0)
        notifications(p, (int)draw(&p->common, WINS), 1);
    switch (what) {
    case 0:
        n = enter(p);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        leave(p, n, 0, p->size - 1);
        break;
    case 1:
        n = enter(p);
        OK(MPI_Allreduce(&v, sum, 1, MPI_INT, MPI_SUM, p->half));
        leave(p, n, me < half ? 0 : half, me < half ? half - 1 : p->size - 1);
        break;
    case 2:
        n = enter(p);
        OK(MPI_Bcast(&v, 1, MPI_INT, root, MPI_COMM_WORLD));
        leave(p, n, root, root);
        break;
    case 3:
        n = enter(p);
        OK(MPI_Gather(&v, 1, MPI_INT, sum, 1, MPI_INT, root, MPI_COMM_WORLD));
        leave(p, n, me == root ? 0 : me, me == root ? p->size - 1 : me);
        break;
    case 4:
        n = enter(p);
        OK(MPI_Scan(&v, sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        leave(p, n, 0, me);
        break;
    case 5:
        n = enter(p);
        OK(MPI_Ibarrier(MPI_COMM_WORLD, &r));
        if (p->opened[0] < 0)
            some_ops(p, 0, any_rank(p), 1);
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        leave(p, n, 0, p->size - 1);
        break;
    case 6: case 7: case 8:
        p->messages++;
        message(p, from, to, root);
        break;
    default:
        break;
    }
}

static void flush(struct play *p, int win, int t)
{
    switch (draw(&p->own, 5)) {
    case 0:
        finish(p->rank, win, t, WINDOW);
        OK(MPI_Win_flush(t, p->win[win]));
        break;
    case 1:
        finish(p->rank, win, -1, WINDOW);
        OK(MPI_Win_flush_all(p->win[win]));
        break;
    case 2:
        finish(p->rank, win, t, BUFFER);
        OK(MPI_Win_flush_local(t, p->win[win]));
        break;
    default:
        if (p->nreq)
            wait_one(p, (int)draw(&p->own, (unsigned)p->nreq));
    }
}

static void lock_alls(struct play *p)
{
    int me = p->rank;
    for (int w = 0; w < WINS; w++) {
        OK(MPI_Win_lock_all(0, p->win[w]));
        o.all[me][w] = 1;
        for (int t = 0; t < p->size; t++)
            if (rma_holds_lock(o.w[me][w], t))
                settle(me, w, t, MPI_LOCK_SHARED);
    }
    p->opened[0] = -1;
    for (int n = 2 + (int)draw(&p->common, 4); n--;) {
        for (int k = (int)draw(&p->own, 3); k--;) {
            int w = (int)draw(&p->own, WINS), t = any_rank(p);
            some_ops(p, w, t, 1);
            flush(p, w, draw(&p->own, 2) ? t : any_rank(p));
        }
        together(p);
    }
    p->opened[0] = 0;
    wait_all(p);
    for (int w = 0; w < WINS; w++) {
        /* far, the checker waits for the locks that have operations, and releases them then */
        race_lock_confirm(race_win_find(o.w[me][w]), -1);
        finish(me, w, -1, WINDOW);
        for (int t = 0; t < p->size; t++)
            if (o.settled[me][w][t])
                release(me, w, t, MPI_LOCK_SHARED);
        o.all[me][w] = 0;
        OK(MPI_Win_unlock_all(p->win[w]));
    }
}

static void locks(struct play *p)
{
    int me = p->rank;
    for (int n = 1 + (int)draw(&p->own, 3); n--;) {
        int w = (int)draw(&p->own, WINS), t = (int)draw(&p->own, 2) % p->size;
        int type = draw(&p->own, 3) ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
        OK(MPI_Win_lock(type, t, 0, p->win[w]));
        o.type[me][w][t] = type;
        if (rma_holds_lock(o.w[me][w], t))
            settle(me, w, t, type);
        for (int k = (int)draw(&p->own, 3); k--;) {
            some_ops(p, w, t, 1);
            flush(p, w, t);
        }
        wait_all(p);
        race_lock_confirm(race_win_find(o.w[me][w]), t);
        finish(me, w, t, WINDOW);
        release(me, w, t, type);
        o.type[me][w][t] = 0;
        OK(MPI_Win_unlock(t, p->win[w]));
    }
}

static void fence(struct play *p, int w, int assert)
{
    int me = p->rank, n = o.fences[me][w]++;
    SIM_CHECK(n < COLLS);
    finish(me, w, -1, WINDOW);
    tick(me);
    memcpy(o.fence[w][n][me], o.now[me], sizeof o.fence[w][n][me]);
    OK(MPI_Win_fence(assert, p->win[w]));
    p->fence = 0;
    if (assert & MPI_MODE_NOPRECEDE) {
        p->fence = assert & MPI_MODE_NOSUCCEED ? 0 : w + 1;
        return;
    }
    for (int r = 0; r < p->size; r++)
        join_both(o.now[me], o.fence[w][n][r]);
}

static void fences(struct play *p)
{
    int w = (int)draw(&p->common, WINS), n = 1 + (int)draw(&p->common, 3);
    fence(p, w, draw(&p->common, 2) ? MPI_MODE_NOPRECEDE : 0);
    while (n--) {
        for (int k = (int)draw(&p->own, 3); k--;)
            some_ops(p, w, any_rank(p), 0);
        if (with_notes && draw(&p->common, 2))
            notifications(p, w, 0);
        fence(p, w, n ? 0 : MPI_MODE_NOSUCCEED);
    }
}

/* Rank r accesses the next `many` ranks. */
static void groups(struct play *p)
{
    int w = (int)draw(&p->common, WINS), many = 1 + (int)draw(&p->common, (unsigned)p->size - 1);
    int me = p->rank, to[RANKS], from[RANKS], n = o.posts[me][w]++;
    MPI_Group all, targets, origins;
    SIM_CHECK(n < POSTS);
    for (int i = 0; i < many; i++) {
        to[i] = (me + 1 + i) % p->size;
        from[i] = (me + p->size - 1 - i) % p->size;
    }
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, many, to, &targets);
    MPI_Group_incl(all, many, from, &origins);
    tick(me);
    memcpy(o.post[w][n][me], o.now[me], sizeof o.post[w][n][me]);
    OK(MPI_Win_post(origins, 0, p->win[w]));
    OK(MPI_Win_start(targets, 0, p->win[w]));
    p->opened[w] = n + 1;
    for (int k = (int)draw(&p->own, 4); k--;)
        some_ops(p, w, to[draw(&p->own, (unsigned)many)], 0);
    p->opened[w] = 0;
    finish(me, w, -1, WINDOW);
    tick(me);
    memcpy(o.complete[w][n][me], o.now[me], sizeof o.complete[w][n][me]);
    OK(MPI_Win_complete(p->win[w]));
    OK(MPI_Win_wait(p->win[w]));
    for (int i = 0; i < many; i++)
        join_both(o.now[me], o.complete[w][n][from[i]]);
    MPI_Group_free(&all);
    MPI_Group_free(&targets);
    MPI_Group_free(&origins);
}

/* --- what is reported ------------------------------------------------------------------------- */

static uint64_t mask_of(const struct race_interval *l, const char *base)
{
    uint64_t mask = 0;
    for (uint32_t i = 0; i < l->blocks; i++) {
        uint64_t at = l->at + (uint64_t)i * l->stride - (uint64_t)(uintptr_t)base;
        if (at < BYTES && at + l->len <= BYTES)
            mask |= bytes_of((int)at, (int)l->len);
    }
    return mask;
}

static void on_found(void *arg, const struct race_conflict *f)
{
    int me = sim_rank();
    for (enum where s = WINDOW; s <= BUFFER; s++) {
        const char *base = s == WINDOW ? o.window[me] : o.buffer[me];
        uint64_t mask = mask_of(&f->old->interval, base) & mask_of(&f->now->interval, base);
        if (!mask)
            continue;
        SIM_CHECK(o.ntold < 4 * MOST);
        o.told[o.ntold++] =
            (struct told){me, f->possible, {(int)f->old->batch->tid, (int)f->now->batch->tid},
                          {f->old->effect.kind, f->now->effect.kind}, s, mask};
    }
    race_report(arg, f);
}

static int writes(enum kind k)
{
    return k == STORE || k == PUT || k == ACC;
}

static int interfere(const struct access *a, const struct access *b)
{
    int accs = a->kind >= ACC && b->kind >= ACC;
    if (a->owner != b->owner || a->where != b->where || !(a->mask & b->mask) ||
        (!writes(a->kind) && !writes(b->kind)))
        return 0;
    if (!accs)
        return 1;
    if (a->elem != b->elem || a->odd != b->odd || a->win != b->win)
        return 1;
    return a->rank != b->rank && a->op != b->op && a->kind != READ && b->kind != READ;
}

static int before(const struct access *a, const struct access *b, int oracle)
{
    uint64_t knew = b->rank == a->rank ? b->number : b->know[oracle][a->rank];
    uint64_t saw = b->rank == a->target ? b->number : b->know[oracle][a->target];
    return (a->done && knew >= a->done) || (a->noted && saw >= a->noted);
}

static int same_pair(const struct told *t, const struct access *a, const struct access *b)
{
    return (t->rank[0] == a->rank && t->kind[0] == (int)a->kind && t->rank[1] == b->rank &&
            t->kind[1] == (int)b->kind) ||
           (t->rank[0] == b->rank && t->kind[0] == (int)b->kind && t->rank[1] == a->rank &&
            t->kind[1] == (int)a->kind);
}

/* Bytes of the pair on which two such accesses race. */
static uint64_t truth_of(const struct told *t)
{
    uint64_t mask = 0;
    for (int i = 0; i < o.n; i++)
        for (int j = 0; j < i; j++) {
            const struct access *a = &o.a[i], *b = &o.a[j];
            if (a->owner == t->owner && a->where == t->where && same_pair(t, a, b) &&
                interfere(a, b) && !before(a, b, SURE) && !before(b, a, SURE))
                mask |= a->mask & b->mask;
        }
    return mask;
}

static void judge(int starved)
{
    uint64_t raced[RANKS][2] = {{0}}, said[RANKS][2] = {{0}};
    int none = 1;
    for (int i = 0; i < o.n; i++) { /* what the owner knew when it let the access in */
        struct access *a = &o.a[i];
        SIM_CHECK(a->done != 0);
        if (a->fence)
            join_both(a->know, o.fence[a->win][a->fence - 1][a->target]);
        if (a->post > 0)
            join_both(a->know, o.post[a->win][a->post - 1][a->target]);
    }
    for (int i = 0; i < o.n; i++)
        for (int j = 0; j < i; j++) {
            const struct access *a = &o.a[i], *b = &o.a[j];
            if (!interfere(a, b))
                continue;
            none &= before(a, b, SURE) || before(b, a, SURE);
            if (!before(a, b, WIDE) && !before(b, a, WIDE))
                raced[a->owner][a->where] |= a->mask & b->mask;
        }
    for (int i = 0; i < o.ntold; i++) {
        const struct told *t = &o.told[i];
        said[t->owner][t->where] |= t->mask;
        if (!t->possible && (t->mask & ~truth_of(t)))
            sim_fail("rank %d, %s: bytes %llx of kinds %d and %d by ranks %d and %d are ordered",
                     t->owner, t->where == WINDOW ? "window" : "buffer",
                     (unsigned long long)(t->mask & ~truth_of(t)), t->kind[0], t->kind[1],
                     t->rank[0], t->rank[1]);
        SIM_CHECK(!t->possible || o.fetches || starved);
    }
    for (int r = 0; r < o.size && !starved; r++)
        for (int s = 0; s < 2; s++)
            if (raced[r][s] & ~said[r][s])
                sim_fail("rank %d, %s: a race on bytes %llx is not reported", r,
                         s == WINDOW ? "window" : "buffer",
                         (unsigned long long)(raced[r][s] & ~said[r][s]));
    SIM_CHECK(!none || (o.races == 0 && o.values == 0));
}

/* --- the whole -------------------------------------------------------------------------------- */

static int is_starved(void)
{
    return proc->race->shadow.budget <= 4096;
}

/* Pages are the same in each run, and the seed says where one ends: before what is used, or inside.
 */
static void windows_make(struct play *p)
{
    enum { PAGE = 4096 /* to the checker */, ALL = 4 * PAGE };
    p->pages = aligned_alloc(ALL, ALL);
    SIM_CHECK(p->pages != NULL);
    memset(p->pages, 0, ALL);
    p->window = p->pages + PAGE - 8 * (sim_seed() / 128 % 8);
    p->buffer = p->pages + 2 * PAGE - 8 * (sim_seed() / 16 % 8);
    o.buffer[p->rank] = p->buffer;
    for (int w = 0; w < WINS; w++) {
        if (w == 0 && sim_seed() / 32 % 2)
            MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &o.window[p->rank],
                             &p->win[w]);
        else if (w == 0)
            MPI_Win_create(o.window[p->rank] = p->window, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                           &p->win[w]);
        else
            MPI_Win_create(o.window[p->rank], BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                           &p->win[w]);
        o.w[p->rank][w] = inside(p->win[w]);
    }
    if (!with_notes)
        return;
    for (int w = 0; w < WINS; w++)
        OK(MPIX_Win_notify_set_num(p->win[w], MPI_INFO_NULL, NOTES));
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_notify_order", covers ? "target" : "operation");
    OK(MPI_Win_set_info(p->win[1], info));
    MPI_Info_free(&info);
}

static void windows_free(struct play *p)
{
    MPI_Win_free(&p->win[1]);
    MPI_Win_free(&p->win[0]);
    free(p->pages);
}

static void random_program(void *arg)
{
    struct play *p = calloc(1, sizeof *p);
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &p->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p->size);
    p->common = sim_seed() * 0x9e3779b97f4a7c15ull | 1;
    p->own = (p->common ^ (uint64_t)(p->rank + 1) * 0x9e3779b97f4a7c15ull) | 1;
    MPI_Comm_split(MPI_COMM_WORLD, p->rank < p->size / 2, p->rank, &p->half);
    MPI_Type_create_resized(MPI_INT64_T, 0, 16, &p->every2);
    MPI_Type_commit(&p->every2);
    if (!p->rank) {
        memset(&o, 0, sizeof o);
        o.size = p->size;
        o.fetches = sim_seed() % 4 == 0;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    proc->race->shadow.found = on_found;
    if (!am_ordered((p->rank + 1) % p->size))
        proc->race->pending_max = 1; /* all leave open, their ends behind them */
    windows_make(p);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = 0; r < ROUNDS; r++) {
        static void (*const rounds[])(struct play *) = {lock_alls, lock_alls, locks, fences,
                                                        groups};
        rounds[draw(&p->common, 5)](p);
        meet(p);
        if (draw(&p->common, 3) == 0)
            together(p);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(proc->race->open.count == 0 && proc->race->nheld == 0);
    o.races += proc->race->races;
    o.values += proc->race->values;
    meet(p);
    if (!p->rank)
        judge(is_starved());
    meet(p);
    proc->race->shadow.found = race_report;
    windows_free(p);
    MPI_Type_free(&p->every2);
    MPI_Comm_free(&p->half);
    free(p);
}

/* --- knobs ------------------------------------------------------------------------------------ */

static void watched(struct sim_knobs *k)
{
    with_notes = covers = 0;
    scenario_cvar("MPIR_CVAR_RACE", "rma");
    scenario_cvar("MPIR_CVAR_RACE_REPORTS", k->seed % 16 ? "0" : "1");
    scenario_cvar("MPIR_CVAR_RACE_FILE", "/dev/null");
    k->preempt_percent = k->seed % 3 ? 0 : 20;
}

static void near(struct sim_knobs *k)
{
    watched(k);
    k->nodes = 1;
}

static void noting(struct sim_knobs *k)
{
    watched(k);
    with_notes = 1;
    covers = k->seed / 3 % 2 != 0;
}

static void noting_apart(struct sim_knobs *k)
{
    noting(k);
    k->nodes = k->seed % 2 ? k->ranks : 1;
}

static void noting_unordered(struct sim_knobs *k)
{
    noting(k);
    k->nodes = k->ranks;
    k->ordered = 0;
}

static void far(struct sim_knobs *k)
{
    watched(k);
    k->nodes = k->ranks;
}

static void unordered(struct sim_knobs *k)
{
    far(k);
    k->ordered = 0;
}

static void starved(struct sim_knobs *k)
{
    watched(k);
    scenario_cvar("MPIR_CVAR_RACE_MEM", "4096");
}

const struct scenario scenarios_race[] = {
    {"race-2", 2, 1, random_program, NULL, watched},
    {"race-3", 3, 1, random_program, NULL, watched},
    {"race-near-4", 4, 1, random_program, NULL, near},
    {"race-far-4", 4, 1, random_program, NULL, far},
    {"race-6", 6, 1, random_program, NULL, watched},
    {"race-unordered-3", 3, 1, random_program, NULL, unordered},
    {"race-notes-2", 2, 1, random_program, NULL, noting},
    {"race-notes-3", 3, 1, random_program, NULL, noting},
    {"race-notes-4", 4, 1, random_program, NULL, noting_apart},
    {"race-notes-unordered-3", 3, 1, random_program, NULL, noting_unordered},
    {"race-starved-3", 3, 1, random_program, NULL, starved},
    {"race-starved-5", 5, 1, random_program, NULL, starved},
    {NULL, 0, 0, NULL, NULL, NULL},
};
