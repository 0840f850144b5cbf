/* read.c - files: reading data (MPI-3.1 13.4). */
#include "api/io/filecall.h"

int PMPI_File_read(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    return file_access("MPI_File_read", fh, READ(IO_INDIVIDUAL, 0, buf, count), datatype, status);
}
API_ALIAS(MPI_File_read);

int PMPI_File_read_all(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                       MPI_Status *status)
{
    return file_access("MPI_File_read_all", fh, READ_ALL(IO_INDIVIDUAL, 0, buf, count), datatype,
                       status);
}
API_ALIAS(MPI_File_read_all);

int PMPI_File_read_at(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
                      MPI_Status *status)
{
    return file_access("MPI_File_read_at", fh, READ(IO_AT, offset, buf, count), datatype, status);
}
API_ALIAS(MPI_File_read_at);

int PMPI_File_read_at_all(MPI_File fh, MPI_Offset offset, void *buf, int count,
                          MPI_Datatype datatype, MPI_Status *status)
{
    return file_access("MPI_File_read_at_all", fh, READ_ALL(IO_AT, offset, buf, count), datatype,
                       status);
}
API_ALIAS(MPI_File_read_at_all);

int PMPI_File_read_shared(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                          MPI_Status *status)
{
    return file_access("MPI_File_read_shared", fh, READ(IO_SHARED, 0, buf, count), datatype,
                       status);
}
API_ALIAS(MPI_File_read_shared);

int PMPI_File_read_ordered(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                           MPI_Status *status)
{
    return file_access("MPI_File_read_ordered", fh, READ_ALL(IO_ORDERED, 0, buf, count), datatype,
                       status);
}
API_ALIAS(MPI_File_read_ordered);

int PMPI_File_iread(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    return file_begin("MPI_File_iread", fh, READ(IO_INDIVIDUAL, 0, buf, count), datatype, request);
}
API_ALIAS(MPI_File_iread);

int PMPI_File_iread_all(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                        MPI_Request *request)
{
    return file_begin("MPI_File_iread_all", fh, READ_ALL(IO_INDIVIDUAL, 0, buf, count), datatype,
                      request);
}
API_ALIAS(MPI_File_iread_all);

int PMPI_File_iread_at(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
                       MPI_Request *request)
{
    return file_begin("MPI_File_iread_at", fh, READ(IO_AT, offset, buf, count), datatype, request);
}
API_ALIAS(MPI_File_iread_at);

int PMPI_File_iread_at_all(MPI_File fh, MPI_Offset offset, void *buf, int count,
                           MPI_Datatype datatype, MPI_Request *request)
{
    return file_begin("MPI_File_iread_at_all", fh, READ_ALL(IO_AT, offset, buf, count), datatype,
                      request);
}
API_ALIAS(MPI_File_iread_at_all);

int PMPI_File_iread_shared(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                           MPI_Request *request)
{
    return file_begin("MPI_File_iread_shared", fh, READ(IO_SHARED, 0, buf, count), datatype,
                      request);
}
API_ALIAS(MPI_File_iread_shared);

int PMPI_File_read_all_begin(MPI_File fh, void *buf, int count, MPI_Datatype datatype)
{
    return file_split_begin("MPI_File_read_all_begin", fh, READ_ALL(IO_INDIVIDUAL, 0, buf, count),
                            datatype);
}
API_ALIAS(MPI_File_read_all_begin);

int PMPI_File_read_all_end(MPI_File fh, void *buf, MPI_Status *status)
{
    (void)buf;
    return file_split_end("MPI_File_read_all_end", fh, READ_ALL(IO_INDIVIDUAL, 0, NULL, 0), status);
}
API_ALIAS(MPI_File_read_all_end);

int PMPI_File_read_at_all_begin(MPI_File fh, MPI_Offset offset, void *buf, int count,
                                MPI_Datatype datatype)
{
    return file_split_begin("MPI_File_read_at_all_begin", fh, READ_ALL(IO_AT, offset, buf, count),
                            datatype);
}
API_ALIAS(MPI_File_read_at_all_begin);

int PMPI_File_read_at_all_end(MPI_File fh, void *buf, MPI_Status *status)
{
    (void)buf;
    return file_split_end("MPI_File_read_at_all_end", fh, READ_ALL(IO_AT, 0, NULL, 0), status);
}
API_ALIAS(MPI_File_read_at_all_end);

int PMPI_File_read_ordered_begin(MPI_File fh, void *buf, int count, MPI_Datatype datatype)
{
    return file_split_begin("MPI_File_read_ordered_begin", fh, READ_ALL(IO_ORDERED, 0, buf, count),
                            datatype);
}
API_ALIAS(MPI_File_read_ordered_begin);

int PMPI_File_read_ordered_end(MPI_File fh, void *buf, MPI_Status *status)
{
    (void)buf;
    return file_split_end("MPI_File_read_ordered_end", fh, READ_ALL(IO_ORDERED, 0, NULL, 0),
                          status);
}
API_ALIAS(MPI_File_read_ordered_end);

int PMPI_File_read_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Status *status)
{
    return file_access("MPI_File_read_c", fh, READ(IO_INDIVIDUAL, 0, buf, count), datatype, status);
}
API_ALIAS(MPI_File_read_c);

int PMPI_File_read_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Status *status)
{
    return file_access("MPI_File_read_all_c", fh, READ_ALL(IO_INDIVIDUAL, 0, buf, count), datatype,
                       status);
}
API_ALIAS(MPI_File_read_all_c);

int PMPI_File_read_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                        MPI_Datatype datatype, MPI_Status *status)
{
    return file_access("MPI_File_read_at_c", fh, READ(IO_AT, offset, buf, count), datatype, status);
}
API_ALIAS(MPI_File_read_at_c);

int PMPI_File_read_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                            MPI_Datatype datatype, MPI_Status *status)
{
    return file_access("MPI_File_read_at_all_c", fh, READ_ALL(IO_AT, offset, buf, count), datatype,
                       status);
}
API_ALIAS(MPI_File_read_at_all_c);

int PMPI_File_read_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Status *status)
{
    return file_access("MPI_File_read_shared_c", fh, READ(IO_SHARED, 0, buf, count), datatype,
                       status);
}
API_ALIAS(MPI_File_read_shared_c);

int PMPI_File_read_ordered_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Status *status)
{
    return file_access("MPI_File_read_ordered_c", fh, READ_ALL(IO_ORDERED, 0, buf, count), datatype,
                       status);
}
API_ALIAS(MPI_File_read_ordered_c);

int PMPI_File_iread_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Request *request)
{
    return file_begin("MPI_File_iread_c", fh, READ(IO_INDIVIDUAL, 0, buf, count), datatype,
                      request);
}
API_ALIAS(MPI_File_iread_c);

int PMPI_File_iread_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                          MPI_Request *request)
{
    return file_begin("MPI_File_iread_all_c", fh, READ_ALL(IO_INDIVIDUAL, 0, buf, count), datatype,
                      request);
}
API_ALIAS(MPI_File_iread_all_c);

int PMPI_File_iread_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                         MPI_Datatype datatype, MPI_Request *request)
{
    return file_begin("MPI_File_iread_at_c", fh, READ(IO_AT, offset, buf, count), datatype,
                      request);
}
API_ALIAS(MPI_File_iread_at_c);

int PMPI_File_iread_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Request *request)
{
    return file_begin("MPI_File_iread_at_all_c", fh, READ_ALL(IO_AT, offset, buf, count), datatype,
                      request);
}
API_ALIAS(MPI_File_iread_at_all_c);

int PMPI_File_iread_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Request *request)
{
    return file_begin("MPI_File_iread_shared_c", fh, READ(IO_SHARED, 0, buf, count), datatype,
                      request);
}
API_ALIAS(MPI_File_iread_shared_c);

int PMPI_File_read_all_begin_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype)
{
    return file_split_begin("MPI_File_read_all_begin_c", fh, READ_ALL(IO_INDIVIDUAL, 0, buf, count),
                            datatype);
}
API_ALIAS(MPI_File_read_all_begin_c);

int PMPI_File_read_at_all_begin_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                                  MPI_Datatype datatype)
{
    return file_split_begin("MPI_File_read_at_all_begin_c", fh, READ_ALL(IO_AT, offset, buf, count),
                            datatype);
}
API_ALIAS(MPI_File_read_at_all_begin_c);

int PMPI_File_read_ordered_begin_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype)
{
    return file_split_begin("MPI_File_read_ordered_begin_c", fh,
                            READ_ALL(IO_ORDERED, 0, buf, count), datatype);
}
API_ALIAS(MPI_File_read_ordered_begin_c);
