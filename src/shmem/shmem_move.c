/* shmem_move.c - put, get and signals that no inline path does. Start with shm_put_far() and
 * shm_put_signal_far(). */
#include "shmem/shmem_types.h"

#include "shmem/shmem_near.h"

static void target_is(int pe, const char *call)
{
    shm_begun(call);
    shm_pe_is(pe, call);
}

static struct shm_access put(struct shmem_ctx *ctx, void *dest, const void *source, size_t bytes,
                             int pe, const char *call)
{
    struct shm_access a = shm_access_begin(ctx, dest, bytes, call);
    PMPI_Put_c(source, (MPI_Count)bytes, MPI_BYTE, pe, a.disp, (MPI_Count)bytes, MPI_BYTE, a.win);
    shm_opened(ctx, a.region);
    return a;
}

void shm_put_far(struct shmem_ctx *ctx, void *dest, const void *source, size_t bytes, int pe,
                 int nbi, const char *call)
{
    target_is(pe, call);
    if (!bytes)
        return;
    shm_tell(dest, bytes, pe);
    struct shm_access a = put(ctx, dest, source, bytes, pe, call);
    if (!nbi)
        PMPI_Win_flush_local(pe, a.win);
}

/* A get is done when its data are here. For the race checker it is done by a flush alone. */
static void get_done(int pe, MPI_Win win)
{
    if (shm.race)
        PMPI_Win_flush(pe, win);
    else
        PMPI_Win_flush_local(pe, win);
}

void shm_get_far(struct shmem_ctx *ctx, void *dest, const void *source, size_t bytes, int pe,
                 int nbi, const char *call)
{
    target_is(pe, call);
    if (!bytes)
        return;
    struct shm_access a = shm_access_begin(ctx, source, bytes, call);
    PMPI_Get_c(dest, (MPI_Count)bytes, MPI_BYTE, pe, a.disp, (MPI_Count)bytes, MPI_BYTE,
               nbi ? a.nbi : a.win);
    if (nbi)
        shm_opened(ctx, a.region);
    else
        get_done(pe, a.win);
    if (!nbi && pe == shm.me)
        shm_saw(source);
}

void shm_put_one_far(struct shmem_ctx *ctx, void *dest, const void *value, size_t bytes, int pe,
                     const char *call)
{
    shm_begun(call);
    void *copy = shm_slot(ctx, value, bytes);
    shm_put_far(ctx, dest, copy ? copy : value, bytes, pe, copy != NULL, call);
}

/* --- strided ---------------------------------------------------------------------------------- */

/* Bytes from the first to the last one of a strided side. */
static size_t span_of(const struct shm_stride *s, ptrdiff_t stride)
{
    return ((size_t)stride * (s->count - 1) + s->block) * s->bytes;
}

/* Is there anything to do? Fails if a stride is less than a block. */
static int strides_are(const struct shm_stride *s, const char *call)
{
    if (!s->count || !s->block)
        return 0;
    if (s->count > 1 && (s->dst < (ptrdiff_t)s->block || s->sst < (ptrdiff_t)s->block))
        shm_fail(call, "strides are %td and %td, less than a block of %zu", s->dst, s->sst,
                 s->block);
    return 1;
}

static void copy_blocks(char *to, const char *from, const struct shm_stride *s)
{
    size_t block = s->block * s->bytes;
    for (size_t i = 0; i < s->count; i++)
        memcpy(to + i * (size_t)s->dst * s->bytes, from + i * (size_t)s->sst * s->bytes, block);
}

static MPI_Datatype blocks_of(const struct shm_stride *s, ptrdiff_t stride)
{
    MPI_Datatype type;
    PMPI_Type_create_hvector_c((MPI_Count)s->count, (MPI_Count)(s->block * s->bytes),
                               (MPI_Count)stride * (MPI_Count)s->bytes, MPI_BYTE, &type);
    PMPI_Type_commit(&type);
    return type;
}

void shm_iput(struct shmem_ctx *ctx, void *dest, const void *source, struct shm_stride s, int pe,
              const char *call)
{
    target_is(pe, call);
    if (!strides_are(&s, call))
        return;
    void *at = shm_near_bytes(dest, span_of(&s, s.dst), pe);
    if (at) {
        copy_blocks(at, source, &s);
        return;
    }
    struct shm_access a = shm_access_begin(ctx, dest, span_of(&s, s.dst), call);
    MPI_Datatype here = blocks_of(&s, s.sst), there = blocks_of(&s, s.dst);
    PMPI_Put(source, 1, here, pe, a.disp, 1, there, a.win);
    shm_opened(ctx, a.region);
    PMPI_Win_flush_local(pe, a.win);
    PMPI_Type_free(&here);
    PMPI_Type_free(&there);
}

void shm_iget(struct shmem_ctx *ctx, void *dest, const void *source, struct shm_stride s, int pe,
              const char *call)
{
    target_is(pe, call);
    if (!strides_are(&s, call))
        return;
    const void *at = shm_near_bytes(source, span_of(&s, s.sst), pe);
    if (at) {
        copy_blocks(dest, at, &s);
        return;
    }
    struct shm_access a = shm_access_begin(ctx, source, span_of(&s, s.sst), call);
    MPI_Datatype here = blocks_of(&s, s.dst), there = blocks_of(&s, s.sst);
    PMPI_Get(dest, 1, here, pe, a.disp, 1, there, a.win);
    get_done(pe, a.win);
    PMPI_Type_free(&here);
    PMPI_Type_free(&there);
}

/* --- signals ---------------------------------------------------------------------------------- */

void shm_signal_op_is(int op, const char *call)
{
    if (op != SHMEM_SIGNAL_SET && op != SHMEM_SIGNAL_ADD)
        shm_fail(call, "sig_op is %d, neither SHMEM_SIGNAL_SET nor SHMEM_SIGNAL_ADD", op);
}

void shm_put_signal_bytes(void *to, const void *source, size_t bytes, uint64_t *sig, uint64_t value,
                          int op)
{
    memcpy(to, source, bytes);
    shm_signal_near(sig, value, op);
}

void shm_signal_send(struct shmem_ctx *ctx, struct shm_signal s, int pe, const char *call)
{
    uint64_t *at = shm_direct(s.at, sizeof *s.at, pe);
    if (at)
        shm_signal_near(at, s.value, s.op);
    else
        shm_op(ctx, s.at, &s.value, sizeof s.value, MPI_UNSIGNED_LONG,
               s.op == SHMEM_SIGNAL_SET ? MPI_REPLACE : MPI_SUM, pe, call);
}

/* For the race checker: it is complete for a PE that has seen its signal, which waits for it. */
static struct shm_access put_seen(struct shmem_ctx *ctx, void *dest, const void *source,
                                  size_t bytes, int pe, const void *sig, const char *call)
{
    struct shm_access a = shm_access_begin(ctx, dest, bytes, call);
    PMPIX_Put_notify_c(source, (MPI_Count)bytes, MPI_BYTE, pe, a.disp, (MPI_Count)bytes, MPI_BYTE,
                       shm_counter_of(sig), a.win);
    shm_opened(ctx, a.region);
    return a;
}

void shm_put_signal_far(struct shmem_ctx *ctx, void *dest, const void *source, size_t bytes,
                        struct shm_signal s, int pe, int nbi, const char *call)
{
    MPI_Aint sig_disp;
    target_is(pe, call);
    shm_signal_op_is(s.op, call);
    enum shm_region sr = shm_place(s.at, sizeof *s.at, &sig_disp, call);
    void *at = bytes ? shm_near_bytes(dest, bytes, pe) : NULL;
    if (at) {
        memcpy(at, source, bytes);
        /* Release: the signal by MPI comes later. Pairs with the acquire of shm_load(). */
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    } else if (bytes) {
        struct shm_access a = shm.race
                                  ? put_seen(ctx, dest, source, bytes, pe, s.at, call)
                                  : put(ctx, dest, source, bytes, pe, call);
        /* no order between two windows, nor between a window and a store */
        if (a.region != sr || shm_direct(s.at, sizeof *s.at, pe))
            PMPI_Win_flush(pe, a.win);
        else
            PMPIX_Win_order(pe, a.win);
    }
    shm_signal_send(ctx, s, pe, call);
    if (bytes && !at && !nbi)
        PMPI_Win_flush_local(pe, ctx->win[shm_region_of(dest, bytes)]);
}
