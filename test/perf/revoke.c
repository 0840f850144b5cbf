/* revoke: how long a revocation takes, from its begin at rank 0 until the last of the other members
 * has returned from the call in which it waited.
 *
 *     bin/mpicc -O2 -o revoke ../test/perf/revoke.c && bin/mpiexec -n 4 ./revoke [repetitions]
 *
 * One machine: the ranks compare CLOCK_MONOTONIC. Microseconds; of each kind the median, the 99th
 * of a hundred, and the highest. The members wait in MPI_Barrier, in MPI_Recv, or in MPI_Win_fence.
 * The call of rank 0 itself is the last column: its median. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum kind { BARRIER, RECV, FENCE, KINDS };
static const char *const name[KINDS] = {"comm, MPI_Barrier", "comm, MPI_Recv",
                                        "win, MPI_Win_fence"};

static int rank, size;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void must_be_revoked(int err, const char *call)
{
    int c;
    MPI_Error_class(err, &c);
    if (c != MPIX_ERR_REVOKED) {
        fprintf(stderr, "rank %d: %s ends with class %d\n", rank, call, c);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void wait_in(enum kind kind, MPI_Comm comm, MPI_Win win)
{
    int v;
    if (kind == BARRIER)
        must_be_revoked(MPI_Barrier(comm), "MPI_Barrier");
    else if (kind == RECV)
        must_be_revoked(MPI_Recv(&v, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE), "MPI_Recv");
    else
        must_be_revoked(MPI_Win_fence(0, win), "MPI_Win_fence");
}

/* took[0]: until the last member has returned. took[1]: the call itself. */
static void once(enum kind kind, double took[2])
{
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Win win = MPI_WIN_NULL;
    double begin = 0, end = 0, last;
    int *mem;
    if (kind == FENCE) {
        MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
        MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
        MPI_Win_fence(0, win);
    } else {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        usleep(2000); /* the others are in their calls */
        begin = now();
        if (kind == FENCE)
            MPIX_Win_revoke(win);
        else
            MPIX_Comm_revoke(comm);
        took[1] = now() - begin;
    } else {
        wait_in(kind, comm, win);
        end = now();
    }
    MPI_Reduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    took[0] = last - begin;
    if (kind == FENCE)
        MPI_Win_free(&win);
    else
        MPI_Comm_free(&comm);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *all = n > 0 ? malloc((size_t)n * sizeof *all) : NULL;
    double *call = n > 0 ? malloc((size_t)n * sizeof *call) : NULL;
    if (!all || !call || size < 2) {
        fprintf(stderr, "usage: mpiexec -n RANKS (two or more) revoke [repetitions]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (enum kind kind = 0; kind < KINDS; kind++) {
        double took[2] = {0, 0};
        for (int i = 0; i < 10; i++)
            once(kind, took);
        for (int i = 0; i < n; i++) {
            once(kind, took);
            all[i] = took[0];
            call[i] = took[1];
        }
        qsort(all, (size_t)n, sizeof *all, by_value);
        qsort(call, (size_t)n, sizeof *call, by_value);
        if (rank == 0)
            printf("%d ranks  %-20s median %7.1f  p99 %8.1f  highest %8.1f  the call %6.2f us\n",
                   size, name[kind], all[n / 2], all[n * 99 / 100], all[n - 1], call[n / 2]);
        fflush(stdout);
    }
    free(all);
    free(call);
    MPI_Finalize();
    return 0;
}
