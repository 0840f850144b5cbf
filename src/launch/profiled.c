/* profiled.c - what mpiexec does for -trace and -report: the library that notes calls, and files
 * that can be written. */
#include "launch/profiled.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/folders.h"

/* Can rank 0 write this file at the end? It is told now, not after hours. A file that is new does
 * not stay. */
static int is_writable(struct job *j, const char *option, const char *path)
{
    struct stat st;
    int had = !stat(path, &st);
    if (j->args->gwdir && *path != '/') /* it is another folder's */
        return 1;
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) {
        job_say(j, "-%s=%s: the file cannot be written: %s", option, path, strerror(errno));
        return 0;
    }
    close(fd);
    if (!had)
        unlink(path);
    return 1;
}

int profiled_files(struct job *j)
{
    const struct args *a = j->args;
    if (a->block[0].wdir)
        return 0;
    int good = (!a->trace || is_writable(j, "trace", a->trace)) &&
               (!a->report_file || is_writable(j, "report", a->report_file));
    return good ? 0 : -EACCES;
}

int profiled_env(const struct args *a, struct env *e)
{
    char bin[PATH_MAX], lib[PATH_MAX], path[PATH_MAX + 32];
    const char *had = env_find(e, "LD_LIBRARY_PATH");
    if (!a->trace && !a->reports)
        return 0;
    own_folders(bin, lib);
    snprintf(path, sizeof path, "%s/windrose/trace", lib);
    size_t size = strlen(path) + (had ? strlen(had) : 0) + 2;
    char *list = malloc(size);
    if (!list)
        return -ENOMEM;
    snprintf(list, size, "%s%s%s", path, had && *had ? ":" : "", had ? had : "");
    int err = env_put(e, "LD_LIBRARY_PATH", list);
    err |= a->trace ? env_put(e, "MPIR_CVAR_TRACE", a->trace) : 0;
    free(list);
    return err;
}
