/* test_model_rule.c - race/model/rule.c: each cell of the matrix, the matrix is whole,
 * accumulates, buffers in use, only an equal effect covers. */
#include "unit.h"

#include <string.h>

#include "dt/dt.h"
#include "race/model/model.h"

Suite *suite_model_rule(void);

/* The cells of doc/design/race.md 5: what two threads may not do without order. */
static const struct cell {
    enum race_kind a, b;
    enum race_rule rule;
} cells[] = {
    {RACE_LOAD, RACE_LOAD, RACE_FINE},      {RACE_LOAD, RACE_STORE, RACE_LANGUAGE},
    {RACE_LOAD, RACE_GET, RACE_FINE},       {RACE_LOAD, RACE_PUT, RACE_RULE_1},
    {RACE_LOAD, RACE_ACC, RACE_RULE_1},     {RACE_LOAD, RACE_READ, RACE_FINE},
    {RACE_STORE, RACE_STORE, RACE_LANGUAGE}, {RACE_STORE, RACE_GET, RACE_RULE_3},
    {RACE_STORE, RACE_PUT, RACE_RULE_5},    {RACE_STORE, RACE_ACC, RACE_RULE_5},
    {RACE_STORE, RACE_READ, RACE_RULE_3},   {RACE_GET, RACE_GET, RACE_FINE},
    {RACE_GET, RACE_PUT, RACE_RULE_4},      {RACE_GET, RACE_ACC, RACE_RULE_4},
    {RACE_GET, RACE_READ, RACE_FINE},       {RACE_PUT, RACE_PUT, RACE_RULE_4},
    {RACE_PUT, RACE_ACC, RACE_RULE_4},      {RACE_PUT, RACE_READ, RACE_RULE_4},
    {RACE_ACC, RACE_ACC, RACE_FINE},        {RACE_ACC, RACE_READ, RACE_FINE},
    {RACE_READ, RACE_READ, RACE_FINE},
};
enum { CELLS = sizeof cells / sizeof *cells };

static struct race_effect effect(enum race_kind kind)
{
    uint8_t op = kind == RACE_ACC ? DT_SUM : kind == RACE_READ ? DT_NO_OP : 0;
    return (struct race_effect){.kind = (uint8_t)kind & 15, .op = op, .elem = 5, .esize = 8};
}

START_TEST(each_cell_of_the_matrix)
{
    const struct cell *c = &cells[_i];
    struct race_effect a = effect(c->a), b = effect(c->b);
    ck_assert_int_eq(race_rule_of(a, b, 0, 0, RACE_SAME_OP_NO_OP), c->rule);
    ck_assert_int_eq(race_rule_of(b, a, 0, 0, RACE_SAME_OP_NO_OP), c->rule);
    /* the filter of open states lets nothing pass that has a rule */
    if (c->rule != RACE_FINE) {
        ck_assert(race_conflicting_kinds(c->a) >> c->b & 1);
        ck_assert(race_conflicting_kinds(c->b) >> c->a & 1);
        ck_assert_int_gt((int)strlen(race_rule_text(c->rule)), 10);
    }
}
END_TEST

START_TEST(the_matrix_is_whole)
{
    int seen[RACE_KINDS][RACE_KINDS] = {{0}};
    for (int i = 0; i < CELLS; i++)
        seen[cells[i].a][cells[i].b] = seen[cells[i].b][cells[i].a] = 1;
    for (int a = 0; a < RACE_KINDS; a++)
        for (int b = 0; b < RACE_KINDS; b++)
            ck_assert(seen[a][b]);
}
END_TEST

START_TEST(accumulates)
{
    struct race_effect sum = effect(RACE_ACC), max = sum, other = sum, no = effect(RACE_READ),
                       swap = sum;
    max.op = DT_MAX;
    other.elem = 6;
    swap.op = RACE_SWAP;
    const enum race_accumulate no_op = RACE_SAME_OP_NO_OP, same = RACE_SAME_OP;
    ck_assert_int_eq(race_rule_of(sum, sum, 16, 0, no_op), RACE_FINE);
    ck_assert_int_eq(race_rule_of(sum, sum, 4, 0, no_op), RACE_ACC_TYPE);
    ck_assert_int_eq(race_rule_of(sum, other, 0, 0, no_op), RACE_ACC_TYPE);
    ck_assert_int_eq(race_rule_of(sum, other, 0, 1, no_op), RACE_ACC_TYPE);
    ck_assert_int_eq(race_rule_of(sum, max, 0, 0, no_op), RACE_ACC_OP);
    ck_assert_int_eq(race_rule_of(sum, max, 0, 1, no_op), RACE_FINE); /* ordered */
    ck_assert_int_eq(race_rule_of(sum, no, 0, 0, no_op), RACE_FINE);
    ck_assert_int_eq(race_rule_of(sum, no, 0, 0, same), RACE_ACC_OP);
    ck_assert_int_eq(race_rule_of(no, no, 4, 0, same), RACE_FINE);
    ck_assert_int_eq(race_rule_of(swap, swap, 0, 0, no_op), RACE_FINE);
    ck_assert_int_eq(race_rule_of(swap, sum, 0, 0, no_op), RACE_ACC_OP);
    ck_assert_int_eq(race_rule_of(swap, no, 0, 0, no_op), RACE_FINE);
}
END_TEST

START_TEST(buffers_in_use)
{
    struct race_effect load = effect(RACE_LOAD), store = effect(RACE_STORE), out = load;
    out.flags = RACE_BUFFER; /* the origin of a put that is not complete */
    ck_assert_int_eq(race_rule_of(out, store, 0, 1, RACE_SAME_OP), RACE_IN_USE);
    ck_assert_int_eq(race_rule_of(out, load, 0, 1, RACE_SAME_OP), RACE_FINE);
    ck_assert_int_eq(race_rule_of(out, out, 0, 1, RACE_SAME_OP), RACE_FINE);
    struct race_effect send = load, received = store; /* of messages */
    send.flags = received.flags = RACE_BUFFER | RACE_MESSAGE;
    ck_assert_int_eq(race_rule_of(send, store, 0, 1, RACE_SAME_OP), RACE_IN_MESSAGE);
    ck_assert_int_eq(race_rule_of(load, received, 0, 1, RACE_SAME_OP), RACE_IN_MESSAGE);
    ck_assert_int_eq(race_rule_of(received, received, 0, 1, RACE_SAME_OP), RACE_IN_MESSAGE);
    ck_assert_int_eq(race_rule_of(send, out, 0, 1, RACE_SAME_OP), RACE_FINE);
    ck_assert_int_eq(race_rule_of(received, effect(RACE_PUT), 0, 0, RACE_SAME_OP), RACE_RULE_5);
    ck_assert(race_rule_is_value(RACE_RULE_3));
    ck_assert(!race_rule_is_value(RACE_RULE_4));
}
END_TEST

START_TEST(only_an_equal_deed_covers)
{
    struct race_effect put = effect(RACE_PUT), get = effect(RACE_GET), hull = put;
    hull.flags = RACE_HULL;
    ck_assert(race_effect_covers(put, put));
    ck_assert(!race_effect_covers(put, get));
    ck_assert(!race_effect_covers(hull, put));
    ck_assert(!race_effect_covers(put, hull));
}
END_TEST

Suite *suite_model_rule(void)
{
    Suite *s = suite_create("model_rule");
    TCase *t = tcase_create("race_rule");
    tcase_add_loop_test(t, each_cell_of_the_matrix, 0, CELLS);
    tcase_add_test(t, the_matrix_is_whole);
    tcase_add_test(t, accumulates);
    tcase_add_test(t, buffers_in_use);
    tcase_add_test(t, only_an_equal_deed_covers);
    suite_add_tcase(s, t);
    return s;
}
