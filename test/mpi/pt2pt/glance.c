/* glance.c - MPIX_Request_is_complete: requests of each kind, before and after; it makes no
 * progress, and the request stays. */
#include "../mt.h"

static void receives(void)
{
    MPI_Request r, s;
    MPI_Status st;
    int v = 0, w = 5, flag, me, n = 4 << 20;
    char *big = mt_alloc((size_t)n), *to = mt_alloc((size_t)n);

    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Irecv(&v, 1, MPI_INT, me, 1, MPI_COMM_WORLD, &r);
    CHECK(!MPIX_Request_is_complete(r) && !MPIX_Request_is_complete(r));
    MPI_Isend(&w, 1, MPI_INT, me, 1, MPI_COMM_WORLD, &s);
    do
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    while (!MPIX_Request_is_complete(r) || !MPIX_Request_is_complete(s));
    CHECK(v == 5 && r != MPI_REQUEST_NULL && s != MPI_REQUEST_NULL);
    MPI_Wait(&r, &st);
    CHECK(st.MPI_TAG == 1 && st.MPI_SOURCE == me);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    MPI_Irecv(&v, 1, MPI_INT, me, 1, MPI_COMM_WORLD, &r);
    MPI_Cancel(&r);
    CHECK(MPIX_Request_is_complete(r));
    MPI_Wait(&r, &st);
    MPI_Irecv(to, n, MPI_CHAR, me, 2, MPI_COMM_WORLD, &r);
    MPI_Isend(big, n, MPI_CHAR, me, 2, MPI_COMM_WORLD, &s);
    while (!MPIX_Request_is_complete(r))
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    free(big), free(to);
}

/* Nothing can have come while no rank makes progress. */
static void waits(void)
{
    MPI_Request r;
    int me, size, v = 0, i, seen = 0;

    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Irecv(&v, 1, MPI_INT, (me + 1) % size, 3, MPI_COMM_WORLD, &r);
    MPI_Barrier(MPI_COMM_WORLD);
    for (i = 0; i < 1000; i++)
        seen += MPIX_Request_is_complete(r);
    CHECK_EQ(seen, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&me, 1, MPI_INT, (me + size - 1) % size, 3, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK_EQ(v, (me + 1) % size);
}

static int query(void *x, MPI_Status *st)
{
    (void)x;
    MPI_Status_set_cancelled(st, 0);
    MPI_Status_set_elements(st, MPI_BYTE, 0);
    return MPI_SUCCESS;
}

static int nothing(void *x)
{
    (void)x;
    return MPI_SUCCESS;
}

static int no_cancel(void *x, int done)
{
    (void)x, (void)done;
    return MPI_SUCCESS;
}

static void others(void)
{
    MPI_Request r;
    MPI_Win win;
    int64_t *mem, one = 1, old = -1;
    int v = 0, flag;

    CHECK(MPIX_Request_is_complete(MPI_REQUEST_NULL));
    MPI_Grequest_start(query, nothing, no_cancel, NULL, &r);
    CHECK(!MPIX_Request_is_complete(r));
    MPI_Grequest_complete(r);
    CHECK(MPIX_Request_is_complete(r));
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Recv_init(&v, 1, MPI_INT, 0, 4, MPI_COMM_SELF, &r);
    CHECK(MPIX_Request_is_complete(r)); /* inactive */
    MPI_Start(&r);
    CHECK(!MPIX_Request_is_complete(r));
    MPI_Send(&v, 1, MPI_INT, 0, 4, MPI_COMM_SELF);
    while (!MPIX_Request_is_complete(r))
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
    MPI_Ibarrier(MPI_COMM_WORLD, &r);
    while (!MPIX_Request_is_complete(r))
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    *mem = 0;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPIX_Rfetch_and_op(&one, &old, MPI_INT64_T, 0, 0, MPI_SUM, win, &r);
    do
        MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE);
    while (!flag);
    CHECK(MPIX_Request_is_complete(r) && old >= 0);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Win_unlock(0, win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    receives();
    waits();
    others();
    return mt_finish();
}
