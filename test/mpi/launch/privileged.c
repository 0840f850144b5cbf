/* privileged.c - run with more rights than its user: what the environment asks for must not
 * happen. Prints what happened; privileged.test judges. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

/* Whether a library whose name contains `name` is mapped. */
static int is_loaded(const char *name)
{
    char line[4096];
    int found = 0;
    FILE *f = fopen("/proc/self/maps", "r");

    while (f && fgets(line, sizeof line, f))
        found |= strstr(line, name) != NULL;
    if (f)
        fclose(f);
    return found;
}

int main(int argc, char **argv)
{
    int size, *memory;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&size, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    printf("secure %lu size %d libfabric %d ucx %d pmix %d\n", getauxval(AT_SECURE), size,
           is_loaded("libfabric"),
           is_loaded("libucp"), is_loaded("libpmix"));
    fflush(stdout);
    if (argc > 1)
        raise(SIGSEGV);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
