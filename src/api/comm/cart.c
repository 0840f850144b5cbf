/* cart.c - Cartesian grids (MPI-3.1 7.5.1, 7.5.5 to 7.5.7). Start with PMPI_Cart_create(). */
#include "api/api.h"

#include <stdlib.h>
#include <string.h>

#include "api/comm/topocall.h"
#include "coll/coll.h"
#include "coll/newcomm.h"
#include "obj/neighbors.h"

static int cart_args(const struct comm *c, int ndims, const int *dims, const int *periods,
                     int *nodes)
{
    long long product = 1;
    int err = topocall_array(dims, ndims, "dims");
    if (!err)
        err = topocall_array(periods, ndims, "periods");
    for (int i = 0; i < ndims && !err; i++) {
        if (dims[i] < 1)
            err = err_make(MPI_ERR_DIMS, "%s: dims[%d] is %d, less than 1", proc->call, i, dims[i]);
        else if ((product *= dims[i]) > c->size)
            err = err_make(MPI_ERR_DIMS, "%s: the grid is larger than the group of %d processes",
                           proc->call, c->size);
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
    if (topocall_copy_ints(&t->dims, dims, ndims) ||
        topocall_copy_ints(&t->periods, periods, ndims)) {
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
    (void)reorder; /* ranks stay: no better order is known */
    api_enter("MPI_Cart_create");
    struct comm *c, *n = NULL;
    struct comm_topo *t = NULL;
    int nodes, err = api_intracomm(comm_old, &c);
    if (!err)
        err = cart_args(c, ndims, dims, periods, &nodes);
    if (!err)
        err = api_pointer(comm_cart, "comm_cart");
    if (!err && !(t = cart_make(ndims, dims, periods)))
        err = topocall_no_memory();
    WATCH_RUN(err, topocall_first_n(c, nodes, topo_ref(t), COLL_CREATE, &n),
              .call = WATCH_CART_CREATE, .comm = c, .site = __builtin_return_address(0));
    topo_drop(t);
    return api_exit_new(comm_old, err, n, comm_cart);
}
API_ALIAS(MPI_Cart_create);

int PMPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank)
{
    api_enter("MPI_Cart_map");
    struct comm *c;
    int nodes, err = api_intracomm_local(comm, &c);
    if (!err)
        err = cart_args(c, ndims, dims, periods, &nodes);
    if (!err)
        err = api_pointer(newrank, "newrank");
    if (!err)
        *newrank = c->rank < nodes ? c->rank : MPI_UNDEFINED;
    return api_exit(comm, err);
}
API_ALIAS(MPI_Cart_map);

int PMPI_Cartdim_get(MPI_Comm comm, int *ndims)
{
    api_enter("MPI_Cartdim_get");
    struct comm *c;
    int err = topocall_arg(comm, TOPO_CART, &c);
    if (!err)
        err = api_pointer(ndims, "ndims");
    if (!err)
        *ndims = c->topo->ndims;
    return api_exit(comm, err);
}
API_ALIAS(MPI_Cartdim_get);

static int maxdims_arg(const struct comm_topo *t, int maxdims)
{
    return maxdims >= t->ndims
               ? MPI_SUCCESS
               : err_make(MPI_ERR_ARG, "%s: maxdims is %d, the grid has %d dimensions", proc->call,
                          maxdims, t->ndims);
}

int PMPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[])
{
    api_enter("MPI_Cart_get");
    struct comm *c;
    int err = topocall_arg(comm, TOPO_CART, &c);
    if (!err)
        err = maxdims_arg(c->topo, maxdims);
    if (!err)
        err = topocall_array(dims, c->topo->ndims, "dims");
    if (!err)
        err = topocall_array(periods, c->topo->ndims, "periods");
    if (!err)
        err = topocall_array(coords, c->topo->ndims, "coords");
    if (!err && c->topo->ndims) {
        memcpy(dims, c->topo->dims, (size_t)c->topo->ndims * sizeof *dims);
        memcpy(periods, c->topo->periods, (size_t)c->topo->ndims * sizeof *periods);
        topo_cart_coords(c->topo, c->rank, coords);
    }
    return api_exit(comm, err);
}
API_ALIAS(MPI_Cart_get);

int PMPI_Cart_rank(MPI_Comm comm, const int coords[], int *rank)
{
    api_enter("MPI_Cart_rank");
    struct comm *c;
    int err = topocall_arg(comm, TOPO_CART, &c);
    if (!err)
        err = topocall_array(coords, c->topo->ndims, "coords");
    if (!err)
        err = api_pointer(rank, "rank");
    for (int i = 0; !err && i < c->topo->ndims; i++)
        if (!c->topo->periods[i] && (coords[i] < 0 || coords[i] >= c->topo->dims[i]))
            err = err_make(
                MPI_ERR_ARG,
                "MPI_Cart_rank: coords[%d] is %d, outside 0 to %d of a dimension without period", i,
                coords[i], c->topo->dims[i] - 1);
    if (!err)
        *rank = topo_cart_rank(c->topo, coords);
    return api_exit(comm, err);
}
API_ALIAS(MPI_Cart_rank);

int PMPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[])
{
    api_enter("MPI_Cart_coords");
    struct comm *c;
    int err = topocall_arg(comm, TOPO_CART, &c);
    if (!err)
        err = api_rank(rank, c->size, 0);
    if (!err)
        err = maxdims_arg(c->topo, maxdims);
    if (!err)
        err = topocall_array(coords, c->topo->ndims, "coords");
    if (!err)
        topo_cart_coords(c->topo, rank, coords);
    return api_exit(comm, err);
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
    int err = topocall_arg(comm, TOPO_CART, &c);
    if (!err && (direction < 0 || direction >= c->topo->ndims))
        err = err_make(MPI_ERR_ARG, "MPI_Cart_shift: direction is %d, the grid has %d dimensions",
                       direction, c->topo->ndims);
    if (!err)
        err = api_pointer(source, "rank_source");
    if (!err)
        err = api_pointer(dest, "rank_dest");
    if (!err) {
        *source = shifted(c, direction, -(long long)disp);
        *dest = shifted(c, direction, disp);
    }
    return api_exit(comm, err);
}
API_ALIAS(MPI_Cart_shift);

/* Where this process goes in MPI_Cart_sub: color by the coordinates that are dropped, key by those
 * kept. */
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
    int color = 0, key = 0, err = topocall_arg(comm, TOPO_CART, &c);
    if (!err && c->revoked)
        err = comm_revoked_error();
    if (!err)
        err = topocall_array(remain_dims, c->topo->ndims, "remain_dims");
    if (!err)
        err = api_pointer(newcomm, "newcomm");
    if (!err && !(t = cart_sub(c, remain_dims, &color, &key)))
        err = topocall_no_memory();
    /* A grid of no dimension has one process, as in MPI_Cart_create. */
    if (!err && t->ndims == 0)
        color = c->rank == 0 ? 0 : MPI_UNDEFINED;
    WATCH_RUN(err, newcomm_split(c, color, key, &n), .call = WATCH_CART_SUB, .comm = c,
              .site = __builtin_return_address(0));
    if (n)
        n->topo = topo_ref(t);
    topo_drop(t);
    return api_exit_new(comm, err, n, newcomm);
}
API_ALIAS(MPI_Cart_sub);
