#include "unit.h"

#include "p2p/p2p_types.h"
#include "rooms.h"
#include "unit_p2p.h"
#include "var/var.h"

enum { FLOOD = 3000, BYTES = 1000 };

/* All flood the last rank, which does not receive: what it keeps stays under its bound, and all arrives in order. */
static void flood(void)
{
    static char buf[BYTES];
    static struct request *r[FLOOD];
    rooms_up();
    int me = world()->rank, last = world()->size - 1;
    if (me != last) {
        for (int i = 0; i < FLOOD; i++) {
            memcpy(buf, &i, sizeof i);
            char *mine = malloc(BYTES); /* isend: each message needs its own memory until it is complete */
            memcpy(mine, buf, BYTES);
            job_check(p2p_isend(mine, BYTES, type(MPI_BYTE), last, 3, world(), 0, &r[i]) == MPI_SUCCESS);
            struct p2p_peer *p = peer_get(last);
            job_check(p->eager_out <= (size_t)cvar.p2p_eager_window); /* P5 */
        }
        for (int i = 0; i < FLOOD; i++) {
            request_wait(r[i]);
            job_check(request_finish(r[i], MPI_STATUS_IGNORE) == MPI_SUCCESS);
        }
        job_check(peer_get(last)->eager_out <= (size_t)cvar.p2p_eager_window);
    } else {
        int next[8] = {0};
        for (int i = 0; i < 3000; i++) /* takes what comes in, asks for nothing */
            progress_poll();
        for (int i = 0; i < FLOOD * last; i++) {
            MPI_Status st;
            int n;
            job_check(p2p_recv(buf, BYTES, type(MPI_BYTE), MPI_ANY_SOURCE, 3, world(), 0, &st) == MPI_SUCCESS);
            memcpy(&n, buf, sizeof n);
            job_check(n == next[st.MPI_SOURCE]++);
        }
    }
    rooms_down();
}

START_TEST(flooded_receiver)
{
    ROOMS_JOB(4, flood);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, flooded_receiver);
}
ROOMS_SUITE(peer, "p2p/peer")
