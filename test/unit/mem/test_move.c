/* test_move.c - mem/move.c: moves, malloc blocks, refused, fails, a death, kernel. */
#include "job.h"
#include "unit.h"

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/proc.h"
#include "mem/mem_types.h"

Suite *suite_move(void);

enum { PAGE = 4096, N = 64 * PAGE, LARGE = 40 << 20 };

/* In place of the C library's, so that a test can have the system fail: before it has done
 * anything, or after it has removed what was there, as it may for lack of memory. */
static enum { WORKS, REFUSES, BREAKS } remapping;
static int remaps; /* so many work before that */

void *mremap(void *old, size_t had, size_t want, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    void *at = flags & MREMAP_FIXED ? va_arg(ap, void *) : NULL;
    va_end(ap);
    if (remapping == WORKS || !(flags & MREMAP_FIXED) || remaps-- > 0)
        return (void *)syscall(SYS_mremap, old, had, want, flags,
                               at); // NOLINT: as the library does
    if (remapping == BREAKS)
        munmap(at, want);
    errno = ENOMEM;
    return MAP_FAILED;
}

/* How all pages of [p, p+len) are mapped: "rw-p", "rw-s"; "" if not all alike. */
static const char *mode(const void *p, size_t len)
{
    static char all[8];
    uintptr_t at = (uintptr_t)p, end = at + len;
    char line[1024], m[8];
    unsigned long from, to;
    FILE *f = fopen("/proc/self/maps", "r");
    job_check(f != NULL);
    *all = '\0';
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "%lx-%lx %7s", &from, &to, m) == 3 && from <= at && at < to &&
            (!*all || !strcmp(all, m))) {
            strcpy(all, m);
            at = to < end ? to : end;
        }
    fclose(f);
    return at == end ? all : "";
}

static int is_shared(const void *p, size_t len)
{
    return !strcmp(mode(p, len), "rw-s");
}
static int is_private(const void *p, size_t len)
{
    return !strcmp(mode(p, len), "rw-p");
}

static void fill(void *p, size_t n, int seed)
{
    for (size_t i = 0; i < n; i++)
        ((unsigned char *)p)[i] = (unsigned char)(i * 7 + i / 251 + (size_t)seed);
}
static int is_filled(const void *p, size_t n, int seed)
{
    for (size_t i = 0; i < n; i++)
        if (((const unsigned char *)p)[i] != (unsigned char)(i * 7 + i / 251 + (size_t)seed))
            return 0;
    return 1;
}

/* Memory between inaccessible pages, so that the system joins it with no other mapping. */
static char *alone(size_t len)
{
    char *p = mmap(NULL, len + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    job_check(p != MAP_FAILED && mprotect(p + PAGE, len, PROT_READ | PROT_WRITE) == 0);
    return p + PAGE;
}

/* There and back, with another process's stores in between (here: by another mapping). */
static void whole(char *p, size_t len)
{
    struct mem_segment *s = NULL, *far;
    struct mem_key key;
    fill(p, len, 1);
    job_check(is_private(p, len));
    job_check(mem_move(p, len, &s) == 0 && s && s->moved == 1 && s->owner);
    job_check(is_shared(p, len) && is_filled(p, len, 1));
    job_check(mem_segment_of(p, len) == s);
    mem_segment_key(s, &key);
    job_check(mem_segment_attach(&key, &far) == 0);
    char *q = (char *)far->base + (p - (char *)s->base);
    job_check(is_filled(q, len, 1));
    fill(q, len, 2);
    job_check(is_filled(p, len, 2));
    job_check(mem_move_hold(p + len - 1, 1) == s && mem_move_hold(p, len) == s && s->moved == 3);
    mem_move_back(s);
    mem_move_back(s);
    job_check(is_shared(p, len) && mem_segment_of(p, len) == s);
    mem_move_back(s);
    job_check(is_private(p, len) && is_filled(p, len, 2));
    job_check(!mem_segment_of(p, 1) && !mem_move_hold(p, len));
    fill(q, len, 3); /* a late process stores nowhere */
    job_check(is_filled(p, len, 2));
    mem_segment_drop(far);
}

static void there_and_back(void)
{
    job_check(mem_init() == 0);
    char *p = alone(N);
    whole(p, N);
    whole(p, N); /* and again */
    whole(p + 16, N - 16 - 100); /* with a header, and the rest of the last page */
    whole(p + 48, N - 48);
    char *large = alone(LARGE); /* comes back in steps */
    whole(large, LARGE);
    whole(large, LARGE);
    munmap(large, LARGE);
    /* whole pages of a larger mapping: the neighbours stay */
    char *q = alone(N);
    fill(q, N, 5);
    struct mem_segment *s, *t;
    job_check(mem_move(q + 4 * PAGE, 8 * PAGE, &s) == 0 && is_filled(q, N, 5));
    job_check(is_private(q, 4 * PAGE) && is_shared(q + 4 * PAGE, 8 * PAGE) &&
              is_private(q + 12 * PAGE, N - 12 * PAGE));
    job_check(mem_move(q + 20 * PAGE, 8 * PAGE, &t) == 0 && t != s);
    job_check(mem_move_hold(q + 11 * PAGE, 20 * PAGE) == s); /* overlaps are enough */
    job_check(mem_move_hold(q + 12 * PAGE, 9 * PAGE) == t);
    job_check(!mem_move_hold(q + 12 * PAGE, 8 * PAGE) && !mem_move_hold(q, 4 * PAGE) &&
              !mem_move_hold(q + 28 * PAGE, PAGE));
    job_check(mem_segment_of(q + 11 * PAGE, 20 * PAGE) == NULL);
    for (int i = 0; i < 2; i++) {
        mem_move_back(s);
        mem_move_back(t);
    }
    job_check(is_private(q, N) && is_filled(q, N, 5));
    mem_finalize();
}

START_TEST(moves)
{
    ck_assert_int_eq(job_run(1, NULL, there_and_back, 20), 0);
}
END_TEST

/* Large blocks of malloc, whose mappings the system joins. */
static void blocks(void)
{
    job_check(mem_init() == 0);
    mallopt(M_MMAP_THRESHOLD, 128 * 1024); /* as it begins; it grows with the first large free() */
    static const size_t sizes[] = {N, N - 16, N - 24, N - 32, N - 4000, N + 1};
    enum { BLOCKS = sizeof sizes / sizeof *sizes };
    char *p[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        p[i] = malloc(sizes[i]);
        fill(p[i], sizes[i], i);
    }
#if defined __GLIBC__ && !defined __SANITIZE_ADDRESS__ &&                                          \
    !defined __SANITIZE_THREAD__ /* their malloc is another */
    for (int i = 0; i < BLOCKS; i++) {
        struct mem_segment *s = NULL;
        /* must not end a page: the rest of the page is not in it */
        size_t less = sizes[i] - 2 * PAGE;
        less -= ((uintptr_t)p[i] + less) % PAGE ? 0 : 8;
        job_check(mem_move(p[i], less, &s) == -EINVAL && !s);
        whole(p[i], sizes[i]);
        fill(p[i], sizes[i], i);
    }
#endif
    for (int i = 0; i < BLOCKS; i++)
        job_check(is_filled(p[i], sizes[i], i));
    for (int i = 0; i < BLOCKS; i += 2) {
        p[i] = realloc(p[i], 2 * sizes[i]);
        job_check(p[i] && is_filled(p[i], sizes[i], i));
        memset(p[i], 1, 2 * sizes[i]);
    }
    for (int i = 0; i < BLOCKS; i++)
        free(p[i]);
    mem_finalize();
}

START_TEST(malloc_blocks)
{
    ck_assert_int_eq(job_run(1, NULL, blocks, 20), 0);
}
END_TEST

static void no(void *p, size_t len, int line)
{
    struct mem_segment *s = NULL;
    char how[8];
    strcpy(how, mode(p, len));
    int err = mem_move(p, len, &s);
    if (err != -EINVAL || s)
        fprintf(stderr, "line %d: moved, or not refused: %d\n", line, err);
    job_check(err == -EINVAL && !s && !strcmp(how, mode(p, len)) && !mem_segment_of(p, 1));
}
#define REFUSED(p, len) no(p, len, __LINE__)

static char data[2 * PAGE] = {1}; /* of the program's file */

static void others(void)
{
    job_check(mem_init() == 0);
    char *p = alone(N), on_stack[3 * PAGE];
    REFUSED(p + 100, 4 * PAGE - 100);   /* what lies before it on its page */
    REFUSED(p + PAGE + 16, 4 * PAGE);   /* the same: no header of a block */
    REFUSED(p, 4 * PAGE + 100);         /* behind it */
    REFUSED(p + PAGE, 10);
    REFUSED(p + N - PAGE, 2 * PAGE);    /* beyond the mapping */
    REFUSED(p - PAGE, 2 * PAGE);
    REFUSED(p, 0);
    REFUSED(NULL, 10);
    REFUSED((void *)(uintptr_t)-1, 10);
    job_check(mem_move(p, SIZE_MAX, &(struct mem_segment *){NULL}) == -EINVAL);
    REFUSED(data, sizeof data);
    REFUSED(on_stack + (-(uintptr_t)on_stack & (PAGE - 1)), PAGE);
    job_check(mprotect(p + 8 * PAGE, PAGE, PROT_READ) == 0);
    REFUSED(p, N);                      /* a page in it that cannot be written */
    REFUSED(p + 8 * PAGE, PAGE);
    char *q = mmap(NULL, N, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REFUSED(q, N);
    FILE *f = tmpfile();
    job_check(f && ftruncate(fileno(f), N) == 0);
    q = mmap(NULL, N, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(f), 0);
    REFUSED(q, N);
    struct mem_segment *s;
    job_check(mem_segment_create(N, 0, &s) == 0);
    job_check(mem_move(s->base, N, &(struct mem_segment *){NULL}) == -EINVAL &&
              !mem_move_hold(s->base, N));
    mem_segment_drop(s);
    mem_finalize();
}

START_TEST(refused)
{
    ck_assert_int_eq(job_run(1, NULL, others, 20), 0);
}
END_TEST

static void limit(int what, rlim_t to, struct rlimit *had)
{
    job_check(getrlimit((__rlimit_resource_t)what, had) == 0);
    job_check(setrlimit((__rlimit_resource_t)what, &(struct rlimit){to, had->rlim_max}) == 0);
}

/* with: what is allowed meanwhile */
static void no_way(char *p, int err, int what, rlim_t with)
{
    struct mem_segment *s = NULL;
    struct rlimit had;
    limit(what, with, &had);
    int got = mem_move(p, N, &s);
    setrlimit((__rlimit_resource_t)what, &had);
    job_check(got == err && !s && is_private(p, N) && is_filled(p, N, 4) && !mem_segment_of(p, 1));
}

/* Whatever fails, the buffer has its contents at its address, and the next try may succeed. */
static void failures(void)
{
    struct mem_segment *s = NULL;
    job_check(mem_init() == 0);
    char *p = alone(N);
    fill(p, N, 4);
    no_way(p, -ENOMEM, RLIMIT_FSIZE, N / 2);
    no_way(p, -EINVAL, RLIMIT_NOFILE, 0); /* the table of mappings cannot be opened */
    remapping = REFUSES;
    no_way(p, -ENOMEM, RLIMIT_FSIZE, RLIM_INFINITY);
    remapping = BREAKS;
    no_way(p, -ENOMEM, RLIMIT_FSIZE, RLIM_INFINITY);
    remapping = WORKS;
    remaps = 0;
    whole(p, N);
    /* back */
    for (int how = REFUSES; how <= BREAKS; how++) {
        char *q = alone(N);
        fill(q, N, 6);
        job_check(mem_move(q, N, &s) == 0);
        remapping = how;
        mem_move_back(s);
        remapping = WORKS;
        job_check((how == REFUSES ? is_shared(q, N) : is_private(q, N)) && is_filled(q, N, 6) &&
                  !mem_segment_of(q, 1));
        if (how == REFUSES)
            REFUSED(q, N); /* it stays what it has become */
    }
    char *q = alone(LARGE); /* a step that fails */
    fill(q, LARGE, 5);
    job_check(mem_move(q, LARGE, &s) == 0);
    remapping = REFUSES;
    remaps = 2;
    mem_move_back(s);
    remapping = WORKS;
    job_check(is_private(q, 32 << 20) && is_shared(q + (32 << 20), 8 << 20) &&
              is_filled(q, LARGE, 5) && !mem_segment_of(q, 1));
    munmap(q, LARGE);
    /* the user has unmapped it, or a part, and something else lies there now: that is left alone */
    for (int part = 0; part < 2; part++) {
        q = alone(N);
        fill(q, N, 8);
        job_check(mem_move(q, N, &s) == 0);
        size_t n = part ? PAGE : N;
        job_check(mmap(q, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                       0) == q);
        fill(q, n, 9);
        mem_move_back(s);
        job_check(is_filled(q, n, 9) && is_private(q, n) && (!part || is_shared(q + n, N - n)) &&
                  !mem_segment_of(q, 1));
    }
    job_check(proc->mem->nsegs == 1); /* the page of the host */
    mem_move_back(NULL);
    mem_finalize();
}

START_TEST(fails)
{
    ck_assert_int_eq(job_run(1, NULL, failures, 20), 0);
}
END_TEST

/* What an emulator of user programs does not imitate: the heap's name among the mappings, a limit
 * of the address space. */
static void by_the_kernel(void)
{
    struct rlimit had;
    struct mem_segment *s = NULL;
    job_check(mem_init() == 0);
#if !defined __SANITIZE_ADDRESS__ &&                                                               \
    !defined __SANITIZE_THREAD__ /* their malloc has no such heap */
    char *heap = malloc(4 * PAGE);
    REFUSED(heap + (-(uintptr_t)heap & (PAGE - 1)), PAGE);
    free(heap);
#endif
    char *q = alone(N);
    fill(q, N, 7);
    job_check(mem_move(q, N, &s) == 0);
    limit(RLIMIT_AS, 1 << 20, &had);
    mem_move_back(s);
    setrlimit(RLIMIT_AS, &had);
    job_check(is_shared(q, N) && is_filled(q, N, 7) && !mem_segment_of(q, 1));
    mem_finalize();
}

START_TEST(kernel)
{
    ck_assert_int_eq(job_run(1, NULL, by_the_kernel, 20), 0);
}
END_TEST

/* A living peer may be in its epoch still: what it stores must be seen. */
static void death(void)
{
    struct mem_segment *s, *far;
    struct mem_key key;
    job_check(mem_init() == 0);
    job_check(boot_barrier() == 0); /* a process that has ended cannot be asked for the page of
                                     * the host */
    char *p = alone(N);
    fill(p, N, 1);
    job_check(mem_move(p, N, &s) == 0);
    mem_segment_key(s, &key);
    job_check(mem_segment_attach(&key, &far) == 0);
    boot_fail_now(1 - boot_rank(), "for this test");
    mem_move_back(s);
    fill(far->base, N, 2);
    job_check(is_shared(p, N) && is_filled(p, N, 2) && !mem_segment_of(p, 1));
    mem_segment_drop(far);
    mem_finalize();
}

START_TEST(a_death)
{
    ck_assert_int_eq(job_run(2, NULL, death, 20), 0);
}
END_TEST

Suite *suite_move(void)
{
    Suite *s = suite_create("mem/move");
    TCase *t = tcase_create("move");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, moves);
    tcase_add_test(t, malloc_blocks);
    tcase_add_test(t, refused);
    tcase_add_test(t, fails);
    tcase_add_test(t, a_death);
    suite_add_tcase(s, t);
    TCase *k = tcase_create("kernel");
    tcase_set_timeout(k, 60);
    tcase_set_tags(k, "kernel");
    tcase_add_test(k, kernel);
    suite_add_tcase(s, k);
    return s;
}
