/* filecall.h - what the calls that move data of files share. */
#ifndef API_IO_FILECALL_H
#define API_IO_FILECALL_H

#include "api/api.h"
#include "io/io.h"

/* What differs between the calls: the place, the offset of IO_AT, and the memory; ..._ALL:
 * collective. */
#define READ(where_, offset_, buf_, count_)                                                        \
    ((struct io_args){.where = where_, .offset = offset_, .buf = buf_, .count = count_})
#define READ_ALL(where_, offset_, buf_, count_)                                                    \
    ((struct io_args){                                                                             \
        .where = where_, .collective = 1, .offset = offset_, .buf = buf_, .count = count_})
#define WRITE(where_, offset_, buf_, count_)                                                       \
    ((struct io_args){.where = where_, .write = 1, .offset = offset_,                              \
                      .buf = (void *)(uintptr_t)(buf_), .count = count_})
#define WRITE_ALL(where_, offset_, buf_, count_)                                                   \
    ((struct io_args){.where = where_, .write = 1, .collective = 1, .offset = offset_,             \
                      .buf = (void *)(uintptr_t)(buf_), .count = count_})

/* A whole MPI call; file and type are filled in here. */
#define file_access(...) file_access_at(__builtin_return_address(0), __VA_ARGS__)
#define file_begin(...) file_begin_at(__builtin_return_address(0), __VA_ARGS__)
#define file_split_begin(...) file_split_begin_at(__builtin_return_address(0), __VA_ARGS__)
#define file_split_end(...) file_split_end_at(__builtin_return_address(0), __VA_ARGS__)
int file_access_at(const void *site, const char *call, MPI_File fh, struct io_args a,
                   MPI_Datatype t, MPI_Status *st);
int file_begin_at(const void *site, const char *call, MPI_File fh, struct io_args a,
                  MPI_Datatype t, MPI_Request *req);
int file_split_begin_at(const void *site, const char *call, MPI_File fh, struct io_args a,
                        MPI_Datatype t);
int file_split_end_at(const void *site, const char *call, MPI_File fh, struct io_args a,
                      MPI_Status *st);

#endif
