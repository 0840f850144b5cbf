/* test_sync_flush.c - rma/sync/flush.c: all kinds, others get in, leaving, responses. */
#include "unit.h"

#include "unit_rma.h"
#include "world.h"

static int cls(int err)
{
    return err ? err_class(err) : 0;
}

static void flushes(void)
{
    struct rma_win *w = world_window(64);
    long v[2] = {1, 2}, r[2] = {0, 0};
    job_check(cls(rma_flush(w, 1)) == MPI_ERR_RMA_SYNC &&
              cls(rma_flush_all(w)) == MPI_ERR_RMA_SYNC);
    job_check(cls(rma_flush_local(w, 1)) == MPI_ERR_RMA_SYNC &&
              cls(rma_flush_local_all(w)) == MPI_ERR_RMA_SYNC);
    job_check(rma_sync(w) == MPI_SUCCESS && rma_flush(w, MPI_PROC_NULL) == MPI_SUCCESS);
    if (boot_rank() == 0) {
        job_check(rma_lock(w, MPI_LOCK_SHARED, 1, 0) == MPI_SUCCESS);
        job_check(cls(rma_flush(w, 0)) == MPI_ERR_RMA_SYNC && cls(rma_flush(w, 5)) == MPI_ERR_RANK);
        job_check(cls(rma_flush_local(w, -5)) == MPI_ERR_RANK);
        for (int kind = 0; kind < 4; kind++) {
            v[0]++;
            job_check(world_op(w, RMA_PUT, 1, v, NULL, 2, 2 * kind) == MPI_SUCCESS);
            job_check(world_op(w, RMA_GET, 1, NULL, r, 2, 2 * kind) == MPI_SUCCESS);
            int err = kind == 0   ? rma_flush(w, 1)
                      : kind == 1 ? rma_flush_all(w)
                      : kind == 2 ? rma_flush_local(w, 1)
                                  : rma_flush_local_all(w);
            job_check(err == MPI_SUCCESS && w->table.nops == 0 && r[0] == v[0] && r[1] == 2);
            rma_check_invariants(w);
            const struct rma_target *t = rma_target_find(w, 1);
            /* R5 */
            job_check(list_empty(&w->resps) && (!t || (!t->pins && !t->sync && !t->tokens_out)));
        }
        /* nothing new: nothing is sent */
        job_check(rma_flush(w, 1) == MPI_SUCCESS);
        uint64_t before = world_pvar(w, PVAR_RMA_MSGS);
        for (int i = 0; i < 5; i++)
            job_check(rma_flush(w, 1) == MPI_SUCCESS && rma_flush_all(w) == MPI_SUCCESS);
        job_check(world_pvar(w, PVAR_RMA_MSGS) == before);
        job_check(rma_unlock(w, 1) == MPI_SUCCESS);
    }
    world_barrier();
    if (boot_rank() == 1)
        for (int kind = 0; kind < 4; kind++)
            job_check(world_memory(w)[2 * kind] == kind + 2);
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

static int looked(void *arg)
{
    ++*(int *)arg;
    return 0;
}

/* Programs spin on flushes: with nothing to flush others get in as well. */
static void spinning(void)
{
    struct rma_win *w = world_window(8);
    int runs = 0;
    struct progress_hook hook = {.fn = looked, .arg = &runs};
    job_check(rma_lock_all(w, 0) == MPI_SUCCESS);
    progress_hook_add(&hook);
    for (int i = 0; i < 128; i++)
        job_check(rma_flush_all(w) == MPI_SUCCESS);
    job_check(runs > 0);
    runs = 0;
    for (int i = 0; i < 128; i++)
        job_check(rma_flush_local_all(w) == MPI_SUCCESS);
    job_check(runs > 0);
    /* the inline way ends now and then, whatever other synchronizations come between */
    for (int others = 0; rma_near_of(w, 1) && others < 3; others++) {
        int ends = 0;
        for (int i = 0; i < 1024; i++) {
            ends += !rma_near_flush(&w->near, 1);
            for (int k = 0; k < others; k++)
                job_check((k ? rma_flush_local_all(w) : rma_flush(w, 1)) == MPI_SUCCESS);
        }
        job_check(ends == 4);
    }
    progress_hook_del(&hook);
    job_check(rma_unlock_all(w) == MPI_SUCCESS);
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* An element that another thread is about to discard is asked nothing more: a thread that asks
 * without a pause would keep it for ever. */
static void of_the_leaving(void)
{
    struct rma_win *w = world_window(2);
    long v = 5;
    if (boot_rank() == 0) {
        job_check(rma_lock(w, MPI_LOCK_SHARED, 1, 0) == MPI_SUCCESS);
        job_check(world_op(w, RMA_PUT, 1, &v, NULL, 1, 0) == MPI_SUCCESS &&
                  rma_flush_local(w, 1) == MPI_SUCCESS);
        struct rma_target *t = rma_target_find(w, 1);
        uint64_t sent = world_pvar(w, PVAR_RMA_MSGS);
        job_check(t->flags & TARGET_DIRTY);
        t->closing = 1;
        job_check(rma_flush_all(w) == MPI_SUCCESS && world_pvar(w, PVAR_RMA_MSGS) == sent &&
                  !t->tokens_out && !t->sync);
        t->closing = 0;
        job_check(rma_flush_all(w) == MPI_SUCCESS && world_pvar(w, PVAR_RMA_MSGS) == sent + 1);
        job_check(rma_unlock(w, 1) == MPI_SUCCESS);
    }
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

static void helpers(void)
{
    struct rma_win *w = world_window(1);
    int slot = 17;
    job_check(rma_take_err(&slot) == 17 && slot == 0 && rma_take_err(&slot) == 0);
    job_check(err_class(rma_failed_error(w, 0)) == MPIX_ERR_PROC_FAILED &&
              rma_failed_error(w, -1) != 0);
    w->acks = 1; /* R7: token 0 is the window's counter */
    rma_token_done(w, 0, 0, 0);
    rma_token_done(w, 0, 0, 0);
    job_check(w->acks == 0);
    struct rma_resp r; /* an error is the first one */
    rma_resp_open(w, &r, -1);
    r.pending = 2;
    rma_token_done(w, 0, r.token, 5);
    rma_token_done(w, 0, r.token, 6);
    job_check(r.pending == 0 && r.err == 5);
    rma_resp_close(&r);
    job_check(list_empty(&w->resps) && rma_win_free(w) == MPI_SUCCESS);
}

/* A bundle of the rank has been dropped. */
static void leaves(struct rma_win *w, int rank, int err)
{
    rma_win_add_err(w, err);
    w->near.near[rank].err = err;
    w->delegate.errs++;
}

/* A flush of a window, or of its duplicate, takes what bundles of several targets have left: a
 * failure among it hides no other error, and is the next flush's. A local flush leaves it, and what
 * the window itself has to tell, for one that waits for targets. */
static void of_two_bundles(void)
{
    struct rma_win *w = world_window(1), *dup;
    if (boot_rank() == 0) {
        int left[] = {err_make(MPIX_ERR_PROC_FAILED, "died"), err_make(MPI_ERR_OTHER, "other")};
        job_check(rma_lock_all(w, 0) == MPI_SUCCESS && w->nears == 2);
        job_check(rma_win_idup(w, NULL, &dup) == MPI_SUCCESS);
        for (int k = 0; k < 4; k++) {
            struct rma_win *of = k & 1 ? w : dup;
            int local = k & 2;
            for (int i = 0; i < 2; i++)
                leaves(w, i, left[i]);
            job_check((local ? rma_flush_local_all(of) : rma_flush_all(of)) == left[1]);
            job_check(of == w ? w->err == left[0] : !w->err);
            job_check(!w->failure && !w->delegate.errs);
            for (int i = 0; local && i < 2; i++)
                job_check(rma_flush_local_all(of) == MPI_SUCCESS &&
                          rma_flush_local(of, i) == MPI_SUCCESS);
            job_check(rma_flush_all(of) == left[0] && rma_flush_all(of) == MPI_SUCCESS);
            rma_win_add_err(of, left[1]);
            job_check(rma_flush_local_all(of) == MPI_SUCCESS && rma_flush_all(of) == left[1]);
        }
        rma_target_err_stays(w, 1, left[1], 0); /* of a put by message */
        leaves(w, 0, left[0]);
        job_check(rma_flush_local_all(w) == left[0] && rma_flush(w, 1) == left[1] && !w->err);
        rma_win_add_err(dup, left[0]); /* the end of the epoch is a flush, too */
        job_check(rma_unlock_all(w) == left[0] && rma_dup_free(dup) == MPI_SUCCESS);
        for (int r = 0; r < 2; r++)
            job_check(rma_lock(w, MPI_LOCK_SHARED, r, 0) == MPI_SUCCESS);
        leaves(w, 0, left[0]);
        job_check(rma_unlock(w, 1) == MPI_SUCCESS && rma_unlock(w, 0) == left[0] && !w->err);
    }
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* A local flush waits for results, so it returns, once, that one has not come: also where the
 * answer came before it was called. A put was over when it had left: a flush tells of it. */
static void of_lost_results(void)
{
    enum { LONGS = 4, BEHIND = 10 };
    struct rma_win *w = world_window(LONGS), *dup;
    long v = 7, got = -1;
    if (boot_rank() == 0) {
        job_check(rma_lock_all(w, 0) == MPI_SUCCESS);
        job_check(rma_win_idup(w, NULL, &dup) == MPI_SUCCESS);
        for (int k = 0; k < 16; k++) {
            struct rma_win *of = k & 1 ? dup : w;
            enum rma_kind kind = k & 2 ? RMA_GACC : RMA_GET;
            int all = k & 4, came = k & 8;
            job_check(world_op(of, kind, 1, &v, &got, 1, BEHIND) == MPI_SUCCESS);
            if (came) {
                rma_drain_all(of);
                rma_advance_win(of);
            }
            while (came && of->table.nops)
                world_poll(1);
            job_check(cls(all ? rma_flush_local_all(of) : rma_flush_local(of, 1)) ==
                      MPI_ERR_RMA_RANGE);
            job_check(got == -1 && rma_flush_local_all(of) == MPI_SUCCESS &&
                      rma_flush(of, 1) == MPI_SUCCESS && rma_flush_all(of) == MPI_SUCCESS);
            job_check(world_op(of, RMA_PUT, 1, &v, NULL, 1, BEHIND) == MPI_SUCCESS);
            job_check((all ? rma_flush_local_all(of) : rma_flush_local(of, 1)) == MPI_SUCCESS);
            job_check(cls(rma_flush(of, 1)) == MPI_ERR_RMA_RANGE);
            /* what a flush has told is over */
            job_check(world_op(of, kind, 1, &v, &got, 1, BEHIND) == MPI_SUCCESS);
            job_check(cls(all ? rma_flush_all(of) : rma_flush(of, 1)) == MPI_ERR_RMA_RANGE);
            rma_target_find(of, 1)->err = err_make(MPI_ERR_OTHER, "of a put");
            job_check((all ? rma_flush_local_all(of) : rma_flush_local(of, 1)) == MPI_SUCCESS);
            job_check(cls(rma_flush(of, 1)) == MPI_ERR_OTHER);
        }
        job_check(rma_unlock_all(w) == MPI_SUCCESS && rma_dup_free(dup) == MPI_SUCCESS);
    }
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

static const char *const *const nodes[] = {NULL, world_far};

START_TEST(all_kinds)
{
    ck_assert_int_eq(world_run(2, nodes[_i], flushes), 0);
}
END_TEST

START_TEST(others_get_in)
{
    ck_assert_int_eq(world_run(2, nodes[_i], spinning), 0);
}
END_TEST

START_TEST(leaving)
{
    ck_assert_int_eq(world_run(2, world_far, of_the_leaving), 0);
}
END_TEST

START_TEST(responses)
{
    ck_assert_int_eq(world_run(1, NULL, helpers), 0);
    ck_assert_int_eq(world_run(2, NULL, of_two_bundles), 0);
    ck_assert_int_eq(world_run(2, world_far, of_lost_results), 0);
}
END_TEST

Suite *suite_flush(void)
{
    Suite *s = suite_create("rma/flush");
    TCase *t = tcase_create("flush");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, all_kinds, 0, 2);
    tcase_add_loop_test(t, others_get_in, 0, 2);
    tcase_add_test(t, leaving);
    tcase_add_test(t, responses);
    suite_add_tcase(s, t);
    return s;
}
