/* lanes: puts of one process with one and with two threads, each with a window and a target of its
 * own.
 *
 *     bin/mpicc -O2 -pthread -o lanes ../test/perf/lanes.c
 *     MPIR_CVAR_NOLOCAL=1 MPIR_CVAR_RMA_NATIVE_PUT_MIN=1 bin/mpiexec -n 3 ./lanes [US]
 *
 * So each thread may have a transmit context of the network (doc/design/tp-ofi.md, ucx.md).  The
 * targets wait in a barrier, or look for a message each US microseconds.  A network that needs no
 * target then has the cores for the two threads.  Each row: puts of 8 bytes, the best of BATCHES
 * batches, in million a second of both threads together. */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCHES = 1500, PUTS = 512, WORDS = 64 };

static MPI_Win win[2];
static int every; /* puts to a flush */
static pthread_barrier_t all;
static double end_of[2];

static void calls(int k)
{
    int target = 1 + k;
    for (uint64_t i = 0; i < PUTS; i++) {
        MPI_Put(&i, 1, MPI_UINT64_T, target, i % WORDS, 1, MPI_UINT64_T, win[k]);
        if ((int)(i % (unsigned)every) == every - 1)
            MPI_Win_flush(target, win[k]);
    }
}

static void *work(void *arg)
{
    int k = *(int *)arg;
    for (int b = 0; b < BATCHES; b++) {
        pthread_barrier_wait(&all);
        calls(k);
        end_of[k] = MPI_Wtime();
        pthread_barrier_wait(&all);
    }
    return NULL;
}

static double rate(int n)
{
    pthread_t t[2];
    int id[2] = {0, 1};
    double best = 1e9;
    pthread_barrier_init(&all, NULL, (unsigned)n + 1);
    for (int i = 0; i < n; i++)
        pthread_create(&t[i], NULL, work, &id[i]);
    for (int b = 0; b < BATCHES; b++) {
        double from = MPI_Wtime();
        pthread_barrier_wait(&all);
        pthread_barrier_wait(&all);
        double took = (n == 2 && end_of[1] > end_of[0] ? end_of[1] : end_of[0]) - from;
        best = took < best ? took : best;
    }
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);
    return 1e-6 * n * PUTS / best;
}

/* A target, until rank 0 has done. */
static void doze(int us)
{
    const struct timespec t = {.tv_nsec = 1000L * us};
    for (int over = 0; !over; nanosleep(&t, NULL))
        MPI_Iprobe(0, 0, MPI_COMM_WORLD, &over, MPI_STATUS_IGNORE);
    MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int got, rank, n, us = argc > 1 ? atoi(argv[1]) : 0;
    void *base;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &got);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (n != 3 || got != MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "lanes: three processes with threads, not %d\n", n);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = 0; i < 2; i++) {
        MPI_Win_allocate(WORDS * sizeof(uint64_t), sizeof(uint64_t), MPI_INFO_NULL, MPI_COMM_WORLD,
                         &base, &win[i]);
        MPI_Win_lock_all(0, win[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank && us)
        doze(us);
    for (int i = 0; !rank && i < 2; i++) {
        every = i ? 1 : WORDS;
        double one = rate(1), two = rate(2);
        printf("flush behind each %2d: %.3f  %.3f  x %.2f\n", every, one, two, two / one);
    }
    for (int i = 1; !rank && us && i < n; i++)
        MPI_Send(NULL, 0, MPI_INT, i, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) {
        MPI_Win_unlock_all(win[i]);
        MPI_Win_free(&win[i]);
    }
    MPI_Finalize();
    return 0;
}
