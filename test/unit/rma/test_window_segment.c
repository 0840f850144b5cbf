/* test_window_segment.c - rma/window/segment.c: by mapping, by cma, by message, one segment, all
 * or none, no near peer. */
#include "unit.h"

#include "unit_rma.h"
#include "world.h"

#include <sys/resource.h>

/* What every member must find about the others, however their memory is reached. */
static void table(const struct rma_win *w)
{
    int size = boot_size();
    job_check(w->nears == (unsigned)size && w->all_near && w->near.count == (unsigned)size &&
              w->near.first == 0);
    job_check(!rma_near_of(w, -1) && !rma_near_of(w, size) && !rma_near_of(w, INT32_MAX));
    for (int r = 0; r < size; r++) {
        const struct rma_near *n = rma_near_of(w, r);
        job_check(n && n->rank == r && n->peer->rank == r && n->disp_unit == 8);
        job_check(n->host_index == boot_host_index(r) && w->node.n.host_index[r] == n->host_index);
        job_check(!((uintptr_t)n->lockword & 63) && !((uintptr_t)n->peer & 63));
    }
}

/* Put to every rank through the table and look at one's own memory. */
static void reach(struct rma_win *w)
{
    long v = boot_rank() + 1, sum = 0;
    job_check(rma_fence(w, 0) == MPI_SUCCESS);
    for (int r = 0; r < boot_size(); r++) {
        job_check(world_op(w, RMA_PUT, r, &v, NULL, 1, boot_rank()) == MPI_SUCCESS);
        job_check(world_op(w, RMA_ACC, r, &v, NULL, 1, 7) == MPI_SUCCESS);
    }
    job_check(rma_fence(w, MPI_MODE_NOSUCCEED) == MPI_SUCCESS);
    for (int r = 0; r < boot_size(); r++) {
        job_check(world_memory(w)[r] == r + 1);
        sum += r + 1;
    }
    job_check(world_memory(w)[7] == sum);
    world_barrier();
}

static void mapped(void)
{
    struct rma_win *w = world_window(8);
    table(w);
    for (unsigned i = 0; i < w->nears; i++)
        job_check(w->near.near[i].kind == RMA_NEAR_MAPPED && w->near.near[i].base &&
                  w->near.near[i].size == 64);
    reach(w);
    job_check(world_pvar(w, PVAR_RMA_AM) == 0 && world_pvar(w, PVAR_RMA_MSGS) == 0);
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

static void heap(void)
{
    static long mem[8];
    struct rma_win *w;
    job_check(rma_win_create(mem, sizeof mem, 8, NULL, proc->obj->world, &w) == MPI_SUCCESS);
    table(w);
    for (unsigned i = 0; i < w->nears; i++) {
        int kind = w->near.near[i].kind;
        job_check((int)i == boot_rank()
                      ? kind == RMA_NEAR_MAPPED
                      : kind == RMA_NEAR_AM || (cvar.rma_cma && kind == RMA_NEAR_CMA));
    }
    reach(w);
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

static void shared(void)
{
    for (int noncontig = 0; noncontig < 2; noncontig++) {
        struct info *i = info_make();
        struct rma_win *w;
        MPI_Aint size, unit;
        long *mine;
        void *at;
        info_put(i, "alloc_shared_noncontig", noncontig ? "true" : "false");
        int empty = boot_rank() == 1; /* no padding across those that have nothing */
        job_check(rma_win_allocate_shared(empty ? 0 : 64, 8, i, proc->obj->world, &mine, &w) ==
                  MPI_SUCCESS);
        info_drop(i);
        char *expect = NULL;
        for (int r = 0; r < boot_size(); r++) {
            job_check(rma_win_shared_query(w, r, &size, &unit, &at) == MPI_SUCCESS &&
                      size == (r == 1 ? 0 : 64));
            job_check(unit == 8 && (at != NULL) == (r != 1));
            if (r == 1)
                continue;
            job_check(noncontig ? (uintptr_t)at % 4096 == 0 : !expect || at == expect);
            expect = (char *)at + 64;
        }
        job_check(rma_win_shared_query(w, MPI_PROC_NULL, &size, &unit, &at) == MPI_SUCCESS &&
                  size == 64);
        job_check(rma_win_shared_query(w, 0, &size, &unit, &mine) == MPI_SUCCESS && at == mine);
        job_check(err_class(rma_win_shared_query(w, boot_size(), &size, &unit, &at)) ==
                  MPI_ERR_RANK);
        job_check(rma_win_free(w) == MPI_SUCCESS);
    }
}

/* One member's mistake is an error of all members, and none hangs. */
static void one_fails(void)
{
    struct rma_win *w;
    void *base;
    int err = rma_win_allocate(boot_rank() == 1 ? -1 : 8, 8, NULL, proc->obj->world, &base, &w);
    job_check(err && err_class(err) == MPI_ERR_SIZE && list_empty(&rma_self()->windows));
    err = rma_win_create(boot_rank() == 2 ? NULL : &base, 8, 8, NULL, proc->obj->world, &w);
    job_check(err && err_class(err) == MPI_ERR_BASE);
    /* more than there is, at one of them, found out when the others are at work already */
    err = rma_win_allocate_shared(boot_rank() == 1 ? (MPI_Aint)1 << 44 : 64, 8, NULL,
                                  proc->obj->world, &base, &w);
    job_check(err && err_class(err) == MPI_ERR_NO_MEM && list_empty(&rma_self()->windows));
    /* together more than can be counted: the sum is 64 bytes when it wraps around, with whole pages
     * and without */
    for (int noncontig = 0; noncontig < 2; noncontig++) {
        struct info *i = info_make();
        info_put(i, "alloc_shared_noncontig", noncontig ? "true" : "false");
        MPI_Aint size = boot_rank() < 2 ? INT64_MAX : noncontig ? 64 : 66;
        err = rma_win_allocate_shared(size, 8, i, proc->obj->world, &base, &w);
        job_check(err && err_class(err) == MPI_ERR_NO_MEM && list_empty(&rma_self()->windows));
        info_drop(i);
    }
    /* no descriptor left for the segment of the node */
    struct rlimit had, none;
    job_check(getrlimit(RLIMIT_NOFILE, &had) == 0);
    none = had;
    none.rlim_cur = 0;
    if (boot_rank() == 2)
        job_check(setrlimit(RLIMIT_NOFILE, &none) == 0);
    err = rma_win_allocate(8, 8, NULL, proc->obj->world, &base, &w);
    if (boot_rank() == 2)
        job_check(setrlimit(RLIMIT_NOFILE, &had) == 0);
    job_check(err != MPI_SUCCESS && list_empty(&rma_self()->windows));
    w = world_window(8);
    reach(w); /* and it goes on */
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

static void alone(void)
{
    struct rma_win *w = world_window(2), *s;
    void *base;
    job_check(w->nears == 1 && !w->all_near && w->near.near[0].rank == boot_rank() && !w->node.seg);
    job_check(rma_near_of(w, boot_rank()) && !rma_near_of(w, !boot_rank()));
    int err = rma_win_allocate_shared(8, 8, NULL, proc->obj->world, &base, &s);
    job_check(err && err_class(err) == MPI_ERR_RMA_SHARED);
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

static const char *const no_cma[] = {"MPIR_CVAR_RMA_CMA=0", NULL};

START_TEST(by_mapping)
{
    ck_assert_int_eq(world_run(3, NULL, mapped), 0);
}
END_TEST

START_TEST(by_cma)
{
    ck_assert_int_eq(world_run(3, NULL, heap), 0);
}
END_TEST

START_TEST(by_message)
{
    ck_assert_int_eq(world_run(3, no_cma, heap), 0);
}
END_TEST

START_TEST(one_segment)
{
    ck_assert_int_eq(world_run(3, NULL, shared), 0);
}
END_TEST

START_TEST(all_or_none)
{
    ck_assert_int_eq(world_run(3, NULL, one_fails), 0);
}
END_TEST

START_TEST(no_near_peer)
{
    ck_assert_int_eq(world_run(2, world_far, alone), 0);
}
END_TEST

Suite *suite_node(void)
{
    Suite *s = suite_create("rma/node");
    TCase *t = tcase_create("node");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, by_mapping);
    tcase_add_test(t, by_cma);
    tcase_add_test(t, by_message);
    tcase_add_test(t, one_segment);
    tcase_add_test(t, all_or_none);
    tcase_add_test(t, no_near_peer);
    suite_add_tcase(s, t);
    return s;
}
