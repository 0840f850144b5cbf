/* orphans.c - a spawned process dies, then one that spawned others dies: those that wait for it get
 * an error within the bound.  The one that dies last is spawning others, which cannot meet it: they
 * end alone.  Run with -disable-auto-cleanup. */
#include "../mt.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

enum { BOUND = 10 /* seconds: five times what the library promises */ };
static char note[] = "/tmp/orphans.XXXXXX"; /* a file for the number of the process that is late */

/* Waits for a message that never comes. */
static void wait_for_the_dead(MPI_Comm inter, int rank)
{
    int x;
    double before = MPI_Wtime();
    int err = MPI_Recv(&x, 1, MPI_INT, rank, 9, inter, MPI_STATUS_IGNORE);

    CHECK_EQ(mt_class(err), MPIX_ERR_PROC_FAILED);
    CHECK(MPI_Wtime() - before < BOUND);
}

static void late(const char *path)
{
    FILE *f = fopen(path, "w");

    if (f) {
        fprintf(f, "%d\n", (int)getpid());
        fclose(f);
    }
    sleep(2); /* the one that spawns it dies meanwhile */
}

/* Returns when the process that is late has ended. */
static void outlive_it(void)
{
    FILE *f = fopen(note, "r");
    char end = 0;
    int pid = 0;

    for (; f && end != '\n'; rewind(f), usleep(1000))
        if (fscanf(f, "%d%c", &pid, &end) != 2)
            end = 0;
    if (f)
        fclose(f);
    CHECK(pid > 0);
    while (pid > 0 && (!kill((pid_t)pid, 0) || errno != ESRCH))
        usleep(1000);
    unlink(note);
}

static void child(char *which, MPI_Comm parent)
{
    int x;

    MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
    if (!strcmp(which, "dies")) {
        if (mt_rank == 1) /* the parent waits by then, or comes to */
            raise(SIGKILL);
        MPI_Recv(&x, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE);
    } else {
        wait_for_the_dead(parent, 1);
        x = mt_errors;
        MPI_Send(&x, 1, MPI_INT, 0, 1, parent);
    }
    MPI_Finalize();
    exit(mt_errors != 0);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, inter;
    char *args[] = {"dies", NULL}, *more[] = {"outlives", NULL},
         *orphan[] = {"late", note, NULL};
    int x = 0, fd;

    if (argc > 2 && !strcmp(argv[1], "late"))
        late(argv[2]);
    mt_init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        child(argv[1], parent);
    if (mt_rank == 0 && (fd = mkstemp(note)) >= 0)
        close(fd);
    MPI_Bcast(note, sizeof note, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Comm_spawn(argv[0], args, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    wait_for_the_dead(inter, 1);
    if (mt_rank == 0)
        MPI_Send(&x, 1, MPI_INT, 0, 1, inter);
    MPI_Comm_spawn(argv[0], more, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    if (mt_rank == 1) {
        MPI_Comm late;

        alarm(1);
        MPI_Comm_spawn(argv[0], orphan, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &late,
                       MPI_ERRCODES_IGNORE);
    }
    x = -1;
    MPI_Recv(&x, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
    CHECK_EQ(x, 0);
    outlive_it();
    x = -1;
    MPI_Sendrecv(&mt_rank, 1, MPI_INT, 0, 2, &x, 1, MPI_INT, 0, 2, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE); /* this job goes on */
    CHECK_EQ(x, mt_rank);
    if (mt_errors == 0)
        printf(" No Errors\n");
    MPI_Finalize();
    return 0;
}
