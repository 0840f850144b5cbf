/* obj.h - MPI objects: integer handles, reference counts, predefined ones. Start with obj_find().
 *
 * A handle is kind<<30 | type<<26 | index, as in MPICH's ABI: kind 1 = predefined (index: low 8
 * bits for most, see obj_set_builtin), kind 2 or 3 = made at run time. Look-up is a bounds-checked
 * index into a table of pointers, never a dereference of what the user passed.
 *
 * An object embeds struct obj first. Reference counts are plain: proc->lock protects them. */
#ifndef OBJ_OBJ_H
#define OBJ_OBJ_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

/* The type field of a handle (MPICH ABI). */
enum obj_kind {
    OBJ_COMM = 1, OBJ_GROUP = 2, OBJ_TYPE = 3, OBJ_FILE = 4, OBJ_ERRHANDLER = 5, OBJ_OP = 6,
    OBJ_INFO = 7, OBJ_WIN = 8, OBJ_KEYVAL = 9, OBJ_REQUEST = 11, OBJ_SESSION = 14, OBJ_KINDS = 16
};

struct obj {
    int handle; /* written atomically: rooms may compare handles of cached objects without the
                 * lock */
    int refs;
};

enum { OBJ_BLOCK = 256, OBJ_BUILTINS = 256 };

struct obj_table {
    void *builtin[OBJ_BUILTINS]; /* by handle & 0xff */
    /* Made at run time: block[index / OBJ_BLOCK][index % OBJ_BLOCK].  Readers need no lock: limit
     * is stored after what lies below it, and an outgrown array of blocks stays until the end. */
    _Atomic(void ***) block;
    unsigned blocks, block_room; /* blocks allocated; places for them */
    atomic_uint limit;           /* indexes given out so far are below this */
    unsigned *freed;             /* stack of indexes for reuse */
    unsigned nfreed, freed_room;
    unsigned live;               /* objects made at run time and not freed (leak report) */
};

struct obj_room {
    struct obj_table table[OBJ_KINDS];
    struct err_ring *err;        /* err.h */
    struct comm *world, *self;
    int self_handled;            /* the program has given MPI_COMM_SELF a handler */
    struct info *info_env;
    void (*ctx_gone)(uint32_t ctx); /* upcall of coll/: a communicator that received with ctx was
                                     * freed; may be NULL */
    void (*ctx_made)(struct comm *c); /* ... c of this process has got its ids, or, revoked before,
                                       * its local communicator; may be NULL */
    void (*ctx_refused)(uint64_t ctx); /* ... a message on the communicator that sends with ctx was
                                        * refused: it is revoked; may be NULL */
    void (*comm_revoked)(struct comm *c); /* upcall of rma/: c is revoked now; may be NULL */
    void (*file_revoked)(struct comm *c); /* the same of io/ */
    struct list revoked;         /* struct comm: those whose handles are hidden */
    unsigned revocations;        /* so many communicators were ever revoked here */
    struct failed_list *failed;  /* failed.h */
    struct errhandler *errhandler[4];
    void *req_free;              /* recycled requests */
    uint64_t completions;        /* requests completed so far: a wait tests again only if it has
                                  * changed */
    struct continues *continues; /* continue.c; NULL: MPIX_Continue_init was never called */
    struct cont *continue_recent; /* the continuation request that was used last; it has a handle.
                                   * NULL: none */
    unsigned continues_ready;    /* functions of continuations that may run, and all of
                                  * async_poll.h */
    struct async *async;         /* async_poll.c; NULL: MPIX_Async_start was never called */
    struct upcall *upcalls;      /* upcall.h: of all threads, the newest first */
    unsigned upcalls_wanted;     /* upcall_wanted() */
    int phase_raised;            /* it has set the phase to PROC_CHECKED */
};

/* tables, errors, info, errhandlers, groups, MPI_COMM_WORLD and SELF; 0 or -ENOMEM */
int obj_init(void);
void obj_finalize(void);
/* Info objects may be used before MPI_Init and after MPI_Finalize. obj_early() makes the tables if
 * there are none; obj_late() frees them when MPI does not run and no info object is left. */
int obj_early(void);
void obj_late(void);

/* The object, or NULL when the handle names none of this kind. */
static inline void *obj_find(enum obj_kind kind, int handle);
/* Give `o` a new handle (kind 2, "direct") with refs = 1.  0 or -ENOMEM. */
int obj_add(enum obj_kind kind, struct obj *o);
/* Free the handle; the memory is the caller's. */
void obj_del(enum obj_kind kind, struct obj *o);
/* The handle stays the object's, and obj_find() finds nothing under it, or again the object. */
void obj_hide(enum obj_kind kind, struct obj *o);
void obj_show(enum obj_kind kind, struct obj *o);
/* Predefined object under its fixed ABI handle; it is never freed by users. */
void obj_set_builtin(enum obj_kind kind, int handle, struct obj *o);
/* At the end: fn for every object of a kind that users left behind; fn may delete any. */
void obj_sweep(enum obj_kind kind, void (*fn)(void *o));
/* The same with an argument: for every object that was made at run time and is not hidden. */
void obj_each(enum obj_kind kind, void (*fn)(void *o, void *arg), void *arg);
static inline int obj_is_builtin(const struct obj *o)
{
    return ((unsigned)o->handle >> 30) == 1;
}

#include "base/proc.h"
/* obj_find() for objects that are made at run time; NULL for predefined ones. It is shorter. */
static inline void *obj_find_made(enum obj_kind kind, int handle)
{
    const struct obj_table *t = &proc->obj->table[kind];
    unsigned h = (unsigned)handle, index = h & 0x03ffffffu;
    if (h >> 26 != (2u << 4 | (unsigned)kind) ||
        index >= atomic_load_explicit(&t->limit, memory_order_acquire)) /* as in obj_find() */
        return NULL;
    return atomic_load_explicit(&t->block, memory_order_acquire)[index / OBJ_BLOCK]
                                                                [index % OBJ_BLOCK];
}

static inline void *obj_find(enum obj_kind kind, int handle)
{
    const struct obj_table *t = &proc->obj->table[kind];
    unsigned h = (unsigned)handle;
    unsigned index = h & 0x03ffffffu;
    if (((h >> 26) & 0xf) != (unsigned)kind)
        return NULL;
    if ((h >> 30) == 2) /* acquire pairs with the releases in obj_add() and table_more_blocks() */
        return index < atomic_load_explicit(&t->limit, memory_order_acquire)
                   ? atomic_load_explicit(
                         &t->block, memory_order_acquire)[index / OBJ_BLOCK][index % OBJ_BLOCK]
                   : NULL;
    /* Predefined datatypes have their size in bits 8-15, keyvals an attribute kind above: the low
     * byte alone is the index. */
    if ((h >> 30) == 1) {
        struct obj *o = t->builtin[h & 0xff];
        return o && o->handle == handle ? o : NULL;
    }
    return NULL;
}

#endif
