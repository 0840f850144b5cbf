/* debugger.c - the table of processes for debuggers (debugger.h). Start with debugger_look(). */
#include "launch/debugger.h"

#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT __attribute__((used)) /* read by another process only */

KEPT MPIR_PROCDESC *MPIR_proctable;
KEPT int MPIR_proctable_size;
KEPT volatile int MPIR_debug_state;
KEPT volatile int MPIR_being_debugged;
KEPT char *MPIR_debug_abort_string;
KEPT int MPIR_i_am_starter = 1, MPIR_partial_attach_ok = 1;

KEPT __attribute__((noinline)) void MPIR_Breakpoint(void)
{
    __asm__ volatile("" ::: "memory"); /* a call of it is never left out */
}

static char *program_of(pid_t pid, const char *otherwise)
{
    char name[64], path[PATH_MAX];
    snprintf(name, sizeof name, "/proc/%ld/exe", (long)pid);
    ssize_t n = readlink(name, path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    return strdup(n > 0 ? path : otherwise);
}

static int fill(const struct job *j)
{
    char host[HOST_NAME_MAX + 1] = "";
    int n = j->args->size; /* a spawned job is not in it: the interface knows one job */
    gethostname(host, sizeof host - 1);
    MPIR_proctable = calloc((size_t)n, sizeof *MPIR_proctable);
    if (!MPIR_proctable)
        return 0;
    for (int r = 0; r < n; r++) {
        pid_t pid = job_rank_pid(j, r);
        MPIR_proctable[r] = (MPIR_PROCDESC){
            .host_name = strdup(host),
            .executable_name = program_of(pid, j->rank[r].program->argv[0]),
            .pid = (int)pid};
    }
    MPIR_proctable_size = n;
    return 1;
}

/* Is the rank where the table may name it? */
static int is_there(const struct rank *r)
{
    return r->exited || r->hold != DEBUGGER_TO_STOP;
}

void debugger_look(struct job *j)
{
    int n = j->args->size;
    if (MPIR_debug_state != MPIR_NULL || j->report_fd >= 0 || !j->live)
        return;
    for (int r = 0; r < n; r++)
        if (!is_there(&j->rank[r]))
            return;
    if (!fill(j))
        return;
    MPIR_debug_state = MPIR_DEBUG_SPAWNED;
    MPIR_Breakpoint();
    for (int r = 0; r < n; r++)
        if (j->rank[r].hold == DEBUGGER_STOPPED && !j->rank[r].exited)
            kill(j->rank[r].pid, SIGCONT);
}

int debugger_stopped(struct job *j, pid_t pid, int stop)
{
    for (int r = 0; r < j->size; r++) {
        struct rank *k = &j->rank[r];
        if (k->pid != pid || k->hold != DEBUGGER_TO_STOP)
            continue;
        if (WSTOPSIG(stop) != SIGTRAP) { /* a signal before exec: the rank stays traced */
            ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)WSTOPSIG(stop));
            return 1;
        }
        ptrace(PTRACE_DETACH, pid, NULL, (void *)(intptr_t)SIGSTOP);
        k->hold = DEBUGGER_STOPPED;
        debugger_look(j);
        return 1;
    }
    return 0;
}

void debugger_renew(const struct job *j, int rank)
{
    pid_t pid = job_rank_pid(j, rank);
    if (rank >= MPIR_proctable_size || MPIR_proctable[rank].pid == (int)pid ||
        !job_owns(j, rank, pid)) /* the number comes from the rank */
        return;
    MPIR_PROCDESC *p = &MPIR_proctable[rank];
    char *program = program_of(pid, j->rank[rank].program->argv[0]);
    free(p->executable_name);
    p->executable_name = program;
    p->pid = (int)pid;
}

void debugger_end(const struct job *j)
{
    if (!MPIR_being_debugged)
        return;
    free(MPIR_debug_abort_string);
    MPIR_debug_abort_string = strdup(j->why);
    MPIR_debug_state = MPIR_DEBUG_ABORTING;
    MPIR_Breakpoint();
}

void debugger_free(void)
{
    for (int r = 0; r < MPIR_proctable_size; r++) {
        free(MPIR_proctable[r].host_name);
        free(MPIR_proctable[r].executable_name);
    }
    free(MPIR_proctable);
    free(MPIR_debug_abort_string);
    MPIR_proctable = NULL;
    MPIR_debug_abort_string = NULL;
    MPIR_proctable_size = 0;
}
