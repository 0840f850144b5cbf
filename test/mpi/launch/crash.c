/* crash.c - rank 1 crashes as its argument asks: crash
 * segv|abort|fpe|jump|inside|before|after|thread. */
#include <mpi.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int zero;
static int *volatile nowhere;

static void __attribute__((noinline)) inner(const char *how)
{
    if (!strcmp(how, "segv"))
        *nowhere = 1; /* LINE segv */
    if (!strcmp(how, "fpe"))
        zero = 7 / zero; /* LINE fpe */
    if (!strcmp(how, "jump"))
        ((void (*volatile)(void))nowhere)(); /* LINE jump */
    if (!strcmp(how, "abort"))
        abort(); /* LINE abort */
    if (!strcmp(how, "inside")) {
        int at = 0, n[4];
        MPI_Pack((void *)16, 4, MPI_INT, n, sizeof n, &at, MPI_COMM_SELF); /* LINE inside */
    }
    zero = 0;
}

static void __attribute__((noinline)) outer(const char *how)
{
    inner(how); /* LINE outer */
    zero = 0;
}

static void *thread(void *how)
{
    (void)how;
    outer("segv");
    return NULL;
}

static void own(int sig)
{
    static const char text[] = "the program's own handler\n";
    ssize_t ignored = write(1, text, sizeof text - 1);
    (void)ignored;
    _exit(sig == SIGSEGV ? 5 : 6);
}

int main(int argc, char **argv)
{
    int rank;
    const char *how = argc > 1 ? argv[1] : "";
    if (!strcmp(how, "before"))
        signal(SIGSEGV, own);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!strcmp(how, "after"))
        signal(SIGSEGV, own);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1 && !strcmp(how, "thread")) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
        pthread_join(t, NULL);
    } else if (rank == 1) {
        outer(!strcmp(how, "before") || !strcmp(how, "after") ? "segv" : how);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
