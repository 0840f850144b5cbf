/* race.h - races between one-sided operations: the contract for api/ (doc/design/race.md).
 *
 *   api/rma/ -- race_op ----------> batches of the origin -- messages --> records of the target
 *            -- race_before, _after  clocks of all processes                 '--> report
 *   watch/ --- messages, calls of all processes --> clocks
 *
 * proc->race is NULL while MPIR_CVAR_RACE is off; then it watches nothing (watch/watch.h), and none
 * of these is called but race_init(), race_ending() and race_finalize(). All run under proc->lock;
 * those marked "waits" release it. */
#ifndef RACE_RACE_H
#define RACE_RACE_H

#include "base/proc.h"
#include "coll/coll.h"
#include "rma/rma.h"

enum race_call {
    RACE_CALL_NONE, RACE_CALL_FENCE, RACE_CALL_POST, RACE_CALL_START, RACE_CALL_COMPLETE,
    RACE_CALL_WAIT, RACE_CALL_TEST, RACE_CALL_LOCK, RACE_CALL_UNLOCK, RACE_CALL_LOCK_ALL,
    RACE_CALL_UNLOCK_ALL, RACE_CALL_FLUSH, RACE_CALL_FLUSH_ALL, RACE_CALL_FLUSH_LOCAL,
    RACE_CALL_FLUSH_LOCAL_ALL, RACE_CALL_SYNC, RACE_CALL_REQUEST, RACE_CALL_PUT, RACE_CALL_GET,
    RACE_CALL_ACC, RACE_CALL_GACC, RACE_CALL_FOP, RACE_CALL_CAS, RACE_CALL_LOAD,
    RACE_CALL_STORE, RACE_CALL_BARRIER, RACE_CALLS
};
const char *race_call_name(enum race_call call);

int race_is_full(void); /* MPIR_CVAR_RACE=full: threads of the program call the checker */
int race_init(void); /* 0 or -ENOMEM; makes proc->race if the CVAR asks for it */
void race_ending(void); /* MPI_Finalize begins: waits */
void race_finalize(void);

/* A synchronization call, before and after the core did it. Both wait. */
struct race_sync {
    enum race_call call;
    int rank, type, assert;
    struct group *group;
    int *flag;
    const void *site;
};
void race_before(struct rma_win *w, const struct race_sync *s);
void race_after(struct rma_win *w, const struct race_sync *s, int err);

/* An operation that the core has taken. req: its request, or NULL. */
void race_op(struct rma_win *w, const struct rma_args *a, struct request *req, const void *site);

#endif
