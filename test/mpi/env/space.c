/* space: after MPI_Init, a rank may use so many more bytes of address space; then collective calls,
 * the first to need connections. space.test judges how it ends.
 *
 *     space RANK KILOBYTES [ERRORS]   RANK -1: all. ERRORS: with MPI_ERRORS_RETURN */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static void limit(long kilobytes)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld", &pages) != 1)
        MPI_Abort(MPI_COMM_WORLD, 9);
    fclose(f);
    rlim_t bytes = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (rlim_t)kilobytes * 1024;
    if (setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes}) != 0)
        MPI_Abort(MPI_COMM_WORLD, 9);
}

int main(int argc, char **argv)
{
    char b[64] = "";
    int rank, err = MPI_SUCCESS;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (argc > 3)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (atoi(argv[1]) == rank || atoi(argv[1]) < 0)
        limit(atol(argv[2]));
    for (int i = 0; i < 3 && !err; i++) {
        err = MPI_Bcast(b, sizeof b, MPI_CHAR, 0, MPI_COMM_WORLD);
        if (!err)
            err = MPI_Barrier(MPI_COMM_WORLD);
    }
    if (err) {
        char text[MPI_MAX_ERROR_STRING];
        int len;
        MPI_Error_string(err, text, &len);
        fprintf(stderr, "rank %d: %s\n", rank, text);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    if (!rank)
        puts("all is well");
    MPI_Finalize();
    return 0;
}
