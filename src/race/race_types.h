/* race_types.h - private types of the running race checker. All under proc->lock.
 *
 *   struct race --- wins by context id ---> race_win --- targets by rank ---> race_target
 *        |                                                  |-- pend: batches of operations that
 *        |                                                  |   the target has not received
 *        |                                                  '-- local: their buffers here
 *        |-- region: accesses to the memory of this process
 *        '-- peers by world rank: messages that wait for room, clocks */
#ifndef RACE_TYPES_H
#define RACE_TYPES_H

#include "am/am.h"
#include "base/list.h"
#include "boot/boot.h"
#include "coll/coll.h"
#include "place/place.h"
#include "progress/progress.h"
#include "race/assertion.h"
#include "race/model/model.h"
#include "race/race.h"
#include "race/race_runtime.h"
#include "rma/rma.h"

enum {
    RACE_RECORDS = AM_RACE, RACE_CLOSE, RACE_ACK, RACE_CLOCK, RACE_RELEASE, RACE_ASK,
    RACE_ANSWER, RACE_NOTE
};
_Static_assert((int)RACE_NOTE < (int)AM_TEST, "the block of the race checker");
enum { RACE_PHASE_BITS = 32, RACE_INTERVALS = 64, RACE_PENDING_MAX = 4096, RACE_NOTED_MAX = 64,
       RACE_NAMES = 256 - RACE_CALLS };
#define RACE_FENCE (1u << 31)

struct race_wire_access { /* 48 bytes */
    struct race_interval interval;
    uint32_t tick;
    struct race_effect effect;
    uint16_t weight;
    uint8_t call, unused;
    uint64_t site; /* portable */
};
_Static_assert(sizeof(struct race_wire_access) == 48, "a multiple of 8 on the wire");

/* Operations on one target that had one vector clock when they were issued. */
struct race_pending {
    struct list link;
    uint32_t tid;
    uint64_t number, issued, vclock_no;
    struct race_vclock *vclock;
    uint32_t epoch, order;   /* number of the access epoch by MPI_Win_start, RACE_FENCE | number
                              * of the fence with MPI_MODE_NOPRECEDE, or 0; race_batch.order */
    unsigned channel, alone; /* rma_win_channel(): a flush completes those of its own; alone: of a
                              * request that completes it: nothing else joins it */
    int reads;               /* it has gets and the like alone: complete here, complete there */
    int notified, announced; /* nothing joins it (1: it notifies; else: note_all()); rule A */
    int in_fence;            /* what lets it in is a fence */
    uint32_t names;          /* so often it was named where no order is kept */
    /* it is complete since then, but is sent when its lock is known to be held; 0 */
    uint64_t done;
    uint32_t done_by;         /* race_batch.done_by then */
    enum race_call done_call;
    uint64_t done_site;
    struct race_wire_access *rec;
    uint32_t n, room, sent;  /* records; those that the target has */
};

struct race_request;
struct race_local { /* buffers of operations in use */
    struct list link;
    struct race_batch *batch;
    struct race_request *req; /* whose alone they are, or NULL */
    unsigned channel;         /* as above */
};

enum race_lock_kind { RACE_UNLOCKED, RACE_SHARED, RACE_EXCLUSIVE, RACE_UNCHECKED };
struct race_target {
    int rank, world;
    struct list pending, local;
    uint32_t starts, orders; /* calls of MPI_Win_start, and of MPIX_Win_order for it alone */
    uint8_t lock;            /* enum race_lock_kind */
    uint8_t late;            /* that lock may not be held yet: MPI_Win_lock does not wait for it */
    uint8_t all;             /* MPI_Win_lock_all: its lock is held, and former holders are known */
    uint32_t noted;          /* notified or announced, sent since leave_some() swept or all ended */
    struct map left;         /* channel + 1 -> number: batches of that channel up to it are open
                              * there, and are not kept here */
};
struct race_member {         /* a process of the window */
    uint64_t base, unit, bytes;
};
struct race_posted { /* its vector clock at its post number `number` to one origin */
    struct list link;
    uint32_t number;
    int assert;
    uint64_t site;
    struct race_vclock *vclock;
};
struct race_origin {
    uint32_t posts, completes; /* MPI_Win_post to it; MPI_Win_complete of it */
    struct race_assertions_both assertions;
    struct list posted;
    struct race_vclock *at_complete; /* of that process at the last of them */
};
struct race_held { /* a message for an epoch that is not posted yet */
    struct list link;
    int src, type;           /* RACE_RECORDS, or the RACE_CLOSE of such */
    size_t len;
    char bytes[];
};
struct race_lock_vclock { /* what others released when they gave up the lock of this process */
    struct race_vclock *exclusive, *shared;
};
struct race_win {
    uint64_t id;
    struct rma_win *w;
    struct race_member *member; /* [size] */
    struct map targets;      /* rank + 1 */
    struct map origins;      /* world rank + 1 */
    int *started, nstarted;  /* world ranks */
    struct race_assertions assertions;
    int *posted, nposted;
    struct list held;
    struct race_lock_vclock lock;
    struct rma_win *lock_table;   /* NULL: some member is far; then locks go by messages */
    int all;                 /* enum race_lock_kind of MPI_Win_lock_all */
    uint32_t fences;         /* with MPI_MODE_NOPRECEDE: they need not wait */
    uint32_t last_fence;     /* redundant_barrier.c: phase that it began; 0: none is open */
    uint32_t orders;         /* calls of MPIX_Win_order for all */
    int fence_open;          /* the epoch was begun by such a one */
    struct race_vclock *at_fence; /* of this process at the last */
    uint8_t accumulate;      /* enum race_accumulate */
    uint8_t announces;       /* its info key mpix_race_announce */
    uint64_t site;
    struct race_notes *notes; /* note_clock.c; NULL: none */
};

struct race_queued {
    struct list link;
    int type;
    size_t len;
    _Alignas(8) char bytes[];
};
struct race_peer {
    struct list link, queue; /* on race->busy while messages wait in the queue */
    int world;
    uint64_t sent_vclock_no, sent_clock; /* with the last CLOCK */
    /* RECORDS and CLOSE: the greatest end of those before the last one, by thread here; the last */
    uint64_t ended[RACE_THREADS], last_end;
    uint32_t last_done_by;           /* its thread here */
    int sent_any;
    struct race_vclock *received; /* what came with CLOCKs and no receive has taken yet */
};

struct race_exit {
    int found, code;
};
/* A pair that depends on what is reported by the end of the phase. */
struct race_undecided {
    struct list link;
    struct race_access old, now; /* each with a reference to its batch */
    enum race_rule rule;
    uint32_t count;           /* pairs of these places, threads and phases: one verdict for all */
};
/* One in mode rma, which takes a process for one thread. Threads of all processes: number * size of
 * the job + rank. */
struct race_thread {
    uint32_t tid;
    uint64_t clock;
    uint64_t ended;          /* clock of the last event that is no operation */
    uint64_t vclock_no;        /* of all states of all threads of this process */
    struct race_vclock *vclock;  /* of others; without this thread itself */
    unsigned in_op;          /* it runs an operation of the program: the call does what that does */
    uint64_t quiet;          /* ticks that are no news for other processes */
    uint64_t noting;         /* number of the batch that its next operation is, if notified */
    uint64_t announced;      /* the same of its next one on that window and target; 0: none */
    uint64_t announced_win;
    int announced_rank;
};
struct race {
    uint32_t me;             /* rank */
    uint32_t tids;           /* threads of the job */
    uint64_t floor, vclock_nos, numbers;
    int threads;             /* of each process */
    int forks;               /* teams that run, threads that have not begun */
    int ending;              /* threads in end_phase() */
    struct race_thread thread[RACE_THREADS];
    const struct race_runtime *runtime; /* NULL: loads and stores are not seen */
    struct map objects;      /* address -> what threads released there */
    struct map wins, peers, open;
    struct list busy;
    struct progress_hook hook;
    struct race_shadow shadow;
    unsigned acks;           /* messages that others have not confirmed */
    unsigned nheld;          /* struct race_held of all windows */
    uint32_t pending_max; /* records of an open batch that stay here; RACE_PENDING_MAX, or a test's
                              * number */
    uint64_t asked, answered;    /* lock: number of the last question, of the last answer */
    int asking;              /* threads that wait for one */
    struct race_vclock *answer;  /* what the answers to them said */
    struct map pairs;        /* pairs of places that were reported */
    struct list undecided;     /* struct race_undecided: pairs whose verdict is not known yet */
    unsigned nundecided;
    uint64_t unresolved;          /* verdicts that found no room to wait: only possible */
    struct map sites;        /* return address -> portable place */
    uint64_t races, values, possible, reported;
    uint8_t atomics;         /* it did accumulates that fetch, in this phase */
    int off;                 /* MPI_Finalize: nothing more is noted */
    struct list unprinted;      /* struct race_unprinted: reports that wait for their lines */
    struct progress_hook print_hook;
    uint64_t print_at;        /* ns: when lines are looked at again */
    struct race_exit *exit;
    struct race_advice *advice; /* NULL: not asked for; the graph, too */
    struct race_graph *graph;
    struct race_barriers *barriers;
    struct list uses;        /* struct race_use: of requests */
    const char *call_names[RACE_NAMES]; /* of further calls: number RACE_CALLS and on */
};

/* Rank of this process in its job: threads are numbered by it. boot_rank() does not begin with 0 in
 * a job that was spawned. */
static inline int race_rank(void)
{
    return boot_rank() - boot_first();
}
/* lookup.c */
const char *race_call_name(enum race_call call);
/* The same of a call at a place: a front's, if one made it. */
const char *race_call_text(unsigned call, uint64_t site);
/* Its number, by its name: a constant. RACE_CALL_NONE: there are too many. */
enum race_call race_call_of(const char *name);
/* Ends the process: others wait for what it would have sent or answered. */
_Noreturn void race_no_memory(void);
struct race_thread *race_self(void); /* the calling thread */
struct race_win *race_win_of(uint64_t id);
struct race_win *race_win_find(struct rma_win *w);
struct race_origin *race_origin_of(struct race_win *x, int world);
uint64_t race_site(const void *address);
uint64_t race_site_at(uint64_t address); /* the same of an address in the program */
/* thread_clock.c */
uint64_t race_tick(void);
void race_op_tick(void); /* an operation begins */
struct race_vclock *race_release(void); /* with this thread's clock; a new reference, never NULL */
void race_acquire(const struct race_vclock *v);
void race_set_vclock(struct race_thread *t,
                     struct race_vclock *v); /* that and nothing else; takes it */
/* batch.done_by of a batch of thread tid that the calling thread completes */
static inline uint32_t race_done_by(uint32_t tid)
{
    uint32_t me = race_self()->tid;
    return me == tid ? 0 : me + 1;
}
/* fn(arg) once when r is complete and its end is seen, or it is freed. */
void race_watch_done(struct request *r, void (*fn)(void *arg), void *arg);
/* lookup.c: are all members of this job? What others are in is not watched. */
int race_is_inside(const struct comm *c);
/* collective.c: all processes of c say which accumulates they did; all are here. 1: all have sent
 * their records (`sent`), and all that its process did happened before for each thread that calls;
 * -1: an error. Waits. */
int race_exchange_atomics(struct comm *c, int sent);
void race_watch_bytes(uint64_t at, uint64_t len); /* their loads and stores are of interest */
/* origin.c */
struct race_target *race_target_of(struct race_win *x, int rank, int make);
/* All operations on it are complete (local: only here; gets there, too): of a channel, or of
 * all. */
enum { RACE_ALL = -1 };
void race_complete(struct race_win *x, struct race_target *t, int channel, uint64_t done,
                   enum race_call call, uint64_t site);
void race_complete_local(struct race_win *x, struct race_target *t, int channel, uint64_t done,
                         enum race_call call, uint64_t site);
void race_complete_all(struct race_win *x, int channel, enum race_call call, uint64_t site);
int race_send_open(struct race_win *x); /* as it is. 0: but what waits for a lock */
void race_targets_free(struct race_win *x);
struct race_peer *race_peer_of(int world); /* send_queue.c */
void race_msg_send(int dst, int type, const void *bytes, size_t len);
void race_wait_acks(void); /* until all that was sent has been taken; waits */
void race_send_init(void);
void race_send_free(void);
/* message.c */
void race_send_batch(struct race_win *x, const struct race_target *t, struct race_pending *p,
                     uint64_t done, enum race_call call, uint64_t site);
void race_replay(struct race_win *x); /* what was held until a post */
void race_close_open(int src, uint64_t number, uint64_t done, uint32_t done_by);
void race_batches_init(void);
void race_batches_free(void);
/* pack.c */
/* a vector clock as bytes, from malloc, behind `head`; *len: all; never NULL */
void *race_pack(const void *head, size_t head_len, const struct race_vclock *v, size_t max,
                size_t *len);
/* The vector clock behind head; NULL: malformed, or no memory. *used: its bytes. */
struct race_vclock *race_unpack(const void *bytes, size_t len, size_t *used, int *cut);
/* window.c */
void race_wins_free(void);
/* report.c */
void race_ordered(void *arg, const struct race_access *early, const struct race_access *late);
void race_report(void *arg, const struct race_conflict *f);
void race_count(void); /* the performance variables show what the region has */
/* Of what was issued before `clock` all have said what accumulates they did (1), or nothing more
 * will be reported (0). */
void race_report_undecided(uint64_t clock, int received);
void race_summary(void);

#endif
