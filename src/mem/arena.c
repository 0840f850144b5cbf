/* arena.c - blocks of shared memory for MPI_Alloc_mem, carved out of large segments.
 *
 *   arena    |== used ==|-- free --|== used ==|-------- bare --------|
 *            one segment, one descriptor
 *   record   struct block, outside the arena: a store past a block's end cannot damage it
 *
 * Free blocks are in bins by size: 16 bins for each power of two, with a bit for each bin that is
 * not empty. So a block is found, split and joined again in constant time. Neighbours that are free
 * are joined at once: two free blocks never touch.
 *
 * Invariants:
 *   A1. The blocks of an arena cover it, in order of address, without gaps.
 *   A2. `idle` is the bytes of the free blocks that may have pages: from the first to the last
 *       touched byte of each.  Above MPIR_CVAR_MEM_KEEP the pages of a freed block go back to the
 *       system, and all of them before a request for memory fails; a block without pages is called
 *       bare.  A network that keeps a registration (tp/ofi/cache.c) pins whole blocks of 64 KiB, so
 *       bare neighbours may have untouched pages again: these are not counted.
 *   A3. An arena without a used block is dropped when more than MPIR_CVAR_MEM_KEEP bytes would be
 *       idle, before a request for memory or a descriptor fails, and at the end.  Its pages go back
 *       first: peers keep their mappings of it for a while.
 *   A4. After a failure no block is given out: a peer that is still in its epoch may store into
 *       what has been freed.
 *
 * Start with mem_arena_alloc(). */
#include "mem/mem_types.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/proc.h"
#include "boot/boot.h"
#include "var/var.h"

enum {
    UNIT = 64,                       /* bytes; sizes and offsets are multiples */
    ARENA_LEAST = 4 << 20,           /* bytes of the first arena; each next is twice as large */
    ARENA_MOST = 64 << 20,           /* ... at most this */
    BARE_FROM = 64 << 10             /* bytes; fewer pages are not worth a system call */
};

struct arena {
    struct list link;
    struct mem_segment *seg;
    size_t used;                     /* bytes in used blocks */
    struct block *first;             /* by address */
};

struct block {
    struct list link;                /* free: in its bin; a record without a block: in `spare` */
    struct arena *arena;
    struct block *before, *after;    /* by address; NULL: the end of the arena */
    size_t off, size;                /* bytes */
    size_t from, to;                 /* offsets in the arena; outside there are no pages of it */
    uint8_t used;
};

static size_t paged(const struct block *b)
{
    return b->to - b->from;
}

/* --- bins ----------------------------------------------------------------------------------- */

/* The bin of blocks of `units` units: those below 16 have one each. */
static unsigned bin_of(size_t units)
{
    if (units < MEM_BINS_SUB)
        return (unsigned)units;
    unsigned top = 63 - (unsigned)__builtin_clzll(units);
    return (top - 3) * MEM_BINS_SUB + (unsigned)((units >> (top - 4)) & (MEM_BINS_SUB - 1));
}

/* The first bin all of whose blocks have `size` bytes. */
static unsigned bin_from(size_t size)
{
    size_t units = size / UNIT;
    if (units >= MEM_BINS_SUB)
        units += ((size_t)1 << (63 - (unsigned)__builtin_clzll(units) - 4)) - 1;
    return bin_of(units);
}

static void bin_add(struct mem_arenas *a, struct block *b)
{
    unsigned i = bin_of(b->size / UNIT);
    list_push_front(&a->bin[i], &b->link);
    a->filled[i / 64] |= UINT64_C(1) << i % 64;
    a->idle += paged(b);
}

static void bin_remove(struct mem_arenas *a, struct block *b)
{
    unsigned i = bin_of(b->size / UNIT);
    list_del(&b->link);
    if (list_empty(&a->bin[i]))
        a->filled[i / 64] &= ~(UINT64_C(1) << i % 64);
    a->idle -= paged(b);
}

/* Bytes before the first aligned place of b. */
static size_t before_aligned(const struct block *b, size_t align)
{
    return -((uintptr_t)b->arena->seg->base + b->off) & (align - 1);
}

/* Of the blocks that may be too short, one in which `size` bytes fit: a hole that such a block has
 * left.  It has its pages, and often the aligned place.  NULL: not among the first ones. */
static struct block *hole_take(struct mem_arenas *a, size_t size, size_t align, unsigned end)
{
    enum { LOOKS = 8 };
    int looks = 0;
    for (unsigned i = bin_of(size / UNIT); i < end && looks < LOOKS; i++)
        for (struct list *l = a->bin[i].next; l != &a->bin[i] && looks < LOOKS; l = l->next) {
            struct block *b = LIST_OBJ(l, struct block, link);
            looks++;
            if (b->size < size || b->size - size < before_aligned(b, align))
                continue;
            bin_remove(a, b);
            return b;
        }
    return NULL;
}

/* A free block that has `size` bytes at an aligned place.  NULL: none. */
static struct block *bin_take(struct mem_arenas *a, size_t size, size_t align)
{
    unsigned from = bin_from(size + (align > UNIT ? align - UNIT : 0));
    struct block *hole = hole_take(a, size, align, from);
    if (hole)
        return hole;
    for (unsigned i = from / 64; i < MEM_BINS / 64; i++) {
        uint64_t set = a->filled[i];
        if (i == from / 64)
            set &= ~UINT64_C(0) << from % 64;
        if (!set)
            continue;
        struct list *l = a->bin[64 * i + (unsigned)__builtin_ctzll(set)].next;
        struct block *b = LIST_OBJ(l, struct block, link);
        bin_remove(a, b);
        return b;
    }
    return NULL;
}

/* --- blocks --------------------------------------------------------------------------------- */

static struct block *record_new(struct mem_arenas *a)
{
    struct list *l = list_pop(&a->spare);
    struct block *b = l ? LIST_OBJ(l, struct block, link) : malloc(sizeof *b);
    if (b)
        list_init(&b->link);
    return b;
}

static void record_free(struct mem_arenas *a, struct block *b)
{
    list_push_front(&a->spare, &b->link);
}

/* b keeps its first `size` bytes, the rest becomes a free block behind it. -ENOMEM: b is
 * unchanged. */
static int split(struct mem_arenas *a, struct block *b, size_t size)
{
    struct block *rest = record_new(a);
    if (!rest)
        return -ENOMEM;
    rest->arena = b->arena;
    rest->before = b;
    rest->after = b->after;
    if (b->after)
        b->after->before = rest;
    b->after = rest;
    rest->off = b->off + size;
    rest->size = b->size - size;
    rest->used = 0;
    rest->from = b->from > rest->off ? b->from : rest->off;
    rest->to = b->to > rest->off ? b->to : rest->off;
    b->from = b->from < rest->off ? b->from : rest->off;
    b->to = b->to < rest->off ? b->to : rest->off;
    b->size = size;
    return 0;
}

/* Join b, which is in no bin, with its free neighbour `next`. */
static void join(struct mem_arenas *a, struct block *b, struct block *next)
{
    bin_remove(a, next);
    b->size += next->size;
    if (paged(next)) {
        b->from = paged(b) ? b->from : next->from;
        b->to = next->to;
    }
    b->after = next->after;
    if (next->after)
        next->after->before = b;
    record_free(a, next);
}

/* The pages that lie wholly in b go back to the system (A2). */
static void strip(struct block *b)
{
    const struct mem_segment *s = b->arena->seg;
    size_t page = mem_page(), first = (b->off + page - 1) / page * page;
    size_t from = b->from / page * page, to = (b->off + b->size) / page * page;
    from = from > first ? from : first;
    to = to < b->to ? to : (b->to + page - 1) / page * page;
    if (to > from)
        mem_pages_go(s, from, to - from);
    if (to > from && fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
                               (off_t)(to - from)) == 0)
        b->to = b->from;
}

/* --- arenas --------------------------------------------------------------------------------- */

static void arena_drop(struct mem_arenas *a, struct arena *x)
{
    for (struct block *b = x->first, *next; b; b = next) {
        next = b->after;
        if (!b->used)
            bin_remove(a, b);
        free(b);
    }
    list_del(&x->link);
    a->count--;
    pvar_set_add(pvar_proc(), PVAR_ARENA_BYTES, -(uint64_t)x->seg->size);
    mem_pages_go(x->seg, 0, x->seg->size);
    fallocate(x->seg->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)x->seg->size);
    mem_segment_drop(x->seg);
    free(x);
}

/* A new arena: one free block, in no bin.  NULL: no memory. */
static struct block *arena_new(struct mem_arenas *a)
{
    size_t size = (size_t)ARENA_LEAST << (a->count < 4 ? a->count : 4);
    struct arena *x = calloc(1, sizeof *x);
    struct block *b = record_new(a);
    if (!x || !b || mem_segment_create(size < ARENA_MOST ? size : ARENA_MOST,
                                       MEM_LAZY | MEM_ONCE | MEM_LASTS, &x->seg) != 0) {
        free(x);
        free(b);
        return NULL;
    }
    list_push(&a->arenas, &x->link);
    a->count++;
    x->first = b;
    *b = (struct block){.arena = x, .size = x->seg->size};
    list_init(&b->link);
    pvar_set_add(pvar_proc(), PVAR_ARENA_BYTES, x->seg->size);
    pvar_set_max(pvar_proc(), PVAR_ARENA_BYTES_HIGH,
                 atomic_load_explicit(&pvar_proc()->v[PVAR_ARENA_BYTES],
                                      memory_order_relaxed));
    return b;
}

static struct mem_arenas *arenas_get(struct mem *m)
{
    if (m->arenas)
        return m->arenas;
    struct mem_arenas *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    for (unsigned i = 0; i < MEM_BINS; i++)
        list_init(&a->bin[i]);
    list_init(&a->arenas);
    list_init(&a->spare);
    map_init(&a->used);
    return m->arenas = a;
}

void mem_arenas_free(struct mem *m)
{
    struct mem_arenas *a = m->arenas;
    if (!a)
        return;
    for (struct list *l; (l = list_first(&a->arenas)) != NULL;)
        arena_drop(a, LIST_OBJ(l, struct arena, link));
    for (struct list *l; (l = list_pop(&a->spare)) != NULL;)
        free(LIST_OBJ(l, struct block, link));
    map_destroy(&a->used);
    free(a);
    m->arenas = NULL;
}

int mem_arenas_trim(struct mem *m)
{
    struct mem_arenas *a = m->arenas;
    int gave = 0;
    for (struct list *l = a ? a->arenas.next : NULL, *next; l && l != &a->arenas; l = next) {
        struct arena *x = LIST_OBJ(l, struct arena, link);
        next = l->next;
        if (!x->used) {
            arena_drop(a, x);
            gave = 1;
            continue;
        }
        for (struct block *b = x->first; b; b = b->after) {
            if (b->used || !paged(b))
                continue;
            bin_remove(a, b);
            strip(b);
            gave |= !paged(b);
            bin_add(a, b);
        }
    }
    return gave;
}

/* --- what MPI_Alloc_mem calls ---------------------------------------------------------------- */

/* The bytes before the first aligned place of b, and those behind the block, become free blocks. */
static struct block *trim(struct mem_arenas *a, struct block *b, size_t size, size_t align)
{
    size_t front = before_aligned(b, align);
    if (front && split(a, b, front) == 0) {
        bin_add(a, b);
        b = b->after;
    } else if (front) {
        bin_add(a, b);
        return NULL;
    }
    /* Without a record the rest stays with the block. */
    if (b->size > size && split(a, b, size) == 0)
        bin_add(a, b->after);
    return b;
}

/* A used block becomes free, joined with its free neighbours. */
static void release(struct mem_arenas *a, struct block *b)
{
    struct arena *x = b->arena;
    size_t keep = (size_t)cvar.mem_keep;
    b->used = 0;
    if (b->after && !b->after->used)
        join(a, b, b->after);
    if (b->before && !b->before->used) {
        struct block *before = b->before;
        bin_remove(a, before);
        bin_add(a, b); /* join() takes it out */
        join(a, before, b);
        b = before;
    }
    if (x->used && a->idle + paged(b) > keep && paged(b) >= BARE_FROM)
        strip(b);
    bin_add(a, b);
    if (!x->used && a->idle > keep)
        arena_drop(a, x);
}

void *mem_arena_alloc(size_t size, size_t align)
{
    struct mem *m = proc->mem;
    if (!m || m->count < 2 || boot_failed_count() || size > MEM_ARENA_MOST ||
        align > MEM_ARENA_MOST)
        return NULL;
    struct mem_arenas *a = arenas_get(m);
    if (!a)
        return NULL;
    size = size ? (size + UNIT - 1) / UNIT * UNIT : UNIT;
    struct block *b = bin_take(a, size, align);
    if (!b)
        b = arena_new(a);
    if (b)
        b = trim(a, b, size, align);
    if (!b)
        return NULL;
    char *p = (char *)b->arena->seg->base + b->off;
    b->used = 1;
    b->from = b->off;
    b->to = b->off + b->size;
    if (map_put(&a->used, (uintptr_t)p, b)) {
        release(a, b);
        return NULL;
    }
    b->arena->used += b->size;
    pvar_set_add(pvar_proc(), PVAR_ARENA_USED, b->size);
    return p;
}

/* again: the memory may be given to the next one that asks. */
static int block_end(void *p, int again)
{
    struct mem_arenas *a = proc->mem ? proc->mem->arenas : NULL;
    struct block *b = a ? map_del(&a->used, (uintptr_t)p) : NULL;
    if (!b)
        return 0;
    struct arena *x = b->arena;
    x->used -= b->size;
    pvar_set_add(pvar_proc(), PVAR_ARENA_USED, -(uint64_t)b->size);
    if (again)
        release(a, b);
    else if (!x->used) /* A4: the block stays used, though it has no user */
        arena_drop(a, x);
    return 1;
}

int mem_arena_free(void *p)
{
    return block_end(p, !boot_failed_count());
}

int mem_arena_retire(void *p)
{
    return block_end(p, 0);
}
