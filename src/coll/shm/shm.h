/* shm.h - short blocking collectives through memory shared on the node; private to coll/.
 *
 *   slot[rank][n % SLOTS] = { n, data }    written by rank for its n-th operation, read by others
 *   left[rank] = n                         rank reads no slot of operations up to n any more
 *
 * Invariant: a slot is reused only when every member has left the operation that used it last. In
 * barrier and allreduce this needs no extra store: a process that has seen all enter operation n
 * can conclude that all have left n - 1. The segment is made after SHM_USES such calls on a
 * communicator, so short-lived communicators cost nothing.
 *
 * run.c decides, slots.c has the segment and the waits, combine.c, move.c and mixed.c have the
 * calls. */
#ifndef COLL_SHM_H
#define COLL_SHM_H

#include "coll/coll.h"

/* 1: done, *err is the result; 0: not for shared memory, use messages. */
int shm_run(const struct coll_args *a, int *err);
/* 1: shm_run() does not count the calls on c any more, so one that it would not serve may be left
 * out. */
int shm_counted(const struct comm *c);
/* This process moves no bytes in an operation in which others may: gatherv, scatterv. */
void shm_skip(struct comm *c);
/* coll_run_aside(): the next call does it, at the latest when it waits. 0: it may not, since c has
 * no segment yet, and shm_run() may wait for messages of its own. */
int shm_set_aside(const struct comm *c, void (*aside)(void *arg), void *arg);
void shm_do_aside(const struct comm *c); /* if it is not done */
/* coll_note(). */
void shm_note(struct comm *c, uint32_t note);
/* As coll_awaits(), of the waits of shm_run(). */
int shm_awaits(int (*cond)(void *), void *arg, void (*each)(int world, void *to), void *to);

#endif
