/* MPI-IO (MPI-3.1 13) is not supported. Every call returns MPI_ERR_UNSUPPORTED_OPERATION through
 * the error handler of MPI_FILE_NULL, by default MPI_ERRORS_RETURN. Programs and libraries with
 * optional file support (HDF5, for example) can so link and start. One row per function, with the
 * prototype of mpi.h; delete the row when the function is implemented. */
#include "api/api.h"

/* No function uses its arguments. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static int no_files(const char *call)
{
    api_enter(call);
    return api_exit_file(
        err_make(MPI_ERR_UNSUPPORTED_OPERATION, "%s: this library has no MPI-IO", call));
}

/* A handle that the call would have made becomes the null handle. */
#define NO_CALL(name, args)                                                                        \
    int P##name args                                                                               \
    {                                                                                              \
        return no_files(#name);                                                                    \
    }                                                                                              \
    API_ALIAS(name);
#define NO_OPEN(name, args)                                                                        \
    int P##name args                                                                               \
    {                                                                                              \
        if (fh)                                                                                    \
            *fh = MPI_FILE_NULL;                                                                   \
        return no_files(#name);                                                                    \
    }                                                                                              \
    API_ALIAS(name);
#define NO_REQUEST(name, args)                                                                     \
    int P##name args                                                                               \
    {                                                                                              \
        if (request)                                                                               \
            *request = MPI_REQUEST_NULL;                                                           \
        return no_files(#name);                                                                    \
    }                                                                                              \
    API_ALIAS(name);

NO_OPEN(MPI_File_open, (MPI_Comm comm, const char *filename, int amode, MPI_Info info,
                        MPI_File *fh))
NO_CALL(MPI_File_close, (MPI_File *fh))
NO_CALL(MPI_File_delete, (const char *filename, MPI_Info info))
NO_CALL(MPI_File_set_size, (MPI_File fh, MPI_Offset size))
NO_CALL(MPI_File_preallocate, (MPI_File fh, MPI_Offset size))
NO_CALL(MPI_File_get_size, (MPI_File fh, MPI_Offset *size))
NO_CALL(MPI_File_get_group, (MPI_File fh, MPI_Group *group))
NO_CALL(MPI_File_get_amode, (MPI_File fh, int *amode))
NO_CALL(MPI_File_set_info, (MPI_File fh, MPI_Info info))
NO_CALL(MPI_File_get_info, (MPI_File fh, MPI_Info *info_used))
NO_CALL(MPI_File_set_view, (MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                            const char *datarep, MPI_Info info))
NO_CALL(MPI_File_get_view, (MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype,
                            MPI_Datatype *filetype, char *datarep))
NO_CALL(MPI_File_get_type_extent, (MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent))
NO_CALL(MPI_File_set_atomicity, (MPI_File fh, int flag))
NO_CALL(MPI_File_get_atomicity, (MPI_File fh, int *flag))
NO_CALL(MPI_File_sync, (MPI_File fh))
NO_CALL(MPI_File_seek, (MPI_File fh, MPI_Offset offset, int whence))
NO_CALL(MPI_File_get_position, (MPI_File fh, MPI_Offset *offset))
NO_CALL(MPI_File_get_byte_offset, (MPI_File fh, MPI_Offset offset, MPI_Offset *disp))
NO_CALL(MPI_File_seek_shared, (MPI_File fh, MPI_Offset offset, int whence))
NO_CALL(MPI_File_get_position_shared, (MPI_File fh, MPI_Offset *offset))
NO_CALL(MPI_File_read, (MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                        MPI_Status *status))
NO_CALL(MPI_File_read_all, (MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                            MPI_Status *status))
NO_CALL(MPI_File_read_at, (MPI_File fh, MPI_Offset offset, void *buf, int count,
                           MPI_Datatype datatype, MPI_Status *status))
NO_CALL(MPI_File_read_at_all, (MPI_File fh, MPI_Offset offset, void *buf, int count,
                               MPI_Datatype datatype, MPI_Status *status))
NO_CALL(MPI_File_read_shared, (MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                               MPI_Status *status))
NO_CALL(MPI_File_read_ordered, (MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                                MPI_Status *status))
NO_REQUEST(MPI_File_iread, (MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                            MPI_Request *request))
NO_REQUEST(MPI_File_iread_all, (MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                                MPI_Request *request))
NO_REQUEST(MPI_File_iread_at, (MPI_File fh, MPI_Offset offset, void *buf, int count,
                               MPI_Datatype datatype, MPI_Request *request))
NO_REQUEST(MPI_File_iread_at_all, (MPI_File fh, MPI_Offset offset, void *buf, int count,
                                   MPI_Datatype datatype, MPI_Request *request))
NO_REQUEST(MPI_File_iread_shared, (MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                                   MPI_Request *request))
NO_CALL(MPI_File_read_all_begin, (MPI_File fh, void *buf, int count, MPI_Datatype datatype))
NO_CALL(MPI_File_read_all_end, (MPI_File fh, void *buf, MPI_Status *status))
NO_CALL(MPI_File_read_at_all_begin, (MPI_File fh, MPI_Offset offset, void *buf, int count,
                                     MPI_Datatype datatype))
NO_CALL(MPI_File_read_at_all_end, (MPI_File fh, void *buf, MPI_Status *status))
NO_CALL(MPI_File_read_ordered_begin, (MPI_File fh, void *buf, int count, MPI_Datatype datatype))
NO_CALL(MPI_File_read_ordered_end, (MPI_File fh, void *buf, MPI_Status *status))
NO_CALL(MPI_File_write, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                         MPI_Status *status))
NO_CALL(MPI_File_write_all, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                             MPI_Status *status))
NO_CALL(MPI_File_write_at, (MPI_File fh, MPI_Offset offset, const void *buf, int count,
                            MPI_Datatype datatype, MPI_Status *status))
NO_CALL(MPI_File_write_at_all, (MPI_File fh, MPI_Offset offset, const void *buf, int count,
                                MPI_Datatype datatype, MPI_Status *status))
NO_CALL(MPI_File_write_shared, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                                MPI_Status *status))
NO_CALL(MPI_File_write_ordered, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                                 MPI_Status *status))
NO_REQUEST(MPI_File_iwrite, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                             MPI_Request *request))
NO_REQUEST(MPI_File_iwrite_all, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                                 MPI_Request *request))
NO_REQUEST(MPI_File_iwrite_at, (MPI_File fh, MPI_Offset offset, const void *buf, int count,
                                MPI_Datatype datatype, MPI_Request *request))
NO_REQUEST(MPI_File_iwrite_at_all, (MPI_File fh, MPI_Offset offset, const void *buf, int count,
                                    MPI_Datatype datatype, MPI_Request *request))
NO_REQUEST(MPI_File_iwrite_shared, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                                    MPI_Request *request))
NO_CALL(MPI_File_write_all_begin, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype))
NO_CALL(MPI_File_write_all_end, (MPI_File fh, const void *buf, MPI_Status *status))
NO_CALL(MPI_File_write_at_all_begin, (MPI_File fh, MPI_Offset offset, const void *buf, int count,
                                      MPI_Datatype datatype))
NO_CALL(MPI_File_write_at_all_end, (MPI_File fh, const void *buf, MPI_Status *status))
NO_CALL(MPI_File_write_ordered_begin, (MPI_File fh, const void *buf, int count,
                                       MPI_Datatype datatype))
NO_CALL(MPI_File_write_ordered_end, (MPI_File fh, const void *buf, MPI_Status *status))
NO_CALL(MPI_Register_datarep, (const char *datarep,
                               MPI_Datarep_conversion_function *read_conversion_fn,
                               MPI_Datarep_conversion_function *write_conversion_fn,
                               MPI_Datarep_extent_function *dtype_file_extent_fn,
                               void *extra_state))
NO_CALL(MPI_File_get_type_extent_c, (MPI_File fh, MPI_Datatype datatype, MPI_Count *extent))
NO_CALL(MPI_File_read_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                          MPI_Status *status))
NO_CALL(MPI_File_read_all_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                              MPI_Status *status))
NO_CALL(MPI_File_read_at_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Status *status))
NO_CALL(MPI_File_read_at_all_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                                 MPI_Datatype datatype, MPI_Status *status))
NO_CALL(MPI_File_read_shared_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                                 MPI_Status *status))
NO_CALL(MPI_File_read_ordered_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                                  MPI_Status *status))
NO_REQUEST(MPI_File_iread_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                              MPI_Request *request))
NO_REQUEST(MPI_File_iread_all_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                                  MPI_Request *request))
NO_REQUEST(MPI_File_iread_at_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                                 MPI_Datatype datatype, MPI_Request *request))
NO_REQUEST(MPI_File_iread_at_all_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                                     MPI_Datatype datatype, MPI_Request *request))
NO_REQUEST(MPI_File_iread_shared_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                                     MPI_Request *request))
NO_CALL(MPI_File_read_all_begin_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype))
NO_CALL(MPI_File_read_at_all_begin_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                                       MPI_Datatype datatype))
NO_CALL(MPI_File_read_ordered_begin_c, (MPI_File fh, void *buf, MPI_Count count,
                                        MPI_Datatype datatype))
NO_CALL(MPI_File_write_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Status *status))
NO_CALL(MPI_File_write_all_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                               MPI_Status *status))
NO_CALL(MPI_File_write_at_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                              MPI_Datatype datatype, MPI_Status *status))
NO_CALL(MPI_File_write_at_all_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                                  MPI_Datatype datatype, MPI_Status *status))
NO_CALL(MPI_File_write_shared_c, (MPI_File fh, const void *buf, MPI_Count count,
                                  MPI_Datatype datatype, MPI_Status *status))
NO_CALL(MPI_File_write_ordered_c, (MPI_File fh, const void *buf, MPI_Count count,
                                   MPI_Datatype datatype, MPI_Status *status))
NO_REQUEST(MPI_File_iwrite_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                               MPI_Request *request))
NO_REQUEST(MPI_File_iwrite_all_c, (MPI_File fh, const void *buf, MPI_Count count,
                                   MPI_Datatype datatype, MPI_Request *request))
NO_REQUEST(MPI_File_iwrite_at_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                                  MPI_Datatype datatype, MPI_Request *request))
NO_REQUEST(MPI_File_iwrite_at_all_c, (MPI_File fh, MPI_Offset offset, const void *buf,
                                      MPI_Count count, MPI_Datatype datatype, MPI_Request *request))
NO_REQUEST(MPI_File_iwrite_shared_c, (MPI_File fh, const void *buf, MPI_Count count,
                                      MPI_Datatype datatype, MPI_Request *request))
NO_CALL(MPI_File_write_all_begin_c, (MPI_File fh, const void *buf, MPI_Count count,
                                     MPI_Datatype datatype))
NO_CALL(MPI_File_write_at_all_begin_c, (MPI_File fh, MPI_Offset offset, const void *buf,
                                        MPI_Count count, MPI_Datatype datatype))
NO_CALL(MPI_File_write_ordered_begin_c, (MPI_File fh, const void *buf, MPI_Count count,
                                         MPI_Datatype datatype))
NO_CALL(MPI_Register_datarep_c, (const char *datarep,
                                 MPI_Datarep_conversion_function_c *read_conversion_fn,
                                 MPI_Datarep_conversion_function_c *write_conversion_fn,
                                 MPI_Datarep_extent_function *dtype_file_extent_fn,
                                 void *extra_state))

/* The only handle is the null handle. */
MPI_Fint PMPI_File_c2f(MPI_File file)
{
    return 0;
}
API_ALIAS(MPI_File_c2f);

MPI_File PMPI_File_f2c(MPI_Fint file)
{
    return MPI_FILE_NULL;
}
API_ALIAS(MPI_File_f2c);
