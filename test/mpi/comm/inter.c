/* inter.c - intercommunicators: creation, sends across, merge, dup, split, remote group. */
#include "../mt.h"

static void across(MPI_Comm inter, int expect_remote)
{
    int r, n, k, v, got = -1, flag;
    MPI_Request *req;
    MPI_Status st;

    MPI_Comm_test_inter(inter, &flag);
    CHECK_EQ(flag, 1);
    MPI_Comm_rank(inter, &r);
    MPI_Comm_remote_size(inter, &n);
    CHECK_EQ(n, expect_remote);
    req = mt_alloc(sizeof *req * (size_t)n);
    v = mt_rank;
    for (k = 0; k < n; k++)
        MPI_Isend(&v, 1, MPI_INT, k, r, inter, &req[k]);
    for (k = 0; k < n; k++) {
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &st);
        CHECK_EQ(st.MPI_TAG, st.MPI_SOURCE);
        CHECK_EQ(got % 2, !(mt_rank % 2));
    }
    MPI_Waitall(n, req, MPI_STATUSES_IGNORE);
    free(req);
}

int main(int argc, char **argv)
{
    MPI_Comm half, inter, merged, copy, part;
    MPI_Group g, none, remote;
    int low, n, m, r, k, cmp, odd, even;

    mt_init(&argc, &argv);
    if (mt_size > 1) {
        low = mt_rank % 2 == 0;
        even = (mt_size + 1) / 2;
        odd = mt_size / 2;
        MPI_Comm_split(MPI_COMM_WORLD, low, mt_rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? 1 : 0, 99, &inter);
        across(inter, low ? odd : even);
        MPI_Comm_remote_group(inter, &remote);
        MPI_Comm_group(inter, &g);
        MPI_Group_size(remote, &n);
        CHECK_EQ(n, low ? odd : even);
        MPI_Group_size(g, &n);
        CHECK_EQ(n, low ? even : odd);
        MPI_Group_intersection(g, remote, &none);
        MPI_Group_size(none, &n);
        CHECK_EQ(n, 0);
        MPI_Group_free(&none);
        MPI_Group_free(&g);
        MPI_Group_free(&remote);

        for (k = 0; k < 2; k++) {          /* `high` decides which comes first */
            MPI_Intercomm_merge(inter, low == (k == 0), &merged);
            MPI_Comm_size(merged, &n);
            CHECK_EQ(n, mt_size);
            MPI_Comm_rank(merged, &r);
            CHECK_EQ(r, mt_rank / 2 + ((low == (k == 0)) ? (low ? odd : even) : 0));
            MPI_Allreduce(&mt_rank, &m, 1, MPI_INT, MPI_SUM, merged);
            CHECK_EQ(m, mt_size * (mt_size - 1) / 2);
            MPI_Comm_free(&merged);
        }
        MPI_Comm_dup(inter, &copy);
        MPI_Comm_compare(inter, copy, &cmp);
        CHECK_EQ(cmp, MPI_CONGRUENT);
        across(copy, low ? odd : even);
        MPI_Comm_free(&copy);
        /* split: the first of either side together, the rest together */
        MPI_Comm_rank(inter, &r);
        MPI_Comm_split(inter, r == 0 ? 0 : odd > 1 ? 1 : MPI_UNDEFINED, 0, &part);
        if (part != MPI_COMM_NULL) {
            MPI_Comm_remote_size(part, &n);
            CHECK_EQ(n, r == 0 ? 1 : (low ? odd : even) - 1);
            MPI_Barrier(part);
            MPI_Comm_free(&part);
        }
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
    return mt_finish();
}
