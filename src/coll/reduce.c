/* reduce.c - reductions. dt_op_apply(op, in, inout): inout = in op inout, so the left operand is
 * `in`. Operations that do not commute get their operands in rank order, combined in pairs. Start
 * with build_reduce(). */
#include "coll/coll_types.h"
#include "coll/select.h"

static void *shift(const void *p, MPI_Aint n, const struct dt_type *t)
{
    return (char *)(uintptr_t)p + n * t->extent;
}

/* acc = acc op other, or other op acc when `left`; both buffers may change, *acc is where the
 * result lies. */
static void combine(struct sched *s, struct dt_op *op, void **acc, void **other, int other_is_left,
                    MPI_Aint n, struct dt_type *t)
{
    if (other_is_left || op->commute) {
        sched_reduce(s, op, *other, *acc, n, t);
    } else {
        void *result = *other;
        sched_reduce(s, op, *acc, *other, n, t);
        *other = *acc;
        *acc = result;
    }
}

/* Tree over ranks relative to `top`; the result is at *result of top, which is rbuf if it
 * commutes. */
static void reduce_tree(struct sched *s, const void *sbuf, void *rbuf, MPI_Aint n,
                        struct dt_type *t, struct dt_op *op, int top)
{
    int p = s->comm->size, v = (s->comm->rank - top + p) % p;
    void *acc = NULL, *other = NULL;
    const void *mine = sbuf;
    int mask = 1;
    for (; mask < p && !(v & mask); mask <<= 1) {
        if (v + mask >= p)
            continue;
        if (!acc) {
            /* The first child's data is received into acc: acc = mine op acc, without a copy. */
            acc = rbuf && rbuf != sbuf ? rbuf : sched_temp(s, n, t);
            sched_recv(s, acc, n, t, (v + mask + top) % p);
            sched_fence(s);
            sched_reduce(s, op, mine, acc, n, t);
            continue;
        }
        if (!other)
            other = sched_temp(s, n, t);
        sched_recv(s, other, n, t, (v + mask + top) % p);
        sched_fence(s);
        combine(s, op, &acc, &other, 0, n, t);
    }
    const void *result = acc ? acc : mine;
    if (v) {
        sched_send(s, result, n, t, (v - mask + top) % p);
        sched_fence(s);
    } else if (result != rbuf) {
        sched_copy(s, result, n, t, rbuf, n, t);
    }
}

static void reduce_binomial(struct sched *s, const void *sbuf, void *rbuf, MPI_Aint n,
                            struct dt_type *t, struct dt_op *op, int root)
{
    int r = s->comm->rank;
    if (op->commute || root == 0) {
        reduce_tree(s, sbuf, r == root ? rbuf : NULL, n, t, op, root);
        return;
    }
    /* In rank order the tree ends at rank 0. */
    void *at = r == 0 ? sched_temp(s, n, t) : NULL;
    reduce_tree(s, sbuf, at, n, t, op, 0);
    if (r == 0)
        sched_send(s, at, n, t, root);
    if (r == root)
        sched_recv(s, rbuf, n, t, 0);
    sched_fence(s);
}

/* Elements [*from, *from + *len) are part i of p. */
static void part(MPI_Aint n, int p, int i, MPI_Aint *from, MPI_Aint *len)
{
    MPI_Aint each = n / p, more = n % p;
    *from = i * each + (i < more ? i : more);
    *len = each + (i < more);
}

/* Ring: afterwards part r of acc is complete at rank r.  acc holds this process's operand at
 * first. */
static void ring_reduce_scatter(struct sched *s, char *acc, MPI_Aint n, struct dt_type *t,
                                struct dt_op *op)
{
    int p = s->comm->size, r = s->comm->rank;
    MPI_Aint from, len, in_from, in_len;
    part(n, p, 0, &from, &len); /* the longest */
    void *tmp = sched_temp(s, len, t);
    for (int i = 0; i < p - 1; i++) {
        part(n, p, (r - i - 1 + 2 * p) % p, &from, &len);
        part(n, p, (r - i - 2 + 2 * p) % p, &in_from, &in_len);
        sched_recv(s, tmp, in_len, t, (r - 1 + p) % p);
        sched_send(s, shift(acc, from, t), len, t, (r + 1) % p);
        sched_fence(s);
        sched_reduce(s, op, tmp, shift(acc, in_from, t), in_len, t);
    }
}

static void ring_allgather(struct sched *s, char *acc, MPI_Aint n, struct dt_type *t)
{
    int p = s->comm->size, r = s->comm->rank;
    MPI_Aint from, len;
    for (int i = 0; i < p - 1; i++) {
        part(n, p, (r - i - 1 + p) % p, &from, &len);
        sched_recv(s, shift(acc, from, t), len, t, (r - 1 + p) % p);
        part(n, p, (r - i + p) % p, &from, &len);
        sched_send(s, shift(acc, from, t), len, t, (r + 1) % p);
        sched_fence(s);
    }
}

static int splits(const struct sched *s, MPI_Aint n, const struct dt_op *op)
{
    return op->commute && n >= s->comm->size;
}

static void reduce_scatter_gather(struct sched *s, const void *sbuf, void *rbuf, MPI_Aint n,
                                  struct dt_type *t, struct dt_op *op, int root)
{
    int p = s->comm->size, r = s->comm->rank;
    MPI_Aint from, len;
    void *acc = r == root ? rbuf : sched_temp(s, n, t);
    if (acc != sbuf)
        sched_copy(s, sbuf, n, t, acc, n, t);
    ring_reduce_scatter(s, acc, n, t, op);
    part(n, p, r, &from, &len);
    if (r != root)
        sched_send(s, shift(acc, from, t), len, t, root);
    for (int i = 0; r == root && i < p; i++) {
        part(n, p, i, &from, &len);
        if (i != root)
            sched_recv(s, shift(rbuf, from, t), len, t, i);
    }
    sched_fence(s);
}

void build_reduce(struct sched *s, const void *sbuf, void *rbuf, MPI_Aint n, struct dt_type *t,
                  struct dt_op *op, int root)
{
    if (n == 0)
        return;
    if (sbuf == MPI_IN_PLACE)
        sbuf = rbuf;
    if (splits(s, n, op) &&
        coll_select(FAM_REDUCE, (size_t)n * (size_t)t->size, s->comm->size) == ALG_SCATTER_RING)
        reduce_scatter_gather(s, sbuf, rbuf, n, t, op, root);
    else
        reduce_binomial(s, sbuf, rbuf, n, t, op, root);
}

/* Pairs exchange and combine, at distances 1, 2, 4 ... If P is no power of two, the first 2 (P -
 * 2^k) processes combine in pairs before and separate after. */
static void allreduce_doubling(struct sched *s, const void *sbuf, void *rbuf, MPI_Aint n,
                               struct dt_type *t, struct dt_op *op)
{
    int p = s->comm->size, r = s->comm->rank, pow2 = 1, me;
    void *acc = rbuf, *other = p > 1 ? sched_temp(s, n, t) : NULL;
    while (pow2 * 2 <= p)
        pow2 *= 2;
    int extra = p - pow2;
    if (sbuf != rbuf)
        sched_copy(s, sbuf, n, t, acc, n, t);
    if (r < 2 * extra && r % 2 == 0) {
        sched_send(s, acc, n, t, r + 1);
        me = -1;
    } else if (r < 2 * extra) {
        sched_recv(s, other, n, t, r - 1);
        sched_fence(s);
        combine(s, op, &acc, &other, 1, n, t);
        me = r / 2;
    } else {
        me = r - extra;
    }
    for (int mask = 1; me >= 0 && mask < pow2; mask <<= 1) {
        int peer = me ^ mask, rank = peer < extra ? peer * 2 + 1 : peer + extra;
        sched_recv(s, other, n, t, rank);
        sched_send(s, acc, n, t, rank);
        sched_fence(s);
        combine(s, op, &acc, &other, peer < me, n, t);
    }
    if (me < 0) {
        sched_fence(s);
        sched_recv(s, rbuf, n, t, r + 1);
        sched_fence(s);
    } else {
        if (r < 2 * extra)
            sched_send(s, acc, n, t, r - 1);
        sched_fence(s);
        if (acc != rbuf)
            sched_copy(s, acc, n, t, rbuf, n, t);
    }
}

void build_allreduce(struct sched *s, const void *sbuf, void *rbuf, MPI_Aint n, struct dt_type *t,
                     struct dt_op *op)
{
    if (n == 0)
        return;
    if (sbuf == MPI_IN_PLACE)
        sbuf = rbuf;
    if (s->comm->size > 1 && splits(s, n, op) &&
        coll_select(FAM_ALLREDUCE, (size_t)n * (size_t)t->size, s->comm->size) == ALG_RING) {
        if (sbuf != rbuf)
            sched_copy(s, sbuf, n, t, rbuf, n, t);
        ring_reduce_scatter(s, rbuf, n, t, op);
        ring_allgather(s, rbuf, n, t);
    } else {
        allreduce_doubling(s, sbuf, rbuf, n, t, op);
    }
}

/* Prefix reduction by doubling: `part` is the reduction over the block of 2^k ranks this process is
 * in, rbuf that over the ranks of the block up to (exclusive: before) this one. */
void build_scan(struct sched *s, const void *sbuf, void *rbuf, MPI_Aint n, struct dt_type *t,
                struct dt_op *op, int exclusive)
{
    if (n == 0)
        return;
    int p = s->comm->size, r = s->comm->rank, have = !exclusive;
    void *block = sched_temp(s, n, t), *other = sched_temp(s, n, t);
    const void *mine = sbuf == MPI_IN_PLACE ? rbuf : sbuf;
    sched_copy(s, mine, n, t, block, n, t);
    if (!exclusive && mine != rbuf)
        sched_copy(s, mine, n, t, rbuf, n, t);
    for (int mask = 1; mask < p; mask <<= 1) {
        int peer = r ^ mask;
        if (peer >= p)
            continue;
        sched_recv(s, other, n, t, peer);
        sched_send(s, block, n, t, peer);
        sched_fence(s);
        if (peer < r) {
            if (have)
                sched_reduce(s, op, other, rbuf, n, t);
            else
                sched_copy(s, other, n, t, rbuf, n, t);
            have = 1;
        }
        combine(s, op, &block, &other, peer < r, n, t);
    }
}
