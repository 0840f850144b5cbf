/* sharing.c - what other hosts and other writers of a file require: locks of ranges (ranges.c), and
 * caches that are dropped.
 *
 *   file system    a write                          MPI_File_sync
 *   local          -                                fsync
 *   FUSE, hosts    -                                fsync, drop what is cached
 *   NFS, hosts     locks its range: else a client   fsync, drop, and a lock, which makes the
 *                  may write back a whole page      client ask the server again
 *
 * "hosts": the job has several, and processes of each may have the file open, by calls of
 * MPI_File_open of their own, too. With MPI_MODE_UNIQUE_OPEN those of the one call count. Writes
 * lock their ranges in a local file system, too, where some of them may take the gaps between
 * blocks with them (romio_ds_write): then all processes do, or none. Start with sharing_find(). */
#include "io/io_types.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "boot/boot.h"

enum { NFS_MAGIC = 0x6969, FUSE_MAGIC = 0x65735546 };
/* Locks that carry no data are far behind all data. */
#define FAR_OFF ((int64_t)1 << 62)

/* --- do locks work ---------------------------------------------------------------------------- */
static int lock_type(const struct io_file *f)
{
    return f->amode & MPI_MODE_RDONLY ? F_RDLCK : F_WRLCK;
}

/* Do processes of several hosts have it open, or may they? */
static int is_wide(const struct io_file *f)
{
    return (f->amode & MPI_MODE_UNIQUE_OPEN ? f->hosts : boot_nodes()) > 1;
}

/* A lock of one byte, without a wait. errno or 0. */
static int lock_byte(const struct io_file *f, int type, int64_t at)
{
    struct flock l = {.l_type = (short)type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    int e;
    do
        e = fcntl(f->fd, F_OFD_SETLK, &l) ? errno : 0;
    while (e == EINTR);
    return e;
}

/* Does the file system lock ranges? A lock that another process has is an answer, too. */
static int locks_refused(const struct io_file *f, int64_t at)
{
    int e = lock_byte(f, lock_type(f), at);
    if (!e)
        lock_byte(f, F_UNLCK, at);
    return e == EAGAIN || e == EACCES ? 0 : e;
}

static int refusal(const struct io_file *f, int e, const char *what)
{
    char text[160];
    snprintf(text, sizeof text, "%s needs range locks, which its file system refuses", what);
    return io_errno(e, f->name, text);
}

/* The other processes look whether they see a lock of rank 0. Collective. */
static int locks_reach(struct io_file *f, const char *what)
{
    int64_t v[2] = {FAR_OFF + (int64_t)(time_now() & 0xffffffffff), 0}, unseen = 0;
    if (f->comm->rank == 0)
        v[1] = lock_byte(f, lock_type(f), v[0]);
    int err = io_bcast(v, 2, 0, f->comm);
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = v[0], .l_len = 1};
    if (!err && !v[1] && f->comm->rank && (fcntl(f->fd, F_OFD_GETLK, &l) || l.l_type == F_UNLCK))
        unseen = 1;
    if (!err)
        err = io_allreduce(&unseen, 1, f->comm);
    if (f->comm->rank == 0 && !v[1])
        lock_byte(f, F_UNLCK, v[0]);
    if (err)
        return err;
    if (v[1])
        return refusal(f, (int)v[1], what);
    return unseen ? err_make(MPI_ERR_IO, "%s: file \"%s\": %s needs range locks, and those of its "
                                         "file system do not reach other hosts",
                             io_call(), f->name, what)
                  : MPI_SUCCESS;
}

int sharing_atomic(struct io_file *f, int flag, int err)
{
    if (!err && flag) {
        int e = locks_refused(f, FAR_OFF);
        err = e ? refusal(f, e, "atomic mode") : MPI_SUCCESS;
    }
    err = io_same(f, flag, "flag", err);
    return !err && flag && f->hosts > 1 ? locks_reach(f, "atomic mode") : err;
}

/* --- what a file needs ------------------------------------------------------------------------ */
enum { HAVE_ERROR, HAVE_NFS, HAVE_CACHES, HAVE_NO_WISH, HAVE_REFUSED, HAVES };

static void look(struct io_file *f, int64_t *v)
{
    struct statfs s;
    int writes = !(f->amode & MPI_MODE_RDONLY);
    int64_t kind = fstatfs(f->fd, &s) ? 0 : (int64_t)s.f_type & 0xffffffff;
    v[HAVE_CACHES] = is_wide(f) && (kind == NFS_MAGIC || kind == FUSE_MAGIC);
    v[HAVE_NFS] = (is_wide(f) && kind == NFS_MAGIC && writes) || (cvar.io_locks && writes);
    v[HAVE_NO_WISH] = f->hints.ds_write != CHOICE_YES || !(f->amode & MPI_MODE_RDWR);
    if (v[HAVE_NFS] || !v[HAVE_NO_WISH])
        v[HAVE_REFUSED] = locks_refused(f, FAR_OFF);
}

int sharing_find(struct io_file *f, int err)
{
    static const char nfs[] = "writing on NFS from several hosts";
    int64_t v[HAVES] = {[HAVE_ERROR] = err ? err_class(err) : 0};
    if (!err)
        look(f, v);
    int e = io_allreduce(v, HAVES, f->comm);
    if (err || e)
        return err ? err : e;
    if (v[HAVE_ERROR])
        return err_make((int)v[HAVE_ERROR], "%s failed on another process", io_call());
    f->caches = v[HAVE_CACHES] != 0;
    f->guard = v[HAVE_NFS] || !(v[HAVE_NO_WISH] || v[HAVE_REFUSED]);
    if (v[HAVE_NFS] && v[HAVE_REFUSED])
        return refusal(f, (int)v[HAVE_REFUSED], nfs);
    if (f->guard && f->hosts > 1)
        err = locks_reach(f, nfs);
    if (err && !v[HAVE_NFS]) { /* only the wish for gaps */
        f->guard = 0;
        err = MPI_SUCCESS;
    }
    f->gaps = f->guard && !v[HAVE_NO_WISH];
    return err;
}

/* A file opened for writing alone takes no lock here: only an exclusive one is possible, which
 * would keep the others from theirs. Where another program has locked the whole file, opening it
 * makes the client ask the server, too. */
void sharing_sync(const struct io_file *f)
{
    if (!f->caches)
        return;
    posix_fadvise(f->fd, 0, 0, POSIX_FADV_DONTNEED);
    if (f->amode & MPI_MODE_WRONLY)
        return;
    int fd = -1;
    if (!lock_byte(f, F_RDLCK, FAR_OFF - 1))
        lock_byte(f, F_UNLCK, FAR_OFF - 1);
    else
        fd = open(f->name, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
}
