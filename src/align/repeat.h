/* repeat.h - a collective call like one before it from the same place: the short way into the
 * history, with what the long way (digest.c) has found. Private to align/. */
#ifndef ALIGN_REPEAT_H
#define ALIGN_REPEAT_H

#include "align/align_types.h"
#include "base/hash.h"

/* Puts one call into the ring, which has room. */
static inline __attribute__((always_inline)) void history_put(struct align_history *h,
                                                             const struct align_repeat *r,
                                                             uint32_t pos)
{
    struct align_entry *e = &h->ring[h->calls & (h->room - 1)];
    h->hist = hash_mix(h->hist, r->key);
    h->types = hash_mix(h->types, r->typed);
    h->soft |= r->soft;
    h->blocking += r->blocking;
    h->calls++;
    e->site = r->site;
    e->bytes_type = r->bytes;
    e->what = r->what;
    e->hist = (uint32_t)(h->hist >> 16);
    e->types = (uint32_t)(h->types >> 16);
    e->pos = pos;
}

static inline struct align_repeat *history_repeat_at(struct align_history *h, uint64_t site)
{
    return &h->repeat[(site >> 3 ^ site >> 6) % REPEATS];
}

/* NULL: there is none, or the ring must grow. Level 3 keeps none: it has more to note. */
static inline __attribute__((always_inline)) const struct align_repeat *
history_repeats(struct align_history *h, const struct coll_args *a, enum watch_form form,
                const void *site)
{
    const struct align_repeat *r = history_repeat_at(h, (uint64_t)(uintptr_t)site);
    uint32_t call = (uint32_t)a->call | (uint32_t)form << 8;
    if (r->site != (uint64_t)(uintptr_t)site || r->call != call)
        return NULL;
    if (r->type != a->rtype || r->count != a->rcount || r->op != a->op || r->root != a->root)
        return NULL;
    return h->calls == h->room ? NULL : r;
}

#endif
