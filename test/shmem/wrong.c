/* wrong.c - one wrong call, named by the argument; errors.test judges what the job says. */
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include "sh.h"

static long word, words[8];
static const long one = 1;
static uint64_t sig;

/* The last PE dies when the others are here, and mpiexec lets these live. Each call that needs the
 * dead one, or waits, ends the job. */
static void survive(const char *call, long *heap)
{
    long value = 0;
    long *here = heap + 7;
    *here = 0;
    for (int i = 0; me == npes - 1 && !strcmp(call, "lock") && i < npes; i++)
        shmem_set_lock(&words[i]);
    shmem_barrier_all();
    if (me == npes - 1) {
        shmem_long_wait_until(here, SHMEM_CMP_EQ, npes - 1);
        raise(SIGKILL);
    }
    shmem_long_atomic_inc(here, npes - 1); /* and nothing waits for it */
    if (!strcmp(call, "wait"))
        shmem_long_wait_until(heap, SHMEM_CMP_EQ, 77);
    else if (!strcmp(call, "signal"))
        shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 77);
    else if (!strcmp(call, "test"))
        while (!shmem_long_test(heap, SHMEM_CMP_EQ, 77))
            ;
    else if (!strcmp(call, "barrier"))
        shmem_barrier_all();
    else if (!strcmp(call, "sum"))
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, words, words + 1, 1);
    else if (!strcmp(call, "malloc"))
        shmem_malloc(8);
    else if (!strcmp(call, "lock")) /* the dead one has it */
        shmem_set_lock(&words[0]);
    else if (!strcmp(call, "get"))
        for (;;)
            shmem_long_get(&value, &word, 1, npes - 1);
    else if (!strcmp(call, "put"))
        for (;;) {
            shmem_long_put(&word, &one, 1, npes - 1);
            shmem_quiet();
        }
    else if (!strcmp(call, "add"))
        for (;;)
            shmem_long_atomic_fetch_add(&word, 1, npes - 1);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    long local = 0, *heap;
    if (!strcmp(what, "early"))
        shmem_long_p(&word, 1, 0);
    if (!strcmp(what, "size"))
        setenv("SHMEM_SYMMETRIC_SIZE", "12Q", 1);
    if (!strcmp(what, "space"))
        setenv("SHMEM_SYMMETRIC_SIZE", "4096 ", 1);
    if (!strcmp(what, "sizes"))
        setenv("SHMEM_SYMMETRIC_SIZE", atoi(getenv("PMI_RANK")) ? "2M" : "1M", 1);
    shmem_init();
    sh_begun();
    heap = shmem_malloc(64);
    if (!strcmp(what, "pe"))
        shmem_long_p(heap, 1, npes);
    else if (!strcmp(what, "pe-static"))
        shmem_long_put(&word, &local, 1, -1);
    else if (!strcmp(what, "address"))
        shmem_long_get(&word, &local, 1, 0);
    else if (!strcmp(what, "address-p"))
        shmem_long_p(&local, 1, 0);
    else if (!strcmp(what, "beyond"))
        shmem_putmem(heap, words, (size_t)1 << 40, 0);
    else if (!strcmp(what, "context"))
        shmem_ctx_long_put(SHMEM_CTX_INVALID, &word, &local, 1, 0);
    else if (!strcmp(what, "atomic"))
        shmem_long_atomic_add(&local, 1, 0);
    else if (!strcmp(what, "unaligned"))
        shmem_long_atomic_add((long *)(void *)((char *)words + 4), 1, 0);
    else if (!strcmp(what, "unaligned-heap"))
        shmem_int_atomic_inc((int *)(void *)((char *)heap + 2), 0);
    else if (!strcmp(what, "context-heap"))
        shmem_ctx_long_p(SHMEM_CTX_INVALID, heap, 1, 0);
    else if (!strcmp(what, "signal"))
        shmem_long_put_signal(heap, words, 1, &sig, 1, 7, 0);
    else if (!strcmp(what, "wait"))
        shmem_long_wait_until(&local, SHMEM_CMP_EQ, 1);
    else if (!strcmp(what, "cmp"))
        shmem_long_test(heap, 9, 1);
    else if (!strcmp(what, "free"))
        shmem_free(heap + 1);
    else if (!strcmp(what, "twice"))
        shmem_free(heap), shmem_free(heap);
    else if (!strcmp(what, "stride"))
        shmem_long_iput(heap, words, 0, 1, 2, 0);
    else if (!strcmp(what, "root"))
        shmem_long_broadcast(SHMEM_TEAM_WORLD, &word, words, 1, npes);
    else if (!strcmp(what, "set"))
        shmem_barrier(0, 0, npes + 1, words);
    else if (!strcmp(what, "team"))
        shmem_team_destroy(SHMEM_TEAM_WORLD);
    else if (!strcmp(what, "dead") && me == npes - 1)
        raise(SIGKILL);
    else if (!strcmp(what, "dead"))
        shmem_long_wait_until(heap, SHMEM_CMP_EQ, 77);
    else if (!strncmp(what, "survive-", 8))
        survive(what + 8, heap);
    else if (!strcmp(what, "leave") && me == npes - 1)
        exit(3);
    else if (!strcmp(what, "leave"))
        shmem_barrier_all();
    else if (!strcmp(what, "class")) { /* an error of the program's own, in a call of MPI */
        int class;
        MPI_Add_error_class(&class);
        MPI_Add_error_string(class, "no_room: the disk is full");
        MPI_Comm_call_errhandler(MPI_COMM_WORLD, class);
    }
    else if (!strcmp(what, "forget")) { /* it ends without shmem_finalize, with an open put */
        shmem_long_put_nbi(words, &one, 1, (me + 1) % npes);
        return 0;
    }
    else if (!strcmp(what, "exit"))
        shmem_global_exit(7);
    else if (!strcmp(what, "late")) {
        shmem_finalize();
        shmem_barrier_all();
    }
    printf("nothing was said of %s\n", what);
    return 0;
}
