/* ldcache.c - look-ups in the loader's cache, /etc/ld.so.cache. The file is not trusted. */
#include "launch/ldcache.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The format of glibc since 2.1, and the only one since 2.32: a head, entries, strings.  Offsets of
 * strings count from the head. */
static const char magic[] = "glibc-ld.so.cache1.1";
struct head {
    char magic[20];
    uint32_t entries, strings;
    uint8_t flags, unused[3];
    uint32_t extensions, more[3];
};
struct entry {
    int32_t flags;
    uint32_t key, value, os;
    uint64_t hwcap; /* not 0: for some processors only */
};
enum { CACHE_MAX = 64 << 20 };

void ldcache_open(struct ldcache *c)
{
    struct stat st;
    struct head h;
    char *text = NULL;
    *c = (struct ldcache){0};
    int fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    size_t n = fstat(fd, &st) || st.st_size < (off_t)sizeof h || st.st_size > CACHE_MAX
                   ? 0
                   : (size_t)st.st_size;
    if (n && (text = malloc(n + 1)) && read(fd, text, n) == (ssize_t)n) {
        text[n] = 0; /* so that every string in it ends */
        memcpy(&h, text, sizeof h);
        if (!memcmp(h.magic, magic, sizeof h.magic) &&
            h.entries <= (n - sizeof h) / sizeof(struct entry))
            *c = (struct ldcache){text, n};
    }
    if (!c->text)
        free(text);
    close(fd);
}

void ldcache_close(struct ldcache *c)
{
    free((void *)c->text);
    *c = (struct ldcache){0};
}

const char *ldcache_next(const struct ldcache *c, const char *name, const char *last)
{
    struct head h;
    struct entry e;
    int passed = !last;
    if (!c->text)
        return NULL;
    memcpy(&h, c->text, sizeof h);
    for (uint32_t i = 0; i < h.entries; i++) {
        memcpy(&e, c->text + sizeof h + i * sizeof e, sizeof e);
        if (e.key >= c->len || e.value >= c->len || e.hwcap || strcmp(c->text + e.key, name))
            continue;
        if (passed)
            return c->text + e.value;
        passed = c->text + e.value == last;
    }
    return NULL;
}
