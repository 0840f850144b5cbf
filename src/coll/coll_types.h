/* coll_types.h - private types of coll/.  All under proc->lock. */
#ifndef COLL_TYPES_H
#define COLL_TYPES_H

#include <limits.h>

#include "coll/coll.h"
#include "coll/schedule.h"
#include "p2p/p2p.h"
#include "progress/progress.h"

/* Tags in stream P2P_TOOL, where nonnegative tags are the users'. Those of MPI_Comm_create and of
 * MPI_Comm_create_group with the largest tag: ctxid.c; of all texts: by_text.c. */
enum aside_tag {
    TAG_LIVING = INT_MIN, TAG_SUBSET = P2P_SPARED, TAG_LEADERS, TAG_CREATE, TAG_GROUP_LAST, TAG_TEXT
};

struct coll_room {
    void (*build)(struct sched *s);           /* coll_build(), for what starts again */
    int (*run)(const struct coll_args *args); /* coll_run(), by which shm/ makes its segment */
    struct list active;      /* schedules driven by the hook */
    struct progress_hook hook;
    struct sched *free;      /* pool */
    struct request lacking;  /* stands for the request that a step gets when others have ended */
    struct sched_mem *kept;  /* memory of past schedules */
    size_t kept_bytes;
    struct sched_mem *spare; /* small pieces for when there is no memory; */
    struct step *spare_steps; /* ... one longer list of steps; NULL: in use */
    struct dt_type *byte;
    uint32_t ctx_next;       /* counter of the id to try next */
    uint32_t ctx_round;      /* how often the counter has gone round, above the bits of a rank */
    int ctx_bits;            /* of an id's counter */
    struct map ctx_live;     /* numbers of ids made here whose communicator lives here */
    struct survive *survive; /* agree.h; NULL: not used yet */
    struct list strays, takers; /* by_text.c */
    struct stray *spare_stray;  /* for when there is no memory; NULL: in use */
};

/* What the steps of one call need is there before their first step: a process that has no memory
 * can say so to the others, which would wait for it for ever. 0 or -ENOMEM. */
int sched_reserve(struct coll_room *room);
void sched_forget(struct coll_room *room); /* frees the memory kept for reuse */

/* by_text.c: `len` bytes, at most TEXT_DATA, to and from a process of this job. Of several calls at
 * once, those of one text and use belong together, and those of one thread follow each other. */
enum { TEXT_DATA = 32 };
enum coll_use { TEXT_GROUP = 1, TEXT_LOCAL, TEXT_LEADERS };
int text_send(const char *text, enum coll_use use, const void *data, size_t len, int world);
int text_recv(const char *text, enum coll_use use, void *data, size_t len, int world);
int texts_init(struct coll_room *room); /* 0 or -ENOMEM */
void texts_drop(struct coll_room *room);

/* build.c: lists the steps of a call; a zero-byte call may list none. */
void coll_build(struct sched *s);
/* Is it a call whose messages may leave ahead? */
static inline int coll_may_lead(const struct coll_args *a)
{
    const unsigned calls = 1u << COLL_BCAST | 1u << COLL_GATHER | 1u << COLL_SCATTER |
                           1u << COLL_ALLGATHER | 1u << COLL_ALLTOALL | 1u << COLL_GATHERV |
                           1u << COLL_SCATTERV | 1u << COLL_ALLGATHERV;
    return calls >> a->call & 1;
}
/* ahead.c: sends what can leave now of such a call, blocking, of all members, with that tag. At
 * most one message for each process, which has a bit. With COLL_ALL_AHEAD the call is over. */
#define COLL_ALL_AHEAD ((uint64_t)1)
uint64_t coll_ahead(const struct coll_args *a, int tag);
/* Of a peer: how far it is behind this process, so bit 0 is never used. */
static inline uint64_t coll_ahead_bit(const struct comm *c, int peer)
{
    return (uint64_t)1 << (peer - c->rank + (peer < c->rank ? c->size : 0));
}
/* Has the first message to peer that a schedule lists left? The next one has not. */
static inline int coll_went_ahead(const struct comm *c, uint64_t *ahead, int peer)
{
    uint64_t bit = coll_ahead_bit(c, peer);
    int went = (*ahead & bit) != 0;
    *ahead &= ~bit;
    return went;
}
/* coll.c. 1: coll_build() would list no step for it, and find no error. */
int coll_moves_none(const struct coll_args *a);

/* One file per family. Each acts on s->comm, for whatever call uses it. */
void build_barrier(struct sched *s);
void build_bcast(struct sched *s, void *buf, MPI_Aint n, struct dt_type *t, int root);
void build_bcast_binomial(struct sched *s, void *buf, MPI_Aint n, struct dt_type *t, int root);
void build_reduce(struct sched *s, const void *sbuf, void *rbuf, MPI_Aint n, struct dt_type *t,
                  struct dt_op *op, int root);
void build_allreduce(struct sched *s, const void *sbuf, void *rbuf, MPI_Aint n, struct dt_type *t,
                     struct dt_op *op);
void build_scan(struct sched *s, const void *sbuf, void *rbuf, MPI_Aint n, struct dt_type *t,
                struct dt_op *op, int exclusive);

/* The same number of bytes for each rank, or a vector: block i lies at base + at(i). */
struct blocks {
    char *base;
    struct dt_type *type;      /* all blocks, unless types */
    const MPI_Datatype *types; /* w forms */
    int vector;                /* a v or w form, also if its arrays are not significant */
    MPI_Aint count;            /* all blocks, unless vector */
    struct coll_vec counts, displs; /* displs in extents, bytes for w forms */
};
struct block {
    char *at;
    MPI_Aint n;
    struct dt_type *t;
};
struct block block_of(const struct blocks *b, int i);
struct blocks blocks_even(const void *base, MPI_Aint count, struct dt_type *t);
struct blocks blocks_vector(const void *base, struct coll_vec counts, struct coll_vec displs,
                            struct dt_type *t);
struct blocks blocks_types(const void *base, struct coll_vec counts, struct coll_vec displs,
                           const MPI_Datatype *types);
static inline size_t block_bytes(struct block b)
{
    return (size_t)b.n * (size_t)b.t->size;
}

void build_gather(struct sched *s, const void *sbuf, MPI_Aint scount, struct dt_type *st,
                  const struct blocks *r, int root);
void build_scatter(struct sched *s, const struct blocks *b, void *rbuf, MPI_Aint rcount,
                   struct dt_type *rt, int root);
void build_allgather(struct sched *s, const void *sbuf, MPI_Aint scount, struct dt_type *st,
                     const struct blocks *r);
void build_alltoall(struct sched *s, const struct blocks *out, const struct blocks *in);
void build_reduce_scatter(struct sched *s, const void *sbuf, void *rbuf, struct coll_vec counts,
                          MPI_Aint even, struct dt_type *t, struct dt_op *op);
void build_inter(struct sched *s);     /* any call on an intercommunicator */
void build_neighbor(struct sched *s);  /* any neighbourhood call */

/* ctxid.c */
void ctx_start(struct coll_room *room);
void ctx_stop(struct coll_room *room);
/* A new id; 0 (MPI_COMM_WORLD's) when all are in use or memory is exhausted. */
uint64_t ctx_make(void);
/* An id made here (0: none) that no communicator will have. */
void ctx_unmake(uint64_t ctx);
int ctx_is_id(uint64_t ctx);
int ctx_is_own(uint64_t ctx); /* made by this process */

/* With a note, messages of calls that differ do not match. Persistent calls keep that of their
 * init. */
static inline int coll_tag(struct comm *c)
{
    enum { NOTE = 20, NOTE_BITS = 0x7ff };
    uint32_t seq = c->coll_seq++;
    if (__builtin_expect(c->coll_note != 0, 0))
        seq = (seq & ((1u << NOTE) - 1)) | (c->coll_note & NOTE_BITS) << NOTE;
    return (int)(seq & 0x7fffffff);
}

#endif
