/* file.c - files: open, close, sync, atomic mode; the room. Start with io_open(). */
#include "io/io_types.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "coll/coll.h"
#include "coll/survive.h"
#include "rma/rma.h"
#include "watch/watch.h"

/* --- open ------------------------------------------------------------------------------------- */
static int amode_check(int amode)
{
    int known = MPI_MODE_CREATE | MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR |
                MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN | MPI_MODE_EXCL | MPI_MODE_APPEND |
                MPI_MODE_SEQUENTIAL;
    int kinds = !!(amode & MPI_MODE_RDONLY) + !!(amode & MPI_MODE_WRONLY) +
                !!(amode & MPI_MODE_RDWR);
    const char *why = NULL;
    if (amode & ~known)
        why = "unknown bits";
    else if (kinds != 1)
        why = "one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR is needed";
    else if ((amode & MPI_MODE_RDONLY) && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)))
        why = "MPI_MODE_CREATE and MPI_MODE_EXCL do not go with MPI_MODE_RDONLY";
    else if ((amode & MPI_MODE_RDWR) && (amode & MPI_MODE_SEQUENTIAL))
        why = "MPI_MODE_SEQUENTIAL does not go with MPI_MODE_RDWR";
    return why ? err_make(MPI_ERR_AMODE, "%s: amode %d: %s", io_call(), amode, why) : MPI_SUCCESS;
}

/* Names may begin with the kind of a file system, "ufs:": MPICH's programs have such names. */
static const char *bare_name(const char *name)
{
    static const char *const kinds[] = {"ufs:", "nfs:", "xfs:", "lustre:", "gpfs:", "testfs:"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(name, kinds[i], strlen(kinds[i])))
            return name + strlen(kinds[i]);
    return name;
}

static int name_check(const char *name)
{
    if (!name || !*bare_name(name))
        return err_make(MPI_ERR_BAD_FILE, "%s: the file name is %s", io_call(),
                        name ? "empty" : "a null pointer");
    return MPI_SUCCESS;
}

static int open_here(struct io_file *f, int more)
{
    int flags = f->amode & MPI_MODE_RDONLY   ? O_RDONLY
                : f->amode & MPI_MODE_WRONLY ? O_WRONLY
                                             : O_RDWR;
    struct io_away away = io_leave();
    do
        f->fd = open(f->name, flags | more | O_CLOEXEC,
                     f->hints.file_perm >= 0 ? f->hints.file_perm : 0666);
    while (f->fd < 0 && errno == EINTR);
    int e = f->fd < 0 ? errno : 0;
    io_return(&away, NULL);
    return e ? io_errno(e, f->name, "cannot open it") : MPI_SUCCESS;
}

/* Rank 0 creates the file; the others open what is there then. */
static int open_all(struct io_file *f)
{
    int creates = f->amode & MPI_MODE_CREATE, err = MPI_SUCCESS;
    int more = (creates ? O_CREAT : 0) | (f->amode & MPI_MODE_EXCL ? O_EXCL : 0);
    if (f->comm->rank == 0)
        err = open_here(f, more);
    if (creates && f->comm->size > 1) {
        err = io_agree(err, f->comm);
        if (err)
            return err;
    }
    if (f->comm->rank)
        err = open_here(f, 0);
    return io_agree(err, f->comm);
}

static void file_free(struct io_file *f, io_win_end *end)
{
    if (f->fd >= 0)
        close(f->fd);
    view_drop(&f->view);
    two_phase_free(f, end);
    shared_free(f, end);
    if (f->link.next)
        list_del(&f->link);
    if (f->obj.handle)
        obj_del(OBJ_FILE, &f->obj);
    errhandler_drop(f->errhandler);
    info_drop(f->info);
    if (f->aside)
        comm_drop(f->aside);
    if (f->comm)
        comm_drop(f->comm);
    free(f->name);
    free(f);
}

static struct io_file *file_make(const char *name, int amode, struct info *info,
                                 struct errhandler *eh)
{
    struct io_file *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->fd = -1;
    f->amode = amode;
    f->errhandler = errhandler_ref(eh);
    f->info = info_copy(info);
    f->name = strdup(bare_name(name));
    lock_init(&f->mutex);
    list_init(&f->later);
    if (!f->info || !f->name || obj_add(OBJ_FILE, &f->obj)) {
        file_free(f, rma_win_give_up);
        return NULL;
    }
    watch_made(OBJ_FILE, &f->obj);
    list_push(&io_self()->files, &f->link);
    return f;
}

/* All pointers begin at the end of the file. */
static int start_at_end(struct io_file *f)
{
    int64_t size;
    int err = io_size(f, &size);
    if (!err) {
        f->position = size;
        if (f->comm->rank == 0)
            err = shared_set(f, size);
    }
    return io_agree(err, f->comm);
}

/* Its communicator and its hints: what fails on one process fails on all. */
static int begin_open(struct io_file *f, struct comm *c, struct info *info)
{
    int err = coll_comm_dup(c, &f->comm);
    if (!err) {
        hints_default(&f->hints, f->comm);
        f->hosts = hints_hosts(f->comm);
        err = hints_take(f, info);
    }
    return io_agree(err, c); /* a process without memory has no other */
}

/* Its maker's differences end what is done on it. */
static int aside_make(struct io_file *f)
{
    int err = io_may_meet(f->comm);
    return io_agree(err ? err : coll_comm_dup(f->comm, &f->aside), f->comm);
}

static int finish_open(struct io_file *f)
{
    int err = open_all(f);
    if (!err) {
        err = view_default(f);
        err = sharing_find(f, err);
    }
    if (!err)
        err = shared_make(f);
    if (!err && f->comm->size > 1)
        err = aside_make(f);
    if (!err && (f->amode & MPI_MODE_APPEND))
        err = start_at_end(f);
    return err;
}

/* The first meeting of an open: is all well on all processes? */
int io_refuse_open(struct comm *c, int amode, int err)
{
    int64_t all[3] = {amode, -(int64_t)amode, err ? err_class(err) : 0};
    int e = io_allreduce(all, 3, c);
    if (!err && !e && all[2])
        e = err_make((int)all[2], "%s failed on another process", io_call());
    if (!err && !e && all[0] != -all[1])
        e = err_make(MPI_ERR_NOT_SAME, "%s: amode differs between the processes: %d here",
                     io_call(), amode);
    return err ? err : e;
}

int io_open(struct comm *c, const char *name, int amode, struct info *info, struct errhandler *eh,
            struct io_file **out)
{
    struct io_file *f = NULL;
    int err = name_check(name);
    if (!err)
        err = amode_check(amode);
    if (!err && !(f = file_make(name, amode, info, eh)))
        err = err_make(MPI_ERR_NO_MEM, "%s: no memory for a file", io_call());
    err = io_refuse_open(c, amode, err);
    if (!err)
        err = begin_open(f, c, info);
    if (!err)
        err = finish_open(f);
    if (!err)
        f->comm->maker = NULL;
    if (err && f && f->comm && err_class(err) == MPIX_ERR_REVOKED)
        coll_revoke(f->comm); /* others may have it open, and wait for this one */
    if (err && f)
        file_free(f, rma_win_give_up);
    else
        *out = f;
    return err;
}

/* --- close ------------------------------------------------------------------------------------ */
static int none_pending(void *arg)
{
    return ((struct io_file *)arg)->pending == 0;
}

static void stats_print(const struct io_file *f)
{
    static const char *const names[] = {"calls", "bytes asked", "bytes moved", "system calls",
                                        "rounds", "locks"};
    char line[400];
    int n = 0;
    for (int i = 0; i < STAT_NS; i++)
        n += snprintf(line + n, sizeof line - (size_t)n, "%s%s %llu", i ? ", " : "", names[i],
                      (unsigned long long)f->stat[i]);
    log_warn("file \"%s\": %s, seconds in the file system %.6f", f->name, line,
             (double)f->stat[STAT_NS] * 1e-9);
}

/* The file stays open where a split collective waits on any process: closing is collective. A
 * failed process keeps no other one from closing it. */
static int close_check(struct io_file *f, int *err)
{
    int64_t waits = f->split != NULL;
    *err = io_allreduce(&waits, 1, f->comm);
    if (*err || !waits)
        return 1;
    *err = f->split ? io_no_split(f)
                    : err_make(MPI_ERR_UNSUPPORTED_OPERATION,
                               "%s: file \"%s\": a split collective access waits for its end on "
                               "another process", io_call(), f->name);
    return 0;
}

/* A revocation is no error of the call that ends the file. */
static int but_revoked(int err)
{
    return err && err_class(err) == MPIX_ERR_REVOKED ? MPI_SUCCESS : err;
}

/* Nothing lands in this process's memory behind it. */
static void close_win(struct rma_win *w)
{
    (void)rma_win_free(w);
}

int io_close(struct io_file *f)
{
    int err;
    if (!close_check(f, &err))
        return err;
    err = but_revoked(err);
    progress_wait_why(none_pending, f, "nonblocking accesses to a file", -1, WHY_FILE, NULL);
    if (cvar.io_stats)
        stats_print(f);
    int fd = f->fd;
    f->fd = -1;
    struct io_away away = io_leave();
    int e = close(fd) ? errno : 0;
    io_return(&away, NULL);
    if (e && e != EINTR && !err) /* what a network file system could not write */
        err = io_errno(e, f->name, "cannot close it");
    /* No process has it open any more when it is deleted. */
    err = but_revoked(io_agree(err, f->comm));
    if ((f->amode & MPI_MODE_DELETE_ON_CLOSE) && f->comm->rank == 0 && unlink(f->name) && !err)
        err = io_errno(errno, f->name, "cannot delete it");
    if (f->amode & MPI_MODE_DELETE_ON_CLOSE)
        err = but_revoked(io_agree(err, f->comm));
    file_free(f, close_win);
    return err;
}

int io_delete(const char *name)
{
    int err = name_check(name);
    if (!err && unlink(bare_name(name)))
        err = io_errno(errno, bare_name(name), "cannot delete it");
    return err;
}

/* --- consistency ------------------------------------------------------------------------------ */
int io_sync(struct io_file *f)
{
    int err = io_no_split(f);
    if (!err && !(f->amode & MPI_MODE_RDONLY)) {
        int e;
        struct io_away away = io_leave();
        do
            e = fsync(f->fd) ? errno : 0;
        while (e == EINTR);
        io_return(&away, NULL);
        if (e && e != EINVAL && e != EROFS) /* a special file has nothing to sync */
            err = io_errno(e, f->name, "cannot sync it");
    }
    sharing_sync(f);
    return io_agree(err, f->comm);
}

int io_set_atomicity(struct io_file *f, int flag)
{
    int err = sharing_atomic(f, flag != 0, io_no_split(f));
    if (!err)
        f->atomic = flag != 0;
    return err;
}

/* --- the room --------------------------------------------------------------------------------- */
int io_atomicity(const struct io_file *f)
{
    return f->atomic;
}

int io_amode(const struct io_file *f)
{
    return f->amode;
}

struct comm *io_comm(const struct io_file *f)
{
    return f->comm;
}

struct errhandler **io_errhandler(struct io_file *f)
{
    return &f->errhandler;
}

int io_init(void)
{
    struct io_room *r = proc->io = calloc(1, sizeof *r);
    if (!r)
        return -ENOMEM;
    list_init(&r->files);
    list_init(&r->reps);
    list_init(&r->later);
    strcpy(r->native.name, "native");
    strcpy(r->internal.name, "internal");
    strcpy(r->external32.name, "external32");
    r->external32.kind = REP_EXTERNAL32;
    proc->obj->file_revoked = revoked_comm;
    return 0;
}

void io_ending(void)
{
    for (struct list *l = io_self()->files.next; l != &io_self()->files; l = l->next)
        log_warn("MPI_Finalize: file \"%s\" is still open",
                 LIST_OBJ(l, struct io_file, link)->name);
}

void io_finalize(void)
{
    struct io_room *r = io_self();
    if (!r)
        return;
    later_free();
    pool_free();
    while (r->files.next != &r->files) {
        struct io_file *f = LIST_OBJ(r->files.next, struct io_file, link);
        f->pointer_win = NULL; /* rma_finalize has dropped the windows, or will */
        f->phases = NULL;
        file_free(f, rma_win_give_up);
    }
    for (struct list *l; (l = list_pop(&r->reps));)
        free(LIST_OBJ(l, struct rep, link));
    free(r);
    proc->io = NULL;
}
