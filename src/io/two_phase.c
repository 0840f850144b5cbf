/* two_phase.c - collective access. */
#include "io/io_types.h"

int two_phase(struct access *c, int err, int *done)
{
    (void)c;
    (void)err;
    *done = 0;
    return MPI_SUCCESS;
}

void two_phase_free(struct io_file *f)
{
    (void)f;
}
