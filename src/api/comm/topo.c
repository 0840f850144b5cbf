/* topo.c - virtual topologies (MPI-3.1 chapter 7): what their calls share, and those of no kind. */
#include "api/api.h"

#include <stdlib.h>
#include <string.h>

#include "api/comm/topocall.h"
#include "coll/newcomm.h"
#include "obj/neighbors.h"

int topocall_no_memory(void)
{
    return err_make(MPI_ERR_NO_MEM, "%s: no memory for the topology", proc->call);
}

/* A copy of n ints; n = 0 gives NULL and is fine. */
int topocall_copy_ints(int **to, const int *from, int n)
{
    *to = NULL;
    if (n <= 0)
        return MPI_SUCCESS;
    if (!(*to = malloc((size_t)n * sizeof **to)))
        return topocall_no_memory();
    memcpy(*to, from, (size_t)n * sizeof **to);
    return MPI_SUCCESS;
}

int topocall_array(const void *p, int n, const char *name)
{
    if (n < 0)
        return err_make(MPI_ERR_ARG, "%s: the length of %s is %d, less than 0", proc->call, name,
                        n);
    return n > 0 ? api_pointer(p, name) : MPI_SUCCESS;
}

/* The first n processes of c with topology t (which it takes over); NULL for the others.  tag:
 * COLL_CREATE or COLL_WITHIN. */
int topocall_first_n(struct comm *c, int n, struct comm_topo *t, int tag, struct comm **out)
{
    int *world = malloc(((size_t)n + 1) * sizeof *world);
    struct rankmap *map = NULL;
    *out = NULL;
    for (int i = 0; world && i < n; i++)
        world[i] = comm_world(c, i);
    if (world)
        map = n == c->size ? rankmap_ref(c->map) : rankmap_make(world, n);
    int err = map ? newcomm_subset(c, map, tag, out) : topocall_no_memory();
    if (!err && *out)
        (*out)->topo = topo_ref(t);
    rankmap_drop(map);
    free(world);
    topo_drop(t);
    return err;
}

/* A communicator with a topology of this kind. */
int topocall_arg(MPI_Comm comm, enum topo_kind kind, struct comm **c)
{
    static const char *const names[] = {
        [TOPO_CART] = "a Cartesian", [TOPO_GRAPH] = "a graph", [TOPO_DIST] = "a distributed graph"};
    int err = api_comm_local(comm, c);
    if (!err && (!(*c)->topo || (*c)->topo->kind != kind))
        err = err_make(MPI_ERR_TOPOLOGY, "%s: communicator %#x has not %s topology", proc->call,
                       (unsigned)comm, names[kind]);
    return err;
}

int PMPI_Dims_create(int nnodes, int ndims, int dims[])
{
    api_enter("MPI_Dims_create");
    int err = topocall_array(dims, ndims, "dims"), nfree = 0;
    long long fixed = 1;
    if (!err && nnodes < 1)
        err = err_make(MPI_ERR_ARG, "MPI_Dims_create: nnodes is %d, less than 1", nnodes);
    for (int i = 0; i < ndims && !err; i++) {
        if (dims[i] < 0)
            err = err_make(MPI_ERR_DIMS, "MPI_Dims_create: dims[%d] is %d, less than 0", i,
                           dims[i]);
        else if (dims[i] == 0)
            nfree++;
        else if ((fixed *= dims[i]) > nnodes)
            fixed = 1LL + nnodes; /* no divisor; keeps the product small */
    }
    if (!err && (nnodes % fixed || (nfree == 0 && fixed != nnodes && ndims > 0)))
        err = err_make(MPI_ERR_DIMS,
                       "MPI_Dims_create: the given dimensions do not divide nnodes, %d", nnodes);
    if (!err && ndims == 0 && nnodes != 1)
        err = err_make(MPI_ERR_DIMS, "MPI_Dims_create: %d nodes do not fit a grid of no dimension",
                       nnodes);
    if (!err && nfree && !topo_dims_fill((int)(nnodes / fixed), ndims, dims))
        err = topocall_no_memory();
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Dims_create);

/* --- distributed graphs -------------------------------------------------------------------- */

int PMPI_Topo_test(MPI_Comm comm, int *status)
{
    static const int kinds[] = {
        [TOPO_CART] = MPI_CART, [TOPO_GRAPH] = MPI_GRAPH, [TOPO_DIST] = MPI_DIST_GRAPH};
    api_enter("MPI_Topo_test");
    struct comm *c;
    int err = api_comm_local(comm, &c);
    if (!err)
        err = api_pointer(status, "status");
    if (!err)
        *status = c->topo ? kinds[c->topo->kind] : MPI_UNDEFINED;
    return api_exit(comm, err);
}
API_ALIAS(MPI_Topo_test);
