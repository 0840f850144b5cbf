/* test_kernel.c - inner loops: every block length up to 300 and all strides' signs, against plain
 * loops. */
#include "model.h"

#include <string.h>

Suite *suite_kernel(void);

START_TEST(strided_gather_scatter)
{
    enum { N = 11, MAX = 300, ROOM = N * 700 };
    static char src[ROOM], dst[ROOM], want[ROOM];
    struct rng r = {4};
    for (size_t blk = 1; blk <= MAX; blk++) {
        for (int way = 0; way < 3; way++) {
            int64_t ss = (int64_t)blk + rng_range(&r, 0, 300),
                    ds = (int64_t)blk + rng_range(&r, 0, 300), off[N];
            size_t sat = 0, dat = 0;
            for (int i = 0; i < ROOM; i++) {
                src[i] = (char)rng_next(&r);
                dst[i] = want[i] = (char)i;
            }
            if (way == 1) {
                sat = (size_t)((N - 1) * ss);
                ss = -ss;
            }
            for (int64_t i = 0; i < N; i++) {
                off[i] = i * ss;
                memcpy(want + dat + (size_t)i * (size_t)ds, src + (int64_t)sat + i * ss, blk);
            }
            if (way < 2) {
                kernel_strided(dst + dat, ds, src + sat, ss, N, blk);
            } else {
                char packed[N * MAX];
                int64_t to[N];
                for (int64_t i = 0; i < N; i++)
                    to[i] = i * ds;
                kernel_gather(packed, src + sat, off, N, blk);
                kernel_scatter(dst + dat, to, packed, N, blk);
            }
            ck_assert_mem_eq(dst, want, ROOM);
        }
    }
}
END_TEST

/* Starts no memory is at: MPI_BOTTOM, and large displacements and steps of which only the sum is a
 * place.  (What is added to what matters to `maint/sanitize address`: an address beyond all memory
 * is not a pointer in C.) */
START_TEST(far_displacements)
{
    static const int64_t FAR = INT64_MAX - 4095;
    char from[64], to[64];
    for (int i = 0; i < 64; i++)
        from[i] = (char)(3 * i);
    for (size_t blk = 1; blk <= 24; blk++) {
        const int64_t at[2] = {FAR + 40, FAR},
                      absolute[2] = {(int64_t)(uintptr_t)from + 40, (int64_t)(uintptr_t)from};
        memset(to, 0, sizeof to);
        kernel_gather(to, (const char *)((uintptr_t)from - (uintptr_t)FAR), at, 2, blk);
        ck_assert_mem_eq(to, from + 40, blk);
        ck_assert_mem_eq(to + blk, from, blk);
        memset(to, 0, sizeof to);
        kernel_gather(to, NULL, absolute, 2, blk);
        ck_assert_mem_eq(to, from + 40, blk);
        memset(to, 0, sizeof to);
        kernel_scatter((char *)((uintptr_t)to - (uintptr_t)FAR), at, from, 2, blk);
        ck_assert_mem_eq(to + 40, from, blk);
        ck_assert_mem_eq(to, from + blk, blk);
        memset(to, 0, sizeof to);
        kernel_strided(to, -FAR, from, FAR, 1, blk);
        ck_assert_mem_eq(to, from, blk);
    }
}
END_TEST

Suite *suite_kernel(void)
{
    Suite *s = suite_create("dt/kernel");
    TCase *t = tcase_create("kernel");
    tcase_add_test(t, strided_gather_scatter);
    tcase_add_test(t, far_displacements);
    suite_add_tcase(s, t);
    return s;
}
