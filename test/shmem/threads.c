/* threads.c - SHMEM_THREAD_MULTIPLE: each thread puts, adds and waits by a context of its own, and
 * all add by the default one. */
#include <pthread.h>

#include "sh.h"

enum { THREADS = 3, ROUNDS = 100 };
static long mine[THREADS], total, static_total;
static int bad[THREADS];

static void *work(void *arg)
{
    int t = (int)(intptr_t)arg, right = (me + 1) % npes;
    shmem_ctx_t c;
    if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &c))
        bad[t]++;
    for (long i = 1; i <= ROUNDS; i++) {
        shmem_ctx_long_p(c, mine + t, i, right);
        shmem_ctx_quiet(c);
        bad[t] += shmem_ctx_long_g(c, mine + t, right) != i;
        shmem_long_atomic_inc(&static_total, right);
        shmem_ctx_long_atomic_add(c, &total, 2, right);
        if (i % 10 == 0)
            shmem_quiet();
        shmem_long_wait_until(mine + t, SHMEM_CMP_GE, i);
    }
    shmem_ctx_destroy(c);
    return NULL;
}

int main(void)
{
    pthread_t id[THREADS];
    int level = -1;
    CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level), 0);
    sh_begun();
    CHECK_EQ(level, SHMEM_THREAD_MULTIPLE);
    for (int t = 0; t < THREADS; t++)
        pthread_create(id + t, NULL, work, (void *)(intptr_t)t);
    for (int t = 0; t < THREADS; t++) {
        pthread_join(id[t], NULL);
        CHECK_EQ(bad[t], 0);
    }
    shmem_barrier_all();
    CHECK_EQ(total, 2 * THREADS * ROUNDS);
    CHECK_EQ(static_total, THREADS * ROUNDS);
    return sh_finish();
}
