/* holds.c - a thread that waits in the file system holds no other thread of its process. The file
 * is a fifo, which has no data until the other thread has made MPI calls and written some. */
#include "../mt.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static char name[200];

/* Opening a fifo for reading waits for a writer. */
static void *reader(void *arg)
{
    MPI_File f;
    CHECK_EQ(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f), 0);
    CHECK_EQ(MPI_File_close(&f), 0);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t t;
    int provided, in = 0, fd;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &mt_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mt_size);
    snprintf(name, sizeof name, "/tmp/mt-io-holds-%d", (int)getpid());
    CHECK_EQ(mkfifo(name, 0600), 0);
    CHECK_EQ(pthread_create(&t, NULL, reader, NULL), 0);
    usleep(100000); /* most likely it waits by now */
    for (int i = 0; i < 10; i++)
        MPI_Sendrecv(&i, 1, MPI_INT, mt_rank, 3, &in, 1, MPI_INT, mt_rank, 3, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    CHECK_EQ(in, 9);
    fd = open(name, O_WRONLY);
    CHECK(fd >= 0);
    pthread_join(t, NULL);
    close(fd);
    unlink(name);
    return mt_finish();
}
