/* am.h - active messages between the processes of the job.
 *
 *      room ---- am_request(dst, type, iov) ----> handler[type](src, msg, len) of dst
 *                                                        |
 *      handler[type](src, msg, len) of src <---- am_reply(src, type, iov)
 *
 * Addressing is by world rank; the transport is chosen per peer (self, shm, network) on the
 * first message, and peers live in a hash: no table of all ranks.
 *
 * The bytes of a message are copied before am_request() and am_reply() return, so buffers are
 * reusable then.  The zero-copy forms, am_request_kept() and am_reply_kept(), leave the last piece
 * where it is: after TP_PENDING it is read until its completion.  Messages of one class from A to B
 * arrive in the order sent, unless am_ordered(B) is 0; the two classes are not ordered with each
 * other.
 *
 * Credits.  A request says how many replies it may cause (`replies`); am/ takes that room from
 * this process's own reply space and gives it back as they arrive.  That is why a reply never
 * fails: it is sent at once or kept by am/ in a queue bounded by credits.  Every reply answers
 * a request that reserved it.
 *
 * Handlers run from progress, under proc->lock; they may send and queue, and may not block or
 * call progress.  msg is valid during the call only and is aligned to 8 bytes. */
#ifndef AM_AM_H
#define AM_AM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "tp/tp.h"

enum { AM_AGAIN = TP_AGAIN };

/* Types are given out in blocks per room; the handler table has AM_TYPES places. */
enum am_block {
    AM_INTERNAL = 0, AM_P2P = 16, AM_COLL = 48, AM_RMA = 64, AM_TEST = 120, AM_TYPES = 128
};

/* 0: taken.  AM_AGAIN (requests only): offer it again later; nothing else of this peer's requests
 * comes before. */
typedef int am_fn(int src, const void *msg, size_t len);

/* Before the first barrier of the start: opens the network, and rank 0 tells which it took.  Who
 * calls it has am_init() open rank 0's where its own is another; without it each keeps its own. */
int am_open(void);
int am_init(void);     /* opens transports, publishes the address */
/* When MPI runs: where nobody could be asked whether he lives, see whether messages come from
 * another host (alive.c). */
void am_greet(void);
void am_finalize(void); /* after a barrier: sends what is kept, closes */
int am_networks(void);  /* how many networks are open */

void am_handler(int type, am_fn *fn);

/* Longest message to dst (bytes, all iov together). */
size_t am_max(int dst);
int am_ordered(int dst);

/* Send a request.  0; AM_AGAIN: no credit or room now, nothing happened, try again from a progress
 * hook; < 0: -errno (-ENOTCONN when dst is dead).  iov[0] is the room's header. */
int am_request(int dst, int type, const struct iovec *iov, int n, unsigned replies);
/* The same without a copy of the last piece, where that may be (tp.h, am_keep): TP_PENDING: it is
 * read until d->fn. */
int am_request_kept(int dst, int type, const struct iovec *iov, int n, unsigned replies,
                    struct tp_done *d);
/* Replies for which there is room now, from whomever dst's transport brings them (count). */
unsigned am_replies_free(int dst);
/* Connect to dst if that has not been done: 0; AM_AGAIN: this process lacks descriptors or memory
 * for it now (A11); or -errno. */
int am_reach(int dst);
/* Send a reply from anywhere.  Never fails for lack of room.  < 0 only when dst is dead. */
int am_reply(int dst, int type, const struct iovec *iov, int n);
/* The same without a copy of the last piece, where that may be: TP_PENDING: it is read until d->fn,
 * from progress.  0: copied, or gone. */
int am_reply_kept(int dst, int type, const struct iovec *iov, int n, struct tp_done *d);
/* Call fn from progress when processes of the job have died since the last time (boot_dead says
 * which); for rooms whose waits must end then.  At most AM_MOURNERS. */
enum { AM_MOURNERS = 4 };
void am_on_death(void (*fn)(void));
/* Call fn when a wait has lasted for long: it calls ask() for each process for which the room
 * waits, as far as it knows.  At most AM_MOURNERS. */
void am_on_stall(void (*fn)(void (*ask)(int rank)));
/* Handlers: a packet of src that fits nothing was dropped.  The first of each process are reported,
 * all are counted. */
void am_nonsense(int src, const char *what) __attribute__((cold));
/* A request that reserved k replies was answered by fewer: give the rest back. */
void am_credit_return(int dst, unsigned replies);

/* For native one-sided access, and to know what the way to dst can carry: its transport, NULL when
 * dst has none.  ops may be NULL. */
struct tp *am_tp(int dst, const struct tp_ops **ops, struct tp_caps *caps);
/* The transports of this process, i from 0 on; NULL beyond the last. */
struct tp *am_tp_open(int i, const struct tp_ops **ops, struct tp_caps *caps);

#endif
