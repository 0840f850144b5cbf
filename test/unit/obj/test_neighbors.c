/* test_neighbors.c - obj/neighbors.c: ranks and coordinates, neighbors in a grid, neighbors in
 * graphs, no topology. */
#include "unit_obj.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "obj/comm.h"
#include "obj/err.h"
#include "obj/neighbors.h"

static int *ints(int n, const int *v)
{
    int *p = malloc((size_t)n * sizeof *p);
    memcpy(p, v, (size_t)n * sizeof *p);
    return p;
}

static struct comm_topo *grid(int n, const int *dims, const int *periods)
{
    struct comm_topo *t = topo_make(TOPO_CART);
    t->ndims = n;
    t->dims = ints(n, dims);
    t->periods = ints(n, periods);
    return t;
}

/* A communicator of `size` with a topology; this process is `rank` in it. */
static struct comm *with(struct comm_topo *t, int size, int rank)
{
    struct rankmap *m = rankmap_stride(0, 1, size);
    struct comm *c = comm_make(m, rank, NULL, CTX_NONE, CTX_NONE);
    rankmap_drop(m);
    c->topo = t;
    return c;
}

START_TEST(ranks_and_coordinates)
{
    struct comm_topo *t = grid(3, (int[]){2, 3, 4}, (int[]){0, 1, 0});
    int c[3];
    for (int r = 0; r < 24; r++) {
        topo_cart_coords(t, r, c);
        ck_assert_int_eq(c[0] * 12 + c[1] * 4 + c[2], r); /* row-major (MPI-3.1 7.2) */
        ck_assert_int_eq(topo_cart_rank(t, c), r);
    }
    ck_assert_int_eq(topo_cart_rank(t, (int[]){1, -1, 0}), 12 + 2 * 4);
    ck_assert_int_eq(topo_cart_rank(t, (int[]){1, 7, 0}), 12 + 1 * 4);
    ck_assert_int_eq(topo_cart_rank(t, (int[]){2, 0, 0}), MPI_PROC_NULL);
    ck_assert_int_eq(topo_cart_rank(t, (int[]){0, 0, -1}), MPI_PROC_NULL);
    topo_drop(t);
}
END_TEST

static void neighbors_are(const struct comm *c, int nin, const int *in, int nout, const int *out)
{
    int a, b, *s, *d;
    ck_assert_int_eq(topo_neighbors(c, &a, &s, &b, &d, "x"), MPI_SUCCESS);
    ck_assert_int_eq(a, nin);
    ck_assert_int_eq(b, nout);
    ck_assert(nin == 0 || !memcmp(s, in, (size_t)nin * sizeof *s));
    ck_assert(nout == 0 || !memcmp(d, out, (size_t)nout * sizeof *d));
    free(s);
}

START_TEST(neighbors_in_a_grid)
{
    /* 3 x 4, the first dimension open, the second a ring */
    struct comm *c = with(grid(2, (int[]){3, 4}, (int[]){0, 1}), 12, 3);
    const int want[] = {MPI_PROC_NULL, 7, 2, 0};
    neighbors_are(c, 4, want, 4, want);
    comm_drop(c);
    c = with(grid(1, (int[]){1}, (int[]){1}), 1, 0); /* a ring of one: itself, twice */
    neighbors_are(c, 2, (int[]){0, 0}, 2, (int[]){0, 0});
    comm_drop(c);
    c = with(grid(1, (int[]){2}, (int[]){1}), 2, 0); /* of two: the same one below and above */
    neighbors_are(c, 2, (int[]){1, 1}, 2, (int[]){1, 1});
    comm_drop(c);
    c = with(topo_make(TOPO_CART), 1, 0); /* no dimension */
    neighbors_are(c, 0, NULL, 0, NULL);
    comm_drop(c);
}
END_TEST

START_TEST(neighbors_in_graphs)
{
    struct comm_topo *t = topo_make(TOPO_GRAPH);
    t->nnodes = 3;
    t->nedges = 4;
    t->index = ints(3, (int[]){1, 3, 4});
    t->edges = ints(4, (int[]){1, 0, 2, 1});
    struct comm *c = with(t, 3, 1);
    neighbors_are(c, 2, (int[]){0, 2}, 2, (int[]){0, 2});
    comm_drop(c);
    t = topo_make(TOPO_DIST);
    t->indegree = 1;
    t->outdegree = 2;
    t->sources = ints(1, (int[]){5});
    t->destinations = ints(2, (int[]){4, 4});
    c = with(t, 6, 1);
    neighbors_are(c, 1, (int[]){5}, 2, (int[]){4, 4});
    comm_drop(c);
}
END_TEST

START_TEST(no_topology)
{
    int a, b, *s, *d;
    ck_assert_int_eq(err_class(topo_neighbors(proc->obj->world, &a, &s, &b, &d, "x")),
                     MPI_ERR_TOPOLOGY);
    struct comm_topo *t = topo_make(TOPO_CART);
    ck_assert_ptr_eq(topo_ref(t), t);
    topo_drop(t);
    topo_drop(t);
    topo_drop(NULL);
}
END_TEST

OBJ_SUITE(neighbors, ranks_and_coordinates, neighbors_in_a_grid, neighbors_in_graphs,
          no_topology)
