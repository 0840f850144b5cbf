/* request.h - one request object for point-to-point, collectives, RMA and users' own.
 *
 * Rooms embed struct request first and give a table of what differs.  A request is complete when
 * done != 0; complete() is the only way there and wakes waiting threads.  Requests that the user
 * holds have a handle; internal ones (blocking calls) have handle 0 and live on the stack.
 *
 *    make -> (user waits: progress_wait on done) -> complete -> request_finish: status out, free or
 *    make inactive again (persistent) */
#ifndef OBJ_REQUEST_H
#define OBJ_REQUEST_H

#include <mpi.h>

#include "obj/obj.h"

/* request_finish_plain() is for the first two. It relies on this: they are never persistent, so
 * they are active, and they have ops->free. */
enum request_kind {
    REQUEST_SEND, REQUEST_RECV, REQUEST_COLL, REQUEST_RMA, REQUEST_GENERAL, REQUEST_PERSISTENT_SEND,
    REQUEST_PERSISTENT_RECV, REQUEST_PERSISTENT_COLL, REQUEST_CONTINUE, REQUEST_MESSAGE,
    REQUEST_PART, REQUEST_IO, REQUEST_NOTE, REQUEST_FLUSH
};

struct errhandler;
struct request;
struct request_ops {
    /* Start a persistent request. MPI error code. */
    int (*start)(struct request *r);
    /* MPI_Cancel. */
    int (*cancel)(struct request *r);
    /* A wait or test looks at r, which is not done: send what was held back (RMA). May be NULL. */
    void (*poke)(struct request *r);
    /* After completion, before status goes to the user (generalized: query); may give r->error
     * another text. MPI error code. May be NULL. */
    int (*query)(struct request *r, MPI_Status *st);
    /* The error of a suspended request went to the user (request_suspend). May be NULL. */
    void (*told)(struct request *r);
    /* Which handler answers for the error of r, if it is not r->comm's: with a reference for the
     * caller, the handle that it gets (a window's; of REQUEST_IO a file's), and the name of that
     * window, to be freed (NULL: it has none).  NULL: none is left.  May be NULL. */
    struct errhandler *(*blame)(struct request *r, int *handle, char **name);
    /* Free the memory. r is complete or never started. */
    void (*free)(struct request *r);
    /* The table that this one stands before: a checker looks on. NULL: none. */
    const struct request_ops *inner;
};

struct request {
    struct obj obj;
    const struct request_ops *ops;
    enum request_kind kind;
    int done;        /* written under proc->lock; MPIX_Request_is_complete reads it without */
    int active;      /* persistent: started and not yet waited for; others: always 1 */
    int freed;       /* MPI_Request_free was called: free at completion */
    int error;       /* MPI error code of the operation */
    struct comm *comm; /* for the error handler; may be NULL */
    int peer;        /* world rank waited for, or -1: for traces */
    const char *what; /* "a message" ... : for traces */
    /* For internal requests, continuations and checkers: runs at the end of request_complete()
     * instead of waking waiters; may finish r. */
    void (*then)(struct request *r, void *arg);
    void *then_arg;
    MPI_Status status;
};

/* The handle of a built-in request, which is complete: what was done in its call returns it. It is
 * never written and never freed. Its index is not MPI_MESSAGE_NO_PROC's. */
enum { REQUEST_COMPLETE = 0x6c000001 };
void request_builtin_init(void);

/* Pairs with the acquire in request_seen_done(): a thread that sees it there sees the data, too. */
static inline void request_set_done(struct request *r)
{
    __atomic_store_n(&r->done, 1, __ATOMIC_RELEASE);
}
/* Without the lock. */
static inline int request_seen_done(const struct request *r)
{
    return __atomic_load_n(&r->done, __ATOMIC_ACQUIRE);
}

/* The table that it was made with. */
static inline const struct request_ops *request_own_ops(const struct request *r)
{
    const struct request_ops *o = r->ops;
    while (o->inner)
        o = o->inner;
    return o;
}
static inline int request_is(const struct request *r, const struct request_ops *ops)
{
    return request_own_ops(r) == ops;
}

/* Initialise the common part; no handle.  The communicator is not referenced until
 * request_publish. */
void request_init(struct request *r, enum request_kind kind, const struct request_ops *ops,
                  struct comm *c);
/* Give it a handle for the user, and a reference to its communicator, which ends with the handle.
 * MPI error code. */
int request_publish(struct request *r, MPI_Request *out);
/* Done, with an error code (0 = fine).  Frees it if the user has called MPI_Request_free.  The
 * status must be filled before. */
void request_complete(struct request *r, int error);
/* MPIX_ERR_PROC_FAILED_PENDING: waits and tests return this error, and r stays active. It may
 * complete. */
void request_suspend(struct request *r, int error);
/* It waits on. */
void request_resume(struct request *r);
int request_is_suspended(const struct request *r);
/* Call fn when r, an internal request, is done: at once if it is done already. */
void request_then(struct request *r, void (*fn)(struct request *r, void *arg), void *arg);
/* Wait for one request, for the program: a safe point of continuations. */
void request_wait(struct request *r);
/* For the library itself: no code of the program runs. */
void request_wait_inner(struct request *r);
/* Wait for all of n (NULL entries are skipped), or until at least one is done; O(n) in all. */
void request_wait_all(struct request **r, int n);
void request_wait_any(struct request **r, int n);
/* What a wait (progress_waiting) is for, if it is one of those above: calls each() for each request
 * that is not done. */
enum request_await { REQUEST_AWAITS_NONE, REQUEST_AWAITS_ALL, REQUEST_AWAITS_ANY };
enum request_await request_awaits(int (*cond)(void *), void *arg,
                                  void (*each)(struct request *r, void *to), void *to);
/* After done: status for the user (NULL or MPI_STATUS_IGNORE: none; its MPI_ERROR field is not
 * written). Then it is freed; a persistent one becomes inactive. An inactive one has the empty
 * status. Returns the request's error code. For requests with a handle and for internal ones on the
 * heap. A suspended one stays what it is. */
int request_finish(struct request *r, MPI_Status *status);
/* A message's request with a handle that is done, without an error and without more to ask: ends as
 * by request_finish(), and *handle is MPI_REQUEST_NULL. 0: it is another one, nothing was done. */
void request_end_plain(struct request *r, MPI_Status *status);
static inline int request_finish_plain(struct request *r, MPI_Request *handle, MPI_Status *status)
{
    if (__builtin_expect(r->kind > REQUEST_RECV || r->error || !r->comm || r->ops->query, 0))
        return 0;
    *handle = MPI_REQUEST_NULL;
    request_end_plain(r, status);
    return 1;
}
/* MPI_Request_free: freed now or when done. */
void request_release(struct request *r);
/* Start a persistent request: active, not done, ops->start. MPI error code. */
int request_start(struct request *r);
static inline int request_is_persistent(const struct request *r)
{
    return (r->kind >= REQUEST_PERSISTENT_SEND && r->kind <= REQUEST_CONTINUE) ||
           r->kind == REQUEST_PART;
}
/* The MPI_Status for null or inactive requests. */
void status_empty(MPI_Status *st);
/* The status of a receive from MPI_PROC_NULL. */
void status_proc_null(MPI_Status *st);

/* Bytes and the cancelled flag share two ints of MPI_Status (MPICH ABI): 63 bits of count, bit 0 of
 * the second for cancelled. */
static inline void status_set_count(MPI_Status *st, int64_t bytes)
{
    st->count_lo = (int)(uint32_t)bytes;
    st->count_hi_and_cancelled = (int)((uint32_t)((uint64_t)bytes >> 32) << 1 |
                                       ((uint32_t)st->count_hi_and_cancelled & 1));
}
static inline int64_t status_count(const MPI_Status *st)
{
    return (int64_t)((uint64_t)((uint32_t)st->count_hi_and_cancelled >> 1) << 32 |
                     (uint32_t)st->count_lo);
}
static inline int status_cancelled(const MPI_Status *st)
{
    return st->count_hi_and_cancelled & 1;
}
static inline void status_set_cancelled(MPI_Status *st, int flag)
{
    st->count_hi_and_cancelled = (st->count_hi_and_cancelled & ~1) | (flag != 0);
}

#endif
