/* exchange.c - MPI_Sendrecv and its like: a send and a receive in one call (MPI-4.1 3.10). Start
 * with sendrecv_call(). */
#include "api/p2p/ends.h"

#include <stdlib.h>

#include "dt/dt.h"
#include "p2p/p2p.h"

struct exchange {
    const void *sbuf;
    MPI_Count scount;
    MPI_Datatype stype;
    int dest, stag;
    void *rbuf;
    MPI_Count rcount;
    MPI_Datatype rtype;
    int source, rtag;
    MPI_Comm comm;
    struct ends s, r;
};

static int exchange_args(struct exchange *x)
{
    int err = send_args(&x->s, x->sbuf, x->scount, x->stype, x->dest, x->stag, x->comm);
    return err ? err : recv_args(&x->r, x->rbuf, x->rcount, x->rtype, x->source, x->rtag, x->comm);
}

/* What watchers hear of the two halves; label: place for that of the send. */
static __attribute__((cold, noinline)) struct p2p_ends_told
ends_told(struct p2p_label *label, const struct dt_type *t, MPI_Count count, const void *site)
{
    return (struct p2p_ends_told){watch_label(t, count, site, label) ? label : NULL, site};
}

/* Both buffers are about to be used; with MPI_PROC_NULL one is not. */
static __attribute__((cold, noinline)) void look_at_memory(const struct exchange *x)
{
    struct watch_buffer b[] = {READS(x->sbuf, x->scount, x->s.t, x->dest),
                               WRITES(x->rbuf, x->rcount, x->r.t, x->source)};
    watch_receives(x->rbuf, x->rcount, x->r.t, x->source);
    watch_apart(b, 2);
}

/* Where a checker looks on, with arguments that are right. */
static __attribute__((cold, noinline)) int sendrecv_told(const struct exchange *x,
                                                         MPI_Status *status, const void *site)
{
    MPI_Status mine;
    struct p2p_label label;
    if (status == MPI_STATUS_IGNORE)
        status = &mine;
    look_at_memory(x);
    int err = p2p_sendrecv_told(x->sbuf, x->scount, x->s.t, x->dest, x->stag, x->rbuf, x->rcount,
                                x->r.t, x->source, x->rtag, x->s.c,
                                ends_told(&label, x->s.t, x->scount, site), status);
    if (!err)
        api_watch_received(x->s.c, x->rbuf, x->rcount, x->r.t, status, site);
    return err;
}

static inline __attribute__((always_inline)) int
sendrecv_call(const char *call, struct exchange x, MPI_Status *status)
{
    enter_send(call, x.sbuf, x.scount, x.stype, x.dest, x.stag, x.comm);
    int err = exchange_args(&x);
    if (!err && watch_wants(WATCH_MESSAGES | WATCH_MEMORY))
        err = sendrecv_told(&x, status, SITE);
    else if (!err)
        err = p2p_sendrecv(x.sbuf, x.scount, x.s.t, x.dest, x.stag, x.rbuf, x.rcount, x.r.t,
                           x.source, x.rtag, x.s.c, 0, status);
    return api_exit(x.comm, err);
}

static inline __attribute__((always_inline)) int
isendrecv_call(const char *call, struct exchange x, MPI_Request *request)
{
    struct request *r = NULL;
    struct p2p_label label;
    struct p2p_ends_told told;
    enter_send(call, x.sbuf, x.scount, x.stype, x.dest, x.stag, x.comm);
    int watched = watch_wants(WATCH_TOLD | WATCH_MEMORY), err = api_pointer(request, "request");
    if (!err)
        err = exchange_args(&x);
    if (!err && watched)
        look_at_memory(&x);
    if (!err && watched)
        told = ends_told(&label, x.s.t, x.scount, SITE);
    if (!err)
        err = publish(p2p_isendrecv(x.sbuf, x.scount, x.s.t, x.dest, x.stag, x.rbuf, x.rcount,
                                    x.r.t, x.source, x.rtag, x.s.c, 0, watched ? &told : NULL,
                                    &r),
                      &r, request);
    if (watch_wants(WATCH_MESSAGES) && !err) {
        watch_recv_begun(r);
        api_watch_uses(r, WRITES(x.rbuf, x.rcount, x.r.t, x.source),
                       READS(x.sbuf, x.scount, x.s.t, x.dest), SITE);
    }
    return api_exit_begun(x.comm, err, request);
}

/* The outgoing data are packed aside, so that the buffer can be received into. */
static inline __attribute__((always_inline)) int
replace_call(const char *call, void *buf, MPI_Count count, MPI_Datatype type, int dest,
                        int stag, int source, int rtag, MPI_Comm comm, MPI_Status *status)
{
    struct ends s, e;
    size_t bytes;
    void *packed = NULL;
    MPI_Status mine;
    struct p2p_label label;
    enter_send(call, buf, count, type, dest, stag, comm);
    int watched = watch_wants(WATCH_MESSAGES | WATCH_MEMORY);
    if (watched && status == MPI_STATUS_IGNORE)
        status = &mine;
    int err = send_args(&s, buf, count, type, dest, stag, comm);
    if (!err)
        err = recv_args(&e, buf, count, type, source, rtag, comm);
    if (!err && watched)
        watch_receives(buf, count, e.t, source);
    if (!err)
        err = dt_total(s.t, (size_t)count, &bytes);
    if (!err && !(packed = malloc(bytes ? bytes : 1)))
        err = err_make(MPI_ERR_NO_MEM, "%s: no memory for a copy of %zu bytes", call, bytes);
    if (!err) {
        dt_pack(s.t, (size_t)count, buf, 0, packed, bytes);
        err = watched ? p2p_sendrecv_told(packed, (MPI_Aint)bytes, dt_find(MPI_BYTE), dest, stag,
                                          buf, count, e.t, source, rtag, s.c,
                                          ends_told(&label, s.t, count, SITE), status)
                      : p2p_sendrecv(packed, (MPI_Aint)bytes, dt_find(MPI_BYTE), dest, stag, buf,
                                     count, e.t, source, rtag, s.c, 0, status);
    }
    free(packed);
    if (watched && !err)
        api_watch_received(s.c, buf, count, e.t, status, SITE);
    return api_exit(comm, err);
}

static inline __attribute__((always_inline)) int
ireplace_call(const char *call, void *buf, MPI_Count count, MPI_Datatype type, int dest,
                         int stag, int source, int rtag, MPI_Comm comm, MPI_Request *request)
{
    struct ends s, e;
    struct request *r = NULL;
    struct p2p_label label;
    struct p2p_ends_told told;
    enter_send(call, buf, count, type, dest, stag, comm);
    int watched = watch_wants(WATCH_TOLD | WATCH_MEMORY), err = api_pointer(request, "request");
    if (!err)
        err = send_args(&s, buf, count, type, dest, stag, comm);
    if (!err)
        err = recv_args(&e, buf, count, type, source, rtag, comm);
    if (!err && watched)
        watch_receives(buf, count, e.t, source);
    if (!err && watched)
        told = ends_told(&label, s.t, count, SITE);
    if (!err)
        err = publish(p2p_isendrecv(buf, count, s.t, dest, stag, buf, count, e.t, source, rtag,
                                    s.c, 1, watched ? &told : NULL, &r),
                      &r, request);
    if (watch_wants(WATCH_MESSAGES) && !err) {
        watch_recv_begun(r);
        api_watch_uses(r, WRITES(buf, count, e.t, source), NONE, SITE);
    }
    return api_exit_begun(comm, err, request);
}

/* The arguments of the calls below, which name them alike. */
#define EXCHANGE                                                                                   \
    ((struct exchange){sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,  \
                       source, recvtag, comm, {NULL, NULL}, {NULL, NULL}})

int PMPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                  void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                  MPI_Comm comm, MPI_Status *status)
{
    return sendrecv_call("MPI_Sendrecv", EXCHANGE, status);
}
API_ALIAS(MPI_Sendrecv);

int PMPI_Isendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                   void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                   MPI_Comm comm, MPI_Request *request)
{
    return isendrecv_call("MPI_Isendrecv", EXCHANGE, request);
}
API_ALIAS(MPI_Isendrecv);

int PMPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag,
                          int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    return replace_call("MPI_Sendrecv_replace", buf, count, datatype, dest, sendtag, source,
                        recvtag, comm, status);
}
API_ALIAS(MPI_Sendrecv_replace);

int PMPI_Isendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag,
                           int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
    return ireplace_call("MPI_Isendrecv_replace", buf, count, datatype, dest, sendtag, source,
                         recvtag, comm, request);
}
API_ALIAS(MPI_Isendrecv_replace);

int PMPI_Sendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                    int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                    int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    return sendrecv_call("MPI_Sendrecv_c", EXCHANGE, status);
}
API_ALIAS(MPI_Sendrecv_c);

int PMPI_Isendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                     int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                     int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
    return isendrecv_call("MPI_Isendrecv_c", EXCHANGE, request);
}
API_ALIAS(MPI_Isendrecv_c);

int PMPI_Sendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                            int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    return replace_call("MPI_Sendrecv_replace_c", buf, count, datatype, dest, sendtag, source,
                        recvtag, comm, status);
}
API_ALIAS(MPI_Sendrecv_replace_c);

int PMPI_Isendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                             int sendtag, int source, int recvtag, MPI_Comm comm,
                             MPI_Request *request)
{
    return ireplace_call("MPI_Isendrecv_replace_c", buf, count, datatype, dest, sendtag, source,
                         recvtag, comm, request);
}
API_ALIAS(MPI_Isendrecv_replace_c);
