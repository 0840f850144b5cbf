/* walk.c - the calls that maint/walk follows, instruction by instruction: walk CALL. Two ranks; the
 * call is made twice, then once more between walk_begin() and walk_end(). */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { CELLS = 64 };

static MPI_Win win;
static int rank;
static long *cells, from[CELLS], sum;

__attribute__((noinline)) void walk_begin(void) { __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) void walk_end(void) { __asm__ volatile("" ::: "memory"); }

static void put(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Put(from, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(1, win);
}

static void near_put(void) { MPI_Put(from, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win); }
static void send(void) { MPI_Send(from, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD); }
static void recv(void) { MPI_Recv(from, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

static void allreduce(void)
{
    MPI_Allreduce(from, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
}

/* What the other rank does while rank 0 is in the call. */
static void nothing(void) {}
static void take(void) { MPI_Recv(cells, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
static void give(void) { MPI_Send(cells, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD); }

static void over(void)
{
    if (rank == 0)
        MPI_Send(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    else
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static const struct {
    const char *name;
    void (*call)(void), (*other)(void);
    int epoch; /* inside MPI_Win_lock_all */
} CALLS[] = {{"put", put, nothing, 0}, {"near_put", near_put, nothing, 1}, {"send", send, take, 0},
             {"recv", recv, give, 0}, {"allreduce", allreduce, allreduce, 0}};

int main(int argc, char **argv)
{
    size_t c = 0;
    while (c < sizeof CALLS / sizeof *CALLS && (argc < 2 || strcmp(argv[1], CALLS[c].name)))
        c++;
    if (c == sizeof CALLS / sizeof *CALLS)
        return fprintf(stderr, "walk: no such call\n"), 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(CELLS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &cells,
                     &win);
    if (CALLS[c].epoch)
        MPI_Win_lock_all(0, win);
    for (int i = 0; i < 3; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0 && i == 2)
            walk_begin();
        (rank ? CALLS[c].other : CALLS[c].call)();
        if (rank == 0 && i == 2)
            walk_end();
        over(); /* what rank 1 sends next must not come into the walk */
    }
    if (CALLS[c].epoch)
        MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
