/* partitioned.c - partitioned communication (MPI-4 chapter 4): arguments; the implementation is
 * p2p/part.c. */
#include "api/api.h"

#include "dt/dt.h"
#include "obj/attr.h"
#include "p2p/part.h"

static int part_init(const char *call, void *buf, int partitions, MPI_Count count,
                     MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Info info,
                     int is_send, MPI_Request *request, const void *site)
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
        err = err_make(MPI_ERR_ARG, "%s: %d partitions of %lld elements", call, partitions,
                       (long long)count);
    if (!err)
        err = api_rank(peer, comm_peer_size(c), API_PROC_NULL);
    if (!err)
        err = api_tag(tag, 0);
    if (!err)
        err = api_info(info, &i);
    if (!err)
        err = api_buffer(buf, all, t);
    if (!err && peer != MPI_PROC_NULL)
        watch_memory(buf, all, t, !is_send, is_send ? "send buffer" : "receive buffer");
    if (!err)
        err = part_make(buf, partitions, count, t, peer, tag, c, is_send,
                        watch_wants(WATCH_TOLD) ? site : NULL, request);
    if (!err && watch_wants(WATCH_BUFFERS) && peer != MPI_PROC_NULL) {
        struct watch_buffer b = {
            .buf = buf, .count = count, .t = t, .writes = !is_send, .parts = partitions};
        watch_uses(obj_find(OBJ_REQUEST, *request), &b, 1, site);
    }
    return api_exit_begun(comm, err, request);
}

int PMPI_Psend_init(const void *buf, int partitions, MPI_Count count, MPI_Datatype type, int dest,
                    int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return part_init("MPI_Psend_init", (void *)(uintptr_t)buf, partitions, count, type, dest, tag,
                     comm, info, 1, request, __builtin_return_address(0));
}
API_ALIAS(MPI_Psend_init);

int PMPI_Precv_init(void *buf, int partitions, MPI_Count count, MPI_Datatype type, int source,
                    int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return part_init("MPI_Precv_init", buf, partitions, count, type, source, tag, comm, info, 0,
                     request, __builtin_return_address(0));
}
API_ALIAS(MPI_Precv_init);

/* A partitioned request of this direction. */
static int part_arg(MPI_Request h, int is_send, struct part **p)
{
    struct request *r;
    int err = api_request(h, &r);
    if (err)
        return err;
    *p = r ? part_of(r, is_send) : NULL;
    return *p ? MPI_SUCCESS
              : err_make(MPI_ERR_REQUEST, "%s: request %#x is no partitioned %s", proc->call,
                         (unsigned)h, is_send ? "send" : "receive");
}

static int ready(struct part *p, MPI_Request request, int i)
{
    int err = part_ready(p, i);
    if (!err && watch_wants(WATCH_BUFFERS))
        watch_partition(obj_find(OBJ_REQUEST, request), i);
    return err;
}

int PMPI_Pready(int partition, MPI_Request request)
{
    api_enter("MPI_Pready");
    struct part *p;
    int err = part_arg(request, 1, &p);
    if (!err)
        err = ready(p, request, partition);
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Pready);

int PMPI_Pready_range(int low, int high, MPI_Request request)
{
    api_enter("MPI_Pready_range");
    struct part *p;
    int err = part_arg(request, 1, &p);
    if (!err && low > high)
        err = err_make(MPI_ERR_ARG, "MPI_Pready_range: from %d to %d", low, high);
    if (!err)
        err = part_check(p, high);
    for (int i = low; !err && i <= high; i++)
        err = ready(p, request, i);
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Pready_range);

int PMPI_Pready_list(int length, int partitions[], MPI_Request request)
{
    api_enter("MPI_Pready_list");
    struct part *p;
    int err = part_arg(request, 1, &p);
    if (!err)
        err = api_count(length);
    if (!err && length > 0)
        err = api_pointer(partitions, "array_of_partitions");
    for (int i = 0; !err && i < length; i++)
        err = ready(p, request, partitions[i]);
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Pready_list);

int PMPI_Parrived(MPI_Request request, int partition, int *flag)
{
    api_enter("MPI_Parrived");
    struct part *p = NULL;
    int err = api_pointer(flag, "flag");
    if (!err && request != MPI_REQUEST_NULL)
        err = part_arg(request, 0, &p);
    if (!err && p)
        err = part_check(p, partition);
    if (!err)
        *flag = !p || part_arrived(p); /* null requests included (MPI-4 4.2.2) */
    if (!err && p && *flag && watch_wants(WATCH_BUFFERS))
        watch_partition(obj_find(OBJ_REQUEST, request), partition);
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Parrived);
