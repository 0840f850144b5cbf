/* inter.c - collectives on intercommunicators: phases in the local group (sched_local) and between
 * the groups. Start with build_inter(). */
#include <string.h>

#include "coll/coll_types.h"
#include "obj/err.h"

int coll_swap_bytes(const void *mine, size_t n, void *theirs, size_t m, struct comm *c)
{
    struct dt_type *byte = proc->coll->byte;
    struct sched *s = sched_make(&(struct coll_args){.call = COLL_BCAST, .comm = c});
    char *out = s ? sched_bytes(s, n + 1) : NULL, *in = out ? sched_bytes(s, m + 1) : NULL;
    if (!in) {
        if (s)
            sched_destroy(s);
        return err_make(MPI_ERR_NO_MEM, "no memory for %zu bytes between two groups", n + m);
    }
    s->all_members = 1;
    if (c->rank == 0) {
        if (n)
            memcpy(out, mine, n);
        sched_recv(s, in, (MPI_Aint)m, byte, 0);
        sched_send(s, out, (MPI_Aint)n, byte, 0);
        sched_fence(s);
    }
    sched_local(s);
    build_bcast_binomial(s, in, (MPI_Aint)m, byte, 0);
    sched_move(s, in, theirs, m);
    return sched_run(s);
}

static void signal_both(struct sched *s)
{
    struct dt_type *byte = proc->coll->byte;
    if (s->comm->rank == 0) {
        sched_recv(s, NULL, 0, byte, 0);
        sched_send(s, NULL, 0, byte, 0);
        sched_fence(s);
    }
}

/* A message of no bytes from rank 0 of the local group to all others. */
static void release(struct sched *s)
{
    build_bcast_binomial(s, NULL, 0, proc->coll->byte, 0);
}

static void inter_barrier(struct sched *s)
{
    sched_local(s);
    build_barrier(s);
    sched_global(s);
    signal_both(s);
    sched_local(s);
    release(s);
}

/* root: rank in the other group, MPI_ROOT here, MPI_PROC_NULL beside it. */
static void inter_bcast(struct sched *s)
{
    const struct coll_args *a = &s->args;
    if (a->root == MPI_PROC_NULL || a->rcount == 0)
        return;
    if (a->root == MPI_ROOT) {
        sched_send(s, a->rbuf, a->rcount, a->rtype, 0);
        return;
    }
    if (s->comm->rank == 0) {
        sched_recv(s, a->rbuf, a->rcount, a->rtype, a->root);
        sched_fence(s);
    }
    sched_local(s);
    build_bcast(s, a->rbuf, a->rcount, a->rtype, 0);
}

static void inter_reduce(struct sched *s)
{
    const struct coll_args *a = &s->args;
    if (a->root == MPI_PROC_NULL || a->rcount == 0)
        return;
    if (a->root == MPI_ROOT) {
        sched_recv(s, a->rbuf, a->rcount, a->rtype, 0);
        return;
    }
    void *at = s->comm->rank == 0 ? sched_temp(s, a->rcount, a->rtype) : NULL;
    sched_local(s);
    build_reduce(s, a->sbuf, at, a->rcount, a->rtype, a->op, 0);
    sched_fence(s);
    sched_global(s);
    if (s->comm->rank == 0)
        sched_send(s, at, a->rcount, a->rtype, a->root);
}

/* Each group gets the reduction over the other one. */
static void inter_allreduce(struct sched *s)
{
    const struct coll_args *a = &s->args;
    if (a->rcount == 0)
        return;
    int lead = s->comm->rank == 0;
    void *at = lead ? sched_temp(s, a->rcount, a->rtype) : NULL;
    sched_local(s);
    build_reduce(s, a->sbuf, at, a->rcount, a->rtype, a->op, 0);
    sched_fence(s);
    sched_global(s);
    if (lead) {
        sched_recv(s, a->rbuf, a->rcount, a->rtype, 0);
        sched_send(s, at, a->rcount, a->rtype, 0);
        sched_fence(s);
    }
    sched_local(s);
    build_bcast(s, a->rbuf, a->rcount, a->rtype, 0);
}

static void inter_gather(struct sched *s, const struct blocks *r)
{
    const struct coll_args *a = &s->args;
    if (a->root == MPI_PROC_NULL)
        return;
    if (a->root != MPI_ROOT) {
        if (a->scount && a->stype->size)
            sched_send(s, a->sbuf, a->scount, a->stype, a->root);
        return;
    }
    for (int i = 0; i < comm_peer_size(s->comm); i++) {
        struct block b = block_of(r, i);
        if (block_bytes(b))
            sched_recv(s, b.at, b.n, b.t, i);
    }
}

static void inter_scatter(struct sched *s, const struct blocks *x)
{
    const struct coll_args *a = &s->args;
    if (a->root == MPI_PROC_NULL)
        return;
    if (a->root != MPI_ROOT) {
        if (a->rcount && a->rtype->size)
            sched_recv(s, a->rbuf, a->rcount, a->rtype, a->root);
        return;
    }
    for (int i = 0; i < comm_peer_size(s->comm); i++) {
        struct block b = block_of(x, i);
        if (block_bytes(b))
            sched_send(s, b.at, b.n, b.t, i);
    }
}

/* out: one block for all, or one each. */
static void inter_exchange(struct sched *s, const struct blocks *out, int one_block,
                           const struct blocks *in)
{
    enum { AT_ONCE = 32 }; /* peers */
    int n = comm_peer_size(s->comm), me = s->comm->rank;
    for (int i = 0; i < n; i++) {
        int k = (me + i) % n; /* spreads the load: not all send to the same one first */
        struct block a = block_of(out, one_block ? 0 : k), b = block_of(in, k);
        if (block_bytes(b))
            sched_recv(s, b.at, b.n, b.t, k);
        if (block_bytes(a))
            sched_send(s, a.at, a.n, a.t, k);
        if (i % AT_ONCE == AT_ONCE - 1)
            sched_fence(s);
    }
}

static void inter_reduce_scatter(struct sched *s)
{
    const struct coll_args *a = &s->args;
    int even = a->call == COLL_REDUCE_SCATTER_BLOCK, p = s->comm->size, lead = s->comm->rank == 0;
    MPI_Aint n = even ? a->rcount * p : 0;
    for (int i = 0; !even && i < p; i++)
        n += coll_at(a->rcounts, i);
    /* Both groups' vectors have the same length, so this is also that of the group reduced here. */
    if (n == 0)
        return;
    char *ours = lead ? sched_temp(s, n, a->rtype) : NULL,
         *theirs = lead ? sched_temp(s, n, a->rtype) : NULL;
    sched_local(s);
    build_reduce(s, a->sbuf, ours, n, a->rtype, a->op, 0);
    sched_fence(s);
    sched_global(s);
    if (lead) {
        sched_recv(s, theirs, n, a->rtype, 0);
        sched_send(s, ours, n, a->rtype, 0);
        sched_fence(s);
    }
    sched_local(s);
    MPI_Aint at = 0;
    for (int i = 0; i < p; i++) {
        MPI_Aint c = even ? a->rcount : coll_at(a->rcounts, i);
        if (c && lead && i == 0)
            sched_copy(s, theirs, c, a->rtype, a->rbuf, c, a->rtype);
        else if (c && lead)
            sched_send(s, theirs + at * a->rtype->extent, c, a->rtype, i);
        else if (c && i == s->comm->rank)
            sched_recv(s, a->rbuf, c, a->rtype, 0);
        at += c;
    }
}

void build_inter(struct sched *s)
{
    const struct coll_args *a = &s->args;
    struct blocks out, in;
    switch (a->call) {
    case COLL_BARRIER:
        inter_barrier(s);
        break;
    case COLL_BCAST:
        inter_bcast(s);
        break;
    case COLL_REDUCE:
        inter_reduce(s);
        break;
    case COLL_ALLREDUCE:
        inter_allreduce(s);
        break;
    case COLL_GATHER:
        in = blocks_even(a->rbuf, a->rcount, a->rtype);
        inter_gather(s, &in);
        break;
    case COLL_GATHERV:
        in = blocks_vector(a->rbuf, a->rcounts, a->rdispls, a->rtype);
        inter_gather(s, &in);
        break;
    case COLL_SCATTER:
        out = blocks_even(a->sbuf, a->scount, a->stype);
        inter_scatter(s, &out);
        break;
    case COLL_SCATTERV:
        out = blocks_vector(a->sbuf, a->scounts, a->sdispls, a->stype);
        inter_scatter(s, &out);
        break;
    case COLL_ALLGATHER:
    case COLL_ALLTOALL:
        out = blocks_even(a->sbuf, a->scount, a->stype);
        in = blocks_even(a->rbuf, a->rcount, a->rtype);
        inter_exchange(s, &out, a->call == COLL_ALLGATHER, &in);
        break;
    case COLL_ALLGATHERV:
        out = blocks_even(a->sbuf, a->scount, a->stype);
        in = blocks_vector(a->rbuf, a->rcounts, a->rdispls, a->rtype);
        inter_exchange(s, &out, 1, &in);
        break;
    case COLL_ALLTOALLV:
        out = blocks_vector(a->sbuf, a->scounts, a->sdispls, a->stype);
        in = blocks_vector(a->rbuf, a->rcounts, a->rdispls, a->rtype);
        inter_exchange(s, &out, 0, &in);
        break;
    case COLL_ALLTOALLW:
        out = blocks_types(a->sbuf, a->scounts, a->sdispls, a->stypes);
        in = blocks_types(a->rbuf, a->rcounts, a->rdispls, a->rtypes);
        inter_exchange(s, &out, 0, &in);
        break;
    default:
        inter_reduce_scatter(s);
        break;
    }
}
