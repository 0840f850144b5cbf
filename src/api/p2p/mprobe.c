/* mprobe.c - probes and matched messages (MPI-3.1 3.8). Start with probe_call() and
 * mrecv_call(). */
#include "api/p2p/ends.h"

#include "dt/dt.h"
#include "p2p/p2p.h"

enum { PROBE_TRIES = 1, PROBE_TAKES = 2 }; /* does not wait: flag; takes the message out: message */

static int probe_call(const char *call, int what, int source, int tag, MPI_Comm comm, int *flag,
                      MPI_Message *message, MPI_Status *status)
{
    struct comm *c;
    struct request *m = NULL;
    int got = 1;
    api_enter(call);
    int err = api_comm(comm, &c);
    if (!err)
        err = api_rank(source, comm_peer_size(c), API_PROC_NULL | API_ANY_SOURCE);
    if (!err)
        err = api_tag(tag, 1);
    if (!err)
        err = api_pointer(status, "status");
    if (!err && (what & PROBE_TRIES))
        err = api_pointer(flag, "flag");
    if (!err && (what & PROBE_TAKES))
        err = api_pointer(message, "message");
    if (!err)
        err = p2p_probe(source, tag, c, flag ? &got : NULL, message ? &m : NULL, status);
    if (flag)
        *flag = !err && got;
    if (message) {
        *message = MPI_MESSAGE_NULL;
        if (!err && got && !m)
            *message = MPI_MESSAGE_NO_PROC;
        else if (m)
            err = request_publish(m, message);
    }
    return api_exit(comm, err);
}

int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    return probe_call("MPI_Probe", 0, source, tag, comm, NULL, NULL, status);
}
API_ALIAS(MPI_Probe);

int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    return probe_call("MPI_Iprobe", PROBE_TRIES, source, tag, comm, flag, NULL, status);
}
API_ALIAS(MPI_Iprobe);

int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    return probe_call("MPI_Mprobe", PROBE_TAKES, source, tag, comm, NULL, message, status);
}
API_ALIAS(MPI_Mprobe);

int PMPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                 MPI_Status *status)
{
    return probe_call("MPI_Improbe", PROBE_TRIES | PROBE_TAKES, source, tag, comm, flag, message,
                      status);
}
API_ALIAS(MPI_Improbe);

/* *m: the message, NULL for the one of no process. */
static int message_args(const void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message,
                        struct dt_type **t, struct request **m)
{
    *m = NULL;
    int err = api_pointer(message, "message");
    if (!err)
        err = api_count(count);
    if (!err)
        err = api_type_committed(type, t);
    if (!err)
        err = api_buffer(buf, count, *t);
    if (err || *message == MPI_MESSAGE_NO_PROC)
        return err;
    *m = *message == MPI_MESSAGE_NULL ? NULL : obj_find(OBJ_REQUEST, *message);
    if (*m && (*m)->kind == REQUEST_MESSAGE)
        return MPI_SUCCESS;
    return err_make(MPI_ERR_REQUEST, "%s: handle %#x is no message", proc->call,
                    (unsigned)*message);
}

static MPI_Comm comm_of(const struct request *m)
{
    return m && m->comm ? m->comm->obj.handle : MPI_COMM_WORLD;
}

static int mrecv_call(const char *call, void *buf, MPI_Count count, MPI_Datatype type,
                      MPI_Message *message, MPI_Status *status, const void *site)
{
    struct dt_type *t;
    struct request *m;
    api_enter(call);
    int err = message_args(buf, count, type, message, &t, &m);
    MPI_Comm comm = comm_of(err ? NULL : m);
    MPI_Status mine;
    struct comm *c = err || !m ? NULL : m->comm;
    int watched = watch_wants(WATCH_MESSAGES);
    if (watched && status == MPI_STATUS_IGNORE)
        status = &mine;
    if (!err)
        watch_receives(buf, count, t, m ? 0 : MPI_PROC_NULL);
    if (!err) {
        err = p2p_mrecv(buf, count, t, m, watched ? site : NULL, status);
        *message = MPI_MESSAGE_NULL;
    }
    if (watched && !err && c)
        api_watch_received(c, buf, count, t, status, site);
    return api_exit(comm, err);
}

static int imrecv_call(const char *call, void *buf, MPI_Count count, MPI_Datatype type,
                       MPI_Message *message, MPI_Request *request, const void *site)
{
    struct dt_type *t;
    struct request *m, *r = NULL;
    api_enter(call);
    int err = message_args(buf, count, type, message, &t, &m);
    MPI_Comm comm = comm_of(err ? NULL : m);
    if (!err)
        watch_receives(buf, count, t, m ? 0 : MPI_PROC_NULL);
    if (!err) {
        *request = MPI_REQUEST_NULL;
        err = p2p_imrecv(buf, count, t, m, &r);
        if (!err)
            err = request_publish(r, request);
        if (!err) {
            watch_recv_begun(r);
            if (watch_wants(WATCH_TOLD))
                p2p_tell(r, site);
            api_watch_uses(r, WRITES(buf, count, t, m ? 0 : MPI_PROC_NULL),
                           NONE, site);
        }
        *message = MPI_MESSAGE_NULL;
    }
    return api_exit_begun(comm, err, request);
}

int PMPI_Mrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message,
               MPI_Status *status)
{
    return mrecv_call("MPI_Mrecv", buf, count, datatype, message, status, SITE);
}
API_ALIAS(MPI_Mrecv);

int PMPI_Mrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                 MPI_Status *status)
{
    return mrecv_call("MPI_Mrecv_c", buf, count, datatype, message, status, SITE);
}
API_ALIAS(MPI_Mrecv_c);

int PMPI_Imrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message,
                MPI_Request *request)
{
    return imrecv_call("MPI_Imrecv", buf, count, datatype, message, request, SITE);
}
API_ALIAS(MPI_Imrecv);

int PMPI_Imrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                  MPI_Request *request)
{
    return imrecv_call("MPI_Imrecv_c", buf, count, datatype, message, request, SITE);
}
API_ALIAS(MPI_Imrecv_c);
