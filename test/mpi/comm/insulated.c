/* insulated.c - a process dies, and communicators without it notice nothing: MPI_COMM_WORLD is
 * split, and the last rank dies. Calls on the half with it end with MPIX_ERR_PROC_FAILED, those on
 * the other one succeed. Run with mpiexec -disable-auto-cleanup on four or more ranks. "at-once":
 * it dies when MPI_Comm_split returns there, which others may be in. Then some may have no half,
 * with that class; an agreement tells all. */
#include "../mt.h"
#include <signal.h>

static MPI_Comm half = MPI_COMM_NULL;

static int failed_of(MPI_Comm c)
{
    MPI_Group g;
    int n = -1;
    CHECK_EQ(MPI_Comm_get_failed(c, &g), MPI_SUCCESS);
    MPI_Group_size(g, &n);
    MPI_Group_free(&g);
    return n;
}

static void notices_nothing(void)
{
    MPI_Comm copy;
    int i, one = 1, sum, rank, size, got;
    MPI_Comm_rank(half, &rank);
    MPI_Comm_size(half, &size);
    for (i = 0; i < 300 && !mt_errors; i++) {
        CHECK_EQ(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, half), MPI_SUCCESS);
        CHECK_EQ(sum, size);
        CHECK_EQ(failed_of(half), 0);
    }
    /* from any process: no failure of this communicator is there to be acknowledged */
    for (i = 1; i < size && rank == 0; i++)
        CHECK_EQ(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 1, half, MPI_STATUS_IGNORE),
                 MPI_SUCCESS);
    if (rank)
        CHECK_EQ(MPI_Send(&one, 1, MPI_INT, 0, 1, half), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_dup(half, &copy), MPI_SUCCESS);
    CHECK_EQ(MPI_Barrier(copy), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_free(&copy), MPI_SUCCESS);
    one = 3;
    CHECK_EQ(MPIX_Comm_agree(half, &one), MPI_SUCCESS);
    CHECK_EQ(one, 3);
}

static void notices(void)
{
    int err = MPI_SUCCESS;
    while (!err)
        err = MPI_Barrier(half);
    CHECK_EQ(mt_class(err), MPIX_ERR_PROC_FAILED);
    CHECK_EQ(failed_of(half), 1);
}

int main(int argc, char **argv)
{
    int at_once = argc > 1 && !strcmp(argv[1], "at-once"), err, all_have_it;
    MPI_Comm living;
    mt_init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    err = MPI_Comm_split(MPI_COMM_WORLD, mt_rank < mt_size / 2, mt_rank, &half);
    if (!at_once) {
        CHECK_EQ(err, MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (mt_rank == mt_size - 1)
        raise(SIGKILL);
    CHECK(!err || mt_class(err) == MPIX_ERR_PROC_FAILED);
    all_have_it = !err;
    err = MPIX_Comm_agree(MPI_COMM_WORLD, &all_have_it);
    CHECK_EQ(mt_class(err), MPIX_ERR_PROC_FAILED); /* not acknowledged */
    CHECK_EQ(failed_of(MPI_COMM_WORLD), 1);
    CHECK(at_once || all_have_it);
    if (all_have_it && mt_rank < mt_size / 2)
        notices_nothing();
    else if (all_have_it)
        notices();
    CHECK_EQ(MPIX_Comm_shrink(MPI_COMM_WORLD, &living), MPI_SUCCESS);
    return mt_finish_over(living);
}
