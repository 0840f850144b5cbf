/* lane.h - short puts without proc->lock: what lane.c is to the rest of rma/ (part of core.h). */
#ifndef RMA_CORE_LANE_H
#define RMA_CORE_LANE_H

/* t: its next short put may leave soon (R14), and
 * its key is ready. 0: it gets no lane. */
int rma_lane_open(struct rma_target *t);
/* A put by the lane of t, just opened, that the caller counts. 1: done. */
int rma_lane_soon(struct rma_target *t, uint64_t off, const void *from, size_t bytes);
void rma_lane_close(struct rma_target *t);
/* From here on puts to t take the usual path, and what its lane has put is in t->native_out. */
static inline void rma_lane_end(struct rma_target *t)
{
    if (__builtin_expect(t->lane != NULL, 0))
        rma_lane_close(t);
}
int rma_lane_flush(struct rma_target *t); /* as tx_flush of tp.h */
void rma_lane_leave(struct rma_target *t); /* t is about to be deleted */
uint64_t rma_lane_out(const struct rma_target *t);
/* With those of its duplicates: what rma_pvar() does not have yet. */
uint64_t rma_lanes_counted(const struct rma_win *w, enum pvar_id id);
void rma_lanes_free(struct rma_win *w);
void rma_txs_close(struct rma *r); /* no window is left */

/* Has a flush of all nothing to do but for open lanes (lane.c)? After each change of that. Where
 * memory is reached by CMA it also counts for what is bundled. */
static inline void rma_lanes_admit(struct rma_win *w)
{
    const struct rma_win_delegate *d = &rma_root(w)->delegate;
    int near = w->near.by_cma || d->bundles || d->misses || d->errs;
    int errs = w->err || w->failure || w->errs.count || w->cut;
    int all = rma_in(w, SET_PASSIVE) && w->native.sure == w->table.ntargets && !rma_unsure(w) &&
              !near && !errs;
    /* Release pairs with the acquire in covers() (lane.c): the data of answers are visible. */
    atomic_store_explicit(&w->native.by_lanes, (unsigned char)all, memory_order_release);
}

#endif
