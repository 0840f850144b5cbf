/* shmem_ctx.c - contexts: their operations by MPI, fence and quiet. Start with
 * shm_access_begin() and shm_quiet(). */
#include "shmem/shmem_types.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "shmem/shmem_near.h"

struct shmem_ctx shm_default = {.team = &shm_world};
shmem_ctx_t SHMEM_CTX_DEFAULT = &shm_default;

static void ctx_is(const struct shmem_ctx *ctx, const char *call)
{
    shm_begun(call);
    if (!ctx)
        shm_fail(call, "the context is SHMEM_CTX_INVALID");
}

int shm_far_pe(const struct shmem_ctx *ctx, int pe, const char *call)
{
    ctx_is(ctx, call);
    const struct shmem_team *team = ctx->team;
    if (pe < 0 || pe >= team->size)
        shm_fail(call, "PE is %d, not 0 to %d of the context's team", pe,
                 team->size - 1);
    return team->world ? team->world[pe] : team->start + pe * team->stride;
}

/* The heap's operations are complete. Relaxed: as shm_opened(). */
static void ordered_done(struct shmem_ctx *ctx)
{
    if (!shm.threaded)
        atomic_store_explicit(&ctx->ordered, 0, memory_order_relaxed);
}

struct shm_access shm_access_begin(struct shmem_ctx *ctx, const void *at, size_t bytes,
                                   const char *call)
{
    struct shm_access a;
    a.region = shm_place(at, bytes, &a.disp, call);
    /* MPIX_Win_order orders within a window: what a fence ordered in the heap comes before what
     * follows in the other one. */
    if (a.region == SHM_DATA && atomic_load_explicit(&ctx->ordered, memory_order_relaxed)) {
        PMPI_Win_flush_all(ctx->win[SHM_HEAP]);
        ordered_done(ctx);
    }
    a.win = ctx->win[a.region];
    a.nbi = ctx->nbi[a.region];
    return a;
}

void shm_opened(struct shmem_ctx *ctx, enum shm_region r)
{
    /* Relaxed: only the thread that sets it needs to see it; others order their calls
     * themselves. */
    atomic_store_explicit(&ctx->open[r], 1, memory_order_relaxed);
}

static int is_open(struct shmem_ctx *ctx, int r)
{
    return atomic_load_explicit(&ctx->open[r], memory_order_relaxed);
}

void *shm_slot(struct shmem_ctx *ctx, const void *value, size_t bytes)
{
    if (shm.threaded || bytes > SHM_SLOT_BYTES)
        return NULL;
    if (ctx->used == SHM_SLOTS) {
        for (int r = 0; r < SHM_REGIONS; r++)
            if (is_open(ctx, r)) {
                PMPI_Win_flush_local_all(ctx->win[r]);
                if (ctx->nbi[r] != ctx->win[r])
                    PMPI_Win_flush_local_all(ctx->nbi[r]);
            }
        ctx->used = 0;
    }
    return memcpy(ctx->slot[ctx->used++], value, bytes);
}

/* Completes the operations in one region. */
static __attribute__((noinline)) void complete(struct shmem_ctx *ctx, int r)
{
    PMPI_Win_flush_all(ctx->win[r]);
    if (ctx->nbi[r] != ctx->win[r])
        PMPI_Win_flush_all(ctx->nbi[r]);
    if (!shm.threaded)
        atomic_store_explicit(&ctx->open[r], 0, memory_order_relaxed);
}

/* The operations by MPI of a context. */
static __attribute__((noinline)) void complete_all(struct shmem_ctx *ctx)
{
    for (int r = 0; r < SHM_REGIONS; r++)
        if (is_open(ctx, r))
            complete(ctx, r);
    ordered_done(ctx);
    if (!shm.threaded)
        ctx->used = 0;
}

static inline void quiet(struct shmem_ctx *ctx)
{
    /* Stores to near memory are done when later ones begin. Pairs with the acquire of the PE that
     * learns of it, in shm_load() or by a barrier. */
    atomic_thread_fence(memory_order_seq_cst);
    /* What is ordered, or has a slot, was open before. */
    if (is_open(ctx, SHM_HEAP) | is_open(ctx, SHM_DATA))
        complete_all(ctx);
}

void shm_quiet(struct shmem_ctx *ctx)
{
    quiet(ctx);
}

void shm_fence(struct shmem_ctx *ctx)
{
    /* Near stores: release; pairs as in shm_quiet(). */
    atomic_thread_fence(memory_order_seq_cst);
    if (shm.race) { /* for the checker what is ordered is complete, but for what is not */
        for (int r = 0; r < SHM_REGIONS; r++)
            PMPI_Win_flush_all(ctx->win[r]);
        return;
    }
    if (is_open(ctx, SHM_DATA))
        complete(ctx, SHM_DATA);
    if (is_open(ctx, SHM_HEAP)) {
        PMPIX_Win_order(MPIX_ALL, ctx->win[SHM_HEAP]);
        atomic_store_explicit(&ctx->ordered, 1, memory_order_relaxed);
    }
}

void pshmem_quiet(void)
{
    shm_begun("shmem_quiet");
    quiet(&shm_default);
}
SHM_ALIAS(quiet);

void pshmem_ctx_quiet(shmem_ctx_t ctx)
{
    shm_begun("shmem_ctx_quiet");
    if (ctx)
        quiet(ctx);
}
SHM_ALIAS(ctx_quiet);

void pshmem_fence(void)
{
    shm_begun("shmem_fence");
    shm_fence(&shm_default);
}
SHM_ALIAS(fence);

void pshmem_ctx_fence(shmem_ctx_t ctx)
{
    shm_begun("shmem_ctx_fence");
    if (ctx)
        shm_fence(ctx);
}
SHM_ALIAS(ctx_fence);

/* What is open stays so: there may be operations of other PEs. */
static void pe_quiet(struct shmem_ctx *ctx, const int *pes, size_t n, const char *call)
{
    atomic_thread_fence(memory_order_seq_cst); /* as in quiet() */
    for (size_t i = 0; i < n; i++) {
        int pe = shm_ctx_pe(ctx, pes[i], call);
        shm_pe_is(pe, call);
        for (int r = 0; r < SHM_REGIONS; r++) {
            if (!is_open(ctx, r))
                continue;
            PMPI_Win_flush(pe, ctx->win[r]);
            if (ctx->nbi[r] != ctx->win[r])
                PMPI_Win_flush(pe, ctx->nbi[r]);
        }
    }
}

void pshmem_pe_quiet(const int *target_pes, size_t npes)
{
    shm_begun("shmem_pe_quiet");
    pe_quiet(&shm_default, target_pes, npes, "shmem_pe_quiet");
}
SHM_ALIAS(pe_quiet);

void pshmem_ctx_pe_quiet(shmem_ctx_t ctx, const int *target_pes, size_t npes)
{
    shm_begun("shmem_ctx_pe_quiet");
    if (ctx)
        pe_quiet(ctx, target_pes, npes, "shmem_ctx_pe_quiet");
}
SHM_ALIAS(ctx_pe_quiet);

/* --- creation --------------------------------------------------------------------------------- */

/* Duplicates that a window has at most: a token names one by 8 bits, and 0 is the window. */
enum { DUPLICATES = 255 };

/* What threads change together: the lists of contexts, teams and active sets, the count of
 * duplicates. Nothing waits for other PEs under it. */
static pthread_mutex_t lists = PTHREAD_MUTEX_INITIALIZER;

void shm_lists_lock(void)
{
    pthread_mutex_lock(&lists);
}

void shm_lists_unlock(void)
{
    pthread_mutex_unlock(&lists);
}

MPI_Win shm_duplicate(MPI_Win of)
{
    MPI_Request made;
    MPI_Win win;
    PMPIX_Win_idup(of, MPI_INFO_NULL, &win, &made);
    PMPI_Wait(&made, MPI_STATUS_IGNORE);
    PMPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL);
    return win;
}

/* Duplicates of both windows, or the windows themselves. The count asks, not MPI: the windows'
 * errors stay fatal for the operations of other threads. Under shm_lists_lock(). */
static void take_windows(struct shmem_ctx *ctx)
{
    unsigned each = shm.race ? 2 : 1;
    ctx->own = shm.duplicates + each <= DUPLICATES;
    shm.duplicates += ctx->own ? each : 0;
    for (int r = 0; r < SHM_REGIONS; r++) {
        /* else a quiet completes more than it needs to */
        ctx->win[r] = ctx->own ? shm_duplicate(shm.memory[r].win) : shm.memory[r].win;
        ctx->nbi[r] = ctx->own && shm.race ? shm_duplicate(shm.memory[r].win) : ctx->win[r];
    }
}

static void free_windows(struct shmem_ctx *ctx)
{
    for (int r = 0; r < SHM_REGIONS && ctx->own; r++) { /* no message */
        if (ctx->nbi[r] != ctx->win[r])
            PMPI_Win_free(&ctx->nbi[r]);
        PMPI_Win_free(&ctx->win[r]);
    }
    shm.duplicates -= !ctx->own ? 0 : shm.race ? 2 : 1;
}

void shm_default_windows(void)
{
    for (int r = 0; r < SHM_REGIONS; r++) {
        shm_default.open[r] = 0; /* of an earlier init */
        shm_default.win[r] = shm.memory[r].win;
        shm_default.nbi[r] = shm.race ? shm_duplicate(shm.memory[r].win) : shm.memory[r].win;
    }
    shm_default.ordered = 0;
    shm_default.used = 0;
    shm.duplicates = shm.race ? 2 : 0; /* nbi, and shm.edges */
}

void shm_default_windows_free(void)
{
    for (int r = 0; r < SHM_REGIONS && shm.race; r++)
        PMPI_Win_free(&shm_default.nbi[r]);
}

static int create(struct shmem_team *team, long options, shmem_ctx_t *out, const char *call)
{
    shm_begun(call);
    *out = SHMEM_CTX_INVALID;
    if (!team || options & ~(SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE))
        return -1;
    struct shmem_ctx *ctx = aligned_alloc(64, (sizeof *ctx + 63) / 64 * 64);
    if (!ctx)
        return -1;
    memset(ctx, 0, sizeof *ctx);
    ctx->team = team;
    shm_lists_lock();
    take_windows(ctx);
    ctx->next = team->contexts;
    team->contexts = ctx;
    shm_lists_unlock();
    *out = ctx;
    return 0;
}

int pshmem_ctx_create(long options, shmem_ctx_t *ctx)
{
    return create(&shm_world, options, ctx, "shmem_ctx_create");
}
SHM_ALIAS(ctx_create);

int pshmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t *ctx)
{
    return create(team, options, ctx, "shmem_team_create_ctx");
}
SHM_ALIAS(team_create_ctx);

void pshmem_ctx_destroy(shmem_ctx_t ctx)
{
    shm_begun("shmem_ctx_destroy");
    if (!ctx)
        return;
    if (ctx == &shm_default)
        shm_fail("shmem_ctx_destroy", "the context is SHMEM_CTX_DEFAULT");
    shm_quiet(ctx);
    shm_lists_lock();
    struct shmem_ctx **link = &ctx->team->contexts;
    while (*link && *link != ctx)
        link = &(*link)->next;
    if (!*link)
        shm_fail("shmem_ctx_destroy", "the context is none, or has been destroyed");
    *link = ctx->next;
    free_windows(ctx);
    shm_lists_unlock();
    free(ctx);
}
SHM_ALIAS(ctx_destroy);

void shm_ctx_all_destroy(struct shmem_team *team)
{
    while (team->contexts)
        pshmem_ctx_destroy(team->contexts);
}

int pshmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team)
{
    *team = ctx ? ctx->team : SHMEM_TEAM_INVALID;
    return ctx ? 0 : -1;
}
SHM_ALIAS(ctx_get_team);

/* --- sessions: hints, of which this library has no use ---------------------------------------- */

void pshmem_ctx_session_start(shmem_ctx_t ctx, long options,
                              const shmem_ctx_session_config_t *config, long config_mask)
{
    shm_begun("shmem_ctx_session_start");
}
SHM_ALIAS(ctx_session_start);

void pshmem_ctx_session_stop(shmem_ctx_t ctx)
{
    shm_begun("shmem_ctx_session_stop");
}
SHM_ALIAS(ctx_session_stop);
