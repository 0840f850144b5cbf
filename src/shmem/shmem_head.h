/* shmem_head.h - OpenSHMEM 1.6, with what is deprecated, on Windrose.
 *
 * Not here, as doc/design/shmem.md says: Fortran. */
#ifndef WINDROSE_SHMEM_H
#define WINDROSE_SHMEM_H

#include <stddef.h>
#include <stdint.h>

#define SHMEM_MAJOR_VERSION 1
#define SHMEM_MINOR_VERSION 6
#define SHMEM_MAX_NAME_LEN 64
#define SHMEM_VENDOR_STRING "Windrose"

#define SHMEM_THREAD_SINGLE 0
#define SHMEM_THREAD_FUNNELED 1
#define SHMEM_THREAD_SERIALIZED 2
#define SHMEM_THREAD_MULTIPLE 3

#define SHMEM_CMP_EQ 1
#define SHMEM_CMP_NE 2
#define SHMEM_CMP_GT 3
#define SHMEM_CMP_GE 4
#define SHMEM_CMP_LT 5
#define SHMEM_CMP_LE 6

#define SHMEM_SIGNAL_SET 0
#define SHMEM_SIGNAL_ADD 1

#define SHMEM_MALLOC_ATOMICS_REMOTE (1L << 0)
#define SHMEM_MALLOC_SIGNAL_REMOTE (1L << 1)

#define SHMEM_CTX_SERIALIZED (1L << 0)
#define SHMEM_CTX_PRIVATE (1L << 1)
#define SHMEM_CTX_NOSTORE (1L << 2)
#define SHMEM_CTX_INVALID ((shmem_ctx_t)0)
#define SHMEM_TEAM_INVALID ((shmem_team_t)0)
#define SHMEM_TEAM_NUM_CONTEXTS (1L << 0)
#define SHMEM_CTX_SESSION_BATCH (1L << 0)
#define SHMEM_CTX_SESSION_TOTAL_OPS (1L << 0)

/* Work arrays of active sets: this library uses none of them. */
#define SHMEM_SYNC_VALUE 0L
#define SHMEM_SYNC_SIZE 1
#define SHMEM_BCAST_SYNC_SIZE 1
#define SHMEM_REDUCE_SYNC_SIZE 1
#define SHMEM_BARRIER_SYNC_SIZE 1
#define SHMEM_COLLECT_SYNC_SIZE 1
#define SHMEM_ALLTOALL_SYNC_SIZE 1
#define SHMEM_ALLTOALLS_SYNC_SIZE 1
#define SHMEM_REDUCE_MIN_WRKDATA_SIZE 1

/* Names before 1.2. */
#define _SHMEM_MAJOR_VERSION SHMEM_MAJOR_VERSION
#define _SHMEM_MINOR_VERSION SHMEM_MINOR_VERSION
#define _SHMEM_MAX_NAME_LEN SHMEM_MAX_NAME_LEN
#define _SHMEM_VENDOR_STRING SHMEM_VENDOR_STRING
#define _SHMEM_CMP_EQ SHMEM_CMP_EQ
#define _SHMEM_CMP_NE SHMEM_CMP_NE
#define _SHMEM_CMP_GT SHMEM_CMP_GT
#define _SHMEM_CMP_GE SHMEM_CMP_GE
#define _SHMEM_CMP_LT SHMEM_CMP_LT
#define _SHMEM_CMP_LE SHMEM_CMP_LE
#define _SHMEM_SYNC_VALUE SHMEM_SYNC_VALUE
#define _SHMEM_BCAST_SYNC_SIZE SHMEM_BCAST_SYNC_SIZE
#define _SHMEM_REDUCE_SYNC_SIZE SHMEM_REDUCE_SYNC_SIZE
#define _SHMEM_BARRIER_SYNC_SIZE SHMEM_BARRIER_SYNC_SIZE
#define _SHMEM_COLLECT_SYNC_SIZE SHMEM_COLLECT_SYNC_SIZE
#define _SHMEM_REDUCE_MIN_WRKDATA_SIZE SHMEM_REDUCE_MIN_WRKDATA_SIZE

#define SHMEM_OLD_ /* deprecated by the standard */

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

typedef struct shmem_ctx *shmem_ctx_t;
typedef struct shmem_team *shmem_team_t;
typedef struct {
    int num_contexts;
} shmem_team_config_t;
typedef struct {
    size_t total_ops;
} shmem_ctx_session_config_t;

extern shmem_ctx_t SHMEM_CTX_DEFAULT;
extern shmem_team_t SHMEM_TEAM_WORLD;
extern shmem_team_t SHMEM_TEAM_SHARED;

@CALLS@

/* Names before 1.2. */
void start_pes(int npes) SHMEM_OLD_;
int _my_pe(void) SHMEM_OLD_;
int _num_pes(void) SHMEM_OLD_;
void *shmalloc(size_t size) SHMEM_OLD_;
void shfree(void *ptr) SHMEM_OLD_;
void *shrealloc(void *ptr, size_t size) SHMEM_OLD_;
void *shmemalign(size_t alignment, size_t size) SHMEM_OLD_;

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

/* C11: the function by the type of an argument. */
#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L && \
    !defined(SHMEM_NO_SELECTION_)
static inline void shmem_no_such_type_(void)
{
}
#define SHMEM_ARG1_(a, ...) a
#define SHMEM_ARG2_(a, b, ...) b
@SELECTION@
/* Of a team, or of an active set (deprecated). */
#define SHMEM_SYNC_1_(a) shmem_team_sync(a)
#define SHMEM_SYNC_4_(a, b, c, d) (shmem_sync)(a, b, c, d)
#define SHMEM_SYNC_PICK_(a, b, c, d, name, ...) name
#define shmem_sync(...) \
    SHMEM_SYNC_PICK_(__VA_ARGS__, SHMEM_SYNC_4_, 0, 0, SHMEM_SYNC_1_, 0)(__VA_ARGS__)
#endif

#endif
