/* sync.c - signals, waits and tests, order by fences, locks. */
#include "sh.h"

#define SYNC_TYPES(X)                                                                            \
    X(short, short) X(int, int) X(long, long) X(longlong, long long) X(ushort, unsigned short)   \
    X(uint, unsigned) X(ulong, unsigned long) X(ulonglong, unsigned long long)                   \
    X(int32, int32_t) X(int64, int64_t) X(uint32, uint32_t) X(uint64, uint64_t)                  \
    X(size, size_t) X(ptrdiff, ptrdiff_t)

enum { N = 8 };
static uint64_t static_words[N];

/* What each comparison says of values below, equal and above; -1 is above all of an unsigned
 * type. */
#define COMPARE_TEST(NAME, T)                                                                    \
    static void compare_##NAME(void *memory)                                                     \
    {                                                                                            \
        T *a = memory;                                                                           \
        static const int want[7][3] = {{0}, {0, 1, 0}, {1, 0, 1}, {0, 0, 1}, {0, 1, 1},          \
                                       {1, 0, 0}, {1, 1, 0}};                                    \
        for (int cmp = SHMEM_CMP_EQ; cmp <= SHMEM_CMP_LE; cmp++)                                 \
            for (int k = 0; k < 3; k++) {                                                        \
                *a = (T)(49 + k);                                                                \
                CHECK_EQ(shmem_##NAME##_test(a, cmp, 50), want[cmp][k]);                         \
            }                                                                                    \
        *a = (T)-1;                                                                              \
        CHECK_EQ(shmem_##NAME##_test(a, SHMEM_CMP_LT, 1), (T)-1 < 1);                            \
        CHECK_EQ(shmem_##NAME##_test(a, SHMEM_CMP_EQ, (T)-1), 1);                                \
        shmem_##NAME##_wait_until(a, SHMEM_CMP_NE, 0);                                           \
        shmem_barrier_all();                                                                     \
    }
SYNC_TYPES(COMPARE_TEST)

/* The left neighbour sets the words one by one. */
#define WAIT_TEST(NAME, T)                                                                       \
    static void wait_##NAME(void *memory)                                                        \
    {                                                                                            \
        T *a = memory, values[N];                                                                \
        int status[N] = {0}, right = (me + 1) % npes;                                            \
        size_t indices[N], found = 0;                                                            \
        memset(a, 0, N * sizeof *a);                                                             \
        for (int i = 0; i < N; i++)                                                              \
            values[i] = (T)(i + 1);                                                              \
        shmem_barrier_all();                                                                     \
        CHECK_EQ(shmem_##NAME##_test_any(a, N, NULL, SHMEM_CMP_NE, 0), SIZE_MAX);                \
        CHECK_EQ(shmem_##NAME##_test_some(a, N, indices, NULL, SHMEM_CMP_NE, 0), 0);             \
        CHECK_EQ(shmem_##NAME##_test_all(a, N, NULL, SHMEM_CMP_NE, 0), 0);                       \
        CHECK_EQ(shmem_##NAME##_test_all_vector(a, N, NULL, SHMEM_CMP_EQ, values), 0);           \
        CHECK_EQ(shmem_##NAME##_test_any_vector(a, N, NULL, SHMEM_CMP_EQ, values), SIZE_MAX);    \
        CHECK_EQ(shmem_##NAME##_test_some_vector(a, N, indices, NULL, SHMEM_CMP_EQ, values), 0); \
        shmem_barrier_all();                                                                     \
        for (int i = 0; i < N; i++)                                                              \
            shmem_##NAME##_p(a + i, (T)(i + 1), right);                                          \
        shmem_quiet();                                                                           \
        while (found < N / 2) {                                                                  \
            size_t i = shmem_##NAME##_wait_until_any(a, N, status, SHMEM_CMP_NE, 0);             \
            if (!CHECK(i < N && !status[i] && a[i] == (T)(i + 1)))                               \
                break;                                                                           \
            status[i] = 1;                                                                       \
            found++;                                                                             \
        }                                                                                        \
        while (found < N) {                                                                      \
            size_t n = shmem_##NAME##_wait_until_some_vector(a, N, indices, status,              \
                                                             SHMEM_CMP_EQ, values);              \
            if (!CHECK(n > 0 && n <= N - found))                                                 \
                break;                                                                           \
            for (size_t k = 0; k < n; k++)                                                       \
                CHECK(!status[indices[k]]++);                                                    \
            found += n;                                                                          \
        }                                                                                        \
        /* all are done: nothing is waited for */                                                \
        CHECK_EQ(shmem_##NAME##_wait_until_any(a, N, status, SHMEM_CMP_EQ, 0), SIZE_MAX);        \
        CHECK_EQ(shmem_##NAME##_wait_until_some(a, N, indices, status, SHMEM_CMP_EQ, 0), 0);     \
        shmem_##NAME##_wait_until_all(a, N, status, SHMEM_CMP_EQ, 0);                            \
        shmem_##NAME##_wait_until_all(a, N, NULL, SHMEM_CMP_NE, 0);                              \
        shmem_##NAME##_wait_until_all_vector(a, N, NULL, SHMEM_CMP_GE, values);                  \
        CHECK(shmem_##NAME##_wait_until_any_vector(a, N, NULL, SHMEM_CMP_LE, values) < N);       \
        CHECK_EQ(shmem_##NAME##_test_all_vector(a, N, NULL, SHMEM_CMP_EQ, values), 1);           \
        CHECK_EQ(shmem_##NAME##_test_some_vector(a, N, indices, NULL, SHMEM_CMP_EQ, values), N); \
        CHECK(shmem_##NAME##_test_any_vector(a, N, NULL, SHMEM_CMP_EQ, values) < N);             \
        CHECK_EQ(shmem_##NAME##_test_any(a, N, NULL, SHMEM_CMP_EQ, 3), 2);                       \
        CHECK_EQ(shmem_##NAME##_test_some(a, N, indices, NULL, SHMEM_CMP_GT, 6), 2);             \
        CHECK(indices[0] == 6 && indices[1] == 7);                                               \
        CHECK_EQ(shmem_##NAME##_wait_until_some(a, N, indices, NULL, SHMEM_CMP_LT, 2), 1);       \
        CHECK_EQ(shmem_##NAME##_test_all(a, N, NULL, SHMEM_CMP_GT, 0), 1);                       \
        shmem_barrier_all();                                                                     \
    }
SYNC_TYPES(WAIT_TEST)

/* A PE that sees a signal sees the data, in every round; the ring is full in both directions. */
static void signals(void *memory, void *signal_memory)
{
    enum { LONG = 700, ROUNDS = 120 };
    long *data = memory, here[LONG];
    uint64_t *sig = signal_memory;
    int right = (me + 1) % npes, left = (me + npes - 1) % npes;
    memset(sig, 0, 3 * sizeof *sig);
    shmem_barrier_all();
    for (int round = 1; round <= ROUNDS; round++) {
        int n = round % 3 ? round : LONG;
        for (int i = 0; i < n; i++)
            here[i] = 1000L * me + round + i;
        if (round % 2)
            shmem_put_signal(data, here, (size_t)n, sig, (uint64_t)round, SHMEM_SIGNAL_SET, right);
        else
            shmem_long_put_signal_nbi(data, here, (size_t)n, sig, 1, SHMEM_SIGNAL_ADD, right);
        CHECK_EQ(shmem_signal_wait_until(sig, SHMEM_CMP_EQ, (uint64_t)round), round);
        CHECK_EQ(shmem_signal_fetch(sig), round);
        int good = 1;
        for (int i = 0; i < n; i++)
            good = good && data[i] == 1000L * left + round + i;
        CHECK(good);
        /* the left one may go on; more than the signal is not promised of here[] */
        shmem_signal_add(sig + 1, 1, left);
        shmem_signal_wait_until(sig + 1, SHMEM_CMP_GE, (uint64_t)round);
        shmem_quiet();
    }
    shmem_putmem_signal(data, here, 0, sig + 2, 5, SHMEM_SIGNAL_SET, right);
    shmem_signal_wait_until(sig + 2, SHMEM_CMP_EQ, 5);
    shmem_barrier_all();
    shmem_signal_set(sig + 2, 9, right);
    shmem_uint64_wait_until(sig + 2, SHMEM_CMP_EQ, 9);
    shmem_barrier_all();
}

/* What was put to these PEs is there; of the other ones nothing is said. */
static void pe_quiets(long *data)
{
    enum { EACH = 4 };
    int right = (me + 1) % npes, to[2] = {right, me};
    shmem_ctx_t c = SHMEM_CTX_INVALID;
    CHECK_EQ(shmem_ctx_create(0, &c), 0);
    shmem_pe_quiet(NULL, 0);
    shmem_ctx_pe_quiet(SHMEM_CTX_INVALID, to, 2);
    for (long round = 1; round <= 20; round++) {
        long seen[EACH] = {0}, here[EACH] = {round, me, -round, 7};
        for (int i = 0; i < 2; i++) {
            shmem_ctx_session_start(i ? c : SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH,
                                    &(shmem_ctx_session_config_t){.total_ops = 2},
                                    SHMEM_CTX_SESSION_TOTAL_OPS);
            if (i)
                shmem_put_nbi(c, data + EACH, here, EACH, right);
            else
                shmem_put_nbi(data, here, EACH, right);
            if (i)
                shmem_ctx_pe_quiet(c, to, 2);
            else
                shmem_pe_quiet(to, 2);
            shmem_ctx_session_stop(i ? c : SHMEM_CTX_DEFAULT);
            memset(here, 0, sizeof here); /* the source is free again */
            shmem_get(seen, data + i * EACH, EACH, right);
            CHECK(seen[0] == round && seen[1] == me && seen[2] == -round && seen[3] == 7);
            memcpy(here, (long[]){round, me, -round, 7}, sizeof here);
        }
    }
    shmem_ctx_session_stop(SHMEM_CTX_INVALID);
    shmem_ctx_destroy(c);
    shmem_barrier_all();
}

/* What is put before a fence is there before what is put after it: also in the other memory. */
static void fences(long *first, long *second)
{
    int right = (me + 1) % npes;
    *first = *second = 0;
    shmem_barrier_all();
    for (long i = 1; i <= 200; i++) {
        shmem_long_put_nbi(first, &i, 1, right);
        shmem_fence();
        shmem_p(second, i, right);
        shmem_long_wait_until(second, SHMEM_CMP_GE, i);
        CHECK(*(volatile long *)first >= i);
        shmem_quiet();
    }
    shmem_barrier_all();
}

static void locks(long *lock, long *counter)
{
    *lock = *counter = 0;
    shmem_barrier_all();
    for (int i = 0; i < 20; i++) {
        if (i % 2)
            while (shmem_test_lock(lock))
                ;
        else
            shmem_set_lock(lock);
        long seen = shmem_g(counter, npes - 1);
        shmem_p(counter, seen + 1, npes - 1);
        shmem_clear_lock(lock);
    }
    shmem_barrier_all();
    CHECK_EQ(shmem_g(counter, npes - 1), 20 * npes);
    if (!me)
        CHECK_EQ(shmem_test_lock(lock), 0);
    shmem_barrier_all();
    if (me)
        CHECK_EQ(shmem_test_lock(lock), 1);
    shmem_barrier_all();
    if (!me)
        shmem_clear_lock(lock);
    shmem_barrier_all();
}

/* Loops that read their own memory until the left neighbour has changed it. A word goes round, so a
 * PE is in its loop when the neighbour's operation begins, which may need it. */
static int came(int kind, const uint64_t *a, uint64_t round)
{
    switch (kind) {
    case 0: return shmem_uint64_g(a, me) >= round;
    case 1: return shmem_uint64_atomic_fetch(a, me) >= round;
    default: return shmem_signal_fetch(a) >= round;
    }
}

static void own_loops(uint64_t *a)
{
    int right = (me + 1) % npes;
    memset(a, 0, N * sizeof *a);
    shmem_barrier_all();
    for (uint64_t i = 1; i <= 60; i++) {
        int kind = (int)(i % 3);
        uint64_t *flag = a + kind;
        while (me && !came(kind, flag, i))
            ;
        if (kind == 2) {
            shmem_uint64_put_signal(a + 3, &i, 1, flag, i, SHMEM_SIGNAL_SET, right);
            CHECK(!me || a[3] == i);
        } else {
            shmem_uint64_atomic_set(flag, i, right);
        }
        shmem_quiet();
        while (!me && !came(kind, flag, i))
            ;
    }
    shmem_barrier_all();
}

int main(void)
{
    static long data[700], pair[2];
    shmem_init();
    sh_begun();
    uint64_t *heap = shmem_calloc(N, sizeof *heap);
    long *more = shmem_calloc(700, sizeof *more);
#define COMPARES(NAME, T) compare_##NAME(heap); compare_##NAME(static_words);
#define WAITS(NAME, T) wait_##NAME(heap); wait_##NAME(static_words);
    SYNC_TYPES(COMPARES)
    SYNC_TYPES(WAITS)
    signals(more, heap);
    signals(data, static_words);
    signals(more, static_words);
    signals(data, heap);
    pe_quiets(more);
    pe_quiets(data);
    fences(more, more + 1);
    fences(pair, pair + 1);
    fences(pair, more);
    fences(more, pair);
    locks(more, more + 1);
    locks(pair, pair + 1);
    locks(more, pair);
    own_loops(heap);
    own_loops(static_words);
    return sh_finish();
}
