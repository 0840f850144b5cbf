/* job.c - what happens to ranks, and what follows from it. Start with job_pmi_readable() and
 * job_reap(). */
#include "launch/job.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/sched.h"
#include "base/vec.h"
#include "launch/ask.h"
#include "launch/debugger.h"
#include "launch/foreign.h"
#include "launch/gdb.h"
#include "launch/program.h"
#include "launch/spawn.h"
#include "launch/spawned_job.h"
#include "launch/stack_place.h"

#define MS 1000000u /* ns */

enum { PMI_BACKLOG_MAX = 1 << 20 }; /* bytes of answers that a rank may leave unread */

/* --- ending --------------------------------------------------------------------- */

void job_kill(struct job *j)
{
    j->phase = JOB_KILLED;
    j->kill_at = 0;
    job_send(j, SIGKILL);
    /* SIGKILL acts within moments.  But a process stuck in the kernel must not keep us. */
    if (!j->leave_at)
        j->leave_at = time_now() + 3000ull * MS;
}

void job_end(struct job *j, int status, int sig, int grace_ms)
{
    if (j->phase != JOB_RUNNING)
        return;
    if (status > j->status)
        j->status = status;
    j->phase = JOB_ENDING;
    j->end_at = time_now();
    debugger_end(j);
    j->kill_at = time_now() + (uint64_t)grace_ms * MS;
    job_send(j, sig);
    job_send(j, SIGCONT); /* a stopped rank could not act on the signal */
}

/* Text for "the others": empty when there are none. */
static const char *others(const struct job *j, char text[64])
{
    if (!j->live)
        *text = 0;
    else if (j->args->no_cleanup)
        snprintf(text, 64, "; the others go on (-disable-auto-cleanup)");
    else
        snprintf(text, 64, "; ending the other %d", j->live);
    return text;
}

/* --- PMI ------------------------------------------------------------------------- */

static void pmi_hang_up(struct rank *r)
{
    if (r->pmi_fd >= 0)
        close(r->pmi_fd);
    r->pmi_fd = -1;
    free(r->pmi_out);
    r->pmi_out = NULL;
    r->pmi_have = r->pmi_room = 0;
}

void job_pmi_flush(struct job *j, int rank)
{
    struct rank *r = &j->rank[rank];
    size_t at = 0;
    while (at < r->pmi_have) {
        ssize_t n = send(r->pmi_fd, r->pmi_out + at, r->pmi_have - at, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    r->pmi_have -= at;
    memmove(r->pmi_out, r->pmi_out + at, r->pmi_have);
}

static void on_reply(void *arg, int rank, const char *line, size_t len)
{
    struct job *j = arg;
    struct rank *r = &j->rank[rank];
    if (r->pmi_fd < 0)
        return;
    if (r->pmi_have + len > PMI_BACKLOG_MAX ||
        !VEC_FITS(r->pmi_out, r->pmi_room, r->pmi_have + len, 256)) {
        pmi_hang_up(r);
        return;
    }
    memcpy(r->pmi_out + r->pmi_have, line, len);
    r->pmi_have += len;
    job_pmi_flush(j, rank);
}

static void drain(struct stream *t)
{
    /* The last output of the rank should precede our message about it. */
    uint64_t now = time_now();
    for (int i = 0; i < 16 && stream_wants(t); i++)
        if (stream_read(t, now))
            break;
    if (t->merged)
        merged_push(t->merged, now, 1);
    sink_flush(t->sink);
}

static void on_exit_of(struct job *j, int rank, int ws);

/* The next process that has ended, of those that `which` means to waitpid(). A rank that was
 * stopped to be looked at goes on. */
static pid_t next_ended(struct job *j, pid_t which, int *ws)
{
    pid_t pid;
    while ((pid = waitpid(which, ws, WNOHANG)) > 0 && WIFSTOPPED(*ws))
        if (!debugger_stopped(j, pid, *ws))
            stack_place_let_go(pid, *ws);
    return pid;
}

/* Does a rank give up with this code because another has died?  MPIX_ERR_PROC_FAILED means that;
 * MPI_ERR_IN_STATUS means that some request failed, perhaps for this reason. */
static int tells_of_death(int code)
{
    enum { PROC_FAILED = 101, IN_STATUS = 17 };
    return code == PROC_FAILED || code == IN_STATUS;
}

/* Has a rank ended by itself?  Several may notice a death and exit before the kernel reports the
 * dead one. */
static int ended_by_itself(pid_t pid)
{
    siginfo_t s = {0};
    if (waitid(P_PID, (id_t)pid, &s, WEXITED | WNOHANG | WNOWAIT) || !s.si_pid)
        return 0;
    return s.si_code != CLD_EXITED || !tells_of_death(s.si_status);
}

/* A rank gives up because another has died.  Its memory is freed a moment before the kernel reports
 * the end.  The message should name the rank that died, not the one that noticed. */
static void hear_of_death(struct job *j, int noticed_by)
{
    enum { TURNS = 500 }; /* of 1 ms */
    int ended = j->ended;
    for (int turn = 0; turn < TURNS && j->ended == ended; turn++) {
        for (int r = 0; r < j->size && j->phase == JOB_RUNNING; r++) {
            int ws;
            /* In the end any rank: one may have had such a status by itself. */
            if (r != noticed_by && j->rank[r].pid > 0 &&
                (turn == TURNS - 1 || ended_by_itself(j->rank[r].pid)) &&
                next_ended(j, j->rank[r].pid, &ws) > 0)
                on_exit_of(j, r, ws);
        }
        if (j->ended == ended)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static void on_abort(void *arg, int rank, int code, int own, const char *why)
{
    struct job *j = arg;
    char text[64];
    if (spawned_job_aborted(j, rank, code, own, why))
        return;
    if (j->phase == JOB_RUNNING && tells_of_death(code) && !j->ended && !j->hearing) {
        /* the aborts of other ranks are consequences */
        j->hearing = 1;
        hear_of_death(j, rank);
        j->hearing = 0;
    }
    if (j->phase != JOB_RUNNING)
        return;
    int status = code & 255;
    if (code && !status)
        status = 1; /* a shell sees 8 bits, and 256 is no success */
    drain(&j->rank[rank].out);
    drain(&j->rank[rank].err);
    *text = 0;
    if (j->live > 1)
        snprintf(text, sizeof text, "; ending the other %d", j->live - 1);
    snprintf(j->why, sizeof j->why, "rank %d aborted it", rank);
    job_say(j, "rank %d (pid %ld) aborted the job with code %d%s%s%s", rank,
            (long)job_rank_pid(j, rank), code, *why ? ": " : "", why, text);
    job_end(j, status, SIGTERM, JOB_GRACE_MS);
}

static void on_broken(void *arg, int rank, const char *how)
{
    struct job *j = arg;
    job_say(j, "rank %d (pid %ld) does not speak PMI (%s); its connection is closed", rank,
            (long)j->rank[rank].shown, how);
    pmi_hang_up(&j->rank[rank]);
}

static void on_stranger(void *arg, int rank)
{
    (void)rank;
    foreign_joined(arg);
}

static void on_apart(void *arg)
{
    struct job *j = arg;
    atomic_store_explicit(&j->page->apart, 1, memory_order_relaxed);
}

static int appnum(void *arg, int rank)
{
    struct job *j = arg;
    return j->rank[rank].block;
}

int job_pmi_new(struct job *j)
{
    struct pmi_host host = {.reply = on_reply,
                            .aborted = on_abort,
                            .broken = on_broken,
                            .appnum = appnum,
                            .stranger = on_stranger,
                            .apart = on_apart,
                            .spawn = spawned_job_asked,
                            .arg = j};
    return pmi_server_new(&j->pmi, j->size, job_universe(j), j->name, &host);
}

/* A barrier that cannot end: a rank that should enter it has ended.  Only the job of the rank that
 * did something can have come to that. */
static void check_stuck(struct job *j, int rank)
{
    if (j->phase != JOB_RUNNING || j->args->no_cleanup || !j->ended)
        return;
    int r = pmi_missing(j->pmi, rank);
    if (r < 0 || (j->rank[r].spawned && spawned_job_failed(j->rank[r].spawned)))
        return;
    int waiting = pmi_waiting(j->pmi, r);
    int status = WEXITSTATUS(j->rank[r].wait_status);
    job_say(j,
            "rank %d ended with status %d %s, while %d rank%s wait%s for it in MPI_Init or "
            "MPI_Finalize; ending them",
            r, status, pmi_finalized(j->pmi, r) ? "after MPI_Finalize" : "without calling MPI_Init",
            waiting, waiting == 1 ? "" : "s", waiting == 1 ? "s" : "");
    job_end(j, status ? status : 1, SIGTERM, JOB_GRACE_MS);
}

/* With -disable-auto-cleanup: a rank that has ended before MPI_Init is missing only for ranks that
 * call it (not in `mpiexec -n 4 hostname`). */
static void tell_absent(struct job *j)
{
    char text[64];
    if (j->phase != JOB_RUNNING || !j->absent || !pmi_met(j->pmi))
        return;
    for (int r = 0; r < j->size; r++) {
        struct rank *k = &j->rank[r];
        if (!k->absent)
            continue;
        k->absent = 0;
        int sig = WIFSIGNALED(k->wait_status) ? WTERMSIG(k->wait_status) : 0;
        job_say(j, "rank %d (pid %ld) %s %d before MPI_Init%s", r, (long)k->shown,
                sig ? "was killed by signal" : "exited with status",
                sig ? sig : WEXITSTATUS(k->wait_status), others(j, text));
    }
    j->absent = 0;
    if (!j->status)
        j->status = 1; /* as after an end without MPI_Finalize */
}

void job_pmi_readable(struct job *j, int rank)
{
    struct rank *r = &j->rank[rank];
    char buf[8192];
    while (r->pmi_fd >= 0) {
        ssize_t n = recv(r->pmi_fd, buf, sizeof buf, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n <= 0) {
            pmi_hang_up(r);
            break;
        }
        pmi_feed(j->pmi, rank, buf, (size_t)n);
    }
    debugger_renew(j, rank);
    tell_absent(j);
    check_stuck(j, rank);
}

/* --- deaths ------------------------------------------------------------------------ */

static void mark_dead(struct job *j, int rank, enum job_death how)
{
    if (!j->page)
        return;
    atomic_store_explicit(&j->page->dead[rank], how, memory_order_release);
    atomic_fetch_add_explicit(&j->page->dead_count, 1, memory_order_release);
}

/* A rank ended in a way it should not; `how` names the way. */
static void on_death(struct job *j, int rank, int status, const char *how)
{
    char text[64];
    drain(&j->rank[rank].out);
    drain(&j->rank[rank].err);
    if (j->phase != JOB_RUNNING)
        return;
    snprintf(j->why, sizeof j->why, "rank %d %s", rank, how);
    job_say(j, "rank %d (pid %ld) %s%s", rank, (long)job_rank_pid(j, rank), how, others(j, text));
    if (j->args->no_cleanup)
        mark_dead(j, rank,
                  pmi_initialized(j->pmi, rank) || pmi_finalized(j->pmi, rank) ? JOB_DIED
                                                                               : JOB_NEVER_CAME);
    else
        job_end(j, status, SIGTERM, JOB_GRACE_MS);
}

/* The reader of its output has closed, which ended the rank: report nothing, as in a shell. */
static int broken_pipe(const struct rank *r, int sig)
{
    return sig == SIGPIPE &&
           ((r->out.sink && r->out.sink->broken) || (r->err.sink && r->err.sink->broken));
}

static void on_exit_of(struct job *j, int rank, int ws)
{
    struct rank *r = &j->rank[rank];
    char how[160] = "";
    job_report_readable(j);
    spawned_job_look(j);
    job_pmi_readable(j, rank); /* an abort or finalize that came before the end */
    r->exited = 1;
    r->pid = 0;
    r->wait_status = ws;
    j->live--;
    j->ended++;
    reaper_note(&j->reaper, rank, 0);
    int sig = WIFSIGNALED(ws) ? WTERMSIG(ws) : 0, status = sig ? 128 + sig : WEXITSTATUS(ws);
    int under_gdb = j->gdb && rank < j->args->size; /* its user may leave gdb */
    int open_end = pmi_initialized(j->pmi, rank) && !under_gdb;
    if (spawned_job_lost(j, rank)) { /* the call that spawned it returns that */
        if (j->args->no_cleanup)
            mark_dead(j, rank, JOB_DIED); /* others may have met it */
        goto over;
    }
    if (j->phase == JOB_RUNNING && status > j->status)
        j->status = status;
    if (status == 127)
        foreign_unbound(j, r->program);
    if (sig && !broken_pipe(r, sig))
        snprintf(how, sizeof how, "was killed by signal %d (%s)%s%s%s", sig, strsignal(sig),
                 oom_cause(&j->oom, sig), WCOREDUMP(ws) ? ", core dumped" : "",
                 pmi_finalized(j->pmi, rank) ? " after MPI_Finalize" : "");
    else if (open_end)
        snprintf(how, sizeof how, "exited with status %d without calling MPI_Finalize", status);
    if (*how) {
        if (j->phase == JOB_RUNNING && !j->status)
            j->status = 1; /* an end without MPI_Finalize is no success */
        on_death(j, rank, j->status, how);
    } else if (j->args->no_cleanup && !pmi_finalized(j->pmi, rank)) {
        r->absent = 1;
        j->absent++;
        mark_dead(j, rank, JOB_NEVER_CAME); /* before pmi_gone() lets the others pass */
    }
over:
    pmi_gone(j->pmi, rank, j->args->no_cleanup);
    pmi_hang_up(r);
    tell_absent(j);
    check_stuck(j, rank);
    spawned_job_ended(j, rank);
    debugger_look(j);
    if (!j->live && j->ended == j->size)
        foreign_at_end(j);
}

void job_reap(struct job *j)
{
    int ws;
    pid_t pid;
    while ((pid = next_ended(j, -1, &ws)) > 0) {
        for (int r = 0; r < j->size; r++)
            if (j->rank[r].pid == pid) {
                on_exit_of(j, r, ws);
                break;
            }
    }
}

void job_report_readable(struct job *j)
{
    static const char *const what[] = {"enter directory", "bind to its processors for", "run"};
    char why[2 * PATH_MAX];
    struct spawn_failure f;
    while (j->report_fd >= 0) {
        ssize_t n = read(j->report_fd, &f, sizeof f);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n != sizeof f) { /* all ranks are past exec */
            close(j->report_fd);
            j->report_fd = -1;
            debugger_look(j);
            return;
        }
        if (j->phase != JOB_RUNNING)
            continue;
        const struct block *b = j->rank[f.rank].program;
        const char *dir = f.step == SPAWN_GWDIR || !b->wdir ? j->args->gwdir : b->wdir;
        snprintf(why, sizeof why, "%s", strerror(f.err));
        if (f.step == SPAWN_EXEC)
            program_why(j->args, b, f.err, why, sizeof why);
        job_say(j, "rank %d cannot %s %s: %s", f.rank,
                what[f.step == SPAWN_GWDIR ? SPAWN_DIR : f.step],
                f.step == SPAWN_DIR || f.step == SPAWN_GWDIR ? dir : b->argv[0], why);
        job_end(j, f.err == ENOENT ? 127 : 126, SIGTERM, JOB_GRACE_MS);
    }
}

/* --- signals --------------------------------------------------------------------------- */

void job_signal(struct job *j, int sig)
{
    switch (sig) {
    case SIGCHLD:
        job_reap(j);
        break;
    case SIGUSR1:
        ask_all(j);
        /* the library does not use it under mpiexec: a program that catches it has its own use for
         * it */
        ask_pass_on(j, sig);
        break;
    case SIGUSR2:
        for (int r = 0; r < j->size; r++)
            if (!j->rank[r].exited && job_rank_pid(j, r) > 0)
                kill(job_rank_pid(j, r), SIGUSR2);
        break;
    case SIGTSTP:
        job_send(j, SIGTSTP);
        raise(SIGSTOP);
        job_send(j, SIGCONT);
        break;
    case SIGCONT:
        job_send(j, SIGCONT);
        break;
    default: /* SIGINT, SIGTERM, SIGHUP, SIGQUIT */
        if (j->phase != JOB_RUNNING) {
            job_kill(j);
            break;
        }
        if (sig == SIGINT && j->gdb && gdb_interrupt(j->gdb, j, time_now()))
            break;
        snprintf(j->why, sizeof j->why, "signal %d", sig);
        job_say(j, "received signal %d (%s); ending %d rank%s", sig, strsignal(sig), j->live,
                j->live == 1 ? "" : "s");
        ask_shortly(j); /* it may hang */
        job_end(j, 128 + sig, sig, JOB_SIGNAL_GRACE_MS);
    }
}

void job_tick(struct job *j, uint64_t now)
{
    if (j->timeout_at && now >= j->timeout_at && j->phase == JOB_RUNNING) {
        snprintf(j->why, sizeof j->why, "time-out after %g s", j->args->timeout);
        job_say(j, "time-out: the job has run for %g seconds; ending %d rank%s", j->args->timeout,
                j->live, j->live == 1 ? "" : "s");
        ask_all(j); /* the user wants to know where it hangs */
        job_end(j, 255, SIGTERM, JOB_GRACE_MS);
    }
    if (j->phase == JOB_RUNNING)
        ask_tick(j, now);
    j->foreign_due = foreign_tick(j, now);
    if (j->kill_at && now >= j->kill_at)
        job_kill(j);
}
