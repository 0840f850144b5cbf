/* folders.c - where this installation, or build tree, has its commands and libraries
 * (folders.h). */
#include "launch/folders.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The installation may have been moved: BINDIR and LIBDIR lie under one prefix, which then has
 * another root.  In the build tree the libraries are in .libs. */
void own_folders(char bin[PATH_MAX], char lib[PATH_MAX])
{
    static const char bindir[] = BINDIR, libdir[] = LIBDIR;
    char file[2 * PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", bin, PATH_MAX - 1);
    bin[n > 0 ? n : 0] = 0;
    char *slash = strrchr(bin, '/');
    if (slash)
        *slash = 0;
    snprintf(lib, PATH_MAX, "%s", libdir);
    size_t same = 0, have = strlen(bin);
    for (size_t i = 0; bindir[i] && bindir[i] == libdir[i]; i++)
        if (bindir[i] == '/')
            same = i;
    size_t tail = strlen(bindir + same);
    if (have >= tail && !strcmp(bin + have - tail, bindir + same)) {
        snprintf(file, sizeof file, "%.*s%s", (int)(have - tail), bin, libdir + same);
        if (!access(file, F_OK))
            snprintf(lib, PATH_MAX, "%.*s", PATH_MAX - 1, file);
    }
    snprintf(file, sizeof file, "%s/.libs/libmpi.so.12", bin);
    if (!access(file, F_OK)) {
        snprintf(lib, PATH_MAX, "%.*s/.libs", PATH_MAX - 8, bin);
        strncat(bin, "/bin", PATH_MAX - strlen(bin) - 1);
    }
}
