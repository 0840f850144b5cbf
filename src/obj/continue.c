/* continue.c - continuations (continue.h; doc/design/continue.md). Start with continue_attach() and
 * run_first(); continue_quick.h has the short way. */
#include "obj/continue_quick.h"

#include <stdlib.h>

#include "base/proc.h"
#include "base/sched.h"
#include "obj/async_poll.h"
#include "obj/err.h"
#include "obj/errhandler.h"
#include "obj/obj_types.h"
#include "obj/upcall.h"
#include "progress/progress.h"
#include "watch/watch.h"

enum { SLAB = 64 };
struct continue_slab {
    struct continue_slab *next;
    struct continue_record rec[SLAB];
};

/* --- queues --------------------------------------------------------------------- */

static inline int runs(const struct cont *c)
{
    return c->r.active || c->orphan;
}

static inline void offer(struct cont *c)
{
    struct continues *s = proc->obj->continues;
    if (!c->ready[ANYWHERE].n || !list_empty(&c->link))
        return;
    list_push(&s->ready, &c->link);
    upcall_wanted(1);
}

static inline void put(struct continue_queue *q, struct continue_record *rec)
{
    rec->next = NULL;
    if (q->n++)
        q->last->next = rec;
    else
        q->first = rec;
    q->last = rec;
}

static inline enum continue_where where_of(const struct cont *c, const struct continue_record *rec)
{
    return (c->mode.polled || rec->what.flags & MPIX_CONT_POLL_ONLY) && !c->orphan ? POLLED
                                                                                   : ANYWHERE;
}

/* Of an inactive one it waits for MPI_Start. The caller signals: a thread may wait for c. */
static inline void make_ready(struct continue_record *rec)
{
    struct cont *c = rec->cont;
    enum continue_where to = where_of(c, rec);
    if (rec->queued)
        return;
    rec->queued = 1;
    put(&c->ready[to], rec);
    if (!runs(c))
        return;
    continue_count(1);
    if (to == ANYWHERE)
        offer(c);
}

/* r is done, in any handler. */
void continue_op_done(struct request *r, void *arg)
{
    struct continue_part *p = arg;
    void (*inner)(struct request *, void *) = p->inner;
    if (inner) {
        p->inner = NULL;
        r->then = NULL;
        inner(r, p->inner_arg);
        r->then = continue_op_done;
        r->then_arg = p;
        if (!r->done) /* it will be completed again */
            return;
    }
    if (--p->rec->left == 0)
        make_ready(p->rec);
    progress_signal();
}

int continue_holds(const struct request *r)
{
    return r->then == continue_op_done;
}

/* --- the continuation request --------------------------------------------------- */

static void cont_end(struct cont *c)
{
    list_del(&c->all);
    if (proc->obj->continue_recent == c)
        proc->obj->continue_recent = NULL;
    free(c);
}

static void over(struct cont *c)
{
    if (c->orphan) {
        cont_end(c);
        return;
    }
    if (!c->r.active || c->r.done)
        return;
    int err = c->failed;
    c->failed = MPI_SUCCESS;
    request_complete(&c->r, err);
}

static int cont_start(struct request *r)
{
    struct cont *c = (struct cont *)r;
    if (!c->registered) {
        over(c);
        return MPI_SUCCESS;
    }
    continue_count((int)(c->ready[ANYWHERE].n + c->ready[POLLED].n));
    offer(c);
    progress_signal();
    return MPI_SUCCESS;
}

int continue_in_vain(struct request *const *r, int n)
{
    for (int i = 0; i < n; i++)
        if (r[i] && request_is_continue(r[i]) && r[i]->active && !r[i]->done && upcall_inside())
            return err_make(MPI_ERR_REQUEST,
                            "%s: request %#x is a continuation request, and the call is made by a "
                            "function of the program, which must have returned before others run",
                            proc->call, (unsigned)r[i]->obj.handle);
    return MPI_SUCCESS;
}

static void run_first(struct cont *c, enum continue_where from);

static void run_some(struct cont *c, enum continue_where from, unsigned *most)
{
    for (unsigned n = c->ready[from].n < *most ? c->ready[from].n : *most; n && c->ready[from].n;
         n--, --*most)
        run_first(c, from);
}

/* A test, or the first look of a wait: what this poll completes runs at once. */
static void cont_poke(struct request *r)
{
    struct cont *c = (struct cont *)r;
    progress_test();
    if (!proc->obj->continues_ready || !runs(c) || upcall_inside())
        return;
    unsigned most = c->mode.max_poll > 0 ? (unsigned)c->mode.max_poll : -1u;
    struct upcall me;
    c->registered++; /* it stays while functions run */
    upcall_begin(&me);
    run_some(c, ANYWHERE, &most);
    run_some(c, POLLED, &most);
    upcall_end(&me);
    if (!--c->registered)
        over(c);
}

static void cont_free(struct request *r)
{
    cont_end((struct cont *)r);
}

static const struct request_ops cont_ops = {
    .start = cont_start, .poke = cont_poke, .free = cont_free};

static struct continues *room_open(void)
{
    struct continues *s = proc->obj->continues;
    if (!s && (s = calloc(1, sizeof *s))) {
        list_init(&s->ready);
        list_init(&s->all);
        proc->obj->continues = s;
    }
    return s;
}

static inline void free_parts(struct continue_record *rec)
{
    if (rec->part != &rec->one)
        free(rec->part);
    rec->part = &rec->one;
    rec->n = 1;
}

/* What has not run never does. */
void continue_finalize(void)
{
    struct continues *s = proc->obj->continues;
    if (!s)
        return;
    for (struct continue_slab *next; s->slabs; s->slabs = next) {
        next = s->slabs->next;
        for (int i = 0; i < SLAB; i++)
            free_parts(&s->slabs->rec[i]);
        free(s->slabs);
    }
    while (!list_empty(&s->all))
        cont_end(LIST_OBJ(s->all.next, struct cont, all));
    free(s);
    proc->obj->continues = NULL;
    proc->obj->continue_recent = NULL;
    proc->obj->continues_ready = proc->obj->upcalls_wanted = 0;
}

int continue_init(const struct continue_mode *m, MPI_Request *out)
{
    struct cont *c = room_open() ? calloc(1, sizeof *c) : NULL;
    if (!c)
        return err_make(MPI_ERR_NO_MEM, "no memory for a continuation request");
    request_init(&c->r, REQUEST_CONTINUE, &cont_ops, NULL);
    c->r.what = "continuations";
    c->mode = *m;
    c->room = proc->obj->continues;
    list_init(&c->link);
    list_push(&proc->obj->continues->all, &c->all);
    int err = request_publish(&c->r, out);
    if (err)
        cont_end(c);
    return err;
}

void continue_release(struct request *cont)
{
    struct cont *c = (struct cont *)cont;
    if (!c->registered) {
        request_release(cont);
        return;
    }
    int ran = runs(c);
    proc->obj->continue_recent = NULL;
    obj_del(OBJ_REQUEST, &c->r.obj);
    c->orphan = 1;
    if (!ran)
        continue_count((int)(c->ready[ANYWHERE].n + c->ready[POLLED].n));
    for (struct continue_record *rec = c->ready[POLLED].first, *next; rec; rec = next) {
        next = rec->next;
        put(&c->ready[ANYWHERE], rec);
    }
    c->ready[POLLED] = (struct continue_queue){0};
    offer(c);
    progress_signal();
}

/* --- attaching ------------------------------------------------------------------ */

static struct continue_record *record_more(struct continues *s)
{
    struct continue_slab *b = malloc(sizeof *b);
    if (!b)
        return NULL;
    b->next = s->slabs;
    s->slabs = b;
    for (int i = 0; i < SLAB; i++) {
        b->rec[i].queued = 0;
        b->rec[i].n = 1;
        b->rec[i].part = &b->rec[i].one;
        b->rec[i].one.rec = &b->rec[i];
        b->rec[i].one.inner = NULL;
        b->rec[i].next = s->spare;
        s->spare = &b->rec[i];
    }
    return s->spare;
}

static inline struct continue_record *record_get(int n)
{
    struct continues *s = proc->obj->continues;
    struct continue_record *rec = s->spare ? s->spare : record_more(s);
    if (!rec)
        return NULL;
    struct continue_part *more = n > 1 ? malloc((size_t)n * sizeof *more) : NULL;
    if (n > 1 && !more)
        return NULL;
    if (more)
        rec->part = more;
    s->spare = rec->next;
    return rec;
}

static inline void record_put(struct continue_record *rec)
{
    struct continues *s = proc->obj->continues;
    free_parts(rec);
    rec->one.inner = NULL;
    rec->next = s->spare;
    s->spare = rec;
}

static void status_none(MPI_Status *st)
{
    if (st)
        status_empty(st);
}

static inline void hold(struct continue_part *p, struct request *r, MPI_Request *op)
{
    p->r = r;
    p->handle = *op;
    p->inner = NULL;
    if (!r->done && r->ops->poke && !request_is_continue(r)) /* that one runs functions */
        r->ops->poke(r);
    int waits = !r->done || request_is_suspended(r);
    if (waits && r->then) {
        p->inner = r->then;
        p->inner_arg = r->then_arg;
    }
    r->then = continue_op_done;
    r->then_arg = p;
    p->rec->left += waits;
}

/* A record that waits for it waits again. */
static void undo(struct cont *c)
{
    continue_undone(c);
    if (continue_holds(&c->r))
        ((struct continue_part *)c->r.then_arg)->rec->left++;
}

static inline struct continue_record *attach_begin(struct cont *c,
                                                   const struct continue_what *what, int n)
{
    struct continue_record *rec = record_get(n);
    if (__builtin_expect(!rec, 0))
        return NULL;
    rec->cont = c;
    rec->what = *what;
    rec->n = n;
    rec->left = 1; /* it is not ready before all is stored */
    c->registered++;
    if (c->r.active && c->r.done)
        undo(c);
    if (c->r.obj.handle)
        proc->obj->continue_recent = c;
    return rec;
}

/* r: the request of *op, or NULL. */
static inline void attach_part(struct continue_record *rec, struct continue_part *p,
                               struct request *r, MPI_Request *op, MPI_Status *status)
{
    p->rec = rec;
    p->status = status;
    p->r = NULL;
    /* one that is held: its handle occurred earlier in the array */
    if (r && r->active && *op != REQUEST_COMPLETE && !continue_holds(r))
        hold(p, r, op);
    else
        status_none(status);
    if (!r || !request_is_persistent(r))
        *op = MPI_REQUEST_NULL;
}

static inline void attach_end(struct continue_record *rec)
{
    if (--rec->left == 0) {
        make_ready(rec);
        progress_signal();
    }
}

static int no_memory(int n)
{
    return err_make(MPI_ERR_NO_MEM, "no memory for a continuation of %d requests", n);
}

int continue_attach_one(struct request *cont, const struct continue_what *what, struct request *r,
                        MPI_Request *op, MPI_Status *status)
{
    struct continue_record *rec = attach_begin((struct cont *)cont, what, 1);
    if (__builtin_expect(!rec, 0))
        return no_memory(1);
    attach_part(rec, &rec->one, r, op, status);
    attach_end(rec);
    return MPI_SUCCESS;
}

int continue_attach(struct request *cont, const struct continue_what *what, int n,
                    MPI_Request *ops, MPI_Status *statuses)
{
    struct continue_record *rec = attach_begin((struct cont *)cont, what, n);
    if (!rec)
        return no_memory(n);
    for (int i = 0; i < n; i++)
        attach_part(rec, &rec->part[i], obj_find(OBJ_REQUEST, ops[i]), &ops[i],
                    statuses ? &statuses[i] : NULL);
    attach_end(rec);
    return MPI_SUCCESS;
}

/* --- running -------------------------------------------------------------------- */

/* Status and request of a part that is done. */
static inline int end_part(struct continue_part *p)
{
    int err = MPI_SUCCESS;
    if (!p->r)
        return MPI_SUCCESS;
    if (__builtin_expect(obj_find_made(OBJ_REQUEST, p->handle) != p->r, 0)) {
        status_none(p->status);
        err = err_make(MPI_ERR_REQUEST,
                       "request %#x was completed or freed while a continuation waited for it",
                       (unsigned)p->handle);
    } else {
        p->r->then = NULL;
        if (!p->status && !watch_wants(WATCH_MESSAGES) &&
            request_finish_plain(p->r, &p->handle, NULL))
            return MPI_SUCCESS;
        if (watch_wants(WATCH_MESSAGES))
            watch_waited(&p->r, 1);
        err = request_finish(p->r, p->status);
    }
    if (p->status)
        p->status->MPI_ERROR = err ? err_give(err) : MPI_SUCCESS;
    return err;
}

/* The first error. */
static inline int end_parts(struct continue_record *rec)
{
    if (rec->n == 1)
        return end_part(&rec->one);
    int first = MPI_SUCCESS;
    for (int i = 0; i < rec->n; i++) {
        int err = end_part(&rec->part[i]);
        first = first ? first : err;
    }
    return first;
}

static inline __attribute__((always_inline)) int
call_function(const struct continue_what *what, int err)
{
    const char *call = proc->call;
    proc->call = NULL;
    unsigned depth = proc->threaded ? lock_drop(&proc->lock) : 0;
    int result = what->fn(err, what->data);
    if (depth)
        lock_retake(&proc->lock, depth);
    proc->call = call;
    return result;
}

static int returned_error(int result)
{
    return err_valid(result) ? result
                             : err_make(MPI_ERR_OTHER, "the function of a continuation returned %d",
                                        result);
}

/* Under an upcall mark: a function that ends a request, such as that of a generalized one, is the
 * program's, too, and none runs inside another one. */
static void run_first(struct cont *c, enum continue_where from)
{
    struct continue_queue *q = &c->ready[from];
    struct continue_record *rec = q->first;
    struct continue_what what = rec->what;
    q->first = rec->next;
    q->n--;
    continue_count(-1);
    rec->queued = 0;
    if (from == ANYWHERE && !q->n && !list_empty(&c->link)) {
        list_del(&c->link);
        upcall_wanted(-1);
    }
    if (rec->left) /* another function was attached to one of its requests meanwhile */
        return;
    int err = end_parts(rec);
    record_put(rec);
    if (!err || what.flags & MPIX_CONT_INVOKE_FAILED) {
        err = call_function(&what, err ? err_give(err) : MPI_SUCCESS);
        err = err ? returned_error(err) : MPI_SUCCESS;
    }
    if (err && !c->failed)
        c->failed = err;
    if (!--c->registered)
        over(c);
}

/* May a function of c run in the call that attaches it, before all others? */
static inline int runs_first(const struct cont *c, int flags)
{
    const struct obj_room *o = proc->obj;
    int waits = flags & (MPIX_CONT_POLL_ONLY | MPIX_CONT_DEFER_COMPLETE);
    if (waits || c->mode.polled || c->mode.defer || o->continues_ready || o->upcalls)
        return 0;
    return c->r.active && !(c->r.done && c->r.then);
}

int continue_at_once(MPI_Request *op, MPIX_Continue_cb_function *fn, void *data, int flags,
                     MPI_Status *status, MPI_Request cont)
{
    struct cont *c = proc->obj->continue_recent;
    if (!c || c->r.obj.handle != cont || !op || !fn || !status)
        return 0;
    if (!runs_first(c, flags) || watch_wants(WATCH_MESSAGES))
        return 0;
    struct request *r = obj_find_made(OBJ_REQUEST, *op);
    MPI_Status *st = status == MPI_STATUS_IGNORE ? NULL : status;
    if (!r || !r->done || r->then || !request_finish_plain(r, op, st))
        return 0;
    if (st)
        st->MPI_ERROR = MPI_SUCCESS;
    struct upcall me;
    c->registered++;
    if (c->r.done)
        continue_undone(c);
    upcall_begin(&me);
    int err = call_function(&(struct continue_what){fn, data, flags}, MPI_SUCCESS);
    if (err && !c->failed)
        c->failed = returned_error(err);
    if (!--c->registered)
        over(c);
    upcall_end(&me);
    return 1;
}

int continue_may_run(struct request *const *r, int n)
{
    const struct continues *s = proc->obj->continues;
    if (upcall_inside())
        return 0;
    if ((s && !list_empty(&s->ready)) || async_due())
        return 1;
    for (int i = 0; i < n; i++)
        if (r[i] && request_is_continue(r[i]) && r[i]->active &&
            ((const struct cont *)r[i])->ready[POLLED].n)
            return 1;
    return 0;
}

void continue_run(struct request *const *r, int n)
{
    struct continues *s = proc->obj->continues;
    if (!proc->obj->continues_ready || upcall_inside())
        return;
    /* What becomes ready meanwhile runs at the next safe point. */
    unsigned most = proc->obj->continues_ready - async_count();
    struct upcall me;
    upcall_begin(&me);
    for (; most && !list_empty(&s->ready); most--)
        run_first(LIST_OBJ(s->ready.next, struct cont, link), ANYWHERE);
    for (int i = 0; i < n; i++)
        if (r[i] && request_is_continue(r[i]) && r[i]->active)
            run_some((struct cont *)r[i], POLLED, &most);
    upcall_end(&me);
    async_turn(0);
}

int continue_expects(void)
{
    struct continues *s = proc->obj->continues;
    if (async_count())
        return 1;
    for (struct list *at = s ? s->all.next : NULL; at && at != &s->all; at = at->next) {
        const struct cont *c = LIST_OBJ(at, struct cont, all);
        if (runs(c) && c->registered)
            return 1;
    }
    return 0;
}

void continue_now(const struct request *cont)
{
    const struct cont *c = (const struct cont *)cont;
    if (!c->mode.defer)
        continue_run(NULL, 0);
}

void continue_enter(void)
{
    if (!__atomic_load_n(&proc->obj->continues_ready, __ATOMIC_RELAXED))
        return;
    /* A call that a function of the program makes, which the library called under the lock or in a
     * pass of the engine. */
    if (proc->threaded && lock_mine(&proc->lock))
        return;
    if (proc->threaded)
        lock_acquire(&proc->lock);
    if (!progress_is_polling()) {
        continue_run(NULL, 0);
        async_turn(1);
    }
    if (proc->threaded)
        lock_release(&proc->lock);
}
