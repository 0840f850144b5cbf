/* io.h - files (MPI-3.1 13): the contract for api/.
 *
 *   io_open --> struct io_file --- view: which bytes of the file, in which order
 *                    |
 *   io_access -- view, memory layout --> struct transfer --> preadv, pwritev       (posix.c)
 *          \---- collective, interleaved --> windows of the aggregators --> file   (two_phase.c)
 *
 * The caller has checked handles, counts and buffers. All functions return MPI error codes and are
 * called under proc->lock. Those that are collective agree on their errors, so that no process
 * waits for one that has given up. Start with io_access() and doc/design/io.md. */
#ifndef IO_IO_H
#define IO_IO_H

#include <mpi.h>
#include <stdint.h>

#include "obj/comm.h"
#include "obj/request.h"

struct io_file; /* begins with struct obj (kind OBJ_FILE) */
struct dt_type;
struct errhandler;
struct info;

int io_init(void); /* 0 or -errno */
void io_finalize(void);
/* At the begin of MPI_Finalize: one line for each file that is still open. */
void io_ending(void);

/* --- files --------------------------------------------------------------------
 * open: collective over c; AMODE, NOT_SAME, BAD_FILE and the classes of io_errno(). */
int io_open(struct comm *c, const char *name, int amode, struct info *info, struct errhandler *eh,
            struct io_file **out);
/* An argument of a collective call is wrong; err is the error. The other processes, which are in
 * io_open, io_set_view or io_set_info, get the error too. Returns err. */
int io_refuse_open(struct comm *c, int amode, int err);
int io_refuse(struct io_file *f, int err);
int io_close(struct io_file *f);     /* collective, of a revoked file too */
/* All calls on f end with MPIX_ERR_REVOKED, here at once, at the other members when they get to
 * know of it. Local. Calls that may be made on it: those that do not communicate, io_close(). */
void io_revoke(struct io_file *f);
int io_is_revoked(const struct io_file *f);
int io_delete(const char *name);
int io_set_size(struct io_file *f, int64_t size);    /* collective */
int io_preallocate(struct io_file *f, int64_t size); /* collective */
int io_size(struct io_file *f, int64_t *size);
int io_sync(struct io_file *f);                      /* collective */
int io_set_atomicity(struct io_file *f, int flag);   /* collective */
int io_atomicity(const struct io_file *f);
int io_amode(const struct io_file *f);
struct comm *io_comm(const struct io_file *f);
struct errhandler **io_errhandler(struct io_file *f);
int io_set_info(struct io_file *f, struct info *info); /* collective */
/* The hints in effect, for the caller to drop. NULL: no memory. */
struct info *io_info(const struct io_file *f);

/* --- views and positions --------------------------------------------------------
 * Positions count etypes of the view. */
int io_set_view(struct io_file *f, int64_t disp, struct dt_type *etype, struct dt_type *filetype,
                const char *datarep, struct info *info); /* collective */
void io_view(const struct io_file *f, int64_t *disp, struct dt_type **etype,
             struct dt_type **filetype, const char **datarep);
int io_seek(struct io_file *f, int64_t offset, int whence);
int io_position(const struct io_file *f, int64_t *offset);
int io_seek_shared(struct io_file *f, int64_t offset, int whence); /* collective */
int io_position_shared(struct io_file *f, int64_t *offset);
int io_byte_offset(const struct io_file *f, int64_t offset, int64_t *disp);
int io_type_extent(const struct io_file *f, struct dt_type *t, int64_t *extent);

/* --- data representations ----------------------------------------------------------
 * large: read and write are functions of MPI_Register_datarep_c. */
struct io_datarep {
    void *read, *write; /* NULL: no conversion */
    MPI_Datarep_extent_function *extent;
    void *extra;
    int large;
};
int io_register_datarep(const char *name, const struct io_datarep *d);

/* --- access ------------------------------------------------------------------------- */
enum io_where { IO_AT, IO_INDIVIDUAL, IO_SHARED, IO_ORDERED };
struct io_args {
    struct io_file *f;
    enum io_where where;
    int write, collective;
    int64_t offset; /* IO_AT */
    void *buf;      /* read from by writes */
    int64_t count;
    struct dt_type *t;
    int err; /* not 0: an argument is wrong, the rest is not looked at; the others hear of it */
};
/* st may be NULL or MPI_STATUS_IGNORE. */
int io_access(const struct io_args *a, MPI_Status *st);
int io_begin(const struct io_args *a, MPI_Request *req); /* nonblocking */
/* Split collectives: one at a time for each file. */
int io_split_begin(const struct io_args *a);
int io_split_end(const struct io_args *a, MPI_Status *st);

#endif
