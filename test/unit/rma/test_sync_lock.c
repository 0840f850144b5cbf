/* test_sync_lock.c - rma/sync/lock.c: arguments, sends nothing, unknown to the target, excludes. */
#include "unit.h"

#include "unit_rma.h"
#include "world.h"

static int cls(int err)
{
    return err ? err_class(err) : 0;
}

static void checks(void)
{
    struct rma_win *w = world_window(2);
    job_check(cls(rma_lock(w, 77, 0, 0)) == MPI_ERR_LOCKTYPE);
    job_check(cls(rma_lock(w, MPI_LOCK_SHARED, 0, MPI_MODE_NOPUT)) == MPI_ERR_ASSERT);
    job_check(cls(rma_lock(w, MPI_LOCK_SHARED, 2, 0)) == MPI_ERR_RANK);
    job_check(cls(rma_lock(w, MPI_LOCK_SHARED, -9, 0)) == MPI_ERR_RANK);
    job_check(rma_lock(w, MPI_LOCK_SHARED, MPI_PROC_NULL, 0) == MPI_SUCCESS &&
              w->state == WIN_UNSET);
    job_check(cls(rma_unlock(w, 0)) == MPI_ERR_RMA_SYNC && cls(rma_unlock(w, 2)) == MPI_ERR_RANK);
    /* another thread waits for this very lock: a second place in the queue would be one too many */
    struct rma_near *me = rma_near_of(w, boot_rank());
    me->asked = 1;
    job_check(cls(rma_lock(w, MPI_LOCK_SHARED, boot_rank(), 0)) == MPI_ERR_RMA_SYNC &&
              w->state == WIN_UNSET);
    me->asked = 0;
    /* locked and exposed by one and the same process: a conflict that shows here */
    struct group *all = group_make(proc->obj->world->map, boot_rank());
    job_check(rma_lock(w, MPI_LOCK_SHARED, boot_rank(), 0) == MPI_SUCCESS);
    job_check(cls(rma_post(w, all, 0)) == MPI_ERR_RMA_CONFLICT && w->expo == EXPO_NONE);
    job_check(rma_unlock(w, boot_rank()) == MPI_SUCCESS &&
              rma_lock_all(w, MPI_MODE_NOCHECK) == MPI_SUCCESS);
    job_check(cls(rma_post(w, all, 0)) == MPI_ERR_RMA_CONFLICT && rma_unlock_all(w) == MPI_SUCCESS);
    world_barrier();
    job_check(rma_post(w, all, 0) == MPI_SUCCESS);
    job_check(cls(rma_lock(w, MPI_LOCK_SHARED, boot_rank(), 0)) == MPI_ERR_RMA_CONFLICT &&
              w->state == WIN_UNSET);
    job_check(cls(rma_lock_all(w, 0)) == MPI_ERR_RMA_CONFLICT && w->state == WIN_UNSET);
    job_check(rma_start(w, all, 0) == MPI_SUCCESS && rma_complete(w) == MPI_SUCCESS &&
              rma_wait(w) == MPI_SUCCESS);
    group_drop(all);
    world_barrier();
    if (boot_rank() == 0)
        for (int rank = 0; rank < 2; rank++) {
            job_check(rma_lock(w, MPI_LOCK_EXCLUSIVE, rank, 0) == MPI_SUCCESS);
            job_check(w->state == WIN_PER_TARGET && w->passive.locks == 1); /* E9 */
            job_check(cls(rma_lock(w, MPI_LOCK_SHARED, rank, 0)) == MPI_ERR_RMA_SYNC);
            job_check(cls(rma_unlock(w, !rank)) == MPI_ERR_RMA_SYNC && w->passive.locks == 1);
            job_check(cls(rma_lock_all(w, 0)) == MPI_ERR_RMA_SYNC &&
                      cls(rma_fence(w, 0)) == MPI_ERR_RMA_SYNC);
            job_check(cls(rma_win_free(w)) == MPI_ERR_RMA_SYNC);
            rma_check_invariants(w);
            job_check(rma_unlock(w, rank) == MPI_SUCCESS && w->state == WIN_UNSET &&
                      w->passive.locks == 0);
        }
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* R6, E10 and rma.md 5.2: a lock sends nothing while it is the only one; the next gets it granted
 * first. */
static void lazy(void)
{
    struct rma_win *w = world_window(2), *v = world_window(2);
    struct rma *r = rma_self();
    if (boot_rank() == 0) {
        job_check(rma_lock(w, MPI_LOCK_EXCLUSIVE, 1, 0) == MPI_SUCCESS);
        struct rma_target *a = rma_target_find(w, 1);
        job_check(a->state == TARGET_LOCK_CALLED && world_pvar(w, PVAR_RMA_MSGS) == 0 &&
                  r->called.next == &a->called);
        job_check(rma_lock(v, MPI_LOCK_SHARED, 2, 0) == MPI_SUCCESS);
        struct rma_target *b = rma_target_find(v, 2);
        job_check(a->state == TARGET_LOCK_GRANTED && list_empty(&a->called) &&
                  r->called.next == &b->called);
        job_check(world_pvar(w, PVAR_RMA_MSGS) == 1 && world_pvar(v, PVAR_RMA_MSGS) == 0);
        /* the next one of the same window as well, a near one too */
        job_check(rma_lock(v, MPI_LOCK_SHARED, 0, 0) == MPI_SUCCESS && v->passive.locks == 2);
        job_check(b->state == TARGET_LOCK_GRANTED && list_empty(&r->called));
        rma_check_invariants(w);
        rma_check_invariants(v);
        job_check(rma_unlock(v, 2) == MPI_SUCCESS && v->state == WIN_PER_TARGET);
        job_check(rma_unlock(v, 0) == MPI_SUCCESS && v->state == WIN_UNSET &&
                  rma_unlock(w, 1) == MPI_SUCCESS);
        uint64_t before = world_pvar(w, PVAR_RMA_MSGS);
        job_check(rma_lock(w, MPI_LOCK_SHARED, 1, 0) == MPI_SUCCESS &&
                  rma_unlock(w, 1) == MPI_SUCCESS);
        job_check(world_pvar(w, PVAR_RMA_MSGS) == before); /* nothing was done under it */
        /* NOCHECK: the target never learns of it */
        job_check(rma_lock(w, MPI_LOCK_EXCLUSIVE, 2, MPI_MODE_NOCHECK) == MPI_SUCCESS);
        struct rma_target *c = rma_target_find(w, 2);
        job_check(c->state == TARGET_LOCK_GRANTED && list_empty(&r->called));
        job_check(rma_unlock(w, 2) == MPI_SUCCESS);
    }
    world_barrier();
    job_check(w->target.lockq.holders.count == 0 && w->target.lockq.count == 0 &&
              v->target.lockq.holders.count == 0);
    job_check(rma_win_free(w) == MPI_SUCCESS && rma_win_free(v) == MPI_SUCCESS);
}

/* Near words are taken at the call, near and far sides shut each other out: read, add, write back
 * under the lock. */
static void counted(void)
{
    struct rma_win *w = world_window(1);
    long v, one;
    for (int i = 0; i < 50; i++) {
        job_check(rma_lock(w, MPI_LOCK_EXCLUSIVE, 0, 0) == MPI_SUCCESS);
        struct rma_near *n = rma_near_of(w, 0);
        job_check(!n || shmlock_held(n->lockword, &w->node.n) == SHMLOCK_EXCLUSIVE);
        job_check(world_op(w, RMA_GET, 0, NULL, &v, 1, 0) == MPI_SUCCESS &&
                  rma_flush(w, 0) == MPI_SUCCESS);
        one = v + 1;
        job_check(world_op(w, RMA_PUT, 0, &one, NULL, 1, 0) == MPI_SUCCESS &&
                  rma_unlock(w, 0) == MPI_SUCCESS);
        job_check(!n || shmlock_held(n->lockword, &w->node.n) == 0);
    }
    world_barrier();
    job_check(boot_rank() != 0 || world_memory(w)[0] == 50L * boot_size());
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* The target knows nothing of the lock (any more): an error at the unlock, and the epoch is over
 * all the same. */
static void forgotten(void)
{
    struct rma_win *w = world_window(1);
    uint32_t clock;
    long v = 3;
    if (boot_rank() == 0) {
        job_check(rma_lock(w, MPI_LOCK_SHARED, 1, 0) == MPI_SUCCESS);
        job_check(world_op(w, RMA_PUT, 1, &v, NULL, 1, 0) == MPI_SUCCESS &&
                  rma_flush(w, 1) == MPI_SUCCESS);
    }
    world_barrier();
    if (boot_rank() == 1)
        job_check(rma_lockq_release(w, 0, &clock) == 0 &&
                  rma_lockq_release(w, 0, &clock) == MPI_ERR_RMA_SYNC);
    world_barrier();
    if (boot_rank() == 0) {
        job_check(cls(rma_unlock(w, 1)) == MPI_ERR_RMA_SYNC && w->state == WIN_UNSET &&
                  w->passive.locks == 0);
        job_check(rma_lock(w, MPI_LOCK_EXCLUSIVE, 1, 0) == MPI_SUCCESS);
        job_check(world_op(w, RMA_PUT, 1, &v, NULL, 1, 0) == MPI_SUCCESS &&
                  rma_unlock(w, 1) == MPI_SUCCESS);
    }
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

static const char *const *const nodes[] = {NULL, world_far};

START_TEST(arguments)
{
    ck_assert_int_eq(world_run(2, nodes[_i], checks), 0);
}
END_TEST

START_TEST(excludes)
{
    ck_assert_int_eq(world_run(3, nodes[_i], counted), 0);
}
END_TEST

START_TEST(unknown_to_the_target)
{
    ck_assert_int_eq(world_run(2, world_far, forgotten), 0);
}
END_TEST

START_TEST(sends_nothing)
{
    ck_assert_int_eq(world_run(3, world_far, lazy), 0);
}
END_TEST

Suite *suite_lock(void)
{
    Suite *s = suite_create("rma/lock");
    TCase *t = tcase_create("lock");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, arguments, 0, 2);
    tcase_add_test(t, sends_nothing);
    tcase_add_test(t, unknown_to_the_target);
    tcase_add_loop_test(t, excludes, 0, 2);
    suite_add_tcase(s, t);
    return s;
}
