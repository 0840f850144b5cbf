/* Programs with one race each between an operation and a load or a store, and beside each its twin
 * that is ordered; for mpicc -race. stores NAME: of two ranks, as in races.c. */
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int rank, *base, sink;
static MPI_Win win;

/* The origin buffer of a put is in use until local completion. */
static void buffer(int flush)
{
    int v = 1;
    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        MPI_Put(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* first */
        if (flush)
            MPI_Win_flush_local(0, win);
        v = 2; /* second */
    }
    MPI_Win_unlock_all(win);
    sink = v;
}

static void buffer_race(void) { buffer(0); }
static void buffer_fine(void) { buffer(1); }

/* The target loads the word, by itself and by a function of the C library. */
static void word(int fence, int copies)
{
    int seen[4] = {0};
    MPI_Win_fence(0, win);
    if (rank == 1)
        MPI_Put(&rank, 1, MPI_INT, 0, 1, 1, MPI_INT, win); /* first */
    if (fence)
        MPI_Win_fence(0, win);
    if (rank == 0 && !copies)
        seen[1] = base[1]; /* second */
    if (rank == 0 && copies)
        memcpy(seen, base, sizeof seen); /* copied */
    MPI_Win_fence(0, win);
    sink = seen[1];
}

static void word_race(void) { word(0, 0); }
static void word_fine(void) { word(1, 0); }
static void copy_race(void) { word(0, 1); }
static void copy_fine(void) { word(1, 1); }

/* A store beside a get is valid, and the value is left open. */
static void value(int fence)
{
    int got;
    MPI_Win_fence(0, win);
    if (rank == 1)
        MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* first */
    if (fence)
        MPI_Win_fence(0, win);
    if (rank == 0)
        base[0] = 7; /* second */
    MPI_Win_fence(0, win);
}

static void value_race(void) { value(0); }
static void value_fine(void) { value(1); }

/* Rows of another type beside the words that are loaded. */
static void rows_fine(void)
{
    MPI_Datatype odd;
    int v[4] = {0};
    MPI_Type_vector(4, 1, 2, MPI_INT, &odd);
    MPI_Type_commit(&odd);
    MPI_Win_fence(0, win);
    if (rank == 1)
        MPI_Put(v, 4, MPI_INT, 0, 1, 1, odd, win);
    for (int i = 0; rank == 0 && i < 8; i += 2)
        base[i] = base[i] + 1;
    MPI_Win_fence(0, win);
    MPI_Type_free(&odd);
}

static void get(void)
{
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get(base, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* got */
    MPI_Win_unlock(0, win);
}

static void *thread(void *arg)
{
    pthread_mutex_t *m = arg;
    if (m)
        pthread_mutex_lock(m);
    get();
    if (m)
        pthread_mutex_unlock(m);
    return NULL;
}

/* A thread gets into the word that another loads. */
static void threads(int join)
{
    pthread_t t;
    if (rank == 1) {
        pthread_create(&t, NULL, thread, NULL);
        if (join)
            pthread_join(t, NULL);
        sink = base[0]; /* second */
        if (!join)
            pthread_join(t, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void threads_race(void) { threads(0); }
static void threads_fine(void) { threads(1); }

static void mutex_fine(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_t t;
    if (rank == 1) {
        pthread_create(&t, NULL, thread, &m);
        pthread_mutex_lock(&m);
        sink = base[0];
        pthread_mutex_unlock(&m);
        pthread_join(t, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Shared and exclusive locks of the word, in whatever order they come. */
static void locks_fine(void)
{
    for (int i = 0; i < 50; i++) {
        MPI_Win_lock(rank ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, win);
        if (rank)
            MPI_Get(&sink, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        else
            base[0] = i;
        MPI_Win_unlock(0, win);
    }
}

static pthread_once_t got_once = PTHREAD_ONCE_INIT;

static void *once(void *arg)
{
    pthread_once(&got_once, get);
    sink = base[0];
    return arg;
}

static void once_fine(void)
{
    pthread_t t;
    if (rank == 1) {
        pthread_create(&t, NULL, once, NULL);
        pthread_once(&got_once, get);
        sink = base[0];
        pthread_join(t, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A thread that has ended is not known to one that did not wait for it. */
static volatile int got_first, looks; /* no order */
static void *first(void *arg)
{
    get();
    return arg;
}
static void look(void)
{
    looks = 1;
    while (!got_first)
        ;
    sink = base[0]; /* second */
}
static void *second(void *arg)
{
    look();
    return arg;
}

static void ended_race(void)
{
    pthread_t a, b;
    if (rank == 1) {
        pthread_create(&b, NULL, second, NULL);
        while (!looks) /* else it might be given the number of the other */
            ;
        pthread_create(&a, NULL, first, NULL);
        pthread_join(a, NULL);
        got_first = 1;
        pthread_join(b, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void team(int barrier)
{
#pragma omp parallel num_threads(rank == 1 ? 2 : 1)
    if (rank == 1) {
#pragma omp master
        get();
        if (barrier) {
#pragma omp barrier
        }
        if (omp_get_thread_num() == 1)
            sink = base[0]; /* second */
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void team_race(void) { team(0); }
static void team_fine(void) { team(1); }

static void section_race(void)
{
    if (rank == 1) {
#pragma omp parallel sections num_threads(2)
        {
#pragma omp section
            get();
#pragma omp section
            sink = base[0]; /* second */
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void section_fine(void)
{
    if (rank == 1) {
#pragma omp parallel num_threads(2)
        {
#pragma omp sections
            {
#pragma omp section
                get();
#pragma omp section
                sink = 0;
            }
#pragma omp single
            sink = base[0];
#pragma omp critical
            sink = base[0];
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void tasks_fine(void)
{
    if (rank == 1) {
        long big[9] = {0};
        long sum = 0;
#pragma omp parallel num_threads(2) shared(sum)
#pragma omp single
        {
#pragma omp task depend(out : sink) firstprivate(big)
            {
                get();
                big[3] = base[0];
#pragma omp atomic
                sum += big[3];
            }
#pragma omp task depend(inout : sink)
            sink = base[0];
#pragma omp taskwait
            sink = base[0];
        }
#pragma omp parallel for reduction(+ : sum) num_threads(2) schedule(dynamic)
        for (int i = 0; i < 8; i++)
            sum += base[i];
        sink = (int)sum;
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Stores that MPI_MODE_NOSTORE of rank 0 denies: of a loop, and of another thread. */
static void nostore_fence(void)
{
    MPI_Win_fence(0, win);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 16 && rank == 0; i++)
            base[i] = i; /* first */
        MPI_Win_fence(rank == 0 ? MPI_MODE_NOSTORE : 0, win); /* second */
    }
}

static void *stores(void *arg)
{
    base[3] = 7; /* first */
    return arg;
}

static void epoch(int post)
{
    MPI_Group all, peer;
    int other = 1 - rank;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &other, &peer);
    if (rank == 0) {
        MPI_Win_post(peer, post, win); /* second */
        MPI_Win_wait(win);
    } else {
        MPI_Win_start(peer, 0, win);
        MPI_Put(&rank, 1, MPI_INT, 0, 5, 1, MPI_INT, win);
        MPI_Win_complete(win);
    }
    MPI_Group_free(&peer);
    MPI_Group_free(&all);
}

static void nostore_post(void)
{
    pthread_t t;
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    if (rank == 0) {
        pthread_create(&t, NULL, stores, NULL);
        pthread_join(t, NULL);
    }
    epoch(MPI_MODE_NOSTORE);
}

/* Around a window, in its page: side by side, and a column that has it between two elements. One of
 * 0 bytes, whose place a store goes over. */
static void beside_window(void)
{
    static int words[160];
    static double pair[2];
    MPI_Win part, none;
    MPI_Win_create(words + 16, 64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &part);
    MPI_Win_create((char *)pair + 4, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &none);
    MPI_Win_fence(0, none);
    pair[0] = pair[1] = rank;
    MPI_Win_fence(MPI_MODE_NOSTORE, none);
    MPI_Win_free(&none);
    MPI_Win_fence(0, part);
    for (int i = 0; i < 16; i++)
        words[i] = words[32 + i] = i;
    MPI_Win_fence(MPI_MODE_NOSTORE, part);
    for (int i = 0; i < 160; i += 32)
        words[i] = i;
    MPI_Win_fence(MPI_MODE_NOSTORE, part);
    MPI_Win_fence(0, part);
    MPI_Win_free(&part);
}

/* Stores before the last call that synchronizes, and beside the window; loads; puts of others. */
static void nostore_fine(void)
{
    int beside[8] = {0};
    pthread_t t;
    beside_window();
    base[1] = 1;
    MPI_Win_fence(0, win);
    MPI_Win_fence(MPI_MODE_NOSTORE, win);
    for (int k = 0; k < 3; k++) {
        if (rank == 1)
            MPI_Put(&rank, 1, MPI_INT, 0, 5, 1, MPI_INT, win);
        for (int i = 0; i < 4; i++)
            beside[i] += base[i];
        MPI_Win_fence(MPI_MODE_NOSTORE, win);
    }
    sink = beside[3];
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    pthread_create(&t, NULL, stores, NULL);
    pthread_join(t, NULL);
    base[2] = 3;
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    epoch(MPI_MODE_NOSTORE);
    epoch(MPI_MODE_NOSTORE);
    base[2] = 4;
    epoch(0);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
#define CASE(name) {#name, name}
    CASE(buffer_race), CASE(buffer_fine), CASE(word_race), CASE(word_fine), CASE(copy_race),
    CASE(copy_fine), CASE(value_race), CASE(value_fine), CASE(rows_fine), CASE(threads_race),
    CASE(threads_fine), CASE(mutex_fine), CASE(team_race), CASE(team_fine), CASE(section_race),
    CASE(section_fine), CASE(tasks_fine), CASE(locks_fine), CASE(once_fine), CASE(ended_race),
    CASE(nostore_fence), CASE(nostore_post), CASE(nostore_fine)};

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int a = 1; a < argc; a++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            if (!strcmp(argv[a], cases[i].name)) {
                MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
                MPI_Win_set_name(win, "words");
                memset(base, 0, 64);
                MPI_Barrier(MPI_COMM_WORLD);
                cases[i].run();
                MPI_Win_free(&win);
            }
    MPI_Finalize();
    return 0;
}
