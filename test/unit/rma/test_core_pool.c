/* test_core_pool.c - rma/core/pool.c: shares, names. */
#include "unit.h"

#include "unit_rma.h"
#include "world.h"

/* R2: used elements never exceed the shares; freed ones go to their own window first. */
static void two_levels(void)
{
    struct rma *r = bare_room(2, 0);
    struct rma_win *a = bare_window(8, 3, 1), *b = bare_window(8, 1, 1);
    struct rma_op *op[8];
    for (int i = 0; i < 5; i++)
        job_check((op[i] = rma_op_alloc(a)) != NULL);
    job_check(rma_op_alloc(a) == NULL);       /* 3 of its own, 2 shared */
    job_check(a->table.op_quota.free == 0 && r->op_quota.free == 0);
    job_check((op[5] = rma_op_alloc(b)) != NULL); /* its own is left to it */
    job_check(rma_op_alloc(b) == NULL);
    rma_op_free(a, op[0]);
    job_check(a->table.op_quota.free == 1 && r->op_quota.free == 0);
    job_check(rma_op_alloc(b) == NULL);       /* a's own: not for b */
    for (int i = 1; i < 5; i++)
        rma_op_free(a, op[i]);
    job_check(a->table.op_quota.free == 3 && r->op_quota.free == 2);
    job_check((op[6] = rma_op_alloc(b)) != NULL); /* shared ones are */
    rma_op_free(b, op[5]);
    rma_op_free(b, op[6]);
    job_check(b->table.op_quota.free == 1 && r->op_quota.free == 2);
    job_check(world_pvar(a, PVAR_RMA_OPS_HIGH) == 5 && world_pvar(a, PVAR_RMA_OPS_USED) == 0);
    /* the smallest sizes that are legal: one of its own, none shared */
    struct rma_target *t = rma_target_alloc(a);
    job_check(t && !rma_target_alloc(a) && r->target_quota.free == 0);
    rma_target_free(a, t);
    job_check(a->table.target_quota.free == 1 && rma_target_alloc(a) == t);
    rma_pools_free(r);
}

/* More elements than one slab has; all different, all found by id. */
static void ids(void)
{
    enum { MANY = 3 * RMA_SLAB + 5 };
    static struct rma_op *op[MANY];
    static uint32_t id[MANY];
    struct rma *r = bare_room(0, 0);
    struct rma_win *w = bare_window(4, MANY, 1);
    struct rma_target t = {.w = w};
    job_check(rma_op_by_id(0) == NULL && rma_op_by_id(1) == NULL &&
              rma_op_by_id(UINT32_MAX) == NULL);
    for (int i = 0; i < MANY; i++) {
        op[i] = rma_op_alloc(w);
        job_check(op[i] != NULL && op[i]->id != 0);
        id[i] = op[i]->id;
        job_check(rma_op_by_id(id[i]) == NULL); /* not on a target yet */
        op[i]->t = &t;
    }
    job_check(rma_op_alloc(w) == NULL);
    for (int i = 0; i < MANY; i++)
        job_check(rma_op_by_id(id[i]) == op[i]);
    /* a generation: the element comes back under another name, and the old one names nothing */
    rma_op_free(w, op[7]);
    job_check(rma_op_by_id(id[7]) == NULL);
    struct rma_op *again = rma_op_alloc(w);
    again->t = &t;
    job_check(again == op[7] && again->id != id[7] && rma_op_by_id(id[7]) == NULL &&
              rma_op_by_id(again->id) == again);
    job_check(rma_op_by_id(4 * RMA_SLAB + 1) == NULL); /* beyond the slabs */
    /* generations wrap around without ever giving 0 */
    for (int i = 0; i < 5000; i++) {
        rma_op_free(w, again);
        again = rma_op_alloc(w);
        again->t = &t;
        job_check(again->id != 0 && rma_op_by_id(again->id) == again);
    }
    rma_pools_free(r);
}

START_TEST(shares)
{
    ck_assert_int_eq(job_run(1, NULL, two_levels, 30), 0);
}
END_TEST

START_TEST(names)
{
    ck_assert_int_eq(job_run(1, NULL, ids, 30), 0);
}
END_TEST

Suite *suite_pool(void)
{
    Suite *s = suite_create("rma/pool");
    TCase *t = tcase_create("pool");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, shares);
    tcase_add_test(t, names);
    suite_add_tcase(s, t);
    return s;
}
