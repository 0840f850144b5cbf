/* run.c - which calls go through shared memory. */
#include "coll/coll_types.h"
#include "coll/shm/slots.h"
#include "var/var.h"

/* Bytes of a member's part, and how many parts a slot must hold. */
static int parts(const struct coll_args *a, int members, size_t *bytes)
{
    int sends = (a->call == COLL_GATHER && a->comm->rank != a->root) ||
                (a->call == COLL_SCATTER && a->comm->rank == a->root);
    const struct dt_type *t = sends ? a->stype : a->rtype;
    MPI_Aint n = sends ? a->scount : a->rcount;
    if (__builtin_mul_overflow((size_t)n, (size_t)t->size, bytes))
        *bytes = SIZE_MAX;
    if (a->call == COLL_SCATTER || a->call == COLL_ALLTOALL) /* the own one does not lie there */
        return members - 1;
    return a->call == COLL_REDUCE_SCATTER_BLOCK ? members : 1;
}

/* Every member must decide alike. So the decision uses the bytes, which are equal everywhere, not
 * the layout, which may differ. Reductions by predefined operations have predefined types, the same
 * on all. */
static int suits(const struct shm *m, const struct coll_args *a, size_t *bytes)
{
    *bytes = 0;
    if (a->call == COLL_BARRIER)
        return 1;
    size_t n = (size_t)parts(a, m->size, bytes);
    if (*bytes == 0 || *bytes > m->max / n)
        return 0;
    return !a->op || (a->op->index && (a->rtype->flags & DT_CONTIG));
}

static int run(struct shm *m, const struct coll_args *a, size_t bytes)
{
    switch (a->call) {
    case COLL_BARRIER:
        return shm_barrier(m);
    case COLL_BCAST:
        return shm_bcast(m, a, bytes);
    case COLL_REDUCE:
        return shm_reduce(m, a, bytes);
    case COLL_ALLREDUCE:
        return shm_allreduce(m, a, bytes);
    case COLL_GATHER:
        return shm_gather(m, a);
    case COLL_ALLGATHER:
        return shm_allgather(m, a);
    case COLL_SCATTER:
        return shm_scatter(m, a, bytes);
    case COLL_ALLTOALL:
        return shm_alltoall(m, a);
    case COLL_REDUCE_SCATTER_BLOCK:
        return shm_reduce_scatter_block(m, a, bytes);
    default:
        return shm_scan(m, a, bytes);
    }
}

static int is_ours(enum coll_call call)
{
    const unsigned ours = 1u << COLL_BARRIER | 1u << COLL_BCAST | 1u << COLL_REDUCE |
                          1u << COLL_ALLREDUCE | 1u << COLL_GATHER | 1u << COLL_ALLGATHER |
                          1u << COLL_SCATTER | 1u << COLL_ALLTOALL |
                          1u << COLL_REDUCE_SCATTER_BLOCK | 1u << COLL_SCAN | 1u << COLL_EXSCAN;
    return ours >> call & 1;
}

/* Bytes of all blocks that counts give, and of the longest, SIZE_MAX at most. */
static size_t vector_bytes(const struct coll_args *a, size_t *longest)
{
    size_t each, sum = 0;
    *longest = 0;
    for (int i = 0; i < a->comm->size; i++) {
        if (__builtin_mul_overflow((size_t)coll_at(a->rcounts, i), (size_t)a->rtype->size, &each))
            each = SIZE_MAX;
        if (__builtin_add_overflow(sum, each, &sum))
            sum = SIZE_MAX;
        *longest = each > *longest ? each : *longest;
    }
    return sum;
}

static __attribute__((noinline)) int run_mixed(const struct coll_args *a, int *err)
{
    struct shm *m = shm_of(a->comm);
    return m ? shm_mixed(m, a, err) : 0;
}

/* In allgatherv and reduce_scatter all members have all counts: each slot holds one block, or what
 * all reduce. Apart from the others: their path has no register to spare. */
static __attribute__((noinline)) int run_vector(const struct coll_args *a, int *err)
{
    struct shm *m = shm_of(a->comm);
    size_t longest, bytes = m ? vector_bytes(a, &longest) : 0;
    if (bytes == 0)
        return 0;
    if (a->call == COLL_ALLGATHERV) {
        if (longest > m->max)
            return 0;
        *err = shm_allgatherv(m, a);
        return 1;
    }
    if (bytes > m->max || !a->op->index || !(a->rtype->flags & DT_CONTIG))
        return 0;
    *err = shm_reduce_scatter(m, a, bytes);
    return 1;
}

/* Apart, too. */
static int run_other(const struct coll_args *a, int *err)
{
    const unsigned mixed = 1u << COLL_GATHERV | 1u << COLL_SCATTERV | 1u << COLL_ALLTOALLV,
                   vector = 1u << COLL_ALLGATHERV | 1u << COLL_REDUCE_SCATTER;
    if (mixed >> a->call & 1)
        return run_mixed(a, err);
    return vector >> a->call & 1 ? run_vector(a, err) : 0;
}

int shm_run(const struct coll_args *a, int *err)
{
    if (a->comm->remote || cvar.coll_shm_bytes == 0)
        return 0;
    if (!is_ours(a->call))
        return run_other(a, err);
    struct shm *m = shm_of(a->comm);
    size_t bytes;
    if (!m || !suits(m, a, &bytes))
        return 0;
    *err = run(m, a, bytes);
    return 1;
}
