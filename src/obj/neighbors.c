/* neighbors.c - virtual topologies: Cartesian, graph, distributed graph; neighbours of a rank. */
#include "obj/neighbors.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "obj/comm.h"
#include "obj/err.h"

struct comm_topo *topo_make(enum topo_kind kind)
{
    struct comm_topo *t = calloc(1, sizeof *t);
    if (t) {
        t->refs = 1;
        t->kind = kind;
    }
    return t;
}

struct comm_topo *topo_ref(struct comm_topo *t)
{
    if (t)
        t->refs++;
    return t;
}

void topo_drop(struct comm_topo *t)
{
    if (!t || --t->refs > 0)
        return;
    free(t->dims);
    free(t->periods);
    free(t->index);
    free(t->edges);
    free(t->sources);
    free(t->destinations);
    free(t->source_weights);
    free(t->destination_weights);
    free(t);
}

int topo_cart_rank(const struct comm_topo *t, const int *coords)
{
    int rank = 0;
    for (int i = 0; i < t->ndims; i++) {
        int c = coords[i], n = t->dims[i];
        if (c < 0 || c >= n) {
            if (!t->periods[i])
                return MPI_PROC_NULL;
            c %= n;
            if (c < 0)
                c += n;
        }
        rank = rank * n + c;
    }
    return rank;
}

void topo_cart_coords(const struct comm_topo *t, int rank, int *coords)
{
    for (int i = t->ndims - 1; i >= 0; i--) {
        coords[i] = rank % t->dims[i];
        rank /= t->dims[i];
    }
}

/* For each dimension the neighbour below, then the one above. */
static void cart_neighbors(const struct comm_topo *t, int rank, int *out)
{
    int below = 1; /* ranks per step of dimension i */
    for (int i = t->ndims - 1; i >= 0; i--) {
        int n = t->dims[i], c = rank / below % n;
        for (int up = 0; up < 2; up++) {
            int to = c + (up ? 1 : -1), inside = to >= 0 && to < n;
            if (!inside && t->periods[i])
                to = (to + n) % n, inside = 1;
            out[2 * i + up] = inside ? rank + (to - c) * below : MPI_PROC_NULL;
        }
        below *= n;
    }
}

int topo_neighbors(const struct comm *c, int *nsources, int **sources, int *ndestinations,
                   int **destinations, const char *call)
{
    const struct comm_topo *t = c->topo;
    if (!t)
        return err_make(MPI_ERR_TOPOLOGY, "%s: communicator %#x has no topology", call,
                        (unsigned)c->obj.handle);
    int in, out;
    const int *list_in = t->sources, *list_out = t->destinations;
    if (t->kind == TOPO_CART) {
        in = out = 2 * t->ndims;
    } else if (t->kind == TOPO_GRAPH) {
        int from = c->rank ? t->index[c->rank - 1] : 0;
        in = out = t->index[c->rank] - from;
        list_in = list_out = t->edges + from;
    } else {
        in = t->indegree;
        out = t->outdegree;
    }
    int *block = malloc(((size_t)in + (size_t)out + 1) * sizeof *block);
    if (!block)
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for %d neighbors", call, in + out);
    if (t->kind == TOPO_CART) {
        cart_neighbors(t, c->rank, block);
        memcpy(block + in, block, (size_t)out * sizeof *block);
    } else {
        if (in)
            memcpy(block, list_in, (size_t)in * sizeof *block);
        if (out)
            memcpy(block + in, list_out, (size_t)out * sizeof *block);
    }
    *nsources = in;
    *ndestinations = out;
    *sources = block;
    *destinations = block + in;
    return MPI_SUCCESS;
}
