#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit_rma.h"
#include "world.h"

/* Small puts and gets of rank 0 on memory of rank 1, bundled. */

enum { LONGS = 2000, GUARD = 8 };
static long memory[GUARD + LONGS + GUARD], own[LONGS];
static long *const cell = memory + GUARD;
static struct rma_win *w;

static void open_window(void)
{
    memset(memory, 0x5a, sizeof memory);
    job_check(rma_win_create(cell, LONGS * 8, 8, NULL, proc->obj->world, &w) == MPI_SUCCESS);
}

static void close_window(void)
{
    for (int i = 0; i < GUARD; i++)
        job_check(memory[i] == 0x5a5a5a5a5a5a5a5a && cell[LONGS + i] == 0x5a5a5a5a5a5a5a5a);
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

static void put(long at, long n, long first)
{
    for (long i = 0; i < n; i++)
        own[at + i] = first + i;
    job_check(world_op(w, RMA_PUT, 1, own + at, NULL, n, at) == MPI_SUCCESS);
}

static void get(long at, long n)
{
    memset(own + at, 0, (size_t)n * 8);
    job_check(world_op(w, RMA_GET, 1, NULL, own + at, n, at) == MPI_SUCCESS);
}

/* Any lengths, up to the longest and beyond, with an owner that looks, now and then, or not: the
 * bytes are right after each flush. */
static void lengths(void)
{
    enum { TIMES = 300, MOST = 520 };
    uint64_t *ready = job_words();
    open_window();
    if (boot_rank() == 0) {
        srand(5);
        job_check(rma_lock_all(w, 0) == MPI_SUCCESS);
        long ops = 0;
        for (int i = 0; i < TIMES; i++) {
            long at[40], n[40];
            int many = 1 + rand() % 40;
            for (int k = 0; k < many; k++, ops++) {
                n[k] = rand() % 8 ? 1 + rand() % 4 : 1 + rand() % MOST;
                at[k] = rand() % (LONGS - n[k]);
                put(at[k], n[k], 100000L * i + at[k]);
            }
            job_check(rma_flush(w, 1) == MPI_SUCCESS);
            for (int k = 0; k < many; k++, ops++)
                get(at[k], n[k]);
            job_check((rand() & 1 ? rma_flush(w, 1) : rma_flush_local(w, 1)) == MPI_SUCCESS);
            for (int k = 0; k < many; k++)
                for (long x = 0; x < n[k]; x++)
                    job_check(own[at[k] + x] == 100000L * i + at[k] + x);
        }
        job_check(rma_unlock_all(w) == MPI_SUCCESS);
        job_check(world_pvar(w, PVAR_RMA_CMA) + world_pvar(w, PVAR_RMA_AM) == (uint64_t)ops);
        __atomic_store_n(&ready[0], 1, __ATOMIC_RELEASE);
    } else {
        volatile unsigned x = 0;
        for (unsigned turn = 0; !__atomic_load_n(&ready[0], __ATOMIC_ACQUIRE); turn++) {
            for (unsigned i = 0; i < (turn % 64 < 32 ? 0 : turn * 7919 % 20000); i++)
                x = x + 1;
            world_poll(1 + (int)(turn % 3));
        }
        job_check(rma_self()->malformed == 0);
    }
    world_barrier();
    close_window();
}

/* The error of an owner that ended is that of the flush. */
static void ended(void)
{
    uint64_t *ready = job_words();
    open_window();
    world_barrier();
    if (boot_rank() == 0) {
        job_check(rma_lock_all(w, 0) == MPI_SUCCESS);
        for (int i = 0; i < 2; i++)
            put(i, 1, 5);
        __atomic_store_n(&ready[0], 1, __ATOMIC_RELEASE);
        const struct rma_near *n = rma_near_of(w, 1);
        uint64_t word;
        struct iovec l = {&word, sizeof word}, r = {(void *)(uintptr_t)n->remote, sizeof word};
        while (mem_cma_read(n->host_index, &l, 1, &r, 1) == 0)
            usleep(1000);
        int at_once = world_op(w, RMA_PUT, 1, own, NULL, 1, 0); /* unless it is bundled */
        int bundled = w->delegate.bundles;
        job_check(at_once != MPI_SUCCESS || (bundled && rma_flush(w, 1) != MPI_SUCCESS));
        job_check(w->delegate.bundles == 0);
    } else {
        while (!__atomic_load_n(&ready[0], __ATOMIC_ACQUIRE))
            world_poll(1);
    }
    fflush(NULL);
    _exit(0);
}

/* An operation on another target needs the slot of a bundle whose owner ended: the error waits for
 * its next flush, which is not only a fence then. */
static void ended_earlier(void)
{
    enum { FILLS = 512 /* a bundle */, BEYOND = 600 };
    uint64_t *ready = job_words();
    open_window();
    world_barrier();
    if (boot_rank() == 0) {
        const struct rma_near *n = rma_near_of(w, 1);
        uint64_t word;
        struct iovec l = {&word, sizeof word}, r = {(void *)(uintptr_t)n->remote, sizeof word};
        job_check(rma_lock_all(w, 0) == MPI_SUCCESS);
        for (int round = 0; !n->bundles; round++) {
            job_check(round < 10000 && rma_flush(w, 1) == MPI_SUCCESS);
            for (int i = 0; i < 4; i++)
                put(i, 1, 5);
        }
        __atomic_store_n(&ready[0], 1, __ATOMIC_RELEASE);
        while (mem_cma_read(n->host_index, &l, 1, &r, 1) == 0)
            usleep(1000);
        for (int i = 0; i < 2 * RMA_BUNDLES && n->bundles; i++)
            job_check(world_op(w, RMA_PUT, 2, own, NULL, FILLS, 0) == MPI_SUCCESS);
        if (n->err) { /* unless it was done before its owner ended */
            job_check(!n->bundles);
            job_check(world_op(w, RMA_PUT, 2, own, NULL, BEYOND, 0) == MPI_SUCCESS);
            job_check(w->delegate.bundles == 0 && !rma_near_flush(&w->near, 1));
            job_check(rma_flush(w, 2) == MPI_SUCCESS && w->err);
            job_check(rma_flush(w, 1) != MPI_SUCCESS && !w->err);
            job_check(atomic_load(&w->near.passive) == 1);
        }
        __atomic_store_n(&ready[1], 1, __ATOMIC_RELEASE);
    } else if (boot_rank() == 1) {
        while (!__atomic_load_n(&ready[0], __ATOMIC_ACQUIRE))
            world_poll(1);
    } else {
        while (!__atomic_load_n(&ready[1], __ATOMIC_ACQUIRE))
            usleep(1000); /* outside MPI, so bundles gather */
    }
    fflush(NULL);
    _exit(0);
}

/* Heads that another process overwrote change only what the owner does: the asker copies as many
 * bytes as it was asked for. */
static void overwritten(void)
{
    enum { OPS = 4, EACH = 4 };
    uint64_t *ready = job_words();
    open_window();
    world_barrier();
    if (boot_rank() == 0) {
        job_check(rma_lock_all(w, 0) == MPI_SUCCESS);
        for (int round = 0; !w->delegate.bundles; round++) {
            job_check(round < 10000 && rma_flush(w, 1) == MPI_SUCCESS);
            memset(own, 0x11, sizeof own);
            for (int i = 0; i < OPS; i++)
                get(EACH * i, 1);
        }
        for (int i = 0; i < RMA_BUNDLES; i++) {
            char *slot = rma_self()->box + RMA_BOX_BYTES + i * RMA_BUNDLE_BYTES;
            const struct rma_bundled e = {.at = 64, .len = 3 * 8, .get = 1};
            memcpy(slot + sizeof(struct acc_bundle), &e, sizeof e);
        }
        job_check(rma_flush(w, 1) == MPI_SUCCESS);
        for (int i = 0; i < OPS * EACH; i++)
            job_check(i % EACH == 0 || own[i] == 0x1111111111111111);
        job_check(rma_unlock_all(w) == MPI_SUCCESS);
        __atomic_store_n(&ready[0], 1, __ATOMIC_RELEASE);
    } else {
        while (!__atomic_load_n(&ready[0], __ATOMIC_ACQUIRE))
            world_poll(1);
    }
    world_barrier();
    close_window();
}

/* What fits nothing is neither done nor marked as done. */
static void hostile(void)
{
    open_window();
    world_barrier();
    if (boot_rank() == 0) {
        struct acc_bundle *b = (struct acc_bundle *)(void *)(w->node.boxes[1].at + RMA_BOX_BYTES);
        struct rma_delegated q = {.type = RMA_PKT_DELEGATE, .aop = RMA_COPY_MANY,
                                  .win = (uint32_t)w->id, .src = w->src + 1, .number = 1,
                                  .value = 7};
        const struct rma_bundled bad[] = {{LONGS * 8, 8, 0},      {LONGS * 8 - 7, 8, 0},
                                          {(uint64_t)-8, 8, 0},   {0, 0, 0},
                                          {0, RMA_BUNDLE_BYTES, 0}, {0, UINT32_MAX, 0},
                                          {UINT64_MAX, 8, 1}};
        unsigned malformed = 0;
        atomic_store(&b->number, 7);
        b->ops = 1;
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            memcpy(b + 1, &bad[i], sizeof *bad);
            job_check(rma_on_delegate(1, &q, sizeof q) == 0);
            job_check(rma_self()->malformed == ++malformed && atomic_load(&b->done) == 0);
        }
        const struct rma_bundled good = {0, 8, 0};
        memcpy(b + 1, &good, sizeof good);
        memset((char *)(b + 1) + sizeof good, 3, 8);
        b->ops = UINT32_MAX; /* more than the slot holds */
        job_check(rma_on_delegate(1, &q, sizeof q) == 0);
        job_check(rma_self()->malformed == ++malformed && atomic_load(&b->done) == 0);
        q.elem = RMA_BUNDLES;
        job_check(rma_on_delegate(1, &q, sizeof q) == 0);
        q.elem = 0, q.value = 0;
        job_check(rma_on_delegate(1, &q, sizeof q) == 0);
        job_check(rma_self()->malformed == (malformed += 2));
        cell[0] = 1;
        b->ops = 1;
        q.value = 7;
        char *box = w->node.boxes[1].at; /* not mapped for lack of memory: left to the asker */
        w->node.boxes[1].at = NULL;
        job_check(rma_on_delegate(1, &q, sizeof q) == 0 && cell[0] == 1);
        job_check(rma_self()->malformed == malformed && atomic_load(&b->done) == 0);
        w->node.boxes[1].at = box;
        q.value = 6; /* the slot holds another one by now */
        job_check(rma_on_delegate(1, &q, sizeof q) == 0 && cell[0] == 1);
        q.value = 7;
        atomic_store(&b->back, 9); /* taken back, as the slot's next two were since */
        job_check(rma_on_delegate(1, &q, sizeof q) == 0 && cell[0] == 1);
        job_check(atomic_load(&b->done) == 0);
        atomic_store(&b->back, 6);
        job_check(rma_on_delegate(1, &q, sizeof q) == 0 && atomic_load(&b->done) == 7);
        job_check(cell[0] == 0x0303030303030303 && cell[1] == 0x5a5a5a5a5a5a5a5a);
        boot_fail_now(1, "for this test");
        atomic_store(&b->number, 8);
        cell[0] = 1, q.value = 8;
        job_check(rma_on_delegate(1, &q, sizeof q) == 0 && cell[0] == 1);
        job_check(atomic_load(&b->done) == 7 && rma_self()->malformed == malformed);
    }
    fflush(NULL);
    _exit(0);
}

/* A single put between flush_local calls is bundled: nothing waits for it. Between flushes it is
 * done within its call, so that the flush is a fence. */
static void alone(void)
{
    uint64_t *ready = job_words();
    open_window();
    world_barrier();
    if (boot_rank() == 0) {
        job_check(rma_lock_all(w, 0) == MPI_SUCCESS);
        job_check(w->near.by_cma);
        for (int i = 0; i < 4; i++) {
            put(i, 1, i);
            job_check(w->delegate.bundles == 0);
            job_check(rma_flush(w, 1) == MPI_SUCCESS);
        }
        for (int all = 0; all < 2; all++) {
            job_check(rma_flush_local(w, 1) == MPI_SUCCESS);
            for (int bundled = 0; !bundled;) /* an owner that was late gets none for a while */
                for (int i = 4; i < 8; i++) {
                    put(i, 1, i + 100 * all);
                    bundled |= w->delegate.bundles;
                    job_check((all ? rma_flush_local_all(w) : rma_flush_local(w, 1)) ==
                              MPI_SUCCESS);
                }
            job_check(rma_flush(w, 1) == MPI_SUCCESS);
            job_check(w->delegate.bundles == 0);
            put(0, 1, 0); /* the flush before it waits for what it does */
            job_check(w->delegate.bundles == 0);
        }
        job_check(rma_unlock_all(w) == MPI_SUCCESS);
        __atomic_store_n(&ready[0], 1, __ATOMIC_RELEASE);
    } else {
        while (!__atomic_load_n(&ready[0], __ATOMIC_ACQUIRE))
            world_poll(1);
        for (int i = 0; i < 8; i++)
            job_check(cell[i] == i + (i < 4 ? 0 : 100));
        for (int i = 0; i < 8; i++)
            cell[i] = memory[0];
    }
    world_barrier();
    close_window();
}

START_TEST(bundles)
{
    ck_assert_int_eq(world_run(2, NULL, lengths), 0);
    ck_assert_int_eq(world_run(2, NULL, alone), 0);
    ck_assert_int_eq(world_run(2, NULL, ended), 0);
    ck_assert_int_eq(world_run(3, NULL, ended_earlier), 0);
    ck_assert_int_eq(world_run(2, NULL, overwritten), 0);
    ck_assert_int_eq(world_run(2, NULL, hostile), 0);
}
END_TEST

Suite *suite_bundle(void)
{
    Suite *s = suite_create("bundle");
    TCase *t = tcase_create("bundle");
    tcase_set_timeout(t, 120);
    tcase_set_tags(t, "kernel"); /* an emulator of processors refuses process_vm_readv */
    tcase_add_test(t, bundles);
    suite_add_tcase(s, t);
    return s;
}
