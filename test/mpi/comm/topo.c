/* topo.c - Cartesian, graph and distributed graph topologies, dims_create, and the neighbourhood
 * collectives on them. */
#include "../mt.h"

static void dims(void)
{
    int d[3] = { 0, 0, 0 }, e[2] = { 0, 3 }, k, p;

    for (p = 1; p <= 64; p++) {
        d[0] = d[1] = d[2] = 0;
        MPI_Dims_create(p, 3, d);
        MUST(d[0] * d[1] * d[2] == p && d[0] >= d[1] && d[1] >= d[2], "dims_create(%d): %d %d %d",
             p, d[0], d[1], d[2]);
    }
    MPI_Dims_create(12, 2, e);
    CHECK_EQ(e[0], 4);
    for (k = 0; k < 2; k++)
        e[k] = 0;
    MPI_Dims_create(36, 2, e);
    CHECK(e[0] == 6 && e[1] == 6);
}

static void cart(void)
{
    int d[2] = {0, 0}, periods[2] = {1, 0}, c[2], r, src, dst, nd, gd[2], gp[2], gc[2], kind,
        remain[2] = {0, 1}, n, k;
    MPI_Comm grid, row;

    MPI_Dims_create(mt_size, 2, d);
    MPI_Cart_create(MPI_COMM_WORLD, 2, d, periods, 0, &grid);
    MPI_Topo_test(grid, &kind);
    CHECK_EQ(kind, MPI_CART);
    MPI_Cartdim_get(grid, &nd);
    CHECK_EQ(nd, 2);
    MPI_Cart_get(grid, 2, gd, gp, gc);
    CHECK(gd[0] == d[0] && gd[1] == d[1] && gp[0] && !gp[1]);
    MPI_Comm_rank(grid, &r);
    MPI_Cart_coords(grid, r, 2, c);
    CHECK(c[0] == gc[0] && c[1] == gc[1]);
    CHECK_EQ(c[0] * d[1] + c[1], r);
    MPI_Cart_rank(grid, c, &n);
    CHECK_EQ(n, r);
    c[0] += 3 * d[0];                         /* periodic direction wraps */
    MPI_Cart_rank(grid, c, &n);
    CHECK_EQ(n, r);
    c[0] -= 5 * d[0];
    MPI_Cart_rank(grid, c, &n);
    CHECK_EQ(n, r);
    c[0] += 2 * d[0];
    MPI_Cart_shift(grid, 0, 1, &src, &dst);
    CHECK_EQ(dst, (c[0] + 1) % d[0] * d[1] + c[1]);
    CHECK_EQ(src, (c[0] + d[0] - 1) % d[0] * d[1] + c[1]);
    MPI_Cart_shift(grid, 1, 1, &src, &dst);
    CHECK_EQ(dst, c[1] + 1 < d[1] ? r + 1 : MPI_PROC_NULL);
    CHECK_EQ(src, c[1] > 0 ? r - 1 : MPI_PROC_NULL);
    MPI_Cart_sub(grid, remain, &row);
    MPI_Comm_size(row, &n);
    CHECK_EQ(n, d[1]);
    MPI_Comm_rank(row, &n);
    CHECK_EQ(n, c[1]);
    MPI_Cart_map(MPI_COMM_WORLD, 2, d, periods, &n);
    CHECK(n == MPI_UNDEFINED || (n >= 0 && n < mt_size));
    {
        int out[2] = { r, r + 1000 }, in[8], nb[4], bad = 0;

        MPI_Cart_shift(grid, 0, 1, &nb[0], &nb[1]);
        MPI_Cart_shift(grid, 1, 1, &nb[2], &nb[3]);
        for (k = 0; k < 8; k++)
            in[k] = -5;
        MPI_Neighbor_allgather(out, 2, MPI_INT, in, 2, MPI_INT, grid);
        for (k = 0; k < 4; k++)
            bad += nb[k] == MPI_PROC_NULL ? in[2 * k] != -5
                                          : in[2 * k] != nb[k] || in[2 * k + 1] != nb[k] + 1000;
        MUST(bad == 0, "neighbor_allgather on a grid: %d wrong", bad);
    }
    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
    if (mt_size > 1) {                        /* fewer places than processes */
        int one = mt_size - 1, no = 0;

        MPI_Cart_create(MPI_COMM_WORLD, 1, &one, &no, 0, &grid);
        CHECK((grid == MPI_COMM_NULL) == (mt_rank == mt_size - 1));
        if (grid != MPI_COMM_NULL)
            MPI_Comm_free(&grid);
    }
}

/* Ring with a chord: neighbours of i are i-1, i+1. */
static void graph(void)
{
    int *index = mt_alloc(sizeof(int) * (size_t)mt_size),
        *edges = mt_alloc(sizeof(int) * 2 * (size_t)mt_size), k, n, e, nb[2];
    int left = (mt_rank + mt_size - 1) % mt_size, right = (mt_rank + 1) % mt_size, kind,
        in[2] = {-1, -1}, out[2];
    MPI_Comm g;

    for (k = 0; k < mt_size; k++) {
        index[k] = 2 * (k + 1);
        edges[2 * k] = (k + mt_size - 1) % mt_size;
        edges[2 * k + 1] = (k + 1) % mt_size;
    }
    MPI_Graph_create(MPI_COMM_WORLD, mt_size, index, edges, 0, &g);
    MPI_Topo_test(g, &kind);
    CHECK_EQ(kind, MPI_GRAPH);
    MPI_Graphdims_get(g, &n, &e);
    CHECK(n == mt_size && e == 2 * mt_size);
    MPI_Graph_neighbors_count(g, mt_rank, &n);
    CHECK_EQ(n, 2);
    MPI_Graph_neighbors(g, mt_rank, 2, nb);
    CHECK(nb[0] == left && nb[1] == right);
    memset(index, 0, sizeof(int) * (size_t)mt_size);
    MPI_Graph_get(g, mt_size, 2 * mt_size, index, edges);
    CHECK_EQ(index[mt_size - 1], 2 * mt_size);
    MPI_Neighbor_allgather(&mt_rank, 1, MPI_INT, in, 1, MPI_INT, g);
    CHECK(in[0] == left && in[1] == right);
    out[0] = mt_rank * 10;
    out[1] = mt_rank * 10 + 1;
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, g);
    if (mt_size > 2)
        CHECK(in[0] == left * 10 + 1 && in[1] == right * 10);
    MPI_Comm_free(&g);
    free(index);
    free(edges);
}

/* Each rank sends to the next two; the same graph given by edges of another rank. */
static void dist_graph(int adjacent)
{
    int dst[2] = { (mt_rank + 1) % mt_size, (mt_rank + 2) % mt_size };
    int src[2] = { (mt_rank + mt_size - 1) % mt_size, (mt_rank + 2 * mt_size - 2) % mt_size };
    int in[4] = {-1, -1, -1, -1}, out[4], n, m, w, s2[2], d2[2], sw[2], dw[2], kind,
        counts[2] = {1, 2}, rc[2], displs[2], k, bad = 0;
    MPI_Comm g;
    MPI_Request req;

    if (adjacent) {
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, src, MPI_UNWEIGHTED, 2, dst,
                                       MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &g);
    } else {
        int origin = (mt_rank + 1) % mt_size, deg = 2,
            to[2] = {(mt_rank + 2) % mt_size, (mt_rank + 3) % mt_size};
        int weights[2] = { 7, 8 };

        MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &origin, &deg, to, weights, MPI_INFO_NULL, 0, &g);
    }
    MPI_Topo_test(g, &kind);
    CHECK_EQ(kind, MPI_DIST_GRAPH);
    MPI_Dist_graph_neighbors_count(g, &n, &m, &w);
    CHECK(n == 2 && m == 2);
    CHECK_EQ(w != 0, !adjacent);
    MPI_Dist_graph_neighbors(g, 2, s2, adjacent ? MPI_UNWEIGHTED : sw, 2, d2,
                             adjacent ? MPI_UNWEIGHTED : dw);
    if (adjacent)
        CHECK(s2[0] == src[0] && s2[1] == src[1] && d2[0] == dst[0] && d2[1] == dst[1]);
    MPI_Neighbor_allgather(&mt_rank, 1, MPI_INT, in, 1, MPI_INT, g);
    CHECK(in[0] == s2[0] && in[1] == s2[1]);
    for (k = 0; k < 2; k++)
        out[k] = mt_rank * 100 + d2[k];
    if (s2[0] != s2[1] && d2[0] != d2[1]) {
        MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, g, &req);
        MPI_Wait(&req, MPI_STATUS_IGNORE);
        for (k = 0; k < 2; k++)
            bad += in[k] != s2[k] * 100 + mt_rank;
        MUST(bad == 0, "neighbor_alltoall: %d wrong", bad);
    }
    if (adjacent) {
        /* v form: one number to the first, two to the second; sources see 1 from src[0], 2 from
         * src[1] */
        for (k = 0; k < 3; k++)
            out[k] = mt_rank * 10 + k;
        rc[0] = 1, rc[1] = 2, displs[0] = 0, displs[1] = 1;
        for (k = 0; k < 4; k++)
            in[k] = -1;
        MPI_Neighbor_alltoallv(out, counts, displs, MPI_INT, in, rc, displs, MPI_INT, g);
        CHECK_EQ(in[0], src[0] * 10);
        CHECK(in[1] == src[1] * 10 + 1 && in[2] == src[1] * 10 + 2);
        MPI_Neighbor_allgatherv(out, 1, MPI_INT, in, (int[]){ 1, 1 }, (int[]){ 1, 0 }, MPI_INT, g);
        CHECK(in[1] == src[0] * 10 && in[0] == src[1] * 10);
        {
            MPI_Aint sd[2] = { 0, 4 };
            MPI_Datatype ty[2] = { MPI_INT, MPI_INT };

            MPI_Neighbor_alltoallw(out, (int[]){ 1, 1 }, sd, ty, in, (int[]){ 1, 1 }, sd, ty, g);
            CHECK(in[0] == src[0] * 10 && in[1] == src[1] * 10 + 1);
        }
    }
    MPI_Comm_free(&g);
}

/* A process without neighbours may pass null buffers, as those of an empty vector. Rank 0 sends to
 * rank 1, the others have none. */
static void no_neighbors(void)
{
    int from = 0, to = 1, ends = mt_size > 1, sends = ends && mt_rank == 0,
        gets = ends && mt_rank == 1, v = 42, w, call, one = 1, zero = 0;
    int *s = sends ? &v : NULL, *r = gets ? &w : NULL;
    MPI_Aint at = 0;
    MPI_Datatype type = MPI_INT;
    MPI_Request req;
    MPI_Comm g;

    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, gets, &from, MPI_UNWEIGHTED, sends, &to,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &g);
    MPI_Comm_set_errhandler(g, MPI_ERRORS_RETURN);
    for (call = 0; call < 6; call++) {
        int err = MPI_SUCCESS;

        w = -1;
        req = MPI_REQUEST_NULL;
        switch (call) {
        case 0: err = MPI_Neighbor_alltoall(s, 1, MPI_INT, r, 1, MPI_INT, g); break;
        case 1: err = MPI_Neighbor_allgather(s, 1, MPI_INT, r, 1, MPI_INT, g); break;
        case 2: err = MPI_Ineighbor_alltoall(s, 1, MPI_INT, r, 1, MPI_INT, g, &req); break;
        case 3: err = MPI_Neighbor_allgatherv(s, 1, MPI_INT, r, gets ? &one : NULL,
                                              gets ? &zero : NULL, MPI_INT, g);
            break;
        case 4:
            err = MPI_Neighbor_alltoallv(s, sends ? &one : NULL, sends ? &zero : NULL, MPI_INT, r,
                                         gets ? &one : NULL, gets ? &zero : NULL, MPI_INT, g);
            break;
        default:
            err = MPI_Neighbor_alltoallw(s, sends ? &one : NULL, sends ? &at : NULL,
                                         sends ? &type : NULL, r, gets ? &one : NULL,
                                         gets ? &at : NULL, gets ? &type : NULL, g);
        }
        MPI_Wait(&req, MPI_STATUS_IGNORE);
        MUST(err == MPI_SUCCESS, "call %d: class %d", call, mt_class(err));
        CHECK_EQ(w, gets ? 42 : -1);
    }
    MPI_Comm_free(&g);
}

int main(int argc, char **argv)
{
    int kind;

    mt_init(&argc, &argv);
    MPI_Topo_test(MPI_COMM_WORLD, &kind);
    CHECK_EQ(kind, MPI_UNDEFINED);
    dims();
    cart();
    graph();
    dist_graph(1);
    dist_graph(0);
    no_neighbors();
    return mt_finish();
}
