/* profiled.c - what mpiexec does for -trace and -report: the library that notes calls, files that
 * can be written, and the folder from which a job that ends early has its profile. */
#include "launch/profiled.h"

#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sched.h"
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

/* In memory, where there is such a file system. */
void profiled_begin(struct job *j)
{
    if (!j->args->trace && !j->args->reports)
        return;
    snprintf(j->profiles, sizeof j->profiles, "/dev/shm/%s", j->name);
    if (mkdir(j->profiles, 0700))
        snprintf(j->profiles, sizeof j->profiles, "/tmp/%s", j->name);
    else
        return;
    if (mkdir(j->profiles, 0700))
        *j->profiles = 0;
}

/* Do ranks have something that is not in the files? Rank 0 writes those; then its record goes. */
static int has_left(const struct job *j)
{
    char path[sizeof j->profiles + 8];
    int n = 0;
    snprintf(path, sizeof path, "%s/0", j->profiles);
    if (!access(path, F_OK))
        return 1;
    DIR *d = opendir(j->profiles);
    for (struct dirent *e; d && (e = readdir(d));)
        n += *e->d_name != '.';
    if (d)
        closedir(d);
    return n && !(j->args->trace && !access(j->args->trace, F_OK));
}

static void remove_all(const struct job *j)
{
    DIR *d = opendir(j->profiles);
    for (struct dirent *e; d && (e = readdir(d));)
        if (*e->d_name != '.')
            unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
    rmdir(j->profiles);
}

static int salvage(const struct job *j)
{
    static char none[] = "", yes[] = "1", no[] = "0";
    const struct args *a = j->args;
    char bin[PATH_MAX], lib[PATH_MAX], path[PATH_MAX + 32], end[32];
    pid_t pid;
    int status = 0;
    own_folders(bin, lib);
    snprintf(path, sizeof path, "%s/windrose/salvage", lib);
    snprintf(end, sizeof end, "%llu", (unsigned long long)j->end_at);
    char *argv[] = {path, (char *)j->profiles, a->trace ? (char *)a->trace : none,
                    a->reports ? yes : no, a->report_file ? (char *)a->report_file : none,
                    end, (char *)(*j->why ? j->why : "ranks ended without it"), NULL};
    int err = posix_spawn(&pid, path, NULL, NULL, argv, j->env);
    while (!err && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return err ? -err : status;
}

void profiled_end(struct job *j)
{
    if (!*j->profiles)
        return;
    if (!j->end_at)
        j->end_at = time_now();
    int left = has_left(j);
    if (left && salvage(j))
        job_say(j, "the job ended early, and what its ranks left cannot be read");
    const struct args *a = j->args;
    if (!left && j->status && a->trace && access(a->trace, F_OK))
        job_say(j, "%s is not written: no rank called MPI_Init, or none was traced", a->trace);
    remove_all(j);
    *j->profiles = 0;
}
