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

/* --- create.c ---- */
/* A window of no member, with nothing that needs to be freed; NULL: no memory. */
struct rma_win *rma_win_blank(int flavor, void *base, MPI_Aint bytes, MPI_Aint disp_unit);
void rma_win_fast(struct rma_win *w); /* last: from here on the fast path may find it */
void rma_win_slow(struct rma_win *w); /* it does not any more */
/* RMA_SYNC: an epoch is open, or a call waits for notifications. */
int rma_win_is_idle(struct rma_win *w);
/* Over the memory of `from`, a window of all members of c. */
int rma_win_create_from(struct rma_win *from, int flavor, struct comm *c, struct rma_win **out);

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
/* An error: not all have come, or will. All members on other nodes count, too. */
int rma_node_barrier(struct rma_win *w);
void rma_node_close(struct rma_win *w);

/* --- peers.c: as segment.c ---- */
int rma_node_find(struct rma_win *w);            /* sets w->nears, near[], all_near */
void rma_node_record(struct rma_win *w);         /* fill this process's record */
/* reach each member's memory; MPI error code */
int rma_node_attach(struct rma_win *w, unsigned acc_hints, int err);

/* --- spread.c: the table of near ranks that are not consecutive; without it they are searched
 * for ---- */
void rma_spread_make(struct rma_win *w);

#endif
