/* test_sync_fence.c - rma/sync/fence.c: opens without waiting, constant number. */
#include "unit.h"

#include "unit_rma.h"
#include "world.h"

static int cls(int err)
{
    return err ? err_class(err) : 0;
}

/* E2: the opening fence returns with its barrier out; operations queue, near ones too.  E3: then
 * all are in. */
static void opening(void)
{
    struct rma_win *w = world_window(2);
    long v = 5;
    if (boot_rank() == 0) {
        job_check(rma_fence(w, MPI_MODE_NOPRECEDE) == MPI_SUCCESS && w->state == WIN_FENCE_ISSUED &&
                  w->fence.barriers == 1);
        job_check(world_op(w, RMA_PUT, 1, &v, NULL, 1, 0) == MPI_SUCCESS && w->table.nops == 1);
        world_poll(3);
        rma_check_invariants(w);
        job_check(w->state == WIN_FENCE_ISSUED && w->table.nops == 1 &&
                  world_pvar(w, PVAR_RMA_AM) == 0);
        job_check(cls(rma_win_free(w)) == MPI_ERR_RMA_SYNC); /* operations wait */
        job_check(cls(rma_lock(w, MPI_LOCK_SHARED, 1, 0)) == MPI_ERR_RMA_SYNC);
        __atomic_store_n(&job_words()[0], 1, __ATOMIC_RELEASE);
    } else {
        while (!__atomic_load_n(&job_words()[0], __ATOMIC_ACQUIRE))
            world_poll(1);
        job_check(world_memory(w)[0] == 0);
        job_check(rma_fence(w, MPI_MODE_NOPRECEDE) == MPI_SUCCESS);
    }
    job_check(rma_fence(w, MPI_MODE_NOSUCCEED) == MPI_SUCCESS);
    rma_check_invariants(w);
    /* E1, R7 */
    job_check(w->state == WIN_UNSET && !w->fence.barriers && !w->table.ntargets && !w->table.nops &&
              w->acks == 0);
    job_check(boot_rank() == 0 || world_memory(w)[0] == 5);
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* However many opening fences follow each other: two barriers at most are out. */
static void repeated(void)
{
    struct rma_win *w = world_window(2);
    for (int i = 0; i < 20; i++) {
        job_check(rma_fence(w, MPI_MODE_NOPRECEDE) == MPI_SUCCESS && w->fence.barriers <= 2);
        rma_check_invariants(w);
    }
    job_check(rma_fence(w, 0) == MPI_SUCCESS && w->state == WIN_FENCE_GRANTED &&
              w->fence.barriers == 0);
    /* no operation since: another kind of epoch may follow */
    job_check(rma_lock_all(w, 0) == MPI_SUCCESS && cls(rma_fence(w, 0)) == MPI_ERR_RMA_SYNC);
    job_check(rma_unlock_all(w) == MPI_SUCCESS);
    job_check(cls(rma_fence(w, 1 << 20)) == MPI_ERR_ASSERT &&
              cls(rma_fence(w, MPI_MODE_NOCHECK)) == MPI_ERR_ASSERT);
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

static const char *const *const nodes[] = {NULL, world_far};

START_TEST(opens_without_waiting)
{
    ck_assert_int_eq(world_run(2, nodes[_i], opening), 0);
}
END_TEST

START_TEST(constant_number)
{
    ck_assert_int_eq(world_run(2, nodes[_i], repeated), 0);
}
END_TEST

Suite *suite_fence(void)
{
    Suite *s = suite_create("rma/fence");
    TCase *t = tcase_create("fence");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, opens_without_waiting, 0, 2);
    tcase_add_loop_test(t, constant_number, 0, 2);
    suite_add_tcase(s, t);
    return s;
}
