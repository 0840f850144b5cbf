#include "unit.h"

#include "obj/err.h"
#include "rooms.h"
#include "unit_p2p.h"

enum { LONG = 300000 };

/* Truncation is an error that names itself, writes nothing beyond the buffer, and leaves later messages whole. */
static void truncated(void)
{
    static char big[LONG], small[64];
    rooms_up();
    if (world()->rank == 0) {
        memset(big, 7, sizeof big);
        job_check(p2p_send(big, 100, type(MPI_BYTE), 1, 1, world(), 0) == MPI_SUCCESS);
        job_check(p2p_send(big, LONG, type(MPI_BYTE), 1, 1, world(), 0) == MPI_SUCCESS);
        job_check(p2p_send(big, 10, type(MPI_BYTE), 1, 1, world(), 0) == MPI_SUCCESS);
    } else {
        MPI_Status st;
        for (int i = 0; i < 2; i++) {
            memset(small, 0, sizeof small);
            job_check(err_class(p2p_recv(small, 50, type(MPI_BYTE), 0, 1, world(), 0, &st)) == MPI_ERR_TRUNCATE);
            job_check(small[50] == 0 && st.MPI_SOURCE == 0 && st.MPI_TAG == 1);
        }
        memset(small, 0, sizeof small);
        job_check(p2p_recv(small, 50, type(MPI_BYTE), 0, MPI_ANY_TAG, world(), 0, &st) == MPI_SUCCESS);
        job_check(small[9] == 7 && small[10] == 0);
    }
    rooms_down();
}

START_TEST(truncation)
{
    ROOMS_JOB(2, truncated);
}
END_TEST

/* Lengths around every threshold; nothing beyond the message is written. */
static void lengths(void)
{
    enum { MOST = 50000 };
    static int from[MOST], to[MOST + 1];
    static const int lens[] = {0, 1, 7, 900, 1800, 5000, MOST};
    rooms_up();
    for (int i = 0; i < 7; i++) {
        int n = lens[i];
        if (world()->rank == 0) {
            for (int k = 0; k < n; k++)
                from[k] = k * 3 + i;
            job_check(p2p_send(from, n, type(MPI_INT), 1, i, world(), 0) == MPI_SUCCESS);
        } else {
            memset(to, 0xff, sizeof to);
            job_check(p2p_recv(to, n, type(MPI_INT), 0, i, world(), 0, MPI_STATUS_IGNORE) == MPI_SUCCESS);
            for (int k = 0; k < n; k++)
                job_check(to[k] == k * 3 + i);
            job_check(to[n] == -1);
        }
    }
    rooms_down();
}

START_TEST(every_length)
{
    ROOMS_JOB(2, lengths);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, truncation);
    tcase_add_test(t, every_length);
}
ROOMS_SUITE(recv, "p2p/recv")
