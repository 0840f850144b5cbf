/* Messages that a trace does not count, each followed by ones of the same ranks and tag in later
 * steps; a barrier ends a step, and a message comes in the step in which it was sent. With an
 * argument: the first rank cancels a send, too. Two ranks. */
#include <mpi.h>
#include <stdlib.h>

enum { MANY = 70 };

static int rank, data[MANY];
static MPI_Request request[MANY];

static void step(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

/* One message in each of n steps. */
static void plain(int tag, int n)
{
    for (int i = 0; i < n; i++, step())
        if (rank == 0)
            MPI_Send(data, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
        else
            MPI_Recv(data, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send_one(int tag, int count)
{
    MPI_Send(data, count, MPI_INT, 1, tag, MPI_COMM_WORLD);
}

static void any_source(void)
{
    if (rank == 0) {
        send_one(1, 1);
    } else {
        MPI_Irecv(data, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    step();
    plain(1, 2);
}

static void persistent(void)
{
    if (rank == 0)
        send_one(2, 1);
    else
        MPI_Recv_init(data, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, request);
    if (rank == 1)
        MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Request_free(request);
    step();
    plain(2, 2);
    if (rank == 0) {
        MPI_Send_init(data, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, request);
        MPI_Start(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
        MPI_Request_free(request);
    } else {
        MPI_Recv(data, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    step();
    plain(6, 2);
}

static void cancelled(void)
{
    if (rank == 1) {
        MPI_Irecv(data, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, request);
        MPI_Cancel(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    step();
    plain(3, 2);
}

static void too_long(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0)
        send_one(10, 2);
    else if (MPI_Recv(data, 1, MPI_INT, 0, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS)
        exit(3);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    step();
    plain(10, 2);
}

/* Called for both directions, so that receives leave their handles to sends. */
static void many(int tag, int from, int n)
{
    for (int i = 0; i < n; i++)
        if (rank != from)
            MPI_Irecv(&data[i], 1, MPI_INT, from, tag, MPI_COMM_WORLD, &request[i]);
        else
            MPI_Isend(&data[i], 1, MPI_INT, !from, tag, MPI_COMM_WORLD, &request[i]);
    MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
    step();
}

static void freed(void)
{
    if (rank == 1) {
        MPI_Irecv(data, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, request);
        MPI_Request_free(request);
    }
    step();
    if (rank == 0)
        send_one(7, 1);
    step();
    many(8, 1, 4);
}

/* It is taken back, or it comes as the first. */
static void cancelled_send(void)
{
    MPI_Status status;
    int gone = 0;
    if (rank == 0) {
        MPI_Isend(data, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, request);
        MPI_Cancel(request);
        MPI_Wait(request, &status);
        MPI_Test_cancelled(&status, &gone);
    }
    MPI_Bcast(&gone, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!gone && rank == 1)
        MPI_Recv(data, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    step();
    plain(9, 2);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    request[0] = MPI_REQUEST_NULL;
    any_source();
    persistent();
    cancelled();
    too_long();
    many(4, 0, MANY);
    many(5, 1, MANY);
    freed();
    if (argc > 1)
        cancelled_send();
    return MPI_Finalize();
}
