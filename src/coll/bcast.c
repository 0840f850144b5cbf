/* bcast.c - barrier and broadcast. */
#include "coll/coll_types.h"
#include "coll/select.h"

/* In round k each process signals the one 2^k after it. After log P rounds, each has a signal from
 * all (Hensgen, Finkel, Manber 1988). */
void build_barrier(struct sched *s)
{
    struct dt_type *byte = proc->coll->byte;
    int r = s->comm->rank, p = s->comm->size;
    for (int k = 1; k < p; k <<= 1) {
        sched_recv(s, NULL, 0, byte, (r - k + p) % p);
        sched_send(s, NULL, 0, byte, (r + k) % p);
        sched_fence(s);
    }
}

void build_bcast_binomial(struct sched *s, void *buf, MPI_Aint n, struct dt_type *t, int root)
{
    int p = s->comm->size, v = (s->comm->rank - root + p) % p, mask = 1;
    for (; mask < p && !(v & mask); mask <<= 1)
        ;
    if (v) {
        sched_recv(s, buf, n, t, (v - mask + root) % p);
        sched_fence(s);
    }
    for (mask >>= 1; mask; mask >>= 1)
        if (v + mask < p)
            sched_send(s, buf, n, t, (v + mask + root) % p);
    sched_fence(s);
}

/* Bytes [*from, *from + *len) are piece i of p. */
static void piece(size_t bytes, int p, int i, size_t *from, size_t *len)
{
    size_t each = (bytes + (size_t)p - 1) / (size_t)p;
    *from = each * (size_t)i < bytes ? each * (size_t)i : bytes;
    *len = bytes - *from < each ? bytes - *from : each;
}

/* Scatter by a binomial tree, then a ring: every process sends and receives 2 (P-1)/P of the data
 * (van de Geijn). */
static void bcast_scatter_ring(struct sched *s, char *b, size_t bytes, int root)
{
    struct dt_type *byte = proc->coll->byte;
    int p = s->comm->size, v = (s->comm->rank - root + p) % p, mask = 1;
    size_t from, len, end, end_len;
    for (; mask < p && !(v & mask); mask <<= 1)
        ;
    if (v) { /* pieces v .. v+mask-1 */
        int last = v + mask - 1 < p - 1 ? v + mask - 1 : p - 1;
        piece(bytes, p, v, &from, &len);
        piece(bytes, p, last, &end, &end_len);
        sched_recv(s, b + from, (MPI_Aint)(end + end_len - from), byte, (v - mask + root) % p);
        sched_fence(s);
    }
    for (mask >>= 1; mask; mask >>= 1) {
        int child = v + mask;
        if (child >= p)
            continue;
        int last = child + mask - 1 < p - 1 ? child + mask - 1 : p - 1;
        piece(bytes, p, child, &from, &len);
        piece(bytes, p, last, &end, &end_len);
        sched_send(s, b + from, (MPI_Aint)(end + end_len - from), byte, (child + root) % p);
    }
    sched_fence(s);
    for (int i = 0; i < p - 1; i++) {
        piece(bytes, p, (v - i - 1 + 2 * p) % p, &from, &len);
        sched_recv(s, b + from, (MPI_Aint)len, byte, (v - 1 + p + root) % p);
        piece(bytes, p, (v - i + p) % p, &from, &len);
        sched_send(s, b + from, (MPI_Aint)len, byte, (v + 1 + root) % p);
        sched_fence(s);
    }
}

void build_bcast(struct sched *s, void *buf, MPI_Aint n, struct dt_type *t, int root)
{
    size_t bytes = (size_t)n * (size_t)t->size;
    if (bytes == 0 || s->comm->size == 1)
        return;
    if (coll_select(FAM_BCAST, bytes, s->comm->size) == ALG_BINOMIAL) {
        build_bcast_binomial(s, buf, n, t, root);
    } else if (dt_is_block(t, (size_t)n)) {
        bcast_scatter_ring(s, dt_start(t, buf), bytes, root);
    } else {
        struct dt_type *byte = proc->coll->byte;
        char *packed = sched_room(s, bytes);
        if (s->comm->rank == root)
            sched_copy(s, buf, n, t, packed, (MPI_Aint)bytes, byte);
        bcast_scatter_ring(s, packed, bytes, root);
        if (s->comm->rank != root)
            sched_copy(s, packed, (MPI_Aint)bytes, byte, buf, n, t);
    }
}
