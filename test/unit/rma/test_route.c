#include "unit.h"

#include "unit_rma.h"
#include "world.h"

START_TEST(choice)
{
    struct rma_target t = {.far = NULL};
    struct rma_op op = {.kind = RMA_PUT};
    struct dt_type elem;
    int key;
    cvar.rma_native = 1;
    ck_assert_int_eq(rma_route(NULL, &t, &op), RMA_ROUTE_AM); /* no key: no transport has given one */
    t.far = &key;
    ck_assert_int_eq(rma_route(NULL, &t, &op), RMA_ROUTE_NATIVE);
    op.elem = &elem; /* an accumulate */
    ck_assert_int_eq(rma_route(NULL, &t, &op), RMA_ROUTE_AM);
    op.elem = NULL;
    cvar.rma_native = 0; /* turned off */
    ck_assert_int_eq(rma_route(NULL, &t, &op), RMA_ROUTE_AM);
}
END_TEST

Suite *suite_route(void)
{
    Suite *s = suite_create("rma/route");
    TCase *t = tcase_create("route");
    tcase_add_test(t, choice);
    suite_add_tcase(s, t);
    return s;
}
