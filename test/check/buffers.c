/* Programs with labels: a buffer of each nonblocking call between rank 0 and rank 1 is loaded or
 * stored by rank 0, in the call's time or outside of it, or used by another call meanwhile. The
 * label, whether that races, follows from the three; the performance variable race_found tells what
 * the checker says. For mpicc -race.
 *
 *   buffers          each program; exit status 1: a wrong verdict
 *   buffers NAME     of the cases below, whose reports buffers.test reads */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verdicts.h"

#define W MPI_COMM_WORLD
enum { INTS = 64, OTHER = 1 };
enum op {
    ISEND, ISSEND, IBSEND, IRSEND, SEND_INIT, PSEND, IRECV, IMRECV, RECV_INIT, PRECV, ISENDRECV,
    IREPLACE, IBCAST_ROOT, IBCAST, IREDUCE, IALLREDUCE, IGATHER, IALLGATHERV, ISCATTER, IALLTOALL,
    IALLTOALLW, IREDUCE_SCATTER, ISCAN, IEXSCAN, INEIGHBOR, ALLREDUCE_INIT, BCAST_INIT, OPS
};
static const char *const ops[] = {
    "Isend", "Issend", "Ibsend", "Irsend", "Send_init", "Psend_init", "Irecv", "Imrecv",
    "Recv_init", "Precv_init", "Isendrecv", "Isendrecv_replace", "Ibcast at the root", "Ibcast",
    "Ireduce", "Iallreduce", "Igather", "Iallgatherv", "Iscatter", "Ialltoall", "Ialltoallw",
    "Ireduce_scatter", "Iscan", "Iexscan", "Ineighbor_alltoall", "Allreduce_init", "Bcast_init"};
/* What is done to the bytes: of the part that the call reads, of the part that it writes, of the
 * holes of its type or the bytes behind. */
enum what { LOAD_READ, STORE_READ, LOAD_WRITTEN, STORE_WRITTEN, STORE_HOLE, COPY_READ, WHATS };
static const char *const whats[] = {"load of what it reads", "store to what it reads",
                                    "load of what it writes", "store to what it writes",
                                    "store to a hole", "memcpy from what it reads"};
enum when { BEFORE, DURING, WAITED, TESTED, SEEN, ROUNDS, WHENS };
static const char *const whens[] = {"before", "during", "behind MPI_Waitall", "behind MPI_Test",
                                    "behind MPI_Request_get_status", "between two rounds"};

static int rank, size, from[INTS], to[INTS], sink, room[4096];
static MPI_Comm two, ring;
static MPI_Datatype even;

/* --- the label -------------------------------------------------------------------------------- */

static int reads(enum op op)
{
    return op != IRECV && op != IMRECV && op != RECV_INIT && op != PRECV && op != IBCAST &&
           op != IREPLACE && op != BCAST_INIT;
}

/* At rank 0, which is the root of the others, and the first of the exclusive scan. */
static int writes(enum op op)
{
    return !(op <= PSEND || op == IBCAST_ROOT || op == IEXSCAN);
}

/* With each second int of a vector. */
static int has_holes(enum op op)
{
    return op <= IREPLACE && op != PSEND && op != PRECV;
}

static int is_possible(enum op op, enum what what)
{
    if (what == LOAD_READ || what == STORE_READ || what == COPY_READ)
        return reads(op);
    return what == STORE_HOLE ? has_holes(op) : writes(op);
}

static int races(enum what what, enum when when)
{
    return when == DURING && what != LOAD_READ && what != COPY_READ && what != STORE_HOLE;
}

/* --- the programs ----------------------------------------------------------------------------- */

/* Both sides begin; the other one waits. */
static MPI_Request begin(enum op op, int peer)
{
    static const int counts[2] = {4, 4}, displs[2] = {0, 4}, at[2] = {0, 16};
    static const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    static const int one[2] = {2, 2};
    MPI_Request q = MPI_REQUEST_NULL;
    MPI_Message m;
    switch (op) {
    case ISEND: MPI_Isend(from, 1, even, peer, 0, two, &q); break;
    case ISSEND: MPI_Issend(from, 1, even, peer, 0, two, &q); break;
    case IBSEND: MPI_Ibsend(from, 1, even, peer, 0, two, &q); break;
    case IRSEND: MPI_Irsend(from, 1, even, peer, 0, two, &q); break;
    case SEND_INIT: MPI_Send_init(from, 1, even, peer, 0, two, &q); break;
    case PSEND: MPI_Psend_init(from, 2, 2, MPI_INT, peer, 0, two, MPI_INFO_NULL, &q); break;
    case IRECV: MPI_Irecv(to, 1, even, peer, 0, two, &q); break;
    case IMRECV:
        MPI_Mprobe(peer, 0, two, &m, MPI_STATUS_IGNORE);
        MPI_Imrecv(to, 1, even, &m, &q);
        break;
    case RECV_INIT: MPI_Recv_init(to, 1, even, peer, 0, two, &q); break;
    case PRECV: MPI_Precv_init(to, 2, 2, MPI_INT, peer, 0, two, MPI_INFO_NULL, &q); break;
    case ISENDRECV: MPI_Isendrecv(from, 1, even, peer, 0, to, 1, even, peer, 0, two, &q); break;
    case IREPLACE: MPI_Isendrecv_replace(to, 1, even, peer, 0, peer, 0, two, &q); break;
    case IBCAST_ROOT: MPI_Ibcast(rank ? to : from, 4, MPI_INT, 0, two, &q); break;
    case IBCAST: MPI_Ibcast(rank ? from : to, 4, MPI_INT, 1, two, &q); break;
    case IREDUCE: MPI_Ireduce(from, to, 4, MPI_INT, MPI_SUM, 0, two, &q); break;
    case IALLREDUCE: MPI_Iallreduce(from, to, 4, MPI_INT, MPI_SUM, two, &q); break;
    case IGATHER: MPI_Igather(from, 4, MPI_INT, to, 4, MPI_INT, 0, two, &q); break;
    case IALLGATHERV:
        MPI_Iallgatherv(from, 4, MPI_INT, to, counts, displs, MPI_INT, two, &q);
        break;
    case ISCATTER: MPI_Iscatter(from, 4, MPI_INT, to, 4, MPI_INT, 0, two, &q); break;
    case IALLTOALL: MPI_Ialltoall(from, 4, MPI_INT, to, 4, MPI_INT, two, &q); break;
    case IALLTOALLW:
        MPI_Ialltoallw(from, counts, at, types, to, counts, at, types, two, &q);
        break;
    case IREDUCE_SCATTER: MPI_Ireduce_scatter(from, to, one, MPI_INT, MPI_SUM, two, &q); break;
    case ISCAN: MPI_Iscan(from, to, 4, MPI_INT, MPI_SUM, two, &q); break;
    case IEXSCAN: MPI_Iexscan(from, to, 4, MPI_INT, MPI_SUM, two, &q); break;
    case INEIGHBOR: MPI_Ineighbor_alltoall(from, 4, MPI_INT, to, 4, MPI_INT, ring, &q); break;
    case ALLREDUCE_INIT:
        MPI_Allreduce_init(from, to, 4, MPI_INT, MPI_SUM, two, MPI_INFO_NULL, &q);
        break;
    default: MPI_Bcast_init(rank ? from : to, 4, MPI_INT, 1, two, MPI_INFO_NULL, &q); break;
    }
    return q;
}

static int is_started(enum op op)
{
    return op == SEND_INIT || op == PSEND || op == RECV_INIT || op == PRECV ||
           op == ALLREDUCE_INIT || op == BCAST_INIT;
}

static void start(enum op op, MPI_Request *q)
{
    if (!is_started(op))
        return;
    MPI_Start(q);
    if (op == PSEND)
        MPI_Pready_range(0, 1, *q);
}

/* What the other one of the two does. */
static enum op mirrored(enum op op)
{
    static const enum op of[] = {IRECV, IRECV, IRECV, IRECV, RECV_INIT, PRECV,
                                 ISEND, ISEND, SEND_INIT, PSEND};
    return op <= PRECV ? of[op] : op;
}

static void touch(enum what what)
{
    switch (what) {
    case LOAD_READ: sink = ((volatile int *)from)[0]; break;
    case STORE_READ: ((volatile int *)from)[0] = 1; break;
    case LOAD_WRITTEN: sink = ((volatile int *)to)[0]; break;
    case STORE_WRITTEN: ((volatile int *)to)[0] = 1; break;
    case STORE_HOLE: ((volatile int *)from)[1] = ((volatile int *)to)[3] = 1; break;
    default: memcpy(room, from, 16); break;
    }
}

static void end(MPI_Request *q, enum when when)
{
    int flag = 0;
    while (when == TESTED && !flag)
        MPI_Test(q, &flag, MPI_STATUS_IGNORE);
    while (when == SEEN && !flag)
        MPI_Request_get_status(*q, &flag, MPI_STATUS_IGNORE);
    if (when != TESTED && when != SEEN)
        MPI_Waitall(1, q, MPI_STATUSES_IGNORE);
}

static void program(enum op op, enum what what, enum when when)
{
    enum op it = rank ? mirrored(op) : op;
    int rounds = when == ROUNDS && is_started(op) ? 2 : 1, sends = rank && op == IMRECV;
    MPI_Request q = MPI_REQUEST_NULL;
    if (!rank && (when == BEFORE || when == ROUNDS))
        touch(what);
    if (sends) /* the other one probes for it at once */
        MPI_Send(from, 1, even, 0, 0, two);
    else if (!rank && op == IRSEND)
        MPI_Recv(NULL, 0, MPI_INT, 1, OTHER, two, MPI_STATUS_IGNORE);
    if (!sends)
        q = begin(it, !rank);
    if (rank && op == IRSEND)
        MPI_Send(NULL, 0, MPI_INT, 0, OTHER, two);
    for (int round = 0; round < rounds; round++) {
        start(it, &q);
        if (!rank && when == DURING)
            touch(what);
        end(&q, rank ? WAITED : when);
        if (!rank && when != BEFORE && when != DURING)
            touch(what);
    }
    if (is_started(op))
        MPI_Request_free(&q);
    else if (q != MPI_REQUEST_NULL)
        MPI_Wait(&q, MPI_STATUS_IGNORE);
}

/* --- two calls at once, threads --------------------------------------------------------------- */

struct pair {
    const char *name;
    void (*fn)(void);
    int races;
};

static void wait2(MPI_Request *q)
{
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
}

/* Rank 0 begins two receives, at these places, or (sends) two sends. */
static void two_at(int a, int b, int first_sends, int second_sends)
{
    MPI_Request q[2];
    int *at[2] = {room + a, room + b}, is_send[2] = {first_sends, second_sends};
    for (int i = 0; i < 2; i++)
        if (rank ? !is_send[i] : is_send[i])
            MPI_Isend(rank ? from : at[i], 4, MPI_INT, !rank, i, two, &q[i]);
        else
            MPI_Irecv(rank ? to + 4 * i : at[i], 4, MPI_INT, !rank, i, two, &q[i]);
    wait2(q);
}
static void receives_same(void) { two_at(0, 0, 0, 0); }
static void receives_overlap(void) { two_at(0, 3, 0, 0); }
static void receives_apart(void) { two_at(0, 4, 0, 0); }
static void sends_same(void) { two_at(0, 0, 1, 1); }
static void send_and_receive(void) { two_at(0, 0, 1, 0); }
static void receive_and_send(void) { two_at(2, 0, 0, 1); }

/* Beside a nonblocking call of rank 0 a blocking one. */
static void beside(int sends, void (*call)(int *at), int *at)
{
    MPI_Request q;
    if (rank ? !sends : sends)
        MPI_Isend(room, 4, MPI_INT, !rank, 0, two, &q); /* sends */
    else
        MPI_Irecv(room, 4, MPI_INT, !rank, 0, two, &q); /* receives */
    call(rank ? to : at);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}
static void send(int *at)
{
    if (rank)
        MPI_Recv(at, 4, MPI_INT, 0, OTHER, two, MPI_STATUS_IGNORE);
    else
        MPI_Send(at, 4, MPI_INT, 1, OTHER, two);
}
static void receive(int *at)
{
    if (rank)
        MPI_Send(at, 4, MPI_INT, 0, OTHER, two);
    else
        MPI_Recv(at, 4, MPI_INT, 1, OTHER, two, MPI_STATUS_IGNORE); /* received */
}
/* A message that is shorter than the buffer leaves the rest as it is. */
static void receive_short(int *at)
{
    if (rank)
        MPI_Send(at, 2, MPI_INT, 0, OTHER, two);
    else
        MPI_Recv(at, 6, MPI_INT, 1, OTHER, two, MPI_STATUS_IGNORE);
}
static void bcast_from(int *at) { MPI_Bcast(at, 4, MPI_INT, 0, two); }
static void bcast_to(int *at) { MPI_Bcast(at, 4, MPI_INT, 1, two); }
static void reduce(int *at)
{
    MPI_Allreduce(MPI_IN_PLACE, at, 4, MPI_INT, MPI_SUM, two); /* reduced */
}
static void gather(int *at) { MPI_Gather(from, 4, MPI_INT, at, 4, MPI_INT, 0, two); }
static void isend_send(void) { beside(1, send, room); }
static void isend_recv(void) { beside(1, receive, room); }
static void isend_recv_behind(void) { beside(1, receive, room + 4); }
static void irecv_send(void) { beside(0, send, room); }
static void irecv_recv(void) { beside(0, receive, room); }
static void irecv_recv_behind(void) { beside(0, receive, room + 4); }
static void isend_short(void) { beside(1, receive_short, room + 4); }
static void isend_bcast_from(void) { beside(1, bcast_from, room); }
static void isend_bcast_to(void) { beside(1, bcast_to, room); }
static void irecv_bcast_from(void) { beside(0, bcast_from, room); }
static void irecv_reduce(void) { beside(0, reduce, room); }
static void irecv_gather(void) { beside(0, gather, room); }
static void irecv_gather_behind(void) { beside(0, gather, room + 4); }

/* A window, and a message to or from its memory. */
static MPI_Win win;
static void one_sided(int sends, int gets)
{
    MPI_Request q;
    MPI_Win_lock_all(0, win);
    if (rank ? !sends : sends)
        MPI_Isend(room, 4, MPI_INT, !rank, 0, two, &q);
    else
        MPI_Irecv(room, 4, MPI_INT, !rank, 0, two, &q);
    if (!rank && gets)
        MPI_Get(room, 4, MPI_INT, 1, 512, 4, MPI_INT, win);
    else if (!rank)
        MPI_Put(room, 4, MPI_INT, 1, 512, 4, MPI_INT, win);
    MPI_Win_flush_all(win);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(win);
}
static void isend_put(void) { one_sided(1, 0); }
static void isend_get(void) { one_sided(1, 1); }
static void irecv_put(void) { one_sided(0, 0); }
static void irecv_get(void) { one_sided(0, 1); }

/* A receive into window memory, into which rank 1 puts; behind: when it knows that it is over. */
static void put_to(int behind)
{
    MPI_Request q;
    MPI_Win_lock_all(0, win);
    if (rank) {
        if (behind)
            MPI_Send(from, 4, MPI_INT, 0, 0, two);
        if (behind)
            MPI_Recv(NULL, 0, MPI_INT, 0, OTHER, two, MPI_STATUS_IGNORE);
        MPI_Put(from, 4, MPI_INT, 0, 0, 4, MPI_INT, win);
        MPI_Win_flush_all(win);
        if (!behind)
            MPI_Send(from, 4, MPI_INT, 0, 0, two);
    } else {
        MPI_Irecv(room, 4, MPI_INT, 1, 0, two, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        if (behind)
            MPI_Send(NULL, 0, MPI_INT, 1, OTHER, two);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(two);
}
static void put_during(void) { put_to(0); }
static void put_behind(void) { put_to(1); }

static MPI_Request shared;
static int in_thread; /* what the thread does: 1: loads; 2: stores; 4: first waits for the request;
                       * 8: the main thread has waited before */
static void *thread(void *arg)
{
    (void)arg;
    if (in_thread & 4)
        MPI_Wait(&shared, MPI_STATUS_IGNORE);
    if (in_thread & 1)
        sink = ((volatile int *)room)[0];
    if (in_thread & 2)
        ((volatile int *)room)[0] = 1; /* thread */
    return NULL;
}
static void threads(int sends, int does)
{
    pthread_t t;
    if (rank) {
        sends ? MPI_Recv(to, 4, MPI_INT, 0, 0, two, MPI_STATUS_IGNORE)
              : MPI_Send(from, 4, MPI_INT, 0, 0, two);
        return;
    }
    in_thread = does;
    if (sends)
        MPI_Isend(room, 4, MPI_INT, 1, 0, two, &shared); /* shared */
    else
        MPI_Irecv(room, 4, MPI_INT, 1, 0, two, &shared);
    if (does & 8)
        MPI_Wait(&shared, MPI_STATUS_IGNORE);
    pthread_create(&t, NULL, thread, NULL);
    if (!(does & 12))
        MPI_Wait(&shared, MPI_STATUS_IGNORE);
    pthread_join(t, NULL);
    ((volatile int *)room)[0] = 2;
}
static void thread_loads_send(void) { threads(1, 1); }
static void thread_stores_send(void) { threads(1, 2); }
static void thread_loads_receive(void) { threads(0, 1); }
static void thread_stores_receive(void) { threads(0, 2); }
static void thread_waits_send(void) { threads(1, 2 | 4); }
static void thread_waits_receive(void) { threads(0, 1 | 4); }
static void thread_behind_send(void) { threads(1, 2 | 8); }
static void thread_behind_receive(void) { threads(0, 1 | 8); }

/* A thread sends to another of its process: what the first stored is the other's. */
static void *other(void *arg)
{
    MPI_Request q;
    (void)arg;
    MPI_Recv(NULL, 0, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Isend(room, 4, MPI_INT, 1, 0, two, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    return NULL;
}
static void thread_to_thread(void)
{
    pthread_t t;
    if (rank) {
        MPI_Recv(to, 4, MPI_INT, 0, 0, two, MPI_STATUS_IGNORE);
        return;
    }
    pthread_create(&t, NULL, other, NULL);
    ((volatile int *)room)[0] = 1;
    MPI_Send(NULL, 0, MPI_INT, 0, 3, MPI_COMM_SELF);
    pthread_join(t, NULL);
}

static void team(int sends, int behind)
{
    MPI_Request q;
    if (rank) {
        sends ? MPI_Recv(to, 4, MPI_INT, 0, 0, two, MPI_STATUS_IGNORE)
              : MPI_Send(from, 4, MPI_INT, 0, 0, two);
        return;
    }
    if (sends)
        MPI_Isend(room, 4, MPI_INT, 1, 0, two, &q);
    else
        MPI_Irecv(room, 4, MPI_INT, 1, 0, two, &q);
    if (behind)
        MPI_Wait(&q, MPI_STATUS_IGNORE);
#pragma omp parallel num_threads(2)
    {
#pragma omp single
#pragma omp task
        ((volatile int *)room)[0] = 1;
    }
    if (!behind)
        MPI_Wait(&q, MPI_STATUS_IGNORE);
}
static void task_stores_send(void) { team(1, 0); }
static void task_stores_receive(void) { team(0, 0); }
static void task_behind_send(void) { team(1, 1); }
static void task_behind_receive(void) { team(0, 1); }

/* Partitions: what is stored before MPI_Pready of another one, and behind MPI_Parrived. */
static void partitions(int stores_early, int loads_early)
{
    MPI_Request q;
    int flag = 0;
    if (rank)
        MPI_Precv_init(room, 2, 4, MPI_INT, 0, 0, two, MPI_INFO_NULL, &q);
    else
        MPI_Psend_init(room, 2, 4, MPI_INT, 1, 0, two, MPI_INFO_NULL, &q); /* partitioned */
    MPI_Start(&q);
    if (!rank) {
        MPI_Pready(0, q);
        ((volatile int *)room)[stores_early ? 0 : 4] = 1; /* early */
        MPI_Pready(1, q);
    } else if (loads_early) {
        sink = ((volatile int *)room)[4];
    } else {
        while (!flag)
            MPI_Parrived(q, 1, &flag);
        sink = ((volatile int *)room)[4];
    }
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Request_free(&q);
}
static void partition_stored(void) { partitions(1, 0); }
static void partition_other(void) { partitions(0, 0); }
static void partition_loaded(void) { partitions(0, 1); }

/* MPI_Request_free: the answer of the other one says that it has all. */
static void freed(void)
{
    MPI_Request q;
    if (rank) {
        MPI_Recv(to, 4, MPI_INT, 0, 0, two, MPI_STATUS_IGNORE);
        MPI_Send(NULL, 0, MPI_INT, 0, OTHER, two);
        return;
    }
    MPI_Isend(room, 4, MPI_INT, 1, 0, two, &q);
    MPI_Request_free(&q);
    MPI_Recv(NULL, 0, MPI_INT, 1, OTHER, two, MPI_STATUS_IGNORE);
    ((volatile int *)room)[0] = 1;
}

/* MPI_PROC_NULL touches nothing. */
static void null(void)
{
    MPI_Request q[2];
    MPI_Irecv(room, 4, MPI_INT, MPI_PROC_NULL, 0, two, &q[0]);
    MPI_Isend(room, 4, MPI_INT, MPI_PROC_NULL, 0, two, &q[1]);
    ((volatile int *)room)[0] = 1;
    wait2(q);
}

/* The function of an operation works on the buffers, for the call. */
static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((volatile int *)inout)[i] += ((volatile int *)in)[i];
}
static void user_op(void)
{
    MPI_Op op;
    MPI_Request q;
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(from, to, 4, MPI_INT, op, two);
    MPI_Iallreduce(from, to, 4, MPI_INT, op, two, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Iscan(from, to, 4, MPI_INT, op, two, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    sink = ((volatile int *)to)[0];
    MPI_Op_free(&op);
}

#define WRONG(f) {#f, f, 1}
#define RIGHT(f) {#f, f, 0}
static const struct pair pairs[] = {
    WRONG(receives_same), WRONG(receives_overlap), RIGHT(receives_apart), RIGHT(sends_same),
    WRONG(send_and_receive), WRONG(receive_and_send), RIGHT(isend_send), WRONG(isend_recv),
    RIGHT(isend_recv_behind), WRONG(irecv_send), WRONG(irecv_recv), RIGHT(irecv_recv_behind),
    RIGHT(isend_short), RIGHT(isend_bcast_from), WRONG(isend_bcast_to), WRONG(irecv_bcast_from),
    WRONG(irecv_reduce), WRONG(irecv_gather), RIGHT(irecv_gather_behind), RIGHT(isend_put),
    WRONG(isend_get), WRONG(irecv_put), WRONG(irecv_get), RIGHT(put_behind), WRONG(put_during),
    RIGHT(thread_loads_send), WRONG(thread_stores_send), WRONG(thread_loads_receive),
    WRONG(thread_stores_receive), RIGHT(thread_waits_send), RIGHT(thread_waits_receive),
    RIGHT(thread_behind_send), RIGHT(thread_behind_receive), RIGHT(thread_to_thread),
    WRONG(task_stores_send), WRONG(task_stores_receive), RIGHT(task_behind_send),
    RIGHT(task_behind_receive), WRONG(partition_stored), RIGHT(partition_other),
    WRONG(partition_loaded), RIGHT(freed), RIGHT(null),
    RIGHT(user_op)};

/* --- verdicts --------------------------------------------------------------------------------- */

static unsigned programs, wrong, racing;

static void judge(int want, unsigned long long before, const char *text)
{
    unsigned long long mine = verdicts(WITH_POSSIBLE) - before, all;
    MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, two);
    programs++;
    racing += want != 0;
    if (want == (all != 0))
        return;
    wrong++;
    if (!rank)
        printf("wrong: %s: %s\n", text, want ? "not seen" : "no race");
}

static void all_programs(void)
{
    char text[128];
    for (int op = 0; op < OPS; op++)
        for (int what = 0; what < WHATS; what++)
            for (int when = 0; is_possible(op, what) && when < WHENS; when++) {
                unsigned long long before = verdicts(WITH_POSSIBLE);
                program(op, what, when);
                snprintf(text, sizeof text, "%s, %s, %s", ops[op], whats[what], whens[when]);
                judge(races(what, when), before, text);
            }
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        unsigned long long before = verdicts(WITH_POSSIBLE);
        pairs[i].fn();
        judge(pairs[i].races, before, pairs[i].name);
    }
}

int main(int argc, char **argv)
{
    static char attached[65536];
    int given, n = 2, yes = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    MPI_Comm_rank(W, &rank);
    MPI_Comm_size(W, &size);
    MPI_Comm_dup(W, &two);
    MPI_Cart_create(W, 1, &n, &yes, 0, &ring);
    MPI_Type_vector(2, 1, 2, MPI_INT, &even);
    MPI_Type_commit(&even);
    MPI_Buffer_attach(attached, sizeof attached);
    MPI_Win_create(room, sizeof room, sizeof(int), MPI_INFO_NULL, W, &win);
    open_variables();
    for (unsigned i = 0; argc > 1 && i < sizeof pairs / sizeof *pairs; i++)
        if (!strcmp(argv[1], pairs[i].name))
            pairs[i].fn();
    if (argc == 1)
        all_programs();
    if (argc == 1 && !rank)
        printf("%u programs, %u race, %u wrong\n", programs, racing, wrong);
    void *at;
    int bytes;
    MPI_Buffer_detach(&at, &bytes);
    MPI_Win_free(&win);
    MPI_Type_free(&even);
    MPI_Comm_free(&ring);
    MPI_Comm_free(&two);
    MPI_Finalize();
    return wrong != 0;
}
