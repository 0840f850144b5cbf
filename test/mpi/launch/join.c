/* join.c - the last rank of a job joins what is at the other end of a socket that has a name, which
 * must not be possible: it is a process of another mpiexec (join.test).
 *
 *     join listen|connect NAME */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int end_of(const char *how, const char *name)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0), tries = 0;

    snprintf(a.sun_path, sizeof a.sun_path, "%s", name);
    if (!strcmp(how, "listen")) {
        if (bind(fd, (struct sockaddr *)&a, sizeof a) || listen(fd, 1))
            return -1;
        return accept(fd, NULL, NULL);
    }
    while (connect(fd, (struct sockaddr *)&a, sizeof a) && tries++ < 1000)
        usleep(10000);
    return fd;
}

int main(int argc, char **argv)
{
    MPI_Comm inter;
    int rank, size, err = MPI_SUCCESS, len, class = MPI_SUCCESS;
    char text[MPI_MAX_ERROR_STRING] = "";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (rank == size - 1) {
        err = MPI_Comm_join(end_of(argv[1], argv[2]), &inter);
        MPI_Error_class(err, &class);
        MPI_Error_string(err, text, &len);
        printf("%s %d\n", strstr(text, "another mpiexec") ? "foreign" : text,
               class == MPI_ERR_OTHER);
    }
    MPI_Finalize();
    return 0;
}
