/* obj.c - tables from handles to objects, one for each kind. The near path reads them without the
 * lock. Start with obj_add(). */
#include "obj/obj.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/vec.h"
#include "obj/obj_types.h"

enum { KIND_DIRECT = 2, FIRST_BLOCKS = 16, MAX_INDEX = 1 << 26 };

/* The array of block pointers doubles; the old one is kept until the end, because the near path of
 * one-sided calls looks handles up without the lock. */
static int table_more_blocks(struct obj_table *t)
{
    void ***old = atomic_load_explicit(&t->block, memory_order_relaxed);
    unsigned room = t->block_room ? 2 * t->block_room : FIRST_BLOCKS;
    /* one place more than its blocks: the link to the array it replaces */
    void ***grown = calloc(room + 1, sizeof *grown);
    if (!grown)
        return -ENOMEM;
    if (old)
        memcpy(grown, old, t->blocks * sizeof *grown);
    grown[room] = (void **)old;
    atomic_store_explicit(&t->block, grown, memory_order_release);
    t->block_room = room;
    return 0;
}

static int table_grow(struct obj_table *t)
{
    if (t->blocks * OBJ_BLOCK >= MAX_INDEX)
        return -ENOMEM;
    if (t->blocks == t->block_room && table_more_blocks(t))
        return -ENOMEM;
    void **b = calloc(OBJ_BLOCK, sizeof *b);
    if (!b)
        return -ENOMEM;
    atomic_load_explicit(&t->block, memory_order_relaxed)[t->blocks++] = b;
    return 0;
}

void obj_table_free(struct obj_table *t)
{
    void ***b = atomic_load_explicit(&t->block, memory_order_relaxed);
    for (unsigned i = 0; i < t->blocks; i++)
        free(b[i]);
    unsigned room = t->block_room;
    while (b) {
        void ***old = (void ***)b[room];
        free(b);
        b = old;
        room /= 2;
    }
    free(t->freed);
}

/* An index that was never given out; -ENOMEM. */
static __attribute__((cold, noinline)) int index_new(struct obj_table *t)
{
    unsigned limit = atomic_load_explicit(&t->limit, memory_order_relaxed);
    if (limit == t->blocks * OBJ_BLOCK && table_grow(t))
        return -ENOMEM;
    return (int)limit;
}

/* Without memory the index is lost, no more. */
static __attribute__((cold, noinline)) void freed_more(struct obj_table *t, unsigned index)
{
    if (VEC_FITS(t->freed, t->freed_room, t->nfreed + 1, 64))
        t->freed[t->nfreed++] = index;
}

int obj_add(enum obj_kind kind, struct obj *o)
{
    struct obj_table *t = &proc->obj->table[kind];
    int fresh = t->nfreed == 0, i = fresh ? index_new(t) : (int)t->freed[--t->nfreed];
    if (i < 0)
        return i;
    unsigned index = (unsigned)i;
    atomic_load_explicit(&t->block, memory_order_relaxed)[index / OBJ_BLOCK][index % OBJ_BLOCK] = o;
    if (fresh) /* release pairs with the acquire in obj_find() */
        atomic_store_explicit(&t->limit, index + 1, memory_order_release);
    /* Others may compare it without the lock (obj.h). */
    __atomic_store_n(&o->handle, (int)((unsigned)KIND_DIRECT << 30 | (unsigned)kind << 26 | index),
                     __ATOMIC_RELAXED);
    o->refs = 1;
    t->live++;
    return 0;
}

void obj_del(enum obj_kind kind, struct obj *o)
{
    struct obj_table *t = &proc->obj->table[kind];
    unsigned h = (unsigned)o->handle, index = h & 0x03ffffffu;
    __atomic_store_n(&o->handle, 0, __ATOMIC_RELAXED);
    if (__builtin_expect((h >> 30) == 1, 0)) {
        t->builtin[h & 0xff] = NULL;
        return;
    }
    if ((h >> 30) != KIND_DIRECT || index >= atomic_load_explicit(&t->limit, memory_order_relaxed))
        return;
    void ***block = atomic_load_explicit(&t->block, memory_order_relaxed);
    WR_ASSERT_DEBUG(block[index / OBJ_BLOCK][index % OBJ_BLOCK] == o);
    block[index / OBJ_BLOCK][index % OBJ_BLOCK] = NULL;
    t->live--;
    if (t->nfreed < t->freed_room)
        t->freed[t->nfreed++] = index;
    else
        freed_more(t, index);
}

static void set_place(enum obj_kind kind, const struct obj *o, void *to)
{
    struct obj_table *t = &proc->obj->table[kind];
    unsigned h = (unsigned)o->handle, index = h & 0x03ffffffu;
    if ((h >> 30) == 1)
        t->builtin[h & 0xff] = to;
    else
        atomic_load_explicit(&t->block,
                             memory_order_relaxed)[index / OBJ_BLOCK][index % OBJ_BLOCK] = to;
}

void obj_hide(enum obj_kind kind, struct obj *o)
{
    set_place(kind, o, NULL);
}

void obj_show(enum obj_kind kind, struct obj *o)
{
    set_place(kind, o, o);
}

void obj_set_builtin(enum obj_kind kind, int handle, struct obj *o)
{
    o->handle = handle;
    o->refs = 1;
    proc->obj->table[kind].builtin[(unsigned)handle & 0xff] = o;
}

void obj_each(enum obj_kind kind, void (*fn)(void *o, void *arg), void *arg)
{
    const struct obj_table *t = &proc->obj->table[kind];
    unsigned limit = atomic_load_explicit(&t->limit, memory_order_relaxed);
    for (unsigned i = 0; i < limit; i++) {
        void *o = atomic_load_explicit(&t->block,
                                       memory_order_relaxed)[i / OBJ_BLOCK][i % OBJ_BLOCK];
        if (o)
            fn(o, arg);
    }
}

struct sweep {
    void (*fn)(void *o);
};

static void sweep_one(void *o, void *arg)
{
    ((struct sweep *)arg)->fn(o);
}

void obj_sweep(enum obj_kind kind, void (*fn)(void *o))
{
    struct sweep s = {fn};
    obj_each(kind, sweep_one, &s);
}
