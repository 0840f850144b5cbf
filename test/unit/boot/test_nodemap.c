/* test_nodemap.c - boot/nodemap.c: layouts, cliques, nolocal, large, malformed, far apart. */
#include "unit.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>

#include "boot/nodemap.h"

Suite *suite_nodemap(void);

/* Compare with the plain expansion, rank by rank, as seen from every rank. */
static void check_map(const char *text, int size, const int *host)
{
    for (int me = 0; me < size; me++) {
        struct node_map m;
        ck_assert_int_eq(node_map_init(&m, text, me, size, 0, 1), 0);
        int local = 0, hosts = 0;
        for (int r = 0; r < size; r++) {
            ck_assert_int_eq(node_map_node(&m, r), host[r]);
            hosts = host[r] >= hosts ? host[r] + 1 : hosts;
            if (host[r] != host[me]) {
                ck_assert_int_eq(node_map_local_index(&m, r), -1);
                continue;
            }
            ck_assert_int_eq(node_map_local_index(&m, r), local);
            ck_assert_int_eq(node_map_local_rank(&m, local), r);
            local++;
        }
        ck_assert_int_eq(m.local_size, local);
        ck_assert_int_eq(m.host_size, local);
        ck_assert_int_eq(m.nodes, hosts);
        ck_assert_int_eq(m.node, host[me]);
        node_map_free(&m);
    }
}

START_TEST(layouts)
{
    check_map("(vector,(0,1,1))", 4, (int[]){0, 0, 0, 0});                 /* one host */
    check_map("(vector,(0,2,2))", 4, (int[]){0, 0, 1, 1});                 /* blocks */
    check_map("(vector,(0,2,2))", 3, (int[]){0, 0, 1});                    /* last one not full */
    check_map("(vector,(0,3,1))", 8, (int[]){0, 1, 2, 0, 1, 2, 0, 1});     /* round robin */
    check_map("(vector,(0,2,2))", 7, (int[]){0, 0, 1, 1, 0, 0, 1});        /* blocks, cyclic */
    check_map("(vector,(0,1,3),(1,2,1))", 5, (int[]){0, 0, 0, 1, 2});      /* uneven */
    check_map("(vector,(1,1,2),(0,1,1),(1,1,1))", 4, (int[]){1, 1, 0, 1}); /* irregular */
    check_map("(vector,(0,8,4))", 2, (int[]){0, 0}); /* more room than ranks */
}
END_TEST

START_TEST(cliques)
{
    struct node_map m;
    for (int size = 1; size <= 9; size++)
        for (int k = 1; k <= 10; k++) {
            int effective = k < size ? k : size, seen = 0;
            for (int me = 0; me < size; me++) {
                ck_assert_int_eq(node_map_init(&m, "(vector,(0,1,1))", me, size, 0, k), 0);
                ck_assert_int_eq(m.nodes, effective);
                ck_assert_int_eq(m.host_size, size);
                int local = 0;
                for (int r = 0; r < size; r++) {
                    int node = node_map_node(&m, r);
                    ck_assert(node >= 0 && node < effective);
                    if (node != m.node) {
                        ck_assert_int_eq(node_map_local_index(&m, r), -1);
                        continue;
                    }
                    ck_assert_int_eq(node_map_local_index(&m, r), local);
                    ck_assert_int_eq(node_map_local_rank(&m, local++), r);
                }
                ck_assert_int_eq(local, m.local_size);
                ck_assert_int_ge(local, size / effective);
                ck_assert_int_le(local, (size + effective - 1) / effective);
                seen += m.local_first == (int)(me - node_map_local_index(&m, me));
                node_map_free(&m);
            }
            ck_assert_int_eq(seen, size);
        }
    /* Two hosts of three, in two each: nodes 0 0 1 | 2 2 3. */
    ck_assert_int_eq(node_map_init(&m, "(vector,(0,2,3))", 4, 6, 0, 2), 0);
    ck_assert_int_eq(m.nodes, 4);
    static const int want[6] = {0, 0, 1, 2, 2, 3};
    for (int r = 0; r < 6; r++)
        ck_assert_int_eq(node_map_node(&m, r), want[r]);
    ck_assert_int_eq(node_map_local_rank(&m, 0), 3);
    node_map_free(&m);
}
END_TEST

START_TEST(nolocal)
{
    struct node_map m;
    ck_assert_int_eq(node_map_init(&m, "(vector,(0,1,4))", 2, 4, 1, 3), 0);
    ck_assert_int_eq(m.nodes, 4);
    ck_assert_int_eq(m.host_size, 4);
    ck_assert_int_eq(m.local_size, 1);
    ck_assert_int_eq(node_map_node(&m, 3), 3);
    ck_assert_int_eq(node_map_local_index(&m, 2), 0);
    ck_assert_int_eq(node_map_local_index(&m, 1), -1);
    ck_assert_int_eq(node_map_local_rank(&m, 0), 2);
    node_map_free(&m);
    /* no mapping from the launcher: the same, and nothing is known of the host */
    ck_assert_int_eq(node_map_init(&m, NULL, 1, 3, 0, 1), 0);
    ck_assert_int_eq(m.nodes, 3);
    ck_assert_int_eq(m.local_size, 1);
    node_map_free(&m);
}
END_TEST

/* A million nodes cost one block. */
START_TEST(large)
{
    struct node_map m;
    ck_assert_int_eq(node_map_init(&m, "(vector,(0,1048576,64))", 12345678, 67108864, 0, 1), 0);
    ck_assert_int_eq(m.nblocks, 1);
    ck_assert_int_eq(m.nodes, 1048576);
    ck_assert_int_eq(node_map_node(&m, 67108863), 1048575);
    ck_assert_int_eq(node_map_local_index(&m, 12345678), 12345678 % 64);
    ck_assert_int_eq(node_map_local_rank(&m, 0), 12345678 / 64 * 64);
    node_map_free(&m);
    ck_assert_int_eq(node_map_init(&m, "(vector,(0,1000,1))", 999, INT_MAX, 0, 1), 0);
    ck_assert_int_eq(node_map_node(&m, INT_MAX - 1), (INT_MAX - 1) % 1000);
    ck_assert_int_eq(node_map_local_rank(&m, 2), 2999);
    node_map_free(&m);
}
END_TEST

START_TEST(malformed)
{
    static const char *const bad[] = {
        "",
        "(",
        "vector",
        "(vector)",
        "(vector,)",
        "(vector,(0,1,1)",
        "(vector,(0,1,1))x",
        "(vector,(0,0,1))",
        "(vector,(0,1,0))",
        "(vector,(-1,1,1))",
        "(vector,(0,1))",
        "(vector,(0,1,1,1))",
        "(vector,(a,1,1))",
        "(vector,(0,99999999999,1))",
        "(vector,(2147483647,2,1))",
        "(vector,(0,1,1),)",
        "(vector (0,1,1))",
        "(vector,(0, 1,1))",
    };
    struct node_map m;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(node_map_init(&m, bad[i], 0, 2, 0, 1) == -EINVAL, "taken: \"%s\"", bad[i]);
}
END_TEST

/* Numbers of hosts may be anything: no loop over them, no overflow. */
START_TEST(far_apart)
{
    struct node_map m;
    ck_assert_int_eq(node_map_init(&m, "(vector,(0,1,2),(2147483000,1,4))", 3, 6, 0, 1048576), 0);
    ck_assert_int_eq(m.cliques, 1);
    ck_assert_int_eq(m.node, 2147483000);
    node_map_free(&m);
    ck_assert_int_eq(node_map_init(&m, "(vector,(1500000000,1,4))", 3, 4, 0, 3), 0);
    ck_assert_int_eq(m.cliques, 1);
    node_map_free(&m);
    ck_assert_int_eq(node_map_init(&m, "(vector,(500000000,1,4))", 3, 4, 0, 9), 0);
    ck_assert_int_eq(m.cliques, 4);
    ck_assert_int_eq(m.node, 500000000 * 4 + 3);
    node_map_free(&m);
}
END_TEST

Suite *suite_nodemap(void)
{
    Suite *s = suite_create("boot/nodemap");
    TCase *t = tcase_create("nodemap");
    tcase_add_test(t, layouts);
    tcase_add_test(t, cliques);
    tcase_add_test(t, nolocal);
    tcase_add_test(t, large);
    tcase_add_test(t, malformed);
    tcase_add_test(t, far_apart);
    suite_add_tcase(s, t);
    return s;
}
