/* test_core_slot.c - rma/core/slot.c: ranks to elements, not freed in use. */
#include "unit.h"

#include "unit_rma.h"
#include "world.h"

static unsigned used_slots(const struct rma_win *w)
{
    unsigned n = 0;
    for (const struct list *l = w->table.used.next; l != &w->table.used; l = l->next) {
        job_check(!list_empty(&LIST_OBJ(l, struct rma_slot, used)->targets)); /* R3 */
        n++;
    }
    return n;
}

static void life(void)
{
    enum { RANKS = 1000, SLOTS = 16, TARGETS = 50 };
    bare_room(0, 0);
    cvar.rma_slots = SLOTS;
    struct rma_win *w = bare_window(RANKS, 1, TARGETS);
    job_check(w->table.nslots == SLOTS && rma_target_next(w, NULL) == NULL);
    static char seen[RANKS];
    for (int i = 0; i < TARGETS; i++) {
        struct rma_target *t = rma_target_add(w, i * 13);
        job_check(t && t->rank == i * 13 && t->world == i * 13 && t->w == w &&
                  !(t->flags & TARGET_NEAR));
        rma_target_born(t, TARGET_LOCK_GRANTED);
    }
    w->state = WIN_FENCE_GRANTED;
    rma_check_invariants(w); /* R1 to R3 */
    job_check(!rma_target_add(w, RANKS - 1)); /* the pool is dry, and nothing else changed */
    job_check(w->table.ntargets == TARGETS && used_slots(w) == SLOTS &&
              !atomic_load(&w->near.passive));
    job_check(rma_target_find(w, 13) && !rma_target_find(w, 14) && !rma_target_find(w, 13 + SLOTS));
    int n = 0;
    for (struct rma_target *t = rma_target_next(w, NULL); t; t = rma_target_next(w, t), n++)
        job_check(!seen[t->rank]++);
    job_check(n == TARGETS);
    for (int i = 0; i < TARGETS; i++) /* one slot after the other runs empty */
        if (i % 5)
            rma_target_del(w, rma_target_find(w, i * 13));
    rma_check_invariants(w);
    job_check(w->table.ntargets == TARGETS / 5);
    rma_targets_drop(w);
    job_check(w->table.ntargets == 0 && used_slots(w) == 0 &&
              w->table.target_quota.free == TARGETS);
    rma_slots_free(w);
    cvar.rma_slots = 256; /* never more slots than ranks */
    job_check(bare_window(3, 1, 1)->table.nslots == 3);
}

static void del(void *arg)
{
    struct rma_target *t = arg;
    rma_target_del(t->w, t);
}

static void kept(void)
{
    bare_room(0, 0);
    struct rma_win *w = bare_window(4, 1, 2);
    struct rma_target *t = rma_target_add(w, 2);
    t->pins = 1; /* R5: a thread waits on it */
    job_check(world_dies(del, t));
    t->pins = 0;
    struct rma_op op;
    list_push(&t->ops, &op.link); /* R1: its operations would hang in the air */
    job_check(world_dies(del, t));
    list_del(&op.link);
    t->err = 77; /* an error outlives the element */
    rma_target_del(w, t);
    job_check(w->err == 77);
}

START_TEST(ranks_to_elements)
{
    ck_assert_int_eq(job_run(1, NULL, life, 30), 0);
}
END_TEST

START_TEST(not_freed_in_use)
{
    ck_assert_int_eq(job_run(1, NULL, kept, 30), 0);
}
END_TEST

Suite *suite_slot(void)
{
    Suite *s = suite_create("rma/slot");
    TCase *t = tcase_create("slot");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, ranks_to_elements);
    tcase_add_test(t, not_freed_in_use);
    suite_add_tcase(s, t);
    return s;
}
