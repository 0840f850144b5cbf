/* heap.c - blocks of glibc's malloc, found by a walk over the heap. Start with bounds_heap_find().
 *
 *   lo: | size|bits  block ... | size|bits  block ... | ... | size|bits  the rest of the heap |
 *       '- header -' 16 bytes; a block in use has the first 8 bytes of the next header, too
 *
 * A block that a call may use stays where it is during the call, and with it all memory below it.
 * So other threads may allocate meanwhile: they can only make the walk fail, or lead to a block
 * that is none, which three walks do not find alike. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sched.h"
#include "bounds/bounds_types.h"

enum { HEADER = 16, SMALLEST = 32, BITS = 7, PREVIOUS_IN_USE = 1, ELSEWHERE = 6 };
enum { WALKS = 3 };
/* Blocks that it may walk over at first; from then on one more for each us: about a hundredth of
 * the time. */
enum { FREE_STEPS = 4 << 20 };

static uint64_t word(uint64_t at)
{
    return *(const volatile uint64_t *)(uintptr_t)at;
}

static uint64_t brk_now(void)
{
    return (uint64_t)(uintptr_t)sbrk(0);
}

int bounds_heap_holds(const struct bounds_heap *h, uint64_t at)
{
    return h->lo && at >= h->lo && at < brk_now();
}

/* The header of the block that holds `at`, or that ends before it: the header behind it is in none.
 * 0: not known. *rest: it is the rest of the heap, which is no block. *len: the size that was
 * checked, for others may write the header again. */
static uint64_t walk(struct bounds_heap *h, uint64_t at, uint64_t end, int *rest, uint64_t *len)
{
    uint64_t c = h->lo, size;
    *rest = 0;
    for (; c + HEADER <= at && c + SMALLEST <= end; c += size) {
        size = word(c + 8);
        h->steps++;
        if (size & ELSEWHERE)
            return 0;
        size &= ~(uint64_t)BITS;
        if (size < SMALLEST || size % HEADER || size > end - c)
            return 0;
        *rest = c + size >= end;
        *len = size;
        if (at < c + size + HEADER)
            return c;
    }
    return 0;
}

static int may_walk(struct bounds_heap *h)
{
    return h->steps < FREE_STEPS || h->steps - FREE_STEPS < (time_now() - h->since) / 1000;
}

/* 1: so long as nothing has changed, it is the block that was found before, in use, and holds all
 * to `end`. An old header may still say what it said, so only a walk may tell that a block ends
 * before, or is free. A header below `at` can be read; the heap may have become shorter than
 * others. */
static int is_cached(const struct bounds_heap *h, uint64_t at, uint64_t end,
                     struct bounds_object *o)
{
    uint64_t c = h->cache[at / HEADER % HEAP_CACHE].at;
    uint64_t size = h->cache[at / HEADER % HEAP_CACHE].size;
    if (!c || at < c + HEADER || end > c + size + 8 || (word(c + 8) & ~(uint64_t)BITS) != size ||
        c + size + HEADER > brk_now() || !(word(c + size + 8) & PREVIOUS_IN_USE))
        return 0;
    *o = (struct bounds_object){.kind = BOUNDS_BLOCK, .at = c + HEADER, .end = c + size + 8};
    return 1;
}

static void find(struct bounds_heap *h, uint64_t at, struct bounds_object *o)
{
    int rest;
    uint64_t size = 0, end = brk_now(), c = walk(h, at, end, &rest, &size);
    if (!c)
        return;
    *o = (struct bounds_object){.kind = BOUNDS_BLOCK, .at = c + HEADER, .end = c + size + 8};
    if (rest || !(word(c + size + 8) & PREVIOUS_IN_USE))
        o->kind = BOUNDS_FREED;
}

void bounds_heap_find(struct bounds_heap *h, uint64_t at, uint64_t end, struct bounds_object *o)
{
    struct bounds_object again;
    o->kind = BOUNDS_UNKNOWN;
    if (is_cached(h, at, end, o) || !may_walk(h))
        return;
    find(h, at, o);
    for (int i = 1; i < WALKS && o->kind != BOUNDS_UNKNOWN; i++) {
        again.kind = BOUNDS_UNKNOWN;
        find(h, at, &again);
        if (again.kind != o->kind || again.at != o->at || again.end != o->end)
            o->kind = BOUNDS_UNKNOWN;
    }
    if (o->kind != BOUNDS_BLOCK)
        return;
    h->cache[at / HEADER % HEAP_CACHE].at = o->at - HEADER;
    h->cache[at / HEADER % HEAP_CACHE].size = o->end - o->at + HEADER - 8;
}

static int is_glibc(void)
{
    Dl_info of_malloc, of_libc;
    void *malloc_here = dlsym(RTLD_DEFAULT, "malloc"),
         *libc = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    return malloc_here && libc && dladdr(malloc_here, &of_malloc) && dladdr(libc, &of_libc) &&
           of_malloc.dli_fbase == of_libc.dli_fbase;
}

/* Does it find a block of its own? */
static int is_right(struct bounds_heap *h)
{
    struct bounds_object o = {.kind = BOUNDS_UNKNOWN};
    char *volatile p = malloc(100);
    if (!p)
        return 0;
    uint64_t at = (uint64_t)(uintptr_t)p, room = malloc_usable_size(p);
    find(h, at + 50, &o);
    int right = o.kind == BOUNDS_BLOCK && o.at == at && o.end == at + room;
    free(p);
    return right;
}

void bounds_heap_init(struct bounds_heap *h)
{
    uint64_t hi;
    h->since = time_now();
    if (!is_glibc() || !bounds_area_named("[heap]", &h->lo, &hi) || !is_right(h))
        h->lo = 0;
}
