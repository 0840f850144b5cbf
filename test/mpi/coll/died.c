/* died.c - one process is killed amid collectives: the survivors' errors have that class and name
 * the failed
 *   process. This holds too if one survivor met the failure earlier and is in MPI_Finalize, whose
 *   messages are not the others' data. died CALL: dup, sum, sums (short and long ones), create */
#include "../mt.h"
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static long in[1 << 14], out[1 << 14];

static void die(int s)
{
    (void)s;
    raise(SIGKILL);
}

static int once(const char *call, int i)
{
    MPI_Comm d;
    MPI_Win w;
    int err;

    if (!strcmp(call, "dup")) {
        err = MPI_Comm_dup(MPI_COMM_WORLD, &d);
        return err ? err : MPI_Comm_free(&d);
    }
    if (!strcmp(call, "create")) {
        err = MPI_Win_create(in, 4096, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
        if (err)
            return err;
        MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
        return MPI_Win_free(&w);
    }
    return MPI_Allreduce(in, out, !strcmp(call, "sums") && i % 3 ? 1 << 14 : 1, MPI_LONG, MPI_SUM,
                         MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const char *call = argc > 1 ? argv[1] : "dup";
    const struct itimerval soon = {{0, 0}, {0, 20000}};
    char text[MPI_MAX_ERROR_STRING], name[32], mark[64];
    int i, err = 0, c, len;

    mt_init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (mt_rank == mt_size - 1) {
        signal(SIGALRM, die);
        setitimer(ITIMER_REAL, &soon, NULL);
    }
    for (i = 0; !err; i++)
        err = once(call, i);
    MPI_Error_class(err, &c);
    MPI_Error_string(err, text, &len);
    snprintf(name, sizeof name, "process %d", mt_size - 1);
    MUST(c == MPIX_ERR_PROC_FAILED && strstr(text, name), "%s: class %d: %s", call, c, text);
    /* Messages between survivors would keep one from going on while others are in the call. So a
     * process that fails leaves a file. */
    snprintf(mark, sizeof mark, "/tmp/died.%d", (int)getppid());
    if (mt_errors)
        close(open(mark, O_CREAT | O_WRONLY, 0600));
    MPI_Finalize(); /* ends when all have come here, or died */
    if (mt_rank == 0 && unlink(mark) != 0)
        printf(" No Errors\n");
    return mt_errors != 0;
}
