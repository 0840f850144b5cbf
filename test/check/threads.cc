// A C++ program for mpicc -race: threads, conditions and memory that changes hands, all ordered.
#include <condition_variable>
#include <memory>
#include <mpi.h>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::condition_variable some;
static bool ready, taken;
static int *base, sink;
static MPI_Win win;

static void get(int *to)
{
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get(to, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_unlock(0, win);
}

// It gets into memory that it then gives to the other thread.
static void first()
{
    std::unique_lock<std::mutex> lock(mutex);
    get(base);
    ready = true;
    some.notify_all();
    while (!taken)
        some.wait(lock);
    sink = base[0];
}

int main(int argc, char **argv)
{
    int provided, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    if (rank == 1) {
        std::thread t(first);
        {
            std::unique_lock<std::mutex> lock(mutex);
            while (!ready)
                some.wait(lock);
            sink = base[0];
            get(base);
            taken = true;
            some.notify_one();
        }
        t.join();
        for (int i = 0; i < 20; i++) { // each gets the memory that the one before gave back
            std::thread user([] {
                std::unique_ptr<int[]> mine(new int[1000]);
                get(mine.get());
                sink = mine[0];
            });
            user.join();
        }
        get(base);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
