/* kvs.h - the key-value store of a job: text to text. */
#ifndef LAUNCH_KVS_H
#define LAUNCH_KVS_H

#include <stddef.h>

#include "base/map.h"

struct kvs {
    struct map map; /* hash of the key -> chain of entries */
    size_t bytes;   /* of keys and values */
};

void kvs_init(struct kvs *k);
void kvs_free(struct kvs *k);
/* Set or replace. 0; -ENOMEM; -ENOSPC when the job stores more than a correct program would. */
int kvs_put(struct kvs *k, const char *key, const char *value);
int kvs_del(struct kvs *k, const char *key); /* 0 or -ENOENT */
const char *kvs_get(const struct kvs *k, const char *key); /* NULL if absent */

#endif
