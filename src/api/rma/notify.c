/* notify.c - notified one-sided operations: the target of a put learns that its data are there.
 * Forum issue mpi-forum/mpi-issues#59; the names of Intel MPI are the same functions.
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

/* One more, after all that this thread did so far. */
static inline void count(const struct rma_near *n, struct rma_note *x, int i)
{
    _Atomic uint64_t *word = (_Atomic uint64_t *)((uintptr_t)x->words +
                                                  (unsigned)i * (uintptr_t)RMA_NOTE_LINE);
    /* Release pairs with the acquire of the owner's look, rma_note_value() in
     * rma/sync/note_wait.c. The fence pairs with that in mem_wake_arm(): this process sees that the
     * owner sleeps, or the owner sees the count. */
    atomic_fetch_add_explicit(word, 1, memory_order_release);
    fence_beside_rmw();
    if (UNLIKELY(atomic_load_explicit(x->sleeping, memory_order_relaxed) & 1))
        mem_wake(n->host_index);
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

/* A window's handle in place of the index: the other order of the two. */
static inline void in_order(int *index, MPI_Win *win)
{
    if (UNLIKELY(*index < 0) && *win >= 0) {
        int handle = *index;
        *index = *win;
        *win = handle;
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
    in_order(&f.index, &f.win);
    api_enter(call);
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
    in_order(&f.index, &f.win);
    api_enter(call);
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
    in_order(&f.index, &f.win);
    api_enter(call);
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

int PMPIX_Put_notify(const void *origin, int ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
                     int tcount, MPI_Datatype ttype, int index, MPI_Win win)
{
    struct rma_near *n;
    struct rma_note *x;
    uint64_t bytes;
    char *at;
    in_order(&index, &win);
    if (UNLIKELY(!origin) || UNLIKELY(otype != ttype) || UNLIKELY(ocount != tcount) ||
        UNLIKELY(!fast_place(win, rank, disp, ocount, otype, &n, &at, &bytes)) ||
        UNLIKELY(!(x = counters(n, index))))
        return put("MPIX_Put_notify", SIDE(origin, ocount, otype),
                   (struct far){rank, disp, tcount, ttype, index, win});
    rma_near_count(n, PVAR_RMA_PUT, bytes);
    if (!(bytes == 8 && rma_near_copy8(at, origin)))
        rma_near_put(origin, at, bytes);
    count(n, x, index);
    return MPI_SUCCESS;
}
API_ALIAS(MPIX_Put_notify);

int PMPIX_Put_notify_c(const void *origin, MPI_Count ocount, MPI_Datatype otype, int rank,
                       MPI_Aint disp, MPI_Count tcount, MPI_Datatype ttype, int index, MPI_Win win)
{
    return put("MPIX_Put_notify_c", SIDE(origin, ocount, otype),
               (struct far){rank, disp, tcount, ttype, index, win});
}
API_ALIAS(MPIX_Put_notify_c);

int PMPIX_Get_notify(void *origin, int ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
                     int tcount, MPI_Datatype ttype, int index, MPI_Win win)
{
    struct rma_near *n;
    struct rma_note *x;
    uint64_t bytes;
    char *at;
    in_order(&index, &win);
    if (UNLIKELY(!origin) || UNLIKELY(otype != ttype) || UNLIKELY(ocount != tcount) ||
        UNLIKELY(!fast_place(win, rank, disp, ocount, otype, &n, &at, &bytes)) ||
        UNLIKELY(!(x = counters(n, index))))
        return get("MPIX_Get_notify", SIDE(origin, ocount, otype), origin,
                   (struct far){rank, disp, tcount, ttype, index, win});
    rma_near_count(n, PVAR_RMA_GET, bytes);
    if (!(bytes == 8 && rma_near_copy8(origin, at)))
        rma_near_get(origin, at, bytes);
    count(n, x, index); /* release: the loads come before it, too */
    return MPI_SUCCESS;
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
    int err = api_win(win, &w);
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

static int get_value(const char *call, MPI_Win win, int index, MPI_Count *value)
{
    struct rma_win *w;
    api_enter(call);
    int err = api_win(win, &w);
    if (!err)
        err = api_pointer(value, "value");
    if (!err)
        err = rma_notify_get(w, index, value);
    return api_exit_win(win, err);
}

int PMPIX_Win_notify_get_value(MPI_Win win, int index, MPI_Count *value)
{
    return get_value("MPIX_Win_notify_get_value", win, index, value);
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
    int err = api_win(win, &w);
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

static int wait(const char *call, MPI_Win win, int index, MPI_Count value, int take)
{
    struct rma_win *w;
    api_enter(call);
    int err = api_win(win, &w);
    if (!err)
        err = rma_notify_wait(w, index, value, take);
    return api_exit_win(win, err);
}

int PMPIX_Win_notify_wait(MPI_Win win, int index, MPI_Count value)
{
    return wait("MPIX_Win_notify_wait", win, index, value, 0);
}
API_ALIAS(MPIX_Win_notify_wait);

int PMPIX_Win_notify_take(MPI_Win win, int index, MPI_Count count)
{
    return wait("MPIX_Win_notify_take", win, index, count, 1);
}
API_ALIAS(MPIX_Win_notify_take);

int PMPIX_Win_notify_request(MPI_Win win, int index, MPI_Count value, MPI_Request *request)
{
    struct rma_win *w;
    api_enter("MPIX_Win_notify_request");
    int err = api_win(win, &w);
    if (!err)
        err = api_pointer(request, "request");
    if (!err)
        err = rma_notify_request(w, index, value, request);
    if (err && request)
        *request = MPI_REQUEST_NULL;
    return api_exit_win(win, err);
}
API_ALIAS(MPIX_Win_notify_request);

int PMPIX_Win_notify_test(MPI_Win win, int index, MPI_Count value, int *flag)
{
    struct rma_win *w;
    api_enter("MPIX_Win_notify_test");
    int err = api_win(win, &w);
    if (!err)
        err = api_pointer(flag, "flag");
    if (!err)
        err = rma_notify_test(w, index, value, flag);
    return api_exit_win(win, err);
}
API_ALIAS(MPIX_Win_notify_test);
