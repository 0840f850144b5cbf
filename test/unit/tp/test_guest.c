/* test_guest.c - tp/shm/guest.c: slots of senders that ended come back, full slots, damaged cells.
 * Two processes stand for two jobs; the second one is several of its job, one after the other. */
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

Suite *suite_guest(void);

enum { PROCESSES = 16, SLOTS = 1024, HEAD = 256, TURNS = 2000, LIVES = 5 };

/* As guest.c has them, behind HEAD bytes. */
struct slot {
    _Atomic uint64_t owner; /* users << 32 | rank << 2 | 1: used */
    atomic_uint rank, stop;
    _Atomic uint64_t left[2];
};

static struct job_page *page; /* both processes see it */
static unsigned from[16];
static int taken;

static int on_message(void *up, unsigned peer, enum tp_class cls, const void *msg, size_t len)
{
    job_check(len == 8 && taken < 16);
    from[taken++] = peer;
    return 0;
}

/* Process `rank` of all jobs, alone in its own. */
static void be(int rank)
{
    proc->boot->first = rank;
    proc->boot->rank = 0;
    proc->boot->size = 1;
    proc->boot->universe = PROCESSES;
    proc->boot->page = page;
}

static struct tp *open_one(void)
{
    const struct tp_env env = {.recv = on_message, .proc = proc};
    struct tp_caps caps;
    struct tp *tp;
    job_check(tp_guest_ops.open(&env, &tp, &caps) == 0);
    return tp;
}

/* Both: process 0 has an inbox, and the other gets its key. */
static struct tp *begin(struct mem_key *key)
{
    int rank = boot_rank();
    size_t len = sizeof *key;
    job_check(mem_init() == 0);
    be(rank);
    struct tp *tp = open_one();
    job_check(tp_guest_ops.address(tp, key, &len) == 0 && len == sizeof *key);
    if (rank == 0)
        job_check(boot_put("inbox", key, sizeof *key) == 0);
    job_check(boot_barrier() == 0);
    job_check(boot_get("inbox", key, &len) == 0);
    return tp;
}

static void end(struct tp *tp)
{
    job_check(boot_barrier() == 0);
    tp_guest_ops.close(tp);
    mem_finalize();
}

static void take_until(struct tp *tp, int n)
{
    while (taken < n)
        if (tp_guest_ops.progress(tp) == 0)
            sched_yield();
    for (int i = 0; i < TURNS; i++)
        tp_guest_ops.progress(tp);
    job_check(taken == n);
}

static int try_to(struct tp *tp, const struct mem_key *key)
{
    return tp_guest_ops.connect(tp, 0, key, sizeof *key);
}

static void send_one(struct tp *tp)
{
    uint64_t word = 7;
    struct iovec v = {&word, sizeof word};
    job_check(tp_guest_ops.am(tp, 0, TP_REQUEST, &v, 1, NULL) == 0);
}

static struct slot *slots_of(struct mem_segment *seg)
{
    return (struct slot *)((char *)seg->base + HEAD);
}

static struct ring_view requests_of(struct mem_segment *seg)
{
    return ring_view_of((char *)seg->base + HEAD + SLOTS * sizeof(struct slot), SLOTS,
                        (uint32_t)cvar.shm_cells, (size_t)cvar.shm_cell_bytes);
}

/* --- slots ------------------------------------------------------------------------- */

static void receiver(struct tp *tp)
{
    take_until(tp, 1);
    job_check(boot_barrier() == 0 && boot_barrier() == 0);
    take_until(tp, 2); /* the second one has come before its sender died */
    job_check(boot_barrier() == 0);
    take_until(tp, 3);
    job_check(from[0] == 1 && from[1] == 1 && from[2] == 2);
}

/* Process 1 takes the last slot, and is killed while it waits for room; process 2 needs a slot. */
static void senders(struct tp *one, const struct mem_key *key)
{
    struct mem_segment *seg;
    struct tp *two = open_one();
    job_check(mem_segment_attach(key, &seg) == 0);
    struct slot *slot = slots_of(seg);
    struct ring *r = requests_of(seg).ring;
    for (int i = 1; i < SLOTS; i++)
        atomic_store(&slot[i].owner, (uint64_t)1 << 32 | LIVES << 2 | 1);
    job_check(try_to(one, key) == 0);
    send_one(one);
    job_check(boot_barrier() == 0);
    be(2);
    uint32_t *magic = seg->base, ours = *magic;
    *magic = 0x77726774; /* a ring of another version: before there was a RING_LAYOUT */
    job_check(try_to(two, key) == -EPROTO);
    *magic = ours;
    job_check(try_to(two, key) == -ENOBUFS);
    send_one(one);
    atomic_store(&r->waiting, 1);
    atomic_store(&r->sender[0].want, 1);
    atomic_store(&page->dead[1], JOB_DIED);
    atomic_store(&page->dead_count, 1);
    job_check(boot_barrier() == 0 && boot_barrier() == 0);
    job_check(atomic_load(&r->waiting) == 0 && atomic_load(&r->sender[0].want) == 0);
    job_check(try_to(two, key) == 0);
    job_check(atomic_load(&slot[0].owner) == ((uint64_t)2 << 32 | 2 << 2 | 1));
    job_check(atomic_load(&slot[1].owner) == ((uint64_t)1 << 32 | LIVES << 2 | 1));
    send_one(two);
    tp_guest_ops.close(two);
    mem_segment_drop(seg);
}

static void slots_body(void)
{
    struct mem_key key;
    struct tp *tp = begin(&key);
    if (boot_rank() == 0)
        receiver(tp);
    else
        senders(tp, &key);
    end(tp);
}

/* --- one that leaves ------------------------------------------------------------------ */

static void left_body(void)
{
    struct mem_key key, back;
    size_t len = sizeof back;
    struct tp *tp = begin(&key);
    int sends = boot_rank() == 1;
    if (sends) {
        job_check(tp_guest_ops.address(tp, &back, &len) == 0);
        job_check(boot_put("back", &back, sizeof back) == 0);
        job_check(try_to(tp, &key) == 0);
        send_one(tp);
    }
    job_check(boot_barrier() == 0);
    if (!sends) {
        job_check(boot_get("back", &back, &len) == 0);
        job_check(tp_guest_ops.connect(tp, 1, &back, sizeof back) == 0);
        job_check(tp_guest_ops.left(tp, 1) == 0);
    }
    job_check(boot_barrier() == 0);
    if (sends)
        tp_guest_ops.close(tp);
    job_check(boot_barrier() == 0);
    if (!sends) {
        job_check(tp_guest_ops.left(tp, 1) == 0); /* its message was not read */
        take_until(tp, 1);
        job_check(tp_guest_ops.left(tp, 1) == 1);
        tp_guest_ops.close(tp);
    }
    mem_finalize();
}

/* --- cells ------------------------------------------------------------------------- */

static void forge(struct mem_segment *seg, uint32_t src, uint32_t len)
{
    struct ring_view v = requests_of(seg);
    uint64_t pos = atomic_fetch_add(&v.ring->tail, 1);
    struct ring_cell *c = (struct ring_cell *)ring_cell_at(&v, pos);
    c->src = src;
    c->len = len;
    atomic_store(&c->seq, (uint32_t)pos + 1);
}

static void cells_body(void)
{
    static const unsigned bad[] = {PROCESSES, UINT32_MAX, 0 /* the receiver itself */};
    struct mem_segment *seg;
    struct mem_key key;
    struct tp *tp = begin(&key);
    if (boot_rank() == 0) {
        take_until(tp, 1);
        job_check(from[0] == 1);
        end(tp);
        return;
    }
    job_check(mem_segment_attach(&key, &seg) == 0);
    forge(seg, SLOTS, 8);
    forge(seg, UINT32_MAX, 8);
    forge(seg, 9, UINT32_MAX);
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        atomic_store(&slots_of(seg)[10 + i].rank, bad[i]);
        forge(seg, 10 + i, 8);
    }
    job_check(try_to(tp, &key) == 0);
    send_one(tp);
    mem_segment_drop(seg);
    end(tp);
}

/* --- suite ------------------------------------------------------------------------- */

static void run(void (*body)(void))
{
    size_t bytes = job_page_bytes(PROCESSES);
    page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(page != MAP_FAILED);
    page->size = PROCESSES;
    ck_assert_int_eq(job_run(2, NULL, body, 30), 0);
    munmap(page, bytes);
}

START_TEST(slots_come_back)
{
    run(slots_body);
}
END_TEST

START_TEST(one_has_left)
{
    run(left_body);
}
END_TEST

START_TEST(damaged_cells)
{
    run(cells_body);
}
END_TEST

Suite *suite_guest(void)
{
    Suite *s = suite_create("guest");
    TCase *t = tcase_create("guest");
    tcase_set_timeout(t, 40);
    tcase_add_test(t, slots_come_back);
    tcase_add_test(t, one_has_left);
    tcase_add_test(t, damaged_cells);
    suite_add_tcase(s, t);
    return s;
}
