/* sentinel.c - sentinels of Fortran into those of C. */
#include "bind/fortran/fort.h"

#pragma GCC visibility push(default)
#define ALIGNED __attribute__((aligned(16))) /* as gfortran places common blocks */
__typeof__(mpipriv1_) mpipriv1_ ALIGNED;
__typeof__(mpipriv2_) mpipriv2_ ALIGNED;
char mpiprivc_[2] ALIGNED;
MPI_Fint mpifcmb5_ ALIGNED, mpifcmb9_ ALIGNED, mpifcmba_ ALIGNED;
#pragma GCC visibility pop

/* For MPI_Status_f2c and its like in C. */
__attribute__((constructor)) static void set_for_c(void)
{
    MPI_F_STATUS_IGNORE = mpipriv1_.status_ignore;
    MPI_F_STATUSES_IGNORE = mpipriv2_.statuses_ignore;
}

void *buf_in(void *buf)
{
    if (buf == &mpipriv1_.bottom || buf == &MPIR_F08_MPI_BOTTOM)
        return MPI_BOTTOM;
    if (buf == &mpipriv1_.in_place || buf == &MPIR_F08_MPI_IN_PLACE)
        return MPI_IN_PLACE;
    if (buf == &mpifcmba_ || buf == &__mpi_f08_link_constants_MOD_mpi_buffer_automatic)
        return MPI_BUFFER_AUTOMATIC;
    return buf;
}

MPI_Status *status_in(MPI_Fint *status)
{
    if (status == mpipriv1_.status_ignore || status == mpipriv2_.statuses_ignore ||
        status == (void *)&MPIR_F08_MPI_STATUS_IGNORE_OBJ ||
        status == (void *)MPIR_F08_MPI_STATUSES_IGNORE_OBJ)
        return MPI_STATUS_IGNORE;
    return (MPI_Status *)(void *)status;
}

int *weights_in(MPI_Fint *weights)
{
    if (weights == &mpifcmb5_ || weights == __mpi_f08_link_constants_MOD_mpi_unweighted)
        return MPI_UNWEIGHTED;
    if (weights == &mpifcmb9_ || weights == __mpi_f08_link_constants_MOD_mpi_weights_empty)
        return MPI_WEIGHTS_EMPTY;
    return weights;
}
