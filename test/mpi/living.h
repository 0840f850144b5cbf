/* living.h - what programs share whose processes die (mt.h). */
#ifndef LIVING_H
#define LIVING_H

#include "mt.h"

/* *comm becomes that of the living, when the last of its `size` processes that dies has died. */
static void take_leave(MPI_Comm *comm, int size)
{
    MPI_Comm living;
    int n, unacked, err;
    for (;;) {
        CHECK_EQ(MPIX_Comm_shrink(*comm, &living), MPI_SUCCESS);
        MPI_Comm_size(living, &n);
        if (n < size)
            break;
        MPI_Comm_free(&living); /* not dead yet */
    }
    do
        err = MPIX_Comm_agree(living, &(int){1});
    while (err && MPI_Comm_ack_failed(living, size, &unacked) == MPI_SUCCESS);
    if (*comm != MPI_COMM_WORLD)
        MPI_Comm_free(comm);
    *comm = living;
}

#endif
