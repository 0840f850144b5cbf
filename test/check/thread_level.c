/* thread_level.c - calls of threads that may not make them: thread_level CASE (thread_level.test).
 * Lines have the marks WRONG CASE. */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int rank, size, number;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void *sends(void *arg)
{
    MPI_Send(&number, 1, MPI_INT, *(int *)arg, 3, MPI_COMM_WORLD); /* WRONG funneled */
    return NULL;
}

/* Twice at one place: it is named once. */
static void funneled(void)
{
    pthread_t t;
    int to = 0;
    for (int i = 0; i < 2 && rank == 1; i++) {
        pthread_create(&t, NULL, sends, &to);
        pthread_join(t, NULL);
    }
    for (int i = 0; i < 2 && rank == 0; i++)
        MPI_Recv(&number, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void *waits(void *arg)
{
    int sent = 7;
    (void)arg;
    MPI_Sendrecv(&sent, 1, MPI_INT, 1, 6, &number, 1, MPI_INT, 1, 4, /* WRONG first */
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

/* Rank 1 answers so that each of the two calls of rank 0 ends after the other one has begun. */
static void serialized(void)
{
    pthread_t t;
    int sent = 8;
    if (rank == 0) {
        pthread_create(&t, NULL, waits, NULL);
        MPI_Ssend(&sent, 1, MPI_INT, 1, 5, MPI_COMM_WORLD); /* WRONG second */
        pthread_join(t, NULL);
    }
    if (rank == 1) {
        MPI_Recv(&number, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&number, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&number, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
    }
}

static void *speaks(void *arg)
{
    int sum;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    return arg;
}

/* The next call says what was found: the other thread begins another one meanwhile. addr2line of
 * the test makes "asked", and ends when the thread that is named in "begins" sleeps: within
 * MPI_Barrier, since it sleeps nowhere else behind that. */
static void spoken(void)
{
    pthread_t t;
    serialized();
    if (rank)
        return;
    pthread_create(&t, NULL, speaks, NULL);
    for (int i = 0; i < 30000 && access("asked", F_OK); i++)
        usleep(1000);
    FILE *f = fopen("begins.new", "w");
    fprintf(f, "/proc/%d/task/%ld/stat\n", (int)getpid(), syscall(SYS_gettid));
    fclose(f);
    rename("begins.new", "begins");
    MPI_Barrier(MPI_COMM_SELF); /* WRONG spoken */
    pthread_join(t, NULL);
}

static void *in_turn(void *arg)
{
    (void)arg;
    for (int i = 0; i < 200; i++) {
        int mine;
        pthread_mutex_lock(&turn);
        MPI_Sendrecv(&rank, 1, MPI_INT, rank, 6, &mine, 1, MPI_INT, rank, 6, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        pthread_mutex_unlock(&turn);
    }
    return NULL;
}

/* One after the other. */
static void in_order(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, in_turn, NULL);
    in_turn(NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void *asks(void *arg)
{
    int level, is_main, done;
    MPI_Info info;
    (void)arg;
    MPI_Query_thread(&level);
    MPI_Is_thread_main(&is_main);
    MPI_Initialized(&done);
    MPI_Info_create(&info);
    MPI_Info_free(&info);
    MPIX_Request_is_complete(MPI_REQUEST_NULL);
    return NULL;
}

/* What any thread may call. */
static void asking(void)
{
    pthread_t t;
    pthread_create(&t, NULL, asks, NULL);
    pthread_join(t, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

static int continued;

static int continues(int error, void *arg)
{
    (void)arg;
    continued = 1;
    return error;
}

static void *glances(void *arg)
{
    if (MPIX_Request_is_complete(*(MPI_Request *)arg))
        puts("it is complete");
    return NULL;
}

/* What any thread may call beside others runs no function of the program: the next call does. */
static void glance(void)
{
    pthread_t t;
    MPI_Request r, c;
    MPIX_Continue_init(0, 0, MPI_INFO_NULL, &c);
    MPI_Start(&c);
    MPI_Isend(&number, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &r);
    MPIX_Continue(&r, continues, NULL, MPIX_CONT_DEFER_COMPLETE, MPI_STATUS_IGNORE, c);
    pthread_create(&t, NULL, glances, &c);
    pthread_join(t, NULL);
    if (continued)
        puts("MPIX_Request_is_complete ran a continuation");
    MPI_Wait(&c, MPI_STATUS_IGNORE);
    if (!continued)
        puts("a wait for the continuation request did not");
    MPI_Request_free(&c);
}

static void *accumulates(void *arg)
{
    int one = 1, was;
    MPI_Get_accumulate(&one, 1, MPI_INT, &was, 1, MPI_INT, 0, 0, 1, MPI_INT, /* WRONG get_ */
                       MPI_SUM, *(MPI_Win *)arg);
    return NULL;
}

/* Its name begins as those of calls that any thread may make. */
static void get_accumulate(void)
{
    pthread_t t;
    MPI_Win w;
    MPI_Win_create(&number, sizeof number, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
    MPI_Win_fence(0, w);
    if (rank == 1) {
        pthread_create(&t, NULL, accumulates, &w);
        pthread_join(t, NULL);
    }
    MPI_Win_fence(0, w);
    MPI_Win_free(&w);
}

static void *flushes_all(void *arg)
{
    MPI_Win_flush_all(*(MPI_Win *)arg); /* WRONG all */
    return NULL;
}

static void *flushes(void *arg)
{
    MPI_Win_flush(0, *(MPI_Win *)arg); /* WRONG flush */
    return NULL;
}

/* Where they are no more than a fence. */
static void flush(void)
{
    pthread_t t;
    MPI_Win w;
    int *mem;
    MPI_Win_allocate(sizeof *mem, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &w);
    MPI_Win_lock_all(0, w);
    if (rank == 1) {
        pthread_create(&t, NULL, flushes_all, &w);
        pthread_join(t, NULL);
        pthread_create(&t, NULL, flushes, &w);
        pthread_join(t, NULL);
    }
    MPI_Win_unlock_all(w);
    MPI_Win_free(&w);
}

static atomic_int runs_elsewhere; /* calls of adds() by another thread than the main one */
static pthread_t main_thread;

static void adds(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int size;
    for (int i = 0; i < 2000; i++)
        MPI_Type_size(*type, &size);
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
    runs_elsewhere += !pthread_equal(pthread_self(), main_thread);
}

/* Until the library's thread has run some. The lock is for the other thread of reduce_beside(). */
static void reduce(void)
{
    MPI_Op op;
    int enough = 0;
    main_thread = pthread_self();
    MPI_Op_create(adds, 1, &op);
    for (int i = 0; i < 5000 && !enough; i++) {
        int in[4] = {1, 2, 3, 4}, out[4], done = 0, mine = runs_elsewhere >= 30;
        MPI_Request r;
        pthread_mutex_lock(&turn);
        MPI_Iallreduce(in, out, 4, MPI_INT, op, MPI_COMM_WORLD, &r);
        pthread_mutex_unlock(&turn);
        usleep(1000);
        while (!done) {
            pthread_mutex_lock(&turn);
            MPI_Test(&r, &done, MPI_STATUS_IGNORE);
            pthread_mutex_unlock(&turn);
        }
        pthread_mutex_lock(&turn);
        MPI_Allreduce(&mine, &enough, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        pthread_mutex_unlock(&turn);
    }
    if (!enough)
        puts("the library's thread ran no operation");
    MPI_Op_free(&op);
}

static atomic_int is_over;

static void *asks_sizes(void *arg)
{
    (void)arg;
    while (!is_over) {
        int size;
        pthread_mutex_lock(&turn);
        for (int i = 0; i < 100; i++)
            MPI_Type_size(MPI_INT, &size);
        pthread_mutex_unlock(&turn);
        usleep(20);
    }
    return NULL;
}

static void reduce_beside(void)
{
    pthread_t t;
    pthread_create(&t, NULL, asks_sizes, NULL);
    reduce();
    is_over = 1;
    pthread_join(t, NULL);
}

/* --- MPI_THREAD_MULTIPLE ---------------------------------------------------------------------- */

static MPI_Comm beside;
static MPI_Request shared;
static pthread_barrier_t both;

static void *reduces(void *arg)
{
    int sum;
    (void)arg;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* WRONG one */
    return NULL;
}

/* Until the library has named something: for 20 s at most. */
static void *sees_it(void *arg)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle named;
    unsigned long long v = 0;
    int provided, at, n;
    (void)arg;
    MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_index("check_verdicts", MPI_T_PVAR_CLASS_COUNTER, &at);
    MPI_T_pvar_handle_alloc(session, at, NULL, &named, &n);
    for (int i = 0; !v && i < 2000; i++) {
        usleep(10000);
        MPI_T_pvar_read(session, named, &v);
    }
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Send(&number, 1, MPI_INT, 1, 8, MPI_COMM_WORLD);
    return NULL;
}

/* Rank 1 comes when both calls of rank 0 are under way. Equal calls match in any order, so the
 * program ends. */
static void collective(void)
{
    pthread_t t[2];
    int sum, n = 0;
    if (rank == 0) {
        pthread_create(&t[0], NULL, reduces, NULL);
        pthread_create(&t[1], NULL, sees_it, NULL);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* WRONG two */
        pthread_join(t[0], NULL);
        pthread_join(t[1], NULL);
    } else {
        MPI_Recv(&number, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(&rank, &n, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void *reduces_beside(void *arg)
{
    MPI_Comm comm = *(MPI_Comm *)arg;
    int sum;
    for (int i = 0; i < 200; i++) {
        MPI_Request r;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        MPI_Ibarrier(comm, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    return NULL;
}

/* Both threads use one communicator, in turns; later each has its own. */
static void *takes_turns(void *arg)
{
    int turn_of = *(int *)arg, sum;
    for (int i = 0; i < 100; i++) {
        if (i % 2 == turn_of)
            MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        pthread_barrier_wait(&both);
    }
    return NULL;
}

static void collectives_apart(void)
{
    pthread_t t;
    MPI_Comm world = MPI_COMM_WORLD;
    int numbers[2] = {0, 1};
    pthread_barrier_init(&both, NULL, 2); /* first: calls that never end would fill the table */
    pthread_create(&t, NULL, takes_turns, &numbers[1]);
    takes_turns(&numbers[0]);
    pthread_join(t, NULL);
    pthread_barrier_destroy(&both);
    MPI_Comm_dup(MPI_COMM_WORLD, &beside);
    pthread_create(&t, NULL, reduces_beside, &beside);
    reduces_beside(&world);
    pthread_join(t, NULL);
    MPI_Comm_free(&beside);
}

/* The other thread is in its wait when a test is refused. */
static void *waits_too(void *arg)
{
    MPI_Request mine[2] = {MPI_REQUEST_NULL, shared};
    int i, error, class;
    (void)arg;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    while ((error = MPI_Test(&mine[1], &i, MPI_STATUS_IGNORE)) == MPI_SUCCESS)
        usleep(1000);
    MPI_Error_class(error, &class);
    if (class != MPI_ERR_REQUEST)
        printf("MPI_Test: class %d\n", class);
    MPI_Error_class(MPI_Waitany(2, mine, &i, MPI_STATUS_IGNORE), &class);
    if (class != MPI_ERR_REQUEST)
        printf("MPI_Waitany: class %d\n", class);
    MPI_Error_class(MPI_Waitall(2, mine, MPI_STATUSES_IGNORE), &class);
    if (class != MPI_ERR_REQUEST)
        printf("MPI_Waitall: class %d\n", class);
    MPI_Send(&number, 1, MPI_INT, 1, 8, MPI_COMM_WORLD);
    return NULL;
}

/* The first thread waits until the second one has been refused. */
static void request(void)
{
    pthread_t t;
    if (rank == 1) {
        MPI_Recv(&number, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&number, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
    }
    if (rank == 0) {
        MPI_Irecv(&number, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &shared);
        MPI_Request copy[2] = {shared, MPI_REQUEST_NULL};
        pthread_create(&t, NULL, waits_too, NULL);
        MPI_Waitall(2, copy, MPI_STATUSES_IGNORE);
        pthread_join(t, NULL);
    }
}

static atomic_int querying;

static int query_waits(void *arg, MPI_Status *status)
{
    atomic_store(&querying, 1);
    MPI_Recv(arg, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int drop_nothing(void *arg)
{
    (void)arg;
    return MPI_SUCCESS;
}

static int cancel_nothing(void *arg, int complete)
{
    (void)arg, (void)complete;
    return MPI_SUCCESS;
}

enum { MEANWHILE = 8 };

/* One of them lies where a request was that the other thread has freed. */
static void *waits_meanwhile(void *arg)
{
    MPI_Request r[MEANWHILE];
    int in[MEANWHILE], error, class, over = 0;
    (void)arg;
    while (!atomic_load(&querying))
        usleep(1000);
    for (int i = 0; i < MEANWHILE; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, 1, 11, MPI_COMM_WORLD, &r[i]);
    MPI_Send(&rank, 1, MPI_INT, 1, 12, MPI_COMM_WORLD);
    error = MPI_Waitall(MEANWHILE, r, MPI_STATUSES_IGNORE);
    MPI_Error_class(error, &class);
    if (class != MPI_SUCCESS)
        printf("MPI_Waitall: class %d\n", class);
    while (!over)
        MPI_Testall(MEANWHILE, r, &over, MPI_STATUSES_IGNORE);
    MPI_Send(&rank, 1, MPI_INT, 1, 13, MPI_COMM_WORLD);
    return NULL;
}

/* The query function of a request waits, and another one that is done has been freed before. */
static void query(void)
{
    int in[3] = {0}, over = 0, some, which[3];
    MPI_Request r[3];
    pthread_t t;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 1) {
        MPI_Send(&rank, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
        MPI_Recv(&in[0], 1, MPI_INT, 0, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        usleep(50000);
        for (int i = 0; i < MEANWHILE; i++)
            MPI_Send(&rank, 1, MPI_INT, 0, 11, MPI_COMM_WORLD);
        MPI_Recv(&in[0], 1, MPI_INT, 0, 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int tag = 8; tag < 10; tag++)
            MPI_Send(&rank, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
        return;
    }
    pthread_create(&t, NULL, waits_meanwhile, NULL);
    MPI_Irecv(&in[0], 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, 1, 8, MPI_COMM_WORLD, &r[2]);
    MPI_Grequest_start(query_waits, drop_nothing, cancel_nothing, &in[2], &r[1]);
    while (!over)
        MPI_Request_get_status(r[0], &over, MPI_STATUS_IGNORE);
    MPI_Grequest_complete(r[1]);
    MPI_Waitsome(3, r, &some, which, MPI_STATUSES_IGNORE);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    pthread_join(t, NULL);
}

/* Requests of their own, and an inactive one in both lists. */
static void *waits_for_its_own(void *arg)
{
    int number_of = *(int *)arg, in, i;
    for (int k = 0; k < 100; k++) {
        MPI_Request r[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, shared};
        MPI_Irecv(&in, 1, MPI_INT, rank, number_of, MPI_COMM_SELF, &r[0]);
        MPI_Isend(&rank, 1, MPI_INT, rank, number_of, MPI_COMM_SELF, &r[1]);
        if (k % 2)
            MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
        else
            while (MPI_Waitany(3, r, &i, MPI_STATUS_IGNORE) == MPI_SUCCESS && i != MPI_UNDEFINED)
                ;
    }
    return NULL;
}

static void requests_apart(void)
{
    pthread_t t;
    int numbers[2] = {1, 2};
    rank = 0; /* in MPI_COMM_SELF */
    MPI_Send_init(&number, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &shared);
    pthread_create(&t, NULL, waits_for_its_own, &numbers[1]);
    waits_for_its_own(&numbers[0]);
    pthread_join(t, NULL);
    MPI_Request_free(&shared);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
        int level;
    } all[] = {{"single", funneled, MPI_THREAD_SINGLE},
               {"funneled", funneled, MPI_THREAD_FUNNELED},
               {"serialized", serialized, MPI_THREAD_SERIALIZED},
               {"spoken", spoken, MPI_THREAD_SERIALIZED},
               {"in_order", in_order, MPI_THREAD_SERIALIZED},
               {"asking", asking, MPI_THREAD_FUNNELED},
               {"glance", glance, MPI_THREAD_SERIALIZED},
               {"get_accumulate", get_accumulate, MPI_THREAD_FUNNELED},
               {"flush", flush, MPI_THREAD_FUNNELED},
               {"operation", reduce, MPI_THREAD_FUNNELED},
               {"operation_beside", reduce_beside, MPI_THREAD_SERIALIZED},
               {"collective", collective, MPI_THREAD_MULTIPLE},
               {"collectives_apart", collectives_apart, MPI_THREAD_MULTIPLE},
               {"request", request, MPI_THREAD_MULTIPLE},
               {"requests_apart", requests_apart, MPI_THREAD_MULTIPLE},
               {"query", query, MPI_THREAD_MULTIPLE},
               {"multiple", serialized, MPI_THREAD_MULTIPLE}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int provided;
        if (argc < 2 || strcmp(all[i].name, argv[1]) != 0)
            continue;
        MPI_Init_thread(&argc, &argv, all[i].level, &provided);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        all[i].run();
        MPI_Finalize();
        return 0;
    }
    return 2;
}
