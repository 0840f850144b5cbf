/* filecall.h - what the calls that move data of files share. */
#ifndef API_IO_FILECALL_H
#define API_IO_FILECALL_H

#include "api/api.h"
#include "io/io.h"

/* A whole MPI call. a: what differs between them; file and type are filled in here. */
int file_access(const char *call, MPI_File fh, struct io_args a, MPI_Datatype t, MPI_Status *st);
int file_begin(const char *call, MPI_File fh, struct io_args a, MPI_Datatype t, MPI_Request *req);
int file_split_begin(const char *call, MPI_File fh, struct io_args a, MPI_Datatype t);
int file_split_end(const char *call, MPI_File fh, struct io_args a, MPI_Status *st);

#endif
