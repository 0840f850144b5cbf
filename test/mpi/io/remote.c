/* remote.c - files in what passes for NFS: when writes and MPI_File_sync lock, also where each
 * process opens the file for itself. The program answers for the system: fstatfs says NFS, and
 * fcntl refuses locks where the test wants that. MPIR_CVAR_NUM_CLIQUES and MPIR_CVAR_NOLOCAL make
 * several hosts. */
#define _GNU_SOURCE
#include "control.h"
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { NFS = 0x6969, BLOCK = 100, BLOCKS = 64 };
static int refuses, hosts, asked; /* asked: for locks, and to give them back */
static char name[200];

int fstatfs(int fd, struct statfs *s)
{
    int err = (int)syscall(SYS_fstatfs, fd, s);
    s->f_type = NFS;
    return err;
}

int fstatfs64(int fd, struct statfs64 *s)
{
    return fstatfs(fd, (struct statfs *)s);
}

static int control(int fd, int cmd, void *arg)
{
    asked += cmd == F_OFD_SETLK;
    if (refuses && (cmd == F_OFD_SETLK || cmd == F_OFD_SETLKW)) {
        errno = ENOLCK;
        return -1;
    }
    return control_system(fd, cmd, arg);
}

static MPI_File opened(MPI_Comm c, int more)
{
    MPI_File f;
    CHECK_EQ(MPI_File_open(c, name, MPI_MODE_CREATE | MPI_MODE_RDWR | more, MPI_INFO_NULL, &f), 0);
    view_set(f, BLOCK, mt_size);
    return f;
}

/* One lock is for all blocks of a write, however far from each other. */
static void write_and_look(MPI_Comm c, int more, int must_lock)
{
    char out[BLOCK * BLOCKS], in[BLOCK * BLOCKS] = "";
    MPI_File f = opened(c, more);
    long long before = pv_get("io_locks");
    memset(out, 'a' + mt_rank, sizeof out);
    CHECK_EQ(MPI_File_write_at(f, 0, out, sizeof out, MPI_BYTE, MPI_STATUS_IGNORE), 0);
    CHECK_EQ(pv_get("io_locks") - before, must_lock);
    MPI_File_sync(f);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(f);
    CHECK_EQ(MPI_File_read_at(f, 0, in, sizeof in, MPI_BYTE, MPI_STATUS_IGNORE), 0);
    CHECK(!memcmp(in, out, sizeof in));
    CHECK_EQ(pv_get("io_locks") - before, must_lock);
    before = pv_get("io_locks");
    CHECK_EQ(MPI_File_write_at_all(f, 0, out, sizeof out, MPI_BYTE, MPI_STATUS_IGNORE), 0);
    long long taken = pv_get("io_locks") - before;
    MUST(taken <= must_lock, "%lld locks for one chunk", taken);
    CHECK_EQ(MPI_File_close(&f), 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* MPI_File_sync takes a lock, which is a reader's, and gives it back. */
static void synced(int amode, int must_ask)
{
    MPI_File f;
    CHECK_EQ(MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &f), 0);
    asked = 0;
    CHECK_EQ(MPI_File_sync(f), 0);
    CHECK_EQ(asked, must_ask);
    CHECK_EQ(MPI_File_close(&f), 0);
}

static void refused(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int len, err;
    MPI_File f;
    refuses = 1;
    err = MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    if (hosts > 1) {
        CHECK_EQ(mt_class(err), MPI_ERR_IO);
        MPI_Error_string(err, text, &len);
        MUST(strstr(text, "needs range locks") && strstr(text, name), "%s", text);
    } else if (CHECK_EQ(err, 0)) {
        MPI_File_close(&f);
    }
    CHECK_EQ(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f), 0);
    CHECK_EQ(MPI_File_close(&f), 0);
    CHECK_EQ(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_UNIQUE_OPEN,
                           MPI_INFO_NULL, &f), 0);
    CHECK_EQ(MPI_File_close(&f), 0);
    refuses = 0;
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int id = (int)getpid(), provided, near, first;
    MPI_Comm c;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    mt_init(&argc, &argv);
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "/tmp/mt-io-remote-%d", id);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c);
    MPI_Comm_rank(c, &near);
    first = near == 0;
    MPI_Allreduce(&first, &hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    write_and_look(MPI_COMM_WORLD, 0, hosts > 1);
    write_and_look(MPI_COMM_SELF, 0, hosts > 1);
    write_and_look(c, 0, hosts > 1);
    write_and_look(c, MPI_MODE_UNIQUE_OPEN, 0);
    write_and_look(MPI_COMM_WORLD, MPI_MODE_UNIQUE_OPEN, hosts > 1);
    synced(MPI_MODE_RDONLY, hosts > 1 ? 2 : 0);
    synced(MPI_MODE_RDWR, hosts > 1 ? 2 : 0);
    synced(MPI_MODE_WRONLY, 0);
    refused();
    MPI_Comm_free(&c);
    if (mt_rank == 0)
        unlink(name);
    MPI_T_finalize();
    return mt_finish();
}
