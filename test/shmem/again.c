/* again.c - SHMEM begins and ends within itself, and begins again after its end, also with another
 * level of threads. With an argument it ends by the end of main at some PEs. */
#include "sh.h"

static long word;
static long lock;

static int is_begun(void)
{
    int begun = -1;
    shmem_query_initialized(&begun);
    return begun;
}

/* Each kind of memory and of operation, and what a process keeps of them. */
static void use(void)
{
    int right = (me + 1) % npes, left = (me + npes - 1) % npes, level = -1;
    long *heap = shmem_calloc(2, sizeof *heap);
    shmem_team_t team;
    shmem_ctx_t ctx;
    CHECK(heap && !heap[0] && !heap[1]);
    shmem_query_thread(&level);
    CHECK(level >= SHMEM_THREAD_SINGLE);
    word = 0;
    shmem_barrier_all();
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team), 0);
    CHECK_EQ(shmem_team_create_ctx(team, 0, &ctx), 0);
    shmem_ctx_long_p(ctx, heap, me + 10, right);
    shmem_ctx_quiet(ctx);
    shmem_long_p(&word, me + 20, right);
    shmem_fence();
    shmem_long_atomic_add(heap + 1, me + 1, 0);
    shmem_barrier_all();
    CHECK_EQ(heap[0], left + 10);
    CHECK_EQ(word, left + 20);
    CHECK_EQ(shmem_long_g(heap + 1, 0), npes * (npes + 1) / 2);
    shmem_set_lock(&lock);
    shmem_clear_lock(&lock);
    shmem_barrier(0, 0, npes, &word);
    shmem_barrier_all();
    if (me % 2) /* the rest goes with the end */
        shmem_ctx_destroy(ctx);
}

/* Begun twice: PE 0 calls both ends, the end of main is those of the others. */
static int leave_open(void)
{
    shmem_init();
    shmem_init();
    sh_begun();
    use();
    if (!me) {
        if (!sh_errors)
            printf(" No Errors\n");
        shmem_finalize();
        shmem_finalize();
    }
    return sh_errors != 0;
}

int main(int argc, char **argv)
{
    static const int levels[] = {SHMEM_THREAD_SINGLE, SHMEM_THREAD_MULTIPLE, SHMEM_THREAD_FUNNELED};
    int provided = -1;
    (void)argv;
    if (argc > 1)
        return leave_open();
    CHECK_EQ(is_begun(), 0);
    for (int round = 0; round < 4; round++) {
        if (round == 3)
            start_pes(0);
        else if (round)
            CHECK_EQ(shmem_init_thread(levels[round], &provided), 0);
        else
            shmem_init();
        sh_begun();
        CHECK_EQ(is_begun(), 1);
        shmem_init();
        use();
        shmem_finalize();
        CHECK_EQ(is_begun(), 1);
        use();
        if (round < 3) {
            shmem_finalize();
            CHECK_EQ(is_begun(), 0);
            shmem_finalize(); /* does nothing */
        }
    }
    return sh_finish();
}
