/* teams.c - teams, their collectives and contexts; active sets. */
#include "sh.h"

#include <complex.h>

enum { N = 5, MOST = 64 };
static long src[N * MOST], dst[N * MOST * 2];
static long *heap_word;
static long work[SHMEM_REDUCE_MIN_WRKDATA_SIZE + N], psync[SHMEM_REDUCE_SYNC_SIZE];

static void fill(long base)
{
    for (int i = 0; i < N * MOST; i++) {
        src[i] = base * 1000 + i;
        dst[i] = dst[N * MOST + i] = -1;
    }
}

/* The collectives of a team whose PE i is start + i * stride of all. */
static void collectives(shmem_team_t t, int start, int stride)
{
    int rank = shmem_team_my_pe(t), size = shmem_team_n_pes(t);
    CHECK_EQ(start + rank * stride, me);
    for (int root = 0; root < size; root++) {
        fill(me);
        shmem_team_sync(t);
        CHECK_EQ(shmem_broadcast(t, dst, src, N, root), 0);
        for (int i = 0; i < N; i++)
            CHECK_EQ(dst[i], 1000L * (start + root * stride) + i);
        CHECK_EQ(dst[N], -1);
        shmem_team_sync(t);
    }
    fill(me);
    CHECK_EQ(shmem_fcollect(t, dst, src, N), 0);
    for (int pe = 0; pe < size; pe++)
        for (int i = 0; i < N; i++)
            CHECK_EQ(dst[pe * N + i], 1000L * (start + pe * stride) + i);
    shmem_team_sync(t);
    fill(me); /* PE i brings i elements */
    CHECK_EQ(shmem_long_collect(t, dst, src, (size_t)rank), 0);
    for (int pe = 0, at = 0; pe < size; pe++)
        for (int i = 0; i < pe; i++)
            CHECK_EQ(dst[at++], 1000L * (start + pe * stride) + i);
    shmem_team_sync(t);
    fill(me);
    CHECK_EQ(shmem_alltoall(t, dst, src, N), 0);
    for (int pe = 0; pe < size; pe++)
        for (int i = 0; i < N; i++)
            CHECK_EQ(dst[pe * N + i], 1000L * (start + pe * stride) + rank * N + i);
    shmem_team_sync(t);
    fill(me);
    CHECK_EQ(shmem_alltoalls(t, dst, src, 2, 1, N), 0);
    for (int pe = 0; pe < size; pe++)
        for (int i = 0; i < N; i++) {
            CHECK_EQ(dst[2 * (pe * N + i)], 1000L * (start + pe * stride) + rank * N + i);
            CHECK_EQ(dst[2 * (pe * N + i) + 1], -1);
        }
    shmem_team_sync(t);
}

#define REDUCE(op, T, value, want)                                                               \
    do {                                                                                         \
        T *in = (T *)(void *)src, *out = (T *)(void *)dst;                                       \
        T result = 0;                                                                            \
        shmem_team_sync(t);                                                                      \
        for (int i = 0; i < 3; i++)                                                              \
            in[i] = (T)(value);                                                                  \
        CHECK_EQ(shmem_##op##_reduce(t, out, in, 3), 0);                                         \
        for (int pe = 0; pe < size; pe++)                                                        \
            result = (T)(want);                                                                  \
        for (int i = 0; i < 3; i++)                                                              \
            CHECK(out[i] == result);                                                             \
        shmem_team_sync(t);                                                                      \
        CHECK_EQ(shmem_##op##_reduce(t, in, in, 3), 0);                                          \
        CHECK(in[2] == result);                                                                  \
    } while (0)

#define SCAN(T, in_place)                                                                        \
    do {                                                                                         \
        T *in = (T *)(void *)src, *out = in_place ? in : (T *)(void *)dst;                       \
        for (int exclusive = 0; exclusive < 2; exclusive++) {                                    \
            T want[2] = {0};                                                                     \
            for (int pe = 0; pe < rank + !exclusive; pe++) {                                     \
                want[0] += (T)(pe + 1);                                                          \
                want[1] += (T)(2 * pe);                                                          \
            }                                                                                    \
            shmem_team_sync(t);                                                                  \
            dst[0] = dst[1] = dst[2] = dst[3] = -1;                                              \
            in[0] = (T)(rank + 1);                                                               \
            in[1] = (T)(2 * rank);                                                               \
            if (exclusive)                                                                       \
                CHECK_EQ(shmem_sum_exscan(t, out, in, 2), 0);                                    \
            else                                                                                 \
                CHECK_EQ(shmem_sum_inscan(t, out, in, 2), 0);                                    \
            CHECK(out[0] == want[0] && out[1] == want[1]);                                       \
        }                                                                                        \
    } while (0)

static void scans(shmem_team_t t)
{
    int rank = shmem_team_my_pe(t);
    for (int in_place = 0; in_place < 2; in_place++) {
        SCAN(int, in_place);
        SCAN(long, in_place);
        SCAN(short, in_place);
        SCAN(unsigned char, in_place);
        SCAN(size_t, in_place);
        SCAN(float, in_place);
        SCAN(double, in_place);
        SCAN(long double, in_place);
        SCAN(double complex, in_place);
    }
    shmem_team_sync(t);
    CHECK(shmem_int_sum_inscan(SHMEM_TEAM_INVALID, NULL, NULL, 0) != 0);
    CHECK(shmem_int_sum_exscan(SHMEM_TEAM_INVALID, NULL, NULL, 0) != 0);
}

static void reductions(shmem_team_t t)
{
    int rank = shmem_team_my_pe(t), size = shmem_team_n_pes(t);
#define EACH(T)                                                                                  \
    REDUCE(sum, T, rank + 1, result + (T)(pe + 1));                                              \
    REDUCE(prod, T, rank % 2 + 1, (pe ? result : 1) * (T)(pe % 2 + 1));                          \
    REDUCE(max, T, rank + 1, size);                                                              \
    REDUCE(min, T, rank + 1, 1)
    EACH(char);
    EACH(signed char);
    EACH(short);
    EACH(int);
    EACH(long);
    EACH(long long);
    EACH(unsigned char);
    EACH(unsigned short);
    EACH(unsigned);
    EACH(unsigned long);
    EACH(unsigned long long);
    EACH(float);
    EACH(double);
    EACH(long double);
    REDUCE(sum, double _Complex, rank + 1 + 2 * I, result + (pe + 1 + 2 * I));
    REDUCE(prod, float _Complex, I, (pe ? result : 1) * I);
#define BITS(T)                                                                                  \
    REDUCE(or, T, 1 << rank % 7, result | (T)(1 << pe % 7));                                     \
    REDUCE(and, T, 0x7f & ~(1 << rank % 7), (pe ? result : 0x7f) & (T)~(1 << pe % 7));           \
    REDUCE(xor, T, 1 << rank % 7, result ^ (T)(1 << pe % 7))
    BITS(unsigned char);
    BITS(short);
    BITS(unsigned short);
    BITS(int);
    BITS(unsigned);
    BITS(long);
    BITS(unsigned long);
    BITS(long long);
    BITS(unsigned long long);
    BITS(int8_t);
    BITS(uint64_t);
    BITS(size_t);
}

/* A context of a team takes the team's numbers. */
static void context(shmem_team_t t, int start, int stride, long *word)
{
    int rank = shmem_team_my_pe(t), size = shmem_team_n_pes(t), next = (rank + 1) % size;
    shmem_team_t of;
    shmem_ctx_t c;
    CHECK_EQ(shmem_team_create_ctx(t, SHMEM_CTX_PRIVATE, &c), 0);
    CHECK_EQ(shmem_ctx_get_team(c, &of), 0);
    CHECK(of == t);
    shmem_team_sync(t);
    shmem_p(c, word, 100L + rank, next);
    shmem_ctx_quiet(c);
    shmem_team_sync(t);
    CHECK_EQ(*word, 100 + (rank + size - 1) % size);
    shmem_team_sync(t);
    CHECK_EQ(shmem_atomic_fetch_add(c, word, 1L, next), 100 + rank);
    shmem_ctx_fence(c);
    shmem_team_sync(t);
    CHECK_EQ(shmem_g(c, word, rank), 101 + (rank + size - 1) % size);
    CHECK_EQ(shmem_team_translate_pe(t, next, SHMEM_TEAM_WORLD), start + next * stride);
    shmem_team_sync(t);
    shmem_ctx_destroy(c);
}

static void contexts(shmem_team_t t, int start, int stride)
{
    static long word;
    context(t, start, stride, &word);
    context(t, start, stride, heap_word);
}

/* More than the windows have duplicates; each works, and again after all are gone. */
static void many_contexts(void)
{
    enum { MANY = 300 };
    static shmem_ctx_t all[MANY];
    int right = (me + 1) % npes, left = (me + npes - 1) % npes;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++) {
            CHECK_EQ(shmem_ctx_create(0, all + i), 0);
            shmem_p(all[i], dst + i, 1000L * me + i + round, right);
        }
        for (int i = 0; i < MANY; i++)
            shmem_ctx_destroy(all[i]); /* completes what it has */
        shmem_barrier_all();
        for (int i = 0; i < MANY; i++)
            CHECK_EQ(dst[i], 1000L * left + i + round);
        shmem_barrier_all();
    }
}

static void one(shmem_team_t t, int start, int stride)
{
    collectives(t, start, stride);
    reductions(t);
    scans(t);
    contexts(t, start, stride);
}

static void active_set(int start, int log_stride, int size)
{
    int stride = 1 << log_stride, rank = (me - start) / stride;
    if (me < start || (me - start) % stride || rank >= size)
        return;
    int root = size - 1;
    fill(me);
    shmem_sync(start, log_stride, size, psync);
    shmem_broadcast64(dst, src, N, root, start, log_stride, size, psync);
    for (int i = 0; i < N; i++)
        CHECK_EQ(dst[i], rank == root ? -1 : 1000L * (start + root * stride) + i);
    shmem_barrier(start, log_stride, size, psync);
    shmem_fcollect64(dst, src, 2, start, log_stride, size, psync);
    CHECK_EQ(dst[2 * size - 1], 1000L * (start + root * stride) + 1);
    shmem_barrier(start, log_stride, size, psync);
    shmem_collect64(dst, src, (size_t)rank + 1, start, log_stride, size, psync);
    CHECK_EQ(dst[size * (size + 1) / 2 - 1], 1000L * (start + root * stride) + size - 1);
    shmem_barrier(start, log_stride, size, psync);
    shmem_alltoall64(dst, src, 1, start, log_stride, size, psync);
    CHECK_EQ(dst[size - 1], 1000L * (start + root * stride) + rank);
    shmem_barrier(start, log_stride, size, psync);
    shmem_alltoalls64(dst, src, 2, 1, 1, start, log_stride, size, psync);
    CHECK_EQ(dst[2 * size - 2], 1000L * (start + root * stride) + rank);
    shmem_barrier(start, log_stride, size, psync);
    src[0] = rank + 1;
    shmem_long_sum_to_all(dst, src, 1, start, log_stride, size, work, psync);
    CHECK_EQ(dst[0], size * (size + 1) / 2);
    shmem_long_max_to_all(dst + 1, src, 1, start, log_stride, size, work, psync);
    CHECK_EQ(dst[1], size);
    shmem_barrier(start, log_stride, size, psync);
}

static void teams(void)
{
    shmem_team_t t, again, y;
    shmem_team_config_t config = {.num_contexts = 3}, got = {0};
    CHECK_EQ(shmem_team_my_pe(SHMEM_TEAM_INVALID), -1);
    CHECK_EQ(shmem_team_n_pes(SHMEM_TEAM_INVALID), -1);
    CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, npes, SHMEM_TEAM_WORLD), -1);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes + 1, NULL, 0, &t) != 0);
    CHECK(t == SHMEM_TEAM_INVALID);
    one(SHMEM_TEAM_WORLD, 0, 1);
    /* those of odd number, then of these the last first */
    int odd = npes / 2;
    if (odd > 0) {
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, odd, &config,
                                          SHMEM_TEAM_NUM_CONTEXTS, &t), 0);
        CHECK_EQ(t != SHMEM_TEAM_INVALID, me % 2);
        if (t != SHMEM_TEAM_INVALID) {
            CHECK_EQ(shmem_team_get_config(t, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
            CHECK_EQ(got.num_contexts, 3);
            CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, t), -1);
            one(t, 1, 2);
            CHECK_EQ(shmem_team_split_strided(t, odd - 1, -1, odd, NULL, 0, &again), 0);
            one(again, 1 + 2 * (odd - 1), -2);
            shmem_team_destroy(t);
            shmem_team_destroy(again);
        }
    }
    CHECK_EQ(shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &t, NULL, 0, &y), 0);
    CHECK_EQ(shmem_team_my_pe(t), me % 2);
    CHECK_EQ(shmem_team_my_pe(y), me / 2);
    one(t, me / 2 * 2, 1);
    one(y, me % 2, 2);
    shmem_team_destroy(t); /* y goes with the end */
    /* of a node, each PE reaches the others by loads */
    long *heap = shmem_malloc(sizeof *heap);
    *heap = me;
    shmem_barrier_all();
    int near = shmem_team_n_pes(SHMEM_TEAM_SHARED);
    for (int i = 0; i < near; i++) {
        long *at = shmem_team_ptr(SHMEM_TEAM_SHARED, heap, i);
        if (CHECK(at != NULL))
            CHECK_EQ(*at, shmem_team_translate_pe(SHMEM_TEAM_SHARED, i, SHMEM_TEAM_WORLD));
    }
    shmem_barrier_all();
    shmem_free(heap);
}

int main(void)
{
    shmem_init();
    sh_begun();
    heap_word = shmem_malloc(sizeof *heap_word);
    teams();
    many_contexts();
    for (int round = 0; round < 2; round++) {
        active_set(0, 0, npes);
        active_set(0, 0, (npes + 1) / 2);
        active_set(0, 1, (npes + 1) / 2);
        if (npes > 1)
            active_set(1, 0, npes - 1);
    }
    shmem_barrier_all();
    return sh_finish();
}
