/* mapped.c - what is mapped, and blocks of glibc's malloc that have mappings of their own. Start
 * with bounds_area_find().
 *
 * The kernel joins adjacent mappings, so an area may hold several such blocks; the newest is its
 * begin. From there each one's size leads to the next, up to the end: two words of another mapping
 * may look like a header, but what lies behind does not. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "bounds/bounds_types.h"

enum { HEADER = 16, BITS = 7, OWN_MAPPING = 2 };

/* --- is it mapped? ---------------------------------------------------------------------------- */

/* Whole pages. With MS_ASYNC it only looks. */
static int is_mapped(uint64_t from, uint64_t to)
{
    return !msync((void *)(uintptr_t)from, (size_t)(to - from), MS_ASYNC) || errno != ENOMEM;
}

uint64_t bounds_mapped_end(uint64_t at, uint64_t end)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), first = at & ~(page - 1);
    uint64_t n = (end - first + page - 1) / page, some = 0;
    int was = errno;
    if (is_mapped(first, first + n * page)) {
        some = n;
    } else {
        while (n - some > 1) { /* n pages are not mapped, the first `some` are */
            uint64_t half = some + (n - some) / 2;
            if (is_mapped(first, first + half * page))
                some = half;
            else
                n = half;
        }
    }
    errno = was;
    uint64_t there = some ? first + some * page : at;
    return there < end ? there : end;
}

/* --- areas ------------------------------------------------------------------------------------ */

struct area {
    uint64_t lo, hi;
    int is_plain; /* private memory without a file or name that can be written */
};
typedef int is_wanted(const struct area *a, const char *name, const void *arg);

/* Each line of /proc/self/maps until one is wanted. */
static int look_for(is_wanted *wanted, const void *arg, struct area *a)
{
    FILE *f = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t room = 0;
    int found = 0;
    while (f && !found && getline(&line, &room, f) > 0) {
        unsigned long long lo, hi, inode;
        char mode[8], name[32] = "";
        if (sscanf(line, "%llx-%llx %7s %*s %*s %llu %31s", &lo, &hi, mode, &inode, name) < 4)
            continue;
        *a = (struct area){lo, hi, !strcmp(mode, "rw-p") && !inode && !*name};
        found = wanted(a, name, arg);
    }
    free(line);
    if (f)
        fclose(f);
    return found;
}

static int has_name(const struct area *a, const char *name, const void *arg)
{
    (void)a;
    return !strcmp(name, arg);
}

int bounds_area_named(const char *name, uint64_t *lo, uint64_t *hi)
{
    struct area a;
    if (!look_for(has_name, name, &a))
        return 0;
    *lo = a.lo;
    *hi = a.hi;
    return 1;
}

static int has_address(const struct area *a, const char *name, const void *arg)
{
    const uint64_t *at = arg;
    (void)name;
    return *at >= a->lo && *at < a->hi;
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* Its size, or 0: no such block begins there. Other threads may unmap their blocks meanwhile, so
 * the kernel reads. */
static uint64_t block_at(uint64_t at, uint64_t hi)
{
    uint64_t head[2];
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct iovec to = {head, sizeof head}, from = {(void *)(uintptr_t)at, sizeof head};
    if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)sizeof head)
        return 0;
    uint64_t size = head[1] & ~(uint64_t)BITS;
    return !head[0] && (head[1] & BITS) == OWN_MAPPING && size && size % page == 0 &&
                   size <= hi - at
               ? size
               : 0;
}

static void set_block(struct bounds_object *o, uint64_t at, uint64_t size)
{
    *o = (struct bounds_object){.kind = BOUNDS_BLOCK, .at = at + HEADER, .end = at + size};
}

static int is_known(struct bounds_areas *a, uint64_t at, uint64_t end, struct bounds_object *o)
{
    for (int i = 0; i < AREAS; i++) {
        uint64_t begin = a->block[i].at, size = a->block[i].size;
        if (at >= begin + HEADER && end <= begin + size && block_at(begin, begin + size) == size) {
            set_block(o, begin, size);
            return 1;
        }
        if (at >= a->unknown[i].lo && at < a->unknown[i].hi && a->unknown[i].uses) {
            a->unknown[i].uses--;
            return 1;
        }
    }
    return 0;
}

static int walk(const struct area *in, uint64_t at, struct bounds_object *o)
{
    uint64_t size, block = 0, has = 0;
    for (uint64_t c = in->lo; c < in->hi; c += size) {
        if (!(size = block_at(c, in->hi)))
            return 0;
        if (at >= c + HEADER && at < c + size) {
            block = c;
            has = size;
        }
    }
    if (has)
        set_block(o, block, has);
    return has != 0;
}

void bounds_area_find(struct bounds_areas *a, uint64_t at, uint64_t end, struct bounds_object *o)
{
    struct area in;
    int was = errno;
    o->kind = BOUNDS_UNKNOWN;
    if (!a->is_glibc || is_known(a, at, end, o) || bounds_mapped_end(at, at + 1) == at)
        return;
    if (look_for(has_address, &at, &in)) {
        if (in.is_plain && walk(&in, at, o)) {
            unsigned i = a->next_block++ % AREAS;
            a->block[i].at = o->at - HEADER;
            a->block[i].size = o->end - o->at + HEADER;
        } else {
            unsigned i = a->next_unknown++ % AREAS;
            a->unknown[i].lo = in.lo;
            a->unknown[i].hi = in.hi;
            a->unknown[i].uses = AREA_USES;
        }
    }
    errno = was;
}
