/* job.h - a running job: its ranks, how each ended, and what follows from it.
 *
 *   RUNNING --- a rank dies, aborts, time is up, a signal ---> ENDING --- grace over ---> KILLED
 *      \__________________________ all ranks ended: job_run() returns _______________________/
 *
 *   J1  One cause is printed, the first; what the ranks do after ENDING began is its consequence.
 *   J2  status is the largest of the ranks' that ended while RUNNING, and of the cause.
 *   J3  ENDING lasts at most `grace`, KILLED until all are reaped. */
#ifndef LAUNCH_JOB_H
#define LAUNCH_JOB_H

#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/jobpage.h"
#include "launch/args.h"
#include "launch/pmi_server.h"
#include "launch/oom.h"
#include "launch/reaper.h"
#include "launch/streams.h"

enum job_phase { JOB_RUNNING, JOB_ENDING, JOB_KILLED };

struct gdb;
struct spawned_job; /* spawned_job.h */

struct rank {
    pid_t pid;      /* 0: not started, or reaped: then the number may belong to another process */
    pid_t shown;    /* for messages */
    int block;      /* of its job's command line or request */
    const struct block *program;
    struct spawned_job *spawned; /* the job that was spawned with it; NULL: the first job */
    int exited;     /* reaped; how is in wait_status */
    int wait_status;
    int absent;     /* ended before MPI_Init, and not reported to the others yet */
    int pmi_fd;     /* -1: closed */
    char *pmi_out;  /* answers it has not taken yet */
    size_t pmi_have, pmi_room;
    int hold;       /* debugger.h */
    int record_fd;  /* profiled.c: where it keeps what it knows; -1: nowhere */
    struct stream out, err;
};

struct job {
    const struct args *args;
    int size;   /* ranks that were ever started, spawned ones too */
    int places; /* for ranks; all tables have so many */
    char name[PMI_KVS_MAX];
    struct rank *rank;
    struct pmi_server *pmi;
    struct reaper reaper;
    struct oom oom;
    struct pump pump;
    struct gdb *gdb; /* -gdb; NULL: without */
    struct sink *out, *err;         /* ours; may be the same one */
    struct sink **sinks;            /* all, files of -outfile-pattern too */
    int nsinks, sinks_room;
    struct job_page *page;
    int page_fd;
    int signal_fd;
    int report_fd;                  /* failures before exec */
    int findings_fd;                /* findings.c; -1: nothing is looked for */
    enum job_phase phase;
    int live;                       /* ranks not reaped */
    int ended;                      /* ranks reaped */
    int absent;                     /* ranks of which `absent` is set */
    /* looking for the rank that died, since another rank noticed it first */
    int hearing;
    int status;
    /* foreign.c: the line was printed; processes were searched; when they are again, and when they
     * were because of output (ns) */
    int foreign_said, foreign_looked;
    uint64_t started_at, foreign_at, foreign_output_at;
    uint64_t foreign_due; /* foreign_tick() */
    uint64_t timeout_at, kill_at, leave_at; /* ns; 0: never */
    uint64_t end_at;   /* ns: when it began to end; 0: it did not */
    char why[160];     /* the cause of the end, in short */
    /* ask_tick(): how long a wait may last; when it looks next; waits that began before this have
     * been reported (ns) */
    uint64_t warn_ns, look_at, told_until;
    int reports;
    struct spawned_job *spawned; /* jobs that ranks have started, the newest first */
    int reporting;       /* of these, how many have not started yet */
    struct rlimit files; /* limit on descriptors of the ranks */
    char *const *env;
};

enum { JOB_GRACE_MS = 1000, JOB_SIGNAL_GRACE_MS = 5000 };

/* Make the job and start its ranks.  0, or the exit status after a message. */
int job_start(struct job *j, const struct args *a, char *const *env);
int job_pmi_new(struct job *j); /* its PMI server; 0 or -ENOMEM */
/* start.c: start the ranks of a spawned job, which have their places. report: for failures before
 * exec. 0 or -errno: some may run already. */
int job_start_more(struct job *j, struct spawned_job *g, int report);
/* spawned_job.c: open files that so many ranks more need; raise our limit for them: 0 or
 * -EMFILE. */
rlim_t job_files(const struct job *j, int more);
int job_raise_files(const struct job *j, int more);
/* How many processes there may ever be: two less than a power of two. */
int job_places(int size);
int job_universe(const struct job *j); /* MPI_UNIVERSE_SIZE: -usize, or the processors */
void job_rank_init(struct job *j, int rank, int block, const struct block *program);
/* Run it to its end; the exit status. */
int job_run(struct job *j);
void job_free(struct job *j);

/* --- events, called by the loop --- */
void job_pmi_readable(struct job *j, int rank);
void job_pmi_flush(struct job *j, int rank);
void job_report_readable(struct job *j);
void job_reap(struct job *j);
void job_signal(struct job *j, int sig);
void job_tick(struct job *j, uint64_t now);

/* The MPI process of a rank, which may be a child of the started one, by its own report. */
pid_t job_rank_pid(const struct job *j, int rank);
/* Whether the process is this rank's, or carries the name of the job. */
int job_owns(const struct job *j, int rank, pid_t pid);

/* --- ways to the end --- */
void job_say(struct job *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The first call counts: status of the cause, and the first signal to the ranks. */
void job_end(struct job *j, int status, int sig, int grace_ms);
void job_kill(struct job *j);
void job_send(struct job *j, int sig); /* to the groups of all live ranks */

#endif
