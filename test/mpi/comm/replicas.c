/* replicas.c - windows with copies (mpix_win_replicas) whose members are of two jobs: all agree on
 * where each copy is. A process of the first job dies, then one of the second. Each time one
 * process has what the dead one held. Run with mpiexec -disable-auto-cleanup and
 * MPIR_CVAR_NUM_CLIQUES=2, so that each job has several nodes. */
#include "../mt.h"

#include <signal.h>
#include <unistd.h>

enum { WINDOWS = 2, DEATHS = 2, MOST = 64 };

/* A word of each origin, and more with each rank: so copies lie at different places. */
static int words(int size, int id)
{
    return size + 3 * id;
}

static long value(int origin, int owner, int round)
{
    return round * 10000 + origin * 100 + owner;
}

/* id: of each member, its rank in the first communicator. */
static void put_to_all(MPI_Win win, const int *id, int n, int me, int round)
{
    long v[MOST];
    int t;
    CHECK_EQ(MPI_Win_lock_all(0, win), MPI_SUCCESS);
    for (t = 0; t < n; t++) {
        v[t] = value(id[me], id[t], round);
        CHECK_EQ(MPI_Put(&v[t], 1, MPI_LONG, t, id[me], 1, MPI_LONG, win), MPI_SUCCESS);
    }
    CHECK_EQ(MPI_Win_unlock_all(win), MPI_SUCCESS);
}

/* It becomes the communicator of the living. */
static void lose(MPI_Comm *comm, int victim)
{
    MPI_Comm living = MPI_COMM_NULL;
    int i, n, me, left;
    MPI_Comm_size(*comm, &n);
    MPI_Comm_rank(*comm, &me);
    if (me == victim) {
        for (i = 1; i < n; i++)
            MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, 4, *comm, MPI_STATUS_IGNORE);
        kill(getpid(), SIGKILL);
    }
    CHECK_EQ(MPI_Send(NULL, 0, MPI_BYTE, victim, 4, *comm), MPI_SUCCESS);
    for (left = n; left == n; MPI_Comm_size(living, &left)) { /* not dead yet */
        if (living != MPI_COMM_NULL)
            MPI_Comm_free(&living);
        CHECK_EQ(MPIX_Comm_shrink(*comm, &living), MPI_SUCCESS);
    }
    MPI_Comm_free(comm);
    *comm = living;
}

static void without(MPI_Win *win, MPI_Comm comm, const int *id, int n, int victim, int round)
{
    MPI_Win next;
    long *copy = NULL;
    int found, all = 0, i;
    CHECK_EQ(MPIX_Win_shrink(*win, &next), MPI_SUCCESS);
    CHECK_EQ(MPIX_Win_recover(next, victim, &copy), MPI_SUCCESS);
    found = copy != NULL;
    for (i = 0; found && i < n; i++)
        CHECK_EQ(copy[id[i]], value(id[i], id[victim], round));
    CHECK_EQ(MPI_Allreduce(&found, &all, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    CHECK_EQ(all, 1);
    CHECK_EQ(MPI_Win_free(win), MPI_SUCCESS);
    *win = next;
}

static MPI_Win with_copies(MPI_Comm comm, int k, int bytes)
{
    MPI_Win win = MPI_WIN_NULL;
    MPI_Info info;
    char text[4];
    void *mem;
    sprintf(text, "%d", k);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_win_replicas", text);
    CHECK_EQ(MPI_Win_allocate(bytes, sizeof(long), info, comm, &mem, &win), MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    return win;
}

static void members_die(MPI_Comm comm)
{
    MPI_Win win[WINDOWS];
    int id[MOST], n, me, i, k, round;
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    for (i = 0; i < n; i++)
        id[i] = i;
    for (k = 0; k < WINDOWS; k++)
        win[k] = with_copies(comm, k + 1, (int)sizeof(long) * words(n, me));
    MPI_Barrier(comm);
    for (round = 1; round <= DEATHS; round++) {
        int victim = round % 2 ? 0 : n - 1;
        for (k = 0; k < WINDOWS; k++)
            put_to_all(win[k], id, n, me, round);
        MPI_Barrier(comm);
        lose(&comm, victim);
        for (k = 0; k < WINDOWS; k++)
            without(&win[k], comm, id, n, victim, round);
        for (i = victim, n--; i < n; i++)
            id[i] = id[i + 1];
        MPI_Comm_rank(comm, &me);
    }
    for (k = 0; k < WINDOWS; k++)
        CHECK_EQ(MPI_Win_free(&win[k]), MPI_SUCCESS);
    i = mt_finish_over(comm);
    exit(i);
}

int main(int argc, char **argv)
{
    MPI_Comm inter, comm;
    int child;
    mt_init(&argc, &argv);
    MPI_Comm_get_parent(&inter);
    child = inter != MPI_COMM_NULL;
    if (!child)
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, mt_size, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                       MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(inter, child, &comm);
    MPI_Comm_free(&inter);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    members_die(comm);
    return 0;
}
