/* rma.c - one-sided access.  UCX uses the network where that can do it, and messages of its own
 * where it cannot (tcp).  Then the target must call progress, and flush waits for its answer
 * (doc/design/ucx.md). Start with ucx_put(). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpi.h"
#include "tp/ucx/ucx_types.h"

/* The table of operations fixes the signatures; not every function needs all parameters. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

struct mem { /* struct tp_mem */
    ucp_mem_h handle;
    uint64_t base, len;
};

/* Bytes of the least that UCX packs: a word that says for which domains a key follows, and the type
 * of memory.  UCX reads these without the length of the key. */
enum { RKEY_MIN = 9 };

struct key { /* what pack() writes; UCX's own key follows */
    uint64_t base, len;
    uint32_t bytes, unused;
};

/* --- memory ----------------------------------------------------------------------- */

int ucx_reg(struct tp *tp, void *base, size_t len, int space, int access, struct tp_mem **mem)
{
    struct ucx *u = (struct ucx *)tp;
    if (space != 0)
        return -ENOTSUP;
    struct mem *m = calloc(1, sizeof *m);
    if (!m)
        return -ENOMEM;
    *m = (struct mem){.base = (uintptr_t)base, .len = len};
    const ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_PROT,
        .address = base,
        .length = len,
        .prot = UCP_MEM_MAP_PROT_LOCAL_READ |
                (access == TP_MAY_READ ? 0 : UCP_MEM_MAP_PROT_LOCAL_WRITE) |
                (access & TP_MAY_READ ? UCP_MEM_MAP_PROT_REMOTE_READ : 0) |
                (access & TP_MAY_WRITE ? UCP_MEM_MAP_PROT_REMOTE_WRITE : 0),
    };
    ucs_status_t s = u->lib.ucp_mem_map(u->context, &params, &m->handle);
    if (s != UCS_OK) {
        free(m);
        return ucx_errno(s);
    }
    *mem = (struct tp_mem *)m;
    return 0;
}

int ucx_pack(struct tp *tp, struct tp_mem *mem, void *key, size_t *len)
{
    struct ucx *u = (struct ucx *)tp;
    const struct mem *m = (const struct mem *)mem;
    void *rkey;
    size_t bytes;
    ucs_status_t s = u->lib.ucp_rkey_pack(u->context, m->handle, &rkey, &bytes);
    if (s != UCS_OK)
        return ucx_errno(s);
    struct key k = {.base = m->base, .len = m->len, .bytes = (uint32_t)bytes};
    int err = sizeof k + bytes > *len ? -EMSGSIZE : 0;
    if (!err) {
        memcpy(key, &k, sizeof k);
        memcpy((char *)key + sizeof k, rkey, bytes);
        *len = sizeof k + bytes;
    }
    u->lib.ucp_rkey_buffer_release(rkey);
    return err;
}

void ucx_dereg(struct tp *tp, struct tp_mem *mem)
{
    struct ucx *u = (struct ucx *)tp;
    u->lib.ucp_mem_unmap(u->context, ((struct mem *)mem)->handle);
    free(mem);
}

int ucx_import(struct tp *tp, unsigned peer, const void *key, size_t len, struct tp_far **far)
{
    struct ucx *u = (struct ucx *)tp;
    struct key k;
    if (len < sizeof k)
        return -EPROTO;
    memcpy(&k, key, sizeof k);
    if (len != sizeof k + k.bytes || k.bytes < RKEY_MIN || k.base + k.len < k.base)
        return -EPROTO;
    struct ucx_peer *p = map_get(&u->peers, peer);
    int err = p ? ucx_peer_open(p) : -ENOTCONN;
    if (err)
        return err;
    const char *packed = (const char *)key + sizeof k;
    size_t stays = u->shared ? k.bytes : 0;
    struct ucx_far *f = malloc(sizeof *f + stays);
    if (!f)
        return -ENOMEM;
    *f = (struct ucx_far){.peer = p, .base = k.base, .len = k.len};
    memcpy(f->packed, packed, stays);
    ucs_status_t s = u->lib.ucp_ep_rkey_unpack(p->ep, packed, &f->rkey);
    if (s != UCS_OK) {
        free(f);
        return ucx_errno(s);
    }
    *far = (struct tp_far *)f;
    return 0;
}

void ucx_drop(struct tp *tp, struct tp_far *far)
{
    ((struct ucx *)tp)->lib.ucp_rkey_destroy(((struct ucx_far *)far)->rkey);
    free(far);
}

/* --- operations ------------------------------------------------------------------- */

static void on_done(void *request, ucs_status_t status, void *arg)
{
    struct ucx_out *o = arg;
    struct ucx *u = o->u;
    struct tp_done *d = u->closing ? NULL : o->d;
    u->ops--;
    u->events++;
    ucx_out_put(o);
    u->lib.ucp_request_free(request);
    if (d)
        d->fn(d, ucx_errno(status));
}

/* A record for an operation on `p`.  0; TP_AGAIN; -ENOTCONN. */
static int begin(struct ucx_peer *p, size_t bytes, struct tp_done *d, struct ucx_out **out)
{
    struct ucx *u = p->u;
    if (p->failed)
        return -ENOTCONN;
    if (u->ops >= UCX_OPS || !(*out = ucx_out_get(u, bytes)))
        return TP_AGAIN;
    (*out)->d = d;
    u->inside++;
    return 0;
}

static ucp_request_param_t param_of(struct ucx_out *o)
{
    return (ucp_request_param_t){.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                 UCP_OP_ATTR_FIELD_USER_DATA,
                                 .cb.send = on_done,
                                 .user_data = o};
}

/* UCX's result as a result of tp.h. */
static int end(struct ucx_peer *p, struct ucx_out *o, ucs_status_ptr_t r)
{
    struct ucx *u = p->u;
    u->inside--;
    if (UCS_PTR_IS_PTR(r)) {
        u->ops++;
        return o->d ? TP_PENDING : 0;
    }
    ucx_out_put(o);
    return UCS_PTR_IS_ERR(r) ? ucx_errno(UCS_PTR_STATUS(r)) : 0;
}

/* The address of [off, off + len) at the peer; 0 if that is outside. */
static uint64_t remote(const struct ucx_far *f, uint64_t off, size_t len)
{
    return off <= f->len && len <= f->len - off ? f->base + off : 0;
}

int ucx_put(struct tp *tp, struct tp_far *far, uint64_t off, const void *src, size_t len,
            struct tp_mem *smem, struct tp_done *d)
{
    const struct ucx_far *f = (const struct ucx_far *)far;
    uint64_t to = remote(f, off, len);
    int small = len <= UCX_PUT_INLINE;
    struct ucx_out *o;
    if (!to)
        return -ERANGE;
    int err = begin(f->peer, small ? len : 0, small ? NULL : d, &o);
    if (err)
        return err;
    if (small && len)
        src = memcpy(o->bytes, src, len);
    const ucp_request_param_t param = param_of(o);
    return end(f->peer, o, f->peer->u->lib.ucp_put_nbx(f->peer->ep, src, len, to, f->rkey, &param));
}

int ucx_get(struct tp *tp, struct tp_far *far, uint64_t off, void *dst, size_t len,
            struct tp_mem *dmem, struct tp_done *d)
{
    const struct ucx_far *f = (const struct ucx_far *)far;
    uint64_t from = remote(f, off, len);
    struct ucx_out *o;
    if (!from)
        return -ERANGE;
    int err = begin(f->peer, 0, d, &o);
    if (err)
        return err;
    const ucp_request_param_t param = param_of(o);
    return end(f->peer, o,
               f->peer->u->lib.ucp_get_nbx(f->peer->ep, dst, len, from, f->rkey, &param));
}

/* UCX's name for an operation; MPI_OP_NULL is compare-and-swap.  UCP_ATOMIC_OP_LAST: none. */
static ucp_atomic_op_t op_of(int op, int type)
{
    int floating = type & TP_TYPE_FLOATING;
    switch (op) {
    case MPI_REPLACE: return UCP_ATOMIC_OP_SWAP;
    case MPI_NO_OP: return UCP_ATOMIC_OP_ADD; /* of 0, whatever the bits mean */
    case MPI_OP_NULL: return UCP_ATOMIC_OP_CSWAP;
    case MPI_SUM: return floating ? UCP_ATOMIC_OP_LAST : UCP_ATOMIC_OP_ADD;
    case MPI_BAND: return floating ? UCP_ATOMIC_OP_LAST : UCP_ATOMIC_OP_AND;
    case MPI_BOR: return floating ? UCP_ATOMIC_OP_LAST : UCP_ATOMIC_OP_OR;
    case MPI_BXOR: return floating ? UCP_ATOMIC_OP_LAST : UCP_ATOMIC_OP_XOR;
    default: return UCP_ATOMIC_OP_LAST;
    }
}

int ucx_atomic_ok(struct tp *tp, int op, int type, size_t n, int fetch)
{
    int log2 = type & TP_TYPE_LOG2;
    if (fetch == 2)
        op = MPI_OP_NULL;
    return n == 1 && (log2 == 2 || log2 == 3) && op_of(op, type) != UCP_ATOMIC_OP_LAST;
}

int ucx_atomic(struct tp *tp, struct tp_far *far, uint64_t off, const struct tp_atomic *a,
               struct tp_done *d)
{
    const struct ucx_far *f = (const struct ucx_far *)far;
    int op = a->compare ? MPI_OP_NULL : a->op;
    size_t bytes = (size_t)1 << (a->type & TP_TYPE_LOG2);
    uint64_t to = remote(f, off, bytes);
    struct ucx_out *o;
    if (!ucx_atomic_ok(tp, op, a->type, a->n, a->compare ? 2 : a->result != NULL))
        return -ENOTSUP;
    if (!to || to & (bytes - 1))
        return -ERANGE;
    if (op == MPI_NO_OP && !a->result)
        return 0;
    int err = begin(f->peer, 2 * sizeof(uint64_t), d, &o);
    if (err)
        return err;
    ucp_atomic_op_t ucx_op = op_of(op, a->type);
    ucp_request_param_t param = param_of(o);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    param.datatype = ucp_dt_make_contig(bytes);
    if (op == MPI_NO_OP)
        memset(o->bytes, 0, bytes);
    else
        memcpy(o->bytes, a->compare ? a->compare : a->operand, bytes);
    /* Compare-and-swap reads the new value from where it writes the old one. */
    if (a->result || ucx_op == UCP_ATOMIC_OP_SWAP || a->compare) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
        param.reply_buffer = a->result ? a->result : o->bytes + sizeof(uint64_t);
        if (a->compare)
            memcpy(param.reply_buffer, a->operand, bytes);
    }
    return end(
        f->peer, o,
        f->peer->u->lib.ucp_atomic_op_nbx(f->peer->ep, ucx_op, o->bytes, 1, to, f->rkey, &param));
}

int ucx_flush(struct tp *tp, unsigned peer, struct tp_done *d)
{
    struct ucx *u = (struct ucx *)tp;
    struct ucx_peer *p = map_get(&u->peers, peer);
    struct ucx_out *o;
    if (!p || !p->ep)
        return p && p->failed ? -ENOTCONN : 0;
    int err = begin(p, 0, d, &o);
    if (err)
        return err;
    const ucp_request_param_t param = param_of(o);
    return end(p, o, u->lib.ucp_ep_flush_nbx(p->ep, &param));
}
