/* sim_types.h - private records of the simulator, shared by its scheduler, transport and job
 * services. */
#ifndef SIM_TYPES_H
#define SIM_TYPES_H

#include <limits.h>

#include "base/jobpage.h"
#include "base/list.h"
#include "base/proc.h"
#include "boot/boot_types.h"
#include "fiber.h"
#include "sim.h"
#include "tp/tp.h"

struct sim_fiber {
    struct fiber fiber;
    int rank, thread;
    int started;
    long asleep_until; /* step before which it is not run: sim_compute */
    const char *what;  /* for what it waits, NULL: runs */
    int peer;
    int idle;          /* consecutive yields in which it could do nothing */
    int id;            /* its address is the identity of the thread */
};

struct sim_msg { /* an active message under way */
    struct list link;
    int src;
    enum tp_class cls;
    long due;          /* step at which it may be delivered */
    uint64_t after;    /* native operations of src up to this one were called before it was sent */
    size_t len;
    struct sim_zcopy *kept; /* its last piece is yet where the program has it */
    unsigned char data[];
};

struct sim_zcopy { /* what the transport reads when it pleases (caps.am_zcopy_min) */
    struct list link; /* ranks[source].kept */
    struct sim_msg *m; /* NULL: read, and to be completed */
    const char *from;
    size_t at, len;   /* of m->data (bytes) */
    int err;
    struct tp_done *d;
};

struct sim_rank_state {
    struct proc *proc;
    struct list inbox[2];    /* by class, in order of delivery */
    int queued[2];
    long held_until;         /* deliveries of requests pause until this step */
    long sent[256];          /* by AM type */
    long sent_all;
    long received[256];      /* by AM type */
    long received_all;
    struct sim_kv *kv;       /* put and not yet published */
    int running_threads;     /* threads above 0 that have not ended */
    int at_point;            /* fibers preempted in the middle of a step */
    int dies_at;             /* it dies at that sched_point() from now on; 0: at none */
    struct list kept;        /* struct sim_zcopy of its messages */
    struct list nic;         /* native operations under way (tp_native.c) */
    struct list reports;     /* notes that have come with puts, and were not heard yet */
    int nic_ops;
    struct list txs;         /* its transmit contexts */
    long tx_puts, tx_flushes; /* taken; complete */
    int dead, ended, closed; /* without MPI_Finalize, with it; its transport is closed */
    int cut;                 /* its connections are broken (sim_cut) */
    int no_way, no_way_err;  /* a rank whose requests do not reach it, and -errno of them; 0: all
                              * do */
    char lost[SIM_RANKS];    /* knob far: these have closed, which was not reported here yet */
    int barrier_round;       /* of the job services' barrier it is in */
    struct sim_launcher launcher;
};

/* A rank that waits at a port: the launcher's part. */
enum { SIM_MEETS = 32 };
struct sim_meet {
    struct boot_meeting *m; /* NULL: the place is free */
    int rank, accepts;
    int answered, rc;
    char port[2 * BOOT_PORT_MAX + 1];
    char bring[2 * BOOT_BROUGHT_WIRE + 1], brought[2 * BOOT_BROUGHT_WIRE + 1];
};

struct sim_kv {
    struct sim_kv *next;
    int job; /* -1: of all */
    char key[64];
    size_t len;
    unsigned char value[512];
};

struct sim {
    struct sim_knobs k;
    void (*program)(void *arg);
    void (*thread_program)(int thread, void *arg);
    void *arg;
    struct fiber home;                     /* the caller of sim_run */
    struct sim_fiber fibers[SIM_RANKS * SIM_THREADS];
    int nfibers, live;
    struct sim_fiber *now;
    struct sim_rank_state ranks[SIM_RANKS];
    uint64_t rng;
    long step;
    long quiet;                            /* consecutive idle yields of any fiber */
    int times_idle;                        /* how often the checker was waited for in vain */
    int aborted;                           /* boot_abort(), by knobs.aborts */
    int hold, hold_from, hold_to;          /* sim_hold(); 0: nothing */
    int held;                              /* of in_flight, so many stay */
    int in_flight;
    struct sim_result result;
    struct sim_kv *published;
    struct list mems;                      /* registered memory of all ranks */
    uint64_t nic_serial;
    int barrier_here[2], barrier_round[2]; /* by job */
    struct sim_meet meet[SIM_MEETS];
    int port_closed;
    char history[256][160];                /* the last events */
    unsigned events;
    union { /* what mpiexec would send to all ranks: which have failed; last, for its length */
        struct job_page page;
        char bytes[sizeof(struct job_page) + SIM_RANKS];
    } job;
};

extern struct sim *the_sim;
/* without and with native operations; with transmit contexts, too; a network, which leads to other
 * jobs, too */
extern const struct tp_ops sim_tp_ops, sim_tp_native_ops, sim_tp_tx_ops, sim_tp_far_ops;
extern const struct boot_ops sim_boot_ops;

uint64_t sim_draw_bits(struct sim *s);
static inline int sim_chance(struct sim *s, int percent)
{
    return percent > 0 && (int)(sim_draw_bits(s) % 100) < percent;
}
void sim_end_rank(void) __attribute__((noreturn)); /* the job was aborted */
void sim_barrier_check(struct sim *s); /* some rank will never come to it */
void sim_zcopy_read(struct sim_msg *m, int err); /* now at the latest; err: it will not arrive */
/* Step at which what this rank sends arrives if it is not held, or that which never comes. */
static inline long sim_due(struct sim *s, int type, int to, long due)
{
    if (s->hold != type || s->hold_from != s->now->rank || s->hold_to != to)
        return due;
    s->held++;
    return LONG_MAX;
}
int sim_native_held(struct sim *s, int to,
                    int let_go); /* operations that are held; they are no more */
void sim_moved(struct sim *s); /* something happened: not a deadlock */
void sim_count_sent(int rank, int type, size_t len);
void sim_count_received(int rank, int type);
/* Memory of the simulator itself, which counts for no rank (memory.h); never NULL. */
void *sim_alloc(size_t len);
void sim_release(void *p);
extern void (*sim_memory_off)(int off);


/* tp_native.c */
struct tp;
int sim_native_reg(struct tp *t, void *base, size_t len, int space, int access,
                   struct tp_mem **mem);
int sim_native_pack(struct tp *t, struct tp_mem *mem, void *key, size_t *len);
void sim_native_dereg(struct tp *t, struct tp_mem *mem);
int sim_native_import(struct tp *t, unsigned peer, const void *key, size_t len,
                      struct tp_far **far);
void sim_native_drop(struct tp *t, struct tp_far *far);
int sim_native_put(struct tp *t, struct tp_far *far, uint64_t off, const void *src, size_t len,
                   struct tp_mem *smem, struct tp_done *d);
int sim_native_put_note(struct tp *t, struct tp_far *far, uint64_t off, const void *src, size_t len,
                        struct tp_mem *smem, uint32_t note, struct tp_done *d);
int sim_native_get(struct tp *t, struct tp_far *far, uint64_t off, void *dst, size_t len,
                   struct tp_mem *dmem, struct tp_done *d);
int sim_native_atomic(struct tp *t, struct tp_far *far, uint64_t off, const struct tp_atomic *a,
                      struct tp_done *d);
int sim_native_atomic_ok(struct tp *t, int op, int type, size_t n, int fetch);
int sim_native_flush(struct tp *t, unsigned peer, struct tp_done *d);
int sim_tx_open(struct tp *t, struct tp_tx **tx);
void sim_tx_close(struct tp_tx *tx);
int sim_tx_far(struct tp_tx *tx, struct tp_far *far, struct tp_far **mine);
void sim_tx_drop(struct tp_tx *tx, struct tp_far *mine);
int sim_tx_put(struct tp_tx *tx, struct tp_far *mine, uint64_t off, const void *src, size_t len);
int sim_tx_flush(struct tp_tx *tx, struct tp_far *mine);
void sim_native_caps(const struct sim *s, struct tp_caps *caps);
void sim_native_step(struct sim *s);                  /* what is due happens */
/* report one completion; 1 if there was one */
int sim_native_progress(struct sim *s, int rank, const struct tp_env *env);
int sim_native_before(const struct sim *s, int src, int dst, uint64_t serial);
/* blocks of memory that it has registered (count) */
unsigned sim_native_left(const struct sim *s, int rank);
void sim_native_close(struct sim *s, int rank);

#endif
