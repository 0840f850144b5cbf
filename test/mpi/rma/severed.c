/* severed.c - a process dies while others have long puts and gets under way to it. The network
 * knows first, by a connection that breaks; the errors name the failed process, whichever part
 * noticed. Run with mpiexec -disable-auto-cleanup; the last rank kills itself.
 *
 *   severed          errors are returned
 *   severed late     and the others call nothing meanwhile: what was sent has not been read, which
 *                    breaks the connection otherwise
 *   severed WORD     errors are fatal, for mpiexec to name the failed rank
 *                    (test/mpi/launch/manners) */
#include "rw.h"
#include <signal.h>
#include <unistd.h>

enum { LONGS = 1 << 19 };

static void failed(int err, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int len;

    MPI_Error_string(err, text, &len);
    MUST(mt_class(err) == MPIX_ERR_PROC_FAILED, "%s: class %d: %s", what, mt_class(err), text);
    /* what the network refuses waits for the reason */
    MUST(!strstr(text, "there is no connection to it"), "%s: %s", what, text);
}

int main(int argc, char **argv)
{
    MPI_Request req[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    MPI_Status st[2];
    MPI_Comm rest;
    struct rw w;
    int64_t *buf;
    int dead, err = 0, k, sum, late = argc > 1 && !strcmp(argv[1], "late");

    mt_init(&argc, &argv);
    dead = mt_size - 1;
    buf = mt_alloc(LONGS * 8);
    memset(buf, 0, LONGS * 8);
    MPI_Comm_split(MPI_COMM_WORLD, mt_rank == dead, mt_rank, &rest);
    rw_make(&w, RW_ALLOCATE, LONGS * 8, MPI_COMM_WORLD);
    if (argc < 2 || late)
        MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, w.win);
    /* so that all have its key */
    MPI_Put(buf, LONGS, MPI_INT64_T, dead, 0, LONGS, MPI_INT64_T, w.win);
    MPI_Win_flush(dead, w.win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (mt_rank == dead) {
        usleep(50000); /* outside MPI, so that what the others begin stays under way */
        kill(getpid(), SIGKILL);
    }
    if (late) {
        MPI_Put(buf, 8192, MPI_INT64_T, dead, 0, 8192, MPI_INT64_T, w.win);
        MPI_Win_flush_local(dead, w.win);
        usleep(250000);
    }
    if (mt_rank % 2 || late) {
        for (k = 0; !err && k < 1000000; k++) {
            int n = late ? 8192 : LONGS;
            err = MPI_Put(buf, n, MPI_INT64_T, dead, 0, n, MPI_INT64_T, w.win);
            if (!err)
                err = MPI_Win_flush(dead, w.win);
        }
        failed(err, "puts");
    } else {
        for (k = 0; !err && k < 1000000; k++) {
            err = MPI_Rget(buf, LONGS / 2, MPI_INT64_T, dead, 0, LONGS / 2, MPI_INT64_T, w.win,
                           &req[0]);
            if (!err)
                err = MPI_Rget(buf + LONGS / 2, 1, MPI_INT64_T, dead, 0, 1, MPI_INT64_T, w.win,
                               &req[1]);
            if (!err && (err = MPI_Waitall(2, req, st)) != 0)
                err = st[st[0].MPI_ERROR == MPI_SUCCESS].MPI_ERROR;
        }
        failed(err, "gets");
    }
    MPI_Win_unlock_all(w.win);
    MPI_Allreduce(&mt_errors, &sum, 1, MPI_INT, MPI_SUM, rest);
    if (mt_rank == 0) {
        printf(sum ? " Found %d errors\n" : " No Errors\n", sum);
        fflush(stdout);
    }
    MPI_Finalize();
    return sum != 0;
}
