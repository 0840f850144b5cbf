/* alloc.c - memory that changes hands: what one thread gives back another may get, and malloc()
 * orders the two. The linker puts these before the functions of the C library. */
#include "instrument/instrument.h"

#define DECLARE(type, name, params)                                                                \
    type REAL(name) params;                                                                        \
    type WRAP(name) params;                                                                        \
    type WRAP(name) params
/* Not every C library has these. */
#define DECLARE_NEWER(type, name, params)                                                          \
    type REAL(name) params __attribute__((weak));                                                  \
    type WRAP(name) params;                                                                        \
    type WRAP(name) params

static char heap;

void *alloc_got(void *p)
{
    if (p && instrument_watched((uint64_t)(uintptr_t)p))
        order_acquire(&heap);
    return p;
}

void alloc_gives(const void *p)
{
    if (p && instrument_watched((uint64_t)(uintptr_t)p))
        order_release(&heap);
}

DECLARE(void, free, (void *p))
{
    alloc_gives(p);
    REAL(free)(p);
}

DECLARE(void *, malloc, (size_t n))
{
    return alloc_got(REAL(malloc)(n));
}

DECLARE(void *, calloc, (size_t n, size_t each))
{
    return alloc_got(REAL(calloc)(n, each));
}

DECLARE(void *, realloc, (void *old, size_t n))
{
    alloc_gives(old);
    return alloc_got(REAL(realloc)(old, n));
}

DECLARE_NEWER(void *, reallocarray, (void *old, size_t n, size_t each))
{
    alloc_gives(old);
    return alloc_got(REAL(reallocarray)(old, n, each));
}

DECLARE(int, posix_memalign, (void **p, size_t align, size_t n))
{
    int err = REAL(posix_memalign)(p, align, n);
    if (!err)
        alloc_got(*p);
    return err;
}

DECLARE(void *, aligned_alloc, (size_t align, size_t n))
{
    return alloc_got(REAL(aligned_alloc)(align, n));
}

DECLARE_NEWER(void *, memalign, (size_t align, size_t n))
{
    return alloc_got(REAL(memalign)(align, n));
}

DECLARE_NEWER(void *, valloc, (size_t n))
{
    return alloc_got(REAL(valloc)(n));
}
