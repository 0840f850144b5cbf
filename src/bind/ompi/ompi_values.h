/* ompi_values.h - handles, statuses and constants of Open MPI 4.1's interface, and those of the
 * core.
 *
 * A handle is a pointer. A predefined one is the address of an object of this library, or of the
 * copy that an executable has of it (copy relocation): its first word is the core's handle, its
 * second Fortran's index. Every other one is the core's handle times 2 plus 1: odd, so no
 * address. */
#ifndef BIND_OMPI_VALUES_H
#define BIND_OMPI_VALUES_H

#define FRONT_MPI_5 0 /* MPI-3.1: no large counts, no sessions, no events */

struct front_status {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR, cancelled;
    size_t bytes; /* received */
};

/* The object of a predefined handle of the core; NULL: there is none. */
HANDLE ompi_predefined(int core);
HANDLE ompi_predefined_message(int core);

static inline HANDLE dynamic_out(int core)
{
    return (HANDLE)((uintptr_t)(uint32_t)core << 1 | 1);
}
static inline int handle_in(HANDLE h)
{
    uintptr_t v = (uintptr_t)h; /* null becomes 0: none of the core's, which reports it */
#if defined __x86_64__ && defined __LP64__
    /* 3 instructions, 6 of the compiler's: the carry is the lowest bit, below or equal is odd or
     * null; objects are constant */
    __asm__("shr %0\n\tjbe 1f\n\tmov (%0,%0), %k0\n1:" : "+r"(v) : : "cc");
    return (int)(uint32_t)v;
#else
    if (v & 1)
        return (int)(uint32_t)(v >> 1);
    return v ? *(const int *)v : 0;
#endif
}
/* The same of what counts at the root alone, and may be no handle at all elsewhere: 0 there. */
int ompi_at_root_in(HANDLE h, HANDLE comm, int root);
#define predefined_in handle_in
static inline HANDLE handle_out(int core)
{
    /* the two top bits: 10 and 11 are made at run time; a datatype may be a predefined pair */
    if (core < 0 && ((unsigned)core >> 26 & 15) != 3)
        return dynamic_out(core);
    HANDLE h = ompi_predefined(core);
    return h ? h : dynamic_out(core);
}
/* of a request that a call completed, or did not: no search */
extern const char ompi_request_null[], ompi_mpi_file_null[];
static inline HANDLE request_out(int core)
{
    return core == MPI_REQUEST_NULL ? (HANDLE)(uintptr_t)ompi_request_null : dynamic_out(core);
}
static inline MPI_File file_in(HANDLE h)
{
    return (MPI_File)(uintptr_t)(uint32_t)handle_in(h);
}
static inline HANDLE file_out(MPI_File f)
{
    return f == MPI_FILE_NULL ? (HANDLE)(uintptr_t)ompi_mpi_file_null
                              : dynamic_out((int)(uint32_t)(uintptr_t)f);
}
#define message_in handle_in
static inline HANDLE message_out(int core)
{
    HANDLE h = ompi_predefined_message(core);
    return h ? h : dynamic_out(core);
}

/* Ranks -1 to -4: any source, null process, (none), root of either side are one bit apart. */
static inline int rank_in(int r)
{
#ifdef __x86_64__
    __asm__("cmp $-4, %0\n\tjb 1f\n\txor $1, %0\n1:" : "+r"(r) : : "cc"); /* mostly the first 2 */
    return r;
#else
    return __builtin_expect((unsigned)r >= (unsigned)-4, 0) ? r ^ 1 : r;
#endif
}
#define rank_out rank_in
_Static_assert((-1 ^ 1) == MPI_ANY_SOURCE && (-2 ^ 1) == MPI_PROC_NULL && (-4 ^ 1) == MPI_ROOT,
               "of Open MPI's -1, -2 and -4");
static inline int tag_in(int t)
{
    return t;
}
#define tag_out tag_in
_Static_assert(MPI_ANY_TAG == -1, "as Open MPI's");
_Static_assert(MPI_DISPLACEMENT_CURRENT == -54278278, "as Open MPI's");

/* The code of an error is its class. */
int error_in(int code);
int error_out(int code);
const char *ompi_class_name(int code); /* NULL: it is no class of the standard */
static inline int result_out(int rc)
{
    return __builtin_expect(rc != MPI_SUCCESS, 0) ? error_out(rc) : rc;
}

static inline void *buf_in(const void *p)
{
    return p == (void *)1 ? MPI_IN_PLACE : (void *)(uintptr_t)p;
}
static inline const int *weights_in(const int *w)
{
    return w == (int *)2 ? MPI_UNWEIGHTED : w == (int *)3 ? MPI_WEIGHTS_EMPTY : w;
}
static inline MPI_T_pvar_handle all_handles_in(MPI_T_pvar_handle h)
{
    return (intptr_t)h == -1 ? MPI_T_PVAR_ALL_HANDLES : h;
}

/* What the core does not write of a status comes back as it was. */
enum { ERROR_UNTOUCHED = INT32_MIN };
static inline void status_begin(MPI_Status *c, const struct front_status *a)
{
    if (!a)
        return;
    c->MPI_SOURCE = rank_in(a->MPI_SOURCE);
    c->MPI_TAG = a->MPI_TAG;
    c->MPI_ERROR = ERROR_UNTOUCHED;
    c->count_lo = (int)(uint32_t)a->bytes;
    c->count_hi_and_cancelled = (int)((uint32_t)(a->bytes >> 32) << 1 | (a->cancelled != 0));
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
    a->MPI_TAG = c->MPI_TAG;
    if (c->MPI_ERROR != ERROR_UNTOUCHED)
        a->MPI_ERROR = result_out(c->MPI_ERROR);
    a->bytes = (size_t)((uint32_t)c->count_hi_and_cancelled >> 1) << 32 | (uint32_t)c->count_lo;
    a->cancelled = c->count_hi_and_cancelled & 1;
}

/* Keys: the user's count from 13, behind MPI_FT of Open MPI 5; the core's are handles (obj.h). The
 * header of 4.1 gives the numbers 12 to 15 to IMPI, which is not there. */
enum { FIRST_KEY = 13 };
static inline int key_in(int key)
{
    return key >= FIRST_KEY ? (int)(0xa4000000u | (unsigned)(key - FIRST_KEY))
                            : predefined_key_in(key);
}
static inline int key_out(int key)
{
    return ((unsigned)key >> 26) == 0xa4000000u >> 26 ? (key & 0x03ffffff) + FIRST_KEY
                                                      : predefined_key_out(key);
}

/* Null and dup functions are functions, which are called as a user's. */
#define DUP_FN_IS(fn) 0
enum { VALUE_DFLT_DARG = -1 };

/* Handles of Fortran: an index of a predefined one, else 128 plus the core's. */
enum ompi_kind {
    OMPI_COMM, OMPI_GROUP, OMPI_WIN, OMPI_FILE, OMPI_MESSAGE, OMPI_INFO, OMPI_ERRHANDLER,
    OMPI_REQUEST, OMPI_OP, OMPI_TYPE
};
int ompi_c2f(HANDLE h);
HANDLE ompi_f2c(enum ompi_kind kind, int index); /* NULL: there is none */

#endif
