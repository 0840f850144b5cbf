/* hash.h - several numbers, or bytes, as one: keys of maps, and what two processes compare. It
 * withstands chance and no adversary. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Appends v to h; the order counts. 2^64 / golden ratio spreads it over the high bits. */
static inline uint64_t hash_mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

/* FNV-1a: begin with HASH_BYTES; more bytes may follow with the result. */
#define HASH_BYTES 0xcbf29ce484222325u
static inline uint64_t hash_bytes(uint64_t h, const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < len; i++)
        h = (h ^ at[i]) * 1099511628211u;
    return h;
}

#endif
