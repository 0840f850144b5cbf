#include "unit.h"

#include "rooms.h"
#include "unit_p2p.h"

/* Persistent requests, messages to itself, cancel of a receive, any-source order. */
static void requests(void)
{
    rooms_up();
    int me = world()->rank, out, in = -1;
    struct request *s, *r;
    job_check(p2p_send_init(&out, 1, type(MPI_INT), me, 1, world(), 0, &s) == MPI_SUCCESS);
    job_check(p2p_recv_init(&in, 1, type(MPI_INT), me, 1, world(), 0, &r) == MPI_SUCCESS);
    for (int i = 0; i < 5; i++) {
        out = i;
        job_check(request_start(r) == MPI_SUCCESS && request_start(s) == MPI_SUCCESS);
        request_wait(s);
        request_wait(r);
        job_check(request_finish(s, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        job_check(request_finish(r, MPI_STATUS_IGNORE) == MPI_SUCCESS && in == i);
    }
    request_release(s);
    request_release(r);
    job_check(p2p_irecv(&in, 1, type(MPI_INT), MPI_ANY_SOURCE, 50, world(), 0, &r) == MPI_SUCCESS);
    job_check(r->ops->cancel(r) == MPI_SUCCESS);
    request_wait(r);
    MPI_Status st;
    job_check(request_finish(r, &st) == MPI_SUCCESS);
    job_check((st.count_hi_and_cancelled & 1) == 1);
    /* the cancelled receive takes nothing; nobody sends before all have cancelled */
    job_check(coll_barrier(world()) == MPI_SUCCESS);
    if (me == 0) {
        int next[8] = {0};
        for (int i = 0; i < 50 * (world()->size - 1); i++) {
            int v = take_int(MPI_ANY_SOURCE, 50, &st);
            job_check(v == next[st.MPI_SOURCE]++);
        }
    } else {
        for (int i = 0; i < 50; i++)
            job_check(p2p_send(&i, 1, type(MPI_INT), 0, 50, world(), 0) == MPI_SUCCESS);
    }
    rooms_down();
}

START_TEST(requests_of_all_kinds)
{
    ROOMS_JOB(3, requests);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, requests_of_all_kinds);
}
ROOMS_SUITE(p2p, "p2p/p2p")
