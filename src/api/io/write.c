/* Files: writing data (MPI-3.1 13.4). */
#include "api/io/filecall.h"

int PMPI_File_write(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                    MPI_Status *status)
{
    struct io_args a = {.where = IO_INDIVIDUAL, .write = 1, .buf = (void *)(uintptr_t)buf,
                        .count = count};
    return file_access("MPI_File_write", fh, a, datatype, status);
}
API_ALIAS(MPI_File_write);

int PMPI_File_write_all(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                        MPI_Status *status)
{
    struct io_args a = {.where = IO_INDIVIDUAL, .write = 1, .collective = 1,
                        .buf = (void *)(uintptr_t)buf, .count = count};
    return file_access("MPI_File_write_all", fh, a, datatype, status);
}
API_ALIAS(MPI_File_write_all);

int PMPI_File_write_at(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                       MPI_Datatype datatype, MPI_Status *status)
{
    struct io_args a = {.where = IO_AT, .write = 1, .offset = offset,
                        .buf = (void *)(uintptr_t)buf, .count = count};
    return file_access("MPI_File_write_at", fh, a, datatype, status);
}
API_ALIAS(MPI_File_write_at);

int PMPI_File_write_at_all(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                           MPI_Datatype datatype, MPI_Status *status)
{
    struct io_args a = {.where = IO_AT, .write = 1, .collective = 1, .offset = offset,
                        .buf = (void *)(uintptr_t)buf, .count = count};
    return file_access("MPI_File_write_at_all", fh, a, datatype, status);
}
API_ALIAS(MPI_File_write_at_all);

int PMPI_File_write_shared(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                           MPI_Status *status)
{
    struct io_args a = {.where = IO_SHARED, .write = 1, .buf = (void *)(uintptr_t)buf,
                        .count = count};
    return file_access("MPI_File_write_shared", fh, a, datatype, status);
}
API_ALIAS(MPI_File_write_shared);

int PMPI_File_write_ordered(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                            MPI_Status *status)
{
    struct io_args a = {.where = IO_ORDERED, .write = 1, .collective = 1,
                        .buf = (void *)(uintptr_t)buf, .count = count};
    return file_access("MPI_File_write_ordered", fh, a, datatype, status);
}
API_ALIAS(MPI_File_write_ordered);

int PMPI_File_iwrite(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                     MPI_Request *request)
{
    struct io_args a = {.where = IO_INDIVIDUAL, .write = 1, .buf = (void *)(uintptr_t)buf,
                        .count = count};
    return file_begin("MPI_File_iwrite", fh, a, datatype, request);
}
API_ALIAS(MPI_File_iwrite);

int PMPI_File_iwrite_all(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                         MPI_Request *request)
{
    struct io_args a = {.where = IO_INDIVIDUAL, .write = 1, .collective = 1,
                        .buf = (void *)(uintptr_t)buf, .count = count};
    return file_begin("MPI_File_iwrite_all", fh, a, datatype, request);
}
API_ALIAS(MPI_File_iwrite_all);

int PMPI_File_iwrite_at(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                        MPI_Datatype datatype, MPI_Request *request)
{
    struct io_args a = {.where = IO_AT, .write = 1, .offset = offset,
                        .buf = (void *)(uintptr_t)buf, .count = count};
    return file_begin("MPI_File_iwrite_at", fh, a, datatype, request);
}
API_ALIAS(MPI_File_iwrite_at);

int PMPI_File_iwrite_at_all(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                            MPI_Datatype datatype, MPI_Request *request)
{
    struct io_args a = {.where = IO_AT, .write = 1, .collective = 1, .offset = offset,
                        .buf = (void *)(uintptr_t)buf, .count = count};
    return file_begin("MPI_File_iwrite_at_all", fh, a, datatype, request);
}
API_ALIAS(MPI_File_iwrite_at_all);

int PMPI_File_iwrite_shared(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                            MPI_Request *request)
{
    struct io_args a = {.where = IO_SHARED, .write = 1, .buf = (void *)(uintptr_t)buf,
                        .count = count};
    return file_begin("MPI_File_iwrite_shared", fh, a, datatype, request);
}
API_ALIAS(MPI_File_iwrite_shared);

int PMPI_File_write_all_begin(MPI_File fh, const void *buf, int count, MPI_Datatype datatype)
{
    struct io_args a = {.where = IO_INDIVIDUAL, .write = 1, .collective = 1,
                        .buf = (void *)(uintptr_t)buf, .count = count};
    return file_split_begin("MPI_File_write_all_begin", fh, a, datatype);
}
API_ALIAS(MPI_File_write_all_begin);

int PMPI_File_write_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    struct io_args a = {.where = IO_INDIVIDUAL, .write = 1, .collective = 1};
    (void)buf;
    return file_split_end("MPI_File_write_all_end", fh, a, status);
}
API_ALIAS(MPI_File_write_all_end);

int PMPI_File_write_at_all_begin(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                                 MPI_Datatype datatype)
{
    struct io_args a = {.where = IO_AT, .write = 1, .collective = 1, .offset = offset,
                        .buf = (void *)(uintptr_t)buf, .count = count};
    return file_split_begin("MPI_File_write_at_all_begin", fh, a, datatype);
}
API_ALIAS(MPI_File_write_at_all_begin);

int PMPI_File_write_at_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    struct io_args a = {.where = IO_AT, .write = 1, .collective = 1};
    (void)buf;
    return file_split_end("MPI_File_write_at_all_end", fh, a, status);
}
API_ALIAS(MPI_File_write_at_all_end);

int PMPI_File_write_ordered_begin(MPI_File fh, const void *buf, int count, MPI_Datatype datatype)
{
    struct io_args a = {.where = IO_ORDERED, .write = 1, .collective = 1,
                        .buf = (void *)(uintptr_t)buf, .count = count};
    return file_split_begin("MPI_File_write_ordered_begin", fh, a, datatype);
}
API_ALIAS(MPI_File_write_ordered_begin);

int PMPI_File_write_ordered_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    struct io_args a = {.where = IO_ORDERED, .write = 1, .collective = 1};
    (void)buf;
    return file_split_end("MPI_File_write_ordered_end", fh, a, status);
}
API_ALIAS(MPI_File_write_ordered_end);

int PMPI_File_write_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Status *status)
{
    struct io_args a = {.where = IO_INDIVIDUAL, .write = 1, .buf = (void *)(uintptr_t)buf,
                        .count = count};
    return file_access("MPI_File_write_c", fh, a, datatype, status);
}
API_ALIAS(MPI_File_write_c);

int PMPI_File_write_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                          MPI_Status *status)
{
    struct io_args a = {.where = IO_INDIVIDUAL, .write = 1, .collective = 1,
                        .buf = (void *)(uintptr_t)buf, .count = count};
    return file_access("MPI_File_write_all_c", fh, a, datatype, status);
}
API_ALIAS(MPI_File_write_all_c);

int PMPI_File_write_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                         MPI_Datatype datatype, MPI_Status *status)
{
    struct io_args a = {.where = IO_AT, .write = 1, .offset = offset,
                        .buf = (void *)(uintptr_t)buf, .count = count};
    return file_access("MPI_File_write_at_c", fh, a, datatype, status);
}
API_ALIAS(MPI_File_write_at_c);

int PMPI_File_write_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Status *status)
{
    struct io_args a = {.where = IO_AT, .write = 1, .collective = 1, .offset = offset,
                        .buf = (void *)(uintptr_t)buf, .count = count};
    return file_access("MPI_File_write_at_all_c", fh, a, datatype, status);
}
API_ALIAS(MPI_File_write_at_all_c);

int PMPI_File_write_shared_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Status *status)
{
    struct io_args a = {.where = IO_SHARED, .write = 1, .buf = (void *)(uintptr_t)buf,
                        .count = count};
    return file_access("MPI_File_write_shared_c", fh, a, datatype, status);
}
API_ALIAS(MPI_File_write_shared_c);

int PMPI_File_write_ordered_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                              MPI_Status *status)
{
    struct io_args a = {.where = IO_ORDERED, .write = 1, .collective = 1,
                        .buf = (void *)(uintptr_t)buf, .count = count};
    return file_access("MPI_File_write_ordered_c", fh, a, datatype, status);
}
API_ALIAS(MPI_File_write_ordered_c);

int PMPI_File_iwrite_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Request *request)
{
    struct io_args a = {.where = IO_INDIVIDUAL, .write = 1, .buf = (void *)(uintptr_t)buf,
                        .count = count};
    return file_begin("MPI_File_iwrite_c", fh, a, datatype, request);
}
API_ALIAS(MPI_File_iwrite_c);

int PMPI_File_iwrite_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Request *request)
{
    struct io_args a = {.where = IO_INDIVIDUAL, .write = 1, .collective = 1,
                        .buf = (void *)(uintptr_t)buf, .count = count};
    return file_begin("MPI_File_iwrite_all_c", fh, a, datatype, request);
}
API_ALIAS(MPI_File_iwrite_all_c);

int PMPI_File_iwrite_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                          MPI_Datatype datatype, MPI_Request *request)
{
    struct io_args a = {.where = IO_AT, .write = 1, .offset = offset,
                        .buf = (void *)(uintptr_t)buf, .count = count};
    return file_begin("MPI_File_iwrite_at_c", fh, a, datatype, request);
}
API_ALIAS(MPI_File_iwrite_at_c);

int PMPI_File_iwrite_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                              MPI_Datatype datatype, MPI_Request *request)
{
    struct io_args a = {.where = IO_AT, .write = 1, .collective = 1, .offset = offset,
                        .buf = (void *)(uintptr_t)buf, .count = count};
    return file_begin("MPI_File_iwrite_at_all_c", fh, a, datatype, request);
}
API_ALIAS(MPI_File_iwrite_at_all_c);

int PMPI_File_iwrite_shared_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                              MPI_Request *request)
{
    struct io_args a = {.where = IO_SHARED, .write = 1, .buf = (void *)(uintptr_t)buf,
                        .count = count};
    return file_begin("MPI_File_iwrite_shared_c", fh, a, datatype, request);
}
API_ALIAS(MPI_File_iwrite_shared_c);

int PMPI_File_write_all_begin_c(MPI_File fh, const void *buf, MPI_Count count,
                                MPI_Datatype datatype)
{
    struct io_args a = {.where = IO_INDIVIDUAL, .write = 1, .collective = 1,
                        .buf = (void *)(uintptr_t)buf, .count = count};
    return file_split_begin("MPI_File_write_all_begin_c", fh, a, datatype);
}
API_ALIAS(MPI_File_write_all_begin_c);

int PMPI_File_write_at_all_begin_c(MPI_File fh, MPI_Offset offset, const void *buf,
                                   MPI_Count count, MPI_Datatype datatype)
{
    struct io_args a = {.where = IO_AT, .write = 1, .collective = 1, .offset = offset,
                        .buf = (void *)(uintptr_t)buf, .count = count};
    return file_split_begin("MPI_File_write_at_all_begin_c", fh, a, datatype);
}
API_ALIAS(MPI_File_write_at_all_begin_c);

int PMPI_File_write_ordered_begin_c(MPI_File fh, const void *buf, MPI_Count count,
                                    MPI_Datatype datatype)
{
    struct io_args a = {.where = IO_ORDERED, .write = 1, .collective = 1,
                        .buf = (void *)(uintptr_t)buf, .count = count};
    return file_split_begin("MPI_File_write_ordered_begin_c", fh, a, datatype);
}
API_ALIAS(MPI_File_write_ordered_begin_c);
