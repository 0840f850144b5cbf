/* mpifh.h - what Open MPI's Fortran interface shares: names, sentinels, handles.
 *
 * Each routine calls Open MPI's interface of C (libmpi.so.40) by its PMPI name, as in Open MPI: so
 * a profiler in C does not see calls of Fortran. That interface converts constants, statuses,
 * errors and lengths; here handles become pointers, and texts, indices and sentinels those of C.
 *
 * The sources are compiled twice: for libmpi_mpifh.so.40, and with FORT_F08 for
 * libmpi_usempif08.so.40, whose routines may have a null pointer as ierr. */
#ifndef BIND_MPIFH_MPIFH_H
#define BIND_MPIFH_MPIFH_H

#include <stddef.h>
#include <stdlib.h>

#include "bind/fortran/texts.h"

/* As in Open MPI's mpi.h, which cannot be included: mpi.h is the core's here. */
typedef int MPI_Fint;
typedef ptrdiff_t MPI_Aint;
typedef long long MPI_Offset, MPI_Count;
typedef struct front_handle *HANDLE;
typedef void void_function(void);
struct front_status; /* the integers of Fortran's status are those of C */
enum { MPI_SUCCESS = 0, MPI_ERR_NO_MEM = 39, MPI_UNDEFINED = -32766 };

#include "bind/mpifh/pmpi.h"

/* --- names --------------------------------------------------------------------------------- */

#define CALL(name) P##name
#define FORT_TEXT2(x) #x
#define FORT_TEXT(x) FORT_TEXT2(x)
/* A program may define any of them: a profiler in Fortran. */
#define FORT_SHOWN __attribute__((visibility("default"), weak))
#define FORT_ALIAS(target) __attribute__((visibility("default"), weak, alias(FORT_TEXT(target))))

#ifdef FORT_F08
#define FORT_AS(type, lower, upper, params)                                                        \
    FORT_SHOWN type mpi##lower##_f08_ params;                                                      \
    FORT_ALIAS(mpi##lower##_f08_) type pmpi##lower##_f08_ params;                                  \
    type mpi##lower##_f08_ params
/* What mpi_f08 has not. */
#define FORT_OLD_AS(type, lower, upper, params)                                                    \
    static __attribute__((unused)) type mpi##lower##_ params
#define FORT_ALSO(lower, upper, target, params)                                                    \
    struct front_status
#else
#define FORT_NAMES(type, lower, upper, target, params)                                             \
    FORT_ALIAS(target) type mpi##lower##__ params;                                                 \
    FORT_ALIAS(target) type mpi##lower params;                                                     \
    FORT_ALIAS(target) type MPI##upper params;                                                     \
    FORT_ALIAS(target) type pmpi##lower##_ params;                                                 \
    FORT_ALIAS(target) type pmpi##lower##__ params;                                                \
    FORT_ALIAS(target) type pmpi##lower params;                                                    \
    FORT_ALIAS(target) type PMPI##upper params
#define FORT_AS(type, lower, upper, params)                                                        \
    FORT_SHOWN type mpi##lower##_ params;                                                          \
    FORT_NAMES(type, lower, upper, mpi##lower##_, params);                                         \
    type mpi##lower##_ params
#define FORT_OLD_AS FORT_AS
/* One more routine that does the same. */
#define FORT_ALSO(lower, upper, target, params)                                                    \
    FORT_ALIAS(mpi##target##_) void mpi##lower##_ params;                                          \
    FORT_NAMES(void, lower, upper, mpi##target##_, params)
#endif
#define FORT(lower, upper, params) FORT_AS(void, lower, upper, params)
#define FORT_OLD(lower, upper, params) FORT_OLD_AS(void, lower, upper, params)

/* --- sentinels ------------------------------------------------------------------------------ */

/* Common blocks, known by address. Programs define them: they are reached through the global offset
 * table. */
#pragma GCC visibility push(default)
extern const char mpi_fortran_bottom_[], mpi_fortran_in_place_[], mpi_fortran_unweighted_[],
    mpi_fortran_weights_empty_[], mpi_fortran_errcodes_ignore_[], mpi_fortran_argv_null_[],
    mpi_fortran_argvs_null_[], mpi_fortran_status_ignore_[], mpi_fortran_statuses_ignore_[];
#pragma GCC visibility pop

static inline void *buf_in(void *buf)
{
    enum { IN_PLACE = 1 };
    return (const char *)buf == mpi_fortran_bottom_ ? NULL
        : (const char *)buf == mpi_fortran_in_place_ ? (void *)IN_PLACE : buf;
}
static inline struct front_status *status_in(MPI_Fint *status)
{
    return (const char *)status == mpi_fortran_status_ignore_ ||
                   (const char *)status == mpi_fortran_statuses_ignore_
               ? NULL : (struct front_status *)(void *)status;
}
static inline int *weights_in(MPI_Fint *weights)
{
    enum { UNWEIGHTED = 2, WEIGHTS_EMPTY };
    return (const char *)weights == mpi_fortran_unweighted_ ? (int *)UNWEIGHTED
        : (const char *)weights == mpi_fortran_weights_empty_ ? (int *)WEIGHTS_EMPTY : weights;
}

/* --- arrays --------------------------------------------------------------------------------- */

#pragma GCC visibility push(hidden)

/* Handles as C has them; few need no memory. No memory: v is NULL, which the call reports. */
struct handles {
    HANDLE *v;
    int n;
    HANDLE few[16];
};
void handles_begin(struct handles *a, int n, HANDLE (*f2c)(MPI_Fint), const MPI_Fint *from);
void handles_end(struct handles *a);
/* those that are there */
void handles_back(struct handles *a, MPI_Fint (*c2f)(HANDLE), MPI_Fint *to);
/* The types of an alltoallw on comm that this process gives; buf is the send buffer or NULL. */
int types_count(MPI_Fint comm, int neighbor, int is_send, const void *buf);
/* Addresses of MPI-1, to be freed. */
MPI_Aint *aints_in(const MPI_Fint *from, int count);

#pragma GCC visibility pop

#endif
