/* test_arena.c - mem/arena.c: blocks, limits, failure, pages, space, peers. */
#include "job.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/proc.h"
#include "mem/mem_types.h"
#include "var/var.h"

Suite *suite_arena(void);

enum { N = 300, LINE = 64 };

static uint64_t pvar(enum pvar_id id)
{
    return atomic_load_explicit(&pvar_proc()->v[id], memory_order_relaxed);
}

/* Bytes of pages that the arenas' files have. */
static size_t resident(void)
{
    const struct mem *m = proc->mem;
    size_t sum = 0;
    for (size_t i = 0; i < m->nsegs; i++) {
        struct stat s;
        if (m->segs[i]->flags & MEM_LASTS && fstat(m->segs[i]->pub.fd, &s) == 0)
            sum += (size_t)s.st_blocks * 512;
    }
    return sum;
}

static struct piece {
    char *p;
    size_t size;
    unsigned char byte;
} piece[N];

static int is_intact(const struct piece *x)
{
    for (size_t i = 0; i < x->size; i++)
        if ((unsigned char)x->p[i] != x->byte)
            return 0;
    return 1;
}

static void piece_new(struct piece *x, int i)
{
    size_t align = (size_t)LINE << (rand() % 8 ? 0 : rand() % 12);
    x->size = rand() % 20 ? (size_t)(rand() % 9000) : (size_t)(rand() % (1 << 20));
    x->byte = (unsigned char)i;
    x->p = mem_arena_alloc(x->size, align);
    job_check(x->p && ((uintptr_t)x->p & (align - 1)) == 0);
    struct mem_segment *s = mem_segment_of(x->p, x->size);
    job_check(s && s->fd >= 0);
    memset(x->p, x->byte, x->size);
}

/* Blocks never overlap, keep their bytes, and give their space back. */
static void random_blocks(void)
{
    job_check(mem_init() == 0 && boot_barrier() == 0);
    srand(7);
    for (int i = 0; i < N; i++)
        piece_new(&piece[i], i);
    for (int n = 0; n < 5000; n++) {
        int i = rand() % N;
        job_check(is_intact(&piece[i]));
        job_check(mem_arena_free(piece[i].p) == 1);
        job_check(mem_arena_free(piece[i].p) == 0);
        piece_new(&piece[i], i);
    }
    uint64_t live = 0;
    for (int i = 0; i < N; i++)
        live += piece[i].size;
    job_check(pvar(PVAR_ARENA_USED) >= live && pvar(PVAR_ARENA_USED) <= live + N * 2 * LINE);
    job_check(pvar(PVAR_ARENA_BYTES_HIGH) >= pvar(PVAR_ARENA_BYTES));
    for (int i = 0; i < N; i++)
        job_check(is_intact(&piece[i]) && mem_arena_free(piece[i].p) == 1);
    job_check(pvar(PVAR_ARENA_USED) == 0);
    /* All is one free block again: the largest fits without a new arena. */
    uint64_t bytes = pvar(PVAR_ARENA_BYTES);
    char *p = mem_arena_alloc(MEM_ARENA_MOST, LINE);
    job_check(p && pvar(PVAR_ARENA_BYTES) == bytes);
    job_check(mem_arena_free(p) == 1);
    mem_finalize();
}

START_TEST(blocks)
{
    ck_assert_int_eq(job_run(2, NULL, random_blocks, 60), 0);
}
END_TEST

/* What is no block, or too large, is refused. */
static void refused(void)
{
    char own[LINE];
    job_check(mem_init() == 0 && boot_barrier() == 0); /* its peer has attached */
    job_check(mem_arena_free(own) == 0);
    char *p = mem_arena_alloc(3 * LINE, LINE);
    job_check(p && mem_arena_free(p + LINE) == 0 && mem_arena_free(p) == 1);
    job_check(!mem_arena_alloc(MEM_ARENA_MOST + 1, LINE));
    job_check(!mem_arena_alloc(1, 2 * (size_t)MEM_ARENA_MOST));
    char *a = mem_arena_alloc(0, LINE), *b = mem_arena_alloc(0, LINE);
    job_check(a && b && a != b && mem_arena_free(a) && mem_arena_free(b));
    mem_finalize();
}

/* A peer may be in its epoch when another fails: what is freed then is not given out again. */
static void after_failure(void)
{
    enum { SIZE = 5000 };
    job_check(mem_init() == 0);
    char *a = mem_arena_alloc(SIZE, LINE), *b = mem_arena_alloc(SIZE, LINE);
    job_check(a && b && boot_barrier() == 0);
    boot_fail_now(1 - boot_rank(), "a test");
    job_check(!mem_arena_alloc(SIZE, LINE));
    job_check(mem_arena_free(a) == 1 && mem_arena_free(a) == 0);
    job_check(proc->mem->arenas->count == 1 && mem_segment_of(a, SIZE));
    job_check(mem_arena_free(b) == 1 && proc->mem->arenas->count == 0);
    job_check(pvar(PVAR_ARENA_BYTES) == 0 && pvar(PVAR_ARENA_USED) == 0);
    mem_finalize();
}

START_TEST(failure)
{
    ck_assert_int_eq(job_run(2, NULL, after_failure, 20), 0);
}
END_TEST

/* A process without a peer on its host shares with no one. */
static void alone(void)
{
    job_check(mem_init() == 0);
    job_check(!mem_arena_alloc(100, LINE));
    mem_finalize();
}

START_TEST(limits)
{
    ck_assert_int_eq(job_run(2, NULL, refused, 20), 0);
    ck_assert_int_eq(job_run(1, NULL, alone, 20), 0);
}
END_TEST

/* Free blocks keep no more pages than MPIR_CVAR_MEM_KEEP permits, whatever lives between them. */
static void bounded(void)
{
    enum { BLOCKS = 64, SIZE = 512 << 10, KEEP = 1 << 20 };
    char *p[BLOCKS], *small[BLOCKS];
    job_check(mem_init() == 0 && boot_barrier() == 0);
    for (int i = 0; i < BLOCKS; i++) {
        p[i] = mem_arena_alloc(SIZE, LINE);
        small[i] = mem_arena_alloc(LINE, LINE);
        job_check(p[i] && small[i]);
        memset(p[i], 1, SIZE);
        memset(small[i], i + 1, LINE);
    }
    job_check(resident() >= (size_t)BLOCKS * SIZE);
    for (int i = 0; i < BLOCKS; i++)
        mem_arena_free(p[i]);
    /* A block's first and last page stay where its neighbour has data on them. */
    job_check(resident() <= KEEP + SIZE + (size_t)BLOCKS * 3 * 4096);
    for (int i = 0; i < BLOCKS; i++)
        job_check(small[i][0] == i + 1 && small[i][LINE - 1] == i + 1);
    for (int i = 0; i < BLOCKS; i++)
        mem_arena_free(small[i]);
    job_check(pvar(PVAR_ARENA_USED) == 0 && proc->mem->arenas->idle <= KEEP);
    job_check(resident() <= KEEP + SIZE + 2 * 4096);
    mem_finalize();
}

START_TEST(pages)
{
    const char *const sets[] = {"MPIR_CVAR_MEM_KEEP=1048576", NULL};
    ck_assert_int_eq(job_run(2, sets, bounded, 20), 0);
}
END_TEST

/* A hole between used blocks is taken by the next block of its size, whatever its alignment. */
static void holes(void)
{
    enum { PAGE = 4096, HOLES = 6, ROUNDS = 100 };
    static const size_t sizes[HOLES] = {LINE, 5 * LINE, PAGE, 3 * PAGE, 17 * PAGE, 100 * PAGE};
    char *p[HOLES], *fence[HOLES];
    job_check(mem_init() == 0 && boot_barrier() == 0);
    for (int i = 0; i < HOLES; i++) {
        p[i] = mem_arena_alloc(sizes[i], PAGE);
        fence[i] = mem_arena_alloc(LINE, LINE);
        job_check(p[i] && fence[i]);
    }
    for (int n = 0; n < ROUNDS; n++) {
        int i = n % HOLES;
        job_check(mem_arena_free(p[i]) == 1);
        job_check(mem_arena_alloc(sizes[i], PAGE) == p[i]);
    }
    for (int i = 0; i < HOLES; i++)
        job_check(mem_arena_free(p[i]) && mem_arena_free(fence[i]));
    job_check(boot_barrier() == 0);
    mem_finalize();
}

/* What was never touched does not count as idle, whatever it is joined with. */
static void untouched(void)
{
    job_check(mem_init() == 0 && boot_barrier() == 0);
    char *first = mem_arena_alloc(LINE, LINE);
    for (size_t size = LINE; size <= MEM_ARENA_MOST / 2; size *= 2) {
        char *p = mem_arena_alloc(size, LINE);
        job_check(p && mem_arena_free(p) == 1 && proc->mem->arenas->idle <= size);
    }
    job_check(mem_arena_free(first) == 1);
    job_check(proc->mem->arenas->idle <= MEM_ARENA_MOST / 2 + LINE);
    job_check(boot_barrier() == 0);
    mem_finalize();
}

/* Before a request for memory fails, idle pages and arenas go back. */
static void given_back(void)
{
    enum { BLOCKS = 32, SIZE = 512 << 10 };
    char *p[BLOCKS], *small[BLOCKS];
    struct mem_segment *s;
    job_check(mem_init() == 0 && boot_barrier() == 0);
    for (int i = 0; i < BLOCKS; i++) {
        p[i] = mem_arena_alloc(SIZE, LINE);
        small[i] = mem_arena_alloc(LINE, LINE);
        job_check(p[i] && small[i]);
        memset(p[i], 1, SIZE);
        memset(small[i], i + 1, LINE);
    }
    for (int i = 0; i < BLOCKS; i++)
        mem_arena_free(p[i]);
    job_check(proc->mem->arenas->idle >= (size_t)BLOCKS * SIZE);
    job_check(mem_segment_create(INT64_MAX / 2, 0, &s) == -ENOMEM);
    job_check(proc->mem->arenas->idle == 0 && resident() <= (size_t)BLOCKS * 4 * 4096);
    for (int i = 0; i < BLOCKS; i++)
        job_check(small[i][0] == i + 1 && small[i][LINE - 1] == i + 1 && mem_arena_free(small[i]));
    job_check(mem_segment_create(INT64_MAX / 2, 0, &s) == -ENOMEM);
    job_check(proc->mem->arenas->count == 0 && pvar(PVAR_ARENA_BYTES) == 0);
    job_check((p[0] = mem_arena_alloc(SIZE, LINE)) && mem_arena_free(p[0]));
    job_check(boot_barrier() == 0);
    mem_finalize();
}

START_TEST(space)
{
    ck_assert_int_eq(job_run(2, NULL, holes, 20), 0);
    ck_assert_int_eq(job_run(2, NULL, untouched, 20), 0);
    ck_assert_int_eq(job_run(2, NULL, given_back, 20), 0);
}
END_TEST

/* A peer maps an arena once, however many blocks of it are attached, until the last goes. */
static void attached(void)
{
    struct mem_segment *a, *b, *c;
    struct mem_key key;
    size_t len = sizeof key;
    int rank = boot_rank();
    char name[32];
    job_check(mem_init() == 0);
    char *p = mem_arena_alloc(1000, LINE);
    job_check(p != NULL);
    memset(p, rank + 1, 1000);
    struct mem_segment *own = mem_segment_of(p, 1000);
    mem_segment_key(own, &key);
    snprintf(name, sizeof name, "arena.%d", rank);
    job_check(boot_put(name, &key, sizeof key) == 0 && boot_barrier() == 0);
    snprintf(name, sizeof name, "arena.%d", 1 - rank);
    job_check(boot_get(name, &key, &len) == 0);
    job_check(mem_segment_attach_again(&key, &a) == 0 && mem_segment_attach_again(&key, &b) == 0);
    job_check(a == b && mem_segment_attach(&key, &c) == 0 && c->base != a->base);
    mem_segment_drop(c);
    mem_segment_drop(a);
    job_check(((char *)b->base)[p - (char *)own->base] == 2 - rank);
    mem_segment_drop(b);
    /* The mapping is kept for the next block, and a few of them only. */
    job_check(proc->mem->attached.count == 1 && proc->mem->unused == 1);
    job_check(mem_segment_attach_again(&key, &a) == 0 && a == b && proc->mem->unused == 0);
    mem_segment_drop(a);
    mem_unused_free(proc->mem, 0);
    job_check(proc->mem->attached.count == 0 && proc->mem->unused == 0);
    /* One that does not last goes with its last user. */
    job_check(mem_segment_create(4096, 0, &a) == 0);
    mem_segment_key(a, &key);
    job_check(!key.lasts && mem_segment_attach_again(&key, &b) == 0);
    mem_segment_drop(b);
    job_check(proc->mem->attached.count == 0);
    mem_segment_drop(a);
    job_check(boot_barrier() == 0);
    mem_arena_free(p);
    mem_finalize();
}

/* The pages of a dropped arena go back, though a peer keeps a mapping of it. */
static void dropped(void)
{
    enum { SIZE = 1 << 20, PAGES = SIZE / 4096 };
    static unsigned char in[PAGES];
    struct mem_segment *s;
    struct mem_key key = {.fd = -1};
    size_t len = sizeof key;
    job_check(mem_init() == 0);
    char *p = boot_rank() == 0 ? mem_arena_alloc(SIZE, 4096) : NULL;
    if (boot_rank() == 0) {
        job_check(p != NULL);
        memset(p, 1, SIZE);
        mem_segment_key(mem_segment_of(p, SIZE), &key);
        job_check(boot_put("arena.0", &key, sizeof key) == 0);
    }
    job_check(boot_barrier() == 0);
    if (boot_rank() == 1) {
        job_check(boot_get("arena.0", &key, &len) == 0);
        job_check(mem_segment_attach_again(&key, &s) == 0);
        job_check(mincore(s->base, SIZE, in) == 0 && in[0] & 1 && in[PAGES - 1] & 1);
        mem_segment_drop(s); /* kept */
    }
    job_check(boot_barrier() == 0);
    if (boot_rank() == 0)
        job_check(mem_arena_free(p) == 1 && proc->mem->arenas->count == 0);
    job_check(boot_barrier() == 0);
    if (boot_rank() == 1)
        job_check(mincore(s->base, SIZE, in) == 0 && !(in[0] & 1) && !(in[PAGES - 1] & 1));
    job_check(boot_barrier() == 0);
    mem_finalize();
}

START_TEST(peers)
{
    const char *const none[] = {"MPIR_CVAR_MEM_KEEP=0", NULL};
    ck_assert_int_eq(job_run(2, NULL, attached, 20), 0);
    ck_assert_int_eq(job_run(2, none, dropped, 20), 0);
}
END_TEST

Suite *suite_arena(void)
{
    Suite *s = suite_create("arena");
    TCase *t = tcase_create("arena");
    tcase_set_timeout(t, 90);
    tcase_add_test(t, blocks);
    tcase_add_test(t, limits);
    tcase_add_test(t, failure);
    tcase_add_test(t, pages);
    tcase_add_test(t, space);
    tcase_add_test(t, peers);
    suite_add_tcase(s, t);
    return s;
}
