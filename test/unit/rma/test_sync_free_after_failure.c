/* test_sync_free_after_failure.c - rma/sync/free_after_failure.c: what is answered, the living come
 * first. */
#include "unit.h"

#include <unistd.h>

#include "unit_rma.h"
#include "world.h"

enum { YES = 1, NO = 0, NOTHING = -1 };

/* What one question is answered by. */
static int asked(struct rma_hdr h, size_t len)
{
    caught.n = 0;
    job_check(rma_on_freeing_ask(0, &h, len) == 0);
    world_poll(2);
    job_check(caught.n <= 1);
    if (!caught.n)
        return NOTHING;
    job_check(caught.got[0].h.type == RMA_PKT_FREEING && caught.got[0].h.win == h.win);
    return (int)caught.got[0].h.count;
}

static void answers(void)
{
    struct rma_win *w = world_window(2);
    struct rma_hdr h = {.type = RMA_PKT_FREEING_ASK, .win = w->id, .src = (uint32_t)w->rank};
    world_catch();
    job_check(asked(h, sizeof h) == NO && asked(h, sizeof h - 1) == NOTHING);
    w->free.under_way = 1;
    job_check(asked(h, sizeof h) == YES);
    w->free.under_way = 0;
    rma_self()->ending = 1;
    job_check(asked(h, sizeof h) == YES);
    rma_self()->ending = 0;
    struct rma_hdr other = h;
    other.win += 1000; /* there is none: it was left */
    job_check(asked(other, sizeof other) == YES);
    caught.n = 0;
    job_check(rma_on_freeing_late(0, &h, sizeof h) == 0);
    world_poll(2);
    job_check(caught.n == 1 && caught.got[0].h.count == YES);
    /* An answer counts only from a process that was asked. */
    struct rma_hdr r = {.type = RMA_PKT_FREEING, .win = w->id, .count = 1};
    w->free.peer = 0;
    job_check(rma_on_freeing(0, &r, sizeof r) == 0 && !w->free.answered && !w->free.peer_freeing);
    w->free.under_way = 1;
    job_check(rma_on_freeing(7, &r, sizeof r) == 0 && rma_on_freeing(0, &r, sizeof r - 1) == 0 &&
              !w->free.answered);
    job_check(rma_on_freeing(0, &r, sizeof r) == 0 && w->free.answered && w->free.peer_freeing);
    w->free.under_way = 0;
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* Serves the others until n are here. */
static void all_are_at(int place, uint64_t n)
{
    __atomic_fetch_add(&job_words()[place], 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&job_words()[place], __ATOMIC_SEQ_CST) < n)
        world_poll(1);
}

/* One has failed; no survivor leaves before all have come. */
static void survivors(void)
{
    struct rma_win *w = world_window(2);
    all_are_at(0, 4);
    if (boot_rank() == 3)
        _exit(0);
    boot_fail_now(3, "for this test");
    world_poll(boot_rank() * 300);
    __atomic_fetch_add(&job_words()[1], 1, __ATOMIC_SEQ_CST);
    job_check(rma_win_free(w) == MPI_SUCCESS);
    job_check(__atomic_load_n(&job_words()[1], __ATOMIC_SEQ_CST) == 3);
    all_are_at(2, 3); /* the others may ask yet */
    _exit(0);
}

static const char *const *const nodes[] = {NULL, world_far};

START_TEST(what_is_said)
{
    ck_assert_int_eq(world_run(1, NULL, answers), 0);
}
END_TEST

START_TEST(the_living_come_first)
{
    ck_assert_int_eq(world_run(4, nodes[_i], survivors), 0);
}
END_TEST

Suite *suite_free_sync(void)
{
    Suite *s = suite_create("rma/leave");
    TCase *t = tcase_create("leave");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, what_is_said);
    tcase_add_loop_test(t, the_living_come_first, 0, 2);
    suite_add_tcase(s, t);
    return s;
}
