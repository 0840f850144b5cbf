/* guard.c - MPIR_CVAR_WIN_GUARD: a load or store of the host without an acquire ends the process,
 * which names byte and window; one with it works, and so does everything that peers do. */
#define _GNU_SOURCE
#include "rw.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 8192, BYTES = N * 8 };

/* A child touches memory: the text that it writes, and whether it was ended by the fault. */
static int touch(volatile long long *at, int store, char *text, size_t len)
{
    int fd[2], status = 0;
    size_t n = 0;
    ssize_t got;

    CHECK_EQ(pipe(fd), 0);
    pid_t child = fork();
    if (!child) {
        dup2(fd[1], STDERR_FILENO);
        close(fd[0]);
        close(fd[1]);
        if (store)
            *at = 5;
        _exit(*at == 123456789 ? 1 : 0);
    }
    close(fd[1]);
    while (n + 1 < len && (got = read(fd[0], text + n, len - n - 1)) > 0)
        n += (size_t)got;
    text[n] = '\0';
    close(fd[0]);
    while (waitpid(child, &status, 0) < 0)
        ;
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

int main(int argc, char **argv)
{
    static char text[1 << 16];
    long long *mine, *p, v = 7, got = 0;
    MPI_Info info;
    MPI_Win win;
    int i, to, dev;
    char *env = getenv("MPIR_CVAR_WIN_GUARD");

    mt_init(&argc, &argv);
    if (!env || strcmp(env, "1"))
        return mt_finish();
    to = (mt_rank + 1) % mt_size;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_win_spaces", "host,sim:0");
    MPI_Win_allocate(BYTES, 8, info, MPI_COMM_WORLD, &mine, &win);
    MPI_Info_free(&info);
    MPI_Win_set_name(win, "field");
    CHECK(touch(&mine[1024], 0, text, sizeof text));
    CHECK(strstr(text, "byte 8192 of its part of window \"field\" (tile 0)") != NULL);
    CHECK(strstr(text, "a load or store") != NULL && strstr(text, "does not hold") != NULL);
    CHECK(strstr(text, "touch") != NULL); /* the frames */
    MPIX_Space_find("sim:0", &dev); /* memory of a device, as if it were a buffer on the host */
    CHECK_EQ(MPIX_Win_acquire(win, 8192, 8, dev, MPIX_WIN_READ, &p), MPI_SUCCESS);
    CHECK(touch(p, 0, text, sizeof text));
    CHECK(strstr(text, "is in sim:0, which") && strstr(text, "sim:0 in the key mpix_win_buffers"));
    CHECK_EQ(MPIX_Win_release(win, 8192, 8, dev), MPI_SUCCESS);
    CHECK_EQ(MPIX_Win_acquire(win, 8192, 8, 0, MPIX_WIN_READ, &p), MPI_SUCCESS);
    CHECK(p == mine + 1024);
    CHECK(!touch(&mine[1024], 0, text, sizeof text));
    CHECK(!text[0]);
    CHECK(touch(&mine[1024], 1, text, sizeof text));
    CHECK(strstr(text, "a store at") != NULL && strstr(text, "for reading alone") != NULL);
    CHECK_EQ(MPIX_Win_acquire(win, 8000, 1000, 0, MPIX_WIN_WRITE, &p), MPI_SUCCESS);
    mine[1024] = 11;
    CHECK_EQ(MPIX_Win_release(win, 8000, 1000, 0), MPI_SUCCESS);
    CHECK(touch(&mine[1024], 1, text, sizeof text)); /* the reader's hold is left */
    CHECK_EQ(mine[1024], 11);
    CHECK_EQ(MPIX_Win_release(win, 8192, 8, 0), MPI_SUCCESS);
    CHECK(touch(&mine[1024], 0, text, sizeof text));
    CHECK_EQ(MPIX_Win_acquire(win, 0, BYTES, 0, MPIX_WIN_DISCARD, &p), MPI_SUCCESS);
    for (i = 0; i < N; i++)
        mine[i] = i;
    CHECK_EQ(MPIX_Win_release(win, 0, BYTES, 0), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win); /* operations of peers, and own ones, need no view */
    MPI_Put(&v, 1, MPI_LONG_LONG, to, 100, 1, MPI_LONG_LONG, win);
    MPI_Win_flush(to, win);
    MPI_Get(&got, 1, MPI_LONG_LONG, to, 100, 1, MPI_LONG_LONG, win);
    MPI_Win_unlock(to, win);
    CHECK_EQ(got, 7);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(MPIX_Win_acquire(win, 800, 16, 0, MPIX_WIN_READ, &p), MPI_SUCCESS);
    CHECK(mine[100] == 7 && mine[101] == 101);
    CHECK_EQ(MPIX_Win_release(win, 800, 16, 0), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    return mt_finish();
}
