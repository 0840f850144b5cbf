#include "unit.h"

#include "rooms.h"
#include "unit_p2p.h"

/* Every mode arrives; a synchronous send is not complete before it is received. */
static void modes(void)
{
    rooms_up();
    int me = world()->rank, v = 42;
    if (me == 0) {
        struct request *r;
        job_check(p2p_isend(&v, 1, type(MPI_INT), 1, 5, world(), P2P_SYNC, &r) == MPI_SUCCESS);
        for (int i = 0; i < 200; i++)
            progress_poll();
        job_check(!r->done); /* rank 1 receives it only after the next message */
        job_check(p2p_send(&v, 1, type(MPI_INT), 1, 6, world(), P2P_STANDARD) == MPI_SUCCESS);
        request_wait(r);
        job_check(request_finish(r, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        job_check(p2p_send(&v, 1, type(MPI_INT), 1, 7, world(), P2P_SYNC) == MPI_SUCCESS);
        job_check(take_int(1, 8, MPI_STATUS_IGNORE) == 1); /* its receive is posted */
        job_check(p2p_send(&v, 1, type(MPI_INT), 1, 9, world(), P2P_READY) == MPI_SUCCESS);
        job_check(p2p_send(&v, 1, type(MPI_INT), MPI_PROC_NULL, 9, world(), 0) == MPI_SUCCESS);
    } else {
        struct request *r;
        int got = 0, one = 1;
        job_check(take_int(0, 6, MPI_STATUS_IGNORE) == 42);
        job_check(take_int(0, 5, MPI_STATUS_IGNORE) == 42);
        job_check(take_int(0, 7, MPI_STATUS_IGNORE) == 42);
        job_check(p2p_irecv(&got, 1, type(MPI_INT), 0, 9, world(), 0, &r) == MPI_SUCCESS);
        job_check(p2p_send(&one, 1, type(MPI_INT), 0, 8, world(), 0) == MPI_SUCCESS);
        request_wait(r);
        job_check(request_finish(r, MPI_STATUS_IGNORE) == MPI_SUCCESS && got == 42);
    }
    rooms_down();
}

START_TEST(send_modes)
{
    ROOMS_JOB(2, modes);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, send_modes);
}
ROOMS_SUITE(send, "p2p/send")
