/* map.c - a hash map from 64-bit keys to pointers. */
#include "base/map.h"

#include <errno.h>
#include <stdlib.h>

/* Linear probing, load at most 3/4. Deletion moves later entries back, so there are no tombstones,
 * and a look-up ends at the first empty slot. */

void map_init(struct map *m)
{
    m->slots = NULL;
    m->mask = 0;
    m->count = 0;
}

void map_destroy(struct map *m)
{
    free(m->slots);
    map_init(m);
}

static void place(struct map *m, uint64_t key, void *value)
{
    size_t i = map_home(m, key);
    while (m->slots[i].value && m->slots[i].key != key)
        i = (i + 1) & m->mask;
    if (!m->slots[i].value)
        m->count++;
    m->slots[i].key = key;
    m->slots[i].value = value;
}

static int grow(struct map *m)
{
    size_t n = m->slots ? (m->mask + 1) * 2 : 16;
    struct map bigger = {calloc(n, sizeof *bigger.slots), n - 1, 0};
    if (!bigger.slots)
        return -ENOMEM;
    for (size_t i = 0; m->slots && i <= m->mask; i++)
        if (m->slots[i].value)
            place(&bigger, m->slots[i].key, m->slots[i].value);
    free(m->slots);
    *m = bigger;
    return 0;
}

int map_put(struct map *m, uint64_t key, void *value)
{
    if ((!m->slots || (m->count + 1) * 4 > (m->mask + 1) * 3) && grow(m) != 0)
        return -ENOMEM;
    place(m, key, value);
    return 0;
}

void map_set(struct map *m, uint64_t key, void *value)
{
    size_t i = map_home(m, key);
    while (m->slots[i].key != key || !m->slots[i].value)
        i = (i + 1) & m->mask;
    m->slots[i].value = value;
}

void *map_del(struct map *m, uint64_t key)
{
    if (!m->slots)
        return NULL;
    size_t i = map_home(m, key);
    while (m->slots[i].value && m->slots[i].key != key)
        i = (i + 1) & m->mask;
    void *value = m->slots[i].value;
    if (!value)
        return NULL;
    m->count--;
    for (size_t hole = i, j = (i + 1) & m->mask;; j = (j + 1) & m->mask) {
        if (!m->slots[j].value) {
            m->slots[hole].value = NULL;
            return value;
        }
        /* An entry may move into the hole unless its home lies cyclically in (hole, j]. */
        size_t h = map_home(m, m->slots[j].key);
        if (((j - h) & m->mask) >= ((j - hole) & m->mask)) {
            m->slots[hole] = m->slots[j];
            hole = j;
        }
    }
}

struct map_entry *map_next(const struct map *m, size_t *cursor)
{
    for (; m->slots && *cursor <= m->mask; ++*cursor)
        if (m->slots[*cursor].value)
            return &m->slots[(*cursor)++];
    return NULL;
}
