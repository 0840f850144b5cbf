/* left.c - a collective over two jobs fails while its message waits for a process of the other job
 * that has called MPI_Finalize: no answer comes, and the collective ends. Run with
 * -disable-auto-cleanup, 1 process. */
#include "../mt.h"

#include <errno.h>
#include <unistd.h>

enum { BYTES = 4 << 20 };

static void child(MPI_Comm parent)
{
    int pid = (int)getpid(), x;

    if (mt_rank == 0)
        MPI_Send(&pid, 1, MPI_INT, 0, 1, parent);
    if (mt_rank == 1) {
        MPI_Recv(&x, 1, MPI_INT, 0, 2, parent, MPI_STATUS_IGNORE);
        raise(SIGKILL);
    }
    MPI_Finalize();
    exit(0);
}

int main(int argc, char **argv)
{
    char *buf = calloc(1, BYTES);
    MPI_Comm parent, inter;
    MPI_Request r;
    int pid = 0, x = 0;

    mt_init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        child(parent);
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                   MPI_ERRCODES_IGNORE);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Recv(&pid, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
    MPI_Ibcast(buf, BYTES, MPI_BYTE, MPI_ROOT, inter, &r); /* it reaches the child, which waits for
                                                            * the other one to finalize */
    MPI_Send(&x, 1, MPI_INT, 1, 2, inter);
    while (!kill((pid_t)pid, 0) || errno != ESRCH)
        usleep(1000);
    CHECK_EQ(mt_class(MPI_Wait(&r, MPI_STATUS_IGNORE)), MPIX_ERR_PROC_FAILED);
    free(buf);
    if (!mt_errors)
        printf(" No Errors\n");
    MPI_Finalize();
    return mt_errors != 0;
}
