/* ports.c - two groups of processes that meet: ports, names, join. */
#include "../mt.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void exchange(MPI_Comm inter, int mine, int theirs)
{
    int got = -1;

    MPI_Sendrecv(&mine, 1, MPI_INT, 0, 5, &got, 1, MPI_INT, 0, 5, inter, MPI_STATUS_IGNORE);
    CHECK_EQ(got, theirs);
}

/* Even ranks accept, odd ones connect; the groups come from a job that was one. */
static void meet(void)
{
    char port[MPI_MAX_PORT_NAME] = "", name[64];
    MPI_Comm half, inter;
    int rank, n, i, odd = mt_rank % 2;

    snprintf(name, sizeof name, "a name with blanks");
    MPI_Comm_split(MPI_COMM_WORLD, odd, mt_rank, &half);
    MPI_Comm_rank(half, &rank);
    if (mt_rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        CHECK_EQ(MPI_Publish_name(name, MPI_INFO_NULL, port), MPI_SUCCESS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (mt_rank == 1)
        CHECK_EQ(MPI_Lookup_name(name, MPI_INFO_NULL, port), MPI_SUCCESS);
    for (i = 0; i < 5; i++) {
        if (odd)
            MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter);
        else
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter);
        MPI_Comm_remote_size(inter, &n);
        CHECK_EQ(n, odd ? (mt_size + 1) / 2 : mt_size / 2);
        if (rank == 0)
            exchange(inter, 10 * i + odd, 10 * i + !odd);
        MPI_Barrier(inter);
        MPI_Comm_disconnect(&inter);
    }
    if (mt_rank == 0) {
        MPI_Unpublish_name(name, MPI_INFO_NULL, port);
        MPI_Close_port(port);
    }
    MPI_Comm_free(&half);
}

static void errors(void)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm inter;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_EQ(mt_class(MPI_Lookup_name("no such name", MPI_INFO_NULL, port)), MPI_ERR_NAME);
    CHECK_EQ(mt_class(MPI_Unpublish_name("no such name", MPI_INFO_NULL, "x")), MPI_ERR_SERVICE);
    CHECK_EQ(mt_class(MPI_Close_port("nothing")), MPI_ERR_PORT);
    CHECK_EQ(mt_class(MPI_Comm_connect("nothing", MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter)),
             MPI_ERR_PORT);
    CHECK_EQ(mt_class(MPI_Comm_connect("job_else_1_2:1", MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter)),
             MPI_ERR_PORT);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/* Ranks 0 and 1 have a socket between them. */
static void join(void)
{
    struct sockaddr_un a;
    socklen_t len = sizeof a;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0), other;
    MPI_Comm inter;

    memset(&a, 0, sizeof a);
    a.sun_family = AF_UNIX;
    if (mt_rank == 0) { /* the kernel makes a name */
        CHECK_EQ(bind(fd, (struct sockaddr *)&a, sizeof(sa_family_t)), 0);
        CHECK_EQ(listen(fd, 1), 0);
        getsockname(fd, (struct sockaddr *)&a, &len);
        MPI_Send(&len, sizeof len, MPI_BYTE, 1, 6, MPI_COMM_WORLD);
        MPI_Send(&a, sizeof a, MPI_BYTE, 1, 6, MPI_COMM_WORLD);
        other = accept(fd, NULL, NULL);
    } else {
        MPI_Recv(&len, sizeof len, MPI_BYTE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&a, sizeof a, MPI_BYTE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(connect(fd, (struct sockaddr *)&a, len), 0);
        other = dup(fd);
    }
    CHECK_EQ(MPI_Comm_join(other, &inter), MPI_SUCCESS);
    exchange(inter, mt_rank, !mt_rank);
    MPI_Comm_disconnect(&inter);
    close(other);
    close(fd);
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    if (mt_size > 1)
        meet();
    errors();
    if (mt_size > 1 && mt_rank < 2)
        join();
    return mt_finish();
}
