/* threads: rates of one process with one and with two threads, each with a target of its own.
 *
 *     bin/mpicc -O2 -pthread -o threads ../test/perf/threads.c && bin/mpiexec -n 3 ./threads
 *
 * What threads share costs: with a common written cache line, two are slower than one.  The targets
 * wait in a barrier.  Each row is the best of BATCHES batches, in million operations a second, of
 * both threads together. */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { MAPPED = 500000, PRIVATE = 20000, BATCHES = 15, WINDOW = 4096 };
enum op { PUT, PUT_FLUSH, GET, ACC, FOP, FLUSH, OPS };
static const char *const name[OPS] = {"put8", "put8+flush", "get8", "acc8", "fop8", "flush"};

static MPI_Win win;
static int batch; /* calls; long beside the start of a thread */
static enum op op;
static double end_of[3], begin_of[3];
static pthread_barrier_t both;

static void calls(int target)
{
    int64_t v = 1, was;
    for (int i = 0; i < batch; i++) {
        switch (op) {
        case PUT:
        case PUT_FLUSH: MPI_Put(&v, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win); break;
        case GET: MPI_Get(&was, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win); break;
        case ACC:
            MPI_Accumulate(&v, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, MPI_SUM, win);
            break;
        case FOP: MPI_Fetch_and_op(&v, &was, MPI_INT64_T, target, 0, MPI_SUM, win); break;
        default: break;
        }
        if (op == PUT_FLUSH || op == FLUSH)
            MPI_Win_flush(target, win);
    }
    MPI_Win_flush(target, win);
}

static void *work(void *arg)
{
    int target = *(int *)arg;
    for (int i = 0; i < BATCHES; i++) {
        pthread_barrier_wait(&both);
        begin_of[target] = MPI_Wtime();
        calls(target);
        end_of[target] = MPI_Wtime();
        pthread_barrier_wait(&both);
    }
    return NULL;
}

static double alone(void)
{
    double best = 0;
    for (int i = 0; i < BATCHES; i++) {
        double t = MPI_Wtime();
        calls(1);
        t = batch / (MPI_Wtime() - t);
        best = t > best ? t : best;
    }
    return best;
}

static double together(void)
{
    int other = 2;
    double best = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, work, &other);
    for (int i = 0; i < BATCHES; i++) {
        pthread_barrier_wait(&both);
        begin_of[1] = MPI_Wtime();
        calls(1);
        end_of[1] = MPI_Wtime();
        pthread_barrier_wait(&both);
        double from = begin_of[1] < begin_of[2] ? begin_of[1] : begin_of[2];
        double to = end_of[1] > end_of[2] ? end_of[1] : end_of[2];
        best = 2.0 * batch / (to - from) > best ? 2.0 * batch / (to - from) : best;
    }
    pthread_join(thread, NULL);
    return best;
}

static void rows(const char *kind, int calls_each)
{
    int rank;
    batch = calls_each;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Win_lock_all(0, win);
        for (op = 0; op < OPS; op++) {
            double one = alone(), two = together();
            printf("%-10s %-8s 1 thread %8.2f, 2 threads %8.2f Mop/s: x %.2f\n", name[op], kind,
                   1e-6 * one, 1e-6 * two, two / one);
            fflush(stdout); /* a slow library may be given up */
        }
        MPI_Win_unlock_all(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    static int64_t private[WINDOW / 8];
    void *base;
    int level, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (level < MPI_THREAD_MULTIPLE || size < 3) {
        fprintf(stderr, "threads: needs MPI_THREAD_MULTIPLE and three processes\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    pthread_barrier_init(&both, NULL, 2);
    MPI_Win_allocate(WINDOW, sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    rows("ALLOCATE", MAPPED);
    MPI_Win_create(private, sizeof private, sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    rows("CREATE", PRIVATE);
    MPI_Finalize();
    return 0;
}
