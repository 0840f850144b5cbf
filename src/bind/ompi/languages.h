/* languages.h - what Open MPI's Fortran libraries take from libmpi.so.40 beside MPI's names; its
 * user has HANDLE and the types of mpi.h. */
#ifndef BIND_OMPI_LANGUAGES_H
#define BIND_OMPI_LANGUAGES_H

/* Holders and languages as Open MPI counts them. */
enum { HOLDER_COMM = 1, HOLDER_WIN, HOLDER_TYPE, HOLDER_FILE = 3, OF_FORTRAN = 2 };

#pragma GCC visibility push(default)
extern void ompi_op_set_cxx_callback(HANDLE op, void_function *fn);
extern HANDLE ompi_errhandler_create(int holder, void_function *fn, int language); /* or NULL */
extern int ompi_attr_set_aint(int holder, HANDLE h, int keyval, MPI_Aint value);
extern int ompi_attr_set_fint(int holder, HANDLE h, int keyval, MPI_Fint value);
extern int ompi_attr_get_aint(int holder, HANDLE h, int keyval, MPI_Aint *value, int *flag);
extern int ompi_attr_get_fint(int holder, HANDLE h, int keyval, MPI_Fint *value, int *flag);
#pragma GCC visibility pop

#endif
