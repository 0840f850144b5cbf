#include "unit.h"

#include "rooms.h"
#include "unit_p2p.h"

enum { N = 60000 };

/* A ring by sendrecv, and in place by isendrecv with the data packed aside. */
static void ring(void)
{
    static int a[N], b[N];
    rooms_up();
    int me = world()->rank, size = world()->size, right = (me + 1) % size, left = (me + size - 1) % size;
    MPI_Status st;
    for (int n = 1; n <= N; n *= 60) {
        for (int i = 0; i < n; i++)
            a[i] = me * 1000 + i;
        job_check(p2p_sendrecv(a, n, type(MPI_INT), right, 1, b, n, type(MPI_INT), left, 1, world(), 0, &st) == MPI_SUCCESS);
        for (int i = 0; i < n; i++)
            job_check(b[i] == left * 1000 + i);
        job_check(st.MPI_SOURCE == left);
        struct request *r;
        job_check(p2p_isendrecv(a, n, type(MPI_INT), right, 2, a, n, type(MPI_INT), left, 2, world(), 1, &r) == MPI_SUCCESS);
        request_wait(r);
        job_check(request_finish(r, &st) == MPI_SUCCESS && st.MPI_SOURCE == left);
        for (int i = 0; i < n; i++)
            job_check(a[i] == left * 1000 + i);
    }
    rooms_down();
}

START_TEST(rings)
{
    ROOMS_JOB(3, ring);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, rings);
}
ROOMS_SUITE(pair, "p2p/pair")
