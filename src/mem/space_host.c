/* space_host.c - host memory as a space: copies are done at the call, marks are done. */
#include "mem/space_types.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { GRAIN = 64 << 10 };

static int one(void)
{
    return 1;
}

static int host_open(int index, struct space **s, struct space_caps *caps)
{
    if (index)
        return -ENODEV;
    *caps = (struct space_caps){.flags = SPACE_PEER, .grain = GRAIN, .bytes = SIZE_MAX / 2};
    *s = calloc(1, sizeof **s);
    return *s ? 0 : -ENOMEM;
}

static void host_close(struct space *s)
{
    free(s);
}

static int host_reserve(struct space *s, size_t len, uint64_t *addr)
{
    (void)s;
    void *p = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return -ENOMEM;
    *addr = (uint64_t)(uintptr_t)p;
    return 0;
}

static void host_unreserve(struct space *s, uint64_t addr, size_t len)
{
    (void)s;
    munmap((void *)(uintptr_t)addr, len);
}

static int host_commit(struct space *s, uint64_t addr, size_t len)
{
    (void)s;
    return mprotect((void *)(uintptr_t)addr, len, PROT_READ | PROT_WRITE) ? -ENOMEM : 0;
}

static void host_decommit(struct space *s, uint64_t addr, size_t len)
{
    (void)s;
    /* a new mapping gives the pages back and can no longer be read */
    mmap((void *)(uintptr_t)addr, len, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

static int host_pin(struct space *s, void *host, size_t len)
{
    (void)s;
    (void)host;
    (void)len;
    return 0;
}

static void host_unpin(struct space *s, void *host, size_t len)
{
    (void)s;
    (void)host;
    (void)len;
}

static int host_copy(struct space *s, struct space *from, enum space_way way,
                     const struct space_run *r, unsigned n, struct space_mark *m)
{
    (void)s;
    (void)from;
    (void)way;
    for (unsigned i = 0; i < n; i++)
        memcpy((void *)(uintptr_t)r[i].dst, (const void *)(uintptr_t)r[i].src, r[i].len);
    *m = (struct space_mark){{0, 0}};
    return 0;
}

static int host_done(struct space *s, const struct space_mark *m)
{
    (void)s;
    (void)m;
    return 0;
}

static int host_before(struct space *s, void *stream, const struct space_mark *m)
{
    (void)s;
    (void)stream;
    (void)m;
    return 0;
}

static int host_after(struct space *s, void *stream, struct space_mark *m)
{
    (void)s;
    (void)stream;
    *m = (struct space_mark){{0, 0}};
    return 0;
}

static int host_launch(struct space *s, void *stream, const struct space_job *job)
{
    (void)s;
    (void)stream;
    (void)job;
    return -ENOTSUP;
}

/* Any address is good for a load or store, or for none. */
static int host_holds(struct space *s, uint64_t addr, size_t len)
{
    (void)s;
    (void)addr;
    (void)len;
    return 0;
}

static void host_describe(struct space *s, char *text, size_t len)
{
    (void)s;
    snprintf(text, len, "host memory");
}

const struct space_ops space_host = {
    .name = "host", .count = one, .open = host_open, .close = host_close,
    .reserve = host_reserve, .unreserve = host_unreserve, .commit = host_commit,
    .decommit = host_decommit, .pin = host_pin, .unpin = host_unpin, .copy = host_copy,
    .done = host_done, .before = host_before, .after = host_after, .launch = host_launch,
    .holds = host_holds, .describe = host_describe,
};
