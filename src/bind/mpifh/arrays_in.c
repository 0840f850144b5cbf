/* arrays_in.c - arrays of Fortran into those of C, and back. */
#include "bind/mpifh/mpifh.h"

void handles_begin(struct handles *a, int n, HANDLE (*f2c)(MPI_Fint), const MPI_Fint *from)
{
    a->n = n > 0 ? n : 0;
    a->v = (size_t)a->n <= sizeof a->few / sizeof *a->few ? a->few
                                                          : malloc((size_t)a->n * sizeof *a->v);
    for (int i = 0; a->v && i < a->n; i++)
        a->v[i] = from ? f2c(from[i]) : NULL;
}

void handles_end(struct handles *a)
{
    if (a->v != a->few)
        free(a->v);
}

void handles_back(struct handles *a, MPI_Fint (*c2f)(HANDLE), MPI_Fint *to)
{
    for (int i = 0; a->v && i < a->n; i++)
        if (a->v[i])
            to[i] = c2f(a->v[i]);
    handles_end(a);
}

static int neighbors(HANDLE comm, int is_send)
{
    enum { CART = 1, GRAPH, DIST_GRAPH };
    int topology = 0, n = 0, in = 0, out = 0, rank = 0, weighted;
    PMPI_Topo_test(comm, &topology);
    if (topology == CART && !PMPI_Cartdim_get(comm, &n))
        return 2 * n;
    if (topology == GRAPH && !PMPI_Comm_rank(comm, &rank))
        return PMPI_Graph_neighbors_count(comm, rank, &n) ? 0 : n;
    if (topology == DIST_GRAPH && !PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted))
        return is_send ? out : in;
    return 0;
}

int types_count(MPI_Fint comm, int neighbor, int is_send, const void *buf)
{
    enum { COMM_NULL = 2 };
    HANDLE c = PMPI_Comm_f2c(comm);
    int n = 0, inter = 0;
    if (!c || comm == COMM_NULL || buf == mpi_fortran_in_place_)
        return 0; /* the call itself reports it, or does not look at them */
    if (neighbor)
        return neighbors(c, is_send);
    if (!PMPI_Comm_test_inter(c, &inter) && inter)
        PMPI_Comm_remote_size(c, &n);
    else
        PMPI_Comm_size(c, &n);
    return n;
}

MPI_Aint *aints_in(const MPI_Fint *from, int count)
{
    MPI_Aint *a = calloc((count > 0 ? (size_t)count : 0) + 1, sizeof *a);
    for (int i = 0; a && i < count; i++)
        a[i] = from[i];
    return a;
}
