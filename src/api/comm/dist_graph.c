/* dist_graph.c - distributed graphs (MPI-3.1 7.5.4, 7.5.5). Start with PMPI_Dist_graph_create(). */
#include "api/api.h"

#include <stdlib.h>
#include <string.h>

#include "api/comm/topocall.h"
#include "coll/coll.h"
#include "dt/dt.h"
#include "obj/neighbors.h"

static int weights_arg(const int *weights, int n, const char *name)
{
    if (weights == MPI_UNWEIGHTED || n == 0)
        return MPI_SUCCESS;
    if (weights == MPI_WEIGHTS_EMPTY)
        return err_make(MPI_ERR_ARG, "%s: %s is MPI_WEIGHTS_EMPTY for %d edges", proc->call, name,
                        n);
    int err = api_pointer(weights, name);
    for (int i = 0; i < n && !err; i++)
        if (weights[i] < 0)
            err = err_make(MPI_ERR_ARG, "%s: %s[%d] is %d, less than 0", proc->call, name, i,
                           weights[i]);
    return err;
}

static int ranks_arg(const struct comm *c, const int *ranks, int n, const char *name)
{
    int err = topocall_array(ranks, n, name);
    for (int i = 0; i < n && !err; i++)
        if (ranks[i] < 0 || ranks[i] >= c->size)
            err = err_make(MPI_ERR_RANK, "%s: %s[%d] is %d, not in the group of %d processes",
                           proc->call, name, i, ranks[i], c->size);
    return err;
}

static int adjacent(const int *sources, int in, const int *sw, const int *destinations, int out,
                    const int *dw, struct comm_topo *t)
{
    t->indegree = in;
    t->outdegree = out;
    t->weighted = sw != MPI_UNWEIGHTED;
    int err = topocall_copy_ints(&t->sources, sources, in);
    if (!err)
        err = topocall_copy_ints(&t->destinations, destinations, out);
    if (!err && t->weighted)
        err = topocall_copy_ints(&t->source_weights, sw, in);
    if (!err && t->weighted)
        err = topocall_copy_ints(&t->destination_weights, dw, out);
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
        err = err_make(
            MPI_ERR_ARG,
            "MPI_Dist_graph_create_adjacent: only one of sourceweights and destweights is "
            "MPI_UNWEIGHTED");
    if (!err)
        err = api_info(info, &i);
    if (!err)
        err = api_pointer(comm_dist_graph, "comm_dist_graph");
    if (!err && !(t = topo_make(TOPO_DIST)))
        err = topocall_no_memory();
    if (!err && (err = adjacent(sources, indegree, sourceweights, destinations, outdegree,
                                destweights, t)) != 0)
        topo_drop(t);
    else
        WATCH_RUN(err, topocall_first_n(c, c->size, t, COLL_CREATE, &n),
                  .call = WATCH_DIST_GRAPH_CREATE_ADJACENT, .comm = c,
                  .site = __builtin_return_address(0));
    return api_exit_new(comm_old, err, n, comm_dist_graph);
}
API_ALIAS(MPI_Dist_graph_create_adjacent);

/* MPI_Dist_graph_create: each edge is known to one process, which sends it to both ends. */
/* role of the receiver, the other end, the weight */
enum { EDGE_OUT, EDGE_IN, EDGE_INTS = 3 };

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

static int edges_fill(struct edges *e, const struct comm *c, int n, const int *sources,
                      const int *degrees, const int *destinations, const int *weights)
{
    int total = 0, P = c->size;
    if (!(e->scounts = calloc((size_t)P * 4 + 1, sizeof *e->scounts)))
        return topocall_no_memory();
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
        return topocall_no_memory();
    memset(e->scounts, 0, (size_t)P * sizeof *e->scounts); /* counted again while filling */
    for (int i = 0, k = 0; i < n; i++)
        for (int d = 0; d < degrees[i]; d++, k++) {
            int w = weights == MPI_UNWEIGHTED ? 1 : weights[k];
            put_edge(e, sources[i], EDGE_OUT, destinations[k], w);
            put_edge(e, destinations[k], EDGE_IN, sources[i], w);
        }
    return MPI_SUCCESS;
}

/* A member that has seen a failure sends nothing more, or a message of another call. */
static int edges_missing(const struct comm *c)
{
    return err_make(rankmap_dead(c->map, 0) >= 0 ? MPIX_ERR_PROC_FAILED : MPI_ERR_OTHER,
                    "%s: what came from other processes are no edges: one has met an error",
                    proc->call);
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
        err = topocall_no_memory();
    if (err)
        return err;
    /* no edges: less data than announced may come */
    memset(e->recv, 0xff, (size_t)e->total * sizeof *e->recv);
    struct coll_args a = {.call = COLL_ALLTOALLV, .comm = c, .sbuf = e->send, .rbuf = e->recv,
                          .stype = integer, .rtype = integer, .scounts = coll_ints(e->scounts),
                          .sdispls = coll_ints(e->sdispls), .rcounts = coll_ints(e->rcounts),
                          .rdispls = coll_ints(e->rdispls)};
    return coll_run(&a);
}

/* What was received becomes the neighbours of this process. */
static int edges_take(const struct edges *e, const struct comm *c, int weighted,
                      struct comm_topo *t)
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
        return topocall_no_memory();
    for (int k = 0; k < e->total; k += EDGE_INTS) {
        int kind = e->recv[k];
        other[kind][n[kind]] = e->recv[k + 1];
        weight[kind][n[kind]++] = e->recv[k + 2];
    }
    return MPI_SUCCESS;
}

static int dist_args(const struct comm *c, int n, const int *sources, const int *degrees,
                     const int *destinations, const int *weights)
{
    long long total = 0;
    int err = ranks_arg(c, sources, n, "sources");
    if (!err)
        err = topocall_array(degrees, n, "degrees");
    for (int i = 0; i < n && !err; i++) {
        if (degrees[i] < 0)
            err = err_make(MPI_ERR_ARG, "%s: degrees[%d] is %d, less than 0", proc->call, i,
                           degrees[i]);
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
    WATCH_RUN(err, edges_exchange(&e, c), .call = WATCH_DIST_GRAPH_CREATE, .comm = c,
              .site = __builtin_return_address(0));
    if (!err && !(t = topo_make(TOPO_DIST)))
        err = topocall_no_memory();
    if (!err && (err = edges_take(&e, c, weights != MPI_UNWEIGHTED, t)) != 0)
        topo_drop(t);
    else if (!err)
        err = topocall_first_n(c, c->size, t, COLL_WITHIN, &nc);
    edges_free(&e);
    return api_exit_new(comm_old, err, nc, comm_dist_graph);
}
API_ALIAS(MPI_Dist_graph_create);

int PMPI_Dist_graph_neighbors_count(MPI_Comm comm, int *indegree, int *outdegree, int *weighted)
{
    api_enter("MPI_Dist_graph_neighbors_count");
    struct comm *c;
    int err = topocall_arg(comm, TOPO_DIST, &c);
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
    return api_exit(comm, err);
}
API_ALIAS(MPI_Dist_graph_neighbors_count);

static int give(int max, int n, const int *list, const int *list_weights, int weighted, int *out,
                int *out_weights, const char *name)
{
    int m = max < n ? max : n; /* the first ones when there is not room for all (MPI-3.1 7.5.5) */
    int err = topocall_array(out, m, name);
    if (err || m <= 0)
        return err;
    memcpy(out, list, (size_t)m * sizeof *out);
    if (weighted && out_weights && out_weights != MPI_UNWEIGHTED &&
        out_weights != MPI_WEIGHTS_EMPTY)
        memcpy(out_weights, list_weights, (size_t)m * sizeof *out_weights);
    return MPI_SUCCESS;
}

int PMPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[],
                              int maxoutdegree, int destinations[], int destweights[])
{
    api_enter("MPI_Dist_graph_neighbors");
    struct comm *c;
    int err = topocall_arg(comm, TOPO_DIST, &c);
    if (!err)
        err = give(maxindegree, c->topo->indegree, c->topo->sources, c->topo->source_weights,
                   c->topo->weighted, sources, sourceweights, "sources");
    if (!err)
        err = give(maxoutdegree, c->topo->outdegree, c->topo->destinations,
                   c->topo->destination_weights, c->topo->weighted, destinations, destweights,
                   "destinations");
    return api_exit(comm, err);
}
API_ALIAS(MPI_Dist_graph_neighbors);
