/* test_pair.c - p2p/pair.c: round a ring. */
#include "live.h"
#include "unit.h"

#include <stdlib.h>

Suite *suite_pair(void);

static void body(void)
{
    static const size_t sizes[] = {4, 30000, 500000};
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_CHAR);
    int next = (c->rank + 1) % c->size, last = (c->rank + c->size - 1) % c->size;
    char *out = malloc(500000), *in = malloc(500000);
    for (int i = 0; i < 3; i++)
        for (int aside = 0; aside < 2; aside++) {
            struct request *r;
            MPI_Status st;
            size_t n = sizes[i];
            char *from = aside ? in : out;
            memset(in, 0, n);
            live_fill(from, n, (unsigned)c->rank);
            ok(p2p_isendrecv(from, (MPI_Aint)n, t, next, 1, in, (MPI_Aint)n, t, last, 1, c, aside,
                             NULL, &r));
            request_wait(r);
            ok(request_finish(r, &st));
            job_check(live_same(in, n, (unsigned)last) && st.MPI_SOURCE == last &&
                      status_count(&st) == (int64_t)n);
            ok(p2p_sendrecv(out, (MPI_Aint)n, t, next, 2, in, (MPI_Aint)n, t, MPI_ANY_SOURCE, 2, c,
                            0, &st));
            job_check(st.MPI_SOURCE == last && st.MPI_TAG == 2);
        }
    free(in);
    free(out);
    live_stop();
}

START_TEST(round_a_ring)
{
    ck_assert_int_eq(job_run(1, NULL, body, 30), 0);
    ck_assert_int_eq(job_run(3, NULL, body, 30), 0);
}
END_TEST

Suite *suite_pair(void)
{
    Suite *s = suite_create("p2p/pair");
    TCase *t = tcase_create("pair");
    tcase_set_timeout(t, 90);
    tcase_add_test(t, round_a_ring);
    suite_add_tcase(s, t);
    return s;
}
