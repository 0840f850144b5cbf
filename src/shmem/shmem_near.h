/* shmem_near.h - the inline paths: memory of a PE on this node by load and store.
 *
 * A path succeeds only if the address lies in the heap and that PE's heap is mapped; in any doubt
 * the slow function starts from the top, and it finds what is wrong. Start with shm_near(). */
#ifndef SHMEM_SHMEM_NEAR_H
#define SHMEM_SHMEM_NEAR_H

#include <string.h>

#include "shmem/shmem_types.h"

/* Where addr of that PE is mapped here, or NULL; SHM_SLOT_BYTES from there on are. */
static inline void *shm_near(const void *addr, int pe)
{
    size_t off = (size_t)((const char *)addr - shm.heap);
    unsigned i = (unsigned)pe - (unsigned)shm.near_first;
    if (!LIKELY(off < shm.heap_size) || !LIKELY(i < shm.near_count))
        return NULL;
    char *base = shm.near[i];
    return LIKELY(base != NULL) ? base + off : NULL;
}

/* The same for any number of bytes. */
static inline void *shm_near_bytes(const void *addr, size_t bytes, int pe)
{
    size_t off = (size_t)((const char *)addr - shm.heap);
    unsigned i = (unsigned)pe - (unsigned)shm.near_first;
    if (!LIKELY(off < shm.heap_size) || !LIKELY(bytes <= shm.heap_size - off) ||
        !LIKELY(i < shm.near_count))
        return NULL;
    char *base = shm.near[i];
    return LIKELY(base != NULL) ? base + off : NULL;
}

/* For atomics: NULL, too, where addr is not aligned, and where some PE is not near. Then MPI does
 * them all, since its atomics and the processor's are none to each other. */
static inline void *shm_direct(const void *addr, size_t bytes, int pe)
{
    return LIKELY(shm.direct) && LIKELY((uintptr_t)addr % bytes == 0) ? shm_near(addr, pe) : NULL;
}

static inline int shm_ctx_pe(const struct shmem_ctx *ctx, int pe, const char *call)
{
    return LIKELY(ctx && ctx->team == &shm_world) ? pe : shm_far_pe(ctx, pe, call);
}

/* After a read that a program may repeat until a word of its own changes. What others do to it may
 * need this process. */
static inline void shm_looked(int pe)
{
    if (!LIKELY(pe != shm.me))
        shm_own_looked();
}

/* One element: aligned ones of 1 to 8 bytes by one store. */
static inline void shm_put_one(struct shmem_ctx *ctx, void *dest, const void *value, size_t bytes,
                               int pe, const char *call)
{
    char *at = shm_near(dest, pe);
    if (LIKELY(at != NULL))
        memcpy(at, value, bytes);
    else
        shm_put_one_far(ctx, dest, value, bytes, pe, call);
}

static inline void shm_get_one(struct shmem_ctx *ctx, void *value, const void *source,
                               size_t bytes, int pe, const char *call)
{
    const char *at = shm_near(source, pe);
    if (LIKELY(at != NULL))
        memcpy(value, at, bytes);
    else
        shm_get_far(ctx, value, source, bytes, pe, 0, call);
    shm_looked(pe);
}

/* One word, which is most common, by one load and one store. */
static inline void shm_copy(void *to, const void *from, size_t bytes)
{
    if (bytes == 8)
        memcpy(to, from, 8);
    else
        memcpy(to, from, bytes);
}

/* nelems * size, or more than any memory has. */
static inline size_t shm_bytes(size_t nelems, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(nelems, size, &bytes) ? SIZE_MAX : bytes;
}

static inline void shm_put(struct shmem_ctx *ctx, void *dest, const void *source, size_t nelems,
                           size_t size, int pe, int nbi, const char *call)
{
    size_t bytes = shm_bytes(nelems, size);
    void *at = shm_near_bytes(dest, bytes, pe);
    if (LIKELY(at != NULL))
        shm_copy(at, source, bytes);
    else
        shm_put_far(ctx, dest, source, bytes, pe, nbi, call);
}

static inline void shm_get(struct shmem_ctx *ctx, void *dest, const void *source, size_t nelems,
                           size_t size, int pe, int nbi, const char *call)
{
    size_t bytes = shm_bytes(nelems, size);
    const void *at = shm_near_bytes(source, bytes, pe);
    if (LIKELY(at != NULL))
        shm_copy(dest, at, bytes);
    else
        shm_get_far(ctx, dest, source, bytes, pe, nbi, call);
}

/* Release: a process that sees the signal sees what was put before it. Pairs with the acquire of
 * shm_load() and shmem_signal_fetch(). */
static inline __attribute__((always_inline)) void shm_signal_near(uint64_t *at, uint64_t value,
                                                                  int op)
{
    if (op == SHMEM_SIGNAL_SET)
        __atomic_store_n(at, value, __ATOMIC_RELEASE);
    else
        __atomic_fetch_add(at, value, __ATOMIC_RELEASE);
}

/* The short way of one word saves no register for a call. */
static inline __attribute__((always_inline)) void
shm_put_signal(struct shmem_ctx *ctx, void *dest, const void *source, size_t nelems, size_t size,
               struct shm_signal s, int pe, int nbi, const char *call)
{
    size_t bytes = shm_bytes(nelems, size);
    size_t off = (size_t)((const char *)dest - shm.heap), sig = (size_t)((char *)s.at - shm.heap);
    unsigned i = (unsigned)pe - (unsigned)shm.near_first;
    char *base = LIKELY(i < shm.near_count) && LIKELY(shm.direct) ? shm.near[i] : NULL;
    /* shm_near_bytes() and shm_direct() in one */
    if (!LIKELY(base != NULL) || !LIKELY(off < shm.heap_size) ||
        !LIKELY(bytes <= shm.heap_size - off) || !LIKELY(sig < shm.heap_size) ||
        !LIKELY((uintptr_t)s.at % sizeof *s.at == 0) ||
        !LIKELY((unsigned)s.op <= SHMEM_SIGNAL_ADD)) {
        shm_put_signal_far(ctx, dest, source, bytes, s, pe, nbi, call);
    } else if (bytes == sizeof(uint64_t)) {
        memcpy(base + off, source, sizeof(uint64_t));
        shm_signal_near((uint64_t *)(void *)(base + sig), s.value, s.op);
    } else {
        shm_put_signal_bytes(base + off, source, bytes, (uint64_t *)(void *)(base + sig), s.value,
                             s.op);
    }
}

#endif
