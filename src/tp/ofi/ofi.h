/* ofi.h - private to tp/ofi: one libfabric endpoint, its peers, its buffers.
 *
 *   load.c   finds libfabric at run time and chooses a provider
 *   ofi.c    life, peers, progress, descriptor, the table
 *   msg.c    active messages: window, queue, receive buffers, held requests
 *   rma.c    memory, put, get, atomics, flush
 *
 * Wire: struct ofi_wire, then the message, filled up to a multiple of 8 bytes, so that messages which a provider puts
 * one behind the other into a large receive buffer stay aligned.
 *
 * O1. Every packet carries the receiver's key, a random number that only the boot key-value space tells: a packet
 *     without it is dropped before anything else of it is believed.
 * O2. Window: the request bytes sent to a peer and not yet taken by its handlers are at most OFI_WINDOW; so are the bytes of
 *     refused requests that a receiver keeps for one peer.  Replies are not counted: who asked has room for them (am/).
 * O3. What the provider does not take at once waits in the peer's queue, in order; nothing overtakes it.
 * O4. `taken` is a sum, not a difference: a packet more or less that tells it does no harm.
 * O5. Puts and atomics on a peer stand in the order of their issue; a flush waits for those that stood there before it.
 * O6. Messages to a peer are numbered, and every packet says which number is next and which is expected from its receiver.  A
 *     provider may lose what it took (tp-ofi.md, "What a connection takes with it"): where the order is promised, a number
 *     beyond the expected one shows it, and nothing of that peer is delivered any more.  What comes a second time is dropped.
 * O7. Who has heard for a second or two of nothing that it sent asks, until it hears; a peer that says nothing is asked again, ever less
 *     often, and is never held for lost for that.  Whoever finds the connection broken tells the other side.
 * O8. A provider without a descriptor (shm) moves data only while the target looks, and a target that waits may look every
 *     few milliseconds only (progress.md P8).  So what is given to such a provider for a process of this host wakes it. */
#ifndef TP_OFI_OFI_H
#define TP_OFI_OFI_H

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "base/list.h"
#include "base/map.h"
#include "tp/tp_types.h"

#define OFI_EAGER 69632 /* bytes of a packet that ofi_rxm over tcp shall send at once: 64 KiB of data and their headers */
enum {
    OFI_EAGER_MIN = 16384,      /* what it, and others, send so by themselves */
    OFI_AM_ROOM = 64,           /* of these bytes, for headers of ours and theirs */
    OFI_GATHER = 16384,         /* caps.gather (bytes) */
    OFI_WINDOW = 262144,        /* bytes, O2 */
    OFI_REPLIES = 256,          /* count; O2 does not bound them, am/ does */
    OFI_BUFFERS = 4,            /* receive buffers posted where many messages fit into one ... */
    OFI_BUFFER_BYTES = 1048576, /* ... of this size */
    OFI_SINGLES = 8,            /* receive buffers posted where each takes one message: long ones go round in half a MiB, half a core's cache */
    OFI_NAME_MAX = 256,         /* bytes of an endpoint's name */
    OFI_ZCOPY = 16384,           /* bytes of a piece that is sent from where it lies: a copy of fewer costs less than its completion */
    OFI_ZCOPY_IOV = 3,           /* ... our header, that piece, what fills its last word */
    OFI_INJECT = 4096,          /* bytes, wire included: what is asked for, where the provider has less */
    OFI_SMALL = 512,            /* bytes, wire included: send buffers come in this size and that of the longest */
    OFI_POOL = 256,             /* short send buffers kept for later */
    OFI_POOL_BIG = 32,          /* and long ones */
    OFI_PUT_INLINE = 1024,      /* bytes of a put that are copied */
    OFI_ATOMIC = 256,           /* bytes of one operand of an atomic, at most */
    OFI_BUDGET = 64,            /* completions handled by one progress() */
    OFI_FDS = TP_FDS - 1,       /* descriptors of the queue; one more is the timer's */
    OFI_TURNS = 8               /* calls of progress() between looks at the clock, while somebody has not heard us */
};

/* The few functions of libfabric that are not reached through its objects. */
struct ofi_lib {
    void *so;
    int (*getinfo)(uint32_t version, const char *node, const char *service, uint64_t flags, const struct fi_info *hints,
                   struct fi_info **info);
    void (*freeinfo)(struct fi_info *info);
    struct fi_info *(*dupinfo)(const struct fi_info *info);
    int (*fabric)(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
    const char *(*strerror)(int err);
    uint32_t (*version)(void);
};

/* ASK: answer by TAKEN; with the sender's address, as HELLO, which may be what got lost.  LOST: the connection broke (O6).
 * Those before TAKEN are messages, and numbered. */
enum ofi_packet { OFI_REQUEST = TP_REQUEST, OFI_REPLY = TP_REPLY, OFI_HELLO, OFI_TAKEN, OFI_ASK, OFI_LOST, OFI_PACKETS };

struct ofi_wire {
    uint64_t key;   /* of the receiver, O1 */
    uint32_t src;   /* world rank of the sender */
    uint32_t taken; /* request bytes of the receiver that the sender has taken so far, modulo 2^32 */
    uint16_t len;   /* bytes of the message, with len_high */
    uint16_t seq;   /* number of this message; in other packets that of the next one */
    uint16_t got;   /* the number that the sender expects next from the receiver */
    uint8_t kind;   /* enum ofi_packet */
    uint8_t len_high;
};
static inline size_t ofi_wire_len(const struct ofi_wire *w)
{
    return w->len | (size_t)w->len_high << 16;
}
_Static_assert(sizeof(struct ofi_wire) == 24, "messages stay aligned to 8 bytes");
_Static_assert(OFI_EAGER < 1 << 24 && OFI_WINDOW > 3 * OFI_EAGER, "ofi_wire.len; and a packet while less than half a window is not told");
_Static_assert(OFI_WINDOW / sizeof(struct ofi_wire) + OFI_REPLIES < 1 << 15, "fewer unheard messages than half the numbers");

/* What an address is made of; also the contents of a HELLO. */
struct ofi_address {
    uint64_t key;
    uint32_t provider; /* hash of the provider's name: both sides must speak the same */
    uint16_t len, unused;
    char name[OFI_NAME_MAX];
};

enum ofi_kind { OFI_OP_RECV, OFI_OP_SEND, OFI_OP_RMA };

struct ofi_op { /* what a completion points to */
    struct fi_context2 ctx; /* first: the provider's while the operation is under way */
    enum ofi_kind kind;
    struct list link;
};

/* One one-sided operation; its peer is needed only where the memory of that peer changes. */
struct ofi_rma {
    struct ofi_op op; /* link: on the peer's puts, or ofi.flying */
    struct ofi_peer *peer;
    struct tp_done *done; /* NULL: nobody is told */
    uint64_t seq;         /* O5: number among the puts of its peer, 0: none */
    void *result;         /* fetched values go here from bytes */
    size_t len;
    struct fid_mr *mr;
    union {
        char put[OFI_PUT_INLINE];
        _Alignas(16) char atom[3][OFI_ATOMIC]; /* operand, compare, result */
    } bytes;
};

struct ofi_flush {
    struct list link; /* on the peer's flushes */
    struct tp_done *done;
    uint64_t seq; /* waits for puts up to this */
};

struct ofi_recv {
    struct ofi_op op; /* link: on ofi.unposted while the provider refuses it */
    char *bytes;
    size_t size;
    struct fid_mr *mr;
};

struct ofi_send {
    struct ofi_op op; /* link: in its peer's queue, or in the pool */
    struct ofi_peer *peer;
    size_t len;  /* bytes on the wire */
    size_t room; /* bytes */
    size_t head; /* of len, in bytes[], where the rest is not ours: */
    struct iovec kept; /* ... of the caller, who waits for done; iov_base NULL: all is in bytes[] */
    struct tp_done *done;
    struct fid_mr *mr;
    _Alignas(8) char bytes[];
};

struct ofi_held { /* a refused request */
    struct list link;
    size_t len, wire; /* bytes of the message; what it counts in the window */
    _Alignas(16) char bytes[];
};

struct ofi_peer {
    unsigned rank;
    int sleeper;       /* O8: its host index; -1: it has a descriptor to sleep on, or is on another host */
    int known;         /* addr and key are valid */
    int connected;     /* connect() was called */
    int broken;        /* -errno; it can no longer be sent to */
    int told_lost;     /* env.lost() was called */
    int reached;       /* the provider has taken something for it */
    uint64_t lacks, lacks_next; /* since when there is none of what a connection needs here; when to try again (ns); 0: there is */
    fi_addr_t addr;
    uint64_t key;
    uint32_t sent, acked;  /* request bytes: sent to it; taken by it as far as we know */
    uint32_t taken, told;  /* request bytes of it: taken; what it was last told */
    uint16_t seq, heard;   /* messages to it: number of the next; the one it expects, as far as we know */
    uint16_t got;          /* number of its next message */
    int gap;               /* one of them was lost: the later ones are not delivered */
    uint64_t due;          /* when to look whether it has heard us (ns) */
    uint16_t mark_seq;     /* seq and ... */
    uint32_t mark_sent;    /* ... sent of the last such look at which it kept up */
    unsigned looks;        /* ... and how many there were since */
    size_t held_wire;      /* bytes of `held` as the window counts them */
    struct list queue;     /* struct ofi_send that wait for the provider */
    struct list held;      /* struct ofi_held, oldest first */
    uint64_t put_seq;      /* number of the last put */
    struct list puts;      /* struct ofi_rma under way that change its memory, oldest first */
    struct list flushes;   /* struct ofi_flush, oldest first */
    struct list in_queue, in_holders, in_owing, in_lost, in_unheard; /* on the lists of struct ofi */
};

struct ofi {
    struct tp_env env;
    struct ofi_lib lib;
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    enum fi_wait_obj wait; /* the queue's */
    int fd[OFI_FDS], nfds; /* its descriptors; 0: nothing to sleep on */
    uint64_t fds_as_of;    /* change_index of FI_WAIT_POLLFD, when they were asked for */
    int timer_fd;          /* made when first needed; readable a millisecond after it was wound up */
    unsigned rank, size;
    uint64_t key;
    size_t inject, am_max, am_zcopy_min;
    int quiet;            /* the provider does not bear questions */
    int multi;            /* receive buffers take many messages each */
    int reg_local;        /* FI_MR_LOCAL */
    int virt_addr;        /* FI_MR_VIRT_ADDR: far addresses, not offsets */
    unsigned flags;       /* of the caps */
    struct map peers;     /* world rank -> struct ofi_peer */
    struct ofi_recv *recv;
    int nrecv;
    char *scratch;        /* one misaligned message */
    struct list queuing, holders, owing, lost, unposted;
    struct list unheard;  /* peers to be looked at (O7), by time */
    unsigned turns;       /* of progress() with such ones */
    int deaths;           /* boot_failed_count() as seen last */
    unsigned nameless;    /* operations that failed, of which the provider does not say to whom they went (count) */
    struct list flying;   /* struct ofi_send and ofi_rma that the provider has, but puts */
    struct list pool[2], rma_pool, flush_pool;
    int pooled[2];
    int warned, warned_failed, warned_gap;
    const char *reason;   /* where open failed */
};

/* load.c: 0 or -errno; the cause has been printed. */
int ofi_load(struct ofi_lib *lib);
int ofi_choose(struct ofi *o);
size_t ofi_eager(const struct ofi *o); /* bytes of a packet that the provider chosen sends at once */
enum fi_wait_obj ofi_wait_obj(const struct ofi *o); /* what the queue is best slept on by */
int ofi_delivers(struct ofi *o); /* the provider knows FI_DELIVERY_COMPLETE */
uint32_t ofi_hash(const char *text);

/* ofi.c */
struct ofi_peer *ofi_peer_make(struct ofi *o, unsigned rank); /* found or made; NULL: no memory */
int ofi_peer_learn(struct ofi *o, struct ofi_peer *p, const void *addr, size_t len);
void ofi_peer_lost(struct ofi *o, struct ofi_peer *p, int err);
void ofi_wake(const struct ofi_peer *p); /* O8: behind what the provider took, or has no room for until the peer looks */
void ofi_look_now(struct ofi *o, struct ofi_peer *p); /* put it first among the unheard */
int ofi_err(int err); /* of libfabric (negative) -> ours */
int ofi_local_reg(struct ofi *o, void *base, size_t len, struct fid_mr **mr);

/* msg.c */
int ofi_am(struct tp *tp, unsigned peer, enum tp_class cls, const struct iovec *iov, int n, struct tp_done *d);
int ofi_is_shortage(ssize_t err); /* descriptors, memory: what this process may have again soon */
int ofi_recv_start(struct ofi *o);
void ofi_recv_post(struct ofi *o, struct ofi_recv *r);
int ofi_greet(struct ofi *o, struct ofi_peer *p);
void ofi_deliver(struct ofi *o, const void *packet, size_t len);
void ofi_send_done(struct ofi *o, struct ofi_send *m, int err);
int ofi_msg_progress(struct ofi *o); /* what waits: queues, held requests, news about the window, receive buffers */
void ofi_queue_drop(struct ofi *o, struct ofi_peer *p); /* what was to be sent to it */
void ofi_held_drop(struct ofi_peer *p);                 /* what came from it and was refused */
int ofi_look(struct ofi *o);                            /* at those who have not heard us for long; events */

/* rma.c */
int ofi_reg(struct tp *tp, void *base, size_t len, int space, int access, struct tp_mem **mem);
int ofi_pack(struct tp *tp, struct tp_mem *mem, void *key, size_t *len);
void ofi_dereg(struct tp *tp, struct tp_mem *mem);
int ofi_import(struct tp *tp, unsigned peer, const void *key, size_t len, struct tp_far **far);
void ofi_drop(struct tp *tp, struct tp_far *far);
int ofi_put(struct tp *tp, struct tp_far *far, uint64_t off, const void *src, size_t len, struct tp_mem *smem,
            struct tp_done *d);
int ofi_get(struct tp *tp, struct tp_far *far, uint64_t off, void *dst, size_t len, struct tp_mem *dmem,
            struct tp_done *d);
int ofi_atomic(struct tp *tp, struct tp_far *far, uint64_t off, const struct tp_atomic *a, struct tp_done *d);
int ofi_atomic_ok(struct tp *tp, int op, int type, size_t n, int fetch);
int ofi_flush(struct tp *tp, unsigned peer, struct tp_done *d);
void ofi_rma_done(struct ofi *o, struct ofi_op *op, int err);
void ofi_rma_caps(struct ofi *o, struct tp_caps *caps);
void ofi_rma_lost(struct ofi *o, struct ofi_peer *p);

#endif
