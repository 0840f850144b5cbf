/* thread_level.c - calls of threads that may not make them: thread_level CASE (thread_level.test).
 * Lines have the marks WRONG CASE. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

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

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
        int level;
    } all[] = {{"single", funneled, MPI_THREAD_SINGLE},
               {"funneled", funneled, MPI_THREAD_FUNNELED},
               {"serialized", serialized, MPI_THREAD_SERIALIZED},
               {"in_order", in_order, MPI_THREAD_SERIALIZED},
               {"asking", asking, MPI_THREAD_FUNNELED},
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
