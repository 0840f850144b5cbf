/* behind.c - calls that begin when the death of a process is known already. A process that could
 * wait for it gets an error, until the failure is acknowledged if others may send as well. No
 * process waits for one that lives and could not go on. The last of four ranks dies. */
#include "../mt.h"
#include <signal.h>
#include <unistd.h>

enum { DEAD = 3 };

static void failed_as(int cls, int err, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int c, len;

    MPI_Error_class(err, &c);
    MPI_Error_string(err, text, &len);
    MUST(c == cls && strstr(text, "process 3"), "%s: class %d: %s", what, c, text);
    MUST(c == MPI_ERR_IN_STATUS || err == cls, "%s: %d is not the bare class", what, err);
}

static void failed(int err, const char *what)
{
    failed_as(MPIX_ERR_PROC_FAILED, err, what);
}

/* From any of the living on `c`, round: rank 0 asks, 1 and 2 send. */
static void living(MPI_Comm c)
{
    int got = 0, n, there;
    MPI_Status st;

    if (mt_rank) {
        MPI_Send(&mt_rank, 1, MPI_INT, 0, 7, c);
        return;
    }
    for (n = 0; n < 2; n++) {
        CHECK_EQ(MPI_Probe(MPI_ANY_SOURCE, 7, c, &st), MPI_SUCCESS);
        CHECK_EQ(MPI_Iprobe(MPI_ANY_SOURCE, 7, c, &there, &st), MPI_SUCCESS);
        CHECK(there);
        CHECK_EQ(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 7, c, &st), MPI_SUCCESS);
        CHECK_EQ(got, st.MPI_SOURCE);
    }
}

static int create(int a, int b, int c, int d)
{
    const int ranks[] = {a, b, c, d};
    MPI_Group world, g;
    MPI_Comm made = MPI_COMM_NULL;
    int err;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, d < 0 ? 3 : 4, ranks, &g);
    err = MPI_Comm_create_group(MPI_COMM_WORLD, g, 5, &made);
    MPI_Group_free(&g);
    MPI_Group_free(&world);
    return err;
}

/* Ranks 0 and 1 on one side, 2 and the dead on the other: each of the living comes out of each
 * call. */
static void across(MPI_Comm inter)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Group world, sides[2], mine;
    int range[2][3] = {{0, 1, 1}, {2, 3, 1}}, side = mt_rank > 1, err;

    failed(MPI_Comm_split(inter, 0, 0, &made), "a split across");
    failed(MPI_Comm_split(inter, mt_rank % 2, 0, &made), "a split across, in two");
    MPI_Comm_group(inter, &mine);
    failed(MPI_Comm_create(inter, mine, &made), "a subset across");
    MPI_Group_free(&mine);
    failed(MPI_Intercomm_merge(inter, 0, &made), "a merge");
    (void)MPI_Comm_dup(inter, &made); /* 0 and 1 may have all they need */
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, &range[0], &sides[0]);
    MPI_Group_range_incl(world, 1, &range[1], &sides[1]);
    err = MPI_Intercomm_create_from_groups(sides[side], 0, sides[!side], 0, "behind", MPI_INFO_NULL,
                                           MPI_ERRORS_RETURN, &made);
    MPI_Error_class(err, &err);
    CHECK_EQ(err, MPIX_ERR_PROC_FAILED); /* 0 and 1 learn of it from 2, in whose group it was */
    MPI_Group_free(&sides[0]);
    MPI_Group_free(&sides[1]);
    MPI_Group_free(&world);
}

enum { FIRST, KEPT, RECV, PROBE, IPROBE, MPROBE, HELD, COMMS };
static MPI_Comm comm[COMMS], inter;
static MPI_Request again; /* a receive from any on KEPT, started again and again */

static void begin(void)
{
    MPI_Comm half;
    static int n;
    int i;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_split(MPI_COMM_WORLD, mt_rank > 1, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, mt_rank > 1 ? 0 : 2, 1, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    for (i = 0; i < COMMS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    MPI_Recv_init(&n, 1, MPI_INT, MPI_ANY_SOURCE, 7, comm[KEPT], &again);
    if (mt_rank == DEAD) {
        for (i = 0; i < DEAD; i++)
            MPI_Send(&i, 1, MPI_INT, i, 7, comm[KEPT]);
    } else {
        MPI_Start(&again);
        CHECK_EQ(MPI_Wait(&again, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK_EQ(n, mt_rank);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (mt_rank == DEAD)
        raise(SIGKILL);
}

/* The launcher knows, this process has not looked since: one call reports it. */
static void first_call(void)
{
    int n = 0;

    usleep(300000);
    if (mt_rank == 1)
        MPI_Send(&mt_rank, 1, MPI_INT, 0, 8, comm[FIRST]);
    failed(MPI_Recv(&n, 1, MPI_INT, MPI_ANY_SOURCE, 7, comm[FIRST], MPI_STATUS_IGNORE),
           "the first call after it, a receive from any");
    failed(MPI_Recv(&n, 1, MPI_INT, MPI_ANY_SOURCE, 7, comm[FIRST], MPI_STATUS_IGNORE),
           "the second call, the failure is not acknowledged");
    CHECK_EQ(MPIX_Comm_failure_ack(comm[FIRST]), MPI_SUCCESS);
    if (mt_rank == 0) {
        CHECK_EQ(MPI_Recv(&n, 1, MPI_INT, MPI_ANY_SOURCE, 8, comm[FIRST], MPI_STATUS_IGNORE),
                 MPI_SUCCESS);
        CHECK_EQ(n, 1);
    }
}

/* A receive that is complete, and stays what it is. */
static MPI_Request complete(int *buf)
{
    MPI_Request r;
    int flag = 0;

    MPI_Irecv(buf, 1, MPI_INT, 0, 11, MPI_COMM_SELF, &r);
    MPI_Send(&mt_rank, 1, MPI_INT, 0, 11, MPI_COMM_SELF);
    while (!flag)
        MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE);
    return r;
}

/* The death has suspended `any`: calls that leave a request as it is report it, and `ready`, which
 * is complete, comes before it. */
static void held(MPI_Request any, MPI_Request ready)
{
    MPI_Request r[2] = {any, ready};
    MPI_Status st[2];
    int flag = 1, n = -1, at[2];

    failed_as(MPIX_ERR_PROC_FAILED_PENDING, MPI_Request_get_status(any, &flag, st), "get_status");
    CHECK(!flag);
    flag = 1;
    failed_as(MPIX_ERR_PROC_FAILED_PENDING, MPI_Request_get_status_all(2, r, &flag, st), "of all");
    CHECK(!flag);
    flag = 1;
    failed_as(MPIX_ERR_PROC_FAILED_PENDING, MPI_Request_get_status_any(1, r, &n, &flag, st), "any");
    CHECK(!flag && n == MPI_UNDEFINED);
    failed_as(MPIX_ERR_PROC_FAILED_PENDING, MPI_Request_get_status_some(1, r, &n, at, st), "some");
    CHECK_EQ(n, 0);
    CHECK_EQ(MPI_Request_get_status_any(2, r, &n, &flag, st), MPI_SUCCESS);
    CHECK(flag && n == 1);
    CHECK_EQ(MPI_Request_get_status_some(2, r, &n, at, st), MPI_SUCCESS);
    CHECK(n == 1 && at[0] == 1);
}

/* Each kind of call that completes one of several. */
static void before_held(MPI_Request any)
{
    MPI_Request r[2] = {any, MPI_REQUEST_NULL};
    MPI_Status st[2];
    int kind, n = 0, flag = 1, at[2] = {0}, got;

    for (kind = 0; kind < 4; kind++) {
        r[1] = complete(&got);
        if (kind < 2) {
            CHECK_EQ(kind ? MPI_Testany(2, r, &at[0], &flag, st) : MPI_Waitany(2, r, &at[0], st),
                     MPI_SUCCESS);
        } else {
            CHECK_EQ(kind == 2 ? MPI_Waitsome(2, r, &n, at, st) : MPI_Testsome(2, r, &n, at, st),
                     MPI_SUCCESS);
            CHECK_EQ(n, 1);
        }
        CHECK(flag && at[0] == 1 && r[0] == any && r[1] == MPI_REQUEST_NULL);
    }
    failed_as(MPIX_ERR_PROC_FAILED_PENDING, MPI_Waitany(2, r, &at[0], st), "a wait for any of one");
    CHECK(at[0] == 0 && r[0] == any);
    failed_as(MPI_ERR_IN_STATUS, MPI_Waitsome(2, r, &n, at, st), "a wait for some of one");
    CHECK(n == 1 && at[0] == 0 && r[0] == any);
    CHECK_EQ(st[0].MPI_ERROR, MPIX_ERR_PROC_FAILED_PENDING); /* bare, too */
}

/* Each form of a receive from any, and of one from the dead rank. */
static void later_calls(void)
{
    MPI_Request any, ready;
    MPI_Message m;
    int n = 0, there = 0;

    MPI_Irecv(&n, 1, MPI_INT, MPI_ANY_SOURCE, 7, comm[HELD], &any);
    failed(MPI_Recv(&n, 1, MPI_INT, DEAD, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
           "a receive from it");
    failed(MPI_Recv(&n, 1, MPI_INT, MPI_ANY_SOURCE, 7, comm[RECV], MPI_STATUS_IGNORE),
           "a receive from any, later");
    failed(MPI_Probe(MPI_ANY_SOURCE, 7, comm[PROBE], MPI_STATUS_IGNORE), "a probe of any, later");
    failed(MPI_Iprobe(MPI_ANY_SOURCE, 7, comm[IPROBE], &there, MPI_STATUS_IGNORE),
           "a look for any, later");
    failed(MPI_Mprobe(MPI_ANY_SOURCE, 7, comm[MPROBE], &m, MPI_STATUS_IGNORE),
           "a matched probe of any, later");
    failed_as(MPIX_ERR_PROC_FAILED_PENDING, MPI_Wait(&any, MPI_STATUS_IGNORE),
              "a receive from any, earlier");
    CHECK(any != MPI_REQUEST_NULL);
    ready = complete(&n);
    held(any, ready);
    MPI_Wait(&ready, MPI_STATUS_IGNORE);
    before_held(any);
    MPI_Cancel(&any);
    CHECK_EQ(MPI_Wait(&any, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Start(&again);
    failed(MPI_Wait(&again, MPI_STATUS_IGNORE),
           "a persistent receive from any, whose last message was its");
    failed(MPI_Iprobe(DEAD, 7, comm[IPROBE], &there, MPI_STATUS_IGNORE), "a look for its message");
    failed(MPI_Probe(DEAD, 7, comm[IPROBE], MPI_STATUS_IGNORE), "a probe of its message");
}

/* The living go on, on each communicator. */
static void go_on(void)
{
    int n;

    for (n = 1; n < DEAD; n++) { /* what the living send would be taken first */
        if (mt_rank == 0)
            MPI_Send(NULL, 0, MPI_INT, n, 9, MPI_COMM_WORLD);
        else if (mt_rank == n)
            MPI_Recv(NULL, 0, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (mt_rank == 0) {
        MPI_Status st;
        MPIX_Comm_failure_ack(comm[KEPT]);
        MPI_Start(&again);
        CHECK_EQ(MPI_Wait(&again, &st), MPI_SUCCESS);
        CHECK_EQ(st.MPI_SOURCE, 1);
    } else if (mt_rank == 1) {
        MPI_Send(&mt_rank, 1, MPI_INT, 0, 7, comm[KEPT]);
    }
    MPI_Request_free(&again);
    for (n = RECV; n < COMMS; n++) {
        MPIX_Comm_failure_ack(comm[n]);
        living(comm[n]);
    }
}

int main(int argc, char **argv)
{
    MPI_Request before, after;
    int buf[4] = {0}, n, err;

    mt_init(&argc, &argv);
    begin();
    first_call();
    MPI_Precv_init(buf, 2, 2, MPI_INT, DEAD, 1, comm[RECV], MPI_INFO_NULL, &before);
    later_calls();
    go_on();

    MPI_Precv_init(buf, 2, 2, MPI_INT, DEAD, 1, comm[RECV], MPI_INFO_NULL, &after);
    for (n = 0; n < 2; n++) {
        MPI_Start(&before);
        MPI_Start(&after);
        failed(MPI_Wait(&after, MPI_STATUS_IGNORE), "a partitioned receive made later");
        failed(MPI_Wait(&before, MPI_STATUS_IGNORE), "a partitioned receive made before");
    }
    MPI_Request_free(&before);
    MPI_Request_free(&after);

    failed(create(DEAD, 1, 2, 0), "a communicator of which it is the first");
    err = create(0, 1, DEAD, -1 /* not 2 */);
    if (mt_rank == 0) /* 1 may have received the communicator before, and succeed */
        failed(err, "a communicator of which it is the last");
    across(inter);
    MPI_Finalize();
    if (mt_rank == 0 && !mt_errors)
        printf(" No Errors\n");
    return mt_errors != 0;
}
