/* main.c - mpiexec: start the ranks of a job on this host, and serve them to their end. Start with
 * run(). */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/args.h"
#include "launch/binding.h"
#include "launch/findings.h"
#include "launch/doctor_exec.h"
#include "launch/handover.h"
#include "launch/job.h"
#include "launch/foreign.h"
#include "launch/profiled.h"
#include "var/var.h"

enum { STATUS_USAGE = 255 };

extern char **environ;

/* Standard descriptors that mpiexec was started without become empty files, so that no pipe gets
 * their numbers.  For reading only: a write fails, as it would on a closed descriptor. */
static int fill_standard(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && empty_file(0) < 0) { /* it gets the lowest number */
            fprintf(stderr, "mpiexec: cannot open /dev/null: %s\n", strerror(errno));
            return -1;
        }
    return 0;
}

static void print_default(const struct cvar_info *c)
{
    if (c->kind == CVAR_STR)
        printf("string, default \"%s\"", c->def_str);
    else if (c->kind == CVAR_BOOL)
        printf("boolean, default %s", c->def ? "1 (yes)" : "0 (no)");
    else
        printf("integer, default %lld, from %lld to %lld", (long long)c->def, (long long)c->min,
               (long long)c->max);
}

static int print_cvars(void)
{
    for (int i = 0; i < cvar_count; i++) {
        const struct cvar_info *c = &cvar_table[i];
        printf("%s\n    ", c->name);
        print_default(c);
        printf("%s\n    %s\n", c->scope == CVAR_GLOBAL_EQ ? "; the same on all ranks" : "",
               c->text);
    }
    printf("\nSet them in the environment, or for one job with -genv NAME VALUE.  The prefixes "
           "MPICH_ and MPIR_PARAM_ are\n"
           "read as MPIR_CVAR_; integers may end in K, M or G.\n");
    return 0;
}

/* MPIEXEC_TIMEOUT counts when -timeout is not given; 0 and below: none. */
static int timeout_from_environment(struct args *a)
{
    const char *text = getenv("MPIEXEC_TIMEOUT");
    char *end;
    if (!text || !*text || a->timeout > 0)
        return 0;
    double v = strtod(text, &end);
    if (end != text && !*end && v <= 0)
        return 0;
    if (args_seconds(text, &a->timeout)) {
        fprintf(stderr, "mpiexec: MPIEXEC_TIMEOUT=%s is not a number of seconds\n", text);
        return -EINVAL;
    }
    return 0;
}

/* A job on several hosts, by another launcher.  Check the program here: hosts of a job have the
 * same files. */
static int run_far(const struct args *a)
{
    char line[2048];
    if (foreign_text(line, sizeof line, a, environ))
        fprintf(stderr, "mpiexec: %s\n", line);
    if (a->check)
        fprintf(stderr, "mpiexec: -check has no effect where another launcher starts the job: set "
                        "the checkers' variables with -genv\n");
    return engine_exec(a);
}

/* Each rank's status, 128 and the signal for one that was killed, as a shell reports it. */
static void print_exit_codes(const struct job *j)
{
    printf("Exit codes: ");
    for (int r = 0; r < j->size; r++) {
        int ws = j->rank[r].wait_status;
        printf("%s%d", r ? "," : "", WIFSIGNALED(ws) ? 128 + WTERMSIG(ws) : WEXITSTATUS(ws));
    }
    printf("\n");
}

static int run(const struct args *a)
{
    struct job j;
    int status = job_start(&j, a, environ);
    if (status && j.live) { /* some ranks run already */
        job_end(&j, status, SIGKILL, 0);
        job_kill(&j);
    }
    if (a->dry && !status) {
        job_free(&j);
        return 0;
    }
    if (!status || j.live)
        status = job_run(&j);
    profiled_end(&j);
    status = findings_end(&j, status);
    if (a->exitcodes && j.rank)
        print_exit_codes(&j);
    job_free(&j);
    return status;
}

int main(int argc, char **argv)
{
    struct args a;
    char msg[512];
    if (fill_standard())
        return STATUS_USAGE;
    int status = STATUS_USAGE;
    if (args_parse(&a, argc, argv, msg, sizeof msg)) {
        fprintf(stderr, "mpiexec: %s\n", msg);
    } else {
        switch (a.action) {
        case ARGS_HELP: status = fputs(args_help, stdout) < 0; break;
        case ARGS_VERSION: status = printf("mpiexec (Windrose) %s\n", PACKAGE_VERSION) < 0; break;
        case ARGS_CVARS: status = print_cvars(); break;
        case ARGS_RUN:
            if (*a.hint)
                fprintf(stderr, "mpiexec: %s\n", a.hint);
            if (a.verbose && *a.idle)
                fprintf(stderr, "mpiexec: without effect here: %s\n", a.idle);
            if (a.doctor)
                status = doctor_exec(&a);
            else if (!timeout_from_environment(&a))
                status = a.far ? run_far(&a) : run(&a);
            break;
        }
    }
    if (fflush(stdout) && !status) {
        fprintf(stderr, "mpiexec: cannot write to standard output: %s\n", strerror(errno));
        status = 1;
    }
    args_free(&a);
    return status;
}
