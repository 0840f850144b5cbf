/* doctor.h - what the doctor and the contract test of tp/ share: a transport opened in forked
 * processes, and the bodies that they run. */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include "doctor/forked.h"
#include "tp/tp.h"

struct row {
    const struct tp_ops *ops;
    int few, many;   /* processes of the tests for two and for a crowd */
    const char *set; /* a variable, or NULL */
    const char *env; /* a variable of the network's library, or NULL */
    int waits;       /* what stays where it is has always left only later; else it may go at once,
                      * and whether it stays is tested elsewhere */
    unsigned flags;  /* what it has to offer, no less (a test of what is not there passes) and no
                      * more */
    unsigned atomic_sizes;
    int keys_end; /* a key is refused when its memory has been given back */
};

/* One open transport in one process of a test. */
struct end {
    const struct row *row;
    const struct tp_ops *ops;
    struct tp *tp;
    struct tp_caps caps;
    int rank, size;
};
typedef int end_recv_fn(void *up, unsigned peer, enum tp_class cls, const void *msg, size_t len);

/* Open the transport of the row that runs and publish its address; a boot_barrier() must follow. */
void end_open(struct end *e, end_recv_fn *recv, void *up);
extern void (*end_noted)(void *up, uint32_t note); /* tp_env.noted of the next end_open() */
void end_connect(struct end *e, int peer);
void end_poll(struct end *e);
/* All processes come here; one that waits still serves the others, as in MPI_Finalize. */
void end_barrier(struct end *e);
/* The last barrier. Behind it no process turns a transport: a peer may have closed its own
 * (tp.h). */
void end_leave(struct end *e);
void end_close(struct end *e);

const struct row *row_now(void); /* in a process of it */
/* Run body in so many processes with this row. */
int row_run(const struct row *r, int processes, void (*body)(void));
/* The same, as job_run_quiet(). */
int row_look(const struct row *r, int processes, void (*body)(void), unsigned quiet,
             struct job_end *end);

/* messages.c */
void body_offered(void);
void body_entries(void);
void body_crowd(void);
void body_alone(void);
void body_exhaust(void);
void body_refused_sleeper(void);
void body_hold_back(void);
void body_done_once(void);
void body_kept(void);
void body_arm_race(void);
void body_asleep_behind(void);
void body_late_answer(void);
void body_flood(void);

/* onesided.c */
void body_put_get(void);
void body_many(void);
void body_stopped(void);
void body_woken(void);

/* atomics.c; the last: onesided.c */
void body_atomics(void);
void body_counters(void);
void body_mixed(void);
void body_stopped_atomics(void);

/* keys.c */
void body_stale(void);

/* notes.c */
void body_noted(void);

#endif
