/* front.h - what the fronts share: functions of another binary interface ("world") that convert
 * their arguments and call the core (mpi.h).
 *
 * Each world has a values.h: its handles, statuses and constants. A handle is a pointer in all of
 * them. X_in: the world's into the core's; X_out: back. A number that is no constant of the group
 * is returned unchanged. */
#ifndef BIND_FRONT_FRONT_H
#define BIND_FRONT_FRONT_H

#include <stddef.h>
#include <stdint.h>

#include "api/bindings.h"

typedef struct front_handle *HANDLE;
typedef void void_function(void);

/* The core's function, which the link renames; and the function that programs call, with its weak
 * name for profilers. */
#define CORE_AS(x, name)                                                                           \
    extern __typeof__(P##name) core_##x __asm__("core_P" #name)                                    \
        __attribute__((visibility("hidden")))
#define FRONT_CALL_AS(result, x, name, params)                                                     \
    API_EXPORT result front_##x params __asm__("P" #name);                                         \
    API_EXPORT extern __typeof__(front_##x) front_weak_##x __asm__(#name)                          \
        __attribute__((weak, alias("P" #name)));                                                   \
    result front_##x params
/* of the standard */
#define CORE(x) CORE_AS(x, MPI_##x)
#define FRONT_CALL(result, x, params) FRONT_CALL_AS(result, x, MPI_##x, params)
/* extensions */
#define CORE_X(x) CORE_AS(x, MPIX_##x)
#define FRONT_CALL_X(result, x, params) FRONT_CALL_AS(result, x, MPIX_##x, params)

/* Constants of a group, of both sides. */
struct pair {
    int core, front;
};
int pair_core(const struct pair *p, size_t n, int v);         /* v, if it is none of them */
const int *pair_front(const struct pair *p, size_t n, int v); /* NULL: none of them */
#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

int predefined_key_in(int v), predefined_key_out(int v);

#ifdef FRONT_OMPI
#include "bind/ompi/ompi_values.h"
#else
#include "bind/abi/abi_values.h"
#endif

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
int verbosity_out(int v), bind_out(int v), scope_out(int v), source_out(int v);
int pvarclass_in(int v), pvarclass_out(int v);
int amode_in(int v), amode_out(int v);
int assertion_in(int v);
void attribute_out(int key, void *value); /* a predefined one, the address of a number */
const int *flavor_address(int v), *model_address(int v); /* the world's constant, in memory */

#ifdef FRONT_OMPI
#include "bind/ompi/custom.h"
#else
#include "bind/abi/custom.h"
#endif

#endif
