/* abi_values.h - handles, statuses and constants of MPI-5.0's ABI, and those of the core.
 *
 * A handle of the ABI is a pointer. A predefined one is a constant below ABI_HANDLES, which a table
 * maps. Every other one is the core's number, which is above. */
#ifndef BIND_ABI_VALUES_H
#define BIND_ABI_VALUES_H

#define FRONT_MPI_5 1 /* it has large counts, sessions and events */

struct front_status {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR;
    int internal[5]; /* the core's two words of the count */
};

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
#define request_out handle_out
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
static inline void status_begin(MPI_Status *c, const struct front_status *a)
{
    if (!a)
        return;
    c->MPI_SOURCE = rank_in(a->MPI_SOURCE);
    c->MPI_TAG = tag_in(a->MPI_TAG);
    c->MPI_ERROR = ERROR_UNTOUCHED;
    c->count_lo = a->internal[0];
    c->count_hi_and_cancelled = a->internal[1];
}
static inline void status_in(MPI_Status *c, const struct front_status *a)
{
    status_begin(c, a);
    if (a)
        c->MPI_ERROR = error_in(a->MPI_ERROR);
}
static inline void status_back(struct front_status *a, const MPI_Status *c)
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

#define key_in predefined_key_in
#define key_out predefined_key_out

#define DUP_FN_IS(fn) ((uintptr_t)(fn) == 1)
enum { VALUE_DFLT_DARG = 19 };

#endif
