/* shm.c - messages between the processes of a host through inboxes in shared memory. Start with
 * shm_am() and shm_progress().
 *
 *   inbox (one segment per process, its own):   head | stop flags | request ring | reply ring
 *
 * A process attaches the inbox of a peer before its first message to it.  Requests that am/ refuses
 * move out of the ring into a list per peer, so that messages of other peers do not wait behind
 * them.  The peer's stop flag is then set.  So the list holds at most what that peer had in the
 * ring already (shm_cells, and the one being sent). Without memory for the list they stay in the
 * ring, and what others sent is taken from behind them, as far as the ring goes. */
#include "tp/tp_types.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/list.h"
#include "base/log.h"
#include "boot/boot.h"
#include "mem/mem.h"
#include "tp/shm/ring.h"
#include "var/var.h"

enum {
    BUDGET = 64,      /* messages of one class handled by one progress() */
    HOLE_TURNS = 256, /* idle turns between two looks for what failed senders left */
    INBOX_MAGIC = 0x77726e64 + RING_LAYOUT
};

struct inbox {
    uint32_t magic, senders, cells, cell_bytes;
    _Alignas(128) atomic_uchar stop[]; /* by host index: 1: its requests are held back, send none */
};

struct held { /* a refused request */
    struct list link;
    size_t len;
    _Alignas(16) char bytes[];
};

struct source { /* one sender, as receiver */
    struct list held;  /* its refused requests, oldest first */
    struct list link;  /* on shm.holders while held is not empty, or its stop flag set */
    unsigned pass;     /* of take_behind(), in which a request of it had to stay in the ring */
};

struct target { /* one peer, as sender; made by connect */
    struct mem_segment *seg;
    struct inbox *inbox;
    struct ring_out out[2];
    struct list blocked[2]; /* on shm.blocked while the ring of that class refused us */
};

struct shm {
    struct tp_env env;
    uint32_t self, count; /* host index, processes on the host */
    struct mem_segment *seg;
    struct inbox *inbox;
    struct ring_view in[2];
    uint64_t head[2];
    struct source *sources; /* by host index */
    struct list holders;
    unsigned pass;         /* of take_behind(): the last */
    unsigned behind;       /* cells of the request ring beyond head that were taken already: */
    unsigned char *taken;  /* ... by place in the ring */
    struct target **targets; /* by host index; NULL until connect */
    int *ranks;              /* world rank of each host index */
    struct list blocked;
    unsigned owed; /* cells read since waiting senders were last looked for */
    unsigned idle;
    int warned;
};

static size_t ring_at(uint32_t senders, enum tp_class cls)
{
    size_t first = (sizeof(struct inbox) + senders + 127) / 128 * 128;
    return first +
           (size_t)cls * ring_bytes(senders, (uint32_t)cvar.shm_cells, (size_t)cvar.shm_cell_bytes);
}

static struct ring_view view_of(struct inbox *b, uint32_t senders, enum tp_class cls)
{
    return ring_view_of((char *)b + ring_at(senders, cls), senders, (uint32_t)cvar.shm_cells,
                     (size_t)cvar.shm_cell_bytes);
}

/* --- life ------------------------------------------------------------------------- */

static int check_power(const char *name, int64_t v)
{
    if ((v & (v - 1)) == 0)
        return 0;
    log_warn("%s=%lld is not a power of two", name, (long long)v);
    return -EINVAL;
}

static void shm_close(struct tp *tp)
{
    struct shm *s = (struct shm *)tp;
    for (uint32_t i = 0; s->targets && i < s->count; i++) {
        struct target *t = s->targets[i];
        if (!t)
            continue;
        ring_want(&t->out[TP_REQUEST], 0);
        ring_want(&t->out[TP_REPLY], 0);
        mem_segment_drop(t->seg);
        free(t);
    }
    for (struct list *l; (l = list_pop(&s->holders)) != NULL;)
        for (struct list *h; (h = list_pop(&LIST_OBJ(l, struct source, link)->held)) != NULL;)
            free(LIST_OBJ(h, struct held, link));
    mem_segment_drop(s->seg);
    free(s->targets);
    free(s->sources);
    free(s->ranks);
    free(s->taken);
    free(s);
}

static int inbox_make(struct shm *s)
{
    size_t bytes = ring_at(s->count, TP_REPLY + 1);
    int err = mem_segment_create(bytes, 0, &s->seg);
    if (err)
        return mem_file_limit(bytes) ? -EFBIG : err;
    s->inbox = s->seg->base;
    *s->inbox = (struct inbox){INBOX_MAGIC, s->count, (uint32_t)cvar.shm_cells,
                               (uint32_t)cvar.shm_cell_bytes};
    s->in[TP_REQUEST] = view_of(s->inbox, s->count, TP_REQUEST);
    s->in[TP_REPLY] = view_of(s->inbox, s->count, TP_REPLY);
    return 0;
}

static int shm_open_(const struct tp_env *env, struct tp **tp, struct tp_caps *caps)
{
    if (check_power("MPIR_CVAR_SHM_CELLS", cvar.shm_cells) ||
        check_power("MPIR_CVAR_SHM_CELL_BYTES", cvar.shm_cell_bytes))
        return -EINVAL;
    struct shm *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    s->env = *env;
    s->count = (uint32_t)boot_host_processes();
    s->self = (uint32_t)boot_host_index(boot_rank());
    list_init(&s->holders);
    list_init(&s->blocked);
    s->sources = calloc(s->count, sizeof *s->sources);
    s->targets = calloc(s->count, sizeof *s->targets);
    s->ranks = calloc(s->count, sizeof *s->ranks);
    s->taken = calloc((size_t)cvar.shm_cells, sizeof *s->taken);
    int err = s->sources && s->targets && s->ranks && s->taken ? inbox_make(s) : -ENOMEM;
    if (err) {
        shm_close((struct tp *)s);
        return err;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        s->ranks[i] = boot_host_rank((int)i);
        list_init(&s->sources[i].held);
        list_init(&s->sources[i].link);
    }
    *caps = (struct tp_caps){.flags = TP_AM_ORDERED | TP_WAIT_FD | TP_AM_LEAVES,
                             .am_max = s->in[TP_REQUEST].room,
                             .replies = s->in[TP_REPLY].count};
    *tp = (struct tp *)s;
    return 0;
}

static int shm_address(struct tp *tp, void *buf, size_t *len)
{
    struct mem_key key;
    if (*len < sizeof key)
        return -EMSGSIZE;
    mem_segment_key(((struct shm *)tp)->seg, &key);
    memcpy(buf, &key, sizeof key);
    *len = sizeof key;
    return 0;
}

/* Host index of a world rank, -1 elsewhere.  Ranks of a host are mostly consecutive: one
 * compare. */
static int index_of(const struct shm *s, unsigned peer)
{
    unsigned i = peer - (unsigned)s->ranks[0];
    if (i < s->count && (unsigned)s->ranks[i] == peer)
        return (int)i;
    return boot_host_index((int)peer);
}

static int shm_connect(struct tp *tp, unsigned peer, const void *addr, size_t len)
{
    struct shm *s = (struct shm *)tp;
    struct mem_key key;
    int i = index_of(s, peer);
    if (i < 0)
        return -EHOSTUNREACH;
    if (s->targets[i])
        return 0;
    if (len != sizeof key)
        return -EPROTO;
    memcpy(&key, addr, sizeof key);
    struct target *t = calloc(1, sizeof *t);
    if (!t)
        return -ENOMEM;
    int err = mem_segment_attach(&key, &t->seg);
    if (err) {
        free(t);
        return err;
    }
    t->inbox = t->seg->base;
    if (t->seg->size < ring_at(s->count, TP_REPLY + 1) || t->inbox->magic != INBOX_MAGIC ||
        t->inbox->senders != s->count || t->inbox->cells != (uint32_t)cvar.shm_cells ||
        t->inbox->cell_bytes != (uint32_t)cvar.shm_cell_bytes) {
        log_warn("the inbox of rank %u has another shape: the version of the library, "
                 "MPIR_CVAR_SHM_CELLS and _SHM_CELL_BYTES must be the same everywhere",
                 peer);
        mem_segment_drop(t->seg);
        free(t);
        return -EPROTO;
    }
    for (int cls = 0; cls < 2; cls++) {
        t->out[cls] = ring_out_of(view_of(t->inbox, s->count, (enum tp_class)cls), s->self);
        list_init(&t->blocked[cls]);
    }
    s->targets[i] = t;
    return 0;
}

/* --- send ------------------------------------------------------------------------- */

static int refuse(struct shm *s, struct target *t, enum tp_class cls)
{
    ring_want(&t->out[cls], 1);
    if (list_empty(&t->blocked[cls]))
        list_push(&s->blocked, &t->blocked[cls]);
    return TP_AGAIN;
}

static int stopped(const struct shm *s, const struct target *t, enum tp_class cls)
{
    /* Relaxed: a late look costs only one more held message. */
    return cls == TP_REQUEST &&
           atomic_load_explicit(&t->inbox->stop[s->self], memory_order_relaxed);
}

static int shm_am(struct tp *tp, unsigned peer, enum tp_class cls, const struct iovec *iov, int n,
                  struct tp_done *d)
{
    (void)d;
    struct shm *s = (struct shm *)tp;
    int i = index_of(s, peer);
    struct target *t = i >= 0 ? s->targets[i] : NULL;
    if (!t)
        return -ENOTCONN;
    struct ring_out *o = &t->out[cls];
    size_t bytes = tp_iov_bytes(iov, n);
    if (bytes > o->v.room)
        return -EMSGSIZE;
    if (stopped(s, t, cls) || ring_send(o, iov, n, bytes) != 0)
        return refuse(s, t, cls);
    if (!list_empty(&t->blocked[cls]))
        list_del(&t->blocked[cls]);
    mem_wake(i);
    return 0;
}

/* --- receive ---------------------------------------------------------------------- */

static void warn_once(struct shm *s, const char *what, unsigned v)
{
    if (!s->warned)
        log_warn(
            "a message in the inbox is damaged (%s %u); it is dropped, others are not reported",
            what, v);
    s->warned = 1;
}

/* Move a refused request out of the ring.  0, or -ENOMEM. */
static int hold(struct shm *s, uint32_t src, const void *msg, size_t len)
{
    struct source *from = &s->sources[src];
    struct held *h = malloc(sizeof *h + len);
    if (!h)
        return -ENOMEM;
    h->len = len;
    memcpy(h->bytes, msg, len);
    if (list_empty(&from->held)) {
        atomic_store_explicit(&s->inbox->stop[src], 1, memory_order_relaxed);
        if (list_empty(&from->link))
            list_push(&s->holders, &from->link);
    }
    list_push(&from->held, &h->link);
    return 0;
}

/* Offer the held requests of one sender again; returns events. */
static int offer_held(struct shm *s, struct source *from, int budget)
{
    uint32_t src = (uint32_t)(from - s->sources);
    int events = 0;
    while (events < budget && !list_empty(&from->held)) {
        struct held *h = LIST_OBJ(from->held.next, struct held, link);
        if (s->env.recv(s->env.up, (unsigned)s->ranks[src], TP_REQUEST, h->bytes, h->len) ==
            TP_AGAIN)
            return events;
        list_del(&h->link);
        free(h);
        events++;
    }
    if (list_empty(&from->held)) {
        list_del(&from->link);
        atomic_store_explicit(&s->inbox->stop[src], 0, memory_order_relaxed);
        s->owed++; /* it wants to be woken */
    }
    return events;
}

static int offer_all_held(struct shm *s)
{
    int events = 0;
    for (struct list *l = s->holders.next, *next; l != &s->holders && events < BUDGET; l = next) {
        next = l->next;
        events += offer_held(s, LIST_OBJ(l, struct source, link), BUDGET - events);
    }
    return events;
}

/* One message of the ring.  0: it may leave the cell; < 0: it must stay. */
static int deliver(struct shm *s, enum tp_class cls, const struct ring_cell *c)
{
    /* Read once: a hostile peer could change them after the check. */
    uint32_t src = *(const volatile uint32_t *)&c->src;
    uint32_t len = *(const volatile uint32_t *)&c->len;
    if (src >= s->count || len > s->in[cls].room) {
        warn_once(s, src >= s->count ? "source" : "length", src >= s->count ? src : len);
        return 0;
    }
    /* after the held ones of this peer */
    if (cls == TP_REQUEST && !list_empty(&s->sources[src].held))
        return hold(s, src, c->payload, len);
    int ret = s->env.recv(s->env.up, (unsigned)s->ranks[src], cls, c->payload, len);
    return ret == TP_AGAIN && cls == TP_REQUEST ? hold(s, src, c->payload, len) : 0;
}

/* --- without memory for the lists ----------------------------------------------------- */

static unsigned place(const struct shm *s, uint64_t pos)
{
    return (unsigned)(pos & (s->in[TP_REQUEST].count - 1));
}

/* The cell at head was taken when another one before it could not be. */
static __attribute__((cold)) int was_taken(struct shm *s)
{
    unsigned char *t = &s->taken[place(s, s->head[TP_REQUEST])];
    int was = *t;
    *t = 0;
    s->behind -= (unsigned)was;
    return was;
}

/* offer_held() clears the flag, at the next look. */
static void leave_in_ring(struct shm *s, struct source *from)
{
    from->pass = s->pass;
    atomic_store_explicit(&s->inbox->stop[from - s->sources], 1, memory_order_relaxed);
    if (list_empty(&from->link))
        list_push(&s->holders, &from->link);
}

/* The request at head has to stay. Those behind it are taken where they lie, up to the first that
 * stays of each sender. */
static __attribute__((cold)) int take_behind(struct shm *s)
{
    const struct ring_view *v = &s->in[TP_REQUEST];
    uint64_t head = s->head[TP_REQUEST];
    const struct ring_cell *c;
    int events = 0;
    s->pass++;
    for (uint64_t at = head; at - head < v->count && (c = ring_peek(v, at)) != NULL; at++) {
        uint32_t src = *(const volatile uint32_t *)&c->src;
        uint32_t len = *(const volatile uint32_t *)&c->len;
        if (s->taken[place(s, at)] || src >= s->count || len > v->room)
            continue; /* a damaged one is dropped when it is at head */
        struct source *from = &s->sources[src];
        if (from->pass == s->pass)
            continue;
        if (at == head || !list_empty(&from->held) ||
            s->env.recv(s->env.up, (unsigned)s->ranks[src], TP_REQUEST, c->payload, len)) {
            leave_in_ring(s, from);
            continue;
        }
        s->taken[place(s, at)] = 1;
        s->behind++;
        events++;
    }
    return events;
}

static int take(struct shm *s, enum tp_class cls)
{
    const struct ring_cell *c;
    int events = 0;
    while (events < BUDGET && (c = ring_peek(&s->in[cls], s->head[cls])) != NULL) {
        int was = cls == TP_REQUEST && __builtin_expect(s->behind != 0, 0) && was_taken(s);
        if (!was && deliver(s, cls, c) != 0)
            return events + take_behind(s);
        ring_advance(&s->in[cls], ++s->head[cls]);
        events++;
    }
    return events;
}

/* Wake the senders that were refused.  Called when idle or every few cells, so that its fence costs
 * little. */
static void settle(struct shm *s)
{
    s->owed = 0;
    /* Head and stop flags were stored before.  Pairs with the fence in mem_wake_arm(), between a
     * sender's ring_want() and its last look at them. */
    fence_full();
    for (int cls = 0; cls < 2; cls++) {
        struct ring *r = s->in[cls].ring;
        if (!atomic_load_explicit(&r->waiting, memory_order_relaxed))
            continue;
        for (uint32_t i = 0; i < s->count; i++)
            if (atomic_load_explicit(&r->sender[i].want, memory_order_relaxed))
                mem_wake((int)i);
    }
}

static int source_dead(void *arg, uint32_t index)
{
    return boot_failed(((const struct shm *)arg)->ranks[index]);
}

static int skip_holes(struct shm *s)
{
    return ring_skip_holes(&s->in[TP_REQUEST], &s->head[TP_REQUEST], source_dead, s) +
           ring_skip_holes(&s->in[TP_REPLY], &s->head[TP_REPLY], source_dead, s);
}

static int shm_progress(struct tp *tp)
{
    struct shm *s = (struct shm *)tp;
    int events = take(s, TP_REPLY);
    if (!list_empty(&s->holders))
        events += offer_all_held(s);
    events += take(s, TP_REQUEST);
    s->owed += (unsigned)events;
    if (s->owed && (!events || s->owed >= s->in[TP_REQUEST].count / 4))
        settle(s);
    if (!events && ++s->idle % HOLE_TURNS == 0 && boot_failed_count() > 0)
        events = skip_holes(s);
    return events;
}

/* Whether a peer that refused us has room now.  Then drop it: a sender with more to send tries
 * again. */
static int room_came(struct shm *s)
{
    int came = 0;
    for (uint32_t i = 0; i < s->count; i++)
        for (int cls = 0; s->targets[i] && cls < 2; cls++) {
            struct target *t = s->targets[i];
            if (list_empty(&t->blocked[cls]) || stopped(s, t, (enum tp_class)cls) ||
                !ring_has_room(&t->out[cls]))
                continue;
            list_del(&t->blocked[cls]);
            ring_want(&t->out[cls], 0);
            came = 1;
        }
    return came;
}

static int shm_fd(struct tp *tp, int arm)
{
    struct shm *s = (struct shm *)tp;
    if (!arm)
        return mem_wake_fd();
    /* The engine does it, too, before it tests; its fence comes before the last look below. */
    mem_wake_arm();
    if (s->owed)
        settle(s);
    if (ring_peek(&s->in[TP_REPLY], s->head[TP_REPLY]) ||
        ring_peek(&s->in[TP_REQUEST], s->head[TP_REQUEST]))
        return TP_AGAIN;
    /* a process that sleeps polls too seldom to get here by idle turns */
    if (boot_failed_count() > 0 && skip_holes(s))
        return TP_AGAIN;
    return !list_empty(&s->blocked) && room_came(s) ? TP_AGAIN : 0;
}

const struct tp_ops tp_shm_ops = {
    .name = "shm",
    .near = 1,
    .open = shm_open_,
    .address = shm_address,
    .connect = shm_connect,
    .close = shm_close,
    .am = shm_am,
    .progress = shm_progress,
    .fd = shm_fd,
};
