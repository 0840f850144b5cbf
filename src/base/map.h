/* map.h - hash map from a 64-bit key to a pointer; memory grows with its entries.
 *
 * Keys are any values; NULL values are not stored.  Not thread-safe. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map_entry {
    uint64_t key;
    void *value; /* NULL: empty */
};

struct map {
    struct map_entry *slots;
    size_t mask;  /* slots - 1; a power of two minus one; 0 with slots == NULL: nothing yet */
    size_t count; /* entries */
};

void map_init(struct map *m);
void map_destroy(struct map *m);
/* The slot where a look-up for the key begins. */
static inline size_t map_home(const struct map *m, uint64_t key)
{
    /* Multiplication by an odd constant (2^64 / golden ratio) spreads consecutive keys. */
    return (size_t)((key * 0x9e3779b97f4a7c15ull) >> 32) & m->mask;
}
/* NULL if absent */
static inline void *map_get(const struct map *m, uint64_t key)
{
    if (!m->slots)
        return NULL;
    for (size_t i = map_home(m, key); m->slots[i].value; i = (i + 1) & m->mask)
        if (m->slots[i].key == key)
            return m->slots[i].value;
    return NULL;
}
int map_put(struct map *m, uint64_t key, void *value); /* 0 or -ENOMEM; replaces */
/* of a key that is present: needs no memory */
void map_set(struct map *m, uint64_t key, void *value);
void *map_del(struct map *m, uint64_t key);            /* the value, or NULL */
/* Next entry at or after *cursor (start with 0); NULL at the end.  No put or del between calls. */
struct map_entry *map_next(const struct map *m, size_t *cursor);

#endif
