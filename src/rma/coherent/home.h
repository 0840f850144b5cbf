/* home.h - the contract of rma/coherent/: windows with instances on devices, as the rest of rma/
 * sees them.
 *
 * RMA acts on the home instance, w->base.  rma_home() makes lanes valid there before an operation
 * acts; it waits for the copy engine, never for a kernel, a hold or a peer.  rma.h declares the
 * user's calls that are defined here.  Start with rma_home().
 *
 *   ownership  a window owns its struct rma_coherent
 *   blocking   rma_home() spins for copies; the user's acquires and rma_coherent_settle() wait
 *   lock       all under proc->lock
 *   errors     MPI error classes where so stated, else MPI error codes */
#ifndef RMA_HOME_H
#define RMA_HOME_H

#include "mem/coherent.h"
#include "rma/core/core.h"

struct rma_guard;
struct rma_coherent {
    struct coh *coh;
    unsigned n;
    unsigned pinned;                 /* a bit for each instance whose device pinned home */
    int number[COH_SPACES];          /* of each instance's space (mem/space.h) */
    struct space *space[COH_SPACES]; /* [0]: NULL */
    struct rma_guard *guard;         /* guard.c; NULL: none */
    size_t bad;                      /* of the last refusal: displacement in bytes ... */
    unsigned bad_space;              /* ... and instance */
};

/* At creation.  rma_coherent_wanted: is the key given, and may this flavor have it? The text of its
 * spaces, or NULL. */
int rma_coherent_wanted(const struct rma_win *w, const char **spaces);
int rma_coherent_make(struct rma_win *w);
void rma_coherent_drop(struct rma_win *w);
/* MPI_Win_free: MPI_ERR_RMA_SYNC while something is held; else the user's memory gets all data. */
int rma_coherent_end(struct rma_win *w);
/* Until the streams of this process have come to the releases that are in them. A copy that failed
 * after its release goes to w->err, which the synchronization returns. */
void rma_coherent_settle(struct rma_win *w);
/* -errno of mem/ as an MPI error code, with the range of the ask. */
int rma_coherent_failed(struct rma_win *w, const struct coh_ask *a, int err);
/* progress_wait() where devices must be asked. */
void rma_coherent_wait(int (*cond)(void *), void *arg, const char *what);

/* --- guard.c: the program's view of home, where MPIR_CVAR_WIN_GUARD is set ---- */
int rma_guard_make(struct rma_win *w); /* before coh_make(): it changes w->base */
void rma_guard_drop(struct rma_win *w);
void *rma_guard_view(const struct rma_win *w);
/* Pages of a range as the holds of the host are now. */
void rma_guard_set(struct rma_win *w, size_t off, size_t len);
/* What the program gets as its memory. */
static inline void *rma_win_shown(const struct rma_win *w)
{
    return w->coherent ? rma_guard_view(w) : w->base;
}

/* --- home.c ---- */
/* [off, off + len) before an access at home: MPI error class or 0. */
int rma_home(struct rma_win *w, uint64_t off, uint64_t len, enum coh_access how);
/* The blocks of packed bytes [from, from + len) of a layout at off. All are checked before any
 * changes. */
int rma_home_layout(struct rma_win *w, uint64_t off, const struct dt_type *t, size_t count,
                    size_t from, size_t len, enum coh_access how);
/* The same for runs that a packet names. */
int rma_home_runs(struct rma_win *w, uint64_t off, const struct rma_run *runs, unsigned n,
                  enum coh_access how);
/* This process's own operation at off: MPI error code. */
int rma_home_own(struct rma_win *w, const struct rma_args *a, uint64_t off, size_t bytes);

#endif
