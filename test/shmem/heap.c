/* heap.c - the symmetric heap: blocks do not overlap, offsets are the same at all PEs, memory comes
 * back; what else a program may ask of PEs and addresses. */
#include "sh.h"

enum { BLOCKS = 40 };
static long offset, static_long;

static int same_offset(const char *p, const char *base)
{
    offset = p - base;
    shmem_barrier_all();
    int same = shmem_long_g(&offset, (me + 1) % npes) == offset;
    shmem_barrier_all();
    return same;
}

static void blocks(void)
{
    char *base = shmem_malloc(1), *p[BLOCKS] = {0};
    size_t size[BLOCKS] = {0};
    unsigned seed = 7; /* of all PEs */
    for (int i = 0; i < 400; i++) {
        seed = seed * 1103515245u + 12345;
        int k = (int)(seed >> 16) % BLOCKS;
        if (p[k] && seed >> 12 & 1) {
            size_t more = seed >> 8 & 4095;
            char *q = shmem_realloc(p[k], more + 1);
            int good = q != NULL;
            for (size_t j = 0; good && j < size[k] && j <= more; j++)
                good = q[j] == (char)(k + (int)j);
            CHECK(good);
            p[k] = q;
            size[k] = more + 1;
        } else if (p[k]) {
            int good = 1;
            for (size_t j = 0; j < size[k]; j++)
                good = good && p[k][j] == (char)(k + (int)j);
            CHECK(good);
            shmem_free(p[k]);
            p[k] = NULL;
            continue;
        } else {
            size_t alignment = (size_t)16 << (seed >> 8) % 9;
            size[k] = (seed >> 10 & 8191) + 1;
            p[k] = seed & 4 ? shmem_align(alignment, size[k]) : shmem_malloc(size[k]);
            CHECK(p[k] && (!(seed & 4) || (uintptr_t)p[k] % alignment == 0));
        }
        for (size_t j = 0; j < size[k]; j++)
            p[k][j] = (char)(k + (int)j);
        if (i % 10 == 0)
            CHECK(same_offset(p[k], base));
    }
    for (int k = 0; k < BLOCKS; k++)
        shmem_free(p[k]);
    shmem_free(base);
}

/* The heap of the list's row has 8 MiB: one block of 7 goes in, two do not, again and again. */
static void whole(void)
{
    for (int i = 0; i < 3; i++) {
        char *big = shmem_malloc(7 << 20), *none = shmem_malloc(7 << 20);
        CHECK(big && !none);
        if (big)
            big[(7 << 20) - 1] = 1;
        shmem_free(big);
    }
    CHECK(!shmem_malloc((size_t)1 << 40));
    CHECK(!shmem_malloc(0));
    CHECK(!shmem_align(3, 100));
    long *zero = shmem_calloc(1000, sizeof *zero);
    int good = zero != NULL;
    for (int i = 0; good && i < 1000; i++)
        good = !zero[i];
    CHECK(good);
    CHECK(!shmem_calloc(SIZE_MAX, 16));
    shmem_free(zero);
    long *hinted = shmem_malloc_with_hints(100, SHMEM_MALLOC_ATOMICS_REMOTE);
    CHECK(hinted && shmem_addr_accessible(hinted, npes - 1));
    shmem_free(hinted);
}

static void questions(void)
{
    char name[SHMEM_MAX_NAME_LEN];
    int major, minor, local = 0, level;
    long *heap = shmem_malloc(sizeof *heap);
    shmem_info_get_version(&major, &minor);
    shmem_info_get_name(name);
    CHECK(major == SHMEM_MAJOR_VERSION && minor == SHMEM_MINOR_VERSION);
    CHECK(!strcmp(name, SHMEM_VENDOR_STRING));
    shmem_query_thread(&level);
    CHECK_EQ(level, SHMEM_THREAD_SINGLE);
    CHECK(shmem_pe_accessible(npes - 1) && !shmem_pe_accessible(npes) && !shmem_pe_accessible(-1));
    CHECK(shmem_addr_accessible(&static_long, 0) && !shmem_addr_accessible(&local, 0));
    CHECK(shmem_ptr(heap, me) == heap && shmem_ptr(&static_long, me) == &static_long);
    CHECK(!shmem_ptr(&local, me));
    for (int pe = 0; pe < npes; pe++) {
        *heap = me;
        shmem_barrier_all();
        long *at = shmem_ptr(heap, pe);
        CHECK(!at || *at == pe);
        shmem_barrier_all();
    }
    shmem_free(heap);
}

int main(void)
{
    shmem_init();
    sh_begun();
    blocks();
    whole();
    questions();
    return sh_finish();
}
