/* errors.c - errors that many calls of a file return, and what its calls are counted by. */
#include <errno.h>
#include <string.h>

#include "io/io_types.h"

static int class_of(int e)
{
    switch (e) {
    case ENOENT: return MPI_ERR_NO_SUCH_FILE;
    case EEXIST: return MPI_ERR_FILE_EXISTS;
    case EACCES:
    case EPERM: return MPI_ERR_ACCESS;
    case EROFS: return MPI_ERR_READ_ONLY;
    case ENOSPC: return MPI_ERR_NO_SPACE;
    case EDQUOT: return MPI_ERR_QUOTA;
    case EOWNERDEAD: return MPIX_ERR_PROC_FAILED;
    case EBUSY:
    case ETXTBSY: return MPI_ERR_FILE_IN_USE;
    case ENAMETOOLONG:
    case ENOTDIR:
    case EISDIR:
    case ELOOP: return MPI_ERR_BAD_FILE;
    case ENOMEM: return MPI_ERR_NO_MEM;
    default: return MPI_ERR_IO;
    }
}

int io_errno(int e, const char *name, const char *what)
{
    return err_make(class_of(e), "%s: file \"%s\": %s: %s", io_call(), name, what, strerror(e));
}

void io_count(struct io_file *f, enum stat_id id, uint64_t n)
{
    static const enum pvar_id pvar[STATS] = {
        [STAT_CALLS] = PVAR_IO_CALLS, [STAT_ASKED] = PVAR_IO_ASKED, [STAT_MOVED] = PVAR_IO_MOVED,
        [STAT_SYSTEM] = PVAR_IO_SYSTEM_CALLS, [STAT_ROUNDS] = PVAR_IO_ROUNDS,
        [STAT_LOCKS] = PVAR_IO_LOCKS, [STAT_NS] = PVAR_IO_NS};
    f->stat[id] += n;
    pvar_set_add(pvar_proc(), pvar[id], n);
}

int io_no_split(const struct io_file *f)
{
    return f->split ? err_make(MPI_ERR_UNSUPPORTED_OPERATION,
                               "%s: file \"%s\": a split collective access waits for %s", io_call(),
                               f->name, f->split)
                    : MPI_SUCCESS;
}
