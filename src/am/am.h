/* am.h - active messages between the processes of the job.
 *
 *      room ---- am_request(dst, type, iov) ----> handler[type](src, msg, len) of dst
 *        ^                                                   |
 *        '----- handler there <---- am_reply(src, type, iov) -'
 *
 * Addresses are world ranks. The first message chooses the transport of its peer (self, shm,
 * network). Peers live in a hash: there is no table of all ranks. Start with am_request() in am.c.
 *
 * am_request() and am_reply() copy the message, so the buffers can be reused when they return.
 * am_request_zcopy() and am_reply_zcopy() are the zero-copy forms. Messages of one class from A to
 * B arrive in the order sent, unless am_ordered(B) is 0. The two classes are not ordered with each
 * other.
 *
 * Credits. A request states how many replies it may cause (`replies`). am/ takes that room from
 * this process's own reply space and returns it as they arrive. So a reply never fails: it is sent
 * at once, or am/ stores it in a queue bounded by credits. Invariant: every reply answers a request
 * that reserved it.
 *
 * Handlers run from progress, under proc->lock. They may send and queue, and may not block or call
 * progress. msg is valid during the call only and is aligned to 8 bytes. */
#ifndef AM_AM_H
#define AM_AM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "tp/tp.h"

enum { AM_AGAIN = TP_AGAIN };

/* Types are assigned in blocks per room; the handler table has AM_TYPES places. */
enum am_block {
    AM_INTERNAL = 0,
    AM_P2P = 16,
    AM_COLL = 48,
    AM_RMA = 64,
    AM_CHECK = 96,
    AM_SIGNATURE = 111, /* one type */
    AM_RACE = 112,
    AM_TEST = 120,
    AM_TYPES = 128
};

/* 0: taken. AM_AGAIN (requests only): offer it again later; until then no other request of this
 * peer is offered. */
typedef int am_fn(int src, const void *msg, size_t len);

/* Called before the first barrier of the start: opens the network; rank 0 publishes its choice.
 * Then am_init() opens rank 0's network if this one differs. Without this call, each process keeps
 * its own. */
int am_open(void);
int am_init(void);     /* opens transports, publishes the address */
/* When MPI runs: if no process could be asked whether it lives, check whether messages come from
 * another host (liveness.c). */
void am_greet(void);
void am_finalize(void); /* after a barrier: sends stored replies, closes */
/* Open the way for processes of other jobs of this mpiexec, once, before any of them sends here or
 * is sent to. 0 or -errno (-ENOTSUP: not under this launcher; -ENETUNREACH: they are to be reached
 * by a network, and none is open; -EPROTONOSUPPORT: its processes must end together). */
int am_guests(void);
/* Where there are no keys for all jobs (BOOT_MEETS_DIRECT) processes that meet exchange this before
 * they send to each other. The addresses of this process, after am_guests(); their bytes, 0: there
 * are such keys; -errno. */
int am_card(void *card, size_t room);
enum { AM_CARD_MAX = 1792 }; /* bytes of it, at most */
/* 0, -ENOMEM; -EHOSTUNREACH: it is on another host; -ENETUNREACH: it has another network; -EMFILE,
 * -ENFILE: not known. */
int am_card_learn(int rank, const void *card, size_t len);
/* Tell those of other jobs that a network reaches that this process ends: waits until there was
 * room for that, then for their answers, for a bounded time. Nothing is sent to them afterwards. */
void am_leave(void);
int am_networks(void);  /* how many networks are open */

/* fn takes the requests of a type. Where something takes its replies, fn takes these, too. */
void am_handler(int type, am_fn *fn);
/* fn takes requests and replies. For types that rooms send as replies: its fn neither answers nor
 * refuses. Replies of other types are malformed (A7). */
void am_reply_handler(int type, am_fn *fn);

/* The way to dst, which am_reach() or a message chooses: its longest message (bytes, all iov
 * together; 0: there is no way), whether messages of a class arrive in order, what its transport
 * can do. */
struct am_way {
    size_t most;
    int ordered;
    const struct tp_caps *caps; /* NULL: there is no way; else valid until am_finalize() */
};
struct am_way am_way_to(int dst);
static inline size_t am_max(int dst)
{
    return am_way_to(dst).most;
}
static inline int am_ordered(int dst)
{
    return am_way_to(dst).ordered;
}

/* 1: dst is of another job and has called MPI_Finalize; what it sent was handled, and it answers
 * nothing more. */
int am_has_left(int dst);

/* dst's network has returned -ENOTCONN: its connection broke. 1: the failure detector is asked;
 * within seconds dst has failed, and then boot_failed_why() gives the reason. 0: it has failed. */
int am_in_doubt(int dst);
/* Send a request. 0; AM_AGAIN: no credit or room now, or dst is in doubt; nothing happened, try
 * again from a progress hook; < 0: -errno (-ENOTCONN if dst is dead). iov[0] is the room's
 * header. */
int am_request(int dst, int type, const struct iovec *iov, int n, unsigned replies);
/* The same, zero-copy for the last piece if possible (tp.h, am_zcopy_min). TP_PENDING: it is read
 * until d->fn. */
int am_request_zcopy(int dst, int type, const struct iovec *iov, int n, unsigned replies,
                    struct tp_done *d);
/* Replies for which there is room now, from all peers on dst's transport (count). */
unsigned am_replies_free(int dst);
/* Connect to dst if not yet connected: 0; AM_AGAIN: this process lacks descriptors or memory now
 * (A11); or -errno. */
int am_reach(int dst);
/* Send a reply, from any context. Never fails for lack of room. < 0 only if dst is dead. */
int am_reply(int dst, int type, const struct iovec *iov, int n);
/* The same, zero-copy for the last piece if possible. TP_PENDING: it is read until d->fn, from
 * progress. 0: copied, or dropped. */
int am_reply_zcopy(int dst, int type, const struct iovec *iov, int n, struct tp_done *d);
/* Processes that have failed, as far as what they had sent before has been handled here, if it had
 * come: a wait that a failure ends asks these. boot_failed() may be true between the last message
 * of a process and its handling. They change in progress only. The number; one of them: 1. */
int am_failed_count(void);
int am_failed(int rank);
/* Call fn from progress when processes of the job have failed since its last call (am_failed()
 * reports which). For rooms whose waits must then end. At most AM_FAIL_HOOKS. */
enum { AM_FAIL_HOOKS = 4 };
void am_on_death(void (*fn)(void));
/* Call fn from progress for the note of each put_note (tp.h) that has come. */
void am_on_note(void (*fn)(uint32_t note));
/* Call fn when a wait has lasted long: it calls ask() for each process that the room waits for, as
 * far as known. At most AM_FAIL_HOOKS. */
void am_on_stall(void (*fn)(void (*ask)(int rank)));
/* For handlers: a malformed packet of src was dropped. The first ones of each process are reported,
 * all are counted. */
void am_malformed(int src, const char *what) __attribute__((cold));
/* A request that reserved k replies was answered by fewer: return the rest. */
void am_credit_return(int dst, unsigned replies);

/* For native one-sided access and its limits: the transport of dst, NULL if dst has none. ops may
 * be NULL. */
struct tp *am_tp_to(int dst, const struct tp_ops **ops, struct tp_caps *caps);
/* The transports of this process, i from 0 on; NULL beyond the last. */
struct tp *am_tp_open(int i, const struct tp_ops **ops, struct tp_caps *caps);

#endif
