/* convert.c - the tables of the two interfaces (tables.h is made), and the look-ups in them. */
#include "bind/abi/convert.h"

#include <stdlib.h>

struct pair {
    int core, abi;
};
#include "bind/abi/tables.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static int to_core(const struct pair *p, size_t n, int v)
{
    for (size_t i = 0; i < n; i++)
        if (p[i].abi == v)
            return p[i].core;
    return v;
}

static const int *to_abi(const struct pair *p, size_t n, int v)
{
    for (size_t i = 0; i < n; i++)
        if (p[i].core == v)
            return &p[i].abi;
    return NULL;
}

#define IN(g)                                                                                      \
    int g##_in(int v)                                                                              \
    {                                                                                              \
        return to_core(g##_pairs, COUNT(g##_pairs), v);                                            \
    }
#define OUT(g)                                                                                     \
    int g##_out(int v)                                                                             \
    {                                                                                              \
        const int *abi = to_abi(g##_pairs, COUNT(g##_pairs), v);                                   \
        return abi ? *abi : v;                                                                     \
    }
IN(thread) OUT(thread) IN(order) OUT(order) IN(distribution) OUT(distribution) OUT(combiner)
IN(typeclass) OUT(comparison) OUT(topology) IN(split) IN(lock) IN(whence) IN(key) OUT(key)
OUT(verbosity) OUT(bind) OUT(scope) OUT(source) IN(pvarclass) OUT(pvarclass)

const int *flavor_address(int v)
{
    return to_abi(flavor_pairs, COUNT(flavor_pairs), v);
}
const int *model_address(int v)
{
    return to_abi(model_pairs, COUNT(model_pairs), v);
}

HANDLE abi_predefined(int core)
{
    const int *abi = to_abi(handle_pairs, COUNT(handle_pairs), core);
    return (HANDLE)(uintptr_t)(uint32_t)(abi ? *abi : core);
}

/* --- ranks ---------------------------------------------------------------------------- */

/* The fourth number of each side is the other's. */
enum { ABI_ANY = 1, ABI_PROC_NULL = 3, ABI_ROOT = 4, ABI_NONE = 2, CORE_NONE = 4 };
_Static_assert(MPI_ANY_SOURCE == -2 && MPI_PROC_NULL == -1 && MPI_ROOT == -3, "the core's");
const int abi_rank_in[ABI_RANKS] = {0, [ABI_ANY] = MPI_ANY_SOURCE, [ABI_PROC_NULL] = MPI_PROC_NULL,
                                    [ABI_ROOT] = MPI_ROOT, [ABI_NONE] = -CORE_NONE};
const int abi_rank_out[ABI_RANKS] = {0, [-MPI_ANY_SOURCE] = -ABI_ANY,
                                     [-MPI_PROC_NULL] = -ABI_PROC_NULL, [-MPI_ROOT] = -ABI_ROOT,
                                     [CORE_NONE] = -ABI_NONE};

/* --- errors --------------------------------------------------------------------------- */

/* A code of the core is its class in the low bits, and above which error it was. The ABI's is the
 * same with its own class; a class that does not fit there (MPI_T's) stands alone. */
enum { CLASS_MASK = 0x7f, USER_BIT = 1 << 30 };

int error_out(int code)
{
    if (code <= 0 || (code & USER_BIT))
        return code == MPI_ERR_LASTCODE ? 16383 : code;
    const int *abi = to_abi(class_pairs, COUNT(class_pairs), code & CLASS_MASK);
    return !abi ? code : *abi > CLASS_MASK ? *abi : (code & ~CLASS_MASK) | *abi;
}

int error_in(int code)
{
    if (code <= 0 || (code & USER_BIT))
        return code;
    if (code == 16383)
        return MPI_ERR_LASTCODE;
    int whole = to_core(class_pairs, COUNT(class_pairs), code);
    if (whole != code || code <= CLASS_MASK)
        return whole;
    return (code & ~CLASS_MASK) | to_core(class_pairs, COUNT(class_pairs), code & CLASS_MASK);
}

/* --- sets of bits --------------------------------------------------------------------- */

enum { BIT_UNKNOWN = 1 << 29 }; /* for neither side's */

static int bits(const struct pair *p, size_t n, int v, int into_core)
{
    int out = 0;
    for (size_t i = 0; i < n; i++) {
        int from = into_core ? p[i].abi : p[i].core;
        if (v & from)
            out |= into_core ? p[i].core : p[i].abi;
        v &= ~from;
    }
    return v ? out | BIT_UNKNOWN : out;
}

int amode_in(int v)
{
    return bits(amode_bits, COUNT(amode_bits), v, 1);
}
int amode_out(int v)
{
    return bits(amode_bits, COUNT(amode_bits), v, 0);
}
int assertion_in(int v)
{
    return v ? bits(assertion_bits, COUNT(assertion_bits), v, 1) : 0;
}

/* --- arrays --------------------------------------------------------------------------- */

void ints_begin(struct ints *a, int n, const HANDLE *h)
{
    a->n = n > 0 ? n : 0;
    a->v = !h ? NULL : a->n <= (int)COUNT(a->few) ? a->few : malloc((size_t)a->n * sizeof *a->v);
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
            h[i] = handle_out(a->v[i]);
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
