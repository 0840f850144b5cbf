/* absent.c - many put half a megabyte each into the window of a process that is outside of MPI for
 * a second. Each has sent a message to it before: more comes there than it has receive buffers for.
 * Nothing may be lost or misplaced, and it ends. */
#include "rw.h"
#include <unistd.h>

enum { BYTES = 512 * 1024, ROUNDS = 2 };

static char value(int rank, int round)
{
    return (char)(rank * 7 + round * 3 + 1);
}

static void meet(const struct rw *w)
{
    int i, x = 0;

    for (i = 1; i < w->size; i++)
        if (w->rank == 0)
            MPI_Recv(&x, 1, MPI_INT, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                MPI_Send(&x, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
    if (w->rank != 0)
        MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD),
            MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void rush(struct rw *w, char *out, int round)
{
    long wrong = 0;
    int r, i;

    memset(out, value(w->rank, round), BYTES);
    MPI_Win_lock_all(0, w->win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (w->rank != 0)
        MPI_Put(out, BYTES, MPI_BYTE, 0, rw_disp(w, 0, (size_t)BYTES * (size_t)w->rank), BYTES,
                MPI_BYTE, w->win);
    else
        sleep(1);
    MPI_Win_unlock_all(w->win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (r = 1; r < w->size && w->rank == 0; r++)
        for (i = 0; i < BYTES; i++)
            wrong += w->mem[(size_t)BYTES * (size_t)r + (size_t)i] != value(r, round);
    CHECK_EQ(wrong, 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    char *out = malloc(BYTES);
    struct rw w;
    int round;

    mt_init(&argc, &argv);
    if (out && rw_make(&w, RW_ALLOCATE, mt_rank == 0 ? (size_t)BYTES * (size_t)mt_size : 8,
                       MPI_COMM_WORLD)) {
        meet(&w);
        for (round = 0; round < ROUNDS; round++)
            rush(&w, out, round);
        rw_free(&w);
    }
    free(out);
    return mt_finish();
}
