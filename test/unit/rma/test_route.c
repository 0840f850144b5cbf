#include "unit.h"

#include "unit_rma.h"
#include "dt/make.h"
#include "world.h"

static struct dt_type *bytes;

static struct rma_op an_op(enum rma_kind kind, long n, MPI_Aint disp)
{
    struct rma_op op = {.kind = kind, .bytes = (size_t)n};
    op.a = (struct rma_args){.kind = kind, .disp = disp, .tcount = n, .ttype = bytes, .ocount = n, .otype = bytes,
                             .rcount = n, .rtype = bytes};
    return op;
}

static void choice(void)
{
    bytes = dt_find(MPI_BYTE);
    struct rma_key key = {.state = KEY_ASKED, .size = 100, .unit = 2, .put_min = 10, .get_min = 20};
    struct rma_target t = {.key = NULL};
    struct rma_op put = an_op(RMA_PUT, 10, 0), get = an_op(RMA_GET, 20, 40);
    job_check(rma_route(&t, &put) == RMA_ROUTE_AM); /* no place for a key */
    t.key = &key;
    job_check(rma_route(&t, &put) == RMA_ROUTE_AM); /* it has not come */
    key.state = KEY_NONE;
    job_check(rma_route(&t, &put) == RMA_ROUTE_AM); /* there is none */
    key.state = KEY_READY;
    job_check(rma_route(&t, &put) == RMA_ROUTE_NATIVE);
    job_check(rma_route(&t, &get) == RMA_ROUTE_NATIVE); /* its last byte is the window's */
    get.a.disp = 41;
    job_check(rma_route(&t, &get) == RMA_ROUTE_AM); /* beyond: the target says so */
    get.a.disp = 40;
    key.get_min = 21;
    job_check(rma_route(&t, &get) == RMA_ROUTE_AM); /* short */
    put.flags = OP_BY_AM;
    job_check(rma_route(&t, &put) == RMA_ROUTE_AM); /* refused before */
    put.flags = 0;
    put.elem = bytes; /* an accumulate */
    job_check(rma_route(&t, &put) == RMA_ROUTE_AM);
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
    tcase_add_test(t, by_pieces);
    suite_add_tcase(s, t);
    return s;
}
