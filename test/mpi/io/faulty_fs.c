/* faulty_fs.c - a FUSE file system with faults: one file in memory. faulty_fs MOUNTPOINT FAULT:
 *   none      what is asked for
 *   short     moves 1000 bytes a call at most
 *   space     has room for 100000 bytes: what crosses that is cut, what lies behind is ENOSPC
 *   quota     the same, with EDQUOT
 *   broken    returns EIO for what touches byte 100000
 *   nolocks   refuses locks of ranges
 * In all of them each call goes to the file system, as nothing is cached. It ends when the mount
 * does. */
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

enum { ROOM = 1 << 24, LIMIT = 100000, PART = 1000 };
static char bytes[ROOM];
static off_t size;
static int exists;
static const char *fault = "none";

static int is(const char *what)
{
    return !strcmp(fault, what);
}

static int get_attr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
    (void)fi;
    memset(st, 0, sizeof *st);
    int root = !strcmp(path, "/");
    if (!root && !exists)
        return -ENOENT;
    st->st_mode = root ? S_IFDIR | 0777 : S_IFREG | 0666;
    st->st_nlink = root ? 2 : 1;
    st->st_size = root ? 0 : size;
    return 0;
}

static int open_it(const char *path, struct fuse_file_info *fi)
{
    (void)path;
    fi->direct_io = 1;
    return exists ? 0 : -ENOENT;
}

static int create(const char *path, mode_t mode, struct fuse_file_info *fi)
{
    (void)mode;
    exists = 1;
    return open_it(path, fi);
}

static int remove_it(const char *path)
{
    (void)path;
    exists = 0;
    size = 0;
    return 0;
}

static int resize(const char *path, off_t to, struct fuse_file_info *fi)
{
    (void)path;
    (void)fi;
    if (to > ROOM)
        return -EFBIG;
    if (to > size)
        memset(bytes + size, 0, (size_t)(to - size));
    size = to;
    return 0;
}

static int is_broken(off_t at, size_t n)
{
    return is("broken") && at <= LIMIT && at + (off_t)n > LIMIT;
}

static int read_it(const char *path, char *buf, size_t n, off_t at, struct fuse_file_info *fi)
{
    (void)path;
    (void)fi;
    if (at >= size)
        return 0;
    n = at + (off_t)n > size ? (size_t)(size - at) : n;
    if (is_broken(at, n))
        return -EIO;
    n = is("short") && n > PART ? PART : n;
    memcpy(buf, bytes + at, n);
    return (int)n;
}

static int write_it(const char *path, const char *buf, size_t n, off_t at,
                    struct fuse_file_info *fi)
{
    if (is_broken(at, n))
        return -EIO;
    int limited = is("space") || is("quota");
    if (limited && at >= LIMIT)
        return is("quota") ? -EDQUOT : -ENOSPC;
    if (limited && at + (off_t)n > LIMIT)
        n = (size_t)(LIMIT - at);
    n = is("short") && n > PART ? PART : n;
    if (at + (off_t)n > ROOM)
        return -EFBIG;
    if (at + (off_t)n > size)
        resize(path, at + (off_t)n, fi);
    memcpy(bytes + at, buf, n);
    return (int)n;
}

static int lock_it(const char *path, struct fuse_file_info *fi, int cmd, struct flock *l)
{
    (void)path;
    (void)fi;
    (void)cmd;
    (void)l;
    return -ENOLCK;
}

static int sync_it(const char *path, int data, struct fuse_file_info *fi)
{
    (void)path;
    (void)data;
    (void)fi;
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    char *words[] = {argv[0], argv[1], "-f", "-s", NULL};
    fault = argv[2];
    struct fuse_operations ops = {.getattr = get_attr, .open = open_it, .create = create,
                                  .unlink = remove_it, .truncate = resize, .read = read_it,
                                  .write = write_it, .fsync = sync_it,
                                  .lock = is("nolocks") ? lock_it : NULL};
    return fuse_main(4, words, &ops, NULL);
}
