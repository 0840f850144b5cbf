/* phases.c - an MPI program of which one rank ends in a given phase.
 *
 *   phases none
 *   phases before|init|after|between|finalize|end RANK HOW [US]
 *   phases missed RANK HOW      as `before`; the others have errors returned, and print each
 *
 * HOW: a signal, 0 for an exit that looks like success, -N for exit status N.  `init`: a child
 * sends SIGKILL after US microseconds, somewhere inside MPI_Init; `finalize`: in a callback of
 * MPI_Finalize. */
#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *phase = "none";
static int mine, how;

static void reach(const char *here)
{
    if (!mine || strcmp(phase, here))
        return;
    if (how <= 0)
        _exit(-how);
    raise(how);
}

static int in_finalize(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    reach("finalize");
    return MPI_SUCCESS;
}

static void shoot_later(unsigned us)
{
    if (fork())
        return;
    usleep(us);
    kill(getppid(), SIGKILL);
    _exit(0);
}

static void told(const char *call, int err)
{
    int class, rank, len;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Error_class(err, &class);
    MPI_Error_string(err, text, &len);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d: %s: class %d: %s\n", rank, call, class, text);
}

/* Every kind of wait for one that never came. */
static void miss(int dead)
{
    MPI_Win win;
    MPI_Request q;
    void *base;
    int x = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    told("MPI_Recv", MPI_Recv(&x, 1, MPI_INT, dead, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    told("MPI_Send", MPI_Send(&x, 1, MPI_INT, dead, 0, MPI_COMM_WORLD));
    told("MPI_Probe", MPI_Probe(dead, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    told("MPI_Recv of any",
         MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    told("MPI_Barrier", MPI_Barrier(MPI_COMM_WORLD));
    int err = MPI_Ibarrier(MPI_COMM_WORLD, &q);
    told("MPI_Ibarrier", err ? err : MPI_Wait(&q, MPI_STATUS_IGNORE));
    told("MPI_Win_allocate", MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
}

int main(int argc, char **argv)
{
    const char *rank = getenv("PMI_RANK");
    int key;
    if (argc > 3) {
        phase = argv[1];
        how = atoi(argv[3]);
        mine = rank && atoi(rank) == atoi(argv[2]);
    }
    reach("before");
    reach("missed");
    if (mine && argc > 4)
        shoot_later((unsigned)atoi(argv[4]));
    MPI_Init(&argc, &argv);
    reach("after");
    if (!strcmp(phase, "missed")) {
        miss(atoi(argv[2]));
        MPI_Finalize();
        return 0;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    reach("between");
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, in_finalize, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(phase, "init")) /* the shot may come late */
        MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    reach("end");
    return 0;
}
