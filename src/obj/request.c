/* request.c - requests: completion, waits for one, any or all of them, statuses. Start with
 * request_complete(). */
#include "obj/request.h"

#include <string.h>

#include "obj/comm.h"
#include "obj/continue.h"
#include "obj/err.h"
#include "progress/progress.h"

void status_empty(MPI_Status *st)
{
    st->MPI_SOURCE = MPI_ANY_SOURCE;
    st->MPI_TAG = MPI_ANY_TAG;
    st->MPI_ERROR = MPI_SUCCESS;
    st->count_lo = st->count_hi_and_cancelled = 0;
}

void status_proc_null(MPI_Status *st)
{
    status_empty(st);
    st->MPI_SOURCE = MPI_PROC_NULL;
}

void request_init(struct request *r, enum request_kind kind, const struct request_ops *ops,
                  struct comm *c)
{
    memset(r, 0, sizeof *r);
    r->ops = ops;
    r->kind = kind;
    r->comm = c;
    r->peer = -1;
    r->what = "a request";
    /* A persistent request is born inactive, which counts as done. */
    r->active = !request_is_persistent(r);
    r->done = !r->active;
    status_empty(&r->status);
}

int request_publish(struct request *r, MPI_Request *out)
{
    if (obj_add(OBJ_REQUEST, &r->obj)) {
        *out = MPI_REQUEST_NULL;
        return err_make(MPI_ERR_NO_MEM, "no memory for one more request handle");
    }
    comm_ref(r->comm);
    *out = r->obj.handle;
    return MPI_SUCCESS;
}

static const struct request_ops no_ops;
static const struct request complete = {.obj = {.handle = REQUEST_COMPLETE, .refs = 1},
                                        .ops = &no_ops,
                                        .kind = REQUEST_RMA,
                                        .done = 1,
                                        .active = 1,
                                        .peer = -1,
                                        .what = "a one-sided operation",
                                        .status = {.MPI_SOURCE = MPI_ANY_SOURCE,
                                                   .MPI_TAG = MPI_ANY_TAG,
                                                   .MPI_ERROR = MPI_SUCCESS}};

void request_builtin_init(void)
{
    proc->obj->table[OBJ_REQUEST].builtin[REQUEST_COMPLETE & 0xff] = (void *)(uintptr_t)&complete;
}

static void request_destroy(struct request *r)
{
    if (r == &complete)
        return;
    /* published ones hold a reference */
    struct comm *c = r->obj.handle || r->freed ? r->comm : NULL;
    if (r->obj.handle)
        obj_del(OBJ_REQUEST, &r->obj);
    if (r->ops->free)
        r->ops->free(r);
    if (c)
        comm_drop(c);
}

void request_complete(struct request *r, int error)
{
    r->error = error;
    request_set_done(r);
    proc->obj->completions++;
    if (r->freed)
        request_destroy(r);
    else if (r->then)
        r->then(r, r->then_arg);
    else
        progress_signal();
}

void request_suspend(struct request *r, int error)
{
    r->error = error;
    request_set_done(r);
    proc->obj->completions++;
    progress_signal();
}

int request_is_suspended(const struct request *r)
{
    return r->done && r->error && err_class(r->error) == MPIX_ERR_PROC_FAILED_PENDING;
}

void request_resume(struct request *r)
{
    if (!request_is_suspended(r))
        return;
    r->error = MPI_SUCCESS;
    r->done = 0;
}

void request_then(struct request *r, void (*fn)(struct request *r, void *arg), void *arg)
{
    if (r->done) {
        fn(r, arg);
        return;
    }
    r->then = fn;
    r->then_arg = arg;
}

static inline void poke(struct request *r)
{
    if (r->ops->poke)
        r->ops->poke(r);
}

static int one_done(void *arg)
{
    struct request *r = arg;
    return r->done || continue_interrupts(&r, 1);
}

static enum progress_why why(const struct request *r)
{
    static const uint8_t whys[REQUEST_FLUSH + 1] = {
        [REQUEST_SEND] = WHY_MESSAGE,
        [REQUEST_RECV] = WHY_MESSAGE,
        [REQUEST_PERSISTENT_SEND] = WHY_MESSAGE,
        [REQUEST_PERSISTENT_RECV] = WHY_MESSAGE,
        [REQUEST_MESSAGE] = WHY_MESSAGE,
        [REQUEST_PART] = WHY_MESSAGE,
        [REQUEST_FLUSH] = WHY_MESSAGE,
        [REQUEST_COLL] = WHY_COLLECTIVE,
        [REQUEST_PERSISTENT_COLL] = WHY_COLLECTIVE,
        [REQUEST_RMA] = WHY_FLUSH,
        [REQUEST_IO] = WHY_FILE,
        [REQUEST_NOTE] = WHY_NOTIFY,
    };
    return (enum progress_why)whys[r->kind];
}

void request_wait(struct request *r)
{
    if (r->done) {
        progress_glance();
        if (r->done) /* another thread can attach a function meanwhile (continue.h) */
            return;
    }
    poke(r);
    progress_wait_why(one_done, r, r->what, r->peer, why(r), NULL);
    while (!r->done) {
        continue_run(&r, 1);
        progress_wait_why(one_done, r, r->what, r->peer, why(r), NULL);
    }
}

static int inner_done(void *arg)
{
    return ((struct request *)arg)->done;
}

void request_wait_inner(struct request *r)
{
    if (r->done) {
        progress_glance();
        return;
    }
    poke(r);
    progress_wait_why(inner_done, r, r->what, r->peer, why(r), NULL);
}

struct wait_set {
    struct request **r;
    int n, at;     /* all: those below `at` were done; any: n, if one is done */
    int any;
    uint64_t seen; /* any: completions when the set was looked at last */
};

static inline int all_now(struct wait_set *s)
{
    while (s->at < s->n && (!s->r[s->at] || s->r[s->at]->done))
        s->at++;
    return s->at == s->n;
}

static int all_done(void *arg)
{
    struct wait_set *s = arg;
    return all_now(s) || continue_interrupts(s->r, s->n);
}

static inline int any_now(struct wait_set *s)
{
    if (s->seen == proc->obj->completions)
        return 0;
    s->seen = proc->obj->completions;
    for (int i = 0; i < s->n; i++)
        if (s->r[i] && s->r[i]->done) {
            s->at = s->n;
            return 1;
        }
    return 0;
}

static int any_done(void *arg)
{
    struct wait_set *s = arg;
    return any_now(s) || continue_interrupts(s->r, s->n);
}

static void poke_all(struct request **r, int n)
{
    for (int i = 0; i < n; i++)
        if (r[i] && !r[i]->done)
            poke(r[i]);
}

/* Whether a function was attached to a continuation request that the wait has seen complete. */
static int undone(struct wait_set *s)
{
    if (s->any) {
        s->seen = proc->obj->completions - 1;
        s->at = any_now(s) ? s->n : 0;
        return s->at < s->n;
    }
    s->at = 0;
    return !all_now(s);
}

/* The wait was interrupted: functions of continuations run. Whether it is not over. */
static inline int goes_on(struct wait_set *s)
{
    if (s->at == s->n)
        return proc->obj->continues && undone(s);
    continue_run(s->r, s->n);
    return 1;
}

void request_wait_all(struct request **r, int n)
{
    struct wait_set s = {.r = r, .n = n};
    if (all_now(&s)) {
        progress_glance();
        if (!proc->obj->continues || !undone(&s))
            return;
    }
    poke_all(r, n);
    do
        progress_wait_why(all_done, &s, r[s.at]->what, r[s.at]->peer, why(r[s.at]), NULL);
    while (goes_on(&s));
}

void request_wait_any(struct request **r, int n)
{
    struct wait_set s = {.r = r, .n = n, .any = 1, .seen = proc->obj->completions - 1};
    if (any_now(&s)) {
        progress_glance();
        if (!proc->obj->continues || !undone(&s))
            return;
    }
    poke_all(r, n);
    do
        progress_wait_why(any_done, &s, "any of several requests", -1, WHY_MESSAGE, NULL);
    while (goes_on(&s));
}

enum request_await request_awaits(int (*cond)(void *), void *arg,
                                  void (*each)(struct request *r, void *to), void *to)
{
    if (cond == one_done || cond == inner_done) {
        each(arg, to);
        return REQUEST_AWAITS_ALL;
    }
    if (cond != all_done && cond != any_done)
        return REQUEST_AWAITS_NONE;
    struct wait_set *s = arg;
    for (int i = 0; i < s->n; i++)
        if (s->r[i] && !s->r[i]->done)
            each(s->r[i], to);
    return cond == all_done ? REQUEST_AWAITS_ALL : REQUEST_AWAITS_ANY;
}

int request_finish(struct request *r, MPI_Status *status)
{
    int keep = status && status != MPI_STATUS_IGNORE, err = MPI_SUCCESS;
    int old_error = keep ? status->MPI_ERROR : 0;
    if (!r->active) { /* persistent, inactive */
        if (keep)
            status_empty(status);
    } else {
        if (r->ops->query)
            err = r->ops->query(r, &r->status);
        if (__builtin_expect(r->error != MPI_SUCCESS, 0)) {
            err = r->error;
            if (request_is_suspended(r)) {
                if (r->ops->told)
                    r->ops->told(r);
                return err;
            }
        }
        if (keep)
            *status = r->status;
    }
    if (keep)
        status->MPI_ERROR = old_error;
    if (request_is_persistent(r))
        r->active = !r->done; /* a continuation request to which a function was just attached */
    else
        request_destroy(r);
    return err;
}

void request_end_plain(struct request *r, MPI_Status *status)
{
    struct comm *c = r->comm;
    if (status && status != MPI_STATUS_IGNORE) {
        int error = status->MPI_ERROR;
        *status = r->status;
        status->MPI_ERROR = error;
    }
    obj_del(OBJ_REQUEST, &r->obj);
    r->ops->free(r);
    comm_drop(c);
}

int request_start(struct request *r)
{
    r->active = 1;
    r->done = 0;
    r->error = MPI_SUCCESS;
    status_empty(&r->status);
    int err = r->ops->start(r);
    if (err) {
        r->active = 0;
        r->done = 1;
    }
    return err;
}

void request_release(struct request *r)
{
    request_resume(r);
    if (r->done) {
        request_destroy(r);
        return;
    }
    /* The handle is freed now, the memory when the operation ends. The user completes a generalized
     * request by its handle, so that stays (MPI-3.1 12.2). */
    if (r->obj.handle && r->kind != REQUEST_GENERAL)
        obj_del(OBJ_REQUEST, &r->obj);
    r->freed = 1;
}
