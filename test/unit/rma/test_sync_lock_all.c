/* test_sync_lock_all.c - rma/sync/lock_all.c: retries, lazy locks, window protocol, granted
 * before locks. */
#include "unit.h"

#include "unit_rma.h"
#include "world.h"

static int cls(int err)
{
    return err ? err_class(err) : 0;
}

static unsigned far_holders(const struct rma_win *w)
{
    return (unsigned)w->target.lockq.holders.count + w->target.lockq.anonymous;
}

/* E6: one's own lock at the call, others with the first operation. */
static void per_target(void)
{
    struct rma_win *w = world_window(4);
    long v = 3;
    job_check(cls(rma_unlock_all(w)) == MPI_ERR_RMA_SYNC &&
              cls(rma_lock_all(w, MPI_MODE_NOPUT)) == MPI_ERR_ASSERT);
    if (boot_rank() == 0) {
        job_check(rma_lock_all(w, 0) == MPI_SUCCESS && w->state == WIN_LOCK_ALL_CALLED &&
                  w->table.ntargets == 0);
        for (unsigned i = 0; i < w->nears; i++)
            job_check(shmlock_held(w->near.near[i].lockword, &w->node.n) ==
                      (i == w->node.n.me ? SHMLOCK_SHARED : 0));
        job_check(w->passive.lazies == w->nears - 1 && world_pvar(w, PVAR_RMA_MSGS) == 0);
        job_check(cls(rma_lock_all(w, 0)) == MPI_ERR_RMA_SYNC &&
                  cls(rma_lock(w, MPI_LOCK_SHARED, 0, 0)) == MPI_ERR_RMA_SYNC);
        job_check(world_op(w, RMA_PUT, 1, &v, NULL, 1, 0) == MPI_SUCCESS);
        const struct rma_near *n = rma_near_of(w, 1);
        job_check(!n || (!n->lazy && shmlock_held(n->lockword, &w->node.n) == SHMLOCK_SHARED));
        job_check(w->passive.lazies == w->nears - (n ? 2u : 1u));
        struct rma_target *t = rma_target_find(w, 1);
        job_check(rma_near_of(w, 1)
                      ? !t
                      : t && t->state == TARGET_LOCK_CALLED && (t->flags & TARGET_JOIN));
        job_check(!t || list_empty(&t->called)); /* R6: only those of MPI_Win_lock */
        rma_check_invariants(w);
        job_check(rma_unlock_all(w) == MPI_SUCCESS && w->state == WIN_UNSET &&
                  w->table.ntargets == 0);
        for (unsigned i = 0; i < w->nears; i++)
            job_check(shmlock_held(w->near.near[i].lockword, &w->node.n) == 0 &&
                      !w->near.near[i].lazy);
        job_check(!w->passive.lazies && !rma_self()->lazy_alls);
        /* NOCHECK locks no target, near or far */
        job_check(rma_lock_all(w, MPI_MODE_NOCHECK) == MPI_SUCCESS &&
                  w->state == WIN_LOCK_ALL_GRANTED);
        job_check(shmlock_held(w->near.near[0].lockword, &w->node.n) == 0);
        job_check(world_op(w, RMA_PUT, 1, &v, NULL, 1, 1) == MPI_SUCCESS &&
                  rma_unlock_all(w) == MPI_SUCCESS);
    }
    world_barrier();
    job_check(boot_rank() != 1 || (world_memory(w)[0] == 3 && world_memory(w)[1] == 3));
    job_check(far_holders(w) == 0 && rma_win_free(w) == MPI_SUCCESS);
}

/* E7, E8: one element for three far targets: the switch locks every rank, one message at a time. */
static void switches(void)
{
    struct rma_win *w = world_window(4);
    long v = boot_rank() + 1;
    int size = boot_size();
    job_check(rma_lock_all(w, 0) == MPI_SUCCESS);
    for (int i = 0; i < 3; i++)
        for (int r = 0; r < size; r++) {
            job_check(world_op(w, RMA_ACC, r, &v, NULL, 1, 0) == MPI_SUCCESS);
            job_check(w->table.ntargets <= 1); /* R2 */
            rma_check_invariants(w);
        }
    job_check(w->state == WIN_LOCK_ALL_GRANTED && world_pvar(w, PVAR_RMA_SWITCHES) == 1 &&
              !w->passive.sw);
    job_check(world_pvar(w, PVAR_RMA_EVICTIONS) > 0);
    world_barrier(); /* all have switched, none has unlocked */
    job_check(far_holders(w) == (unsigned)size - 1);
    world_barrier();
    job_check(rma_unlock_all(w) == MPI_SUCCESS && w->state == WIN_UNSET && w->acks == 0); /* R7 */
    world_barrier();
    job_check(far_holders(w) == 0 && world_memory(w)[0] == 3L * size * (size + 1) / 2);
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* rma.md 5.2: LOCK_ALL is as lazy as LOCK: before a further lock, on another window, it is granted
 * everywhere. */
static void then_lock(void)
{
    for (int all = 0; all < 2; all++) {
        struct rma_win *w = world_window(4), *v = world_window(4);
        int size = boot_size();
        if (boot_rank() == 0) {
            job_check(rma_lock_all(w, 0) == MPI_SUCCESS && w->state == WIN_LOCK_ALL_CALLED);
            job_check(world_pvar(w, PVAR_RMA_MSGS) == 0);
            job_check((all ? rma_lock_all(v, 0) : rma_lock(v, MPI_LOCK_EXCLUSIVE, 1, 0)) ==
                      MPI_SUCCESS);
            job_check(w->state == WIN_LOCK_ALL_GRANTED &&
                      world_pvar(w, PVAR_RMA_MSGS) == (uint64_t)size - 1);
            job_check(world_pvar(v, PVAR_RMA_MSGS) == 0); /* lazy in its turn */
        }
        world_barrier();
        job_check(far_holders(w) == (boot_rank() != 0) && far_holders(v) == 0);
        world_barrier();
        if (boot_rank() == 0) {
            job_check((all ? rma_unlock_all(v) : rma_unlock(v, 1)) == MPI_SUCCESS &&
                      rma_unlock_all(w) == MPI_SUCCESS);
            /* with one of the two closed there is nothing to be granted */
            uint64_t sent = world_pvar(w, PVAR_RMA_MSGS);
            job_check(rma_lock_all(w, 0) == MPI_SUCCESS && rma_unlock_all(w) == MPI_SUCCESS);
            job_check(rma_lock(v, MPI_LOCK_SHARED, 1, 0) == MPI_SUCCESS &&
                      rma_unlock(v, 1) == MPI_SUCCESS);
            job_check(world_pvar(w, PVAR_RMA_MSGS) == sent);
        }
        world_barrier();
        job_check(far_holders(w) == 0 && rma_win_free(v) == MPI_SUCCESS &&
                  rma_win_free(w) == MPI_SUCCESS);
    }
}

START_TEST(granted_before_locks)
{
    ck_assert_int_eq(world_run(3, world_far, then_lock), 0);
}
END_TEST

START_TEST(retries)
{
    uint64_t ns = 0, before;
    for (int i = 0; i < 100; i++) {
        before = ns;
        ns = rma_retry_after(ns);
        ck_assert_uint_ge(ns, before);
        ck_assert_uint_gt(ns, 0);
    }
    ck_assert_uint_eq(ns, rma_retry_after(ns)); /* bounded */
    ck_assert_uint_lt(ns, 100000000);
}
END_TEST

static const char *const *const nodes[] = {NULL, world_far};

START_TEST(lazy_locks)
{
    ck_assert_int_eq(world_run(2, nodes[_i], per_target), 0);
}
END_TEST

static const char *const one_element[] = {
    "MPIR_CVAR_NOLOCAL=1", "MPIR_CVAR_CH3_RMA_TARGET_WIN_POOL_SIZE=1",
    "MPIR_CVAR_CH3_RMA_TARGET_GLOBAL_POOL_SIZE=0", "MPIR_CVAR_RMA_LOCK_ALL_OUTSTANDING=1", NULL};

START_TEST(window_protocol)
{
    ck_assert_int_eq(world_run(4, one_element, switches), 0);
}
END_TEST

Suite *suite_lockall(void)
{
    Suite *s = suite_create("rma/lockall");
    TCase *t = tcase_create("lockall");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, retries);
    tcase_add_loop_test(t, lazy_locks, 0, 2);
    tcase_add_test(t, window_protocol);
    tcase_add_test(t, granted_before_locks);
    suite_add_tcase(s, t);
    return s;
}
