/* profiled.c - what mpiexec does for -trace and -report: the library that notes calls, files that
 * can be written, and memory that outlives a rank, from which a job that ends early has its
 * profile. Start with profiled_env() and profiled_end(). */
#include "launch/profiled.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sched.h"
#include "launch/folders.h"

enum { LOOK_MS = 1000 };

/* The folder in which rank 0 starts, from which its files' names count; -1: there is none, and the
 * start of rank 0 reports it. */
static int folder_of_rank_0(const struct args *a)
{
    const char *const step[] = {".", a->gwdir, a->block[0].wdir};
    int at = AT_FDCWD;
    for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
        int next = step[i] ? openat(at, step[i], O_PATH | O_DIRECTORY | O_CLOEXEC) : at;
        if (next != at && at >= 0)
            close(at);
        at = next;
    }
    return at;
}

/* Can rank 0 write this file at the end? It is told now, not after hours. A file that is new does
 * not stay. Nothing is made behind a link, and no reader of a pipe is waited for. */
static int is_writable(struct job *j, int folder, const char *option, const char *path)
{
    struct stat st;
    int had = !fstatat(folder, path, &st, AT_SYMLINK_NOFOLLOW);
    int fd = had ? openat(folder, path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
                 : openat(folder, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int link = had && S_ISLNK(st.st_mode) && errno == ENOENT;
    if (fd < 0 && errno != ENXIO && !link) {
        job_say(j, "-%s=%s: the file cannot be written: %s", option, path, strerror(errno));
        return 0;
    }
    if (fd >= 0)
        close(fd);
    if (!had)
        unlinkat(folder, path, 0);
    return 1;
}

int profiled_files(struct job *j)
{
    const struct args *a = j->args;
    int folder = folder_of_rank_0(a);
    if (folder < 0)
        return 0;
    int good = (!a->trace || is_writable(j, folder, "trace", a->trace)) &&
               (!a->report_file || is_writable(j, folder, "report", a->report_file));
    close(folder);
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

/* Without it what the rank does is lost when the job ends early. */
void profiled_record(struct job *j, int rank)
{
    char name[sizeof JOB_RECORD_NAME + PMI_KVS_MAX + 16];
    if (!j->args->trace && !j->args->reports)
        return;
    snprintf(name, sizeof name, JOB_RECORD_NAME, j->name, rank);
    j->rank[rank].record_fd = memfd_create(name, MFD_CLOEXEC);
}

/* "7,9,-1": the descriptors of the ranks of the first job. */
static char *list_of_records(const struct job *j, int *n)
{
    int ranks = j->args->size, at = 0;
    size_t room = (size_t)ranks * 12 + 1;
    char *list = malloc(room);
    *n = 0;
    for (int r = 0; list && r < ranks; r++) {
        int fd = j->rank[r].record_fd;
        *n += fd >= 0;
        at += snprintf(list + at, room - (size_t)at, "%s%d", r ? "," : "", fd);
    }
    return list;
}

/* It runs where rank 0 ran, keeps the records open, and can be interrupted. 0 or a number of
 * errno. */
static int start_salvage(const struct job *j, char *const argv[], pid_t *pid)
{
    const struct args *a = j->args;
    posix_spawn_file_actions_t io;
    posix_spawnattr_t how;
    sigset_t none;
    sigemptyset(&none);
    int err = posix_spawn_file_actions_init(&io);
    if (err)
        return err;
    err = posix_spawnattr_init(&how);
    if (!err) {
        posix_spawnattr_setsigmask(&how, &none);
        posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
        for (int r = 0; r < a->size && !err; r++)
            if (j->rank[r].record_fd >= 0) /* to its own number: it stays open */
                err = posix_spawn_file_actions_adddup2(&io, j->rank[r].record_fd,
                                                       j->rank[r].record_fd);
        if (!err && a->gwdir)
            err = posix_spawn_file_actions_addchdir_np(&io, a->gwdir);
        if (!err && a->block[0].wdir)
            err = posix_spawn_file_actions_addchdir_np(&io, a->block[0].wdir);
        if (!err)
            err = posix_spawn(pid, argv[0], &io, &how, argv, j->env);
        posix_spawnattr_destroy(&how);
    }
    posix_spawn_file_actions_destroy(&io);
    return err;
}

/* Until it has ended; a signal that ends the job ends it. Its exit status, or 128 and a signal. */
static int wait_for_salvage(struct job *j, pid_t pid)
{
    struct signalfd_siginfo s;
    int ws;
    while (waitpid(pid, &ws, WNOHANG) == 0) {
        struct pollfd p = {j->signal_fd, POLLIN, 0};
        if (poll(&p, 1, LOOK_MS) <= 0 || read(j->signal_fd, &s, sizeof s) != sizeof s)
            continue;
        if (s.ssi_signo == SIGINT || s.ssi_signo == SIGTERM || s.ssi_signo == SIGQUIT ||
            s.ssi_signo == SIGHUP)
            kill(pid, SIGKILL);
    }
    return WIFSIGNALED(ws) ? 128 + WTERMSIG(ws) : WEXITSTATUS(ws);
}

void profiled_end(struct job *j)
{
    static char none[] = "", yes[] = "1", no[] = "0";
    const struct args *a = j->args;
    char bin[PATH_MAX], lib[PATH_MAX], path[PATH_MAX + 32], end[32];
    pid_t pid;
    int n = 0;
    char *list = (a->trace || a->reports) && j->rank ? list_of_records(j, &n) : NULL;
    if (!n) {
        free(list);
        return;
    }
    if (!j->end_at)
        j->end_at = time_now();
    own_folders(bin, lib);
    snprintf(path, sizeof path, "%s/windrose/salvage", lib);
    snprintf(end, sizeof end, "%llu", (unsigned long long)j->end_at);
    char *argv[] = {path, list, a->trace ? (char *)a->trace : none, a->reports ? yes : no,
                    a->report_file ? (char *)a->report_file : none,
                    end, (char *)(*j->why ? j->why : "ranks ended without it"), NULL};
    int err = start_salvage(j, argv, &pid), status = err ? 0 : wait_for_salvage(j, pid);
    free(list);
    if (err)
        job_say(j, "%s cannot be started: %s", path, strerror(err));
    else if (status == JOB_RECORD_NONE && a->trace)
        job_say(j, "%s is not written: no rank called MPI_Init, or none was traced", a->trace);
    else if (status > 128)
        job_say(j, "the job ended early, and writing what its ranks left was ended by signal %d",
                status - 128);
    else if (status && status != JOB_RECORD_NONE)
        job_say(j, "the job ended early, and what its ranks left cannot be read");
}
