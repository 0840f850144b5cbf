/* test_shared_shmlock.c - rma/shared/shmlock.c: serves in order, excludes, far and near share,
 * pairs match, barrier holds. */
#include "unit.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/sched.h"
#include "boot/boot.h"
#include "job.h"
#include "mem/mem.h"
#include "progress/progress.h"
#include "rma/shared/shmlock.h"
#include "unit_rma.h"

/* Processes of one job on memory mapped before the fork. */

enum { PEERS = 5, TURNS = 400 };

struct arena {
    _Alignas(64) char lock[4096];
    struct shmpair pairs[PEERS * PEERS];
    struct shmbar bar;
    int32_t host_index[PEERS];
    volatile int writers, readers; /* inside the lock now; checked, not protecting */
    volatile long counter;
    atomic_int stop;
    atomic_uint far_grants, near_grants;
    volatile unsigned data[PEERS];
};

static struct arena *a;
static struct shmnode node;

static struct shmlock *the_lock(void)
{
    return (struct shmlock *)(void *)a->lock;
}

static void up(void)
{
    job_check(mem_init() == 0);
    job_check(progress_init() == 0);
    node = (struct shmnode){(unsigned)boot_size(), (unsigned)boot_rank(), a->host_index};
}

static void down(void)
{
    boot_barrier();
    progress_finalize();
    mem_finalize();
}

static void run(int size, void (*body)(void))
{
    a = mmap(NULL, sizeof *a, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(a, MAP_FAILED);
    for (int i = 0; i < PEERS; i++)
        a->host_index[i] = i;
    ck_assert_uint_le(shmlock_bytes(PEERS), sizeof a->lock);
    shmlock_init(the_lock(), (unsigned)size, 0);
    ck_assert_int_eq(job_run(size, NULL, body, 60), 0);
    munmap(a, sizeof *a);
}

static int granted(void *arg)
{
    return shmlock_poll(the_lock(), &node) != 0;
}

static void take(enum shmlock_type type)
{
    if (!shmlock_enter(the_lock(), &node, type))
        progress_wait(granted, NULL, "the lock", -1);
    job_check(shmlock_held(the_lock(), &node) == (int)type);
}

/* Inside the lock: a writer is alone, a reader meets no writer. */
static void inside(int type)
{
    if (type == SHMLOCK_EXCLUSIVE) {
        job_check(a->writers == 0 && a->readers == 0);
        a->writers = 1;
        a->counter++;
        job_check(a->readers == 0);
        a->writers = 0;
    } else {
        job_check(a->writers == 0);
        __atomic_fetch_add(&a->readers, 1, __ATOMIC_SEQ_CST);
        job_check(a->writers == 0);
        __atomic_fetch_sub(&a->readers, 1, __ATOMIC_SEQ_CST);
    }
}

static void readers_and_writers(void)
{
    up();
    unsigned r = (unsigned)boot_rank() * 7919 + 1;
    long mine = 0;
    for (int i = 0; i < TURNS; i++) {
        r = r * 1103515245 + 12345;
        int type = (r >> 16) % 3 ? SHMLOCK_SHARED : SHMLOCK_EXCLUSIVE;
        take(type);
        inside(type);
        mine += type == SHMLOCK_EXCLUSIVE;
        shmlock_leave(the_lock(), &node, (enum shmlock_type)type);
        job_check(shmlock_held(the_lock(), &node) == 0);
    }
    __atomic_fetch_add(&job_words()[0], (uint64_t)mine, __ATOMIC_SEQ_CST);
    boot_barrier();
    job_check((uint64_t)a->counter == job_words()[0]);
    down();
}

START_TEST(excludes)
{
    run(PEERS, readers_and_writers);
}
END_TEST

/* Peer 0 is the target and serves "far" requests in its loop; the others lock near.  Both sides
 * must get on: every rank has a quota, and the run ends only when all have it. */
static int far_or_stop(void *arg)
{
    enum shmlock_type type = (enum shmlock_type)*(int *)arg;
    if (shmlock_far_try(the_lock(), &node, type, 1, 0))
        return 1;
    shmlock_far_waiting(the_lock(), &node, (int)type,
                        shmlock_far_key(the_lock(), &node, type, SHMLOCK_NOW));
    return shmlock_far_try(the_lock(), &node, type, 1, 0);
}

static void near_and_far(void)
{
    up();
    if (boot_rank() == 0) {
        for (int i = 0; i < TURNS; i++) {
            int type = i % 4 ? SHMLOCK_SHARED : SHMLOCK_EXCLUSIVE;
            progress_wait(far_or_stop, &type, "the lock for a far request", -1);
            shmlock_far_waiting(the_lock(), &node, 0, 0);
            inside(type);
            shmlock_far_leave(the_lock(), &node, (enum shmlock_type)type);
        }
    } else {
        for (int i = 0; i < TURNS; i++) {
            int type = (i + boot_rank()) % 3 ? SHMLOCK_SHARED : SHMLOCK_EXCLUSIVE;
            take(type);
            inside(type);
            shmlock_leave(the_lock(), &node, (enum shmlock_type)type);
        }
    }
    down();
}

START_TEST(far_and_near_share)
{
    run(4, near_and_far);
}
END_TEST

/* One process alone plays all parts: the rules of order, step by step. */
static void order(void)
{
    struct shmnode n0 = {3, 0, a->host_index}, n1 = {3, 1, a->host_index},
                   n2 = {3, 2, a->host_index};
    struct shmlock *l = the_lock();
    up();
    if (boot_rank() != 0) { /* only their wake-up addresses are needed */
        down();
        return;
    }
    /* Readers together; a writer queues; a later reader queues behind it. */
    job_check(shmlock_enter(l, &n1, SHMLOCK_SHARED) == 1);
    job_check(shmlock_enter(l, &n2, SHMLOCK_EXCLUSIVE) == 0);
    job_check(shmlock_try(l, &n0, SHMLOCK_SHARED) == 0);
    job_check(shmlock_enter(l, &n0, SHMLOCK_SHARED) == 0);
    job_check(shmlock_holder(l, &n2) == 1);
    /* A far LOCK_ALL joins the reader past the writer; another far shared request does not. */
    job_check(shmlock_far_try(l, &n0, SHMLOCK_SHARED, 1, 0) == 0);
    job_check(shmlock_far_try(l, &n0, SHMLOCK_SHARED, 1, 1) == 1);
    shmlock_leave(l, &n1, SHMLOCK_SHARED);
    job_check(shmlock_poll(l, &n2) == 0); /* the far reader is still in */
    shmlock_far_leave(l, &n0, SHMLOCK_SHARED);
    job_check(shmlock_poll(l, &n2) == 1);
    job_check(shmlock_poll(l, &n0) == 0);
    /* A far request that comes now waits for the near reader that is older, then gets its turn
     * before newcomers. */
    job_check(shmlock_far_try(l, &n0, SHMLOCK_EXCLUSIVE, 1, 0) == 0);
    shmlock_far_waiting(l, &n0, SHMLOCK_EXCLUSIVE,
                        shmlock_far_key(l, &n0, SHMLOCK_EXCLUSIVE, SHMLOCK_NOW));
    shmlock_leave(l, &n2, SHMLOCK_EXCLUSIVE);
    job_check(shmlock_poll(l, &n0) == 1);
    job_check(shmlock_enter(l, &n1, SHMLOCK_SHARED) == 0); /* F is up: newcomers queue */
    job_check(shmlock_far_try(l, &n0, SHMLOCK_EXCLUSIVE, 1, 0) == 0);
    shmlock_leave(l, &n0, SHMLOCK_SHARED);
    job_check(shmlock_poll(l, &n1) == 0); /* reserved for the far one */
    job_check(shmlock_far_try(l, &n0, SHMLOCK_EXCLUSIVE, 1, 0) == 1);
    /* another one waits already */
    shmlock_far_waiting(l, &n0, SHMLOCK_SHARED,
                        shmlock_far_key(l, &n0, SHMLOCK_SHARED, SHMLOCK_NOW));
    shmlock_far_leave(l, &n0, SHMLOCK_EXCLUSIVE);
    job_check(shmlock_poll(l, &n1) == 1); /* the near side's turn */
    shmlock_leave(l, &n1, SHMLOCK_SHARED);
    job_check(shmlock_far_try(l, &n0, SHMLOCK_SHARED, 1, 0) == 1);
    shmlock_far_waiting(l, &n0, 0, 0);
    shmlock_far_leave(l, &n0, SHMLOCK_SHARED);
    job_check(shmlock_enter(l, &n2, SHMLOCK_EXCLUSIVE) == 1);
    shmlock_leave(l, &n2, SHMLOCK_EXCLUSIVE);
    down();
}

START_TEST(serves_in_order)
{
    run(3, order);
}
END_TEST

/* --- pairs and barrier -------------------------------------------------------------- */

static int started(void *arg)
{
    return shmpair_start(a->pairs, &node, *(unsigned *)arg) == 1;
}

static int waited(void *arg)
{
    return shmpair_wait(a->pairs, &node, *(unsigned *)arg) == 1;
}

/* Every rank posts to its right neighbour, starts on its left one, twice per round before any rank
 * looks. */
static void ring(void)
{
    up();
    unsigned right = (node.me + 1) % node.peers, left = (node.me + node.peers - 1) % node.peers;
    for (unsigned i = 1; i <= TURNS; i++) {
        a->data[node.me] = 0;
        shmpair_post(a->pairs, &node, right);
        progress_wait(started, &left, "a post", -1);
        a->data[left] += i; /* exposed to this process alone */
        shmpair_complete(a->pairs, &node, left);
        progress_wait(waited, &right, "a complete", -1);
        job_check(a->data[node.me] == i);
        job_check(shmpair_wait(a->pairs, &node, right) == 0);
    }
    down();
}

START_TEST(pairs_match)
{
    run(4, ring);
}
END_TEST

static unsigned number;

static int all_here(void *arg)
{
    return shmbar_poll(&a->bar, &node, number) == 1;
}

static void barriers(void)
{
    up();
    for (unsigned i = 1; i <= TURNS; i++) {
        a->data[node.me] = i;
        number = i;
        shmbar_arrive(&a->bar, &node, i);
        if (i % 3 == 0) /* sometimes two are outstanding */
            continue;
        progress_wait(all_here, NULL, "the barrier", -1);
        for (unsigned p = 0; p < node.peers; p++)
            job_check(a->data[p] >= i);
    }
    progress_wait(all_here, NULL, "the barrier", -1);
    down();
}

START_TEST(barrier_holds)
{
    run(PEERS, barriers);
}
END_TEST

Suite *suite_shmlock(void)
{
    Suite *s = suite_create("rma/shmlock");
    TCase *t = tcase_create("shmlock");
    tcase_set_timeout(t, 90);
    tcase_add_test(t, serves_in_order);
    tcase_add_test(t, excludes);
    tcase_add_test(t, far_and_near_share);
    tcase_add_test(t, pairs_match);
    tcase_add_test(t, barrier_holds);
    suite_add_tcase(s, t);
    return s;
}
