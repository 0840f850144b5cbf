/* test_sync_evict.c - rma/sync/evict.c: one of each, one for three locks, errors of one,
 * waits for ack. */
#include "unit.h"

#include "dt/make.h"
#include "unit_rma.h"
#include "world.h"

#include <sys/mman.h>

/* R2, R5, R7, E9: every kind of epoch with one operation element and one target element for three
 * far targets. Each rank adds to a cell of every rank, over and over: every operation needs an
 * element that another one has. */
enum { TURNS = 4 };

static void add_all(struct rma_win *w)
{
    static const long one = 1;
    for (int i = 0; i < TURNS; i++)
        for (int r = 0; r < boot_size(); r++) {
            job_check(world_op(w, RMA_ACC, r, &one, NULL, 1, 0) == MPI_SUCCESS);
            job_check(w->table.ntargets <= 1 && w->table.nops <= 1);
            rma_check_invariants(w);
        }
}

static void sum_is(struct rma_win *w, long times)
{
    world_barrier();
    job_check(w->state == WIN_UNSET && w->acks == 0 && w->table.ntargets == 0 &&
              w->table.nops == 0);
    job_check(w->target.lockq.holders.count == 0 && w->target.lockq.anonymous == 0 &&
              w->target.lockq.count == 0);
    job_check(world_memory(w)[0] == times * TURNS * boot_size());
    world_barrier();
}

static void starved(void)
{
    struct rma_win *w = world_window(1);
    struct group *all = group_make(proc->obj->world->map, boot_rank());
    job_check(rma_fence(w, MPI_MODE_NOPRECEDE) == MPI_SUCCESS);
    add_all(w);
    job_check(rma_fence(w, MPI_MODE_NOSUCCEED) == MPI_SUCCESS);
    sum_is(w, 1);
    job_check(world_pvar(w, PVAR_RMA_EVICTIONS) > 0 && world_pvar(w, PVAR_RMA_TARGETS_DRY) > 0);
    job_check(rma_post(w, all, 0) == MPI_SUCCESS && rma_start(w, all, 0) == MPI_SUCCESS);
    add_all(w);
    job_check(rma_complete(w) == MPI_SUCCESS && rma_wait(w) == MPI_SUCCESS);
    sum_is(w, 2);
    job_check(rma_lock_all(w, 0) == MPI_SUCCESS);
    add_all(w);
    job_check(rma_flush_all(w) == MPI_SUCCESS && rma_unlock_all(w) == MPI_SUCCESS);
    sum_is(w, 3);
    job_check(rma_lock_all(w, MPI_MODE_NOCHECK) == MPI_SUCCESS);
    add_all(w);
    job_check(rma_unlock_all(w) == MPI_SUCCESS);
    sum_is(w, 4);
    group_drop(all);
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* Locks: an evicted element's lock stays held, and its unlock finds it; NOCHECK ones are really
 * taken first (rma.md 5.5), so no unlock is without its lock. */
static void locks(void)
{
    for (int nocheck = 0; nocheck < 2; nocheck++) {
        struct rma_win *w = world_window(1);
        for (int r = 0; r < boot_size(); r++) {
            job_check(rma_lock(w, MPI_LOCK_SHARED, r, nocheck ? MPI_MODE_NOCHECK : 0) ==
                      MPI_SUCCESS);
            job_check(w->passive.locks == (unsigned)r + 1 && w->table.ntargets <= 1);
            rma_check_invariants(w);
        }
        job_check(w->passive.evicted.count > 0 && world_pvar(w, PVAR_RMA_EVICTIONS) > 0);
        add_all(w);
        for (int r = 0; r < boot_size(); r++)
            job_check(rma_flush(w, r) == MPI_SUCCESS && rma_unlock(w, r) == MPI_SUCCESS);
        sum_is(w, 1);
        job_check(rma_win_free(w) == MPI_SUCCESS);
    }
}

/* rma.md 5.6: eviction in a passive epoch waits for its answer: when the call returns the data are
 * at the target, which here lies open to all. */
static long *in_sight;

static void waits(void)
{
    enum { ROUNDS = 50 };
    struct rma_win *w;
    int size = boot_size();
    job_check(rma_win_create(in_sight + 64 * boot_rank(), 512, 8, NULL, proc->obj->world, &w) ==
              MPI_SUCCESS);
    if (boot_rank() == 0) {
        for (int t = 1; t < size; t++)
            job_check(rma_lock(w, MPI_LOCK_SHARED, t, 0) == MPI_SUCCESS);
        for (long i = 1; i <= ROUNDS; i++)
            for (int t = 1; t < size; t++) {
                long v = 1000 * t + i;
                int before = t == 1 ? size - 1 : t - 1;
                job_check(world_op(w, RMA_PUT, t, &v, NULL, 1, i % 64) == MPI_SUCCESS);
                /* it had to go for this one */
                job_check(!rma_target_find(w, before) && w->acks == 0);
                if (t > 1)
                    job_check(__atomic_load_n(&in_sight[64 * before + i % 64], __ATOMIC_ACQUIRE) ==
                              1000 * before + i);
            }
        for (int t = 1; t < size; t++)
            job_check(rma_unlock(w, t) == MPI_SUCCESS);
        job_check(world_pvar(w, PVAR_RMA_EVICTIONS) >= ROUNDS);
    }
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

static int cls(int err)
{
    return err_class(err);
}

/* A target refused an operation, and its element was evicted for another target's: a flush of the
 * first returns the error once, and that of no other target does. A local flush does so of what has
 * a result. */
static void of_one(struct rma_win *w)
{
    enum { BEHIND = 100 };
    static const long one = 1;
    long got = -1;
    for (int k = 0; k < 12; k++) {
        int put = k & 1, two = k & 2, how = k / 4; /* flushed one by one, locally, all at once */
        enum rma_kind kind = put ? RMA_PUT : RMA_GET;
        for (int r = 1; r <= 1 + !!two; r++)
            job_check(world_op(w, kind, r, &one, &got, 1, BEHIND) == MPI_SUCCESS);
        job_check(world_op(w, RMA_GET, 3, NULL, &got, 1, 0) == MPI_SUCCESS);
        job_check(!rma_target_find(w, 1) && !rma_target_find(w, 2));
        rma_check_invariants(w);
        job_check(rma_flush(w, 3) == MPI_SUCCESS && rma_flush_local(w, 3) == MPI_SUCCESS);
        if (how == 1 && two)
            job_check(cls(rma_flush_local_all(w)) == (put ? MPI_SUCCESS : MPI_ERR_RMA_RANGE));
        else if (how == 1)
            job_check(cls(rma_flush_local(w, 1)) == (put ? MPI_SUCCESS : MPI_ERR_RMA_RANGE));
        if (how == 2)
            job_check(cls(rma_flush_all(w)) == MPI_ERR_RMA_RANGE);
        int told = how == 2 || (how == 1 && !put);
        job_check(two || rma_flush(w, 2) == MPI_SUCCESS);
        for (int r = 1 + !!two; r >= 1; r--)
            job_check(cls(rma_flush(w, r)) == (told ? MPI_SUCCESS : MPI_ERR_RMA_RANGE));
        for (int r = 1; r <= 3; r++)
            job_check(rma_flush(w, r) == MPI_SUCCESS);
        job_check(rma_flush_all(w) == MPI_SUCCESS && !w->err && !w->errs.count);
        rma_check_invariants(w);
    }
}

static void errors(void)
{
    struct rma_win *w = world_window(1);
    if (boot_rank() == 0) {
        job_check(rma_lock_all(w, 0) == MPI_SUCCESS);
        of_one(w);
        job_check(rma_unlock_all(w) == MPI_SUCCESS);
        for (int r = 1; r <= 3; r++)
            job_check(rma_lock(w, MPI_LOCK_SHARED, r, 0) == MPI_SUCCESS);
        of_one(w);
        for (int r = 1; r <= 3; r++)
            job_check(world_op(w, RMA_GET, r, NULL, &(long){0}, 1, r < 3 ? 100 : 0) ==
                      MPI_SUCCESS);
        job_check(rma_unlock(w, 3) == MPI_SUCCESS && cls(rma_unlock(w, 2)) == MPI_ERR_RMA_RANGE &&
                  cls(rma_unlock(w, 1)) == MPI_ERR_RMA_RANGE);
        job_check(!w->err && !w->errs.count);
    }
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* Near targets refuse what goes by message: several blocks that lie in no attached memory. Without
 * another element a flush of the first is more than a fence, which would be silent. */
static void near_errors(void)
{
    static long cells[4];
    struct rma_win *w;
    struct dt_type *two;
    long got[2];
    job_check(rma_win_create_dynamic(NULL, proc->obj->world, &w) == MPI_SUCCESS);
    if (boot_rank() == 0) {
        job_check(dt_make_vector(2, 1, 2, dt_find(MPI_LONG), &two) == MPI_SUCCESS);
        job_check(rma_lock_all(w, 0) == MPI_SUCCESS && rma_near_of(w, 1) && rma_near_of(w, 2));
        for (int r = 1; r <= 2; r++) {
            struct rma_args a = world_args(RMA_GET, r, NULL, got, 2, (MPI_Aint)(uintptr_t)cells);
            a.ttype = two;
            a.tcount = 1;
            job_check(rma_op_begin(w, &a, NULL) == MPI_SUCCESS);
        }
        job_check(!rma_target_find(w, 1) && cls(rma_flush(w, 2)) == MPI_ERR_RMA_RANGE);
        do
            job_check(rma_flush(w, 2) == MPI_SUCCESS);
        while (w->table.ntargets || w->acks);
        rma_check_invariants(w);
        job_check(!rma_near_flush(&w->near, 1) && cls(rma_flush(w, 1)) == MPI_ERR_RMA_RANGE);
        job_check(!w->err && atomic_load(&w->near.passive) == 1);
        job_check(rma_unlock_all(w) == MPI_SUCCESS);
        dt_drop(two);
    }
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

static const char *const one_each[] = {"MPIR_CVAR_NOLOCAL=1",
                                       "MPIR_CVAR_CH3_RMA_TARGET_WIN_POOL_SIZE=1",
                                       "MPIR_CVAR_CH3_RMA_TARGET_GLOBAL_POOL_SIZE=0",
                                       "MPIR_CVAR_CH3_RMA_OP_WIN_POOL_SIZE=1",
                                       "MPIR_CVAR_CH3_RMA_OP_GLOBAL_POOL_SIZE=0",
                                       NULL};

START_TEST(one_of_each)
{
    ck_assert_int_eq(world_run(3, one_each, starved), 0);
}
END_TEST

START_TEST(one_for_three_locks)
{
    ck_assert_int_eq(world_run(3, one_each, locks), 0);
}
END_TEST

START_TEST(errors_of_one)
{
    ck_assert_int_eq(world_run(4, one_each, errors), 0);
    ck_assert_int_eq(world_run(3, one_each + 1, near_errors), 0);
}
END_TEST

START_TEST(waits_for_ack)
{
    in_sight = mmap(NULL, 4 * 512, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(in_sight != MAP_FAILED);
    ck_assert_int_eq(world_run(4, one_each, waits), 0);
    munmap(in_sight, 4 * 512);
}
END_TEST

Suite *suite_evict(void)
{
    Suite *s = suite_create("rma/restore");
    TCase *t = tcase_create("restore");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, one_of_each);
    tcase_add_test(t, one_for_three_locks);
    tcase_add_test(t, errors_of_one);
    tcase_add_test(t, waits_for_ack);
    suite_add_tcase(s, t);
    return s;
}
