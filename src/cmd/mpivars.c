/* mpivars.c - print what this library is: version, how it was built, and with what. Under the name
 * mpichversion it prints the same in the form of MPICH's command, by which build scripts find the
 * ABI. With --sh it prints what makes a shell use this installation. */
#include "config.h"

#include <hwloc.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "launch/folders.h"
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
    snprintf(text, sizeof(text), "%s (running: API %u.%u.%u)", HWLOC_VERSION, v >> 16, v >> 8 & 255,
             v & 255);
    line("hwloc", text);
    line("libfabric", LIBFABRIC_VERSION);
    line("UCX", UCX_VERSION);
    transports();
#ifdef WR_DEBUG
    line("invariants", "asserted (--enable-debug)");
#endif
}

/* --- a shell -------------------------------------------------------------------------------- */

/* DIR in quotes of sh. */
static void quoted(const char *dir, const char *below)
{
    putchar('\'');
    for (const char *c = dir; *c; c++)
        if (*c == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*c);
    printf("%s'", below);
}

static void put_first(const char *list, const char *dir, const char *below)
{
    printf("%s=", list);
    quoted(dir, below);
    printf("${%s:+:$%s}; export %s\n", list, list, list);
}

/* Lines for eval. The folder of Open MPI's names has no others, so what was built for MPICH or for
 * MPI-5.0's ABI does not look there. */
static void shell(void)
{
    char bin[PATH_MAX], lib[PATH_MAX];
    own_folders(bin, lib);
    put_first("PATH", bin, "");
    put_first("LD_LIBRARY_PATH", lib, "/windrose/ompi");
    put_first("LD_LIBRARY_PATH", lib, "");
    put_first("PKG_CONFIG_PATH", lib, "/pkgconfig");
}

/* --- mpichversion --------------------------------------------------------------------------- */

static const struct {
    const char *letter, *option, *label, *value;
} mpich[] = {
    {"-v", "version", "MPICH Version:", MPICH_VERSION " (Windrose " WINDROSE_VERSION ")"},
    {"-a", "abi", "MPICH ABI:", "12:0:0"}, /* libmpi.so.12: api/Makefile.inc, -version-info */
    {"-d", "device", "MPICH Device:", "windrose"},
    {"-c", "configure", "MPICH configure:", CONFIGURE_LINE},
    {"", "cc", "MPICH CC:", BUILD_CC " " BUILD_CFLAGS},
    {"", "cxx", "MPICH CXX:", BUILD_CXX},
    {"", "f77", "MPICH F77:", BUILD_FC},
    {"", "fc", "MPICH FC:", BUILD_FC},
};
enum { MPICH_LINES = sizeof mpich / sizeof *mpich };

/* The line that an option asks for; -1: no such option. */
static int mpich_line(const char *option)
{
    const char *word = option + strspn(option, "-");
    for (int i = 0; i < MPICH_LINES; i++)
        if (!strcmp(option, mpich[i].letter) || (*option == '-' && !strcmp(word, mpich[i].option)))
            return i;
    return -1;
}

static int mpichversion(int argc, char **argv)
{
    for (int k = 1; k < argc; k++)
        if (mpich_line(argv[k]) < 0) {
            fprintf(stderr, "Usage: mpichversion [-version] [-abi] [-device] [-configure] [-cc] "
                            "[-cxx] [-f77] [-fc]\n"
                            "Prints what MPICH's command prints; mpivars prints more.\n");
            return 1;
        }
    for (int i = 0; i < MPICH_LINES; i++) {
        int wanted = argc == 1;
        for (int k = 1; k < argc; k++)
            wanted |= mpich_line(argv[k]) == i;
        if (wanted)
            printf("%-19s %s\n", mpich[i].label, mpich[i].value);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *slash = argc ? strrchr(argv[0], '/') : NULL;
    if (argc && !strcmp(slash ? slash + 1 : argv[0], "mpichversion"))
        return mpichversion(argc, argv);
    if (argc == 1)
        all();
    else if (argc == 2 && (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version")))
        printf("Windrose %s\n", WINDROSE_VERSION);
    else if (argc == 2 && !strcmp(argv[1], "--sh"))
        shell();
    else {
        FILE *out = argc == 2 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")) ? stdout
                                                                                        : stderr;
        fprintf(out,
                "Usage: mpivars [--sh | -V | --version]\n"
                "Tells version, configure line, compiler, libraries and transports of this MPI.\n"
                "eval \"$(mpivars --sh)\" makes a shell use it, for Open MPI's programs too.\n"
                "Control variables: mpiexec --cvars, or cvars(7).\n");
        return out == stderr;
    }
    return 0;
}
