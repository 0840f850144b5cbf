/* files.c - a program that has used up its file descriptors talks to processes for the first time,
 * and they to it: one-sided and by messages. Between processes of a host nothing of that needs a
 * descriptor for good, so all of it works; over a network it works when the shortage ends soon:
 * "soon" is after 600 ms, as a wait of a second warns of the shortage. With "all" all ranks are
 * short of them, else rank 0 alone. */
#include "../mt.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

enum { LONG = 100000 };

static int in[LONG], out[LONG], file[128], files;

static void files_free(int s)
{
    (void)s;
    while (files)
        close(file[--files]);
}

/* The rank `by` further on, and that before. */
static int on(int by)
{
    return (mt_rank + by) % mt_size;
}

static int back(int by)
{
    return (mt_rank + mt_size - by) % mt_size;
}

int main(int argc, char **argv)
{
    struct rlimit few;
    int mem[4] = { 0, 0, 0, 0 }, one = 1, got = -1, i;
    MPI_Request r;
    MPI_Win w;

    mt_init(&argc, &argv);
    mem[2] = mt_rank;
    for (i = 0; i < LONG; i++)
        out[i] = mt_rank + i;
    MPI_Win_create(mem, sizeof mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
    getrlimit(RLIMIT_NOFILE, &few);
    few.rlim_cur = 128;
    if ((argc > 1 && !strcmp(argv[1], "all")) || mt_rank == 0) {
        setrlimit(RLIMIT_NOFILE, &few);
        while ((i = open("/dev/null", O_RDONLY)) >= 0)
            file[files++] = i;
    }
    if (argc > 1 && !strcmp(argv[argc - 1], "soon") && files) {
        const struct itimerval soon = {.it_value = {.tv_usec = 600000}};
        signal(SIGALRM, files_free);
        setitimer(ITIMER_REAL, &soon, NULL);
    }
    MPI_Win_lock_all(0, w);
    MPI_Accumulate(&one, 1, MPI_INT, on(mt_size - 1), 1, 1, MPI_INT, MPI_SUM, w);
    MPI_Win_flush(on(mt_size - 1), w);
    MPI_Rget(&got, 1, MPI_INT, on(2 % mt_size), 2, 1, MPI_INT, w, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK_EQ(got, on(2 % mt_size));
    MPI_Win_unlock_all(w);
    MPI_Sendrecv(out, LONG, MPI_INT, on(3 % mt_size), 0, in, LONG, MPI_INT, back(3 % mt_size), 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(in[LONG - 1], back(3 % mt_size) + LONG - 1);
    MPI_Win_fence(0, w);
    MPI_Put(&one, 1, MPI_INT, on(4 % mt_size), 3, 1, MPI_INT, w);
    MPI_Win_fence(0, w);
    CHECK_EQ(mem[1], 1);
    CHECK_EQ(mem[3], 1);
    MPI_Win_free(&w);
    return mt_finish();
}
