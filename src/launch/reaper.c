/* reaper.c - a process that ends what is left of a job when mpiexec itself is killed. Start with
 * reaper_start(). */
#include "launch/reaper.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/streams.h"

enum { ENVIRON_MAX = 1 << 20, ROUNDS = 100 };

/* --- strays --------------------------------------------------------------------- */

/* Whether the environment of process `pid` holds `want`, an entire "NAME=value". */
static int carries(const char *pid, const char *want, char *buf)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/environ", pid);
    /* the system refuses those of other users: they cannot be ours */
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    size_t n = 0;
    for (ssize_t got; n < ENVIRON_MAX && (got = read(fd, buf + n, ENVIRON_MAX - n)) > 0;)
        n += (size_t)got;
    close(fd);
    buf[n] = 0;
    for (size_t i = 0; i < n; i += strlen(buf + i) + 1)
        if (!strcmp(buf + i, want))
            return 1;
    return 0;
}

int strays_has(const char *job, pid_t pid)
{
    char want[512], name[24];
    char *buf = malloc(ENVIRON_MAX + 1);
    snprintf(want, sizeof want, JOB_ENV "=%s", job);
    snprintf(name, sizeof name, "%ld", (long)pid);
    int has = buf && carries(name, want, buf);
    free(buf);
    return has;
}

int strays_kill(const char *job, pid_t spare)
{
    char want[512];
    char *buf = malloc(ENVIRON_MAX + 1);
    DIR *dir = buf ? opendir("/proc") : NULL;
    int n = 0;
    snprintf(want, sizeof want, JOB_ENV "=%s", job);
    for (struct dirent *d; dir && (d = readdir(dir));) {
        if (!isdigit((unsigned char)*d->d_name))
            continue;
        pid_t pid = (pid_t)atol(d->d_name);
        if (pid == spare || pid == getpid() || !carries(d->d_name, want, buf))
            continue;
        kill(pid, SIGKILL);
        n++;
    }
    if (dir)
        closedir(dir);
    free(buf);
    return n;
}

/* --- the reaper -------------------------------------------------------------------- */

static void watch(const struct reaper *w, int fd, const char *job) __attribute__((noreturn));

static void watch(const struct reaper *w, int fd, const char *job)
{
    char c;
    ssize_t n;
    while ((n = read(fd, &c, 1)) < 0 && errno == EINTR)
        ;
    if (n == 1) /* goodbye */
        _exit(0);
    for (int i = 0; i < ROUNDS; i++) {
        for (int r = 0; r < w->size; r++) {
            pid_t group = atomic_load_explicit(&w->group[r], memory_order_relaxed);
            if (group > 0)
                kill(-group, SIGKILL);
        }
        /* Processes may fork during the search: repeat it until it finds none. */
        if (!strays_kill(job, 0) && i > 0)
            break;
        poll(NULL, 0, 10);
    }
    _exit(0);
}

/* A kill by name or command line is meant for mpiexec, not for the reaper. */
static void rename_self(char **argv)
{
    static const char name[] = "windrose-reaper";
    prctl(PR_SET_NAME, name);
    for (int i = 0; argv[i]; i++) {
        size_t n = strlen(argv[i]);
        memset(argv[i], 0, n);
        if (!i)
            memcpy(argv[i], name, n < sizeof name ? n : sizeof name);
    }
}

static void become_reaper(const struct reaper *w, int fd, const char *job, char **argv)
{
    setsid(); /* kill(-group of mpiexec) and the terminal do not reach the reaper */
    rename_self(argv);
    if (chdir("/")) /* keep no file system busy */
        _exit(1);
    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_IGN);
    /* The reaper must keep no descriptor of mpiexec open: readers wait for the end of its
     * output. */
    int null = empty_file(0);
    for (int i = 0; i < 3; i++)
        dup2(null, i);
    dup2(fd, 3);
    for (int i = 4, end = (int)sysconf(_SC_OPEN_MAX); i < end && i < 1024; i++)
        close(i);
    watch(w, 3, job);
}

int reaper_start(struct reaper *w, int size, const char *job, char **argv)
{
    int fd[2];
    memset(w, 0, sizeof *w);
    w->size = size;
    w->pipe = -1;
    void *p = mmap(NULL, (size_t)size * sizeof *w->group, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return -errno;
    w->group = p;
    if (pipe2(fd, O_CLOEXEC))
        return -errno;
    w->pid = fork();
    if (w->pid == 0) {
        close(fd[1]);
        become_reaper(w, fd[0], job, argv);
    }
    close(fd[0]);
    w->pipe = fd[1];
    return w->pid < 0 ? -errno : 0;
}

void reaper_note(struct reaper *w, int rank, pid_t group)
{
    atomic_store_explicit(&w->group[rank], group, memory_order_relaxed);
}

void reaper_stop(struct reaper *w)
{
    if (w->pid > 0) {
        ssize_t ignored = write(w->pipe, "", 1);
        (void)ignored;
        close(w->pipe);
        waitpid(w->pid, NULL, 0);
    }
    if (w->group)
        munmap((void *)w->group, (size_t)w->size * sizeof *w->group);
    *w = (struct reaper){.pipe = -1};
}
