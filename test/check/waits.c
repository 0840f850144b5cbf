/* waits CASE: processes that wait for each other for ever, and legal ones that look alike.
 * waits.test has the report that each is to give. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"

enum { BIG = 1 << 20 };
static int buf[64], sum[64];
static char big[2][BIG];

static MPI_Comm dup_named(const char *name)
{
    MPI_Comm c;
    MPI_Comm_dup(W, &c);
    MPI_Comm_set_name(c, name);
    return c;
}

/* --- deadlocks ------------------------------------------------------------------------------- */

static void recv_barrier(void)
{
    if (rank == 0) {
        MPI_Barrier(W);
        MPI_Send(buf, 1, MPI_INT, 1, 3, W);
    } else {
        if (rank == 1)
            MPI_Recv(buf, 1, MPI_INT, 0, 3, W, MPI_STATUS_IGNORE);
        MPI_Barrier(W);
    }
}

static void irecv_allreduce(void)
{
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (rank == 1) {
        MPI_Irecv(buf, 1, MPI_INT, 0, 3, W, &r[0]);
        MPI_Irecv(sum, 1, MPI_INT, 1, 3, W, &r[1]);
        MPI_Send(buf, 1, MPI_INT, 1, 3, W);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    MPI_Allreduce(buf, sum, 1, MPI_INT, MPI_SUM, W);
    if (rank == 0)
        MPI_Send(buf, 1, MPI_INT, 1, 3, W);
}

static void ibarrier_recv(void)
{
    MPI_Request r;
    if (rank == 1)
        MPI_Recv(buf, 1, MPI_INT, 0, 3, W, MPI_STATUS_IGNORE);
    MPI_Ibarrier(W, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (rank == 0)
        MPI_Send(buf, 1, MPI_INT, 1, 3, W);
}

static void ring(void)
{
    MPI_Recv(buf, 1, MPI_INT, (rank + 1) % size, 3, W, MPI_STATUS_IGNORE);
    MPI_Send(buf, 1, MPI_INT, (rank + size - 1) % size, 3, W);
}

static void pairs(void)
{
    MPI_Recv(buf, 1, MPI_INT, rank ^ 1, 3, W, MPI_STATUS_IGNORE);
}

/* Rank 1 computes for longer than any limit. */
static void late(void)
{
    if (rank == 0)
        MPI_Recv(buf, 1, MPI_INT, 1, 3, W, MPI_STATUS_IGNORE);
    else
        sleep(100);
}

static void sends(void) /* too long to leave before they are received */
{
    if (rank < 2)
        MPI_Send(big[0], BIG, MPI_CHAR, !rank, 3, W);
    if (rank < 2)
        MPI_Recv(big[1], BIG, MPI_CHAR, !rank, 3, W, MPI_STATUS_IGNORE);
}

static void any_source(void)
{
    MPI_Recv(buf, 1, MPI_INT, MPI_ANY_SOURCE, 3, W, MPI_STATUS_IGNORE);
}

static void waitany(void)
{
    MPI_Request r[2];
    int at;
    if (rank == 1) {
        MPI_Irecv(buf, 1, MPI_INT, 0, 3, W, &r[0]);
        MPI_Irecv(sum, 1, MPI_INT, 2, 3, W, &r[1]);
        MPI_Waitany(2, r, &at, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(W);
}

static void probe(void)
{
    MPI_Status s;
    if (rank == 1)
        MPI_Probe(0, 4, W, &s);
    else if (rank == 0)
        MPI_Ssend(buf, 1, MPI_INT, 1, 3, W); /* another tag */
}

static void two_comms(void)
{
    MPI_Comm a = dup_named("rows"), b = dup_named("columns");
    MPI_Barrier(rank == 1 ? a : b);
    MPI_Barrier(rank == 1 ? b : a);
    MPI_Comm_free(&a);
    MPI_Comm_free(&b);
}

static void two_comms_return(void)
{
    MPI_Comm a = dup_named("rows"), b = dup_named("columns");
    int err, cls = 0;
    MPI_Comm_set_errhandler(a, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(b, MPI_ERRORS_RETURN);
    err = MPI_Barrier(rank == 1 ? a : b);
    MPI_Error_class(err, &cls);
    printf("%s\n", cls == MPI_ERR_NOT_SAME ? "not same" : "another class");
}

static void finalized(void)
{
    if (rank == 0)
        MPI_Recv(buf, 1, MPI_INT, 1, 3, W, MPI_STATUS_IGNORE);
}

static void any_finalized(void)
{
    if (rank == 0)
        MPI_Recv(buf, 1, MPI_INT, MPI_ANY_SOURCE, 3, W, MPI_STATUS_IGNORE);
}

static void gathers(void) /* each process is a root, or sends and goes on */
{
    MPI_Comm back;
    MPI_Comm_split(W, 0, size - rank, &back);
    MPI_Gather(buf, 1, MPI_INT, sum, 1, MPI_INT, 0, rank % 2 ? W : back);
    MPI_Comm_free(&back);
}

static void gather_alone(void)
{
    MPI_Barrier(W);
    if (rank == 0)
        MPI_Gather(buf, 1, MPI_INT, big[0], 1, MPI_INT, 0, W);
}

/* Rank 0 sends rank 1 n ints of 4 partitions, of which so many get ready. */
static void part_start(int n, int ready, MPI_Request *r)
{
    if (rank == 0)
        MPI_Psend_init(big[0], 4, n, MPI_CHAR, 1, 3, W, MPI_INFO_NULL, r);
    else
        MPI_Precv_init(big[1], 4, n, MPI_CHAR, 0, 3, W, MPI_INFO_NULL, r);
    MPI_Start(r);
    for (int i = 0; i < ready && rank == 0; i++)
        MPI_Pready(i, *r);
}

static void part_unready(void) /* a partition is missing */
{
    MPI_Request r;
    if (rank > 1)
        return;
    part_start(1, 3, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void part_null(void) /* to no process, and no partition is ready */
{
    MPI_Request r;
    if (rank)
        return;
    MPI_Psend_init(buf, 4, 1, MPI_INT, MPI_PROC_NULL, 3, W, MPI_INFO_NULL, &r);
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void part_barrier(void) /* it gets ready too late */
{
    MPI_Request r;
    if (rank < 2)
        part_start(1, 3, &r);
    if (rank == 1)
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Barrier(W);
    if (rank == 0)
        MPI_Pready(3, r);
}

static void part_finalized(void) /* no process sends */
{
    MPI_Request r;
    if (rank == 1) {
        part_start(1, 0, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

static void part_send(void) /* no process receives */
{
    MPI_Request r;
    if (rank == 0) {
        part_start(BIG / 4, 4, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

static void probe_finalized(void)
{
    MPI_Status s;
    if (rank == 0)
        MPI_Probe(MPI_ANY_SOURCE, 3, W, &s);
}

/* These need that a message is buffered. */
static void exchange(void)
{
    if (rank < 2) {
        MPI_Send(buf, 1, MPI_INT, !rank, 3, W);
        MPI_Recv(sum, 1, MPI_INT, !rank, 3, W, MPI_STATUS_IGNORE);
    }
}

static void other_order(void)
{
    for (int i = 0; i < 2 && rank == 0; i++)
        MPI_Send(buf, 1, MPI_INT, 1, 3 + i, W);
    for (int i = 1; i >= 0 && rank == 1; i--)
        MPI_Recv(sum, 1, MPI_INT, 0, 3 + i, W, MPI_STATUS_IGNORE);
}

static void before_barrier(void)
{
    MPI_Request r = MPI_REQUEST_NULL;
    if (rank == 0) {
        MPI_Isend(buf, 1, MPI_INT, 1, 3, W, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(W);
    if (rank == 1)
        MPI_Recv(sum, 1, MPI_INT, 0, 3, W, MPI_STATUS_IGNORE);
}

/* The send is not the first one of its list. */
static void second(void)
{
    MPI_Request r[2];
    if (rank == 0) {
        MPI_Irecv(sum, 1, MPI_INT, 1, 4, W, &r[0]);
        MPI_Isend(buf, 1, MPI_INT, 1, 3, W, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    MPI_Barrier(W);
}

/* No send takes part; the name only looks like one. */
static void named(void)
{
    MPI_Comm c = dup_named("rows (to 1)");
    if (rank == 1)
        MPI_Recv(buf, 1, MPI_INT, 0, 3, W, MPI_STATUS_IGNORE);
    MPI_Barrier(c);
    if (rank == 0)
        MPI_Send(buf, 1, MPI_INT, 1, 3, W);
    MPI_Comm_free(&c);
}

static void lock(void)
{
    MPI_Win w;
    int *mine;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, W, &mine, &w);
    MPI_Win_set_name(w, "table");
    if (rank == 1)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w);
    MPI_Barrier(W);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w);
        MPI_Put(buf, 1, MPI_INT, 1, 0, 1, MPI_INT, w);
        MPI_Win_unlock(1, w);
    }
    MPI_Barrier(W);
    if (rank == 1)
        MPI_Win_unlock(1, w);
    MPI_Win_free(&w);
}

static void fence_recv(void)
{
    MPI_Win w;
    MPI_Win_create(buf, sizeof buf, 1, MPI_INFO_NULL, W, &w);
    MPI_Win_fence(0, w);
    if (rank == 1)
        MPI_Recv(sum, 1, MPI_INT, 0, 3, W, MPI_STATUS_IGNORE);
    MPI_Win_fence(0, w);
    if (rank == 0)
        MPI_Send(sum, 1, MPI_INT, 1, 3, W);
    MPI_Win_free(&w);
}

static void itself(void)
{
    if (rank == 1)
        MPI_Recv(buf, 1, MPI_INT, 1, 3, W, MPI_STATUS_IGNORE);
    MPI_Barrier(W);
}

/* --- legal ------------------------------------------------------------------------------------ */

static void computes(void) /* the last one of a chain */
{
    if (rank == size - 1)
        sleep(1);
    if (rank < size - 1)
        MPI_Recv(buf, 1, MPI_INT, rank + 1, 3, W, MPI_STATUS_IGNORE);
    if (rank > 0)
        MPI_Send(buf, 1, MPI_INT, rank - 1, 3, W);
    MPI_Barrier(W);
}

static void one_of(void) /* all wait for any, and one computes */
{
    MPI_Request r[2];
    int at;
    if (rank == 0) {
        sleep(1);
        for (int i = 1; i < size; i++)
            MPI_Send(buf, 1, MPI_INT, i, 3, W);
    } else if (rank == 1) {
        MPI_Irecv(buf, 1, MPI_INT, 2, 4, W, &r[0]);
        MPI_Irecv(buf, 1, MPI_INT, 0, 3, W, &r[1]);
        MPI_Waitany(2, r, &at, MPI_STATUS_IGNORE);
        MPI_Cancel(&r[0]);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(buf, 1, MPI_INT, MPI_ANY_SOURCE, 3, W, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(W);
}

static void polls(void) /* a process that tests can send at any time */
{
    MPI_Request r;
    int flag = 0;
    if (rank == 0) {
        double end = MPI_Wtime() + 1;
        MPI_Irecv(buf, 1, MPI_INT, 1, 9, W, &r);
        while (!flag && MPI_Wtime() < end)
            MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
        for (int i = 1; i < size; i++)
            MPI_Send(buf, 1, MPI_INT, i, 3, W);
        if (!flag)
            MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(buf, 1, MPI_INT, 0, 3, W, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(buf, 1, MPI_INT, 0, 9, W);
    }
    MPI_Barrier(W);
}

static void held_lock(void) /* its holder computes */
{
    MPI_Win w;
    int *mine;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, W, &mine, &w);
    if (rank == 1)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w);
    MPI_Barrier(W);
    if (rank == 1)
        sleep(1);
    if (rank != 1)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w);
    MPI_Win_unlock(1, w);
    MPI_Win_free(&w);
}

static void started(void) /* a nonblocking call that its owner does not wait for yet */
{
    MPI_Request r;
    MPI_Ibarrier(W, &r);
    if (rank == 0) {
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Send(buf, 1, MPI_INT, 1, 3, W);
    } else {
        if (rank == 1)
            MPI_Recv(buf, 1, MPI_INT, 0, 3, W, MPI_STATUS_IGNORE);
        if (rank == 2)
            sleep(1);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

static void duplicate(void) /* a communicator has no id yet when a wait lasts */
{
    MPI_Comm c = MPI_COMM_NULL;
    MPI_Request r;
    if (rank == 0) {
        usleep(800000);
        for (int i = 1; i < size; i++)
            MPI_Send(buf, 1, MPI_INT, i, 3, W);
    }
    MPI_Comm_idup(W, &c, &r);
    if (rank)
        MPI_Recv(buf, 1, MPI_INT, 0, 3, W, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Barrier(c);
    MPI_Comm_free(&c);
}

static void slow_chain(void) /* each wait is long, and each ends */
{
    for (int i = 0; i < size; i++) {
        if (rank == i)
            usleep(400000);
        MPI_Bcast(buf, 1, MPI_INT, i, W);
        if (rank == i)
            MPI_Ssend(buf, 1, MPI_INT, (i + 1) % size, 3, W);
        if (rank == (i + 1) % size)
            MPI_Recv(buf, 1, MPI_INT, i, 3, W, MPI_STATUS_IGNORE);
    }
}

static MPI_Win counters(const char *name)
{
    MPI_Win w;
    int *base;
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, W, &base, &w);
    MPI_Win_set_name(w, name);
    MPIX_Win_notify_set_num(w, MPI_INFO_NULL, 1);
    MPI_Win_lock_all(0, w);
    return w;
}

static void notified(void) /* each waits, and the last one is notified by a message's receiver */
{
    MPI_Win w = counters("legal");
    if (rank == 0) {
        usleep(800000);
        MPI_Send(buf, 1, MPI_INT, 1, 3, W);
    }
    if (rank == 1) {
        MPI_Recv(buf, 1, MPI_INT, 0, 3, W, MPI_STATUS_IGNORE);
        for (int i = 0; i < size; i++)
            MPIX_Put_notify(NULL, 0, MPI_INT, i, 0, 0, MPI_INT, 0, w);
    }
    MPIX_Win_notify_wait(w, 0, 1);
    MPI_Win_unlock_all(w);
    MPI_Win_free(&w);
}

static void notify(void) /* one notification is there for each, and each waits for two */
{
    MPI_Win w = counters("table");
    MPIX_Put_notify(NULL, 0, MPI_INT, (rank + 1) % size, 0, 0, MPI_INT, 0, w);
    MPIX_Win_notify_wait(w, 0, 2);
}

static int tells(int err, void *data)
{
    MPI_Send(data, 1, MPI_INT, 1, 3, W);
    return err;
}

static void continued(void) /* 0 waits for 1, whose message 0's function sends; 2 starts it late */
{
    MPI_Request all, r;
    int value = 0;
    if (rank == 0) {
        MPIX_Continue_init(0, 0, MPI_INFO_NULL, &all);
        MPI_Start(&all);
        MPI_Irecv(&value, 1, MPI_INT, 2, 4, W, &r);
        MPIX_Continue(&r, tells, &value, 0, MPI_STATUS_IGNORE, all);
        MPI_Recv(buf, 1, MPI_INT, 1, 5, W, MPI_STATUS_IGNORE);
        MPI_Wait(&all, MPI_STATUS_IGNORE);
        MPI_Request_free(&all);
    } else if (rank == 1) {
        MPI_Recv(buf, 1, MPI_INT, 0, 3, W, MPI_STATUS_IGNORE);
        MPI_Send(buf, 1, MPI_INT, 0, 5, W);
    } else if (rank == 2) {
        usleep(2500000);
        MPI_Send(buf, 1, MPI_INT, 0, 4, W);
    }
}

static void parts(void) /* the last partition gets ready when all have waited long */
{
    for (int i = 0; i < 2; i++) {
        MPI_Request r;
        if (rank < 2)
            part_start(i ? BIG / 4 : 1, 3, &r);
        if (rank == 0) {
            usleep(800000);
            MPI_Pready(3, r);
        }
        if (rank < 2) {
            MPI_Wait(&r, MPI_STATUS_IGNORE);
            MPI_Request_free(&r);
        }
        MPI_Barrier(W);
    }
}

/* A message holds the memory of its communicator, whose calls were compared when it was freed. */
static void freed_send(void)
{
    MPI_Comm d;
    MPI_Request r;
    MPI_Comm_dup(W, &d);
    MPI_Barrier(d);
    if (rank == 1) {
        usleep(300000);
        MPI_Isend(big[0], BIG, MPI_CHAR, 2, 3, d, &r);
        MPI_Request_free(&r);
    } else if (rank == 2) {
        MPI_Irecv(big[1], BIG, MPI_CHAR, 1, 3, d, &r);
    }
    MPI_Comm_free(&d);
    if (rank == 2) {
        usleep(2000000);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

/* No process receives it: MPI_Finalize waits for ever. */
static void unreceived(void)
{
    MPI_Request r;
    if (rank == 1) {
        MPI_Issend(buf, 1, MPI_INT, 0, 3, W, &r);
        MPI_Request_free(&r);
    }
    MPI_Finalize();
    exit(0);
}

static void unbuffered(void)
{
    MPI_Request r;
    if (rank == 1) {
        MPI_Isend(buf, 1, MPI_INT, 0, 3, W, &r);
        MPI_Request_free(&r);
        MPI_Isend(buf, 1, MPI_INT, 0, 4, W, &r);
        MPI_Request_free(&r);
    } else if (rank == 0) {
        usleep(1000000); /* one of the two */
        MPI_Recv(buf, 1, MPI_INT, 1, 4, W, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    exit(0);
}

/* So does a persistent request. */
static void freed_request(void)
{
    MPI_Comm d;
    MPI_Request r;
    MPI_Comm_dup(W, &d);
    MPI_Barrier(d);
    if (rank == 1)
        MPI_Recv_init(buf, 1, MPI_INT, 0, 3, d, &r);
    MPI_Comm_free(&d);
    MPI_Barrier(W);
    if (rank == 0)
        usleep(500000);
}

static void legal(void)
{
    parts();
    computes();
    one_of();
    polls();
    held_lock();
    started();
    duplicate();
    slow_chain();
    notified();
    continued();
}

static const struct check_case cases[] = {
    {"recv_barrier", recv_barrier}, {"irecv_allreduce", irecv_allreduce},
    {"ibarrier_recv", ibarrier_recv}, {"ring", ring}, {"sends", sends},
    {"pairs", pairs}, {"late", late},
    {"any_source", any_source}, {"waitany", waitany}, {"probe", probe}, {"two_comms", two_comms},
    {"two_comms_return", two_comms_return}, {"finalized", finalized},
    {"any_finalized", any_finalized}, {"gathers", gathers}, {"gather_alone", gather_alone},
    {"part_unready", part_unready}, {"part_null", part_null},
    {"part_barrier", part_barrier}, {"part_finalized", part_finalized}, {"part_send", part_send},
    {"probe_finalized", probe_finalized}, {"exchange", exchange}, {"other_order", other_order},
    {"before_barrier", before_barrier}, {"second", second}, {"named", named}, {"lock", lock},
    {"fence_recv", fence_recv}, {"itself", itself}, {"computes", computes}, {"one_of", one_of},
    {"polls", polls}, {"held_lock", held_lock}, {"started", started}, {"duplicate", duplicate},
    {"slow_chain", slow_chain}, {"notified", notified}, {"notify", notify},
    {"continued", continued}, {"freed_send", freed_send}, {"freed_request", freed_request},
    {"unreceived", unreceived}, {"unbuffered", unbuffered}, {"legal", legal}};

int main(int argc, char **argv)
{
    return run_case(argc, argv, cases, sizeof cases / sizeof *cases);
}
