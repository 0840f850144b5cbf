/* one.c - a program that needs this library, and a library that needs libmpich.so.12 (a.so, built
 * with Debian's MPICH): both have to reach one MPI. With an argument the library is opened by
 * dlopen, privately. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LIBRARY
int library_initialized(void)
{
    int flag;
    MPI_Initialized(&flag);
    return flag;
}
#else
#ifdef LINKED
int library_initialized(void);
#else
#define library_initialized NULL
#endif

int main(int argc, char **argv)
{
    int (*initialized)(void) = library_initialized;
    char line[4096];
    int others = 0;

    MPI_Init(&argc, &argv);
    if (argc > 1) {
        void *lib = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (!lib) {
            printf("%s\n", dlerror());
            return 1;
        }
        *(void **)&initialized = dlsym(lib, "library_initialized");
    }
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        others += strstr(line, "/libmpich.so.12.") != NULL;
    if (!initialized || !initialized() || others)
        printf("two MPI libraries\n");
    else
        printf("one MPI library\n");
    MPI_Finalize();
    return 0;
}
#endif
