/* modules_sentinels.c - the common blocks of the sentinels, as the libraries of Open MPI's modules
 * have them: programs of mpi_f08 have copies, so the sizes are Open MPI's. */
#define SENTINEL(x, size)                                                                          \
    __attribute__((visibility("default"))) extern const char mpi_fortran_##x##_[size];             \
    const char mpi_fortran_##x##_[size] __attribute__((aligned(8))) = {0}
SENTINEL(bottom, 4);
SENTINEL(in_place, 4);
SENTINEL(unweighted, 4);
SENTINEL(weights_empty, 4);
SENTINEL(errcodes_ignore, 4);
SENTINEL(argv_null, 1);
SENTINEL(argvs_null, 1);
SENTINEL(status_ignore, 24);
SENTINEL(statuses_ignore, 24);
