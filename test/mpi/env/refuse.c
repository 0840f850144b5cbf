/* refuse.c - to be preloaded: memory that the library asks for is refused at a chosen place.
 * refuse_arm() says where; only requests of libmpi are counted. With -DSYSTEM, mappings,
 * descriptors and files of memory are refused as well. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);

static uintptr_t code, code_end; /* of libmpi */
static long counted, denied, first = -1, last = -1;
static int armed;

static int look(struct dl_phdr_info *d, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    for (int i = 0; d->dlpi_name && strstr(d->dlpi_name, "/libmpi.so") && i < d->dlpi_phnum; i++) {
        uintptr_t at = d->dlpi_addr + d->dlpi_phdr[i].p_vaddr;
        if (d->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        code = code && code < at ? code : at;
        code_end = at + d->dlpi_phdr[i].p_memsz > code_end ? at + d->dlpi_phdr[i].p_memsz
                                                           : code_end;
    }
    return 0;
}

/* From now on, requests [at, at + n) are refused; at < 0: they are only counted. */
void refuse_arm(long at, long n)
{
    dl_iterate_phdr(look, NULL);
    counted = denied = 0;
    first = at;
    last = at + n;
    armed = 1;
}

/* The end; how many requests came, and how many of them were refused. */
long refuse_disarm(long *refused)
{
    armed = 0;
    *refused = denied;
    return counted;
}

static int refused(const void *caller)
{
    if (!armed || (uintptr_t)caller < code || (uintptr_t)caller >= code_end)
        return 0;
    long k = __atomic_fetch_add(&counted, 1, __ATOMIC_RELAXED);
    if (k == first && getenv("REFUSE_TRAP"))
        __builtin_trap();
    if (first < 0 || k < first || k >= last)
        return 0;
    __atomic_fetch_add(&denied, 1, __ATOMIC_RELAXED);
    return 1;
}
#define REFUSED refused(__builtin_return_address(0))

void *malloc(size_t n)
{
    if (!REFUSED)
        return __libc_malloc(n);
    errno = ENOMEM;
    return NULL;
}

void *calloc(size_t n, size_t size)
{
    if (!REFUSED)
        return __libc_calloc(n, size);
    errno = ENOMEM;
    return NULL;
}

void *realloc(void *p, size_t n)
{
    if (!REFUSED)
        return __libc_realloc(p, n);
    errno = ENOMEM;
    return NULL;
}

void *aligned_alloc(size_t align, size_t n)
{
    if (!REFUSED)
        return __libc_memalign(align, n);
    errno = ENOMEM;
    return NULL;
}

int posix_memalign(void **p, size_t align, size_t n)
{
    if (REFUSED)
        return ENOMEM;
    *p = __libc_memalign(align, n);
    return *p ? 0 : ENOMEM;
}

char *strdup(const char *s)
{
    size_t n = strlen(s) + 1;
    char *p = REFUSED ? NULL : __libc_malloc(n);
    if (!p)
        errno = ENOMEM;
    return p ? memcpy(p, s, n) : NULL;
}

#ifdef SYSTEM
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
    if (!REFUSED)
        return REAL(mmap)(at, n, prot, flags, fd, off);
    errno = ENOMEM;
    return MAP_FAILED;
}

int ftruncate(int fd, off_t n)
{
    if (!REFUSED)
        return REAL(ftruncate)(fd, n);
    errno = ENOSPC;
    return -1;
}

int memfd_create(const char *name, unsigned flags)
{
    if (!REFUSED)
        return REAL(memfd_create)(name, flags);
    errno = EMFILE;
    return -1;
}

int open(const char *name, int flags, ...)
{
    va_list v;
    va_start(v, flags);
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(v, int) : 0;
    va_end(v);
    if (!REFUSED)
        return REAL(open)(name, flags, mode);
    errno = EMFILE;
    return -1;
}
#endif
