/* test_near_delegate.c - rma/near/delegate.c: questions, near. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit_rma.h"
#include "world.h"

/* Questions, asked by hand: of this process, which answers in its own progress, or does not. */

enum { LONGS = 1024, AT = 3, GUARD = 8 };
static long memory[GUARD + LONGS + GUARD];
static long *const cell = memory + GUARD;
static struct rma_win *w;
static struct rma_near *self;

static void open_window(void)
{
    memset(memory, 0x5a, sizeof memory);
    job_check(rma_win_create(cell, LONGS * 8, 8, NULL, proc->obj->world, &w) == MPI_SUCCESS);
    self = rma_near_of(w, 0);
}

static void close_window(void)
{
    for (int i = 0; i < GUARD; i++)
        job_check(memory[i] == 0x5a5a5a5a5a5a5a5a && cell[LONGS + i] == 0x5a5a5a5a5a5a5a5a);
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

static int ask(int type, unsigned op, const void *origin, const void *compare, void *result)
{
    struct rma_delegate_op q = {.elem = dt_find(type), .aop = op, .disp = AT, .off = AT * 8,
                             .origin = origin, .compare = compare, .result = result};
    return rma_delegate(w, self, &q);
}

#define ASK_EACH(T, TYPE)                                                                          \
    do {                                                                                           \
        T v = 5, was = 0, *at = (T *)&cell[AT];                                                    \
        *at = 7;                                                                                   \
        job_check(ask(TYPE, DT_SUM, &v, NULL, &was) && was == 7 && *at == 12);                     \
        job_check(ask(TYPE, DT_SUM, &v, NULL, NULL) && *at == 17);                                 \
        job_check(ask(TYPE, DT_NO_OP, NULL, NULL, &was) && was == 17 && *at == 17);                \
        job_check(ask(TYPE, DT_REPLACE, &v, NULL, &was) && was == 17 && *at == 5);                 \
    } while (0)

/* What is asked is done, and once; what came before is reported; nothing beside it is touched. */
static void asked(void)
{
    open_window();
    ASK_EACH(int8_t, MPI_INT8_T);
    ASK_EACH(int16_t, MPI_INT16_T);
    ASK_EACH(int32_t, MPI_INT32_T);
    ASK_EACH(int64_t, MPI_INT64_T);
    ASK_EACH(float, MPI_FLOAT);
    ASK_EACH(double, MPI_DOUBLE);
    long v = 1, was = 0, expect = 40;
    cell[AT] = 40;
    job_check(ask(MPI_LONG, RMA_SWAP, &v, &expect, &was) && was == 40 && cell[AT] == 1);
    job_check(ask(MPI_LONG, RMA_SWAP, &v, &expect, &was) && was == 1 && cell[AT] == 1);
    for (int i = 0; i < LONGS; i++)
        job_check(i == AT || cell[i] == 0x5a5a5a5a5a5a5a5a);
    job_check(world_pvar(w, PVAR_RMA_AM) == 26 && world_pvar(w, PVAR_RMA_MSGS) == 26);
    close_window();
}

/* Accumulates that follow each other are a burst until something synchronizes, whatever it is. */
static void bursts(void)
{
    open_window();
    for (int kind = 0; kind < 7; kind++) {
        int n = 1;
        if (kind < 5)
            job_check(rma_lock_all(w, 0) == MPI_SUCCESS);
        while (!rma_burst(w, self))
            n++;
        /* the first after the last synchronization is counted below */
        job_check(n == (kind ? 15 : 16) && rma_burst(w, self));
        switch (kind) {
        case 0: job_check(rma_near_flush(&w->near, 0)); break;
        case 1: job_check(rma_flush(w, 0) == MPI_SUCCESS); break;
        case 2: job_check(rma_flush_local(w, 0) == MPI_SUCCESS); break;
        case 3: job_check(rma_flush_all(w) == MPI_SUCCESS); break;
        case 4: job_check(rma_flush_local_all(w) == MPI_SUCCESS); break;
        case 5:
            job_check(rma_lock(w, MPI_LOCK_SHARED, 0, 0) == MPI_SUCCESS &&
                      rma_unlock(w, 0) == MPI_SUCCESS);
            break;
        default:
            job_check(rma_fence(w, 0) == MPI_SUCCESS &&
                      rma_fence(w, MPI_MODE_NOSUCCEED) == MPI_SUCCESS);
        }
        job_check(!rma_burst(w, self));
        if (kind < 5)
            job_check(rma_unlock_all(w) == MPI_SUCCESS && !rma_burst(w, self));
    }
    close_window();
}

/* --- not answered ----------------------------------------------------------------------------- */

static struct rma_delegated late;
static int lates;

static int on_late(int src, const void *msg, size_t len)
{
    job_check(len == sizeof late);
    memcpy(&late, msg, sizeof late);
    lates++;
    return 0;
}

static int deliver(const struct rma_delegated *q)
{
    return rma_on_delegate(0, q, sizeof *q);
}

/* Number of the question of `asker` that this process has reported as read. */
static uint32_t has_read(int asker)
{
    return atomic_load(rma_read_word(w, rma_near_of(w, boot_rank()), rma_near_of(w, asker)));
}

/* Taken back it is void, however late it is read; until then nothing more is asked, and then now
 * and then only of one that does not wait in MPI. */
static void taken_back(void)
{
    long v = 1, was = -1;
    struct rma_delegated before[3];
    open_window();
    cell[AT] = 10;
    am_handler(AM_RMA + RMA_PKT_DELEGATE, on_late);
    for (int i = 0; i < 3; i++) {
        lates = 0;
        job_check(!ask(MPI_LONG, DT_SUM, &v, NULL, &was) && lates == 1 &&
                  late.number == w->delegate.asked);
        before[i] = late;
        for (int n = 0; n < 40; n++)
            job_check(!ask(MPI_LONG, DT_SUM, &v, NULL, &was) && lates == 1);
        self->unread = self->backoff = 0; /* forgotten: asked again, so that several are void */
    }
    for (int i = 2; i >= 0; i--)
        job_check(deliver(&before[i]) == 0 && cell[AT] == 10 &&
                  !acc_answered(&self->peer->asked, before[i].number, before[i].number) &&
                  has_read(0) == before[i].number);
    job_check(was == -1);
    /* seen under the stripe only */
    struct acc_target at = {.ctl = self->acc, .base = (char *)cell, .host_index = -1};
    job_check(!acc_answer(&at, &(struct acc_question){.off = AT * 8, .elem = dt_find(MPI_LONG),
                                                      .op = dt_op_find(MPI_SUM), .origin = &v,
                                                      .asked = &self->peer->asked,
                                                      .number = before[0].number}));
    job_check(cell[AT] == 10);
    /* its place was detached since: nothing to complain of */
    struct rma_delegated gone = before[2];
    gone.disp = LONGS;
    job_check(deliver(&gone) == 0 && has_read(0) == gone.number && rma_self()->malformed == 0);
    /* read since, by one that does something else: asked again after some */
    job_check(!ask(MPI_LONG, DT_SUM, &v, NULL, &was) && lates == 2);
    deliver(&late);
    int skipped = 0;
    am_handler(AM_RMA + RMA_PKT_DELEGATE, rma_on_delegate);
    while (!ask(MPI_LONG, DT_SUM, &v, NULL, &was))
        skipped++;
    job_check(skipped > 0 && skipped < 20 && was == 10 && cell[AT] == 11);
    /* the same, but it waits in MPI: asked at once; not while it sleeps there */
    am_handler(AM_RMA + RMA_PKT_DELEGATE, on_late);
    job_check(!ask(MPI_LONG, DT_SUM, &v, NULL, &was));
    deliver(&late);
    am_handler(AM_RMA + RMA_PKT_DELEGATE, rma_on_delegate);
    mem_attend(MEM_WAITS);
    for (int i = 0; i < 100; i++)
        job_check(!ask(MPI_LONG, DT_SUM, &v, NULL, &was));
    mem_attend(MEM_SPINS);
    job_check(ask(MPI_LONG, DT_SUM, &v, NULL, &was) && was == 11 && cell[AT] == 12);
    /* numbers go round: after 2^31 of them without any that was taken back one looks as if it had
     * been */
    w->delegate.asked = UINT32_MAX - 1;
    for (int i = 0; i < 3; i++)
        job_check(ask(MPI_LONG, DT_SUM, &v, NULL, &was) == (i > 0));
    mem_attend(MEM_BUSY);
    job_check(w->delegate.asked == 2 && cell[AT] == 14); /* 0 is none */
    w->delegate.asking = 1; /* another thread has asked, and waits: one record, one question */
    job_check(!ask(MPI_LONG, DT_SUM, &v, NULL, &was) && w->delegate.asked == 2);
    w->delegate.asking = 0;
    /* answered: too late */
    job_check(!acc_take_back(self->acc, AT * 8, &self->peer->asked, w->delegate.asked));
    /* the window ended meanwhile */
    struct rma_delegated q = late;
    close_window();
    job_check(deliver(&q) == 0);
}

/* --- hostile ---------------------------------------------------------------------------------- */

static int refused(struct rma_delegated q)
{
    long was = cell[AT];
    uint32_t answered = atomic_load(&self->peer->asked.answered);
    q.number = answered + 1;
    rma_on_delegate(0, &q, sizeof q);
    for (int i = 0; i < LONGS; i++)
        job_check(i == AT || cell[i] == 0x5a5a5a5a5a5a5a5a);
    return cell[AT] == was && atomic_load(&self->peer->asked.answered) == answered;
}

static void hostile(void)
{
    open_window();
    struct rma_delegated q = {.type = RMA_PKT_DELEGATE, .aop = DT_SUM, .elem = (uint16_t)MPI_LONG,
                        .win = w->id, .disp = AT, .value = 1};
    cell[AT] = 0;
    job_check(!refused(q) && cell[AT] == 1); /* this one is right */
    for (size_t len = 0; len < sizeof q; len++)
        job_check(rma_on_delegate(0, &q, len) == 0 && cell[AT] == 1);
    job_check(rma_on_delegate(1, &q, sizeof q) == 0 && cell[AT] == 1); /* another's rank */
    struct rma_delegated bad = q;
    bad.win++;
    job_check(refused(bad));
    bad = q;
    for (bad.src = 1; bad.src; bad.src *= 2)
        job_check(refused(bad));
    bad = q;
    static const uint64_t far[] = {
        LONGS,      LONGS + 1,         UINT64_MAX,         UINT64_MAX / 8,
        1ull << 61, (1ull << 61) + AT, (uint64_t)INT64_MIN};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        bad.disp = far[i];
        job_check(refused(bad));
    }
    bad = q;
    for (unsigned op = 0; op < 256; op++) { /* none, or not of this type */
        bad.aop = (uint8_t)op;
        job_check(op == RMA_SWAP || (op > 0 && op < DT_OPS && dt_find(MPI_LONG)->ops >> op & 1) ||
                  refused(bad));
    }
    bad = q;
    static const int types[] = {0,        0xffff,       MPI_C_DOUBLE_COMPLEX, MPI_LONG_DOUBLE,
                                MPI_2INT, MPI_LONG_INT, MPI_DATATYPE_NULL,    MPI_COMM_WORLD};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        bad.elem = (uint16_t)types[i];
        job_check(refused(bad));
    }
    close_window();
}

/* --- near processes --------------------------------------------------------------------------- */

static void wait_for(const uint64_t *word)
{
    while (!__atomic_load_n(word, __ATOMIC_ACQUIRE))
        usleep(100);
}

/* A question that was taken back and not read looks like a new one when 2^31 numbers have come
 * after it: so many do not. */
static void too_old(void)
{
    uint64_t *ready = job_words();
    open_window();
    if (boot_rank() == 0) {
        struct rma_near *other = rma_near_of(w, 1);
        struct rma_delegate_op q = {.elem = dt_find(MPI_LONG), .aop = DT_SUM, .disp = AT,
                                 .off = AT * 8, .origin = &(long){1}};
        long v = 1, was;
        cell[AT] = 0;
        wait_for(&ready[2]); /* it computes */
        job_check(!rma_delegate(w, other, &q) && other->unread == 1);
        job_check(ask(MPI_LONG, DT_SUM, &v, NULL, &was) && w->delegate.asked == 2);
        w->delegate.asked = (1u << 30) - 1;
        job_check(ask(MPI_LONG, DT_SUM, &v, NULL, &was) && w->delegate.asked == 1u << 30);
        for (int i = 0; i < 5; i++)
            job_check(!ask(MPI_LONG, DT_SUM, &v, NULL, &was) && w->delegate.asked == 1u << 30);
        __atomic_store_n(&ready[0], 1, __ATOMIC_RELEASE);
        wait_for(&ready[1]);
        job_check(ask(MPI_LONG, DT_SUM, &v, NULL, &was) && w->delegate.asked == (1u << 30) + 1 &&
                  was == 2 && cell[AT] == 3);
        /* nothing is unread: all numbers are good; but the first one looks as if it had been taken
         * back */
        w->delegate.asked = 3u << 30;
        int tries = 1;
        while (!ask(MPI_LONG, DT_SUM, &v, NULL, &was))
            job_check(++tries < 10);
        job_check(tries > 1 && !other->unread && cell[AT] == 4);
    } else {
        __atomic_store_n(&ready[2], 1, __ATOMIC_RELEASE);
        wait_for(&ready[0]);
        while (!has_read(0))
            world_poll(1);
        job_check(has_read(0) == 1 && cell[AT] == 0x5a5a5a5a5a5a5a5a);
        __atomic_store_n(&ready[1], 1, __ATOMIC_RELEASE);
    }
    world_barrier();
    close_window();
}

/* The lock under which it was asked may be another's by now. */
static void of_the_dead(void)
{
    open_window();
    world_barrier();
    if (boot_rank() == 0) {
        struct rma_delegated q = {.type = RMA_PKT_DELEGATE,
                                  .aop = DT_SUM,
                                  .elem = (uint16_t)MPI_LONG,
                                  .win = w->id,
                                  .src = 1,
                                  .number = 1,
                                  .disp = AT,
                                  .value = 1};
        cell[AT] = 0;
        job_check(rma_on_delegate(1, &q, sizeof q) == 0 && cell[AT] == 1);
        boot_fail_now(1, "for this test");
        q.number++;
        job_check(rma_on_delegate(1, &q, sizeof q) == 0 && cell[AT] == 1);
        job_check(atomic_load(&rma_near_of(w, 1)->peer->asked.answered) == 1 &&
                  rma_self()->malformed == 0);
    }
    fflush(NULL);
    _exit(0);
}

/* If the owner computes, all is done by CMA; one that looks is asked. */
static void either_way(void)
{
    enum { OPS = 40, ANSWERS = 10 };
    uint64_t *ready = job_words();
    long one = 1, was, n = 0;
    open_window();
    if (boot_rank() == 0) {
        job_check(rma_lock_all(w, 0) == MPI_SUCCESS);
        wait_for(&ready[0]);
        for (; n < OPS; n++)
            job_check(world_op(w, RMA_FOP, 1, &one, &was, 1, AT) == MPI_SUCCESS && was == n);
        job_check(world_pvar(w, PVAR_RMA_CMA) == OPS && world_pvar(w, PVAR_RMA_AM) == 0);
        /* asked once */
        job_check(world_pvar(w, PVAR_RMA_MSGS) == 1 && rma_near_of(w, 1)->unread == 1);
        __atomic_store_n(&ready[1], 1, __ATOMIC_RELEASE);
        for (; world_pvar(w, PVAR_RMA_AM) < ANSWERS; n++) {
            job_check(world_op(w, RMA_FOP, 1, &one, &was, 1, AT) == MPI_SUCCESS && was == n &&
                      rma_flush(w, 1) == MPI_SUCCESS);
            job_check(w->table.ntargets == 0); /* no element either way */
        }
        job_check(rma_unlock_all(w) == MPI_SUCCESS);
        __atomic_store_n(&ready[2], (uint64_t)n, __ATOMIC_RELEASE);
    } else {
        cell[AT] = 0;
        __atomic_store_n(&ready[0], 1, __ATOMIC_RELEASE);
        wait_for(&ready[1]);
        while (!__atomic_load_n(&ready[2], __ATOMIC_ACQUIRE))
            world_poll(1);
        job_check((uint64_t)cell[AT] == ready[2]);
    }
    world_barrier();
    close_window();
}

enum { EACH = 3000 };

/* Looks at its messages for a moment now and then: the askers take back what it is about to
 * answer. */
static void serve(const uint64_t *ready)
{
    volatile unsigned x = 0;
    for (unsigned turn = 0; __atomic_load_n(ready, __ATOMIC_ACQUIRE) < 2; turn++) {
        for (unsigned i = 0; i < turn * 7919 % 20000; i++)
            x = x + 1;
        world_poll(1 + (int)(turn % 3));
        if (turn % 512 == 0)
            usleep(500);
    }
}

/* Two ask a third, which listens now and then: each addition is done once, and each asker sees its
 * own in order. */
static void fought_for(void)
{
    static long mine[2 * LONGS];
    uint64_t *ready = job_words();
    job_check(rma_win_create(mine, sizeof mine, 8, NULL, proc->obj->world, &w) == MPI_SUCCESS);
    int last = boot_size() - 1;
    if (boot_rank() == last) {
        serve(ready);
    } else {
        long one = 1, was, before = -1, told;
        job_check(rma_lock_all(w, 0) == MPI_SUCCESS);
        for (int i = 0; i < EACH; i++) {
            job_check(world_op(w, RMA_FOP, last, &one, &was, 1, AT) == MPI_SUCCESS &&
                      rma_flush(w, last) == MPI_SUCCESS);
            job_check(was > before && was < (last + 0L) * EACH);
            before = was;
            /* its own, 0 -> 1, then as it is */
            struct rma_args a = world_args(RMA_CAS, last, &one, &told, 1, AT + 1 + boot_rank());
            long zero = i ? 1 : 0;
            a.compare = &zero;
            job_check(rma_op_begin(w, &a, NULL) == MPI_SUCCESS);
            job_check(rma_flush(w, last) == MPI_SUCCESS && told == zero);
            job_check(world_op(w, RMA_ACC, last, &one, NULL, 1, LONGS + boot_rank()) ==
                      MPI_SUCCESS);
        }
        job_check(rma_unlock_all(w) == MPI_SUCCESS);
        job_check(world_pvar(w, PVAR_RMA_AM) + world_pvar(w, PVAR_RMA_CMA) == 3 * EACH);
        __atomic_add_fetch(&ready[0], 1, __ATOMIC_RELEASE);
    }
    world_barrier();
    if (boot_rank() == last) {
        job_check(mine[AT] == 2L * EACH);
        for (int i = 0; i < last; i++)
            job_check(mine[AT + 1 + i] == 1 && mine[LONGS + i] == EACH);
    }
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

START_TEST(questions)
{
    ck_assert_int_eq(world_run(1, NULL, asked), 0);
    ck_assert_int_eq(world_run(1, NULL, bursts), 0);
    ck_assert_int_eq(world_run(1, NULL, taken_back), 0);
    ck_assert_int_eq(world_run(1, NULL, hostile), 0);
}
END_TEST

START_TEST(near)
{
    ck_assert_int_eq(world_run(2, NULL, too_old), 0);
    ck_assert_int_eq(world_run(2, NULL, of_the_dead), 0);
    ck_assert_int_eq(world_run(2, NULL, either_way), 0);
    ck_assert_int_eq(world_run(3, NULL, fought_for), 0);
}
END_TEST

Suite *suite_one(void)
{
    Suite *s = suite_create("rma/one");
    TCase *t = tcase_create("one");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, questions);
    suite_add_tcase(s, t);
    /* an emulator of processors refuses process_vm_readv */
    TCase *k = tcase_create("kernel");
    tcase_set_timeout(k, 120);
    tcase_set_tags(k, "kernel");
    tcase_add_test(k, near);
    suite_add_tcase(s, k);
    return s;
}
