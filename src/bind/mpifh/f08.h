/* f08.h - names of the modules of mpi_f08, as gfortran makes them. */
#ifndef BIND_MPIFH_F08_H
#define BIND_MPIFH_F08_H

#define F08_SHOWN __attribute__((visibility("default")))
/* Of the module and of C, to which it is bound. */
#define F08_CONSTANT(name, c_name, index)                                                          \
    F08_SHOWN extern const int __mpi_f08_types_MOD_mpi_##name;                                     \
    const int __mpi_f08_types_MOD_mpi_##name = index;                                              \
    F08_SHOWN extern int ompi_f08_mpi_##c_name;                                                    \
    int ompi_f08_mpi_##c_name = index

#endif
