/* test_segment.c - mem/segment.c: create attach, reserve parts, aligned, no memory, kept,
 * segment of, without descriptors, limit of files. */
#include "job.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/proc.h"
#include "mem/mem_types.h"

Suite *suite_segment(void);

/* Each process makes a segment, the next one attaches it, reads the owner's bytes and writes its
 * own. */
static void exchange(void)
{
    struct mem_segment *seg, *far;
    struct mem_key key;
    size_t len = sizeof key;
    char name[16];
    int rank = boot_rank(), size = boot_size();
    job_check(mem_init() == 0);
    job_check(mem_segment_create(10000, 0, &seg) == 0);
    job_check(seg->owner && seg->fd >= 0 && seg->size == 12288);
    char *own = seg->base;
    for (size_t i = 0; i < seg->size; i++)
        job_check(own[i] == 0);
    own[0] = (char)(rank + 1);
    mem_segment_key(seg, &key);
    snprintf(name, sizeof name, "seg.%d", rank);
    job_check(boot_put(name, &key, sizeof key) == 0);
    job_check(boot_barrier() == 0);
    int next = (rank + 1) % size;
    snprintf(name, sizeof name, "seg.%d", next);
    job_check(boot_get(name, &key, &len) == 0 && len == sizeof key);
    job_check(mem_segment_attach(&key, &far) == 0);
    job_check(!far->owner && far->fd == -1 && far->size == 12288);
    job_check(((char *)far->base)[0] == next + 1);
    ((char *)far->base)[1] = (char)(rank + 100);
    job_check(boot_barrier() == 0);
    job_check(own[1] == (char)((rank + size - 1) % size + 100));
    /* a wrong id, a descriptor that is something else, a size beyond the file, a process that
     * is not there */
    struct mem_segment *bad = NULL;
    struct mem_key k = key;
    k.seg_id ^= 1;
    job_check(mem_segment_attach(&k, &bad) == -ESTALE);
    k = key;
    k.fd = 0;
    job_check(mem_segment_attach(&k, &bad) == -ESTALE);
    k = key;
    k.size += 4096;
    job_check(mem_segment_attach(&k, &bad) == -ESTALE);
    k = key;
    k.size = 100;
    job_check(mem_segment_attach(&k, &bad) == -EINVAL);
    k = key;
    k.pid = 0x3fffffff;
    job_check(mem_segment_attach(&k, &bad) == -ESTALE);
    job_check(bad == NULL);
    job_check(boot_barrier() == 0);
    /* large pages: whole ones, or -ENOMEM where too few are set aside */
    struct mem_segment *large, *again;
    int err = mem_segment_create(10000, MEM_LARGE, &large);
    job_check(err == 0 || err == -ENOMEM);
    if (!err) {
        job_check(large->size >= 65536 && ((char *)large->base)[large->size - 1] == 0);
        mem_segment_key(large, &key);
        job_check(mem_segment_attach(&key, &again) == 0 && again->size == large->size);
        ((char *)again->base)[9999] = 5;
        job_check(((char *)large->base)[9999] == 5);
        mem_segment_drop(again);
        mem_segment_drop(large);
    }
    job_check(mem_segment_create((size_t)1 << 60, MEM_LARGE, &large) == -ENOMEM);
    mem_segment_shut(seg);
    job_check(seg->fd == -1);
    job_check(boot_barrier() == 0);
    job_check(mem_segment_attach(&key, &bad) == -ESTALE);
    mem_segment_drop(far);
    mem_segment_drop(seg);
    mem_finalize();
}

START_TEST(create_attach)
{
    ck_assert_int_eq(job_run(3, NULL, exchange, 20), 0);
}
END_TEST

/* Each process reserves its own part of one segment. */
static void parts(void)
{
    struct mem_segment *seg;
    struct mem_key key;
    size_t len = sizeof key, part = 1 << 20;
    int rank = boot_rank(), size = boot_size();
    job_check(mem_init() == 0);
    if (rank == 0) {
        job_check(mem_segment_create(part * (size_t)size, MEM_NO_RESERVE, &seg) == 0);
        mem_segment_key(seg, &key);
        job_check(boot_put("parts", &key, sizeof key) == 0);
    }
    job_check(boot_barrier() == 0);
    if (rank != 0)
        job_check(boot_get("parts", &key, &len) == 0 && mem_segment_attach(&key, &seg) == 0);
    job_check(mem_segment_reserve(seg, part * (size_t)rank, part) == 0);
    job_check(mem_segment_reserve(seg, part * (size_t)size, 1) == -EINVAL);
    memset((char *)seg->base + part * (size_t)rank, rank + 1, part);
    job_check(boot_barrier() == 0);
    for (int r = 0; r < size; r++)
        job_check(((char *)seg->base)[part * (size_t)(r + 1) - 1] == r + 1);
    job_check(boot_barrier() == 0);
    mem_segment_drop(seg);
    mem_finalize();
}

/* An owner's mapping and a peer's go where they are wanted, contents and all, and are found
 * there. */
static void places(void)
{
    struct mem_segment *seg, *far;
    struct mem_key key;
    job_check(mem_init() == 0);
    for (size_t align = 4096; align <= (size_t)1 << 30; align *= 8) {
        job_check(mem_segment_create(3 * 4096, 0, &seg) == 0);
        ((char *)seg->base)[5000] = 7;
        job_check(mem_segment_align(seg, align) == 0 && (uintptr_t)seg->base % align == 0);
        job_check(((char *)seg->base)[5000] == 7 &&
                  mem_segment_of((char *)seg->base + 5000, 10) == seg);
        mem_segment_key(seg, &key);
        job_check(mem_segment_attach(&key, &far) == 0 && mem_segment_align(far, align) == 0);
        job_check((uintptr_t)far->base % align == 0 && far->base != seg->base &&
                  ((char *)far->base)[5000] == 7);
        job_check(mem_segment_of(far->base, 1) == NULL);
        mem_segment_drop(far);
        mem_segment_drop(seg);
    }
    job_check(mem_segment_create(4096, 0, &seg) == 0);
    void *was = seg->base;
    job_check(mem_segment_align(seg, (size_t)1 << 62) == -ENOMEM && seg->base == was &&
              mem_segment_of(was, 1) == seg);
    mem_segment_drop(seg);
    mem_finalize();
}

START_TEST(aligned)
{
    ck_assert_int_eq(job_run(1, NULL, places, 20), 0);
}
END_TEST

START_TEST(reserve_parts)
{
    ck_assert_int_eq(job_run(3, NULL, parts, 20), 0);
}
END_TEST

static void limits(void)
{
    struct mem_segment *seg = NULL;
    job_check(mem_init() == 0);
    job_check(mem_segment_create((size_t)1 << 46, 0, &seg) == -ENOMEM);
    job_check(mem_segment_create(SIZE_MAX, 0, &seg) == -ENOMEM);
    job_check(mem_segment_create(SIZE_MAX / 2, MEM_NO_RESERVE, &seg) == -ENOMEM);
    /* The kernel answers a file beyond this limit with SIGXFSZ. */
    struct rlimit r = {1 << 20, 1 << 20};
    job_check(setrlimit(RLIMIT_FSIZE, &r) == 0);
    job_check(mem_segment_create(2 << 20, 0, &seg) == -ENOMEM);
    job_check(seg == NULL);
    job_check(mem_segment_create(1 << 20, 0, &seg) == 0);
    mem_segment_drop(seg);
    job_check(mem_segment_create(0, 0, &seg) == 0 && seg->size == 4096);
    mem_segment_drop(seg);
    mem_finalize();
}

START_TEST(no_memory)
{
    ck_assert_int_eq(job_run(1, NULL, limits, 20), 0);
}
END_TEST

static void lookup(void)
{
    enum { N = 50 };
    struct mem_segment *s[N];
    job_check(mem_init() == 0);
    for (int i = 0; i < N; i++)
        job_check(mem_segment_create(4096 * (size_t)(1 + i % 3), 0, &s[i]) == 0);
    for (int i = 0; i < N; i += 2) {
        mem_segment_drop(s[i]);
        s[i] = NULL;
    }
    for (int i = 1; i < N; i += 2) {
        char *b = s[i]->base;
        job_check(mem_segment_of(b, s[i]->size) == s[i]);
        job_check(mem_segment_of(b + s[i]->size - 1, 1) == s[i]);
        job_check(mem_segment_of(b + 1, s[i]->size) == NULL);
        job_check(mem_segment_of(b, SIZE_MAX) == NULL);
    }
    job_check(mem_segment_of(&s, 1) == NULL);
    for (int i = 1; i < N; i += 2)
        mem_segment_drop(s[i]);
    mem_finalize();
}

/* Dropped segments come back for the same size, zeroed where that is promised; what is kept has a
 * bound. */
static void again(void)
{
    struct mem_segment *a, *b;
    struct mem_key k, l;
    enum { SIZE = 1 << 20 };
    job_check(mem_init() == 0);
    job_check(mem_segment_create(SIZE, 0, &a) == 0);
    mem_segment_key(a, &k);
    memset(a->base, 7, SIZE);
    mem_segment_shut(a);
    mem_segment_drop(a);
    job_check(mem_segment_create(SIZE - 5, 0, &b) == 0);
    mem_segment_key(b, &l);
    job_check(l.seg_id == k.seg_id && l.fd == k.fd && b->size == SIZE);
    for (int i = 0; i < SIZE; i++)
        job_check(((char *)b->base)[i] == 0);
    job_check(mem_segment_of((char *)b->base + SIZE - 1, 1) == b);
    memset(b->base, 8, SIZE);
    mem_segment_drop(b);
    /* never an old one: it would not be zero */
    job_check(mem_segment_create(SIZE, MEM_NO_RESERVE, &b) == 0);
    mem_segment_key(b, &l);
    job_check(l.seg_id != k.seg_id && ((char *)b->base)[0] == 0);
    mem_segment_drop(b);
    job_check(mem_segment_create(SIZE, MEM_LAZY, &a) == 0);
    mem_segment_key(a, &l);
    job_check(l.seg_id == k.seg_id && ((char *)a->base)[SIZE - 1] == 8);
    job_check(mem_segment_create(SIZE, MEM_LAZY, &b) == 0);
    job_check(mem_segment_reserve(b, 4096, 8192) == 0 && ((char *)b->base)[4096] == 0);
    mem_segment_drop(a);
    mem_segment_drop(b); /* 2 MiB, more than the bound: the older one went */
    job_check(proc->mem->nkept == 1 && proc->mem->kept_bytes == SIZE);
    job_check(mem_segment_create(SIZE + SIZE / 2, MEM_ONCE, &a) == 0); /* would have its place */
    mem_segment_key(a, &k);
    job_check(mem_segment_attach(&k, &b) == 0);
    memset(b->base, 9, 4096);
    mem_segment_shut(a);
    mem_segment_drop(a);
    job_check(proc->mem->kept_bytes == SIZE);
    job_check(mem_segment_create(SIZE + SIZE / 2, 0, &a) == 0);
    job_check(((char *)b->base)[0] == 9); /* a late process still sees it */
    mem_segment_drop(b);
    mem_segment_drop(a);
    mem_finalize();
}

START_TEST(kept)
{
    const char *const sets[] = {"MPIR_CVAR_MEM_KEEP=2000000", NULL};
    ck_assert_int_eq(job_run(1, sets, again, 20), 0);
}
END_TEST

/* Take all descriptors that the limit leaves, from *first on; give them back. */
static void files_take(struct rlimit *had, int *first)
{
    int fd;
    job_check(getrlimit(RLIMIT_NOFILE, had) == 0);
    job_check(setrlimit(RLIMIT_NOFILE, &(struct rlimit){64, had->rlim_max}) == 0);
    for (*first = -1; (fd = fcntl(0, F_DUPFD, 0)) >= 0;)
        *first = *first < 0 ? fd : *first;
}

static void files_give(const struct rlimit *had, int first)
{
    for (int fd = first; fd < 64; fd++)
        if (fd != proc->mem->spare_fd)
            close(fd);
    job_check(setrlimit(RLIMIT_NOFILE, had) == 0);
}

/* A process without a free descriptor attaches all the same, and more than once. */
static void no_files(void)
{
    struct mem_segment *own, *part, *far;
    struct mem_key key[2];
    size_t len = sizeof key;
    char name[16];
    struct rlimit had;
    int rank = boot_rank(), first;
    job_check(mem_init() == 0);
    job_check(mem_segment_create(4096, 0, &own) == 0 &&
              mem_segment_create(8192, MEM_NO_RESERVE, &part) == 0);
    mem_segment_key(own, &key[0]);
    mem_segment_key(part, &key[1]);
    snprintf(name, sizeof name, "seg.%d", rank);
    job_check(boot_put(name, key, sizeof key) == 0);
    job_check(boot_barrier() == 0);
    snprintf(name, sizeof name, "seg.%d", !rank);
    job_check(boot_get(name, key, &len) == 0 && len == sizeof key);
    files_take(&had, &first);
    job_check(open("/dev/null", O_RDONLY) < 0 && errno == EMFILE);
    for (int i = 0; i < 3; i++) {
        job_check(mem_segment_attach(&key[0], &far) == 0);
        mem_segment_drop(far);
        job_check(proc->mem->spare_fd >= 0);
        struct mem_key bad = key[0]; /* gives it back when it fails, too */
        bad.size += 4096;
        job_check(mem_segment_attach(&bad, &far) == -ESTALE && proc->mem->spare_fd >= 0);
    }
    job_check(mem_segment_attach(&key[1], &far) == 0 && mem_segment_reserve(far, 0, 4096) == 0 &&
              proc->mem->spare_fd >= 0);
    /* without it, too: the shortage is named, and it is got back with the first attach after
     * that */
    int spare = proc->mem->spare_fd;
    proc->mem->spare_fd = -1;
    struct mem_segment *none;
    job_check(mem_segment_attach(&key[0], &none) == -EMFILE && proc->mem->spare_fd == -1);
    close(spare);
    job_check(mem_segment_attach(&key[0], &none) == 0 && proc->mem->spare_fd >= 0);
    mem_segment_drop(none);
    files_give(&had, first);
    job_check(boot_barrier() == 0);
    mem_segment_drop(far);
    mem_segment_drop(own);
    mem_segment_drop(part);
    mem_finalize();
}

START_TEST(without_descriptors)
{
    ck_assert_int_eq(job_run(2, NULL, no_files, 20), 0);
}
END_TEST

/* A limit of file sizes below a page: each process returns that, and none waits for a key that does
 * not come. */
static void small_files(void)
{
    signal(SIGXFSZ, SIG_DFL);
    job_check(setrlimit(RLIMIT_FSIZE, &(struct rlimit){1024, 1024}) == 0);
    job_check(mem_file_limit(1024) == -EFBIG); /* a whole page it would be */
    job_check(mem_init() == -EFBIG && !proc->mem);
}

START_TEST(limit_of_files)
{
    ck_assert_int_eq(job_run(2, NULL, small_files, 20), 0);
}
END_TEST

START_TEST(segment_of)
{
    ck_assert_int_eq(job_run(1, NULL, lookup, 20), 0);
}
END_TEST

Suite *suite_segment(void)
{
    Suite *s = suite_create("mem/segment");
    TCase *t = tcase_create("segment");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, create_attach);
    tcase_add_test(t, reserve_parts);
    tcase_add_test(t, aligned);
    tcase_add_test(t, no_memory);
    tcase_add_test(t, kept);
    tcase_add_test(t, segment_of);
    tcase_add_test(t, without_descriptors);
    tcase_add_test(t, limit_of_files);
    suite_add_tcase(s, t);
    return s;
}
