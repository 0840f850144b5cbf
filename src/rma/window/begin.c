/* begin.c - MPIX_Win_iallocate and MPIX_Win_icreate: a creation that goes on while the program does
 * something else. Start with begin(), then go_on().
 *
 *   NAME    the communicator of the window gets its id: a request on the user's communicator, so
 *           creations match in the order of the calls
 *   SIZE    all members' sizes and errors: a request, on the window's communicator from here on
 *   KEY     the key of the node segment; OPEN all agree that they have it
 *   TELL    records are there, REACH mappings, READY all: barriers of the members on this node
 *   AGREE   members of other nodes, too
 *
 * What is done between two waits is create.c's, segment.c's and peers.c's. A hook looks whether the
 * wait of a creation is over. It may not wait itself. Each member comes to the same steps, whatever
 * fails, as in the blocking calls. */
#include "rma/window/window_types.h"

#include <stdlib.h>

#include "coll/coll.h"
#include "obj/request.h"

enum step { NAME, SIZE, KEY, OPEN, TELL, REACH, READY, AGREE, OVER };

struct making {
    struct request r;
    struct progress_hook hook;
    struct list link;      /* rma->makings */
    struct rma_win *w;     /* NULL: no memory for it */
    struct rma_plan plan;  /* its info is a copy */
    struct comm *comm;     /* the user's; a reference */
    struct comm *own;      /* the window's, until w has it */
    enum step step;
    struct request *wait;  /* of this step; NULL: a barrier, or it could not begin */
    unsigned barrier;
    int meets;             /* the wait is the barrier */
    int err;               /* of this member so far */
    int lost;              /* a request that could not begin */
    int64_t worst;         /* class of the worst error of all members */
    struct rma_told told;
    struct rma_opening opening;
    const char *call;
    void *base;            /* a void *; NULL: MPIX_Win_icreate */
    MPI_Win *win, unseen;  /* unseen: of a creation whose request has no handle */
};

/* --- waits ------------------------------------------------------------------------------------ */

/* 1: the wait is over, with *err. */
static int is_over(struct making *m, int *err)
{
    *err = m->lost;
    m->lost = MPI_SUCCESS;
    if (m->meets && !rma_node_arrived(m->w, m->barrier, err))
        return 0;
    if (m->wait && !m->wait->done)
        return 0;
    if (m->wait)
        *err = request_finish(m->wait, MPI_STATUS_IGNORE);
    m->wait = NULL;
    m->meets = 0;
    return 1;
}

static void meet(struct making *m, enum step next)
{
    m->barrier = rma_node_arrive(m->w);
    m->meets = 1;
    m->step = next;
}

static void largest(struct making *m, int64_t *v, int n, enum step next)
{
    m->lost = coll_iallreduce(MPI_IN_PLACE, v, n, dt_find(MPI_INT64_T), dt_op_find(MPI_MAX),
                              m->own, &m->wait);
    m->step = next;
}

/* All members come to the same error class. */
static void agree(struct making *m, int err, enum step next)
{
    m->err = err;
    m->worst = err ? err_class(err) : 0;
    largest(m, &m->worst, 1, next);
}

static int agreed(struct making *m, int lost)
{
    if (m->err || lost)
        return m->err ? m->err : lost;
    return m->worst ? err_make((int)m->worst, "%s failed on another process", m->call)
                    : MPI_SUCCESS;
}

/* --- steps ------------------------------------------------------------------------------------ */

static void over(struct making *m, int err)
{
    int has = m->w && m->w->comm;
    m->err = rma_win_ready(m->w, err);
    if (!has)
        comm_drop(m->own);
    m->step = OVER;
}

/* Nothing of m may be used behind it. */
static void complete(struct making *m)
{
    progress_hook_del(&m->hook);
    list_del(&m->link);
    if (!m->err && m->base)
        *(void **)m->base = rma_win_shown(m->w);
    if (!m->err)
        *m->win = m->w->near.obj.handle;
    info_drop(m->plan.info);
    comm_drop(m->comm);
    request_complete(&m->r, m->err); /* frees it if the program has given it up */
}

/* The last agreement; members of this node have agreed already. */
static void end(struct making *m, int err)
{
    if (m->w->all_near)
        over(m, err);
    else
        agree(m, err, AGREE);
}

static void named(struct making *m, int err)
{
    if (err) {
        over(m, err);
        return;
    }
    if (m->w)
        rma_win_over(m->w, m->own);
    else
        err = err_make(MPI_ERR_NO_MEM, "%s: no memory for a window", m->call);
    m->err = rma_win_told(m->w, &m->plan, err, &m->told);
    largest(m, &m->told.error, RMA_TOLD, SIZE);
}

static void opened(struct making *m)
{
    rma_node_opened(m->w, &m->opening);
    m->err = rma_win_exposed(m->w);
    rma_node_tell(m->w, m->err);
    meet(m, TELL);
}

static void sized(struct making *m, int lost)
{
    int err = rma_win_heard(m->w, m->err, lost, &m->told);
    if (err) {
        over(m, err);
    } else if (rma_node_open_begin(m->w, (uint64_t)m->told.most, rma_kept(&m->told),
                                   &m->opening)) {
        opened(m);
    } else {
        m->lost = rma_node_key_begin(m->w, &m->opening, &m->wait);
        m->step = KEY;
    }
}

static void keyed(struct making *m, int lost)
{
    int err = rma_node_key_end(m->w, &m->opening, lost);
    if (rma_node_agrees(m->w))
        agree(m, err, OPEN);
    else if (err)
        over(m, err);
    else
        opened(m);
}

static void met(struct making *m, int err)
{
    if (!err && m->step == TELL)
        err = rma_node_reach(m->w, m->err);
    if (err || m->step == READY) {
        end(m, err);
    } else if (m->step == TELL) {
        meet(m, REACH);
    } else {
        rma_node_reached(m->w, rma_acc_hints(m->w));
        meet(m, READY);
    }
}

/* Steps whose waits are over; events. */
static int go_on(void *arg)
{
    struct making *m = arg;
    const char *call = proc->call;
    int err, events = 0;
    for (; m->step != OVER && is_over(m, &err); events++) {
        proc->call = m->call; /* that of its errors */
        switch (m->step) {
        case NAME: named(m, err); break;
        case SIZE: sized(m, err); break;
        case KEY: keyed(m, err); break;
        case OPEN:
            if ((err = agreed(m, err)) != MPI_SUCCESS)
                over(m, err);
            else
                opened(m);
            break;
        case TELL:
        case REACH:
        case READY: met(m, err); break;
        case AGREE: over(m, agreed(m, err)); break;
        case OVER: break;
        }
    }
    proc->call = call;
    if (m->step == OVER)
        complete(m);
    return events;
}

/* --- begin ------------------------------------------------------------------------------------ */

static void free_it(struct request *r)
{
    free(r);
}

static const struct request_ops ops = {.free = free_it};

static int begin(const struct rma_plan *p, struct comm *c, void *base, MPI_Win *win,
                 struct request **out)
{
    struct making *m = calloc(1, sizeof *m);
    struct comm *own = m ? comm_make(c->map, c->rank, NULL, CTX_NONE, CTX_NONE) : NULL;
    struct info *info = own ? info_copy(p->info) : NULL;
    int err = own && info ? coll_ctx_iagree(c, own, &m->wait)
                          : err_make(MPI_ERR_NO_MEM, "%s: no memory for a request", rma_call());
    if (err) {
        info_drop(info);
        comm_drop(own);
        free(m);
        return err;
    }
    request_init(&m->r, REQUEST_COLL, &ops, c);
    m->r.what = "a window that is being made";
    m->w = rma_win_blank(p->flavor, p->base, p->size, p->disp_unit);
    if (m->w)
        m->w->mem.stays = 1;
    m->plan = *p;
    m->plan.info = info;
    m->comm = comm_ref(c);
    m->own = own;
    own->maker = c; /* whose revocation ends what goes on over own */
    m->call = rma_call();
    m->base = base;
    m->win = win;
    m->hook.fn = go_on;
    m->hook.arg = m;
    progress_hook_add(&m->hook);
    list_push(&rma_self()->makings, &m->link);
    *out = &m->r;
    return MPI_SUCCESS;
}

int rma_win_refused(struct comm *c, int err, struct request **out)
{
    struct making *m = calloc(1, sizeof *m);
    if (!m)
        return err;
    request_init(&m->r, REQUEST_COLL, &ops, c);
    request_complete(&m->r, err);
    *out = &m->r;
    return MPI_SUCCESS;
}

void rma_win_forget(struct request *r)
{
    struct making *m = (struct making *)r;
    m->base = NULL;
    m->win = &m->unseen;
    request_release(r);
}

void rma_makings_end(void)
{
    struct list *l;
    while ((l = list_pop(&rma_self()->makings)) != NULL)
        progress_hook_del(&LIST_OBJ(l, struct making, link)->hook);
}

int rma_win_iallocate(MPI_Aint size, MPI_Aint disp_unit, struct info *info, struct comm *c,
                      void *base_out, MPI_Win *win, struct request **out)
{
    struct rma_plan p = {NULL, MPI_WIN_FLAVOR_ALLOCATE, NULL, size, disp_unit, info};
    return begin(&p, c, base_out, win, out);
}

int rma_win_icreate(void *base, MPI_Aint size, MPI_Aint disp_unit, struct info *info,
                    struct comm *c, MPI_Win *win, struct request **out)
{
    struct rma_plan p = {NULL, MPI_WIN_FLAVOR_CREATE, base, size, disp_unit, info};
    return begin(&p, c, NULL, win, out);
}
