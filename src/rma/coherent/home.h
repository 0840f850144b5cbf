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

struct rma_coherent {
    struct coh *coh;
    unsigned n;
    int number[COH_SPACES];          /* of each instance's space (mem/space.h) */
    struct space *space[COH_SPACES]; /* [0]: NULL */
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
/* Until the streams of this process have come to the releases that are in them. */
void rma_coherent_settle(struct rma_win *w);
/* progress_wait() where devices must be asked. */
void rma_coherent_wait(int (*cond)(void *), void *arg, const char *what);

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
