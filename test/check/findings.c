/* findings.c - a program with one fatal error: findings WHAT (findings.test). */
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int rank, x = 0;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (!strcmp(what, "all"))
        MPI_Send(&x, 1, MPI_INT, 99, 0, comm); /* ERROR all */
    MPI_Comm_set_name(comm, "a \"b\" \\ \n \xff \xc3\xa4");
    if (!strcmp(what, "name") && rank == 1)
        MPI_Send(&x, 1, MPI_INT, 99, 0, comm); /* ERROR name */
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return !strcmp(what, "three") ? 3 : 0;
}
