/* test_op_begin.c - rma/op_begin.c: offset, near offsets, argument checks, messages first, far
 * queue. */
#include "unit.h"

#include <errno.h>

#include "unit_rma.h"
#include "world.h"

START_TEST(offset)
{
    uint64_t off = 99;
    ck_assert_int_eq(rma_offset(3, 8, 0, 8, 32, &off), 0);
    ck_assert_uint_eq(off, 24);
    ck_assert_int_eq(rma_offset(0, 1, 0, 0, 0, &off), 0);
    /* a layout that begins before its address */
    ck_assert_int_eq(rma_offset(4, 8, -8, 0, 32, &off), 0);
    ck_assert_uint_eq(off, 32);
    ck_assert_int_eq(rma_offset(0, INT64_MAX, 0, 8, 8, &off), 0);
    ck_assert_uint_eq(off, 0);
    ck_assert_int_eq(rma_offset(1, (1ull << 33) + 8, 0, 8, (1ull << 33) + 16, &off), 0);
    ck_assert_uint_eq(off, (1ull << 33) + 8);
    const struct {
        uint64_t disp;
        uint64_t unit;
        int64_t lo, hi;
        uint64_t size;
    } bad[] = {{4, 8, 0, 8, 32},
               {3, 8, 0, 9, 32},
               {0, 8, -1, 8, 32},
               {UINT64_MAX, 1, 0, 1, UINT64_MAX},
               {UINT64_MAX, 8, 0, 8, UINT64_MAX},
               {(uint64_t)INT64_MAX, 2, 0, 1, UINT64_MAX},
               {1ull << 61, 8, 0, 1, UINT64_MAX},
               {(1ull << 61) + 1, 8, 0, 1, 64}, /* wraps to 8 */
               {(uint64_t)INT64_MAX, 1, 0, 1, UINT64_MAX},
               {8, 1, INT64_MIN, 0, 32},
               {8, 1, 0, INT64_MAX, 32},
               {(uint64_t)INT64_MAX, UINT32_MAX, 0, 0, 32},
               {1ull << 31, 1ull << 33, 0, 8, 32}, /* wraps to 0 */
               {2, 1ull << 63, 0, 8, 32},          /* what a packet may claim */
               {1, UINT64_MAX, 0, 8, 32},
               {1, INT64_MAX, 0, 8, UINT64_MAX},
               {1, (1ull << 33) + 8, 0, 9, (1ull << 33) + 16},
               {33, 1, 0, 0, 32}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        off = 99;
        ck_assert_msg(rma_offset(bad[i].disp, bad[i].unit, bad[i].lo, bad[i].hi, bad[i].size,
                                 &off) == -ERANGE,
                      "case %zu", i);
        ck_assert_uint_eq(off, 99);
    }
}
END_TEST

/* The inline path with a unit that an int does not hold. */
START_TEST(near_offsets)
{
    const uint64_t unit = (1ull << 33) + 8;
    struct rma_near n = {.disp_unit = unit, .size = 2 * unit + 8, .units = 2};
    uint64_t off = 99;
    ck_assert(rma_near_at(&n, 1, 8, &off) && off == unit);
    ck_assert(rma_near_at(&n, 0, n.size, &off) && off == 0);
    ck_assert(!rma_near_at(&n, 1, unit + 9, &off));
    ck_assert(!rma_near_at(&n, 2, 8, &off)); /* not a whole unit: for the long way */
    ck_assert(!rma_near_at(&n, 1ll << 31, 8, &off) && !rma_near_at(&n, -1, 8, &off));
}
END_TEST

static int cls(int err)
{
    return err ? err_class(err) : 0;
}

/* Arguments, in an epoch and without; near (one process: itself). */
static void arguments(void)
{
    struct rma_win *w = world_window(8);
    long v[16] = {1, 2, 3, 4}, r[16];
    MPI_Request req = 7;
    job_check(cls(world_op(w, RMA_PUT, 0, v, r, 1, 0)) == MPI_ERR_RMA_SYNC); /* E1 */
    job_check(cls(world_op(w, RMA_PUT, 0, v, r, 0, 0)) == MPI_ERR_RMA_SYNC);
    job_check(world_op(w, RMA_PUT, MPI_PROC_NULL, v, r, 1, 0) == MPI_SUCCESS);
    job_check(rma_fence(w, 0) == MPI_SUCCESS);
    for (int kind = RMA_PUT; kind <= RMA_CAS; kind++) {
        struct rma_args a = world_args(kind, 0, v, r, 1, 7);
        a.compare = v;
        job_check(rma_op_begin(w, &a, NULL) == MPI_SUCCESS);
        /* request-based: passive epochs only (rma.md 5.7) */
        job_check(cls(rma_op_begin(w, &a, &req)) == MPI_ERR_RMA_SYNC);
        a.rank = 1;
        job_check(cls(rma_op_begin(w, &a, NULL)) == MPI_ERR_RANK);
        a.rank = -5;
        job_check(cls(rma_op_begin(w, &a, NULL)) == MPI_ERR_RANK);
        a.rank = 0;
        a.disp = -1;
        job_check(cls(rma_op_begin(w, &a, NULL)) == MPI_ERR_DISP);
        a.disp = 8;
        job_check(cls(rma_op_begin(w, &a, NULL)) == MPI_ERR_RMA_RANGE);
        a.disp = INT64_MAX;
        job_check(cls(rma_op_begin(w, &a, NULL)) == MPI_ERR_RMA_RANGE);
        a.disp = 1l << 61;
        job_check(cls(rma_op_begin(w, &a, NULL)) == MPI_ERR_RMA_RANGE);
        a.disp = 0;
        a.tcount = 2; /* more than the result has room for, or less than the origin has */
        if (kind == RMA_PUT || kind == RMA_ACC)
            a.ocount = 3;
        job_check(cls(rma_op_begin(w, &a, NULL)) == MPI_ERR_TYPE);
        a.tcount = INT64_MAX;
        job_check(rma_op_begin(w, &a, NULL) != MPI_SUCCESS);
    }
    job_check(world_memory(w)[0] == 0 && world_memory(w)[6] == 0);
    job_check(world_pvar(w, PVAR_RMA_PUT) == 1 && world_pvar(w, PVAR_RMA_CAS) == 1);
    job_check(rma_fence(w, MPI_MODE_NOSUCCEED) == MPI_SUCCESS);
    /* a request of a near operation is complete at once, and one of MPI_PROC_NULL too */
    job_check(rma_lock(w, MPI_LOCK_SHARED, 0, 0) == MPI_SUCCESS);
    for (int rank = 0; rank > -3; rank--) {
        struct rma_args a = world_args(RMA_PUT, rank == 0 ? 0 : MPI_PROC_NULL, v, r, 4, 2);
        job_check(rma_op_begin(w, &a, &req) == MPI_SUCCESS && req != MPI_REQUEST_NULL);
        struct request *q = obj_find(OBJ_REQUEST, req);
        job_check(q && q->done && request_finish(q, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
    struct rma_args a = world_args(RMA_PUT, 0, v, r, 4, 6); /* fails: no request is left over */
    job_check(cls(rma_op_begin(w, &a, &req)) == MPI_ERR_RMA_RANGE && req == MPI_REQUEST_NULL);
    job_check(world_memory(w)[2] == 1 && world_memory(w)[5] == 4 && world_memory(w)[6] == 0);
    job_check(rma_unlock(w, 0) == MPI_SUCCESS && rma_win_free(w) == MPI_SUCCESS);
}

/* R1, R2: what is queued for a far target, and that a request gets it out without any flush (rma.md
 * 5.7). */
static void queued(void)
{
    struct rma_win *w = world_window(8);
    long v[2] = {40, 41}, r[2] = {0, 0};
    if (boot_rank() == 0) {
        job_check(rma_lock(w, MPI_LOCK_SHARED, 1, 0) == MPI_SUCCESS);
        job_check(world_op(w, RMA_PUT, 1, v, NULL, 2, 0) == MPI_SUCCESS);
        struct rma_args a = world_args(RMA_GET, 1, NULL, r, 2, 0);
        MPI_Request req;
        job_check(rma_op_begin(w, &a, &req) == MPI_SUCCESS);
        struct rma_target *t = rma_target_find(w, 1);
        rma_check_invariants(w);
        job_check(t && t->nops == 2 && t->queued == 2 && w->table.nops == 2 &&
                  t->state == TARGET_LOCK_CALLED);
        /* E10 */
        job_check(world_pvar(w, PVAR_RMA_OPS_USED) == 2 && world_pvar(w, PVAR_RMA_MSGS) == 0);
        struct request *q = obj_find(OBJ_REQUEST, req);
        request_wait(q);
        job_check(request_finish(q, MPI_STATUS_IGNORE) == MPI_SUCCESS && r[0] == 40 && r[1] == 41);
        rma_check_invariants(w);
        job_check(t->state == TARGET_LOCK_GRANTED);
        /* out of range far away: returned where the operation is completed */
        job_check(world_op(w, RMA_PUT, 1, v, NULL, 2, 7) == MPI_SUCCESS);
        job_check(cls(rma_flush(w, 1)) == MPI_ERR_RMA_RANGE && rma_flush(w, 1) == MPI_SUCCESS);
        job_check(world_op(w, RMA_GET, 1, NULL, r, 2, 1l << 60) == MPI_SUCCESS);
        job_check(cls(rma_unlock(w, 1)) == MPI_ERR_RMA_RANGE && w->table.nops == 0 &&
                  w->table.ntargets == 0);
    }
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* What goes to a near target by message must not be passed by what comes after it and could be done
 * at once: here a fetch that is under way when the target's memory turns out to be reachable, as in
 * a dynamic window whose regions change. */
static void behind_messages(void)
{
    struct rma_win *w = world_window(2);
    long v = 5, r = -1;
    if (boot_rank() == 0) {
        struct rma_near *n = rma_near_of(w, 1);
        job_check(n && n->kind == RMA_NEAR_MAPPED);
        job_check(rma_lock(w, MPI_LOCK_SHARED, 1, 0) == MPI_SUCCESS);
        for (int flushed = 0; flushed < 2; flushed++) {
            n->kind = RMA_NEAR_AM;
            job_check(world_op(w, flushed ? RMA_ACC : RMA_GACC, 1, &v, &r, 1, 0) == MPI_SUCCESS);
            struct rma_target *t = rma_target_find(w, 1);
            struct rma_resp other; /* flushed: by another thread, whose answer is under way */
            rma_resp_open(w, &other, 1);
            t->flags |= TARGET_DRAIN;
            if (flushed) {
                other.pending = 1;
                rma_target_sync(t, RMA_F_DONE, other.token);
            }
            rma_issue_target(t);
            job_check(t->queued == 0 && (flushed ? t->tokens_out == 1 : t->nops == 1) &&
                      !(t->flags & TARGET_DIRTY));
            n->kind = RMA_NEAR_MAPPED;
            job_check(world_op(w, RMA_ACC, 1, &v, NULL, 1, 0) == MPI_SUCCESS);
            job_check(world_pvar(w, PVAR_RMA_MAPPED) == 0);
            job_check(rma_flush(w, 1) == MPI_SUCCESS && !other.pending && r == 0);
            job_check(world_pvar(w, PVAR_RMA_AM) == 2u * (unsigned)flushed + 2);
            rma_resp_close(&other);
        }
        job_check(world_op(w, RMA_ACC, 1, &v, NULL, 1, 0) == MPI_SUCCESS &&
                  world_pvar(w, PVAR_RMA_MAPPED) == 1);
        job_check(rma_unlock(w, 1) == MPI_SUCCESS);
    }
    world_barrier();
    job_check(boot_rank() == 0 || world_memory(w)[0] == 25);
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

START_TEST(messages_first)
{
    ck_assert_int_eq(world_run(2, NULL, behind_messages), 0);
}
END_TEST

START_TEST(argument_checks)
{
    ck_assert_int_eq(world_run(1, NULL, arguments), 0);
}
END_TEST

START_TEST(far_queue)
{
    ck_assert_int_eq(world_run(2, world_far, queued), 0);
}
END_TEST

Suite *suite_op(void)
{
    Suite *s = suite_create("rma/op");
    TCase *t = tcase_create("op");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, offset);
    tcase_add_test(t, near_offsets);
    tcase_add_test(t, argument_checks);
    tcase_add_test(t, messages_first);
    tcase_add_test(t, far_queue);
    suite_add_tcase(s, t);
    return s;
}
