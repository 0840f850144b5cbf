/* probe.c - probes: looking at unexpected messages, and taking one out of matching. Start with
 * p2p_probe(). */
#include <stdlib.h>

#include "obj/continue.h"
#include "obj/err.h"
#include "obj/failed.h"
#include "p2p/p2p_types.h"
#include "p2p/refuse.h"

struct p2p_message {
    struct request r; /* REQUEST_MESSAGE; r.comm is the communicator it came on */
    struct p2p_unex *u;
};

struct search {
    uint32_t ctx;
    uint32_t src;
    int tag;
    int world; /* -1: any */
    struct comm *comm;
    uint64_t seen; /* arrivals when looked at last */
    struct p2p_unex *found;
    int dead; /* process whose failure ends it; -1: none */
    int interrupted; /* the wait is: functions of continuations are to run */
};

static int look(struct search *l)
{
    l->seen = proc->p2p->arrivals;
    l->found = match_find(l->ctx, l->src, l->tag);
    return l->found != NULL;
}

static int look_for_death(struct search *l)
{
    if (__builtin_expect(am_failed_count() != 0, 0))
        l->dead = l->world < 0 ? comm_unacked(l->comm) : am_failed(l->world) ? l->world : -1;
    return l->dead >= 0;
}

static int look_again(void *arg)
{
    struct search *l = arg;
    if (l->seen != proc->p2p->arrivals && look(l))
        return 1;
    /* Another thread may have taken what was found. */
    if (look_for_death(l) || l->comm->revoked)
        return 1;
    l->interrupted = continue_interrupts(NULL, 0);
    return l->interrupted;
}

static void wait_for_message(struct search *l)
{
    for (;;) {
        progress_wait_why(look_again, l, "a message to probe", l->world, WHY_MESSAGE, NULL);
        if (!l->interrupted)
            return;
        l->interrupted = 0;
        continue_run(NULL, 0);
    }
}

int probe_awaits(int (*cond)(void *), void *arg, struct p2p_awaited *out)
{
    const struct search *l = arg;
    if (cond != look_again)
        return -1;
    int any = (l->src & proc->p2p->ranks) == ((uint32_t)MPI_ANY_SOURCE & proc->p2p->ranks);
    *out = (struct p2p_awaited){.world = l->world, .is_probe = 1, .tag = l->tag, .comm = l->comm,
                                .rank = any ? MPI_ANY_SOURCE : p2p_rank(l->src)};
    return 1;
}

static void message_free(struct request *r)
{
    struct p2p_message *m = (struct p2p_message *)r;
    if (m->u)
        recv_drop(m->u); /* not received: freed with its handle */
    free(m);
}

static const struct request_ops message_ops = {.free = message_free};

static int message_make(struct p2p_unex *u, struct comm *c, struct request **out)
{
    struct p2p_message *m = malloc(sizeof *m);
    if (!m)
        return err_make(MPI_ERR_NO_MEM, "MPI_Mprobe: no memory for the message object");
    request_init(&m->r, REQUEST_MESSAGE, &message_ops, c);
    m->r.done = 1;
    m->u = u;
    match_take(u);
    *out = &m->r;
    return MPI_SUCCESS;
}

int p2p_probe(int source, int tag, struct comm *c, int *flag, struct request **message,
              MPI_Status *status)
{
    int keep = status && status != MPI_STATUS_IGNORE;
    progress_glance();
    if (source == MPI_PROC_NULL) {
        if (keep) {
            int error = status->MPI_ERROR; /* this call must not set it (MPI-3.1 3.2.5) */
            status_proc_null(status);
            status->MPI_ERROR = error;
        }
        if (flag)
            *flag = 1;
        if (message)
            *message = NULL;
        return MPI_SUCCESS;
    }
    struct search l = {.ctx = c->ctx_recv, .src = p2p_from(c, source), .tag = tag, .comm = c,
                     .dead = -1,
                     .world = source < 0 ? -1 : comm_peer_world(c, source)};
    if (!look(&l)) {
        if (flag)
            progress_test();
        else
            wait_for_message(&l);
        if (flag && !look(&l) && !look_for_death(&l)) {
            *flag = 0;
            return MPI_SUCCESS;
        }
    }
    if (!l.found && l.dead < 0)
        return comm_revoked_error();
    if (!l.found)
        return err_make(MPIX_ERR_PROC_FAILED, "probe: process %d of the job has died: %s%s", l.dead,
                        boot_failed_why(l.dead), p2p_until_ack(l.world < 0));
    if (flag)
        *flag = 1;
    if (keep) {
        status->MPI_SOURCE = p2p_rank(l.found->m.src);
        status->MPI_TAG = l.found->m.tag;
        status->count_hi_and_cancelled = 0;
        status_set_count(status, (int64_t)l.found->size);
    }
    return message ? message_make(l.found, c, message) : MPI_SUCCESS;
}

static struct p2p_unex *open_message(struct request *message)
{
    struct p2p_unex *u = ((struct p2p_message *)message)->u;
    ((struct p2p_message *)message)->u = NULL;
    request_release(message);
    return u;
}

struct p2p_unex *probe_empty(struct request *r)
{
    struct p2p_message *m = (struct p2p_message *)r;
    struct p2p_unex *u = request_is(r, &message_ops) ? m->u : NULL;
    if (u)
        m->u = NULL;
    return u;
}

/* A receive that is matched already: not posted, it takes the message in begin. */
int p2p_imrecv(void *buf, MPI_Aint count, struct dt_type *t, struct request *message,
               struct request **out)
{
    struct comm *c = message ? message->comm : proc->obj->world;
    struct p2p_req *q;
    if (message && c->revoked) { /* it is empty */
        request_release(message);
        return comm_revoked_error();
    }
    int err = recv_make(buf, count, t, c, &q);
    if (err)
        return err;
    if (message)
        recv_consume(q, open_message(message));
    else
        recv_begin(q); /* from no process */
    *out = &q->r;
    return MPI_SUCCESS;
}

int p2p_mrecv(void *buf, MPI_Aint count, struct dt_type *t, struct request *message,
              const void *site, MPI_Status *status)
{
    struct request *r;
    int err = p2p_imrecv(buf, count, t, message, &r);
    if (err)
        return err;
    if (site)
        p2p_tell(r, site);
    request_wait(r);
    return request_finish(r, status);
}
