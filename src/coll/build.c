/* build.c - from a call to its steps. */
#include "coll/coll_types.h"

static void build_vector_call(struct sched *s)
{
    const struct coll_args *a = &s->args;
    int in_place = a->sbuf == MPI_IN_PLACE;
    struct blocks out, in;
    switch (a->call) {
    case COLL_GATHERV:
        in = blocks_vector(a->rbuf, a->rcounts, a->rdispls, a->rtype);
        build_gather(s, a->sbuf, a->scount, a->stype, &in, a->root);
        break;
    case COLL_SCATTERV:
        out = blocks_vector(a->sbuf, a->scounts, a->sdispls, a->stype);
        build_scatter(s, &out, a->rbuf, a->rcount, a->rtype, a->root);
        break;
    case COLL_ALLGATHERV:
        in = blocks_vector(a->rbuf, a->rcounts, a->rdispls, a->rtype);
        build_allgather(s, a->sbuf, a->scount, a->stype, &in);
        break;
    case COLL_ALLTOALLV:
        in = blocks_vector(a->rbuf, a->rcounts, a->rdispls, a->rtype);
        out = blocks_vector(a->sbuf, a->scounts, a->sdispls, a->stype);
        build_alltoall(s, in_place ? NULL : &out, &in);
        break;
    default: /* COLL_ALLTOALLW */
        in = blocks_types(a->rbuf, a->rcounts, a->rdispls, a->rtypes);
        out = blocks_types(a->sbuf, a->scounts, a->sdispls, a->stypes);
        build_alltoall(s, in_place ? NULL : &out, &in);
        break;
    }
}

static void build_even_call(struct sched *s)
{
    const struct coll_args *a = &s->args;
    struct blocks out = blocks_even(a->sbuf, a->scount, a->stype),
                  in = blocks_even(a->rbuf, a->rcount, a->rtype);
    switch (a->call) {
    case COLL_GATHER:
        build_gather(s, a->sbuf, a->scount, a->stype, &in, a->root);
        break;
    case COLL_SCATTER:
        build_scatter(s, &out, a->rbuf, a->rcount, a->rtype, a->root);
        break;
    case COLL_ALLGATHER:
        build_allgather(s, a->sbuf, a->scount, a->stype, &in);
        break;
    default: /* COLL_ALLTOALL */
        build_alltoall(s, a->sbuf == MPI_IN_PLACE ? NULL : &out, &in);
        break;
    }
}

static void build_intra(struct sched *s)
{
    const struct coll_args *a = &s->args;
    const struct coll_vec none = {NULL, 0};
    switch (a->call) {
    case COLL_BARRIER:
        build_barrier(s);
        break;
    case COLL_BCAST:
        build_bcast(s, a->rbuf, a->rcount, a->rtype, a->root);
        break;
    case COLL_REDUCE:
        build_reduce(s, a->sbuf, a->rbuf, a->rcount, a->rtype, a->op, a->root);
        break;
    case COLL_ALLREDUCE:
        build_allreduce(s, a->sbuf, a->rbuf, a->rcount, a->rtype, a->op);
        break;
    case COLL_REDUCE_SCATTER:
        build_reduce_scatter(s, a->sbuf, a->rbuf, a->rcounts, 0, a->rtype, a->op);
        break;
    case COLL_REDUCE_SCATTER_BLOCK:
        build_reduce_scatter(s, a->sbuf, a->rbuf, none, a->rcount, a->rtype, a->op);
        break;
    case COLL_SCAN:
    case COLL_EXSCAN:
        build_scan(s, a->sbuf, a->rbuf, a->rcount, a->rtype, a->op, a->call == COLL_EXSCAN);
        break;
    case COLL_GATHER:
    case COLL_SCATTER:
    case COLL_ALLGATHER:
    case COLL_ALLTOALL:
        build_even_call(s);
        break;
    default:
        build_vector_call(s);
        break;
    }
}

void coll_build(struct sched *s)
{
    if (s->args.call >= COLL_NEIGHBOR_ALLGATHER)
        build_neighbor(s);
    else if (s->args.comm->remote)
        build_inter(s);
    else
        build_intra(s);
}
