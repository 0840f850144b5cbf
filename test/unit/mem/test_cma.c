/* test_cma.c - mem/cma.c: many pieces. */
#include "job.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mem/mem.h"

Suite *suite_cma(void);

enum { PIECES = 3000, BYTES = PIECES * 24 };

static unsigned char pattern(size_t i)
{
    return (unsigned char)(i * 131 + i / 251);
}

/* Rank 1: `far` of rank 0 into `mine`, changed, and back.  1 if single copies are refused here. */
static int exchange(unsigned char *mine, const struct iovec *near, size_t nnear,
                    const struct iovec *far)
{
    int to = boot_host_index(0), err = mem_cma_read(to, near, nnear, far, PIECES);
    if (err == -EPERM) {
        /* the system refuses, or (an emulator) does not know the call: returned again, nothing is
         * touched */
        job_check(mem_cma_write(to, near, nnear, far, PIECES) == -EPERM);
        return 1;
    }
    job_check(err == 0);
    for (size_t i = 0; i < BYTES; i++)
        job_check(mine[i] == pattern((PIECES - 1 - i / 24) * 24 + i % 24));
    for (size_t i = 0; i < BYTES; i++)
        mine[i] ^= 0x5a;
    job_check(mem_cma_write(to, near, nnear, far, PIECES) == 0);
    struct iovec wild = {(void *)16, 8}, own = {mine, 8};
    job_check(mem_cma_read(to, &own, 1, &wild, 1) == -EFAULT);
    job_check(mem_cma_write(to, &own, 1, &wild, 1) == -EFAULT);
    job_check(mem_cma_read(to, NULL, 0, NULL, 0) == 0);
    return 0;
}

/* Rank 1 reads and writes rank 0's heap in pieces of different cuts, more of them than one call
 * takes. */
static void pieces(void)
{
    job_check(mem_init() == 0);
    unsigned char *mine = malloc(BYTES);
    struct iovec *far = malloc(PIECES * sizeof *far), *near = malloc(PIECES * sizeof *near);
    uint64_t addr = (uintptr_t)mine;
    if (boot_rank() == 0) {
        for (size_t i = 0; i < BYTES; i++)
            mine[i] = pattern(i);
        job_check(boot_put("addr", &addr, sizeof addr) == 0);
    }
    job_check(boot_barrier() == 0);
    if (boot_rank() == 1) {
        size_t len = sizeof addr, nnear = 0;
        job_check(boot_get("addr", &addr, &len) == 0);
        for (size_t i = 0; i < PIECES; i++) /* the last first */
            far[i] = (struct iovec){(char *)(uintptr_t)addr + (PIECES - 1 - i) * 24, 24};
        for (size_t at = 0; at < BYTES; nnear++) { /* lengths 0..99 */
            size_t n = nnear * 37 % 100;
            if (n > BYTES - at)
                n = BYTES - at;
            near[nnear] = (struct iovec){mine + at, n};
            at += n;
        }
        job_words()[0] = (uint64_t)exchange(mine, near, nnear, far);
    }
    job_check(boot_barrier() == 0);
    if (boot_rank() == 0)
        for (size_t i = 0; i < BYTES; i++)
            job_check(mine[i] == (job_words()[0] ? pattern(i) : pattern(i) ^ 0x5a));
    free(mine);
    free(far);
    free(near);
    mem_finalize();
}

START_TEST(many_pieces)
{
    ck_assert_int_eq(job_run(2, NULL, pieces, 20), 0);
}
END_TEST

Suite *suite_cma(void)
{
    Suite *s = suite_create("mem/cma");
    TCase *t = tcase_create("cma");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, many_pieces);
    suite_add_tcase(s, t);
    return s;
}
