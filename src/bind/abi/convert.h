/* convert.h - values of MPI-5.0's ABI into those of the core (mpi.h) and back.
 *
 * A handle of the ABI is a pointer. A predefined one is a constant below ABI_HANDLES, which a table
 * maps. Every other one is the core's number, which is above. Functions of a constant that is no
 * constant of the group return it unchanged.
 * X_in: the ABI's into the core's; X_out: back. */
#ifndef BIND_ABI_CONVERT_H
#define BIND_ABI_CONVERT_H

#include <stddef.h>
#include <stdint.h>

#include "api/bindings.h"

typedef struct abi_handle *HANDLE;
typedef void void_function(void);
struct abi_status {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR;
    int internal[5]; /* the core's two words of the count */
};

/* The core's function, which the link renames; and the function that programs call, with its weak
 * name for profilers. */
#define CORE(x)                                                                                    \
    extern __typeof__(PMPI_##x) core_##x __asm__("core_PMPI_" #x)                                  \
        __attribute__((visibility("hidden")))
#define ABI_CALL(result, x, params)                                                                \
    API_EXPORT result abi_##x params __asm__("PMPI_" #x);                                          \
    API_EXPORT extern __typeof__(abi_##x) abi_weak_##x __asm__("MPI_" #x)                          \
        __attribute__((weak, alias("PMPI_" #x)));                                                  \
    result abi_##x params

enum { ABI_HANDLES = 0x400 };
extern const int abi_handle_table[ABI_HANDLES];
HANDLE abi_predefined(int core); /* the ABI's constant; else the number itself */

static inline int handle_in(HANDLE h)
{
    uintptr_t v = (uintptr_t)h;
    return __builtin_expect(v < ABI_HANDLES, 0) ? abi_handle_table[v] : (int)(uint32_t)v;
}
static inline int predefined_in(HANDLE h) /* the same for one that is mostly a constant */
{
    uintptr_t v = (uintptr_t)h;
    return __builtin_expect(v < ABI_HANDLES, 1) ? abi_handle_table[v] : (int)(uint32_t)v;
}
static inline HANDLE handle_out(int h)
{
    /* the two top bits: 10 and 11 are objects; a datatype may be one of the predefined pairs */
    if (h < 0 && ((unsigned)h >> 26 & 15) != 3)
        return (HANDLE)(uintptr_t)(uint32_t)h;
    return abi_predefined(h);
}
enum { ABI_FILE_NULL = 0x118, ABI_MESSAGE_NULL = 0x128 };
static inline MPI_File file_in(HANDLE h)
{
    return (uintptr_t)h == ABI_FILE_NULL ? MPI_FILE_NULL : (MPI_File)h;
}
static inline HANDLE file_out(MPI_File f)
{
    return f == MPI_FILE_NULL ? (HANDLE)(uintptr_t)ABI_FILE_NULL : (HANDLE)f;
}
#define message_in handle_in
static inline HANDLE message_out(int h)
{
    return h == MPI_MESSAGE_NULL ? (HANDLE)(uintptr_t)ABI_MESSAGE_NULL : handle_out(h);
}

/* Ranks and tags: a permutation of the few negative numbers, so that each comes back. */
enum { ABI_RANKS = 5 };
extern const int abi_rank_in[ABI_RANKS], abi_rank_out[ABI_RANKS]; /* by the number without sign */
static inline int rank_in(int r)
{
    return __builtin_expect(r < 0 && r > -ABI_RANKS, 0) ? abi_rank_in[-r] : r;
}
static inline int rank_out(int r)
{
    return __builtin_expect(r < 0 && r > -ABI_RANKS, 0) ? abi_rank_out[-r] : r;
}
static inline int tag_in(int t)
{
    return t == -2 ? MPI_ANY_TAG : t == MPI_ANY_TAG ? -2 : t;
}
#define tag_out tag_in
_Static_assert(MPI_ANY_TAG == -1, "tag_in is its own inverse");

int error_in(int code);
int error_out(int code);
static inline int result_out(int rc)
{
    return __builtin_expect(rc != MPI_SUCCESS, 0) ? error_out(rc) : rc;
}

static inline void *buf_in(const void *p)
{
    return p == (void *)1 ? MPI_IN_PLACE : (void *)(uintptr_t)p;
}
static inline void *automatic_in(void *p)
{
    return p == (void *)2 ? MPI_BUFFER_AUTOMATIC : p;
}
static inline void automatic_out(void *addr)
{
    if (*(void **)addr == MPI_BUFFER_AUTOMATIC)
        *(void **)addr = (void *)2;
}
static inline const int *weights_in(const int *w)
{
    return w == (int *)10 ? MPI_UNWEIGHTED : w == (int *)11 ? MPI_WEIGHTS_EMPTY : w;
}
static inline MPI_T_pvar_handle all_handles_in(MPI_T_pvar_handle h)
{
    return h == (MPI_T_pvar_handle)1 ? MPI_T_PVAR_ALL_HANDLES : h;
}

/* What the core does not write of a status comes back as it was. */
enum { ERROR_UNTOUCHED = INT32_MIN };
static inline void status_begin(MPI_Status *c, const struct abi_status *a)
{
    if (!a)
        return;
    c->MPI_SOURCE = rank_in(a->MPI_SOURCE);
    c->MPI_TAG = tag_in(a->MPI_TAG);
    c->MPI_ERROR = ERROR_UNTOUCHED;
    c->count_lo = a->internal[0];
    c->count_hi_and_cancelled = a->internal[1];
}
static inline void status_in(MPI_Status *c, const struct abi_status *a)
{
    status_begin(c, a);
    if (a)
        c->MPI_ERROR = error_in(a->MPI_ERROR);
}
static inline void status_back(struct abi_status *a, const MPI_Status *c)
{
    if (!a)
        return;
    a->MPI_SOURCE = rank_out(c->MPI_SOURCE);
    a->MPI_TAG = tag_out(c->MPI_TAG);
    if (c->MPI_ERROR != ERROR_UNTOUCHED)
        a->MPI_ERROR = result_out(c->MPI_ERROR);
    a->internal[0] = c->count_lo;
    a->internal[1] = c->count_hi_and_cancelled;
}

/* An array of handles as the core has it; short ones need no memory. No memory, or h is NULL: v is
 * NULL, and the core reports it. */
struct ints {
    int *v, n;
    int few[32];
};
void ints_begin(struct ints *a, int n, const HANDLE *h);
void ints_back(struct ints *a, HANDLE *h); /* requests: what the core changed */
void ints_end(struct ints *a);
/* The types of an alltoallw on c, as many as it reads or writes. */
void types_begin(struct ints *a, MPI_Comm c, const HANDLE *h, int neighbor, int is_send);
/* The call is over with rc; of a nonblocking one the array lives as long as request r. */
void types_end(struct ints *a, int rc, MPI_Request r);

int thread_in(int v), thread_out(int v);
int order_in(int v), order_out(int v);
int distribution_in(int v), distribution_out(int v);
int combiner_out(int v);
int typeclass_in(int v);
int comparison_out(int v);
int topology_out(int v);
int split_in(int v);
int lock_in(int v);
int whence_in(int v);
int key_in(int v), key_out(int v);
int verbosity_out(int v), bind_out(int v), scope_out(int v), source_out(int v);
int pvarclass_in(int v), pvarclass_out(int v);
int amode_in(int v), amode_out(int v);
int assertion_in(int v);
const int *flavor_address(int v), *model_address(int v); /* the ABI's constant, in memory */

#endif
