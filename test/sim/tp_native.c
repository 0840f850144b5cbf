/* tp_native.c - native put, get, atomics and flush of tp_sim (tp.h).
 *
 *      put --> [read the source] --> [write, perhaps in two parts] --> visible --> reported
 *              (local completion may be earlier)
 *      get --> [read, perhaps in two parts] --> [write at the origin] --> reported
 *              (the target may be dead when the origin is written)
 *
 * The card works by itself, whatever the target does: at each step of the scheduler what is due
 * happens.  When, in which order (unless knobs.native_ordered) and in how many parts is drawn from
 * the seed. Atomics have no order in any case. They are atomic with each other; with the
 * processor's if knobs.native_coherent is set, else each reads now and writes later.
 *
 * A transmit context (knobs.native_tx) has operations of its own: neither the flush of the process
 * nor that of another context waits for them, and messages pass them. */
#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base/sched.h"
#include "sim_types.h"

enum { RMA_MAX = 2048, INLINE = 32, OUTSTANDING = 12, ATOM_MAX = 64 };

struct tp_mem {
    struct list link; /* s->mems */
    uint64_t id;
    int owner, access;
    char *base;
    size_t len;
};

struct tp_far {
    int peer;
    uint64_t id;
    int *users; /* the far that a context was given counts those that have it; else NULL */
    int used;
};

struct tp_tx {
    struct list link; /* ranks[rank].txs */
    int rank;
    int ops;    /* under way */
    int fars;   /* not dropped */
    int inside; /* a thread is in tx_put or tx_flush */
    char broken[SIM_RANKS]; /* the connection to that rank is */
};

struct key {
    uint64_t id;
    int64_t owner;
};

struct report { /* of a put_note that is in memory */
    struct list link; /* ranks[target].reports */
    uint32_t note;
    long due;
};

enum kind { PUT, GET, ATOMIC, FLUSH };

struct nic_op {
    struct list link; /* ranks[origin].nic, in the order of the calls */
    uint64_t serial;
    enum kind kind;
    int peer, err;
    uint64_t mem, off;
    const char *src;  /* put: where the data is until it has been read */
    char *dst;        /* get: where it goes */
    size_t len, moved; /* moved: bytes that have reached the target's memory, or left it */
    long due;         /* step of the next part */
    int read;         /* put: the source has been read; get, atomic: the target's memory */
    int executed, told;
    int noted;        /* put: its target is to be told `note` when it is there */
    uint32_t note;
    struct tp_done *d;
    struct tp_tx *tx; /* NULL: of no context */
    struct tp_atomic a;
    unsigned char operand[ATOM_MAX], compare[ATOM_MAX];
    char data[];      /* put, get: what travels; atomic: old values */
};

/* --- memory --------------------------------------------------------------------------------- */

/* May a buffer of this rank be registered beside the others? Those are for itself alone. */
static int may_lock(const struct sim *s, size_t len, int access)
{
    for (const struct list *l = s->mems.next; l != &s->mems; l = l->next) {
        const struct tp_mem *m = LIST_OBJ(l, struct tp_mem, link);
        len += m->owner == s->now->rank && !m->access ? m->len : 0;
    }
    return access || !s->k.native_locked || len <= (size_t)s->k.native_locked;
}

int sim_native_reg(struct tp *t, void *base, size_t len, int space, int access, struct tp_mem **mem)
{
    (void)t, (void)space;
    if (!may_lock(the_sim, len, access))
        return -ENOMEM;
    struct tp_mem *m = sim_alloc(sizeof *m);
    *m = (struct tp_mem){.id = ++the_sim->nic_serial,
                         .owner = the_sim->now->rank,
                         .access = access,
                         .base = base,
                         .len = len};
    list_push(&the_sim->mems, &m->link);
    *mem = m;
    return 0;
}

int sim_native_pack(struct tp *t, struct tp_mem *mem, void *key, size_t *len)
{
    struct key k = {mem->id, mem->owner};
    (void)t;
    if (*len < sizeof k)
        return -ENOSPC;
    memcpy(key, &k, sizeof k);
    *len = sizeof k;
    return 0;
}

void sim_native_dereg(struct tp *t, struct tp_mem *mem)
{
    (void)t;
    list_del(&mem->link);
    sim_release(mem);
}

int sim_native_import(struct tp *t, unsigned peer, const void *key, size_t len, struct tp_far **far)
{
    struct key k;
    (void)t;
    if (len != sizeof k)
        return -EINVAL;
    memcpy(&k, key, sizeof k);
    if (k.owner != (int64_t)peer)
        return -EINVAL;
    struct tp_far *f = sim_alloc(sizeof *f);
    *f = (struct tp_far){.peer = (int)peer, .id = k.id};
    *far = f;
    return 0;
}

void sim_native_drop(struct tp *t, struct tp_far *far)
{
    (void)t;
    SIM_CHECK(!far->used); /* a context has it yet */
    sim_release(far);
}

/* The bytes an operation acts on, or NULL: no longer registered, out of its range, or not for
 * that. */
static char *memory_of(const struct sim *s, const struct nic_op *op)
{
    int need = op->kind == GET   ? TP_MAY_READ
               : op->kind == PUT ? TP_MAY_WRITE
                                 : TP_MAY_READ | TP_MAY_WRITE;
    for (const struct list *l = s->mems.next; l != &s->mems; l = l->next) {
        const struct tp_mem *m = LIST_OBJ(l, struct tp_mem, link);
        if (m->id != op->mem)
            continue;
        int inside = op->off <= m->len && op->len <= m->len - op->off;
        return inside && (m->access & need) == need && !s->ranks[m->owner].dead ? m->base + op->off
                                                                                : NULL;
    }
    return NULL;
}

/* --- calls ------------------------------------------------------------------------------------ */

static long some_time(struct sim *s)
{
    return s->step + 1 + (long)(sim_draw_bits(s) % (uint64_t)(s->k.max_delay + 4));
}

static int room(struct sim *s, int under_way)
{
    if (under_way >= OUTSTANDING)
        return 0;
    if (!sim_chance(s, s->k.again_percent))
        return 1;
    sim_moved(s); /* as refused() in tp_sim.c */
    return 0;
}

static struct nic_op *start_by(struct sim *s, struct tp_tx *tx, enum kind kind, int peer,
                               size_t len, struct tp_done *d)
{
    struct sim_rank_state *r = &s->ranks[s->now->rank];
    struct nic_op *op = sim_alloc(sizeof *op + len);
    *op = (struct nic_op){
        .serial = ++s->nic_serial, .kind = kind, .peer = peer, .len = len, .d = d, .tx = tx};
    op->due = sim_due(s, SIM_NATIVE_OPS, peer, some_time(s));
    list_push(&r->nic, &op->link);
    if (tx)
        tx->ops++;
    else
        r->nic_ops++;
    s->in_flight++;
    sim_event("native %s of %zu bytes, rank %d",
              (const char *[]){"put", "get", "atomic", "flush"}[kind], len, peer);
    sim_moved(s);
    return op;
}

static struct nic_op *start(struct sim *s, enum kind kind, int peer, size_t len, struct tp_done *d)
{
    return start_by(s, NULL, kind, peer, len, d);
}

static void forget(struct sim *s, int rank, struct nic_op *op)
{
    list_del(&op->link);
    if (op->tx)
        op->tx->ops--;
    else
        s->ranks[rank].nic_ops--;
    s->in_flight--;
    sim_release(op);
}

/* Local memory that was registered with the card, where it asks for that; the registration is
 * looked for again when it is used. */
static void must_be_registered(const struct sim *s, const void *at, size_t len,
                               const struct tp_mem *m)
{
    const struct list *l = s->mems.next;
    while (s->k.native_reg && l != &s->mems && LIST_OBJ(l, struct tp_mem, link) != m)
        l = l->next;
    SIM_CHECK(!s->k.native_reg || (l != &s->mems && (const char *)at >= m->base &&
                                   (const char *)at + len <= m->base + m->len));
}

int sim_native_put(struct tp *t, struct tp_far *far, uint64_t off, const void *src, size_t len,
                   struct tp_mem *smem, struct tp_done *d)
{
    struct sim *s = the_sim;
    (void)t;
    if (len > INLINE)
        must_be_registered(s, src, len, smem);
    if (len > RMA_MAX)
        return -EMSGSIZE;
    if (!room(s, s->ranks[s->now->rank].nic_ops))
        return TP_AGAIN;
    struct nic_op *op = start(s, PUT, far->peer, len, d);
    op->mem = far->id;
    op->off = off;
    op->src = src;
    if (len > INLINE)
        return TP_PENDING;
    memcpy(op->data, src, len);
    op->read = op->told = 1;
    return 0;
}

int sim_native_put_note(struct tp *t, struct tp_far *far, uint64_t off, const void *src, size_t len,
                        struct tp_mem *smem, uint32_t note, struct tp_done *d)
{
    struct sim *s = the_sim;
    int err = sim_native_put(t, far, off, src, len, smem, d);
    if (err && err != TP_PENDING)
        return err;
    struct nic_op *op = LIST_OBJ(s->ranks[s->now->rank].nic.prev, struct nic_op, link);
    op->noted = 1;
    op->note = note;
    return err;
}

int sim_native_get(struct tp *t, struct tp_far *far, uint64_t off, void *dst, size_t len,
                   struct tp_mem *dmem, struct tp_done *d)
{
    struct sim *s = the_sim;
    (void)t;
    must_be_registered(s, dst, len, dmem);
    if (len > RMA_MAX)
        return -EMSGSIZE;
    if (!room(s, s->ranks[s->now->rank].nic_ops))
        return TP_AGAIN;
    struct nic_op *op = start(s, GET, far->peer, len, d);
    op->mem = far->id;
    op->off = off;
    op->dst = dst;
    return TP_PENDING;
}

static size_t width_of(int type)
{
    return (size_t)1 << (type & 15);
}

int sim_native_atomic_ok(struct tp *t, int op, int type, size_t n, int fetch)
{
    (void)t;
    if (type & 32 || (width_of(type) != 4 && width_of(type) != 8) || n * width_of(type) > ATOM_MAX)
        return 0;
    if (fetch == 2)
        return n == 1;
    return op == MPI_SUM || op == MPI_REPLACE || op == MPI_NO_OP || op == MPI_BAND ||
           op == MPI_BOR || op == MPI_BXOR;
}

int sim_native_atomic(struct tp *t, struct tp_far *far, uint64_t off, const struct tp_atomic *a,
                      struct tp_done *d)
{
    struct sim *s = the_sim;
    size_t bytes = a->n * width_of(a->type);
    if (!sim_native_atomic_ok(t, a->op, a->type, a->n, a->compare ? 2 : a->result != NULL) ||
        off % width_of(a->type))
        return -EINVAL;
    if (!room(s, s->ranks[s->now->rank].nic_ops))
        return TP_AGAIN;
    struct nic_op *op = start(s, ATOMIC, far->peer, bytes, d);
    op->mem = far->id;
    op->off = off;
    op->a = *a;
    if (a->operand)
        memcpy(op->operand, a->operand, bytes);
    if (a->compare)
        memcpy(op->compare, a->compare, bytes);
    if (a->result || sim_chance(s, 50))
        return TP_PENDING;
    op->told = 1; /* ours: nothing of the caller's is needed any more, though it is not done */
    return 0;
}

int sim_native_flush(struct tp *t, unsigned peer, struct tp_done *d)
{
    struct sim *s = the_sim;
    const struct sim_rank_state *r = &s->ranks[s->now->rank];
    (void)t;
    int open = 0;
    for (const struct list *l = r->nic.next; l != &r->nic; l = l->next) {
        const struct nic_op *op = LIST_OBJ(l, struct nic_op, link);
        open += op->peer == (int)peer && !op->tx && !op->executed &&
                (op->kind == PUT || op->kind == ATOMIC);
    }
    if (!open)
        return 0;
    if (!room(s, r->nic_ops))
        return TP_AGAIN;
    start(s, FLUSH, (int)peer, 0, d);
    return TP_PENDING;
}

/* --- transmit contexts --------------------------------------------------------------------- */

static int tx_count(const struct sim_rank_state *r)
{
    int n = 0;
    for (const struct list *l = r->txs.next; l != &r->txs; l = l->next)
        n++;
    return n;
}

int sim_tx_contexts(int rank)
{
    return tx_count(&the_sim->ranks[rank]);
}

int sim_tx_open(struct tp *t, struct tp_tx **tx)
{
    struct sim *s = the_sim;
    struct sim_rank_state *r = &s->ranks[s->now->rank];
    (void)t;
    SIM_CHECK(!r->proc->threaded || lock_mine(&r->proc->lock));
    if (tx_count(r) >= s->k.native_tx)
        return -ENOMEM;
    *tx = sim_alloc(sizeof **tx);
    **tx = (struct tp_tx){.rank = s->now->rank};
    list_push(&r->txs, &(*tx)->link);
    sim_event("context %d is opened", tx_count(r));
    return 0;
}

/* What was not flushed is lost with it. */
void sim_tx_close(struct tp_tx *tx)
{
    struct sim *s = the_sim;
    struct sim_rank_state *r = &s->ranks[tx->rank];
    SIM_CHECK(tx->rank == s->now->rank && !tx->inside && !tx->fars);
    SIM_CHECK(!r->proc->threaded || lock_mine(&r->proc->lock));
    for (struct list *l = r->nic.next, *next; l != &r->nic; l = next) {
        struct nic_op *op = LIST_OBJ(l, struct nic_op, link);
        next = l->next;
        if (op->tx != tx)
            continue;
        sim_event("a put to %d that was not flushed is lost", op->peer);
        s->held -= op->due == LONG_MAX;
        forget(s, tx->rank, op);
    }
    list_del(&tx->link);
    sim_release(tx);
}

int sim_tx_far(struct tp_tx *tx, struct tp_far *far, struct tp_far **mine)
{
    const struct sim *s = the_sim;
    SIM_CHECK(tx->rank == s->now->rank && !far->users);
    if (tx->broken[far->peer])
        return -ENOTCONN;
    struct tp_far *f = sim_alloc(sizeof *f);
    *f = (struct tp_far){.peer = far->peer, .id = far->id, .users = &far->used};
    far->used++;
    tx->fars++;
    *mine = f;
    return 0;
}

void sim_tx_drop(struct tp_tx *tx, struct tp_far *mine)
{
    SIM_CHECK(mine->users && tx->rank == the_sim->now->rank);
    --*mine->users;
    tx->fars--;
    sim_release(mine);
}

/* Other threads, and other ranks, run at its beginning: no lock keeps them out. */
static void enter(struct tp_tx *tx, const struct tp_far *mine)
{
    SIM_CHECK(mine->users && tx->rank == the_sim->now->rank && !tx->inside);
    tx->inside = 1;
    sched_point();
    tx->inside = 0;
}

/* The end of its peer is seen some time after it. */
static int broken(struct sim *s, struct tp_tx *tx, int peer)
{
    const struct sim_rank_state *r = &s->ranks[peer];
    if (r->dead ? sim_chance(s, 50) : r->cut)
        tx->broken[peer] = 1;
    return tx->broken[peer];
}

int sim_tx_put(struct tp_tx *tx, struct tp_far *mine, uint64_t off, const void *src, size_t len)
{
    struct sim *s = the_sim;
    enter(tx, mine);
    SIM_CHECK(len <= INLINE);
    if (broken(s, tx, mine->peer))
        return -ENOTCONN;
    if (!room(s, tx->ops))
        return TP_AGAIN;
    struct nic_op *op = start_by(s, tx, PUT, mine->peer, len, NULL);
    op->mem = mine->id;
    op->off = off;
    memcpy(op->data, src, len);
    op->read = op->told = 1;
    s->ranks[tx->rank].tx_puts++;
    return 0;
}

int sim_tx_flush(struct tp_tx *tx, struct tp_far *mine)
{
    struct sim *s = the_sim;
    struct sim_rank_state *r = &s->ranks[tx->rank];
    enter(tx, mine);
    if (broken(s, tx, mine->peer))
        return -ENOTCONN;
    for (const struct list *l = r->nic.next; l != &r->nic; l = l->next) {
        const struct nic_op *op = LIST_OBJ(l, struct nic_op, link);
        if (op->tx == tx && op->peer == mine->peer && !op->executed)
            return TP_AGAIN;
    }
    if (!room(s, 0))
        return TP_AGAIN;
    r->tx_flushes++;
    sim_event("a context is flushed to %d", mine->peer);
    sim_moved(s);
    return 0;
}

void sim_tx_break(int rank, int peer)
{
    struct sim_rank_state *r = &the_sim->ranks[rank];
    for (struct list *l = r->txs.next; l != &r->txs; l = l->next)
        LIST_OBJ(l, struct tp_tx, link)->broken[peer] = 1;
    for (struct list *l = r->nic.next; l != &r->nic; l = l->next) {
        struct nic_op *op = LIST_OBJ(l, struct nic_op, link);
        if (op->tx && op->peer == peer)
            op->executed = 1; /* lost */
    }
}

long sim_tx_puts(int rank)
{
    return the_sim->ranks[rank].tx_puts;
}

long sim_tx_flushes(int rank)
{
    return the_sim->ranks[rank].tx_flushes;
}

/* --- the card --------------------------------------------------------------------------------- */

static uint64_t combine(int op, uint64_t old, uint64_t v)
{
    switch (op) {
    case MPI_SUM: return old + v;
    case MPI_REPLACE: return v;
    case MPI_BAND: return old & v;
    case MPI_BOR: return old | v;
    case MPI_BXOR: return old ^ v;
    default: return old;
    }
}

/* Is the card in the middle of another atomic on that memory? */
static int atomic_between(const struct sim *s, const struct nic_op *op)
{
    for (int i = 0; i < s->k.ranks; i++)
        for (const struct list *l = s->ranks[i].nic.next; l != &s->ranks[i].nic; l = l->next) {
            const struct nic_op *e = LIST_OBJ(l, struct nic_op, link);
            if (e != op && e->kind == ATOMIC && e->mem == op->mem && e->read && !e->executed)
                return 1;
        }
    return 0;
}

static void run_atomic(struct sim *s, struct nic_op *op, char *at)
{
    size_t w = width_of(op->a.type);
    if (!op->read) {
        if (atomic_between(s, op))
            return;
        memcpy(op->data, at, op->len);
        op->read = 1;
        op->due = some_time(s);
        if (!s->k.native_coherent)
            return;
    }
    for (size_t i = 0; i < op->len; i += w) {
        uint64_t old = 0, v = 0, want = 0;
        memcpy(&old, op->data + i, w);
        memcpy(&v, op->operand + i, w);
        memcpy(&want, op->compare + i, w);
        uint64_t next = op->a.compare ? (old == want ? v : old) : combine(op->a.op, old, v);
        memcpy(at + i, &next, w);
    }
    op->executed = 1;
}

/* The target's queue has it from now on; its progress finds it later. */
static void put_report(struct sim *s, const struct nic_op *op)
{
    struct report *x = sim_alloc(sizeof *x);
    *x = (struct report){.note = op->note, .due = some_time(s)};
    list_push(&s->ranks[op->peer].reports, &x->link);
    s->in_flight++;
}

/* One step of an operation that is due. */
static void run(struct sim *s, struct nic_op *op)
{
    if (op->kind == PUT && !op->read) {
        memcpy(op->data, op->src, op->len);
        op->read = 1;
        if (sim_chance(s, s->k.native_put_fails)) { /* before its caller has an answer */
            op->err = -EIO;
            op->executed = 1;
        }
        op->due = some_time(s);
        return;
    }
    if (op->kind == FLUSH) {
        op->executed = 1;
        return;
    }
    if (op->kind == GET && op->read) { /* it is on its way, whichever process has died since */
        memcpy(op->dst, op->data, op->len);
        op->executed = 1;
        return;
    }
    char *at = memory_of(s, op);
    SIM_CHECK(at || op->kind != PUT || !s->k.native_tidy || s->ranks[op->peer].dead);
    if (!at || (op->kind == GET && sim_chance(s, s->k.native_fails))) {
        op->err = at ? -EIO : -EFAULT;
        op->executed = 1;
        if (op->tx)
            op->tx->broken[op->peer] = 1;
        return;
    }
    if (op->kind == ATOMIC) {
        run_atomic(s, op, at);
        return;
    }
    size_t n = op->len - op->moved;
    if (n > 8 && sim_chance(s, 50))
        n = n / 2 & ~(size_t)7;
    if (op->kind == PUT)
        memcpy(at + op->moved, op->data + op->moved, n);
    else
        memcpy(op->data + op->moved, at + op->moved, n);
    op->moved += n;
    op->due = some_time(s);
    op->read |= op->moved == op->len;
    op->executed = op->kind == PUT && op->moved == op->len;
    if (op->executed && op->noted)
        put_report(s, op);
}

/* Must it wait for an earlier one? A flush for all it is about, the rest by the knob. */
static int held_back(const struct sim *s, const struct sim_rank_state *r, const struct nic_op *op)
{
    for (const struct list *l = r->nic.next; l != &op->link; l = l->next) {
        const struct nic_op *e = LIST_OBJ(l, struct nic_op, link);
        if (e->peer != op->peer || e->tx != op->tx || e->executed)
            continue;
        if (op->kind == FLUSH ? e->kind == PUT || e->kind == ATOMIC
                              : s->k.native_ordered && op->kind != ATOMIC && e->kind != ATOMIC &&
                                    (op->kind != PUT || op->read))
            return 1;
    }
    return 0;
}

void sim_native_step(struct sim *s)
{
    for (int i = 0; i < s->k.ranks; i++) {
        struct sim_rank_state *r = &s->ranks[i];
        for (struct list *l = r->nic.next, *next; l != &r->nic; l = next) {
            struct nic_op *op = LIST_OBJ(l, struct nic_op, link);
            next = l->next;
            if (!op->executed && op->due <= s->step && !held_back(s, r, op)) {
                run(s, op);
                sim_moved(s);
            }
            if (op->executed && op->told)
                forget(s, i, op);
        }
    }
}

static int hear_reports(struct sim *s, struct sim_rank_state *r, const struct tp_env *env)
{
    for (struct list *l = r->reports.next; l != &r->reports; l = l->next) {
        struct report *x = LIST_OBJ(l, struct report, link);
        uint32_t note = x->note;
        if (x->due > s->step)
            continue;
        list_del(&x->link);
        s->in_flight--;
        sim_release(x);
        sim_moved(s);
        env->noted(env->up, note);
        return 1;
    }
    return 0;
}

/* A process's progress: what peers' puts report, and its completions, each once. */
int sim_native_progress(struct sim *s, int rank, const struct tp_env *env)
{
    struct sim_rank_state *r = &s->ranks[rank];
    if (hear_reports(s, r, env))
        return 1;
    for (struct list *l = r->nic.next; l != &r->nic; l = l->next) {
        struct nic_op *op = LIST_OBJ(l, struct nic_op, link);
        if (op->told || !(op->executed || (op->kind == PUT && op->read)) || sim_chance(s, 30))
            continue;
        op->told = 1;
        if (!op->err && op->kind == ATOMIC && op->a.result)
            memcpy(op->a.result, op->data, op->len);
        sim_event("native operation %d to %d is complete", (int)op->kind, op->peer);
        sim_moved(s);
        op->d->fn(op->d, op->err); /* may call us again: the list is not touched any more here */
        return 1;
    }
    return 0;
}

/* May a message of src to dst, sent when `serial` was the last, be delivered? Not before the puts
 * that it follows. */
int sim_native_before(const struct sim *s, int src, int dst, uint64_t serial)
{
    const struct sim_rank_state *r = &s->ranks[src];
    if (!s->k.native_ordered)
        return 0;
    for (const struct list *l = r->nic.next; l != &r->nic; l = l->next) {
        const struct nic_op *op = LIST_OBJ(l, struct nic_op, link);
        if (op->peer == dst && !op->tx && op->serial <= serial && op->kind == PUT && !op->executed)
            return 1;
    }
    return 0;
}

int sim_native_held(struct sim *s, int to, int let_go)
{
    int n = 0;
    for (int i = 0; i < s->k.ranks; i++)
        for (struct list *l = s->ranks[i].nic.next; l != &s->ranks[i].nic; l = l->next) {
            struct nic_op *op = LIST_OBJ(l, struct nic_op, link);
            if (op->peer != to || op->due != LONG_MAX)
                continue;
            n++;
            if (!let_go)
                continue;
            op->due = s->step;
            s->held--;
        }
    return n;
}

unsigned sim_native_left(const struct sim *s, int rank)
{
    unsigned n = 0;
    for (const struct list *l = s->mems.next; l != &s->mems; l = l->next)
        n += LIST_OBJ(l, struct tp_mem, link)->owner == rank;
    return n;
}

/* A put of a process that ends is lost; so is what comes behind it, where there is an order. */
static void lose_behind(struct sim *s, int src, const struct nic_op *op)
{
    for (int c = 0; c < 2; c++)
        for (struct list *head = &s->ranks[op->peer].inbox[c], *l = head->next, *next; l != head;
             l = next) {
            struct sim_msg *m = LIST_OBJ(l, struct sim_msg, link);
            next = l->next;
            if (m->src != src || m->after < op->serial)
                continue;
            list_del(&m->link);
            s->ranks[op->peer].queued[c]--;
            s->in_flight--;
            sim_zcopy_read(m, -ENOTCONN);
            sim_release(m);
        }
}

void sim_native_close(struct sim *s, int rank)
{
    struct sim_rank_state *r = &s->ranks[rank];
    for (struct list *l; (l = list_pop(&r->nic)) != NULL;) {
        struct nic_op *op = LIST_OBJ(l, struct nic_op, link);
        if (s->k.native_ordered && op->kind == PUT && !op->tx && !op->executed)
            lose_behind(s, rank, op);
        if (!op->told)
            sim_event("native operation %d to %d left at the end", (int)op->kind, op->peer);
        list_init(&op->link);
        forget(s, rank, op);
    }
    for (struct list *l; (l = list_pop(&r->reports)) != NULL;) {
        s->in_flight--;
        sim_release(LIST_OBJ(l, struct report, link));
    }
    for (struct list *l; (l = list_pop(&r->txs)) != NULL;)
        sim_release(LIST_OBJ(l, struct tp_tx, link));
}

void sim_native_caps(const struct sim *s, struct tp_caps *caps)
{
    static const unsigned flag[] = {TP_PUT, TP_GET, TP_ATOMIC};
    if (!s->k.native)
        return;
    for (int i = 0; i < 3; i++)
        if (s->k.native & 1 << i)
            caps->flags |= flag[i];
    if (s->k.native_reg)
        caps->flags |= TP_REG_LOCAL;
    if (s->k.native_ordered)
        caps->flags |= TP_PUT_THEN_AM;
    if (s->k.native_coherent)
        caps->flags |= TP_CPU_COHERENT;
    if (s->k.native_notes)
        caps->flags |= TP_PUT_NOTE;
    caps->atomic_pays = s->k.native_atomic_pays;
    caps->put_inline = INLINE;
    caps->rma_max = RMA_MAX;
    caps->lone_pays = s->k.native_lone;
    caps->put_min = caps->get_min = caps->pull_min = s->k.native_min ? (size_t)s->k.native_min
                                                                      : SIZE_MAX;
    caps->atomic_sizes = caps->flags & TP_ATOMIC ? 1u << 2 | 1u << 3 : 0;
}
