/* shmem_atomic.c - atomics by MPI: where a PE is far, and on static memory. */
#include "shmem/shmem_types.h"

#include "shmem/shmem_near.h"

/* Checks the target and begins. */
static struct shm_access begin(struct shmem_ctx *ctx, const void *dest, size_t bytes, int pe,
                               const char *call)
{
    shm_begun(call);
    shm_pe_is(pe, call);
    struct shm_access a = shm_access_begin(ctx, dest, bytes, call);
    if ((uintptr_t)dest % bytes)
        shm_fail(call, "address %p is not aligned for an element of %zu bytes", dest, bytes);
    return a;
}

void shm_op(struct shmem_ctx *ctx, void *dest, const void *value, size_t bytes, MPI_Datatype type,
            MPI_Op op, int pe, const char *call)
{
    struct shm_access a = begin(ctx, dest, bytes, pe, call);
    shm_tell(dest, bytes, pe);
    void *copy = shm_slot(ctx, value, bytes);
    PMPI_Accumulate(copy ? copy : value, 1, type, pe, a.disp, 1, type, op, a.win);
    shm_opened(ctx, a.region);
    if (!copy)
        PMPI_Win_flush_local(pe, a.win);
}

void shm_fetch_op(struct shmem_ctx *ctx, const void *dest, const void *value, void *result,
                  size_t bytes, MPI_Datatype type, MPI_Op op, int pe, const char *call)
{
    char before[SHM_SLOT_BYTES] = {0};
    struct shm_access a = begin(ctx, dest, bytes, pe, call);
    if (op != MPI_NO_OP)
        shm_tell(dest, bytes, pe);
    PMPI_Fetch_and_op(value, before, type, pe, a.disp, op, a.win);
    PMPI_Win_flush(pe, a.win);
    memcpy(result, before, bytes);
    if (pe == shm.me)
        shm_saw(dest);
}

void shm_fetch_op_nbi(struct shmem_ctx *ctx, const void *dest, const void *value, void *result,
                      size_t bytes, MPI_Datatype type, MPI_Op op, int pe, const char *call)
{
    struct shm_access a = begin(ctx, dest, bytes, pe, call);
    if (op != MPI_NO_OP)
        shm_tell(dest, bytes, pe);
    void *copy = value ? shm_slot(ctx, value, bytes) : NULL;
    PMPI_Fetch_and_op(copy ? copy : value, result, type, pe, a.disp, op, a.nbi);
    shm_opened(ctx, a.region);
    if (value && !copy)
        PMPI_Win_flush_local(pe, a.nbi);
}

void shm_compare_swap(struct shmem_ctx *ctx, void *dest, const void *value, void *compare,
                      size_t bytes, MPI_Datatype type, int pe, const char *call)
{
    char before[SHM_SLOT_BYTES] = {0};
    struct shm_access a = begin(ctx, dest, bytes, pe, call);
    shm_tell(dest, bytes, pe);
    PMPI_Compare_and_swap(value, compare, before, type, pe, a.disp, a.win);
    PMPI_Win_flush(pe, a.win);
    memcpy(compare, before, bytes);
}

void shm_compare_swap_nbi(struct shmem_ctx *ctx, void *dest, const void *value,
                          const void *compare, void *result, size_t bytes, MPI_Datatype type,
                          int pe, const char *call)
{
    struct shm_access a = begin(ctx, dest, bytes, pe, call);
    char both[SHM_SLOT_BYTES]; /* in one slot: a second one could reuse the first */
    shm_tell(dest, bytes, pe);
    memcpy(both, value, bytes);
    memcpy(both + SHM_SLOT_BYTES / 2, compare, bytes);
    char *copy = shm_slot(ctx, both, sizeof both), *at = copy ? copy : both;
    PMPI_Compare_and_swap(at, at + SHM_SLOT_BYTES / 2, result, type, pe, a.disp, a.nbi);
    shm_opened(ctx, a.region);
    if (!copy)
        PMPI_Win_flush_local(pe, a.nbi);
}
