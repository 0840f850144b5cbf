/* am.c - messages: window and numbers at the sender, key, order and refusal at the receiver (U1-U6
 * in ucx_types.h). Start with transmit() and ucx_on_message(). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "tp/ucx/ucx_types.h"

/* The table of operations fixes the signatures; not every function needs all parameters. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

enum ucx_warn { WARN_KEY = 1, WARN_SHAPE = 2 };

/* --- send ------------------------------------------------------------------------- */

static void on_sent(void *request, ucs_status_t status, void *arg)
{
    struct ucx_out *o = arg;
    struct ucx *u = o->u;
    struct tp_done *d = o->d;
    int err = ucx_errno(status);
    u->sending--;
    if (o->keeps) {
        o->keeps->zcopies--;
        u->zcopies--;
    }
    ucx_out_put(o);
    u->lib.ucp_request_free(request);
    if (d) { /* last: it may send */
        u->events++;
        /* A connection that breaks ends what is under way with errors of its own, before it calls
         * on_failure(). */
        d->fn(d, err && err != -ENOMEM ? -ENOTCONN : err);
    }
}

/* A short message is sent as a datatype of ours.  Then UCX calls us to copy it to where it sends
 * from.  Contiguous data go to its tcp in three pieces, and a system call for pieces costs 0.2 to
 * 0.4 us more than one for contiguous bytes.  Beyond 8 KiB UCX would send such a type in parts. */
static void *pack_start(void *context, const void *buffer, size_t count)
{
    return (void *)buffer;
}

static size_t pack_bytes(void *state)
{
    return ((const struct ucx_out *)state)->total;
}

static void pack_all(struct ucx_out *o, char *to)
{
    if (to != o->bytes)
        memcpy(to, o->bytes, o->head);
    if (o->tail)
        memset(to + o->total - o->tail, 0, o->tail);
    tp_iov_gather(to + o->head, o->iov, o->n);
}

/* The rest of the message comes into our buffer: the caller may reuse its pieces. */
static void settle(struct ucx_out *o)
{
    if (o->iov)
        pack_all(o, o->bytes);
    o->iov = NULL;
}

static size_t pack(void *state, size_t offset, void *to, size_t room)
{
    struct ucx_out *o = state;
    size_t n = o->total - offset < room ? o->total - offset : room;
    if (o->iov && n == o->total) {
        pack_all(o, to);
    } else {
        settle(o); /* in parts: the user has set UCX_TCP_TX_SEG_SIZE so */
        memcpy(to, o->bytes + offset, n);
    }
    return n;
}

static void pack_finish(void *state)
{
}

/* Types of UCX are for receives, too; none of our receives uses one. */
static void *unpack_start(void *context, void *buffer, size_t count)
{
    return NULL;
}

static ucs_status_t unpack(void *state, size_t offset, const void *from, size_t n)
{
    return UCS_ERR_UNSUPPORTED;
}

const ucp_generic_dt_ops_t ucx_packer = {.start_pack = pack_start, .start_unpack = unpack_start,
                                         .packed_size = pack_bytes, .pack = pack, .unpack = unpack,
                                         .finish = pack_finish};

/* What precedes a message to p, written to o; returns its bytes. `pad` of them come last (U6). */
static inline size_t put_head(struct ucx_out *o, struct ucx_peer *p, enum ucx_class cls, size_t pad,
                              size_t tail)
{
    const struct ucx *u = p->u;
    const size_t greeting = p->greeted ? 0 : u->addr_bytes,
                 head = sizeof(struct ucx_hdr) + greeting + pad;
    *(struct ucx_hdr *)o->bytes = (struct ucx_hdr){.key = p->key,
                                                   .src = u->rank,
                                                   .seq = cls < UCX_TAKEN ? p->seq[cls] : 0,
                                                   .taken = p->next[UCX_REQUEST],
                                                   .cls = (uint8_t)cls,
                                                   .fill = UCX_FILL(pad, tail),
                                                   .addr_bytes = (uint16_t)greeting};
    if (greeting)
        memcpy(o->bytes + sizeof(struct ucx_hdr), u->addr, greeting);
    /* in one store; bytes behind the pad are written later, or are in no message */
    memset(o->bytes + head - pad, 0, 8);
    return head;
}

static inline ucp_request_param_t param_of(struct ucx_out *o)
{
    ucp_request_param_t param; /* UCX does not read fields outside the mask */
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                         UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    param.memory_type = UCS_MEMORY_TYPE_HOST; /* otherwise it would query each */
    param.flags = UCP_AM_SEND_FLAG_EAGER;
    param.cb.send = on_sent;
    param.user_data = o;
    return param;
}

/* UCX's result: 1: it still uses o, which on_sent() gives back; 0; or -errno. */
static inline int handed_over(struct ucx_peer *p, enum ucx_class cls, struct ucx_out *o,
                              uint32_t taken, ucs_status_ptr_t r)
{
    const int under_way = UCS_PTR_IS_PTR(r);
    if (under_way) {
        settle(o);
        p->u->sending++;
    } else {
        ucx_out_put(o);
        if (UCS_PTR_IS_ERR(r))
            return p->failed ? -ENOTCONN : ucx_errno(UCS_PTR_STATUS(r));
    }
    p->greeted = 1;
    p->told = taken;
    if (cls < UCX_TAKEN)
        p->seq[cls]++;
    return under_way;
}

static inline size_t greeting_of(const struct ucx_peer *p)
{
    return p->greeted ? 0 : p->u->addr_bytes;
}

/* Give one message to UCX, which takes any number: U3 bounds them, and am/ bounds replies. */
static int transmit(struct ucx_peer *p, enum ucx_class cls, const struct iovec *iov, int n,
                    size_t len)
{
    struct ucx *u = p->u;
    int err;
    if (__builtin_expect(!p->ep || p->failed, 0) && (err = ucx_peer_open(p)) != 0)
        return err;
    const size_t pad = p->pad[ucx_is_long(len)], tail = -len & 7;
    const size_t total = sizeof(struct ucx_hdr) + greeting_of(p) + pad + len + tail;
    struct ucx_out *o = ucx_out_get(u, total);
    if (!o)
        return TP_AGAIN; /* memory may come back; waiting loses nothing */
    const uint32_t taken = p->next[UCX_REQUEST]; /* inside the call it may grow */
    o->head = put_head(o, p, cls, pad, tail);
    o->tail = tail;
    o->total = total;
    o->iov = iov;
    o->n = n;
    ucp_request_param_t param = param_of(o);
    ucs_status_ptr_t r;
    u->inside++;
    if (u->packed && total <= UCX_PACKED_MAX) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
        param.datatype = u->packed;
        r = u->lib.ucp_am_send_nbx(p->ep, UCX_AM_ID, NULL, 0, o, 1, &param);
    } else {
        settle(o);
        r = u->lib.ucp_am_send_nbx(p->ep, UCX_AM_ID, NULL, 0, o->bytes, total, &param);
    }
    u->inside--;
    err = handed_over(p, cls, o, taken, r);
    return err > 0 ? 0 : err;
}

/* The same for a long message whose last piece UCX sends from where it lies: the receiver's copy
 * and the kernel's two are enough. 0: it has left; TP_PENDING.  The piece is copied if nothing
 * would stop UCX from reading it (U7), and if UCX cannot read it: a card may refuse to register
 * read-only memory. */
static int transmit_zcopy(struct ucx_peer *p, enum ucx_class cls, const struct iovec *iov, int n,
                         size_t len, struct tp_done *d)
{
    struct ucx *u = p->u;
    int err;
    if (__builtin_expect(!p->ep || p->failed, 0) && (err = ucx_peer_open(p)) != 0)
        return err;
    if (p->no_failures)
        return transmit(p, cls, iov, n, len);
    const struct iovec *kept = &iov[n - 1];
    const size_t pad = p->pad[ucx_is_long(len)], tail = -len & 7, front = len - kept->iov_len;
    struct ucx_out *o = ucx_out_get(u,
                                    sizeof(struct ucx_hdr) + greeting_of(p) + pad + front + tail);
    if (!o)
        return TP_AGAIN;
    const uint32_t taken = p->next[UCX_REQUEST];
    const size_t head = put_head(o, p, cls, pad, tail);
    tp_iov_gather(o->bytes + head, iov, n - 1);
    memset(o->bytes + head + front, 0, tail);
    o->iov = NULL;
    o->d = d;
    o->keeps = p;
    o->piece[0] = (ucp_dt_iov_t){o->bytes, head + front};
    o->piece[1] = (ucp_dt_iov_t){kept->iov_base, kept->iov_len};
    o->piece[2] = (ucp_dt_iov_t){o->bytes + head + front, tail};
    ucp_request_param_t param = param_of(o);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    param.datatype = UCP_DATATYPE_IOV;
    u->inside++;
    ucs_status_ptr_t r = u->lib.ucp_am_send_nbx(p->ep, UCX_AM_ID, NULL, 0, o->piece, tail ? 3 : 2,
                                                &param);
    u->inside--;
    err = handed_over(p, cls, o, taken, r);
    if (err < 0)
        return p->failed ? err : transmit(p, cls, iov, n, len);
    p->zcopies += (unsigned)err;
    u->zcopies += (unsigned)err;
    return err ? TP_PENDING : 0;
}

int ucx_am(struct tp *tp, unsigned peer, enum tp_class cls, const struct iovec *iov, int n,
           struct tp_done *d)
{
    struct ucx *u = (struct ucx *)tp;
    size_t len = tp_iov_bytes(iov, n);
    if (len > UCX_AM_MAX)
        return -EMSGSIZE;
    struct ucx_peer *p = u->last && u->last->rank == peer ? u->last : map_get(&u->peers, peer);
    if (!p || !p->addr)
        return -ENOTCONN;
    if (cls == TP_REQUEST && p->seq[cls] - p->acked >= UCX_WINDOW)
        return p->failed ? -ENOTCONN : TP_AGAIN;
    if (d && iov[n - 1].iov_len >= UCX_ZCOPY)
        return transmit_zcopy(p, (enum ucx_class)cls, iov, n, len, d);
    return transmit(p, (enum ucx_class)cls, iov, n, len);
}

/* Report to the peer how far its requests are taken, when it has not heard for half a window.  It
 * cannot run dry: with its window full all of it is taken at some time, and that is more than a
 * half. */
static void tell_taken(struct ucx_peer *p)
{
    if (p->next[UCX_REQUEST] - p->told >= UCX_WINDOW / 2 && p->addr && !p->failed)
        transmit(p, UCX_TAKEN, NULL, 0, 0); /* a failure shows again with the next message */
}

/* --- receive ---------------------------------------------------------------------- */

static __attribute__((cold)) void warn_once(struct ucx *u, enum ucx_warn bit, const char *what)
{
    if (!(u->warned & bit))
        log_warn("%s; it is dropped, others like it are not reported", what);
    u->warned |= bit;
}

/* Keep a message that cannot be delivered now, sorted by number.  Without memory it is lost, and
 * that is reported. */
static void hold(struct ucx_peer *p, enum ucx_class cls, uint32_t seq, const void *msg, size_t len)
{
    struct list *at = &p->held[cls];
    while (at->prev != &p->held[cls] &&
           (int32_t)(LIST_OBJ(at->prev, struct ucx_held, link)->seq - seq) > 0)
        at = at->prev;
    if (at->prev != &p->held[cls] && LIST_OBJ(at->prev, struct ucx_held, link)->seq == seq) {
        warn_once(p->u, WARN_SHAPE, "a message came twice");
        return;
    }
    struct ucx_held *h = malloc(sizeof *h + len);
    if (!h)
        log_fatal("out of memory for a message of %zu bytes from rank %u", len, p->rank);
    h->seq = seq;
    h->len = len;
    memcpy(h->bytes, msg, len);
    list_insert(at, &h->link);
    if (list_empty(&p->link))
        list_push(&p->u->holders, &p->link);
}

static int take(struct ucx_peer *p, enum ucx_class cls, const void *msg, size_t len)
{
    struct ucx *u = p->u;
    if (u->env.recv(u->env.up, p->rank, (enum tp_class)cls, msg, len) == TP_AGAIN &&
        cls == UCX_REQUEST)
        return TP_AGAIN;
    p->next[cls]++;
    u->events++;
    if (cls == UCX_REQUEST)
        tell_taken(p);
    return 0;
}

/* A message with its header checked. */
static void arrive(struct ucx_peer *p, enum ucx_class cls, uint32_t seq, const void *msg,
                   size_t len)
{
    struct ucx *u = p->u;
    if (seq == p->next[cls] && !u->inside) {
        if ((uintptr_t)msg & 7)
            msg = memcpy(u->scratch, msg, len);
        if (take(p, cls, msg, len) == 0) {
            u->fresh |= !list_empty(&p->held[cls]);
            return;
        }
    }
    hold(p, cls, seq, msg, len);
    u->fresh |= u->inside != 0; /* nothing else notifies the engine */
}

/* Bytes around the message. */
static size_t around(const struct ucx_hdr *h)
{
    return sizeof *h + h->addr_bytes + ucx_pad(h) + ucx_tail(h);
}

/* What the header contains that no process of ours would send; NULL: nothing. */
static const char *wrong_shape(const struct ucx *u, const struct ucx_hdr *h, size_t len)
{
    if (h->cls >= UCX_CLASSES || h->src >= u->places)
        return "a message has a class or sender that does not exist";
    if (around(h) > len || len - around(h) > UCX_AM_MAX)
        return "a message has a wrong length";
    return NULL;
}

ucs_status_t ucx_on_message(void *arg, const void *header, size_t header_bytes, void *data,
                            size_t len, const ucp_am_recv_param_t *param)
{
    struct ucx *u = arg;
    struct ucx_hdr h;
    const char *wrong = NULL;
    if (u->closing) /* the rooms above have closed */
        return UCS_OK;
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV || len < sizeof h) {
        warn_once(u, WARN_SHAPE, "a message is none of ours");
        return UCS_OK;
    }
    memcpy(&h, data, sizeof h);
    if (h.key != u->key) {
        warn_once(u, WARN_KEY, "a message from outside the job came in (its key is not ours)");
        return UCS_OK;
    }
    struct ucx_peer *p = (wrong = wrong_shape(u, &h, len)) ? NULL : ucx_peer_of(u, h.src);
    if (p && h.cls < UCX_TAKEN &&
        h.seq - p->next[h.cls] >= (h.cls == UCX_REQUEST ? UCX_WINDOW : UCX_REPLIES))
        wrong = "a message has a number far from the one expected";
    /* Older than what is known: a later one overtook it, which U2 allows.  It does no harm. */
    uint32_t more = p ? h.taken - p->acked : 0;
    if (p && (int32_t)more > 0 && more > p->seq[UCX_REQUEST] - p->acked)
        wrong = "a message reports more requests as taken than were sent";
    if (!p || wrong) {
        warn_once(u, WARN_SHAPE, wrong ? wrong : "no memory for a message");
        return UCS_OK;
    }
    if ((int32_t)more > 0)
        p->acked = h.taken;
    const char *body = (const char *)data + sizeof h;
    if (h.addr_bytes && ucx_peer_address(p, body, h.addr_bytes))
        warn_once(u, WARN_SHAPE, "a message brings an address that is none");
    body += h.addr_bytes + ucx_pad(&h);
    len -= around(&h);
    if (p->looks != u->looks) {
        /* of several read at once the first; those behind it are aligned by its sender */
        p->looks = u->looks;
        /* this address also leads back */
        p->pad[ucx_is_long(len)] = (ucx_pad(&h) - (uintptr_t)body) & 7;
    }
    if (h.cls < UCX_TAKEN)
        arrive(p, (enum ucx_class)h.cls, h.seq, body, len);
    return UCS_OK;
}

/* --- held messages ------------------------------------------------------------------- */

static void deliver_class(struct ucx_peer *p, enum ucx_class cls)
{
    for (int i = 0; i < UCX_BUDGET && !list_empty(&p->held[cls]); i++) {
        struct ucx_held *h = LIST_OBJ(p->held[cls].next, struct ucx_held, link);
        if (h->seq != p->next[cls] || take(p, cls, h->bytes, h->len) == TP_AGAIN)
            return;
        list_del(&h->link);
        free(h);
    }
    if (!list_empty(&p->held[cls]))
        p->u->fresh = 1;
}

void ucx_deliver_held(struct ucx *u)
{
    for (struct list *l = u->holders.next, *next; l != &u->holders; l = next) {
        struct ucx_peer *p = LIST_OBJ(l, struct ucx_peer, link);
        deliver_class(p, UCX_REPLY);
        deliver_class(p, UCX_REQUEST);
        next = l->next; /* after the handlers, which may have added peers at the end */
        if (list_empty(&p->held[UCX_REPLY]) && list_empty(&p->held[UCX_REQUEST]))
            list_del(&p->link);
    }
}

void ucx_drop_held(struct ucx_peer *p)
{
    for (int cls = 0; cls < 2; cls++)
        for (struct list *l; (l = list_pop(&p->held[cls])) != NULL;)
            free(LIST_OBJ(l, struct ucx_held, link));
    list_del(&p->link);
}
