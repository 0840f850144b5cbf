#include "unit.h"

#include <string.h>

#include "rma/window/window_types.h"
#include "unit_rma.h"
#include "world.h"

static unsigned ops_of(const char *list)
{
    unsigned bits = 0;
    job_check(rma_promise_ops(list, &bits));
    return bits;
}

static uint64_t types_of(const char *list)
{
    uint64_t bits = 0;
    job_check(rma_promise_types(list, &bits));
    return bits;
}

static void lists(void)
{
    static const char *const wrong[] = {"",     ",",  "sum,",    ",sum", "sum,,min",
                                        "sumo", "su", "any,sum", "sum:", "none,sum",
                                        "sum:,min", "sum:x", "sum:1:2", "sum min"};
    unsigned bits;
    uint64_t types;
    job_check(ops_of("sum") == 1u << DT_SUM);
    job_check(ops_of("Min,MAX") == (1u << DT_MIN | 1u << DT_MAX));
    job_check(ops_of("cas") == RMA_PROMISE_CAS && ops_of("cswap:4") == RMA_PROMISE_CAS);
    job_check(ops_of("none") == 0 && ops_of("any") == RMA_PROMISE_ANY_OP);
    job_check(ops_of("any_op") == RMA_PROMISE_ANY_OP);
    job_check(ops_of("max,min,sum,prod,land,band,lor,bor,lxor,bxor,minloc,maxloc,replace,no_op,"
                     "cas,sum") == (RMA_PROMISE_ANY_OP & ~1u));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        job_check(!rma_promise_ops(wrong[i], &bits));
    job_check(types_of("int64") == types_of("longlong:1") && types_of("int64") == types_of("long"));
    job_check(types_of("int32,double") == (types_of("double:17,int")));
    job_check(types_of("int32") != types_of("uint32") && types_of("float") != types_of("int32"));
    job_check(types_of("any") == RMA_PROMISE_ANY_TYPE);
    job_check(!rma_promise_types("", &types) && !rma_promise_types("int128", &types) &&
              !rma_promise_types("int32;int64", &types) && !rma_promise_types("none", &types));
}

/* Keys and values; NULL ends them. */
static struct rma_win with(const char *const *pair)
{
    struct rma_win w = {0};
    struct info *given = info_make();
    for (; pair[0]; pair += 2)
        info_put(given, pair[0], pair[1]);
    rma_promise_take(&w, given);
    info_drop(given);
    return w;
}

#define WITH(...) with((const char *const[]){__VA_ARGS__, NULL})

static void single(void)
{
    struct rma_win w = {0};
    rma_promise_take(&w, NULL);
    job_check(!w.promise.given && !rma_promise_single(&w));
    w = WITH("mpix_accumulate_ops", "sum,cas", "mpix_accumulate_types", "int64,double,byte");
    job_check(w.promise.given && rma_promise_single(&w));
    w = WITH("mpix_accumulate_ops", "sum,cas"); /* of any type, pairs included */
    job_check(w.promise.given && !rma_promise_single(&w));
    w = WITH("mpix_accumulate_types", "int64");
    job_check(w.promise.given && !rma_promise_single(&w));
    w = WITH("mpix_accumulate_ops", "sum,max", "mpix_accumulate_types", "int64");
    job_check(!rma_promise_single(&w));
    w = WITH("mpix_accumulate_ops", "sum", "mpix_accumulate_types", "int64,longdouble");
    job_check(!rma_promise_single(&w));
    w = WITH("mpix_accumulate_ops", "sum", "mpix_accumulate_types", "floatcomplex");
    job_check(!rma_promise_single(&w)); /* 8 bytes, and two parts */
    w = WITH("mpix_accumulate_ops", "none", "mpix_accumulate_types", "int64");
    job_check(!rma_promise_single(&w));
    w = WITH("mpix_accumulate_ops", "summ", "mpix_accumulate_types", "int6");
    job_check(!w.promise.given);
    w = WITH("which_accumulate_ops", "sum,no_op", "accumulate_op_types", "int:1,long:1");
    job_check(rma_promise_single(&w));
    w = WITH("which_accumulate_ops", "sum,cswap", "accumulate_op_types:sum", "double:1",
             "accumulate_op_types:cswap", "int:1,long:1");
    job_check(rma_promise_single(&w) && w.promise.types == types_of("double,int,long"));
    w = WITH("which_accumulate_ops", "sum,cswap", "accumulate_op_types:sum", "double:1");
    job_check(!rma_promise_single(&w) && w.promise.types == RMA_PROMISE_ANY_TYPE);
    w = WITH("which_accumulate_ops", "max", "mpix_accumulate_ops", "sum"); /* ours is meant */
    job_check(w.promise.ops == 1u << DT_SUM);
}

static void texts(void)
{
    char ops[200], types[200];
    struct rma_win w = WITH("mpix_accumulate_ops", "cas,bor,sum", "mpix_accumulate_types",
                            "double,ulong,int8");
    rma_promise_text(&w, ops, types, sizeof ops);
    job_check(!strcmp(ops, "sum,bor,cas") && !strcmp(types, "int8,uint64,double"));
    w = WITH("mpix_accumulate_ops", "none");
    rma_promise_text(&w, ops, types, sizeof ops);
    job_check(!strcmp(ops, "none") && !strcmp(types, "any"));
    rma_promise_take(&w, NULL);
    rma_promise_text(&w, ops, types, sizeof ops);
    job_check(!strcmp(ops, "any") && !strcmp(types, "any"));
}

START_TEST(promise_lists)
{
    ck_assert_int_eq(world_run(1, NULL, lists), 0);
}
END_TEST

START_TEST(promise_single)
{
    ck_assert_int_eq(world_run(1, NULL, single), 0);
}
END_TEST

START_TEST(promise_texts)
{
    ck_assert_int_eq(world_run(1, NULL, texts), 0);
}
END_TEST

Suite *suite_promise(void)
{
    Suite *s = suite_create("promise");
    TCase *t = tcase_create("promise");
    tcase_add_test(t, promise_lists);
    tcase_add_test(t, promise_single);
    tcase_add_test(t, promise_texts);
    suite_add_tcase(s, t);
    return s;
}
