/* notify.c - notified one-sided operations: the target of a put learns that its data are there.
 * Forum issue mpi-forum/mpi-issues#59; the names of Intel MPI are the same functions. Start with
 * PMPIX_Put_notify() and PMPIX_Win_notify_wait().
 *
 * Intel's guide has the window before the index, its sample behind it; both are int. A window's
 * handle is negative, an index is not: so both orders work (in_order()). */
#include "api/rma/onesided.h"

#include "base/atomic.h"
#include "mem/mem.h"

/* --- fast ------------------------------------------------------------------------------------- */

/* The counters of n, if this function may count number i there; NULL: take the slow path. */
static inline struct rma_note *counters(const struct rma_near *n, int i)
{
    /* Acquire pairs with the release in note_of() (rma/near/note.c). */
    struct rma_note *x = atomic_load_explicit(&n->note, memory_order_acquire);
    return x && (unsigned)i < atomic_load_explicit(&x->num, memory_order_relaxed) ? x : NULL;
}

/* The thread that stands in for the program (proc->helped) only adds to the counters, with
 * release. */
static inline int alone(void)
{
    return !proc->threaded || proc->helped;
}

/* This process's counters, if this function may read number i of them; NULL: take the slow path,
 * sometimes only because it polls. Other threads of the program may change them under
 * proc->lock. */
static inline struct rma_win_notes *own(MPI_Win win, int i)
{
    struct rma_near_table *room = rma_near_self();
    struct rma_win_near *w;
    struct rma_win_notes *x;
    if (UNLIKELY(!room) || UNLIKELY(!alone()) || UNLIKELY(!(w = rma_near_win(room, win))) ||
        UNLIKELY(!(x = w->notes)) || UNLIKELY((unsigned)i >= x->lines) ||
        UNLIKELY(++x->looks >= x->every))
        return NULL;
    return x;
}

static inline int64_t value_of(const struct rma_win_notes *x, int i)
{
    /* Acquire pairs with the release of the origins' adds, in count() and rma_note_near(), and of
     * the handler's in rma_note_came(): their data are here, too. */
    _Atomic uint64_t *word = (_Atomic uint64_t *)((uintptr_t)x->words +
                                                  (unsigned)i * (uintptr_t)RMA_NOTE_LINE);
    return (int64_t)(atomic_load_explicit(word, memory_order_acquire) - x->base[(unsigned)i]);
}

/* The owner of n sleeps. */
static SLOW int wake(const struct rma_near *n)
{
    mem_wake(n->host_index);
    return MPI_SUCCESS;
}

/* One more, after all that this thread did so far. */
static inline int count(const struct rma_near *n, struct rma_note *x, int i)
{
    _Atomic uint64_t *word = (_Atomic uint64_t *)((uintptr_t)x->words +
                                                  (unsigned)i * (uintptr_t)RMA_NOTE_LINE);
    counter_add(&x->counted, 1);
    if (UNLIKELY(rma_note_add(word, x->sleeping)))
        return wake(n);
    return MPI_SUCCESS;
}

/* Any number of bytes. The short way saves no register for a call. */
static __attribute__((noinline)) int put_and_count(const void *origin, char *at, uint64_t bytes,
                                                   const struct rma_near *n, struct rma_note *x,
                                                   int i)
{
    rma_near_put(origin, at, bytes);
    return count(n, x, i);
}

static __attribute__((noinline)) int get_and_count(void *origin, const char *at, uint64_t bytes,
                                                   const struct rma_near *n, struct rma_note *x,
                                                   int i)
{
    rma_near_get(origin, at, bytes);
    return count(n, x, i); /* release: the loads come before it, too */
}

/* --- operations ------------------------------------------------------------------------------- */

/* Where an operation acts, as the program says it. */
struct far {
    int rank;
    MPI_Aint disp;
    MPI_Count n;
    MPI_Datatype type;
    int index;
    MPI_Win win;
};

/* A window's handle in place of the index: the other order of the two. The inline paths find no
 * window then, and take the slow one. */
static inline void in_order(int *index, MPI_Win *win)
{
    if (UNLIKELY(*index < 0) && *win >= 0) {
        int handle = *index;
        *index = *win;
        *win = handle;
        rma_notify_swapped();
    }
}

/* The window comes first: MPI_WIN_NULL in the place of either is MPI_ERR_WIN. */
static int index_of(const struct far *f, int *notify)
{
    struct rma_win *w;
    int err = api_win(f->win, &w);
    if (err || f->rank == MPI_PROC_NULL)
        return err;
    _Static_assert((int)RMA_NOTE_MAX == MPIX_NOTIFY_MAX, "one bound");
    if (f->index < 0 || f->index >= MPIX_NOTIFY_MAX)
        return err_make(MPIX_ERR_INVALID_NOTIFICATION, "%s: index is %d, not 0 to %d", proc->call,
                        f->index, MPIX_NOTIFY_MAX - 1);
    *notify = f->index + 1;
    return MPI_SUCCESS;
}

static SLOW int put(const char *call, struct side o, struct far f)
{
    struct rma_args a = {.kind = RMA_PUT, .rank = f.rank, .origin = o.buf,
                         .ocount = (MPI_Aint)o.count, .disp = f.disp, .tcount = (MPI_Aint)f.n};
    api_enter(call);
    in_order(&f.index, &f.win);
    int err = index_of(&f, &a.notify);
    if (!err && f.rank != MPI_PROC_NULL)
        err = onesided_side(&o, &a.otype);
    if (!err && f.rank != MPI_PROC_NULL)
        err = onesided_target(f.n, f.type, &a.ttype);
    return onesided_run(f.win, &a, NULL, err, o.site);
}

static SLOW int get(const char *call, struct side r, void *result, struct far f)
{
    struct rma_args a = {.kind = RMA_GET, .rank = f.rank, .result = result,
                         .rcount = (MPI_Aint)r.count, .disp = f.disp, .tcount = (MPI_Aint)f.n};
    api_enter(call);
    in_order(&f.index, &f.win);
    int err = index_of(&f, &a.notify);
    if (!err && f.rank != MPI_PROC_NULL)
        err = onesided_side(&r, &a.rtype);
    if (!err && f.rank != MPI_PROC_NULL)
        err = onesided_target(f.n, f.type, &a.ttype);
    return onesided_run(f.win, &a, NULL, err, r.site);
}

static int acc(const char *call, struct side o, struct far f, MPI_Op op)
{
    struct rma_args a = {.kind = RMA_ACC, .rank = f.rank, .origin = o.buf,
                         .ocount = (MPI_Aint)o.count, .disp = f.disp, .tcount = (MPI_Aint)f.n};
    api_enter(call);
    in_order(&f.index, &f.win);
    int err = index_of(&f, &a.notify);
    if (!err && f.rank != MPI_PROC_NULL) {
        err = onesided_side(&o, &a.otype);
        if (!err)
            err = onesided_target(f.n, f.type, &a.ttype);
        if (!err)
            err = onesided_acc(&a, op);
        if (!err && a.op->index == DT_NO_OP)
            err = err_make(MPI_ERR_OP, "%s: MPI_NO_OP is for operations that fetch", call);
    }
    return onesided_run(f.win, &a, NULL, err, o.site);
}

/* index and win: where the caller left them. */
static SAME int put_slow(const void *origin, int ocount, MPI_Datatype otype, int rank,
                         MPI_Aint disp, int tcount, const MPI_Datatype *ttype, const int *index,
                         const MPI_Win *win, const void *site)
{
    return put("MPIX_Put_notify", SIDE_AT(origin, ocount, otype, site),
               (struct far){rank, disp, tcount, *ttype, *index, *win});
}

int PMPIX_Put_notify(const void *origin, int ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
                     int tcount, MPI_Datatype ttype, int index, MPI_Win win)
{
    struct rma_near *n;
    struct rma_note *x;
    uint64_t bytes;
    char *at;
    if (UNLIKELY(!origin) || UNLIKELY(otype != ttype) || UNLIKELY(ocount != tcount) ||
        UNLIKELY(!fast_place(win, rank, disp, ocount, otype, &n, &at, &bytes)) ||
        UNLIKELY(!(x = counters(n, index))))
        return put_slow(origin, ocount, otype, rank, disp, tcount, &ttype, &index, &win, SITE);
    rma_near_count(n, PVAR_RMA_PUT, bytes);
    if (bytes == 8 && rma_near_copy8(at, origin))
        return count(n, x, index);
    return put_and_count(origin, at, bytes, n, x, index);
}
API_ALIAS(MPIX_Put_notify);

int PMPIX_Put_notify_c(const void *origin, MPI_Count ocount, MPI_Datatype otype, int rank,
                       MPI_Aint disp, MPI_Count tcount, MPI_Datatype ttype, int index, MPI_Win win)
{
    return put("MPIX_Put_notify_c", SIDE(origin, ocount, otype),
               (struct far){rank, disp, tcount, ttype, index, win});
}
API_ALIAS(MPIX_Put_notify_c);

/* index and win: where the caller left them. */
static SAME int get_slow(void *origin, int ocount, MPI_Datatype otype, int rank,
                         MPI_Aint disp, int tcount, const MPI_Datatype *ttype, const int *index,
                         const MPI_Win *win, const void *site)
{
    return get("MPIX_Get_notify", SIDE_AT(origin, ocount, otype, site), origin,
               (struct far){rank, disp, tcount, *ttype, *index, *win});
}

int PMPIX_Get_notify(void *origin, int ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
                     int tcount, MPI_Datatype ttype, int index, MPI_Win win)
{
    struct rma_near *n;
    struct rma_note *x;
    uint64_t bytes;
    char *at;
    if (UNLIKELY(!origin) || UNLIKELY(otype != ttype) || UNLIKELY(ocount != tcount) ||
        UNLIKELY(!fast_place(win, rank, disp, ocount, otype, &n, &at, &bytes)) ||
        UNLIKELY(!(x = counters(n, index))))
        return get_slow(origin, ocount, otype, rank, disp, tcount, &ttype, &index, &win, SITE);
    rma_near_count(n, PVAR_RMA_GET, bytes);
    if (bytes == 8 && rma_near_copy8(origin, at))
        return count(n, x, index); /* release: the load comes before it, too */
    return get_and_count(origin, at, bytes, n, x, index);
}
API_ALIAS(MPIX_Get_notify);

int PMPIX_Get_notify_c(void *origin, MPI_Count ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
                       MPI_Count tcount, MPI_Datatype ttype, int index, MPI_Win win)
{
    return get("MPIX_Get_notify_c", SIDE(origin, ocount, otype), origin,
               (struct far){rank, disp, tcount, ttype, index, win});
}
API_ALIAS(MPIX_Get_notify_c);

int PMPIX_Accumulate_notify(const void *origin, int ocount, MPI_Datatype otype, int rank,
                            MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Op op, int index,
                            MPI_Win win)
{
    return acc("MPIX_Accumulate_notify", SIDE(origin, ocount, otype),
               (struct far){rank, disp, tcount, ttype, index, win}, op);
}
API_ALIAS(MPIX_Accumulate_notify);

int PMPIX_Accumulate_notify_c(const void *origin, MPI_Count ocount, MPI_Datatype otype, int rank,
                              MPI_Aint disp, MPI_Count tcount, MPI_Datatype ttype, MPI_Op op,
                              int index, MPI_Win win)
{
    return acc("MPIX_Accumulate_notify_c", SIDE(origin, ocount, otype),
               (struct far){rank, disp, tcount, ttype, index, win}, op);
}
API_ALIAS(MPIX_Accumulate_notify_c);

/* --- counters --------------------------------------------------------------------------------- */

static int set_num(const char *call, MPI_Win win, MPI_Info info, int num)
{
    struct rma_win *w;
    struct info *i;
    api_enter(call);
    int err = api_win_root(win, &w);
    if (!err)
        err = api_info(info, &i);
    if (!err)
        err = rma_notify_set_num(w, num);
    return api_exit_win(win, err);
}

int PMPIX_Win_notify_set_num(MPI_Win win, MPI_Info info, int num)
{
    return set_num("MPIX_Win_notify_set_num", win, info, num);
}
API_ALIAS(MPIX_Win_notify_set_num);

int PMPIX_Win_create_notify(MPI_Win win, int num)
{
    return set_num("MPIX_Win_create_notify", win, MPI_INFO_NULL, num);
}
API_ALIAS(MPIX_Win_create_notify);

int PMPIX_Win_free_notify(MPI_Win win)
{
    return set_num("MPIX_Win_free_notify", win, MPI_INFO_NULL, 0);
}
API_ALIAS(MPIX_Win_free_notify);

static SLOW int get_value(const char *call, MPI_Win win, int index, MPI_Count *value)
{
    struct rma_win *w;
    api_enter(call);
    int err = api_win_root(win, &w);
    if (!err)
        err = api_pointer(value, "value");
    if (!err)
        err = rma_notify_get(w, index, value);
    return api_exit_win(win, err);
}

int PMPIX_Win_notify_get_value(MPI_Win win, int index, MPI_Count *value)
{
    struct rma_win_notes *x = own(win, index);
    if (UNLIKELY(!x) || UNLIKELY(!value))
        return get_value("MPIX_Win_notify_get_value", win, index, value);
    *value = value_of(x, index);
    return MPI_SUCCESS;
}
API_ALIAS(MPIX_Win_notify_get_value);

int PMPIX_Win_get_notify(MPI_Win win, int index, MPI_Count *value)
{
    return get_value("MPIX_Win_get_notify", win, index, value);
}
API_ALIAS(MPIX_Win_get_notify);

static int set_value(const char *call, MPI_Win win, int index, MPI_Count value)
{
    struct rma_win *w;
    api_enter(call);
    int err = api_win_root(win, &w);
    if (!err)
        err = rma_notify_set(w, index, value);
    return api_exit_win(win, err);
}

int PMPIX_Win_notify_set_value(MPI_Win win, int index, MPI_Count value)
{
    return set_value("MPIX_Win_notify_set_value", win, index, value);
}
API_ALIAS(MPIX_Win_notify_set_value);

int PMPIX_Win_set_notify(MPI_Win win, int index, MPI_Count value)
{
    return set_value("MPIX_Win_set_notify", win, index, value);
}
API_ALIAS(MPIX_Win_set_notify);

/* --- waits ------------------------------------------------------------------------------------ */

/* What the slow ways take, too (rma_notify_wait()). */
static inline int in_range(MPI_Count value)
{
    return (uint64_t)value <= (uint64_t)1 << 62;
}

static SLOW int wait(const char *call, MPI_Win win, int index, MPI_Count value, int take)
{
    struct rma_win *w;
    api_enter(call);
    int err = api_win_root(win, &w);
    if (!err)
        err = rma_notify_wait(w, index, value, take);
    return api_exit_win(win, err);
}

int PMPIX_Win_notify_wait(MPI_Win win, int index, MPI_Count value)
{
    struct rma_win_notes *x = own(win, index);
    if (x && in_range(value) && value_of(x, index) >= value)
        return MPI_SUCCESS;
    return wait("MPIX_Win_notify_wait", win, index, value, 0);
}
API_ALIAS(MPIX_Win_notify_wait);

int PMPIX_Win_notify_take(MPI_Win win, int index, MPI_Count count)
{
    struct rma_win_notes *x = own(win, index);
    if (x && in_range(count) && value_of(x, index) >= count) {
        x->base[index] += (uint64_t)count;
        return MPI_SUCCESS;
    }
    return wait("MPIX_Win_notify_take", win, index, count, 1);
}
API_ALIAS(MPIX_Win_notify_take);

int PMPIX_Win_notify_request(MPI_Win win, int index, MPI_Count value, MPI_Request *request)
{
    struct rma_win *w;
    api_enter("MPIX_Win_notify_request");
    int err = api_win_root(win, &w);
    if (!err)
        err = api_pointer(request, "request");
    if (!err)
        err = rma_notify_request(w, index, value, request);
    if (err && request)
        *request = MPI_REQUEST_NULL;
    return api_exit_win(win, err);
}
API_ALIAS(MPIX_Win_notify_request);

static SLOW int test(MPI_Win win, int index, MPI_Count value, int *flag)
{
    struct rma_win *w;
    api_enter("MPIX_Win_notify_test");
    int err = api_win_root(win, &w);
    if (!err)
        err = api_pointer(flag, "flag");
    if (!err)
        err = rma_notify_test(w, index, value, flag);
    return api_exit_win(win, err);
}

int PMPIX_Win_notify_test(MPI_Win win, int index, MPI_Count value, int *flag)
{
    struct rma_win_notes *x = own(win, index);
    if (UNLIKELY(!x) || UNLIKELY(!flag) || UNLIKELY(!in_range(value)))
        return test(win, index, value, flag);
    *flag = value_of(x, index) >= value;
    return MPI_SUCCESS;
}
API_ALIAS(MPIX_Win_notify_test);
