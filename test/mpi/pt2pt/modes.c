/* modes.c - synchronous, buffered and ready sends, persistent requests, cancel, request_free,
 * request_get_status. */
#include "../mt.h"

static int left, right;

/* A synchronous send is not complete before its receive has started. */
static void synchronous(int bytes)
{
    char *out = mt_alloc((size_t)bytes), *in = mt_alloc((size_t)bytes);
    MPI_Request req;
    int flag, i;

    mt_fill(out, (size_t)bytes, (unsigned)mt_rank);
    MPI_Issend(out, bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &req);
    for (i = 0; i < 200; i++) {
        MPI_Test(&req, &flag, MPI_STATUS_IGNORE);
        CHECK_EQ(flag, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(in, bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    CHECK_EQ(mt_wrong(in, (size_t)bytes, (unsigned)left), -1);
    if (mt_size > 1) {
        if (mt_rank % 2 == 0 && mt_rank + 1 < mt_size)
            MPI_Ssend(out, bytes, MPI_BYTE, mt_rank + 1, 2, MPI_COMM_WORLD);
        else if (mt_rank % 2)
            MPI_Recv(in, bytes, MPI_BYTE, mt_rank - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    free(out);
    free(in);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void buffered(void)
{
    enum { N = 50 };
    int size, i, v, got, err;
    char *buf, *back, *big;
    MPI_Request req;

    MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &size);
    size = N * (size + MPI_BSEND_OVERHEAD);
    buf = mt_alloc((size_t)size);
    MPI_Buffer_attach(buf, size);
    for (i = 0; i < N; i++) {
        v = i * 10 + mt_rank;
        MPI_Bsend(&v, 1, MPI_INT, right, 3, MPI_COMM_WORLD);
        v = -1;
    }
    for (i = 0; i < N; i++) {
        MPI_Recv(&got, 1, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(got, i * 10 + left);
    }
    MPI_Buffer_detach(&back, &got);
    CHECK(back == buf);
    CHECK_EQ(got, size);

    /* detach waits for what is under way; the buffer may be attached again */
    MPI_Buffer_attach(buf, size);
    v = 4;
    MPI_Ibsend(&v, 1, MPI_INT, right, 4, MPI_COMM_WORLD, &req);
    v = 5;
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    MPI_Recv(&got, 1, MPI_INT, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(got, 4);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    big = mt_alloc((size_t)size);
    memset(big, 0, (size_t)size);
    err = MPI_Bsend(big, size, MPI_BYTE, right, 5, MPI_COMM_WORLD); /* no room for its overhead */
    CHECK_EQ(mt_class(err), MPI_ERR_BUFFER);
    free(big);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Buffer_detach(&back, &got);
    free(buf);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void ready(void)
{
    int v = mt_rank, got = -1, i;
    MPI_Request req, s;

    for (i = 0; i < 3; i++) {
        MPI_Irecv(&got, 1, MPI_INT, left, 6, MPI_COMM_WORLD, &req);
        MPI_Barrier(MPI_COMM_WORLD);
        if (i == 0)
            MPI_Rsend(&v, 1, MPI_INT, right, 6, MPI_COMM_WORLD);
        else {
            MPI_Irsend(&v, 1, MPI_INT, right, 6, MPI_COMM_WORLD, &s);
            MPI_Wait(&s, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&req, MPI_STATUS_IGNORE);
        CHECK_EQ(got, left);
    }
}

static void persistent(int count)
{
    int *out[4], *in[4], i, k, size, flag;
    MPI_Request req[8];
    MPI_Status st[8];
    char *buf, *back;

    MPI_Pack_size(count, MPI_INT, MPI_COMM_WORLD, &size);
    size = 6 * (size + MPI_BSEND_OVERHEAD);
    buf = mt_alloc((size_t)size);
    MPI_Buffer_attach(buf, size);
    for (k = 0; k < 4; k++) {
        out[k] = mt_alloc(sizeof(int) * (size_t)count);
        in[k] = mt_alloc(sizeof(int) * (size_t)count);
        MPI_Recv_init(in[k], count, MPI_INT, left, 10 + k, MPI_COMM_WORLD, &req[k]);
    }
    MPI_Send_init(out[0], count, MPI_INT, right, 10, MPI_COMM_WORLD, &req[4]);
    MPI_Ssend_init(out[1], count, MPI_INT, right, 11, MPI_COMM_WORLD, &req[5]);
    MPI_Bsend_init(out[2], count, MPI_INT, right, 12, MPI_COMM_WORLD, &req[6]);
    MPI_Rsend_init(out[3], count, MPI_INT, right, 13, MPI_COMM_WORLD, &req[7]);
    MPI_Wait(&req[0], &st[0]);   /* inactive: returns at once with the empty status */
    CHECK_EQ(st[0].MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK(req[0] != MPI_REQUEST_NULL);
    for (i = 0; i < 5; i++) {
        for (k = 0; k < 4; k++) {
            mt_fill(out[k], sizeof(int) * (size_t)count, (unsigned)(mt_rank * 100 + i * 4 + k));
            memset(in[k], 0, sizeof(int) * (size_t)count);
        }
        MPI_Startall(4, req);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Startall(3, req + 4);
        MPI_Start(&req[7]);
        if (i % 2) {
            MPI_Waitall(8, req, st);
            for (k = 0; k < 4; k++)
                CHECK_EQ(st[k].MPI_TAG, 10 + k);
        } else {
            do
                MPI_Testall(8, req, &flag, st);
            while (!flag);
        }
        for (k = 0; k < 4; k++)
            CHECK_EQ(
                mt_wrong(in[k], sizeof(int) * (size_t)count, (unsigned)(left * 100 + i * 4 + k)),
                -1);
    }
    for (k = 0; k < 8; k++) {
        MPI_Request_free(&req[k]);
        CHECK(req[k] == MPI_REQUEST_NULL);
    }
    MPI_Buffer_detach(&back, &size);
    for (k = 0; k < 4; k++) {
        free(out[k]);
        free(in[k]);
    }
    free(buf);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A send to oneself is cancelled in the call, unless it is matched already: no other process has a
 * say. */
static void cancel_own(int mode, int count, int matched)
{
    MPI_Request s, r = MPI_REQUEST_NULL;
    MPI_Status st;
    int flag, *v = calloc((size_t)count, sizeof *v), *w = calloc((size_t)count, sizeof *w);

    if (matched)
        MPI_Irecv(w, count, MPI_INT, mt_rank, 23, MPI_COMM_WORLD, &r);
    if (mode == 0)
        MPI_Issend(v, count, MPI_INT, mt_rank, 23, MPI_COMM_WORLD, &s);
    else if (mode == 1)
        MPI_Isend(v, count, MPI_INT, mt_rank, 23, MPI_COMM_WORLD, &s);
    else
        MPI_Ibsend(v, count, MPI_INT, mt_rank, 23, MPI_COMM_WORLD, &s);
    MPI_Cancel(&s);
    if (!matched) {
        MPI_Request_get_status(s, &flag, &st);
        MUST(flag, "mode %d, %d numbers: not decided in MPI_Cancel", mode, count);
    }
    MPI_Wait(&s, &st);
    MPI_Test_cancelled(&st, &flag);
    MUST(flag == !matched, "mode %d, %d numbers: cancelled %d, matched %d", mode, count, flag,
         matched);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Iprobe(mt_rank, 23, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(flag, 0);
    free(v), free(w);
}

static void cancels_own(void)
{
    static const int counts[] = {1, 1000, 20000, 100000};
    size_t room = sizeof(int) * 100000 + MPI_BSEND_OVERHEAD;
    void *buffer = malloc(room);
    int mode, i, matched;

    MPI_Buffer_attach(buffer, (int)room);
    for (mode = 0; mode < 3; mode++)
        for (i = 0; i < 4; i++)
            for (matched = 0; matched < 2; matched++)
                cancel_own(mode, counts[i], matched);
    MPI_Buffer_detach(&buffer, &i);
    free(buffer);
}

static void cancels(void)
{
    int v = -1, w = mt_rank, flag, i;
    MPI_Request req, s;
    MPI_Status st;

    for (i = 0; i < 3; i++) {
        MPI_Irecv(&v, 1, MPI_INT, i == 1 ? MPI_ANY_SOURCE : left, 20, MPI_COMM_WORLD, &req);
        MPI_Cancel(&req);
        if (i < 2)
            MPI_Wait(&req, &st);
        else
            do
                MPI_Test(&req, &flag, &st);
            while (!flag);
        MPI_Test_cancelled(&st, &flag);
        CHECK_EQ(flag, 1);
        CHECK(req == MPI_REQUEST_NULL);
    }
    /* the cancelled receives take nothing away from a later one */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv(&w, 1, MPI_INT, right, 20, &v, 1, MPI_INT, left, 20, MPI_COMM_WORLD, &st);
    CHECK_EQ(v, left);
    MPI_Test_cancelled(&st, &flag);
    CHECK_EQ(flag, 0);

    /* a receive that has already matched cannot be cancelled */
    MPI_Irecv(&v, 1, MPI_INT, left, 21, MPI_COMM_WORLD, &req);
    w = 1000 + mt_rank;
    MPI_Send(&w, 1, MPI_INT, right, 21, MPI_COMM_WORLD);
    do
        MPI_Request_get_status(req, &flag, &st);
    while (!flag);
    CHECK_EQ(st.MPI_SOURCE, left);
    CHECK(req != MPI_REQUEST_NULL);
    MPI_Cancel(&req);
    MPI_Wait(&req, &st);
    MPI_Test_cancelled(&st, &flag);
    CHECK_EQ(flag, 0);
    CHECK_EQ(v, 1000 + left);

    /* an active send may be freed: it still arrives */
    w = 2000 + mt_rank;
    MPI_Isend(&w, 1, MPI_INT, right, 22, MPI_COMM_WORLD, &s);
    MPI_Request_free(&s);
    MPI_Recv(&v, 1, MPI_INT, left, 22, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(v, 2000 + left);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    right = (mt_rank + 1) % mt_size;
    left = (mt_rank + mt_size - 1) % mt_size;
    synchronous(0);
    synchronous(100);
    synchronous(500000);
    buffered();
    ready();
    persistent(1);
    persistent(100000);
    cancels();
    cancels_own();
    return mt_finish();
}
