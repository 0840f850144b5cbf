/* convert.c - the tables of the two interfaces (tables.h is made), and the look-ups in them. Start
 * with pair_core() and types_begin(). */
#include "bind/front/front.h"

#include <stdlib.h>

#ifdef FRONT_OMPI
#include "bind/ompi/tables.h"
#else
#include "bind/abi/tables.h"
#endif

int pair_core(const struct pair *p, size_t n, int v)
{
    for (size_t i = 0; i < n; i++)
        if (p[i].front == v)
            return p[i].core;
    return v;
}

const int *pair_front(const struct pair *p, size_t n, int v)
{
    for (size_t i = 0; i < n; i++)
        if (p[i].core == v)
            return &p[i].front;
    return NULL;
}

#define IN(g)                                                                                      \
    int g##_in(int v)                                                                              \
    {                                                                                              \
        return pair_core(g##_pairs, COUNT_OF(g##_pairs), v);                                       \
    }
#define OUT(g)                                                                                     \
    int g##_out(int v)                                                                             \
    {                                                                                              \
        const int *front = pair_front(g##_pairs, COUNT_OF(g##_pairs), v);                          \
        return front ? *front : v;                                                                 \
    }
IN(thread) OUT(thread) IN(order) OUT(order) IN(distribution) OUT(distribution) OUT(combiner)
IN(typeclass) OUT(comparison) OUT(topology) IN(split) IN(lock) IN(whence) IN(predefined_key)
OUT(predefined_key)
OUT(verbosity) OUT(bind) OUT(scope) IN(pvarclass) OUT(pvarclass)
#if FRONT_MPI_5
OUT(source)
#endif

const int *flavor_address(int v)
{
    return pair_front(flavor_pairs, COUNT_OF(flavor_pairs), v);
}
const int *model_address(int v)
{
    return pair_front(model_pairs, COUNT_OF(model_pairs), v);
}

/* --- sets of bits --------------------------------------------------------------------- */

enum { BIT_UNKNOWN = 1 << 29 }; /* for neither side's */

static int bits(const struct pair *p, size_t n, int v, int into_core)
{
    int out = 0;
    for (size_t i = 0; i < n; i++) {
        int from = into_core ? p[i].front : p[i].core;
        if (v & from)
            out |= into_core ? p[i].core : p[i].front;
        v &= ~from;
    }
    return v ? out | BIT_UNKNOWN : out;
}

int amode_in(int v)
{
    return bits(amode_bits, COUNT_OF(amode_bits), v, 1);
}
int amode_out(int v)
{
    return bits(amode_bits, COUNT_OF(amode_bits), v, 0);
}
int assertion_in(int v)
{
    return v ? bits(assertion_bits, COUNT_OF(assertion_bits), v, 1) : 0;
}

/* --- arrays --------------------------------------------------------------------------- */

void ints_begin(struct ints *a, int n, const HANDLE *h)
{
    a->n = n > 0 ? n : 0;
    a->v = !h ? NULL : a->n <= (int)COUNT_OF(a->few) ? a->few : malloc((size_t)a->n * sizeof *a->v);
    for (int i = 0; a->v && i < a->n; i++)
        a->v[i] = handle_in(h[i]);
}

void ints_end(struct ints *a)
{
    if (a->v != a->few)
        free(a->v);
}

void ints_back(struct ints *a, HANDLE *h)
{
    for (int i = 0; a->v && i < a->n; i++)
        if (a->v[i] != handle_in(h[i]))
            h[i] = request_out(a->v[i]);
    ints_end(a);
}

/* --- types of alltoallw ----------------------------------------------------------------- */

CORE(Comm_test_inter);
CORE(Comm_size);
CORE(Comm_remote_size);
CORE(Topo_test);
CORE(Cartdim_get);
CORE(Graph_neighbors_count);
CORE(Comm_rank);
CORE(Dist_graph_neighbors_count);

/* Neighbours to which (is_send) or from which this process moves blocks. */
static int neighbors(MPI_Comm c, int is_send)
{
    int topology = MPI_UNDEFINED, n = 0, in = 0, out = 0, rank, weighted;
    core_Topo_test(c, &topology);
    if (topology == MPI_CART && !core_Cartdim_get(c, &n))
        return 2 * n;
    if (topology == MPI_GRAPH && !core_Comm_rank(c, &rank))
        return core_Graph_neighbors_count(c, rank, &n) ? 0 : n;
    if (topology == MPI_DIST_GRAPH && !core_Dist_graph_neighbors_count(c, &in, &out, &weighted))
        return is_send ? out : in;
    return 0;
}

void types_begin(struct ints *a, MPI_Comm c, const HANDLE *h, int neighbor, int is_send)
{
    int n = 0, inter = 0;
    if (!h || !api_comm_exists(c))
        n = 0; /* the call itself reports it */
    else if (neighbor)
        n = neighbors(c, is_send);
    else if (!core_Comm_test_inter(c, &inter) && inter)
        core_Comm_remote_size(c, &n);
    else
        core_Comm_size(c, &n);
    a->n = n;
    a->v = h ? malloc(((size_t)n + 1) * sizeof *a->v) : NULL;
    for (int i = 0; a->v && i < n; i++)
        a->v[i] = handle_in(h[i]);
}

void types_end(struct ints *a, int rc, MPI_Request r)
{
    if (a->v && !rc && r != MPI_REQUEST_NULL)
        api_request_own(r, a->v);
    else
        free(a->v);
}
