/* spawned_job.c - start a further job on behalf of a rank (spawned_job.h). Start with
 * spawned_job_asked(). */
#include "launch/spawned_job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/topo.h"
#include "launch/spawn.h"

/* --- limits ------------------------------------------------------------------------ */

rlim_t job_files(const struct job *j, int more)
{
    enum { PER_RANK = 3, FILES = 2, OWN = 32 };
    int more_each = (j->args->trace || j->args->reports) + j->args->gdb;
    int to_files = j->args->outfile || j->args->errfile || j->args->outdir;
    int live = j->live ? j->live : j->size; /* at the start none of them lives yet */
    /* The files stay open: another rank may write to the same one. */
    return (rlim_t)(live + more) * PER_RANK + (to_files ? (rlim_t)(j->size + more) * FILES : 0) +
           (rlim_t)j->size * (rlim_t)more_each + OWN;
}

int job_raise_files(const struct job *j, int more)
{
    struct rlimit l;
    rlim_t need = job_files(j, more);
    if (getrlimit(RLIMIT_NOFILE, &l))
        return -errno;
    if (l.rlim_cur >= need)
        return 0;
    if (l.rlim_max != RLIM_INFINITY && l.rlim_max < need)
        return -EMFILE;
    l.rlim_cur = need;
    return setrlimit(RLIMIT_NOFILE, &l) ? -errno : 0;
}

int job_universe(const struct job *j)
{
    int cpus = topo_cpus(), most = cpus > j->size ? cpus : j->size;
    return j->args->universe ? j->args->universe : most;
}

int job_places(int size)
{
    int places = job_places_for(size);
    struct rlimit file;
    /* No spawned processes where the page may not be that long. */
    if (!getrlimit(RLIMIT_FSIZE, &file) && file.rlim_cur != RLIM_INFINITY &&
        job_page_bytes(places) > file.rlim_cur)
        places = size;
    return places;
}

/* --- a job ------------------------------------------------------------------------- */

int spawned_job_failed(const struct spawned_job *g)
{
    return g->err != 0;
}

static void kill_all(struct job *j, const struct spawned_job *g)
{
    for (int r = g->first; r < g->first + g->size; r++)
        if (j->rank[r].pid > 0)
            kill(-j->rank[r].pid, SIGKILL);
}

/* The whole job ends, and the call that spawned it returns the error. */
static void fail(struct job *j, struct spawned_job *g, int err)
{
    g->err = err;
    kill_all(j, g);
    pmi_world_fail(j->pmi, g->first, err);
}

int spawned_job_lost(struct job *j, int rank)
{
    struct rank *r = &j->rank[rank];
    struct spawned_job *g = r->spawned;
    if (!g)
        return 0;
    if (!g->err && j->phase == JOB_RUNNING && pmi_alone(j->pmi, rank)) {
        int ws = r->wait_status;
        if (WIFSIGNALED(ws))
            job_say(j, "rank %d (pid %ld) was killed by signal %d (%s) before its job met the one "
                       "that spawned it",
                    rank, (long)job_rank_pid(j, rank), WTERMSIG(ws), strsignal(WTERMSIG(ws)));
        fail(j, g, -ECHILD);
    }
    return g->err != 0;
}

int spawned_job_aborted(struct job *j, int rank, int code, int own, const char *why)
{
    struct spawned_job *g = j->rank[rank].spawned;
    if (!g || j->phase != JOB_RUNNING)
        return 0;
    if (g->err) /* a consequence */
        return 1;
    /* Without -disable-auto-cleanup no process would learn of a death. */
    if (!pmi_alone(j->pmi, rank) && !(own && j->args->no_cleanup))
        return 0;
    job_say(j, "rank %d (pid %ld) ended its own job, which was spawned, by an abort with code "
               "%d%s%s",
            rank, (long)job_rank_pid(j, rank), code, *why ? ": " : "", why);
    fail(j, g, -ECHILD);
    return 1;
}

/* What only a job that runs needs is freed when it has ended: a program may start jobs for ever. */
static void forget_if_over(struct job *j, struct spawned_job *g)
{
    struct spawned_job **at = &j->spawned;
    if (g->report_fd >= 0)
        return;
    for (int r = g->first; r < g->first + g->size; r++)
        if (j->rank[r].pid > 0 || j->rank[r].pmi_fd >= 0)
            return;
    for (int r = g->first; r < g->first + g->size; r++) {
        j->rank[r].spawned = NULL;
        j->rank[r].program = NULL; /* a block of the request */
    }
    while (*at != g)
        at = &(*at)->next;
    *at = g->next;
    pmi_world_forget(j->pmi, g->first);
    spawn_request_free(g->request);
    free(g);
}

void spawned_job_ended(struct job *j, int rank)
{
    if (j->rank[rank].spawned)
        forget_if_over(j, j->rank[rank].spawned);
}

/* Every program runs, or one could not be run. */
static void started(struct job *j, struct spawned_job *g)
{
    close(g->report_fd);
    g->report_fd = -1;
    j->reporting--;
    if (g->err)
        kill_all(j, g);
    pmi_spawned(j->pmi, g->by, g->request->number, g->first, g->err);
    forget_if_over(j, g);
}

/* -ENOTDIR: the directory of the program (wdir), and nothing else. */
static int reason(const struct spawn_failure *f)
{
    int is_lost = f->err == ENOENT || f->err == ENOTDIR;
    if (f->step == SPAWN_DIR && (is_lost || f->err == EACCES))
        return -ENOTDIR;
    return is_lost ? -ENOENT : f->err > 0 ? -f->err : -EIO;
}

void spawned_job_look(struct job *j)
{
    for (struct spawned_job *g = j->spawned, *next; g && j->reporting; g = next) {
        next = g->next; /* it may be over, and freed */
        while (g->report_fd >= 0) {
            struct spawn_failure f;
            ssize_t n = read(g->report_fd, &f, sizeof f);
            if (n < 0 && (errno == EAGAIN || errno == EINTR))
                break;
            if (n != sizeof f) {
                started(j, g);
                break;
            }
            g->err = g->err ? g->err : reason(&f);
        }
    }
}

/* The places of its ranks, and its PMI server. */
static int take_places(struct job *j, struct spawned_job *g)
{
    struct spawn_request *q = g->request;
    int err = job_raise_files(j, g->size);
    if (!err)
        err = pmi_world_add(j->pmi, g->first, g->size, g->by);
    if (err)
        return err;
    for (int b = 0, rank = g->first; b < q->nblocks; b++)
        for (int i = 0; i < q->block[b].n; i++, rank++) {
            job_rank_init(j, rank, b, &q->block[b]);
            j->rank[rank].spawned = g;
            j->rank[rank].exited = 1; /* until it is started */
        }
    j->size += g->size;
    return 0;
}

/* Its places stay taken: no number comes again. */
static void not_started(struct job *j, struct spawned_job *g, int err)
{
    g->err = err;
    for (int r = g->first; r < g->first + g->size; r++)
        if (j->rank[r].pid <= 0) {
            j->ended++;
            pmi_gone(j->pmi, r, j->args->no_cleanup);
        }
}

int spawned_job_asked(void *job, int rank, struct spawn_request *q)
{
    struct job *j = job;
    int report[2];
    struct spawned_job *g = j->phase == JOB_RUNNING && q->size <= j->places - j->size
                          ? calloc(1, sizeof *g)
                          : NULL;
    int err = j->phase != JOB_RUNNING               ? -ECANCELED
              : q->size > j->places - j->size       ? -ENOSPC
              : !g                                  ? -ENOMEM
              : pipe2(report, O_CLOEXEC | O_NONBLOCK) ? -errno
                                                    : 0;
    if (err) {
        spawn_request_free(q);
        free(g);
        return err;
    }
    *g = (struct spawned_job){.request = q, .by = rank, .first = j->size, .size = q->size,
                        .report_fd = report[0]};
    err = take_places(j, g);
    if (err) {
        close(report[0]);
        close(report[1]);
        spawn_request_free(q);
        free(g);
        return err;
    }
    g->next = j->spawned;
    j->spawned = g;
    j->reporting++;
    err = job_start_more(j, g, report[1]);
    close(report[1]);
    if (err)
        not_started(j, g, err);
    return 0; /* the answer comes when the last copy of the pipe is closed */
}

void spawned_job_free(struct job *j)
{
    while (j->spawned) {
        struct spawned_job *g = j->spawned;
        j->spawned = g->next;
        if (g->report_fd >= 0)
            close(g->report_fd);
        spawn_request_free(g->request);
        free(g);
    }
}
