#include "unit.h"

#include "rooms.h"
#include "unit_p2p.h"

static void probes(void)
{
    rooms_up();
    int me = world()->rank, flag = 1, v = 5;
    MPI_Status st;
    if (me == 0) {
        for (int i = 0; i < 3; i++) {
            v = 10 + i;
            job_check(p2p_send(&v, 1, type(MPI_INT), 1, 4, world(), 0) == MPI_SUCCESS);
        }
    } else {
        struct request *msg;
        job_check(p2p_probe(0, 99, world(), &flag, NULL, &st) == MPI_SUCCESS && flag == 0);
        job_check(p2p_probe(MPI_ANY_SOURCE, 4, world(), NULL, NULL, &st) == MPI_SUCCESS);
        job_check(st.MPI_SOURCE == 0 && st.MPI_TAG == 4);
        /* taken out of matching: the next receive gets the second message */
        job_check(p2p_probe(0, 4, world(), NULL, &msg, &st) == MPI_SUCCESS && msg);
        job_check(take_int(0, 4, MPI_STATUS_IGNORE) == 11);
        job_check(p2p_mrecv(&v, 1, type(MPI_INT), msg, &st) == MPI_SUCCESS && v == 10);
        job_check(take_int(0, MPI_ANY_TAG, MPI_STATUS_IGNORE) == 12);
        job_check(p2p_probe(MPI_PROC_NULL, 4, world(), NULL, &msg, &st) == MPI_SUCCESS);
        job_check(st.MPI_SOURCE == MPI_PROC_NULL);
    }
    rooms_down();
}

START_TEST(probe_and_matched_probe)
{
    ROOMS_JOB(2, probes);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, probe_and_matched_probe);
}
ROOMS_SUITE(probe, "p2p/probe")
