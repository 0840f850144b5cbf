/* rw.h - windows of every flavour and epochs of every kind, for the one-sided test programs.
 *
 * Displacement units are 1: rw_disp(w, rank, bytes) is the target displacement of a byte, also in
 * dynamic windows.  rw_make() returns 0 where a flavour is impossible (a shared window over
 * several nodes). */
#ifndef RW_H
#define RW_H

#include "../mt.h"

enum rw_flavour { RW_ALLOCATE, RW_CREATE, RW_ALLOC_MEM, RW_SHARED, RW_DYNAMIC, RW_FLAVOURS };
enum rw_sync {
    RW_FENCE, RW_PSCW, RW_LOCK_EXCL, RW_LOCK_SHARED, RW_LOCK_NOCHECK, RW_FLUSH, RW_FLUSH_ALL,
    RW_UNLOCK_ALL, RW_SYNCS
};

static const char *const rw_flavour_names[] MT_UNUSED = {"allocate", "create", "alloc_mem",
                                                         "shared", "dynamic"};
static const char *const rw_sync_names[] MT_UNUSED = {
    "fence", "pscw", "exclusive", "shared lock", "nocheck", "flush", "flush_all", "unlock_all"};

struct rw {
    MPI_Win win;
    int flavour, rank, size;
    char *mem;
    size_t bytes;
    MPI_Aint *base;
    MPI_Comm comm;
    MPI_Group all;
};

static MT_UNUSED MPI_Info rw_info(const char *key, const char *value)
{
    MPI_Info i;

    MPI_Info_create(&i);
    MPI_Info_set(i, key, value);
    return i;
}

static MT_UNUSED int rw_make_info(struct rw *w, int flavour, size_t bytes, MPI_Comm comm,
                                  MPI_Info info)
{
    MPI_Aint here;
    MPI_Comm node;
    int n;

    memset(w, 0, sizeof *w);
    w->flavour = flavour;
    w->bytes = bytes;
    w->comm = comm;
    MPI_Comm_rank(comm, &w->rank);
    MPI_Comm_size(comm, &w->size);
    switch (flavour) {
    case RW_ALLOCATE:
        MPI_Win_allocate((MPI_Aint)bytes, 1, info, comm, &w->mem, &w->win);
        break;
    case RW_CREATE:
        w->mem = mt_alloc(bytes);
        MPI_Win_create(w->mem, (MPI_Aint)bytes, 1, info, comm, &w->win);
        break;
    case RW_ALLOC_MEM:
        MPI_Alloc_mem((MPI_Aint)(bytes ? bytes : 1), MPI_INFO_NULL, &w->mem);
        MPI_Win_create(w->mem, (MPI_Aint)bytes, 1, info, comm, &w->win);
        break;
    case RW_SHARED:
        MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
        MPI_Comm_size(node, &n);
        MPI_Comm_free(&node);
        if (n != w->size)
            return 0;
        MPI_Win_allocate_shared((MPI_Aint)bytes, 1, info, comm, &w->mem, &w->win);
        break;
    default:
        w->mem = mt_alloc(bytes);
        MPI_Win_create_dynamic(info, comm, &w->win);
        MPI_Win_attach(w->win, w->mem, (MPI_Aint)bytes);
        MPI_Get_address(w->mem, &here);
        w->base = mt_alloc(sizeof *w->base * (size_t)w->size);
        MPI_Allgather(&here, 1, MPI_AINT, w->base, 1, MPI_AINT, comm);
    }
    MPI_Win_get_group(w->win, &w->all);
    memset(w->mem, 0, bytes);
    MPI_Barrier(comm);
    return 1;
}

static MT_UNUSED int rw_make(struct rw *w, int flavour, size_t bytes, MPI_Comm comm)
{
    return rw_make_info(w, flavour, bytes, comm, MPI_INFO_NULL);
}

static MT_UNUSED void rw_free(struct rw *w)
{
    MPI_Group_free(&w->all);
    if (w->flavour == RW_DYNAMIC) {
        MPI_Barrier(w->comm);
        MPI_Win_detach(w->win, w->mem);
    }
    MPI_Win_free(&w->win);
    if (w->flavour == RW_CREATE || w->flavour == RW_DYNAMIC)
        free(w->mem);
    if (w->flavour == RW_ALLOC_MEM)
        MPI_Free_mem(w->mem);
    free(w->base);
}

static MT_UNUSED MPI_Aint rw_disp(const struct rw *w, int rank, size_t bytes)
{
    return w->base ? MPI_Aint_add(w->base[rank], (MPI_Aint)bytes) : (MPI_Aint)bytes;
}

/* Epochs that cover all targets: begin and end once; the others per target. */
static MT_UNUSED int rw_per_target(int sync)
{
    return sync >= RW_LOCK_EXCL && sync <= RW_LOCK_NOCHECK;
}

static MT_UNUSED void rw_begin(struct rw *w, int sync, int target)
{
    switch (sync) {
    case RW_FENCE: MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win); break;
    case RW_PSCW:
        MPI_Win_post(w->all, 0, w->win);
        MPI_Win_start(w->all, 0, w->win);
        break;
    case RW_LOCK_EXCL: MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win); break;
    case RW_LOCK_SHARED: MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win); break;
    case RW_LOCK_NOCHECK: MPI_Win_lock(MPI_LOCK_SHARED, target, MPI_MODE_NOCHECK, w->win); break;
    default: MPI_Win_lock_all(0, w->win); break;
    }
}

/* After it, operations have completed at the target and results are there. */
static MT_UNUSED void rw_end(struct rw *w, int sync, int target)
{
    int r;

    switch (sync) {
    case RW_FENCE: MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win); break;
    case RW_PSCW:
        MPI_Win_complete(w->win);
        MPI_Win_wait(w->win);
        break;
    case RW_LOCK_EXCL:
    case RW_LOCK_SHARED:
    case RW_LOCK_NOCHECK:
        MPI_Win_unlock(target, w->win);
        break;
    case RW_FLUSH:
        for (r = 0; r < w->size; r++)
            MPI_Win_flush(r, w->win);
        MPI_Win_unlock_all(w->win);
        break;
    case RW_FLUSH_ALL:
        MPI_Win_flush_all(w->win);
        MPI_Win_unlock_all(w->win);
        break;
    default: MPI_Win_unlock_all(w->win); break;
    }
}

/* The own memory may be read and written between these. */
static MT_UNUSED void rw_own(struct rw *w) { MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win); }
static MT_UNUSED void rw_disown(struct rw *w) { MPI_Win_unlock(w->rank, w->win); }

#endif
