/* ends.h - the arguments of a send or receive, checked and resolved; private to api/p2p/. */
#ifndef API_P2P_ENDS_H
#define API_P2P_ENDS_H

#include "api/api.h"
#include "dt/dt.h"

/* What a send or receive refers to, checked and resolved. */
struct ends {
    struct comm *c;
    struct dt_type *t;
};

/* In a function that is inlined into an MPI function: where the program has called that. */
#define SITE __builtin_return_address(0)

/* Watchers hear of a send before it begins (watched.c). */
void api_watch_send(const char *call, const void *buf, MPI_Count count, MPI_Datatype type, int dest,
                    int tag, MPI_Comm comm, const void *site) __attribute__((cold));

/* Watchers hear of a receive, and what it has written: up to `status` says, of count elements. */
void api_watch_received(struct comm *c, void *buf, MPI_Count count, const struct dt_type *t,
                        const MPI_Status *status, const void *site) __attribute__((cold));
/* Watchers hear of a buffer that r uses, and of one more, which may have no elements. */
void api_watch_uses(struct request *r, struct watch_buffer a, struct watch_buffer b,
                    const void *site) __attribute__((cold));

/* Fast check without a call: valid and ordinary arguments. Otherwise the checks below find the
 * reason, one by one. */
static inline __attribute__((always_inline)) int plain(struct ends *e, const void *buf,
                                                       MPI_Count count, MPI_Datatype type, int peer,
                                                       int tag, MPI_Comm comm)
{
    e->c = obj_find(OBJ_COMM, comm);
    e->t = dt_find(type);
    if (!e->c || !e->t || !e->t->holders || !(e->t->flags & DT_COMMITTED))
        return 0;
    return buf && count >= 0 && tag >= 0 && peer >= 0 && peer < comm_peer_size(e->c);
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

/* What watchers hear of a buffer of a message; with MPI_PROC_NULL it is not touched. */
#define BUFFER_OF(at, n, type, peer, w)                                                            \
    ((struct watch_buffer){.buf = (at), .count = (peer) == MPI_PROC_NULL ? 0 : (n), .t = (type),   \
                           .writes = (w)})
#define READS(at, n, type, peer) BUFFER_OF(at, n, type, peer, 0)
#define WRITES(at, n, type, peer) BUFFER_OF(at, n, type, peer, 1)
#define NONE ((struct watch_buffer){.count = 0})

/* With MPI_PROC_NULL it is not touched. */
static inline void watch_receives(void *buf, MPI_Count n, const struct dt_type *t, int source)
{
    if (source != MPI_PROC_NULL)
        watch_memory(buf, n, t, 1, "receive buffer");
}

static inline __attribute__((always_inline)) void enter_send(const char *call, const void *buf,
                                                             MPI_Count count, MPI_Datatype type,
                                                             int dest, int tag, MPI_Comm comm)
{
    if (API_WATCHED())
        api_watch_send(call, buf, count, type, dest, tag, comm, SITE);
    api_enter_running(call);
}

/* r is the address where a call with the same arguments leaves the request: only read here. */
static inline int publish(int err, struct request *const *r, MPI_Request *out)
{
    return err ? err : request_publish(*r, out);
}

#endif
