/* completion.c - completion of requests (MPI-3.1 3.7): one, several; start. Start with
 * wait_body() and waitall_body(). */
#include "api/api.h"

#include <stdlib.h>
#include <string.h>

#include "base/bare.h"
#include "obj/continue.h"
#include "obj/errhandler.h"
#include "progress/progress.h"

/* The holder whose handler is called for an error of a request: a communicator, a window or a file.
 * It is held by a reference, since the request is freed before the handler runs. */
struct blame {
    struct comm *comm;
    struct errhandler *of_win; /* or of a file; NULL: the communicator's */
    int win, is_file;
    char *win_name; /* NULL: it has none */
};

static BARE struct blame blame_of(struct request *r)
{
    struct blame b = {0};
    if (r->error && r->ops->blame) {
        b.is_file = r->kind == REQUEST_IO;
        b.of_win = r->ops->blame(r, &b.win, &b.win_name);
    }
    if (!b.of_win)
        b.comm = comm_ref(r->comm ? r->comm : proc->obj->world);
    return b;
}

static int is_blamed(const struct blame *b)
{
    return b->comm || b->of_win;
}

static void blame_drop(struct blame *b)
{
    errhandler_drop(b->of_win);
    free(b->win_name);
    if (b->comm)
        comm_drop(b->comm);
    *b = (struct blame){0};
}

static int leave_blame(struct blame b, int err)
{
    const char *call = proc->call;
    if (err && b.comm)
        err = watch_fails(b.comm, err);
    if (err)
        err_name(err, call);
    api_unlock();
    if (err && b.is_file && b.of_win)
        err = err_report_file(b.of_win, (void *)(uintptr_t)(unsigned)b.win, err, call);
    else if (err)
        err = b.of_win ? err_report_win(b.of_win, b.win, b.win_name, err, call)
                       : err_report_comm(b.comm, err, call);
    if (proc->threaded)
        lock_acquire(&proc->lock);
    blame_drop(&b);
    if (proc->threaded)
        lock_release(&proc->lock);
    return err;
}

int api_exit_request(struct request *r, int err)
{
    return leave_blame(blame_of(r), err);
}

/* Take r's outcome; the user's handle becomes null unless r is persistent or suspended. */
static int finish(struct request *r, MPI_Request *handle, MPI_Status *status)
{
    int stays = request_is_persistent(r);
    int err = request_finish(r, status);
    /* One that stays is not written: other threads may read it, as that of MPIX_Continue_init. */
    if (!stays && !(err && err_class(err) == MPIX_ERR_PROC_FAILED_PENDING))
        *handle = MPI_REQUEST_NULL;
    return err;
}

static inline int is_active(const struct request *r)
{
    return r && r->active;
}

/* An empty status has the error MPI_SUCCESS (MPI-4.1 3.7.3). In that of a message only calls that
 * end several requests write it (3.2.5). */
static void set_empty(MPI_Status *status)
{
    if (status != MPI_STATUS_IGNORE)
        status_empty(status);
}

/* --- one request -------------------------------------------------------------- */

static int one_arg(MPI_Request *request, MPI_Status *status, struct request **r)
{
    *r = NULL;
    int err = api_pointer(request, "request");
    if (!err)
        err = api_request(*request, r);
    if (!err && *r && (*r)->kind == REQUEST_MESSAGE)
        err = err_make(MPI_ERR_REQUEST, "%s: handle %#x is a message, no request", proc->call,
                       (unsigned)*request);
    return err ? err : api_status(status, "status");
}

/* watch: an int constant, whether a checker looks on, or a continuation runs. */
static inline __attribute__((always_inline)) int wait_body(MPI_Request *request, MPI_Status *status,
                                                           int watch)
{
    struct request *r;
    int err = one_arg(request, status, &r);
    if (watch && !err)
        err = api_waits(&r, 1);
    if (err)
        return api_exit(MPI_COMM_NULL, err);
    if (!is_active(r) || *request == REQUEST_COMPLETE) {
        if (r && r->active)
            *request = MPI_REQUEST_NULL;
        progress_glance();
        set_empty(status);
        return api_exit(MPI_COMM_NULL, MPI_SUCCESS);
    }
    request_wait(r);
    if (watch) {
        api_waits_no_more(&r);
        watch_waited(&r, 1);
    }
    if (request_finish_plain(r, request, status))
        return api_exit(MPI_COMM_NULL, MPI_SUCCESS);
    struct blame b = blame_of(r);
    return leave_blame(b, finish(r, request, status));
}

static __attribute__((cold, noinline)) int wait_watched(MPI_Request *request, MPI_Status *status)
{
    api_enter("MPI_Wait");
    return wait_body(request, status, 1);
}

BARE int PMPI_Wait(MPI_Request *request, MPI_Status *status);
int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    if (API_WATCHED())
        return wait_watched(request, status);
    api_enter_running("MPI_Wait");
    return wait_body(request, status, 0);
}
API_ALIAS(MPI_Wait);

/* It polls if that may help, and now and then; a done request is seen at once. A glance can let
 * another thread in, which attaches a function to a continuation request: then it is not done. */
static int poll_one(struct request *r)
{
    if (r->done) {
        progress_glance();
        if (r->done)
            return 1;
    }
    if (r->ops->poke)
        r->ops->poke(r);
    progress_test();
    return r->done;
}

static inline __attribute__((always_inline)) int test_body(MPI_Request *request, int *flag,
                                                           MPI_Status *status, int watch)
{
    struct request *r;
    int err = one_arg(request, status, &r);
    if (!err)
        err = api_pointer(flag, "flag");
    if (watch && !err)
        err = api_tests(r);
    if (err)
        return api_exit(MPI_COMM_NULL, err);
    if (!is_active(r)) {
        progress_glance();
        *flag = 1;
        set_empty(status);
        return api_exit(MPI_COMM_NULL, MPI_SUCCESS);
    }
    *flag = poll_one(r);
    if (!*flag)
        return api_exit(MPI_COMM_NULL, MPI_SUCCESS);
    struct blame b = blame_of(r);
    return leave_blame(b, finish(r, request, status));
}

static __attribute__((cold, noinline)) int test_watched(MPI_Request *request, int *flag,
                                                        MPI_Status *status)
{
    api_enter("MPI_Test");
    return test_body(request, flag, status, 1);
}

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    if (API_WATCHED())
        return test_watched(request, flag, status);
    api_enter_running("MPI_Test");
    return test_body(request, flag, status, 0);
}
API_ALIAS(MPI_Test);

static int start_arg(MPI_Request h, struct request **r)
{
    int err = api_request(h, r);
    if (!err && !*r)
        err = err_make(MPI_ERR_REQUEST, "%s: request is MPI_REQUEST_NULL", proc->call);
    if (!err && !request_is_persistent(*r))
        err = err_make(MPI_ERR_REQUEST, "%s: request %#x is not persistent", proc->call,
                       (unsigned)h);
    if (!err && (*r)->active)
        err = err_make(MPI_ERR_REQUEST, "%s: request %#x is active already", proc->call,
                       (unsigned)h);
    return err;
}

int PMPI_Start(MPI_Request *request)
{
    api_enter("MPI_Start");
    struct request *r;
    int err = api_pointer(request, "request");
    if (!err)
        err = start_arg(*request, &r);
    if (err)
        return api_exit(MPI_COMM_NULL, err);
    struct blame b = blame_of(r);
    return leave_blame(b, request_start(r));
}
API_ALIAS(MPI_Start);

int PMPI_Startall(int count, MPI_Request requests[])
{
    api_enter("MPI_Startall");
    struct request *r;
    int err = api_count(count);
    if (!err && count > 0)
        err = api_pointer(requests, "array_of_requests");
    for (int i = 0; i < count && !err; i++)
        err = start_arg(requests[i], &r);
    if (err)
        return api_exit(MPI_COMM_NULL, err);
    struct blame b = {0};
    for (int i = 0; i < count && !err; i++) {
        blame_drop(&b);
        err = start_arg(requests[i], &r); /* again: the same request may be in the list twice */
        b = blame_of(r);
        if (!err)
            err = request_start(r);
    }
    return is_blamed(&b) ? leave_blame(b, err) : api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Startall);

/* --- several requests ------------------------------------------------------------ */

enum { FEW = 64 }; /* pointers kept on the stack; more come from the heap */

struct set {
    struct request **r;
    struct request *few[FEW];
    int n, active; /* active: requests that a wait waits for */
};

static int set_open(struct set *s, int n, MPI_Request *requests)
{
    s->r = s->few;
    s->n = n;
    s->active = 0;
    int err = api_count(n);
    if (!err && n > 0)
        err = api_pointer(requests, "array_of_requests");
    if (err)
        return err;
    if (n > FEW && !(s->r = malloc((size_t)n * sizeof *s->r))) {
        s->r = s->few;
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for %d requests", proc->call, n);
    }
    for (int i = 0; i < n; i++) {
        struct request *r = s->r[i] = obj_find(OBJ_REQUEST, requests[i]);
        if (__builtin_expect(r && r->active && r->kind != REQUEST_MESSAGE, 1)) {
            s->active++;
            continue;
        }
        if (requests[i] != MPI_REQUEST_NULL && (!r || r->kind == REQUEST_MESSAGE))
            return r ? err_make(MPI_ERR_REQUEST, "%s: array_of_requests[%d] is a message, no "
                                "request", proc->call, i)
                     : api_request(requests[i], &s->r[i]);
        s->r[i] = NULL; /* null, or inactive */
    }
    return MPI_SUCCESS;
}

static void set_close(struct set *s)
{
    if (s->r != s->few)
        free(s->r);
}

/* Test all, after a poll if none is done: returns the number of done ones; `need` are enough. */
static int set_test(struct set *s, int need)
{
    int done = 0, ran = 0;
    for (int turn = 0; turn < 2; turn++) {
        done = 0;
        for (int i = 0; i < s->n; i++)
            if (s->r[i] && s->r[i]->done)
                done++;
            else if (s->r[i] && turn == 0 && s->r[i]->ops->poke) {
                s->r[i]->ops->poke(s->r[i]);
                ran |= request_is_continue(s->r[i]); /* and may have undone earlier ones */
            }
        if (turn)
            break;
        int enough = done >= need && !ran;
        (enough ? progress_glance : progress_test)();
        if (enough && !proc->obj->continues)
            break; /* else see poll_one() */
    }
    return done;
}

/* Results of several requests. On an error the call returns MPI_ERR_IN_STATUS, and each status has
 * its own (MPI-3.1 3.7.5). Without error, the error fields are not written. */
struct outcome {
    int first;           /* result of the call, with the text of the first request that failed; 0:
                          * none did */
    struct blame blamed;
};

/* Made before the others are handled; if it replaced their error text, that is made again. */
static int in_status(int first)
{
    char text[ERR_TEXT];
    err_text(first, text, sizeof text);
    return err_make(MPI_ERR_IN_STATUS,
                    "%s: a request failed, see the statuses; the first error: %s", proc->call,
                    text);
}

/* Request i of the set ends; its status is number k of the array, all before are filled. */
static void take(struct set *s, int i, MPI_Request *requests, MPI_Status *statuses, int k,
                 struct outcome *o)
{
    MPI_Status *st = api_status_at(statuses, k);
    struct request *r = s->r[i];
    int err = MPI_SUCCESS, same = r && obj_find(OBJ_REQUEST, requests[i]) == r;
    if (same && !o->first && request_finish_plain(r, &requests[i], st))
        return;
    if (r && !same) /* the same handle occurred earlier in the array */
        requests[i] = MPI_REQUEST_NULL;
    if (!same) {
        set_empty(st);
    } else {
        if (r->error && !is_blamed(&o->blamed))
            o->blamed = blame_of(r);
        err = finish(r, &requests[i], st);
    }
    err_name(err, proc->call);
    if (err && !o->first) {
        o->first = in_status(err);
        for (int before = 0; before < k && st != MPI_STATUS_IGNORE; before++)
            statuses[before].MPI_ERROR = MPI_SUCCESS;
    }
    if (o->first && st != MPI_STATUS_IGNORE)
        st->MPI_ERROR = err_give(err);
}

static int finish_all(struct set *s, MPI_Request *requests, MPI_Status *statuses,
                      struct blame *blamed)
{
    struct outcome o = {0};
    for (int i = 0; i < s->n; i++)
        take(s, i, requests, statuses, i, &o);
    *blamed = o.blamed;
    return o.first;
}

static int leave_set(struct set *s, struct blame c, int err)
{
    set_close(s);
    return is_blamed(&c) ? leave_blame(c, err) : api_exit(MPI_COMM_NULL, err);
}

static inline __attribute__((always_inline)) int waitall_body(int count, MPI_Request requests[],
                                                              MPI_Status statuses[], int watch)
{
    (watch ? api_enter : api_enter_running)("MPI_Waitall");
    struct set s;
    struct blame c = {0};
    int err = set_open(&s, count, requests);
    if (!err && count > 0)
        err = api_status(statuses, "array_of_statuses");
    if (watch && !err)
        err = api_waits(s.r, s.n);
    if (!err) {
        request_wait_all(s.r, s.n);
        if (watch) {
            api_waits_no_more(s.r);
            watch_waited(s.r, s.n);
        }
        err = finish_all(&s, requests, statuses, &c);
    }
    return leave_set(&s, c, err);
}

int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    return API_WATCHED() ? waitall_body(count, requests, statuses, 1)
                         : waitall_body(count, requests, statuses, 0);
}
API_ALIAS(MPI_Waitall);

int PMPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    api_enter("MPI_Testall");
    struct set s;
    struct blame c = {0};
    int err = set_open(&s, count, requests);
    if (!err && count > 0)
        err = api_status(statuses, "array_of_statuses");
    if (!err)
        err = api_pointer(flag, "flag");
    if (!err) {
        *flag = set_test(&s, s.active) == s.active;
        if (*flag)
            err = finish_all(&s, requests, statuses, &c);
    }
    return leave_set(&s, c, err);
}
API_ALIAS(MPI_Testall);

/* First done request of a set, a suspended one if there is no other; all are inactive: -1. */
static int first_done(const struct set *s)
{
    int held = -1;
    for (int i = 0; i < s->n; i++) {
        if (!s->r[i] || !s->r[i]->done)
            continue;
        if (!s->r[i]->error || !request_is_suspended(s->r[i]))
            return i;
        held = held < 0 ? i : held;
    }
    return held;
}

static int finish_any(struct set *s, MPI_Request *requests, int i, MPI_Status *status,
                      struct blame *c)
{
    *c = blame_of(s->r[i]);
    return finish(s->r[i], &requests[i], status);
}

/* Its record is gone before a request is, and before functions of the program run. */
static inline __attribute__((always_inline)) int await_any(struct set *s)
{
    int watched = API_WATCHED(), err = watched ? api_waits(s->r, s->n) : MPI_SUCCESS;
    if (err)
        return err;
    if (s->active)
        request_wait_any(s->r, s->n);
    else
        progress_glance();
    if (watched)
        api_waits_no_more(s->r);
    return MPI_SUCCESS;
}

int PMPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    api_enter("MPI_Waitany");
    struct set s;
    struct blame c = {0};
    int err = set_open(&s, count, requests);
    if (!err)
        err = api_status(status, "status");
    if (!err)
        err = api_pointer(index, "index");
    if (!err)
        err = await_any(&s);
    if (!err && s.active) {
        *index = first_done(&s);
        err = finish_any(&s, requests, *index, status, &c);
    } else if (!err) {
        *index = MPI_UNDEFINED;
        set_empty(status);
    }
    return leave_set(&s, c, err);
}
API_ALIAS(MPI_Waitany);

int PMPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    api_enter("MPI_Testany");
    struct set s;
    struct blame c = {0};
    int err = set_open(&s, count, requests);
    if (!err)
        err = api_status(status, "status");
    if (!err)
        err = api_pointer(index, "index");
    if (!err)
        err = api_pointer(flag, "flag");
    if (!err && !s.active) {
        progress_glance();
        *flag = 1;
        *index = MPI_UNDEFINED;
        set_empty(status);
    } else if (!err) {
        *flag = set_test(&s, 1) > 0;
        *index = *flag ? first_done(&s) : MPI_UNDEFINED;
        if (*flag)
            err = finish_any(&s, requests, *index, status, &c);
    }
    return leave_set(&s, c, err);
}
API_ALIAS(MPI_Testany);

/* Completes those that are done, or reports the suspended ones if no other is; statuses and indices
 * are filled from the front. */
static int finish_some(struct set *s, MPI_Request *requests, int *outcount, int *indices,
                       MPI_Status *statuses, struct blame *blamed)
{
    struct outcome o = {0};
    int first = first_done(s), held = first >= 0 && request_is_suspended(s->r[first]);
    *outcount = 0;
    for (int i = first; i >= 0 && i < s->n; i++) {
        if (!s->r[i] || obj_find(OBJ_REQUEST, requests[i]) != s->r[i] || !s->r[i]->done)
            continue;
        if (!held && s->r[i]->error && request_is_suspended(s->r[i]))
            continue;
        take(s, i, requests, statuses, *outcount, &o);
        indices[(*outcount)++] = i;
    }
    *blamed = o.blamed;
    return o.first;
}

static int some_args(struct set *s, int n, MPI_Request *requests, const int *outcount,
                     const int *indices, const MPI_Status *statuses)
{
    int err = set_open(s, n, requests);
    if (!err)
        err = api_pointer(outcount, "outcount");
    if (!err && n > 0)
        err = api_pointer(indices, "array_of_indices");
    if (!err && n > 0)
        err = api_status(statuses, "array_of_statuses");
    return err;
}

int PMPI_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                  MPI_Status statuses[])
{
    api_enter("MPI_Waitsome");
    struct set s;
    struct blame c = {0};
    int err = some_args(&s, incount, requests, outcount, indices, statuses);
    if (!err)
        err = await_any(&s);
    if (!err && !s.active)
        *outcount = MPI_UNDEFINED;
    else if (!err)
        err = finish_some(&s, requests, outcount, indices, statuses, &c);
    return leave_set(&s, c, err);
}
API_ALIAS(MPI_Waitsome);

int PMPI_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                  MPI_Status statuses[])
{
    api_enter("MPI_Testsome");
    struct set s;
    struct blame c = {0};
    int err = some_args(&s, incount, requests, outcount, indices, statuses);
    if (!err && !s.active) {
        progress_glance();
        *outcount = MPI_UNDEFINED;
    } else if (!err) {
        set_test(&s, 1);
        err = finish_some(&s, requests, outcount, indices, statuses, &c);
    }
    return leave_set(&s, c, err);
}
API_ALIAS(MPI_Testsome);
