/* parts.c - the bytes of this process that a collective reads and writes. Start with
 * coll_each_part(). */
#include "coll/parts.h"

#include <stdlib.h>

#include "dt/dt.h"
#include "obj/neighbors.h"

struct to { /* each of them goes there */
    const struct coll_args *a;
    coll_each_buffer *each;
    void *arg;
};

static void one(const struct to *to, const void *buf, int64_t count, const struct dt_type *t,
                int writes)
{
    const struct coll_args *a = to->a;
    struct watch_buffer b = {.buf = buf, .count = count, .t = t, .writes = writes};
    b.name = a->call == COLL_BCAST                       ? "buffer"
             : writes || a->sbuf == MPI_IN_PLACE         ? "receive buffer"
                                                         : "send buffer";
    if (t && count > 0)
        to->each(to->arg, &b);
}

/* --- sides ------------------------------------------------------------------------------------ */

enum side { SEND, RECV };

/* Block i of n equal ones, or of those with counts of their own. */
static void block(const struct to *to, enum side side, int i, int writes)
{
    const struct coll_args *a = to->a;
    const struct dt_type *t = side == SEND ? a->stype : a->rtype;
    const char *buf = side == SEND ? a->sbuf : a->rbuf;
    struct coll_vec counts = side == SEND ? a->scounts : a->rcounts;
    struct coll_vec displs = side == SEND ? a->sdispls : a->rdispls;
    const MPI_Datatype *types = side == SEND ? a->stypes : a->rtypes;
    int64_t count = side == SEND ? a->scount : a->rcount;
    if (types) {
        if (coll_at(counts, i) > 0)
            one(to, (const char *)((uintptr_t)buf + (uintptr_t)coll_at(displs, i)),
                coll_at(counts, i), dt_find(types[i]), writes);
        return;
    }
    if (!t)
        return;
    int64_t at = counts.v ? coll_at(displs, i) : i * count;
    one(to, (const char *)((uintptr_t)buf + (uintptr_t)(at * t->extent)),
        counts.v ? coll_at(counts, i) : count, t, writes);
}

/* All blocks of a side but `without` (-1: none). */
static void blocks(const struct to *to, enum side side, int without, int writes)
{
    const struct coll_args *a = to->a;
    int n = a->comm->size;
    if (without < 0 && side == SEND && a->stype && !a->scounts.v)
        one(to, a->sbuf, a->scount * n, a->stype, writes);
    else if (without < 0 && side == RECV && a->rtype && !a->rcounts.v)
        one(to, a->rbuf, a->rcount * n, a->rtype, writes);
    else
        for (int i = 0; i < n; i++)
            if (i != without)
                block(to, side, i, writes);
}

static void gather(const struct to *to, int receives)
{
    const struct coll_args *a = to->a;
    int in_place = a->sbuf == MPI_IN_PLACE, me = a->comm->rank;
    if (!in_place)
        one(to, a->sbuf, a->scount, a->stype, 0);
    else
        block(to, RECV, me, 0);
    if (receives)
        blocks(to, RECV, in_place ? me : -1, 1);
}

static void scatter(const struct to *to)
{
    const struct coll_args *a = to->a;
    if (a->root == a->comm->rank)
        blocks(to, SEND, -1, 0);
    if (a->rbuf != MPI_IN_PLACE)
        one(to, a->rbuf, a->rcount, a->rtype, 1);
}

static void alltoall(const struct to *to)
{
    if (to->a->sbuf != MPI_IN_PLACE)
        blocks(to, SEND, -1, 0);
    blocks(to, RECV, -1, 1);
}

static void reduce(const struct to *to, int64_t reads, int64_t writes)
{
    const struct coll_args *a = to->a;
    if (a->sbuf != MPI_IN_PLACE)
        one(to, a->sbuf, reads, a->rtype, 0);
    else if (reads > writes)
        one(to, (const char *)a->rbuf + writes * a->rtype->extent, reads - writes, a->rtype, 0);
    one(to, a->rbuf, writes, a->rtype, 1);
}

static void reduce_scatter(const struct to *to)
{
    const struct coll_args *a = to->a;
    int64_t all = 0;
    for (int i = 0; i < a->comm->size; i++)
        all += a->rcounts.v ? coll_at(a->rcounts, i) : a->rcount;
    reduce(to, all, a->rcounts.v ? coll_at(a->rcounts, a->comm->rank) : a->rcount);
}

static void neighbors(const struct to *to)
{
    const struct coll_args *a = to->a;
    int *src, *dst, nsrc, ndst;
    int gathers = a->call == COLL_NEIGHBOR_ALLGATHER || a->call == COLL_NEIGHBOR_ALLGATHERV;
    if (topo_neighbors(a->comm, &nsrc, &src, &ndst, &dst, "a checker"))
        return;
    if (gathers && ndst)
        one(to, a->sbuf, a->scount, a->stype, 0);
    for (int i = 0; !gathers && i < ndst; i++)
        if (dst[i] != MPI_PROC_NULL)
            block(to, SEND, i, 0);
    for (int i = 0; i < nsrc; i++)
        if (src[i] != MPI_PROC_NULL)
            block(to, RECV, i, 1);
    free(src);
}

/* --- the calls -------------------------------------------------------------------------------- */

static void rooted(const struct to *to, int is_root)
{
    const struct coll_args *a = to->a;
    switch (a->call) {
    case COLL_BCAST:
        one(to, a->rbuf, a->rcount, a->rtype, !is_root);
        break;
    case COLL_REDUCE:
        reduce(to, a->rcount, is_root ? a->rcount : 0);
        break;
    case COLL_GATHER: case COLL_GATHERV:
        gather(to, is_root);
        break;
    default:
        scatter(to);
        break;
    }
}

void coll_each_part(const struct coll_args *a, coll_each_buffer *each, void *arg)
{
    struct to to = {a, each, arg};
    int rank = a->comm->rank;
    switch (a->call) {
    case COLL_BARRIER:
        break;
    case COLL_BCAST: case COLL_REDUCE: case COLL_GATHER: case COLL_GATHERV: case COLL_SCATTER:
    case COLL_SCATTERV:
        rooted(&to, a->root == rank);
        break;
    case COLL_ALLGATHER: case COLL_ALLGATHERV:
        gather(&to, 1);
        break;
    case COLL_ALLTOALL: case COLL_ALLTOALLV: case COLL_ALLTOALLW:
        alltoall(&to);
        break;
    case COLL_REDUCE_SCATTER: case COLL_REDUCE_SCATTER_BLOCK:
        reduce_scatter(&to);
        break;
    case COLL_ALLREDUCE: case COLL_SCAN:
        reduce(&to, a->rcount, a->rcount);
        break;
    case COLL_EXSCAN: /* the first has no result */
        reduce(&to, a->rcount, rank ? a->rcount : 0);
        break;
    default:
        neighbors(&to);
        break;
    }
}
