/* model.h - private types of the race checker: bytes, clocks, rules, records.
 *
 *   struct race_shadow    the memory of one process, by address
 *     '-- race_shadow_node       a page of 4 KiB, a span of 2 MiB, or the root
 *           '-- race_access  one access: bytes, kind, place
 *                 '-- race_batch   thread, clock, its vector clock then: shared by its records
 *
 * The pure part, interval.c to shadow.c, uses no message and no window. doc/design/race.md
 * has the reasons of the rules. */
#ifndef RACE_MODEL_H
#define RACE_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

/* --- what accesses memory, and what orders accesses ----------------------------------------- */

enum race_call {
    RACE_CALL_NONE, RACE_CALL_FENCE, RACE_CALL_POST, RACE_CALL_START, RACE_CALL_COMPLETE,
    RACE_CALL_WAIT, RACE_CALL_TEST, RACE_CALL_LOCK, RACE_CALL_UNLOCK, RACE_CALL_LOCK_ALL,
    RACE_CALL_UNLOCK_ALL, RACE_CALL_FLUSH, RACE_CALL_FLUSH_ALL, RACE_CALL_FLUSH_LOCAL,
    RACE_CALL_FLUSH_LOCAL_ALL, RACE_CALL_ORDER, RACE_CALL_SYNC, RACE_CALL_REQUEST,
    RACE_CALL_PUT, RACE_CALL_GET,
    RACE_CALL_ACC, RACE_CALL_GACC, RACE_CALL_FOP, RACE_CALL_CAS, RACE_CALL_LOAD,
    RACE_CALL_STORE, RACE_CALL_BARRIER, RACE_CALL_PUT_NOTE, RACE_CALL_GET_NOTE,
    RACE_CALL_ACC_NOTE, RACE_CALL_NOTE, RACE_CALLS
};

/* --- bytes (interval.c) -------------------------------------------------------------------- */

/* `blocks` runs of `len` bytes; a run begins `stride` bytes behind the one before. One run: stride
 * is 0. Runs do not overlap. */
struct race_interval {
    uint64_t at;
    uint32_t len, stride, blocks;
};
enum race_overlap { RACE_DISJOINT, RACE_OVERLAP, RACE_MAY_OVERLAP };
static inline uint64_t race_interval_end(const struct race_interval *l)
{
    return l->at + (uint64_t)(l->blocks - 1) * l->stride + l->len;
}
/* Have they a byte in common? RACE_MAY_OVERLAP: it would take too long to find out. */
enum race_overlap race_intervals_overlap(const struct race_interval *a,
                                         const struct race_interval *b);
/* Do elements of `size` bytes, of which both consist, cover each other partly where they touch? */
int race_intervals_misaligned(const struct race_interval *a, const struct race_interval *b,
                              uint32_t size);
/* Does `a` hold each byte of b, as far as it is easy to see? */
int race_interval_covers(const struct race_interval *a, const struct race_interval *b);
/* Does the run [at, at + len) go on where l ends, so that l grew by it? */
int race_interval_grow(struct race_interval *l, const struct race_interval *next);

/* --- vector clocks (clock.c) ---------------------------------------------------------------- */

#define RACE_OPEN UINT64_MAX /* not yet complete */
#define RACE_NO_ORDER UINT32_MAX
#define RACE_NO_VCLOCK UINT64_MAX /* vclock_no: none equals it, so there is no rule D */

struct race_vclock_entry {
    uint32_t tid, unused;
    uint64_t clock;
};
/* A vector clock: what happens before the next event of a thread, for each other thread the number
 * of its last event. Threads without an entry have `floor`. Immutable, shared. */
struct race_vclock {
    uint32_t refs, n;
    uint64_t floor;
    struct race_vclock_entry e[]; /* by tid, each clock above floor */
};
struct race_vclock *race_vclock_make(uint64_t floor, const struct race_vclock_entry *e, uint32_t n);
struct race_vclock *race_vclock_ref(struct race_vclock *v);
void race_vclock_drop(struct race_vclock *v); /* NULL: nothing */
uint64_t race_vclock_of(const struct race_vclock *v, uint32_t tid); /* of NULL: 0 */
/* The greater of both for each thread; NULL: no memory. */
struct race_vclock *race_vclock_join(const struct race_vclock *a, const struct race_vclock *b);
/* The same with one more entry. */
struct race_vclock *race_vclock_with(const struct race_vclock *v, uint32_t tid, uint64_t clock);
/* Each entry of b is in a, or a has a greater one; but for that of thread `self`, whose own events
 * happen before in any case. */
int race_vclock_includes(const struct race_vclock *a, const struct race_vclock *b, uint32_t self);

/* --- rules of the standard (rule.c) ---------------------------------------------------- */

enum race_kind {
    RACE_LOAD, RACE_STORE, RACE_GET, RACE_PUT, RACE_ACC,
    RACE_READ, /* an accumulate that only reads: MPI_NO_OP */
    RACE_KINDS
};
enum race_flag {
    RACE_HULL = 1,  /* more bytes than the access has, or more accesses */
    RACE_BUFFER = 2, /* a buffer of an MPI call, in use until its local completion */
    RACE_MESSAGE = 4 /* that of a message or a collective */
};
enum race_rule {
    RACE_FINE,
    RACE_RULE_1, RACE_RULE_2, RACE_RULE_3, RACE_RULE_4, RACE_RULE_5, /* MPI-3.1 11.7 */
    RACE_ACC_TYPE,  /* 11.7.1: accumulates of different types or displacements */
    RACE_ACC_OP,    /* 11.2.1: accumulates of different operations */
    RACE_ACC_WIN,   /* 11.7: accumulates through different windows */
    RACE_IN_USE,    /* 11.3: the buffer of a one-sided call that is not complete */
    RACE_IN_MESSAGE, /* 3.7.2, 5.12: that of a message or collective */
    RACE_LANGUAGE,  /* loads and stores of two threads */
    RACE_RULES
};
/* The effect of an access on each byte. */
struct race_effect {
    uint8_t kind : 4, flags : 4;
    uint8_t op;    /* accumulate: enum dt_op_index, RACE_SWAP of compare_and_swap */
    uint8_t elem;  /* number of the predefined type, the same in all processes */
    uint8_t esize; /* its bytes, 1 or more */
};
enum { RACE_SWAP = 255 };
enum race_accumulate { RACE_SAME_OP_NO_OP, RACE_SAME_OP, RACE_ANY_OP };
/* May they conflict without order, in one window? `apart`: the difference of their addresses. One:
 * of the same thread. ops: the window's info key accumulate_ops. */
enum race_rule race_rule_of(struct race_effect a, struct race_effect b, uint64_t apart, int one,
                         enum race_accumulate ops);
/* "Valid, but the result depends on the implementation": rules 2 and 3. */
static inline int race_rule_is_value(enum race_rule r)
{
    return r == RACE_RULE_2 || r == RACE_RULE_3;
}
/* Whatever conflicts with `old` conflicts with `now`. */
int race_effect_covers(struct race_effect now, struct race_effect old);
/* Bits of the kinds that may conflict with this one. */
unsigned race_conflicting_kinds(enum race_kind kind);
const char *race_rule_text(enum race_rule r);

/* --- records (shadow.c, conflict.c) ----------------------------------------------------- */

/* Accumulates of the process in this phase: they may make a lock, or a flag that another polls. */
enum race_atomics { RACE_FETCHED = 1, RACE_UPDATED = 2, RACE_ATOMICS = 3, RACE_ATOMICS_BITS = 2 };
/* Accesses of one thread that had one vector clock when they were issued, and are complete
 * together. */
struct race_batch {
    uint32_t tid, refs;
    uint64_t issued;         /* clock of the first */
    uint64_t done;           /* clock of the call that completed them; RACE_OPEN */
    struct race_vclock *vclock;
    uint64_t vclock_no;        /* of that thread: batches with one number have one vector clock */
    uint64_t win;            /* what it names to the owner */
    uint64_t number;         /* of that thread: the owner's key */
    uint64_t done_site;
    uint64_t noted;          /* clock of thread noted_by when it saw its notification; 0: not yet */
    uint32_t noted_by;
    uint32_t done_by;         /* thread of that call, + 1; 0: their own */
    uint32_t epoch; /* of its window, 0: none: what let it in is part of the vector clock */
    uint32_t order; /* calls of MPIX_Win_order for its target before it; RACE_NO_ORDER: a hull */
    uint32_t channel; /* of its window: what is open of one channel ends together */
    uint8_t done_call, accumulate; /* enum race_accumulate */
    uint8_t atomics;         /* bits of enum race_atomics */
    uint8_t announced;       /* one operation; those of one thread are seen in their order */
    struct race_access *open;   /* kept records, while done is RACE_OPEN */
    uint32_t kept;           /* records in the region */
    uint32_t came;           /* records of messages, while done is RACE_OPEN */
    uint32_t names;          /* NOTEs that named it (race_note_keep()) */
};
struct race_access { /* 64 bytes */
    struct race_interval interval;
    uint32_t tick;           /* clock - batch->issued */
    struct race_effect effect;
    uint16_t weight;         /* accesses that were merged, at most 65535 */
    uint8_t call, unused;    /* enum race_call */
    uint32_t number;         /* in its region: of those kept so far */
    uint64_t site;
    struct race_batch *batch;
    struct race_access *next;   /* of an open batch */
};
_Static_assert(sizeof(struct race_access) == 64, "one cache line");
static inline uint64_t race_issued(const struct race_access *r) /* clock of its thread */
{
    return r->batch->issued + r->tick;
}
struct race_shadow_node;
struct race_conflict { /* two accesses that conflict */
    const struct race_access *old, *now;
    enum race_rule rule;
    int possible;            /* not proved */
    int depends;             /* on accumulates of this phase that may not have been reported yet */
};
struct race_counts {
    uint64_t records, bytes, peak, tests, merged, dropped, closed, lost;
};
struct race_shadow {
    struct map nodes;        /* level | index -> struct race_shadow_node */
    size_t budget;           /* bytes */
    int undecided;           /* race_access_test() has found such a pair */
    int full;                /* over the budget, and merging gained nothing; tried again after a
                              * close or a phase */
    uint32_t ranks;          /* thread t is of process t % ranks; 0: each is one of its own */
    uint32_t kept;           /* records so far */
    uint64_t made;           /* nodes so far */
    struct race_counts n;
    uint8_t *thread_atomics; /* by thread: enum race_atomics, as far as reported, of this phase and,
                              * RACE_ATOMICS_BITS higher, of the next one; or NULL */
    void (*found)(void *arg, const struct race_conflict *f);
    /* Two accesses that conflict, but for the order of early before late. late NULL: early goes,
     * and what it is ordered with is not known any more. early NULL: late comes. While the function
     * is there rule P drops nothing. NULL: not asked for. */
    void (*ordered)(void *arg, const struct race_access *early, const struct race_access *late);
    void *arg;
};

enum race_order { RACE_ORDERED, RACE_UNORDERED, RACE_UNDECIDED };
/* Happens-before, in either direction. Undecided: one is open, and it was issued before the other:
 * whether it also ended before is not known yet. */
enum race_order race_order_of(const struct race_access *a, const struct race_access *b);

/* Was early's notification seen before late was issued? Then early is complete for late, whether it
 * is for others or not. */
int race_is_noted(const struct race_access *early, const struct race_access *late);

/* Of thread tid in the vector clock that r's thread had when it issued r. */
uint64_t race_seen_clock(const struct race_access *r, uint32_t tid);
/* Rule D: what conflicts with old does with now. */
int race_access_dominated(const struct race_access *old, const struct race_access *now);
/* now comes when old is there. again: all but the end of now's batch was known at the first test */
void race_access_test(struct race_shadow *g, const struct race_access *old,
                      const struct race_access *now, int again);
/* Rule S: what conflicts with now does with old, which has not ended either. Where the two race
 * with each other they have one place. */
enum race_repeat { RACE_OTHER, RACE_REPEATS, RACE_WITH_ITSELF };
enum race_repeat race_access_repeats(const struct race_shadow *g, const struct race_access *old,
                                   const struct race_access *now);
/* Rule A: both were announced, end together, and do the same to the same bytes at one place. */
int race_access_follows(const struct race_access *old, const struct race_access *now);
/* Not proved: by the accumulates reported so far the two processes may have a lock. */
int race_may_be_lock(const struct race_shadow *g, const struct race_conflict *f);
/* now takes the place of old. */
void race_access_replaced(struct race_shadow *g, const struct race_access *old,
                        const struct race_access *now);

/* Both are of requests that are not complete, begun at one place. */
int race_access_same_request(const struct race_access *old, const struct race_access *now);
/* May they become their hull? */
int race_access_same_sort(const struct race_access *a, const struct race_access *b);
/* One batch for records of one thread: complete when all are, and its vector clock is empty. */
struct race_batch *race_batch_of_both(const struct race_batch *a, const struct race_batch *b);
struct race_batch *race_batch_ref(struct race_batch *b);
void race_batch_drop(struct race_batch *b);

void race_shadow_init(struct race_shadow *g, size_t budget,
                      void (*found)(void *arg, const struct race_conflict *f), void *arg);
void race_shadow_free(struct race_shadow *g);
/* An access of the batch comes: tested against what is here, then kept. */
void race_shadow_add(struct race_shadow *g, const struct race_access *r);
/* The same of one that is complete and only open ones can race with (race.md 5, rule L): it is kept
 * if one of them decides about it by its end. */
void race_shadow_add_local(struct race_shadow *g, const struct race_access *r);
/* The batch, whose records were kept open, is complete: what was undecided is tested again. */
void race_shadow_complete(struct race_shadow *g, struct race_batch *b, uint64_t done);
/* The same; goes: then its records go. */
void race_shadow_end(struct race_shadow *g, struct race_batch *b, uint64_t done, int goes);
/* Rule P: what was complete at `floor` goes. All that comes has at least that for each thread. */
void race_shadow_phase(struct race_shadow *g, uint64_t floor);

#endif
