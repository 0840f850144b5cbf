/* types.c - messages whose types differ, and right ones that look alike: types CASE (types.test).
 * Lines that types.test looks for have the marks SENDS CASE and TAKES CASE. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG = 300000 };
static int rank, size, ints[LONG];
static float floats[LONG];
static double doubles[LONG];
static char bytes[4 * LONG];

static void type(void)
{
    if (rank == 1)
        MPI_Send(ints, 4, MPI_INT, 0, 3, MPI_COMM_WORLD); /* SENDS type */
    if (rank == 0)
        MPI_Recv(floats, 8, MPI_FLOAT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* TAKES type */
}

static void many(void)
{
    for (int i = 0; i < 100; i++) {
        if (rank == 1)
            MPI_Send(ints, 4, MPI_INT, 0, 3, MPI_COMM_WORLD); /* SENDS many */
        if (rank == 0)
            MPI_Recv(floats, 4, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, /* TAKES many */
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void far(void)
{
    MPI_Request r;
    if (rank == 0) {
        MPI_Irecv(floats, LONG, MPI_FLOAT, 1, 3, MPI_COMM_WORLD, &r); /* TAKES far */
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Waitall(1, &r, MPI_STATUSES_IGNORE);
        return;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Ssend(ints, LONG, MPI_INT, 0, 3, MPI_COMM_WORLD); /* SENDS far */
}

static void early(void)
{
    MPI_Request r;
    int flag = 0;
    if (rank == 1) {
        MPI_Isend(ints, 10000, MPI_INT, 0, 3, MPI_COMM_WORLD, &r); /* SENDS early */
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Send(ints, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
    }
    if (rank != 0)
        return;
    MPI_Recv(ints, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(floats, 10000, MPI_FLOAT, 1, 3, MPI_COMM_WORLD, &r); /* TAKES early */
    while (!flag)
        MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
}

static void exchange(void)
{
    int other = rank ^ 1;
    if (rank < 2)
        MPI_Sendrecv(ints, 4, rank ? MPI_INT : MPI_FLOAT, other, 3, /* both */
                     floats, 4, MPI_FLOAT, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void itself(void)
{
    MPI_Request r;
    if (rank)
        return;
    MPI_Irecv(floats, 4, MPI_FLOAT, 0, 3, MPI_COMM_WORLD, &r); /* TAKES itself */
    MPI_Send(ints, 4, MPI_INT, 0, 3, MPI_COMM_WORLD);          /* SENDS itself */
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void matched(void)
{
    MPI_Message m;
    MPI_Request r;
    for (int i = 0; i < 2; i++) {
        if (rank == 1)
            MPI_Send(ints, 4, MPI_INT, 0, 3, MPI_COMM_WORLD); /* SENDS matched */
        if (rank != 0)
            continue;
        MPI_Mprobe(1, 3, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
        if (i) { /* its types match */
            MPI_Imrecv(ints, 4, MPI_INT, &m, &r);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        } else {
            MPI_Mrecv(floats, 4, MPI_FLOAT, &m, MPI_STATUS_IGNORE); /* TAKES matched */
        }
    }
}

static void imatched(void)
{
    MPI_Message m;
    MPI_Request r;
    if (rank == 1)
        MPI_Ssend(ints, LONG, MPI_INT, 0, 3, MPI_COMM_WORLD); /* SENDS imatched */
    if (rank != 0)
        return;
    MPI_Mprobe(1, 3, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
    MPI_Imrecv(floats, LONG, MPI_FLOAT, &m, &r); /* TAKES imatched */
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* Named once, though it starts three times. */
static void persistent(void)
{
    MPI_Request r = MPI_REQUEST_NULL;
    if (rank == 1)
        MPI_Send_init(ints, 4, MPI_INT, 0, 3, MPI_COMM_WORLD, &r); /* SENDS persistent */
    if (rank == 0)
        MPI_Recv_init(floats, 9, MPI_FLOAT, 1, 3, MPI_COMM_WORLD, &r); /* TAKES persistent */
    for (int i = 0; i < 3 && rank < 2; i++) {
        MPI_Start(&r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    if (rank < 2)
        MPI_Request_free(&r);
}

static void restarted(void)
{
    MPI_Request r;
    if (rank == 1)
        for (int i = 0; i < 3; i++)
            MPI_Send(ints, 4, i == 2 ? MPI_INT : MPI_FLOAT, 0, 3, /* SENDS restarted */
                     MPI_COMM_WORLD);
    if (rank != 0)
        return;
    MPI_Recv_init(floats, 9, MPI_FLOAT, MPI_ANY_SOURCE, 3, /* TAKES restarted */
                  MPI_COMM_WORLD, &r);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&r);
}

static void buffered(void)
{
    if (rank == 1)
        MPI_Bsend(ints, 4, MPI_INT, 0, 3, MPI_COMM_WORLD); /* SENDS buffered */
    if (rank == 0)
        MPI_Recv(floats, 4, MPI_FLOAT, 1, 3, MPI_COMM_WORLD, /* TAKES buffered */
                 MPI_STATUS_IGNORE);
}

/* Partitions of the two sides may differ. */
static void parts(void)
{
    MPI_Request r;
    int flag = 0;
    if (rank == 1)
        MPI_Psend_init(ints, 4, 25, MPI_INT, 0, 3, MPI_COMM_WORLD, /* SENDS parts */
                       MPI_INFO_NULL, &r);
    if (rank == 0)
        MPI_Precv_init(floats, 2, 50, MPI_FLOAT, 1, 3, MPI_COMM_WORLD, /* TAKES parts */
                       MPI_INFO_NULL, &r);
    for (int i = 0; i < 2 && rank < 2; i++) {
        MPI_Start(&r);
        if (rank)
            MPI_Pready_range(0, 3, r);
        else
            MPI_Parrived(r, 0, &flag);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    if (rank < 2)
        MPI_Request_free(&r);
}

static void iexchange(void)
{
    MPI_Request r;
    if (rank < 2) {
        MPI_Isendrecv(ints, 4, rank ? MPI_INT : MPI_FLOAT, rank ^ 1, 3, /* SENDS iexchange */
                      floats, 4, MPI_FLOAT, rank ^ 1, 3, MPI_COMM_WORLD, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

static void replace(void)
{
    MPI_Request r;
    MPI_Datatype t = rank ? MPI_INT : MPI_FLOAT;
    if (rank < 2)
        MPI_Sendrecv_replace(ints, 4, t, rank ^ 1, 3, rank ^ 1, 3, /* SENDS replace */
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank < 2)
        MPI_Isendrecv_replace(ints, 4, t, rank ^ 1, 4, rank ^ 1, 4, /* SENDS ireplace */
                              MPI_COMM_WORLD, &r);
    if (rank < 2)
        MPI_Wait(&r, MPI_STATUS_IGNORE);
}

struct mixed {
    int i;
    double d[3];
};

static MPI_Datatype mixed_type(int first)
{
    MPI_Datatype t, kinds[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Aint at[2] = {0, offsetof(struct mixed, d)};
    int n[2] = {1, first};
    MPI_Type_create_struct(2, n, at, kinds, &t);
    MPI_Type_commit(&t);
    return t;
}

/* The order differs: int, double, int against int, int, double. */
static void order(void)
{
    MPI_Datatype t = mixed_type(1), u;
    MPI_Datatype kinds[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Aint at[2] = {0, 8};
    int n[2] = {2, 1};
    MPI_Type_create_struct(2, n, at, kinds, &u);
    MPI_Type_commit(&u);
    if (rank == 1)
        MPI_Send(doubles, 4, t, 0, 3, MPI_COMM_WORLD); /* SENDS order */
    if (rank == 0)
        MPI_Recv(doubles, 3, u, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* TAKES order */
    MPI_Type_free(&t);
    MPI_Type_free(&u);
}

static void both(const void *sbuf, int n, MPI_Datatype s, void *rbuf, int m, MPI_Datatype r)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Request q[2];
    MPI_Irecv(rbuf, m, r, left, 5, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(sbuf, n, s, right, 5, MPI_COMM_WORLD, &q[1]);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(sbuf, n, s, right, 6, rbuf, m, r, left, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Isendrecv(sbuf, n, s, right, 7, rbuf, m, r, left, 7, MPI_COMM_WORLD, &q[0]);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    MPI_Recv_init(rbuf, m, r, left, 8, MPI_COMM_WORLD, &q[0]);
    MPI_Bsend_init(sbuf, n < 1000 ? n : 0, s, right, 8, MPI_COMM_WORLD, &q[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Startall(2, q);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&q[0]);
    MPI_Request_free(&q[1]);
    MPI_Precv_init(rbuf, 1, m, r, left, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
    MPI_Psend_init(sbuf, 1, n, s, right, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &q[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Startall(2, q);
        MPI_Pready(0, q[1]);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&q[0]);
    MPI_Request_free(&q[1]);
    MPI_Message message;
    MPI_Isend(sbuf, n, s, right, 10, MPI_COMM_WORLD, &q[1]);
    MPI_Mprobe(left, 10, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(rbuf, m, r, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&q[1], MPI_STATUS_IGNORE);
}

/* Messages of no process, a cancelled one, and one that is as long: nothing is compared with what
 * it does not belong to. */
static void odd_ones(void)
{
    MPI_Request q[2];
    MPI_Message none = MPI_MESSAGE_NO_PROC;
    MPI_Mrecv(floats, 1, MPI_FLOAT, &none, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(ints, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    MPI_Recv_init(floats, 4, MPI_FLOAT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &q[0]);
    MPI_Send_init(ints, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &q[1]);
    MPI_Startall(2, q);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    MPI_Request_free(&q[0]);
    MPI_Request_free(&q[1]);
    MPI_Recv_init(floats, 4, MPI_FLOAT, rank, 2, MPI_COMM_WORLD, &q[0]);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&q[0]);
        MPI_Cancel(&q[0]);
        MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    }
    MPI_Start(&q[0]);
    MPI_Send(ints, 16, MPI_PACKED, rank, 2, MPI_COMM_WORLD);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    MPI_Request_free(&q[0]);
    MPI_Issend(ints, 4, MPI_INT, (rank + 1) % size, 12, MPI_COMM_WORLD, &q[1]);
    MPI_Cancel(&q[1]);
    MPI_Wait(&q[1], MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(floats, 4, MPI_FLOAT, (rank + 1) % size, 12, MPI_COMM_WORLD, &q[1]);
    MPI_Recv(floats, 4, MPI_FLOAT, MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&q[1], MPI_STATUS_IGNORE);
}

static void fine(void)
{
    static struct mixed in[1000], out[1000];
    static struct { float x; int i; } pairs[64];
    MPI_Datatype mixed = mixed_type(3), vector, pair, kinds[2] = {MPI_FLOAT, MPI_INT};
    MPI_Aint at[2] = {0, 4};
    int one[2] = {1, 1}, position = 0;
    MPI_Type_vector(100, 1, 3, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    MPI_Type_create_struct(2, one, at, kinds, &pair);
    MPI_Type_commit(&pair);
    both(ints, 4, MPI_INT, floats, 9, MPI_INT);       /* shorter */
    both(ints, 0, MPI_INT, floats, 9, MPI_FLOAT);     /* nothing */
    both(ints, LONG, MPI_INT, bytes, LONG, MPI_INT);  /* long */
    both(ints, 1, vector, floats, 100, MPI_INT);      /* another layout */
    both(ints, 100, MPI_INT, floats, 2, vector);
    both(in, 1000, mixed, out, 1000, mixed);
    both(in, 3, mixed, out, 1000, mixed);             /* the prefix of repeated types */
    both(in, 1, MPI_INT, out, 10, mixed);             /* ... and of one */
    both(pairs, 20, pair, floats, 64, MPI_FLOAT_INT); /* a pair is two elements */
    both(pairs, 64, MPI_FLOAT_INT, floats, 64, pair);
    both(pairs, 1, MPI_FLOAT, floats, 64, MPI_FLOAT_INT);
    both(bytes, 16, MPI_BYTE, floats, 16, MPI_BYTE);
    MPI_Pack(ints, 4, MPI_INT, bytes, sizeof bytes, &position, MPI_COMM_WORLD);
    both(bytes, position, MPI_PACKED, floats, 9, MPI_INT);
    both(ints, 4, MPI_INT, floats, 64, MPI_PACKED);
    both(ints, 4, MPI_LONG_LONG, floats, 4, MPI_INT64_T);
    for (int i = 0; i < 1000; i++) /* more than there is room for */
        if (rank == 1)
            MPI_Bsend(ints, 10, MPI_INT, 0, i % 2, MPI_COMM_WORLD);
    for (int i = 0; i < 1000; i++) /* the odd ones first */
        if (rank == 0)
            MPI_Recv(floats, 10, MPI_INT, 1, i < 500, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&mixed);
    MPI_Type_free(&vector);
    MPI_Type_free(&pair);
    odd_ones();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"type", type}, {"many", many}, {"far", far}, {"early", early},
               {"exchange", exchange}, {"itself", itself}, {"order", order}, {"fine", fine},
               {"matched", matched}, {"imatched", imatched}, {"persistent", persistent},
               {"restarted", restarted}, {"buffered", buffered}, {"parts", parts},
               {"iexchange", iexchange}, {"replace", replace}};
    void *buffer = malloc(1 << 20);
    int level;
    MPI_Init_thread(&argc, &argv, argc > 2 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Buffer_attach(buffer, 1 << 20);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (argc > 1 && !strcmp(all[i].name, argv[1]))
            all[i].run();
    MPI_Buffer_detach(&buffer, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    free(buffer);
    MPI_Finalize();
    return 0;
}
