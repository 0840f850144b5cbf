/* core.h - the contract of rma/core/: records, states, pools, packets and errors that all of rma/
 * share.
 *
 * What is here has no protocol. It finds and makes elements, writes states, looks up places, frames
 * packets, and words errors. Start with types.h (the records and their invariants), then state.h.
 *
 *   ownership  a window owns its slots, targets and keys; a target owns its operations; elements
 *              come from the pools and go back there
 *   blocking   nothing here waits; AM_AGAIN means that there is no room now
 *   lock       all under proc->lock; rma_near_opened(), rma_near_admit() and what calls them
 *              publish to threads without it (near.h)
 *   errors     MPI error codes where so stated, else 0 or -errno; NULL from an allocation means
 *              that pools or memory are exhausted
 *   upcalls    rma_poll() polls a higher sub-room; rma_init() fills rma->polls */
#ifndef RMA_CORE_H
#define RMA_CORE_H

#include "rma/core/packets.h"
#include "rma/core/state.h"
#include "rma/core/types.h"

enum { NOT_HERE = -1 }; /* not possible here: take the message path */

static inline struct rma *rma_self(void)
{
    return proc->rma;
}
static inline struct rma_win **rma_mirror_at(int handle)
{
    return &rma_self()->mirror[(unsigned)handle / 2 % RMA_MIRRORS];
}
static inline int rma_world(const struct rma_win *w, int rank)
{
    return rankmap_world(w->map, rank);
}
static inline void rma_count(struct rma_win *w, enum pvar_id id, uint64_t n)
{
    pvar_set_add(&w->near.pvars, id, n);
}
/* progress_wait() for w. What a call does because a pool is empty is for the pool. */
static inline void rma_await(const struct rma_win *w, enum progress_why why, int (*cond)(void *),
                             void *arg, const char *what, int peer)
{
    progress_wait_why(cond, arg, what, peer, w->evicting ? WHY_POOL : why, w);
}
/* Events of one poll of a higher sub-room; 0 if none is registered. */
static inline int rma_poll(struct rma_win *w, enum rma_poll_index which)
{
    int (*events)(struct rma_win *) = rma_self()->polls[which];
    return events ? events(w) : 0;
}

/* --- packet.c: windows by id, packets of header only, replies --------------------------------- */
extern const char *const rma_packet_name[RMA_PKTS];
struct rma_win *rma_win_find(uint64_t id);
/* The window that two words of a packet name; NULL, and counted: it has been freed, maybe another
 * has its number now. */
struct rma_win *rma_win_named(uint32_t win, uint32_t src);
/* What of the two names this window in packets that leave here. */
static inline void rma_name(const struct rma_win *w, struct rma_hdr *h)
{
    h->win = (uint32_t)w->id;
    h->src = w->src;
    h->token |= (uint32_t)w->channel << RMA_TOKEN_BITS;
}
/* The window that the other members know: itself, or of a duplicate its parent. */
static inline struct rma_win *rma_root(const struct rma_win *w)
{
    return w->parent ? w->parent : (struct rma_win *)(uintptr_t)w;
}
/* The duplicates of a window in this process, by channel. The upper bits of a token name the
 * channel, the others count (packets.h). */
enum { RMA_CHANNELS = 1 << (32 - RMA_TOKEN_BITS) };
struct rma_channels {
    struct rma_win *of[RMA_CHANNELS]; /* [0] is NULL: the window itself */
    unsigned used, last;              /* how many; the last one given out */
    unsigned ending;                  /* threads in rma_dups_end() */
    uint32_t token[RMA_CHANNELS];     /* of the last holder: its late answers fit no later one */
};
/* The duplicate of w that has a channel, or (0) w; NULL: it has been freed. */
static inline struct rma_win *rma_channel(struct rma_win *w, unsigned channel)
{
    return !channel ? w : w->channels ? w->channels->of[channel] : NULL;
}
/* The first duplicate with a channel of at least *i, which is counted on; NULL: no further one. */
struct rma_win *rma_dup_next(const struct rma_win *w, unsigned *i);
/* Is token a given out before b, or b itself? Of one window, they are less than half the range
 * apart. */
static inline int rma_token_upto(uint32_t a, uint32_t b)
{
    return (int32_t)((a - b) << (32 - RMA_TOKEN_BITS)) <= 0;
}
/* Is `src` of a packet inside another the sender's, whose rank is `rank`? */
static inline int rma_same_src(const struct rma_win *w, uint32_t src, uint32_t rank)
{
    return (src ^ rank) == (uint32_t)(w->id >> 32);
}
/* The window a packet names, if it is well formed and may come from src: h->src is the rank alone
 * then.  NULL: *h is as it came. */
struct rma_win *rma_packet_window(int src, const void *msg, size_t len, struct rma_hdr *h);
/* Sends header, with win and src filled in, and data. */
void rma_reply(struct rma_win *w, int src, struct rma_hdr *h, const void *data, size_t len);
/* Send a packet of header only to a rank, with or without element: 0, AM_AGAIN, -errno. */
int rma_send_plain(struct rma_win *w, int rank, const struct rma_hdr *h, unsigned replies);

/* --- error.c: MPI error codes ----------------------------------------------------------------- */
const char *rma_call(void); /* name of the MPI call under way, for texts */
/* The window as messages name it: window "NAME", or its handle. Valid until the next call. */
const char *rma_win_text(const struct rma_win *w);
/* Removes *slot, which is empty then; the call under way returns it. */
int rma_err_taken(int *slot);
static inline int rma_take_err(int *slot)
{
    return __builtin_expect(*slot != 0, 0) ? rma_err_taken(slot) : 0;
}
int rma_failed_error(struct rma_win *w, int rank);
/* Error: rank cannot be reached; cut, -errno, is the reason. */
int rma_cut_error(const struct rma_win *w, int rank, int cut);
/* The error that a reply reports, 0 if none; what: its payload. call: of the operation; NULL: the
 * payload names it. */
int rma_far_error(const struct rma_win *w, const struct rma_hdr *h, const char *what,
                  const char *call);
/* The same, for op. */
int rma_op_refused(const struct rma_op *op, const struct rma_hdr *h, const char *what);
/* MPIX_Win_revoke: the communicator of the window, which it shares with its duplicates, is revoked.
 * No call finds it any more but those that end it (window/revoked.c). */
static inline int rma_is_revoked(const struct rma_win *w)
{
    return w->comm->revoked;
}
int rma_revoked_error(const struct rma_win *w);
/* A duplicate has no epochs of its own: MPI_ERR_RMA_SYNC that says so. */
int rma_dup_error(const struct rma_win *w);
/* MPI_ERR_RMA_SYNC: "<what> <window>: <todo>", as in "an epoch is open on". */
int rma_sync_error(const struct rma_win *w, const char *what, const char *todo);

/* --- range.c: places in a window, near records ------------------------------------------------ */
/* order of near records, for qsort and bsearch */
int rma_near_by_rank(const void *a, const void *b);
/* A counter of the window, with what the inline path counted by target. */
uint64_t rma_pvar(const struct rma_win *w, enum pvar_id id);
struct rma_near *rma_near_search(const struct rma_win *w, int rank);
/* Near record of this process; of a rank, NULL when it is far; what the rank published. */
static inline struct rma_near *rma_near_own(const struct rma_win *w)
{
    return &w->records[w->node.n.me];
}
/* The record of which n is the window's own, or a duplicate's copy that near.h has found. */
static inline struct rma_near *rma_near_record(const struct rma_win *w, const struct rma_near *n)
{
    return w->records + (n - w->near.near);
}
static inline struct rma_near *rma_near_of(const struct rma_win *w, int rank)
{
    unsigned i = (unsigned)rank - w->near.first;
    if (w->near.count)
        return i < w->near.count ? &w->records[i] : NULL;
    if (w->near.spread) {
        const struct rma_near *n = rma_near_spread(&w->near, rank);
        return n ? rma_near_record(w, n) : NULL;
    }
    return rma_near_search(w, rank); /* the near ranks are not consecutive */
}
static inline struct rma_peer *rma_peer_of(const struct rma_win *w, unsigned i)
{
    return w->records[i].peer;
}
/* Byte offset of (disp units + lo) .. hi in a target's window; 0, or -ERANGE. */
int rma_offset(uint64_t disp, uint64_t unit, int64_t lo, int64_t hi, uint64_t size, uint64_t *off);
/* Address if [off, off+len) lies in the memory that this process exposes, else NULL. In dynamic
 * windows off is an address. */
char *rma_win_local(struct rma_win *w, uint64_t off, uint64_t len);
/* The same for packed bytes [from, from + len) of count instances of t at addr, in dynamic windows:
 * each block is checked. */
int rma_win_holds(struct rma_win *w, uint64_t addr, const struct dt_type *t, size_t count,
                  size_t from, size_t len);
/* dynamic: the region that holds addr; NULL: none */
const struct rma_attached *rma_win_region(const struct rma_win *w, uint64_t addr);
/* index of the first region that begins above addr */
unsigned rma_region_above(const struct rma_win *w, uint64_t addr);
/* The one address function: where displacement disp of a near rank's window is. *off: an offset, in
 * dynamic windows an address. 1: bytes [lo, hi) there lie in the window; 0: they do not; NOT_HERE:
 * only the peer can check. */
int rma_near_place(struct rma_win *w, const struct rma_near *n, uint64_t disp, int64_t lo,
                   int64_t hi, uint64_t *off);
/* Is [addr, addr+len) inside a region that the peer of a dynamic window has published? 1: yes, 0:
 * no, NOT_HERE: only the peer can check. */
int rma_region_shown(const struct rma_peer *p, uint64_t addr, uint64_t len);

/* --- slot.c: target elements by rank ---------------------------------------------------------- */
int rma_slots_init(struct rma_win *w);
void rma_slots_free(struct rma_win *w);
static inline struct rma_slot *rma_slot_of(const struct rma_win *w, int rank)
{
    return &w->table.slots[(unsigned)rank % w->table.nslots];
}
/* The element of a rank; NULL: it has none. */
static inline struct rma_target *rma_target_find(const struct rma_win *w, int rank)
{
    if (!w->table.ntargets)
        return NULL;
    const struct rma_slot *s = rma_slot_of(w, rank);
    for (struct list *l = s->targets.next; l != &s->targets; l = l->next) {
        struct rma_target *t = LIST_OBJ(l, struct rma_target, link);
        if (t->rank == rank)
            return t;
    }
    return NULL;
}
int rma_target_way(struct rma_target *t); /* connect to it again after a failure: 0 or -errno */
struct rma_target *rma_target_add(struct rma_win *w, int rank); /* NULL: pools are exhausted */
void rma_target_del(struct rma_win *w, struct rma_target *t);   /* its list is empty */
/* All targets: the next one after t (NULL: first). The caller may delete the returned one, but only
 * after the following call. */
struct rma_target *rma_target_next(const struct rma_win *w, const struct rma_target *t);
void rma_targets_drop(struct rma_win *w); /* end of epoch: delete all */
/* No thread, operation or answer refers to it. */
int rma_target_idle(struct rma_target *t);
void rma_targets_drop_idle(struct rma_win *w); /* fence: other threads may be operating */

/* --- pool.c: elements ------------------------------------------------------------------------- */
int rma_pools_init(struct rma *r);
void rma_pools_free(struct rma *r);
struct rma_op *rma_op_alloc(struct rma_win *w);         /* NULL: exhausted */
void rma_op_free(struct rma_win *w, struct rma_op *op);
struct rma_op *rma_op_by_id(uint32_t id);               /* NULL: stale or malformed */
struct rma_target *rma_target_alloc(struct rma_win *w); /* NULL: exhausted */
void rma_target_free(struct rma_win *w, struct rma_target *t);

/* --- evicted.c: what is kept of the evicted elements of a passive epoch ----------------------- */
void rma_evicted_init(struct rma_evicted_set *g);
/* Record of a rank without element. cut 0: it is locked; -errno: it cannot be reached. Returns 0,
 * or -ENOMEM and nothing happened. */
int rma_evicted_put(struct rma_evicted_set *g, int rank, int cut);
int rma_evicted_find(const struct rma_evicted_set *g, int rank);
int rma_evicted_why(const struct rma_evicted_set *g, int rank);
void rma_evicted_take(struct rma_evicted_set *g, int rank);
void rma_evicted_discard(struct rma_evicted_set *g); /* frees its memory, too */
/* Most epochs evict nothing: then one word is read. */
static inline int rma_evicted(const struct rma_evicted_set *g, int rank)
{
    return g->count && rma_evicted_find(g, rank);
}
static inline void rma_evicted_clear(struct rma_evicted_set *g) /* at each end of an epoch */
{
    if (g->locked.slots || g->cut.slots)
        rma_evicted_discard(g);
}
/* -errno, or 0: it is not cut */
static inline int rma_evicted_err(const struct rma_evicted_set *g, int rank)
{
    return g->count ? rma_evicted_why(g, rank) : 0;
}
static inline void rma_evicted_del(struct rma_evicted_set *g, int rank)
{
    if (g->count)
        rma_evicted_take(g, rank);
}

/* --- key.c: what is known of the windows of others; registrations of own memory --------------- */
void rma_regs_drop(struct rma_reg *reg, unsigned *n);
/* rma_key_find: the record of a rank, or NULL. rma_key_of: that of t; `make` creates a missing one.
 * NULL: no free place, or no way to t. */
struct rma_key *rma_key_find(const struct rma_win *w, int rank);
struct rma_key *rma_key_of(struct rma_target *t, int make);
/* Bytes from which a put or get may be faster by this transport; SIZE_MAX: never. */
size_t rma_pays_from(const struct tp_caps *c);
/* What the atomics of a transport can do; NULL: do not use them. */
const struct rma_atomics *rma_atomics_of(struct tp *tp, const struct tp_ops *ops,
                                         const struct tp_caps *c);
void rma_native_close(struct rma_win *w); /* frees keys and registrations */

/* --- note_number.c ---- */
/* May puts over this transport carry notifications? */
int rma_note_puts(const struct tp_caps *caps);
/* The number of w in those that come to this process; 0: there is none. */
unsigned rma_note_number(struct rma_win *w);
/* what is known of the window at t; NULL: nothing */
const struct rma_key *rma_native_known(struct rma_target *t);
/* Size and unit of the window at t, as the answer to COMPLETE reports them. unit 0: not
 * reported. */
void rma_native_extent(struct rma_target *t, uint64_t bytes, uint64_t unit);
/* The same for the one region of a dynamic window. It is valid until its rank posts with another
 * number of detached regions. */
void rma_native_extent_region(struct rma_target *t, const struct rma_extent *told);
/* rank has posted; so many regions were detached there. RMA_POST_UNSEEN: it may have posted, and no
 * process checks that (NOCHECK). */
#define RMA_POST_UNSEEN UINT64_MAX
void rma_native_posted(struct rma_win *w, int rank, uint64_t detached);
static inline void rma_keys_unref(struct rma_target *t) /* when the element is deleted */
{
    if (t->key)
        t->key->refs--;
    t->key = NULL;
}
#include "rma/core/handle.h"
#include "rma/core/lane.h"

#endif
