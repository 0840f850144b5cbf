/* ucx_types.h - private types of the UCX transport.
 *
 *      am() --- window, number, header ---> ucp_am_send_nbx ~~~> on_message --- key, order --->
 *                                                                env->recv
 *      put/get/atomic/flush --------------> ucp_*_nbx
 *
 * Messages.  Each is one UCX active message, always eager, with struct ucx_hdr in front.  It lies
 * in a buffer of ours.  A short one is assembled where UCX sends it from.  The long last piece of a
 * message may stay in the caller's memory.
 *   U1 Every message carries the key that its receiver published through the launcher; one without
 *      it is dropped.  Only processes of the job can have read it.
 *   U2 Messages of one class from one peer are numbered and delivered in that order, whatever UCX
 *      does.
 *   U3 At most UCX_WINDOW requests of a peer are not yet taken: beyond, its am() returns TP_AGAIN.
 *      `taken` in every header reports how far the receiver has come.  Without a message that way,
 *      one is sent for it alone.  So a receiver that refuses requests keeps a bounded number.
 *      Replies have no window: am/ bounds them.
 *   U4 The first message to a peer carries our address, so that it can answer without asking the
 *      launcher.
 *   U5 Nothing is delivered from inside a send (UCX's own loop to the same process would): it waits
 *      for progress().
 *   U6 Messages are delivered at a multiple of 8 bytes.  UCX delivers a message where it has read
 *      it, behind a header of its own of unknown length.  So the sender leaves bytes free in front,
 *      as many as the last message from that peer shows to be right (ucx_peer.pad).  Behind, it
 *      fills up to a multiple of 8, where UCX reads the next one.  A message that is misaligned
 *      nevertheless, such as the first, is copied.
 *   U7 A piece in the caller's memory is not read any more once its receiver has failed: then the
 *      caller does not wait. */
#ifndef TP_UCX_TYPES_H
#define TP_UCX_TYPES_H

#include <ucp/api/ucp.h>

#include <stdlib.h>

#include "base/list.h"
#include "base/map.h"
#include "tp/tp_types.h"

enum {
    UCX_AM_ID = 0,         /* the one kind of UCX active message */
    /* Bytes of one message above struct ucx_hdr.  With everything around it that is one read of
     * UCX's tcp (65541) and one segment of the loopback (65483); with 32 KiB two of them did not
     * quite fit, and a read ended inside of every second one: half as fast (ucx.md). */
    UCX_AM_MAX = 65408,
    UCX_ZCOPY = 8192,       /* caps.am_zcopy_min (bytes) */
    UCX_ADDRESS_MAX = TP_ADDRESS_MAX, /* bytes of an address, with our part */
    UCX_GATHER = 16384,    /* caps.gather (bytes) */
    UCX_WINDOW = 64,       /* requests to a peer that it has not taken (count) */
    UCX_REPLIES = 1024,    /* caps.replies (count) */
    UCX_OPS = 1024,        /* one-sided operations under way (count) */
    UCX_PUT_INLINE = 256,  /* bytes of a put that is copied first */
    UCX_IDLE = 64,         /* free buffers of a size that are kept (count) */
    UCX_SMALL = 512,       /* bytes of a small send buffer, header included */
    UCX_PACKED_MAX = 4096, /* bytes of a message that UCX has packed for it, header included */
    /* Calls of ucp_worker_progress in a row that find nothing, UCX's own affairs included, before
     * its descriptor reports every event (count).  The first arms the interfaces that are not used.
     * By reading of 1.13.1: some (not tcp) first clear an event instead and return 0.  A call that
     * takes an interface out of use may return 0, too. */
    UCX_QUIET = 3,
    UCX_BUDGET = 64        /* kept messages of a class delivered by one progress() */
};

/* The functions of UCX that we use.  The library is loaded when the transport opens and not before
 * (lib.c). */
#define UCX_CALLS(C)                                                                               \
    C(ucp_config_read) C(ucp_config_release) C(ucp_init_version) C(ucp_context_query)              \
    C(ucp_cleanup)                                                                                 \
    C(ucp_worker_create) C(ucp_worker_destroy) C(ucp_worker_get_address)                           \
    C(ucp_worker_release_address) C(ucp_worker_get_efd) C(ucp_worker_arm) C(ucp_worker_progress)   \
    C(ucp_worker_set_am_recv_handler) C(ucp_ep_create) C(ucp_ep_close_nbx) C(ucp_am_send_nbx)      \
    C(ucp_request_free) C(ucp_request_check_status) C(ucp_mem_map) C(ucp_mem_unmap)                \
    C(ucp_rkey_pack) C(ucp_rkey_buffer_release) C(ucp_ep_rkey_unpack) C(ucp_rkey_destroy)          \
    C(ucp_put_nbx) C(ucp_get_nbx) C(ucp_atomic_op_nbx) C(ucp_ep_flush_nbx)                         \
    C(ucp_get_version_string) C(ucp_dt_create_generic) C(ucp_dt_destroy)
struct ucx_lib {
#define UCX_CALL(name) __typeof__(name) *name;
    UCX_CALLS(UCX_CALL)
#undef UCX_CALL
};

enum ucx_class { UCX_REQUEST = TP_REQUEST, UCX_REPLY = TP_REPLY, UCX_TAKEN, UCX_CLASSES };

struct ucx_hdr {
    uint64_t key;        /* the receiver's: U1 */
    uint32_t src;        /* world rank of the sender */
    uint32_t seq;        /* number within its class: U2 */
    uint32_t taken;      /* requests of the receiver that the sender has taken: U3 */
    uint8_t cls;         /* enum ucx_class; UCX_TAKEN: no message behind it */
    uint8_t fill;        /* U6: UCX_FILL(bytes in front of the message, bytes behind it) */
    uint16_t addr_bytes; /* of the sender's address, which follows; a multiple of 8: U4 */
};
_Static_assert(sizeof(struct ucx_hdr) == 24, "what follows stays aligned to 8 bytes");

#define UCX_FILL(pad, tail) ((uint8_t)((pad) | (tail) << 4))
static inline size_t ucx_pad(const struct ucx_hdr *h)
{
    return h->fill & 7;
}
static inline size_t ucx_tail(const struct ucx_hdr *h)
{
    return h->fill >> 4 & 7;
}
/* UCX may send it in parts.  Parts that UCX joins are aligned otherwise than a message that it
 * reads whole. */
static inline int ucx_is_long(size_t len)
{
    return len > UCX_PACKED_MAX;
}

struct ucx;

struct ucx_peer {
    struct ucx *u;
    unsigned rank;
    /* UCX reports that it cannot be reached any more: every call returns -ENOTCONN */
    int failed;
    int no_failures; /* what UCX uses for it does not report its death */
    int greeted;     /* U4: it has our address */
    unsigned char pad[2]; /* U6: bytes to leave free in messages to it: in short ones; in long ones
                           * (ucx_is_long) */
    unsigned looks;  /* ucx.looks when one of its messages was measured last */
    uint64_t key;    /* its key, once `addr` is known */
    unsigned zcopies; /* messages to it under way with a piece in the caller's memory */
    char *addr;      /* UCX's part of its address; NULL: unknown */
    ucp_ep_h ep;     /* NULL: nothing was sent yet, or U7 */
    uint32_t seq[2]; /* number of our next message, by class */
    uint32_t acked;  /* requests that it has taken, as far as is known */
    uint32_t next[2]; /* number of its next message to be delivered, by class */
    uint32_t told;   /* next[UCX_REQUEST] as last sent to it */
    struct list held[2]; /* its messages that are not delivered yet, by number */
    struct list link;    /* on ucx.holders while one of them is not empty */
};

struct ucx_held {
    struct list link;
    uint32_t seq;
    size_t len;
    _Alignas(16) char bytes[];
};

struct ucx_out { /* a send buffer, or the record of a one-sided operation */
    struct list link; /* on a list of free ones */
    struct ucx *u;
    struct tp_done *d; /* NULL: no caller waits for it */
    size_t room;
    const struct iovec *iov; /* of a message whose rest behind `head` is still in the caller's
                              * memory; NULL: it is not, or see `piece` */
    int n;
    size_t head, tail, total; /* bytes in front of the message, behind it, and of all; not of one
                               * with `piece` */
    struct ucx_peer *keeps;   /* the receiver of a last piece that stays where it is; NULL: there
                               * is none */
    ucp_dt_iov_t piece[3];    /* of such a message: all before that piece; the piece; the bytes
                               * behind it */
    _Alignas(16) char bytes[];
};

struct ucx_far { /* struct tp_far */
    struct ucx_peer *peer;
    ucp_rkey_h rkey;
    uint64_t base, len;
    char packed[]; /* UCX's key, where contexts may unpack it, too */
};

struct ucx {
    struct tp_env env;
    struct ucx_lib lib;
    unsigned rank, size, places; /* size: of the job; numbers of processes are below `places` */
    ucp_context_h context;
    ucp_worker_h worker;
    /* of short messages: ucx_packer; 0: a card sends them from where they lie */
    ucp_datatype_t packed;
    int efd;
    int shared;           /* the context may have further workers: tx.c */
    struct list contexts; /* of them, the transmit contexts */
    unsigned stay;        /* of ucx_defaults_on(), what stays for them */
    int one_sided;        /* put, get and atomics are there, for any program that uses UCX's
                           * protocol (ucx.md) */
    uint64_t key;         /* U1: ours */
    char *addr;           /* what address() returns: our key, UCX's address, padding */
    size_t addr_bytes;
    struct map peers;     /* world rank -> struct ucx_peer */
    struct ucx_peer *last; /* the last one looked up */
    struct list holders;
    struct list idle[2];  /* free buffers: small, large */
    unsigned idle_count[2];
    unsigned sending;     /* sends that UCX has not finished with */
    unsigned zcopies;     /* of them, those with a piece in the caller's memory */
    int deaths;           /* boot_failed_count() when U7 was last applied */
    unsigned ops;         /* one-sided operations under way */
    int inside;           /* a send is on the stack: U5 */
    int fresh;            /* a held message that the next progress() can deliver */
    int closing;          /* the rooms above have closed: only completions of zero-copy messages
                           * are reported (T5) */
    int events;           /* our events, in the progress() under way */
    unsigned looks;       /* calls of ucp_worker_progress (count, wraps) */
    unsigned quiet;       /* calls of ucp_worker_progress in a row that found nothing, since
                           * ucp_worker_arm or a new endpoint: UCX_QUIET */
    int warned;           /* enum ucx_warn bits */
    _Alignas(16) char scratch[UCX_AM_MAX]; /* a message that did not lie on 8 bytes */
};

/* lib.c: load UCX.  0, -ELIBACC where it is not installed. */
int ucx_load(struct ucx_lib *lib);
/* Values for UCX's variables that the user did not set, from before ucx_load() until the transport
 * is open.  Returns which (bits by row); ucx_defaults_off removes them. */
unsigned ucx_defaults_on(void);
void ucx_defaults_off(unsigned set);
/* Of `set`, those that UCX reads when a worker is made. To change the environment later would harm
 * threads that read it. */
unsigned ucx_defaults_of_workers(unsigned set);
int ucx_errno(ucs_status_t s); /* -errno */
/* A worker of the context. */
ucs_status_t ucx_open_worker(struct ucx *u, ucp_worker_h *worker);
/* Whether `set` asks for accumulates by processors, and not by network cards. */
int ucx_defaults_cpu(unsigned set);

/* ucx.c */
/* Is there a card that UCX could use for put and get?  UCX does not report how it executes them. */
int ucx_has_card(void);
/* The context, with the features that u->one_sided asks for. */
ucs_status_t ucx_open_context(struct ucx *u);
/* The record of a rank, made if needed; NULL: no memory. */
struct ucx_peer *ucx_peer_find(struct ucx *u, unsigned rank);
static inline struct ucx_peer *ucx_peer_of(struct ucx *u, unsigned rank)
{
    return __builtin_expect(u->last && u->last->rank == rank, 1) ? u->last : ucx_peer_find(u, rank);
}
/* Take over the address that a peer sent. 0, -EPROTO, -ENOMEM. */
int ucx_peer_address(struct ucx_peer *p, const void *addr, size_t len);
/* Make its endpoint if there is none.  0 or -errno. */
int ucx_peer_open(struct ucx_peer *p);
struct ucx_out *ucx_out_make(struct ucx *u, size_t bytes); /* NULL without memory */
static inline struct ucx_out *ucx_out_get(struct ucx *u, size_t bytes)
{
    int large = bytes > UCX_SMALL;
    if (list_empty(&u->idle[large]))
        return ucx_out_make(u, bytes);
    struct ucx_out *o = LIST_OBJ(list_pop(&u->idle[large]), struct ucx_out, link);
    u->idle_count[large]--;
    o->d = NULL;
    o->keeps = NULL;
    return o;
}
static inline void ucx_out_put(struct ucx_out *o)
{
    struct ucx *u = o->u;
    int large = o->room > UCX_SMALL;
    if (u->idle_count[large] >= UCX_IDLE) {
        free(o);
        return;
    }
    /* In front: the next message finds it in the cache. */
    list_push_front(&u->idle[large], &o->link);
    u->idle_count[large]++;
}

/* am.c */
extern const ucp_generic_dt_ops_t ucx_packer; /* the count is 1, the buffer a struct ucx_out */
int ucx_am(struct tp *tp, unsigned peer, enum tp_class cls, const struct iovec *iov, int n,
           struct tp_done *d);
ucs_status_t ucx_on_message(void *arg, const void *header, size_t header_bytes, void *data,
                            size_t len, const ucp_am_recv_param_t *param);
/* Deliver what is held and can be; from progress(). */
void ucx_deliver_held(struct ucx *u);
void ucx_drop_held(struct ucx_peer *p);

/* rma.c */
int ucx_reg(struct tp *tp, void *base, size_t len, int space, int access, struct tp_mem **mem);
int ucx_pack(struct tp *tp, struct tp_mem *mem, void *key, size_t *len);
void ucx_dereg(struct tp *tp, struct tp_mem *mem);
int ucx_import(struct tp *tp, unsigned peer, const void *key, size_t len, struct tp_far **far);
void ucx_drop(struct tp *tp, struct tp_far *far);
int ucx_put(struct tp *tp, struct tp_far *far, uint64_t off, const void *src, size_t len,
            struct tp_mem *smem, struct tp_done *d);
int ucx_get(struct tp *tp, struct tp_far *far, uint64_t off, void *dst, size_t len,
            struct tp_mem *dmem, struct tp_done *d);
int ucx_atomic(struct tp *tp, struct tp_far *far, uint64_t off, const struct tp_atomic *a,
               struct tp_done *d);
int ucx_atomic_ok(struct tp *tp, int op, int type, size_t n, int fetch);
int ucx_flush(struct tp *tp, unsigned peer, struct tp_done *d);

/* tx.c */
int ucx_tx_open(struct tp *tp, struct tp_tx **tx);
void ucx_tx_close(struct tp_tx *tx);
struct tp_tx *ucx_tx_of(struct list *link); /* on ucx.contexts */
int ucx_tx_far(struct tp_tx *tx, struct tp_far *far, struct tp_far **mine);
void ucx_tx_drop(struct tp_tx *tx, struct tp_far *mine);
int ucx_tx_put(struct tp_tx *tx, struct tp_far *mine, uint64_t off, const void *src, size_t len);
int ucx_tx_flush(struct tp_tx *tx, struct tp_far *mine);

#endif
