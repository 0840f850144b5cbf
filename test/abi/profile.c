/* profile.c - a profiler's view: this program defines MPI_Send itself and calls the library's
 * PMPI_Send. Its other functions carry names that the library uses inside: they must not meet. */
#include <mpi.h>
#include <stdio.h>

static int calls;

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    calls++;
    return PMPI_Send(buf, count, type, dest, tag, comm);
}

int proc, cvar; /* hidden data of the library */
int progress_init(void);
int progress_init(void) /* a hidden function */
{
    return -1;
}

int main(int argc, char **argv)
{
    int out = 42, in = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Irecv(&in, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &request);
    MPI_Send(&out, 1, MPI_INT, 0, 7, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    if (in == 42 && calls == 1 && proc == 0 && cvar == 0 && progress_init() == -1)
        return 0;
    printf("profile: received %d, %d calls seen\n", in, calls);
    return 1;
}
