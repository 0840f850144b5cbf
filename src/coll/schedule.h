/* schedule.h - a collective as a list of steps; private to coll/.
 *
 *   build:   sched_send / recv / copy / reduce ... sched_fence ...   (nothing moves yet)
 *   run:     the steps up to a fence are issued; when all of them are done, those after it
 *
 * Copies and reductions are executed when they are reached, so steps that need received data stand
 * after a fence. Between two processes, all messages of a schedule have one tag. So both sides must
 * list their sends and receives in the same order. Builders return nothing: the first failure goes
 * to s->error. If amounts do not match (different counts on different processes), the process that
 * notices it fails its schedule. The schedule runs to its end, since others wait for its messages.
 * These are empty from then on, so that all processes that depend on the data get the error. A
 * process without memory for a buffer does the same from its first step on. What steps take is
 * spare (reserve.c, P2P_SPARES). When that is used up, too, the process ends the job
 * (sched_cannot()). */
#ifndef COLL_SCHEDULE_H
#define COLL_SCHEDULE_H

#include "base/list.h"
#include "coll/coll.h"
#include "dt/dt.h"
#include "obj/request.h"

enum step_kind { STEP_SEND, STEP_RECV, STEP_COPY, STEP_REDUCE, STEP_FENCE, STEP_CALL };

struct sched;
struct step {
    enum step_kind kind;
    int peer;            /* rank in comm's peer group */
    int tag;
    struct comm *comm;
    const void *from;
    void *to;
    MPI_Aint n, n2;      /* counts of from and to */
    struct dt_type *type, *type2;
    struct dt_op *op;
    void (*call)(void *arg);
    struct request *req; /* while under way */
};

enum { SCHED_STEPS = 16 }; /* stored in the object */

struct sched {
    struct request r;
    struct coll_args args;
    struct list link;    /* on coll->active while a hook drives it */
    struct sched *next_free;
    struct step *steps;
    unsigned n, room;    /* steps listed; places */
    unsigned at;         /* next step to issue */
    unsigned done;       /* steps before it are complete */
    int running;
    struct comm *comm;   /* where steps go: the communicator, or its local one */
    int tag;             /* of steps on comm */
    int tags[2];         /* of args.comm and of its local communicator */
    uint64_t ahead;      /* messages that have left and are not listed yet (ahead.c) */
    int error;
    int doomed;          /* a peer failed: give up */
    int poor;            /* no memory for its buffers: it sends and receives without data */
    int late;            /* some steps had no request (coll_room.lacking), and get one later */
    int stream;          /* enum p2p_flags of its messages: where they go, whether the call waits */
    int all_or_none;     /* give up as soon as any process has failed */
    int all_members;     /* ... as soon as a member of the communicator is */
    struct sched_mem *mem;
    int holds;           /* it holds references to types and op */
    void *owned[2];      /* freed with it (coll_request_own()); NULL: nothing */
    struct step small[SCHED_STEPS];
};

/* life */
/* NULL: no memory, and no other process waits. */
struct sched *sched_make(const struct coll_args *a);
/* The same of a call with that tag, whose messages `ahead` have left (coll_ahead()). */
struct sched *sched_make_behind(const struct coll_args *a, int tag, uint64_t ahead);
/* One that is started later: no process waits for it yet. NULL: no memory. */
struct sched *sched_idle(const struct coll_args *a);
/* Messages between some members of c, separated by a negative tag; they use no sequence number of
 * c. The failure of any member ends them, as in an operation of all. */
struct sched *sched_aside(struct comm *c, int tag);
void sched_reset(struct sched *s);
void sched_destroy(struct sched *s);
void sched_begin(struct sched *s);   /* driven by the hook from now on */
void sched_persist(struct sched *s); /* the request starts it again and again */
int sched_run(struct sched *s);      /* drive it here until it is done: MPI error code */
/* The same. beside(arg) is called while messages are waited for. 1: it has ended some. */
int sched_run_beside(struct sched *s, int (*beside)(void *arg), void *arg);
/* For a call that does something else before sched_run(): issues the steps that are listed, up to a
 * fence, whether or not those before them are done. */
void sched_issue(struct sched *s);
/* A receive from peer that was issued ends: no message will come. */
void sched_unexpect(struct sched *s, int peer);

/* What a wait of a schedule is for, as coll_awaits(). 0: it is none. */
int sched_awaits(int (*cond)(void *), void *arg, void (*each)(int world, void *to), void *to);

/* mismatch.c */
int sched_mismatch(size_t got, size_t want); /* the error, in bytes */
const char *coll_hint(void); /* what finds the calls that differ; "" when it is on */

/* reserve.c */
struct sched_mem {
    struct sched_mem *next;
    size_t size;
    char data[] __attribute__((aligned(16)));
};
struct sched *sched_blank(void);                /* NULL: no memory */
struct sched_mem *sched_mem_take(size_t bytes); /* ... */
void sched_mem_keep(struct sched_mem *m);
int sched_longer(struct sched *s); /* a list of steps at least twice as long; 0: no memory */
void sched_short_again(struct sched *s); /* it goes to the pool */

/* building */
void sched_send(struct sched *s, const void *buf, MPI_Aint n, struct dt_type *t, int peer);
void sched_recv(struct sched *s, void *buf, MPI_Aint n, struct dt_type *t, int peer);
void sched_copy(struct sched *s, const void *from, MPI_Aint n, struct dt_type *t, void *to,
                MPI_Aint n2, struct dt_type *t2);
void sched_move(struct sched *s, const void *from, void *to, size_t bytes);
/* inout = in op inout */
void sched_reduce(struct sched *s, struct dt_op *op, const void *in, void *inout, MPI_Aint n,
                  struct dt_type *t);
void sched_fence(struct sched *s);
void sched_call(struct sched *s, void (*call)(void *arg), void *arg);
/* Memory that lives as long as the schedule. NULL: there is none, no other process waits, and the
 * schedule does not run. */
void *sched_bytes(struct sched *s, size_t bytes);
/* The same for what only steps use. Never NULL: without memory the schedule is poor, and no step
 * uses the address. */
void *sched_room(struct sched *s, size_t bytes);
/* ... for n instances of t: returns the address that the buffer of (n, t) would have. */
void *sched_temp(struct sched *s, MPI_Aint n, struct dt_type *t);
/* Steps listed from now on go to the local group of an intercommunicator, or back to the
 * communicator. */
static inline void sched_local(struct sched *s)
{
    s->comm = s->args.comm->local;
    s->tag = s->tags[1];
}
static inline void sched_global(struct sched *s)
{
    s->comm = s->args.comm;
    s->tag = s->tags[0];
}

/* Whether less than the expected amount is an error. Arrays of counts are often upper bounds:
 * MPI-3.1 requires equal amounts there, too, but a shorter message does no harm. In other calls it
 * means data that is missing, and may be passed on or reduced. */
int sched_exact(enum coll_call call);
void sched_fail(struct sched *s, int err);
void sched_doom_by(struct sched *s, int err); /* a step cannot be listed, sent or received */
int sched_no_memory(void);                    /* the error */
void sched_make_poor(struct sched *s);        /* this process has no memory for its part */
/* This process has no memory to take part in a call of c: it ends the job. It returns if no other
 * process takes part. */
void sched_cannot(const struct comm *c) __attribute__((cold));

#endif
