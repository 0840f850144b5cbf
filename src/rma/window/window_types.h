/* window_types.h - what the files of rma/window/ share (private). */
#ifndef RMA_WINDOW_TYPES_H
#define RMA_WINDOW_TYPES_H

#include "rma/coherent/home.h"
#include "rma/window/window.h"

/* MPI_Win_allocate or MPI_Win_allocate_shared: memory that the library makes. */
static inline int rma_memory_ours(const struct rma_win *w)
{
    return w->flavor == MPI_WIN_FLAVOR_ALLOCATE || w->flavor == MPI_WIN_FLAVOR_SHARED;
}

/* --- blank.c ---- */
/* A window of no member, with nothing that needs to be freed; NULL: no memory. */
struct rma_win *rma_win_blank(int flavor, void *base, MPI_Aint bytes, MPI_Aint disp_unit);
void rma_win_fast(struct rma_win *w); /* last: from here on the fast path may find it */
/* RMA_SYNC: an epoch is open, or a call waits for notifications. */
int rma_win_is_idle(struct rma_win *w);

/* --- create.c ---- */
struct rma_plan { /* what a creation call asks for */
    struct rma_win *from; /* rma_win_shrink(): whose memory it is; else NULL */
    int flavor;
    void *base;
    MPI_Aint size, disp_unit;
    struct info *info;
};
/* What all members exchange, once; then the largest of each. */
enum { RMA_TOLD = 8 };
struct rma_told {
    int64_t error;           /* a class, or 0 */
    int64_t most;            /* bytes of the largest window */
    int64_t kept, kept_less; /* the segment that this member can use again, or 0; -kept */
    int64_t align;
    int64_t helpless;        /* it has no thread that makes progress */
    int64_t copies, copies_less; /* info key mpix_win_replicas; -copies */
};
_Static_assert(sizeof(struct rma_told) == RMA_TOLD * sizeof(int64_t), "an array of numbers");
/* The node segment that all can use again: the highest and the lowest are one; or 0. */
static inline uint64_t rma_kept(const struct rma_told *v)
{
    return v->kept == -v->kept_less ? (uint64_t)v->kept : 0;
}

/* The parts of a creation between its waits, in this order; each returns an MPI error code. The
 * blocking calls wait between them, begin.c comes back to them.
 *
 *   ids agreed     rma_win_over(); rma_win_told()
 *   largest known  rma_win_heard(); segment.c: rma_node_open()
 *   segment there  rma_win_exposed(); peers.c: rma_node_attach()
 *   all agree      rma_win_ready()
 *
 * err: this member has failed already; then w may be NULL. */
void rma_win_over(struct rma_win *w, struct comm *own); /* takes the reference */
int rma_win_told(struct rma_win *w, const struct rma_plan *p, int err, struct rma_told *v);
/* lost: what the exchange returned. */
int rma_win_heard(struct rma_win *w, int err, int lost, const struct rma_told *v);
/* Memory, record, handle. MPI_Win_allocate_shared waits in it. */
int rma_win_exposed(struct rma_win *w);
/* The end; with an error w is dropped. */
int rma_win_ready(struct rma_win *w, int err);
/* Over the memory of `from`, a window of all members of c. */
int rma_win_create_from(struct rma_win *from, int flavor, struct comm *c, struct rma_win **out);

/* --- memhandle.c ---- */
/* Those with memory in the region that begins at addr end. Waits for the ranks that were told a
 * key, also of those that other threads end. */
void rma_memhandles_end(struct rma_win *w, uint64_t addr);
void rma_memhandles_drop(struct rma_win *w); /* all, with the window */

/* --- dup.c ---- */
int rma_dup_free(struct rma_win *w);   /* MPI_Win_free of a duplicate: waits; MPI error code */
/* It, or each of w's, has an info of its own. Until one of both changes, that is the window's. */
int rma_dup_hints(struct rma_win *w);
int rma_dups_hints(const struct rma_win *w);
void rma_dup_leave(struct rma_win *w); /* it is dropped: it has nothing of its window any more */

/* --- revoked.c ---- */
void rma_win_hide(struct rma_win *w); /* obj_find() and the fast path find it no more */

/* --- living.c ---- */
void rma_win_take_from(struct rma_win *w, struct rma_win *from);
/* Where the window that w comes from has mapped the memory of n; NULL: nowhere. */
char *rma_from_mapping(const struct rma_win *w, const struct rma_near *n);

/* --- hints.c ---- */
int rma_copies_wanted(struct rma_win *w, const struct rma_plan *p); /* w->copies; MPI error code */
int rma_hints_take(struct rma_win *w, const struct info *given, int made); /* MPI error code */
unsigned rma_acc_hints(const struct rma_win *w);

/* --- promise.c ---- */
enum { RMA_PROMISE_CAS = 1 << DT_OPS, RMA_PROMISE_ANY_OP = (1 << (DT_OPS + 1)) - 1 };
#define RMA_PROMISE_ANY_TYPE UINT64_MAX
void rma_promise_take(struct rma_win *w, const struct info *given);
/* 0: the list is malformed. */
int rma_promise_ops(const char *list, unsigned *bits);
int rma_promise_types(const char *list, uint64_t *bits);
int rma_promise_single(const struct rma_win *w); /* it has the effect of ACC_SINGLE_ELEMENTS */
void rma_promise_text(const struct rma_win *w, char *op_text, char *type_text, size_t len);

/* --- serves.c: bits of MPIX_WIN_PROGRESS ---- */
int rma_serves_of(const struct rma_win *w, int rank);
int rma_serves_worst(const struct rma_win *w); /* over all members */
void rma_serves_text(int bits, char *text, size_t len);

/* --- memory.c: MPI error codes ---- */
int rma_memory_make(struct rma_win *w);
/* MPI_Win_allocate_shared: the one segment */
int rma_node_shared(struct rma_win *w, int noncontig);

/* --- segment.c: collective over the members on this node ---- */
uint64_t rma_node_offer(struct rma_win *w); /* names a segment for reuse, if all name the same */
/* Segment and words: a reused one, or a new one; MPI error code, the same everywhere. */
int rma_node_open(struct rma_win *w, uint64_t most_bytes, uint64_t kept);
/* The same in parts. 1: the kept one is used, and nothing is to be exchanged; else
 * rma_node_key_begin(), the end of its request, rma_node_key_end(), and an agreement on errors if
 * rma_node_agrees(). Then rma_node_opened(). */
struct rma_opening {
    uint64_t most;
    int again, err; /* err: -errno, of the leader */
    struct mem_key key;
};
int rma_node_open_begin(struct rma_win *w, uint64_t most_bytes, uint64_t kept,
                        struct rma_opening *o);
int rma_node_key_begin(struct rma_win *w, struct rma_opening *o, struct request **r);
int rma_node_key_end(struct rma_win *w, struct rma_opening *o, int lost);
int rma_node_agrees(const struct rma_win *w);
void rma_node_opened(struct rma_win *w, const struct rma_opening *o);
/* An error: not all have come, or will. All members on other nodes count, too. */
int rma_node_barrier(struct rma_win *w);
/* The same without a wait: arrive, and look whether all have. *err: as above. */
unsigned rma_node_arrive(struct rma_win *w);
int rma_node_arrived(struct rma_win *w, unsigned number, int *err);
void rma_node_close(struct rma_win *w);

/* --- peers.c: as segment.c ---- */
int rma_node_find(struct rma_win *w);            /* sets w->nears, near[], all_near */
void rma_node_record(struct rma_win *w);         /* fill this process's record */
/* reach each member's memory; MPI error code */
int rma_node_attach(struct rma_win *w, unsigned acc_hints, int err);
/* The same in parts: a barrier follows each. reach() returns the error that all see, then there are
 * no more. err: an error of this member so far. */
void rma_node_tell(struct rma_win *w, int err);
int rma_node_reach(struct rma_win *w, int err);
void rma_node_reached(struct rma_win *w, unsigned acc_hints);

/* --- spread.c: the table of near ranks that are not consecutive; without it they are searched
 * for ---- */
void rma_spread_make(struct rma_win *w);

#endif
