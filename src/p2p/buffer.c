/* buffer.c - buffered sends: the message is packed into the attached buffer and sent from there.
 *
 *   | piece | data ... | free | piece | data ... |      pieces in order of address, first fit
 *
 * A piece's header fits into MPI_BSEND_OVERHEAD, so a buffer of the size that MPI-3.1 3.6 asks for
 * always does. Start with buffer_take(). */
#include <stdlib.h>
#include <string.h>

#include "obj/comm.h"
#include "obj/err.h"
#include "p2p/p2p_types.h"

struct p2p_piece { /* in the user's buffer */
    struct list link;
    size_t size; /* bytes with this header */
    struct p2p_buffer *buffer;
    uint64_t serial; /* order of the sends: a flush waits for the earlier ones */
};
_Static_assert(sizeof(struct p2p_piece) + 3 * _Alignof(max_align_t) <= MPI_BSEND_OVERHEAD,
               "alignment of buffer, header and data included");

struct p2p_buffer {
    void *user;
    size_t user_size;
    int automatic;    /* pieces are on the heap */
    char *base, *end; /* aligned inside */
    struct list pieces;
    struct list flushes; /* struct flush, in order of their calls */
    uint64_t serial;     /* pieces so far */
};

struct flush {
    struct request r;
    struct list link;
    uint64_t upto; /* it waits for pieces up to this serial ... */
    size_t left;   /* ... as many as these */
};

static size_t round_up(size_t n)
{
    const size_t a = _Alignof(max_align_t);
    return (n + a - 1) / a * a;
}

static struct p2p_buffer **place(struct p2p_buffer **at)
{
    return at ? at : &proc->p2p->buffer;
}

int p2p_buffer_attach(struct p2p_buffer **at, void *buf, size_t size)
{
    at = place(at);
    if (*at)
        return err_make(MPI_ERR_BUFFER, "%s: a buffer of %zu bytes is attached already",
                        proc->call ? proc->call : "MPI_Buffer_attach", (*at)->user_size);
    struct p2p_buffer *b = calloc(1, sizeof *b);
    if (!b)
        return err_make(MPI_ERR_NO_MEM, "MPI_Buffer_attach: no memory");
    b->user = buf;
    b->automatic = buf == MPI_BUFFER_AUTOMATIC;
    if (!b->automatic) {
        b->user_size = size;
        b->base = (char *)round_up((size_t)(uintptr_t)buf);
        b->end = (char *)buf + size;
    }
    list_init(&b->pieces);
    list_init(&b->flushes);
    *at = b;
    return MPI_SUCCESS;
}

static int buffer_empty(void *arg)
{
    return list_empty(&((struct p2p_buffer *)arg)->pieces);
}

int p2p_buffer_detach(struct p2p_buffer **at, void *buf_out, size_t *size)
{
    at = place(at);
    struct p2p_buffer *b = *at;
    if (!b) {
        memset(buf_out, 0, sizeof(void *));
        *size = 0;
        return MPI_SUCCESS;
    }
    progress_wait(buffer_empty, b, "buffered messages to leave", -1);
    memcpy(buf_out, &b->user, sizeof(void *));
    *size = b->user_size;
    *at = NULL;
    free(b);
    return MPI_SUCCESS;
}

void p2p_buffer_discard(struct p2p_buffer **at)
{
    void *user;
    size_t size;
    if (*at)
        p2p_buffer_detach(at, &user, &size);
}

/* --- flush ------------------------------------------------------------------------- */

static void flush_free(struct request *r)
{
    free(r);
}

static const struct request_ops flush_ops = {.free = flush_free};

int p2p_buffer_iflush(struct p2p_buffer **at, struct request **out)
{
    struct p2p_buffer *b = *place(at);
    struct flush *f = calloc(1, sizeof *f);
    if (!f)
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for the request", proc->call);
    request_init(&f->r, REQUEST_FLUSH, &flush_ops, NULL);
    f->r.what = "buffered messages to leave";
    if (b) {
        f->upto = b->serial;
        for (struct list *l = b->pieces.next; l != &b->pieces; l = l->next)
            f->left++;
    }
    if (f->left)
        list_push(&b->flushes, &f->link);
    else
        request_complete(&f->r, MPI_SUCCESS);
    *out = &f->r;
    return MPI_SUCCESS;
}

int p2p_buffer_flush(struct p2p_buffer **at)
{
    struct request *r;
    int err = p2p_buffer_iflush(at, &r);
    if (err)
        return err;
    request_wait_inner(r);
    return request_finish(r, NULL);
}

/* One of the earlier pieces is gone. */
static void flushes_count(struct p2p_buffer *b, uint64_t serial)
{
    for (struct list *l = b->flushes.next; l != &b->flushes;) {
        struct flush *f = LIST_OBJ(l, struct flush, link);
        l = l->next;
        if (f->upto < serial || --f->left)
            continue;
        list_del(&f->link);
        request_complete(&f->r, MPI_SUCCESS);
    }
}

/* --- pieces ------------------------------------------------------------------------ */

static struct p2p_piece *piece_add(struct p2p_buffer *b, struct list *before, void *at, size_t size)
{
    struct p2p_piece *p = at;
    p->size = size;
    p->buffer = b;
    p->serial = ++b->serial;
    list_insert(before, &p->link);
    return p;
}

void buffer_drop(struct p2p_piece *p)
{
    struct p2p_buffer *b = p->buffer;
    uint64_t serial = p->serial;
    list_del(&p->link);
    if (b->automatic)
        free(p);
    flushes_count(b, serial);
}

static struct p2p_piece *piece_take(struct p2p_buffer *b, size_t bytes)
{
    size_t need = round_up(sizeof(struct p2p_piece)) + round_up(bytes);
    char *at = b->automatic ? malloc(need) : b->base;
    if (b->automatic)
        return at ? piece_add(b, &b->pieces, at, need) : NULL;
    for (struct list *l = b->pieces.next;; l = l->next) {
        char *limit = l == &b->pieces ? b->end : (char *)LIST_OBJ(l, struct p2p_piece, link);
        if (at <= limit && (size_t)(limit - at) >= need)
            return piece_add(b, l, at, need);
        if (l == &b->pieces)
            return NULL;
        at = limit + LIST_OBJ(l, struct p2p_piece, link)->size;
    }
}

static struct p2p_buffer *buffer_of(const struct comm *c)
{
    if (c && c->buffer)
        return c->buffer;
    return c && c->session && c->session->buffer ? c->session->buffer : proc->p2p->buffer;
}

int buffer_take(const struct comm *c, size_t bytes, struct p2p_piece **out)
{
    struct p2p_buffer *b = buffer_of(c);
    struct p2p_piece *piece = b ? piece_take(b, bytes) : NULL;
    if (b && !piece) {
        progress_poll(); /* pieces that have arrived meanwhile */
        piece = piece_take(b, bytes);
    }
    *out = piece;
    if (piece)
        return MPI_SUCCESS;
    return err_make(
        MPI_ERR_BUFFER,
        "MPI_Bsend: %zu bytes and %zu of overhead do not fit the attached buffer of %zu bytes",
        bytes, round_up(sizeof *piece), b ? b->user_size : (size_t)0);
}

void *buffer_data(struct p2p_piece *piece)
{
    return (char *)piece + round_up(sizeof *piece);
}

/* q, a copy, is sent or cancelled. */
void buffer_sent(struct p2p_req *q)
{
    struct p2p_piece *piece = q->copy;
    struct p2p_req *user = q->twin;
    buffer_drop(piece);
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
