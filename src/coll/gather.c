/* gather.c - gather, scatter, allgather and their vector forms. Start with build_gather(). */
#include <string.h>

#include "coll/coll_types.h"
#include "coll/select.h"

struct blocks blocks_even(const void *base, MPI_Aint count, struct dt_type *t)
{
    return (struct blocks){.base = (char *)(uintptr_t)base, .type = t, .count = count};
}

struct blocks blocks_vector(const void *base, struct coll_vec counts, struct coll_vec displs,
                            struct dt_type *t)
{
    return (struct blocks){.base = (char *)(uintptr_t)base, .vector = 1, .type = t,
                           .counts = counts, .displs = displs};
}

struct blocks blocks_types(const void *base, struct coll_vec counts, struct coll_vec displs,
                           const MPI_Datatype *types)
{
    return (struct blocks){.base = (char *)(uintptr_t)base, .vector = 1, .types = types,
                           .counts = counts, .displs = displs};
}

struct block block_of(const struct blocks *b, int i)
{
    struct block x;
    x.t = b->types ? dt_find(b->types[i]) : b->type;
    if (!x.t) /* with a count of 0, any handle is legal */
        x.t = proc->coll->byte;
    if (!b->vector) {
        x.n = b->count;
        x.at = b->base + i * b->count * x.t->extent;
    } else {
        x.n = coll_at(b->counts, i);
        x.at = b->base + coll_at(b->displs, i) * (b->types ? 1 : x.t->extent);
    }
    return x;
}

static int even(const struct blocks *b)
{
    return !b->vector;
}

/* --- gather ------------------------------------------------------------------ */

/* Each process gathers the packed blocks of its subtree, ranks relative to the root. */
static void gather_binomial(struct sched *s, const void *sbuf, MPI_Aint scount, struct dt_type *st,
                            const struct blocks *r, int root)
{
    struct dt_type *byte = proc->coll->byte;
    int p = s->comm->size, v = (s->comm->rank - root + p) % p, mask;
    struct block own = v ? (struct block){(char *)(uintptr_t)sbuf, scount, st} : block_of(r, root);
    size_t each = block_bytes(own);
    int span = 1;
    while (span < p && !(v & span))
        span <<= 1;
    if (span > p - v)
        span = p - v; /* blocks of this subtree */
    char *all = sched_room(s, each * (size_t)span);
    if (sbuf != MPI_IN_PLACE)
        sched_copy(s, sbuf, scount, st, all, (MPI_Aint)each, byte);
    for (mask = 1; mask < p && !(v & mask); mask <<= 1) {
        int child = v + mask, n = child + mask <= p ? mask : p - child;
        if (child < p)
            sched_recv(s, all + (size_t)mask * each, (MPI_Aint)(each * (size_t)n), byte,
                       (child + root) % p);
    }
    sched_fence(s);
    if (v) {
        sched_send(s, all, (MPI_Aint)(each * (size_t)span), byte, (v - mask + root) % p);
        sched_fence(s);
        return;
    }
    for (int i = sbuf == MPI_IN_PLACE; i < p; i++) {
        struct block b = block_of(r, (i + root) % p);
        sched_copy(s, all + (size_t)i * each, (MPI_Aint)each, byte, b.at, b.n, b.t);
    }
}

void build_gather(struct sched *s, const void *sbuf, MPI_Aint scount, struct dt_type *st,
                  const struct blocks *r, int root)
{
    int p = s->comm->size, me = s->comm->rank;
    struct block own = me == root ? block_of(r, root) : (struct block){NULL, scount, st};
    if (even(r) && block_bytes(own) &&
        coll_select(FAM_GATHER, block_bytes(own), p) == ALG_BINOMIAL) {
        gather_binomial(s, sbuf, scount, st, r, root);
        return;
    }
    if (me != root) {
        if (block_bytes(own))
            sched_send(s, sbuf, scount, st, root);
        sched_fence(s);
        return;
    }
    for (int i = 0; i < p; i++) {
        struct block b = block_of(r, i);
        if (i == root && sbuf != MPI_IN_PLACE)
            sched_copy(s, sbuf, scount, st, b.at, b.n, b.t);
        else if (i != root && block_bytes(b))
            sched_recv(s, b.at, b.n, b.t, i);
    }
    sched_fence(s);
}

/* --- scatter ------------------------------------------------------------------- */

static void scatter_binomial(struct sched *s, const struct blocks *b, void *rbuf, MPI_Aint rcount,
                             struct dt_type *rt, int root)
{
    struct dt_type *byte = proc->coll->byte;
    int p = s->comm->size, v = (s->comm->rank - root + p) % p, mask = 1, span;
    struct block own = v ? (struct block){rbuf, rcount, rt} : block_of(b, root);
    size_t each = block_bytes(own);
    while (mask < p && !(v & mask))
        mask <<= 1;
    span = mask < p - v ? mask : p - v;
    char *all = sched_room(s, each * (size_t)span);
    if (v) {
        sched_recv(s, all, (MPI_Aint)(each * (size_t)span), byte, (v - mask + root) % p);
        sched_fence(s);
    } else {
        for (int i = rbuf == MPI_IN_PLACE; i < p; i++) {
            struct block x = block_of(b, (i + root) % p);
            sched_copy(s, x.at, x.n, x.t, all + (size_t)i * each, (MPI_Aint)each, byte);
        }
    }
    for (mask >>= 1; mask; mask >>= 1) {
        int child = v + mask, n = child + mask <= p ? mask : p - child;
        if (child < p)
            sched_send(s, all + (size_t)mask * each, (MPI_Aint)(each * (size_t)n), byte,
                       (child + root) % p);
    }
    if (rbuf != MPI_IN_PLACE)
        sched_copy(s, all, (MPI_Aint)each, byte, rbuf, rcount, rt);
    sched_fence(s);
}

void build_scatter(struct sched *s, const struct blocks *b, void *rbuf, MPI_Aint rcount,
                   struct dt_type *rt, int root)
{
    int p = s->comm->size, me = s->comm->rank;
    struct block own = me == root ? block_of(b, root) : (struct block){NULL, rcount, rt};
    if (even(b) && block_bytes(own) &&
        coll_select(FAM_SCATTER, block_bytes(own), p) == ALG_BINOMIAL) {
        scatter_binomial(s, b, rbuf, rcount, rt, root);
        return;
    }
    if (me != root) {
        if (block_bytes(own))
            sched_recv(s, rbuf, rcount, rt, root);
        sched_fence(s);
        return;
    }
    for (int i = 0; i < p; i++) {
        struct block x = block_of(b, i);
        if (i == root && rbuf != MPI_IN_PLACE)
            sched_copy(s, x.at, x.n, x.t, rbuf, rcount, rt);
        else if (i != root && block_bytes(x))
            sched_send(s, x.at, x.n, x.t, i);
    }
    sched_fence(s);
}

/* --- allgather -------------------------------------------------------------------- */

/* After round k a process holds the packed blocks of the 2^k ranks that start with itself (Bruck et
 * al. 1997). */
static void allgather_bruck(struct sched *s, const void *sbuf, MPI_Aint scount, struct dt_type *st,
                            const struct blocks *r)
{
    struct dt_type *byte = proc->coll->byte;
    int p = s->comm->size, me = s->comm->rank;
    struct block own = block_of(r, me);
    size_t each = block_bytes(own);
    char *all = sched_room(s, each * (size_t)p);
    if (sbuf == MPI_IN_PLACE)
        sched_copy(s, own.at, own.n, own.t, all, (MPI_Aint)each, byte);
    else
        sched_copy(s, sbuf, scount, st, all, (MPI_Aint)each, byte);
    for (int k = 1; k < p; k <<= 1) {
        size_t n = each * (size_t)(k < p - k ? k : p - k);
        sched_recv(s, all + (size_t)k * each, (MPI_Aint)n, byte, (me + k) % p);
        sched_send(s, all, (MPI_Aint)n, byte, (me - k + p) % p);
        sched_fence(s);
    }
    for (int i = sbuf == MPI_IN_PLACE; i < p; i++) {
        struct block b = block_of(r, (me + i) % p);
        sched_copy(s, all + (size_t)i * each, (MPI_Aint)each, byte, b.at, b.n, b.t);
    }
}

void build_allgather(struct sched *s, const void *sbuf, MPI_Aint scount, struct dt_type *st,
                     const struct blocks *r)
{
    int p = s->comm->size, me = s->comm->rank;
    struct block own = block_of(r, me);
    if (even(r)) {
        if (block_bytes(own) == 0)
            return;
        if (p > 2 && coll_select(FAM_ALLGATHER, block_bytes(own), p) == ALG_BRUCK) {
            allgather_bruck(s, sbuf, scount, st, r);
            return;
        }
    }
    if (sbuf != MPI_IN_PLACE)
        sched_copy(s, sbuf, scount, st, own.at, own.n, own.t);
    for (int i = 0; i < p - 1; i++) {
        struct block in = block_of(r, (me - i - 1 + p) % p), out = block_of(r, (me - i + p) % p);
        if (block_bytes(in))
            sched_recv(s, in.at, in.n, in.t, (me - 1 + p) % p);
        if (block_bytes(out))
            sched_send(s, out.at, out.n, out.t, (me + 1) % p);
        sched_fence(s);
    }
}
