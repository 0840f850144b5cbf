/* move.c - put and get in every type, size and form: on the heap, on static data, by the default
 * context and by one of its own. */
#include "sh.h"

enum { N = 24 };
static shmem_ctx_t ctx;
static char static_memory[4096] __attribute__((aligned(16)));

#define RMA_TYPES(X)                                                                             \
    X(float, float) X(double, double) X(longdouble, long double) X(char, char)                   \
    X(schar, signed char) X(short, short) X(int, int) X(long, long) X(longlong, long long)       \
    X(uchar, unsigned char) X(ushort, unsigned short) X(uint, unsigned) X(ulong, unsigned long)  \
    X(ulonglong, unsigned long long) X(int8, int8_t) X(int16, int16_t) X(int32, int32_t)         \
    X(int64, int64_t) X(uint8, uint8_t) X(uint16, uint16_t) X(uint32, uint32_t)                  \
    X(uint64, uint64_t) X(size, size_t) X(ptrdiff, ptrdiff_t)

/* Element i as PE pe writes it in a round. */
#define VALUE(pe, i) (((pe) * 5 + (i) + 1) % 100)

/* Each form writes to the right neighbour and reads back what it has from the left. */
#define TYPE_TEST(NAME, T)                                                                       \
    static void test_##NAME(void *memory)                                                        \
    {                                                                                            \
        T *a = memory, b[N], c[2 * N];                                                           \
        int right = (me + 1) % npes, left = (me + npes - 1) % npes;                              \
        for (int round = 0; round < 6; round++) {                                                \
            for (int i = 0; i < N; i++) {                                                        \
                a[i] = 0;                                                                        \
                b[i] = (T)VALUE(me + round, i);                                                  \
            }                                                                                    \
            shmem_barrier_all();                                                                 \
            switch (round) {                                                                     \
            case 0:                                                                              \
                for (int i = 0; i < N; i++)                                                      \
                    shmem_##NAME##_p(a + i, b[i], right);                                        \
                break;                                                                           \
            case 1: shmem_##NAME##_put(a, b, N, right); break;                                   \
            case 2: shmem_##NAME##_put_nbi(a, b, N, right); break;                               \
            case 3: shmem_ctx_##NAME##_put(ctx, a, b, N, right); break;                          \
            case 4:                                                                              \
                for (int i = 0; i < N; i++)                                                      \
                    shmem_ctx_##NAME##_p(ctx, a + i, b[i], right);                               \
                break;                                                                           \
            case 5: shmem_ctx_##NAME##_put_nbi(ctx, a, b, N, right); break;                      \
            }                                                                                    \
            shmem_ctx_quiet(ctx);                                                                \
            shmem_barrier_all();                                                                 \
            for (int i = 0; i < N; i++)                                                          \
                CHECK(a[i] == (T)VALUE(left + round, i));                                        \
            memset(b, 0, sizeof b);                                                              \
            switch (round) {                                                                     \
            case 0:                                                                              \
                for (int i = 0; i < N; i++)                                                      \
                    b[i] = shmem_##NAME##_g(a + i, right);                                       \
                break;                                                                           \
            case 1: shmem_##NAME##_get(b, a, N, right); break;                                   \
            case 2: shmem_##NAME##_get_nbi(b, a, N, right); shmem_quiet(); break;                \
            case 3: shmem_ctx_##NAME##_get(ctx, b, a, N, right); break;                          \
            case 4:                                                                              \
                for (int i = 0; i < N; i++)                                                      \
                    b[i] = shmem_ctx_##NAME##_g(ctx, a + i, right);                              \
                break;                                                                           \
            case 5: shmem_ctx_##NAME##_get_nbi(ctx, b, a, N, right); shmem_ctx_quiet(ctx); break; \
            }                                                                                    \
            for (int i = 0; i < N; i++)                                                          \
                CHECK(b[i] == (T)VALUE(me + round, i));                                          \
            shmem_barrier_all();                                                                 \
        }                                                                                        \
        /* each second element there from each third one here, and back */                       \
        for (int i = 0; i < N; i++) {                                                            \
            a[i] = (T)99;                                                                        \
            b[i] = (T)VALUE(me, i);                                                              \
        }                                                                                        \
        shmem_barrier_all();                                                                     \
        shmem_##NAME##_iput(a, b, 2, 3, N / 3, right);                                           \
        shmem_barrier_all();                                                                     \
        for (int i = 0; i < N; i++)                                                              \
            CHECK(a[i] == (i % 2 == 0 && i / 2 < N / 3 ? (T)VALUE(left, i / 2 * 3) : (T)99));    \
        for (int i = 0; i < 2 * N; i++)                                                          \
            c[i] = (T)98;                                                                        \
        shmem_ctx_##NAME##_iget(ctx, c, a, 3, 2, N / 3, right);                                  \
        for (int i = 0; i < N; i++)                                                              \
            CHECK(c[i] == (i % 3 == 0 ? (T)VALUE(me, i) : (T)98));                               \
        shmem_barrier_all();                                                                     \
        shmem_##NAME##_ibput(a, b, 4, 3, 2, 4, right); /* blocks of two */                       \
        shmem_barrier_all();                                                                     \
        for (int k = 0; k < 8; k++)                                                              \
            CHECK(a[k / 2 * 4 + k % 2] == (T)VALUE(left, k / 2 * 3 + k % 2));                    \
        shmem_##NAME##_ibget(c, a, 2, 4, 2, 4, right);                                           \
        for (int k = 0; k < 8; k++)                                                              \
            CHECK(c[k] == (T)VALUE(me, k / 2 * 3 + k % 2));                                      \
        shmem_barrier_all();                                                                     \
    }
RMA_TYPES(TYPE_TEST)

#define SIZE_TEST(BITS)                                                                          \
    static void test_bits_##BITS(char *memory)                                                   \
    {                                                                                            \
        enum { BYTES = BITS / 8 };                                                               \
        char b[8 * BYTES], c[8 * BYTES];                                                         \
        int right = (me + 1) % npes, left = (me + npes - 1) % npes;                              \
        memset(memory, 0, 8 * BYTES);                                                            \
        for (int i = 0; i < 8 * BYTES; i++)                                                      \
            b[i] = (char)VALUE(me, i);                                                           \
        shmem_barrier_all();                                                                     \
        shmem_put##BITS(memory, b, 4, right);                                                    \
        shmem_ctx_put##BITS##_nbi(ctx, memory + 4 * BYTES, b + 4 * BYTES, 4, right);             \
        shmem_ctx_quiet(ctx);                                                                    \
        shmem_barrier_all();                                                                     \
        for (int i = 0; i < 8 * BYTES; i++)                                                      \
            CHECK_EQ(memory[i], VALUE(left, i));                                                 \
        shmem_get##BITS(c, memory, 8, right);                                                    \
        CHECK(!memcmp(b, c, sizeof c));                                                          \
        memset(c, 0, sizeof c);                                                                  \
        shmem_iget##BITS(c, memory, 1, 2, 4, right);                                             \
        for (int i = 0; i < 4 * BYTES; i++)                                                      \
            CHECK_EQ(c[i], b[i / BYTES * 2 * BYTES + i % BYTES]);                                \
        shmem_barrier_all();                                                                     \
        shmem_iput##BITS(memory, b, 2, 1, 4, right);                                             \
        shmem_barrier_all();                                                                     \
        for (int i = 0; i < 4 * BYTES; i++)                                                      \
            CHECK_EQ(memory[i / BYTES * 2 * BYTES + i % BYTES], VALUE(left, i));                 \
        shmem_barrier_all();                                                                     \
    }
SIZE_TEST(8)
SIZE_TEST(16)
SIZE_TEST(32)
SIZE_TEST(64)
SIZE_TEST(128)

static void all_types(void *memory)
{
#define CALL(NAME, T) test_##NAME(memory);
    RMA_TYPES(CALL)
    test_bits_8(memory);
    test_bits_16(memory);
    test_bits_32(memory);
    test_bits_64(memory);
    test_bits_128(memory);
}

/* Long ones by bytes, to each PE and from it; none of no bytes, wherever they are. */
static void long_ones(void)
{
    enum { LONG = 300000 };
    char *heap = shmem_malloc(LONG), *here = malloc(LONG), *back = malloc(LONG);
    for (int to = 0; to < npes; to++) {
        for (int i = 0; i < LONG; i++)
            here[i] = (char)(me * 7 + i * 3 + to);
        shmem_barrier_all();
        if (me == (to + 1) % npes) {
            shmem_putmem(heap, here, LONG, to);
            shmem_quiet();
            shmem_getmem(back, heap, LONG, to);
            CHECK(!memcmp(here, back, LONG));
        }
        shmem_barrier_all();
        int from = (to + 1) % npes, good = 1;
        if (me == to)
            for (int i = 0; i < LONG; i++)
                good = good && heap[i] == (char)(from * 7 + i * 3 + to);
        CHECK(good);
        shmem_barrier_all();
    }
    shmem_putmem(heap, here, 0, 0);
    shmem_getmem_nbi(here, heap, 0, npes - 1);
    shmem_int_iput((int *)heap, (int *)here, 1, 1, 0, 0);
    shmem_free(heap);
    free(here);
    free(back);
}

/* C11's selection, with and without a context. */
static void selection(void)
{
    static double d[4];
    static unsigned short u[4];
    double x[4] = {me + 0.5, 2, 3, 4};
    const unsigned short y[4] = {(unsigned short)me, 7, 8, 9};
    int right = (me + 1) % npes, left = (me + npes - 1) % npes;
    shmem_barrier_all();
    shmem_put(d, x, 4, right);
    shmem_put(ctx, u, y, 3, right);
    shmem_p(ctx, u + 3, (unsigned short)77, right);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    CHECK(d[0] == left + 0.5 && d[3] == 4);
    CHECK(u[0] == left && u[2] == 8 && u[3] == 77);
    CHECK(shmem_g(d, right) == me + 0.5);
    CHECK_EQ(shmem_g(ctx, u, right), me);
    shmem_get(x, d, 4, left);
    CHECK(x[0] == (left + npes - 1) % npes + 0.5);
}

int main(void)
{
    shmem_init();
    sh_begun();
    CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
    void *heap = shmem_malloc(sizeof static_memory);
    CHECK(heap != NULL);
    all_types(heap);
    all_types(static_memory);
    long_ones();
    selection();
    shmem_ctx_destroy(ctx);
    return sh_finish();
}
