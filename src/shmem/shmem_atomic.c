/* shmem_atomic.c - atomics by MPI: where a PE is far, and on static memory. */
#include "shmem/shmem_types.h"

#include "shmem/shmem_near.h"

/* Checks the target and begins: the window, the region and the place. */
static MPI_Win begin(struct shmem_ctx *ctx, const void *dest, size_t bytes, int pe,
                     enum shm_region *r, MPI_Aint *disp, const char *call)
{
    shm_begun(call);
    shm_pe_is(pe, call);
    *r = shm_place(dest, bytes, disp, call);
    if ((uintptr_t)dest % bytes)
        shm_fail(call, "address %p is not aligned for an element of %zu bytes", dest, bytes);
    return shm_begin(ctx, *r, call);
}

void shm_op(struct shmem_ctx *ctx, void *dest, const void *value, size_t bytes, MPI_Datatype type,
            MPI_Op op, int pe, const char *call)
{
    enum shm_region r;
    MPI_Aint disp;
    MPI_Win win = begin(ctx, dest, bytes, pe, &r, &disp, call);
    void *copy = shm_slot(ctx, value, bytes);
    PMPI_Accumulate(copy ? copy : value, 1, type, pe, disp, 1, type, op, win);
    shm_opened(ctx, r);
    if (!copy)
        PMPI_Win_flush_local(pe, win);
}

void shm_fetch_op(struct shmem_ctx *ctx, const void *dest, const void *value, void *result,
                  size_t bytes, MPI_Datatype type, MPI_Op op, int pe, const char *call)
{
    enum shm_region r;
    MPI_Aint disp;
    char before[SHM_SLOT_BYTES] = {0};
    MPI_Win win = begin(ctx, dest, bytes, pe, &r, &disp, call);
    PMPI_Fetch_and_op(value, before, type, pe, disp, op, win);
    PMPI_Win_flush(pe, win);
    memcpy(result, before, bytes);
}

void shm_fetch_op_nbi(struct shmem_ctx *ctx, const void *dest, const void *value, void *result,
                      size_t bytes, MPI_Datatype type, MPI_Op op, int pe, const char *call)
{
    enum shm_region r;
    MPI_Aint disp;
    MPI_Win win = begin(ctx, dest, bytes, pe, &r, &disp, call);
    void *copy = value ? shm_slot(ctx, value, bytes) : NULL;
    PMPI_Fetch_and_op(copy ? copy : value, result, type, pe, disp, op, win);
    shm_opened(ctx, r);
    if (value && !copy)
        PMPI_Win_flush_local(pe, win);
}

void shm_compare_swap(struct shmem_ctx *ctx, void *dest, const void *value, void *compare,
                      size_t bytes, MPI_Datatype type, int pe, const char *call)
{
    enum shm_region r;
    MPI_Aint disp;
    char before[SHM_SLOT_BYTES] = {0};
    MPI_Win win = begin(ctx, dest, bytes, pe, &r, &disp, call);
    PMPI_Compare_and_swap(value, compare, before, type, pe, disp, win);
    PMPI_Win_flush(pe, win);
    memcpy(compare, before, bytes);
}
