/* engine_watch.c - Hydra starts its proxies on other hosts by ssh, and waits for them for ever
 * where an ssh could not connect.  So mpiexec stays its parent and looks at its children.  Start
 * with engine_run(). */
#include "launch/engine_watch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOK_MS = 250,
    LOOKS = 4, /* so many in a row have seen the failure: the launcher does not end by itself */
    GRACE = 12, /* looks from SIGTERM to SIGKILL */
    NO_SUCH_FILE = 127,
    NOT_EXECUTABLE = 126,
    NO_CONNECTION = 255 /* ssh's own errors */
};

/* A child that has ended and was not waited for: its exit status; else -1. */
static int ended_with(long pid, char *name, size_t len)
{
    char file[64], line[1024];
    snprintf(file, sizeof file, "/proc/%ld/stat", pid);
    FILE *f = fopen(file, "re");
    size_t n = f ? fread(line, 1, sizeof line - 1, f) : 0;
    if (f)
        fclose(f);
    line[n] = 0;
    /* pid (name) state ... status: the last field */
    char *open = strchr(line, '('), *close = strrchr(line, ')'), *last = strrchr(line, ' ');
    if (!open || !close || close < open || close[1] != ' ' || close[2] != 'Z' || !last)
        return -1;
    snprintf(name, len, "%.*s", (int)(close - open - 1), open + 1);
    int ws = atoi(last);
    return WIFEXITED(ws) ? WEXITSTATUS(ws) : -1;
}

/* The exit status of a child of pid that could not start what it was to start; 0: there is none. */
static int child_failed(pid_t pid, char *name, size_t len)
{
    char file[64];
    long child;
    int status = 0;
    snprintf(file, sizeof file, "/proc/%ld/task/%ld/children", (long)pid, (long)pid);
    FILE *f = fopen(file, "re");
    if (!f)
        return 0;
    while (!status && fscanf(f, "%ld", &child) == 1) {
        int s = ended_with(child, name, len);
        status = s == NO_SUCH_FILE || s == NOT_EXECUTABLE || s == NO_CONNECTION ? s : 0;
    }
    fclose(f);
    return status;
}

/* One look after LOOK_MS; *seen: how many in a row have seen a failure, below 0 after SIGTERM. */
static void look(pid_t pid, int *seen)
{
    char name[64];
    if (*seen < 0) {
        if (--*seen == -GRACE)
            kill(pid, SIGKILL);
        return;
    }
    int status = child_failed(pid, name, sizeof name);
    *seen = status ? *seen + 1 : 0;
    if (*seen < LOOKS)
        return;
    fprintf(stderr, "mpiexec: %s ended with status %d: its host cannot be reached, or does not "
                    "start the job; the job is ended\n", name, status);
    kill(pid, SIGTERM);
    *seen = -1;
}

static int watch(pid_t pid, const sigset_t *take)
{
    const struct timespec turn = {.tv_nsec = LOOK_MS * 1000000l};
    int seen = 0, ws;
    for (;;) {
        siginfo_t got;
        int sig = sigtimedwait(take, &got, &turn);
        pid_t ended = waitpid(pid, &ws, WNOHANG);
        if (ended < 0)
            return STATUS_FAILED;
        if (ended == pid)
            break;
        if (sig > 0 && sig != SIGCHLD) {
            if (got.si_code <= 0) /* from a process: the terminal's reach the launcher, too */
                kill(pid, sig);
        } else if (sig < 0 && errno == EAGAIN) {
            look(pid, &seen);
        }
    }
    if (seen < 0)
        return EXIT_FAILURE;
    return WIFSIGNALED(ws) ? 128 + WTERMSIG(ws) : WEXITSTATUS(ws);
}

int engine_run(char **words)
{
    static const int taken[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    sigset_t take, old;
    signal(SIGCHLD, SIG_DFL); /* if inherited as ignored, no end would ever be seen */
    sigemptyset(&take);
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        sigaddset(&take, taken[i]);
    sigprocmask(SIG_BLOCK, &take, &old);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* Hydra passes SIGTERM on, and goes on */
        if (getppid() != parent)
            _exit(STATUS_FAILED);
        sigprocmask(SIG_SETMASK, &old, NULL);
        execvp(words[0], words);
        fprintf(stderr, "mpiexec: %s does not start: %s\n", words[0], strerror(errno));
        _exit(STATUS_FAILED);
    }
    if (pid < 0) {
        fprintf(stderr, "mpiexec: %s does not start: %s\n", words[0], strerror(errno));
        return STATUS_FAILED;
    }
    return watch(pid, &take);
}
