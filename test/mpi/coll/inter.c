/* inter.c - collectives on an intercommunicator: data go from one group to the other. MPI-3.1
 * 5.2.2. */
#include "../mt.h"

static int lrank, lsize, rsize, low; /* on the intercommunicator; low: in the group of even ranks */
static MPI_Comm inter;

static int val(int group, int r, int i) { return group * 1000000 + r * 1000 + i; }

static void rooted(int nonblocking)
{
    int root_group, root, b[20], i, bad, at_root,
        *g = mt_alloc(sizeof(int) * 20 * (size_t)(lsize + rsize)), r;
    MPI_Request req;

    for (root_group = 0; root_group < 2; root_group++)
        for (root = 0; root < 1; root++) {
            int mine = (root_group == 0) == low;

            at_root = !mine ? root : lrank == root ? MPI_ROOT : MPI_PROC_NULL;
            for (i = 0; i < 20; i++)
                b[i] = at_root == MPI_ROOT ? val(root_group, 0, i) : -1;
            if (nonblocking) {
                MPI_Ibcast(b, 20, MPI_INT, at_root, inter, &req);
                MPI_Wait(&req, MPI_STATUS_IGNORE);
            } else
                MPI_Bcast(b, 20, MPI_INT, at_root, inter);
            for (i = bad = 0; i < 20 && !mine; i++)
                bad += b[i] != val(root_group, 0, i);
            MUST(bad == 0, "bcast: %d wrong", bad);

            for (i = 0; i < 20; i++)
                b[i] = val(low, lrank, i);
            memset(g, 0, sizeof(int) * 20 * (size_t)(lsize + rsize));
            if (nonblocking) {
                MPI_Igather(b, 20, MPI_INT, g, 20, MPI_INT, at_root, inter, &req);
                MPI_Wait(&req, MPI_STATUS_IGNORE);
            } else
                MPI_Gather(b, 20, MPI_INT, g, 20, MPI_INT, at_root, inter);
            for (r = bad = 0; r < rsize && at_root == MPI_ROOT; r++)
                for (i = 0; i < 20; i++)
                    bad += g[20 * r + i] != val(!low, r, i);
            MUST(bad == 0, "gather: %d wrong", bad);
            memset(b, 0, sizeof b);
            if (nonblocking) {
                MPI_Iscatter(g, 20, MPI_INT, b, 20, MPI_INT, at_root, inter, &req);
                MPI_Wait(&req, MPI_STATUS_IGNORE);
            } else
                MPI_Scatter(g, 20, MPI_INT, b, 20, MPI_INT, at_root, inter);
            for (i = bad = 0; i < 20 && !mine; i++)
                bad += b[i] != val(low, lrank, i);
            MUST(bad == 0, "scatter: %d wrong", bad);
            for (i = 0; i < 20; i++)
                b[i] = val(low, lrank, i);
            if (nonblocking) {
                MPI_Ireduce(b, g, 20, MPI_INT, MPI_SUM, at_root, inter, &req);
                MPI_Wait(&req, MPI_STATUS_IGNORE);
            } else
                MPI_Reduce(b, g, 20, MPI_INT, MPI_SUM, at_root, inter);
            for (i = bad = 0; i < 20 && at_root == MPI_ROOT; i++) {
                int s = 0;

                for (r = 0; r < rsize; r++)
                    s += val(!low, r, i);
                bad += g[i] != s;
            }
            MUST(bad == 0, "reduce: %d wrong", bad);
        }
    free(g);
}

static void all(int nonblocking)
{
    int b[10], s[10], i, r, bad, *g = mt_alloc(sizeof(int) * 10 * (size_t)rsize),
                                 *out = mt_alloc(sizeof(int) * 10 * (size_t)rsize);
    int *in = mt_alloc(sizeof(int) * (size_t)(lsize * rsize)),
        *rs = mt_alloc(sizeof(int) * (size_t)(rsize + lsize));
    int *counts = mt_alloc(sizeof(int) * (size_t)rsize),
        *displs = mt_alloc(sizeof(int) * (size_t)rsize);
    MPI_Request req;

    for (i = 0; i < 10; i++)
        b[i] = val(low, lrank, i);
    if (nonblocking) {
        MPI_Iallreduce(b, s, 10, MPI_INT, MPI_SUM, inter, &req);
        MPI_Wait(&req, MPI_STATUS_IGNORE);
        MPI_Iallgather(b, 10, MPI_INT, g, 10, MPI_INT, inter, &req);
        MPI_Wait(&req, MPI_STATUS_IGNORE);
        MPI_Ibarrier(inter, &req);
        MPI_Wait(&req, MPI_STATUS_IGNORE);
    } else {
        MPI_Allreduce(b, s, 10, MPI_INT, MPI_SUM, inter);
        MPI_Allgather(b, 10, MPI_INT, g, 10, MPI_INT, inter);
        MPI_Barrier(inter);
    }
    for (i = bad = 0; i < 10; i++) {
        int want = 0;

        for (r = 0; r < rsize; r++) {
            want += val(!low, r, i);
            bad += g[10 * r + i] != val(!low, r, i);
        }
        bad += s[i] != want;
    }
    MUST(bad == 0, "allreduce and allgather: %d wrong", bad);
    for (r = 0; r < rsize; r++)
        for (i = 0; i < 10; i++)
            out[10 * r + i] = val(low, lrank * 32 + r, i);
    if (nonblocking) {
        MPI_Ialltoall(out, 10, MPI_INT, g, 10, MPI_INT, inter, &req);
        MPI_Wait(&req, MPI_STATUS_IGNORE);
    } else
        MPI_Alltoall(out, 10, MPI_INT, g, 10, MPI_INT, inter);
    for (r = bad = 0; r < rsize; r++)
        for (i = 0; i < 10; i++)
            bad += g[10 * r + i] != val(!low, r * 32 + lrank, i);
    MUST(bad == 0, "alltoall: %d wrong", bad);
    for (r = 0; r < rsize; r++) {
        counts[r] = 10;
        displs[r] = 10 * (rsize - 1 - r);
    }
    MPI_Allgatherv(b, 10, MPI_INT, g, counts, displs, MPI_INT, inter);
    for (r = bad = 0; r < rsize; r++)
        for (i = 0; i < 10; i++)
            bad += g[10 * (rsize - 1 - r) + i] != val(!low, r, i);
    MUST(bad == 0, "allgatherv: %d wrong", bad);
    /* reduce_scatter_block: rsize numbers for each local rank on either side: same total on both */
    for (i = 0; i < lsize * rsize; i++)
        in[i] = lrank * 1000 + i;
    MPI_Reduce_scatter_block(in, rs, rsize, MPI_INT, MPI_SUM, inter);
    for (i = bad = 0; i < rsize; i++) {
        int want = 0;

        for (r = 0; r < rsize; r++)
            want += r * 1000 + lrank * rsize + i;
        bad += rs[i] != want;
    }
    MUST(bad == 0, "reduce_scatter_block: %d wrong", bad);
    free(g), free(out), free(in), free(rs), free(counts), free(displs);
}

int main(int argc, char **argv)
{
    MPI_Comm half;

    mt_init(&argc, &argv);
    if (mt_size > 1) {
        low = mt_rank % 2 == 0;
        MPI_Comm_split(MPI_COMM_WORLD, low, mt_rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? 1 : 0, 5, &inter);
        MPI_Comm_rank(inter, &lrank);
        MPI_Comm_size(inter, &lsize);
        MPI_Comm_remote_size(inter, &rsize);
        rooted(0);
        rooted(1);
        all(0);
        all(1);
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
    return mt_finish();
}
