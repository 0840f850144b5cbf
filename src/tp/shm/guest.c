/* guest.c - messages from and to processes of other jobs of the same mpiexec, by one more inbox in
 * shared memory (doc/design/dynamic.md). Start with guest_connect().
 *
 *   inbox (one segment per process):   head | slots | request ring | reply ring
 *
 * Which processes send here is not known when the inbox is made.  So a sender takes a slot at its
 * first message; the slot is its index in the rings.  A slot goes from FREE to USED by a sender's
 * compare-and-swap and to LEFT when the sender closes.  It is USED again when the receiver's heads
 * have passed all that its last user had sent.  A sender that is killed cannot leave; the receiver
 * does that for it.  The rings, refused requests and waiting senders are those of shm.c. */
#include "tp/tp_types.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/list.h"
#include "base/log.h"
#include "base/map.h"
#include "boot/boot.h"
#include "mem/mem.h"
#include "tp/shm/ring.h"
#include "var/var.h"

enum {
    SLOTS = 1024,     /* processes of other jobs that have a way to this one, at most */
    BUDGET = 64,      /* messages of one class handled by one progress() */
    HOLE_TURNS = 256, /* idle turns between two looks for what failed senders left */
    SWEEP = 32,       /* from so many targets on, those that have ended are looked for */
    GUEST_MAGIC = 0x77726774 + RING_LAYOUT
};

/* The lowest bits of slot.owner; above them, in the low half, the rank of its user. The high half
 * counts its users, so that no compare-and-swap takes an old state for a new one. */
enum { FREE, USED, LEFT, STATE_BITS = 2, STATE_MASK = 3 };

struct slot {
    _Atomic uint64_t owner;
    atomic_uint rank; /* of the sender of its messages, also of the one that has left */
    atomic_uint stop; /* 1: its requests are held back, send none */
    _Atomic uint64_t left[2]; /* positions behind the last message of the one that has left */
};

struct inbox {
    uint32_t magic, cells, cell_bytes, unused;
    uint64_t wake;      /* mem_wake_by_id() */
    atomic_uint closed; /* it is not read any more */
    /* Stored 1 before its owner sleeps; the sender that makes it 0 wakes the owner.  The owner
     * never makes it 0: another of its threads may sleep.  So a message may wake it in vain. */
    _Alignas(128) atomic_uint sleeping;
    _Alignas(128) struct slot slot[SLOTS];
};

struct held { /* a refused request */
    struct list link;
    uint32_t slot, rank;
    size_t len;
    _Alignas(16) char bytes[];
};

struct target { /* a peer, as sender; made by connect */
    struct mem_segment *seg;
    struct inbox *inbox;
    struct slot *slot;
    uint64_t wake;
    struct ring_out out[2];
    struct list blocked[2]; /* on guest.blocked while the ring of that class refused us */
};

struct guest {
    struct tp_env env;
    struct mem_segment *seg;
    struct inbox *inbox;
    struct ring_view in[2];
    uint64_t head[2];
    struct list held;          /* oldest first, of all senders */
    uint32_t nheld[SLOTS];     /* by slot */
    uint32_t refused[SLOTS];   /* turn in which its oldest held request was refused */
    uint32_t turn;
    struct map targets;        /* world rank + 1 -> struct target */
    size_t sweep_at;
    struct list blocked;
    unsigned owed; /* cells read since waiting senders were last looked for */
    unsigned idle;
    int failed_seen; /* boot_failed_count() when slots were last given back */
    int warned;
};

static size_t ring_at(enum tp_class cls)
{
    size_t first = (sizeof(struct inbox) + 127) / 128 * 128;
    return first +
           (size_t)cls * ring_bytes(SLOTS, (uint32_t)cvar.shm_cells, (size_t)cvar.shm_cell_bytes);
}

static struct ring_view view_of(struct inbox *b, enum tp_class cls)
{
    return ring_view_of((char *)b + ring_at(cls), SLOTS, (uint32_t)cvar.shm_cells,
                        (size_t)cvar.shm_cell_bytes);
}

/* --- life ------------------------------------------------------------------------- */

/* The slot may be used again once the receiver has read what was sent. */
static void target_free(struct target *t)
{
    for (int cls = 0; cls < 2; cls++) {
        ring_want(&t->out[cls], 0);
        list_del(&t->blocked[cls]);
        uint64_t tail = atomic_load_explicit(&t->out[cls].v.ring->tail, memory_order_acquire);
        atomic_store_explicit(&t->slot->left[cls], tail, memory_order_relaxed);
    }
    uint64_t users = atomic_load_explicit(&t->slot->owner, memory_order_relaxed) >> 32;
    /* Release pairs with the acquire in claim(): the next user sees `left`. */
    atomic_store_explicit(&t->slot->owner, users << 32 | LEFT, memory_order_release);
    mem_segment_drop(t->seg);
    free(t);
}

static void guest_close(struct tp *tp)
{
    struct guest *g = (struct guest *)tp;
    size_t cursor = 0;
    for (struct map_entry *e; (e = map_next(&g->targets, &cursor)) != NULL;)
        target_free(e->value);
    map_destroy(&g->targets);
    for (struct list *l; (l = list_pop(&g->held)) != NULL;)
        free(LIST_OBJ(l, struct held, link));
    if (g->inbox)
        atomic_store_explicit(&g->inbox->closed, 1, memory_order_release);
    mem_segment_drop(g->seg);
    free(g);
}

static int guest_open(const struct tp_env *env, struct tp **tp, struct tp_caps *caps)
{
    struct guest *g = calloc(1, sizeof *g);
    if (!g)
        return -ENOMEM;
    g->env = *env;
    g->sweep_at = SWEEP;
    list_init(&g->held);
    list_init(&g->blocked);
    map_init(&g->targets);
    /* Once: a peer may still read and write it when this process has ended. */
    int err = mem_segment_create(ring_at(TP_REPLY + 1), MEM_ONCE, &g->seg);
    if (err) {
        guest_close((struct tp *)g);
        return err;
    }
    g->inbox = g->seg->base;
    g->inbox->cells = (uint32_t)cvar.shm_cells;
    g->inbox->cell_bytes = (uint32_t)cvar.shm_cell_bytes;
    g->inbox->wake = mem_wake_id();
    g->inbox->magic = GUEST_MAGIC;
    g->in[TP_REQUEST] = view_of(g->inbox, TP_REQUEST);
    g->in[TP_REPLY] = view_of(g->inbox, TP_REPLY);
    *caps = (struct tp_caps){.flags = TP_AM_ORDERED | TP_WAIT_FD | TP_AM_LEAVES,
                             .am_max = g->in[TP_REQUEST].room,
                             .replies = g->in[TP_REPLY].count};
    *tp = (struct tp *)g;
    return 0;
}

static int guest_address(struct tp *tp, void *buf, size_t *len)
{
    struct mem_key key;
    if (*len < sizeof key)
        return -EMSGSIZE;
    mem_segment_key(((struct guest *)tp)->seg, &key);
    memcpy(buf, &key, sizeof key);
    *len = sizeof key;
    return 0;
}

/* --- connect ---------------------------------------------------------------------- */

/* Its last user has left, and all that it sent was read. */
static int passed(struct target *t, const struct slot *s)
{
    for (int cls = 0; cls < 2; cls++) {
        uint64_t head = atomic_load_explicit(&t->out[cls].v.ring->head, memory_order_acquire);
        if (head < atomic_load_explicit(&s->left[cls], memory_order_relaxed))
            return 0;
    }
    return 1;
}

static int claim(struct target *t)
{
    for (uint32_t i = 0; i < SLOTS; i++) {
        struct slot *s = &t->inbox->slot[i];
        uint64_t had = atomic_load_explicit(&s->owner, memory_order_acquire);
        uint64_t mine = ((had >> 32) + 1) << 32 | (uint64_t)boot_rank() << STATE_BITS | USED;
        uint32_t state = (uint32_t)had & STATE_MASK;
        if (state != FREE && (state != LEFT || !passed(t, s)))
            continue;
        if (!atomic_compare_exchange_strong_explicit(&s->owner, &had, mine, memory_order_acq_rel,
                                                     memory_order_relaxed))
            continue;
        /* Before the first message: its release in ring_send() makes this visible. */
        atomic_store_explicit(&s->rank, (unsigned)boot_rank(), memory_order_relaxed);
        t->slot = s;
        t->out[TP_REQUEST].self = t->out[TP_REPLY].self = i;
        return 0;
    }
    return -ENOBUFS;
}

static int target_open(struct target *t, const struct mem_key *key, unsigned peer)
{
    int err = mem_segment_attach(key, &t->seg);
    if (err)
        return err;
    t->inbox = t->seg->base;
    if (t->seg->size < ring_at(TP_REPLY + 1) || t->inbox->magic != GUEST_MAGIC ||
        t->inbox->cells != (uint32_t)cvar.shm_cells ||
        t->inbox->cell_bytes != (uint32_t)cvar.shm_cell_bytes) {
        log_warn("the inbox of process %u has another shape: the version of the library, "
                 "MPIR_CVAR_SHM_CELLS and _SHM_CELL_BYTES must be the same in all jobs that meet",
                 peer);
        err = -EPROTO;
    }
    for (int cls = 0; cls < 2 && !err; cls++) {
        t->out[cls] = ring_out_of(view_of(t->inbox, (enum tp_class)cls), 0 /* until claim() */);
        list_init(&t->blocked[cls]);
    }
    err = err ? err : claim(t);
    if (err) {
        mem_segment_drop(t->seg);
        return err;
    }
    t->wake = t->inbox->wake;
    return 0;
}

/* Give back the memory of peers that have ended. */
static void sweep(struct guest *g)
{
    struct map old = g->targets;
    size_t cursor = 0;
    map_init(&g->targets);
    for (struct map_entry *e; (e = map_next(&old, &cursor)) != NULL;) {
        struct target *t = e->value;
        if (atomic_load_explicit(&t->inbox->closed, memory_order_acquire) ||
            boot_failed((int)e->key - 1))
            target_free(t);
        else if (map_put(&g->targets, e->key, t))
            log_fatal("out of memory for the way to process %d", (int)e->key - 1);
    }
    map_destroy(&old);
    g->sweep_at = 2 * g->targets.count > SWEEP ? 2 * g->targets.count : SWEEP;
}

static int guest_connect(struct tp *tp, unsigned peer, const void *addr, size_t len)
{
    struct guest *g = (struct guest *)tp;
    struct mem_key key;
    if (boot_is_own((int)peer))
        return -EHOSTUNREACH;
    if (map_get(&g->targets, (uint64_t)peer + 1))
        return 0;
    if (len != sizeof key)
        return -EPROTO;
    memcpy(&key, addr, sizeof key);
    if (g->targets.count >= g->sweep_at)
        sweep(g);
    struct target *t = calloc(1, sizeof *t);
    int err = t ? target_open(t, &key, peer) : -ENOMEM;
    if (!err && (err = map_put(&g->targets, (uint64_t)peer + 1, t)) != 0) {
        target_free(t);
        return err;
    }
    if (err)
        free(t);
    return err;
}

/* --- send ------------------------------------------------------------------------- */

static void wake(struct target *t)
{
    /* The message was stored before; pairs with the fence in guest_fd(). */
    fence_full();
    if (atomic_load_explicit(&t->inbox->sleeping, memory_order_relaxed) &&
        atomic_exchange_explicit(&t->inbox->sleeping, 0, memory_order_relaxed))
        mem_wake_by_id(t->wake);
}

static int stopped(const struct target *t, enum tp_class cls)
{
    /* Relaxed: a late look costs only one more held message. */
    return cls == TP_REQUEST && atomic_load_explicit(&t->slot->stop, memory_order_relaxed);
}

static int guest_am(struct tp *tp, unsigned peer, enum tp_class cls, const struct iovec *iov, int n,
                    struct tp_done *d)
{
    (void)d;
    struct guest *g = (struct guest *)tp;
    struct target *t = map_get(&g->targets, (uint64_t)peer + 1);
    if (!t)
        return -ENOTCONN;
    struct ring_out *o = &t->out[cls];
    size_t bytes = tp_iov_bytes(iov, n);
    if (bytes > o->v.room)
        return -EMSGSIZE;
    if (stopped(t, cls) || ring_send(o, iov, n, bytes) != 0) {
        if (atomic_load_explicit(&t->inbox->closed, memory_order_acquire))
            return -ENOTCONN; /* it has ended: no room comes */
        ring_want(o, 1);
        if (list_empty(&t->blocked[cls]))
            list_push(&g->blocked, &t->blocked[cls]);
        return TP_AGAIN;
    }
    if (!list_empty(&t->blocked[cls]))
        list_del(&t->blocked[cls]);
    wake(t);
    return 0;
}

/* --- receive ---------------------------------------------------------------------- */

/* Move a refused request out of the ring.  0, or -ENOMEM. */
static int hold(struct guest *g, uint32_t slot, uint32_t rank, const void *msg, size_t len)
{
    struct held *h = malloc(sizeof *h + len);
    if (!h)
        return -ENOMEM;
    h->slot = slot;
    h->rank = rank;
    h->len = len;
    memcpy(h->bytes, msg, len);
    list_push(&g->held, &h->link);
    if (!g->nheld[slot]++)
        atomic_store_explicit(&g->inbox->slot[slot].stop, 1, memory_order_relaxed);
    return 0;
}

/* Offer the held requests again, of each sender in order; returns events. */
static int offer_held(struct guest *g)
{
    int events = 0;
    g->turn++;
    for (struct list *l = g->held.next, *next; l != &g->held && events < BUDGET; l = next) {
        struct held *h = LIST_OBJ(l, struct held, link);
        next = l->next;
        if (g->refused[h->slot] == g->turn)
            continue;
        if (g->env.recv(g->env.up, h->rank, TP_REQUEST, h->bytes, h->len) == TP_AGAIN) {
            g->refused[h->slot] = g->turn;
            continue;
        }
        if (!--g->nheld[h->slot]) {
            atomic_store_explicit(&g->inbox->slot[h->slot].stop, 0, memory_order_relaxed);
            g->owed++; /* it wants to be woken */
        }
        list_del(l);
        free(h);
        events++;
    }
    return events;
}

static void warn_once(struct guest *g, const char *what, unsigned v)
{
    if (!g->warned)
        log_warn("a message of another job is damaged (%s %u); it is dropped, others are not "
                 "reported",
                 what, v);
    g->warned = 1;
}

/* One message of the ring.  0: it may leave the cell; < 0: it must stay. */
static int deliver(struct guest *g, enum tp_class cls, const struct ring_cell *c)
{
    /* Read once: a hostile peer could change them after the check. */
    uint32_t slot = *(const volatile uint32_t *)&c->src;
    uint32_t len = *(const volatile uint32_t *)&c->len;
    if (slot >= SLOTS || len > g->in[cls].room) {
        warn_once(g, slot >= SLOTS ? "slot" : "length", slot >= SLOTS ? slot : len);
        return 0;
    }
    uint32_t rank = atomic_load_explicit(&g->inbox->slot[slot].rank, memory_order_relaxed);
    if (rank >= (uint32_t)boot_universe() || boot_is_own((int)rank)) {
        warn_once(g, "source", rank);
        return 0;
    }
    /* after the held ones of this peer */
    if (cls == TP_REQUEST && g->nheld[slot])
        return hold(g, slot, rank, c->payload, len);
    int ret = g->env.recv(g->env.up, rank, cls, c->payload, len);
    return ret == TP_AGAIN && cls == TP_REQUEST ? hold(g, slot, rank, c->payload, len) : 0;
}

static int take(struct guest *g, enum tp_class cls)
{
    const struct ring_cell *c;
    int events = 0;
    while (events < BUDGET && (c = ring_peek(&g->in[cls], g->head[cls])) != NULL) {
        if (deliver(g, cls, c) != 0)
            break;
        ring_advance(&g->in[cls], ++g->head[cls]);
        events++;
    }
    return events;
}

/* Wake the senders that were refused.  A sender to which there is no way from here has not been
 * served yet: am/ makes one before it takes the first request. */
static void settle(struct guest *g)
{
    g->owed = 0;
    /* Head and stop flags were stored before.  Pairs with the fence in guest_fd(), between a
     * sender's ring_want() and its last look at them. */
    fence_full();
    for (int cls = 0; cls < 2; cls++) {
        struct ring *r = g->in[cls].ring;
        if (!atomic_load_explicit(&r->waiting, memory_order_relaxed))
            continue;
        for (uint32_t i = 0; i < SLOTS; i++) {
            if (!atomic_load_explicit(&r->sender[i].want, memory_order_relaxed))
                continue;
            unsigned rank = atomic_load_explicit(&g->inbox->slot[i].rank, memory_order_relaxed);
            struct target *t = map_get(&g->targets, (uint64_t)rank + 1);
            if (t)
                wake(t);
        }
    }
}

static int source_dead(void *arg, uint32_t index)
{
    const struct guest *g = arg;
    return boot_failed(
        (int)atomic_load_explicit(&g->inbox->slot[index].rank, memory_order_relaxed));
}

/* A sender that has ended without leaving sends nothing more: leave its slots for it. */
static void give_back(struct guest *g)
{
    int failed = boot_failed_count();
    for (uint32_t i = 0; i < SLOTS && failed != g->failed_seen; i++) {
        struct slot *s = &g->inbox->slot[i];
        uint64_t had = atomic_load_explicit(&s->owner, memory_order_acquire);
        int rank = (int)((uint32_t)had >> STATE_BITS);
        if ((had & STATE_MASK) != USED || boot_is_own(rank) || !boot_ended(rank))
            continue;
        for (int cls = 0; cls < 2; cls++) {
            struct ring *r = g->in[cls].ring;
            uint64_t tail = atomic_load_explicit(&r->tail, memory_order_acquire);
            atomic_store_explicit(&s->left[cls], tail, memory_order_relaxed);
            if (atomic_exchange_explicit(&r->sender[i].want, 0, memory_order_relaxed))
                atomic_fetch_sub_explicit(&r->waiting, 1, memory_order_relaxed);
        }
        atomic_store_explicit(&s->owner, had >> 32 << 32 | LEFT, memory_order_release);
    }
    g->failed_seen = failed;
}

static int skip_holes(struct guest *g)
{
    return ring_skip_holes(&g->in[TP_REQUEST], &g->head[TP_REQUEST], source_dead, g) +
           ring_skip_holes(&g->in[TP_REPLY], &g->head[TP_REPLY], source_dead, g);
}

static int guest_progress(struct tp *tp)
{
    struct guest *g = (struct guest *)tp;
    int events = take(g, TP_REPLY);
    if (!list_empty(&g->held))
        events += offer_held(g);
    events += take(g, TP_REQUEST);
    g->owed += (unsigned)events;
    if (g->owed && (!events || g->owed >= g->in[TP_REQUEST].count / 4))
        settle(g);
    if (!events && ++g->idle % HOLE_TURNS == 0 && boot_failed_count() > 0) {
        give_back(g);
        events = skip_holes(g);
    }
    return events;
}

/* All that slot i's last user sent was taken. */
static int is_read(const struct guest *g, uint32_t i)
{
    const struct slot *s = &g->inbox->slot[i];
    uint64_t had = atomic_load_explicit(&s->owner, memory_order_acquire);
    if ((had & STATE_MASK) == FREE)
        return 1;
    return (had & STATE_MASK) == LEFT && !g->nheld[i] &&
           g->head[TP_REQUEST] >= atomic_load_explicit(&s->left[TP_REQUEST],
                                                       memory_order_relaxed) &&
           g->head[TP_REPLY] >= atomic_load_explicit(&s->left[TP_REPLY], memory_order_relaxed);
}

/* It leaves its slots before it closes its inbox (guest_close). */
static int guest_left(struct tp *tp, unsigned peer)
{
    const struct guest *g = (const struct guest *)tp;
    const struct target *t = map_get(&g->targets, (uint64_t)peer + 1);
    /* no target: sweep() has found it closed */
    if (t && !atomic_load_explicit(&t->inbox->closed, memory_order_acquire))
        return 0;
    for (uint32_t i = 0; i < SLOTS; i++)
        if (atomic_load_explicit(&g->inbox->slot[i].rank, memory_order_relaxed) == peer &&
            !is_read(g, i))
            return 0;
    return 1;
}

/* --- sleep ------------------------------------------------------------------------ */

/* Whether a peer that refused us has room now, or has ended.  Then drop it: a sender with more to
 * send tries again. */
static int room_came(struct guest *g)
{
    int came = 0;
    size_t cursor = 0;
    for (struct map_entry *e; (e = map_next(&g->targets, &cursor)) != NULL;)
        for (int cls = 0; cls < 2; cls++) {
            struct target *t = e->value;
            int over = atomic_load_explicit(&t->inbox->closed, memory_order_acquire) != 0;
            if (list_empty(&t->blocked[cls]) ||
                (!over && (stopped(t, (enum tp_class)cls) || !ring_has_room(&t->out[cls]))))
                continue;
            list_del(&t->blocked[cls]);
            ring_want(&t->out[cls], 0);
            came = 1;
        }
    return came;
}

static int guest_fd(struct tp *tp, int arm)
{
    struct guest *g = (struct guest *)tp;
    if (!arm)
        return mem_wake_fd();
    atomic_store_explicit(&g->inbox->sleeping, 1, memory_order_relaxed);
    /* Pairs with the fences in wake() and settle(): the peer sees this, or the looks below see what
     * it stored. */
    fence_full();
    if (g->owed)
        settle(g);
    if (ring_peek(&g->in[TP_REPLY], g->head[TP_REPLY]) ||
        ring_peek(&g->in[TP_REQUEST], g->head[TP_REQUEST]))
        return TP_AGAIN;
    if (boot_failed_count() > 0) {
        give_back(g);
        if (skip_holes(g))
            return TP_AGAIN;
    }
    return !list_empty(&g->blocked) && room_came(g) ? TP_AGAIN : 0;
}

const struct tp_ops tp_guest_ops = {
    .name = "guest",
    .near = 1,
    .open = guest_open,
    .address = guest_address,
    .connect = guest_connect,
    .close = guest_close,
    .am = guest_am,
    .left = guest_left,
    .progress = guest_progress,
    .fd = guest_fd,
};
