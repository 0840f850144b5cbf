/* Partitioned communication (MPI-4 chapter 4).
 *
 *   MPI_Psend_init --setup (user's tag): my number of it--> MPI_Precv_init    matches in the order of the inits
 *   last MPI_Pready --data (tag made of that number)------> MPI_Start
 *
 * All partitions travel as one message, sent when the last one is ready; so the two sides may cut the data
 * differently, and MPI_Parrived becomes true for all partitions at once. */
#include "api/api.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_types.h"
#include "dt/dt.h"
#include "obj/attr.h"
#include "p2p/p2p.h"
#include "progress/progress.h"

/* The stream of one-sided calls, which send no such messages. */
enum { PART_STREAM = CTX_RMA << 4 };

struct part {
    struct request r;
    int refs; /* the request, and its setup message while that is under way */
    int is_send, partitions, nready;
    unsigned char *ready; /* by partition */
    void *buf;
    MPI_Aint count;       /* elements in all partitions */
    struct dt_type *type;
    int peer, tag;
    int number;           /* the sender's; 0: the setup message has not come */
    int lost;             /* the error that came in its place: its sender has died */
    struct progress_hook hook; /* a started receive waits for the number */
};

/* Tags of data are negative, out of the way of users' tags. */
static int data_tag(const struct part *p)
{
    return INT_MIN + p->number;
}

static void part_drop(struct part *p)
{
    if (--p->refs > 0)
        return;
    progress_hook_del(&p->hook);
    dt_drop(p->type);
    free(p->ready);
    free(p);
}

static void part_free(struct request *r)
{
    part_drop((struct part *)r);
}

static void part_done(struct request *inner, void *arg)
{
    struct part *p = arg;
    int tag = p->r.status.MPI_TAG, err = request_finish(inner, &p->r.status);
    if (p->r.status.MPI_SOURCE != MPI_PROC_NULL)
        p->r.status.MPI_TAG = tag;
    request_complete(&p->r, err);
}

/* The user's tag waits in the status until the data is there. */
static int part_send(struct part *p)
{
    struct request *inner;
    int err = p2p_isend(p->buf, p->count, p->type, p->peer, data_tag(p), p->r.comm, PART_STREAM, &inner);
    if (!err)
        request_then(inner, part_done, p);
    return err;
}

static int part_recv(struct part *p)
{
    struct request *inner;
    int err = p2p_irecv(p->buf, p->count, p->type, p->peer, data_tag(p), p->r.comm, PART_STREAM, &inner);
    if (!err)
        request_then(inner, part_done, p);
    return err;
}

static int part_look(void *arg)
{
    struct part *p = arg;
    if (!p->number && !p->lost)
        return 0;
    progress_hook_del(&p->hook);
    int err = p->lost ? p->lost : part_recv(p);
    if (err)
        request_complete(&p->r, err);
    return 1;
}

static int part_start(struct request *r)
{
    struct part *p = (struct part *)r;
    r->status.MPI_TAG = p->tag;
    if (p->is_send) {
        memset(p->ready, 0, (size_t)p->partitions);
        p->nready = 0;
        return MPI_SUCCESS;
    }
    if (p->number || p->peer == MPI_PROC_NULL)
        return part_recv(p);
    progress_hook_add(&p->hook);
    return MPI_SUCCESS;
}

static const struct request_ops part_ops = {.start = part_start, .free = part_free};

static void setup_done(struct request *inner, void *arg)
{
    struct part *p = arg;
    int err = request_finish(inner, MPI_STATUS_IGNORE);
    p->lost = p->is_send ? 0 : err; /* a sender meets it with the data */
    part_drop(p);
}

/* The receiver learns the number of the sender's request. */
static int setup(struct part *p)
{
    struct request *inner;
    struct dt_type *t = dt_find(MPI_INT);
    int err = p->is_send ? p2p_isend(&p->number, 1, t, p->peer, p->tag, p->r.comm, PART_STREAM, &inner)
                         : p2p_irecv(&p->number, 1, t, p->peer, p->tag, p->r.comm, PART_STREAM, &inner);
    if (err)
        return err;
    p->refs++;
    request_then(inner, setup_done, p);
    return MPI_SUCCESS;
}

static int part_make(void *buf, int partitions, MPI_Aint count, struct dt_type *t, int peer, int tag, struct comm *c,
                     int is_send, MPI_Request *request)
{
    struct part *p = calloc(1, sizeof *p);
    if (!p || !(p->ready = calloc((size_t)partitions + 1, 1))) {
        free(p);
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for a request", proc->call);
    }
    request_init(&p->r, REQUEST_PART, &part_ops, c);
    p->r.what = "a partitioned message";
    p->refs = 1;
    p->is_send = is_send;
    p->partitions = partitions;
    p->buf = buf;
    p->count = count * partitions;
    p->type = dt_ref(t);
    p->peer = peer;
    p->tag = tag;
    p->hook = (struct progress_hook){.fn = part_look, .arg = p};
    list_init(&p->hook.link);
    if (is_send)
        p->number = ++proc->api->parts;
    int err = request_publish(&p->r, request);
    if (!err && peer != MPI_PROC_NULL && (err = setup(p)) != 0) {
        request_release(&p->r);
        *request = MPI_REQUEST_NULL;
    } else if (err) {
        part_drop(p);
    }
    return err;
}

static int part_init(const char *call, void *buf, int partitions, MPI_Count count, MPI_Datatype type, int peer, int tag,
                     MPI_Comm comm, MPI_Info info, int is_send, MPI_Request *request)
{
    api_enter(call);
    struct comm *c;
    struct dt_type *t;
    struct info *i;
    MPI_Aint all = 0;
    int err = api_pointer(request, "request");
    if (!err)
        err = api_comm(comm, &c);
    if (!err)
        err = api_type_committed(type, &t);
    if (!err)
        err = api_count(count);
    if (!err && (partitions < 1 || __builtin_mul_overflow(count, (MPI_Aint)partitions, &all)))
        err = err_make(MPI_ERR_ARG, "%s: %d partitions of %lld elements", call, partitions, (long long)count);
    if (!err)
        err = api_rank(peer, comm_peer_size(c), API_PROC_NULL);
    if (!err)
        err = api_tag(tag, 0);
    if (!err)
        err = api_info(info, &i);
    if (!err)
        err = api_buffer(buf, all, t);
    if (!err)
        err = part_make(buf, partitions, count, t, peer, tag, c, is_send, request);
    return api_leave(comm, err);
}

API(int, MPI_Psend_init, (const void *buf, int partitions, MPI_Count count, MPI_Datatype type, int dest, int tag,
                          MPI_Comm comm, MPI_Info info, MPI_Request *request))
{
    return part_init("MPI_Psend_init", (void *)(uintptr_t)buf, partitions, count, type, dest, tag, comm, info, 1,
                     request);
}

API(int, MPI_Precv_init, (void *buf, int partitions, MPI_Count count, MPI_Datatype type, int source, int tag,
                          MPI_Comm comm, MPI_Info info, MPI_Request *request))
{
    return part_init("MPI_Precv_init", buf, partitions, count, type, source, tag, comm, info, 0, request);
}

/* A partitioned request of this direction. */
static int part_arg(MPI_Request h, int is_send, struct part **p)
{
    struct request *r;
    int err = api_request(h, &r);
    if (err)
        return err;
    if (!r || r->kind != REQUEST_PART || ((struct part *)r)->is_send != is_send)
        return err_make(MPI_ERR_REQUEST, "%s: request %#x is no partitioned %s", proc->call, (unsigned)h,
                        is_send ? "send" : "receive");
    *p = (struct part *)r;
    return MPI_SUCCESS;
}

static int partition_arg(const struct part *p, int i)
{
    return i >= 0 && i < p->partitions ? MPI_SUCCESS
                                       : err_make(MPI_ERR_ARG, "%s: partition %d, the message has %d", proc->call, i,
                                                  p->partitions);
}

static int mark_ready(struct part *p, int i)
{
    int err = partition_arg(p, i);
    if (!err && !p->r.active)
        err = err_make(MPI_ERR_REQUEST, "%s: the request was not started", proc->call);
    if (!err && p->ready[i])
        err = err_make(MPI_ERR_ARG, "%s: partition %d is ready already", proc->call, i);
    if (err)
        return err;
    p->ready[i] = 1;
    return ++p->nready == p->partitions ? part_send(p) : MPI_SUCCESS;
}

API(int, MPI_Pready, (int partition, MPI_Request request))
{
    api_enter("MPI_Pready");
    struct part *p;
    int err = part_arg(request, 1, &p);
    if (!err)
        err = mark_ready(p, partition);
    return api_leave(MPI_COMM_NULL, err);
}

API(int, MPI_Pready_range, (int low, int high, MPI_Request request))
{
    api_enter("MPI_Pready_range");
    struct part *p;
    int err = part_arg(request, 1, &p);
    if (!err && low > high)
        err = err_make(MPI_ERR_ARG, "MPI_Pready_range: from %d to %d", low, high);
    if (!err)
        err = partition_arg(p, high);
    for (int i = low; !err && i <= high; i++)
        err = mark_ready(p, i);
    return api_leave(MPI_COMM_NULL, err);
}

API(int, MPI_Pready_list, (int length, int partitions[], MPI_Request request))
{
    api_enter("MPI_Pready_list");
    struct part *p;
    int err = part_arg(request, 1, &p);
    if (!err)
        err = api_count(length);
    if (!err && length > 0)
        err = api_pointer(partitions, "array_of_partitions");
    for (int i = 0; !err && i < length; i++)
        err = mark_ready(p, partitions[i]);
    return api_leave(MPI_COMM_NULL, err);
}

API(int, MPI_Parrived, (MPI_Request request, int partition, int *flag))
{
    api_enter("MPI_Parrived");
    struct part *p = NULL;
    int err = api_pointer(flag, "flag");
    if (!err && request != MPI_REQUEST_NULL)
        err = part_arg(request, 0, &p);
    if (!err && p)
        err = partition_arg(p, partition);
    if (!err) {
        *flag = 1; /* null and inactive requests included (MPI-4 4.2.2) */
        if (p && p->r.active && !p->r.done) {
            progress_test();
            *flag = p->r.done;
        }
    }
    return api_leave(MPI_COMM_NULL, err);
}
