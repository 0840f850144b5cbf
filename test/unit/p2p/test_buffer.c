#include "unit.h"

#include "obj/err.h"
#include "rooms.h"
#include "unit_p2p.h"

enum { ROOM = 20000 };

static void buffered(void)
{
    static char space[ROOM], big[ROOM];
    rooms_up();
    int v = 77;
    void *back;
    size_t size;
    if (world()->rank == 0) {
        job_check(err_class(p2p_send(big, ROOM, type(MPI_BYTE), 1, 1, world(), P2P_BUFFERED)) == MPI_ERR_BUFFER);
        job_check(p2p_buffer_attach(space, ROOM) == MPI_SUCCESS);
        job_check(err_class(p2p_buffer_attach(space, ROOM)) == MPI_ERR_BUFFER);
        for (int i = 0; i < 10; i++) {
            v = i;
            job_check(p2p_send(&v, 1, type(MPI_INT), 1, 1, world(), P2P_BUFFERED) == MPI_SUCCESS);
        }
        job_check(err_class(p2p_send(big, ROOM, type(MPI_BYTE), 1, 1, world(), P2P_BUFFERED)) == MPI_ERR_BUFFER);
        job_check(p2p_buffer_detach(&back, &size) == MPI_SUCCESS);
        job_check(back == space && size == ROOM);
    } else {
        for (int i = 0; i < 10; i++)
            job_check(take_int(0, 1, MPI_STATUS_IGNORE) == i);
    }
    rooms_down();
}

START_TEST(attach_send_detach)
{
    ROOMS_JOB(2, buffered);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, attach_send_detach);
}
ROOMS_SUITE(buffer, "p2p/buffer")
