/* abi_values.c - handles, ranks and error codes of MPI-5.0's ABI (handles.h is made). */
#include "bind/front/front.h"

#include "bind/abi/handles.h"

HANDLE abi_predefined(int core)
{
    const int *abi = pair_front(handle_pairs, COUNT_OF(handle_pairs), core);
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
    const int *abi = pair_front(class_pairs, COUNT_OF(class_pairs), code & CLASS_MASK);
    return !abi ? code : *abi > CLASS_MASK ? *abi : (code & ~CLASS_MASK) | *abi;
}

int error_in(int code)
{
    if (code <= 0 || (code & USER_BIT))
        return code;
    if (code == 16383)
        return MPI_ERR_LASTCODE;
    int whole = pair_core(class_pairs, COUNT_OF(class_pairs), code);
    if (whole != code || code <= CLASS_MASK)
        return whole;
    return (code & ~CLASS_MASK) | pair_core(class_pairs, COUNT_OF(class_pairs), code & CLASS_MASK);
}

/* --- attributes ------------------------------------------------------------------------ */

/* Predefined attributes are addresses of numbers: those of constants are the ABI's. */
static const int any_source = -1, proc_null = -3, root = -4, last_code = 16383;

void attribute_out(int key, void *value)
{
    const int **at = value;
    switch (key) {
    case MPI_HOST:
    case MPI_IO:
        if (**at < 0)
            *at = **at == MPI_ANY_SOURCE ? &any_source : **at == MPI_ROOT ? &root : &proc_null;
        break;
    case MPI_LASTUSEDCODE:
        if (**at == MPI_ERR_LASTCODE)
            *at = &last_code;
        break;
    case MPI_WIN_CREATE_FLAVOR: *at = flavor_address(**at); break;
    case MPI_WIN_MODEL: *at = model_address(**at); break;
    }
}
