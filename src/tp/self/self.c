/* self.c - messages of a process to itself: two bounded queues, emptied from progress() only, so
 * that a handler never runs inside a send. */
#include "tp/tp_types.h"

#include <errno.h>
#include <stdlib.h>

#include "base/list.h"
#include "boot/boot.h"

/* The table of operations fixes the signatures; not every function needs all parameters. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

enum {
    AM_MAX = 65536, /* bytes */
    QUEUE_MAX = 64, /* messages of one class */
    BUDGET = 64     /* messages delivered by one progress() */
};

struct message {
    struct list link;
    size_t len;
    _Alignas(16) char bytes[];
};

struct self {
    struct tp_env env;
    unsigned rank; /* world rank, the only peer */
    struct list queue[2];
    int count[2];
};

static int self_open(const struct tp_env *env, struct tp **tp, struct tp_caps *caps)
{
    struct self *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    s->env = *env;
    s->rank = (unsigned)boot_rank();
    list_init(&s->queue[TP_REQUEST]);
    list_init(&s->queue[TP_REPLY]);
    *caps = (struct tp_caps){
        .flags = TP_AM_ORDERED | TP_WAIT_FD | TP_AM_LEAVES, .am_max = AM_MAX, .replies = QUEUE_MAX};
    *tp = (struct tp *)s;
    return 0;
}

static int self_address(struct tp *tp, void *buf, size_t *len)
{
    *len = 0;
    return 0;
}

static int self_connect(struct tp *tp, unsigned peer, const void *addr, size_t len)
{
    return peer == ((struct self *)tp)->rank ? 0 : -EHOSTUNREACH;
}

static void self_close(struct tp *tp)
{
    struct self *s = (struct self *)tp;
    struct list *l;
    for (int cls = 0; cls < 2; cls++)
        while ((l = list_pop(&s->queue[cls])) != NULL)
            free(LIST_OBJ(l, struct message, link));
    free(s);
}

static int self_am(struct tp *tp, unsigned peer, enum tp_class cls, const struct iovec *iov, int n,
                   struct tp_done *d)
{
    struct self *s = (struct self *)tp;
    size_t len = tp_iov_bytes(iov, n);
    if (len > AM_MAX)
        return -EMSGSIZE;
    if (peer != s->rank)
        return -ENOTCONN;
    if (s->count[cls] >= QUEUE_MAX)
        return TP_AGAIN;
    struct message *m = malloc(sizeof *m + len);
    if (!m)
        return TP_AGAIN; /* memory may come back; waiting loses nothing */
    m->len = len;
    tp_iov_gather(m->bytes, iov, n);
    list_push(&s->queue[cls], &m->link);
    s->count[cls]++;
    return 0;
}

/* Deliver what is queued now, not what the handlers add, so that progress ends. */
static int deliver(struct self *s, enum tp_class cls)
{
    int todo = s->count[cls] < BUDGET ? s->count[cls] : BUDGET;
    int events = 0;
    for (; events < todo; events++) {
        struct message *m = LIST_OBJ(s->queue[cls].next, struct message, link);
        if (s->env.recv(s->env.up, s->rank, cls, m->bytes, m->len) == TP_AGAIN && cls == TP_REQUEST)
            break;
        list_del(&m->link);
        s->count[cls]--;
        free(m);
    }
    return events;
}

static int self_progress(struct tp *tp)
{
    struct self *s = (struct self *)tp;
    int events = 0;
    if (s->count[TP_REPLY])
        events += deliver(s, TP_REPLY);
    if (s->count[TP_REQUEST])
        events += deliver(s, TP_REQUEST);
    return events;
}

/* No other process sends here: there is nothing to sleep on.  What is queued forbids sleep. */
static int self_fd(struct tp *tp, int arm)
{
    struct self *s = (struct self *)tp;
    if (!arm)
        return -1;
    return s->count[TP_REPLY] || s->count[TP_REQUEST] ? TP_AGAIN : 0;
}

const struct tp_ops tp_self_ops = {
    .name = "self",
    .near = 1,
    .open = self_open,
    .address = self_address,
    .connect = self_connect,
    .close = self_close,
    .am = self_am,
    .progress = self_progress,
    .fd = self_fd,
};
