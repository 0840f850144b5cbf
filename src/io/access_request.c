/* access_request.c - the request of a nonblocking access. */
#include <stdlib.h>

#include "io/io_types.h"

static struct errhandler *request_blame(struct request *r, int *handle, char **name)
{
    struct io_request *q = (struct io_request *)r;
    *handle = q->handle;
    *name = NULL;
    return errhandler_ref(q->errhandler);
}

static void request_free(struct request *r)
{
    struct io_request *q = (struct io_request *)r;
    errhandler_drop(q->errhandler);
    free(q);
}

static const struct request_ops io_ops = {.blame = request_blame, .free = request_free};

void io_request_end(struct io_request *q, int err)
{
    const char *call = proc->call;
    q->c.a.f->pending--;
    proc->call = q->r.what;
    if (err)
        q->c.x.done = 0;
    int e = access_finish(&q->c, &q->r.status);
    proc->call = call;
    if (q->silent)
        request_free(&q->r);
    else
        request_complete(&q->r, err ? err : e);
}

static void run_alone(struct job *j)
{
    transfer_run(&LIST_OBJ(j, struct io_request, job)->c.x);
}

static void alone_done(struct job *j)
{
    io_request_end(LIST_OBJ(j, struct io_request, job), MPI_SUCCESS);
}

void io_request_alone(struct io_request *q)
{
    q->job = (struct job){.run = run_alone, .done = alone_done};
    job_start(&q->job);
}

struct io_request *io_request_make(const struct io_args *a, size_t size)
{
    struct io_request *q = calloc(1, size);
    if (!q)
        return NULL;
    request_init(&q->r, REQUEST_IO, &io_ops, NULL);
    q->r.what = io_call();
    q->c.a = *a;
    q->handle = a->f->obj.handle;
    q->errhandler = errhandler_ref(a->f->errhandler);
    return q;
}

void io_request_drop(struct io_request *q)
{
    q->c.x.err = 0;
    access_finish(&q->c, NULL);
    request_free(&q->r);
}
