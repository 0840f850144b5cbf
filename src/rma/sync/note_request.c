/* note_request.c - MPIX_Win_notify_request: a request that is complete when a counter of this
 * process has reached a value. No wait looks at the words for it, so a hook does while there are
 * such requests. Start with rma_notify_request(). */
#include "rma/sync/sync_types.h"

#include <stdlib.h>
#include <string.h>

#include "watch/watch.h"

struct note_request {
    struct request r;
    struct list link;  /* rma->notes.waiting */
    struct rma_win *w; /* NULL once it is complete */
    unsigned i;
    int64_t value;
    unsigned told;     /* deaths that it has reported */
    uint64_t win;      /* id of its window: it may be freed before the request */
    int win_handle;
    struct errhandler *errhandler;
};

/* Is its value there? The program sees it with the end of the request, so a watcher must know by
 * then what came with the notifications. */
static int is_there(struct note_request *q)
{
    int64_t value = rma_note_value(q->w, q->i);
    uint64_t word = (uint64_t)value + q->w->notes.base[q->i];
    if (value < q->value)
        return 0;
    if (value == 0 || !watch_wants(WATCH_NOTES))
        return 1;
    if (watch_note_lags(q->w, q->i, word))
        return 0;
    watch_noted(q->w, q->i, word, &q->r);
    return 1;
}

static void over(struct note_request *q, int err)
{
    list_del(&q->link);
    q->w->notes.requests--;
    q->w = NULL;
    request_complete(&q->r, err); /* frees it if the program has given it up */
}

/* Events. */
static int look(struct note_request *q)
{
    struct rma_win *w = q->w;
    if (is_there(q)) {
        over(q, MPI_SUCCESS);
        return 1;
    }
    if (w->notes.deaths == q->told)
        return 0;
    q->told = w->notes.deaths;
    request_suspend(&q->r, err_make(MPIX_ERR_PROC_FAILED_PENDING,
                                    "%s: counter %u of %s has not reached %lld, and a process of "
                                    "the window died",
                                    rma_call(), q->i, rma_win_text(w), (long long)q->value));
    return 1;
}

static int poll_all(void *arg)
{
    struct rma *r = arg;
    int events = 0;
    for (struct list *l = r->notes.waiting.next, *next; l != &r->notes.waiting; l = next) {
        next = l->next;
        events += look(LIST_OBJ(l, struct note_request, link));
    }
    if (list_empty(&r->notes.waiting))
        progress_hook_del(&r->notes.hook);
    return events;
}

static int cancel(struct request *r)
{
    struct note_request *q = (struct note_request *)r;
    if (q->w) {
        status_set_cancelled(&r->status, 1);
        over(q, MPI_SUCCESS);
    }
    return MPI_SUCCESS;
}

static struct errhandler *blame(struct request *r, int *win, char **name)
{
    const struct note_request *q = (struct note_request *)r;
    const struct rma_win *w = rma_win_find(q->win);
    *win = q->win_handle;
    *name = w && w->name[0] ? strdup(w->name) : NULL;
    return errhandler_ref(w ? w->errhandler : q->errhandler);
}

static void free_it(struct request *r)
{
    struct note_request *q = (struct note_request *)r;
    errhandler_drop(q->errhandler);
    free(q);
}

static const struct request_ops ops = {.cancel = cancel, .told = request_resume, .blame = blame,
                                       .free = free_it};

uint64_t rma_note_requested(const struct request *r, unsigned *counter)
{
    if (!r || !request_is(r, &ops))
        return 0;
    *counter = ((const struct note_request *)r)->i;
    return ((const struct note_request *)r)->win;
}

int rma_notify_request(struct rma_win *w, int i, MPI_Count value, MPI_Request *req)
{
    struct rma *room = rma_self();
    int err = rma_note_check(w, i, value);
    if (err)
        return err;
    struct note_request *q = calloc(1, sizeof *q);
    if (!q)
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for a request", rma_call());
    request_init(&q->r, REQUEST_NOTE, &ops, NULL);
    q->r.what = "notifications of a window";
    q->w = w;
    q->i = (unsigned)i;
    q->value = (int64_t)value;
    q->told = w->notes.told;
    q->win = w->id;
    q->win_handle = w->near.obj.handle;
    if ((err = request_publish(&q->r, req)) != MPI_SUCCESS) {
        free(q);
        return err;
    }
    q->errhandler = errhandler_ref(w->errhandler);
    list_push(&room->notes.waiting, &q->link);
    w->notes.requests++;
    if (is_there(q)) {
        over(q, MPI_SUCCESS);
    } else {
        room->notes.hook.fn = poll_all;
        room->notes.hook.arg = room;
        progress_hook_add(&room->notes.hook);
    }
    return MPI_SUCCESS;
}

unsigned rma_note_requests(struct rma_win *w)
{
    struct list *all = &rma_self()->notes.waiting;
    for (struct list *l = all->next, *next; l != all; l = next) {
        struct note_request *q = LIST_OBJ(l, struct note_request, link);
        next = l->next;
        if (q->w == w && q->r.freed)
            over(q, MPI_SUCCESS);
    }
    return w->notes.requests;
}

void rma_note_requests_revoke(struct rma_win *w)
{
    struct list *all = &rma_self()->notes.waiting;
    for (struct list *l = all->next, *next; l != all; l = next) {
        struct note_request *q = LIST_OBJ(l, struct note_request, link);
        next = l->next;
        if (q->w == w)
            over(q, is_there(q) ? MPI_SUCCESS : rma_revoked_error(w));
    }
}

void rma_note_requests_end(struct rma_win *w)
{
    struct list *all = &rma_self()->notes.waiting;
    for (struct list *l = all->next, *next; l != all; l = next) {
        struct note_request *q = LIST_OBJ(l, struct note_request, link);
        next = l->next;
        if (q->w == w)
            (void)cancel(&q->r);
    }
}
