/* cut.c - the connection between two living processes breaks, over a network: no message takes the
 * place of a lost one. Both sides end with errors in bounded time, whatever the length of the lost
 * one. Run with mpiexec -disable-auto-cleanup on two ranks. Each then holds the other for dead, so
 * both end by a signal, when all was right. */
#include "../mt.h"
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MESSAGES = 4, LONGEST = 20000 };

/* What a firewall does that forgets a connection, or an administrator's `ss -K`. */
static int cut(void)
{
    int n = 0;
    for (int fd = 3; fd < 256; fd++) {
        struct sockaddr_storage a;
        socklen_t len = sizeof a;
        if (getpeername(fd, (struct sockaddr *)&a, &len) == 0 &&
            (a.ss_family == AF_INET || a.ss_family == AF_INET6))
            n += shutdown(fd, SHUT_RDWR) == 0;
    }
    return n;
}

int main(int argc, char **argv)
{
    static char text[LONGEST];
    int bytes, lost = 0, err;

    mt_init(&argc, &argv);
    if (mt_size != 2)
        return mt_finish();
    bytes = argc > 1 ? atoi(argv[1]) : 8;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3; i++) {
        if (mt_rank == 0)
            MPI_Send(text, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(text, bytes, MPI_CHAR, !mt_rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (mt_rank == 1)
            MPI_Send(text, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
    if (mt_rank == 0) {
        MUST(cut() > 0, "no connection to break was found");
        for (int i = 0; i < MESSAGES; i++) {
            memset(text, 'a' + i, (size_t)bytes);
            MPI_Send(text, bytes, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
            usleep(300000); /* the later ones find a new connection */
        }
        err = MPI_Recv(text, bytes, MPI_CHAR, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MUST(err != MPI_SUCCESS, "an answer came from a process that cannot have got all");
    } else {
        for (int i = 0; i < MESSAGES; i++) {
            err = MPI_Recv(text, bytes, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            lost += err != MPI_SUCCESS;
            MUST(err || (!lost && text[0] == 'a' + i),
                 "message %d came as number %d, after %d errors", text[0] - 'a', i, lost);
        }
        MUST(lost > 0, "nothing was lost: the test breaks nothing");
    }
    if (mt_errors)
        _exit(1);
    if (mt_rank == 0) {
        printf(" No Errors\n");
        fflush(stdout);
        sleep(1); /* the other's end decides how the job ended, if it is not like ours */
    }
    kill(getpid(), SIGKILL);
}
