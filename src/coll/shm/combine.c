/* combine.c - the barrier, and the calls that reduce. */
#include <string.h>

#include "coll/coll_types.h"
#include "coll/shm/slots.h"

/* rbuf = slot[0] op ... op slot[members - 1] in rank order, of the n elements, `bytes`, at byte
 * `off` in each. */
static void combine(const struct shm *m, const struct coll_args *a, int members, size_t off,
                    size_t bytes, size_t n)
{
    struct dt_type *t = a->rtype;
    memcpy(dt_start(t, a->rbuf), shm_data(m, members - 1) + off, bytes);
    for (int i = members - 2; i >= 0; i--)
        dt_op_apply(a->op, shm_data(m, i) + off - t->true_lb, a->rbuf, n, t);
}

static const void *operand(const struct coll_args *a)
{
    return dt_start(a->rtype, a->sbuf == MPI_IN_PLACE ? a->rbuf : a->sbuf);
}

int shm_barrier(struct shm *m)
{
    struct slot *s;
    int err = shm_slot_open(m, &s);
    if (!err)
        err = shm_meet(m, s, 0);
    shm_leave(m);
    return err;
}

int shm_allreduce(struct shm *m, const struct coll_args *a, size_t bytes)
{
    struct slot *s;
    int err = shm_slot_open(m, &s);
    if (!err) {
        memcpy(s->data, operand(a), bytes);
        err = shm_meet(m, s, bytes);
    }
    if (!err)
        err = shm_alike(m, 0, m->size, bytes);
    if (!err)
        combine(m, a, m->size, 0, bytes, (size_t)a->rcount);
    shm_leave(m);
    return err;
}

int shm_reduce(struct shm *m, const struct coll_args *a, size_t bytes)
{
    struct slot *s;
    int err = shm_slot_open(m, &s);
    if (!err) {
        memcpy(s->data, operand(a), bytes);
        shm_publish(m, s, bytes);
    }
    if (m->rank == a->root) {
        err = err ? err : shm_await(m, 0, m->size);
        if (!err)
            err = shm_alike(m, 0, m->size, bytes);
        if (!err)
            combine(m, a, m->size, 0, bytes, (size_t)a->rcount);
        shm_leave(m);
        shm_wake_others(m);
    } else {
        shm_leave(m);
        shm_wake(m, a->root);
    }
    return err;
}

/* Each member brings the whole vector, `bytes` long, and reduces n elements of it at byte `off`. */
static int reduce_part(struct shm *m, const struct coll_args *a, size_t bytes, size_t off, size_t n)
{
    struct slot *s;
    int err = shm_slot_open(m, &s);
    if (!err) {
        memcpy(s->data, operand(a), bytes);
        err = shm_meet(m, s, bytes);
    }
    if (!err)
        err = shm_alike(m, 0, m->size, bytes);
    if (!err && n)
        combine(m, a, m->size, off, n * (size_t)a->rtype->size, n);
    shm_leave(m);
    return err;
}

int shm_reduce_scatter_block(struct shm *m, const struct coll_args *a, size_t bytes)
{
    return reduce_part(m, a, (size_t)m->size * bytes, (size_t)m->rank * bytes, (size_t)a->rcount);
}

int shm_reduce_scatter(struct shm *m, const struct coll_args *a, size_t bytes)
{
    size_t before = 0;
    for (int i = 0; i < m->rank; i++)
        before += (size_t)coll_at(a->rcounts, i);
    return reduce_part(m, a, bytes, before * (size_t)a->rtype->size,
                       (size_t)coll_at(a->rcounts, m->rank));
}

/* Only lower ranks are waited for. */
int shm_scan(struct shm *m, const struct coll_args *a, size_t bytes)
{
    int members = a->call == COLL_SCAN ? m->rank + 1 : m->rank;
    struct slot *s;
    int err = shm_slot_open(m, &s);
    if (!err) {
        memcpy(s->data, operand(a), bytes);
        shm_publish(m, s, bytes);
        for (int i = m->rank + 1; i < m->size; i++)
            shm_wake(m, i);
        err = shm_await(m, 0, m->rank);
    }
    if (!err)
        err = shm_alike(m, 0, m->rank, bytes);
    if (!err && members)
        combine(m, a, members, 0, bytes, (size_t)a->rcount);
    shm_leave(m);
    for (int i = 0; i < m->rank; i++) /* they may wait to reuse their slots */
        shm_wake(m, i);
    return err;
}
