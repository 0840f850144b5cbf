/* death.c - a process dies while others use its windows (rma.md, section 5, number 14). Run with
 * mpiexec -disable-auto-cleanup on at least three ranks: the last one kills itself, holding an
 * exclusive lock of its own window; calls that need it return an error in bounded time, the others
 * go on working with each other. */
#include "rw.h"
#include <signal.h>
#include <unistd.h>

static MPI_Comm rest;

static void bad(int err, const char *what, int flavour)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n;

    MUST(err != MPI_SUCCESS, "%s on a dead rank succeeded (%s)", what, rw_flavour_names[flavour]);
    if (err) {
        MPI_Error_string(err, text, &n);
        MUST(mt_class(err) == MPIX_ERR_PROC_FAILED, "%s on a dead rank (%s): class %d: %s", what,
             rw_flavour_names[flavour], mt_class(err), text);
    }
}

int main(int argc, char **argv)
{
    struct rw w[3];
    int f, dead, err, flavours[3] = { RW_ALLOCATE, RW_CREATE, RW_DYNAMIC }, t, sum;
    int64_t v = 1;

    mt_init(&argc, &argv);
    if (mt_size < 3)
        return mt_finish();
    dead = mt_size - 1;
    MPI_Comm_split(MPI_COMM_WORLD, mt_rank == dead, mt_rank, &rest);
    for (f = 0; f < 3; f++) {
        rw_make(&w[f], flavours[f], 64, MPI_COMM_WORLD);
        MPI_Win_set_errhandler(w[f].win, MPI_ERRORS_RETURN);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (mt_rank == dead) {
        for (f = 0; f < 3; f++)
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, dead, 0, w[f].win);
        MPI_Send(NULL, 0, MPI_INT, 0, 3, MPI_COMM_WORLD);
        usleep(100000);
        kill(getpid(), SIGKILL);
    }
    if (mt_rank == 0)
        MPI_Recv(NULL, 0, MPI_INT, dead, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(rest);
    for (f = 0; f < 3; f++) {
        err = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, dead, 0, w[f].win);
        if (!err) {
            err = MPI_Put(&v, 1, MPI_INT64_T, dead, rw_disp(&w[f], dead, 0), 1, MPI_INT64_T,
                          w[f].win);
            if (!err)
                err = MPI_Win_flush(dead, w[f].win);
            t = MPI_Win_unlock(dead, w[f].win);
            if (!err)
                err = t;
        }
        bad(err, "lock, put, unlock", flavours[f]);
    }
    /* the survivors go on */
    t = mt_rank == 0 ? 1 : 0;
    MPI_Allreduce(&mt_rank, &sum, 1, MPI_INT, MPI_SUM, rest);
    CHECK_EQ(sum, dead * (dead - 1) / 2);
    for (f = 0; f < 3; f++) {
        err = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, w[f].win);
        CHECK_EQ(err, MPI_SUCCESS);
        err = MPI_Accumulate(&v, 1, MPI_INT64_T, t, rw_disp(&w[f], t, 0), 1, MPI_INT64_T, MPI_SUM,
                             w[f].win);
        CHECK_EQ(err, MPI_SUCCESS);
        err = MPI_Win_unlock(t, w[f].win);
        CHECK_EQ(err, MPI_SUCCESS);
    }
    MPI_Barrier(rest);
    err = MPI_Send(&v, 1, MPI_INT64_T, dead, 9, MPI_COMM_WORLD); /* may be buffered: any answer */
    (void)err;
    err = MPI_Recv(&v, 1, MPI_INT64_T, dead, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(err != MPI_SUCCESS);
    MPI_Allreduce(&mt_errors, &sum, 1, MPI_INT, MPI_SUM, rest);
    if (mt_rank == 0) {
        printf(sum ? " Found %d errors\n" : " No Errors\n", sum);
        fflush(stdout);
    }
    MPI_Finalize();         /* ends without the dead one */
    return sum != 0;
}
