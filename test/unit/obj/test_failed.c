/* test_failed.c - obj/failed.c: the failed in their order, each once; what a communicator has
 * acknowledged. */
#include "unit_obj.h"

#include <mpi.h>

#include "obj/comm.h"
#include "obj/failed.h"

START_TEST(none_has_failed)
{
    struct comm *w = proc->obj->world;
    int i = 0;
    ck_assert_int_eq(comm_unacked(w), -1);
    comm_ack(w);
    ck_assert_int_eq(comm_acked(w, &i), -1);
}
END_TEST

START_TEST(acknowledged_by_each_communicator)
{
    const int ranks[] = {0, 5, 7, 9}, other[] = {0, 8};
    struct rankmap *m = rankmap_make(ranks, 4), *o = rankmap_make(other, 2);
    struct comm *a = comm_make(m, 0, NULL, 40, 40), *b = comm_make(m, 0, NULL, 44, 44),
                *inter = comm_make(o, 0, m, 48, 52);
    int i = 0;
    failed_note(8);
    ck_assert_int_eq(comm_unacked(a), -1); /* no member */
    ck_assert_int_eq(comm_unacked(inter), -1); /* of this group: it does not send there */
    failed_note(9);
    failed_note(5);
    failed_note(9);
    ck_assert_int_eq(comm_unacked(a), 9); /* the first */
    ck_assert_int_eq(comm_unacked(inter), 9);
    comm_ack(a);
    ck_assert_int_eq(comm_unacked(a), -1);
    ck_assert_int_eq(comm_unacked(b), 9);
    ck_assert_int_eq(comm_acked(a, &i), 9);
    ck_assert_int_eq(comm_acked(a, &i), 5);
    ck_assert_int_eq(comm_acked(a, &i), -1);
    failed_note(7);
    ck_assert_int_eq(comm_unacked(a), 7);
    i = 0;
    ck_assert_int_eq(comm_acked(b, &i), -1);
    comm_ack(inter);
    for (int n = 0, want[] = {8, 9, 5, 7, -1}; n < 5; n++) /* members of both groups */
        ck_assert_int_eq(comm_acked(inter, &i), want[n]);
    comm_drop(a);
    comm_drop(b);
    comm_drop(inter);
    rankmap_drop(m);
    rankmap_drop(o);
}
END_TEST

/* The list grows. */
START_TEST(many_fail)
{
    enum { MANY = 100 };
    struct rankmap *m = rankmap_stride(0, 1, MANY + 1);
    struct comm *c = comm_make(m, MANY, NULL, 40, 40);
    for (int r = 0; r < MANY; r++)
        failed_note(r);
    comm_ack(c);
    int n = 0;
    for (int i = 0; comm_acked(c, &i) == n;)
        n++;
    ck_assert_int_eq(n, MANY);
    comm_drop(c);
    rankmap_drop(m);
}
END_TEST

OBJ_SUITE(failed, none_has_failed, acknowledged_by_each_communicator, many_fail)
