/* boot.h - job services: rank and size, a small key-value store, a barrier, abort.
 *
 *   mpiexec (ours), Hydra, srun --mpi=pmi2             PMI-1 lines over the descriptor PMI_FD
 *   Open MPI's mpirun, prterun, srun --mpi=pmix        PMIx through libpmix
 *   none                                               singleton: rank 0 of 1
 *
 * The simulator installs its own boot_ops. Used during start and end. No room stores large keys:
 * am/ publishes one address per process and reads those of peers it talks to.
 * Node map: which world rank is on which node, O(1) memory if ranks are laid out in blocks or round
 * robin. NOLOCAL and NUM_CLIQUES are applied here, so no other room knows of them:
 *   node  what rma, p2p and coll call near (boot_same_node, boot_local_*): a host, or a pretended
 *         part of it
 *   host  the machine itself, whatever is pretended (boot_host_*): rings, wake-ups and page sharing
 *         work there */
#ifndef BOOT_BOOT_H
#define BOOT_BOOT_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of one value, before the wire's own encoding: as the rooms above see it, and as boot_ops
 * carry it.  Longer values travel in pieces (boot.c). */
enum { BOOT_VALUE_MAX = 4096, BOOT_PIECE_MAX = 384 };

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
    /* 1: processes on several hosts watch each other (below) */
    int watched;
};

/* Connect to the launcher; fills rank, size, node map.  The first thing MPI_Init does after
 * var_init. 0 or -errno; the cause has then been printed, in one line, with all that is known about
 * it. Until proc->phase is PROC_INIT no answer is awaited longer than MPIR_CVAR_BOOT_TIMEOUT. */
int boot_init(const struct boot_ops *forced /* NULL: find out */);
int boot_finalize(void);

int boot_rank(void);
int boot_size(void);
int boot_appnum(void); /* index of the MPMD block, -1 unknown */
/* Unique text for the job, equal on all its processes, different between jobs on a host. */
const char *boot_job_id(void);

/* The first part of a key (parts are parted by dots) that is a number is the rank of the process
 * that puts it: there are launchers that look for a value only where they are told to. */
int boot_put(const char *key, const void *value, size_t len);
/* Value put under key by anybody before the last barrier.  -ENOENT if none; once MPI runs
 * -EINPROGRESS: not yet, ask again, and -ETIMEDOUT: for longer than MPIR_CVAR_PEER_TIMEOUT the
 * launcher has not brought it. */
int boot_get(const char *key, void *value, size_t *len);
/* Another process has exchanged names of hosts (MPIR_CVAR_HOST_MAP), and this one has not: then
 * keys are missed. */
int boot_host_exchanged_elsewhere(void);
/* All processes.  -ETIMEDOUT (during MPI_Init) when some did not come; printed as in boot_init. */
int boot_barrier(void);
/* The same for whoever must serve others meanwhile: begin it once, then ask until the answer is not
 * 0. 1: all that live have come; -errno.  *fd becomes readable when there is news; -1: there is
 * none to sleep on. */
int boot_barrier_begin(int *fd);
int boot_barrier_test(void);

/* All processes, waiting no longer than that (ns).  -ETIMEDOUT, with which the barrier stays begun:
 * no other may follow. */
int boot_barrier_for(uint64_t ns);

/* End the whole job with exit status `code`; `why` is one line for the user.  Does not return. */
void boot_abort(int code, const char *why) __attribute__((cold, noreturn));

/* --- node map ---------------------------------------------------------------
 * Nodes are numbered 0..boot_nodes()-1; local indexes follow world rank order. */
int boot_nodes(void);
int boot_node_of(int rank);
int boot_same_node(int rank);           /* with this process */
int boot_local_size(void);              /* processes on this node */
int boot_local_index(int rank);         /* of a rank on this node; -1 if elsewhere */
int boot_local_rank(int index);         /* world rank of a local index */
/* The same for the host: pretended nodes ignored.  Host indexes follow world rank order. */
int boot_host_processes(void);          /* processes of the job on this host */
int boot_host_index(int rank);          /* of a rank on this host; -1 if elsewhere */
int boot_host_rank(int index);          /* world rank of a host index */

/* What processes must have in common to reach each other's memory and sockets: the kernel and these
 * namespaces (0: the kernel does not tell).  Containers share the first and not the others. */
struct boot_host {
    uint64_t kernel, net, pid, user;
};
int boot_host_here(struct boot_host *h); /* 0; -EMFILE, -ENFILE: no descriptor to ask with */
/* In what they differ, for a message; NULL: in nothing. */
const char *boot_host_differs(const struct boot_host *a, const struct boot_host *b);

/* --- death ------------------------------------------------------------------
 * 1 if `rank` is dead: the launcher said so (a look at one byte of a page shared with our mpiexec;
 * only with -disable-auto-cleanup, else the job ends), or it was found by the watch, or a transport
 * lost it. For ever. */
int boot_failed(int rank);
/* Number of dead ranks so far: cheap test before looking at each. */
int boot_failed_count(void);
/* How its death is known, for messages: "its process on h2 has ended".  Valid until
 * boot_finalize(). */
enum { BOOT_WHY_MAX = 112 };
const char *boot_failed_why(int rank);
/* The process whose death became known last; -1: none. */
int boot_failed_last(void);
/* From here on `rank` is dead for this process. */
void boot_fail_now(int rank, const char *why);
/* Whether the launcher's barrier counts the dead as arrived. */
int boot_barrier_living(void);

/* --- watch ------------------------------------------------------------------
 * Who is alive on other hosts, where no launcher tells.  Only in jobs over several hosts, under
 * launchers that are not our mpiexec, with MPIR_CVAR_PEER_TIMEOUT > 0; else every call does
 * nothing.  Each process has a listening socket and a thread that sleeps. 0 or -errno (no port, no
 * address). */
int boot_detector_start(void);
void boot_detector_stop(void);
/* What others need to ask for this process, to be published; its bytes, 0: nothing. */
enum { BOOT_CARD_MAX = 192 };
size_t boot_detector_card(void *buf, size_t room);
/* How long to wait before the same process is asked for again (ns); 0: nobody watches. */
uint64_t boot_detector_turn(void);
/* Ask whether `rank`, which published that card, lives.  Returns at once; a death shows in
 * boot_failed_count() some time later: soon where the process has ended, after
 * MPIR_CVAR_PEER_TIMEOUT where its host is silent.  At most 32 are asked at a time; what is too
 * much is forgotten, so ask again. */
void boot_detector_ask(int rank, const void *card, size_t len);
/* Ask it for the sake of a proof (boot_detector_proven), not of itself: nobody waits for it, and
 * where others have answered and it has not, nothing follows from that. */
void boot_detector_try(int rank, const void *card, size_t len);
/* A message of `rank` has come over a network: it lived when it was asked for, if it was.  Returns
 * at once. */
void boot_detector_hear(int rank);
/* Wait until a process of another host has answered, no longer than that (ns).  1: one has, or
 * nobody watches. */
int boot_detector_wait(uint64_t ns);
/* 1: nothing whatever, neither answer nor message, has come from another host. */
int boot_detector_deaf(void);
/* A process of this host of whose death there is a rumour, which should be asked; told once; -1:
 * none. */
int boot_detector_doubt(void);
/* 0: no process of another host has answered yet; until one has, no death there can be told from a
 * network that does not work. */
int boot_detector_proven(void);

/* What the program does with each signal, noted before a library is loaded that may take some for
 * itself, and given back after it: what others have changed, and nothing else. */
struct boot_signals {
    struct sigaction act[NSIG]; /* sa_flags -1: not to be had */
};
void boot_signals_are(struct boot_signals *had);
void boot_signals_back(const struct boot_signals *had);

#endif
