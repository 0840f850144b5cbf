/* ahead.c - messages that leave before the schedule of their call is made. Start with coll_ahead().
 *
 * A short message is under way while its sender lists and posts what it receives itself. Only
 * messages of the first round, whose data are there when the call begins. The schedule lists them
 * as always; sched_send() leaves out the first to each process that has its own (sched.ahead). */
#include "coll/coll_types.h"
#include "coll/select.h"

/* 0: it has not left, though it has bytes. */
static int leaves(const struct coll_args *a, int tag, struct block b, int peer, uint64_t *ahead)
{
    if (block_bytes(b) == 0)
        return 1;
    if (!p2p_send_at_once(b.at, b.n, b.t, peer, tag, a->comm, P2P_COLL))
        return 0;
    *ahead |= coll_ahead_bit(a->comm, peer);
    return 1;
}

/* Each block but its own to its process, the next ones first, as build_alltoall() lists them. With
 * COLL_ALL_AHEAD if all have left. */
static uint64_t all_leave(const struct coll_args *a, int tag, const struct blocks *out)
{
    const struct comm *c = a->comm;
    uint64_t ahead = 0;
    for (int i = 1; i < c->size; i++) {
        int to = (c->rank + i) % c->size;
        if (!leaves(a, tag, block_of(out, to), to, &ahead))
            return ahead;
    }
    return ahead | COLL_ALL_AHEAD;
}

/* The same of a root, which then has its own block only. */
static uint64_t scatters(const struct coll_args *a, int tag, const struct blocks *out)
{
    struct block own = block_of(out, a->root), to = {a->rbuf, a->rcount, a->rtype};
    uint64_t ahead = all_leave(a, tag, out);
    if (ahead & COLL_ALL_AHEAD && a->rbuf != MPI_IN_PLACE && block_bytes(own) && block_bytes(to))
        dt_copy(own.at, (size_t)own.n, own.t, to.at, (size_t)to.n, to.t);
    return ahead;
}

static uint64_t one_leaves(const struct coll_args *a, int tag, struct block b, int to)
{
    uint64_t ahead = 0;
    (void)leaves(a, tag, b, to, &ahead);
    return ahead;
}

/* One message to the root is all that a member does. */
static uint64_t gathers(const struct coll_args *a, int tag, struct block own)
{
    uint64_t ahead = one_leaves(a, tag, own, a->root);
    return ahead ? ahead | COLL_ALL_AHEAD : 0;
}

static int is_linear(enum coll_family family, struct block b, int p)
{
    return coll_select(family, block_bytes(b), p) == ALG_LINEAR;
}

/* The first step of the ring. Its block is sent from where it will be received, so both sides of
 * the own one must be alike. */
static uint64_t ring_begins(const struct coll_args *a, int tag, const struct blocks *in,
                            struct block own)
{
    struct block here = block_of(in, a->comm->rank);
    if (a->sbuf == MPI_IN_PLACE)
        own = here;
    if (block_bytes(own) != block_bytes(here))
        return 0;
    return one_leaves(a, tag, own, (a->comm->rank + 1) % a->comm->size);
}

/* The root of a binomial tree has a child at each power of two, the farther the more below it: that
 * goes first, as build_bcast_binomial() lists them. */
static uint64_t root_begins(const struct coll_args *a, int tag)
{
    const struct comm *c = a->comm;
    struct block all = {a->rbuf, a->rcount, a->rtype};
    uint64_t ahead = 0;
    int child = 1;
    if (c->rank != a->root || coll_select(FAM_BCAST, block_bytes(all), c->size) != ALG_BINOMIAL)
        return 0;
    while (2 * child < c->size)
        child *= 2;
    for (; child; child >>= 1)
        if (!leaves(a, tag, all, (c->rank + child) % c->size, &ahead))
            return ahead;
    return ahead | COLL_ALL_AHEAD;
}

static uint64_t even_ahead(const struct coll_args *a, int tag)
{
    int p = a->comm->size, me = a->comm->rank;
    struct block own = {(char *)(uintptr_t)a->sbuf, a->scount, a->stype};
    struct blocks in, out;
    switch (a->call) {
    case COLL_BCAST:
        return root_begins(a, tag);
    case COLL_GATHER:
        if (me == a->root || !is_linear(FAM_GATHER, own, p))
            return 0;
        return gathers(a, tag, own);
    case COLL_SCATTER:
        out = blocks_even(a->sbuf, a->scount, a->stype);
        if (me != a->root || !is_linear(FAM_SCATTER, block_of(&out, 0), p))
            return 0;
        /* else all get the error of the own block by empty messages */
        if (a->rbuf != MPI_IN_PLACE &&
            block_bytes(block_of(&out, me)) !=
                block_bytes((struct block){a->rbuf, a->rcount, a->rtype}))
            return 0;
        return scatters(a, tag, &out);
    case COLL_ALLGATHER:
        in = blocks_even(a->rbuf, a->rcount, a->rtype);
        if (p > 2 && coll_select(FAM_ALLGATHER, block_bytes(block_of(&in, me)), p) != ALG_RING)
            return 0;
        return ring_begins(a, tag, &in, own);
    default: /* COLL_ALLTOALL */
        in = blocks_even(a->rbuf, a->rcount, a->rtype);
        out = blocks_even(a->sbuf, a->scount, a->stype);
        if (a->sbuf == MPI_IN_PLACE || !is_linear(FAM_ALLTOALL, block_of(&in, 0), p) ||
            block_bytes(block_of(&in, 0)) != block_bytes(block_of(&out, 0)))
            return 0;
        return all_leave(a, tag, &out) & ~COLL_ALL_AHEAD;
    }
}

static uint64_t vector_ahead(const struct coll_args *a, int tag)
{
    int me = a->comm->rank;
    struct block own = {(char *)(uintptr_t)a->sbuf, a->scount, a->stype};
    struct blocks in, out;
    switch (a->call) {
    case COLL_GATHERV:
        return me == a->root ? 0 : gathers(a, tag, own);
    case COLL_SCATTERV:
        if (me != a->root)
            return 0;
        out = blocks_vector(a->sbuf, a->scounts, a->sdispls, a->stype);
        return scatters(a, tag, &out);
    default: /* COLL_ALLGATHERV */
        in = blocks_vector(a->rbuf, a->rcounts, a->rdispls, a->rtype);
        return ring_begins(a, tag, &in, own);
    }
}

uint64_t coll_ahead(const struct coll_args *a, int tag)
{
    const unsigned vector = 1u << COLL_GATHERV | 1u << COLL_SCATTERV | 1u << COLL_ALLGATHERV;
    const struct comm *c = a->comm;
    if (c->remote || c->size < 2 || c->size > 64)
        return 0;
    return vector >> a->call & 1 ? vector_ahead(a, tag) : even_ahead(a, tag);
}
