/* ofi.h - private to tp/ofi: one libfabric endpoint, its peers, its buffers.
 *
 *   load.c      finds libfabric at run time and chooses a provider; nearest.c: one of several cards
 *   ofi.c       life, peers, progress, the table
 *   sleep.c     the completion queue's descriptors
 *   msg_out.c   active messages that leave: buffers, queues, window
 *   msg_in.c    active messages that come: receive buffers, held requests, window
 *   unheard.c   peers that do not answer
 *   rma.c       memory, put, get, atomics, flush; transmit.c: contexts of threads
 *   cache.c     registrations of local buffers that are kept
 *   rails.c     long puts and gets over several cards; cards.c: their objects and addresses
 *   fabric.c    what all of them share
 *
 * O1. Every packet carries the receiver's key, a random number that only the boot key-value space
 *     has. A packet without it is dropped before anything else of it is used.
 * O2. Window: at most OFI_WINDOW request bytes are sent to a peer and not yet taken by its
 *     handlers. A receiver keeps at most as many bytes of refused requests for one peer. Replies
 *     are not counted: the process that asked has room for them (am/).
 * O3. What the provider does not take at once waits in the peer's queue, in order. Nothing
 *     overtakes it.
 * O4. `taken` is a sum, not a difference: a lost or doubled packet with it does no harm.
 * O5. Puts and atomics on a peer stand in the order of their issue. A flush waits for those before
 *     it.
 * O6. Messages to a peer are numbered. Every packet has the number of the next one and the number
 *     expected from its receiver. A provider may lose what it took (tp-ofi.md, "What a connection
 *     takes with it"). Where the order is promised, a number beyond the expected one shows that,
 *     and no more of that peer is delivered. What comes a second time is dropped.
 * O7. A process that has received nothing for a second or two after it sent asks until it receives
 *     something. A silent peer is asked again, ever less often, and does not count as failed for
 *     that. The process that finds the connection broken notifies the other side.
 * O8. A provider without a descriptor (shm) moves data only while the target looks. A target that
 *     waits may look every few milliseconds only (progress.md P8). So what is given to such a
 *     provider for a process of this host wakes that process.
 * O9. A put asks for FI_DELIVERY_COMPLETE. With FI_FENCE only one that has nothing before it does:
 *     the others are `loose`. Before a flush waits, an empty write behind a fence follows the last
 *     loose put; its delivery is theirs. */
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
#include "tp/ofi/cache.h"
#include "tp/ofi/limits.h"
#include "tp/ofi/rails.h"
#include "tp/ofi/transmit.h"
#include "tp/ofi/wire.h"
#include "tp/tp_types.h"

/* The few functions of libfabric that are not reached through its objects. */
struct ofi_lib {
    void *so;
    int (*getinfo)(uint32_t version, const char *node, const char *service, uint64_t flags,
                   const struct fi_info *hints, struct fi_info **info);
    void (*freeinfo)(struct fi_info *info);
    struct fi_info *(*dupinfo)(const struct fi_info *info);
    int (*fabric)(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
    const char *(*strerror)(int err);
    uint32_t (*version)(void);
};

enum ofi_kind { OFI_OP_RECV, OFI_OP_SEND, OFI_OP_RMA, OFI_OP_PIECE };

struct ofi_op { /* what a completion points to */
    struct fi_context2 ctx; /* first: the provider uses it while the operation is under way */
    enum ofi_kind kind;
    struct list link;
};

/* One one-sided operation; its peer is set only if the memory of that peer changes. */
struct ofi_rma {
    struct ofi_op op; /* link: on the peer's puts, or ofi.flying */
    struct ofi_peer *peer;
    struct tp_done *done; /* NULL: no caller waits */
    uint64_t seq;         /* O5: number among the puts of its peer, 0: none */
    void *result;         /* fetched values go here, len bytes; NULL: nothing comes */
    size_t len;
    const void *from;      /* ... and are here */
    struct ofi_copy *copy; /* ... of this one, or of none (NULL) */
    struct fid_mr *mr;
    union {
        char put[OFI_PUT_INLINE];
        _Alignas(16) char atom[3][OFI_ATOMIC]; /* operand, compare, result */
    } bytes;
};

struct ofi_flush_wait {
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
    /* ... of the caller, which waits for done; iov_base NULL: all is in bytes[] */
    struct iovec kept;
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
    /* O8: its host index; -1: it has a descriptor to sleep on, or is on another host */
    int sleeper;
    int known;         /* addr and key are valid */
    int connected;     /* connect() was called */
    int broken;        /* -errno; it can no longer be sent to */
    int told_lost;     /* env.lost() was called */
    int reached;       /* the provider has taken something for it */
    /* since when something that a connection needs is missing here; when to try again (ns); 0:
     * nothing is missing */
    uint64_t lacks, lacks_next;
    uint64_t looked;   /* when to look again whether it is memory (ns) */
    fi_addr_t addr;
    uint64_t key;
    uint32_t sent, acked;  /* request bytes: sent to it; taken by it as far as is known */
    uint32_t taken, told;  /* request bytes of it: taken; as last reported to it */
    /* messages to it: number of the next; the one it expects, as far as is known */
    uint16_t seq, heard;
    uint16_t got;          /* number of its next message */
    int gap;               /* one of them was lost: the later ones are not delivered */
    uint64_t due;          /* when to look whether it has heard us (ns) */
    uint16_t mark_seq;     /* seq and ... */
    uint32_t mark_sent;    /* ... sent at the last look at which it kept up */
    unsigned looks;        /* ... and the number of looks since */
    size_t held_wire;      /* bytes of `held` as the window counts them */
    struct list queue;     /* struct ofi_send that wait for the provider */
    struct list held;      /* struct ofi_held, oldest first */
    uint64_t put_seq;      /* number of the last put */
    int loose;             /* O9: puts that no fence has followed (count) */
    struct ofi_key loose_key; /* memory of the last one */
    struct list puts;      /* struct ofi_rma under way that change its memory, oldest first */
    struct list flushes;   /* struct ofi_flush_wait, oldest first */
    /* by our rails: address and number there; those that have one, that it has closed (bits) */
    fi_addr_t rail_addr[OFI_RAILS];
    uint8_t rail_theirs[OFI_RAILS], rails, gone;
    unsigned striped;              /* pieces on rails */
    /* while there are any: when a packet came, when we asked, how long to wait then (ns); answers
     * since something was finished on each rail (count) */
    uint64_t heard_at, rail_asked, ask_ns;
    unsigned strikes[OFI_RAILS];
    /* on the lists of struct ofi */
    struct list in_queue, in_holders, in_owing, in_lost, in_unheard;
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
    enum fi_wait_obj wait; /* the queue's way to sleep */
    int fd[OFI_FDS], nfds; /* its descriptors; 0: nothing to sleep on */
    uint64_t fds_as_of;    /* change_index of FI_WAIT_POLLFD at the time of the query */
    int timer_fd; /* made when first needed; readable a millisecond after it was set */
    unsigned rank, places; /* numbers of processes are below `places` */
    uint64_t key;
    size_t inject, am_max, am_zcopy_min;
    int quiet;            /* no questions: the provider does not survive them */
    int multi;            /* receive buffers take many messages each */
    int reg_local;        /* FI_MR_LOCAL */
    int virt_addr;        /* FI_MR_VIRT_ADDR: far addresses, not offsets */
    int fences;           /* FI_FENCE (O9) */
    unsigned flags;       /* of the caps */
    struct map peers;     /* world rank -> struct ofi_peer */
    struct ofi_recv *recv;
    int nrecv;
    char *scratch;        /* one misaligned message */
    struct ofi_rail rail[OFI_RAILS];
    int nrails;
    unsigned rail_turns;
    /* rails.c. Pieces that go by the first card; that wait for L4; that have failed */
    struct list splits, again, stuck, suspects;
    struct list queuing, holders, owing, lost, unposted;
    struct list unheard;  /* peers to be looked at (O7), by time */
    unsigned turns;       /* calls of progress() with such peers */
    int deaths;           /* boot_failed_count() as last seen */
    unsigned nameless;    /* operations that failed without a report of the peer (count) */
    struct list flying;   /* struct ofi_send and ofi_rma that the provider has, without puts */
    struct list pool[2], rma_pool, flush_pool;
    int pooled[2];
    struct ofi_txs txs;
    struct ofi_cache cache;
    int warned, warned_failed, warned_gap;
    const char *reason;   /* the step at which open failed */
};

/* load.c: 0 or -errno; the cause has been printed. */
int ofi_load(struct ofi_lib *lib);
int ofi_choose(struct ofi *o);
/* For libfabric's environment; classes: the folder of the kernel's classes of devices. */
void ofi_settings_make(uint32_t version, const char *classes);
/* bytes of a packet that the chosen provider sends at once */
size_t ofi_eager(const struct ofi *o);
/* 1: tcp;ofi_rxm receives into the posted buffer what is longer than its own (until 1.19). Later
 * versions have no FI_OFI_RXM_EAGER_LIMIT. They ask before they send what is longer than their
 * buffers, and it completes behind what was sent after it. */
int ofi_rxm_direct(const struct ofi_lib *lib);
enum fi_wait_obj ofi_wait_obj(const struct ofi *o); /* the best way to sleep on the queue */
int ofi_delivers(struct ofi *o); /* the provider knows FI_DELIVERY_COMPLETE */
uint32_t ofi_hash(const char *text);

/* fabric.c */
struct ofi_peer *ofi_peer_make(struct ofi *o, unsigned rank); /* found or made; NULL: no memory */
int ofi_peer_learn(struct ofi *o, struct ofi_peer *p, const void *addr, size_t len);
void ofi_peer_lost(struct ofi *o, struct ofi_peer *p, int err);
void ofi_look_now(struct ofi *o, struct ofi_peer *p); /* put it first among the unheard */
int ofi_address(struct tp *tp, void *buf, size_t *len); /* our own */
void ofi_close_fid(struct fid *f); /* NULL: nothing */
/* O8: behind what the provider took, or what it has no room for until the peer looks */
void ofi_wake(const struct ofi_peer *p);
int ofi_err(int err); /* error of libfabric (negative) -> ours */
uint64_t ofi_key_mask(const struct ofi *o); /* bits of a key of memory */
int ofi_is_shortage(ssize_t err); /* descriptors, memory: what this process may have again soon */
/* 0 with *mr, or an error with NULL in it */
int ofi_reg_as(struct ofi *o, void *base, size_t len, uint64_t rights, struct fid_mr **mr);

/* sleep.c */
int ofi_cq_open(struct ofi *o, enum fi_wait_obj way); /* to sleep on so, or in another way */
int ofi_pollfds_learn(struct ofi *o);                 /* the descriptors of FI_WAIT_POLLFD */
int ofi_fd(struct tp *tp, int armed);
int ofi_fds(struct tp *tp, int *fd);

/* msg_out.c */
int ofi_am(struct tp *tp, unsigned peer, enum tp_class cls, const struct iovec *iov, int n,
           struct tp_done *d);
/* Send a short packet without a buffer of ours. 0: sent; -FI_EAGAIN: not now, or not in this way;
 * or another error, which shows again when the packet leaves the queue. */
ssize_t ofi_inject(struct ofi *o, struct ofi_peer *p, enum ofi_packet kind,
                   const struct iovec *iov, int n, size_t len);
int ofi_queue_run(struct ofi *o, struct ofi_peer *p); /* send what waits for it; returns events */
/* Our own address, for HELLO and ASK. */
int ofi_own_address(struct ofi *o, struct ofi_contact *a, struct iovec *v);
int ofi_greet(struct ofi *o, struct ofi_peer *p);
void ofi_send_done(struct ofi *o, struct ofi_send *m, int err);
void ofi_queue_drop(struct ofi *o, struct ofi_peer *p); /* drop what was to be sent to it */
/* Something waits for the provider now: another thread, asleep on its descriptors, tries again. */
void ofi_wake_sleeper(void);

/* msg_in.c */
int ofi_recv_start(struct ofi *o);
void ofi_recv_post(struct ofi *o, struct ofi_recv *r);
void ofi_deliver(struct ofi *o, const void *packet, size_t len);
int ofi_tell(struct ofi *o, struct ofi_peer *p); /* how much was taken of it; 1: sent */
/* what waits: queues, held requests, news about the window, receive buffers */
int ofi_msg_progress(struct ofi *o);
void ofi_held_drop(struct ofi_peer *p); /* drop what came from it and was refused */

/* unheard.c: look at peers that have not heard us for OFI_LOOK_NS; returns events. */
int ofi_look(struct ofi *o);

/* rma.c */
int ofi_reg(struct tp *tp, void *base, size_t len, int space, int access, struct tp_mem **mem);
int ofi_pack(struct tp *tp, struct tp_mem *mem, void *key, size_t *len);
void ofi_dereg(struct tp *tp, struct tp_mem *mem);
int ofi_import(struct tp *tp, unsigned peer, const void *key, size_t len, struct tp_far **far);
void ofi_drop(struct tp *tp, struct tp_far *far);
int ofi_put(struct tp *tp, struct tp_far *far, uint64_t off, const void *src, size_t len,
            struct tp_mem *smem, struct tp_done *d);
int ofi_put_note(struct tp *tp, struct tp_far *far, uint64_t off, const void *src, size_t len,
                 struct tp_mem *smem, uint32_t note, struct tp_done *d);
int ofi_get(struct tp *tp, struct tp_far *far, uint64_t off, void *dst, size_t len,
            struct tp_mem *dmem, struct tp_done *d);
int ofi_atomic(struct tp *tp, struct tp_far *far, uint64_t off, const struct tp_atomic *a,
               struct tp_done *d);
int ofi_atomic_ok(struct tp *tp, int op, int type, size_t n, int fetch);
int ofi_flush(struct tp *tp, unsigned peer, struct tp_done *d);
void ofi_rma_done(struct ofi *o, struct ofi_op *op, int err);
void ofi_rma_caps(struct ofi *o, struct tp_caps *caps);
void ofi_rma_lost(struct ofi *o, struct ofi_peer *p);

#endif
