/* kvs.c - the key-value store of the PMI server. */
#include "launch/kvs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { KVS_BYTES_MAX = 256 << 20 }; /* a bound on what runaway programs can make mpiexec store */

struct kvs_entry {
    struct kvs_entry *next; /* same hash */
    char *value;
    char key[];
};

static uint64_t hash(const char *s)
{
    return hash_bytes(HASH_BYTES, s, strlen(s));
}

static struct kvs_entry *find(const struct kvs *k, const char *key)
{
    struct kvs_entry *e = map_get(&k->map, hash(key));
    while (e && strcmp(e->key, key))
        e = e->next;
    return e;
}

void kvs_init(struct kvs *k)
{
    map_init(&k->map);
    k->bytes = 0;
}

void kvs_free(struct kvs *k)
{
    size_t cursor = 0;
    for (struct map_entry *m; (m = map_next(&k->map, &cursor));)
        for (struct kvs_entry *e = m->value, *next; e; e = next) {
            next = e->next;
            free(e->value);
            free(e);
        }
    map_destroy(&k->map);
}

int kvs_put(struct kvs *k, const char *key, const char *value)
{
    struct kvs_entry *e = find(k, key);
    size_t klen = strlen(key), vlen = strlen(value);
    if (k->bytes + klen + vlen > KVS_BYTES_MAX)
        return -ENOSPC;
    char *copy = strdup(value);
    if (!copy)
        return -ENOMEM;
    if (e) {
        k->bytes += vlen - strlen(e->value);
        free(e->value);
        e->value = copy;
        return 0;
    }
    if (!(e = malloc(sizeof *e + klen + 1))) {
        free(copy);
        return -ENOMEM;
    }
    memcpy(e->key, key, klen + 1);
    e->value = copy;
    e->next = map_get(&k->map, hash(key));
    if (map_put(&k->map, hash(key), e)) {
        free(copy);
        free(e);
        return -ENOMEM;
    }
    k->bytes += klen + vlen;
    return 0;
}

const char *kvs_get(const struct kvs *k, const char *key)
{
    const struct kvs_entry *e = find(k, key);
    return e ? e->value : NULL;
}

int kvs_del(struct kvs *k, const char *key)
{
    struct kvs_entry *first = map_get(&k->map, hash(key)), *e = first, *before = NULL;
    for (; e && strcmp(e->key, key); e = e->next)
        before = e;
    if (!e)
        return -ENOENT;
    if (before)
        before->next = e->next;
    else if (e->next)
        map_set(&k->map, hash(key), e->next);
    else
        map_del(&k->map, hash(key));
    k->bytes -= strlen(e->key) + strlen(e->value);
    free(e->value);
    free(e);
    return 0;
}
