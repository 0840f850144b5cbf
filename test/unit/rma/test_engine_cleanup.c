/* test_engine_cleanup.c - frees the done. */
#include "unit.h"

#include "unit_rma.h"
#include "world.h"

/* An operation as issue.c leaves it, on a target of this process. */
static struct rma_op *add(struct rma_win *w, struct rma_target *t, unsigned flags)
{
    struct rma_op *op = rma_op_alloc(w);
    job_check(op != NULL);
    op->t = t;
    op->flags = (uint8_t)flags;
    op->a.ttype = dt_find(MPI_LONG);
    op->bytes = op->sent = 8;
    list_push(&t->ops, &op->link);
    t->nops++;
    w->table.nops++;
    return op;
}

/* R1: only what has left is looked at, only what is done is freed, in whatever order answers
 * come. */
static void some(void)
{
    struct rma_win *w = world_window(1);
    w->passive.nocheck_all = 1; /* no lock word is taken (E8) */
    rma_win_goto(w, WIN_LOCK_ALL_GRANTED);
    struct rma_target *t = rma_target_add(w, 0);
    rma_target_born(t, TARGET_LOCK_GRANTED);
    struct rma_op *a = add(w, t, OP_ANSWERS), *b = add(w, t, OP_ANSWERS | OP_DONE),
                  *c = add(w, t, OP_DONE), *d = add(w, t, 0);
    uint32_t id = b->id;
    d->sent = 0;
    t->next = &d->link;
    t->queued = 1;
    t->held = w->held = progress_polls() + 1; /* R15 */
    rma_win_active(w);
    rma_check_invariants(w);
    job_check(rma_cleanup_target(t) == 2 && t->nops == 2 && w->table.nops == 2);
    job_check(t->ops.next == &a->link && t->next == &d->link && !rma_op_by_id(id) &&
              rma_op_by_id(a->id) == a);
    rma_check_invariants(w);
    job_check(rma_cleanup_target(t) == 0 && rma_cleanup_win(w) == 0);
    d->flags |= OP_DONE; /* has not left: not touched */
    job_check(rma_cleanup_target(t) == 0);
    d->sent = 8;
    t->next = &t->ops;
    t->queued = 0;
    t->held = 0;
    a->flags |= OP_DONE;
    a->err = 33; /* the first error stays with the target until a call synchronizes */
    rma_win_active(w);
    job_check(rma_cleanup_win(w) == 2 && t->nops == 0 && w->table.nops == 0 && t->err == 33);
    /* R2 */
    job_check(world_pvar(w, PVAR_RMA_OPS_USED) == 0 &&
              w->table.op_quota.free == w->table.op_quota.size);
    (void)c;
    /* the network has seen first that the target failed: all that wait for it are told */
    struct rma_resp r[3];
    for (int i = 0; i < 3; i++)
        rma_resp_open(w, &r[i], i - 1);
    a = add(w, t, OP_DONE);
    a->err = err_make(MPIX_ERR_PROC_FAILED, "died");
    int err = a->err;
    job_check(rma_cleanup_target(t) == 1 && r[0].err == err && r[1].err == err && !r[2].err);
    for (int i = 0; i < 3; i++)
        rma_resp_close(&r[i]);
    rma_targets_drop(w);
    job_check(rma_take_err(&w->err) == 33);
    rma_win_goto(w, WIN_UNSET);
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

START_TEST(frees_the_done)
{
    ck_assert_int_eq(world_run(1, NULL, some), 0);
}
END_TEST

Suite *suite_cleanup(void)
{
    Suite *s = suite_create("rma/cleanup");
    TCase *t = tcase_create("cleanup");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, frees_the_done);
    suite_add_tcase(s, t);
    return s;
}
