/* overlap.c - many nonblocking collectives under way at once, on one communicator and on several,
 * finished in another order than started, beside point-to-point traffic; derived types in
 * collectives. */
#include "../mt.h"

enum { M = 40 };

static void many(void)
{
    MPI_Comm other;
    MPI_Request req[4 * M + 2], pp[2];
    int sum[M], one[M], cast[M], *all[M], i, k, got = -1, flag;
    int right = (mt_rank + 1) % mt_size, left = (mt_rank + mt_size - 1) % mt_size;

    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Irecv(&got, 1, MPI_INT, left, 0, MPI_COMM_WORLD, &pp[0]);
    for (i = 0; i < M; i++) {
        one[i] = mt_rank + i;
        cast[i] = mt_rank == i % mt_size ? i * 11 : -1;
        all[i] = mt_alloc(sizeof(int) * (size_t)mt_size);
        MPI_Iallreduce(&one[i], &sum[i], 1, MPI_INT, MPI_SUM, i % 2 ? other : MPI_COMM_WORLD,
                       &req[4 * i]);
        MPI_Ibcast(&cast[i], 1, MPI_INT, i % mt_size, MPI_COMM_WORLD, &req[4 * i + 1]);
        MPI_Ibarrier(other, &req[4 * i + 2]);
        MPI_Iallgather(&one[i], 1, MPI_INT, all[i], 1, MPI_INT, other, &req[4 * i + 3]);
    }
    MPI_Isend(&mt_rank, 1, MPI_INT, right, 0, MPI_COMM_WORLD, &pp[1]);
    for (i = M - 1; i >= M / 2; i--)
        MPI_Waitall(4, &req[4 * i], MPI_STATUSES_IGNORE);
    do
        MPI_Testall(4 * (M / 2), req, &flag, MPI_STATUSES_IGNORE);
    while (!flag);
    MPI_Waitall(2, pp, MPI_STATUSES_IGNORE);
    CHECK_EQ(got, left);
    for (i = 0; i < M; i++) {
        CHECK_EQ(sum[i], mt_size * (mt_size - 1) / 2 + i * mt_size);
        CHECK_EQ(cast[i], i * 11);
        for (k = 0; k < mt_size; k++)
            CHECK_EQ(all[i][k], k + i);
        free(all[i]);
    }
    MPI_Comm_free(&other);
}

/* ibarrier is complete nowhere before the last rank has entered it. */
static void barrier_waits(void)
{
    MPI_Request req;
    int flag = 0, i, go = 0;

    if (mt_size == 1)
        return;
    if (mt_rank == 0) {
        MPI_Recv(&go, 1, MPI_INT, mt_size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Ibarrier(MPI_COMM_WORLD, &req);
    } else {
        MPI_Ibarrier(MPI_COMM_WORLD, &req);
        for (i = 0; i < 300; i++)
            MPI_Test(&req, &flag, MPI_STATUS_IGNORE);
        if (mt_rank == mt_size - 1) {
            CHECK_EQ(flag, 0);
            MPI_Send(&go, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
    }
    MPI_Wait(&req, MPI_STATUS_IGNORE);
}

static void derived(void)
{
    MPI_Datatype col, rcol;
    int n = 6, i, k, bad = 0, *m = mt_alloc(sizeof(int) * (size_t)(n * mt_size)), a[36], b[6];
    int *counts = mt_alloc(sizeof(int) * (size_t)mt_size),
        *displs = mt_alloc(sizeof(int) * (size_t)mt_size);
    MPI_Datatype *st = mt_alloc(sizeof *st * (size_t)mt_size),
                 *rt = mt_alloc(sizeof *rt * (size_t)mt_size);

    /* column of a 6 x size matrix, one per rank */
    MPI_Type_vector(n, 1, mt_size, MPI_INT, &col);
    MPI_Type_create_resized(col, 0, 4, &rcol);
    MPI_Type_commit(&rcol);
    for (i = 0; i < n; i++)
        b[i] = mt_rank * 10 + i;
    memset(m, 0, sizeof(int) * (size_t)(n * mt_size));
    MPI_Allgather(b, n, MPI_INT, m, 1, rcol, MPI_COMM_WORLD);
    for (k = 0; k < mt_size; k++)
        for (i = 0; i < n; i++)
            bad += m[i * mt_size + k] != k * 10 + i;
    MUST(bad == 0, "allgather into columns: %d wrong", bad);
    memset(b, 0, sizeof b);
    MPI_Scatter(m, 1, rcol, b, n, MPI_INT, 0, MPI_COMM_WORLD);
    for (i = bad = 0; i < n; i++)
        bad += b[i] != mt_rank * 10 + i;
    MUST(bad == 0, "scatter of columns: %d wrong", bad);
    memset(m, 0, sizeof(int) * (size_t)(n * mt_size));
    MPI_Gather(b, n, MPI_INT, m, 1, rcol, mt_size - 1, MPI_COMM_WORLD);
    for (k = 0, bad = 0; k < mt_size && mt_rank == mt_size - 1; k++)
        for (i = 0; i < n; i++)
            bad += m[i * mt_size + k] != k * 10 + i;
    MUST(bad == 0, "gather into columns: %d wrong", bad);
    MPI_Type_free(&col);
    MPI_Type_free(&rcol);

    /* bcast: a vector at the root, contiguous elsewhere */
    MPI_Type_vector(6, 1, 6, MPI_INT, &col);
    MPI_Type_commit(&col);
    for (i = 0; i < 36; i++)
        a[i] = mt_rank == 0 ? i : -1;
    if (mt_rank == 0)
        MPI_Bcast(a, 1, col, 0, MPI_COMM_WORLD);
    else
        MPI_Bcast(a, 6, MPI_INT, 0, MPI_COMM_WORLD);
    for (i = bad = 0; i < 6; i++)
        bad += a[mt_rank ? i : 6 * i] != 6 * i;
    MUST(bad == 0, "bcast of a column: %d wrong", bad);

    /* alltoallw: different types for different peers */
    for (k = 0; k < mt_size; k++) {
        counts[k] = k % 2 ? 1 : 6;
        displs[k] = 0;
        st[k] = k % 2 ? col : MPI_INT;
        rt[k] = MPI_INT;
    }
    for (i = 0; i < 36; i++)
        a[i] = mt_rank * 100 + i;
    free(m);
    m = mt_alloc(sizeof(int) * 6 * (size_t)mt_size);
    {
        int *rc = mt_alloc(sizeof(int) * (size_t)mt_size),
            *rd = mt_alloc(sizeof(int) * (size_t)mt_size);

        for (k = 0; k < mt_size; k++) {
            rc[k] = 6;
            rd[k] = 24 * k;
        }
        MPI_Alltoallw(a, counts, displs, st, m, rc, rd, rt, MPI_COMM_WORLD);
        free(rc);
        free(rd);
    }
    for (k = bad = 0; k < mt_size; k++)
        for (i = 0; i < 6; i++)
            bad += m[6 * k + i] != k * 100 + (mt_rank % 2 ? 6 * i : i);
    MUST(bad == 0, "alltoallw with different types: %d wrong", bad);
    MPI_Type_free(&col);
    free(m), free(counts), free(displs), free(st), free(rt);
}

/* Calls of no bytes which some members make as the library's short way takes them, and others not.
 * So early that the communicator's memory is not made yet, and later: all stay in step. They do so,
 * too, where one member alone names MPI_IN_PLACE, which MPI does not allow. */
static void mixed_nothing(void)
{
    MPI_Comm c;
    int none[64] = { 0 }, me, all, i, seen;
    MPI_Datatype own;

    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Type_contiguous(1, MPI_INT, &own);
    MPI_Type_commit(&own);
    for (i = 0; i < 24; i++) {
        MPI_Datatype t = (mt_rank + i) % 2 ? MPI_INT : own;
        MPI_Bcast(&me, 0, t, i % mt_size, c);
        MPI_Allgather(&me, 0, t, &all, 0, MPI_INT, c);
        MPI_Allreduce(mt_rank == i % mt_size ? MPI_IN_PLACE : &me, &all, 0, MPI_INT, MPI_SUM, c);
        MPI_Reduce_scatter(mt_rank == i % mt_size ? MPI_IN_PLACE : &me, &all, none, MPI_INT,
                           MPI_SUM, c);
        MPI_Gatherv(&me, 0, t, &all, mt_rank == i % mt_size ? none : NULL, none, MPI_INT,
                    i % mt_size, c);
        MPI_Scatterv(&me, mt_rank == i % mt_size ? none : NULL, none, t, &all, 0, MPI_INT,
                     i % mt_size, c);
        me = mt_rank + i;
        MPI_Allreduce(&me, &all, 1, MPI_INT, MPI_SUM, c);
        CHECK_EQ(all, mt_size * (mt_size - 1) / 2 + mt_size * i);
        seen = mt_rank == i % mt_size ? i : -1;
        MPI_Bcast(&seen, 1, MPI_INT, i % mt_size, c);
        CHECK_EQ(seen, i);
    }
    MPI_Type_free(&own);
    MPI_Comm_free(&c);
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    mixed_nothing();
    many();
    barrier_waits();
    derived();
    return mt_finish();
}
