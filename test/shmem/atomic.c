/* atomic.c - every atomic of every type: results one after the other, and sums where all PEs work
 * on the same words. */
#include "sh.h"

static uint64_t static_words[32];

#define AMO_TYPES(X)                                                                             \
    X(int, int) X(long, long) X(longlong, long long) X(uint, unsigned) X(ulong, unsigned long)   \
    X(ulonglong, unsigned long long) X(int32, int32_t) X(int64, int64_t) X(uint32, uint32_t)     \
    X(uint64, uint64_t) X(size, size_t) X(ptrdiff, ptrdiff_t)
#define BIT_TYPES(X)                                                                             \
    X(uint, unsigned) X(ulong, unsigned long) X(ulonglong, unsigned long long)                   \
    X(int32, int32_t) X(int64, int64_t) X(uint32, uint32_t) X(uint64, uint64_t)
#define SWAP_TYPES(X) AMO_TYPES(X) X(float, float) X(double, double)

/* Each PE has a word at its right neighbour to itself. */
#define SWAP_TEST(NAME, T)                                                                       \
    static void swap_##NAME(void *memory)                                                        \
    {                                                                                            \
        T *a = memory, old = 0;                                                                  \
        int right = (me + 1) % npes;                                                             \
        *a = 1;                                                                                  \
        shmem_barrier_all();                                                                     \
        CHECK(shmem_##NAME##_atomic_fetch(a, right) == 1);                                       \
        CHECK(shmem_##NAME##_atomic_swap(a, (T)(me + 2), right) == 1);                           \
        CHECK(shmem_##NAME##_atomic_fetch(a, right) == (T)(me + 2));                             \
        shmem_##NAME##_atomic_set(a, (T)33, right);                                              \
        shmem_quiet();                                                                           \
        CHECK(shmem_ctx_##NAME##_atomic_fetch(SHMEM_CTX_DEFAULT, a, right) == 33);               \
        shmem_##NAME##_atomic_swap_nbi(&old, a, (T)34, right);                                   \
        shmem_quiet();                                                                           \
        CHECK(old == 33);                                                                        \
        shmem_##NAME##_atomic_fetch_nbi(&old, a, right);                                         \
        shmem_quiet();                                                                           \
        CHECK(old == 34);                                                                        \
        CHECK(shmem_##NAME##_swap(a, (T)35, right) == 34);                                       \
        shmem_##NAME##_set(a, (T)36, right);                                                     \
        shmem_quiet();                                                                           \
        CHECK(shmem_##NAME##_fetch(a, right) == 36);                                             \
        shmem_barrier_all();                                                                     \
    }
SWAP_TYPES(SWAP_TEST)

#define ADD_TEST(NAME, T)                                                                        \
    static void add_##NAME(void *memory)                                                         \
    {                                                                                            \
        T *a = memory, old = 0, got[100];                                                        \
        int right = (me + 1) % npes;                                                             \
        *a = 10;                                                                                 \
        shmem_barrier_all();                                                                     \
        CHECK(shmem_##NAME##_atomic_fetch_add(a, (T)5, right) == 10);                            \
        CHECK(shmem_##NAME##_atomic_fetch_inc(a, right) == 15);                                  \
        shmem_##NAME##_atomic_add(a, (T)4, right);                                               \
        shmem_##NAME##_atomic_inc(a, right);                                                     \
        shmem_quiet();                                                                           \
        CHECK(shmem_##NAME##_atomic_compare_swap(a, (T)20, (T)50, right) == 21);                 \
        CHECK(shmem_##NAME##_atomic_compare_swap(a, (T)21, (T)50, right) == 21);                 \
        CHECK(shmem_##NAME##_atomic_fetch(a, right) == 50);                                      \
        shmem_##NAME##_atomic_compare_swap_nbi(&old, a, (T)50, (T)60, right);                    \
        shmem_quiet();                                                                           \
        CHECK(old == 50);                                                                        \
        shmem_##NAME##_atomic_fetch_add_nbi(&old, a, (T)2, right);                               \
        shmem_quiet();                                                                           \
        CHECK(old == 60);                                                                        \
        shmem_##NAME##_atomic_fetch_inc_nbi(&old, a, right);                                     \
        shmem_quiet();                                                                           \
        CHECK(old == 62);                                                                        \
        CHECK(shmem_##NAME##_fadd(a, (T)1, right) == 63);                                        \
        CHECK(shmem_##NAME##_finc(a, right) == 64);                                              \
        shmem_##NAME##_add(a, (T)1, right);                                                      \
        shmem_##NAME##_inc(a, right);                                                            \
        shmem_quiet();                                                                           \
        CHECK(shmem_##NAME##_cswap(a, (T)67, (T)0, right) == 67);                                \
        shmem_barrier_all();                                                                     \
        /* all at PE 0; more operands in flight than the context keeps */                        \
        for (int i = 0; i < 100; i++)                                                            \
            shmem_##NAME##_atomic_fetch_add_nbi(got + i, a, (T)1, 0);                            \
        for (int i = 0; i < 100; i++)                                                            \
            shmem_##NAME##_atomic_add(a, (T)2, 0);                                               \
        shmem_barrier_all();                                                                     \
        CHECK(shmem_##NAME##_atomic_fetch(a, 0) == (T)(300 * npes));                             \
        for (int i = 1; i < 100; i++)                                                            \
            for (int k = 0; k < i; k++)                                                          \
                CHECK(got[i] != got[k]);                                                         \
        shmem_barrier_all();                                                                     \
    }
AMO_TYPES(ADD_TEST)

#define BIT_TEST(NAME, T)                                                                        \
    static void bit_##NAME(void *memory)                                                         \
    {                                                                                            \
        T *a = memory, old = 0;                                                                  \
        int right = (me + 1) % npes;                                                             \
        *a = 0xf0;                                                                               \
        shmem_barrier_all();                                                                     \
        CHECK_EQ(shmem_##NAME##_atomic_fetch_or(a, (T)0x0f, right), 0xf0);                       \
        CHECK_EQ(shmem_##NAME##_atomic_fetch_and(a, (T)0x3c, right), 0xff);                      \
        CHECK_EQ(shmem_##NAME##_atomic_fetch_xor(a, (T)0xff, right), 0x3c);                      \
        shmem_##NAME##_atomic_or(a, (T)0x10, right);                                             \
        shmem_quiet();                                                                           \
        CHECK_EQ(shmem_##NAME##_atomic_fetch(a, right), 0xd3);                                   \
        shmem_##NAME##_atomic_and(a, (T)0xf1, right);                                            \
        shmem_quiet();                                                                           \
        CHECK_EQ(shmem_##NAME##_atomic_fetch(a, right), 0xd1);                                   \
        shmem_##NAME##_atomic_xor(a, (T)0x01, right);                                            \
        shmem_quiet();                                                                           \
        CHECK_EQ(shmem_##NAME##_atomic_fetch(a, right), 0xd0);                                   \
        shmem_##NAME##_atomic_fetch_or_nbi(&old, a, (T)1, right);                                \
        shmem_quiet();                                                                           \
        CHECK_EQ(old, 0xd0);                                                                     \
        shmem_##NAME##_atomic_fetch_and_nbi(&old, a, (T)0x11, right);                            \
        shmem_quiet();                                                                           \
        CHECK_EQ(old, 0xd1);                                                                     \
        shmem_##NAME##_atomic_fetch_xor_nbi(&old, a, (T)0x11, right);                            \
        shmem_quiet();                                                                           \
        CHECK_EQ(old, 0x11);                                                                     \
        CHECK_EQ(shmem_##NAME##_atomic_fetch(a, right), 0);                                      \
        shmem_barrier_all();                                                                     \
    }
BIT_TYPES(BIT_TEST)

static void all(void *memory)
{
#define SWAPS(NAME, T) swap_##NAME(memory);
#define ADDS(NAME, T) add_##NAME(memory);
#define BITS(NAME, T) bit_##NAME(memory);
    SWAP_TYPES(SWAPS)
    AMO_TYPES(ADDS)
    BIT_TYPES(BITS)
}

/* Words of every PE by every PE, by all kinds at once: nothing is lost. */
static void contended(uint64_t *a)
{
    enum { ROUNDS = 200 };
    memset(a, 0, 4 * sizeof *a);
    shmem_barrier_all();
    for (int i = 0; i < ROUNDS; i++) {
        int pe = (me + i) % npes;
        shmem_atomic_inc(a, pe);
        (void)shmem_atomic_fetch_add(a + 1, (uint64_t)3, pe);
        uint64_t seen = shmem_atomic_fetch(a + 2, pe), was;
        while ((was = shmem_atomic_compare_swap(a + 2, seen, seen + 5, pe)) != seen)
            seen = was;
        shmem_atomic_xor(a + 3, (uint64_t)1 << me % 64, pe);
    }
    shmem_barrier_all();
    uint64_t sum[3] = {0};
    for (int pe = 0; pe < npes; pe++)
        for (int k = 0; k < 3; k++)
            sum[k] += shmem_g(a + k, pe);
    CHECK_EQ(sum[0], ROUNDS * npes);
    CHECK_EQ(sum[1], 3 * ROUNDS * npes);
    CHECK_EQ(sum[2], 5 * ROUNDS * npes);
    uint64_t bits = 0; /* what PEs have turned here */
    for (int pe = 0; pe < npes; pe++)
        for (int i = 0; i < ROUNDS; i++)
            bits ^= (pe + i) % npes == me ? (uint64_t)1 << pe % 64 : 0;
    CHECK_EQ(shmem_g(a + 3, me), bits);
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    sh_begun();
    uint64_t *heap = shmem_malloc(sizeof static_words);
    all(heap);
    all(static_words);
    contended(heap);
    contended(static_words);
    return sh_finish();
}
