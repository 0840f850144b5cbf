#include "coll/shm.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "boot/boot.h"
#include "coll/coll_types.h"
#include "mem/mem.h"
#include "obj/err.h"
#include "var/var.h"

enum {
    SHM_SLOTS = 4,  /* operations under way at most between the fastest and the slowest */
    SHM_USES = 8,   /* calls by messages before the segment is made */
    SHM_RANKS = 64, /* with more, a tree is faster */
    LINE = 64
};
static const uint32_t BAD_BYTES = UINT32_MAX;

struct slot {
    _Atomic uint32_t n; /* operation whose data lies here; stored last (release), read first
                         * (acquire) */
    uint32_t bytes;     /* of one part, according to the writer; BAD_BYTES: its own arguments do not
                         * match */
    char data[];        /* the first 56 bytes share the line of n: one transfer moves both */
};

struct left {
    _Alignas(LINE) _Atomic uint32_t n;
};

enum shm_state { SHM_COUNTING, SHM_MAKING, SHM_READY, SHM_NEVER };

struct shm {
    enum shm_state state;
    unsigned uses;
    struct mem_segment *seg;
    uint32_t n;        /* operations so far */
    uint32_t all_left; /* every member has left all operations up to this one */
    size_t slot_size;  /* bytes with header */
    size_t max;        /* bytes of data */
    int size, rank;
    int *host;         /* host index of each member */
    struct comm *comm; /* not referenced: it owns this */
    struct progress_hook hook; /* active while a slot is waited for: see open_slot() */
};

/* --- making the segment ---------------------------------------------------------- */

static void shm_free(void *arg)
{
    struct shm *m = arg;
    if (m->seg)
        mem_segment_drop(m->seg);
    free(m->host);
    free(m);
}

static int all_near(const struct comm *c)
{
    for (int i = 0; i < c->size; i++)
        if (!boot_same_node(comm_world(c, i)))
            return 0;
    return 1;
}

static int no_work(void *arg)
{
    (void)arg;
    return 0;
}

static struct shm *shm_of(struct comm *c)
{
    if (c->coll)
        return c->coll;
    struct shm *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->hook.fn = no_work;
    m->comm = c;
    m->size = c->size;
    m->rank = c->rank;
    if (c->size < 2 || c->size > SHM_RANKS || !all_near(c))
        m->state = SHM_NEVER;
    c->coll = m;
    c->coll_free = shm_free;
    return m;
}

static struct slot *slot_of(const struct shm *m, int rank, uint32_t n)
{
    return (struct slot *)((char *)m->seg->base + (size_t)m->size * sizeof(struct left) +
                           ((size_t)rank * SHM_SLOTS + n % SHM_SLOTS) * m->slot_size);
}

static struct left *left_of(const struct shm *m, int rank)
{
    return (struct left *)m->seg->base + rank;
}

static int attach(struct shm *m, const struct mem_key *key)
{
    if (!(m->host = malloc((size_t)m->size * sizeof *m->host)))
        return -1;
    for (int i = 0; i < m->size; i++)
        m->host[i] = boot_host_index(comm_world(m->comm, i));
    if (m->seg)
        return 0;
    return key->size ? mem_segment_attach(key, &m->seg) : -1;
}

/* Collective: rank 0 makes the segment, the others attach it; used only if all could. */
static void shm_make(struct shm *m)
{
    struct mem_key key = {.fd = -1};
    m->state = SHM_MAKING;
    m->max = (size_t)cvar.coll_shm_bytes;
    m->slot_size = (sizeof(struct slot) + m->max + LINE - 1) / LINE * LINE;
    size_t bytes = (size_t)m->size * (sizeof(struct left) + SHM_SLOTS * m->slot_size);
    /* MEM_ONCE: MPI_Comm_free does not wait, so others may still read the slot of the last
     * operation. */
    if (m->rank == 0 && mem_segment_create(bytes, MEM_ONCE, &m->seg) == 0)
        mem_segment_key(m->seg, &key);
    int err = coll_bcast_bytes(&key, sizeof key, 0, m->comm);
    int64_t fine = !err && attach(m, &key) == 0;
    err = coll_allreduce_i64(&fine, 1, COLL_MIN, m->comm);
    m->state = !err && fine ? SHM_READY : SHM_NEVER;
    if (m->state == SHM_NEVER && m->seg) {
        mem_segment_drop(m->seg);
        m->seg = NULL;
    }
}

/* --- waiting ------------------------------------------------------------------------ */

struct wait {
    struct shm *m;
    int from, to; /* ranks waited for */
    uint32_t n;
    int dead;     /* job rank of a failed member, MISALIGNED, or -1 */
};
enum { MISALIGNED = INT_MAX }; /* a checker has found that the members' calls differ */

static int look_for_dead(struct wait *w)
{
    w->dead = coll_failed_member(w->m->comm);
    return w->dead >= 0;
}

/* What the wait is for has not come. 1: it never will. */
static int not_yet(struct wait *w)
{
    if (__builtin_expect(w->m->comm->misaligned != NULL, 0))
        w->dead = MISALIGNED;
    return w->dead >= 0 || (__builtin_expect(boot_failed_count() != 0, 0) && look_for_dead(w));
}

static int entered(void *arg)
{
    struct wait *w = arg;
    for (; w->from < w->to; w->from++)
        if (atomic_load_explicit(&slot_of(w->m, w->from, w->n)->n, memory_order_acquire) != w->n)
            return not_yet(w);
    return 1;
}

static int have_left(void *arg)
{
    struct wait *w = arg;
    for (; w->from < w->to; w->from++) {
        uint32_t n = atomic_load_explicit(&left_of(w->m, w->from)->n, memory_order_acquire);
        if ((int32_t)(n - w->n) < 0)
            return not_yet(w);
    }
    return 1;
}

static int death(struct wait *w)
{
    w->m->state = SHM_NEVER; /* slots will never be in step again */
    if (w->dead == MISALIGNED)
        return err_make(MPI_ERR_NOT_SAME, "%s", w->m->comm->misaligned);
    return err_make(MPIX_ERR_PROC_FAILED, "process %d of the job has died: %s", w->dead,
                    boot_failed_why(w->dead));
}

static int wait_for(int (*cond)(void *), struct wait *w)
{
    if (!cond(w))
        progress_wait(cond, w, "a collective operation", comm_world(w->m->comm, w->from));
    return w->dead < 0 ? MPI_SUCCESS : death(w);
}

/* All of [from, to) have entered operation n. */
static int await(struct shm *m, int from, int to)
{
    struct wait w = {m, from, to, m->n, -1};
    return wait_for(entered, &w);
}

static void wake(const struct shm *m, int rank)
{
    mem_wake(m->host[rank]);
}

static void wake_others(const struct shm *m)
{
    for (int i = 0; i < m->size; i++)
        if (i != m->rank)
            wake(m, i);
}

/* --- the parts of an operation --------------------------------------------------------- */

/* My slot for this operation, free to be written. */
static int open_slot(struct shm *m, struct slot **out)
{
    m->n++;
    *out = slot_of(m, m->rank, m->n);
    uint32_t before = m->n - SHM_SLOTS;
    if ((int32_t)(m->all_left - before) >= 0)
        return MPI_SUCCESS;
    /* Readers of barrier and allreduce wake no process when they leave: an active hook keeps this
     * sleep short. */
    struct wait w = {m, 0, m->size, before, -1};
    progress_hook_add(&m->hook);
    int err = wait_for(have_left, &w);
    progress_hook_del(&m->hook);
    m->all_left = before;
    for (uint32_t n, i = 0, least = m->n - 1; !err && i < (uint32_t)m->size; i++) {
        n = atomic_load_explicit(&left_of(m, (int)i)->n, memory_order_acquire);
        least = (int32_t)(n - least) < 0 ? n : least;
        if (i + 1 == (uint32_t)m->size)
            m->all_left = least; /* saves the look for the operations it covers */
    }
    return err;
}

static void publish(struct shm *m, struct slot *s, size_t bytes)
{
    s->bytes = (uint32_t)bytes;
    atomic_store_explicit(&s->n, m->n, memory_order_release);
}

static void leave(struct shm *m)
{
    atomic_store_explicit(&left_of(m, m->rank)->n, m->n, memory_order_release);
}

/* All meet. Only a process that sees all others needs to wake any. If two come at once, the fences
 * make at least one see the other (each stores its number, fences, reads all). */
static int meet(struct shm *m, struct slot *s, size_t bytes)
{
    struct wait w = {m, 0, m->size, m->n, -1};
    publish(m, s, bytes);
    fence_full();
    if (entered(&w) && w.dead < 0)
        wake_others(m);
    int err = wait_for(entered, &w);
    m->all_left = m->n - 1;
    return err;
}

/* Ranks [from, to) have entered, and their parts are as long as this process's. Else the calls do
 * not match, and no memory is touched. */
static int alike(struct shm *m, int from, int to, size_t bytes)
{
    for (; from < to; from++) {
        uint32_t there = slot_of(m, from, m->n)->bytes;
        struct wait w = {.m = m, .dead = -1};
        /* that member may have seen the failure, and be in another call */
        if (there != (uint32_t)bytes && boot_failed_count() && look_for_dead(&w))
            return death(&w);
        if (there != (uint32_t)bytes)
            return sched_mismatch(there == BAD_BYTES ? 0 : there, bytes == BAD_BYTES ? 0 : bytes);
    }
    return bytes == BAD_BYTES ? sched_mismatch(0, 0) : MPI_SUCCESS;
}

/* rbuf = slot[0] op ... op slot[members - 1] in rank order, of the `bytes` at `off` in each. */
static void combine(const struct shm *m, const struct coll_args *a, int members, size_t off,
                    size_t bytes)
{
    struct dt_type *t = a->rtype;
    memcpy(dt_start(t, a->rbuf), slot_of(m, members - 1, m->n)->data + off, bytes);
    for (int i = members - 2; i >= 0; i--)
        dt_op_apply(a->op, slot_of(m, i, m->n)->data + off - t->true_lb, a->rbuf, (size_t)a->rcount,
                    t);
}

static const void *operand(const struct coll_args *a)
{
    return dt_start(a->rtype, a->sbuf == MPI_IN_PLACE ? a->rbuf : a->sbuf);
}

/* --- operations --------------------------------------------------------------------------- */

static int shm_barrier(struct shm *m)
{
    struct slot *s;
    int err = open_slot(m, &s);
    if (!err)
        err = meet(m, s, 0);
    leave(m);
    return err;
}

static int shm_allreduce(struct shm *m, const struct coll_args *a, size_t bytes)
{
    struct slot *s;
    int err = open_slot(m, &s);
    if (!err) {
        memcpy(s->data, operand(a), bytes);
        err = meet(m, s, bytes);
    }
    if (!err)
        err = alike(m, 0, m->size, bytes);
    if (!err)
        combine(m, a, m->size, 0, bytes);
    leave(m);
    return err;
}

static int shm_bcast(struct shm *m, const struct coll_args *a, size_t bytes)
{
    struct slot *s;
    int err;
    if (m->rank == a->root) {
        err = open_slot(m, &s);
        if (!err) {
            dt_pack(a->rtype, (size_t)a->rcount, a->rbuf, 0, s->data, bytes);
            publish(m, s, bytes);
            wake_others(m);
        }
        leave(m);
    } else {
        m->n++;
        err = await(m, a->root, a->root + 1);
        if (!err)
            err = alike(m, a->root, a->root + 1, bytes);
        if (!err)
            dt_unpack(a->rtype, (size_t)a->rcount, a->rbuf, 0, slot_of(m, a->root, m->n)->data,
                      bytes);
        leave(m);
        wake(m, a->root); /* the root may wait to reuse the slot */
    }
    return err;
}

static int shm_reduce(struct shm *m, const struct coll_args *a, size_t bytes)
{
    struct slot *s;
    int err = open_slot(m, &s);
    if (!err) {
        memcpy(s->data, operand(a), bytes);
        publish(m, s, bytes);
    }
    if (m->rank == a->root) {
        err = err ? err : await(m, 0, m->size);
        if (!err)
            err = alike(m, 0, m->size, bytes);
        if (!err)
            combine(m, a, m->size, 0, bytes);
        leave(m);
        wake_others(m);
    } else {
        leave(m);
        wake(m, a->root);
    }
    return err;
}

static void pack(struct block b, char *to)
{
    dt_pack(b.t, (size_t)b.n, b.at, 0, to, block_bytes(b));
}

static void unpack(struct block b, const char *from)
{
    dt_unpack(b.t, (size_t)b.n, b.at, 0, from, block_bytes(b));
}

static struct block own_block(const struct coll_args *a)
{
    return (struct block){(char *)(uintptr_t)a->sbuf, a->scount, a->stype};
}

/* The length that this member states for its part: BAD_BYTES if its own send and receive differ. */
static size_t own_bytes(struct block sends, struct block receives)
{
    return block_bytes(sends) == block_bytes(receives) ? block_bytes(receives) : BAD_BYTES;
}

static int shm_gather(struct shm *m, const struct coll_args *a)
{
    struct blocks in = blocks_even(a->rbuf, a->rcount, a->rtype);
    struct slot *s;
    int err = open_slot(m, &s), root = a->root;
    if (m->rank != root) {
        if (!err) {
            pack(own_block(a), s->data);
            publish(m, s, block_bytes(own_block(a)));
        }
        leave(m);
        wake(m, root);
        return err;
    }
    struct block own = a->sbuf == MPI_IN_PLACE ? block_of(&in, root) : own_block(a);
    size_t bytes = own_bytes(own, block_of(&in, root));
    if (!err) {
        publish(m, s, bytes);
        err = await(m, 0, m->size);
    }
    if (!err)
        err = alike(m, 0, m->size, bytes);
    for (int i = 0; i < m->size && !err; i++)
        if (i != root)
            unpack(block_of(&in, i), slot_of(m, i, m->n)->data);
        else if (a->sbuf != MPI_IN_PLACE)
            dt_copy(own.at, (size_t)own.n, own.t, block_of(&in, root).at, (size_t)a->rcount,
                    a->rtype);
    leave(m);
    wake_others(m);
    return err;
}

static int shm_allgather(struct shm *m, const struct coll_args *a)
{
    struct blocks in = blocks_even(a->rbuf, a->rcount, a->rtype);
    int in_place = a->sbuf == MPI_IN_PLACE;
    struct block own = in_place ? block_of(&in, m->rank) : own_block(a);
    size_t bytes = own_bytes(own, block_of(&in, m->rank));
    struct slot *s;
    int err = open_slot(m, &s);
    if (!err) {
        if (bytes != BAD_BYTES)
            pack(own, s->data);
        err = meet(m, s, bytes);
    }
    if (!err)
        err = alike(m, 0, m->size, bytes);
    for (int i = 0; i < m->size && !err; i++)
        if (i != m->rank || !in_place)
            unpack(block_of(&in, i), slot_of(m, i, m->n)->data);
    leave(m);
    return err;
}

static int scatter_take(struct shm *m, const struct coll_args *a, size_t bytes)
{
    m->n++;
    int err = await(m, a->root, a->root + 1);
    if (!err)
        err = alike(m, a->root, a->root + 1, bytes);
    if (!err)
        unpack((struct block){a->rbuf, a->rcount, a->rtype},
               slot_of(m, a->root, m->n)->data + (size_t)m->rank * bytes);
    leave(m);
    wake(m, a->root);
    return err;
}

static int shm_scatter(struct shm *m, const struct coll_args *a, size_t bytes)
{
    if (m->rank != a->root)
        return scatter_take(m, a, bytes);
    struct blocks out = blocks_even(a->sbuf, a->scount, a->stype);
    struct block own = block_of(&out, m->rank);
    int in_place = a->rbuf == MPI_IN_PLACE;
    struct slot *s;
    int err = open_slot(m, &s);
    if (!err) {
        for (int i = 0; i < m->size; i++)
            if (i != m->rank)
                pack(block_of(&out, i), s->data + (size_t)i * bytes);
        publish(m, s, bytes);
        wake_others(m);
    }
    if (!err && !in_place)
        err = own_bytes(own, (struct block){a->rbuf, a->rcount, a->rtype}) == BAD_BYTES
                  ? sched_mismatch(bytes, (size_t)a->rcount * (size_t)a->rtype->size) : MPI_SUCCESS;
    if (!err && !in_place)
        dt_copy(own.at, (size_t)own.n, own.t, a->rbuf, (size_t)a->rcount, a->rtype);
    leave(m);
    return err;
}

/* In place needs no extra step: all blocks are in the slot before any is received. */
static int shm_alltoall(struct shm *m, const struct coll_args *a)
{
    struct blocks in = blocks_even(a->rbuf, a->rcount, a->rtype),
                  out = a->sbuf == MPI_IN_PLACE ? in : blocks_even(a->sbuf, a->scount, a->stype);
    size_t bytes = own_bytes(block_of(&out, 0), block_of(&in, 0));
    struct slot *s;
    int err = open_slot(m, &s);
    if (!err) {
        for (int i = 0; i < m->size && bytes != BAD_BYTES; i++)
            pack(block_of(&out, i), s->data + (size_t)i * bytes);
        err = meet(m, s, bytes);
    }
    if (!err)
        err = alike(m, 0, m->size, bytes);
    for (int i = 0; i < m->size && !err; i++)
        unpack(block_of(&in, i), slot_of(m, i, m->n)->data + (size_t)m->rank * bytes);
    leave(m);
    return err;
}

static int shm_reduce_scatter(struct shm *m, const struct coll_args *a, size_t bytes)
{
    struct slot *s;
    int err = open_slot(m, &s);
    if (!err) {
        memcpy(s->data, operand(a), (size_t)m->size * bytes);
        err = meet(m, s, bytes);
    }
    if (!err)
        err = alike(m, 0, m->size, bytes);
    if (!err)
        combine(m, a, m->size, (size_t)m->rank * bytes, bytes);
    leave(m);
    return err;
}

/* Only lower ranks are waited for. */
static int shm_scan(struct shm *m, const struct coll_args *a, size_t bytes)
{
    int members = a->call == COLL_SCAN ? m->rank + 1 : m->rank;
    struct slot *s;
    int err = open_slot(m, &s);
    if (!err) {
        memcpy(s->data, operand(a), bytes);
        publish(m, s, bytes);
        for (int i = m->rank + 1; i < m->size; i++)
            wake(m, i);
        err = await(m, 0, m->rank);
    }
    if (!err)
        err = alike(m, 0, m->rank, bytes);
    if (!err && members)
        combine(m, a, members, 0, bytes);
    leave(m);
    for (int i = 0; i < m->rank; i++) /* they may wait to reuse their slots */
        wake(m, i);
    return err;
}

/* Bytes of a member's part, and how many parts a slot must hold. */
static int parts(const struct coll_args *a, int members, size_t *bytes)
{
    int sends = (a->call == COLL_GATHER && a->comm->rank != a->root) ||
                (a->call == COLL_SCATTER && a->comm->rank == a->root);
    const struct dt_type *t = sends ? a->stype : a->rtype;
    MPI_Aint n = sends ? a->scount : a->rcount;
    if (__builtin_mul_overflow((size_t)n, (size_t)t->size, bytes))
        *bytes = SIZE_MAX;
    return a->call == COLL_SCATTER || a->call == COLL_ALLTOALL ||
                   a->call == COLL_REDUCE_SCATTER_BLOCK
               ? members
               : 1;
}

/* Every member must decide alike. So the decision uses the bytes, which are equal everywhere, not
 * the layout, which may differ. Reductions by predefined operations have predefined types, the same
 * on all. */
static int suits(const struct shm *m, const struct coll_args *a, size_t *bytes)
{
    *bytes = 0;
    if (a->call == COLL_BARRIER)
        return 1;
    size_t n = (size_t)parts(a, m->size, bytes);
    if (*bytes == 0 || *bytes > m->max / n)
        return 0;
    return !a->op || (a->op->index && (a->rtype->flags & DT_CONTIG));
}

static int run(struct shm *m, const struct coll_args *a, size_t bytes)
{
    switch (a->call) {
    case COLL_BARRIER:
        return shm_barrier(m);
    case COLL_BCAST:
        return shm_bcast(m, a, bytes);
    case COLL_REDUCE:
        return shm_reduce(m, a, bytes);
    case COLL_ALLREDUCE:
        return shm_allreduce(m, a, bytes);
    case COLL_GATHER:
        return shm_gather(m, a);
    case COLL_ALLGATHER:
        return shm_allgather(m, a);
    case COLL_SCATTER:
        return shm_scatter(m, a, bytes);
    case COLL_ALLTOALL:
        return shm_alltoall(m, a);
    case COLL_REDUCE_SCATTER_BLOCK:
        return shm_reduce_scatter(m, a, bytes);
    default:
        return shm_scan(m, a, bytes);
    }
}

static int is_ours(enum coll_call call)
{
    const unsigned ours = 1u << COLL_BARRIER | 1u << COLL_BCAST | 1u << COLL_REDUCE |
                          1u << COLL_ALLREDUCE | 1u << COLL_GATHER | 1u << COLL_ALLGATHER |
                          1u << COLL_SCATTER | 1u << COLL_ALLTOALL |
                          1u << COLL_REDUCE_SCATTER_BLOCK | 1u << COLL_SCAN | 1u << COLL_EXSCAN;
    return ours >> call & 1;
}

int shm_run(const struct coll_args *a, int *err)
{
    if (!is_ours(a->call) || a->comm->remote || cvar.coll_shm_bytes == 0)
        return 0;
    struct shm *m = shm_of(a->comm);
    if (!m) { /* the others may already use shared memory */
        *err = err_make(MPI_ERR_NO_MEM, "no memory for a communicator's collective operations");
        return 1;
    }
    if (m->state == SHM_COUNTING && ++m->uses > SHM_USES)
        shm_make(m);
    size_t bytes;
    if (m->state != SHM_READY || !suits(m, a, &bytes))
        return 0;
    *err = run(m, a, bytes);
    return 1;
}
