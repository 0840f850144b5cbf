/* watch.h - the one seam between what the library does and those that watch it
 * (doc/design/watch.md).
 *
 *   progress/, rma/, api/ --- an event ---> each watcher that has a function for it
 *
 * A room that watches fills in a struct watcher and subscribes with watch_add(). It is called under
 * proc->lock, in the thread that does what the event is about. proc->watched has a bit for each
 * kind of event that has a subscriber: without one, an event costs the test of that word. What
 * begins is told in the order of subscription, what ends in the reverse order. */
#ifndef WATCH_WATCH_H
#define WATCH_WATCH_H

#include "base/proc.h"
#include "watch/turn.h"
#include "watch/win_sync.h"

struct comm;
struct dt_type;
struct group;
struct io_file;
struct obj;
struct p2p_label;
struct p2p_leaves;
struct p2p_told;
struct p2p_took;
struct progress_seen;
struct progress_waiting;
struct request;
struct rma_args;
struct rma_win;
struct where_wait;

/* Bits of proc->watched. */
enum watch_events {
    WATCH_WAITS = 1,    /* wait_lasts, wait_over */
    WATCH_TURNS = 2,    /* wait_turns */
    WATCH_LASTING = 4,  /* wait_second */
    WATCH_STALLS = 8,   /* wait_stalls */
    WATCH_WINDOWS = 16, /* win_closes */
    WATCH_STATES = 32,  /* target_state */
    WATCH_COLLECTIVE = 64, /* begins, ended */
    WATCH_OBJECTS = 128, /* comm_made to file_freed */
    WATCH_ERRORS = 256, /* fails */
    WATCH_MESSAGES = 512, /* sending to waited */
    WATCH_SYNC = 1024,  /* sync_begins, sync_ended */
    WATCH_OPS = 2048,   /* op */
    WATCH_APART = 4096, /* ops_apart */
    WATCH_OWN_JOB = 8192, /* own_job */
    WATCH_NOTES = 16384, /* noting, note_lost, note_lags, noted */
    WATCH_MADE = 32768, /* made, gone */
    WATCH_TOLD = 65536, /* label, leaves, told */
    WATCH_CALLED = 131072, /* called */
    WATCH_BUFFERS = 262144, /* touched to op_runs */
    WATCH_MEMORY = 524288, /* memory, apart */
    WATCH_AWAITS = 1048576, /* awaits, awaited */
    WATCH_DEVICES = 2097152 /* devices: addresses may be of no memory here */
};
/* Functions of MPI that tell these leave their short way at its first test, that of the phase:
 * PROC_CHECKED. MPI_Init sets it when all rooms are open; a watcher of these subscribes before. */
#define WATCH_API                                                                                  \
    (WATCH_COLLECTIVE | WATCH_MESSAGES | WATCH_SYNC | WATCH_OPS | WATCH_CALLED |                  \
     WATCH_MEMORY | WATCH_AWAITS)

/* --- watchers --------------------------------------------------------------------------------- */

struct watch_buffer { /* count elements of t at buf; `parts` such: partitioned, else 0 */
    const void *buf;
    int64_t count;
    const struct dt_type *t;
    int writes, parts;
    const char *name; /* of the argument, in a report */
};

/* What a watcher takes; NULL: not that. The functions may send, and may not wait, unless their
 * comment permits it. */
struct watcher {
    /* --- waits: a wait whose condition did not hold at the first look (progress/progress.h) --- */
    /* When it has made many turns, or is about to give the core away; often. */
    void (*wait_lasts)(struct progress_seen *s);
    /* Its condition holds. Without a watcher that has this, a wait reads no clock. */
    void (*wait_over)(const struct progress_seen *s);
    /* At each look at the clock: after a sleep, or after some hundred turns; in fruitless
     * MPI_Tests, too. */
    void (*wait_turns)(const struct progress_waiting *w);
    /* It has lasted a second: fill in site, call and about, which mpiexec reads. Once, and again
     * where the record was that of another wait meanwhile; then site is there. of: the window of
     * the wait, or NULL. */
    void (*wait_second)(struct where_wait *w, const void *of);
    /* At most after each sleep or some hundred turns. lasts is 1 in waits that have lasted a second
     * and in MPI_Tests that have been fruitless for so long; 0 in others, once a second: what comes
     * may be from others than the awaited one. peer: that of progress_wait(). It may ask the
     * launcher, and may not wait for peers. */
    void (*wait_stalls)(int peer, int lasts);

    /* A call begins, in the thread that makes it, before it takes a lock. Not told: calls of the
     * inline path, those that any thread may make at any time, and all once there was a session. */
    void (*called)(const char *call);

    /* --- calls of all processes --- */
    /* One begins. Not MPI_SUCCESS: it must not run. ended() follows in any case; it gets the call's
     * result, and returns what the caller is to return. It may wait. */
    int (*begins)(struct watch_turn *t);
    int (*ended)(struct watch_turn *t, int err);
    /* 1: begins() of this blocking collective will not refuse it, and no process waits for what
     * begins() does. So the call may run first. */
    int (*may_follow)(const struct watch_turn *t);
    /* n has been made over c. With a call: the one that made it, which only members of n take part
     * in; else WATCH_CALLS. Not by MPI_Comm_idup: the calls on its communicator have no order with
     * those on c. */
    void (*comm_made)(struct comm *c, struct comm *n, enum watch_call call, const void *site);
    /* This process makes no more calls on it; the caller still has a reference. */
    void (*comm_freed)(struct comm *c, enum watch_call call, const void *site);
    /* The same of windows and files; freed: the communicator that they had. They may wait. */
    void (*win_made)(struct comm *c, struct rma_win *w, const void *site);
    void (*win_freed)(struct comm *c);
    void (*file_made)(struct comm *c, struct io_file *f);
    void (*file_freed)(struct comm *c);
    /* A group, datatype, operation, window or file has its handle. kind: enum obj_kind. It may be
     * one that the program never sees. */
    void (*made)(int kind, const struct obj *o);
    /* The program has freed it (an operation). */
    void (*gone)(int kind, const struct obj *o);
    /* A call that completes requests of c has failed: what it is to return. */
    int (*fails)(struct comm *c, int err);

    /* --- messages --- */
    /* One is about to leave for rank dest of c's peers; a persistent send was made, which does so
     * at each start. They may wait. */
    void (*sending)(struct comm *c, int dest);
    void (*send_prepared)(struct request *r, struct comm *c, int dest);
    /* A send of count of t is about to begin, or is being made: 1: with what is in out, leaves() is
     * to hear of it. */
    int (*label)(const struct dt_type *t, int64_t count, const void *site, struct p2p_label *out);
    /* The message of such a send is the next one for its process. AM_AGAIN: it has to wait. */
    int (*leaves)(const struct p2p_leaves *m);
    /* A receive that p2p_tell() named has its message, without an error. In handlers, too. */
    void (*told)(const struct p2p_told *m);
    /* A receive was matched, with or without an error: by which message; it is complete, from rank
     * source of c's peers. */
    void (*took)(struct comm *c, const struct p2p_took *took);
    void (*received)(struct comm *c, int source);
    /* A receive by this request was begun or prepared. */
    void (*recv_begun)(struct request *r);
    /* A wait for these n requests is over; NULL in place of some. */
    void (*waited)(struct request *const *r, int n);

    /* The calling thread is about to wait for these n, or to test them (NULL in place of some). Not
     * MPI_SUCCESS: it must not. Else its wait is over with awaited() of the same list. Not told of
     * MPI_Testall, MPI_Testany and MPI_Testsome. */
    int (*awaits)(struct request *const *r, int n);
    void (*awaited)(struct request *const *r);

    /* A call is about to use it. Not told: the inline path's, and collectives of two groups. */
    void (*memory)(const struct watch_buffer *b);
    /* The same of n parts of its send and receive buffer, which share none (not MPI_IN_PLACE). */
    void (*apart)(const struct watch_buffer *b, int n);
    /* A call that blocks reads this buffer, or has written it (collectives: see watch_turn). */
    void (*touched)(const struct watch_buffer *b, const void *site);
    /* Request r uses these n from its start (partition of a send: when it is ready) to its end. */
    void (*uses)(struct request *r, const struct watch_buffer *b, int n, const void *site);
    /* That partition of r is ready, or was seen to have arrived. */
    void (*partition)(struct request *r, int i);
    void (*released)(struct request *r); /* MPI_Request_free; MPIX_Request_is_complete: it is */
    void (*op_runs)(int begins); /* a user's operation, on buffers of a call, begins, or is over */

    /* --- one-sided communication --- */
    /* A synchronization call, before and after the core did it. Both may wait. */
    void (*sync_begins)(struct rma_win *w, const struct watch_sync *s);
    void (*sync_ended)(struct rma_win *w, const struct watch_sync *s, int err);
    /* An operation that the core has taken; req: its request, or NULL. Windows that are made while
     * a watcher has this are not known to the inline path. */
    void (*op)(struct rma_win *w, const struct rma_args *a, struct request *req, const void *site);
    /* A notified operation is about to be given to the core. */
    void (*noting)(struct rma_win *w, const struct rma_args *a);
    /* Such a one is not counted at its target `rank`: the core here did not take it, or (taken) it
     * failed later, here or there. */
    void (*note_lost)(struct rma_win *w, int rank, unsigned index, int taken);
    /* 1: what the watcher has to know about the first `word` notifications of this process's
     * counter `index` is not there yet. */
    int (*note_lags)(struct rma_win *w, unsigned index, uint64_t word);
    /* The program sees that many; req: when it sees the end of this request. May wait without
     * one. */
    void (*noted)(struct rma_win *w, unsigned index, uint64_t word, struct request *req);
    /* Not 0: one-sided calls leave their inline path, though no watcher has op. */
    int ops_apart;
    /* Not 0: buffers may lie in memory of devices. */
    int devices;
    /* Not 0: it cannot follow processes of other jobs, so none may be met. */
    int own_job;

    /* --- windows --- */
    void (*win_closes)(struct rma_win *w); /* it goes, and can still be asked */
    /* The element of a target, a rank of the world, has another state, with that name; NULL: the
     * element goes. */
    void (*target_state)(struct rma_win *w, int world, const char *state);
};

enum { WATCHERS = 24 }; /* 15 rooms and parts of rooms subscribe, and what tests add */
struct watch {
    int n;
    const struct watcher *of[WATCHERS]; /* in the order of subscription */
};

/* 0 or -ENOMEM; adding twice is harmless. w stays as it is until watch_drop(). */
int watch_add(const struct watcher *w);
void watch_drop(const struct watcher *w);

static inline int watch_wants(unsigned events)
{
    return __builtin_expect((proc->watched & events) != 0, 0);
}

/* The events. Each may be told without a look at watch_wants(). */
void watch_wait_lasts(struct progress_seen *s);
void watch_wait_over(const struct progress_seen *s);
void watch_wait_turns(const struct progress_waiting *w);
void watch_wait_second(struct where_wait *w, const void *of);
void watch_wait_stalls(int peer, int lasts);
void watch_called(const char *call);
int watch_turn_begins(struct watch_turn *t);
int watch_turn_ended(struct watch_turn *t, int err);
int watch_may_follow(const struct watch_turn *t);
void watch_comm_made(struct comm *c, struct comm *n, enum watch_call call, const void *site);
void watch_comm_freed(struct comm *c, enum watch_call call, const void *site);
void watch_win_made(struct comm *c, struct rma_win *w, const void *site);
void watch_win_freed(struct comm *c);
void watch_file_made(struct comm *c, struct io_file *f);
void watch_file_freed(struct comm *c);
void watch_made_now(int kind, const struct obj *o);
void watch_gone_now(int kind, const struct obj *o);
int watch_fails(struct comm *c, int err);
void watch_sending(struct comm *c, int dest);
void watch_send_prepared(struct request *r, struct comm *c, int dest);
int watch_label(const struct dt_type *t, int64_t count, const void *site, struct p2p_label *out);
int watch_leaves(const struct p2p_leaves *m);
void watch_told(const struct p2p_told *m);
void watch_took(struct comm *c, const struct p2p_took *took);
void watch_received(struct comm *c, int source);
void watch_recv_begun(struct request *r);
void watch_waited(struct request *const *r, int n);
int watch_awaits(struct request *const *r, int n);
void watch_awaited(struct request *const *r);
void watch_memory_now(const struct watch_buffer *b);
void watch_apart(const struct watch_buffer *b, int n);
void watch_touched(const struct watch_buffer *b, const void *site);
void watch_uses(struct request *r, const struct watch_buffer *b, int n, const void *site);
void watch_partition(struct request *r, int i);
void watch_released(struct request *r);
void watch_op_runs(int begins);
void watch_sync_begins(struct rma_win *w, const struct watch_sync *s);
void watch_sync_ended(struct rma_win *w, const struct watch_sync *s, int err);
void watch_op(struct rma_win *w, const struct rma_args *a, struct request *req, const void *site);
void watch_noting(struct rma_win *w, const struct rma_args *a);
void watch_note_lost(struct rma_win *w, int rank, unsigned index, int taken);
int watch_note_lags(struct rma_win *w, unsigned index, uint64_t word);
void watch_noted(struct rma_win *w, unsigned index, uint64_t word, struct request *req);
void watch_win_closes(struct rma_win *w);
void watch_target_state(struct rma_win *w, int world, const char *state);

static inline void watch_made(int kind, const struct obj *o)
{
    if (watch_wants(WATCH_MADE))
        watch_made_now(kind, o);
}

static inline void watch_gone(int kind, const struct obj *o)
{
    if (watch_wants(WATCH_MADE))
        watch_gone_now(kind, o);
}

static inline void watch_memory(const void *buf, int64_t count, const struct dt_type *t, int writes,
                                const char *name)
{
    if (watch_wants(WATCH_MEMORY))
        watch_memory_now(&(struct watch_buffer){buf, count, t, writes, 0, name});
}

static inline int watch_begins(struct watch_turn *t)
{
    return watch_wants(WATCH_COLLECTIVE) && !t->passed_over ? watch_turn_begins(t) : 0;
}

static inline int watch_ended(struct watch_turn *t, int err)
{
    return t->begun ? watch_turn_ended(t, err) : err;
}

/* err = run, where err is MPI_SUCCESS so far: such a call. The rest: fields of its watch_turn. */
#define WATCH_RUN(err, run, ...)                                                                   \
    do {                                                                                           \
        if (!(err)) {                                                                              \
            struct watch_turn turn_ = {__VA_ARGS__};                                               \
            if (((err) = watch_begins(&turn_)) == 0)                                               \
                (err) = (run);                                                                     \
            (err) = watch_ended(&turn_, (err));                                                    \
        }                                                                                          \
    } while (0)

#endif
