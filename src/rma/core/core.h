/* core.h - the contract of rma/core/: records, states, pools, packets and errors that all of rma/
 * share.
 *
 * What is here knows no protocol.  It finds and makes elements, writes states, looks up places,
 * frames packets, and words errors.
 *
 *   ownership  a window owns its slots, targets and keys; a target owns its operations; elements
 *              come from the pools and go back there
 *   blocking   nothing here waits; AM_AGAIN means that there is no room now
 *   lock       all under proc->lock; rma_near_opened(), rma_near_admit() and what calls them
 *              publish to threads without it (near.h)
 *   errors     MPI error codes where so stated, else 0 or -errno; NULL from an allocation means
 *              that pools or memory are exhausted
 *   upcalls    rma_poll() asks a higher sub-room; rma_init() fills rma->polls */
#ifndef RMA_CORE_H
#define RMA_CORE_H

#include "rma/core/packets.h"
#include "rma/core/state.h"
#include "rma/core/types.h"

enum { NOT_HERE = -1 }; /* not to be done here: by message, please */

static inline struct rma *rma_room(void)
{
    return proc->rma;
}
static inline int rma_world(const struct rma_win *w, int rank)
{
    return rankmap_world(w->map, rank);
}
static inline void rma_count(struct rma_win *w, enum pvar_id id, uint64_t n)
{
    pvar_set_add(&w->near.pvars, id, n);
}
/* Events of one poll of a higher sub-room; 0 where none is registered (state.c). */
int rma_poll(struct rma_win *w, enum rma_poll_index which);

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
}
/* Is `src` of a packet inside another the sender's, whose rank is `rank`? */
static inline int rma_same_src(const struct rma_win *w, uint32_t src, uint32_t rank)
{
    return (src ^ rank) == (uint32_t)(w->id >> 32);
}
/* The window a packet names, if it is well formed and may come from src: h->src is the rank alone
 * then.  NULL: *h is as it came. */
struct rma_win *rma_packet_window(int src, const void *msg, size_t len, struct rma_hdr *h);
/* Header with win and src filled in, and data. */
void rma_reply(struct rma_win *w, int src, struct rma_hdr *h, const void *data, size_t len);
/* A packet of header only to a rank, element or not: 0, AM_AGAIN, -errno. */
int rma_send_plain(struct rma_win *w, int rank, const struct rma_hdr *h, unsigned replies);

/* --- error.c: MPI error codes ----------------------------------------------------------------- */
const char *rma_call(void); /* name of the MPI call under way, for texts */
/* The window as texts name it: window "NAME", or its handle.  Good until the next call. */
const char *rma_win_text(const struct rma_win *w);
/* Of *slot, which is empty then; the call under way returns it. */
int rma_take_err(int *slot);
int rma_dead_error(struct rma_win *w, int rank);
/* rank cannot be reached: cut, -errno, says why. */
int rma_cut_error(const struct rma_win *w, int rank, int cut);
/* The error that a reply tells, 0 if none; what: its payload.  call: of the operation, NULL: what the payload says of that. */
int rma_far_error(const struct rma_win *w, const struct rma_hdr *h, const char *what, const char *call);
/* The same, for op. */
int rma_op_refused(const struct rma_op *op, const struct rma_hdr *h, const char *what);

/* --- range.c: places in a window, near records ------------------------------------------------ */
/* Near record of a rank, NULL when it is far. */
/* order of near records, for qsort and bsearch */
int rma_near_by_rank(const void *a, const void *b);
struct rma_near *rma_near_search(const struct rma_win *w, int rank);
static inline struct rma_near *rma_near_of(const struct rma_win *w, int rank)
{
    unsigned i = (unsigned)rank - w->near.first;
    if (w->near.count)
        return i < w->near.count ? &w->near.near[i] : NULL;
    return rma_near_search(w, rank); /* the near ranks are not consecutive */
}
static inline struct rma_peer *rma_peer_of(const struct rma_win *w, unsigned i)
{
    return w->near.near[i].peer;
}
/* Byte offset of (disp units + lo) .. hi in a target's window; 0, or -ERANGE. */
int rma_offset(uint64_t disp, uint64_t unit, int64_t lo, int64_t hi, uint64_t size, uint64_t *off);
/* Does [off, off+len) lie in the memory this process exposes? Its address, or NULL. (dynamic: off
 * is an address) */
char *rma_win_local(struct rma_win *w, uint64_t off, uint64_t len);
/* Dynamic windows: the same for packed bytes [from, from + len) of count t at addr, block by
 * block. */
int rma_win_holds(struct rma_win *w, uint64_t addr, const struct dt_type *t, size_t count,
                  size_t from, size_t len);
/* dynamic: the one that holds addr; NULL: none */
const struct rma_attached *rma_win_region(const struct rma_win *w, uint64_t addr);
/* index of the first region that begins above addr */
unsigned rma_region_above(const struct rma_win *w, uint64_t addr);
/* Is [addr, addr+len) inside a region that the peer of a dynamic window has published? 1, 0 no,
 * NOT_HERE: ask the peer itself. */
int rma_region_shown(const struct rma_peer *p, uint64_t addr, uint64_t len);

/* --- slot.c: target elements by rank ---------------------------------------------------------- */
int rma_slots_init(struct rma_win *w);
void rma_slots_free(struct rma_win *w);
struct rma_target *rma_target_find(const struct rma_win *w, int rank);
int rma_target_way(struct rma_target *t); /* connect to it after that failed: 0 or -errno */
struct rma_target *rma_target_add(struct rma_win *w, int rank); /* NULL: pools are exhausted */
void rma_target_del(struct rma_win *w, struct rma_target *t);   /* its list is empty */
/* All targets: next one after t (NULL: first); safe when the returned one is deleted after the
 * following call only. */
struct rma_target *rma_target_next(const struct rma_win *w, const struct rma_target *t);
void rma_targets_drop(struct rma_win *w); /* end of epoch: delete all */
/* No thread, operation or answer is concerned with it. */
int rma_target_idle(const struct rma_target *t);
void rma_targets_drop_idle(struct rma_win *w); /* fence: other threads may be operating */

/* --- pool.c: elements ------------------------------------------------------------------------- */
int rma_pools_init(struct rma *r);
void rma_pools_free(struct rma *r);
struct rma_op *rma_op_alloc(struct rma_win *w);         /* NULL: exhausted */
void rma_op_free(struct rma_win *w, struct rma_op *op);
struct rma_op *rma_op_by_id(uint32_t id);               /* NULL: stale or nonsense */
struct rma_target *rma_target_alloc(struct rma_win *w); /* NULL: exhausted */
void rma_target_free(struct rma_win *w, struct rma_target *t);

/* --- evicted.c: what is kept of the evicted elements of a passive epoch ----------------------- */
void rma_gone_init(struct rma_gone *g);
/* Of a rank without record.  cut 0: it is locked; -errno: it cannot be reached.  0, or -ENOMEM and
 * nothing happened. */
int rma_gone_put(struct rma_gone *g, int rank, int cut);
int rma_gone_find(const struct rma_gone *g, int rank);
int rma_gone_why(const struct rma_gone *g, int rank);
void rma_gone_take(struct rma_gone *g, int rank);
void rma_gone_forget(struct rma_gone *g); /* and its memory */
/* Most epochs have none: one word is read. */
static inline int rma_gone(const struct rma_gone *g, int rank)
{
    return g->count && rma_gone_find(g, rank);
}
static inline void rma_gone_clear(struct rma_gone *g) /* every end of an epoch comes here */
{
    if (g->locked.slots || g->cut.slots)
        rma_gone_forget(g);
}
static inline int rma_gone_err(const struct rma_gone *g, int rank) /* -errno, or 0: it is not cut */
{
    return g->count ? rma_gone_why(g, rank) : 0;
}
static inline void rma_gone_del(struct rma_gone *g, int rank)
{
    if (g->count)
        rma_gone_take(g, rank);
}

/* --- key.c: what is known of the windows of others -------------------------------------------- */
/* The record of a rank, NULL: none; of t, made where there is none (make), NULL: no place for it,
 * or no way there. */
struct rma_key *rma_key_find(const struct rma_win *w, int rank);
struct rma_key *rma_key_of(struct rma_target *t, int make);
/* Bytes from which put or get may pay over a transport of these abilities; SIZE_MAX: never. */
size_t rma_pays_from(const struct tp_caps *c);
/* What the atomics of a transport can do; NULL: they are not to be used. */
const struct rma_atomics *rma_atomics_of(struct tp *tp, const struct tp_ops *ops,
                                         const struct tp_caps *c);
void rma_native_close(struct rma_win *w); /* forget keys and memory */
/* what is known of the window there; NULL: nothing */
const struct rma_key *rma_native_known(struct rma_target *t);
/* The window there has so many bytes, in units of so many (0: it does not say).  An answer to
 * COMPLETE tells it. */
void rma_native_told(struct rma_target *t, uint64_t bytes, uint64_t unit);
/* The same of a dynamic window, of the one region; true until its rank posts with another number of
 * detached ones. */
void rma_native_told_region(struct rma_target *t, const struct rma_told *told);
/* rank has posted, and so many regions were detached there; RMA_POST_UNSEEN: it may have, nobody
 * looks (NOCHECK). */
#define RMA_POST_UNSEEN UINT64_MAX
void rma_native_posted(struct rma_win *w, int rank, uint64_t detached);
void rma_native_leave(struct rma_target *t); /* the element goes */

#endif
