/* shrink.c - what members agree on: a flag, or which of them have failed, and the communicator of
 * the others. Start with call_make(). */
#include <stdlib.h>

#include "base/log.h"
#include "boot/boot.h"
#include "coll/agree.h"
#include "coll/coll_types.h"
#include "coll/newcomm.h"
#include "coll/survive.h"
#include "obj/err.h"

static int failed_error(const struct comm *c)
{
    int dead = rankmap_dead(c->map, 0);
    const struct rankmap *m = dead < 0 && c->remote ? c->remote : c->map;
    if (dead < 0)
        dead = rankmap_dead(m, 0);
    return dead < 0 ? err_make(MPIX_ERR_PROC_FAILED,
                               "members that have failed were not acknowledged by all")
                    : err_make(MPIX_ERR_PROC_FAILED,
                               "process %d of the job has died, and not all members have "
                               "acknowledged that: %s",
                               rankmap_world(m, dead), boot_failed_why(rankmap_world(m, dead)));
}

struct call {
    struct agree_op op;
    int *flag;           /* coll_agree(): the result */
    unsigned char *gone; /* coll_shrink(), by member: is it named as failed? */
    struct comm *made;   /* ... the result, */
    MPI_Comm *handle;    /* ... and where its handle goes; NULL: nowhere */
};

static void call_free(struct request *r)
{
    struct call *x = (struct call *)r;
    free(x->gone);
    free(x);
}

static const struct request_ops call_ops = {.free = call_free};

/* The other members wait for this one, so it cannot go on without memory. */
static struct call *call_make(int members)
{
    struct call *x = calloc(1, sizeof *x);
    if (!x || !(x->gone = calloc((size_t)members + 1, 1)))
        log_fatal("no memory to agree with other processes");
    return x;
}

static int call_wait(struct call *x)
{
    int err = agree_wait(&x->op);
    call_free(&x->op.r);
    return err;
}

static int agreed(struct agree_op *op, int err)
{
    const struct agree_value *v = &op->value;
    int first, all;
    if (err)
        return err;
    int other = op->c->remote && agree_member(op->c, &first, &all) < first;
    *((struct call *)op)->flag = (int)v->flag[other];
    return v->unacked ? failed_error(op->c) : MPI_SUCCESS;
}

static struct call *agree_make(struct comm *c, int *flag, int blocks)
{
    struct call *x = call_make(0);
    x->flag = flag;
    x->op.ended = agreed;
    agree_start(&x->op, c, AGREE_FLAG, (uint32_t)*flag, blocks, &call_ops);
    return x;
}

int coll_agree(struct comm *c, int *flag)
{
    return call_wait(agree_make(c, flag, 1));
}

struct request *coll_iagree(struct comm *c, int *flag)
{
    return &agree_make(c, flag, 0)->op.r;
}

/* The living of ranks 0 .. n-1 of m, whose first member has number `first`. */
static struct rankmap *living(const struct rankmap *m, const unsigned char *gone, int first)
{
    int n = 0, *world = malloc((size_t)m->size * sizeof *world + 1);
    for (int i = 0; world && i < m->size; i++)
        if (!gone[first + i])
            world[n++] = rankmap_world(m, i);
    struct rankmap *made = world ? rankmap_make(world, n) : NULL;
    free(world);
    return made;
}

static int build(struct comm *c, const unsigned char *gone, const uint64_t ctx[4],
                 struct comm **out)
{
    int first, all, me = agree_member(c, &first, &all), side = c->remote && me >= first;
    if (gone[me])
        return err_make(MPIX_ERR_PROC_FAILED,
                        "the other members hold this process for failed");
    struct rankmap *m = living(c->map, gone, side ? first : 0), *remote = NULL;
    if (c->remote)
        remote = living(c->remote, gone, side ? 0 : first);
    int rank = m ? rankmap_find(m, boot_rank()) : -1;
    int err = MPI_SUCCESS;
    if (!m || (c->remote && !remote))
        err = err_make(MPI_ERR_NO_MEM, "no memory for the communicator of the living");
    else if (remote && remote->size == 0)
        err = err_make(MPIX_ERR_PROC_FAILED, "all processes of the other group have failed");
    else
        err = newcomm_living(c, m, rank, remote, ctx, side, out);
    rankmap_drop(m);
    rankmap_drop(remote);
    return err;
}

static int receives(const struct comm *c, uint64_t ctx)
{
    return c && (comm_ctx(c) == ctx || (c->local && comm_ctx(c->local) == ctx));
}

/* All that have failed are named. */
static int named(struct call *x, int err)
{
    const struct agree_value *v = &x->op.value;
    struct comm *c = x->op.c;
    int ids = c->remote ? 4 : 1;
    for (int i = 0; !err && i < ids; i++)
        if (!ctx_is_id(v->ctx[i]))
            err = err_make(MPI_ERR_OTHER,
                           "no context id left: too many communicators are alive");
    if (!err)
        err = build(c, x->gone, v->ctx, &x->made);
    for (int i = 0; i < ids; i++) /* it may be used again, with another round */
        if (ctx_is_own(v->ctx[i]) && !receives(x->made, v->ctx[i]))
            ctx_unmake(v->ctx[i]);
    if (x->handle && x->made)
        *x->handle = x->made->obj.handle;
    return err;
}

/* It takes as many agreements as name all that have failed. */
static int shrunk(struct agree_op *op, int err)
{
    struct call *x = (struct call *)op;
    const struct agree_value *v = &op->value;
    for (uint32_t i = 0; !err && i < v->nfailed; i++)
        x->gone[v->failed[i]] = 1;
    if (err || !v->more)
        return named(x, err);
    op->from = v->failed[v->nfailed - 1] + 1;
    return AGREE_MORE;
}

static struct call *shrink_make(struct comm *c, MPI_Comm *handle, int blocks)
{
    struct call *x = call_make(comm_members(c));
    x->handle = handle;
    x->op.ended = shrunk;
    agree_start(&x->op, c, AGREE_SHRINK, UINT32_MAX, blocks, &call_ops);
    return x;
}

int coll_shrink(struct comm *c, struct comm **out)
{
    struct call *x = shrink_make(c, NULL, 1);
    int err = agree_wait(&x->op);
    *out = x->made;
    call_free(&x->op.r);
    return err;
}

struct request *coll_ishrink(struct comm *c, MPI_Comm *out)
{
    return &shrink_make(c, out, 0)->op.r;
}
