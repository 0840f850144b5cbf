/* write.c - files: writing data (MPI-3.1 13.4). */
#include "api/io/filecall.h"

int PMPI_File_write(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                    MPI_Status *status)
{
    return file_access("MPI_File_write", fh, WRITE(IO_INDIVIDUAL, 0, buf, count), datatype, status);
}
API_ALIAS(MPI_File_write);

int PMPI_File_write_all(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                        MPI_Status *status)
{
    return file_access("MPI_File_write_all", fh, WRITE_ALL(IO_INDIVIDUAL, 0, buf, count), datatype,
                       status);
}
API_ALIAS(MPI_File_write_all);

int PMPI_File_write_at(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                       MPI_Datatype datatype, MPI_Status *status)
{
    return file_access("MPI_File_write_at", fh, WRITE(IO_AT, offset, buf, count), datatype, status);
}
API_ALIAS(MPI_File_write_at);

int PMPI_File_write_at_all(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                           MPI_Datatype datatype, MPI_Status *status)
{
    return file_access("MPI_File_write_at_all", fh, WRITE_ALL(IO_AT, offset, buf, count), datatype,
                       status);
}
API_ALIAS(MPI_File_write_at_all);

int PMPI_File_write_shared(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                           MPI_Status *status)
{
    return file_access("MPI_File_write_shared", fh, WRITE(IO_SHARED, 0, buf, count), datatype,
                       status);
}
API_ALIAS(MPI_File_write_shared);

int PMPI_File_write_ordered(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                            MPI_Status *status)
{
    return file_access("MPI_File_write_ordered", fh, WRITE_ALL(IO_ORDERED, 0, buf, count), datatype,
                       status);
}
API_ALIAS(MPI_File_write_ordered);

int PMPI_File_iwrite(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                     MPI_Request *request)
{
    return file_begin("MPI_File_iwrite", fh, WRITE(IO_INDIVIDUAL, 0, buf, count), datatype,
                      request);
}
API_ALIAS(MPI_File_iwrite);

int PMPI_File_iwrite_all(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                         MPI_Request *request)
{
    return file_begin("MPI_File_iwrite_all", fh, WRITE_ALL(IO_INDIVIDUAL, 0, buf, count), datatype,
                      request);
}
API_ALIAS(MPI_File_iwrite_all);

int PMPI_File_iwrite_at(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                        MPI_Datatype datatype, MPI_Request *request)
{
    return file_begin("MPI_File_iwrite_at", fh, WRITE(IO_AT, offset, buf, count), datatype,
                      request);
}
API_ALIAS(MPI_File_iwrite_at);

int PMPI_File_iwrite_at_all(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                            MPI_Datatype datatype, MPI_Request *request)
{
    return file_begin("MPI_File_iwrite_at_all", fh, WRITE_ALL(IO_AT, offset, buf, count), datatype,
                      request);
}
API_ALIAS(MPI_File_iwrite_at_all);

int PMPI_File_iwrite_shared(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                            MPI_Request *request)
{
    return file_begin("MPI_File_iwrite_shared", fh, WRITE(IO_SHARED, 0, buf, count), datatype,
                      request);
}
API_ALIAS(MPI_File_iwrite_shared);

int PMPI_File_write_all_begin(MPI_File fh, const void *buf, int count, MPI_Datatype datatype)
{
    return file_split_begin("MPI_File_write_all_begin", fh, WRITE_ALL(IO_INDIVIDUAL, 0, buf, count),
                            datatype);
}
API_ALIAS(MPI_File_write_all_begin);

int PMPI_File_write_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    (void)buf;
    return file_split_end("MPI_File_write_all_end", fh, WRITE_ALL(IO_INDIVIDUAL, 0, NULL, 0),
                          status);
}
API_ALIAS(MPI_File_write_all_end);

int PMPI_File_write_at_all_begin(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                                 MPI_Datatype datatype)
{
    return file_split_begin("MPI_File_write_at_all_begin", fh, WRITE_ALL(IO_AT, offset, buf, count),
                            datatype);
}
API_ALIAS(MPI_File_write_at_all_begin);

int PMPI_File_write_at_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    (void)buf;
    return file_split_end("MPI_File_write_at_all_end", fh, WRITE_ALL(IO_AT, 0, NULL, 0), status);
}
API_ALIAS(MPI_File_write_at_all_end);

int PMPI_File_write_ordered_begin(MPI_File fh, const void *buf, int count, MPI_Datatype datatype)
{
    return file_split_begin("MPI_File_write_ordered_begin", fh,
                            WRITE_ALL(IO_ORDERED, 0, buf, count), datatype);
}
API_ALIAS(MPI_File_write_ordered_begin);

int PMPI_File_write_ordered_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    (void)buf;
    return file_split_end("MPI_File_write_ordered_end", fh, WRITE_ALL(IO_ORDERED, 0, NULL, 0),
                          status);
}
API_ALIAS(MPI_File_write_ordered_end);

int PMPI_File_write_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Status *status)
{
    return file_access("MPI_File_write_c", fh, WRITE(IO_INDIVIDUAL, 0, buf, count), datatype,
                       status);
}
API_ALIAS(MPI_File_write_c);

int PMPI_File_write_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                          MPI_Status *status)
{
    return file_access("MPI_File_write_all_c", fh, WRITE_ALL(IO_INDIVIDUAL, 0, buf, count),
                       datatype, status);
}
API_ALIAS(MPI_File_write_all_c);

int PMPI_File_write_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                         MPI_Datatype datatype, MPI_Status *status)
{
    return file_access("MPI_File_write_at_c", fh, WRITE(IO_AT, offset, buf, count), datatype,
                       status);
}
API_ALIAS(MPI_File_write_at_c);

int PMPI_File_write_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Status *status)
{
    return file_access("MPI_File_write_at_all_c", fh, WRITE_ALL(IO_AT, offset, buf, count),
                       datatype, status);
}
API_ALIAS(MPI_File_write_at_all_c);

int PMPI_File_write_shared_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Status *status)
{
    return file_access("MPI_File_write_shared_c", fh, WRITE(IO_SHARED, 0, buf, count), datatype,
                       status);
}
API_ALIAS(MPI_File_write_shared_c);

int PMPI_File_write_ordered_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                              MPI_Status *status)
{
    return file_access("MPI_File_write_ordered_c", fh, WRITE_ALL(IO_ORDERED, 0, buf, count),
                       datatype, status);
}
API_ALIAS(MPI_File_write_ordered_c);

int PMPI_File_iwrite_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Request *request)
{
    return file_begin("MPI_File_iwrite_c", fh, WRITE(IO_INDIVIDUAL, 0, buf, count), datatype,
                      request);
}
API_ALIAS(MPI_File_iwrite_c);

int PMPI_File_iwrite_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Request *request)
{
    return file_begin("MPI_File_iwrite_all_c", fh, WRITE_ALL(IO_INDIVIDUAL, 0, buf, count),
                      datatype, request);
}
API_ALIAS(MPI_File_iwrite_all_c);

int PMPI_File_iwrite_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                          MPI_Datatype datatype, MPI_Request *request)
{
    return file_begin("MPI_File_iwrite_at_c", fh, WRITE(IO_AT, offset, buf, count), datatype,
                      request);
}
API_ALIAS(MPI_File_iwrite_at_c);

int PMPI_File_iwrite_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                              MPI_Datatype datatype, MPI_Request *request)
{
    return file_begin("MPI_File_iwrite_at_all_c", fh, WRITE_ALL(IO_AT, offset, buf, count),
                      datatype, request);
}
API_ALIAS(MPI_File_iwrite_at_all_c);

int PMPI_File_iwrite_shared_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                              MPI_Request *request)
{
    return file_begin("MPI_File_iwrite_shared_c", fh, WRITE(IO_SHARED, 0, buf, count), datatype,
                      request);
}
API_ALIAS(MPI_File_iwrite_shared_c);

int PMPI_File_write_all_begin_c(MPI_File fh, const void *buf, MPI_Count count,
                                MPI_Datatype datatype)
{
    return file_split_begin("MPI_File_write_all_begin_c", fh,
                            WRITE_ALL(IO_INDIVIDUAL, 0, buf, count), datatype);
}
API_ALIAS(MPI_File_write_all_begin_c);

int PMPI_File_write_at_all_begin_c(MPI_File fh, MPI_Offset offset, const void *buf,
                                   MPI_Count count, MPI_Datatype datatype)
{
    return file_split_begin("MPI_File_write_at_all_begin_c", fh,
                            WRITE_ALL(IO_AT, offset, buf, count), datatype);
}
API_ALIAS(MPI_File_write_at_all_begin_c);

int PMPI_File_write_ordered_begin_c(MPI_File fh, const void *buf, MPI_Count count,
                                    MPI_Datatype datatype)
{
    return file_split_begin("MPI_File_write_ordered_begin_c", fh,
                            WRITE_ALL(IO_ORDERED, 0, buf, count), datatype);
}
API_ALIAS(MPI_File_write_ordered_begin_c);
