/* view.c - views, positions and data representations (MPI-3.1 13.3, 13.4, 13.5). Start with
 * PMPI_File_set_view(). */
#include "api/io/filecall.h"

#include <limits.h>
#include <string.h>

#include "dt/dt.h"

int PMPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                       const char *datarep, MPI_Info info)
{
    api_enter("MPI_File_set_view");
    struct io_file *f;
    struct dt_type *e, *t;
    struct info *i;
    int err = api_file(fh, &f);
    if (!err) {
        int wrong = api_type_named(etype, "etype", &e);
        if (!wrong)
            wrong = api_type_named(filetype, "filetype", &t);
        if (!wrong)
            wrong = api_info(info, &i);
        WATCH_RUN(err, wrong ? io_refuse(f, wrong) : io_set_view(f, disp, e, t, datarep, i),
                  .call = WATCH_FILE_SET_VIEW, .file = f, .site = __builtin_return_address(0));
    }
    return api_exit_file(fh, err);
}
API_ALIAS(MPI_File_set_view);

/* One more handle for the user, as MPI_Type_get_contents gives. */
static MPI_Datatype given(struct dt_type *t)
{
    if (!(t->flags & DT_PREDEFINED)) {
        dt_ref(t);
        t->holders++;
    }
    return t->obj.handle;
}

int PMPI_File_get_view(MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype,
                       char *datarep)
{
    api_enter("MPI_File_get_view");
    struct io_file *f;
    int err = api_file_local(fh, &f);
    if (!err)
        err = api_pointer(disp, "disp");
    if (!err)
        err = api_pointer(etype, "etype");
    if (!err)
        err = api_pointer(filetype, "filetype");
    if (!err)
        err = api_pointer(datarep, "datarep");
    if (!err) {
        struct dt_type *e, *t;
        int64_t d;
        const char *name;
        io_view(f, &d, &e, &t, &name);
        *disp = d;
        *etype = given(e);
        *filetype = given(t);
        strcpy(datarep, name);
    }
    return api_exit_file(fh, err);
}
API_ALIAS(MPI_File_get_view);

static int type_extent(const char *call, MPI_File fh, MPI_Datatype datatype, int64_t *extent)
{
    struct io_file *f;
    struct dt_type *t;
    api_enter(call);
    int err = api_file_local(fh, &f);
    if (!err)
        err = api_type(datatype, &t);
    if (!err)
        err = api_pointer(extent, "extent");
    if (!err)
        err = io_type_extent(f, t, extent);
    return api_exit_file(fh, err);
}

int PMPI_File_get_type_extent(MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent)
{
    return type_extent("MPI_File_get_type_extent", fh, datatype, extent);
}
API_ALIAS(MPI_File_get_type_extent);

int PMPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count *extent)
{
    int64_t e = 0;
    int err = type_extent("MPI_File_get_type_extent_c", fh, datatype, extent ? &e : NULL);
    if (!err)
        *extent = e;
    return err;
}
API_ALIAS(MPI_File_get_type_extent_c);

int PMPI_File_seek(MPI_File fh, MPI_Offset offset, int whence)
{
    api_enter("MPI_File_seek");
    struct io_file *f;
    int err = api_file(fh, &f);
    if (!err)
        err = io_seek(f, offset, whence);
    return api_exit_file(fh, err);
}
API_ALIAS(MPI_File_seek);

int PMPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence)
{
    api_enter("MPI_File_seek_shared");
    struct io_file *f;
    int err = api_file(fh, &f);
    WATCH_RUN(err, io_seek_shared(f, offset, whence), .call = WATCH_FILE_SEEK_SHARED, .file = f,
              .site = __builtin_return_address(0));
    return api_exit_file(fh, err);
}
API_ALIAS(MPI_File_seek_shared);

static int position(const char *call, MPI_File fh, MPI_Offset *offset, int shared)
{
    struct io_file *f;
    int64_t at = 0;
    api_enter(call);
    int err = shared ? api_file(fh, &f) : api_file_local(fh, &f);
    if (!err)
        err = api_pointer(offset, "offset");
    if (!err)
        err = shared ? io_position_shared(f, &at) : io_position(f, &at);
    if (!err)
        *offset = at;
    return api_exit_file(fh, err);
}

int PMPI_File_get_position(MPI_File fh, MPI_Offset *offset)
{
    return position("MPI_File_get_position", fh, offset, 0);
}
API_ALIAS(MPI_File_get_position);

int PMPI_File_get_position_shared(MPI_File fh, MPI_Offset *offset)
{
    return position("MPI_File_get_position_shared", fh, offset, 1);
}
API_ALIAS(MPI_File_get_position_shared);

int PMPI_File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset *disp)
{
    api_enter("MPI_File_get_byte_offset");
    struct io_file *f;
    int64_t at = 0;
    int err = api_file_local(fh, &f);
    if (!err)
        err = api_pointer(disp, "disp");
    if (!err)
        err = io_byte_offset(f, offset, &at);
    if (!err)
        *disp = at;
    return api_exit_file(fh, err);
}
API_ALIAS(MPI_File_get_byte_offset);

static int datarep(const char *call, const char *name, const struct io_datarep *d)
{
    api_enter(call);
    int err = api_pointer(name, "datarep");
    if (!err)
        err = api_pointer((const void *)(uintptr_t)d->extent, "dtype_file_extent_fn");
    if (!err)
        err = io_register_datarep(name, d);
    return api_exit_file(MPI_FILE_NULL, err);
}

int PMPI_Register_datarep(const char *datarep_name, MPI_Datarep_conversion_function *read_fn,
                          MPI_Datarep_conversion_function *write_fn,
                          MPI_Datarep_extent_function *extent_fn, void *extra)
{
    struct io_datarep d = {(void *)read_fn, (void *)write_fn, extent_fn, extra, 0};
    return datarep("MPI_Register_datarep", datarep_name, &d);
}
API_ALIAS(MPI_Register_datarep);

int PMPI_Register_datarep_c(const char *datarep_name, MPI_Datarep_conversion_function_c *read_fn,
                            MPI_Datarep_conversion_function_c *write_fn,
                            MPI_Datarep_extent_function *extent_fn, void *extra)
{
    struct io_datarep d = {(void *)read_fn, (void *)write_fn, extent_fn, extra, 1};
    return datarep("MPI_Register_datarep_c", datarep_name, &d);
}
API_ALIAS(MPI_Register_datarep_c);
