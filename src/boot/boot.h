/* boot.h - job services: rank and size, a small key-value store, a barrier, abort.
 *
 *   mpiexec (ours), Hydra, srun --mpi=pmi2             PMI-1 lines over the descriptor PMI_FD
 *   Open MPI's mpirun, prterun, srun --mpi=pmix        PMIx through libpmix
 *   none                                               singleton: rank 0 of 1
 *
 * The simulator installs its own boot_ops.  Most calls come during start and end.  No room stores
 * large values: am/ publishes one address per process and reads those of peers it talks to.
 * Start at boot_init() in boot.c.
 *
 * Node map: which world rank is on which node, in O(1) memory if ranks are laid out in blocks or
 * round robin.  NOLOCAL and NUM_CLIQUES are applied here, so that no other room depends on them:
 *   node  what rma, p2p and coll call near (boot_same_node, boot_local_*): a host, or a pretended
 *         part of it
 *   host  the machine itself, whatever is pretended (boot_host_*): rings, wake-ups and page sharing
 *         work there */
#ifndef BOOT_BOOT_H
#define BOOT_BOOT_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of one value, before the wire's own encoding, for callers and for boot_ops.  Longer values
 * travel in pieces (boot.c). */
enum { BOOT_VALUE_MAX = 4096, BOOT_PIECE_MAX = 384 };

struct boot_meeting;
struct boot_program;
struct family_meet;

struct boot_ops { /* all return 0 or -errno */
    const char *name; /* "pmi1", "pmix", "singleton", "sim" */
    int (*init)(int *rank, int *size, int *appnum);
    int (*put)(const char *key, const void *value, size_t len); /* len <= BOOT_PIECE_MAX */
    int (*get)(const char *key, void *value, size_t *len); /* len in: room, out: length; -ENOENT */
    int (*barrier)(void);                                  /* also publishes what was put */
    /* "(vector,(first,nodes,per node),..)" or -ENOENT */
    int (*node_map)(char *text, size_t len);
    int (*job_id)(char *text, size_t len);                 /* see boot_job_id */
    void (*abort)(int code, const char *why);              /* does not return */
    int (*finalize)(void);
    /* may be NULL: then barrier() does it all */
    int (*barrier_begin)(int *fd);
    int (*barrier_test)(void);                             /* 1, 0, -errno */
    /* where node_map is NULL: a number for each rank's host */
    int (*node_numbers)(int *node);
    /* may be NULL: from now on the launcher's reports of deaths go to boot_fail_take(); rank, size
     * and map are known */
    void (*hear_deaths)(void);
    /* 1: processes on several hosts watch each other (below) */
    int watched;
    /* NULL: no processes of other jobs are met (boot_meet_begin); text: lines of the wire */
    int (*meet_begin)(struct boot_meeting *m, const char *text, int *fd);
    int (*meet_test)(struct boot_meeting *m);
    int (*meet_leave)(struct boot_meeting *m);
    /* a request with the answer cmd=`answer`, whose value is copied (NULL: not needed) */
    int (*service)(const char *text, const char *answer, char *value, size_t room);
    /* NULL: it starts no programs for a job.  What those that spawned this job gave; -ENOENT: no
     * process did; -ENOTSUP: it starts none */
    int (*spawned)(char *text, size_t room);
    /* start a job that gets `gives`, tested by meet_test */
    int (*spawn_begin)(struct boot_meeting *m, const struct boot_program *list, int n,
                       const char *gives, int *fd);
    /* 1: it mixes up requests of two processes, so only one may ask at a time */
    int spawns_in_turn;
    /* may be NULL: 1: the job that the meeting of this number has started is over; *fd becomes
     * readable when it is. -1: no descriptor.  Until spawn_forget */
    int (*spawn_over)(unsigned number, int *fd);
    void (*spawn_forget)(unsigned number);
    /* may be NULL: hear_deaths reports the ends of other jobs, too, by name.  The process of that
     * number is of this job, whose first one has the number `first` */
    int (*job_met)(const char *job, int first, int number);
};

/* Connect to the launcher; fills rank, size, node map.  MPI_Init calls it first after var_init. 0
 * or -errno; the cause has then been printed, in one line.  Until proc->phase is PROC_INIT no wait
 * for an answer is longer than MPIR_CVAR_BOOT_TIMEOUT. */
int boot_init(const struct boot_ops *forced /* NULL: find out */);
int boot_finalize(void);

/* Processes have one number among all that one mpiexec has started (doc/design/dynamic.md). The job
 * of this process has those from boot_first() on; in a job that was not spawned that is 0, and the
 * numbers are the ranks in MPI_COMM_WORLD. */
int boot_rank(void);
int boot_size(void);     /* processes of this job */
int boot_first(void);
int boot_universe(void); /* numbers are below this one */
int boot_expected(void); /* MPI_UNIVERSE_SIZE: so many processes may be worth starting */
int boot_is_own(int rank); /* of this job? */
int boot_appnum(void); /* index of the MPMD block, -1 unknown */
/* Unique text for the job, equal on all its processes, different between jobs on a host. */
const char *boot_job_id(void);

/* Keys have parts, separated by dots.  The first part that is a number is the rank of the process
 * that puts the key: some launchers look for a value only at a process that the caller names. */
int boot_put(const char *key, const void *value, size_t len);
/* Value that any process put under key before the last barrier. -ENOENT if none.  Once MPI runs:
 * -EINPROGRESS if it has not come yet, ask again; -ETIMEDOUT if the launcher has not brought it
 * within MPIR_CVAR_PEER_TIMEOUT. */
int boot_get(const char *key, void *value, size_t *len);
/* Another process has exchanged names of hosts (MPIR_CVAR_HOST_MAP), and this one has not.  Then
 * keys are missing. */
int boot_host_exchanged_elsewhere(void);
/* Keys that begin so are one space for all jobs of one mpiexec. */
#define BOOT_ALL "all."
/* All processes.  -ETIMEDOUT (during MPI_Init) when some did not come; printed as in boot_init. */
int boot_barrier(void);
/* The same for a process that must serve others meanwhile: begin it once, then test until the
 * answer is not 0. 1: all processes that live have come; -errno. *fd becomes readable when there is
 * news; -1: there is no descriptor to sleep on. */
int boot_barrier_begin(int *fd);
int boot_barrier_test(void);

/* All processes, waiting at most `ns`. -ETIMEDOUT: the barrier stays begun, and no other may
 * follow. */
int boot_barrier_for(uint64_t ns);

/* End the whole job with exit status `code`; `why` is one line for the user.  Does not return. */
void boot_abort(int code, const char *why) __attribute__((cold, noreturn));
/* The same for the job of this process only, where the launcher can go on with the others. */
void boot_abort_own(int code, const char *why) __attribute__((cold, noreturn));
/* fn is called by both first, once; perhaps without proc->lock. NULL: none. */
void boot_on_abort(void (*fn)(void));

/* --- node map ---------------------------------------------------------------
 * Nodes are numbered 0..boot_nodes()-1; local indexes follow world rank order. */
int boot_nodes(void);
int boot_node_of(int rank);
int boot_same_node(int rank);           /* with this process */
int boot_local_size(void);              /* processes on this node */
int boot_local_index(int rank);         /* of a rank on this node; -1 if elsewhere */
int boot_local_rank(int index);         /* world rank of a local index */
/* The same for the host, which ignores pretended nodes.  Host indexes follow world rank order. */
int boot_host_processes(void);          /* processes of the job on this host */
int boot_host_index(int rank);          /* of a rank on this host; -1 if elsewhere */
int boot_host_rank(int index);          /* world rank of a host index */

/* What decides how processes reach each other's memory and sockets: the kernel and these namespaces
 * (0: the kernel does not report one).  Kernel and network must be the same. */
struct boot_host {
    uint64_t kernel, net, pid, user;
};
int boot_host_here(struct boot_host *h); /* 0; -EMFILE, -ENFILE: no descriptor to ask with */
/* What they would need in common to share a host and do not have, for a message; NULL: nothing. */
const char *boot_host_differs(const struct boot_host *a, const struct boot_host *b);

/* --- death ------------------------------------------------------------------
 * 1 if `rank` has failed, for ever.  Either the launcher reported it, or the watch found it, or a
 * transport lost it.  The launcher's report costs a look at one byte of a page that our mpiexec
 * shares (only with -disable-auto-cleanup, else the job ends). */
int boot_failed(int rank);
/* 1 if the launcher has reported that the process has ended: it does nothing any more. */
int boot_ended(int rank);
/* Number of failed ranks so far: a cheap test before the caller looks at each. */
int boot_failed_count(void);
/* ... of this job; looks at each, if there are any. */
int boot_failed_own(void);
/* How its failure is known, for messages: "its process on h2 has ended".  Valid until
 * boot_finalize(). */
enum { BOOT_WHY_MAX = 112 };
const char *boot_failed_why(int rank);
/* The process whose failure became known last; -1: none. */
int boot_failed_last(void);
/* From here on `rank` has failed for this process. */
void boot_fail_now(int rank, const char *why);
/* Whether the launcher's barrier counts failed processes as arrived. */
int boot_barrier_living(void);

/* --- processes of other jobs ---------------------------------------------------------
 * All under the same mpiexec, or of jobs that were spawned from one.  Two processes meet at a port:
 * one accepts, the other connects, and each gets what the other brought.  The port is held by our
 * mpiexec; under other launchers by the process that has opened it. */
enum { BOOT_PORT_MAX = 256, BOOT_BROUGHT_MAX = 2048,
       BOOT_BROUGHT_WIRE = 512 /* by our mpiexec, in one line */ };
struct boot_meeting { /* the caller's, from begin until test returned nonzero */
    struct boot_meeting *next;
    unsigned number;
    int done, rc; /* rc: -errno of the launcher */
    int (*judge)(struct boot_meeting *m, void *arg);
    void *arg;
    struct family_meet *meeting; /* of boot/ */
    int turn;     /* of boot/: other processes wait until this request is answered */
    size_t len;   /* in brought */
    unsigned char brought[BOOT_BROUGHT_MAX];
};
struct boot_program { /* one block of MPI_Comm_spawn_multiple */
    const char *command;
    char *const *argv; /* without the command, or NULL */
    int n;
    const char *wdir, *path, *host; /* or NULL */
    const char *map_by; /* PMIx's words for where processes go, or NULL */
    const char *errhandler; /* MPIR_CVAR_INITIAL_ERRHANDLER of its processes, or NULL */
};
/* 0: the launcher cannot, and the calls below return -ENOTSUP.  BOOT_MEETS_DIRECT: there are no
 * keys for all jobs (BOOT_ALL), and no names of ports. */
enum { BOOT_MEETS = 1, BOOT_MEETS_DIRECT };
int boot_meets(void);
/* 1: processes of other jobs are reached by the network, which each of these jobs has open; 0: they
 * are on this host. */
int boot_far(void);
/* A process of another job is on this host. */
void boot_near_take(int rank);
/* 1: on this host, of whatever job; as far as is known. */
int boot_is_near(int rank);
/* What processes of other jobs bring of theirs, where the launcher reports deaths in jobs by their
 * names: bytes of this one's, 0: nothing; 0, -ENOMEM, -EPROTO. */
enum { BOOT_JOB_MAX = 4 + 256 };
size_t boot_job_card(void *card, size_t room);
int boot_job_learn(int rank, const void *card, size_t len);
/* A process of another job has called MPI_Finalize: it answers nothing more, and cannot fail. */
void boot_leaves(int rank);
int boot_has_left(int rank);
/* fn is called by boot_leaves(), in whatever call of another room: it must not send. */
void boot_on_leave(void (*fn)(void));
/* The port of the processes that spawned this job; NULL: none did. */
const char *boot_parent_port(void);
/* A new port of this process; text of at most BOOT_PORT_MAX bytes. */
int boot_port_open(char *port);
int boot_port_close(const char *port); /* -ENOENT: there is none */
/* Begin, then test until the answer is not 0: 1 or -errno.  *fd becomes readable when there is
 * news.  -ENOENT: there is no such port; -EXDEV: it is of another mpiexec; -ECHILD: the processes
 * that were spawned ended before they came, or have not come within MPIR_CVAR_BOOT_TIMEOUT; -ESRCH:
 * a launcher that has no ports says that they have ended. */
int boot_meet_begin(struct boot_meeting *m, int accepts, const char *port, const void *bring,
                    size_t len, int *fd);
int boot_meet_test(struct boot_meeting *m);
/* Between begin and the first test: fn looks at what was brought, and its -errno is the answer.
 * Where processes meet directly, the other one then gets -ECONNREFUSED, and fn is called for each
 * that comes; mpiexec has paired both by then. */
void boot_meet_judge(struct boot_meeting *m, int (*fn)(struct boot_meeting *m, void *arg),
                     void *arg);
/* Give it up: the answer comes soon, -ECANCELED unless the two have met before. 0: go on with test;
 * -errno. */
int boot_meet_leave(struct boot_meeting *m);
/* fn is called when the answer to a meeting was read by another call than its test: what was to
 * make its descriptor readable is gone.  NULL: none. */
void boot_on_met(void (*fn)(void));
/* Start a job.  What is brought is the port at which it will connect.  -ENOENT, -EACCES...: the
 * program cannot be run; -ENOSPC: no place for so many processes; -E2BIG, -EINVAL: the launcher
 * does not carry such words; -EAGAIN: another process asks, call it again when *fd is readable (-1:
 * soon). */
int boot_spawn_begin(struct boot_meeting *m, const struct boot_program *list, int n, int *fd);
/* Names of ports.  -EEXIST, -ENOENT. */
int boot_name_publish(const char *name, const char *port);
int boot_name_unpublish(const char *name);
int boot_name_lookup(const char *name, char *port);

/* --- watch ------------------------------------------------------------------
 * Which processes of other hosts are alive, where the launcher does not report it.  Only in jobs
 * over several hosts, under launchers other than our mpiexec, with MPIR_CVAR_PEER_TIMEOUT > 0; else
 * every call does nothing.  Each process has a listening socket and a thread that sleeps. 0 or
 * -errno (no port, no address).  others: for processes of other jobs, also if the own job is on one
 * host. */
int boot_detector_start(int others);
void boot_detector_stop(void);
/* What others need to ask about this process, to be published; its bytes, 0: nothing. */
enum { BOOT_CARD_MAX = 192 };
size_t boot_detector_card(void *buf, size_t room);
/* How long to wait before the same process is asked about again (ns); 0: there is no watch. */
uint64_t boot_detector_turn(void);
/* Ask whether `rank`, which published that card, is alive.  Returns at once.  A failure shows in
 * boot_failed_count() later: soon if the process has ended, after MPIR_CVAR_PEER_TIMEOUT if its
 * host is silent.  At most 32 questions are open at a time.  More are dropped, so ask again. */
void boot_detector_ask(int rank, const void *card, size_t len);
/* Ask it as a proof only (boot_detector_proven): no wait depends on it.  If others have answered
 * and it has not, nothing follows from that. */
void boot_detector_try(int rank, const void *card, size_t len);
/* A message of `rank` has come over a network.  If there is a question about it, it was alive then.
 * Returns at once. */
void boot_detector_hear(int rank);
/* Wait at most `ns` until a process of another host has answered. 1: one has, or there is no
 * watch. */
int boot_detector_wait(uint64_t ns);
/* 1: neither an answer nor a message has come from any other host. */
int boot_detector_deaf(void);
/* A process of this host that another host reports as failed, which should be asked; reported once;
 * -1: none. */
int boot_detector_doubt(void);
/* 0: no process of another host has answered yet. Until one has, a failure there looks the same as
 * a network that does not work. */
int boot_detector_proven(void);

/* What the program does with each signal.  Note it before loading a library that may take some
 * signals for itself, and restore it afterwards: only what the library changed. */
struct boot_signals {
    struct sigaction act[NSIG]; /* sa_flags -1: not available */
};
void boot_signals_are(struct boot_signals *had);
void boot_signals_back(const struct boot_signals *had);

/* A room may know why a load or store faults there: fn writes a line of the crash report and
 * returns its length; 0: it does not know. It runs in the signal's handler. NULL: none. */
typedef size_t boot_fault_fn(const void *at, char *text, size_t len);
void boot_fault_words(boot_fault_fn *fn);

#endif
