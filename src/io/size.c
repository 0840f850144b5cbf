/* size.c - how long a file is, and how long it becomes. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/io_types.h"

int io_size(struct io_file *f, int64_t *size)
{
    struct stat st;
    if (fstat(f->fd, &st))
        return io_errno(errno, f->name, "no size");
    *size = st.st_size;
    return MPI_SUCCESS;
}

static int may_resize(const struct io_file *f, int64_t size)
{
    if (f->amode & MPI_MODE_RDONLY)
        return err_make(MPI_ERR_READ_ONLY, "%s: file \"%s\" was opened with MPI_MODE_RDONLY",
                        io_call(), f->name);
    if (f->amode & MPI_MODE_SEQUENTIAL)
        return err_make(MPI_ERR_UNSUPPORTED_OPERATION,
                        "%s: file \"%s\" was opened with MPI_MODE_SEQUENTIAL", io_call(), f->name);
    if (size < 0)
        return err_make(MPI_ERR_ARG, "%s: size is %lld", io_call(), (long long)size);
    return io_no_split(f);
}

static int resize(struct io_file *f, int64_t size, int (*fn)(struct io_file *f, int64_t size))
{
    int err = io_same(f, size, "size", may_resize(f, size));
    if (err)
        return err;
    if (f->comm->rank == 0) {
        struct io_away away = io_leave();
        int e = fn(f, size);
        io_return(&away, NULL);
        if (e)
            err = io_errno(e, f->name, "cannot change its size");
    }
    return io_agree(err, f->comm);
}

static int truncate_to(struct io_file *f, int64_t size)
{
    int e;
    do
        e = ftruncate(f->fd, size) ? errno : 0;
    while (e == EINTR);
    return e;
}

static int allocate_to(struct io_file *f, int64_t size)
{
    int e;
    if (!size)
        return 0;
    do
        e = posix_fallocate(f->fd, 0, size);
    while (e == EINTR);
    return e;
}

int io_set_size(struct io_file *f, int64_t size)
{
    return resize(f, size, truncate_to);
}

int io_preallocate(struct io_file *f, int64_t size)
{
    return resize(f, size, allocate_to);
}
