/* test_shm.c - tp/shm/shm.c: damaged cells, hole of the dead, bad addresses, power of two. */
#include "job.h"
#include "unit.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "base/proc.h"
#include "boot/boot_types.h"
#include "mem/mem.h"
#include "tp/shm/ring.h"
#include "tp/tp_types.h"
#include "var/var.h"

Suite *suite_shm(void);

static uint64_t taken;

static int on_message(void *up, unsigned peer, enum tp_class cls, const void *msg, size_t len)
{
    job_check(peer == 1 && len == 8);
    taken++;
    return 0;
}

static struct tp *open_all(struct tp_caps *caps, struct mem_key *other)
{
    struct tp *tp;
    struct tp_env env = {.recv = on_message, .up = NULL, .proc = proc};
    struct mem_key key;
    size_t len = sizeof key;
    char name[16];
    job_check(mem_init() == 0);
    job_check(tp_shm_ops.open(&env, &tp, caps) == 0);
    job_check(tp_shm_ops.address(tp, &key, &len) == 0 && len == sizeof key);
    len = 4;
    job_check(tp_shm_ops.address(tp, &key, &len) == -EMSGSIZE);
    snprintf(name, sizeof name, "k%d", boot_rank());
    job_check(boot_put(name, &key, sizeof key) == 0 && boot_barrier() == 0);
    len = sizeof *other;
    snprintf(name, sizeof name, "k%d", 1 - boot_rank());
    job_check(boot_get(name, other, &len) == 0);
    return tp;
}

/* Our own view of the request ring of the other inbox, to write there what tp/shm would not. */
static struct ring_view view_of(struct mem_segment *seg, uint32_t processes)
{
    size_t first = 256; /* the fixed part and up to 128 stop flags */
    return ring_view_of((char *)seg->base + first, processes, (uint32_t)cvar.shm_cells,
                     (size_t)cvar.shm_cell_bytes);
}

static void close_all(struct tp *tp)
{
    job_check(boot_barrier() == 0);
    tp_shm_ops.close(tp);
    mem_finalize();
}

/* Process 1 writes malformed values into cells that it sent to process 0: wrong lengths, wrong
 * sources. They are dropped, what is sound arrives. */
static void damaged(void)
{
    struct tp_caps caps;
    struct mem_key other;
    struct tp *tp = open_all(&caps, &other);
    if (boot_rank() == 1) {
        job_check(tp_shm_ops.connect(tp, 0, &other, sizeof other) == 0);
        struct mem_segment *seg;
        job_check(mem_segment_attach(&other, &seg) == 0);
        struct ring_view v = view_of(seg, 2);
        uint64_t word = 5;
        struct iovec iov = {&word, sizeof word};
        static const struct {
            uint32_t len, src;
        } bad[] = {{0xffffffff, 1},
                   {(1u << 20) + 1, 1},
                   {8, 2},
                   {8, 0xffffffff},
                   {0x80000000, 0x80000000}};
        for (unsigned i = 0; i < 5; i++) {
            uint64_t pos = atomic_fetch_add(&v.ring->tail, 1);
            struct ring_cell *c = (struct ring_cell *)ring_cell_at(&v, pos);
            c->len = bad[i].len;
            c->src = bad[i].src;
            atomic_store_explicit(&c->seq, (uint32_t)pos + 1, memory_order_release);
            job_check(tp_shm_ops.am(tp, 0, TP_REQUEST, &iov, 1, NULL) == 0);
        }
        mem_segment_drop(seg);
    } else {
        while (taken < 5) {
            tp_shm_ops.progress(tp);
            sched_yield();
        }
    }
    close_all(tp);
}

START_TEST(damaged_cells)
{
    ck_assert_int_eq(job_run(2, NULL, damaged, 20), 0);
}
END_TEST

/* Process 1 reserves a cell and dies; what comes after it still arrives. */
static void dead_sender(void)
{
    struct tp_caps caps;
    struct mem_key other;
    struct tp *tp = open_all(&caps, &other);
    struct job_page *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                                 -1, 0);
    uint64_t word = 5;
    struct iovec iov = {&word, sizeof word};
    if (boot_rank() == 1) {
        struct mem_segment *seg;
        job_check(tp_shm_ops.connect(tp, 0, &other, sizeof other) == 0);
        job_check(tp_shm_ops.am(tp, 0, TP_REQUEST, &iov, 1, NULL) == 0);
        job_check(mem_segment_attach(&other, &seg) == 0);
        struct ring_view v = view_of(seg, 2);
        uint64_t pos = atomic_load(&v.ring->tail);
        atomic_store(&v.ring->sender[1].intent, pos + 1);
        atomic_store(&v.ring->tail, pos + 1);
        job_check(tp_shm_ops.am(tp, 0, TP_REQUEST, &iov, 1, NULL) == 0);
        /* what the killed process would have left */
        atomic_store(&v.ring->sender[1].intent, pos + 1);
        mem_segment_drop(seg);
        job_check(boot_barrier() == 0);
    } else {
        job_check(boot_barrier() == 0);
        for (int i = 0; i < 2000; i++)
            tp_shm_ops.progress(tp);
        job_check(taken == 1);
        proc->boot->page = page; /* unmapped by boot_finalize */
        proc->boot->page_bytes = 4096;
        atomic_store(&page->dead[1], 1);
        atomic_store(&page->dead_count, 1);
        for (int i = 0; i < 2000; i++)
            tp_shm_ops.progress(tp);
        job_check(taken == 2);
    }
    close_all(tp);
}

START_TEST(hole_of_the_dead)
{
    ck_assert_int_eq(job_run(2, NULL, dead_sender, 20), 0);
}
END_TEST

/* An address of the wrong length, of a segment that is no inbox, of a process that is gone, of an
 * inbox whose ring is of another version. */
static void addresses(void)
{
    struct tp_caps caps;
    struct mem_key other, key;
    struct tp *tp = open_all(&caps, &other);
    unsigned peer = (unsigned)(1 - boot_rank());
    job_check(tp_shm_ops.connect(tp, peer, &other, sizeof other - 1) == -EPROTO);
    job_check(tp_shm_ops.connect(tp, 2, &other, sizeof other) == -EHOSTUNREACH);
    job_check(tp_shm_ops.connect(tp, UINT32_MAX, &other, sizeof other) == -EHOSTUNREACH);
    key = other;
    key.seg_id++;
    job_check(tp_shm_ops.connect(tp, peer, &key, sizeof key) == -ESTALE);
    struct mem_segment *seg;
    job_check(mem_segment_create(4096, 0, &seg) == 0);
    mem_segment_key(seg, &key);
    job_check(tp_shm_ops.connect(tp, peer, &key, sizeof key) == -EPROTO);
    mem_segment_drop(seg);
    job_check(mem_segment_attach(&other, &seg) == 0);
    uint32_t *magic = seg->base, ours = *magic;
    *magic = 0x77726e64; /* before there was a RING_LAYOUT */
    job_check(tp_shm_ops.connect(tp, peer, &other, sizeof other) == -EPROTO);
    *magic = ours;
    mem_segment_drop(seg);
    job_check(tp_shm_ops.connect(tp, peer, &other, sizeof other) == 0);
    close_all(tp);
}

START_TEST(bad_addresses)
{
    ck_assert_int_eq(job_run(2, NULL, addresses, 20), 0);
}
END_TEST

static void odd_cells(void)
{
    struct tp_caps caps;
    struct tp *tp = NULL;
    struct tp_env env = {.recv = on_message, .up = NULL, .proc = proc};
    job_check(mem_init() == 0);
    job_check(tp_shm_ops.open(&env, &tp, &caps) == -EINVAL && tp == NULL);
    mem_finalize();
}

START_TEST(power_of_two)
{
    static const char *const cells[] = {"MPIR_CVAR_SHM_CELLS=6", NULL};
    static const char *const bytes[] = {"MPIR_CVAR_SHM_CELL_BYTES=1000", NULL};
    ck_assert_int_eq(job_run(1, cells, odd_cells, 20), 0);
    ck_assert_int_eq(job_run(1, bytes, odd_cells, 20), 0);
}
END_TEST

Suite *suite_shm(void)
{
    Suite *s = suite_create("tp/shm/shm");
    TCase *t = tcase_create("shm");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, damaged_cells);
    tcase_add_test(t, hole_of_the_dead);
    tcase_add_test(t, bad_addresses);
    tcase_add_test(t, power_of_two);
    suite_add_tcase(s, t);
    return s;
}
