/* Virtual topologies (MPI-3.1 chapter 7); neighborhood collectives are in neighbor.c. */
#include "api/api.h"

#include <stdlib.h>
#include <string.h>

#include "coll/coll.h"
#include "coll/newcomm.h"
#include "dt/dt.h"
#include "obj/topo.h"

static int no_memory(void)
{
    return err_make(MPI_ERR_NO_MEM, "%s: no memory for the topology", proc->call);
}

/* A copy of n ints; n = 0 gives NULL and is fine. */
static int copy_ints(int **to, const int *from, int n)
{
    *to = NULL;
    if (n <= 0)
        return MPI_SUCCESS;
    if (!(*to = malloc((size_t)n * sizeof **to)))
        return no_memory();
    memcpy(*to, from, (size_t)n * sizeof **to);
    return MPI_SUCCESS;
}

static int array_arg(const void *p, int n, const char *name)
{
    if (n < 0)
        return err_make(MPI_ERR_ARG, "%s: the length of %s is %d, less than 0", proc->call, name, n);
    return n > 0 ? api_pointer(p, name) : MPI_SUCCESS;
}

/* The first n processes of c with topology t (which it takes over); NULL for the others.  tag: 0 or COLL_WITHIN. */
static int first_n(struct comm *c, int n, struct comm_topo *t, int tag, struct comm **out)
{
    int *world = malloc(((size_t)n + 1) * sizeof *world);
    struct rankmap *map = NULL;
    *out = NULL;
    for (int i = 0; world && i < n; i++)
        world[i] = comm_world(c, i);
    if (world)
        map = n == c->size ? rankmap_ref(c->map) : rankmap_make(world, n);
    int err = map ? newcomm_subset(c, map, tag, out) : no_memory();
    if (!err && *out)
        (*out)->topo = topo_ref(t);
    rankmap_drop(map);
    free(world);
    topo_drop(t);
    return err;
}

/* A communicator with a topology of this kind. */
static int topo_arg(MPI_Comm comm, enum topo_kind kind, struct comm **c)
{
    static const char *const names[] = {
        [TOPO_CART] = "a Cartesian", [TOPO_GRAPH] = "a graph", [TOPO_DIST] = "a distributed graph"};
    int err = api_comm(comm, c);
    if (!err && (!(*c)->topo || (*c)->topo->kind != kind))
        err = err_make(MPI_ERR_TOPOLOGY, "%s: communicator %#x has not %s topology", proc->call, (unsigned)comm,
                       names[kind]);
    return err;
}

int PMPI_Dims_create(int nnodes, int ndims, int dims[])
{
    api_enter("MPI_Dims_create");
    int err = array_arg(dims, ndims, "dims"), nfree = 0;
    long long fixed = 1;
    if (!err && nnodes < 1)
        err = err_make(MPI_ERR_ARG, "MPI_Dims_create: nnodes is %d, less than 1", nnodes);
    for (int i = 0; i < ndims && !err; i++) {
        if (dims[i] < 0)
            err = err_make(MPI_ERR_DIMS, "MPI_Dims_create: dims[%d] is %d, less than 0", i, dims[i]);
        else if (dims[i] == 0)
            nfree++;
        else if ((fixed *= dims[i]) > nnodes)
            fixed = 1LL + nnodes; /* no divisor; keeps the product small */
    }
    if (!err && (nnodes % fixed || (nfree == 0 && fixed != nnodes && ndims > 0)))
        err = err_make(MPI_ERR_DIMS, "MPI_Dims_create: the given dimensions do not divide nnodes, %d", nnodes);
    if (!err && ndims == 0 && nnodes != 1)
        err = err_make(MPI_ERR_DIMS, "MPI_Dims_create: %d nodes do not fit a grid of no dimension", nnodes);
    if (!err && nfree && !topo_dims_fill((int)(nnodes / fixed), ndims, dims))
        err = no_memory();
    return api_leave(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Dims_create);

/* --- Cartesian grids ------------------------------------------------------------------ */

static int cart_args(const struct comm *c, int ndims, const int *dims, const int *periods, int *nodes)
{
    long long product = 1;
    int err = array_arg(dims, ndims, "dims");
    if (!err)
        err = array_arg(periods, ndims, "periods");
    for (int i = 0; i < ndims && !err; i++) {
        if (dims[i] < 1)
            err = err_make(MPI_ERR_DIMS, "%s: dims[%d] is %d, less than 1", proc->call, i, dims[i]);
        else if ((product *= dims[i]) > c->size)
            err = err_make(MPI_ERR_DIMS, "%s: the grid is larger than the group of %d processes", proc->call, c->size);
    }
    *nodes = (int)product;
    return err;
}

static struct comm_topo *cart_make(int ndims, const int *dims, const int *periods)
{
    struct comm_topo *t = topo_make(TOPO_CART);
    if (!t)
        return NULL;
    t->ndims = ndims;
    if (copy_ints(&t->dims, dims, ndims) || copy_ints(&t->periods, periods, ndims)) {
        topo_drop(t);
        return NULL;
    }
    for (int i = 0; i < ndims; i++)
        t->periods[i] = periods[i] != 0;
    return t;
}

int PMPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[],
                     int reorder, MPI_Comm *comm_cart)
{
    (void)reorder; /* ranks stay: nothing is known that would make others better */
    api_enter("MPI_Cart_create");
    struct comm *c, *n = NULL;
    struct comm_topo *t = NULL;
    int nodes, err = api_intracomm(comm_old, &c);
    if (!err)
        err = cart_args(c, ndims, dims, periods, &nodes);
    if (!err)
        err = api_pointer(comm_cart, "comm_cart");
    if (!err && !(t = cart_make(ndims, dims, periods)))
        err = no_memory();
    if (!err)
        err = first_n(c, nodes, t, 0, &n);
    return api_leave_new(comm_old, err, n, comm_cart);
}
API_ALIAS(MPI_Cart_create);

int PMPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank)
{
    api_enter("MPI_Cart_map");
    struct comm *c;
    int nodes, err = api_intracomm(comm, &c);
    if (!err)
        err = cart_args(c, ndims, dims, periods, &nodes);
    if (!err)
        err = api_pointer(newrank, "newrank");
    if (!err)
        *newrank = c->rank < nodes ? c->rank : MPI_UNDEFINED;
    return api_leave(comm, err);
}
API_ALIAS(MPI_Cart_map);

int PMPI_Cartdim_get(MPI_Comm comm, int *ndims)
{
    api_enter("MPI_Cartdim_get");
    struct comm *c;
    int err = topo_arg(comm, TOPO_CART, &c);
    if (!err)
        err = api_pointer(ndims, "ndims");
    if (!err)
        *ndims = c->topo->ndims;
    return api_leave(comm, err);
}
API_ALIAS(MPI_Cartdim_get);

static int maxdims_arg(const struct comm_topo *t, int maxdims)
{
    return maxdims >= t->ndims ? MPI_SUCCESS
                               : err_make(MPI_ERR_ARG, "%s: maxdims is %d, the grid has %d dimensions", proc->call,
                                          maxdims, t->ndims);
}

int PMPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[])
{
    api_enter("MPI_Cart_get");
    struct comm *c;
    int err = topo_arg(comm, TOPO_CART, &c);
    if (!err)
        err = maxdims_arg(c->topo, maxdims);
    if (!err)
        err = array_arg(dims, c->topo->ndims, "dims");
    if (!err)
        err = array_arg(periods, c->topo->ndims, "periods");
    if (!err)
        err = array_arg(coords, c->topo->ndims, "coords");
    if (!err && c->topo->ndims) {
        memcpy(dims, c->topo->dims, (size_t)c->topo->ndims * sizeof *dims);
        memcpy(periods, c->topo->periods, (size_t)c->topo->ndims * sizeof *periods);
        topo_cart_coords(c->topo, c->rank, coords);
    }
    return api_leave(comm, err);
}
API_ALIAS(MPI_Cart_get);

int PMPI_Cart_rank(MPI_Comm comm, const int coords[], int *rank)
{
    api_enter("MPI_Cart_rank");
    struct comm *c;
    int err = topo_arg(comm, TOPO_CART, &c);
    if (!err)
        err = array_arg(coords, c->topo->ndims, "coords");
    if (!err)
        err = api_pointer(rank, "rank");
    for (int i = 0; !err && i < c->topo->ndims; i++)
        if (!c->topo->periods[i] && (coords[i] < 0 || coords[i] >= c->topo->dims[i]))
            err = err_make(MPI_ERR_ARG, "MPI_Cart_rank: coords[%d] is %d, outside 0 to %d of a dimension without period",
                           i, coords[i], c->topo->dims[i] - 1);
    if (!err)
        *rank = topo_cart_rank(c->topo, coords);
    return api_leave(comm, err);
}
API_ALIAS(MPI_Cart_rank);

int PMPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[])
{
    api_enter("MPI_Cart_coords");
    struct comm *c;
    int err = topo_arg(comm, TOPO_CART, &c);
    if (!err)
        err = api_rank(rank, c->size, 0);
    if (!err)
        err = maxdims_arg(c->topo, maxdims);
    if (!err)
        err = array_arg(coords, c->topo->ndims, "coords");
    if (!err)
        topo_cart_coords(c->topo, rank, coords);
    return api_leave(comm, err);
}
API_ALIAS(MPI_Cart_coords);

/* Rank that is `disp` steps away from this process in one dimension, or MPI_PROC_NULL. */
static int shifted(const struct comm *c, int dim, long long disp)
{
    const struct comm_topo *t = c->topo;
    int below = 1;
    for (int i = dim + 1; i < t->ndims; i++)
        below *= t->dims[i];
    int n = t->dims[dim], at = c->rank / below % n;
    long long to = at + disp;
    if (t->periods[dim])
        to = ((to % n) + n) % n;
    return to >= 0 && to < n ? c->rank + (int)(to - at) * below : MPI_PROC_NULL;
}

int PMPI_Cart_shift(MPI_Comm comm, int direction, int disp, int *source, int *dest)
{
    api_enter("MPI_Cart_shift");
    struct comm *c;
    int err = topo_arg(comm, TOPO_CART, &c);
    if (!err && (direction < 0 || direction >= c->topo->ndims))
        err = err_make(MPI_ERR_ARG, "MPI_Cart_shift: direction is %d, the grid has %d dimensions", direction,
                       c->topo->ndims);
    if (!err)
        err = api_pointer(source, "rank_source");
    if (!err)
        err = api_pointer(dest, "rank_dest");
    if (!err) {
        *source = shifted(c, direction, -(long long)disp);
        *dest = shifted(c, direction, disp);
    }
    return api_leave(comm, err);
}
API_ALIAS(MPI_Cart_shift);

/* Where this process goes in MPI_Cart_sub: color by the coordinates that are dropped, key by those kept. */
static struct comm_topo *cart_sub(const struct comm *c, const int *remain, int *color, int *key)
{
    const struct comm_topo *t = c->topo;
    int *coords = malloc(((size_t)t->ndims * 3 + 1) * sizeof *coords), n = 0;
    if (!coords)
        return NULL;
    int *dims = coords + t->ndims, *periods = dims + t->ndims;
    topo_cart_coords(t, c->rank, coords);
    *color = *key = 0;
    for (int i = 0; i < t->ndims; i++) {
        if (remain[i]) {
            *key = *key * t->dims[i] + coords[i];
            dims[n] = t->dims[i];
            periods[n++] = t->periods[i];
        } else {
            *color = *color * t->dims[i] + coords[i];
        }
    }
    struct comm_topo *sub = cart_make(n, dims, periods);
    free(coords);
    return sub;
}

int PMPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
{
    api_enter("MPI_Cart_sub");
    struct comm *c, *n = NULL;
    struct comm_topo *t = NULL;
    int color = 0, key = 0, err = topo_arg(comm, TOPO_CART, &c);
    if (!err)
        err = array_arg(remain_dims, c->topo->ndims, "remain_dims");
    if (!err)
        err = api_pointer(newcomm, "newcomm");
    if (!err && !(t = cart_sub(c, remain_dims, &color, &key)))
        err = no_memory();
    /* A grid of no dimension has one process, as in MPI_Cart_create. */
    if (!err && t->ndims == 0)
        color = c->rank == 0 ? 0 : MPI_UNDEFINED;
    if (!err)
        err = newcomm_split(c, color, key, &n);
    if (n)
        n->topo = topo_ref(t);
    topo_drop(t);
    return api_leave_new(comm, err, n, newcomm);
}
API_ALIAS(MPI_Cart_sub);

/* --- graphs ----------------------------------------------------------------------------- */

static int graph_args(const struct comm *c, int nnodes, const int *index, const int *edges)
{
    int err = array_arg(index, nnodes, "index"), last = 0;
    if (!err && nnodes > c->size)
        err = err_make(MPI_ERR_ARG, "%s: the graph has %d nodes, the group %d processes", proc->call, nnodes, c->size);
    for (int i = 0; i < nnodes && !err; last = index[i++])
        if (index[i] < last)
            err = err_make(MPI_ERR_ARG, "%s: index[%d] is %d, less than the one before", proc->call, i, index[i]);
    if (!err)
        err = array_arg(edges, last, "edges");
    for (int i = 0; i < last && !err; i++)
        if (edges[i] < 0 || edges[i] >= nnodes)
            err = err_make(MPI_ERR_ARG, "%s: edges[%d] is %d, the graph has %d nodes", proc->call, i, edges[i],
                           nnodes);
    return err;
}

int PMPI_Graph_create(MPI_Comm comm_old, int nnodes, const int index[], const int edges[],
                      int reorder, MPI_Comm *comm_graph)
{
    (void)reorder;
    api_enter("MPI_Graph_create");
    struct comm *c, *n = NULL;
    struct comm_topo *t = NULL;
    int err = api_intracomm(comm_old, &c);
    if (!err)
        err = graph_args(c, nnodes, index, edges);
    if (!err)
        err = api_pointer(comm_graph, "comm_graph");
    if (!err && nnodes > 0) {
        if (!(t = topo_make(TOPO_GRAPH)))
            err = no_memory();
        if (!err)
            err = copy_ints(&t->index, index, t->nnodes = nnodes);
        if (!err)
            err = copy_ints(&t->edges, edges, t->nedges = index[nnodes - 1]);
        if (!err)
            err = first_n(c, nnodes, t, 0, &n);
        else
            topo_drop(t);
    }
    return api_leave_new(comm_old, err, n, comm_graph);
}
API_ALIAS(MPI_Graph_create);

int PMPI_Graph_map(MPI_Comm comm, int nnodes, const int index[], const int edges[], int *newrank)
{
    api_enter("MPI_Graph_map");
    struct comm *c;
    int err = api_intracomm(comm, &c);
    if (!err && nnodes < 1)
        err = err_make(MPI_ERR_ARG, "MPI_Graph_map: nnodes is %d, less than 1", nnodes);
    if (!err)
        err = graph_args(c, nnodes, index, edges);
    if (!err)
        err = api_pointer(newrank, "newrank");
    if (!err)
        *newrank = c->rank < nnodes ? c->rank : MPI_UNDEFINED;
    return api_leave(comm, err);
}
API_ALIAS(MPI_Graph_map);

int PMPI_Graphdims_get(MPI_Comm comm, int *nnodes, int *nedges)
{
    api_enter("MPI_Graphdims_get");
    struct comm *c;
    int err = topo_arg(comm, TOPO_GRAPH, &c);
    if (!err)
        err = api_pointer(nnodes, "nnodes");
    if (!err)
        err = api_pointer(nedges, "nedges");
    if (!err) {
        *nnodes = c->topo->nnodes;
        *nedges = c->topo->nedges;
    }
    return api_leave(comm, err);
}
API_ALIAS(MPI_Graphdims_get);

/* The room that the user has must hold all: a graph cut short is none. */
static int room_arg(int room, int need, const char *name)
{
    return room >= need
               ? MPI_SUCCESS
               : err_make(MPI_ERR_ARG, "%s: %s is %d, less than the %d of the graph", proc->call, name, room, need);
}

int PMPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int index[], int edges[])
{
    api_enter("MPI_Graph_get");
    struct comm *c;
    int err = topo_arg(comm, TOPO_GRAPH, &c);
    if (!err)
        err = room_arg(maxindex, c->topo->nnodes, "maxindex");
    if (!err)
        err = room_arg(maxedges, c->topo->nedges, "maxedges");
    if (!err)
        err = array_arg(index, c->topo->nnodes, "index");
    if (!err)
        err = array_arg(edges, c->topo->nedges, "edges");
    if (!err) {
        memcpy(index, c->topo->index, (size_t)c->topo->nnodes * sizeof *index);
        if (c->topo->nedges)
            memcpy(edges, c->topo->edges, (size_t)c->topo->nedges * sizeof *edges);
    }
    return api_leave(comm, err);
}
API_ALIAS(MPI_Graph_get);

static int graph_edges(const struct comm *c, int rank, const int **list)
{
    const struct comm_topo *t = c->topo;
    int from = rank ? t->index[rank - 1] : 0;
    *list = t->edges + from;
    return t->index[rank] - from;
}

int PMPI_Graph_neighbors_count(MPI_Comm comm, int rank, int *nneighbors)
{
    api_enter("MPI_Graph_neighbors_count");
    struct comm *c;
    const int *list;
    int err = topo_arg(comm, TOPO_GRAPH, &c);
    if (!err)
        err = api_rank(rank, c->size, 0);
    if (!err)
        err = api_pointer(nneighbors, "nneighbors");
    if (!err)
        *nneighbors = graph_edges(c, rank, &list);
    return api_leave(comm, err);
}
API_ALIAS(MPI_Graph_neighbors_count);

int PMPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[])
{
    api_enter("MPI_Graph_neighbors");
    struct comm *c;
    const int *list;
    int n = 0, err = topo_arg(comm, TOPO_GRAPH, &c);
    if (!err)
        err = api_rank(rank, c->size, 0);
    if (!err)
        err = room_arg(maxneighbors, n = graph_edges(c, rank, &list), "maxneighbors");
    if (!err)
        err = array_arg(neighbors, n, "neighbors");
    if (!err && n)
        memcpy(neighbors, list, (size_t)n * sizeof *neighbors);
    return api_leave(comm, err);
}
API_ALIAS(MPI_Graph_neighbors);

/* --- distributed graphs -------------------------------------------------------------------- */

static int weights_arg(const int *weights, int n, const char *name)
{
    if (weights == MPI_UNWEIGHTED || n == 0)
        return MPI_SUCCESS;
    if (weights == MPI_WEIGHTS_EMPTY)
        return err_make(MPI_ERR_ARG, "%s: %s is MPI_WEIGHTS_EMPTY for %d edges", proc->call, name, n);
    int err = api_pointer(weights, name);
    for (int i = 0; i < n && !err; i++)
        if (weights[i] < 0)
            err = err_make(MPI_ERR_ARG, "%s: %s[%d] is %d, less than 0", proc->call, name, i, weights[i]);
    return err;
}

static int ranks_arg(const struct comm *c, const int *ranks, int n, const char *name)
{
    int err = array_arg(ranks, n, name);
    for (int i = 0; i < n && !err; i++)
        if (ranks[i] < 0 || ranks[i] >= c->size)
            err = err_make(MPI_ERR_RANK, "%s: %s[%d] is %d, not in the group of %d processes", proc->call, name, i,
                           ranks[i], c->size);
    return err;
}

static int adjacent(const int *sources, int in, const int *sw, const int *destinations, int out, const int *dw,
                    struct comm_topo *t)
{
    t->indegree = in;
    t->outdegree = out;
    t->weighted = sw != MPI_UNWEIGHTED;
    int err = copy_ints(&t->sources, sources, in);
    if (!err)
        err = copy_ints(&t->destinations, destinations, out);
    if (!err && t->weighted)
        err = copy_ints(&t->source_weights, sw, in);
    if (!err && t->weighted)
        err = copy_ints(&t->destination_weights, dw, out);
    return err;
}

int PMPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                                    const int sourceweights[], int outdegree,
                                    const int destinations[], const int destweights[],
                                    MPI_Info info, int reorder, MPI_Comm *comm_dist_graph)
{
    (void)reorder;
    api_enter("MPI_Dist_graph_create_adjacent");
    struct comm *c, *n = NULL;
    struct info *i;
    struct comm_topo *t = NULL;
    int err = api_intracomm(comm_old, &c);
    if (!err)
        err = ranks_arg(c, sources, indegree, "sources");
    if (!err)
        err = ranks_arg(c, destinations, outdegree, "destinations");
    if (!err)
        err = weights_arg(sourceweights, indegree, "sourceweights");
    if (!err)
        err = weights_arg(destweights, outdegree, "destweights");
    if (!err && (sourceweights == MPI_UNWEIGHTED) != (destweights == MPI_UNWEIGHTED))
        err = err_make(MPI_ERR_ARG, "MPI_Dist_graph_create_adjacent: only one of sourceweights and destweights is "
                                    "MPI_UNWEIGHTED");
    if (!err)
        err = api_info(info, &i);
    if (!err)
        err = api_pointer(comm_dist_graph, "comm_dist_graph");
    if (!err && !(t = topo_make(TOPO_DIST)))
        err = no_memory();
    if (!err && (err = adjacent(sources, indegree, sourceweights, destinations, outdegree, destweights, t)) != 0)
        topo_drop(t);
    else if (!err)
        err = first_n(c, c->size, t, 0, &n);
    return api_leave_new(comm_old, err, n, comm_dist_graph);
}
API_ALIAS(MPI_Dist_graph_create_adjacent);

/* MPI_Dist_graph_create: each edge is known to some process; it tells both ends. */
enum { EDGE_OUT, EDGE_IN, EDGE_INTS = 3 }; /* what it is for the receiver, the other end, the weight */

struct edges { /* for an exchange: ints to and from each process */
    int *scounts, *sdispls, *rcounts, *rdispls;
    int *send, *recv;
    int total; /* ints received */
};

static void edges_free(struct edges *e)
{
    free(e->scounts);
    free(e->send);
    free(e->recv);
}

static int displs(const int *counts, int *displ, int n, int *total)
{
    long long sum = 0;
    for (int i = 0; i < n; i++) {
        displ[i] = (int)sum;
        sum += counts[i];
        if (sum > 0x7fffffff)
            return err_make(MPI_ERR_OTHER, "%s: more edges than the library can count", proc->call);
    }
    *total = (int)sum;
    return MPI_SUCCESS;
}

static void put_edge(struct edges *e, int to, int kind, int other, int weight)
{
    int *p = e->send + e->sdispls[to] + e->scounts[to];
    p[0] = kind;
    p[1] = other;
    p[2] = weight;
    e->scounts[to] += EDGE_INTS;
}

static int edges_fill(struct edges *e, const struct comm *c, int n, const int *sources, const int *degrees,
                      const int *destinations, const int *weights)
{
    int total = 0, P = c->size;
    if (!(e->scounts = calloc((size_t)P * 4 + 1, sizeof *e->scounts)))
        return no_memory();
    e->sdispls = e->scounts + P;
    e->rcounts = e->sdispls + P;
    e->rdispls = e->rcounts + P;
    for (int i = 0, k = 0; i < n; i++)
        for (int d = 0; d < degrees[i]; d++, k++) {
            e->scounts[sources[i]] += EDGE_INTS;
            e->scounts[destinations[k]] += EDGE_INTS;
        }
    int err = displs(e->scounts, e->sdispls, P, &total);
    if (err)
        return err;
    if (!(e->send = malloc(((size_t)total + 1) * sizeof *e->send)))
        return no_memory();
    memset(e->scounts, 0, (size_t)P * sizeof *e->scounts); /* counted again while filling */
    for (int i = 0, k = 0; i < n; i++)
        for (int d = 0; d < degrees[i]; d++, k++) {
            int w = weights == MPI_UNWEIGHTED ? 1 : weights[k];
            put_edge(e, sources[i], EDGE_OUT, destinations[k], w);
            put_edge(e, destinations[k], EDGE_IN, sources[i], w);
        }
    return MPI_SUCCESS;
}

/* A member that has met a death sends nothing any more, or what belongs to another call. */
static int edges_missing(const struct comm *c)
{
    return err_make(rankmap_dead(c->map, 0) >= 0 ? MPIX_ERR_PROC_FAILED : MPI_ERR_OTHER,
                    "%s: what came from other processes are no edges: one has met an error", proc->call);
}

static int edges_exchange(struct edges *e, struct comm *c)
{
    struct dt_type *integer = dt_find(MPI_INT);
    int err = coll_alltoall(e->scounts, 1, integer, e->rcounts, 1, integer, c);
    for (int i = 0; i < c->size && !err; i++)
        if (e->rcounts[i] < 0 || e->rcounts[i] % EDGE_INTS)
            err = edges_missing(c);
    if (!err)
        err = displs(e->rcounts, e->rdispls, c->size, &e->total);
    if (!err && !(e->recv = malloc(((size_t)e->total + 1) * sizeof *e->recv)))
        err = no_memory();
    if (err)
        return err;
    memset(e->recv, 0xff, (size_t)e->total * sizeof *e->recv); /* no edges; less than announced may come */
    struct coll_args a = {.call = COLL_ALLTOALLV, .comm = c, .sbuf = e->send, .rbuf = e->recv, .stype = integer,
                          .rtype = integer, .scounts = coll_ints(e->scounts), .sdispls = coll_ints(e->sdispls),
                          .rcounts = coll_ints(e->rcounts), .rdispls = coll_ints(e->rdispls)};
    return coll_run(&a);
}

/* What was received becomes the neighbours of this process. */
static int edges_take(const struct edges *e, const struct comm *c, int weighted, struct comm_topo *t)
{
    int n[2] = {0, 0};
    for (int k = 0; k < e->total; k += EDGE_INTS) {
        if (e->recv[k] < 0 || e->recv[k] > 1 || e->recv[k + 1] < 0 || e->recv[k + 1] >= c->size)
            return edges_missing(c);
        n[e->recv[k]]++;
    }
    t->outdegree = n[EDGE_OUT];
    t->indegree = n[EDGE_IN];
    t->weighted = weighted;
    int *other[2], *weight[2];
    for (int kind = 0; kind < 2; kind++) {
        other[kind] = malloc(((size_t)n[kind] + 1) * sizeof(int));
        weight[kind] = malloc(((size_t)n[kind] + 1) * sizeof(int));
        n[kind] = 0;
    }
    t->destinations = other[EDGE_OUT];
    t->sources = other[EDGE_IN];
    t->destination_weights = weight[EDGE_OUT];
    t->source_weights = weight[EDGE_IN];
    if (!other[0] || !other[1] || !weight[0] || !weight[1])
        return no_memory();
    for (int k = 0; k < e->total; k += EDGE_INTS) {
        int kind = e->recv[k];
        other[kind][n[kind]] = e->recv[k + 1];
        weight[kind][n[kind]++] = e->recv[k + 2];
    }
    return MPI_SUCCESS;
}

static int dist_args(const struct comm *c, int n, const int *sources, const int *degrees, const int *destinations,
                     const int *weights)
{
    long long total = 0;
    int err = ranks_arg(c, sources, n, "sources");
    if (!err)
        err = array_arg(degrees, n, "degrees");
    for (int i = 0; i < n && !err; i++) {
        if (degrees[i] < 0)
            err = err_make(MPI_ERR_ARG, "%s: degrees[%d] is %d, less than 0", proc->call, i, degrees[i]);
        else if ((total += degrees[i]) > 0x7fffffff / (2 * EDGE_INTS))
            err = err_make(MPI_ERR_ARG, "%s: more edges than the library can count", proc->call);
    }
    if (!err)
        err = ranks_arg(c, destinations, (int)total, "destinations");
    return err ? err : weights_arg(weights, (int)total, "weights");
}

int PMPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
                           const int destinations[], const int weights[], MPI_Info info,
                           int reorder, MPI_Comm *comm_dist_graph)
{
    (void)reorder;
    api_enter("MPI_Dist_graph_create");
    struct comm *c, *nc = NULL;
    struct info *i;
    struct edges e = {0};
    struct comm_topo *t = NULL;
    int err = api_intracomm(comm_old, &c);
    if (!err)
        err = dist_args(c, n, sources, degrees, destinations, weights);
    if (!err)
        err = api_info(info, &i);
    if (!err)
        err = api_pointer(comm_dist_graph, "comm_dist_graph");
    if (!err)
        err = edges_fill(&e, c, n, sources, degrees, destinations, weights);
    if (!err)
        err = edges_exchange(&e, c);
    if (!err && !(t = topo_make(TOPO_DIST)))
        err = no_memory();
    if (!err && (err = edges_take(&e, c, weights != MPI_UNWEIGHTED, t)) != 0)
        topo_drop(t);
    else if (!err)
        err = first_n(c, c->size, t, COLL_WITHIN, &nc);
    edges_free(&e);
    return api_leave_new(comm_old, err, nc, comm_dist_graph);
}
API_ALIAS(MPI_Dist_graph_create);

int PMPI_Dist_graph_neighbors_count(MPI_Comm comm, int *indegree, int *outdegree, int *weighted)
{
    api_enter("MPI_Dist_graph_neighbors_count");
    struct comm *c;
    int err = topo_arg(comm, TOPO_DIST, &c);
    if (!err)
        err = api_pointer(indegree, "indegree");
    if (!err)
        err = api_pointer(outdegree, "outdegree");
    if (!err)
        err = api_pointer(weighted, "weighted");
    if (!err) {
        *indegree = c->topo->indegree;
        *outdegree = c->topo->outdegree;
        *weighted = c->topo->weighted;
    }
    return api_leave(comm, err);
}
API_ALIAS(MPI_Dist_graph_neighbors_count);

static int give(int max, int n, const int *list, const int *list_weights, int weighted, int *out, int *out_weights,
                const char *name)
{
    int m = max < n ? max : n; /* the first ones when there is not room for all (MPI-3.1 7.5.5) */
    int err = array_arg(out, m, name);
    if (err || m <= 0)
        return err;
    memcpy(out, list, (size_t)m * sizeof *out);
    if (weighted && out_weights && out_weights != MPI_UNWEIGHTED && out_weights != MPI_WEIGHTS_EMPTY)
        memcpy(out_weights, list_weights, (size_t)m * sizeof *out_weights);
    return MPI_SUCCESS;
}

int PMPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[],
                              int maxoutdegree, int destinations[], int destweights[])
{
    api_enter("MPI_Dist_graph_neighbors");
    struct comm *c;
    int err = topo_arg(comm, TOPO_DIST, &c);
    if (!err)
        err = give(maxindegree, c->topo->indegree, c->topo->sources, c->topo->source_weights, c->topo->weighted,
                   sources, sourceweights, "sources");
    if (!err)
        err = give(maxoutdegree, c->topo->outdegree, c->topo->destinations, c->topo->destination_weights,
                   c->topo->weighted, destinations, destweights, "destinations");
    return api_leave(comm, err);
}
API_ALIAS(MPI_Dist_graph_neighbors);

int PMPI_Topo_test(MPI_Comm comm, int *status)
{
    static const int kinds[] = {[TOPO_CART] = MPI_CART, [TOPO_GRAPH] = MPI_GRAPH, [TOPO_DIST] = MPI_DIST_GRAPH};
    api_enter("MPI_Topo_test");
    struct comm *c;
    int err = api_comm(comm, &c);
    if (!err)
        err = api_pointer(status, "status");
    if (!err)
        *status = c->topo ? kinds[c->topo->kind] : MPI_UNDEFINED;
    return api_leave(comm, err);
}
API_ALIAS(MPI_Topo_test);
