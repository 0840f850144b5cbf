/* continue.c - continuations of several threads at random: messages, one-sided operations,
 * generalized and persistent requests, on shared and own continuation requests; functions attach
 * further ones, send, wait, and never run inside one another. Each runs exactly once. Functions of
 * MPIX_Async_start are polled by one thread at a time.
 *
 *    continue [threads [rounds [seed]]] */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>

#include "../mt.h"

enum { THREADS = 4, OPS = 12, TYPES = 3 };
static int threads = THREADS, rounds = 30;
static unsigned seed = 1;
static MPI_Win win;
static MPI_Request shared[2]; /* any call runs it; the main thread polls it */
static atomic_int attached, ran, wrong;
static _Thread_local int inside;

struct job { /* one function that is to run once */
    atomic_int runs;
    int depth;
    unsigned rnd;
    MPI_Request cont;
    MPI_Status st[2];
    int tag; /* -1: no message */
    int in, out;
    int64_t from, result;
    struct job *next; /* of this thread's; for the check at the end */
};

static unsigned step(unsigned *r)
{
    *r = *r * 1664525u + 1013904223u;
    return *r >> 8;
}

static void fails(const char *what)
{
    if (atomic_fetch_add(&wrong, 1) < 5)
        printf("rank %d: %s\n", mt_rank, what);
}

static int no_query(void *x, MPI_Status *st)
{
    (void)x;
    MPI_Status_set_elements(st, MPI_BYTE, 0);
    MPI_Status_set_cancelled(st, 0);
    st->MPI_SOURCE = st->MPI_TAG = 0;
    return MPI_SUCCESS;
}

static int no_free(void *x) { (void)x; return MPI_SUCCESS; }
static int no_cancel(void *x, int c) { (void)x, (void)c; return MPI_SUCCESS; }

static int runs_now(int error, void *data);

static struct job *begin(unsigned *rnd, int depth, MPI_Request cont)
{
    static const int flags[] = {0, MPIX_CONT_DEFER_COMPLETE, MPIX_CONT_INVOKE_FAILED,
                                MPIX_CONT_DEFER_COMPLETE | MPIX_CONT_REQBUF_VOLATILE};
    struct job *j = mt_alloc(sizeof *j);
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, copy;
    int how = (int)(step(rnd) % 6), with_status = (int)(step(rnd) % 2);
    int flag = flags[step(rnd) % 4];

    memset(j, 0, sizeof *j);
    atomic_init(&j->runs, 0);
    j->depth = depth;
    j->rnd = *rnd;
    j->cont = cont;
    j->tag = -1;
    j->out = (int)(*rnd & 0xffff);
    atomic_fetch_add(&attached, 1);
    switch (how) {
    case 0: case 1: /* a message to oneself, both halves in one */
        /* any of the threads' messages with this tag has the same contents: its tag */
        j->tag = (int)(step(rnd) % 50);
        j->out = j->tag;
        MPI_Irecv(&j->in, 1, MPI_INT, mt_rank, j->tag, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(&j->out, 1, MPI_INT, mt_rank, j->tag, MPI_COMM_WORLD, &r[1]);
        MPIX_Continueall(2, r, runs_now, j, flag, with_status ? j->st : MPI_STATUSES_IGNORE, cont);
        break;
    case 2:
        MPIX_Continue(&r[0], runs_now, j, flag, MPI_STATUS_IGNORE, cont);
        break;
    case 3:
        j->from = 1;
        MPIX_Rfetch_and_op(&j->from, &j->result, MPI_INT64_T, (int)(step(rnd) % (unsigned)mt_size),
                           0, MPI_SUM, win, &r[0]);
        MPIX_Continue(&r[0], runs_now, j, flag, MPI_STATUS_IGNORE, cont);
        break;
    case 4:
        MPI_Grequest_start(no_query, no_free, no_cancel, NULL, &r[0]);
        copy = r[0];
        if (step(rnd) % 2)
            MPI_Grequest_complete(copy), copy = MPI_REQUEST_NULL;
        MPIX_Continue(&r[0], runs_now, j, flag, MPI_STATUS_IGNORE, cont);
        if (copy != MPI_REQUEST_NULL)
            MPI_Grequest_complete(copy);
        break;
    default:
        MPI_Rget_accumulate(NULL, 0, MPI_INT64_T, &j->result, 1, MPI_INT64_T,
                            (int)(step(rnd) % (unsigned)mt_size), 0, 1, MPI_INT64_T, MPI_NO_OP, win,
                            &r[0]);
        MPIX_Continueall(2, r, runs_now, j, flag, MPI_STATUSES_IGNORE, cont);
    }
    return j;
}

static int runs_now(int error, void *data)
{
    struct job *j = data;
    unsigned rnd = j->rnd;
    int flag, v = 4, w = 0;
    MPI_Request r[2];

    if (inside++)
        fails("a function runs inside another one");
    if (error != MPI_SUCCESS || atomic_fetch_add(&j->runs, 1))
        fails("a function failed, or ran twice");
    if (j->tag >= 0 && j->in != j->tag)
        fails("a message is not there");
    switch (j->depth ? step(&rnd) % 5 : 9) {
    case 0: case 1:
        j->next = begin(&rnd, j->depth - 1, j->cont);
        break;
    case 2:
        MPI_Irecv(&w, 1, MPI_INT, mt_rank, 60, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(&v, 1, MPI_INT, mt_rank, 60, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        if (w != 4)
            fails("a message inside a function is not there");
        break;
    case 3:
        MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        break;
    default:
        break;
    }
    inside--;
    atomic_fetch_add(&ran, 1); /* last: its thread may free the job then */
    return MPI_SUCCESS;
}

static atomic_int started, polled, in_turn;

/* Whichever thread polls it, one at a time. */
static int turns(MPIX_Async_thing thing)
{
    int *left = MPIX_Async_get_state(thing), flag;

    if (inside++)
        fails("a polled function runs inside another one");
    if (atomic_fetch_add(&in_turn, 1))
        fails("two threads poll functions");
    MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    atomic_fetch_sub(&in_turn, 1);
    inside--;
    if (--*left > 0)
        return MPIX_ASYNC_NOPROGRESS;
    free(left);
    atomic_fetch_add(&polled, 1);
    return MPIX_ASYNC_DONE;
}

static void start_polled(int n)
{
    int *left = mt_alloc(sizeof *left);

    *left = n;
    atomic_fetch_add(&started, 1);
    MPIX_Async_start(turns, left, MPIX_STREAM_NULL);
}

static void *works(void *arg)
{
    unsigned rnd = seed * 77u + (unsigned)(intptr_t)arg * 1013u + (unsigned)mt_rank;
    MPI_Request own;
    int round, i, flag;

    MPIX_Continue_init(step(&rnd) % 2 ? MPIX_CONT_POLL_ONLY : 0, (int)(step(&rnd) % 3),
                       MPI_INFO_NULL, &own);
    for (round = 0; round < rounds; round++) {
        struct job *job[OPS];
        int on_own[OPS];

        if (step(&rnd) % 2)
            MPI_Start(&own);
        for (i = 0; i < OPS; i++) {
            on_own[i] = step(&rnd) % 2;
            job[i] = begin(&rnd, (int)(step(&rnd) % 4),
                           on_own[i] ? own : shared[step(&rnd) % 2]);
            if (step(&rnd) % 32 == 0)
                start_polled(1 + (int)(step(&rnd) % 20));
            if (step(&rnd) % 4 == 0)
                MPI_Test(&own, &flag, MPI_STATUS_IGNORE);
        }
        /* wherever the tests have left it: started, and waited for */
        if (MPI_Start(&own) != MPI_SUCCESS)
            flag = 0;
        MPI_Wait(&own, MPI_STATUS_IGNORE);
        for (i = 0; i < OPS; i++) {
            struct job *j, *next;
            for (j = job[i]; j; j = next) {
                while (atomic_load(&j->runs) != 1 && !on_own[i] && !atomic_load(&wrong))
                    MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
                if (atomic_load(&j->runs) != 1) {
                    fails("a function has not run when its request is complete");
                    break;
                }
                next = on_own[i] ? j->next : NULL;
                if (on_own[i])
                    free(j);
            }
        }
    }
    MPI_Request_free(&own);
    return NULL;
}

static atomic_int workers_done;

int main(int argc, char **argv)
{
    pthread_t t[16];
    int64_t *base;
    int i, flag, j;

    if (!mt_init_threads(&argc, &argv))
        return mt_finish();
    threads = argc > 1 ? atoi(argv[1]) : threads;
    rounds = argc > 2 ? atoi(argv[2]) : rounds;
    seed = argc > 3 ? (unsigned)atoi(argv[3]) : seed;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    *base = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    MPIX_Continue_init(0, 0, MPI_INFO_NULL, &shared[0]);
    MPIX_Continue_init(MPIX_CONT_POLL_ONLY, 5, MPI_INFO_NULL, &shared[1]);
    MPI_Startall(2, shared);
    for (i = 0; i < threads; i++)
        pthread_create(&t[i], NULL, works, (void *)(intptr_t)i);
    /* The one that polls until all functions have run, which the threads wait for. */
    for (j = 0; !atomic_load(&workers_done);) {
        MPI_Test(&shared[1], &flag, MPI_STATUS_IGNORE);
        if (flag && MPI_Start(&shared[1]) != MPI_SUCCESS)
            fails("a continuation request is active that MPI_Test has found complete");
        if (j < threads && pthread_tryjoin_np(t[j], NULL) == 0)
            j++;
        if (j == threads)
            atomic_store(&workers_done, 1);
    }
    MPI_Waitall(2, shared, MPI_STATUSES_IGNORE);
    while (atomic_load(&polled) < atomic_load(&started))
        MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(atomic_load(&ran), atomic_load(&attached));
    CHECK_EQ(atomic_load(&wrong), 0);
    MPI_Request_free(&shared[0]);
    MPI_Request_free(&shared[1]);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    return mt_finish();
}
