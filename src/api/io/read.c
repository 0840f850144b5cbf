/* Files: reading data (MPI-3.1 13.4). */
#include "api/io/filecall.h"

int PMPI_File_read(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    struct io_args a = {.where = IO_INDIVIDUAL, .buf = buf, .count = count};
    return file_access("MPI_File_read", fh, a, datatype, status);
}
API_ALIAS(MPI_File_read);

int PMPI_File_read_all(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                       MPI_Status *status)
{
    struct io_args a = {.where = IO_INDIVIDUAL, .collective = 1, .buf = buf, .count = count};
    return file_access("MPI_File_read_all", fh, a, datatype, status);
}
API_ALIAS(MPI_File_read_all);

int PMPI_File_read_at(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
                      MPI_Status *status)
{
    struct io_args a = {.where = IO_AT, .offset = offset, .buf = buf, .count = count};
    return file_access("MPI_File_read_at", fh, a, datatype, status);
}
API_ALIAS(MPI_File_read_at);

int PMPI_File_read_at_all(MPI_File fh, MPI_Offset offset, void *buf, int count,
                          MPI_Datatype datatype, MPI_Status *status)
{
    struct io_args a = {.where = IO_AT, .collective = 1, .offset = offset, .buf = buf,
                        .count = count};
    return file_access("MPI_File_read_at_all", fh, a, datatype, status);
}
API_ALIAS(MPI_File_read_at_all);

int PMPI_File_read_shared(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                          MPI_Status *status)
{
    struct io_args a = {.where = IO_SHARED, .buf = buf, .count = count};
    return file_access("MPI_File_read_shared", fh, a, datatype, status);
}
API_ALIAS(MPI_File_read_shared);

int PMPI_File_read_ordered(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                           MPI_Status *status)
{
    struct io_args a = {.where = IO_ORDERED, .collective = 1, .buf = buf, .count = count};
    return file_access("MPI_File_read_ordered", fh, a, datatype, status);
}
API_ALIAS(MPI_File_read_ordered);

int PMPI_File_iread(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    struct io_args a = {.where = IO_INDIVIDUAL, .buf = buf, .count = count};
    return file_begin("MPI_File_iread", fh, a, datatype, request);
}
API_ALIAS(MPI_File_iread);

int PMPI_File_iread_all(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                        MPI_Request *request)
{
    struct io_args a = {.where = IO_INDIVIDUAL, .collective = 1, .buf = buf, .count = count};
    return file_begin("MPI_File_iread_all", fh, a, datatype, request);
}
API_ALIAS(MPI_File_iread_all);

int PMPI_File_iread_at(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
                       MPI_Request *request)
{
    struct io_args a = {.where = IO_AT, .offset = offset, .buf = buf, .count = count};
    return file_begin("MPI_File_iread_at", fh, a, datatype, request);
}
API_ALIAS(MPI_File_iread_at);

int PMPI_File_iread_at_all(MPI_File fh, MPI_Offset offset, void *buf, int count,
                           MPI_Datatype datatype, MPI_Request *request)
{
    struct io_args a = {.where = IO_AT, .collective = 1, .offset = offset, .buf = buf,
                        .count = count};
    return file_begin("MPI_File_iread_at_all", fh, a, datatype, request);
}
API_ALIAS(MPI_File_iread_at_all);

int PMPI_File_iread_shared(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                           MPI_Request *request)
{
    struct io_args a = {.where = IO_SHARED, .buf = buf, .count = count};
    return file_begin("MPI_File_iread_shared", fh, a, datatype, request);
}
API_ALIAS(MPI_File_iread_shared);

int PMPI_File_read_all_begin(MPI_File fh, void *buf, int count, MPI_Datatype datatype)
{
    struct io_args a = {.where = IO_INDIVIDUAL, .collective = 1, .buf = buf, .count = count};
    return file_split_begin("MPI_File_read_all_begin", fh, a, datatype);
}
API_ALIAS(MPI_File_read_all_begin);

int PMPI_File_read_all_end(MPI_File fh, void *buf, MPI_Status *status)
{
    struct io_args a = {.where = IO_INDIVIDUAL, .collective = 1};
    (void)buf;
    return file_split_end("MPI_File_read_all_end", fh, a, status);
}
API_ALIAS(MPI_File_read_all_end);

int PMPI_File_read_at_all_begin(MPI_File fh, MPI_Offset offset, void *buf, int count,
                                MPI_Datatype datatype)
{
    struct io_args a = {.where = IO_AT, .collective = 1, .offset = offset, .buf = buf,
                        .count = count};
    return file_split_begin("MPI_File_read_at_all_begin", fh, a, datatype);
}
API_ALIAS(MPI_File_read_at_all_begin);

int PMPI_File_read_at_all_end(MPI_File fh, void *buf, MPI_Status *status)
{
    struct io_args a = {.where = IO_AT, .collective = 1};
    (void)buf;
    return file_split_end("MPI_File_read_at_all_end", fh, a, status);
}
API_ALIAS(MPI_File_read_at_all_end);

int PMPI_File_read_ordered_begin(MPI_File fh, void *buf, int count, MPI_Datatype datatype)
{
    struct io_args a = {.where = IO_ORDERED, .collective = 1, .buf = buf, .count = count};
    return file_split_begin("MPI_File_read_ordered_begin", fh, a, datatype);
}
API_ALIAS(MPI_File_read_ordered_begin);

int PMPI_File_read_ordered_end(MPI_File fh, void *buf, MPI_Status *status)
{
    struct io_args a = {.where = IO_ORDERED, .collective = 1};
    (void)buf;
    return file_split_end("MPI_File_read_ordered_end", fh, a, status);
}
API_ALIAS(MPI_File_read_ordered_end);

int PMPI_File_read_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Status *status)
{
    struct io_args a = {.where = IO_INDIVIDUAL, .buf = buf, .count = count};
    return file_access("MPI_File_read_c", fh, a, datatype, status);
}
API_ALIAS(MPI_File_read_c);

int PMPI_File_read_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Status *status)
{
    struct io_args a = {.where = IO_INDIVIDUAL, .collective = 1, .buf = buf, .count = count};
    return file_access("MPI_File_read_all_c", fh, a, datatype, status);
}
API_ALIAS(MPI_File_read_all_c);

int PMPI_File_read_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                        MPI_Datatype datatype, MPI_Status *status)
{
    struct io_args a = {.where = IO_AT, .offset = offset, .buf = buf, .count = count};
    return file_access("MPI_File_read_at_c", fh, a, datatype, status);
}
API_ALIAS(MPI_File_read_at_c);

int PMPI_File_read_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                            MPI_Datatype datatype, MPI_Status *status)
{
    struct io_args a = {.where = IO_AT, .collective = 1, .offset = offset, .buf = buf,
                        .count = count};
    return file_access("MPI_File_read_at_all_c", fh, a, datatype, status);
}
API_ALIAS(MPI_File_read_at_all_c);

int PMPI_File_read_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Status *status)
{
    struct io_args a = {.where = IO_SHARED, .buf = buf, .count = count};
    return file_access("MPI_File_read_shared_c", fh, a, datatype, status);
}
API_ALIAS(MPI_File_read_shared_c);

int PMPI_File_read_ordered_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Status *status)
{
    struct io_args a = {.where = IO_ORDERED, .collective = 1, .buf = buf, .count = count};
    return file_access("MPI_File_read_ordered_c", fh, a, datatype, status);
}
API_ALIAS(MPI_File_read_ordered_c);

int PMPI_File_iread_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Request *request)
{
    struct io_args a = {.where = IO_INDIVIDUAL, .buf = buf, .count = count};
    return file_begin("MPI_File_iread_c", fh, a, datatype, request);
}
API_ALIAS(MPI_File_iread_c);

int PMPI_File_iread_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                          MPI_Request *request)
{
    struct io_args a = {.where = IO_INDIVIDUAL, .collective = 1, .buf = buf, .count = count};
    return file_begin("MPI_File_iread_all_c", fh, a, datatype, request);
}
API_ALIAS(MPI_File_iread_all_c);

int PMPI_File_iread_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                         MPI_Datatype datatype, MPI_Request *request)
{
    struct io_args a = {.where = IO_AT, .offset = offset, .buf = buf, .count = count};
    return file_begin("MPI_File_iread_at_c", fh, a, datatype, request);
}
API_ALIAS(MPI_File_iread_at_c);

int PMPI_File_iread_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Request *request)
{
    struct io_args a = {.where = IO_AT, .collective = 1, .offset = offset, .buf = buf,
                        .count = count};
    return file_begin("MPI_File_iread_at_all_c", fh, a, datatype, request);
}
API_ALIAS(MPI_File_iread_at_all_c);

int PMPI_File_iread_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Request *request)
{
    struct io_args a = {.where = IO_SHARED, .buf = buf, .count = count};
    return file_begin("MPI_File_iread_shared_c", fh, a, datatype, request);
}
API_ALIAS(MPI_File_iread_shared_c);

int PMPI_File_read_all_begin_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype)
{
    struct io_args a = {.where = IO_INDIVIDUAL, .collective = 1, .buf = buf, .count = count};
    return file_split_begin("MPI_File_read_all_begin_c", fh, a, datatype);
}
API_ALIAS(MPI_File_read_all_begin_c);

int PMPI_File_read_at_all_begin_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                                  MPI_Datatype datatype)
{
    struct io_args a = {.where = IO_AT, .collective = 1, .offset = offset, .buf = buf,
                        .count = count};
    return file_split_begin("MPI_File_read_at_all_begin_c", fh, a, datatype);
}
API_ALIAS(MPI_File_read_at_all_begin_c);

int PMPI_File_read_ordered_begin_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype)
{
    struct io_args a = {.where = IO_ORDERED, .collective = 1, .buf = buf, .count = count};
    return file_split_begin("MPI_File_read_ordered_begin_c", fh, a, datatype);
}
API_ALIAS(MPI_File_read_ordered_begin_c);
