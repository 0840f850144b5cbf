/* ompi_values.c - handles, error codes, attributes and arrays of Open MPI's interface (handles.h is
 * made of objects.list and constants.list). */
#include "bind/front/front.h"

#include "bind/ompi/handles.h"

/* --- handles -------------------------------------------------------------------------- */

HANDLE ompi_predefined(int core)
{
    switch (core) {
        OMPI_PREDEFINED_CASES
    default: return NULL;
    }
}

HANDLE ompi_predefined_message(int core)
{
    switch (core) {
        OMPI_MESSAGE_CASES
    default: return NULL;
    }
}

int ompi_at_root_in(HANDLE h, HANDLE comm, int root)
{
    return api_at_root(handle_in(comm), rank_in(root)) ? handle_in(h) : 0;
}

/* What differs between handles of one kind that are made at run time: the index, and whether it is
 * of the second kind (obj.h). */
enum { FORTRAN_FIRST = 128, DYNAMIC_BITS = 0x43ffffff, INDEX_BITS = 0x03ffffff };
static const unsigned kind_bits[] = {
    [OMPI_COMM] = 1, [OMPI_GROUP] = 2, [OMPI_TYPE] = 3, [OMPI_FILE] = 4, [OMPI_ERRHANDLER] = 5,
    [OMPI_OP] = 6, [OMPI_INFO] = 7, [OMPI_WIN] = 8, [OMPI_REQUEST] = 11, [OMPI_MESSAGE] = 11};

int ompi_c2f(HANDLE h)
{
    uintptr_t v = (uintptr_t)h;
    if (!v)
        return -1;
    if (!(v & 1))
        return ((const int *)v)[1];
    unsigned core = (unsigned)(v >> 1);
    return (int)((core & INDEX_BITS) | (core >> 30 & 1) << 26) + FORTRAN_FIRST;
}

HANDLE ompi_f2c(enum ompi_kind kind, int index)
{
    if (index < 0)
        return NULL;
    if (index < FORTRAN_FIRST)
        return (size_t)index < FORTRAN_MOST ? (HANDLE)(uintptr_t)of_fortran[kind][index] : NULL;
    unsigned i = (unsigned)index - FORTRAN_FIRST;
    /* Bit 26 is the lower one of the two bits above the kind. The only request that has it is the
     * predefined one. */
    unsigned top = (i >> 26 & 1) == 0 ? 2u : kind == OMPI_REQUEST ? 1u : 3u;
    return dynamic_out((int)(top << 30 | kind_bits[kind] << 26 | (i & INDEX_BITS)));
}

/* --- errors --------------------------------------------------------------------------- */

enum { CLASS_MASK = 0x7f, USER_BIT = 1 << 30, LAST_CODE = 92, ERR_OTHER = 16 };

int error_out(int code)
{
    if (code <= 0)
        return code;
    if (code == MPI_ERR_LASTCODE)
        return LAST_CODE;
    if (code & USER_BIT)
        return LAST_CODE + (code & ~USER_BIT); /* the core counts from 1 */
    int class = class_out[code & CLASS_MASK];
    return class ? class : ERR_OTHER;
}

int error_in(int code)
{
    if (code <= 0)
        return code;
    if (code > LAST_CODE)
        return USER_BIT | (code - LAST_CODE);
    return code < LAST_CODE && class_in[code] ? class_in[code] : MPI_ERR_UNKNOWN;
}

const char *ompi_class_name(int code)
{
    return code >= 0 && code < LAST_CODE ? class_name[code] : NULL;
}

/* --- attributes ----------------------------------------------------------------------- */

/* Predefined attributes are addresses of numbers: those of constants are this interface's. */
static const int any_source = -1, proc_null = -2, root = -4;

#define FOUR(n) n, n + 1, n + 2, n + 3
#define SIXTEEN(n) FOUR(n), FOUR(n + 4), FOUR(n + 8), FOUR(n + 12)
/* Of more user codes than these the last one is given. */
static const int last_used[] = {SIXTEEN(LAST_CODE), SIXTEEN(LAST_CODE + 16),
                                SIXTEEN(LAST_CODE + 32), SIXTEEN(LAST_CODE + 48)};

void attribute_out(int key, void *value)
{
    const int **at = value;
    int used;
    switch (key) {
    case MPI_HOST:
    case MPI_IO:
        if (**at < 0)
            *at = **at == MPI_ANY_SOURCE ? &any_source : **at == MPI_ROOT ? &root : &proc_null;
        break;
    case MPI_LASTUSEDCODE:
        used = error_out(**at) - LAST_CODE;
        *at = &last_used[used < 0 ? 0 : (size_t)used < COUNT_OF(last_used)
                             ? (size_t)used : COUNT_OF(last_used) - 1];
        break;
    case MPI_WIN_CREATE_FLAVOR: *at = flavor_address(**at); break;
    case MPI_WIN_MODEL: *at = model_address(**at); break;
    }
}
