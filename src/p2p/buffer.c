/* buffer.c - buffered sends: the message is packed into the attached buffer and sent from there.
 *
 *   | piece | data ... | free | piece | data ... |      pieces in order of address, first fit
 *
 * A piece's header fits into MPI_BSEND_OVERHEAD, so a buffer of the size that MPI-3.1 3.6 asks for
 * always does. */
#include <stdlib.h>
#include <string.h>

#include "obj/err.h"
#include "p2p/p2p_types.h"

struct piece { /* in the user's buffer */
    struct list link;
    size_t size; /* bytes with this header */
};
_Static_assert(sizeof(struct piece) + 2 * sizeof(max_align_t) <= MPI_BSEND_OVERHEAD,
               "alignment of header and data included");

struct p2p_buffer {
    void *user;
    size_t user_size;
    char *base, *end; /* aligned inside */
    struct list pieces;
};

static size_t round_up(size_t n)
{
    const size_t a = sizeof(max_align_t);
    return (n + a - 1) / a * a;
}

int p2p_buffer_attach(void *buf, size_t size)
{
    struct p2p *s = proc->p2p;
    if (s->buffer)
        return err_make(MPI_ERR_BUFFER,
                        "MPI_Buffer_attach: a buffer of %zu bytes is attached already",
                        s->buffer->user_size);
    struct p2p_buffer *b = malloc(sizeof *b);
    if (!b)
        return err_make(MPI_ERR_NO_MEM, "MPI_Buffer_attach: no memory");
    b->user = buf;
    b->user_size = size;
    b->base = (char *)round_up((size_t)(uintptr_t)buf);
    b->end = (char *)buf + size;
    list_init(&b->pieces);
    s->buffer = b;
    return MPI_SUCCESS;
}

static int buffer_empty(void *arg)
{
    return list_empty(&((struct p2p_buffer *)arg)->pieces);
}

int p2p_buffer_detach(void *buf_out, size_t *size)
{
    struct p2p *s = proc->p2p;
    struct p2p_buffer *b = s->buffer;
    if (!b) {
        memset(buf_out, 0, sizeof(void *));
        *size = 0;
        return MPI_SUCCESS;
    }
    progress_wait(buffer_empty, b, "buffered messages to leave", -1);
    memcpy(buf_out, &b->user, sizeof(void *));
    *size = b->user_size;
    s->buffer = NULL;
    free(b);
    return MPI_SUCCESS;
}

static struct piece *piece_take(struct p2p_buffer *b, size_t bytes)
{
    size_t need = round_up(sizeof(struct piece)) + round_up(bytes);
    char *at = b->base;
    for (struct list *l = b->pieces.next;; l = l->next) {
        char *limit = l == &b->pieces ? b->end : (char *)LIST_OBJ(l, struct piece, link);
        if (at <= limit && (size_t)(limit - at) >= need) {
            struct piece *p = (struct piece *)at;
            p->size = need;
            list_insert(l, &p->link);
            return p;
        }
        if (l == &b->pieces)
            return NULL;
        at = limit + LIST_OBJ(l, struct piece, link)->size;
    }
}

/* A copy is sent, so the user has the buffer back at once. */
static int send_copy(struct p2p_req *q, struct piece *piece)
{
    struct p2p_req *copy = req_alloc();
    if (!copy)
        return err_make(MPI_ERR_NO_MEM, "MPI_Bsend: no memory for one more request");
    char *data = (char *)piece + round_up(sizeof *piece);
    dt_pack(q->type, q->count, q->buf, 0, data, q->size);
    *copy = *q;
    copy->twin = NULL;
    copy->wire_id = 0;
    copy->waits = 0;
    request_init(&copy->r, REQUEST_SEND, q->r.ops, NULL);
    copy->holds = 0;
    copy->copy = piece;
    copy->buf = copy->start = data;
    copy->count = q->size;
    copy->type = dt_find(MPI_BYTE);
    copy->block = 1;
    int err = send_begin(copy);
    if (!err && !copy->r.done) {
        if (!q->waits) { /* a blocking call's request is on the stack, and cannot be cancelled */
            copy->twin = q;
            q->twin = copy;
        }
        copy->r.freed = 1; /* request_complete() frees it */
        return MPI_SUCCESS;
    }
    if (!err) { /* it left as an eager message, which the user may still cancel */
        err = copy->r.error;
        q->eager = copy->eager;
        q->seq = copy->seq;
    }
    req_recycle(copy);
    return err;
}

int buffer_send(struct p2p_req *q)
{
    struct p2p_buffer *b = proc->p2p->buffer;
    struct piece *piece = b ? piece_take(b, q->size) : NULL;
    if (b && !piece) {
        progress_poll(); /* pieces that have arrived meanwhile */
        piece = piece_take(b, q->size);
    }
    if (!piece)
        return err_make(
            MPI_ERR_BUFFER,
            "MPI_Bsend: %zu bytes and %zu of overhead do not fit the attached buffer of %zu bytes",
            q->size, round_up(sizeof *piece), b ? b->user_size : (size_t)0);
    int err = send_copy(q, piece);
    if (err) {
        list_del(&piece->link);
        return err;
    }
    request_complete(&q->r, MPI_SUCCESS);
    return MPI_SUCCESS;
}

/* q, a copy, is sent or cancelled. */
void buffer_sent(struct p2p_req *q)
{
    struct piece *piece = q->copy;
    struct p2p_req *user = q->twin;
    list_del(&piece->link);
    q->copy = NULL;
    q->twin = NULL;
    if (!user)
        return;
    user->twin = NULL;
    if (user->state == P2P_CANCELLING) {
        user->state = P2P_IDLE;
        status_set_cancelled(&user->r.status, status_cancelled(&q->r.status));
        request_complete(&user->r, MPI_SUCCESS);
    }
}
