/* test_engine_route.c - rma/engine/route.c: native or message, native accumulates, by pieces. */
#include "unit.h"

#include "unit_rma.h"
#include "dt/make.h"
#include "world.h"

static struct dt_type *bytes;

static struct rma_op an_op(enum rma_kind kind, long n, MPI_Aint disp)
{
    struct rma_op op = {.kind = kind, .bytes = (size_t)n};
    op.a = (struct rma_args){.kind = kind, .disp = disp, .tcount = n, .ttype = bytes, .ocount = n,
                             .otype = bytes, .rcount = n, .rtype = bytes};
    return op;
}

static void choice(void)
{
    bytes = dt_find(MPI_BYTE);
    struct rma_key key = {.state = KEY_ASKED, .size = 100, .unit = 2, .put_min = 10, .get_min = 20};
    struct rma_target t = {.key = NULL};
    struct rma_op put = an_op(RMA_PUT, 10, 0), get = an_op(RMA_GET, 20, 40);
    job_check(rma_route_of(&t, &put) == RMA_ROUTE_AM); /* no place for a key */
    t.key = &key;
    job_check(rma_route_of(&t, &put) == RMA_ROUTE_AM); /* it has not come */
    key.state = KEY_NONE;
    job_check(rma_route_of(&t, &put) == RMA_ROUTE_AM); /* there is none */
    key.state = KEY_READY;
    job_check(rma_route_of(&t, &put) == RMA_ROUTE_NATIVE);
    job_check(rma_route_of(&t, &get) == RMA_ROUTE_NATIVE); /* its last byte is the window's */
    get.a.disp = 41;
    job_check(rma_route_of(&t, &get) == RMA_ROUTE_AM); /* beyond: the target reports it */
    get.a.disp = 40;
    key.get_min = 21;
    job_check(rma_route_of(&t, &get) == RMA_ROUTE_AM); /* short */
    key.lone_get = 1;
    job_check(rma_route_of(&t, &get) == RMA_ROUTE_AM); /* no call waits for it alone */
    t.queued = 1;
    t.sync = RMA_F_DONE;
    job_check(rma_route_of(&t, &get) == RMA_ROUTE_NATIVE);
    t.sync = RMA_F_UNLOCK; /* which needs a message */
    job_check(rma_route_of(&t, &get) == RMA_ROUTE_AM);
    t.sync = RMA_F_DONE;
    t.flags = TARGET_DIRTY; /* as does what went before */
    job_check(rma_route_of(&t, &get) == RMA_ROUTE_AM);
    t.flags = 0;
    t.queued = 2;
    job_check(rma_route_of(&t, &get) == RMA_ROUTE_AM);
    t.queued = 0;
    t.sync = 0;
    put.flags = OP_BY_AM;
    job_check(rma_route_of(&t, &put) == RMA_ROUTE_AM); /* refused before */
    put.flags = 0;
    put.elem = bytes; /* an accumulate */
    job_check(rma_route_of(&t, &put) == RMA_ROUTE_AM);
}

static struct rma_op an_acc(enum rma_kind kind, struct dt_type *t, long n, MPI_Aint disp, int aop)
{
    struct rma_op op = {.kind = kind, .elem = t, .aop = (uint8_t)aop,
                        .bytes = (size_t)n * t->elem.bytes};
    op.a = (struct rma_args){.kind = kind, .disp = disp, .tcount = n, .ttype = t, .ocount = n,
                             .otype = t, .rcount = n, .rtype = t};
    return op;
}

static int native(const struct rma_target *t, struct rma_op op)
{
    return rma_route_of(t, &op) == RMA_ROUTE_NATIVE;
}

/* What is native of accumulates: a window in which they have no order. */
static void accumulates(void)
{
    struct dt_type *i8 = dt_find(MPI_INT64_T), *i4 = dt_find(MPI_INT32_T),
                   *i2 = dt_find(MPI_INT16_T), *d = dt_find(MPI_DOUBLE), *pair = dt_find(MPI_2INT);
    const struct rma_atomics can = {.ok = {{1u << DT_SUM, 1u << DT_SUM | 1u << DT_NO_OP, 1},
                                           {1u << DT_SUM | 1u << DT_REPLACE, 1u << DT_SUM, 0}}};
    struct rma_win w = {.ordered_acc = 0};
    struct rma_key key = {.state = KEY_READY, .size = 256, .unit = 4, .put_min = SIZE_MAX,
                          .get_min = SIZE_MAX, .atomics = &can};
    struct rma_target t = {.w = &w, .key = &key, .queued = 3};
    list_init(&t.ops);
    t.next = &t.ops;
    job_check(native(&t, an_acc(RMA_ACC, i8, 1, 0, DT_SUM)));
    job_check(native(&t, an_acc(RMA_ACC, i8, 8, 0, DT_SUM)));
    job_check(!native(&t, an_acc(RMA_ACC, i8, 9, 0, DT_SUM)));  /* many */
    job_check(native(&t, an_acc(RMA_FOP, i4, 1, 1, DT_SUM)));
    job_check(!native(&t, an_acc(RMA_FOP, i8, 1, 1, DT_SUM)));  /* misaligned */
    job_check(native(&t, an_acc(RMA_ACC, i8, 1, 62, DT_SUM)));  /* the last */
    job_check(!native(&t, an_acc(RMA_ACC, i8, 1, 64, DT_SUM))); /* beyond: the target reports it */
    job_check(native(&t, an_acc(RMA_GACC, i4, 1, 0, DT_NO_OP)) &&
              !native(&t, an_acc(RMA_ACC, i4, 1, 0, DT_NO_OP)));
    job_check(native(&t, an_acc(RMA_CAS, i4, 1, 0, 0)) &&
              !native(&t, an_acc(RMA_CAS, i8, 1, 0, 0)));
    job_check(!native(&t, an_acc(RMA_ACC, i8, 1, 0, DT_MAX)));
    job_check(!native(&t, an_acc(RMA_ACC, i2, 1, 0, DT_SUM)) &&
              !native(&t, an_acc(RMA_ACC, pair, 1, 0, DT_SUM)));
    job_check(!native(&t, an_acc(RMA_ACC, d, 1, 0, DT_SUM)) &&
              native(&t, an_acc(RMA_ACC, d, 1, 0, DT_REPLACE)));
    key.align = 4; /* so the window lies */
    job_check(!native(&t, an_acc(RMA_ACC, i8, 1, 0, DT_SUM)) &&
              native(&t, an_acc(RMA_ACC, i8, 1, 1, DT_SUM)));
    key.align = 0;
    key.atomics = NULL; /* the target's elements go by stripes */
    job_check(!native(&t, an_acc(RMA_ACC, i8, 1, 0, DT_SUM)));
}

/* The same where the window keeps order: only what is alone, and what has begun. */
static void accumulates_in_order(void)
{
    struct dt_type *i8 = dt_find(MPI_INT64_T);
    const struct rma_atomics can = {.ok = {[1] = {1u << DT_SUM, 1u << DT_SUM, 1}}};
    struct rma_win w = {.ordered_acc = 1};
    struct rma_key key = {.state = KEY_READY, .size = 256, .unit = 8, .atomics = &can};
    struct rma_target t = {.w = &w, .key = &key, .queued = 1};
    struct rma_op op = an_acc(RMA_FOP, i8, 4, 0, DT_SUM),
                  before = an_acc(RMA_GACC, i8, 1, 0, DT_MAX);
    list_init(&t.ops);
    list_push(&t.ops, &op.link);
    t.next = &op.link;
    job_check(rma_route_of(&t, &op) == RMA_ROUTE_NATIVE);
    t.queued = 2; /* the other would have to wait for it */
    job_check(rma_route_of(&t, &op) == RMA_ROUTE_AM);
    t.queued = 1;
    t.flags = TARGET_DIRTY; /* a message of which nothing is known */
    job_check(rma_route_of(&t, &op) == RMA_ROUTE_AM);
    op.flags = OP_BEGUN;
    op.sent = 8;
    job_check(rma_route_of(&t, &op) == RMA_ROUTE_NATIVE);
    op.flags = 0; /* it began by message */
    t.flags = 0;
    job_check(rma_route_of(&t, &op) == RMA_ROUTE_AM);
    op.sent = 0;
    w.acks = 1; /* an evicted element's */
    job_check(rma_route_of(&t, &op) == RMA_ROUTE_AM);
    w.acks = 0;
    list_init(&before.link);
    list_push_front(&t.ops, &before.link); /* one that is not answered yet */
    job_check(rma_route_of(&t, &op) == RMA_ROUTE_AM);
    before.flags = OP_DONE;
    job_check(rma_route_of(&t, &op) == RMA_ROUTE_NATIVE);
}

static void pieces(void)
{
    struct dt_type *every2;
    bytes = dt_find(MPI_BYTE);
    job_check(dt_make_vector(4, 8, 16, bytes, &every2) == MPI_SUCCESS);
    struct rma_op op = an_op(RMA_PUT, 32, 0);
    job_check(rma_route_pays(&op, 32));
    op.a.ttype = every2; /* four pieces of 8 bytes */
    op.a.tcount = 1;
    job_check(!rma_route_pays(&op, 32) && !rma_route_pays(&op, 9) && rma_route_pays(&op, 8));
    dt_drop(every2);
}

START_TEST(native_or_message)
{
    ck_assert_int_eq(world_run(1, NULL, choice), 0);
}
END_TEST

START_TEST(native_accumulates)
{
    ck_assert_int_eq(world_run(1, NULL, accumulates), 0);
    ck_assert_int_eq(world_run(1, NULL, accumulates_in_order), 0);
}
END_TEST

START_TEST(by_pieces)
{
    ck_assert_int_eq(world_run(1, NULL, pieces), 0);
}
END_TEST

Suite *suite_route(void)
{
    Suite *s = suite_create("rma/route");
    TCase *t = tcase_create("route");
    tcase_add_test(t, native_or_message);
    tcase_add_test(t, native_accumulates);
    tcase_add_test(t, by_pieces);
    suite_add_tcase(s, t);
    return s;
}
