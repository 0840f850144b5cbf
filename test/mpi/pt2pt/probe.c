/* probe.c - wildcards, status fields, probe, iprobe and the matched probes. */
#include "../mt.h"

static void status_fields(void)
{
    int left = (mt_rank + mt_size - 1) % mt_size, right = (mt_rank + 1) % mt_size, n, i;
    char out[10] = "abcdefghi", in[100];
    double d[4] = { 1, 2, 3, 4 };
    MPI_Status st;
    MPI_Request req;
    MPI_Count c;

    MPI_Isend(out, 10, MPI_CHAR, right, 77, MPI_COMM_WORLD, &req);
    MPI_Recv(in, 100, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    CHECK_EQ(st.MPI_SOURCE, left);
    CHECK_EQ(st.MPI_TAG, 77);
    MPI_Get_count(&st, MPI_CHAR, &n);
    CHECK_EQ(n, 10);
    MPI_Get_count(&st, MPI_INT, &n);
    CHECK_EQ(n, MPI_UNDEFINED);
    MPI_Get_elements(&st, MPI_CHAR, &n);
    CHECK_EQ(n, 10);
    MPI_Get_elements_x(&st, MPI_CHAR, &c);
    CHECK_EQ(c, 10);
    MPI_Test_cancelled(&st, &n);
    CHECK_EQ(n, 0);
    CHECK(strcmp(in, "abcdefghi") == 0);

    MPI_Recv(d, 4, MPI_DOUBLE, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &st);
    CHECK_EQ(st.MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQ(st.MPI_TAG, MPI_ANY_TAG);
    MPI_Get_count(&st, MPI_DOUBLE, &n);
    CHECK_EQ(n, 0);
    MPI_Send(d, 4, MPI_DOUBLE, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
    MPI_Probe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &st);
    CHECK_EQ(st.MPI_SOURCE, MPI_PROC_NULL);
    i = 0;
    MPI_Iprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &i, &st);
    CHECK_EQ(i, 1);
}

/* Probe returns size and source before the receive; iprobe finds nothing where nothing is. */
static void probes(int bytes)
{
    int left = (mt_rank + mt_size - 1) % mt_size, right = (mt_rank + 1) % mt_size, flag, n;
    char *out = mt_alloc((size_t)bytes), *in = mt_alloc((size_t)bytes);
    MPI_Status st;
    MPI_Request req;

    flag = 1;
    MPI_Iprobe(MPI_ANY_SOURCE, 999, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(flag, 0);
    mt_fill(out, (size_t)bytes, (unsigned)mt_rank);
    MPI_Isend(out, bytes, MPI_BYTE, right, 8, MPI_COMM_WORLD, &req);
    MPI_Probe(left, 8, MPI_COMM_WORLD, &st);
    CHECK_EQ(st.MPI_SOURCE, left);
    CHECK_EQ(st.MPI_TAG, 8);
    MPI_Get_count(&st, MPI_BYTE, &n);
    CHECK_EQ(n, bytes);
    do
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &st);
    while (!flag);
    MPI_Get_count(&st, MPI_BYTE, &n);
    CHECK_EQ(n, bytes);
    MPI_Recv(in, bytes, MPI_BYTE, st.MPI_SOURCE, st.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(mt_wrong(in, (size_t)bytes, (unsigned)left), -1);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    free(out);
    free(in);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A message taken by mprobe is gone for every other receive; mrecv and imrecv deliver it later. */
static void matched(int bytes)
{
    int left = (mt_rank + mt_size - 1) % mt_size, right = (mt_rank + 1) % mt_size, flag, n;
    char *out[2], *in = mt_alloc((size_t)bytes);
    MPI_Message first, second;
    MPI_Status st;
    MPI_Request req[2], r;
    int i;

    for (i = 0; i < 2; i++) {
        out[i] = mt_alloc((size_t)bytes);
        mt_fill(out[i], (size_t)bytes, (unsigned)(2 * mt_rank + i));
        MPI_Isend(out[i], bytes, MPI_BYTE, right, 9, MPI_COMM_WORLD, &req[i]);
    }
    MPI_Mprobe(left, 9, MPI_COMM_WORLD, &first, &st);
    CHECK(first != MPI_MESSAGE_NULL && first != MPI_MESSAGE_NO_PROC);
    do
        MPI_Improbe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &flag, &second, &st);
    while (!flag);
    MPI_Get_count(&st, MPI_BYTE, &n);
    CHECK_EQ(n, bytes);
    flag = 1;
    MPI_Iprobe(left, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(flag, 0);
    memset(in, 0, (size_t)bytes);
    MPI_Mrecv(in, bytes, MPI_BYTE, &second, &st);
    CHECK(second == MPI_MESSAGE_NULL);
    CHECK_EQ(mt_wrong(in, (size_t)bytes, (unsigned)(2 * left + 1)), -1);
    memset(in, 0, (size_t)bytes);
    MPI_Imrecv(in, bytes, MPI_BYTE, &first, &r);
    CHECK(first == MPI_MESSAGE_NULL);
    MPI_Wait(&r, &st);
    CHECK_EQ(st.MPI_SOURCE, left);
    CHECK_EQ(mt_wrong(in, (size_t)bytes, (unsigned)(2 * left)), -1);
    MPI_Waitall(2, req, MPI_STATUSES_IGNORE);

    MPI_Mprobe(MPI_PROC_NULL, 9, MPI_COMM_WORLD, &first, &st);
    CHECK(first == MPI_MESSAGE_NO_PROC);
    MPI_Mrecv(in, bytes, MPI_BYTE, &first, &st);
    CHECK(first == MPI_MESSAGE_NULL);
    CHECK_EQ(st.MPI_SOURCE, MPI_PROC_NULL);
    for (i = 0; i < 2; i++)
        free(out[i]);
    free(in);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    status_fields();
    MPI_Barrier(MPI_COMM_WORLD);
    probes(0);
    probes(10);
    probes(1000000);
    matched(0);
    matched(100);
    matched(700000);
    return mt_finish();
}
