/* phases.c - an MPI program of which one rank ends in a given phase.
 *
 *   phases none
 *   phases before|init|after|between|finalize|end RANK HOW [US]
 *
 * HOW: a signal, 0 for an exit that looks like success, -N for exit status N.  `init`: a child sends SIGKILL after US
 * microseconds, somewhere inside MPI_Init; `finalize`: in a callback of MPI_Finalize. */
#include <mpi.h>

#include <signal.h>
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
    if (mine && argc > 4)
        shoot_later((unsigned)atoi(argv[4]));
    MPI_Init(&argc, &argv);
    reach("after");
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
