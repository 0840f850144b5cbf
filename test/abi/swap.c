/* swap.c - sum over the ranks, an attribute, and a message whose status is looked at: what an ABI
 * must keep. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, sum, count, flag, *tag_ub;
    double out[21] = {0}, in[21];
    MPI_Status status;
    MPI_Request request;
    MPI_Datatype pair;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int one = rank + 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &flag);
    MPI_Type_contiguous(3, MPI_DOUBLE, &pair);
    MPI_Type_commit(&pair);
    MPI_Irecv(in, 21, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    MPI_Send(out, 7, pair, (rank + 1) % size, 5, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    MPI_Type_free(&pair);
    if (rank == 0 && flag && *tag_ub >= 32767 && status.MPI_TAG == 5)
        printf("ranks %d sum %d status %d %d\n", size, sum, status.MPI_SOURCE, count);
    MPI_Finalize();
    return 0;
}
