/* updates.c - updates of words that no PE waits for, under the race checker: the memory that it
 * takes at their owner depends on what it keeps of them, not on how many there were. Two PEs. */
#include <malloc.h>
#include <mpi.h>
#include <time.h>

#include "sh.h"

enum { WORDS = 15, MOST_BYTES = 1 << 20 };

static long words[WORDS], told;
static int updates = 100000; /* or argv[1] */

static long records(void)
{
    MPI_T_pvar_session s;
    MPI_T_pvar_handle h;
    unsigned long long v = 0;
    int at, n;
    MPI_T_pvar_session_create(&s);
    if (MPI_T_pvar_get_index("race_records", MPI_T_PVAR_CLASS_LEVEL, &at) ||
        MPI_T_pvar_handle_alloc(s, at, NULL, &h, &n))
        shmem_global_exit(99);
    MPI_T_pvar_read(s, h, &v);
    MPI_T_pvar_session_free(&s);
    return (long)v;
}

/* PE 1 knows that all are there; its phase goes on, and it has looked at no word of them. */
static void tell(long value)
{
    if (me == 0)
        shmem_long_p(&told, value, 1);
    else
        shmem_long_wait_until(&told, SHMEM_CMP_EQ, value);
}

static void meeting(int n)
{
    for (int i = 0; i < n; i++) {
        if (me == 0)
            shmem_long_atomic_inc(&words[i % WORDS], 1);
        if (i % 1000 == 999)
            shmem_barrier_all();
    }
}

static void quiet(int n)
{
    for (int i = 0; me == 0 && i < n; i++) {
        shmem_long_p(&words[i % WORDS], i, 1);
        if (i % WORDS == WORDS - 1)
            shmem_quiet();
    }
}

static void open_all(int n)
{
    for (int i = 0; me == 0 && i < n; i++)
        shmem_long_atomic_inc(&words[i % WORDS], 1);
}

/* More than `before`. What the checker has not sent yet, while PE 0 did not look, is none of it. */
static long more_than(long before)
{
    time_t end = time(NULL) + 60;
    long more;
    while ((more = (long)mallinfo2().uordblks - before) >= MOST_BYTES && time(NULL) < end)
        shmem_long_test(&told, SHMEM_CMP_LT, 0);
    return more;
}

/* What many of them leave. of_each: the records of a word. */
static void cost(const char *what, void (*update)(int n), int n, int of_each)
{
    static long value;
    shmem_barrier_all();
    update(1000);
    tell(++value);
    long bytes = (long)mallinfo2().uordblks;
    shmem_barrier_all();
    update(n);
    tell(++value);
    bytes = me ? more_than(bytes) : 0;
    if (me && !(CHECK(bytes < MOST_BYTES) & CHECK(records() <= of_each * WORDS + 16)))
        printf("    %s: %ld bytes, %ld records\n", what, bytes, records());
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    int provided;
    updates = argc > 1 ? atoi(argv[1]) : updates;
    shmem_init();
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    sh_begun();
    cost("with barriers", meeting, updates, 2);
    cost("with quiets", quiet, updates / 4, 2);
    cost("with neither", open_all, updates / 4, 2);
    MPI_T_finalize();
    return sh_finish();
}
