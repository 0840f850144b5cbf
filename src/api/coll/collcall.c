/* collcall.c - checks of collective calls: which arguments count depends on the root and on
 * in-place. Start with collcall_at(). */
#include "api/coll/collcall.h"

#include <string.h>

#include "api/api.h"
#include "base/log.h"
#include "base/vec.h"
#include "coll/parts.h"
#include "dt/dt.h"
#include "obj/neighbors.h"

enum side { SEND = 1, RECV = 2 };

static int has_root(enum coll_call call)
{
    return call == COLL_BCAST || call == COLL_REDUCE || call == COLL_GATHER ||
           call == COLL_GATHERV || call == COLL_SCATTER || call == COLL_SCATTERV;
}

static int from_root(enum coll_call call)
{
    return call == COLL_BCAST || call == COLL_SCATTER || call == COLL_SCATTERV;
}

static int is_reduction(enum coll_call call)
{
    return call == COLL_REDUCE || call == COLL_ALLREDUCE || call == COLL_REDUCE_SCATTER ||
           call == COLL_REDUCE_SCATTER_BLOCK || call == COLL_SCAN || call == COLL_EXSCAN;
}

static int is_neighbor(enum coll_call call)
{
    return call >= COLL_NEIGHBOR_ALLGATHER;
}

/* Which buffers of this process take part. */
static int sides(const struct coll_args *a)
{
    const struct comm *c = a->comm;
    if (a->call == COLL_BARRIER)
        return 0;
    if (!has_root(a->call))
        return SEND | RECV;
    if (c->remote)
        return a->root == MPI_PROC_NULL                      ? 0
               : (a->root == MPI_ROOT) == from_root(a->call) ? SEND
                                                             : RECV;
    if (a->root == c->rank)
        return SEND | RECV;
    return from_root(a->call) ? RECV : SEND;
}

static int neighbors(const struct comm *c, enum side side)
{
    const struct comm_topo *t = c->topo;
    if (t->kind == TOPO_CART)
        return 2 * t->ndims;
    if (t->kind == TOPO_GRAPH)
        return t->index[c->rank] - (c->rank ? t->index[c->rank - 1] : 0);
    return side == RECV ? t->indegree : t->outdegree;
}

/* Entries of the count arrays. */
static int vector_length(const struct coll_args *a, enum side side)
{
    if (is_neighbor(a->call))
        return neighbors(a->comm, side);
    return a->call == COLL_REDUCE_SCATTER ? a->comm->size : comm_peer_size(a->comm);
}

static int check_counts(struct coll_vec v, int n, const char *what)
{
    int err = n ? api_pointer(v.v, what) : MPI_SUCCESS;
    for (int i = 0; i < n && !err; i++)
        err = api_count(coll_at(v, i));
    return err;
}

/* Counts and addresses of their data; displacements may be NULL if there are no entries. */
static int check_vector(struct coll_vec counts, struct coll_vec displs, int n, enum side side)
{
    int err = check_counts(counts, n, side == SEND ? "sendcounts" : "recvcounts"), some = 0;
    for (int i = 0; i < n && !err; i++)
        some |= coll_at(counts, i) > 0;
    return err || !some ? err : api_pointer(displs.v, side == SEND ? "senddispls" : "recvdispls");
}

static int check_types(const MPI_Datatype *types, struct coll_vec counts, int n, const char *what)
{
    struct dt_type *t;
    int err = api_pointer(types, what);
    for (int i = 0; i < n && !err; i++)
        if (coll_at(counts, i) > 0)
            err = api_type_committed(types[i], &t);
    return err;
}

static int in_place_error(const struct collcall *x)
{
    return err_make(MPI_ERR_BUFFER, "%s: MPI_IN_PLACE is not allowed here", x->name);
}

/* May this process pass MPI_IN_PLACE for its send (scatter: receive) buffer? */
static int in_place_fits(const struct coll_args *a)
{
    if (a->comm->remote || is_neighbor(a->call))
        return 0;
    return !has_root(a->call) || a->root == a->comm->rank;
}

static int w_form(enum coll_call call)
{
    return call == COLL_ALLTOALLW || call == COLL_NEIGHBOR_ALLTOALLW;
}

/* A neighbourhood without n neighbours to send to (or receive from): that buffer may be null. */
static int is_unused(const struct coll_args *a, int n)
{
    return is_neighbor(a->call) && n == 0;
}

static int check_send(struct collcall *x)
{
    struct coll_args *a = &x->a;
    if (a->sbuf == MPI_IN_PLACE) {
        a->stype = NULL;
        return in_place_fits(a) && !from_root(a->call) ? MPI_SUCCESS : in_place_error(x);
    }
    int n = vector_length(a, SEND), err = MPI_SUCCESS;
    int vector = a->call == COLL_SCATTERV || a->call == COLL_ALLTOALLV ||
                 a->call == COLL_NEIGHBOR_ALLTOALLV;
    if (w_form(a->call)) {
        err = check_vector(a->scounts, a->sdispls, n, SEND);
        return err || is_neighbor(a->call) ? err
                                           : check_types(a->stypes, a->scounts, n, "sendtypes");
    }
    err = api_type_committed(x->stype, &a->stype);
    if (!err && vector)
        err = check_vector(a->scounts, a->sdispls, n, SEND);
    else if (!err)
        err = api_count(a->scount);
    return err || vector || is_unused(a, n) ? err : api_buffer(a->sbuf, a->scount, a->stype);
}

static int check_recv(struct collcall *x)
{
    struct coll_args *a = &x->a;
    if (a->rbuf == MPI_IN_PLACE) {
        a->rtype = NULL;
        return in_place_fits(a) && (a->call == COLL_SCATTER || a->call == COLL_SCATTERV)
                   ? MPI_SUCCESS
                   : in_place_error(x);
    }
    int n = vector_length(a, RECV), err = MPI_SUCCESS;
    int vector = a->call == COLL_GATHERV || a->call == COLL_ALLGATHERV ||
                 a->call == COLL_ALLTOALLV || a->call == COLL_NEIGHBOR_ALLGATHERV ||
                 a->call == COLL_NEIGHBOR_ALLTOALLV;
    if (w_form(a->call)) {
        err = check_vector(a->rcounts, a->rdispls, n, RECV);
        return err || is_neighbor(a->call) ? err
                                           : check_types(a->rtypes, a->rcounts, n, "recvtypes");
    }
    err = api_type_committed(x->rtype, &a->rtype);
    if (!err && vector)
        err = check_vector(a->rcounts, a->rdispls, n, RECV);
    else if (!err)
        err = api_count(a->rcount);
    return err || vector || is_unused(a, n) ? err : api_buffer(a->rbuf, a->rcount, a->rtype);
}

static int alias_error(const struct collcall *x)
{
    return err_make(MPI_ERR_BUFFER, "%s: send and receive buffer are the same; use MPI_IN_PLACE",
                    x->name);
}

static int reduces_data(const struct coll_args *a)
{
    int some = a->rcount > 0;
    for (int i = 0; a->call == COLL_REDUCE_SCATTER && i < vector_length(a, RECV) && !some; i++)
        some = coll_at(a->rcounts, i) > 0;
    return some && a->rtype->size > 0;
}

static int check_reduction(struct collcall *x, int which)
{
    struct coll_args *a = &x->a;
    int err = api_op(x->op, &a->op);
    if (!err)
        err = api_type_committed(x->rtype, &a->rtype);
    if (!err)
        err = a->call == COLL_REDUCE_SCATTER
                  ? check_counts(a->rcounts, vector_length(a, RECV), "recvcounts")
                  : api_count(a->rcount);
    if (!err)
        err = dt_op_check(a->op, a->rtype, DT_FOR_REDUCE);
    if (err)
        return err;
    if (a->sbuf == MPI_IN_PLACE)
        return (which & RECV) && in_place_fits(a) ? MPI_SUCCESS : in_place_error(x);
    if ((which & RECV) && (which & SEND) && a->sbuf == a->rbuf && reduces_data(a))
        return alias_error(x);
    if (which & SEND)
        err = api_buffer(a->sbuf, a->rcount, a->rtype);
    return err || !(which & RECV) ? err : api_buffer(a->rbuf, a->rcount, a->rtype);
}

/* A block of each side that begin at one address: do they share memory? Types may keep them apart:
 * absolute ones of MPI_BOTTOM, or even and odd members of one array. */
static int blocks_meet(const char *out, MPI_Aint n, struct dt_type *st, const char *mine,
                       MPI_Aint m, struct dt_type *rt)
{
    return __builtin_expect(out == mine, 0) && n && m &&
           dt_overlap(st, (size_t)n, rt, (size_t)m);
}

/* Alltoallv and alltoallw with one buffer: does a block go where it comes from? */
static __attribute__((noinline, cold)) int vectors_meet(const struct coll_args *a)
{
    int w = a->call == COLL_ALLTOALLW;
    if (a->sdispls.v != a->rdispls.v || a->scounts.v != a->rcounts.v || !a->sdispls.v)
        return 0;
    for (int i = 0; i < a->comm->size; i++) {
        MPI_Aint n = coll_at(a->scounts, i), at = coll_at(a->sdispls, i);
        if (n == 0)
            continue;
        struct dt_type *st = w ? dt_find(a->stypes[i]) : a->stype;
        struct dt_type *rt = w ? dt_find(a->rtypes[i]) : a->rtype;
        if (blocks_meet((char *)(at * (w ? 1 : st->extent)), n, st,
                        (char *)(at * (w ? 1 : rt->extent)), n, rt))
            return 1;
    }
    return 0;
}

/* Equal buffers of all-to-all and of even gathers are an error if there is data. */
static int check_alias(struct collcall *x, int which)
{
    const struct coll_args *a = &x->a;
    if (which != (SEND | RECV) || a->sbuf == MPI_IN_PLACE || a->rbuf == MPI_IN_PLACE ||
        a->comm->remote)
        return MPI_SUCCESS;
    const char *mine = a->rbuf, *out = a->sbuf;
    MPI_Aint n = a->scount, m = a->rcount, rank = a->comm->rank;
    switch (a->call) {
    case COLL_ALLTOALL:
        break;
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW:
        return out == mine && vectors_meet(a) ? alias_error(x) : MPI_SUCCESS;
    case COLL_GATHER:
    case COLL_ALLGATHER:
        mine += rank * m * a->rtype->extent;
        break;
    case COLL_GATHERV:
    case COLL_ALLGATHERV:
        if (!a->rdispls.v)
            return MPI_SUCCESS;
        mine += coll_at(a->rdispls, (int)rank) * a->rtype->extent;
        m = coll_at(a->rcounts, (int)rank);
        break;
    case COLL_SCATTER:
        out += rank * n * a->stype->extent;
        break;
    case COLL_SCATTERV:
        if (!a->sdispls.v)
            return MPI_SUCCESS;
        out += coll_at(a->sdispls, (int)rank) * a->stype->extent;
        n = coll_at(a->scounts, (int)rank);
        break;
    default:
        return MPI_SUCCESS;
    }
    return blocks_meet(out, n, a->stype, mine, m, a->rtype) ? alias_error(x) : MPI_SUCCESS;
}

static int check(struct collcall *x)
{
    struct coll_args *a = &x->a;
    int err = api_comm(x->comm, &a->comm);
    if (!err && (x->form & COLLCALL_FORMS) != COLLCALL_RUN)
        err = api_pointer(x->request, "request");
    if (!err && has_root(a->call))
        err = api_root(a->root, a->comm);
    if (!err && a->comm->remote &&
        (a->call == COLL_SCAN || a->call == COLL_EXSCAN || is_neighbor(a->call)))
        err = err_make(MPI_ERR_COMM, "%s: communicator %#x is an intercommunicator", x->name,
                       (unsigned)x->comm);
    if (!err && is_neighbor(a->call) && !a->comm->topo)
        err = err_make(MPI_ERR_TOPOLOGY, "%s: communicator %#x has no topology", x->name,
                       (unsigned)x->comm);
    if (err)
        return err;
    int which = sides(a);
    if (which == 0)
        return MPI_SUCCESS;
    if (is_reduction(a->call))
        return check_reduction(x, which);
    if (a->call == COLL_BCAST)
        return check_recv(x);
    if (which & RECV)
        err = check_recv(x);
    if (!err && (which & SEND))
        err = check_send(x);
    return err ? err : check_alias(x, which);
}

static int form_of(const struct collcall *x)
{
    return x->form & COLLCALL_FORMS;
}

static int start(struct collcall *x, struct request **r)
{
    return form_of(x) == COLLCALL_BEGIN ? coll_begin(&x->a, r) : coll_prepare(&x->a, r);
}

static int run(struct collcall *x, struct request **r)
{
    return form_of(x) == COLLCALL_RUN ? coll_run(&x->a) : start(x, r);
}

static void begin_aside(void *turn)
{
    int err = watch_begins(turn);
    WR_ASSERT(!err); /* no progress before it: none says now that calls differ */
}

enum { FEW_PARTS = 16 };
struct parts { /* all in `few`, or all in `many` */
    struct watch_buffer few[FEW_PARTS], *many;
    int n, room;
};

static void look_at_part(void *arg, const struct watch_buffer *b)
{
    struct parts *p = arg;
    watch_memory_now(b);
    if (p->n < FEW_PARTS) {
        p->few[p->n++] = *b;
        return;
    }
    if (!VEC_FITS(p->many, p->room, p->n + 1, 4 * FEW_PARTS))
        return;
    if (p->n == FEW_PARTS)
        memcpy(p->many, p->few, sizeof p->few);
    p->many[p->n++] = *b;
}

static void look_at_memory(const struct coll_args *a)
{
    struct parts p;
    p.many = NULL;
    p.n = p.room = 0;
    coll_each_part(a, look_at_part, &p);
    if (a->sbuf != MPI_IN_PLACE && a->rbuf != MPI_IN_PLACE)
        watch_apart(p.n > FEW_PARTS ? p.many : p.few, p.n);
    free(p.many);
}

/* A call that was refused for its arguments does not come here. */
static __attribute__((noinline, cold)) int watched(struct collcall *x, struct request **r)
{
    static const enum watch_form forms[] = {[COLLCALL_RUN] = WATCH_BLOCKING,
                                            [COLLCALL_BEGIN] = WATCH_NONBLOCKING,
                                            [COLLCALL_PREPARE] = WATCH_PERSISTENT};
    struct watch_turn turn;
    int err;
    if (watch_wants(WATCH_MEMORY) && !x->a.comm->remote)
        look_at_memory(&x->a);
    turn = (struct watch_turn){.call = (int)x->a.call, .form = forms[form_of(x)],
                               .comm = x->a.comm, .args = &x->a, .site = x->site};
    if (turn.form == WATCH_BLOCKING && watch_may_follow(&turn))
        err = coll_run_aside(&x->a, begin_aside, &turn);
    else if ((err = watch_begins(&turn)) == MPI_SUCCESS)
        err = run(x, r);
    turn.request = *r;
    return watch_ended(&turn, err);
}

/* The form is tested in any case: where a watcher looks on, it is no COLLCALL_RUN. */
static __attribute__((cold)) void enter_cold(struct collcall *x, const void *site)
{
    api_enter_cold(x->name);
    x->form |= COLLCALL_WATCHED;
    x->site = site;
}

int collcall_at(struct collcall *x, const void *site)
{
    struct request *r = NULL;
    if (__builtin_expect(atomic_load_explicit(&proc->phase, memory_order_relaxed) != PROC_INIT, 0))
        enter_cold(x, site);
    api_enter_running(x->name);
    int err = check(x);
    if (!err && x->form == COLLCALL_RUN)
        err = coll_run(&x->a);
    else if (!err)
        err = x->form & COLLCALL_WATCHED ? watched(x, &r) : start(x, &r);
    if (r)
        err = request_publish(r, x->request);
    else if (err && form_of(x) != COLLCALL_RUN && x->request)
        *x->request = MPI_REQUEST_NULL;
    return api_exit(x->comm, err);
}
