/* tp.h - what a transport does for the rooms above: THE contract.
 *
 * Every call is nonblocking.  Bytes only: datatypes, epochs and ranks of communicators are unknown
 * here. `peer` is the dense process number (world rank) given to connect().  One thread at a time
 * per struct tp unless TP_THREADS is set; the caller (am/) holds proc->lock.
 *
 * Results:  0           done; buffers are yours again; d->fn is NOT called
 *           TP_PENDING  accepted; d->fn(d, err) is called once, from progress()
 *           TP_AGAIN    no resources now; nothing happened; call progress() and try again
 *           < 0         -errno; nothing happened
 *
 * Two classes of message.  Requests may be refused by the receiver for a while; replies always find
 * room (the sender of a request reserved it, see am.h) and are never held behind requests.
 * A transport without an entry leaves it NULL and its flag clear; it emulates nothing. */
#ifndef TP_TP_H
#define TP_TP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

enum { TP_PENDING = 1, TP_AGAIN = 2 };
/* How long a transport may keep what it has of a failed peer.  After that its memory counts as
 * given back. */
enum { TP_FAILED_NS = 1000000000 };

enum { TP_FDS = 8 }; /* descriptors of one transport, at most */
enum { TP_ADDRESS_MAX = 1024 }; /* bytes of an address, at most */

enum tp_class { TP_REQUEST, TP_REPLY };

enum tp_access { TP_MAY_READ = 1, TP_MAY_WRITE = 2 };

struct tp_done { /* embed in your request */
    void (*fn)(struct tp_done *d, int err);
};

enum tp_flag {
    TP_PUT = 1, TP_GET = 2, TP_ATOMIC = 4, /* only these entries are usable */
    TP_AM_ORDERED = 8,                     /* AMs of one class from A to B are delivered in order */
    TP_PUT_THEN_AM = 16,                   /* an AM sent after a put is delivered after its data;
                                            * not so an atomic */
    TP_REG_LOCAL = 32,                     /* local buffers must be registered (smem != NULL) */
    TP_CPU_COHERENT = 64,                  /* its atomics on integers are atomic with CPU atomics */
    TP_WAIT_FD = 128, TP_THREADS = 256, TP_DEVICE_MEM = 512,
    TP_AM_LEAVES = 1024,                   /* an AM that was taken arrives even if its sender calls
                                            * nothing more, unless a connection is new or full */
    TP_PUT_NOTE = 2048                     /* put_note is usable */
};

struct tp_caps {
    unsigned flags;
    size_t am_max;         /* bytes, header + payload of one AM                                   */
    size_t am_zcopy_min;   /* bytes from which the last piece of an AM with d is read where it lies;
                            * 0: am() copies */
    size_t put_inline;     /* bytes; a put up to this returns 0 with src reusable                 */
    size_t rma_max;        /* bytes of one put/get                                                */
    size_t put_min, get_min; /* bytes from which one put/get is faster than messages that do the
                              * same; SIZE_MAX: never */
    size_t pull_min;      /* bytes from which a get pays whose memory was registered for it alone;
                           * SIZE_MAX: never, or unknown */
    int lone_pays;         /* 1: one put or get, flushed at once, is faster than a message and its
                            * answer, at any length */
    unsigned atomic_sizes; /* bit log2(bytes) set if atomics of that width exist                  */
    size_t gather;         /* bytes of small operations worth waiting for before a message leaves;
                            * 0: a message costs little */
    int atomic_pays;       /* 1: one atomic is faster than a message that does the same           */
    unsigned replies;      /* count: replies for which this process has room; am/ keeps no more
                            * outstanding */
};

struct proc;
struct tp_env {
    /* msg belongs to the transport and is valid during the call only. 0: taken.  TP_AGAIN (requests
     * only): keep it and stop this peer's requests until the next progress.  Replies still come
     * through. */
    int (*recv)(void *up, unsigned peer, enum tp_class cls, const void *msg, size_t len);
    /* Nothing can be sent to peer any more (-errno): called from progress or from a send.  Every
     * later call for it returns -ENOTCONN, or what this process lacked for a connection (-EMFILE,
     * -ENFILE).  Also of one that has left: it answers no more.  May be NULL. */
    void (*lost)(void *up, unsigned peer, int err);
    /* A put_note of some peer is in memory: called from progress, once for each. NULL only where
     * no peer calls put_note. */
    void (*noted)(void *up, uint32_t note);
    void *up;
    struct proc *proc;
    const char *variant; /* for open: this variant and no other; NULL: the transport chooses */
};

struct tp;     /* one open transport; each transport puts its own data behind it */
struct tp_mem; /* registered local memory */
struct tp_far; /* imported remote memory  */
struct tp_tx;  /* transmit context: a further way to the peers, for one thread's puts at a time */

/* Element type of an atomic: log2 of its size, and these. */
enum { TP_TYPE_LOG2 = 15 /* mask */, TP_TYPE_SIGNED = 16, TP_TYPE_FLOATING = 32 };

/* one atomic on n elements.  Two atomics have no order, not even to one peer. operand and compare
 * are copied */
struct tp_atomic {
    int op;        /* MPI_Op value: the transport knows those that it can execute */
    int type;      /* log2 of the element size, TP_TYPE_SIGNED, TP_TYPE_FLOATING */
    size_t n;
    const void *operand, *compare; /* compare != NULL: compare-and-swap */
    void *result;                  /* != NULL: old values come here     */
};

struct tp_ops {
    const char *name;
    int near; /* 1: reaches only processes of this host.  Always opened, and preferred between those
               * of one node */
    /* life: open -> address -> (boot/ publishes one key) -> connect on the first message to a peer
     * -> close
     * connect: -EHOSTUNREACH if this transport does not reach the peer; am/ then tries the next.
     * close: after a barrier in which no process of this job calls progress, so that none of it
     * meets a peer that is half closed: libfabric's shm provider crashes when it accepts its
     * connection. Those of other jobs may meet one */
    int (*open)(const struct tp_env *env, struct tp **tp, struct tp_caps *caps);
    int (*address)(struct tp *tp, void *buf, size_t *len);
    int (*connect)(struct tp *tp, unsigned peer, const void *addr, size_t len);
    void (*close)(struct tp *tp);
    /* active message: reliable, gathers iov, total <= am_max (else -EMSGSIZE); delivered once to
     * env->recv of peer.
     * d == NULL: never TP_PENDING; the transport copies what it cannot send at once.
     * TP_PENDING: the last piece, of at least caps.am_zcopy_min, must stay unchanged until d->fn.
     * The others and iov itself may be reused at once. d->fn with an error: it did not leave, and
     * no later one will (-ENOTCONN, -EMFILE ... as env.lost).
     * After TP_AGAIN to a request the process is woken (TP_WAIT_FD) when there is room. */
    int (*am)(struct tp *tp, unsigned peer, enum tp_class cls, const struct iovec *iov, int n,
              struct tp_done *d);
    /* 1: the peer has closed, and all that it sent was handed to env->recv: nothing more comes from
     * it, and nothing there is read. NULL: a peer closes with this process */
    int (*left)(struct tp *tp, unsigned peer);
    /* memory: reg/pack at the owner, import at the origin. access: what others may do with it (enum
     * tp_access), 0: for our own operations only.  Read-only memory is never written to */
    int (*reg)(struct tp *tp, void *base, size_t len, int space, int access, struct tp_mem **mem);
    int (*pack)(struct tp *tp, struct tp_mem *mem, void *key, size_t *len);
    void (*dereg)(struct tp *tp, struct tp_mem *mem);
    int (*import)(struct tp *tp, unsigned peer, const void *key, size_t len, struct tp_far **far);
    void (*drop)(struct tp *tp, struct tp_far *far);
    /* one-sided: `off` is bytes from the registered base; done = local completion (get/fetch: the
     * result is here) */
    int (*put)(struct tp *tp, struct tp_far *far, uint64_t off, const void *src, size_t len,
               struct tp_mem *smem, struct tp_done *d);
    /* a put (len > 0) that the owner of the memory is told of when all of it is there:
     * env->noted(note) */
    int (*put_note)(struct tp *tp, struct tp_far *far, uint64_t off, const void *src, size_t len,
                    struct tp_mem *smem, uint32_t note, struct tp_done *d);
    int (*get)(struct tp *tp, struct tp_far *far, uint64_t off, void *dst, size_t len,
               struct tp_mem *dmem, struct tp_done *d);
    int (*atomic)(struct tp *tp, struct tp_far *far, uint64_t off, const struct tp_atomic *a,
                  struct tp_done *d);
    /* 1 / 0; asked at window creation. fetch: 0 no result, 1 old values, 2 compare-and-swap (op is
     * ignored) */
    int (*atomic_ok)(struct tp *tp, int op, int type, size_t n, int fetch);
    /* earlier puts and atomics to peer are visible there */
    int (*flush)(struct tp *tp, unsigned peer, struct tp_done *d);
    /* transmit contexts: puts that do not need proc->lock.  NULL: the transport has none.  tx_open,
     * tx_close, tx_far and tx_drop are called under proc->lock; tx_put and tx_flush without.  One
     * thread at a time for all calls of one context.  It only sends: what comes in comes by
     * progress().  A target needs nothing new.
     * tx_open: -ENOTSUP: none, in this process */
    int (*tx_open)(struct tp *tp, struct tp_tx **tx);
    void (*tx_close)(struct tp_tx *tx); /* before close(), and when no far of it is left */
    /* far, as the context reaches it.  It is dropped before far is. */
    int (*tx_far)(struct tp_tx *tx, struct tp_far *far, struct tp_far **mine);
    void (*tx_drop)(struct tp_tx *tx, struct tp_far *mine);
    /* len <= caps.put_inline.  0: src is reusable; TP_AGAIN; -errno.  If it is not 0 nothing
     * happened; put() of the same finds out why. */
    int (*tx_put)(struct tp_tx *tx, struct tp_far *mine, uint64_t off, const void *src, size_t len);
    /* 0: the context's puts to the peer of `mine` are visible there, those between two calls that
     * belong to one flush, too; TP_AGAIN: not yet, call again; -errno: some of them are lost.
     * -ENOTCONN from tx_put or tx_flush: so will every later call for that peer */
    int (*tx_flush)(struct tp_tx *tx, struct tp_far *mine);
    /* progress and sleep */
    int (*progress)(struct tp *tp);      /* events handled, 0 = idle, < 0 error */
    /* arm=0: the fd or -1; arm=1: 0 may sleep on it, TP_AGAIN: events are waiting, < 0: there is
     * nothing to sleep on (now) */
    int (*fd)(struct tp *tp, int arm);
    /* for a transport with several descriptors: writes those to sleep on after fd(tp, 1) returned
     * 0; returns how many, 1 to TP_FDS. fd(tp, 0) then only reports whether there are any.  NULL:
     * the one of fd(tp, 0) */
    int (*fds)(struct tp *tp, int *fd);
    /* one line for the user about what was opened (device, provider), without newline; may be
     * NULL */
    void (*describe)(struct tp *tp, char *text, size_t len);
    /* what must be equal in two processes that use this transport (a provider's name), cut to len;
     * NULL: nothing */
    void (*variant)(struct tp *tp, char *text, size_t len);
};

/* Transports of this build, in order of preference; ends with NULL (open.c). "self" and "shm" are
 * always there. */
extern const struct tp_ops *const tp_list[];
/* From and to processes of other jobs of the same mpiexec: in no list, since it is opened when it
 * is needed (am_guests). */
extern const struct tp_ops tp_guest_ops;
/* The list of this process: tp_list, or what the simulator or a test gave to tp_use() before
 * am_init(). */
const struct tp_ops *const *tp_active(void);
int tp_use(const struct tp_ops *const *list); /* 0 or -ENOMEM; NULL: back to tp_list */
/* In the active list; NULL if it has none of that name. */
const struct tp_ops *tp_find(const char *name);
/* Whether this job opens a transport (MPIR_CVAR_TRANSPORT, where the processes are). open:
 * capabilities of the network that is open already, NULL: none is open. `auto` keeps one network:
 * the first that has native put, else the first.  Only opening a network shows what it has.  So the
 * next is opened only if the one before has no native put, and kept if it is tp_better(). *why: the
 * reason, for the debug summary. */
int tp_wanted(const struct tp_ops *ops, const struct tp_caps *open, const char **why);
/* Whether the later of two networks replaces the one that is open. */
int tp_better(const struct tp_caps *open, const struct tp_caps *later);
/* MPIR_CVAR_TRUST: take from the capabilities of an open network what does not hold by the doctor's
 * file.  0; -ENOTSUP: its messages fail, so it must not be used; -errno: no such file. */
int tp_trust(const struct tp_ops *ops, struct tp *tp, struct tp_caps *caps);
/* Names of the active list that MPIR_CVAR_TRANSPORT takes, "auto" included, separated by commas. */
void tp_names(char *text, size_t len);

#endif
