/* file.c - files: open, close, sizes, hints, consistency (MPI-3.1 13.2, 13.6). Start with
 * PMPI_File_open(). */
#include "api/io/filecall.h"

#include "api/api_types.h"
#include "api/env/hardware.h"
#include "dt/dt.h"
#include "obj/attr.h"

static MPI_File handle_of(const struct io_file *f)
{
    return (MPI_File)(uintptr_t)(unsigned)((const struct obj *)f)->handle;
}

struct io_file *api_file_find(MPI_File h)
{
    uintptr_t n = (uintptr_t)h;
    return n <= UINT32_MAX ? obj_find(OBJ_FILE, (int)(uint32_t)n) : NULL;
}

int api_file(MPI_File h, struct io_file **out)
{
    int err = api_file_local(h, out);
    if (!err && io_is_revoked(*out))
        err = err_make(MPIX_ERR_REVOKED, "%s: file handle %p was revoked", proc->call, (void *)h);
    return err;
}

int api_file_local(MPI_File h, struct io_file **out)
{
    *out = api_file_find(h);
    if (*out)
        return MPI_SUCCESS;
    if (h == MPI_FILE_NULL)
        return err_make(MPI_ERR_FILE, "%s: the file is MPI_FILE_NULL", proc->call);
    return err_make(MPI_ERR_FILE, "%s: file handle %p does not exist", proc->call, (void *)h);
}

MPI_Fint PMPI_File_c2f(MPI_File file)
{
    return (MPI_Fint)(uint32_t)(uintptr_t)file;
}
API_ALIAS(MPI_File_c2f);

MPI_File PMPI_File_f2c(MPI_Fint file)
{
    return (MPI_File)(uintptr_t)(uint32_t)file;
}
API_ALIAS(MPI_File_f2c);

int PMPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    api_enter("MPI_File_open");
    struct comm *c = NULL;
    struct info *i = NULL;
    struct io_file *f = NULL;
    if (fh)
        *fh = MPI_FILE_NULL;
    int err = api_intracomm(comm, &c);
    int wrong = err ? err : api_pointer(fh, "fh");
    if (!wrong)
        wrong = api_info(info, &i);
    WATCH_RUN(err,
              wrong ? io_refuse_open(c, amode, wrong)
                    : io_open(c, filename, amode, i, proc->api->file_errhandler, &f),
              .call = WATCH_FILE_OPEN, .comm = c, .site = __builtin_return_address(0));
    if (!err && watch_wants(WATCH_OBJECTS))
        watch_file_made(c, f);
    if (!err)
        *fh = handle_of(f);
    return api_exit_file(MPI_FILE_NULL, err);
}
API_ALIAS(MPI_File_open);

/* Others may have left calls that they would have made: no checker compares this one. */
static __attribute__((noinline, cold)) int close_revoked(struct io_file *f)
{
    struct comm *c = comm_ref(io_comm(f));
    int err = io_close(f);
    if (watch_wants(WATCH_OBJECTS))
        watch_file_freed(c);
    comm_drop(c);
    return err;
}

static __attribute__((noinline, cold)) int close_watched(struct io_file *f, MPI_File h,
                                                         const void *site)
{
    struct comm *c = comm_ref(io_comm(f));
    int err = MPI_SUCCESS;
    WATCH_RUN(err, io_close(f), .call = WATCH_FILE_CLOSE, .file = f, .site = site);
    if (!api_file_find(h))
        watch_file_freed(c);
    comm_drop(c);
    return err;
}

int PMPI_File_close(MPI_File *fh)
{
    api_enter("MPI_File_close");
    struct io_file *f;
    int err = api_pointer(fh, "fh");
    MPI_File h = err ? MPI_FILE_NULL : *fh;
    if (!err)
        err = api_file_local(h, &f);
    if (!err && io_is_revoked(f)) {
        err = close_revoked(f);
        *fh = MPI_FILE_NULL;
    } else if (!err) {
        err = watch_wants(WATCH_OBJECTS) ? close_watched(f, h, __builtin_return_address(0))
                                         : io_close(f);
        if (!api_file_find(h))
            *fh = MPI_FILE_NULL;
    }
    return api_exit_file(h, err);
}
API_ALIAS(MPI_File_close);

int PMPI_File_delete(const char *filename, MPI_Info info)
{
    api_enter("MPI_File_delete");
    struct info *i;
    int err = api_info(info, &i);
    if (!err)
        err = io_delete(filename);
    return api_exit_file(MPI_FILE_NULL, err);
}
API_ALIAS(MPI_File_delete);

static int sized(const char *call, enum watch_call what, const void *site, MPI_File fh,
                 MPI_Offset size, int (*fn)(struct io_file *f, int64_t size))
{
    api_enter(call);
    struct io_file *f;
    int err = api_file(fh, &f);
    WATCH_RUN(err, fn(f, size), .call = what, .file = f, .site = site);
    return api_exit_file(fh, err);
}

int PMPI_File_set_size(MPI_File fh, MPI_Offset size)
{
    return sized("MPI_File_set_size", WATCH_FILE_SET_SIZE, __builtin_return_address(0), fh, size,
                 io_set_size);
}
API_ALIAS(MPI_File_set_size);

int PMPI_File_preallocate(MPI_File fh, MPI_Offset size)
{
    return sized("MPI_File_preallocate", WATCH_FILE_PREALLOCATE, __builtin_return_address(0), fh,
                 size, io_preallocate);
}
API_ALIAS(MPI_File_preallocate);

int PMPI_File_get_size(MPI_File fh, MPI_Offset *size)
{
    api_enter("MPI_File_get_size");
    struct io_file *f;
    int64_t n = 0;
    int err = api_file(fh, &f);
    if (!err)
        err = api_pointer(size, "size");
    if (!err)
        err = io_size(f, &n);
    if (!err)
        *size = n;
    return api_exit_file(fh, err);
}
API_ALIAS(MPI_File_get_size);

int PMPI_File_get_group(MPI_File fh, MPI_Group *group)
{
    api_enter("MPI_File_get_group");
    struct io_file *f;
    int err = api_file_local(fh, &f);
    if (!err)
        err = api_pointer(group, "group");
    if (!err)
        err = api_group_publish(io_comm(f)->map, NULL, group);
    return api_exit_file(fh, err);
}
API_ALIAS(MPI_File_get_group);

/* A call that returns one int. */
static int asked(const char *call, MPI_File fh, int *out, const char *arg,
                 int (*fn)(const struct io_file *f))
{
    api_enter(call);
    struct io_file *f;
    int err = api_file_local(fh, &f);
    if (!err)
        err = api_pointer(out, arg);
    if (!err)
        *out = fn(f);
    return api_exit_file(fh, err);
}

int PMPI_File_get_amode(MPI_File fh, int *amode)
{
    return asked("MPI_File_get_amode", fh, amode, "amode", io_amode);
}
API_ALIAS(MPI_File_get_amode);

int PMPI_File_get_atomicity(MPI_File fh, int *flag)
{
    return asked("MPI_File_get_atomicity", fh, flag, "flag", io_atomicity);
}
API_ALIAS(MPI_File_get_atomicity);

int PMPI_File_set_atomicity(MPI_File fh, int flag)
{
    api_enter("MPI_File_set_atomicity");
    struct io_file *f;
    int err = api_file(fh, &f);
    WATCH_RUN(err, io_set_atomicity(f, flag), .call = WATCH_FILE_SET_ATOMICITY, .file = f,
              .site = __builtin_return_address(0));
    return api_exit_file(fh, err);
}
API_ALIAS(MPI_File_set_atomicity);

int PMPI_File_sync(MPI_File fh)
{
    api_enter("MPI_File_sync");
    struct io_file *f;
    int err = api_file(fh, &f);
    WATCH_RUN(err, io_sync(f), .call = WATCH_FILE_SYNC, .file = f,
              .site = __builtin_return_address(0));
    return api_exit_file(fh, err);
}
API_ALIAS(MPI_File_sync);

int PMPI_File_set_info(MPI_File fh, MPI_Info info)
{
    api_enter("MPI_File_set_info");
    struct io_file *f;
    struct info *i;
    int err = api_file(fh, &f);
    if (!err) {
        int wrong = api_info(info, &i);
        WATCH_RUN(err, wrong ? io_refuse(f, wrong) : io_set_info(f, i), .call = WATCH_FILE_SET_INFO,
                  .file = f, .site = __builtin_return_address(0));
    }
    return api_exit_file(fh, err);
}
API_ALIAS(MPI_File_set_info);

int PMPI_File_get_info(MPI_File fh, MPI_Info *info_used)
{
    api_enter("MPI_File_get_info");
    struct io_file *f;
    struct info *i = NULL;
    int err = api_file_local(fh, &f);
    if (!err)
        err = api_pointer(info_used, "info_used");
    if (!err && (!(i = io_info(f)) || memory_kinds_put(i, NULL)))
        err = err_make(MPI_ERR_NO_MEM, "MPI_File_get_info: no memory for an info object");
    if (!err)
        err = api_info_publish(i, info_used);
    info_drop(i);
    return api_exit_file(fh, err);
}
API_ALIAS(MPI_File_get_info);

/* --- the calls that move data ----------------------------------------------------------------- */
/* A wrong argument other than the file goes on in *a: others may be in the same collective. */
static int resolve(MPI_File fh, struct io_args *a, MPI_Datatype t)
{
    int err = api_file(fh, &a->f);
    if (err)
        return err;
    a->err = api_count(a->count);
    if (!a->err)
        a->err = api_type_committed(t, &a->t);
    if (!a->err)
        a->err = api_buffer(a->buf, a->count, a->t);
    if (!a->err)
        watch_memory(a->buf, a->count, a->t, !a->write, "buffer");
    return MPI_SUCCESS;
}

static enum watch_call call_of(const struct io_args *a)
{
    if (a->where == IO_AT)
        return a->write ? WATCH_FILE_WRITE_AT_ALL : WATCH_FILE_READ_AT_ALL;
    if (a->where == IO_ORDERED)
        return a->write ? WATCH_FILE_WRITE_ORDERED : WATCH_FILE_READ_ORDERED;
    return a->write ? WATCH_FILE_WRITE_ALL : WATCH_FILE_READ_ALL;
}

int file_access_at(const void *site, const char *call, MPI_File fh, struct io_args a,
                   MPI_Datatype t, MPI_Status *st)
{
    api_enter(call);
    int err = resolve(fh, &a, t);
    WATCH_RUN(err, io_access(&a, st), .call = call_of(&a), .file = a.f,
              .passed_over = !a.collective, .site = site);
    return api_exit_file(fh, err);
}

int file_begin_at(const void *site, const char *call, MPI_File fh, struct io_args a,
                  MPI_Datatype t, MPI_Request *req)
{
    api_enter(call);
    int err = api_pointer(req, "request");
    if (!err) {
        *req = MPI_REQUEST_NULL;
        err = resolve(fh, &a, t);
    }
    WATCH_RUN(err, io_begin(&a, req), .call = call_of(&a), .file = a.f,
              .form = WATCH_NONBLOCKING, .passed_over = !a.collective, .site = site);
    return api_exit_file(fh, err);
}

int file_split_begin_at(const void *site, const char *call, MPI_File fh, struct io_args a,
                        MPI_Datatype t)
{
    api_enter(call);
    int err = resolve(fh, &a, t);
    WATCH_RUN(err, io_split_begin(&a), .call = call_of(&a), .file = a.f, .part = WATCH_BEGIN,
              .site = site);
    return api_exit_file(fh, err);
}

int file_split_end_at(const void *site, const char *call, MPI_File fh, struct io_args a,
                      MPI_Status *st)
{
    api_enter(call);
    int err = api_file(fh, &a.f);
    WATCH_RUN(err, io_split_end(&a, st), .call = call_of(&a), .file = a.f, .part = WATCH_END,
              .site = site);
    return api_exit_file(fh, err);
}
