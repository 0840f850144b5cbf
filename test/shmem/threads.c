/* threads.c - SHMEM_THREAD_MULTIPLE: each thread puts, adds and waits by a context of its own, and
 * all add by the default one. Then each makes contexts and destroys them. */
#include <pthread.h>

#include "sh.h"

enum { THREADS = 4, ROUNDS = 100, TURNS = 5000 };
static long mine[THREADS], total, static_total;
static long churned[THREADS];
static int bad[THREADS];

/* Contexts come and go in all threads at a time, and none is lost or mixed up with another. Some
 * stay for shmem_finalize. */
static void churn(int t)
{
    enum { KEPT = 3 };
    shmem_ctx_t c[KEPT];
    int right = (me + 1) % npes;
    for (int k = 0; k < KEPT; k++)
        bad[t] += shmem_ctx_create(0, c + k) != 0;
    for (long i = 0; i < TURNS; i++) {
        int k = (int)(i % KEPT);
        if (i % 50 == 0) {
            shmem_ctx_long_p(c[k], churned + t, i, right);
            shmem_ctx_quiet(c[k]);
            bad[t] += shmem_ctx_long_g(c[(k + 1) % KEPT], churned + t, right) != i;
        }
        shmem_ctx_destroy(c[k]);
        bad[t] += shmem_ctx_create(0, c + k) != 0;
    }
}

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
    churn(t);
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
