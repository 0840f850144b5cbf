/* test_sync_access.c - rma/sync/access.c: start first, post by post. */
#include "unit.h"

#include "unit_rma.h"
#include "world.h"

static int cls(int err)
{
    return err ? err_class(err) : 0;
}

static struct group *only(int rank)
{
    struct rankmap *m = rankmap_stride(rank, 1, 1);
    struct group *g = group_make(m, MPI_UNDEFINED);
    rankmap_drop(m);
    job_check(g != NULL);
    return g;
}

static void until(unsigned word)
{
    while (!__atomic_load_n(&job_words()[word], __ATOMIC_ACQUIRE))
        world_poll(1);
}

static void tell(unsigned word)
{
    __atomic_store_n(&job_words()[word], 1, __ATOMIC_RELEASE);
}

/* E4: the start does not wait for the post, operations do.  E5: then they go. */
static void late_post(void)
{
    struct rma_win *w = world_window(2);
    struct group *g = only(!boot_rank());
    long v = 9;
    int flag = 1;
    if (boot_rank() == 0) {
        job_check(cls(rma_complete(w)) == MPI_ERR_RMA_SYNC);
        job_check(rma_start(w, g, 0) == MPI_SUCCESS && w->state == WIN_PSCW_ISSUED &&
                  w->access.nwaiting == 1);
        job_check(rma_in_start(w, 1) && !rma_in_start(w, 0));
        job_check(world_op(w, RMA_PUT, 1, &v, NULL, 1, 1) == MPI_SUCCESS && w->table.nops == 1);
        /* not in the group */
        job_check(cls(world_op(w, RMA_PUT, 0, &v, NULL, 1, 1)) == MPI_ERR_RMA_SYNC);
        job_check(cls(rma_start(w, g, 0)) == MPI_ERR_RMA_SYNC &&
                  cls(rma_fence(w, 0)) == MPI_ERR_RMA_SYNC);
        world_poll(3);
        rma_check_invariants(w);
        job_check(w->state == WIN_PSCW_ISSUED && w->table.nops == 1);
        tell(0);
        job_check(rma_complete(w) == MPI_SUCCESS && w->state == WIN_UNSET && w->table.nops == 0 &&
                  !w->access.start);
        rma_check_invariants(w);
        tell(2);
    } else {
        until(0);
        job_check(cls(rma_wait(w)) == MPI_ERR_RMA_SYNC &&
                  cls(rma_test(w, &flag)) == MPI_ERR_RMA_SYNC);
        job_check(rma_post(w, g, 0) == MPI_SUCCESS && w->expo == EXPO_POSTED);
        job_check(cls(rma_post(w, g, 0)) == MPI_ERR_RMA_SYNC &&
                  cls(rma_win_free(w)) == MPI_ERR_RMA_SYNC);
        job_check(rma_wait(w) == MPI_SUCCESS && w->expo == EXPO_NONE && world_memory(w)[1] == 9);
    }
    group_drop(g);
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* A post meant for a later start does not satisfy an earlier one: three rounds, each post used
 * once. */
static void rounds(void)
{
    struct rma_win *w = world_window(2);
    struct group *g = only(!boot_rank());
    for (long i = 1; i <= 3; i++) {
        int flag = 0;
        if (boot_rank() == 0) {
            job_check(rma_start(w, g, 0) == MPI_SUCCESS);
            job_check(world_op(w, RMA_PUT, 1, &i, NULL, 1, 0) == MPI_SUCCESS &&
                      rma_complete(w) == MPI_SUCCESS);
        } else {
            job_check(rma_post(w, g, MPI_MODE_NOPUT) == MPI_SUCCESS);
            while (!flag)
                job_check(rma_test(w, &flag) == MPI_SUCCESS);
            job_check(world_memory(w)[0] == i && w->exposure.completes_due == 0);
        }
    }
    world_barrier();
    job_check(w->access.posts.count == 0);
    world_barrier();
    /* both ways at once, and an empty epoch; NOCHECK: the post is known to be there */
    job_check(rma_post(w, g, 0) == MPI_SUCCESS && rma_start(w, g, 0) == MPI_SUCCESS);
    job_check(rma_complete(w) == MPI_SUCCESS && rma_wait(w) == MPI_SUCCESS);
    job_check(rma_post(w, g, MPI_MODE_NOCHECK) == MPI_SUCCESS);
    world_barrier();
    job_check(rma_start(w, g, MPI_MODE_NOCHECK) == MPI_SUCCESS && w->state == WIN_PSCW_GRANTED);
    job_check(rma_complete(w) == MPI_SUCCESS && rma_wait(w) == MPI_SUCCESS);
    group_drop(g);
    g = only(7); /* no member */
    job_check(cls(rma_post(w, g, 0)) == MPI_ERR_GROUP && cls(rma_start(w, g, 0)) == MPI_ERR_GROUP);
    job_check(cls(rma_start(w, g, MPI_MODE_NOPUT)) == MPI_ERR_ASSERT &&
              cls(rma_post(w, g, 1 << 20)) == MPI_ERR_ASSERT);
    job_check(w->expo == EXPO_NONE && w->state == WIN_UNSET);
    group_drop(g);
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

static const char *const *const nodes[] = {NULL, world_far};

START_TEST(start_first)
{
    ck_assert_int_eq(world_run(2, nodes[_i], late_post), 0);
}
END_TEST

START_TEST(post_by_post)
{
    ck_assert_int_eq(world_run(2, nodes[_i], rounds), 0);
}
END_TEST

Suite *suite_pscw(void)
{
    Suite *s = suite_create("rma/pscw");
    TCase *t = tcase_create("pscw");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, start_first, 0, 2);
    tcase_add_loop_test(t, post_by_post, 0, 2);
    suite_add_tcase(s, t);
    return s;
}
