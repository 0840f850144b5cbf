#include "unit.h"

#include "p2p/p2p_types.h"
#include "rooms.h"
#include "unit_p2p.h"

enum { BYTES = 3 * 1024 * 1024 + 17, MANY = 40, EACH = 100000 };

/* Rendezvous: long messages whole, by single copy where near and by pulled segments where not; many at once;
 * both directions at once. */
static void rendezvous(void)
{
    static char out[BYTES], in[BYTES];
    struct request *r[2 * MANY];
    rooms_up();
    int me = world()->rank, other = 1 - me;
    for (int i = 0; i < BYTES; i++)
        out[i] = (char)(i * 31 + me);
    job_check(p2p_irecv(in, BYTES, type(MPI_BYTE), other, 1, world(), 0, &r[0]) == MPI_SUCCESS);
    job_check(p2p_isend(out, BYTES, type(MPI_BYTE), other, 1, world(), 0, &r[1]) == MPI_SUCCESS);
    for (int i = 0; i < 2; i++) {
        request_wait(r[i]);
        job_check(request_finish(r[i], MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
    for (int i = 0; i < BYTES; i++)
        job_check(in[i] == (char)(i * 31 + other));
    /* sent before anybody asks: the requests wait, not the data */
    for (int i = 0; i < MANY; i++)
        job_check(p2p_isend(out + i, EACH, type(MPI_BYTE), other, 2, world(), 0, &r[i]) == MPI_SUCCESS);
    job_check(coll_barrier(world()) == MPI_SUCCESS);
    for (int i = 0; i < MANY; i++) {
        job_check(p2p_recv(in, EACH, type(MPI_BYTE), other, 2, world(), 0, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        job_check(in[0] == (char)(i * 31 + other) && in[EACH - 1] == (char)((i + EACH - 1) * 31 + other));
    }
    for (int i = 0; i < MANY; i++) {
        request_wait(r[i]);
        job_check(request_finish(r[i], MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
    job_check(list_empty(&proc->p2p->open) && list_empty(&proc->p2p->pulls)); /* P6 */
    rooms_down();
}

START_TEST(long_messages)
{
    ROOMS_JOB(2, rendezvous);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, long_messages);
}
ROOMS_SUITE(by_am, "p2p/by_am")
