/* mpivars - tell what this library is: version, how it was built, and with what. */
#include "config.h"

#include <hwloc.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "tp/tp.h"

static void line(const char *name, const char *value)
{
    printf("%-14s %s\n", name, value);
}

static void transports(void)
{
    printf("%-14s", "transports");
    for (const struct tp_ops *const *t = tp_list; *t; t++)
        printf(" %s", (*t)->name);
    printf("\n");
}

static void all(void)
{
    char text[64];
    line("windrose", WINDROSE_VERSION);
    snprintf(text, sizeof(text), "%d.%d", MPI_VERSION, MPI_SUBVERSION);
    line("MPI", text);
    line("ABI", "MPICH " MPICH_VERSION " (libmpi.so.12)");
    line("configure", CONFIGURE_LINE);
    line("compiler", BUILD_CC " (" __VERSION__ ")");
    line("flags", BUILD_CFLAGS);
    unsigned v = hwloc_get_api_version();
    snprintf(text, sizeof(text), "%s (running: API %u.%u.%u)", HWLOC_VERSION, v >> 16, v >> 8 & 255, v & 255);
    line("hwloc", text);
    line("libfabric", LIBFABRIC_VERSION);
    line("UCX", UCX_VERSION);
    transports();
#ifdef WR_DEBUG
    line("invariants", "asserted (--enable-debug)");
#endif
}

int main(int argc, char **argv)
{
    if (argc == 1)
        all();
    else if (argc == 2 && (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version")))
        printf("Windrose %s\n", WINDROSE_VERSION);
    else {
        FILE *out = argc == 2 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")) ? stdout : stderr;
        fprintf(out, "Usage: mpivars [-V | --version]\n"
                     "Tells version, configure line, compiler, libraries and transports of this MPI.\n"
                     "Control variables: mpiexec --cvars, or cvars(7).\n");
        return out == stderr;
    }
    return 0;
}
