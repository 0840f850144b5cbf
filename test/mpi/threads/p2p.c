/* p2p.c - MPI_THREAD_MULTIPLE: several threads of each rank send, receive, probe and take part in
 * collectives at once; a thread blocked in a receive does not stop the others. */
#include "../mt.h"
#include <pthread.h>

enum { T = 4, ROUNDS = 200 };
static MPI_Comm comms[T];
static int wrong[T];

/* Each thread on its own tag of the world, or on its own communicator. */
static void *exchange(void *arg)
{
    int t = (int)(intptr_t)arg, i, k, out[64], in[64], right = (mt_rank + 1) % mt_size,
        left = (mt_rank + mt_size - 1) % mt_size, n;
    MPI_Request req[2];
    MPI_Status st;
    char *big = mt_alloc(100000), *back = mt_alloc(100000);

    for (i = 0; i < ROUNDS; i++) {
        for (k = 0; k < 64; k++)
            out[k] = t * 1000000 + mt_rank * 10000 + i;
        MPI_Irecv(in, 64, MPI_INT, left, t, MPI_COMM_WORLD, &req[0]);
        MPI_Isend(out, 64, MPI_INT, right, t, MPI_COMM_WORLD, &req[1]);
        MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
        for (k = 0; k < 64; k++)
            wrong[t] += in[k] != t * 1000000 + left * 10000 + i;
        MPI_Isend(out, 1, MPI_INT, right, 5, comms[t], &req[0]);
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[t], &st);
        MPI_Recv(in, 64, MPI_INT, st.MPI_SOURCE, st.MPI_TAG, comms[t], &st);
        wrong[t] += in[0] != t * 1000000 + left * 10000 + i;
        MPI_Wait(&req[0], MPI_STATUS_IGNORE);
        MPI_Allreduce(&i, &n, 1, MPI_INT, MPI_SUM, comms[t]);
        wrong[t] += n != i * mt_size;
        if (i % 20 == 0) {
            mt_fill(big, 100000, (unsigned)(t * 100 + mt_rank));
            MPI_Sendrecv(big, 100000, MPI_BYTE, right, 9, back, 100000, MPI_BYTE, left, 9, comms[t],
                         &st);
            wrong[t] += mt_wrong(back, 100000, (unsigned)(t * 100 + left)) != -1;
        }
    }
    free(big);
    free(back);
    return NULL;
}

/* All threads receive from anywhere on one communicator; matched probes keep message and thread
 * together. */
static int taken;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *take(void *arg)
{
    int t = (int)(intptr_t)arg, n, buf[1000], k;
    MPI_Message m;
    MPI_Status st;

    for (;;) {
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &m, &st);
        MPI_Get_count(&st, MPI_INT, &n);
        MPI_Mrecv(buf, n, MPI_INT, &m, &st);
        if (st.MPI_TAG == 999)
            return NULL;
        for (k = 0; k < n; k++)
            wrong[t] += buf[k] != n + k;
        pthread_mutex_lock(&lock);
        taken++;
        pthread_mutex_unlock(&lock);
    }
}

static void run(void *(*fn)(void *))
{
    pthread_t th[T];
    int t;

    for (t = 0; t < T; t++)
        pthread_create(&th[t], NULL, fn, (void *)(intptr_t)t);
    if (fn == take) {
        int buf[1000], i, k, n, r, stop = 0;

        for (i = 0; i < 100; i++) {
            n = 1 + i * 7 % 1000;
            for (k = 0; k < n; k++)
                buf[k] = n + k;
            MPI_Send(buf, n, MPI_INT, (mt_rank + i) % mt_size, 3, MPI_COMM_WORLD);
        }
        MPI_Barrier(comms[0]);
        r = (mt_rank + 1) % mt_size;
        for (t = 0; t < T; t++)
            MPI_Send(&stop, 1, MPI_INT, r, 999, MPI_COMM_WORLD);
    }
    for (t = 0; t < T; t++)
        pthread_join(th[t], NULL);
    for (t = 0; t < T; t++) {
        CHECK_EQ(wrong[t], 0);
        wrong[t] = 0;
    }
}

/* One thread waits for a message that only comes after the other has finished a collective. */
static void *blocked(void *arg)
{
    int v = -1;

    (void)arg;
    MPI_Recv(&v, 1, MPI_INT, (mt_rank + mt_size - 1) % mt_size, 55, comms[1], MPI_STATUS_IGNORE);
    wrong[0] += v != 8;
    return NULL;
}

int main(int argc, char **argv)
{
    int t, ok = mt_init_threads(&argc, &argv), i, level, main_thread, v = 8;
    pthread_t th;

    CHECK(ok);
    MPI_Query_thread(&level);
    CHECK_EQ(level, MPI_THREAD_MULTIPLE);
    MPI_Is_thread_main(&main_thread);
    CHECK_EQ(main_thread, 1);
    for (t = 0; t < T; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    if (ok) {
        run(exchange);
        MPI_Barrier(MPI_COMM_WORLD);
        run(take);
        MPI_Allreduce(&taken, &i, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQ(i, 100 * mt_size);
        pthread_create(&th, NULL, blocked, NULL);
        for (i = 0; i < 20; i++)
            MPI_Barrier(comms[0]);
        MPI_Send(&v, 1, MPI_INT, (mt_rank + 1) % mt_size, 55, comms[1]);
        pthread_join(th, NULL);
        CHECK_EQ(wrong[0], 0);
    }
    for (t = 0; t < T; t++)
        MPI_Comm_free(&comms[t]);
    return mt_finish();
}
