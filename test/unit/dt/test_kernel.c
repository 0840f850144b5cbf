/* Inner loops: every block length up to 300 and all strides' signs, against plain loops. */
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
            int64_t ss = (int64_t)blk + rng_range(&r, 0, 300), ds = (int64_t)blk + rng_range(&r, 0, 300), off[N];
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

Suite *suite_kernel(void)
{
    Suite *s = suite_create("dt/kernel");
    TCase *t = tcase_create("kernel");
    tcase_add_test(t, strided_gather_scatter);
    suite_add_tcase(s, t);
    return s;
}
