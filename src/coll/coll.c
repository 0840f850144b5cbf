/* coll.c - the calls of coll.h. Start with coll_run(). */
#include "coll/coll.h"

#include "coll/coll_types.h"
#include "coll/shm/shm.h"
#include "obj/err.h"
#include "p2p/p2p.h"

static int no_memory(void)
{
    return err_make(MPI_ERR_NO_MEM, "no memory for one more collective operation");
}

static int run_made(struct sched *s)
{
    if (!s)
        return no_memory();
    coll_build(s);
    return sched_run(s);
}

/* Its first messages leave ahead. Where a process does nothing else, the call is over. */
static __attribute__((noinline)) int run_behind(const struct coll_args *a)
{
    int tag = coll_tag(a->comm);
    uint64_t ahead = coll_ahead(a, tag);
    if (ahead & COLL_ALL_AHEAD) {
        progress_glance();
        return MPI_SUCCESS;
    }
    return run_made(sched_make_behind(a, tag, ahead));
}

static inline int by_messages(const struct coll_args *a)
{
    return coll_may_lead(a) ? run_behind(a) : run_made(sched_make(a));
}

static int is_none(MPI_Aint n, const struct dt_type *t)
{
    return n == 0 || t->size == 0;
}

static int are_none(struct coll_vec counts, int n, const struct dt_type *t)
{
    for (int i = 0; i < n && t->size; i++)
        if (coll_at(counts, i))
            return 0;
    return 1;
}

/* The root's own block is copied, so its two sides are looked at. */
static int root_moves_none(const struct coll_args *a)
{
    int n = a->comm->size;
    switch (a->call) {
    case COLL_GATHER:
        return is_none(a->rcount, a->rtype) &&
               (a->sbuf == MPI_IN_PLACE || is_none(a->scount, a->stype));
    case COLL_GATHERV:
        return are_none(a->rcounts, n, a->rtype) &&
               (a->sbuf == MPI_IN_PLACE || is_none(a->scount, a->stype));
    case COLL_SCATTER:
        return is_none(a->scount, a->stype) &&
               (a->rbuf == MPI_IN_PLACE || is_none(a->rcount, a->rtype));
    default: /* COLL_SCATTERV */
        return are_none(a->scounts, n, a->stype) &&
               (a->rbuf == MPI_IN_PLACE || is_none(a->rcount, a->rtype));
    }
}

/* Inline: a call of it costs a barrier by messages nine instructions. */
static inline __attribute__((always_inline)) int moves_none(const struct coll_args *a)
{
    const struct comm *c = a->comm;
    if (c->remote)
        return 0;
    switch (a->call) {
    case COLL_BCAST:
    case COLL_ALLGATHER:
        return is_none(a->rcount, a->rtype);
    case COLL_REDUCE:
    case COLL_ALLREDUCE:
    case COLL_REDUCE_SCATTER_BLOCK:
    case COLL_SCAN:
    case COLL_EXSCAN:
        return a->rcount == 0;
    case COLL_GATHER:
    case COLL_GATHERV:
        return a->root == c->rank ? root_moves_none(a) : is_none(a->scount, a->stype);
    case COLL_SCATTER:
    case COLL_SCATTERV:
        return a->root == c->rank ? root_moves_none(a) : is_none(a->rcount, a->rtype);
    case COLL_ALLTOALL:
        return a->sbuf != MPI_IN_PLACE && is_none(a->rcount, a->rtype);
    case COLL_ALLGATHERV:
        return are_none(a->rcounts, c->size, a->rtype) &&
               (a->sbuf == MPI_IN_PLACE || is_none(a->scount, a->stype));
    case COLL_ALLTOALLV:
        return a->sbuf != MPI_IN_PLACE && are_none(a->rcounts, c->size, a->rtype) &&
               are_none(a->scounts, c->size, a->stype);
    default:
        return 0;
    }
}

int coll_moves_none(const struct coll_args *a)
{
    return moves_none(a);
}

/* No schedule is made. The operation has its number, as at the others. */
static int run_none(const struct coll_args *a)
{
    coll_tag(a->comm);
    progress_glance();
    return MPI_SUCCESS;
}

int coll_nothing(struct comm *c)
{
    if (!shm_counted(c))
        return 0;
    coll_tag(c);
    progress_glance();
    return 1;
}

int coll_nothing_here(struct comm *c)
{
    if (!shm_counted(c))
        return 0;
    shm_skip(c);
    coll_tag(c);
    progress_glance();
    return 1;
}

int coll_run(const struct coll_args *a)
{
    int err;
    if (shm_run(a, &err))
        return err;
    return moves_none(a) ? run_none(a) : by_messages(a);
}

int coll_run_aside(const struct coll_args *a, void (*aside)(void *arg), void *arg)
{
    int err = MPI_SUCCESS;
    if (!shm_set_aside(a->comm, aside, arg))
        aside(arg);
    int near = shm_run(a, &err);
    shm_do_aside(a->comm);
    return near ? err : by_messages(a);
}

int coll_begin(const struct coll_args *a, struct request **out)
{
    struct sched *s = sched_make(a);
    if (!s)
        return no_memory();
    coll_build(s);
    sched_begin(s);
    *out = &s->r;
    return MPI_SUCCESS;
}

int coll_prepare(const struct coll_args *a, struct request **out)
{
    struct sched *s = sched_idle(a);
    if (!s)
        return no_memory();
    sched_persist(s);
    *out = &s->r;
    return MPI_SUCCESS;
}

void coll_note(struct comm *c, uint32_t note)
{
    c->coll_note = note;
    shm_note(c, note);
}

/* --- by name -------------------------------------------------------------------- */

int coll_barrier(struct comm *c)
{
    return coll_run(&(struct coll_args){.call = COLL_BARRIER, .comm = c});
}

int coll_barrier_living(struct comm *c)
{
    struct sched *s = sched_make(&(struct coll_args){.call = COLL_BARRIER, .comm = c});
    if (!s)
        return err_make(MPI_ERR_NO_MEM, "no memory for a barrier");
    s->all_or_none = 1;
    s->stream = P2P_TOOL;
    s->tags[0] = TAG_LIVING;
    sched_global(s);
    coll_build(s);
    return sched_run(s);
}

int coll_ibarrier_members(struct comm *c, struct request **out)
{
    struct sched *s = sched_make(&(struct coll_args){.call = COLL_BARRIER, .comm = c});
    if (!s)
        return no_memory();
    s->all_members = 1;
    coll_build(s);
    sched_begin(s);
    *out = &s->r;
    return MPI_SUCCESS;
}

int coll_bcast(void *buf, MPI_Aint count, struct dt_type *t, int root, struct comm *c)
{
    return coll_run(&(struct coll_args){
        .call = COLL_BCAST, .comm = c, .rbuf = buf, .rcount = count, .rtype = t, .root = root});
}

int coll_reduce(const void *sbuf, void *rbuf, MPI_Aint count, struct dt_type *t, struct dt_op *op,
                int root, struct comm *c)
{
    return coll_run(&(struct coll_args){.call = COLL_REDUCE, .comm = c, .sbuf = sbuf, .rbuf = rbuf,
                                        .rcount = count, .rtype = t, .op = op, .root = root});
}

int coll_allreduce(const void *sbuf, void *rbuf, MPI_Aint count, struct dt_type *t,
                   struct dt_op *op, struct comm *c)
{
    return coll_run(&(struct coll_args){.call = COLL_ALLREDUCE, .comm = c, .sbuf = sbuf,
                                        .rbuf = rbuf, .rcount = count, .rtype = t, .op = op});
}

int coll_gather(const void *sbuf, MPI_Aint scount, struct dt_type *st, void *rbuf, MPI_Aint rcount,
                struct dt_type *rt, int root, struct comm *c)
{
    return coll_run(&(struct coll_args){.call = COLL_GATHER, .comm = c, .sbuf = sbuf,
                                        .scount = scount, .stype = st, .rbuf = rbuf,
                                        .rcount = rcount, .rtype = rt, .root = root});
}

int coll_allgather(const void *sbuf, MPI_Aint scount, struct dt_type *st, void *rbuf,
                   MPI_Aint rcount, struct dt_type *rt, struct comm *c)
{
    return coll_run(&(struct coll_args){.call = COLL_ALLGATHER, .comm = c, .sbuf = sbuf,
                                        .scount = scount, .stype = st, .rbuf = rbuf,
                                        .rcount = rcount, .rtype = rt});
}

int coll_allgatherv(const void *sbuf, MPI_Aint scount, struct dt_type *st, void *rbuf,
                    const int *rcounts, const int *displs, struct dt_type *rt, struct comm *c)
{
    return coll_run(&(struct coll_args){.call = COLL_ALLGATHERV, .comm = c, .sbuf = sbuf,
                                        .scount = scount, .stype = st, .rbuf = rbuf,
                                        .rcounts = coll_ints(rcounts), .rdispls = coll_ints(displs),
                                        .rtype = rt});
}

int coll_scatter(const void *sbuf, MPI_Aint scount, struct dt_type *st, void *rbuf, MPI_Aint rcount,
                 struct dt_type *rt, int root, struct comm *c)
{
    return coll_run(&(struct coll_args){.call = COLL_SCATTER, .comm = c, .sbuf = sbuf,
                                        .scount = scount, .stype = st, .rbuf = rbuf,
                                        .rcount = rcount, .rtype = rt, .root = root});
}

int coll_alltoall(const void *sbuf, MPI_Aint scount, struct dt_type *st, void *rbuf,
                  MPI_Aint rcount, struct dt_type *rt, struct comm *c)
{
    return coll_run(&(struct coll_args){.call = COLL_ALLTOALL, .comm = c, .sbuf = sbuf,
                                        .scount = scount, .stype = st, .rbuf = rbuf,
                                        .rcount = rcount, .rtype = rt});
}

int coll_ibarrier(struct comm *c, struct request **out)
{
    return coll_begin(&(struct coll_args){.call = COLL_BARRIER, .comm = c}, out);
}

int coll_ibcast(void *buf, MPI_Aint count, struct dt_type *t, int root, struct comm *c,
                struct request **out)
{
    return coll_begin(
        &(struct coll_args){
            .call = COLL_BCAST, .comm = c, .rbuf = buf, .rcount = count, .rtype = t, .root = root},
        out);
}

int coll_iallreduce(const void *sbuf, void *rbuf, MPI_Aint count, struct dt_type *t,
                    struct dt_op *op, struct comm *c, struct request **out)
{
    return coll_begin(&(struct coll_args){.call = COLL_ALLREDUCE, .comm = c, .sbuf = sbuf,
                                          .rbuf = rbuf, .rcount = count, .rtype = t,
                                          .op = op}, out);
}

/* --- plain bytes ------------------------------------------------------------------ */

int coll_bcast_bytes(void *buf, size_t len, int root, struct comm *c)
{
    return coll_run(&(struct coll_args){.call = COLL_BCAST, .comm = c, .rbuf = buf,
                                        .rcount = (MPI_Aint)len, .rtype = proc->coll->byte,
                                        .root = root});
}

int coll_allgather_bytes(const void *in, void *out, size_t len, struct comm *c)
{
    struct dt_type *byte = proc->coll->byte;
    const void *sbuf = out && in == (char *)out + (size_t)c->rank * len ? MPI_IN_PLACE : in;
    struct coll_args a = {.call = COLL_ALLGATHER, .comm = c, .sbuf = sbuf, .poor = !out,
                          .rbuf = out ? out : (void *)(uintptr_t)in, .stype = byte, .rtype = byte,
                          .scount = (MPI_Aint)len, .rcount = (MPI_Aint)len};
    int err;
    if (out)
        return coll_run(&a);
    if (shm_run(&a, &err))
        return err;
    struct sched *s = sched_make(&a);
    if (!s)
        return no_memory();
    sched_make_poor(s);
    coll_build(s);
    return sched_run(s);
}

int coll_allreduce_i64(int64_t *v, int n, enum coll_num op, struct comm *c)
{
    static const MPI_Op ops[] = {[COLL_SUM] = MPI_SUM, [COLL_MAX] = MPI_MAX, [COLL_MIN] = MPI_MIN,
                                 [COLL_BAND] = MPI_BAND, [COLL_BOR] = MPI_BOR};
    return coll_run(&(struct coll_args){.call = COLL_ALLREDUCE, .comm = c, .sbuf = MPI_IN_PLACE,
                                        .rbuf = v, .rcount = n, .rtype = dt_find(MPI_INT64_T),
                                        .op = dt_op_find(ops[op])});
}

int coll_agree_error(int err, struct comm *c)
{
    int64_t worst = err ? err_class(err) : 0;
    int e = coll_allreduce_i64(&worst, 1, COLL_MAX, c);
    if (err)
        return err;
    if (e)
        return e;
    return worst ? err_make((int)worst, "%s failed on another process",
                            proc->call ? proc->call : "the call")
                 : MPI_SUCCESS;
}

int coll_awaits(int (*cond)(void *), void *arg, void (*each)(int world, void *to), void *to)
{
    return sched_awaits(cond, arg, each, to) || shm_awaits(cond, arg, each, to);
}

void coll_request_own(struct request *r, void *memory)
{
    struct sched *s = (struct sched *)r;
    s->owned[s->owned[0] != NULL] = memory;
}
