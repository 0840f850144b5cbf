/* pack.c - a vector clock as bytes of a message. */
#include "race/race_types.h"

#include <stdlib.h>
#include <string.h>

#include "var/var.h"

struct vclock_msg {
    uint64_t floor;
    uint32_t n, cut;
};

void *race_pack(const void *head, size_t head_len, const struct race_vclock *v, size_t max,
                size_t *len)
{
    size_t least = head_len + sizeof(struct vclock_msg), room = max > least ? max - least : 0;
    struct vclock_msg m = {.floor = v ? v->floor : 0, .n = v ? v->n : 0};
    if (m.n * sizeof(struct race_vclock_entry) > room) {
        m.n = (uint32_t)(room / sizeof(struct race_vclock_entry));
        m.cut = 1;
        pvar_set_add(pvar_proc(), PVAR_RACE_VIEWS_CUT, 1);
    }
    *len = head_len + sizeof m + m.n * sizeof(struct race_vclock_entry);
    char *b = malloc(*len);
    if (!b)
        race_no_memory();
    memcpy(b, head, head_len);
    memcpy(b + head_len, &m, sizeof m);
    if (m.n)
        memcpy(b + head_len + sizeof m, v->e, m.n * sizeof(struct race_vclock_entry));
    return b;
}

struct race_vclock *race_unpack(const void *bytes, size_t len, size_t *used, int *cut)
{
    struct vclock_msg m;
    uint32_t last = 0;
    if (len < sizeof m)
        return NULL;
    memcpy(&m, bytes, sizeof m);
    *used = sizeof m + m.n * sizeof(struct race_vclock_entry);
    *cut = (int)m.cut;
    if (*used > len)
        return NULL;
    const struct race_vclock_entry *e = (const void *)((const char *)bytes + sizeof m);
    for (uint32_t i = 0; i < m.n; i++) {
        struct race_vclock_entry one;
        memcpy(&one, e + i, sizeof one);
        if (one.tid >= proc->race->tids || (i && one.tid <= last))
            return NULL;
        last = one.tid;
    }
    return race_vclock_make(m.floor, e, m.n);
}
