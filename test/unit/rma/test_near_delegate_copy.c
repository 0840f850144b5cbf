/* test_near_delegate_copy.c - rma/near/delegate_copy.c: copies. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit_rma.h"
#include "world.h"

/* Puts and gets of one block, delegated by rank 0 to rank 1, which looks, or does not. */

enum { LONGS = 40000, GUARD = 8, SLOT_LONGS = RMA_BOX_BYTES / RMA_BOX_SLOTS / 8 };
static long memory[GUARD + LONGS + GUARD], buffer[GUARD + LONGS + GUARD];
static long *const cell = memory + GUARD, *const own = buffer + GUARD;
static struct rma_win *w;

static void fill(long *at, long n, long first)
{
    for (long i = 0; i < n; i++)
        at[i] = first + i;
}

static int is_filled(const long *at, long n, long first)
{
    for (long i = 0; i < n; i++)
        if (at[i] != first + i)
            return 0;
    return 1;
}

static void open_window(void)
{
    memset(memory, 0x5a, sizeof memory);
    memset(buffer, 0x5a, sizeof buffer);
    job_check(rma_win_create(cell, LONGS * 8, 8, NULL, proc->obj->world, &w) == MPI_SUCCESS);
}

static void close_window(void)
{
    for (int i = 0; i < GUARD; i++)
        job_check(memory[i] == 0x5a5a5a5a5a5a5a5a && cell[LONGS + i] == 0x5a5a5a5a5a5a5a5a &&
                  buffer[i] == 0x5a5a5a5a5a5a5a5a && own[LONGS + i] == 0x5a5a5a5a5a5a5a5a);
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

static void wait_for(const uint64_t *word, uint64_t value)
{
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < value)
        usleep(100);
}

static size_t copy(enum rma_kind kind, long *at, long n, MPI_Aint disp)
{
    struct rma_args a = world_args(kind, 1, at, at, n, disp);
    if (kind == RMA_PUT)
        a.rtype = NULL;
    else
        a.otype = NULL;
    job_check(rma_may_copy(w, rma_near_of(w, 1), &a, (size_t)n * 8));
    return rma_delegate_copy(w, rma_near_of(w, 1), &a, (uint64_t)disp * 8, (size_t)n * 8);
}

/* Copies until the owner answers in time: it may have no core for a while. */
static void copy_all(enum rma_kind kind, long *at, long n, MPI_Aint disp)
{
    size_t done = 0;
    while (done < (size_t)n * 8) {
        done = copy(kind, at, n, disp);
        job_check(done == (size_t)n * 8 || (done < (size_t)n * 8 && done % (SLOT_LONGS * 8) == 0));
    }
}

/* Whatever its length, it is done exactly, and nothing beside it. */
static void lengths(void)
{
    static const long n[] = {1, 2, 7, SLOT_LONGS - 1, SLOT_LONGS, SLOT_LONGS + 1,
                             RMA_BOX_SLOTS * SLOT_LONGS, RMA_BOX_SLOTS * SLOT_LONGS + 3,
                             3 * RMA_BOX_SLOTS * SLOT_LONGS + 5};
    uint64_t *ready = job_words();
    open_window();
    if (boot_rank() == 0) {
        for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
            long disp = (long)i * 3, first = 1000000L * (long)i;
            fill(own, n[i], first);
            copy_all(RMA_PUT, own, n[i], disp);
            memset(own, 0, (size_t)n[i] * 8);
            copy_all(RMA_GET, own, n[i], disp);
            job_check(is_filled(own, n[i], first));
            long next = 0;
            copy_all(RMA_GET, &next, 1, disp + n[i]);
            job_check(next == 0x5a5a5a5a5a5a5a5a);
        }
        job_check(world_pvar(w, PVAR_RMA_CMA) == 0);
        __atomic_store_n(&ready[0], 1, __ATOMIC_RELEASE);
    } else {
        while (!__atomic_load_n(&ready[0], __ATOMIC_ACQUIRE))
            world_poll(1);
    }
    world_barrier();
    close_window();
}

/* If the owner does not look, it does nothing, now or later; it gets no other one until it has read
 * the pieces; CMA does what the call wants. */
static void taken_back(void)
{
    enum { N = 3 * SLOT_LONGS };
    uint64_t *ready = job_words();
    open_window();
    if (boot_rank() == 0) {
        job_check(rma_lock_all(w, 0) == MPI_SUCCESS);
        wait_for(&ready[0], 1);
        fill(own, N, 7);
        job_check(copy(RMA_PUT, own, N, 0) == 0 && rma_near_of(w, 1)->unread == 3);
        job_check(copy(RMA_PUT, own, N, 0) == 0 && w->delegate.asked == 3);
        job_check(world_op(w, RMA_PUT, 1, own, NULL, N, N) == MPI_SUCCESS);
        job_check(world_pvar(w, PVAR_RMA_CMA) == 1 && world_pvar(w, PVAR_RMA_AM) == 0);
        memset(own, 0, N * 8);
        __atomic_store_n(&ready[1], 1, __ATOMIC_RELEASE);
        wait_for(&ready[0], 2);
        long *got = own + N;
        memset(got, 1, N * 8);
        copy_all(RMA_GET, got, N, N);
        job_check(is_filled(got, N, 7) && own[0] == 0);
        __atomic_store_n(&ready[1], 2, __ATOMIC_RELEASE);
        job_check(rma_unlock_all(w) == MPI_SUCCESS);
    } else {
        __atomic_store_n(&ready[0], 1, __ATOMIC_RELEASE);
        wait_for(&ready[1], 1);
        atomic_uint *read = rma_read_word(w, rma_near_of(w, 1), rma_near_of(w, 0));
        while (atomic_load(read) != 3)
            world_poll(1);
        job_check(cell[0] == 0x5a5a5a5a5a5a5a5a && cell[N - 1] == 0x5a5a5a5a5a5a5a5a);
        job_check(is_filled(cell + N, N, 7) && rma_self()->malformed == 0);
        __atomic_store_n(&ready[0], 2, __ATOMIC_RELEASE);
        while (__atomic_load_n(&ready[1], __ATOMIC_ACQUIRE) < 2)
            world_poll(1);
    }
    world_barrier();
    close_window();
}

/* An answer that does not come in time counts against the owner's way; an owner that is not asked
 * does not. */
static void late_counts(void)
{
    enum { N = 2 * SLOT_LONGS };
    uint64_t *ready = job_words();
    open_window();
    if (boot_rank() == 0) {
        const struct ways *ways = &rma_self()->put_ways;
        unsigned size = ways_size(N * 8);
        job_check(rma_lock_all(w, 0) == MPI_SUCCESS && ways->ns[size][0] == 0);
        wait_for(&ready[0], 1);
        job_check(world_op(w, RMA_PUT, 1, own, NULL, N, 0) == MPI_SUCCESS);
        uint32_t took = ways->ns[size][0];
        job_check(took > 1000 && world_pvar(w, PVAR_RMA_CMA) == 1);
        job_check(world_op(w, RMA_PUT, 1, own, NULL, N, 0) == MPI_SUCCESS);
        job_check(ways->ns[size][0] == took && world_pvar(w, PVAR_RMA_CMA) == 2);
        job_check(ways->turns[size] == 2 && ways->ns[size][1] == 0);
        __atomic_store_n(&ready[1], 1, __ATOMIC_RELEASE);
        job_check(rma_unlock_all(w) == MPI_SUCCESS);
    } else {
        __atomic_store_n(&ready[0], 1, __ATOMIC_RELEASE);
        wait_for(&ready[1], 1);
    }
    world_barrier();
    close_window();
}

/* The owner looks now and then, so that pieces are answered, and others taken back: the whole is
 * right each time, with CMA for the rest. */
static void either_way(void)
{
    enum { TIMES = 400, MOST = 5 * SLOT_LONGS };
    uint64_t *ready = job_words();
    open_window();
    if (boot_rank() == 0) {
        srand(3);
        job_check(rma_lock_all(w, 0) == MPI_SUCCESS);
        for (int i = 0; i < TIMES; i++) {
            long n = 1 + rand() % MOST, disp = rand() % (LONGS - MOST);
            fill(own, n, i * 100000L);
            job_check(world_op(w, RMA_PUT, 1, own, NULL, n, disp) == MPI_SUCCESS);
            memset(own, 0, (size_t)n * 8);
            job_check(world_op(w, RMA_GET, 1, NULL, own, n, disp) == MPI_SUCCESS);
            job_check(rma_flush(w, 1) == MPI_SUCCESS && is_filled(own, n, i * 100000L));
        }
        job_check(world_pvar(w, PVAR_RMA_CMA) + world_pvar(w, PVAR_RMA_AM) == 2 * TIMES);
        job_check(rma_unlock_all(w) == MPI_SUCCESS);
        __atomic_store_n(&ready[0], 1, __ATOMIC_RELEASE);
    } else {
        volatile unsigned x = 0;
        for (unsigned turn = 0; !__atomic_load_n(&ready[0], __ATOMIC_ACQUIRE); turn++) {
            for (unsigned i = 0; i < turn * 7919 % 20000; i++)
                x = x + 1;
            world_poll(1 + (int)(turn % 3));
        }
        job_check(rma_self()->malformed == 0);
    }
    world_barrier();
    close_window();
}

/* The owner has no memory to map the box of the origin: its pieces are left to the origin, which
 * takes them back. They are not malformed. */
static void unmapped(void)
{
    enum { N = 3 * SLOT_LONGS };
    uint64_t *ready = job_words();
    open_window();
    if (boot_rank() == 1)
        w->node.boxes[0].at = NULL;
    world_barrier();
    if (boot_rank() == 0) {
        fill(own, N, 7);
        job_check(rma_lock_all(w, 0) == MPI_SUCCESS);
        job_check(world_op(w, RMA_PUT, 1, own, NULL, N, 0) == MPI_SUCCESS);
        memset(own, 0, N * 8);
        job_check(world_op(w, RMA_GET, 1, NULL, own, N, 0) == MPI_SUCCESS);
        job_check(rma_flush(w, 1) == MPI_SUCCESS && is_filled(own, N, 7));
        job_check(rma_unlock_all(w) == MPI_SUCCESS);
        __atomic_store_n(&ready[0], 1, __ATOMIC_RELEASE);
    } else {
        struct acc_delegation *asked = &rma_near_of(w, 0)->peer->asked;
        struct rma_delegated q = {.type = RMA_PKT_DELEGATE, .aop = RMA_COPY_IN,
                                  .win = (uint32_t)w->id, .src = w->src - 1, .number = 1,
                                  .len = 8};
        while (!__atomic_load_n(&ready[0], __ATOMIC_ACQUIRE))
            world_poll(1);
        uint32_t answered = atomic_load(&asked->answered);
        job_check(rma_on_delegate(0, &q, sizeof q) == 0);
        job_check(rma_self()->malformed == 0 && atomic_load(&asked->answered) == answered);
    }
    world_barrier();
    close_window();
}

/* Pieces that fit nothing are neither done nor answered. */
static void hostile(void)
{
    open_window();
    world_barrier();
    if (boot_rank() == 0) {
        struct acc_delegation *asked = &rma_near_of(w, 1)->peer->asked;
        struct rma_delegated q = {.type = RMA_PKT_DELEGATE, .aop = RMA_COPY_IN,
                                  .win = (uint32_t)w->id, .src = w->src + 1, .number = 1,
                                  .disp = 0, .at = 0, .len = 8};
        const struct {
            uint64_t disp, at, len;
            uint16_t slot;
        } bad[] = {{0, 0, 0, 0},
                   {0, 0, SLOT_LONGS * 8 + 1, 0},
                   {0, 0, 8, RMA_BOX_SLOTS},
                   {LONGS, 0, 8, 0},
                   {0, LONGS * 8 - 7, 8, 0},
                   {0, (uint64_t)-8, 8, 0},
                   {0, INT64_MAX, 8, 0},
                   {UINT64_MAX, 0, 8, 0}};
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            struct rma_delegated x = q;
            x.disp = bad[i].disp;
            x.at = (int64_t)bad[i].at;
            x.len = bad[i].len;
            x.slot = bad[i].slot;
            job_check(rma_on_delegate(1, &x, sizeof x) == 0);
            job_check(rma_self()->malformed == i + 1 && atomic_load(&asked->answered) == 0);
        }
        memset(w->node.boxes[1].at, 3, 8);
        job_check(rma_on_delegate(1, &q, sizeof q) == 0 && atomic_load(&asked->answered) == 1);
        job_check(cell[0] == 0x0303030303030303 && cell[1] == 0x5a5a5a5a5a5a5a5a);
        boot_fail_now(1, "for this test");
        q.number++;
        q.at = 8;
        job_check(rma_on_delegate(1, &q, sizeof q) == 0 && cell[1] == 0x5a5a5a5a5a5a5a5a);
        job_check(atomic_load(&asked->answered) == 1);
    }
    fflush(NULL);
    _exit(0);
}

/* Pieces are read in the order sent: an answer to one answers those before it, and none behind it,
 * also where the numbers wrap around. */
START_TEST(answers)
{
    static const uint32_t firsts[] = {1, 1000, UINT32_MAX - 2};
    enum { PIECES = RMA_BOX_SLOTS };
    struct acc_delegation a;
    acc_delegation_init(&a);
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
        uint32_t first = firsts[i], last = first + PIECES - 1;
        for (uint32_t done = 0; done <= PIECES; done++) {
            atomic_store(&a.answered, first - 1 + done); /* the piece before the first: none */
            for (uint32_t k = 0; k < PIECES; k++)
                ck_assert_int_eq(acc_answered(&a, first + k, last), k < done);
        }
    }
}
END_TEST

START_TEST(copies)
{
    ck_assert_int_eq(world_run(2, NULL, lengths), 0);
    ck_assert_int_eq(world_run(2, NULL, taken_back), 0);
    ck_assert_int_eq(world_run(2, NULL, late_counts), 0);
    ck_assert_int_eq(world_run(2, NULL, either_way), 0);
    ck_assert_int_eq(world_run(2, NULL, unmapped), 0);
    ck_assert_int_eq(world_run(2, NULL, hostile), 0);
}
END_TEST

Suite *suite_delegate_copy(void)
{
    Suite *s = suite_create("delegate_copy");
    TCase *t = tcase_create("delegate_copy");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, answers);
    suite_add_tcase(s, t);
    /* an emulator of processors refuses process_vm_readv */
    TCase *k = tcase_create("kernel");
    tcase_set_timeout(k, 120);
    tcase_set_tags(k, "kernel");
    tcase_add_test(k, copies);
    suite_add_tcase(s, k);
    return s;
}
