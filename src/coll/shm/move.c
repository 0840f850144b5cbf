/* move.c - the calls that move blocks. Start with shm_bcast(). */
#include "coll/coll_types.h"
#include "coll/shm/slots.h"

int shm_bcast(struct shm *m, const struct coll_args *a, size_t bytes)
{
    struct slot *s;
    int err;
    if (m->rank == a->root) {
        err = shm_slot_open(m, &s);
        if (!err) {
            dt_pack(a->rtype, (size_t)a->rcount, a->rbuf, 0, s->data, bytes);
            shm_publish(m, s, bytes);
            shm_wake_others(m);
        }
        shm_leave(m);
    } else {
        m->n++;
        err = shm_await(m, a->root, a->root + 1);
        if (!err)
            err = shm_alike(m, a->root, a->root + 1, bytes);
        if (!err)
            dt_unpack(a->rtype, (size_t)a->rcount, a->rbuf, 0, shm_data(m, a->root), bytes);
        shm_leave(m);
        shm_wake(m, a->root); /* the root may wait to reuse the slot */
    }
    return err;
}

static void pack(struct block b, char *to)
{
    dt_pack(b.t, (size_t)b.n, b.at, 0, to, block_bytes(b));
}

static void unpack(struct block b, const char *from)
{
    dt_unpack(b.t, (size_t)b.n, b.at, 0, from, block_bytes(b));
}

static void copy(struct block from, struct block to)
{
    dt_copy(from.at, (size_t)from.n, from.t, to.at, (size_t)to.n, to.t);
}

static struct block own_block(const struct coll_args *a)
{
    return (struct block){(char *)(uintptr_t)a->sbuf, a->scount, a->stype};
}

/* The length that this member states for its part: BAD_BYTES if its own send and receive differ. */
static size_t own_bytes(struct block sends, struct block receives)
{
    return block_bytes(sends) == block_bytes(receives) ? block_bytes(receives) : BAD_BYTES;
}

int shm_gather(struct shm *m, const struct coll_args *a)
{
    struct blocks in = blocks_even(a->rbuf, a->rcount, a->rtype);
    struct slot *s;
    int err = shm_slot_open(m, &s), root = a->root;
    if (m->rank != root) {
        if (!err) {
            pack(own_block(a), s->data);
            shm_publish(m, s, block_bytes(own_block(a)));
        }
        shm_leave(m);
        shm_wake(m, root);
        return err;
    }
    struct block own = a->sbuf == MPI_IN_PLACE ? block_of(&in, root) : own_block(a);
    size_t bytes = own_bytes(own, block_of(&in, root));
    if (!err) {
        shm_publish(m, s, bytes);
        err = shm_await(m, 0, m->size);
    }
    if (!err)
        err = shm_alike(m, 0, m->size, bytes);
    for (int i = 0; i < m->size && !err; i++)
        if (i != root)
            unpack(block_of(&in, i), shm_data(m, i));
        else if (a->sbuf != MPI_IN_PLACE)
            copy(own, block_of(&in, root));
    shm_leave(m);
    shm_wake_others(m);
    return err;
}

int shm_allgather(struct shm *m, const struct coll_args *a)
{
    struct blocks in = blocks_even(a->rbuf, a->rcount, a->rtype);
    int in_place = a->sbuf == MPI_IN_PLACE;
    struct block own = in_place ? block_of(&in, m->rank) : own_block(a);
    size_t bytes = a->poor ? BAD_BYTES : own_bytes(own, block_of(&in, m->rank));
    struct slot *s;
    int err = shm_slot_open(m, &s);
    if (!err) {
        if (bytes != BAD_BYTES)
            pack(own, s->data);
        err = shm_meet(m, s, bytes);
    }
    if (!err)
        err = shm_alike(m, 0, m->size, bytes);
    for (int i = 0; i < m->size && !err; i++)
        if (i != m->rank || !in_place)
            unpack(block_of(&in, i), shm_data(m, i));
    shm_leave(m);
    return err;
}

/* As all vector forms, it takes blocks that are shorter than their counts say. */
int shm_allgatherv(struct shm *m, const struct coll_args *a)
{
    struct blocks in = blocks_vector(a->rbuf, a->rcounts, a->rdispls, a->rtype);
    int err, in_place = a->sbuf == MPI_IN_PLACE;
    struct block own = in_place ? block_of(&in, m->rank) : own_block(a);
    size_t bytes = block_bytes(own), room = block_bytes(block_of(&in, m->rank));
    struct slot *s;
    err = shm_slot_open(m, &s);
    if (!err) {
        if (bytes <= room)
            pack(own, s->data);
        err = shm_meet(m, s, bytes <= room ? bytes : BAD_BYTES);
    }
    for (int i = 0; i < m->size && !err; i++) {
        struct block b = block_of(&in, i);
        size_t there = shm_slot(m, i, m->n)->bytes;
        if (there > block_bytes(b))
            err = shm_alike(m, i, i + 1, block_bytes(b));
        else if (i != m->rank || !in_place)
            dt_unpack(b.t, (size_t)b.n, b.at, 0, shm_data(m, i), there);
    }
    shm_leave(m);
    return err;
}

/* Where the block of rank i lies among those of a writer that leaves out its own. */
static size_t place(int i, int writer, size_t bytes)
{
    return (size_t)(i - (i > writer)) * bytes;
}

/* The same of scatter. Where there is room for all, each lies at its rank's place: so the block of
 * rank 1 is not in the line that it polls while the root writes. */
static size_t scattered(const struct shm *m, int i, int root, size_t bytes)
{
    return (size_t)m->size * bytes <= m->max ? (size_t)i * bytes : place(i, root, bytes);
}

static int scatter_take(struct shm *m, const struct coll_args *a, size_t bytes)
{
    m->n++;
    int err = shm_await(m, a->root, a->root + 1);
    if (!err)
        err = shm_alike(m, a->root, a->root + 1, bytes);
    if (!err)
        unpack((struct block){a->rbuf, a->rcount, a->rtype},
               shm_data(m, a->root) + scattered(m, m->rank, a->root, bytes));
    shm_leave(m);
    shm_wake(m, a->root);
    return err;
}

int shm_scatter(struct shm *m, const struct coll_args *a, size_t bytes)
{
    if (m->rank != a->root)
        return scatter_take(m, a, bytes);
    struct blocks out = blocks_even(a->sbuf, a->scount, a->stype);
    struct block own = block_of(&out, m->rank);
    int in_place = a->rbuf == MPI_IN_PLACE;
    struct slot *s;
    int err = shm_slot_open(m, &s);
    if (!err) {
        for (int i = 0; i < m->size; i++)
            if (i != m->rank)
                pack(block_of(&out, i), s->data + scattered(m, i, a->root, bytes));
        shm_publish(m, s, bytes);
        shm_wake_others(m);
    }
    if (!err && !in_place)
        err = own_bytes(own, (struct block){a->rbuf, a->rcount, a->rtype}) == BAD_BYTES
                  ? sched_mismatch(bytes, (size_t)a->rcount * (size_t)a->rtype->size) : MPI_SUCCESS;
    if (!err && !in_place)
        copy(own, (struct block){a->rbuf, a->rcount, a->rtype});
    shm_leave(m);
    return err;
}

/* In place needs no extra step: all blocks are in the slot before any is received. */
int shm_alltoall(struct shm *m, const struct coll_args *a)
{
    int in_place = a->sbuf == MPI_IN_PLACE;
    struct blocks in = blocks_even(a->rbuf, a->rcount, a->rtype),
                  out = in_place ? in : blocks_even(a->sbuf, a->scount, a->stype);
    size_t bytes = own_bytes(block_of(&out, 0), block_of(&in, 0));
    struct slot *s;
    int err = shm_slot_open(m, &s);
    if (!err) {
        for (int i = 0; i < m->size && bytes != BAD_BYTES; i++)
            if (i != m->rank)
                pack(block_of(&out, i), s->data + place(i, m->rank, bytes));
        err = shm_meet(m, s, bytes);
    }
    if (!err)
        err = shm_alike(m, 0, m->size, bytes);
    for (int i = 0; i < m->size && !err; i++)
        if (i != m->rank)
            unpack(block_of(&in, i), shm_data(m, i) + place(m->rank, i, bytes));
        else if (!in_place)
            copy(block_of(&out, i), block_of(&in, i));
    shm_leave(m);
    return err;
}
