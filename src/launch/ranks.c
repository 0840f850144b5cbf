/* ranks.c - the processes of ranks, and a line about them: what all files on jobs need (job.h). */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launch/job.h"

void job_say(struct job *j, const char *fmt, ...)
{
    char line[2048] = "mpiexec: ";
    size_t n = strlen(line);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line + n, sizeof line - n - 1, fmt, ap);
    va_end(ap);
    /* One line, whatever text a rank or a file name brought: nothing in it moves the cursor or
     * starts another line. */
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = ' ';
    strcat(line, "\n");
    sink_line(j->err, line);
}

void job_send(struct job *j, int sig)
{
    for (int r = 0; r < j->size; r++)
        if (j->rank[r].pid > 0 && kill(-j->rank[r].pid, sig))
            kill(j->rank[r].pid, sig);
}

/* The MPI process itself, which may be a child of the started process. */
pid_t job_rank_pid(const struct job *j, int rank)
{
    pid_t told = pmi_pid(j->pmi, rank);
    return told > 0 ? told : j->rank[rank].shown;
}

int job_owns(const struct job *j, int rank, pid_t pid)
{
    return pid == j->rank[rank].pid || getpgid(pid) == j->rank[rank].shown ||
           strays_has(j->name, pid);
}
