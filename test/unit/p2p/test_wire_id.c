/* test_wire_id.c - p2p/wire_id.c: names. */
#include "live.h"
#include "unit.h"

#include <stdlib.h>

Suite *suite_wire_id(void);

/* Names find their request while it has one, for the process it concerns, and never afterwards. */
static void body_names(void)
{
    enum { N = 100 };
    static struct p2p_req q[N];
    uint64_t old[N];
    live_start();
    for (int i = 0; i < N; i++) {
        q[i].world = i % 3;
        job_check((old[i] = wire_id_make(&q[i])) != 0 && wire_id_make(&q[i]) == old[i]);
    }
    for (int i = 0; i < N; i++) {
        job_check(wire_id_find(old[i], i % 3) == &q[i] && !wire_id_find(old[i], 3) &&
                  !wire_id_find(old[i], -1));
        job_check(!wire_id_find(old[i] + (1ull << 32), i % 3) &&
                  !wire_id_find(old[i] & UINT32_MAX, i % 3));
    }
    for (int i = 0; i < N; i += 2)
        wire_id_drop(&q[i]);
    for (int i = 0; i < N; i++)
        job_check(wire_id_find(old[i], i % 3) == (i % 2 ? &q[i] : NULL));
    for (int i = 0; i < N; i += 2)
        job_check(wire_id_make(&q[i]) != old[i] && !wire_id_find(old[i], i % 3) &&
                  wire_id_find(q[i].wire_id, i % 3) == &q[i]);
    static const uint64_t never[] = {0,          1ull << 32, UINT64_MAX,      UINT32_MAX,
                                     1ull << 63, 129,        1ull << 32 | 129};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        for (int w = -1; w < 3; w++)
            job_check(!wire_id_find(never[i], w));
    for (int i = 0; i < N; i++)
        wire_id_drop(&q[i]);
    live_stop();
}

START_TEST(names)
{
    ck_assert_int_eq(job_run(1, NULL, body_names, 30), 0);
}
END_TEST

Suite *suite_wire_id(void)
{
    Suite *s = suite_create("wire_id");
    TCase *t = tcase_create("wire_id");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, names);
    suite_add_tcase(s, t);
    return s;
}
