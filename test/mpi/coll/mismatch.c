/* mismatch.c - counts that differ between the processes of one collective. A process that
 * depends on data that did not come, or came in the wrong amount, gets an error. None hangs,
 * nothing outside the buffers is touched, and the next collectives work. Each pattern runs often
 * enough to go by messages first, then through shared memory; and nonblocking. */
#include "../mt.h"

enum { TIMES = 12, N = 10, GUARD = 0x5a5a5a5a };

static int in[N * 16 + 1], out[N * 16 + 1], sum[2];
static MPI_Request req;

static void refill(void)
{
    int i;

    for (i = 0; i <= N * 16; i++) {
        in[i] = mt_rank + 1;
        out[i] = GUARD;
    }
}

static int finish(int err, int nb)
{
    return err || !nb ? err : MPI_Wait(&req, MPI_STATUS_IGNORE);
}

#define CALL(nb, b, i) finish(nb ? (i) : (b), nb)

/* want: 1 an error of that class, 0 none, -1 either (this process cannot know) */
static void judge(int err, int want, const char *what, int round)
{
    int c = mt_class(err);

    MUST(want < 0 || (want ? c == MPI_ERR_TRUNCATE || c == MPI_ERR_TYPE : c == MPI_SUCCESS),
         "%s, round %d: class %d", what, round, c);
}

static void fine(const char *what)
{
    sum[0] = mt_rank;
    CHECK_EQ(MPI_Allreduce(&sum[0], &sum[1], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    MUST(sum[1] == mt_size * (mt_size - 1) / 2, "after %s: the sum is %d", what, sum[1]);
}

static void bcast(int nb, int round, int root_n, int n)
{
    int err;

    refill();
    n = mt_rank ? n : root_n;
    err = CALL(nb, MPI_Bcast(out, n, MPI_INT, 0, MPI_COMM_WORLD),
               MPI_Ibcast(out, n, MPI_INT, 0, MPI_COMM_WORLD, &req));
    judge(err, mt_rank > 0, "bcast", round);
    CHECK_EQ(out[n], GUARD);
    fine("bcast");
}

static void reductions(int nb, int round, int zero_n, int n)
{
    int err, mine = mt_rank ? n : zero_n;

    refill();
    err = CALL(nb, MPI_Reduce(in, out, mine, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD),
               MPI_Ireduce(in, out, mine, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &req));
    judge(err, mt_rank ? -1 : 1, "reduce", round);
    fine("reduce");
    refill();
    err = CALL(nb, MPI_Allreduce(in, out, mine, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
               MPI_Iallreduce(in, out, mine, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &req));
    judge(err, 1, "allreduce", round);
    CHECK_EQ(out[mine], GUARD);
    fine("allreduce");
    refill();
    err = CALL(nb, MPI_Scan(in, out, mine, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
               MPI_Iscan(in, out, mine, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &req));
    judge(err, mt_rank ? 1 : -1, "scan", round);
    fine("scan");
}

static void gathers(int nb, int round, int zero_n)
{
    int err, mine = mt_rank ? N : zero_n;

    refill();
    err = CALL(nb, MPI_Gather(in, mine, MPI_INT, out, N, MPI_INT, 0, MPI_COMM_WORLD),
               MPI_Igather(in, mine, MPI_INT, out, N, MPI_INT, 0, MPI_COMM_WORLD, &req));
    judge(err, mt_rank == 0, "gather", round);
    fine("gather");
    refill();
    err = CALL(nb, MPI_Allgather(in, mine, MPI_INT, out, N, MPI_INT, MPI_COMM_WORLD),
               MPI_Iallgather(in, mine, MPI_INT, out, N, MPI_INT, MPI_COMM_WORLD, &req));
    judge(err, 1, "allgather", round);
    CHECK_EQ(out[N * mt_size], GUARD);
    fine("allgather");
    refill();
    err = CALL(nb, MPI_Scatter(in, zero_n, MPI_INT, out, N, MPI_INT, 0, MPI_COMM_WORLD),
               MPI_Iscatter(in, zero_n, MPI_INT, out, N, MPI_INT, 0, MPI_COMM_WORLD, &req));
    judge(err, 1, "scatter", round);
    CHECK_EQ(out[N], GUARD);
    fine("scatter");
    refill();
    err = CALL(nb, MPI_Alltoall(in, mine, MPI_INT, out, N, MPI_INT, MPI_COMM_WORLD),
               MPI_Ialltoall(in, mine, MPI_INT, out, N, MPI_INT, MPI_COMM_WORLD, &req));
    judge(err, 1, "alltoall", round);
    CHECK_EQ(out[N * mt_size], GUARD);
    fine("alltoall");
}

/* A message may be shorter than its buffer, but not end inside an element. */
static void half_an_element(void)
{
    char three[3] = {1, 2, 3};
    int one = 0, n;
    MPI_Status st;

    if (mt_rank == 1) {
        MPI_Send(three, 3, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
        MPI_Send(three, 2, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
        MPI_Send(NULL, 0, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    } else if (mt_rank == 0) {
        CHECK_EQ(mt_class(MPI_Recv(&one, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &st)), MPI_ERR_TYPE);
        CHECK_EQ(MPI_Recv(three, 3, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &st), MPI_SUCCESS);
        MPI_Get_count(&st, MPI_CHAR, &n);
        CHECK_EQ(n, 2);
        CHECK_EQ(MPI_Recv(&one, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &st), MPI_SUCCESS);
        MPI_Get_count(&st, MPI_INT, &n);
        CHECK_EQ(n, 0);
    }
}

/* Counts of vector forms may be bounds. */
static void bounds(void)
{
    int counts[16], displs[16], i;

    refill();
    for (i = 0; i < mt_size; i++) {
        counts[i] = N;
        displs[i] = i * N;
    }
    CHECK_EQ(MPI_Gatherv(in, 2, MPI_INT, out, counts, displs, MPI_INT, 0, MPI_COMM_WORLD),
             MPI_SUCCESS);
    for (i = 0; i < mt_size && !mt_rank; i++)
        CHECK(out[i * N + 1] == i + 1 && out[i * N + 2] == GUARD);
}

int main(int argc, char **argv)
{
    int nb, round;

    mt_init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (nb = 0; nb < 2; nb++)
        for (round = 0; round < TIMES; round++) {
            bcast(nb, round, 1, N);
            bcast(nb, round, N, 1);
            reductions(nb, round, 1, N);
            reductions(nb, round, N, 1);
            gathers(nb, round, 1);
            gathers(nb, round, N + 3);
        }
    half_an_element();
    bounds();
    return mt_finish();
}
