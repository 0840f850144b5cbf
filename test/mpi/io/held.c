/* held.c - accesses that wait for a lock of another process, which has opened the file for itself,
 * as another job would. Each rank has such a child from before MPI_Init on; that of rank 0 locks.
 * held HOW:
 *   kept     it gives the lock back when rank 0, whose write waits for it, has answered rank 1
 *   killed   the same with a nonblocking write, and it is killed instead
 *   failed   it keeps the lock, and the last rank dies: the others' writes end with an error of
 *            that class
 *   slow     (no child) the second attempt to lock lasts until another thread has called MPI */
#define _GNU_SOURCE
#include "../mt.h"
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1 << 20 };
static int to_child[2], from_child[2], fd;
static pid_t child;
static char name[200], data[100] = "written";

static int set_lock(int type)
{
    struct flock l = {.l_type = (short)type, .l_whence = SEEK_SET, .l_len = 1000};
    return fcntl(fd, F_OFD_SETLK, &l) == 0;
}

static void unlock(int s)
{
    (void)s;
    set_lock(F_UNLCK);
}

/* Until a signal, or until the other end is closed. */
static void lock_it(void)
{
    struct sigaction a = {.sa_handler = unlock, .sa_flags = SA_RESTART};
    char file[sizeof name], ok;
    if (read(to_child[0], file, sizeof file) != sizeof file)
        _exit(0);
    fd = open(file, O_RDWR);
    ok = fd >= 0 && set_lock(F_WRLCK);
    sigaction(SIGUSR1, &a, NULL);
    if (write(from_child[1], &ok, 1) != 1 || !ok)
        _exit(1);
    _exit(read(to_child[0], file, 1) != 0);
}

static void start_child(void)
{
    if (pipe(to_child) || pipe(from_child) || (child = fork()) < 0)
        exit(2);
    if (!child) {
        close(to_child[1]);
        lock_it();
    }
    close(to_child[0]);
}

static void child_locks(void)
{
    char ok = 0;
    CHECK_EQ(write(to_child[1], name, sizeof name), sizeof name);
    CHECK_EQ(read(from_child[0], &ok, 1), 1);
    CHECK(ok);
}

static void end_child(void)
{
    int status = -1;
    close(to_child[1]);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
}

/* Rank 1 knows that its message was taken, and ends the lock then. */
static void answers(MPI_File f, int killed)
{
    char *big = mt_alloc(N);
    int pid = (int)child, flag = 1;
    MPI_Request r, w;
    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (mt_rank == 0) {
        CHECK_EQ(MPI_Irecv(big, N, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &r), 0);
        if (killed) {
            CHECK_EQ(MPI_File_iwrite_at(f, 0, data, sizeof data, MPI_BYTE, &w), 0);
            for (int i = 0; i < 1000; i++)
                MPI_Test(&w, &flag, MPI_STATUS_IGNORE);
            CHECK(!flag);
            MPI_Send(&flag, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
            CHECK_EQ(MPI_Wait(&w, MPI_STATUS_IGNORE), 0);
        } else {
            CHECK_EQ(MPI_File_write_at(f, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE), 0);
        }
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else if (mt_rank == 1) {
        if (killed)
            MPI_Recv(&flag, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Ssend(big, N, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        CHECK_EQ(kill(pid, killed ? SIGKILL : SIGUSR1), 0);
    }
    free(big);
}

static MPI_File opened(void)
{
    MPI_File f;
    CHECK_EQ(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                           &f), 0);
    CHECK_EQ(MPI_File_set_atomicity(f, 1), 0);
    if (mt_rank == 0)
        child_locks();
    MPI_Barrier(MPI_COMM_WORLD);
    return f;
}

static int waits(int killed)
{
    char in[sizeof data] = "";
    MPI_File f = opened();
    answers(f, killed);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(MPI_File_read_at(f, 0, in, sizeof in, MPI_BYTE, MPI_STATUS_IGNORE), 0);
    CHECK(!memcmp(in, data, sizeof in));
    CHECK_EQ(MPI_File_close(&f), 0);
    end_child();
    if (mt_rank == 0)
        unlink(name);
    return mt_finish();
}

static int fails(void)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int err, len, theirs = 1;
    MPI_Request w;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_File f = opened();
    if (mt_rank == mt_size - 1)
        raise(SIGKILL);
    if (mt_rank == 0) {
        err = MPI_File_write_at(f, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE);
    } else {
        CHECK_EQ(MPI_File_iwrite_at(f, 0, data, sizeof data, MPI_BYTE, &w), 0);
        err = MPI_Wait(&w, MPI_STATUS_IGNORE);
    }
    MPI_Error_string(err, text, &len);
    MUST(mt_class(err) == MPIX_ERR_PROC_FAILED && strstr(text, name), "class %d: %s", mt_class(err),
         text);
    if (mt_rank == 1)
        CHECK_EQ(MPI_Send(&len, 1, MPI_INT, 0, 3, MPI_COMM_WORLD), 0);
    if (mt_rank == 0) /* the lock goes when both have waited in vain; then all is as before */
        CHECK_EQ(MPI_Recv(&len, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE), 0);
    end_child();
    if (mt_rank == 0)
        CHECK_EQ(MPI_File_write_at(f, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE), 0);
    MPI_File_close(&f);
    if (mt_rank == 1)
        MPI_Send(&mt_errors, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
    if (mt_rank == 0) {
        unlink(name);
        MPI_Recv(&theirs, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        mt_errors += theirs;
        if (!mt_errors)
            printf(" No Errors\n");
    }
    MPI_Finalize();
    return mt_errors != 0;
}

/* --- the system answers late ------------------------------------------------------------------ */
static int attempts = -1; /* -1: not counted */
static sem_t asked, called;

static int control(int of, int cmd, void *arg)
{
    if (attempts >= 0 && cmd == F_OFD_SETLK && ((struct flock *)arg)->l_type != F_UNLCK) {
        if (++attempts == 1) {
            errno = EAGAIN;
            return -1;
        }
        if (attempts == 2) {
            sem_post(&asked);
            sem_wait(&called);
        }
    }
    return control_system(of, cmd, arg);
}

static void *calls_meanwhile(void *arg)
{
    int flag;
    sem_wait(&asked);
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    sem_post(&called);
    return arg;
}

static int answered_late(void)
{
    pthread_t t;
    MPI_File f;
    sem_init(&asked, 0, 0);
    sem_init(&called, 0, 0);
    CHECK_EQ(pthread_create(&t, NULL, calls_meanwhile, NULL), 0);
    CHECK_EQ(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                           &f), 0);
    CHECK_EQ(MPI_File_set_atomicity(f, 1), 0);
    attempts = 0;
    CHECK_EQ(MPI_File_write_at(f, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE), 0);
    CHECK_EQ(attempts, 2);
    pthread_join(t, NULL);
    CHECK_EQ(MPI_File_close(&f), 0);
    unlink(name);
    return mt_finish();
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "kept";
    int id = (int)getpid(), slow = !strcmp(how, "slow");
    if (slow) {
        MUST(mt_init_threads(&argc, &argv), "no MPI_THREAD_MULTIPLE");
    } else {
        start_child();
        mt_init(&argc, &argv);
    }
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "/tmp/mt-io-held-%d", id);
    if (slow)
        return answered_late();
    return strcmp(how, "failed") ? waits(!strcmp(how, "killed")) : fails();
}
