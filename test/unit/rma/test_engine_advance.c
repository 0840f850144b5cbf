/* test_engine_advance.c - rma/engine/advance.c: only with work, the dead. */
#include "unit.h"

#include "unit_rma.h"
#include "world.h"

/* The hook is there while there is work, and no longer. */
static void hook(void)
{
    struct rma_win *w = world_window(2);
    struct rma *r = rma_self();
    long v = 4;
    world_poll(2);
    job_check(list_empty(&r->active));
    if (boot_rank() == 0) {
        job_check(rma_lock(w, MPI_LOCK_SHARED, 1, 0) == MPI_SUCCESS && list_empty(&r->active));
        job_check(world_op(w, RMA_PUT, 1, &v, NULL, 1, 0) == MPI_SUCCESS);
        struct rma_target *t = rma_target_find(w, 1);
        /* R4: held back so that the unlock is piggybacked */
        job_check(!rma_target_due(t) && list_empty(&t->ready));
        t->flags |= TARGET_DRAIN;
        job_check(rma_target_due(t));
        rma_ready(t);
        rma_ready(t); /* twice is once */
        job_check(w->table.ready.next == &t->ready && t->ready.next == &w->table.ready &&
                  r->active.next == &w->active);
        rma_advance_target(t);
        job_check(list_empty(&t->ready) && t->queued == 0 && t->state == TARGET_LOCK_ISSUED);
        rma_drain_all(w);
        job_check(list_empty(&t->ready)); /* R4: nothing may be sent before the grant */
        rma_check_invariants(w);
        job_check(rma_unlock(w, 1) == MPI_SUCCESS);
        rma_win_active(w);
        rma_win_active(w);
        world_poll(2);
        job_check(list_empty(&r->active)); /* nothing to do: it goes */
    }
    world_barrier();
    job_check(boot_rank() == 0 || world_memory(w)[0] == 4);
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* What waits for the dead ends with an error; what is done stays done. */
static void failed_target(void)
{
    struct rma_win *w = world_window(2);
    if (boot_rank() == 0) {
        long v = 4, r;
        struct rma_resp x;
        job_check(rma_lock(w, MPI_LOCK_SHARED, 1, 0) == MPI_SUCCESS);
        job_check(world_op(w, RMA_PUT, 1, &v, NULL, 1, 0) == MPI_SUCCESS);
        struct rma_args a = world_args(RMA_GET, 1, NULL, &r, 1, 0);
        MPI_Request req;
        job_check(rma_op_begin(w, &a, &req) == MPI_SUCCESS);
        struct rma_target *t = rma_target_find(w, 1);
        struct request *q = obj_find(OBJ_REQUEST, req);
        rma_resp_open(w, &x, 1);
        x.pending = 1;
        rma_target_sync(t, RMA_F_DONE, x.token);
        rma_target_peer_failed(t);
        /* R6 */
        job_check((t->flags & TARGET_FAILED) && t->state == TARGET_LOCK_GRANTED &&
                  list_empty(&t->called));
        job_check(t->nops == 0 && t->queued == 0 && w->table.nops == 0 && t->next == &t->ops &&
                  list_empty(&t->ready));
        job_check(x.pending == 0 && x.err && q->done && q->error &&
                  err_class(q->error) == MPIX_ERR_PROC_FAILED);
        job_check(!rma_target_due(t) && rma_issue_target(t) == 0);
        rma_check_invariants(w);
        rma_resp_close(&x);
        job_check(request_finish(q, MPI_STATUS_IGNORE) != MPI_SUCCESS);
        job_check(world_op(w, RMA_PUT, 1, &v, NULL, 1, 0) != MPI_SUCCESS); /* no further one */
        job_check(rma_flush(w, 1) != MPI_SUCCESS);
        /* E1 */
        job_check(rma_unlock(w, 1) != MPI_SUCCESS && w->state == WIN_UNSET &&
                  w->table.ntargets == 0);
    }
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

START_TEST(only_with_work)
{
    ck_assert_int_eq(world_run(2, world_far, hook), 0);
}
END_TEST

START_TEST(the_dead)
{
    ck_assert_int_eq(world_run(2, world_far, failed_target), 0);
}
END_TEST

Suite *suite_advance(void)
{
    Suite *s = suite_create("rma/advance");
    TCase *t = tcase_create("advance");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, only_with_work);
    tcase_add_test(t, the_dead);
    suite_add_tcase(s, t);
    return s;
}
