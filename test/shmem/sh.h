/* sh.h - what the SHMEM test programs share: sh_init(), CHECK(), sh_finish(). PE 0 prints
 * " No Errors" only if no PE counted an error; else each failure stands on a line with PE, file and
 * line. Programs run on any number of PEs. */
#ifndef SH_H
#define SH_H

#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, npes;
static long sh_errors, sh_all; /* symmetric: the sum is made by atomics */

#define CHECK(cond) sh_check((cond) != 0, __FILE__, __LINE__, #cond)
#define CHECK_EQ(got, want)                                                                      \
    do {                                                                                         \
        long long got_ = (long long)(got), want_ = (long long)(want);                            \
        if (!sh_check(got_ == want_, __FILE__, __LINE__, #got " == " #want))                     \
            printf("    %lld, expected %lld\n", got_, want_);                                    \
    } while (0)

static inline int sh_check(int good, const char *file, int line, const char *text)
{
    if (good)
        return 1;
    if (++sh_errors <= 10) {
        printf("PE %d of %d: %s:%d: failed: %s\n", me, npes, file, line, text);
        fflush(stdout);
    }
    return 0;
}

static inline void sh_begun(void)
{
    me = shmem_my_pe();
    npes = shmem_n_pes();
}

static inline int sh_finish(void)
{
    shmem_barrier_all();
    shmem_long_atomic_add(&sh_all, sh_errors, 0);
    shmem_barrier_all();
    long all = shmem_long_g(&sh_all, 0);
    if (!me && !all)
        printf(" No Errors\n");
    fflush(stdout);
    shmem_finalize();
    return all != 0;
}

#endif
