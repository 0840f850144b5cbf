/* comm.h - groups and communicators.
 *
 * Rank maps: struct rankmap gives the world rank of each member.  Regular ones cost no memory:
 *   RANKMAP_STRIDE   world = first + rank * stride     (world-like, reversed, every k-th)
 *   RANKMAP_TABLE    world = table[rank] (irregular: 4 bytes per rank, shared by reference)
 * Maps are reference counted and shared by communicators, groups and windows.
 *
 * Context ids: 64 bits.
 *
 *      | round, above the bits of a rank, which are 0 here (32 bits) | number (32 bits) |
 *
 * The number comes again when the counter that makes it has gone round (coll/ctxid.c); the round is
 * another one then.  Packets carry the number in one word and the round in the word of the sender's
 * rank, above it.  So what is late is never taken for a communicator or window of the same number.
 * Each room derives its own stream by the low bits: number | CTX_P2P, number | CTX_COLL ...
 * (numbers are multiples of CTX_STEP).  For intercommunicators send and receive ids may differ. */
#ifndef OBJ_COMM_H
#define OBJ_COMM_H

#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "obj/obj.h"

enum rankmap_kind { RANKMAP_STRIDE, RANKMAP_TABLE };

struct rankmap {
    int refs;
    enum rankmap_kind kind;
    int size;
    int first, stride; /* RANKMAP_STRIDE */
    int *table;        /* RANKMAP_TABLE */
};

/* Copies world ranks[size], and detects regular shapes. NULL: out of memory. */
struct rankmap *rankmap_make(const int *ranks, int size);
/* The same in two steps, of which the second cannot fail: for up to `most` ranks. */
struct rankmap *rankmap_blank(int most);
void rankmap_fill(struct rankmap *m, const int *ranks, int size);
struct rankmap *rankmap_stride(int first, int stride, int size);
struct rankmap *rankmap_ref(struct rankmap *m);
void rankmap_drop(struct rankmap *m);
static inline int rankmap_world(const struct rankmap *m, int rank)
{
    return m->kind == RANKMAP_STRIDE ? m->first + rank * m->stride : m->table[rank];
}
/* Rank of a world rank in the map, or -1. O(1) for strides, O(size) else. */
int rankmap_find(const struct rankmap *m, int world);
/* Rank of the first failed member, from `rank` on; -1: none. */
int rankmap_dead(const struct rankmap *m, int rank);
/* Same ranks in the same order. */
int rankmap_equal(const struct rankmap *a, const struct rankmap *b);

/* Look-up of many world ranks in one map: O(1) each after O(size); without memory as slow as
 * rankmap_find(). */
struct rankindex {
    const struct rankmap *map;
    struct map hash; /* world -> rank + 1; empty: search the map itself */
};
void rankindex_init(struct rankindex *x, const struct rankmap *m);
int rankindex_find(const struct rankindex *x, int world);
void rankindex_destroy(struct rankindex *x);

struct p2p_buffer; /* p2p/: a buffer of buffered sends */
/* What a session shares with its groups and their communicators. */
struct session_share {
    int refs;
    struct p2p_buffer *buffer; /* of buffered sends; NULL: none is attached */
    char *kinds;               /* mpi_memory_alloc_kinds, if not the default; else NULL */
};
struct session_share *session_share_ref(struct session_share *s); /* returns s, which may be NULL */
void session_share_drop(struct session_share *s);

struct group {
    struct obj obj;
    struct rankmap *map;
    int rank; /* this process's rank, or MPI_UNDEFINED */
    struct session_share *session; /* of the session that it comes from, or NULL */
};

enum ctx_stream { CTX_P2P = 0, CTX_COLL = 1, CTX_RMA = 2, CTX_TOOL = 3, CTX_STEP = 4 };

struct attr_list { /* attributes on a communicator, window or datatype; see attr.h */
    struct list head;
};

struct comm {
    struct obj obj;
    uint32_t ctx_recv;      /* number of the id that this process receives with */
    uint32_t ctx_send;      /* ... that it sends with; equal but for intercommunicators */
    uint32_t round_recv;    /* their rounds: stand above the rank in what comes in ... */
    uint32_t src; /* ... and above this process's own in what it sends: both in one word */
    int rank, size;         /* of the local group */
    struct rankmap *map;    /* local group */
    struct rankmap *remote; /* remote group of an intercommunicator, else NULL */
    struct comm *local;     /* intercommunicator: intracommunicator of the local group (for
                             * collectives) */
    struct rankmap *beside[2]; /* groups whose failures also end its operations (comm_set_beside),
                                * or NULL */
    struct errhandler *errhandler;
    struct p2p_buffer *buffer;   /* attached to this communicator, or NULL */
    struct session_share *session; /* of the session that it comes from, or NULL */
    struct attr_list attrs;
    struct info *info;
    struct comm_topo *topo; /* Cartesian or graph; topo.c */
    void *coll;             /* coll/'s per-communicator state, freed by its upcall below */
    void (*coll_free)(void *coll);
    unsigned coll_uses;     /* coll/: calls before that state was made, counted up to a bound */
    uint32_t coll_seq;      /* coll/: numbers nonblocking collectives; equal on all members */
    uint32_t coll_note;     /* coll/: of the call that a checker let in last; 0: none */
    struct align *check; /* align/'s record of its collective calls, or NULL; it gives it up in */
    void (*check_free)(struct comm *c); /* ... this upcall */
    const char *misaligned; /* align/: the calls of its members differ in this way, or it was
                             * revoked; NULL: not known to. Collectives on it then end with
                             * comm_verdict(). */
    struct comm *maker;     /* coll_comm_dup(): over which it is being made; that one's differences
                             * end what is done inside. NULL: it is ready */
    int deaths_seen;        /* coll/: am_failed_count() when failed members were last searched; */
    int member_dead;        /* ... and one that failed: its job rank + 1 */
    int acked;              /* failed.h: so many of the failed are acknowledged; */
    int failed_seen;        /* ... so many were searched for one that may send here and is not; */
    int unacked;            /* ... such a one: its job rank + 1 */
    char name[128];         /* MPI_MAX_OBJECT_NAME */
    int revoked;            /* MPIX_Comm_revoke: only local calls, agree and shrink on it; */
    struct list hidden;     /* ... in proc->obj->revoked: obj_find() does not find it */
};

/* A checker's finding on c; NULL: none. A revoked communicator keeps its own. */
static inline void comm_set_misaligned(struct comm *c, const char *why)
{
    if (!c->revoked)
        c->misaligned = why;
}

/* `misaligned`, also while c is being made. */
static inline const char *comm_misaligned(const struct comm *c)
{
    return c->misaligned || !c->maker ? c->misaligned : c->maker->misaligned;
}

/* The error of what ends because of comm_misaligned(). */
int comm_verdict(const struct comm *c);
/* The error of what a revocation has ended. */
int comm_revoked_error(void);

/* Peer group of point-to-point: the remote one for intercommunicators. */
static inline int comm_peer_size(const struct comm *c)
{
    return c->remote ? c->remote->size : c->size;
}
/* Members of both groups. */
static inline int comm_members(const struct comm *c)
{
    return c->size + (c->remote ? c->remote->size : 0);
}
static inline int comm_peer_world(const struct comm *c, int rank)
{
    return rankmap_world(c->remote ? c->remote : c->map, rank);
}
static inline int comm_world(const struct comm *c, int rank) /* of the local group */
{
    return rankmap_world(c->map, rank);
}
static inline uint64_t comm_ctx(const struct comm *c) /* the whole id that it receives with */
{
    return (uint64_t)c->round_recv << 32 | c->ctx_recv;
}
/* The bits of a rank in a word that holds a round, too: the same in all jobs of an mpiexec.  Each
 * rank, MPI_ANY_SOURCE and MPI_PROC_NULL differ in them. */
uint32_t comm_rank_mask(void);

struct errhandler;
struct comm *comm_ref(struct comm *c);
void comm_drop(struct comm *c); /* last reference: freed (collective state, attributes, map) */
/* A communicator object from parts (takes its own references). The caller agrees on the context id
 * (coll/ctxid.c); it is returned (ctx_gone) with the communicator. The object has a handle, refs =
 * 1 and MPI_ERRORS_ARE_FATAL. NULL: out of memory. */
struct comm *comm_make(struct rankmap *map, int rank, struct rankmap *remote, uint64_t ctx_recv,
                       uint64_t ctx_send);
/* The ids of one that was made with CTX_NONE. */
void comm_set_ctx(struct comm *c, uint64_t ctx_recv, uint64_t ctx_send);
/* Members of c may give up a collective operation because of a failure in these groups (or NULL),
 * whose members are not in c. So that failure also ends it for the others. Takes its own
 * references. */
void comm_set_beside(struct comm *c, struct rankmap *a, struct rankmap *b);
/* `local` becomes the local communicator of intercommunicator c (freed with it), beside the other
 * group. */
void comm_set_local(struct comm *c, struct comm *local);
/* MPI_Comm_free: delete callbacks (if one returns an error, nothing happens); the handle is freed,
 * the object with its last reference. */
int comm_release(struct comm *c);
void comm_set_errhandler(struct comm *c, struct errhandler *e); /* takes its own reference */
/* Whose handler is called for an error of a call without an object: MPI_COMM_SELF's (MPI-4.1 9.3).
 * While the program has set none there, MPI_COMM_WORLD's: programs of MPI-3.1 set that one. */
struct comm *comm_of_none(void);
/* c is revoked: comm_misaligned(), also of its local one, and no handle that obj_find() finds. */
void comm_set_revoked(struct comm *c);
/* Of its handle, revoked or not; NULL: there is none. */
struct comm *comm_find(int handle);

/* Ids of the predefined communicators. All others come from coll/ctxid.c, which may set
 * proc->obj->ctx_gone to be called when a communicator of this process is freed. */
enum { CTX_WORLD = 0, CTX_SELF = CTX_STEP };
#define CTX_NONE UINT32_MAX /* ctx_recv of a communicator that owns no id */

struct group *group_make(struct rankmap *map, int rank); /* takes its own reference on map */
void group_drop(struct group *g);

#endif
