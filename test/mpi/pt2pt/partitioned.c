/* partitioned.c - partitioned messages: the two sides cut the data differently, the partitions get
 * ready in any order, and the requests are started again. */
#include "../mt.h"

enum { N = 24, ROUNDS = 3 };

static int value(int from, int round, int i)
{
    return from * 100000 + round * 1000 + i;
}

static void fill(int *buf, int round)
{
    for (int i = 0; i < N; i++)
        buf[i] = value(mt_rank, round, i);
}

/* Each rank sends to the next and receives from the one before; `parts` divides N. */
static void ring(int parts, int recv_parts)
{
    int out[N], in[N], next = (mt_rank + 1) % mt_size, prev = (mt_rank + mt_size - 1) % mt_size;
    MPI_Request r[2];
    fill(out, 0);
    MPI_Psend_init(out, parts, N / parts, MPI_INT, next, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Precv_init(in, recv_parts, N / recv_parts, MPI_INT, prev, 5, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &r[1]);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Status st[2];
        int flag, bad = 0;
        fill(out, round);
        memset(in, -1, sizeof in);
        MPI_Startall(2, r);
        if (round == 0)
            for (int i = parts - 1; i >= 0; i--)
                MPI_Pready(i, r[0]);
        else if (round == 1)
            MPI_Pready_range(0, parts - 1, r[0]);
        else
            for (int i = 0; i < parts; i++)
                MPI_Pready_list(1, &i, r[0]);
        do
            MPI_Parrived(r[1], recv_parts - 1, &flag);
        while (!flag);
        for (int i = 0; i < N; i++)
            bad += in[i] != value(prev, round, i);
        MUST(!bad, "%d and %d partitions, round %d: %d wrong", parts, recv_parts, round, bad);
        MPI_Waitall(2, r, st);
        CHECK_EQ(st[1].MPI_SOURCE, prev);
        CHECK_EQ(st[1].MPI_TAG, 5);
        MPI_Get_count(&st[1], MPI_INT, &flag);
        CHECK_EQ(flag, N);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

/* Nothing arrives before the last partition is ready. */
static void not_before_the_last(void)
{
    int out[2] = {1, 2}, in[2] = {0, 0}, flag;
    MPI_Request r[2];
    MPI_Psend_init(out, 2, 1, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_INFO_NULL, &r[0]);
    MPI_Precv_init(in, 1, 2, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_INFO_NULL, &r[1]);
    MPI_Parrived(r[1], 0, &flag);
    CHECK(flag); /* inactive */
    MPI_Startall(2, r);
    MPI_Pready(1, r[0]);
    MPI_Parrived(r[1], 0, &flag);
    CHECK(!flag);
    MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
    CHECK(!flag);
    MPI_Pready(0, r[0]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    CHECK(in[0] == 1 && in[1] == 2);
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

static int class_of(int err)
{
    int cls = -1;
    MPI_Error_class(err, &cls);
    return cls;
}

static void wrong_arguments(void)
{
    int x[2] = {0, 0}, flag;
    MPI_Request r, null = MPI_REQUEST_NULL;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Psend_init(x, 2, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    CHECK_EQ(class_of(MPI_Pready(0, r)), MPI_ERR_REQUEST); /* not started */
    MPI_Start(&r);
    CHECK_EQ(class_of(MPI_Pready(2, r)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Pready(-1, r)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Parrived(r, 0, &flag)), MPI_ERR_REQUEST); /* a send */
    CHECK_EQ(MPI_Pready(0, r), MPI_SUCCESS);
    CHECK_EQ(class_of(MPI_Pready(0, r)), MPI_ERR_ARG); /* twice */
    CHECK_EQ(class_of(MPI_Request_free(&r)), MPI_ERR_REQUEST); /* under way */
    CHECK_EQ(class_of(MPI_Cancel(&r)), MPI_ERR_REQUEST);
    CHECK(r != MPI_REQUEST_NULL);
    CHECK_EQ(MPI_Pready(1, r), MPI_SUCCESS);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
    CHECK_EQ(class_of(MPI_Psend_init(x, 0, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r)),
             MPI_ERR_ARG);
    CHECK_EQ(MPI_Parrived(null, 0, &flag), MPI_SUCCESS);
    CHECK(flag);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    ring(4, 4);
    ring(6, 8);
    ring(1, 24);
    not_before_the_last();
    wrong_arguments();
    return mt_finish();
}
