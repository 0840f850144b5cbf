/* sim.h - many ranks of this library inside one thread of one process, deterministically. Start
 * with sim_run() and a scenario of scripted.c.
 *
 *      sim_run(knobs, program)                     one fiber per (rank, thread)
 *        rank 0: struct proc, rooms, MPI calls  \
 *        rank 1: struct proc, rooms, MPI calls   >-- tp_sim: every delivery, delay, refusal by seed
 *        ...                                    /
 *
 * The scheduler picks the next fiber by the seed each time one yields (base/sched.h). Time is
 * virtual: it moves when no fiber can. The same knobs give the same run: sim_result.hash is over
 * every event. If every fiber waits, no message is under way and time cannot help, that is a
 * deadlock: each fiber's wait and call are printed, and the program ends with status 2. */
#ifndef SIM_SIM_H
#define SIM_SIM_H

/* The signatures are given from outside; not every function needs all of its own. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include <stddef.h>
#include <stdint.h>

struct sim_knobs {
    uint64_t seed;
    int ranks;          /* 1..SIM_RANKS */
    int threads;        /* per rank, >= 1; above 1: MPI_THREAD_MULTIPLE */
    int nodes;          /* ranks are dealt in blocks to this many nodes; = ranks: none is near */
    int ordered;        /* transport keeps the order of one sender's messages of a class */
    int max_delay;      /* longest delivery delay, in scheduler steps */
    int again_percent;  /* chance that a send is refused for the moment */
    int refuse_percent; /* chance that delivery pauses for a while (bursts of TP_AGAIN towards
                         * senders) */
    int inbox;          /* requests under way to one rank before senders get TP_AGAIN; 0: 64 */
    int replies;        /* replies a rank may have outstanding; 0: 64 */
    int am_max;         /* bytes of one message; 0: 4096 */
    int am_zcopy_min;   /* bytes from which the last piece of a message is read late; 0: never */
    int gather;         /* bytes of small operations that are declared worth waiting for; 0: none */
    /* a death is reported up to so many steps after the connections have broken */
    int late_news;
    int mortal;         /* ranks may die: what they leave behind at the others is no leak */
    int quiet_rank;     /* this rank polls rarely (computes for long); -1: none */
    int preempt_percent; /* chance that others run at a sched_point() */
    int native;         /* enum sim_native: what the transport does without the target's help */
    int native_ordered; /* ... in the order of the calls, and before messages sent later
                         * (TP_PUT_THEN_AM) */
    int native_reg;     /* ... from and to registered memory only (TP_REG_LOCAL) */
    int native_locked;  /* ... bytes of a rank's buffers that can be registered at once; 0: all */
    int native_coherent; /* ... atomics agree with the processor's (TP_CPU_COHERENT); else with each
                          * other only */
    int native_atomic_pays; /* ... and are declared faster than messages */
    int native_notes;   /* ... puts carry notes (TP_PUT_NOTE) */
    int native_lone;    /* ... and that one alone pays always */
    int native_tx;      /* ... transmit contexts that a rank may have; 0: the transport has none */
    int native_min;     /* bytes from which native put and get are declared to pay; 0: never */
    int native_fails;   /* chance that a get fails, though its target lives */
    int native_put_fails; /* ... that a put does */
    int native_tidy;    /* memory stays registered until no put of a living rank can come */
    int latency;        /* each message takes exactly so many steps; 0: max_delay holds */
    int second;         /* first rank of a second job, which has all from there on; 0: one job.
                         * Ranks of different jobs meet at ports, and talk by tp/shm/guest.c */
    int far;            /* ... or by the simulated network, enum sim_far */
    int world, me;      /* one real rank, number `me` of so many: the others are virtual
                         * (virtual.h). 0: all are real */
    long max_steps;     /* end with status 3 after so many switches; 0: 50 million */
    int verbose;        /* print every event */
    const char *aborts; /* the job is to end by boot_abort() with such a text; NULL: never. Knob
                         * mortal must be set. */
    void (*at_abort)(void); /* the scenario looks then, as the rank that ends it; may be NULL */
};

enum sim_native {
    SIM_NATIVE_PUT = 1, SIM_NATIVE_GET = 2, SIM_NATIVE_ATOMIC = 4, SIM_NATIVE_ALL = 7
};

/* What a process has sent and another one has not read is gone when its connections end; or it
 * stays there, and the end is seen behind it. */
enum sim_far { SIM_FAR = 1, SIM_FAR_KEEPS };

struct sim_result {
    uint64_t hash;      /* over all events */
    long steps;         /* fiber switches */
    long messages;      /* active messages sent, all ranks */
    long bytes;
    long kills;         /* by sim_die_at() */
};

enum { SIM_RANKS = 128, SIM_THREADS = 8 };

/* Run program(arg) on every rank; MPI is initialised before and finalized after.  Threads above 0
 * run thread_program(thread, arg) meanwhile (NULL: none).  Returns when all have ended. */
void sim_run(const struct sim_knobs *k, void (*program)(void *arg),
             void (*thread_program)(int thread, void *arg), void *arg, struct sim_result *out);

/* Inside a program. */
int sim_rank(void);
int sim_thread(void);
uint64_t sim_random(void);            /* from the seed */
uint64_t sim_seed(void);              /* the seed itself */
/* this rank is no more (mpiexec -disable-auto-cleanup) */
void sim_die(void) __attribute__((noreturn));
/* ... dies at its sched_point() number `points` from now on, in the middle of a step; 0: at none */
void sim_die_at(int points);
/* sends to it fail from now on, though its death has not been reported yet */
void sim_cut(int rank);
/* the caller's requests to it, which lives, fail with err, -errno, until that is 0 */
void sim_unreachable(int rank, int err);
int sim_gone(int rank);               /* dead or cut off: errors that name it are true */
/* What rank `from` sends to rank `to` from now on, messages of an AM type or native operations
 * (SIM_NATIVE_OPS), stays under way; type -1: nothing more does.  Others pass it where the
 * transport keeps no order (knobs.ordered 0). */
enum { SIM_NATIVE_OPS = 256 };
void sim_hold(int type, int from, int to);
int sim_held(int type, int to);       /* so many of them stay */
void sim_let_go(int type, int to);    /* they arrive now */
void sim_compute(int steps);          /* stay out of MPI for this many scheduler steps */
long sim_sent(int rank, int type); /* messages of one AM type that a rank has sent; type -1: all */
long sim_received(int rank, int type); /* ... that it has handled */
/* Puts of its transmit contexts that were taken, and flushes of them that ended with 0. */
/* The connections of rank's contexts to peer break, and no other. What is under way is lost. */
void sim_tx_break(int rank, int peer);
int sim_tx_contexts(int rank); /* that are open */
long sim_tx_puts(int rank);
long sim_tx_flushes(int rank);
/* What a rank has had of the launcher so far: values put and read, barriers, bytes of the
 * values. */
struct sim_launcher {
    long puts, gets, barriers, bytes;
};
struct sim_launcher sim_launched(int rank);
long sim_time(void);                  /* steps so far, in which messages travel */
void sim_event(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A check failed: print the text and the last events, end with status 1. */
void sim_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
#define SIM_CHECK(cond) ((cond) ? (void)0 : sim_fail("%s:%d: %s", __FILE__, __LINE__, #cond))

/* Default knobs: 2 ranks, far from each other, ordered, seed as given. */
struct sim_knobs sim_defaults(uint64_t seed);
/* A row of knobs drawn from the seed alone: delays, refusals, order, nodes. */
struct sim_knobs sim_draw(uint64_t seed, int ranks);

#endif
