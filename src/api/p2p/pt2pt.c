/* pt2pt.c - point-to-point calls (MPI-3.1 chapter 3). Counts arrive as MPI_Count; the _c forms
 * share everything. Start with send_call() and recv_call(). */
#include "api/p2p/ends.h"

#include <limits.h>
#include <stdlib.h>

#include "base/bare.h"
#include "dt/dt.h"
#include "p2p/p2p.h"

static inline __attribute__((always_inline)) void enter_send(const char *call, const void *buf,
                                                             MPI_Count count, MPI_Datatype type,
                                                             int dest, int tag, MPI_Comm comm)
{
    if (API_WATCHED())
        api_watch_send(call, buf, count, type, dest, tag, comm, SITE);
    api_enter_running(call);
}

/* r is the address where a call with the same arguments leaves the request: only read here. */
static int publish(int err, struct request *const *r, MPI_Request *out)
{
    return err ? err : request_publish(*r, out);
}

static inline __attribute__((always_inline)) int send_call(const char *call, const void *buf,
                                                           MPI_Count count, MPI_Datatype type,
                                                           int dest, int tag, MPI_Comm comm,
                                                           int mode)
{
    struct ends e;
    enter_send(call, buf, count, type, dest, tag, comm);
    int err = send_args(&e, buf, count, type, dest, tag, comm);
    if (!err)
        err = p2p_send(buf, count, e.t, dest, tag, e.c, mode);
    return api_exit(comm, err);
}

static inline __attribute__((always_inline)) int isend_call(const char *call, const void *buf,
                                                            MPI_Count count, MPI_Datatype type,
                                                            int dest, int tag, MPI_Comm comm,
                                                            int mode, MPI_Request *request)
{
    struct ends e;
    struct request *r = NULL;
    enter_send(call, buf, count, type, dest, tag, comm);
    int err = api_pointer(request, "request");
    if (!err)
        err = send_args(&e, buf, count, type, dest, tag, comm);
    if (!err)
        err = publish(p2p_isend(buf, count, e.t, dest, tag, e.c, mode, &r), &r, request);
    return api_exit_begun(comm, err, request);
}

static int send_init_call(const char *call, const void *buf, MPI_Count count, MPI_Datatype type,
                          int dest, int tag, MPI_Comm comm, int mode, MPI_Request *request)
{
    struct ends e;
    struct request *r = NULL;
    api_enter(call);
    int err = api_pointer(request, "request");
    if (!err)
        err = send_args(&e, buf, count, type, dest, tag, comm);
    if (!err)
        err = publish(p2p_send_init(buf, count, e.t, dest, tag, e.c, mode, &r), &r, request);
    if (!err)
        watch_send_prepared(r, e.c, dest);
    return api_exit_begun(comm, err, request);
}

static int recv_told(void *buf, MPI_Count count, struct ends *e, int source, int tag,
                     const void *site, MPI_Status *status)
{
    struct p2p_took took;
    int known, err = p2p_recv_took(buf, count, e->t, source, tag, e->c, site, status, &took,
                                   &known);
    if (known)
        watch_took(e->c, &took);
    if (!err)
        watch_received(e->c, status->MPI_SOURCE);
    return err;
}

/* watch: NULL, a constant, or where a checker looks on: the place of the call. */
static inline __attribute__((always_inline)) int recv_body(void *buf, MPI_Count count,
                                                           MPI_Datatype type,
                                                           int source, int tag, MPI_Comm comm,
                                                           MPI_Status *status, const void *watch)
{
    struct ends e;
    MPI_Status mine;
    int err = recv_args(&e, buf, count, type, source, tag, comm);
    if (!err)
        err = api_pointer(status, "status");
    if (watch && status == MPI_STATUS_IGNORE)
        status = &mine;
    if (watch && !err)
        err = recv_told(buf, count, &e, source, tag, watch, status);
    else if (!err)
        err = p2p_recv(buf, count, e.t, source, tag, e.c, 0, status);
    return api_exit(comm, err);
}

static __attribute__((cold, noinline)) int recv_watched(const char *call, void *buf,
                                                        MPI_Count count, MPI_Datatype type,
                                                        int source, int tag, MPI_Comm comm,
                                                        MPI_Status *status, const void *site)
{
    api_enter(call);
    return recv_body(buf, count, type, source, tag, comm, status, site);
}

static inline __attribute__((always_inline)) int recv_call(const char *call, void *buf,
                                                           MPI_Count count, MPI_Datatype type,
                                                           int source, int tag, MPI_Comm comm,
                                                           MPI_Status *status)
{
    if (API_WATCHED())
        return recv_watched(call, buf, count, type, source, tag, comm, status, SITE);
    api_enter_running(call);
    return recv_body(buf, count, type, source, tag, comm, status, NULL);
}

static inline __attribute__((always_inline)) int irecv_body(void *buf,
                                                            MPI_Count count, MPI_Datatype type,
                                                            int source, int tag, MPI_Comm comm,
                                                            MPI_Request *request,
                                                            const void *watch)
{
    struct ends e;
    struct request *r = NULL;
    int err = api_pointer(request, "request");
    if (!err)
        err = recv_args(&e, buf, count, type, source, tag, comm);
    if (!err)
        err = publish(p2p_irecv(buf, count, e.t, source, tag, e.c, 0, &r), &r, request);
    if (watch && !err) {
        watch_recv_begun(r);
        p2p_tell(r, watch);
    }
    return api_exit_begun(comm, err, request);
}

static __attribute__((cold, noinline)) int irecv_watched(const char *call, void *buf,
                                                         MPI_Count count, MPI_Datatype type,
                                                         int source, int tag, MPI_Comm comm,
                                                         MPI_Request *request, const void *site)
{
    api_enter(call);
    return irecv_body(buf, count, type, source, tag, comm, request, site);
}

static inline __attribute__((always_inline)) int irecv_call(const char *call, void *buf,
                                                            MPI_Count count, MPI_Datatype type,
                                                            int source, int tag, MPI_Comm comm,
                                                            MPI_Request *request)
{
    if (API_WATCHED())
        return irecv_watched(call, buf, count, type, source, tag, comm, request, SITE);
    api_enter_running(call);
    return irecv_body(buf, count, type, source, tag, comm, request, NULL);
}

static int recv_init_call(const char *call, void *buf, MPI_Count count, MPI_Datatype type,
                          int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    struct ends e;
    struct request *r = NULL;
    api_enter(call);
    int err = api_pointer(request, "request");
    if (!err)
        err = recv_args(&e, buf, count, type, source, tag, comm);
    if (!err)
        err = publish(p2p_recv_init(buf, count, e.t, source, tag, e.c, 0, &r), &r, request);
    if (!err)
        watch_recv_begun(r);
    return api_exit_begun(comm, err, request);
}

BARE int PMPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                   MPI_Comm comm);
int PMPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return send_call("MPI_Send", buf, count, datatype, dest, tag, comm, P2P_STANDARD);
}
API_ALIAS(MPI_Send);

int PMPI_Bsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return send_call("MPI_Bsend", buf, count, datatype, dest, tag, comm, P2P_BUFFERED);
}
API_ALIAS(MPI_Bsend);

int PMPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return send_call("MPI_Ssend", buf, count, datatype, dest, tag, comm, P2P_SYNC);
}
API_ALIAS(MPI_Ssend);

int PMPI_Rsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return send_call("MPI_Rsend", buf, count, datatype, dest, tag, comm, P2P_READY);
}
API_ALIAS(MPI_Rsend);

BARE int PMPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request *request);
int PMPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    return isend_call("MPI_Isend", buf, count, datatype, dest, tag, comm, P2P_STANDARD, request);
}
API_ALIAS(MPI_Isend);

BARE int PMPI_Ibsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request *request);
int PMPI_Ibsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    return isend_call("MPI_Ibsend", buf, count, datatype, dest, tag, comm, P2P_BUFFERED, request);
}
API_ALIAS(MPI_Ibsend);

BARE int PMPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request *request);
int PMPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    return isend_call("MPI_Issend", buf, count, datatype, dest, tag, comm, P2P_SYNC, request);
}
API_ALIAS(MPI_Issend);

BARE int PMPI_Irsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request *request);
int PMPI_Irsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    return isend_call("MPI_Irsend", buf, count, datatype, dest, tag, comm, P2P_READY, request);
}
API_ALIAS(MPI_Irsend);

int PMPI_Send_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                   MPI_Comm comm, MPI_Request *request)
{
    return send_init_call("MPI_Send_init", buf, count, datatype, dest, tag, comm, P2P_STANDARD,
                          request);
}
API_ALIAS(MPI_Send_init);

int PMPI_Bsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request *request)
{
    return send_init_call("MPI_Bsend_init", buf, count, datatype, dest, tag, comm, P2P_BUFFERED,
                          request);
}
API_ALIAS(MPI_Bsend_init);

int PMPI_Ssend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request *request)
{
    return send_init_call("MPI_Ssend_init", buf, count, datatype, dest, tag, comm, P2P_SYNC,
                          request);
}
API_ALIAS(MPI_Ssend_init);

int PMPI_Rsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request *request)
{
    return send_init_call("MPI_Rsend_init", buf, count, datatype, dest, tag, comm, P2P_READY,
                          request);
}
API_ALIAS(MPI_Rsend_init);

BARE int PMPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag,
                   MPI_Comm comm, MPI_Status *status);
int PMPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Status *status)
{
    return recv_call("MPI_Recv", buf, count, datatype, source, tag, comm, status);
}
API_ALIAS(MPI_Recv);

BARE int PMPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                    MPI_Request *request);
int PMPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    return irecv_call("MPI_Irecv", buf, count, datatype, source, tag, comm, request);
}
API_ALIAS(MPI_Irecv);

int PMPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                   MPI_Request *request)
{
    return recv_init_call("MPI_Recv_init", buf, count, datatype, source, tag, comm, request);
}
API_ALIAS(MPI_Recv_init);

int PMPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                MPI_Comm comm)
{
    return send_call("MPI_Send_c", buf, count, datatype, dest, tag, comm, P2P_STANDARD);
}
API_ALIAS(MPI_Send_c);

int PMPI_Bsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm)
{
    return send_call("MPI_Bsend_c", buf, count, datatype, dest, tag, comm, P2P_BUFFERED);
}
API_ALIAS(MPI_Bsend_c);

int PMPI_Ssend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm)
{
    return send_call("MPI_Ssend_c", buf, count, datatype, dest, tag, comm, P2P_SYNC);
}
API_ALIAS(MPI_Ssend_c);

int PMPI_Rsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm)
{
    return send_call("MPI_Rsend_c", buf, count, datatype, dest, tag, comm, P2P_READY);
}
API_ALIAS(MPI_Rsend_c);

BARE int PMPI_Isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request *request);
int PMPI_Isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm, MPI_Request *request)
{
    return isend_call("MPI_Isend_c", buf, count, datatype, dest, tag, comm, P2P_STANDARD, request);
}
API_ALIAS(MPI_Isend_c);

BARE int PMPI_Ibsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                       MPI_Comm comm, MPI_Request *request);
int PMPI_Ibsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    return isend_call("MPI_Ibsend_c", buf, count, datatype, dest, tag, comm, P2P_BUFFERED, request);
}
API_ALIAS(MPI_Ibsend_c);

BARE int PMPI_Issend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                       MPI_Comm comm, MPI_Request *request);
int PMPI_Issend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    return isend_call("MPI_Issend_c", buf, count, datatype, dest, tag, comm, P2P_SYNC, request);
}
API_ALIAS(MPI_Issend_c);

BARE int PMPI_Irsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                       MPI_Comm comm, MPI_Request *request);
int PMPI_Irsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    return isend_call("MPI_Irsend_c", buf, count, datatype, dest, tag, comm, P2P_READY, request);
}
API_ALIAS(MPI_Irsend_c);

int PMPI_Send_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    return send_init_call("MPI_Send_init_c", buf, count, datatype, dest, tag, comm, P2P_STANDARD,
                          request);
}
API_ALIAS(MPI_Send_init_c);

int PMPI_Bsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request *request)
{
    return send_init_call("MPI_Bsend_init_c", buf, count, datatype, dest, tag, comm, P2P_BUFFERED,
                          request);
}
API_ALIAS(MPI_Bsend_init_c);

int PMPI_Ssend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request *request)
{
    return send_init_call("MPI_Ssend_init_c", buf, count, datatype, dest, tag, comm, P2P_SYNC,
                          request);
}
API_ALIAS(MPI_Ssend_init_c);

int PMPI_Rsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request *request)
{
    return send_init_call("MPI_Rsend_init_c", buf, count, datatype, dest, tag, comm, P2P_READY,
                          request);
}
API_ALIAS(MPI_Rsend_init_c);

int PMPI_Recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                MPI_Comm comm, MPI_Status *status)
{
    return recv_call("MPI_Recv_c", buf, count, datatype, source, tag, comm, status);
}
API_ALIAS(MPI_Recv_c);

BARE int PMPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                      MPI_Comm comm, MPI_Request *request);
int PMPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                 MPI_Comm comm, MPI_Request *request)
{
    return irecv_call("MPI_Irecv_c", buf, count, datatype, source, tag, comm, request);
}
API_ALIAS(MPI_Irecv_c);

int PMPI_Recv_init_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    return recv_init_call("MPI_Recv_init_c", buf, count, datatype, source, tag, comm, request);
}
API_ALIAS(MPI_Recv_init_c);

/* --- both ways at once ------------------------------------------------------------- */

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

static inline __attribute__((always_inline)) int
sendrecv_call(const char *call, struct exchange x, MPI_Status *status)
{
    MPI_Status mine;
    enter_send(call, x.sbuf, x.scount, x.stype, x.dest, x.stag, x.comm);
    int err = exchange_args(&x);
    int watched = watch_wants(WATCH_MESSAGES);
    if (watched && status == MPI_STATUS_IGNORE)
        status = &mine;
    if (!err && watched)
        err = p2p_sendrecv_told(x.sbuf, x.scount, x.s.t, x.dest, x.stag, x.rbuf, x.rcount, x.r.t,
                                x.source, x.rtag, x.s.c, SITE, status);
    else if (!err)
        err = p2p_sendrecv(x.sbuf, x.scount, x.s.t, x.dest, x.stag, x.rbuf, x.rcount, x.r.t,
                           x.source, x.rtag, x.s.c, 0, status);
    if (watched && !err)
        watch_received(x.s.c, status->MPI_SOURCE);
    return api_exit(x.comm, err);
}

static inline __attribute__((always_inline)) int
isendrecv_call(const char *call, struct exchange x, MPI_Request *request)
{
    struct request *r = NULL;
    enter_send(call, x.sbuf, x.scount, x.stype, x.dest, x.stag, x.comm);
    int err = api_pointer(request, "request");
    if (!err)
        err = exchange_args(&x);
    if (!err)
        err = publish(p2p_isendrecv(x.sbuf, x.scount, x.s.t, x.dest, x.stag, x.rbuf, x.rcount,
                                    x.r.t, x.source, x.rtag, x.s.c, 0, &r),
                      &r, request);
    if (watch_wants(WATCH_MESSAGES) && !err)
        watch_recv_begun(r);
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
    enter_send(call, buf, count, type, dest, stag, comm);
    int watched = watch_wants(WATCH_MESSAGES);
    if (watched && status == MPI_STATUS_IGNORE)
        status = &mine;
    int err = send_args(&s, buf, count, type, dest, stag, comm);
    if (!err)
        err = recv_args(&e, buf, count, type, source, rtag, comm);
    if (!err)
        err = dt_total(s.t, (size_t)count, &bytes);
    if (!err && !(packed = malloc(bytes ? bytes : 1)))
        err = err_make(MPI_ERR_NO_MEM, "%s: no memory for a copy of %zu bytes", call, bytes);
    if (!err) {
        dt_pack(s.t, (size_t)count, buf, 0, packed, bytes);
        err = watched ? p2p_sendrecv_told(packed, (MPI_Aint)bytes, dt_find(MPI_BYTE), dest, stag,
                                          buf, count, e.t, source, rtag, s.c, SITE, status)
                      : p2p_sendrecv(packed, (MPI_Aint)bytes, dt_find(MPI_BYTE), dest, stag, buf,
                                     count, e.t, source, rtag, s.c, 0, status);
    }
    free(packed);
    if (watched && !err)
        watch_received(s.c, status->MPI_SOURCE);
    return api_exit(comm, err);
}

static inline __attribute__((always_inline)) int
ireplace_call(const char *call, void *buf, MPI_Count count, MPI_Datatype type, int dest,
                         int stag, int source, int rtag, MPI_Comm comm, MPI_Request *request)
{
    struct ends s, e;
    struct request *r = NULL;
    enter_send(call, buf, count, type, dest, stag, comm);
    int err = api_pointer(request, "request");
    if (!err)
        err = send_args(&s, buf, count, type, dest, stag, comm);
    if (!err)
        err = recv_args(&e, buf, count, type, source, rtag, comm);
    if (!err)
        err = publish(
            p2p_isendrecv(buf, count, s.t, dest, stag, buf, count, e.t, source, rtag, s.c, 1, &r),
            &r, request);
    if (watch_wants(WATCH_MESSAGES) && !err)
        watch_recv_begun(r);
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
