/* group.c - maps from ranks to processes, shared by groups and communicators, and groups. A regular
 * map takes no table. Start with rankmap_make(). */
#include "obj/comm.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "boot/boot.h"
#include "watch/watch.h"

/* A stride that fits ranks[0..size) or 0 in *ok. */
static int regular(const int *ranks, int size, int *stride)
{
    int s = size > 1 ? ranks[1] - ranks[0] : 1;
    if (s == 0)
        return 0;
    for (int i = 1; i < size; i++)
        if (ranks[i] - ranks[i - 1] != s)
            return 0;
    *stride = s;
    return 1;
}

struct rankmap *rankmap_stride(int first, int stride, int size)
{
    struct rankmap *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    *m = (struct rankmap){
        .refs = 1, .kind = RANKMAP_STRIDE, .size = size, .first = first, .stride = stride};
    return m;
}

struct rankmap *rankmap_make(const int *ranks, int size)
{
    int stride;
    if (size == 0 || regular(ranks, size, &stride))
        return size ? rankmap_stride(ranks[0], stride, size) : rankmap_stride(0, 1, 0);
    struct rankmap *m = rankmap_blank(size);
    if (m)
        rankmap_fill(m, ranks, size);
    return m;
}

struct rankmap *rankmap_blank(int most)
{
    struct rankmap *m = rankmap_stride(0, 1, 0);
    if (m && !(m->table = malloc((size_t)most * sizeof *m->table + 1))) {
        free(m);
        m = NULL;
    }
    return m;
}

void rankmap_fill(struct rankmap *m, const int *ranks, int size)
{
    m->size = size;
    if (size == 0 || regular(ranks, size, &m->stride)) {
        m->first = size ? ranks[0] : 0;
        free(m->table);
        m->table = NULL;
        return;
    }
    m->kind = RANKMAP_TABLE;
    memcpy(m->table, ranks, (size_t)size * sizeof *ranks);
}

struct rankmap *rankmap_ref(struct rankmap *m)
{
    if (m)
        m->refs++;
    return m;
}

void rankmap_drop(struct rankmap *m)
{
    if (!m || --m->refs > 0)
        return;
    free(m->table);
    free(m);
}

int rankmap_find(const struct rankmap *m, int world)
{
    if (m->kind == RANKMAP_STRIDE) {
        int d = world - m->first;
        if (d % m->stride)
            return -1;
        d /= m->stride;
        return d >= 0 && d < m->size ? d : -1;
    }
    for (int i = 0; i < m->size; i++)
        if (m->table[i] == world)
            return i;
    return -1;
}

int rankmap_dead(const struct rankmap *m, int rank)
{
    for (int deaths = boot_failed_count(); deaths && rank < m->size; rank++)
        if (boot_failed(rankmap_world(m, rank)))
            return rank;
    return -1;
}

int rankmap_equal(const struct rankmap *a, const struct rankmap *b)
{
    if (a == b)
        return 1;
    /* equal ranks have equal kinds: rankmap_make decides by them */
    if (a->size != b->size || a->kind != b->kind)
        return 0;
    if (a->size == 0)
        return 1;
    if (a->kind == RANKMAP_STRIDE)
        return a->first == b->first && (a->size == 1 || a->stride == b->stride);
    return !memcmp(a->table, b->table, (size_t)a->size * sizeof *a->table);
}

/* --- reverse look-up of many ranks ------------------------------------------------ */

enum { INDEX_BELOW = 16 }; /* smaller tables are searched faster than hashed */

void rankindex_init(struct rankindex *x, const struct rankmap *m)
{
    x->map = m;
    map_init(&x->hash);
    if (m->kind == RANKMAP_STRIDE || m->size < INDEX_BELOW)
        return;
    for (int i = 0; i < m->size; i++)
        if (map_put(&x->hash, (uint64_t)m->table[i], (void *)((intptr_t)i + 1))) {
            map_destroy(&x->hash);
            map_init(&x->hash);
            return;
        }
}

int rankindex_find(const struct rankindex *x, int world)
{
    if (x->hash.count)
        return (int)((intptr_t)map_get(&x->hash, (uint64_t)world) - 1);
    return rankmap_find(x->map, world);
}

void rankindex_destroy(struct rankindex *x)
{
    map_destroy(&x->hash);
}

/* --- sessions ------------------------------------------------------------------- */

struct session_share *session_share_ref(struct session_share *s)
{
    if (s)
        s->refs++;
    return s;
}

void session_share_drop(struct session_share *s)
{
    if (!s || --s->refs)
        return;
    free(s->kinds);
    free(s);
}

/* --- groups --------------------------------------------------------------------- */

struct group *group_make(struct rankmap *map, int rank)
{
    struct group *g = calloc(1, sizeof *g);
    if (!g || obj_add(OBJ_GROUP, &g->obj)) {
        free(g);
        return NULL;
    }
    g->map = rankmap_ref(map);
    g->rank = rank;
    watch_made(OBJ_GROUP, &g->obj);
    return g;
}

void group_drop(struct group *g)
{
    if (!g || obj_is_builtin(&g->obj) || --g->obj.refs > 0)
        return;
    obj_del(OBJ_GROUP, &g->obj);
    session_share_drop(g->session);
    rankmap_drop(g->map);
    free(g);
}
