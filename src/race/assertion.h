/* assertion.h - do the assertions of synchronization calls hold? Private to race/. */
#ifndef RACE_ASSERTION_H
#define RACE_ASSERTION_H

#include <stdint.h>

struct race_access;
struct race_origin;
struct race_win;

#define RACE_IN_FENCE UINT32_MAX /* an epoch of a fence that waited */

struct race_assertion_fence { /* of this process */
    int no_put;
    uint32_t tid;       /* what was issued after it has seen this clock of this thread; 0: */
    uint64_t clock;     /* none, where it did not wait or nothing asks for it */
    uint64_t site;
};
struct race_violation { /* an update that MPI_MODE_NOPUT of the call at `site` forbids */
    uint64_t site, at;  /* site 0: none */
    int src;
    uint8_t call;
};
struct race_stored { /* by this process, into its own memory of the window */
    uint64_t site, clock; /* one of thread tid since the last synchronization; site 0: none */
    uint64_t since;       /* clock of thread since_tid at that */
    uint64_t forbidden;   /* the call at that site has MPI_MODE_NOSTORE and forbids `by`; 0: none */
    uint64_t by;
    uint32_t tid, since_tid;
};
struct race_assertions { /* of a window */
    struct race_assertion_fence fence[2]; /* the last one; the next one, while it waits */
    struct race_violation violation;
    struct race_stored stored;
    int start;          /* of the last MPI_Win_start, and where it stands */
    uint64_t start_site;
};
struct race_assertions_both { /* of the last MPI_Win_post to an origin, and of the MPI_Win_start
                               * that came with its last MPI_Win_complete */
    int post, start;
    int early;          /* that one came before its post */
    uint64_t post_site, start_site;
};

/* A fence is about to wait; it is complete. */
void race_assertion_fence_now(struct race_win *x, int assert, const void *site);
void race_assertion_fence_complete(struct race_win *x);
/* An access of src comes, in that epoch (race_batch.epoch, or RACE_IN_FENCE). */
void race_assertion_access(struct race_win *x, int src, uint32_t epoch,
                           const struct race_access *a);
/* Mode full: a store of the program comes. */
void race_assertion_store(const struct race_access *a);
/* A call that synchronizes is about to begin; assert: of a fence or MPI_Win_post, else 0. */
void race_assertion_sync(struct race_win *x, int assert, uint64_t site);
/* What was found is printed; call: what has the assertion. Waits. */
void race_assertion_report(struct race_win *x, const char *call);
void race_assertion_stores_report(struct race_win *x, const char *call);
/* MPI_Win_complete has come, of an MPI_Win_start with that assertion. */
void race_assertion_start(struct race_origin *o, uint32_t number, int assert, uint64_t site);
/* MPI_Win_wait has seen that of process `world`, or MPI_Win_post has. Waits. */
void race_assertion_wait(struct race_win *x, int world);
/* This process has locked between calls of rank `by` (race_lock_ends()). Waits. */
struct race_lock_site;
void race_assertion_unlock(const struct race_win *x, const struct race_lock_site *mine,
                           const struct race_lock_site *other, int by);

#endif
