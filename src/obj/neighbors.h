/* neighbors.h - virtual topologies of communicators (MPI-3.1 chapter 7): their data, and the
 * neighbours that follow from it.
 *
 * Dimensions, coordinates and ranks are counts; all arrays belong to the topology. */
#ifndef OBJ_NEIGHBORS_H
#define OBJ_NEIGHBORS_H

struct comm;

enum topo_kind { TOPO_CART, TOPO_GRAPH, TOPO_DIST };

struct comm_topo {
    int refs;
    enum topo_kind kind;
    /* TOPO_CART */
    int ndims;
    int *dims, *periods;
    /* TOPO_GRAPH: the whole graph, as given to MPI_Graph_create */
    int nnodes, nedges;
    int *index, *edges;
    /* TOPO_DIST: this process's neighbours, in the order of MPI_Dist_graph_create_adjacent */
    int indegree, outdegree, weighted;
    int *sources, *destinations, *source_weights, *destination_weights;
};

/* An empty topology of this kind with one reference; NULL: out of memory. */
struct comm_topo *topo_make(enum topo_kind kind);
struct comm_topo *topo_ref(struct comm_topo *t);
void topo_drop(struct comm_topo *t); /* NULL is legal */

/* Rank at coordinates (periodic ones wrap), or MPI_PROC_NULL outside. */
int topo_cart_rank(const struct comm_topo *t, const int *coords);
void topo_cart_coords(const struct comm_topo *t, int rank, int *coords);

/* Neighbours for MPI_Neighbor_*: *sources and *destinations are ranks of c (MPI_PROC_NULL at the
 * edges of a Cartesian grid), in the order that MPI-3.1 7.6 wants; for Cartesian grids sources ==
 * destinations in value.  Both arrays are allocated in one block that the caller frees with
 * free(*sources).
 * MPI_ERR_TOPOLOGY when c has no topology; `call` names the MPI function. */
int topo_neighbors(const struct comm *c, int *nsources, int **sources, int *ndestinations,
                   int **destinations, const char *call);

/* Which source the i-th block that is taken comes from. On a Cartesian grid of extent 1 or 2, both
 * neighbours of a dimension are one process. What it sends down first comes from above here. So the
 * blocks of a dimension are taken from the upper neighbour first. */
static inline int topo_taken(const struct comm_topo *t, int i)
{
    return t->kind == TOPO_CART ? i ^ 1 : i;
}

/* Fill the zeros of dims (at least one) with factors whose product is `product`, 1 or more: as
 * balanced as possible, the largest first. Returns 0 if there is no memory. */
int topo_dims_fill(int product, int ndims, int *dims);

#endif
