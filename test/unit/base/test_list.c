/* test_list.c - order and removal. */
#include "unit.h"

#include "base/list.h"

Suite *suite_list(void);

struct item {
    int v;
    struct list link;
};

START_TEST(order_and_removal)
{
    struct list head = LIST_INIT(head);
    struct item it[4];
    for (int i = 0; i < 4; i++) {
        it[i].v = i;
        list_push(&head, &it[i].link);
    }
    list_del(&it[1].link);
    list_del(&it[1].link); /* idempotent */
    list_push_front(&head, &it[1].link);
    int expect[] = {1, 0, 2, 3}, n = 0;
    for (struct list *p = head.next; p != &head; p = p->next)
        ck_assert_int_eq(LIST_OBJ(p, struct item, link)->v, expect[n++]);
    ck_assert_int_eq(n, 4);
    while (list_pop(&head))
        n--;
    ck_assert_int_eq(n, 0);
    ck_assert(list_empty(&head) && !list_first(&head));
}
END_TEST

Suite *suite_list(void)
{
    Suite *s = suite_create("base/list");
    TCase *t = tcase_create("list");
    tcase_add_test(t, order_and_removal);
    suite_add_tcase(s, t);
    return s;
}
