/* shmem_heap.c - the symmetric heap: all PEs make the same calls in the same order, so each one's
 * own allocator gives the same offsets. Start with take() and give().
 *
 *   | head | bytes | head | bytes | ... | head of no bytes, used |
 *
 * The blocks follow each other without gaps. Neighbours that are free are joined at once. Each head
 * knows the block before it. Calls are collective, and end with a barrier: memory that a PE has got
 * may be reached at once, and memory that it gave back is reached no more. */
#include "shmem/shmem_types.h"

#include <string.h>

enum { UNIT = 64, MARK = 0x53484d42 };

struct block {
    size_t bytes;  /* behind the head */
    size_t before; /* bytes of the block before, 0: this is the first one */
    uint32_t mark;
    uint32_t used;
    _Alignas(UNIT) char memory[];
};
_Static_assert(sizeof(struct block) == UNIT, "memory of blocks is aligned");

static struct block *first_block(void)
{
    return (struct block *)(void *)shm.heap;
}

static struct block *after(struct block *b)
{
    return (struct block *)(void *)(b->memory + b->bytes);
}

static struct block *before(struct block *b)
{
    return (struct block *)(void *)((char *)b - b->before - sizeof *b);
}

static int is_last(const struct block *b)
{
    return b->bytes == 0;
}

void shm_heap_init(void)
{
    struct block *b = first_block();
    size_t rest = shm.heap_size / UNIT * UNIT - sizeof *b;
    unsigned long bits = (uintptr_t)shm.heap;
    PMPI_Allreduce(MPI_IN_PLACE, &bits, 1, MPI_UNSIGNED_LONG, MPI_BOR, shm.comm);
    shm.alignment = (size_t)(bits & -bits);
    *b = (struct block){.bytes = rest, .mark = MARK};
    *after(b) = (struct block){.before = rest, .mark = MARK, .used = 1};
}

/* Cuts what is behind the first bytes off a block, if a block fits there. */
static void cut(struct block *b, size_t bytes)
{
    if (b->bytes - bytes < sizeof *b + UNIT)
        return;
    struct block *rest = (struct block *)(void *)(b->memory + bytes);
    *rest = (struct block){.bytes = b->bytes - bytes - sizeof *b, .before = bytes, .mark = MARK};
    b->bytes = bytes;
    after(rest)->before = rest->bytes;
}

static void give(struct block *b)
{
    b->used = 0;
    struct block *next = after(b);
    if (!next->used) {
        b->bytes += sizeof *b + next->bytes;
        after(b)->before = b->bytes;
    }
    if (b->before && !before(b)->used) {
        struct block *last = before(b);
        last->bytes += sizeof *b + b->bytes;
        after(last)->before = last->bytes;
    }
}

/* Memory of a multiple of UNIT bytes, or NULL. */
static void *take(size_t alignment, size_t bytes)
{
    if (bytes > shm.heap_size || alignment > shm.alignment)
        return NULL;
    bytes = (bytes + UNIT - 1) / UNIT * UNIT;
    for (struct block *b = first_block(); !is_last(b); b = after(b)) {
        /* By the offset in the heap: it is the same at all PEs, whose addresses differ. */
        size_t off = (size_t)(b->memory - shm.heap);
        size_t gap = (alignment - off % alignment) % alignment;
        if (b->used || b->bytes < gap || b->bytes - gap < bytes)
            continue;
        if (gap) { /* a multiple of UNIT: room for a head, perhaps of a block of one unit */
            if (gap < sizeof *b + UNIT)
                gap += alignment;
            if (b->bytes < gap || b->bytes - gap < bytes)
                continue;
            size_t front = gap - sizeof *b;
            struct block *at = (struct block *)(void *)(b->memory + front);
            *at = (struct block){.bytes = b->bytes - gap, .before = front, .mark = MARK};
            b->bytes = front;
            after(at)->before = at->bytes;
            b = at;
        }
        cut(b, bytes);
        b->used = 1;
        return b->memory;
    }
    return NULL;
}

static struct block *block_of(void *ptr, const char *call)
{
    struct block *b = (struct block *)(void *)((char *)ptr - sizeof *b);
    if ((char *)b < shm.heap || (char *)ptr >= shm.heap + shm.heap_size || (uintptr_t)ptr % UNIT ||
        b->mark != MARK || !b->used)
        shm_fail(call, "address %p was not returned by shmem_malloc, or has been freed", ptr);
    return b;
}

/* --- the calls -------------------------------------------------------------------------------- */

static void *allocate(size_t alignment, size_t size, const char *call)
{
    shm_begun(call);
    if (!size)
        return NULL;
    void *p = take(alignment, size);
    PMPI_Barrier(shm.comm);
    return p;
}

void *pshmem_malloc(size_t size)
{
    return allocate(UNIT, size, "shmem_malloc");
}
SHM_ALIAS(malloc);

void *pshmem_malloc_with_hints(size_t size, long hints)
{
    return allocate(UNIT, size, "shmem_malloc_with_hints");
}
SHM_ALIAS(malloc_with_hints);

void *pshmem_align(size_t alignment, size_t size)
{
    if (!alignment || alignment & (alignment - 1))
        return NULL;
    return allocate(alignment > UNIT ? alignment : UNIT, size, "shmem_align");
}
SHM_ALIAS(align);

void *pshmem_calloc(size_t count, size_t size)
{
    size_t bytes;
    shm_begun("shmem_calloc");
    if (__builtin_mul_overflow(count, size, &bytes) || !bytes)
        return NULL;
    void *p = take(UNIT, bytes);
    if (p)
        memset(p, 0, bytes);
    PMPI_Barrier(shm.comm);
    return p;
}
SHM_ALIAS(calloc);

void pshmem_free(void *ptr)
{
    shm_begun("shmem_free");
    if (!ptr)
        return;
    struct block *b = block_of(ptr, "shmem_free");
    shm_quiet(&shm_default);
    PMPI_Barrier(shm.comm);
    give(b);
}
SHM_ALIAS(free);

void *pshmem_realloc(void *ptr, size_t size)
{
    if (!ptr)
        return pshmem_malloc(size);
    if (!size) {
        pshmem_free(ptr);
        return NULL;
    }
    shm_begun("shmem_realloc");
    struct block *b = block_of(ptr, "shmem_realloc");
    shm_quiet(&shm_default);
    PMPI_Barrier(shm.comm);
    void *p = ptr;
    if (b->bytes >= size) {
        cut(b, (size + UNIT - 1) / UNIT * UNIT);
        struct block *rest = after(b);
        if (!rest->used)
            give(rest);
    } else if ((p = take(UNIT, size))) {
        memcpy(p, ptr, b->bytes);
        give(b);
    }
    PMPI_Barrier(shm.comm);
    return p;
}
SHM_ALIAS(realloc);

void *shmalloc(size_t size)
{
    return pshmem_malloc(size);
}

void shfree(void *ptr)
{
    pshmem_free(ptr);
}

void *shrealloc(void *ptr, size_t size)
{
    return pshmem_realloc(ptr, size);
}

void *shmemalign(size_t alignment, size_t size)
{
    return pshmem_align(alignment, size);
}
