/* overlap: does a message move while one side computes?
 *
 *   mpiexec -n 2 overlap [rounds]
 *
 * Portable MPI-3.  For each size, lower quartiles of the rounds (default 41), in microseconds:
 *   pure      both are in MPI: what takes longer, MPI_Send or the receiver's MPI_Wait behind "go"
 *   left      the receiver posts, reports it, computes for twice `pure` and 200 us: what MPI_Wait
 *             still takes afterwards
 *   overlap   1 - left / pure, in percent
 *   send      MPI_Send meanwhile
 *   isend     the sender computes instead, behind MPI_Isend: what its MPI_Wait still takes
 *   both      both compute: what the receiver's MPI_Wait still takes
 *
 * As many rounds go before, unmeasured: a library may learn which side computes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4 << 20, ROUNDS = 1001 };

static int rank, rounds = 41;
static char *buf;

static void compute(double seconds)
{
    for (double end = MPI_Wtime() + seconds; MPI_Wtime() < end;)
        ;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Microseconds. */
static double quartile(double *v)
{
    qsort(v, (size_t)rounds, sizeof *v, by_value);
    return 1e6 * v[rounds / 4];
}

/* One round: the receiver computes so long between post and wait, the sender behind its send.
 * Returns the time of the wait, *send that of the call. */
static double once(int size, double receiver, double sender, double *send)
{
    MPI_Request r;
    double start, middle;

    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Recv(NULL, 0, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        compute(20e-6); /* the receiver has begun to compute */
        start = MPI_Wtime();
        if (sender > 0)
            MPI_Isend(buf, size, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &r);
        else
            MPI_Send(buf, size, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
        *send = MPI_Wtime() - start;
        compute(sender);
        middle = MPI_Wtime();
        if (sender > 0)
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        return MPI_Wtime() - middle;
    }
    MPI_Irecv(buf, size, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &r);
    MPI_Send(NULL, 0, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    compute(receiver);
    middle = MPI_Wtime();
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    return MPI_Wtime() - middle;
}

static double wait[ROUNDS], send[ROUNDS];

static void all(int size, double receiver, double sender)
{
    for (int i = 0; i < 2 * rounds; i++)
        wait[i % rounds] = once(size, receiver, sender, &send[i % rounds]);
}

static void row(int size)
{
    double v[5]; /* pure, left, send, isend, both */

    all(size, 0, 0);
    /* the sender waits 20 us before it begins */
    v[3] = rank == 0 ? quartile(send) : quartile(wait) - 20;
    MPI_Allreduce(&v[3], v, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    all(size, 2e-6 * v[0] + 200e-6, 0);
    v[1] = quartile(wait);
    v[2] = quartile(send);
    MPI_Bcast(&v[1], 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    all(size, 0, 2e-6 * v[0] + 200e-6);
    v[3] = quartile(wait);
    all(size, 2e-6 * v[0] + 200e-6, 2e-6 * v[0] + 200e-6);
    v[4] = quartile(wait);
    MPI_Bcast(&v[4], 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%8d %10.1f %10.1f %8.0f%% %10.1f %10.1f %10.1f\n", size, v[0], v[1],
               100 * (1 - v[1] / v[0]), v[2], v[3], v[4]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1)
        rounds = atoi(argv[1]);
    if (rounds < 4 || rounds > ROUNDS)
        rounds = 41;
    buf = malloc(MOST);
    memset(buf, 1, MOST);
    if (rank == 0)
        printf("%8s %10s %10s %9s %10s %10s %10s\n", "bytes", "pure", "left", "overlap", "send",
               "isend", "both");
    for (int size = 4096; size <= MOST; size *= 4)
        row(size);
    free(buf);
    MPI_Finalize();
    return 0;
}
