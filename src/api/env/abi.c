/* abi.c - the data and special functions of MPICH's ABI: objects whose addresses are constants of
 * mpi.h.
 *
 * The library never writes them (the Fortran bindings set the F_ pointers once). So they are not
 * state of a process, and not part of struct proc. */
#include "config.h"

#include <mpi.h>

/* mpiexec knows the file of this library, of any version, by this note (launch/foreign.c). */
static const struct {
    unsigned owner_bytes, text_bytes, type;
    char owner[12], text[16];
} note __attribute__((section(".note.windrose"), aligned(4), used)) = {
    sizeof "Windrose", sizeof note.text, 1, "Windrose", WINDROSE_VERSION};

/* Only the addresses count.  Fortran's mpi_f08 passes on the values of the MPIR_C_ pointers. */
static const int unweighted = -1, weights_empty = -2; /* never read, only compared by address */
int *const MPI_UNWEIGHTED = (int *)&unweighted;
int *const MPI_WEIGHTS_EMPTY = (int *)&weights_empty;
extern int *MPIR_C_MPI_UNWEIGHTED, *MPIR_C_MPI_WEIGHTS_EMPTY;
__attribute__((visibility("default"))) int *MPIR_C_MPI_UNWEIGHTED;
__attribute__((visibility("default"))) int *MPIR_C_MPI_WEIGHTS_EMPTY;

/* libmpichfort has variables of these names, too, which are empty: the loader's choice is set. */
__attribute__((constructor)) static void set_for_fortran(void)
{
    MPIR_C_MPI_UNWEIGHTED = MPI_UNWEIGHTED;
    MPIR_C_MPI_WEIGHTS_EMPTY = MPI_WEIGHTS_EMPTY;
}

struct MPIR_T_pvar_handle_s {
    int unused;
};
static struct MPIR_T_pvar_handle_s all_handles;
struct MPIR_T_pvar_handle_s *const MPI_T_PVAR_ALL_HANDLES = &all_handles;

MPI_Fint *MPI_F_STATUS_IGNORE;
MPI_Fint *MPI_F_STATUSES_IGNORE;
MPI_F08_status MPIR_F08_MPI_STATUS_IGNORE_OBJ;
MPI_F08_status MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];
MPI_F08_status *MPI_F08_STATUS_IGNORE = &MPIR_F08_MPI_STATUS_IGNORE_OBJ;
MPI_F08_status *MPI_F08_STATUSES_IGNORE = MPIR_F08_MPI_STATUSES_IGNORE_OBJ;
int MPIR_F08_MPI_IN_PLACE;
int MPIR_F08_MPI_BOTTOM;

int MPIR_Dup_fn(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}
