/* died.c - a rank is killed amid collective accesses: the others end with an error of that class,
 * can close the file, and leave no lock on it. died HOW: write (by way of aggregators), read,
 * ordered, begun (nonblocking) */
#define _GNU_SOURCE
#include "view.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

enum { BLOCK = 100, BLOCKS = 2000 };
static char buf[BLOCK * BLOCKS], name[200];

static void die(int s)
{
    (void)s;
    raise(SIGKILL);
}

static MPI_File opened(void)
{
    MPI_File f;
    MPI_Info i;
    MPI_Info_create(&i);
    MPI_Info_set(i, "cb_buffer_size", "16384");
    MPI_Info_set(i, "romio_cb_write", "enable");
    MPI_Info_set(i, "romio_cb_read", "enable");
    CHECK_EQ(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, i, &f), 0);
    MPI_Info_free(&i);
    view_set(f, BLOCK, mt_size);
    return f;
}

static void no_lock(void)
{
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(name, O_RDWR);
    CHECK(fd >= 0);
    CHECK_EQ(fcntl(fd, F_OFD_GETLK, &l), 0);
    CHECK_EQ(l.l_type, F_UNLCK);
    close(fd);
}

static int begun(MPI_File f)
{
    MPI_Request r[2];
    CHECK_EQ(MPI_File_iwrite_at_all(f, 0, buf, sizeof buf, MPI_BYTE, &r[0]), 0);
    CHECK_EQ(MPI_File_iwrite_at_all(f, 0, buf, sizeof buf, MPI_BYTE, &r[1]), 0);
    int a = MPI_Wait(&r[0], MPI_STATUS_IGNORE), b = MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    return a ? a : b;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "write";
    const struct itimerval soon = {{0, 0}, {0, 30000}};
    char text[MPI_MAX_ERROR_STRING] = "", mark[64];
    int err = 0, c, len, id = (int)getpid();
    MPI_File f;

    mt_init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "/tmp/mt-io-died-%d", id);
    f = opened();
    if (mt_rank == mt_size - 1) {
        signal(SIGALRM, die);
        setitimer(ITIMER_REAL, &soon, NULL);
    }
    while (!err) {
        if (!strcmp(how, "ordered"))
            err = MPI_File_write_ordered(f, buf, 1, MPI_BYTE, MPI_STATUS_IGNORE);
        else if (!strcmp(how, "begun"))
            err = begun(f);
        else if (!strcmp(how, "read"))
            err = MPI_File_read_at_all(f, 0, buf, sizeof buf, MPI_BYTE, MPI_STATUS_IGNORE);
        else
            err = MPI_File_write_at_all(f, 0, buf, sizeof buf, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_Error_class(err, &c);
    MPI_Error_string(err, text, &len);
    MUST(c == MPIX_ERR_PROC_FAILED, "%s: class %d: %s", how, c, text);
    MPI_File_close(&f);
    CHECK(f == MPI_FILE_NULL);
    no_lock();
    /* The others' errors come by a file, since words between survivors would order what they do. */
    snprintf(mark, sizeof mark, "/tmp/io-died.%d", (int)getppid());
    if (mt_errors)
        close(open(mark, O_CREAT | O_WRONLY, 0600));
    MPI_Finalize(); /* ends when all have come here, or died */
    if (mt_rank == 0)
        unlink(name);
    if (mt_rank == 0 && unlink(mark) != 0)
        printf(" No Errors\n");
    return mt_errors != 0;
}
