/* alltoall.c - all-to-all in its forms, and neighbourhood collectives. Start with
 * build_alltoall(). */
#include <stdlib.h>
#include <string.h>

#include "coll/coll_types.h"
#include "coll/select.h"
#include "obj/err.h"
#include "obj/neighbors.h"

enum { WINDOW = 32 }; /* messages under way at once, each direction */

/* Blocks move by the bits of their distance, packed: log P rounds (Bruck et al. 1997). */
static void alltoall_bruck(struct sched *s, const struct blocks *out, const struct blocks *in,
                           size_t each)
{
    struct dt_type *byte = proc->coll->byte;
    int p = s->comm->size, me = s->comm->rank;
    char *all = sched_room(s, each * (size_t)p), *go = sched_room(s, each * (size_t)p),
         *come = sched_room(s, each * (size_t)p);
    for (int i = 0; i < p; i++) {
        struct block b = block_of(out, (me + i) % p);
        sched_copy(s, b.at, b.n, b.t, all + (size_t)i * each, (MPI_Aint)each, byte);
    }
    for (int k = 1; k < p; k <<= 1) {
        size_t n = 0;
        for (int i = k; i < p; i++)
            if (i & k)
                sched_move(s, all + (size_t)i * each, go + each * n++, each);
        sched_recv(s, come, (MPI_Aint)(each * n), byte, (me - k + p) % p);
        sched_send(s, go, (MPI_Aint)(each * n), byte, (me + k) % p);
        sched_fence(s);
        n = 0;
        for (int i = k; i < p; i++)
            if (i & k)
                sched_move(s, come + each * n++, all + (size_t)i * each, each);
    }
    for (int i = 0; i < p; i++) {
        struct block b = block_of(in, (me - i + p) % p);
        sched_copy(s, all + (size_t)i * each, (MPI_Aint)each, byte, b.at, b.n, b.t);
    }
}

/* In place: the blocks to send are first packed aside. */
static void set_aside(struct sched *s, const struct blocks *in, struct block *out)
{
    struct dt_type *byte = proc->coll->byte;
    for (int i = 0; i < s->comm->size; i++) {
        struct block b = block_of(in, i);
        size_t bytes = block_bytes(b);
        out[i] = (struct block){bytes ? sched_room(s, bytes) : NULL, (MPI_Aint)bytes, byte};
        if (i != s->comm->rank)
            sched_copy(s, b.at, b.n, b.t, out[i].at, out[i].n, byte);
    }
}

/* out NULL: in place. */
void build_alltoall(struct sched *s, const struct blocks *out, const struct blocks *in)
{
    int p = s->comm->size, me = s->comm->rank, in_place = !out;
    struct block *aside = NULL;
    if (!in_place && !out->vector && !in->vector) {
        size_t each = block_bytes(block_of(in, 0));
        if (each == 0)
            return;
        if (coll_select(FAM_ALLTOALL, each, p) == ALG_BRUCK) {
            alltoall_bruck(s, out, in, each);
            return;
        }
    }
    if (in_place) {
        aside = sched_bytes(s, (size_t)p * sizeof *aside);
        if (!aside)
            return;
        set_aside(s, in, aside);
    } else {
        struct block a = block_of(out, me), b = block_of(in, me);
        sched_copy(s, a.at, a.n, a.t, b.at, b.n, b.t);
    }
    for (int i = 1; i < p; i++) {
        int to = (me + i) % p, from = (me - i + p) % p;
        struct block a = in_place ? aside[to] : block_of(out, to), b = block_of(in, from);
        if (block_bytes(b))
            sched_recv(s, b.at, b.n, b.t, from);
        if (block_bytes(a))
            sched_send(s, a.at, a.n, a.t, to);
        if (i % WINDOW == 0)
            sched_fence(s);
    }
    sched_fence(s);
}

/* --- neighbourhoods (MPI-3.1 7.6) --------------------------------------------------- */

/* The w forms' types are checked here, where the number of neighbours is known. */
static int types_fit(struct sched *s, const struct blocks *b, int n)
{
    for (int i = 0; b->types && i < n; i++) {
        struct dt_type *t = coll_at(b->counts, i) > 0 ? dt_find(b->types[i]) : proc->coll->byte;
        if (t && (t->flags & DT_COMMITTED))
            continue;
        sched_fail(
            s, err_make(MPI_ERR_TYPE,
                        "neighborhood collective: datatype %d (%#x) is invalid or not committed", i,
                        (unsigned)b->types[i]));
        s->doomed = 1;
        return 0;
    }
    return 1;
}

static void neighbor_exchange(struct sched *s, const struct blocks *out, int one_block,
                              const struct blocks *in)
{
    int nsrc, ndst, *src, *dst;
    int err = topo_neighbors(s->comm, &nsrc, &src, &ndst, &dst, "neighborhood collective");
    if (err) {
        if (err_class(err) == MPI_ERR_NO_MEM)
            sched_cannot(s->args.comm);
        sched_fail(s, err);
        s->doomed = 1;
        return;
    }
    if (!types_fit(s, out, one_block ? 0 : ndst) || !types_fit(s, in, nsrc))
        nsrc = ndst = 0;
    for (int i = 0; i < nsrc; i++) {
        int k = topo_taken(s->comm->topo, i);
        struct block b = block_of(in, k);
        if (src[k] != MPI_PROC_NULL && block_bytes(b))
            sched_recv(s, b.at, b.n, b.t, src[k]);
    }
    for (int i = 0; i < ndst; i++) {
        struct block b = block_of(out, one_block ? 0 : i);
        if (dst[i] != MPI_PROC_NULL && block_bytes(b))
            sched_send(s, b.at, b.n, b.t, dst[i]);
    }
    sched_fence(s);
    free(src);
}

void build_neighbor(struct sched *s)
{
    const struct coll_args *a = &s->args;
    struct blocks out, in;
    switch (a->call) {
    case COLL_NEIGHBOR_ALLGATHER:
        out = blocks_even(a->sbuf, a->scount, a->stype);
        in = blocks_even(a->rbuf, a->rcount, a->rtype);
        neighbor_exchange(s, &out, 1, &in);
        break;
    case COLL_NEIGHBOR_ALLGATHERV:
        out = blocks_even(a->sbuf, a->scount, a->stype);
        in = blocks_vector(a->rbuf, a->rcounts, a->rdispls, a->rtype);
        neighbor_exchange(s, &out, 1, &in);
        break;
    case COLL_NEIGHBOR_ALLTOALL:
        out = blocks_even(a->sbuf, a->scount, a->stype);
        in = blocks_even(a->rbuf, a->rcount, a->rtype);
        neighbor_exchange(s, &out, 0, &in);
        break;
    case COLL_NEIGHBOR_ALLTOALLV:
        out = blocks_vector(a->sbuf, a->scounts, a->sdispls, a->stype);
        in = blocks_vector(a->rbuf, a->rcounts, a->rdispls, a->rtype);
        neighbor_exchange(s, &out, 0, &in);
        break;
    default:
        out = blocks_types(a->sbuf, a->scounts, a->sdispls, a->stypes);
        in = blocks_types(a->rbuf, a->rcounts, a->rdispls, a->rtypes);
        neighbor_exchange(s, &out, 0, &in);
        break;
    }
}
