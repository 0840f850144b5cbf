/* file_survive.c - files after failures. Start with PMPIX_File_revoke(). */
#include "api/io/filecall.h"

#include "p2p/p2p.h"

int PMPIX_File_revoke(MPI_File fh)
{
    api_enter("MPIX_File_revoke");
    struct io_file *f;
    int err = api_file_local(fh, &f);
    if (!err)
        io_revoke(f);
    return api_exit_file(fh, err);
}
API_ALIAS(MPIX_File_revoke);

int PMPIX_File_is_revoked(MPI_File fh, int *flag)
{
    api_enter("MPIX_File_is_revoked");
    struct io_file *f;
    int err = api_file_local(fh, &f);
    if (!err)
        err = api_pointer(flag, "flag");
    if (!err) {
        p2p_see_failed(); /* polls: a notice may have come */
        *flag = io_is_revoked(f);
    }
    return api_exit_file(fh, err);
}
API_ALIAS(MPIX_File_is_revoked);
