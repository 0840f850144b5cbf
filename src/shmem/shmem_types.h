/* shmem_types.h - what the files of shmem/ share: the record of the process, teams, contexts.
 *
 * The room is a library of its own, libshmem.so. It calls libmpi.so.12 by the functions that
 * programs call, so SHMEM and MPI in one process share one library. See doc/design/shmem.md. */
#ifndef SHMEM_SHMEM_TYPES_H
#define SHMEM_SHMEM_TYPES_H

#define SHMEM_NO_SELECTION_
#include <mpi.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "src/shmem/include/pshmem.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define SHM_ALIAS(name)                                                                          \
    extern __typeof__(pshmem_##name) shmem_##name __attribute__((weak, alias("pshmem_" #name)))
#define SHM_CHAR ((char)-1 < 0 ? MPI_SIGNED_CHAR : MPI_UNSIGNED_CHAR)

/* Symmetric memory: the heap, and .data and .bss of the program. Each is a window, which is under
 * MPI_Win_lock_all from shmem_init to shmem_finalize. */
enum shm_region { SHM_HEAP, SHM_DATA, SHM_REGIONS };
struct shm_memory {
    char *base;
    size_t size;
    MPI_Win win;
};

struct shmem_team {
    MPI_Comm comm;
    int me, size;        /* in the team */
    int start, stride;   /* PE i of the team is PE start + i * stride of all, where world is NULL */
    int *world;          /* PE i of the team is PE world[i] of all */
    int num_contexts;
    struct shmem_ctx *contexts;
    struct shmem_team *next; /* of shm.teams: those that the program has made */
};

/* Small operands that the transport may still read after the call. */
enum { SHM_SLOTS = 64, SHM_SLOT_BYTES = 16 };

struct shmem_ctx {
    MPI_Win win[SHM_REGIONS];  /* duplicates of the windows, or (shared) the windows themselves */
    MPI_Win nbi[SHM_REGIONS];  /* for what a fence does not order: other ones while the race checker
                                * looks, else win */
    unsigned char own;         /* 1: duplicates */
    /* Operations by MPI may be open. Where several threads call, it stays set once it is: a thread
     * that saw it clear would return while another one completes its operations. */
    _Atomic unsigned char open[SHM_REGIONS];
    /* A fence has ordered the heap's operations, and did not complete them. As open: where several
     * threads call, it stays set. */
    _Atomic unsigned char ordered;
    unsigned used;             /* of slot: since they were last complete */
    struct shmem_team *team;
    struct shmem_ctx *next;    /* of the team */
    _Alignas(16) char slot[SHM_SLOTS][SHM_SLOT_BYTES];
};

struct shm {
    /* the near path's: first */
    char *heap;        /* shm.memory[SHM_HEAP].base */
    size_t heap_size;  /* behind it lie SHM_SLOT_BYTES more */
    int near_first;    /* near[i]: the heap of PE near_first + i as it is mapped here, or NULL */
    unsigned near_count; /* 0 while the race checker looks */
    char **near;
    int direct;        /* all PEs are near: atomics on the heap are the processor's */
    int threaded;      /* SHMEM_THREAD_MULTIPLE */
    int race;          /* the race checker sees each operation: none goes by load and store */

    unsigned mapped;   /* near[] has so many elements, for shmem_ptr */
    int me, size;
    int state;         /* 0: not begun; 1: between init and finalize; 2: ended */
    int begun;         /* calls of init without one of finalize */
    int level;         /* of threads */
    _Atomic unsigned first; /* where test_any and its kin begin to look */
    _Atomic unsigned looks; /* of shm_own_looked() */
    struct shm_memory memory[SHM_REGIONS];
    MPI_Win edges[SHM_REGIONS]; /* duplicates, of the race checker alone (shmem_race.c) */
    MPI_Session session;
    MPI_Comm comm;
    /* under shm_lists_lock(), as are the contexts of teams */
    struct shm_active *sets;
    struct shmem_team *teams;
    unsigned duplicates; /* of each window */
    size_t alignment;  /* of the heap, at all PEs */
};
extern struct shm shm;
extern struct shmem_ctx shm_default;
extern struct shmem_team shm_world, shm_shared;

/* Ends the job: "fatal error in shmem_long_put: ...". */
__attribute__((noreturn, cold, format(printf, 2, 3))) void shm_fail(const char *call,
                                                                    const char *format, ...);
__attribute__((noreturn, cold)) void shm_not_begun(const char *call);
/* Fails unless shmem_init has been called, and shmem_finalize has not. */
static inline void shm_begun(const char *call)
{
    if (!LIKELY(shm.state == 1))
        shm_not_begun(call);
}
void shm_pe_is(int pe, const char *call);

/* Where bytes at addr lie: fails if they are not symmetric. */
enum shm_region shm_place(const void *addr, size_t bytes, MPI_Aint *disp, const char *call);
/* Are they symmetric? A region, or SHM_REGIONS. */
enum shm_region shm_region_of(const void *addr, size_t bytes);

/* --- moves (shmem_move.c) --- */
struct shm_stride {
    ptrdiff_t dst, sst;  /* elements between blocks */
    size_t block, count, bytes; /* elements of a block, blocks, bytes of an element */
};
struct shm_signal {
    uint64_t *at, value;
    int op;
};
void shm_put_far(struct shmem_ctx *ctx, void *dest, const void *source, size_t bytes, int pe,
                 int nbi, const char *call);
void shm_get_far(struct shmem_ctx *ctx, void *dest, const void *source, size_t bytes, int pe,
                 int nbi, const char *call);
/* One element, whose source may change when the call returns. */
void shm_put_one_far(struct shmem_ctx *ctx, void *dest, const void *value, size_t bytes, int pe,
                     const char *call);
void shm_iput(struct shmem_ctx *ctx, void *dest, const void *source, struct shm_stride s, int pe,
              const char *call);
void shm_iget(struct shmem_ctx *ctx, void *dest, const void *source, struct shm_stride s, int pe,
              const char *call);
void shm_signal_send(struct shmem_ctx *ctx, struct shm_signal s, int pe, const char *call);
void shm_put_signal_far(struct shmem_ctx *ctx, void *dest, const void *source, size_t bytes,
                        struct shm_signal s, int pe, int nbi, const char *call);
/* To near memory: any number of bytes. */
void shm_put_signal_bytes(void *to, const void *source, size_t bytes, uint64_t *sig, uint64_t value,
                          int op);
void shm_signal_op_is(int op, const char *call);

/* --- atomics by MPI (shmem_atomic.c): value NULL with MPI_NO_OP --- */
void shm_op(struct shmem_ctx *ctx, void *dest, const void *value, size_t bytes, MPI_Datatype type,
            MPI_Op op, int pe, const char *call);
/* result may be value. */
void shm_fetch_op(struct shmem_ctx *ctx, const void *dest, const void *value, void *result,
                  size_t bytes, MPI_Datatype type, MPI_Op op, int pe, const char *call);
void shm_fetch_op_nbi(struct shmem_ctx *ctx, const void *dest, const void *value, void *result,
                      size_t bytes, MPI_Datatype type, MPI_Op op, int pe, const char *call);
/* *compare becomes what was there. */
void shm_compare_swap(struct shmem_ctx *ctx, void *dest, const void *value, void *compare,
                      size_t bytes, MPI_Datatype type, int pe, const char *call);
void shm_compare_swap_nbi(struct shmem_ctx *ctx, void *dest, const void *value,
                          const void *compare, void *result, size_t bytes, MPI_Datatype type,
                          int pe, const char *call);

/* --- contexts (shmem_ctx.c) --- */
/* An operation by MPI on `bytes` at a symmetric address begins: its region, and the window and the
 * place there. */
struct shm_access {
    enum shm_region region;
    MPI_Win win, nbi;
    MPI_Aint disp;
};
struct shm_access shm_access_begin(struct shmem_ctx *ctx, const void *at, size_t bytes,
                                   const char *call);
/* It has begun. */
void shm_opened(struct shmem_ctx *ctx, enum shm_region r);
/* A copy of value that stays until the context's operations are complete. NULL: there is none, so
 * the caller waits for its operation. */
void *shm_slot(struct shmem_ctx *ctx, const void *value, size_t bytes);
MPI_Win shm_duplicate(MPI_Win of); /* without a message */
void shm_default_windows(void);
void shm_default_windows_free(void);
void shm_quiet(struct shmem_ctx *ctx);
void shm_fence(struct shmem_ctx *ctx);
/* The number among all of the PE of the context's team; fails if there is none. */
int shm_far_pe(const struct shmem_ctx *ctx, int pe, const char *call);
void shm_ctx_all_destroy(struct shmem_team *team);
void shm_lists_lock(void);
void shm_lists_unlock(void);

/* --- the race checker (shmem_race.c) --- */
void shm_race_info(MPI_Info info); /* of a window of symmetric memory */
void shm_race_begin(void);
void shm_race_end(void);
int shm_counter_of(const void *word);
/* An operation on that word of pe is about to begin; the calling PE has seen its value. Nothing
 * without the checker. */
void shm_tell(const void *word, size_t bytes, int pe);
void shm_saw(const void *word);

/* --- waits (shmem_wait.c) --- */
struct shm_ivars {
    const void *at;
    size_t count;
    const int *status;
    unsigned char bytes, is_signed;
};
#define SHM_IVARS(ivars, n, skip)                                                                \
    ((struct shm_ivars){(ivars), (n), (skip), sizeof *(ivars), (__typeof__(*(ivars)))-1 < 1})
/* cmp_values: one, or (vector) as many as ivars. */
void shm_wait_until(struct shm_ivars v, int cmp, const void *cmp_value, const char *call);
void shm_wait_until_all(struct shm_ivars v, int cmp, const void *cmp_values, int vector,
                        const char *call);
size_t shm_wait_until_any(struct shm_ivars v, int cmp, const void *cmp_values, int vector,
                          const char *call);
size_t shm_wait_until_some(struct shm_ivars v, size_t *indices, int cmp, const void *cmp_values,
                           int vector, const char *call);
int shm_test_all(struct shm_ivars v, int cmp, const void *cmp_values, int vector,
                 const char *call);
size_t shm_test_any(struct shm_ivars v, int cmp, const void *cmp_values, int vector,
                    const char *call);
size_t shm_test_some(struct shm_ivars v, size_t *indices, int cmp, const void *cmp_values,
                     int vector, const char *call);
/* The call that waits by itself, for mpiexec -timeout; NULL: none. Of several threads the last. */
extern const char *volatile shm_waits;
/* Others make progress; the core may be given away. */
void shm_poll(void);
/* The program has read its own memory by g or atomic_fetch, perhaps in a loop: polls at times. */
__attribute__((cold)) void shm_own_looked(void);

/* --- collectives (shmem_coll.c) --- */
int shm_broadcast(struct shmem_team *team, void *dest, const void *source, size_t bytes, int root,
                  const char *call);
int shm_collect(struct shmem_team *team, void *dest, const void *source, size_t bytes,
                const char *call);
int shm_fcollect(struct shmem_team *team, void *dest, const void *source, size_t bytes,
                 const char *call);
int shm_alltoall(struct shmem_team *team, void *dest, const void *source, size_t bytes,
                 const char *call);
int shm_alltoalls(struct shmem_team *team, void *dest, const void *source, struct shm_stride s,
                  const char *call);
int shm_reduce(struct shmem_team *team, void *dest, const void *source, size_t count,
               MPI_Datatype type, MPI_Op op, const char *call);
/* The sums of source of the PEs up to this one; of those before this one. */
int shm_scan(struct shmem_team *team, void *dest, const void *source, size_t count,
             MPI_Datatype type, const char *call);
int shm_exscan(struct shmem_team *team, void *dest, const void *source, size_t count, size_t bytes,
               MPI_Datatype type, const char *call);
/* An active set, and its team, which is made at its first use. */
struct shm_span {
    int start, log_stride, size;
};
#define SHM_SET ((struct shm_span){PE_start, logPE_stride, PE_size})
struct shmem_team *shm_set(struct shm_span s, const char *call);
void shm_sets_free(void);
void shm_set_broadcast(struct shm_span s, void *dest, const void *source, size_t bytes, int root,
                       const char *call);
void shm_set_reduce(struct shm_span s, void *dest, const void *source, int count,
                    MPI_Datatype type, MPI_Op op, const char *call);

/* --- the heap (shmem_heap.c), teams (shmem_team.c) --- */
void shm_heap_init(void);
void shm_teams_init(void);
void shm_teams_free(void);

#endif
