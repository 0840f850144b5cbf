/* watched.h - what race/ is told of the program, by watch/; private to race/. Those marked "waits"
 * release proc->lock meanwhile. */
#ifndef RACE_WATCHED_H
#define RACE_WATCHED_H

#include "race/race_types.h"
#include "watch/watch.h"

_Static_assert((int)RACE_CALL_FENCE == WATCH_FENCE &&
                   (int)RACE_CALL_FLUSH_LOCAL_ALL == WATCH_FLUSH_LOCAL_ALL,
               "a watch_sync_call is a race_call");

/* collective.c */
/* A call of all processes has ended: what this one has acquired by it. Waits. */
int race_ended(struct watch_turn *t, int err);
/* All members of c have acquired from each other: a communicator was made of it. Waits. */
void race_joined(struct comm *c);

/* A request of a message acquires when it is complete, and each time it starts. */
void race_watch_recv(struct request *r);
void race_watch_send_init(struct request *r, struct comm *c, int dest);

/* origin.c */
/* An operation that the core has taken. req: its request, or NULL. */
void race_op(struct rma_win *w, const struct rma_args *a, struct request *req, const void *site);

/* window.c */
/* A synchronization call, before and after the core did it. Both wait. */
void race_before(struct rma_win *w, const struct watch_sync *s);
void race_after(struct rma_win *w, const struct watch_sync *s, int err);

/* thread_clock.c */
/* Before a message leaves for rank `dest` of c's peers. Waits. */
void race_sending(struct comm *c, int dest);
/* A receive from rank `source` of c's peers is complete. */
void race_received(struct comm *c, int source);

/* window.c: all members alike */
void race_win_made(struct comm *over, struct rma_win *w, const void *site); /* waits */
void race_win_freed(struct comm *c); /* its communicator; waits */

#endif
