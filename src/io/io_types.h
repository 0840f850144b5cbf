/* io_types.h - private to io/: the record of a file, its view, one transfer, the room. */
#ifndef IO_IO_TYPES_H
#define IO_IO_TYPES_H

#include "base/list.h"
#include "base/lock.h"
#include "base/proc.h"
#include "base/sched.h"
#include "dt/dt.h"
#include "io/io.h"
#include "obj/attr.h"
#include "obj/err.h"
#include "obj/errhandler.h"
#include "progress/progress.h"
#include "var/var.h"

/* How numbers stand in the file. */
enum rep_kind { REP_NATIVE, REP_EXTERNAL32, REP_USER };
struct rep {
    struct list link; /* of the registered ones */
    enum rep_kind kind;
    struct io_datarep user;
    char name[MPI_MAX_DATAREP_STRING + 1];
};

/* Sizes are bytes of the file: they differ from those of memory where the representation does. */
struct view {
    int64_t disp;
    struct dt_type *etype, *filetype; /* referenced */
    const struct rep *rep;
    int64_t esize, fsize; /* bytes of data in one etype, one filetype; fsize 0: no data */
    int contig;           /* the data are one block from disp + filetype->true_lb on */
    int ascending;        /* no byte of a filetype lies before an earlier one ... */
    int tiles_ascend;     /* ... nor before one of the filetype in front of it */
    uint64_t bits;        /* of all displacements and lengths (dt_order) */
};

/* --- posix.c: moving bytes between a memory layout and a file layout -----------------
 * A transfer uses nothing of the process but what it names, so a worker may run it without
 * proc->lock. */
struct transfer {
    int fd, write;
    int sieve;   /* it may take what lies between the blocks with them */
    int lock;    /* atomic mode: the range is locked in the file, and `mutex` within the process */
    int guard;   /* else a write locks what it writes, in the same way (sharing.c) */
    struct lock *mutex;
    struct io_file *file;  /* whose failed members end the wait for a lock ... */
    struct io_away *away;  /* ... in which the thread of the call makes progress; NULL: a worker */
    const struct dt_type *mtype, *ftype;
    size_t mcount;
    char *buf;
    int64_t disp, from; /* bytes of the view's data before the first one */
    size_t len;
    int contig;
    size_t done; /* result: bytes that were moved, in order; fewer than len: end of the file */
    int err;     /* errno; 0: none */
    int64_t at;  /* offset in the file where it happened */
    uint64_t calls, moved, locks; /* system calls, bytes of these, locks */
    uint64_t ns;                  /* in the file system */
};
void transfer_run(struct transfer *x);
/* All of len at off; what is missing is behind the end of the file. Bytes moved. */
size_t posix_block(struct transfer *x, int64_t off, char *p, size_t len);
/* ranges.c: locks of [from, to), among threads and processes. 0: x->err says why not: the file
 * system refuses it, or a process of the file has failed and the lock does not come. */
int range_hold(struct transfer *x, int type, int64_t from, int64_t to);
void range_release(struct transfer *x, int64_t from, int64_t to);
/* Blocks of the file that hold bytes [from, from + len) of the data of the view, by offset. */
size_t view_blocks(const struct dt_type *ftype, int64_t disp, int64_t from, size_t len,
                   struct iovec *iov, size_t max, size_t *bytes);

/* --- a file ---------------------------------------------------------------------------- */
enum stat_id {
    STAT_CALLS, STAT_ASKED, STAT_MOVED, STAT_SYSTEM, STAT_ROUNDS, STAT_LOCKS, STAT_NS, STATS
};

enum choice { CHOICE_AUTO, CHOICE_YES, CHOICE_NO };
struct hints {
    int cb_nodes;            /* aggregators */
    int64_t cb_buffer_size;
    enum choice cb_read, cb_write, ds_read, ds_write;
    int64_t striping_unit;   /* alignment of the aggregators' domains */
    int file_perm;           /* -1: not given */
};

struct shared_pointer;
struct two_phase;

struct io_file {
    struct obj obj;
    struct list link; /* of the room */
    struct comm *comm;
    char *name;
    int fd, amode, atomic;
    int revoked;       /* only local calls, and io_close() */
    int hosts;         /* of the processes */
    int guard;         /* each write locks its range ... */
    int gaps;          /* ... and may take the gaps between blocks with it */
    int caches;        /* other hosts may have old data cached after a write */
    struct view view;
    int64_t position; /* in etypes */
    struct hints hints;
    struct info *info; /* as the program gave it */
    struct errhandler *errhandler;
    struct rma_win *pointer_win; /* shared pointer; NULL: one process */
    int64_t pointer;             /* of one process */
    struct two_phase *phases;    /* NULL: not used yet */
    struct comm *aside;          /* of nonblocking collective accesses; NULL: one process */
    int aside_ended;             /* ... class of the error after which none is begun; or 0 */
    struct list later;           /* ... which begin in the order of their calls */
    struct lock mutex;           /* of transfers that lock, within this process */
    atomic_int asking;           /* accesses that wait for a lock of a range ... */
    atomic_int lost;             /* ... and why they should not for ever (enum lost) */
    int pending;                 /* nonblocking accesses under way */
    const char *split;           /* split collective under way: the call that ends it; or NULL */
    int split_error;
    MPI_Status split_status;
    uint64_t stat[STATS];
};

struct pool;
struct io_room {
    struct list files, reps;
    struct rep native, internal, external32;
    struct pool *pool; /* of threads; NULL: not used yet */
    struct list later;          /* nonblocking collective accesses that are under way ... */
    struct progress_hook later_hook; /* ... and what drives them */
};
static inline struct io_room *io_self(void)
{
    return proc->io;
}

static inline const char *io_call(void)
{
    return proc->call ? proc->call : "MPI-IO";
}

/* errors.c */
/* "FILE: what": class by errno. */
int io_errno(int e, const char *name, const char *what);
void io_count(struct io_file *f, enum stat_id id, uint64_t n);
int io_no_split(const struct io_file *f);
/* steps.c: steps that all processes of c take. An error is returned that the others have, too; one
 * of this process alone ends the job. */
int io_may_meet(const struct comm *c); /* before each: MPIX_ERR_REVOKED */
int io_step(const struct comm *c, int err); /* err: what the step has returned. Returns it */
int io_allreduce(int64_t *v, int n, struct comm *c); /* the largest values */
int io_bcast(int64_t *v, int n, int root, struct comm *c);
int io_agree(int err, struct comm *c); /* err: own error. An error of one is one of all */
/* The same number on all processes? NOT_SAME names the argument. */
int io_same(struct io_file *f, int64_t v, const char *arg, int err);
/* sharing.c: what the open file needs. Collective; err: own error, which is one of all. */
int sharing_find(struct io_file *f, int err);
int sharing_atomic(struct io_file *f, int flag, int err); /* may it be set? */
void sharing_sync(const struct io_file *f);
/* ranges.c: what ends the waits of workers for locks: failed processes, looked for in each turn of
 * progress; the end of the program. */
enum lost { LOST_NONE, LOST_MEMBER, LOST_ALL };
void range_look(void);
void range_end(void);
/* hints.c */
int hints_hosts(const struct comm *c);
void hints_default(struct hints *h, const struct comm *c);
int hints_take(struct io_file *f, struct info *info);
/* view.c */
int view_default(struct io_file *f);
void view_drop(struct view *v);
int view_check_range(const struct io_file *f, int64_t offset, int64_t bytes);
/* Offset in the file of a byte of the view's data. */
int64_t view_offset(const struct view *v, int64_t from);
/* datarep.c */
const struct rep *rep_find(const char *name);
int rep_size(const struct rep *r, const struct dt_type *t, int64_t count, int64_t *bytes);
int rep_write(const struct io_args *a, void *out);
int rep_read(const struct io_args *a, const void *in, size_t got, size_t *memory);
/* The process is in the file system: its other threads may be in MPI meanwhile. */
struct io_away {
    int threaded;
    unsigned depth; /* of proc->lock */
    const char *call;
    uint64_t since;
};
static inline struct io_away io_leave(void)
{
    struct io_away a = {.threaded = proc->threaded, .call = proc->call, .since = time_now()};
    if (a.threaded)
        a.depth = lock_drop(&proc->lock);
    return a;
}
/* x: whose time it was; NULL: of none. */
static inline void io_return(const struct io_away *a, struct transfer *x)
{
    if (x)
        x->ns += time_now() - a->since;
    if (a->threaded) {
        lock_retake(&proc->lock, a->depth);
        proc->call = a->call;
    }
}

/* access.c */
struct access { /* one access on its way */
    struct io_args a;
    struct transfer x;
    struct dt_type *ftype;
    char *converted; /* the data as they stand in the file; NULL: no conversion */
    int64_t etypes;  /* asked for */
};
int access_check(const struct io_args *a, size_t *bytes);
int access_prepare(struct access *c, const struct io_args *a, int64_t offset, size_t bytes);
/* After the transfer: conversion, status, counters. */
int access_finish(struct access *c, MPI_Status *st);
/* file_revoked.c */
void revoked_comm(struct comm *c); /* upcall of obj/ */
/* How a window of a file ends: MPI_File_close waits for those that live, all else is
 * rma_win_give_up(). */
typedef void io_win_end(struct rma_win *w);
/* shared.c */
int shared_make(struct io_file *f);
void shared_free(struct io_file *f, io_win_end *end);
int shared_add(struct io_file *f, int64_t n, int64_t *old);
int shared_set(struct io_file *f, int64_t v); /* by rank 0 alone */
int shared_ordered(struct io_file *f, int64_t n, int64_t *mine);
/* Where an access begins, in etypes. Shared pointers move on by all that was asked for. Not for
 * ordered ones. */
int access_where(const struct io_args *a, int64_t etypes, int64_t *offset);
/* workers.c: work for a thread. run() uses nothing of the process; done() is called by the progress
 * engine, or by job_start() where there are no threads. */
struct job {
    struct list link;
    void (*run)(struct job *j);
    void (*done)(struct job *j);
};
void job_start(struct job *j);
void pool_free(void);
/* access_request.c */
struct io_request {
    struct request r;
    struct access c;
    struct job job; /* the whole access, where it is independent */
    int handle;     /* of the file, for its error handler */
    int silent;     /* the call has returned its error, and this takes part for the others' sake */
    struct errhandler *errhandler;
};
/* size: of a record that begins with struct io_request. The request is not published. NULL: no
 * memory. */
struct io_request *io_request_make(const struct io_args *a, size_t size);
/* One that is not under way, with what access_prepare() made. */
void io_request_drop(struct io_request *q);
/* The access has ended, with an error of its own or with that of its transfer. */
void io_request_end(struct io_request *q, int err);
/* Transfers the data in a thread, then ends. */
void io_request_alone(struct io_request *q);

/* nonblocking.c */
/* A collective access of several processes; err: an argument is wrong, *req is then none. Returns
 * that error, or none. */
int later_begin(const struct io_args *a, int err, int64_t offset, size_t bytes, MPI_Request *req);
void later_free(void);
/* two_phase.c */
struct rma_win *two_phase_win(const struct io_file *f); /* of the buffers; NULL: none */
/* Moves the data if that is better than independent access; *done is set. Collective. */
int two_phase_access(struct access *c, int err, int *done);
void two_phase_free(struct io_file *f, io_win_end *end);

#endif
