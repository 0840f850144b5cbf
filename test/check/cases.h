/* cases.h - a program of named cases: its first argument names the one to run, a second asks for
 * MPI_THREAD_MULTIPLE. */
#include <mpi.h>
#include <string.h>

#define W MPI_COMM_WORLD
static int rank, size;

struct check_case {
    const char *name;
    void (*fn)(void);
};

static int run_case(int argc, char **argv, const struct check_case *cases, unsigned n)
{
    int given;
    if (argc > 2)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(W, &rank);
    MPI_Comm_size(W, &size);
    for (unsigned i = 0; i < n; i++)
        if (argc > 1 && !strcmp(argv[1], cases[i].name)) {
            cases[i].fn();
            MPI_Finalize();
            return 0;
        }
    MPI_Abort(W, 99);
    return 99;
}
