/* counted.c - a wait for more notifications than come (causes.test). 2 ranks. */
#include <mpi.h>
int main(void)
{
    int rank, *m;
    MPI_Win w;
    MPI_Init(0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &m, &w);
    MPI_Win_set_name(w, "halo");
    MPIX_Win_notify_set_num(w, MPI_INFO_NULL, 3);
    MPI_Barrier(MPI_COMM_WORLD); /* the counters are there: none goes by message */
    MPI_Win_lock_all(0, w);
    for (int i = 0; i < 3; i++)
        MPIX_Put_notify(m, 0, MPI_INT, 1 - rank, 0, 0, MPI_INT, 2, w);
    if (rank == 0)
        MPIX_Win_notify_wait(w, 2, 4);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
