/* Programs for MPIR_CVAR_RACE_ADVICE and MPIR_CVAR_RACE_GRAPH. advice NAME: of three ranks, rank 1
 * puts into the words of rank 0, rank 2 gets one when it is told. meetings, met: with loads and
 * stores, for mode full. */
#include <mpi.h>
#include <string.h>

enum { WORDS = 8, MANY = 65 };
static int rank, *base;
static MPI_Win win;

static void put(int at, int v)
{
    MPI_Put(&v, 1, MPI_INT, 0, at, 1, MPI_INT, win); /* put */
    MPI_Win_flush(0, win); /* needless */
}

/* All puts are complete by the last flush, too, and nothing hears of them before. */
static void needless(void)
{
    int got;
    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        for (int i = 1; i < WORDS; i++)
            put(i, i);
        MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* last */
        MPI_Win_flush_all(win); /* needed */
        MPI_Send(&rank, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    } else if (rank == 2) {
        MPI_Recv(&got, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Get(&got, 1, MPI_INT, 0, 1, 1, MPI_INT, win); /* get */
    }
    MPI_Win_unlock_all(win);
}

/* Each flush is followed by a second put to the same word, a message, or an accumulate. */
static void needed(void)
{
    int got, one = 1;
    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* put */
        MPI_Win_flush(0, win); /* again */
        MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* second */
        MPI_Win_flush_all(win); /* accumulate */
        MPI_Accumulate(&one, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_flush(0, win); /* message */
        MPI_Send(&rank, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    } else if (rank == 2) {
        MPI_Recv(&got, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* get */
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    if (rank == 0)
        MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* third */
    MPI_Win_unlock(0, win);
}

/* More than an origin keeps open: their flush is needed all the same. */
static void notifies(void)
{
    int got;
    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        for (int i = 0; i < MANY; i++)
            MPIX_Put_notify(&rank, 1, MPI_INT, 0, i, 1, MPI_INT, 0, win);
        MPI_Win_flush(0, win); /* needed */
        MPI_Send(&rank, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    } else if (rank == 2) {
        MPI_Recv(&got, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Get(&got, 1, MPI_INT, 0, 1, 1, MPI_INT, win); /* get */
    }
    MPI_Win_unlock_all(win);
}

/* Nothing orders the two. */
static void race(void)
{
    MPI_Win_fence(0, win);
    if (rank)
        MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* both */
    MPI_Win_fence(0, win);
}

/* Fences, barriers and exclusive locks between accesses to different words. */
static void meetings(void)
{
    for (int i = 0; i < 2; i++) {
        MPI_Win_fence(0, win); /* opens */
        if (rank == 1)
            MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_fence(0, win); /* needless */
        if (rank == 1)
            MPI_Put(&rank, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win); /* closes */
        if (rank == 0)
            base[3] = base[0] + base[1]; /* what came by both epochs */
    }
    MPI_Barrier(MPI_COMM_WORLD); /* needless barrier */
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win); /* needless lock */
    if (rank)
        MPI_Put(&rank, 1, MPI_INT, 0, 4 + rank, 1, MPI_INT, win);
    MPI_Win_unlock(0, win);
    MPI_Barrier(MPI_COMM_WORLD); /* before the loads */
    if (rank == 0)
        base[3] = base[5] + base[6];
}

/* Each of them orders something. */
static void met(void)
{
    int got, one = 1;
    for (int i = 0; i < 2; i++) {
        MPI_Win_fence(0, win); /* behind the loads of the last turn */
        if (rank == 1)
            MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_fence(0, win); /* between two puts */
        if (rank == 2)
            MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_fence(0, win); /* before the loads */
        if (rank == 0)
            base[3] = base[0];
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win); /* closes */
    for (int i = 0; i < 2; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win); /* one after the other */
        MPI_Get(&got, 1, MPI_INT, 0, 4, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
        got++;
        MPI_Put(&got, 1, MPI_INT, 0, 4, 1, MPI_INT, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* before the load */
    if (rank == 0)
        base[3] = base[4];
    MPI_Barrier(MPI_COMM_WORLD); /* behind the load */
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    if (rank == 1)
        MPI_Put(&rank, 1, MPI_INT, 0, 4, 1, MPI_INT, win);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 5, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock(0, win);
    MPI_Barrier(MPI_COMM_WORLD); /* all have added */
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Fetch_and_op(NULL, &got, MPI_INT, 0, 5, MPI_NO_OP, win);
    MPI_Win_unlock(0, win);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(MANY * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_name(win, "words");
    MPI_Barrier(MPI_COMM_WORLD); /* named */
    if (argc > 1 && !strcmp(argv[1], "needless"))
        needless();
    else if (argc > 1 && !strcmp(argv[1], "needed"))
        needed();
    else if (argc > 1 && !strcmp(argv[1], "notifies"))
        notifies();
    else if (argc > 1 && !strcmp(argv[1], "meetings"))
        meetings();
    else if (argc > 1 && !strcmp(argv[1], "met"))
        met();
    else
        race();
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
