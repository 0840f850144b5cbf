/* reduce_scatter.c - reduce-scatter: each process ends with its block of the reduction. */
#include "coll/coll_types.h"
#include "coll/select.h"

struct plan {
    struct coll_vec counts;
    MPI_Aint even; /* used when counts.v is NULL */
    int p;
    struct dt_type *t;
};

static MPI_Aint count_at(const struct plan *w, int i)
{
    return w->counts.v ? coll_at(w->counts, i) : w->even;
}

static MPI_Aint offset_of(const struct plan *w, int rank)
{
    MPI_Aint sum = 0;
    if (!w->counts.v)
        return rank * w->even;
    for (int i = 0; i < rank; i++)
        sum += coll_at(w->counts, i);
    return sum;
}

/* In step i, each process sends the block of the process i after it and reduces the one that it
 * receives. */
static void pairwise(struct sched *s, const struct plan *w, const char *sbuf, void *rbuf,
                     struct dt_op *op, int in_place)
{
    int p = w->p, r = s->comm->rank;
    MPI_Aint mine = count_at(w, r), at = 0, *offset = sched_bytes(s, (size_t)p * sizeof *offset);
    if (!offset)
        return;
    for (int i = 0; i < p; i++) {
        offset[i] = at;
        at += count_at(w, i);
    }
    /* In place the result must not overwrite blocks that are still to be sent. */
    void *acc = in_place ? sched_temp(s, mine, w->t) : rbuf, *other = sched_temp(s, mine, w->t);
    sched_copy(s, sbuf + offset[r] * w->t->extent, mine, w->t, acc, mine, w->t);
    for (int i = 1; i < p; i++) {
        int to = (r + i) % p, from = (r - i + p) % p;
        if (mine)
            sched_recv(s, other, mine, w->t, from);
        if (count_at(w, to))
            sched_send(s, sbuf + offset[to] * w->t->extent, count_at(w, to), w->t, to);
        sched_fence(s);
        if (mine)
            sched_reduce(s, op, other, acc, mine, w->t);
    }
    if (in_place)
        sched_copy(s, acc, mine, w->t, rbuf, mine, w->t);
}

void build_reduce_scatter(struct sched *s, const void *sbuf, void *rbuf, struct coll_vec counts,
                          MPI_Aint even, struct dt_type *t, struct dt_op *op)
{
    struct plan w = {counts, even, s->comm->size, t};
    int r = s->comm->rank, in_place = sbuf == MPI_IN_PLACE;
    MPI_Aint n = offset_of(&w, w.p);
    if (n == 0)
        return;
    if (in_place)
        sbuf = rbuf;
    if (op->commute &&
        coll_select(FAM_REDUCE_SCATTER, (size_t)n * (size_t)t->size, w.p) == ALG_PAIRWISE) {
        pairwise(s, &w, sbuf, rbuf, op, in_place);
        return;
    }
    char *all = r == 0 ? sched_temp(s, n, t) : NULL;
    build_reduce(s, sbuf, all, n, t, op, 0);
    sched_fence(s);
    if (r != 0) {
        if (count_at(&w, r))
            sched_recv(s, rbuf, count_at(&w, r), t, 0);
    } else {
        MPI_Aint at = 0;
        for (int i = 0; i < w.p; i++) {
            MPI_Aint c = count_at(&w, i);
            if (c && i == 0)
                sched_copy(s, all, c, t, rbuf, c, t);
            else if (c)
                sched_send(s, all + at * t->extent, c, t, i);
            at += c;
        }
    }
    sched_fence(s);
}
