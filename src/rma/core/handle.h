/* handle.h - memory handles of dynamic windows (part of core.h).
 *
 * A handle is a displacement that no memory has: all operations take it as they take an address.
 *
 *   bits  63 62 | 61..56  | 55..c  | c-1..0        c: the class
 *          0  1 | class c | number | byte in it
 *
 * A handle of class c has at most half of the 2^c bytes behind its base, so that what runs beyond
 * one of them meets no other. Its base is found from any byte in it, without a search. A number is
 * never given again: a handle that was freed is known as such for ever.
 *
 *   owner   w->mem.handles: address, registrations, holders of keys; a table for near processes
 *   others  w->native.held: keys by (rank, base); mappings of near memory */
#ifndef RMA_CORE_HANDLE_H
#define RMA_CORE_HANDLE_H

#include "base/hash.h"
#include "rma/core/types.h"

enum { RMA_HANDLE_SIGN = 62, RMA_HANDLE_CLASS = 56, RMA_HANDLE_LEAST = 7, RMA_HANDLE_CLASSES = 64 };
static inline int rma_is_handle(uint64_t disp)
{
    return disp >> RMA_HANDLE_SIGN == 1;
}
static inline uint64_t rma_handle_base(uint64_t disp)
{
    unsigned c = (unsigned)(disp >> RMA_HANDLE_CLASS) % RMA_HANDLE_CLASSES;
    return c < RMA_HANDLE_CLASS ? disp >> c << c : disp;
}

/* What near processes see of a handle, in shared memory. base is written last, with release, and
 * cleared first: a reader that finds it before and after the rest has read of one handle. */
struct rma_shown {
    _Alignas(64) _Atomic uint64_t base; /* 0: no handle */
    uint64_t addr, size;
    uint64_t off;       /* in its segment */
    struct mem_key key; /* size 0: it lies in none */
};
/* Handles that a process shows; to others near operations go by message. Each is in one of a few
 * places that follow from its base, so that a reader looks at no more. */
enum { RMA_SHOWN = 1024, RMA_SHOWN_PLACES = 8 };
static inline unsigned rma_shown_place(uint64_t base, unsigned i)
{
    return (unsigned)(hash_mix(base, 0) + i) % RMA_SHOWN;
}

struct rma_handle {
    struct list link;   /* handles->ending or ->kept, or by itself */
    uint64_t base, addr, size;
    struct rma_shown *shown; /* NULL: it is not */
    struct rma_reg reg[RMA_REGS];
    unsigned nregs;
    int *holders;       /* ranks that were told a key, RMA_LEFT once they know it no more */
    unsigned nholders, holders_room;
};
enum { RMA_LEFT = -1, RMA_UNTOLD = -2 }; /* untold: the end could not be sent, so it may use it */
struct rma_handles {
    struct map by_base;
    uint64_t next[RMA_HANDLE_CLASSES]; /* numbers, by class */
    struct mem_segment *seg;           /* RMA_SHOWN entries; NULL: none yet */
    struct list ending;                /* handles whose holders are awaited */
    struct list kept; /* ended, and registered until the window ends: a holder is untold */
};

/* Near memory by a handle, as this process knows it. */
struct rma_near_held {
    int rank;
    uint64_t base, addr, size;
    const struct rma_shown *shown; /* in the table of its owner */
    struct mem_segment *seg;       /* NULL: it is not mapped ... */
    char *at;                      /* ... else where it begins */
    struct rma_recent *recent;     /* where near.h may find it; NULL: it is not mapped */
    struct rma_near_held *next;    /* of those that are dropped */
};
struct rma_held {
    struct map far;       /* struct rma_key by rma_held_name() */
    struct list keys;     /* the same, last used at the end; at most cvar.rma_keys */
    unsigned nkeys;
    struct map near;      /* struct rma_near_held, by the same */
    struct rma_near_held *recent; /* used last, or NULL */
    uint64_t mapped;              /* bytes of segments that near ones map */
    size_t live;                  /* records and bytes, when those that had ended were dropped */
    uint64_t mapped_live;
    struct mem_segment **tables;  /* [nears]: of near processes; NULL: not mapped yet */
    struct rma_recent *recents;   /* [nears]: what near.h finds; NULL: none yet */
};
static inline uint64_t rma_held_name(int rank, uint64_t base)
{
    return hash_mix(base, (uint64_t)rank + 1);
}

/* The inline path finds no handle of n, until the next operation by one under proc->lock. */
static inline void rma_recent_hide(struct rma_near *n)
{
    __atomic_store_n(&n->recent, &rma_recent_none, __ATOMIC_RELAXED);
}
void rma_recents_hide(struct rma_win *w); /* the same of all */

/* The handle of this process that a displacement is in, or NULL. */
struct rma_handle *rma_handle_at(const struct rma_win *w, uint64_t disp);
/* 1: bytes [lo, hi) from disp lie in a handle's memory; *off: the address for disp. */
int rma_handle_bytes(const struct rma_win *w, uint64_t disp, int64_t lo, int64_t hi, uint64_t *off);
/* rank was told a key. 0, or -ENOMEM */
int rma_handle_hold(struct rma_handle *g, int rank);
/* The record for the other processes' handles; NULL: no memory. */
struct rma_held *rma_held_of(struct rma_win *w);
/* The key of (rank, disp), or NULL; the same, and it is made and counts as used last. */
struct rma_key *rma_handle_key(const struct rma_win *w, int rank, uint64_t disp);
struct rma_key *rma_handle_key_of(struct rma_target *t, uint64_t disp);
void rma_handle_keys_free(struct rma_win *w);

/* The key for an operation on t; NULL: there is none. */
static inline struct rma_key *rma_key_for(const struct rma_target *t, const struct rma_args *a)
{
    if (__builtin_expect(rma_is_handle((uint64_t)a->disp), 0) && t->key &&
        t->w->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return rma_handle_key(t->w, t->rank, (uint64_t)a->disp);
    return t->key;
}

#endif
