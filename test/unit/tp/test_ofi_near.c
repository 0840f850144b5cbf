/* test_ofi_near.c - which of several cards tp/ofi takes. */
#include "config.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "tp/ofi/ofi.h"

Suite *suite_ofi_near(void);

/* A made-up card: its name is its node and its network. */
static int node_asked;

static int node_of(const struct fi_info *i)
{
    return atoi(i->domain_attr->name);
}

static int node_none(void)
{
    node_asked++;
    return -1;
}

static int node_one(void)
{
    node_asked++;
    return 1;
}

/* Which of these cards (up to NULL) is taken by a process on the node that `own` reports? */
static int near(int (*own)(void), const char *const *cards)
{
    static struct fi_info list[8];
    static struct fi_domain_attr domain[8];
    static struct fi_fabric_attr fabric[8];
    int n = 0;
    memset(list, 0, sizeof list);
    for (; cards[n]; n++) {
        const char *provider = strchr(cards[n], '@');
        domain[n] = (struct fi_domain_attr){.name = (char *)cards[n]};
        fabric[n] = (struct fi_fabric_attr){.name = strchr(cards[n], ' ') ? "far" : "one",
                                            .prov_name = provider ? (char *)provider : "verbs"};
        list[n].domain_attr = &domain[n];
        list[n].fabric_attr = &fabric[n];
        if (n)
            list[n - 1].next = &list[n];
    }
    node_asked = 0;
    return (int)(ofi_near_card(list, node_of, own) - list);
}
#define NEAR(own, ...) near(own, (const char *const[]){__VA_ARGS__, NULL})

/* Of several cards that reach the same processes the one on the process's own node is taken. */
static void nearest(void)
{
    ck_assert(NEAR(node_one, "0", "1", "1") == 1);
    ck_assert(NEAR(node_one, "0", "2", "1") == 2 && node_asked == 1);
    ck_assert(NEAR(node_one, "1", "0", "1") == 0);
    /* none there; one network alone, or another way to use the card, or unknown places */
    ck_assert(NEAR(node_one, "0", "2", "3") == 0);
    ck_assert(NEAR(node_one, "0", "1 far", "1@tcp") == 0 && node_asked == 0);
    ck_assert(NEAR(node_one, "-1", "1", "1") == 0 && NEAR(node_one, "0", "-1") == 0);
    ck_assert(NEAR(node_none, "0", "1") == 0 && node_asked == 1);
    /* it is not asked where that changes nothing: one card, or all on one node */
    ck_assert(NEAR(node_none, "0") == 0 && NEAR(node_none, "1", "1") == 0 && node_asked == 0);
    struct fi_domain_attr lo = {.name = "lo"};
    const struct fi_info loopback = {.domain_attr = &lo};
    ck_assert(ofi_card_node(&loopback) == -1);
}

START_TEST(nearest_)
{
    nearest();
}
END_TEST

Suite *suite_ofi_near(void)
{
    Suite *s = suite_create("tp/ofi/near");
    TCase *t = tcase_create("ofi_near");
    tcase_add_test(t, nearest_);
    suite_add_tcase(s, t);
    return s;
}
