/* model.h - private types of the race checker: bytes, clocks, rules, records.
 *
 *   struct race_region    the memory of one process, by address
 *     '-- race_node       a page of 4 KiB, a span of 2 MiB, or the root
 *           '-- race_rec  one access: bytes, kind, place
 *                 '-- race_batch   thread, clock, what the thread knew: shared by its records
 *
 * The pure part, interval.c to shadow.c, knows no message and no window. doc/design/race.md
 * has the reasons of the rules. */
#ifndef RACE_MODEL_H
#define RACE_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

/* --- bytes (interval.c) -------------------------------------------------------------------- */

/* `blocks` runs of `len` bytes; a run begins `stride` bytes behind the one before. One run: stride
 * is 0. Runs do not overlap. */
struct race_lane {
    uint64_t at;
    uint32_t len, stride, blocks;
};
enum race_touch { RACE_APART, RACE_TOUCH, RACE_MAY_TOUCH };
static inline uint64_t race_lane_end(const struct race_lane *l)
{
    return l->at + (uint64_t)(l->blocks - 1) * l->stride + l->len;
}
/* Have they a byte in common? RACE_MAY_TOUCH: it would take too long to find out. */
enum race_touch race_lanes_touch(const struct race_lane *a, const struct race_lane *b);
/* Do elements of `size` bytes, of which both consist, cover each other partly where they touch? */
int race_lanes_shifted(const struct race_lane *a, const struct race_lane *b, uint32_t size);
/* Does `a` hold each byte of b, as far as it is easy to see? */
int race_lane_covers(const struct race_lane *a, const struct race_lane *b);
/* Does the run [at, at + len) go on where l ends, so that l grew by it? */
int race_lane_grow(struct race_lane *l, const struct race_lane *next);

/* --- clocks (clock.c) ------------------------------------------------------------------- */

#define RACE_OPEN UINT64_MAX /* not yet complete */
#define RACE_NO_VIEW UINT64_MAX /* view_no: none equals it, so there is no rule D */

struct race_entry {
    uint32_t tid, unused;
    uint64_t clock;
};
/* What a thread knows of all others: of each at least `floor`. Immutable, shared. */
struct race_view {
    uint32_t refs, n;
    uint64_t floor;
    struct race_entry e[]; /* by tid, each clock above floor */
};
struct race_view *race_view_make(uint64_t floor, const struct race_entry *e, uint32_t n);
struct race_view *race_view_ref(struct race_view *v);
void race_view_drop(struct race_view *v); /* NULL: nothing */
uint64_t race_view_of(const struct race_view *v, uint32_t tid); /* NULL knows nothing: 0 */
/* What both know together; NULL: no memory. */
struct race_view *race_view_join(const struct race_view *a, const struct race_view *b);
/* The same with one more entry. */
struct race_view *race_view_with(const struct race_view *v, uint32_t tid, uint64_t clock);
/* Nothing is in b that is not in a, but for what thread `self` did: it knows that in any case. */
int race_view_holds(const struct race_view *a, const struct race_view *b, uint32_t self);

/* --- rules of the standard (rule.c) ---------------------------------------------------- */

enum race_kind {
    RACE_LOAD, RACE_STORE, RACE_GET, RACE_PUT, RACE_ACC,
    RACE_READ, /* an accumulate that only reads: MPI_NO_OP */
    RACE_KINDS
};
enum race_flag {
    RACE_HULL = 1,  /* more bytes than the access has, or more accesses */
    RACE_BUFFER = 2 /* a buffer of an MPI call, in use until its local completion */
};
enum race_rule {
    RACE_FINE,
    RACE_RULE_1, RACE_RULE_2, RACE_RULE_3, RACE_RULE_4, RACE_RULE_5, /* MPI-3.1 11.7 */
    RACE_ACC_TYPE,  /* 11.7.1: accumulates of different types or displacements */
    RACE_ACC_OP,    /* 11.2.1: accumulates of different operations */
    RACE_IN_USE,    /* 11.3, 3.7: the buffer of a call that is not complete */
    RACE_LANGUAGE,  /* loads and stores of two threads */
    RACE_RULES
};
/* What an access does to each byte. */
struct race_deed {
    uint8_t kind : 4, flags : 4;
    uint8_t op;    /* accumulate: enum dt_op_index, RACE_SWAP of compare_and_swap */
    uint8_t elem;  /* number of the predefined type, the same in all processes */
    uint8_t esize; /* its bytes, 1 or more */
};
enum { RACE_SWAP = 255 };
enum race_accumulate { RACE_SAME_OP_NO_OP, RACE_SAME_OP };
/* May they meet without order? `apart`: the difference of their addresses. One: of the same
 * thread. ops: the window's info key accumulate_ops. */
enum race_rule race_rule_of(struct race_deed a, struct race_deed b, uint64_t apart, int one,
                         enum race_accumulate ops);
/* "Valid, but the result depends on the implementation": rules 2 and 3. */
static inline int race_rule_is_value(enum race_rule r)
{
    return r == RACE_RULE_2 || r == RACE_RULE_3;
}
/* Whatever interferes with `old` interferes with `now`. */
int race_deed_covers(struct race_deed now, struct race_deed old);
/* Bits of the kinds that may interfere with this one. */
unsigned race_foes(enum race_kind kind);
const char *race_rule_text(enum race_rule r);

/* --- records (shadow.c, conflict.c) ----------------------------------------------------- */

/* Accumulates of the process in this phase: they may make a lock, or a flag that another polls. */
enum race_fetched { RACE_FETCHED = 1, RACE_UPDATED = 2, RACE_DID = 3, RACE_DID_BITS = 2 };
/* Accesses of one thread that knew the same when they were issued, and are complete together. */
struct race_batch {
    uint32_t tid, refs;
    uint64_t issued;         /* clock of the first */
    uint64_t done;           /* clock of the call that completed them; RACE_OPEN */
    struct race_view *view;
    uint64_t view_no;        /* of that thread: two batches with one number know the same */
    uint64_t win;            /* what it names to the owner */
    uint64_t number;         /* of that thread: the owner's key */
    uint64_t done_site;
    uint32_t closer;         /* thread of that call, + 1; 0: their own */
    uint32_t epoch;          /* of its window, 0: none: what let it in is part of the view */
    uint8_t done_call, accumulate; /* enum race_accumulate */
    uint8_t fetched;         /* bits of enum race_fetched */
    struct race_rec *open;   /* kept records, while done is RACE_OPEN */
    uint32_t kept;           /* records in the region */
    uint32_t came;           /* records of messages, while done is RACE_OPEN */
};
struct race_rec { /* 64 bytes */
    struct race_lane lane;
    uint32_t tick;           /* clock - batch->issued */
    struct race_deed deed;
    uint16_t weight;         /* accesses that were merged, at most 65535 */
    uint8_t call, unused;    /* enum race_call */
    uint32_t number;         /* in its region: of those kept so far */
    uint64_t site;
    struct race_batch *batch;
    struct race_rec *next;   /* of an open batch */
};
static inline uint64_t race_issued(const struct race_rec *r) /* clock of its thread */
{
    return r->batch->issued + r->tick;
}
struct race_node;
struct race_found { /* two accesses that interfere */
    const struct race_rec *old, *now;
    enum race_rule rule;
    int possible;            /* not proved */
    int depends;             /* on accumulates in this phase that may not have been heard of */
};
struct race_counts {
    uint64_t records, bytes, peak, tests, merged, dropped, closed, lost;
};
struct race_region {
    struct map nodes;        /* level | index -> struct race_node */
    size_t budget;           /* bytes */
    int full;                /* over the budget, and merging gained nothing; tried again after a
                              * close or a phase */
    uint32_t ranks;          /* thread t is of process t % ranks; 0: each is one of its own */
    uint32_t kept;           /* records so far */
    uint64_t made;           /* nodes so far */
    struct race_counts n;
    uint8_t *did;            /* by thread: enum race_fetched, as far as heard, of this phase and,
                              * RACE_DID_BITS higher, of the next one; or NULL */
    void (*found)(void *arg, const struct race_found *f);
    /* Two accesses that interfere, but for the order of early before late. late NULL: early goes,
     * and what it is ordered with is not known any more. early NULL: late comes. While the function
     * is there rule P drops nothing. NULL: not asked for. */
    void (*ordered)(void *arg, const struct race_rec *early, const struct race_rec *late);
    void *arg;
};

enum race_order { RACE_ORDERED, RACE_UNORDERED, RACE_UNDECIDED };
/* Undecided: one is not complete, and the other's thread has heard of its own since. */
enum race_order race_order_of(const struct race_rec *a, const struct race_rec *b);

/* The clock of thread tid that the thread of r knew when it issued r. */
uint64_t race_pair_knew(const struct race_rec *r, uint32_t tid);
/* Rule D: what interferes with old does with now. */
int race_pair_dominated(const struct race_rec *old, const struct race_rec *now);
/* now comes when old is there. again: all but the end of now's batch was known at the first test */
void race_pair_test(struct race_region *g, const struct race_rec *old, const struct race_rec *now,
                    int again);
/* Rule S: what interferes with now does with old, which has not ended either. Where the two race
 * with each other they have one place. */
enum race_repeat { RACE_OTHER, RACE_REPEATS, RACE_WITH_ITSELF };
enum race_repeat race_pair_repeats(const struct race_region *g, const struct race_rec *old,
                                   const struct race_rec *now);
/* Not proved, by what is heard now. */
int race_pair_may_lock(const struct race_region *g, const struct race_found *f);
/* now takes the place of old. */
void race_pair_replaced(struct race_region *g, const struct race_rec *old,
                        const struct race_rec *now);

struct race_batch *race_batch_ref(struct race_batch *b);
void race_batch_drop(struct race_batch *b);

void race_region_init(struct race_region *g, size_t budget,
                      void (*found)(void *arg, const struct race_found *f), void *arg);
void race_region_free(struct race_region *g);
/* An access of the batch comes: tested against what is here, then kept. */
void race_region_add(struct race_region *g, const struct race_rec *r);
/* The batch, whose records were kept open, is complete: what was undecided is tested again. */
void race_region_close(struct race_region *g, struct race_batch *b, uint64_t done);
/* Rule P: what was complete at `floor` goes; all that comes knows at least `floor` of all. */
void race_region_phase(struct race_region *g, uint64_t floor);

#endif
