/* pt2pt.c - point-to-point calls (MPI-3.1 chapter 3). Counts arrive as MPI_Count; the _c forms
 * share everything. Start with send_call() and recv_call(). */
#include "api/p2p/ends.h"

#include <limits.h>

#include "base/bare.h"
#include "boot/boot.h"
#include "dt/dt.h"
#include "p2p/p2p.h"
#include "var/var.h"

/* As if no message were buffered. Only where a send that waits for ever is found. */
static int watched_mode(int mode)
{
    if (mode != P2P_STANDARD || !cvar.check_sends || !cvar.coll_check)
        return mode;
    return boot_size() > 1 && proc->thread_level != MPI_THREAD_MULTIPLE ? P2P_SYNC : mode;
}

/* site: NULL, a constant, or where a checker looks on: the place of the call. */
static inline __attribute__((always_inline)) int send_body(const void *buf, MPI_Count count,
                                                           MPI_Datatype type, int dest, int tag,
                                                           MPI_Comm comm, int mode,
                                                           const void *site)
{
    struct ends e;
    struct p2p_label label;
    int err = send_args(&e, buf, count, type, dest, tag, comm);
    if (site && !err && watch_label(e.t, count, site, &label))
        err = p2p_send_labelled(buf, count, e.t, dest, tag, e.c, mode, &label);
    else if (!err)
        err = p2p_send(buf, count, e.t, dest, tag, e.c, mode);
    return api_exit(comm, err);
}

static __attribute__((cold, noinline)) int send_watched(const char *call, const void *buf,
                                                        MPI_Count count, MPI_Datatype type,
                                                        int dest, int tag, MPI_Comm comm, int mode,
                                                        const void *site)
{
    api_watch_send(call, buf, count, type, dest, tag, comm, site);
    mode = watched_mode(mode);
    api_enter_running(call);
    return send_body(buf, count, type, dest, tag, comm, mode, site);
}

static inline __attribute__((always_inline)) int send_call(const char *call, const void *buf,
                                                           MPI_Count count, MPI_Datatype type,
                                                           int dest, int tag, MPI_Comm comm,
                                                           int mode)
{
    if (API_WATCHED())
        return send_watched(call, buf, count, type, dest, tag, comm, mode, SITE);
    api_enter_running(call);
    return send_body(buf, count, type, dest, tag, comm, mode, NULL);
}

static inline __attribute__((always_inline)) int isend_body(const void *buf, MPI_Count count,
                                                            MPI_Datatype type, int dest, int tag,
                                                            MPI_Comm comm, int mode,
                                                            MPI_Request *request,
                                                            const void *site)
{
    struct ends e;
    struct request *r = NULL;
    struct p2p_label label;
    int err = api_pointer(request, "request");
    if (!err)
        err = send_args(&e, buf, count, type, dest, tag, comm);
    if (site && !err && watch_label(e.t, count, site, &label))
        err = publish(p2p_isend_labelled(buf, count, e.t, dest, tag, e.c, mode, &label, &r), &r,
                      request);
    else if (!err)
        err = publish(p2p_isend(buf, count, e.t, dest, tag, e.c, mode, &r), &r, request);
    if (site && !err)
        api_watch_uses(r, READS(buf, count, e.t, dest), NONE, site);
    return api_exit_begun(comm, err, request);
}

static __attribute__((cold, noinline)) int isend_watched(const char *call, const void *buf,
                                                         MPI_Count count, MPI_Datatype type,
                                                         int dest, int tag, MPI_Comm comm,
                                                         int mode, MPI_Request *request,
                                                         const void *site)
{
    api_watch_send(call, buf, count, type, dest, tag, comm, site);
    mode = watched_mode(mode);
    api_enter_running(call);
    return isend_body(buf, count, type, dest, tag, comm, mode, request, site);
}

static inline __attribute__((always_inline)) int isend_call(const char *call, const void *buf,
                                                            MPI_Count count, MPI_Datatype type,
                                                            int dest, int tag, MPI_Comm comm,
                                                            int mode, MPI_Request *request)
{
    if (API_WATCHED())
        return isend_watched(call, buf, count, type, dest, tag, comm, mode, request, SITE);
    api_enter_running(call);
    return isend_body(buf, count, type, dest, tag, comm, mode, request, NULL);
}

static int send_init_call(const char *call, const void *buf, MPI_Count count, MPI_Datatype type,
                          int dest, int tag, MPI_Comm comm, int mode, MPI_Request *request,
                          const void *site)
{
    struct ends e;
    struct request *r = NULL;
    struct p2p_label label;
    api_enter(call);
    int err = api_pointer(request, "request");
    if (!err)
        err = send_args(&e, buf, count, type, dest, tag, comm);
    if (!err && dest != MPI_PROC_NULL)
        watch_memory(buf, count, e.t, 0, "send buffer");
    if (!err)
        err = publish(p2p_send_init(buf, count, e.t, dest, tag, e.c, watched_mode(mode), &r), &r,
                      request);
    if (!err)
        watch_send_prepared(r, e.c, dest);
    if (!err && watch_wants(WATCH_TOLD) && watch_label(e.t, count, site, &label))
        p2p_label_starts(r, &label);
    if (!err)
        api_watch_uses(r, READS(buf, count, e.t, dest), NONE, site);
    return api_exit_begun(comm, err, request);
}

static int recv_told(void *buf, MPI_Count count, struct ends *e, int source, int tag,
                     const void *site, MPI_Status *status)
{
    struct p2p_took took;
    watch_receives(buf, count, e->t, source);
    int known, err = p2p_recv_took(buf, count, e->t, source, tag, e->c, site, status, &took,
                                   &known);
    if (known)
        watch_took(e->c, &took);
    if (!err)
        api_watch_received(e->c, buf, count, e->t, status, site);
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
    if (watch && !err)
        watch_receives(buf, count, e.t, source);
    if (!err)
        err = publish(p2p_irecv(buf, count, e.t, source, tag, e.c, 0, &r), &r, request);
    if (watch && !err) {
        watch_recv_begun(r);
        api_watch_uses(r, WRITES(buf, count, e.t, source), NONE, watch);
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
                          int source, int tag, MPI_Comm comm, MPI_Request *request,
                          const void *site)
{
    struct ends e;
    struct request *r = NULL;
    api_enter(call);
    int err = api_pointer(request, "request");
    if (!err)
        err = recv_args(&e, buf, count, type, source, tag, comm);
    if (!err)
        watch_receives(buf, count, e.t, source);
    if (!err)
        err = publish(p2p_recv_init(buf, count, e.t, source, tag, e.c, 0, &r), &r, request);
    if (!err) {
        if (watch_wants(WATCH_TOLD)) /* first: watchers put their tables over its own */
            p2p_tell(r, site);
        watch_recv_begun(r);
        api_watch_uses(r, WRITES(buf, count, e.t, source), NONE, site);
    }
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
                          request, SITE);
}
API_ALIAS(MPI_Send_init);

int PMPI_Bsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request *request)
{
    return send_init_call("MPI_Bsend_init", buf, count, datatype, dest, tag, comm, P2P_BUFFERED,
                          request, SITE);
}
API_ALIAS(MPI_Bsend_init);

int PMPI_Ssend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request *request)
{
    return send_init_call("MPI_Ssend_init", buf, count, datatype, dest, tag, comm, P2P_SYNC,
                          request, SITE);
}
API_ALIAS(MPI_Ssend_init);

int PMPI_Rsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request *request)
{
    return send_init_call("MPI_Rsend_init", buf, count, datatype, dest, tag, comm, P2P_READY,
                          request, SITE);
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
    return recv_init_call("MPI_Recv_init", buf, count, datatype, source, tag, comm, request, SITE);
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
                          request, SITE);
}
API_ALIAS(MPI_Send_init_c);

int PMPI_Bsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request *request)
{
    return send_init_call("MPI_Bsend_init_c", buf, count, datatype, dest, tag, comm, P2P_BUFFERED,
                          request, SITE);
}
API_ALIAS(MPI_Bsend_init_c);

int PMPI_Ssend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request *request)
{
    return send_init_call("MPI_Ssend_init_c", buf, count, datatype, dest, tag, comm, P2P_SYNC,
                          request, SITE);
}
API_ALIAS(MPI_Ssend_init_c);

int PMPI_Rsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request *request)
{
    return send_init_call("MPI_Rsend_init_c", buf, count, datatype, dest, tag, comm, P2P_READY,
                          request, SITE);
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
    return recv_init_call("MPI_Recv_init_c", buf, count, datatype, source, tag, comm, request,
                          SITE);
}
API_ALIAS(MPI_Recv_init_c);
