/* misses.c - offers that never pay become rare: 10,000 receives of a long buffer, whose sender
 * sends five bytes, cost at most 60 offers (PVAR p2p_offers).  Rank 1 posts. */
#include "../mt.h"

enum { MISSES = 10000, OFFERS = 60, ROOM = 65536 };

static unsigned long long offers(void)
{
    MPI_T_pvar_session s;
    MPI_T_pvar_handle h;
    unsigned long long v = 0;
    int i, n;

    CHECK_EQ(MPI_T_pvar_get_index("p2p_offers", MPI_T_PVAR_CLASS_COUNTER, &i), MPI_SUCCESS);
    MPI_T_pvar_session_create(&s);
    CHECK_EQ(MPI_T_pvar_handle_alloc(s, i, NULL, &h, &n), MPI_SUCCESS);
    CHECK_EQ(MPI_T_pvar_read(s, h, &v), MPI_SUCCESS);
    MPI_T_pvar_handle_free(s, &h);
    MPI_T_pvar_session_free(&s);
    return v;
}

int main(int argc, char **argv)
{
    static char b[ROOM];
    MPI_Request r;
    int i, level;

    mt_init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
    for (i = 0; i < MISSES && mt_rank < 2; i++)
        if (mt_rank) {
            MPI_Irecv(b, ROOM, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &r);
            MPI_Send(NULL, 0, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(NULL, 0, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(b, 5, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
        }
    if (mt_rank == 1)
        MUST(offers() > 0 && offers() <= OFFERS, "%llu offers", offers());
    MPI_T_finalize();
    return mt_finish();
}
