/* What our test programs use and Open MPI 4.1 has not, in its own terms: included before each
 * program that is compiled with its mpicc. Counts fit in an int, and a class of errors that it has
 * not is MPI_ERR_OTHER (doc/design/ompi.md, O6). */
#ifndef OMPI_HAS_NOT_H
#define OMPI_HAS_NOT_H

#include <mpi.h>

#define MPI_ERR_VALUE_TOO_LARGE MPI_ERR_OTHER
#define MPIX_ERR_PROC_FAILED MPI_ERR_OTHER
#define MPIX_ERR_REVOKED MPI_ERR_OTHER

#define MPI_File_write_at_c MPI_File_write_at
#define MPI_File_iread_at_c MPI_File_iread_at
#define MPI_Get_count_c MPI_Get_elements_x
#define MPI_Put_c MPI_Put
#define MPI_Get_c MPI_Get
#define MPI_Accumulate_c MPI_Accumulate
#define MPI_Get_accumulate_c MPI_Get_accumulate
#define MPI_Rput_c MPI_Rput
#define MPI_Rget_c MPI_Rget
#define MPI_Win_create_c MPI_Win_create
#define MPI_Raccumulate_c MPI_Raccumulate
#define MPI_Rget_accumulate_c MPI_Rget_accumulate

#endif
