/* elements.c - the slot array and the pools of elements, against speed, messages and memory.
 *
 *   elements K [ROUNDS [lock_all|fence]]
 *
 * One real rank in a job of 20,000, the others virtual (test/sim/virtual.h): so there are thousands
 * of targets, and time is that of the origin alone.  In one epoch it puts 8 bytes to each of K
 * targets in turn, ROUNDS times (default 4).  The environment sets the control variables.
 * Lines "value NAME X":
 *   find      processor time of a put in the rounds behind the first, nanoseconds: the element of
 *             its target is there, if pools permit (lower quartile of 9 epochs)
 *   messages  sent in one epoch
 *   window    bytes of heap that the window took
 *   epoch     bytes of heap beyond that, at most, in the epochs (slabs of elements stay with the
 *             process)
 * The simulator gives back what a message takes; its own memory is not counted. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "memory.h"
#include "scripted.h"
#include "virtual.h"

enum { WORLD = 20000, CELLS = 64, EPOCHS = 9 };

static int targets, rounds, fence;

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void put_to_all(MPI_Win w)
{
    static const long v = 1;
    for (int i = 0; i < targets; i++)
        MPI_Put(&v, 1, MPI_LONG, 1 + i, 0, 1, MPI_LONG, w);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void program(void *arg)
{
    (void)arg;
    double find[EPOCHS];
    long *base, at_first = memory_bytes(0), sent = 0;
    MPI_Win w;
    MPI_Win_allocate(CELLS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w);
    long with_window = memory_bytes(0);
    memory_most(0);
    for (int e = 0; e < EPOCHS; e++) {
        sent = sim_sent(0, -1);
        if (fence)
            MPI_Win_fence(0, w);
        else
            MPI_Win_lock_all(0, w);
        put_to_all(w);
        double t = cpu_ns();
        for (int r = 1; r < rounds; r++)
            put_to_all(w);
        find[e] = (cpu_ns() - t) / ((double)(rounds - 1) * targets);
        if (fence)
            MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
        else
            MPI_Win_unlock_all(w);
        sent = sim_sent(0, -1) - sent;
    }
    qsort(find, EPOCHS, sizeof *find, by_value);
    printf("value find %.1f\nvalue messages %ld\nvalue window %ld\nvalue epoch %ld\n",
           find[EPOCHS / 4], sent, with_window - at_first, memory_most(0) - with_window);
    MPI_Win_free(&w);
}

int main(int argc, char **argv)
{
    struct sim_knobs k = sim_defaults(1);
    targets = argc > 1 ? atoi(argv[1]) : 0;
    rounds = argc > 2 ? atoi(argv[2]) : 4;
    fence = argc > 3 && strcmp(argv[3], "fence") == 0;
    if (targets < 1 || targets >= WORLD || rounds < 2) {
        fprintf(stderr, "usage: elements K [ROUNDS]; K below %d, ROUNDS at least 2\n", WORLD);
        return 2;
    }
    k.latency = 4000;
    k.am_max = 65536;
    k.replies = 4096;
    k.ranks = k.nodes = 1;
    k.world = WORLD;
    k.me = 0;
    k.max_steps = 1000000000;
    memory_begin();
    sim_run(&k, program, NULL, NULL, NULL);
    return 0;
}
