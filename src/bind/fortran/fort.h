/* fort.h - what the Fortran interface shares: sentinels, sections, callbacks.
 *
 * calls.c and special.c are compiled twice (names.h): once for mpi_X_, which calls MPI_X, and with
 * FORT_PMPI for pmpi_X_, which calls PMPI_X.  So a profiler that defines MPI_X in C sees calls from
 * Fortran, and one that defines mpi_X_ in Fortran sees each call once.
 *
 * Handles are INTEGER in Fortran and int in C, and a TYPE of mpi_f08 is one INTEGER: all of them
 * are passed on as they are.  MPI_File alone is a pointer in C. */
#ifndef BIND_FORTRAN_FORT_H
#define BIND_FORTRAN_FORT_H

#include <mpi.h>
#include <stddef.h>
#include <stdlib.h>

#include "bind/fortran/names.h"
#include "bind/fortran/texts.h"

/* --- sentinels and scalars ----------------------------------------------------------------- */

#pragma GCC visibility push(default)
/* The common blocks of mpif.h; only addresses count. */
extern struct {
    MPI_Fint bottom, in_place, status_ignore[5];
} mpipriv1_;
extern struct {
    MPI_Fint statuses_ignore[5], errcodes_ignore[1];
} mpipriv2_;
extern char mpiprivc_[2]; /* MPI_ARGVS_NULL, MPI_ARGV_NULL */
extern MPI_Fint mpifcmb5_, mpifcmb9_, mpifcmba_; /* UNWEIGHTED, WEIGHTS_EMPTY, BUFFER_AUTOMATIC */
/* Those of mpi_f08 besides the ones of mpi.h. */
extern MPI_Fint __mpi_f08_link_constants_MOD_mpi_unweighted[];
extern MPI_Fint __mpi_f08_link_constants_MOD_mpi_weights_empty[];
extern MPI_Fint __mpi_f08_link_constants_MOD_mpi_errcodes_ignore[];
extern MPI_Fint __mpi_f08_link_constants_MOD_mpi_buffer_automatic;
extern char __mpi_f08_link_constants_MOD_mpi_argv_null[];
extern char __mpi_f08_link_constants_MOD_mpi_argvs_null[];
#pragma GCC visibility pop

#pragma GCC visibility push(hidden)

void *buf_in(void *buf);
MPI_Status *status_in(MPI_Fint *status);
int *weights_in(MPI_Fint *weights);

/* --- array sections (section.c) ------------------------------------------------------------ */

/* C's descriptor (CFI_cdesc_t) as gfortran has it: its header is not there for each C compiler.
 * extent is -1 in the last dimension of an array of assumed size. */
struct desc {
    void *base;  /* of the first element */
    size_t elem; /* bytes */
    int version;
    signed char rank, attribute;
    short type;
    struct {
        ptrdiff_t lower, extent, step; /* step: bytes */
    } dim[15];
};

/* gfortran's own descriptor, from version 9 on, which comes by MPICH's link names. */
struct own_desc {
    void *base;
    size_t offset;
    size_t elem;
    int version;
    signed char rank, type;
    short attribute;
    ptrdiff_t span; /* bytes of one stride */
    struct {
        ptrdiff_t stride, lower, upper;
    } dim[15];
};
const struct desc *desc_in(struct desc *to, const struct own_desc *from);
const struct own_desc *desc_out(struct own_desc *to, const struct desc *from);

/* For calls that are done when they return: a copy of the section that is contiguous. */
struct whole {
    const struct desc *section;
    void *base;
    void *copy; /* NULL: base is the section itself */
};
void whole_begin(struct whole *w, const struct desc *d);
void whole_end(struct whole *w, int back);

/* For operations that go on: `count` elements of `type` in the section, as a datatype. */
struct view {
    void *base;
    MPI_Count count;
    MPI_Datatype type;
    int made; /* type is ours */
};
void view_begin(struct view *v, const struct desc *d, MPI_Count count, MPI_Datatype type);
void view_end(struct view *v);

int section_contiguous(const struct desc *d);
/* What neither can do: nonblocking and persistent collectives of several blocks. */
int section_refused(const char *call);
#define refuse_section(d, call)                                                                 \
    do {                                                                                        \
        if (!section_contiguous(d)) {                                                           \
            int refused = section_refused(call);                                                \
            if (ierr)                                                                           \
                *ierr = refused;                                                                \
            return;                                                                             \
        }                                                                                       \
    } while (0)

/* --- callbacks (callback.c) ---------------------------------------------------------------- */

typedef void fort_function(void); /* of Fortran, any */
/* Attributes: values are INTEGER(KIND=MPI_ADDRESS_KIND), or INTEGER for the calls of MPI-1. */
void fort_keyval(int keyval, int is_old);
void fort_file_handler(MPI_Errhandler handler);
/* For MPIX_Continue: its cb_data with continuation_run(), which frees it. NULL: no memory. */
struct continuation *continuation_make(fort_function *fn, MPI_Aint data, int flags);
int continuation_run(int error, void *of);
/* A data representation lasts to the end: what this returns is not freed. */
struct datarep *datarep_make(fort_function *read, fort_function *write, fort_function *extent,
                             MPI_Aint extra);
int datarep_is_null(fort_function *f);
int datarep_read(void *user, MPI_Datatype t, int n, void *file, MPI_Offset at, void *extra);
int datarep_write(void *user, MPI_Datatype t, int n, void *file, MPI_Offset at, void *extra);
int datarep_read_c(void *user, MPI_Datatype t, MPI_Count n, void *file, MPI_Offset at,
                   void *extra);
int datarep_write_c(void *user, MPI_Datatype t, MPI_Count n, void *file, MPI_Offset at,
                    void *extra);
int datarep_extent(MPI_Datatype t, MPI_Aint *extent, void *extra);

#pragma GCC visibility pop

#endif
