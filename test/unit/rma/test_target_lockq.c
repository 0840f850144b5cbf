/* test_target_lockq.c - rma/target/lockq.c: stamps, asks twice, joins, no writer joins, kept
 * data. */
#include "unit.h"

#include "unit_rma.h"
#include "world.h"

/* Requests of processes that do not exist: what counts here is the queue; their answers go
 * nowhere. */
static struct rma_win *w;

static void ask(int src, unsigned flags, uint64_t stamp)
{
    struct rma_hdr h = {.type = RMA_PKT_LOCK, .flags = (uint16_t)flags, .disp = stamp};
    rma_lockq_ask(w, src, &h, NULL, 0);
}

static int release(int src)
{
    uint32_t clock;
    return rma_lockq_release(w, src, &clock);
}

static int holds(int src)
{
    return (int)(uintptr_t)map_get(&w->target.lockq.holders, (uint64_t)src + 1);
}

static void settle(void)
{
    struct rma_lockq *q = &w->target.lockq;
    while (rma_lockq_poll(w))
        ;
    job_check(q->count <= (unsigned)cvar.rma_lock_entries && q->admitted <= q->stamps);
}

/* Queue of two places: two wait, the others are refused and come again in the order of their
 * stamps. */
static void order(void)
{
    w = world_window(4);
    struct rma_lockq *q = &w->target.lockq;
    ask(1, RMA_F_EXCLUSIVE, 0);
    job_check(holds(1) == SHMLOCK_EXCLUSIVE && q->count == 0);
    ask(2, RMA_F_EXCLUSIVE, 0);
    ask(3, RMA_F_EXCLUSIVE, 0);
    job_check(q->count == 2 && world_pvar(w, PVAR_RMA_LOCKS_QUEUED) == 2);
    ask(4, RMA_F_EXCLUSIVE, 0);
    ask(5, RMA_F_EXCLUSIVE, 0);
    ask(6, RMA_F_EXCLUSIVE, 0);
    job_check(q->count == 2 && q->stamps == 3 && world_pvar(w, PVAR_RMA_LOCKS_REFUSED) == 3);
    settle();
    job_check(holds(1) && !holds(2));
    job_check(release(1) == 0);
    settle();
    job_check(holds(2) && q->count == 1); /* first come, first served */
    ask(7, RMA_F_EXCLUSIVE, 0);           /* a place is free, but the refused ones were first */
    job_check(q->stamps == 4 && q->count == 1);
    ask(6, RMA_F_EXCLUSIVE | RMA_F_STAMP, 3); /* not yet: admitted + 2 places */
    job_check(q->stamps == 4 && q->count == 1 && q->admitted == 0);
    ask(4, RMA_F_EXCLUSIVE | RMA_F_STAMP, 1);
    job_check(q->admitted == 1 && q->count == 2);
    for (int src = 2; src <= 4; src++) {
        job_check(holds(src) == SHMLOCK_EXCLUSIVE && release(src) == 0);
        settle();
    }
    ask(5, RMA_F_EXCLUSIVE | RMA_F_STAMP, 2);
    ask(6, RMA_F_EXCLUSIVE | RMA_F_STAMP, 3);
    ask(7, RMA_F_EXCLUSIVE | RMA_F_STAMP, 4);
    job_check(holds(5) && q->count == 2 && q->admitted == 4 && q->stamps == 4);
    for (int src = 5; src <= 7; src++) {
        job_check(holds(src) && release(src) == 0);
        settle();
    }
    ask(8, RMA_F_SHARED, 0); /* all have had their turn: newcomers enter */
    job_check(holds(8) == SHMLOCK_SHARED);
    ask(8, RMA_F_SHARED, 0); /* locked already */
    job_check(holds(8) && q->count == 0);
    job_check(release(8) == 0);
    job_check(release(8) == MPI_ERR_RMA_SYNC); /* never another process's lock (rma.md 5.5) */
    /* stamps that were never given out buy nothing */
    ask(9, RMA_F_EXCLUSIVE | RMA_F_STAMP, 99);
    ask(10, RMA_F_EXCLUSIVE | RMA_F_STAMP, 0);
    settle();
    job_check(holds(9) && q->count == 1 && q->stamps == 4);
    ask(11, RMA_F_EXCLUSIVE, 0);
    ask(12, RMA_F_EXCLUSIVE, 0);
    job_check(q->stamps == 5);
    /* the dead: 10 waits, 9 holds, 12's stamp never comes */
    rma_lockq_fail(w, 10);
    job_check(q->count == 1);
    rma_lockq_fail(w, 9);
    rma_lockq_fail(w, 12);
    settle();
    job_check(holds(11) && q->count == 0 && q->admitted == q->stamps);
    ask(12, RMA_F_EXCLUSIVE | RMA_F_STAMP, 5); /* it comes after all */
    settle();
    job_check(release(11) == 0);
    settle();
    job_check(holds(12) && release(12) == 0);
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* Two requests of one process in the queue, as no library sends them: held once, given back
 * once. */
static void doubled(void)
{
    w = world_window(4);
    struct rma_lockq *q = &w->target.lockq;
    ask(1, RMA_F_EXCLUSIVE, 0);
    ask(2, RMA_F_SHARED, 0);
    ask(2, RMA_F_SHARED, 0);
    job_check(q->count == 2);
    job_check(release(1) == 0);
    settle();
    job_check(q->count == 0 && holds(2) && !q->anonymous);
    job_check(release(2) == 0 && release(2) == MPI_ERR_RMA_SYNC);
    job_check(shmlock_far_try(w->near.near[0].lockword, &w->node.n, SHMLOCK_EXCLUSIVE, 1, 0) == 1);
    shmlock_far_leave(w->near.near[0].lockword, &w->node.n, SHMLOCK_EXCLUSIVE);
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

static void readers(void)
{
    w = world_window(4);
    struct rma_lockq *q = &w->target.lockq;
    ask(1, RMA_F_SHARED, 0);
    ask(2, RMA_F_EXCLUSIVE, 0);
    ask(3, RMA_F_SHARED, 0); /* behind the writer */
    job_check(holds(1) && !holds(2) && !holds(3) && q->count == 2);
    ask(4, RMA_F_SHARED | RMA_F_JOIN, 0); /* rma.md 5.3: past it */
    job_check(holds(4) == SHMLOCK_SHARED && q->count == 2);
    job_check(release(4) == 0 && release(1) == 0);
    settle();
    job_check(holds(2) && !holds(3));
    /* no readers are in: it waits, or is refused and comes again */
    ask(5, RMA_F_SHARED | RMA_F_JOIN, 0);
    settle();
    job_check(!holds(5));
    job_check(release(2) == 0);
    settle();
    job_check(holds(3) && holds(5) && q->count == 0);
    /* beyond the bound readers are counted only, and still no release is worth two */
    ask(6, RMA_F_SHARED, 0);
    job_check(!holds(6) && q->anonymous == 1);
    /* rma.md 5.5: an UNLOCK without a LOCK is taken for that of one that is only counted */
    job_check(release(9) == 0 && q->anonymous == 0);
    job_check(release(9) == MPI_ERR_RMA_SYNC && release(6) == MPI_ERR_RMA_SYNC);
    ask(6, RMA_F_SHARED, 0);
    job_check(!holds(6) && q->anonymous == 1);
    /* one dies that may be it: a writer is let in as a reader, and gets the answer; until the count
     * is 0 again */
    rma_lockq_fail(w, 20);
    job_check(q->doubt && shmlock_doubtful(w->near.near[0].lockword));
    ask(7, RMA_F_EXCLUSIVE, 0);
    settle();
    job_check(q->count == 0 && !holds(7) && q->anonymous == 2);
    job_check(release(7) == 0 && q->doubt);
    job_check(release(6) == 0 && q->anonymous == 0);
    job_check(!q->doubt && !shmlock_doubtful(w->near.near[0].lockword));
    rma_lockq_fail(w, 21);
    job_check(!q->doubt);
    job_check(release(6) == MPI_ERR_RMA_SYNC);
    job_check(release(3) == 0 && release(5) == 0);
    job_check(shmlock_far_try(w->near.near[0].lockword, &w->node.n, SHMLOCK_EXCLUSIVE, 1, 0) == 1);
    shmlock_far_leave(w->near.near[0].lockword, &w->node.n, SHMLOCK_EXCLUSIVE);
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* A writer with JOIN, which the library never sends, is treated as a writer. As a reader it
 * would enter, then remove a writer's mark when it leaves, and no process would get the lock
 * again. */
static void writer_joins(void)
{
    w = world_window(4);
    struct shmlock *word = w->near.near[0].lockword;
    for (int late = 0; late < 2; late++) {
        ask(1, late ? RMA_F_EXCLUSIVE : RMA_F_SHARED, 0);
        ask(2, RMA_F_EXCLUSIVE | RMA_F_JOIN, 0);
        ask(3, RMA_F_SHARED | RMA_F_EXCLUSIVE | RMA_F_JOIN, 0);
        settle();
        job_check(holds(1) && !holds(2) && !holds(3));
        for (int src = 1; src <= 3; src++) {
            job_check(holds(src) && release(src) == 0);
            settle();
        }
        job_check(shmlock_far_try(word, &w->node.n, SHMLOCK_EXCLUSIVE, 1, 0) == 1); /* free again */
        shmlock_far_leave(word, &w->node.n, SHMLOCK_EXCLUSIVE);
    }
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* Data of requests that wait are kept while they fit (16 bytes here), else only the request is. */
static void data(void)
{
    long v[2] = {5, 6};
    w = world_window(4);
    struct rma_hdr h = {.type = RMA_PKT_PUT, .flags = RMA_F_EXCLUSIVE, .dt = MPI_LONG, .count = 2,
                        .len = 16};
    ask(1, RMA_F_EXCLUSIVE, 0);
    h.flags |= RMA_F_UNLOCK;
    rma_lockq_ask(w, 2, &h, (char *)v, 0);
    job_check(w->target.lockq.bytes == 16 && world_memory(w)[0] == 0);
    v[0] = v[1] = 9;
    h.disp = 2;
    rma_lockq_ask(w, 3, &h, (char *)v, 0);
    job_check(w->target.lockq.bytes == 16 && w->target.lockq.count == 2 &&
              world_pvar(w, PVAR_RMA_LOCKS_DROPPED) == 1);
    release(1);
    settle();
    /* 2: done, with the bytes of that time */
    job_check(world_memory(w)[0] == 5 && world_memory(w)[1] == 6);
    job_check(world_memory(w)[2] == 0 && holds(3) && w->target.lockq.bytes == 0);
    job_check(release(3) == 0);
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

static const char *const two_places[] = {"MPIR_CVAR_CH3_RMA_TARGET_LOCK_ENTRY_WIN_POOL_SIZE=2",
                                         "MPIR_CVAR_CH3_RMA_TARGET_LOCK_DATA_BYTES=16",
                                         "MPIR_CVAR_NOLOCAL=1", NULL};

START_TEST(stamps)
{
    ck_assert_int_eq(world_run(1, two_places, order), 0);
}
END_TEST

START_TEST(asks_twice)
{
    ck_assert_int_eq(world_run(1, two_places, doubled), 0);
}
END_TEST

START_TEST(joins)
{
    ck_assert_int_eq(world_run(1, two_places, readers), 0);
}
END_TEST

START_TEST(no_writer_joins)
{
    ck_assert_int_eq(world_run(1, two_places, writer_joins), 0);
}
END_TEST

START_TEST(kept_data)
{
    ck_assert_int_eq(world_run(1, two_places, data), 0);
}
END_TEST

Suite *suite_lockq(void)
{
    Suite *s = suite_create("rma/lockq");
    TCase *t = tcase_create("lockq");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, stamps);
    tcase_add_test(t, asks_twice);
    tcase_add_test(t, joins);
    tcase_add_test(t, no_writer_joins);
    tcase_add_test(t, kept_data);
    suite_add_tcase(s, t);
    return s;
}
