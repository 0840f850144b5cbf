/* spawn.c - fork and exec of one rank. */
#include "launch/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <unistd.h>

static void give_up(const struct spawn *s, enum spawn_step step) __attribute__((noreturn));

static void give_up(const struct spawn *s, enum spawn_step step)
{
    struct spawn_failure f = {.rank = s->rank, .err = errno, .step = step};
    ssize_t ignored = write(s->report, &f, sizeof f);
    (void)ignored;
    _exit(f.err == ENOENT ? 127 : 126); /* as a shell reports it */
}

static void default_signals(void)
{
    /* SIGINT and SIGQUIT: a shell that starts mpiexec in the background ignores them, but mpiexec
     * passes them on. */
    static const int changed[] = {SIGPIPE, SIGCHLD, SIGINT, SIGQUIT};
    sigset_t none;
    sigemptyset(&none);
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++)
        signal(changed[i], SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void child(const struct spawn *s, pid_t parent) __attribute__((noreturn));

static void child(const struct spawn *s, pid_t parent)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* mpiexec died before the line above */
        _exit(1);
    /* The three sources are above 2 (mpiexec keeps 0 to 2 open), so no dup2 overwrites another. */
    if (dup2(s->in, 0) < 0 || dup2(s->out, 1) < 0 || dup2(s->err, 2) < 0)
        give_up(s, SPAWN_EXEC);
    for (int i = 0; i < 3; i++)
        if (s->keep[i] >= 0)
            fcntl(s->keep[i], F_SETFD, 0);
    setrlimit(RLIMIT_NOFILE, &s->files);
    if (s->gwdir && chdir(s->gwdir))
        give_up(s, SPAWN_GWDIR);
    if (s->wdir && chdir(s->wdir))
        give_up(s, SPAWN_DIR);
    if (s->cpus &&
        sched_setaffinity(0, s->cpus->words * sizeof *s->cpus->word, (cpu_set_t *)s->cpus->word))
        give_up(s, SPAWN_BIND);
    default_signals();
    if (s->traced)
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    execvpe(s->argv[0], s->argv, s->env);
    /* Users commonly write `mpiexec prog` for ./prog. */
    if (errno == ENOENT && !strchr(s->argv[0], '/')) {
        char here[4096];
        if (snprintf(here, sizeof here, "./%s", s->argv[0]) < (int)sizeof here)
            execvpe(here, s->argv, s->env);
    }
    give_up(s, SPAWN_EXEC);
}

pid_t spawn_rank(const struct spawn *s)
{
    pid_t parent = getpid(), pid = fork();
    if (pid < 0)
        return -errno;
    if (!pid)
        child(s, parent);
    /* both processes do it, since either may be first; it fails harmlessly after the exec */
    setpgid(pid, pid);
    return pid;
}
