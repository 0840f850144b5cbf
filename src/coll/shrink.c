/* shrink.c - coll_agree() and coll_shrink(). */
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

int coll_agree(struct comm *c, int *flag)
{
    struct agree_value v;
    int first, all, err = agree_on(c, AGREE_FLAG, (uint32_t)*flag, 0, &v);
    if (err)
        return err;
    int other = c->remote && agree_member(c, &first, &all) < first;
    *flag = (int)v.flag[other];
    return v.unacked ? failed_error(c) : MPI_SUCCESS;
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

/* As many agreements as it takes to name all that have failed. */
static int agree_on_failed(struct comm *c, unsigned char *gone, struct agree_value *v)
{
    uint32_t from = 0;
    for (;;) {
        int err = agree_on(c, AGREE_SHRINK, UINT32_MAX, from, v);
        for (uint32_t i = 0; !err && i < v->nfailed; i++)
            gone[v->failed[i]] = 1;
        if (err || !v->more)
            return err;
        from = v->failed[v->nfailed - 1] + 1;
    }
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

int coll_shrink(struct comm *c, struct comm **out)
{
    struct agree_value v = {0};
    int first, all;
    *out = NULL;
    (void)agree_member(c, &first, &all);
    unsigned char *gone = calloc((size_t)all, 1);
    if (!gone) /* the others would wait for ever */
        log_fatal("no memory for the ranks that have failed");
    int err = agree_on_failed(c, gone, &v);
    int ids = c->remote ? 4 : 1;
    for (int i = 0; !err && i < ids; i++)
        if (!ctx_is_id(v.ctx[i]))
            err = err_make(MPI_ERR_OTHER,
                           "no context id left: too many communicators are alive");
    if (!err)
        err = build(c, gone, v.ctx, out);
    for (int i = 0; i < ids; i++) /* it may be used again, with another round */
        if (ctx_is_own(v.ctx[i]) && !receives(*out, v.ctx[i]))
            ctx_unmake(v.ctx[i]);
    free(gone);
    return err;
}
