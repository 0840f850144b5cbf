/* ldcache.h - the loader's cache, /etc/ld.so.cache: names of libraries and their files. */
#ifndef LAUNCH_LDCACHE_H
#define LAUNCH_LDCACHE_H

#include <stddef.h>

struct ldcache {
    const char *text; /* NULL: there is none */
    size_t len;
};

/* A missing or unreadable file is an empty cache. */
void ldcache_open(struct ldcache *c);
void ldcache_close(struct ldcache *c);
/* The next file for a name after `last` (NULL: the first), for plain processors; NULL: no more. */
const char *ldcache_next(const struct ldcache *c, const char *name, const char *last);

#endif
