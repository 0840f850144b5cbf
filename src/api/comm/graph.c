/* graph.c - graphs (MPI-3.1 7.5.3, 7.5.5, 7.5.8). Start with PMPI_Graph_create(). */
#include "api/api.h"

#include <stdlib.h>
#include <string.h>

#include "api/comm/topocall.h"
#include "coll/coll.h"
#include "obj/neighbors.h"

static int graph_args(const struct comm *c, int nnodes, const int *index, const int *edges)
{
    int err = topocall_array(index, nnodes, "index"), last = 0;
    if (!err && nnodes > c->size)
        err = err_make(MPI_ERR_ARG, "%s: the graph has %d nodes, the group %d processes",
                       proc->call, nnodes, c->size);
    for (int i = 0; i < nnodes && !err; last = index[i++])
        if (index[i] < last)
            err = err_make(MPI_ERR_ARG, "%s: index[%d] is %d, less than the one before", proc->call,
                           i, index[i]);
    if (!err)
        err = topocall_array(edges, last, "edges");
    for (int i = 0; i < last && !err; i++)
        if (edges[i] < 0 || edges[i] >= nnodes)
            err = err_make(MPI_ERR_ARG, "%s: edges[%d] is %d, the graph has %d nodes", proc->call,
                           i, edges[i], nnodes);
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
            err = topocall_no_memory();
        if (!err)
            err = topocall_copy_ints(&t->index, index, t->nnodes = nnodes);
        if (!err)
            err = topocall_copy_ints(&t->edges, edges, t->nedges = index[nnodes - 1]);
    }
    WATCH_RUN(err, t ? topocall_first_n(c, nnodes, topo_ref(t), COLL_CREATE, &n) : MPI_SUCCESS,
              .call = WATCH_GRAPH_CREATE, .comm = c, .site = __builtin_return_address(0));
    topo_drop(t);
    return api_exit_new(comm_old, err, n, comm_graph);
}
API_ALIAS(MPI_Graph_create);

int PMPI_Graph_map(MPI_Comm comm, int nnodes, const int index[], const int edges[], int *newrank)
{
    api_enter("MPI_Graph_map");
    struct comm *c;
    int err = api_intracomm_local(comm, &c);
    if (!err && nnodes < 1)
        err = err_make(MPI_ERR_ARG, "MPI_Graph_map: nnodes is %d, less than 1", nnodes);
    if (!err)
        err = graph_args(c, nnodes, index, edges);
    if (!err)
        err = api_pointer(newrank, "newrank");
    if (!err)
        *newrank = c->rank < nnodes ? c->rank : MPI_UNDEFINED;
    return api_exit(comm, err);
}
API_ALIAS(MPI_Graph_map);

int PMPI_Graphdims_get(MPI_Comm comm, int *nnodes, int *nedges)
{
    api_enter("MPI_Graphdims_get");
    struct comm *c;
    int err = topocall_arg(comm, TOPO_GRAPH, &c);
    if (!err)
        err = api_pointer(nnodes, "nnodes");
    if (!err)
        err = api_pointer(nedges, "nedges");
    if (!err) {
        *nnodes = c->topo->nnodes;
        *nedges = c->topo->nedges;
    }
    return api_exit(comm, err);
}
API_ALIAS(MPI_Graphdims_get);

/* The user's arrays must hold everything: a truncated graph is useless. */
static int room_arg(int room, int need, const char *name)
{
    return room >= need ? MPI_SUCCESS
                        : err_make(MPI_ERR_ARG, "%s: %s is %d, less than the %d of the graph",
                                   proc->call, name, room, need);
}

int PMPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int index[], int edges[])
{
    api_enter("MPI_Graph_get");
    struct comm *c;
    int err = topocall_arg(comm, TOPO_GRAPH, &c);
    if (!err)
        err = room_arg(maxindex, c->topo->nnodes, "maxindex");
    if (!err)
        err = room_arg(maxedges, c->topo->nedges, "maxedges");
    if (!err)
        err = topocall_array(index, c->topo->nnodes, "index");
    if (!err)
        err = topocall_array(edges, c->topo->nedges, "edges");
    if (!err) {
        memcpy(index, c->topo->index, (size_t)c->topo->nnodes * sizeof *index);
        if (c->topo->nedges)
            memcpy(edges, c->topo->edges, (size_t)c->topo->nedges * sizeof *edges);
    }
    return api_exit(comm, err);
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
    int err = topocall_arg(comm, TOPO_GRAPH, &c);
    if (!err)
        err = api_rank(rank, c->size, 0);
    if (!err)
        err = api_pointer(nneighbors, "nneighbors");
    if (!err)
        *nneighbors = graph_edges(c, rank, &list);
    return api_exit(comm, err);
}
API_ALIAS(MPI_Graph_neighbors_count);

int PMPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[])
{
    api_enter("MPI_Graph_neighbors");
    struct comm *c;
    const int *list;
    int n = 0, err = topocall_arg(comm, TOPO_GRAPH, &c);
    if (!err)
        err = api_rank(rank, c->size, 0);
    if (!err)
        err = room_arg(maxneighbors, n = graph_edges(c, rank, &list), "maxneighbors");
    if (!err)
        err = topocall_array(neighbors, n, "neighbors");
    if (!err && n)
        memcpy(neighbors, list, (size_t)n * sizeof *neighbors);
    return api_exit(comm, err);
}
API_ALIAS(MPI_Graph_neighbors);
