/* leaves.c - a member of a group that waits at a port dies, and another revokes the communicator:
 * the root, which alone waits at the port, returns, and its place there is free for the next. Run
 * with 4 processes and -disable-auto-cleanup. */
#include "../mt.h"

#include <sys/time.h>

/* Rank 0, which says the result, knows of each error. */
static void all_errors(MPI_Comm group)
{
    MPI_Allreduce(MPI_IN_PLACE, &mt_errors, 1, MPI_INT, MPI_MAX, group);
}

/* The last member dies in the call, or before; which does not matter. *group goes on without it. */
static void wait_in_vain(const char *port, int accepts, MPI_Comm *group)
{
    struct itimerval soon = {.it_value = {.tv_usec = 200000}};
    MPI_Comm inter = MPI_COMM_NULL, living;
    int rank, n, err;

    MPI_Comm_rank(*group, &rank);
    MPI_Comm_size(*group, &n);
    MPI_Comm_set_errhandler(*group, MPI_ERRORS_RETURN);
    if (rank == n - 1)
        setitimer(ITIMER_REAL, &soon, NULL);
    if (accepts)
        err = MPI_Comm_accept(port, MPI_INFO_NULL, 0, *group, &inter);
    else
        err = MPI_Comm_connect(port, MPI_INFO_NULL, 0, *group, &inter);
    CHECK(mt_class(err) == MPIX_ERR_PROC_FAILED || mt_class(err) == MPIX_ERR_REVOKED);
    CHECK_EQ(inter, MPI_COMM_NULL);
    CHECK_EQ(MPIX_Comm_revoke(*group), MPI_SUCCESS); /* the root may wait */
    CHECK_EQ(MPIX_Comm_shrink(*group, &living), MPI_SUCCESS);
    MPI_Comm_free(group);
    *group = living;
    all_errors(living);
}

/* What rank 0 left at the port would take the place of this. */
static void meet(const char *port)
{
    MPI_Comm inter;
    int got = -1;

    if (mt_rank == 0)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    MPI_Sendrecv(&mt_rank, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
    CHECK_EQ(got, !mt_rank);
    MPI_Comm_disconnect(&inter);
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm group;
    int n;

    mt_init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &group);
    if (mt_rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, group);
    wait_in_vain(port, 1, &group);
    wait_in_vain(port, 0, &group);
    MPI_Comm_size(group, &n);
    CHECK_EQ(n, 2);
    meet(port);
    all_errors(group);
    MPI_Comm_free(&group);
    if (mt_rank == 0 && !mt_errors)
        printf(" No Errors\n");
    MPI_Finalize();
    return mt_errors != 0;
}
