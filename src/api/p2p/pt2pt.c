/* pt2pt.c - point-to-point calls (MPI-3.1 chapter 3). Counts arrive as MPI_Count; the _c forms
 * share everything. */
#include "api/api.h"

#include <limits.h>
#include <stdlib.h>

#include "base/bare.h"
#include "dt/dt.h"
#include "p2p/p2p.h"

/* What a send or receive refers to, checked and resolved. */
struct ends {
    struct comm *c;
    struct dt_type *t;
};

/* Fast check without a call: valid and ordinary arguments. Otherwise the checks below find the
 * reason, one by one. */
static inline __attribute__((always_inline)) int plain(struct ends *e, const void *buf,
                                                       MPI_Count count, MPI_Datatype type, int peer,
                                                       int tag, MPI_Comm comm)
{
    e->c = obj_find(OBJ_COMM, comm);
    e->t = dt_find(type);
    return e->c && e->t && e->t->holders && (e->t->flags & DT_COMMITTED) && buf && count >= 0 &&
           tag >= 0 && peer >= 0 && peer < comm_peer_size(e->c);
}

static int send_checks(struct ends *e, const void *buf, MPI_Count count, MPI_Datatype type,
                       int dest, int tag, MPI_Comm comm)
{
    int err = api_comm(comm, &e->c);
    if (!err)
        err = api_count(count);
    if (!err)
        err = api_type_committed(type, &e->t);
    if (!err)
        err = api_rank(dest, comm_peer_size(e->c), API_PROC_NULL);
    if (!err)
        err = api_tag(tag, 0);
    return err ? err : api_buffer(buf, count, e->t);
}

static inline __attribute__((always_inline)) int send_args(struct ends *e, const void *buf,
                                                           MPI_Count count, MPI_Datatype type,
                                                           int dest, int tag, MPI_Comm comm)
{
    int fine = plain(e, buf, count, type, dest, tag, comm);
    return __builtin_expect(fine, 1) ? MPI_SUCCESS
                                     : send_checks(e, buf, count, type, dest, tag, comm);
}

static int recv_checks(struct ends *e, const void *buf, MPI_Count count, MPI_Datatype type,
                       int source, int tag, MPI_Comm comm)
{
    int err = api_comm(comm, &e->c);
    if (!err)
        err = api_count(count);
    if (!err)
        err = api_type_committed(type, &e->t);
    if (!err)
        err = api_rank(source, comm_peer_size(e->c), API_PROC_NULL | API_ANY_SOURCE);
    if (!err)
        err = api_tag(tag, 1);
    return err ? err : api_buffer(buf, count, e->t);
}

static inline __attribute__((always_inline)) int recv_args(struct ends *e, const void *buf,
                                                           MPI_Count count, MPI_Datatype type,
                                                           int source, int tag, MPI_Comm comm)
{
    int fine = plain(e, buf, count, type, source, tag, comm);
    return __builtin_expect(fine, 1) ? MPI_SUCCESS
                                     : recv_checks(e, buf, count, type, source, tag, comm);
}

/* r is the address where a call with the same arguments leaves the request: only read here. */
static int publish(int err, struct request *const *r, MPI_Request *out)
{
    if (err) {
        *out = MPI_REQUEST_NULL;
        return err;
    }
    return request_publish(*r, out);
}

static inline __attribute__((always_inline)) int send_call(const char *call, const void *buf,
                                                           MPI_Count count, MPI_Datatype type,
                                                           int dest, int tag, MPI_Comm comm,
                                                           int mode)
{
    struct ends e;
    api_enter(call);
    int err = send_args(&e, buf, count, type, dest, tag, comm);
    if (!err)
        err = p2p_send(buf, count, e.t, dest, tag, e.c, mode);
    return api_exit(comm, err);
}

static BARE int isend_call(const char *call, const void *buf, MPI_Count count, MPI_Datatype type,
                           int dest, int tag, MPI_Comm comm, int mode, MPI_Request *request)
{
    struct ends e;
    struct request *r = NULL;
    api_enter(call);
    int err = api_pointer(request, "request");
    if (!err)
        err = send_args(&e, buf, count, type, dest, tag, comm);
    if (!err)
        err = publish(p2p_isend(buf, count, e.t, dest, tag, e.c, mode, &r), &r, request);
    return api_exit(comm, err);
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
    return api_exit(comm, err);
}

static inline __attribute__((always_inline)) int recv_call(const char *call, void *buf,
                                                           MPI_Count count, MPI_Datatype type,
                                                           int source, int tag, MPI_Comm comm,
                                                           MPI_Status *status)
{
    struct ends e;
    api_enter(call);
    int err = recv_args(&e, buf, count, type, source, tag, comm);
    if (!err)
        err = api_pointer(status, "status");
    if (!err)
        err = p2p_recv(buf, count, e.t, source, tag, e.c, 0, status);
    return api_exit(comm, err);
}

static BARE int irecv_call(const char *call, void *buf, MPI_Count count, MPI_Datatype type,
                           int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    struct ends e;
    struct request *r = NULL;
    api_enter(call);
    int err = api_pointer(request, "request");
    if (!err)
        err = recv_args(&e, buf, count, type, source, tag, comm);
    if (!err)
        err = publish(p2p_irecv(buf, count, e.t, source, tag, e.c, 0, &r), &r, request);
    return api_exit(comm, err);
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
    return api_exit(comm, err);
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

int PMPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    return isend_call("MPI_Isend", buf, count, datatype, dest, tag, comm, P2P_STANDARD, request);
}
API_ALIAS(MPI_Isend);

int PMPI_Ibsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    return isend_call("MPI_Ibsend", buf, count, datatype, dest, tag, comm, P2P_BUFFERED, request);
}
API_ALIAS(MPI_Ibsend);

int PMPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    return isend_call("MPI_Issend", buf, count, datatype, dest, tag, comm, P2P_SYNC, request);
}
API_ALIAS(MPI_Issend);

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

int PMPI_Isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm, MPI_Request *request)
{
    return isend_call("MPI_Isend_c", buf, count, datatype, dest, tag, comm, P2P_STANDARD, request);
}
API_ALIAS(MPI_Isend_c);

int PMPI_Ibsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    return isend_call("MPI_Ibsend_c", buf, count, datatype, dest, tag, comm, P2P_BUFFERED, request);
}
API_ALIAS(MPI_Ibsend_c);

int PMPI_Issend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    return isend_call("MPI_Issend_c", buf, count, datatype, dest, tag, comm, P2P_SYNC, request);
}
API_ALIAS(MPI_Issend_c);

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

static int sendrecv_call(const char *call, struct exchange x, MPI_Status *status)
{
    api_enter(call);
    int err = exchange_args(&x);
    if (!err)
        err = p2p_sendrecv(x.sbuf, x.scount, x.s.t, x.dest, x.stag, x.rbuf, x.rcount, x.r.t,
                           x.source, x.rtag, x.s.c, 0, status);
    return api_exit(x.comm, err);
}

static int isendrecv_call(const char *call, struct exchange x, MPI_Request *request)
{
    struct request *r = NULL;
    api_enter(call);
    int err = api_pointer(request, "request");
    if (!err)
        err = exchange_args(&x);
    if (!err)
        err = publish(p2p_isendrecv(x.sbuf, x.scount, x.s.t, x.dest, x.stag, x.rbuf, x.rcount,
                                    x.r.t, x.source, x.rtag, x.s.c, 0, &r),
                      &r, request);
    return api_exit(x.comm, err);
}

/* The outgoing data are packed aside, so that the buffer can be received into. */
static int replace_call(const char *call, void *buf, MPI_Count count, MPI_Datatype type, int dest,
                        int stag, int source, int rtag, MPI_Comm comm, MPI_Status *status)
{
    struct ends s, e;
    size_t bytes;
    void *packed = NULL;
    api_enter(call);
    int err = send_args(&s, buf, count, type, dest, stag, comm);
    if (!err)
        err = recv_args(&e, buf, count, type, source, rtag, comm);
    if (!err)
        err = dt_total(s.t, (size_t)count, &bytes);
    if (!err && !(packed = malloc(bytes ? bytes : 1)))
        err = err_make(MPI_ERR_NO_MEM, "%s: no memory for a copy of %zu bytes", call, bytes);
    if (!err) {
        dt_pack(s.t, (size_t)count, buf, 0, packed, bytes);
        err = p2p_sendrecv(packed, (MPI_Aint)bytes, dt_find(MPI_BYTE), dest, stag, buf, count, e.t,
                           source, rtag, s.c, 0, status);
    }
    free(packed);
    return api_exit(comm, err);
}

static int ireplace_call(const char *call, void *buf, MPI_Count count, MPI_Datatype type, int dest,
                         int stag, int source, int rtag, MPI_Comm comm, MPI_Request *request)
{
    struct ends s, e;
    struct request *r = NULL;
    api_enter(call);
    int err = api_pointer(request, "request");
    if (!err)
        err = send_args(&s, buf, count, type, dest, stag, comm);
    if (!err)
        err = recv_args(&e, buf, count, type, source, rtag, comm);
    if (!err)
        err = publish(
            p2p_isendrecv(buf, count, s.t, dest, stag, buf, count, e.t, source, rtag, s.c, 1, &r),
            &r, request);
    return api_exit(comm, err);
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
