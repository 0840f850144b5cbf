/* rma.h - one-sided communication: the contract for api/, align/, race/ and profile/.
 *
 *   window --- slots --- target elements --- operation elements    far targets, by active messages
 *      \------ near table (mapped, CMA)                            near targets, directly
 *
 * The caller has checked the arguments as far as that needs no window: types are committed, counts
 * are not negative, op is legal for the type. Handles are resolved. All functions return MPI error
 * codes; the classes each may return are listed.
 *
 * All are called under proc->lock (proc->threaded); those marked "waits" release it meanwhile. If a
 * process that a call waits for fails, the call returns class MPIX_ERR_PROC_FAILED. Start with
 * rma_op_begin() and doc/design/rma-walk.md. */
#ifndef RMA_RMA_H
#define RMA_RMA_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "obj/comm.h"
#include "obj/request.h"

struct rma_win; /* begins with struct obj (kind OBJ_WIN); see near.h */
struct dt_type;
struct dt_op;
struct info;
struct pvar_set;

/* 0 or -errno. */
int rma_init(void);
/* Called after the last barrier; drops windows that the user left open. */
void rma_finalize(void);
/* At the begin of MPI_Finalize: one line for each window with an open epoch, since other processes
 * may wait for its end for ever. */
void rma_ending(void);
/* A window of the library itself, which the program does not know: rma_ending() passes it over. */
void rma_win_own(struct rma_win *w);

/* --- windows (collective over c) ---------------------------------------------
 * RMA_FLAVOR... ARG, SIZE, DISP, NO_MEM, INFO, RMA_SHARED; the same class on all members. */
int rma_win_create(void *base, MPI_Aint size, MPI_Aint disp_unit, struct info *info, struct comm *c,
                   struct rma_win **out);
int rma_win_allocate(MPI_Aint size, MPI_Aint disp_unit, struct info *info, struct comm *c,
                     void *base_out, struct rma_win **out);
int rma_win_allocate_shared(MPI_Aint size, MPI_Aint disp_unit, struct info *info, struct comm *c,
                            void *base_out, struct rma_win **out);
int rma_win_create_dynamic(struct info *info, struct comm *c, struct rma_win **out);
/* MPI_Win_allocate and MPI_Win_create that go on in the background. With the request's end, without
 * an error, the window and the base are stored. Errors of the call itself: NO_MEM. */
int rma_win_iallocate(MPI_Aint size, MPI_Aint disp_unit, struct info *info, struct comm *c,
                      void *base_out, MPI_Win *win, struct request **out);
int rma_win_icreate(void *base, MPI_Aint size, MPI_Aint disp_unit, struct info *info,
                    struct comm *c, MPI_Win *win, struct request **out);
/* The request of a creation that has failed in its call. */
int rma_win_refused(struct comm *c, int err, struct request **out);
/* Of one of these requests that has no handle: nothing is stored, and it is freed when done. */
void rma_win_forget(struct request *r);
/* A duplicate: local, without a message. NO_MEM, OTHER (there are too many). */
int rma_win_idup(struct rma_win *of, struct info *info, struct rma_win **out);
unsigned rma_win_channel(const struct rma_win *w); /* of a duplicate, else 0 */
/* The window that a duplicate was made of, or w itself: its memory, counters of notifications. */
struct rma_win *rma_win_root(struct rma_win *w);
/* MPI_ERR_RMA_SYNC if an epoch is open, or there are duplicates: the window stays. Of a duplicate:
 * completes its operations; with their error the duplicate stays. Runs attribute callbacks.
 * Waits. */
int rma_win_free(struct rma_win *w);
/* Of a window that this process may give up alone. Like rma_win_free(), but waits for no member
 * where one has failed, or the window was revoked: it counts as freed for the others, and stays a
 * target for them until MPI_Finalize. Without epochs, unless it was revoked. */
void rma_win_give_up(struct rma_win *w);
/* A window of the members that live, over the same memory: collective over them. RMA_SYNC,
 * UNSUPPORTED_OPERATION. w stays; either may be freed first. Waits. */
int rma_win_shrink(struct rma_win *w, struct rma_win **out);
/* Local: this and all other members are to end what they do on w and its duplicates. */
void rma_win_revoke(struct rma_win *w);
int rma_win_is_revoked(const struct rma_win *w);
struct rma_win *rma_win_find_revoked(int handle); /* obj_find() does not; NULL: there is none */
/* Of windows with and without copies (the key mpix_win_replicas); the program's calls come here.
 * Also INFO, UNSUPPORTED_OPERATION. They wait. */
int rma_replicas_allocate(MPI_Aint size, MPI_Aint disp_unit, struct info *info, struct comm *c,
                          void *base_out, struct rma_win **out);
int rma_replicas_free(struct rma_win *w);
int rma_replicas_shrink(struct rma_win *w, struct rma_win **out);
/* Where this process keeps the copy that now counts of a failed member of the window that w was
 * shrunk from; NULL: another process does. RANK, UNSUPPORTED_OPERATION, PROC_FAILED. */
int rma_replicas_recover(struct rma_win *w, int failed, void *base_out);
int rma_win_has_copies(const struct rma_win *w);
/* A synchronization call s of a window with copies, which `run` makes; s may be changed for it.
 * Waits. */
struct watch_sync;
int rma_replicas_sync(struct rma_win *w, const struct watch_sync *s,
                      int (*run)(struct rma_win *w, const struct watch_sync *s));
/* A put, and a flush that is only a fence, of such a window whose copies this process stores to, in
 * a process without threads. Like the inline path: without a lock; 1: done and counted, 0: nothing
 * was done. Between rma_init() and rma_finalize(); win: any handle. */
int rma_mirror_put(MPI_Win win, int rank, MPI_Aint disp, uint64_t bytes, const void *origin);
int rma_mirror_flush(MPI_Win win, int rank);
/* RMA_FLAVOR, RMA_ATTACH; SIZE, BASE. If a region of 0 bytes and another one begin at the same
 * address, detach takes the other one first. */
int rma_win_attach(struct rma_win *w, void *base, MPI_Aint size);
int rma_win_detach(struct rma_win *w, const void *base);
/* Memory handles: displacements that stand for memory here, which they attach (window/memhandle.c).
 * The errors of attach; NO_MEM; free: ARG. It and detach of the memory wait for the ranks that
 * were told a key. */
int rma_memhandle_create(struct rma_win *w, void *base, MPI_Aint size, uint64_t *disp);
int rma_memhandle_free(struct rma_win *w, uint64_t disp);
/* The address that a displacement of this process's memory stands for: itself, but of a handle. */
uint64_t rma_win_address(const struct rma_win *w, uint64_t disp);
/* RANK, RMA_FLAVOR (dynamic). rank MPI_PROC_NULL: the lowest rank within reach that has memory.
 * *size is 0 and the address NULL if this process cannot load and store there: another node, or a
 * peer's memory of MPI_Win_create that is not mapped here. After a query of a peer's memory, the
 * call waits as fence and start do (rma_loads_begin). */
int rma_win_shared_query(struct rma_win *w, int rank, MPI_Aint *size, MPI_Aint *disp_unit,
                         void *base_out);
int rma_win_group(struct rma_win *w, struct group **out);
int rma_win_set_info(struct rma_win *w, struct info *info); /* collective in MPI; does not wait */
int rma_win_get_info(struct rma_win *w, struct info **out);
/* Predefined attribute, or NULL for another keyval. */
/* NULL: MPI_WIN_DISP_UNIT exceeds an int; a base may also be NULL */
void *rma_win_attr(struct rma_win *w, int keyval);
MPI_Aint rma_win_unit(const struct rma_win *w);
struct attr_list *rma_win_attrs(struct rma_win *w);
char *rma_win_name(struct rma_win *w); /* MPI_MAX_OBJECT_NAME bytes */
struct errhandler **rma_win_errhandler(struct rma_win *w);
uint64_t rma_win_pvar(const struct rma_win *w, int id); /* id: enum pvar_id */
uint64_t rma_win_pvar_at(const struct rma_win *w, int id, int rank); /* of PVAR_TARGET */
struct comm *rma_win_comm(struct rma_win *w);

/* --- coherent windows (coherent/acquire.c) ----------------------------------------
 * RMA_FLAVOR, RMA_RANGE, ARG, RMA_CONFLICT, NO_MEM, RMA_SYNC, OTHER. */
struct rma_range {
    MPI_Aint disp, bytes; /* of this process's own window */
    int space, on_stream;
    void *stream;
};
int rma_coherent_acquire(struct rma_win *w, const struct rma_range *r, int mode,
                         void **ptr);                                    /* waits */
int rma_coherent_release(struct rma_win *w, const struct rma_range *r);  /* waits */
int rma_coherent_prefetch(struct rma_win *w, const struct rma_range *r);
int rma_coherent_evict(struct rma_win *w, const struct rma_range *r);    /* waits */
int rma_coherent_tile(struct rma_win *w, MPI_Aint disp, int space, int *state, int *holds,
                      MPI_Count *valid);
int rma_space_find(const char *name, int *space);
int rma_space_launch(int space, void *stream, void (*kernel)(void *const *, const void *), int n,
                     void *const *ptr, const void *arg, int bytes);
int rma_space_wait(int space, void *stream); /* waits */

/* Far locks, and most of LOCK_ALL's, are taken with the first operation: is that of rank held? */
int rma_holds_lock(const struct rma_win *w, int rank);
/* It is held when this returns, if it was called for. Waits. */
int rma_lock_now(struct rma_win *w, int rank);
/* The error with which rma_fence() would refuse the call, and leave everything as it is. */
int rma_fence_check(const struct rma_win *w, int assert);
/* Operations were called since its last fence, and belong to the epoch of that. */
int rma_fence_has_ops(const struct rma_win *w);
/* Has a fence of this window failed so that the other processes may still wait in it? */
int rma_fence_missed(const struct rma_win *w);

/* Call fn(w) for each window that exists, but for duplicates. */
void rma_each(void (*fn)(struct rma_win *w));
/* The same at all members. Of other windows only its duplicates have it. */
uint64_t rma_win_id(const struct rma_win *w);
int rma_win_flavor(const struct rma_win *w);  /* MPI_WIN_FLAVOR_CREATE.. */
int rma_win_size(const struct rma_win *w);    /* members */
/* From now on waits for windows are timed and counted. 0 or -ENOMEM. */
int rma_time_waits(void);

/* A wait for the posts or completes of w is over: the world rank that came last; -1: not known, or
 * another wait. */
int rma_win_came_last(const void *w, int why);

/* "window "halo", lock_all granted; exposed" */
void rma_win_about(const void *w, char *buf, size_t len);

/* Adds the sums over all windows to pvar_proc(); called before the user reads a variable. */
void rma_pvars_collect(void);

/* Does a wait (progress_waiting) end only by a call of another member: an unlock, a post, a
 * complete? Its window, or NULL. */
struct rma_win *rma_awaits(int (*cond)(void *), void *arg);
/* The counter of notifications that a wait (progress_seen) is for, and the id of its window; 0: it
 * is for none, or for several requests. */
uint64_t rma_note_awaited(int (*cond)(void *), void *arg, unsigned *counter);

/* --- operations -----------------------------------------------------------------
 * RMA_SYNC (no epoch), RANK, DISP, RMA_RANGE (near), NO_MEM.  Wait only when pools are exhausted.
 * MPI_PROC_NULL: nothing happens. */
enum rma_kind { RMA_PUT, RMA_GET, RMA_ACC, RMA_GACC, RMA_FOP, RMA_CAS };
struct rma_args {
    enum rma_kind kind;
    int rank;
    const void *origin; /* read: put, acc, gacc, fop, cas */
    MPI_Aint ocount;
    struct dt_type *otype;
    void *result;       /* written: get, gacc, fop, cas */
    MPI_Aint rcount;
    struct dt_type *rtype;
    const void *compare; /* cas */
    MPI_Aint disp, tcount;
    struct dt_type *ttype;
    struct dt_op *op; /* acc, gacc, fop */
    int notify; /* put, get, acc: index + 1 of the target's counter; 0: none */
    int channel; /* op_begin.c: of the duplicate that calls; 0: its window */
};
/* req NULL: plain; else the request-based form (in passive epochs only: RMA_SYNC), which gives
 * REQUEST_COMPLETE where the operation is done in the call. */
int rma_op_begin(struct rma_win *w, const struct rma_args *a, MPI_Request *req);
/* The same where a watcher looks on (WATCH_OPS, WATCH_MEMORY), a window has copies, or one takes
 * buffers in memory of devices (the key mpix_win_buffers). Waits for copies of these. Also BUFFER,
 * OTHER. */
int rma_op_begin_staged(struct rma_win *w, const struct rma_args *a, MPI_Request *req);

/* --- notifications: the counters of this process ------------------------------------
 * INVALID_NOTIFICATION, ARG, NO_MEM. */
int rma_notify_set_num(struct rma_win *w, int num);
/* The program has the window before the index: remarks on it once (MPIR_CVAR_DEBUG_SUMMARY). */
void rma_notify_swapped(void);
/* mpix_notify_order=target: a notification covers the origin's earlier operations, too. */
int rma_notes_cover(const struct rma_win *w);
/* 1: this process has a notified operation that is not done. It may leave within any wait here. */
int rma_notes_leave(void);
int rma_notify_get(struct rma_win *w, int i, MPI_Count *value); /* polls now and then */
int rma_notify_set(struct rma_win *w, int i, MPI_Count value);
/* Until the value is at least `value`, or (flag) whether it is. take: subtracts it then. Waits.
 * PROC_FAILED_PENDING, too. */
int rma_notify_wait(struct rma_win *w, int i, MPI_Count value, int take);
/* A request for the same; it can be cancelled. */
int rma_notify_request(struct rma_win *w, int i, MPI_Count value, MPI_Request *req);
int rma_notify_test(struct rma_win *w, int i, MPI_Count value, int *flag);

/* --- synchronization --------------------------------------------------------------
 * RMA_SYNC, ASSERT, RANK, LOCKTYPE; RMA_RANGE and the like for operations that failed at a far
 * target. */
int rma_fence(struct rma_win *w, int assert);                    /* waits */
int rma_post(struct rma_win *w, struct group *g, int assert);
/* waits if the program loads from near peers */
int rma_start(struct rma_win *w, struct group *g, int assert);
int rma_complete(struct rma_win *w);                             /* waits */
int rma_wait(struct rma_win *w);                                 /* waits */
int rma_test(struct rma_win *w, int *flag);
/* waits for near targets and earlier far locks */
int rma_lock(struct rma_win *w, int type, int rank, int assert);
int rma_unlock(struct rma_win *w, int rank);                     /* waits */
int rma_lock_all(struct rma_win *w, int assert);                 /* waits for near targets */
int rma_unlock_all(struct rma_win *w);                           /* waits */
int rma_flush(struct rma_win *w, int rank);                      /* waits */
int rma_order(struct rma_win *w, int rank); /* rank, or MPIX_ALL; may wait for near targets */
int rma_flush_all(struct rma_win *w);
int rma_flush_local(struct rma_win *w, int rank);
int rma_flush_local_all(struct rma_win *w);
int rma_sync(struct rma_win *w);

struct rma_win_near;
/* A short put to a far target, or a flush of it or of all, by transmit contexts, with threads. 1:
 * done and counted; 0: nothing was done. None needs proc->lock (core/lane.c). */
int rma_near_lane_put(struct rma_win_near *w, int rank, int64_t disp, uint64_t bytes,
                      const void *from);
int rma_near_lane_flush(MPI_Win win, int rank, int local);
int rma_near_lanes_flush(MPI_Win win, int local);

#endif
