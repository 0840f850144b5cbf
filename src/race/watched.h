/* watched.h - what race/ is told of the program, by watch/; private to race/. Those marked "waits"
 * release proc->lock meanwhile. */
#ifndef RACE_WATCHED_H
#define RACE_WATCHED_H

#include "race/race_types.h"
#include "watch/watch.h"

_Static_assert((int)RACE_CALL_FENCE == WATCH_FENCE &&
                   (int)RACE_CALL_ORDER == WATCH_ORDER,
               "a watch_sync_call is a race_call");

/* lock_clock.c */
void race_lock_acquire(struct race_win *x, int rank, enum race_lock_kind kind);
void race_lock_release(struct race_win *x, int rank, enum race_lock_kind kind);
/* MPI_Win_lock_all takes most locks with the first operation. If it holds t's: acquires from former
 * holders. Waits where some member is far. */
void race_lock_all_acquire(struct race_win *x, struct race_target *t);
/* The locks of rank, or of all (-1), that were called or have operations: they are held when it
 * returns. Waits. */
void race_lock_confirm(struct race_win *x, int rank);
/* May records go to t? */
static inline int race_lock_is_known(const struct race_win *x, const struct race_target *t)
{
    return !t->late && (x->all != RACE_SHARED || t->all);
}
void race_lock_table_make(struct race_win *x);
/* Of a call that locks. */
struct race_lock_site {
    uint64_t site; /* portable */
    uint8_t call, exclusive, unchecked, unused[5];
};
/* This process has locked `rank`. */
void race_lock_begins(struct race_win *x, int rank, struct race_lock_site site);
/* It is about to unlock. If its lock had MPI_MODE_NOCHECK: a rank whose conflicting lock overlapped
 * in time, and the calls of both; else -1. */
int race_lock_ends(struct race_win *x, int rank, struct race_lock_site *mine,
                   struct race_lock_site *other);
int race_on_release(int src, const void *msg, size_t len);
int race_on_ask(int src, const void *msg, size_t len);
int race_on_answer(int src, const void *msg, size_t len);
/* bytes.c: of count elements of t at `base` */
struct race_intervals {
    struct race_interval l[RACE_INTERVALS];
    int n, full, hull; /* hull: the last one holds more than the data */
};
void race_intervals_of(const struct dt_type *t, size_t count, uint64_t base,
                       struct race_intervals *to);
/* lookup.c: has all that other threads of this process did happened before, for this thread? */
int race_is_whole(void);
/* threads.c: an access by the calling thread. Rule L: whole is race_is_whole(). */
void race_access_add(const struct race_access *a, int whole);
/* Does it lie beside all windows? */
int race_is_local(const struct race_interval *l);
void race_op_runs(int begins); /* watch/watch.h */
/* The calling thread is the only one of its process so far: what it does to local memory is no news
 * for other processes, which might pass it on to another thread. */
int race_is_alone(void);

/* collective.c */
/* A call of all processes has ended: what this one has acquired by it. Waits. */
int race_ended(struct watch_turn *t, int err);
/* All members of c have acquired from each other: a communicator was made of it. Waits. */
void race_joined(struct comm *c);

/* A request of a message acquires when it is complete, and each time it starts. */
void race_watch_recv(struct request *r);
void race_watch_send_init(struct request *r, struct comm *c, int dest);
/* Its buffers (watch/watch.h) */
void race_watch_uses(struct request *r, const struct watch_buffer *b, int n, const void *site);
void race_watch_partition(struct request *r, int i);
void race_watch_released(struct request *r);

/* buffer_use.c: mode full (doc/design/race.md 14) */
struct race_use; /* the buffers of a request; NULL: none, and nothing is done */
struct race_use *race_use_make(const struct watch_buffer *b, int n, int starts, const void *site);
void race_use_start(struct race_use *u); /* a persistent request starts */
void race_use_partition(struct race_use *u, int i); /* it is ready, or has arrived */
void race_use_end(struct race_use *u); /* the program sees the end of the request */
void race_use_free(struct race_use *u);
void race_uses_end(void); /* of requests that the program did not complete */
/* A blocking call reads a buffer, or has written it. */
void race_accessed(const struct watch_buffer *b, const void *site);
/* A blocking collective has read, or written, its buffers here; a request of one uses them. */
void race_coll_access(const struct watch_turn *t, int writes);
struct race_use *race_coll_use(const struct watch_turn *t);
/* origin.c */
/* An operation that the core has taken. req: its request, or NULL. */
void race_op(struct rma_win *w, const struct rma_args *a, struct request *req, const void *site);

int race_full_init(void); /* threads.c: loads, stores and threads */
void race_full_stop(void);
void race_full_free(void);

/* window.c */
/* A synchronization call, before and after the core did it. Both wait. */
void race_before(struct rma_win *w, const struct watch_sync *s);
void race_after(struct rma_win *w, const struct watch_sync *s, int err);

/* thread_clock.c */
/* Before a message leaves for rank `dest` of c's peers. Waits. */
void race_sending(struct comm *c, int dest);
/* x: of MPI_Win_complete number `number`; NULL: of a message */
void race_send_clock(int dst, const struct race_win *x, uint32_t number,
                     const struct race_vclock *v);
int race_on_clock(int src, const void *msg, size_t len);
/* A receive from rank `source` of c's peers is complete. */
void race_received(struct comm *c, int source);

/* note_clock.c */
/* A notified operation is about to be given to the core; it is not counted (taken: the core had
 * taken it); so many notifications of a counter of this process are seen (watch/watch.h).
 * race_noted() waits. */
void race_noting(struct rma_win *w, const struct rma_args *a);
void race_note_undo(struct rma_win *w, int rank, unsigned index, int taken);
int race_note_awaits(struct rma_win *w, unsigned index, uint64_t word);
void race_noted(struct rma_win *w, unsigned index, uint64_t word, struct request *req);
void race_note_init(void);
/* note_batch.c */
struct race_note_end { /* batch `number` of an origin: thread tid saw its notification at `clock` */
    uint64_t number, clock;
    uint32_t tid;
};
/* It has come. notifies: so it said when it left. */
void race_note_batch(struct race_win *x, int src, struct race_batch *b, int notifies);
void race_note_seen(struct race_win *x, int src, const struct race_note_end *end);
/* Batch `number` (0: none) of src is named. How many it has named so far; 0: none. */
uint64_t race_note_name(struct race_win *x, int src, uint64_t number);
/* A batch that is named may be complete before its notification is seen. */
void race_note_keep(struct race_win *x, int src, uint64_t number);
/* The first end->number that src named. */
void race_note_seen_all(struct race_win *x, int src, const struct race_note_end *end);
/* It will not come. If it was named: what race_note_name() returned. */
uint64_t race_note_forget(struct race_win *x, int src, uint64_t number);
/* 1: *end is one that src knows of with this vector clock, and whose batch is open; it is
 * forgotten. */
int race_note_known(struct race_win *x, int src, const struct race_vclock *v,
                    struct race_note_end *end);
struct race_row { /* of a counter of this process */
    uint64_t came, lost;
    struct map groups; /* race_batch_key() -> names that have not come, as an int64_t; below 0: they
                        * were before their NOTE */
    uint32_t parted;   /* groups above 0 */
    struct race_vclock *vclock; /* of those not seen yet, in mode full of all */
    struct {
        int src, covers;
        uint64_t number;
    } *batch;                   /* of operations whose notification was not seen yet; covers: of all
                                 * that the origin had named then (race_note_name()) */
    uint32_t n, room;
    uint8_t lock;
};
struct race_row *race_note_row(struct race_win *x, unsigned index);
/* What makes no difference for those that see the counter goes. */
void race_note_purge(struct race_win *x, struct race_row *c);
void race_notes_phase(struct race_win *x); /* a phase has ended: the same for all counters */
void race_notes_free(struct race_win *x);

/* batches by their origin: lookup.c, message.c */
/* Of batch `number` of an origin, in race.open and where batches are kept by origin. */
static inline uint64_t race_batch_key(int src, uint64_t number)
{
    return (uint64_t)src << 40 | number;
}
/* Batches of src on that window and channel that are open here, up to number `most`, in their
 * order; from malloc. */
uint64_t *race_open_numbers(int src, uint64_t win, unsigned channel, uint64_t most, size_t *n);
/* All batches for t of that channel are complete, up to that number (t->left). */
void race_close_left(struct race_win *x, const struct race_target *t, unsigned channel,
                     uint64_t number, uint64_t done, enum race_call call, uint64_t site);

/* window.c: all members alike */
void race_win_made(struct comm *over, struct rma_win *w, const void *site); /* waits */
void race_win_freed(struct comm *c); /* its communicator; waits */

#endif
