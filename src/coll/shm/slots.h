/* slots.h - the segment of a communicator, its slots, and the waits on them; private to coll/shm/.
 *
 * An operation of a writer is shm_slot_open, data, shm_publish (or shm_meet), shm_leave. Every
 * member calls shm_leave for every operation, also after an error. shm_await and shm_meet block by
 * progress_wait(). A function with an error leaves the slots unusable (SHM_NEVER) where a member
 * has failed. All return MPI error codes. */
#ifndef COLL_SHM_SLOTS_H
#define COLL_SHM_SLOTS_H

#include <stdatomic.h>
#include <stdint.h>

#include "coll/shm/shm.h"
#include "mem/mem.h"
#include "progress/progress.h"

enum {
    SHM_SLOTS = 4, /* operations under way at most between the fastest and the slowest */
    SHM_LINE = 64
};
#define BAD_BYTES UINT32_MAX

struct slot {
    _Atomic uint64_t n; /* operation whose data lies here, as shm.n has it; stored last (release),
                         * read first (acquire) */
    uint32_t bytes;     /* of one part, according to the writer; BAD_BYTES: its own arguments do not
                         * match, or it has no memory */
    uint32_t unused;
    char data[];        /* the first 48 bytes share the line of n: one transfer moves both */
};

/* A slot of scatterv and alltoallv begins with one for each member, then the blocks follow. */
struct shm_part {
    uint32_t at; /* in slot.data */
    uint32_t bytes; /* SHM_BY_MESSAGE: the block does not lie here */
};
#define SHM_BY_MESSAGE (BAD_BYTES - 1)

struct left {
    _Alignas(SHM_LINE) _Atomic uint32_t n;
    /* The last operation in which this member filled no slot, though it has something to send. A
     * line of its own: others poll it, and it is not written while all blocks are short. */
    _Alignas(SHM_LINE) _Atomic uint32_t passed;
};

enum shm_state { SHM_READY, SHM_NEVER };

struct shm {
    enum shm_state state;
    struct mem_segment *seg;
    uint64_t n;        /* operations so far, and above 32 bits the note of the call (coll_note): a
                        * slot with another note has not come yet */
    uint32_t all_left; /* every member has left all operations up to this one */
    size_t slot_size;  /* bytes with header */
    size_t max;        /* bytes of data */
    size_t share;      /* the longest block of those that one member has for each other one */
    int size, rank;
    int *host;         /* host index of each member */
    struct comm *comm; /* not referenced: it owns this */
    void (*aside)(void *arg); /* of shm_set_aside(); NULL: none, or it is done */
    void *aside_arg;
    struct progress_hook hook; /* active while a slot is waited for: see shm_slot_open() */
};

enum { SHM_USES = 8 }; /* calls by messages before the segment is made */

/* Counts a call of c, which has none. After some, collective: rank 0 makes the segment, the others
 * attach it. It is used only if all could. It goes with c. NULL: the call goes by messages. */
struct shm *shm_count(struct comm *c);

static inline struct shm *shm_of(struct comm *c)
{
    struct shm *m = c->coll;
    if (!m) /* it has none, it is being made by messages, or it is too early */
        return c->coll_uses > SHM_USES ? NULL : shm_count(c);
    return m->state == SHM_READY ? m : NULL;
}

static inline struct slot *shm_slot(const struct shm *m, int rank, uint64_t n)
{
    return (struct slot *)((char *)m->seg->base + (size_t)m->size * sizeof(struct left) +
                           ((size_t)rank * SHM_SLOTS + n % SHM_SLOTS) * m->slot_size);
}

static inline struct left *shm_left(const struct shm *m, int rank)
{
    return (struct left *)m->seg->base + rank;
}

/* What rank has published in the present operation. */
static inline char *shm_data(const struct shm *m, int rank)
{
    return shm_slot(m, rank, m->n)->data;
}

/* Begins an operation that this process writes in: its slot, free to be written. */
int shm_slot_open(struct shm *m, struct slot **out);

static inline void shm_publish(struct shm *m, struct slot *s, size_t bytes)
{
    s->bytes = (uint32_t)bytes;
    atomic_store_explicit(&s->n, m->n, memory_order_release);
}

static inline void shm_leave(struct shm *m)
{
    atomic_store_explicit(&shm_left(m, m->rank)->n, (uint32_t)m->n, memory_order_release);
}

/* Begins an operation in which this process sends by message only. Pairs with filled_or_not(). */
static inline void shm_pass(struct shm *m)
{
    m->n++;
    atomic_store_explicit(&shm_left(m, m->rank)->passed, (uint32_t)m->n, memory_order_release);
}

/* Waits until all of [from, to) have entered the present operation. */
int shm_await(struct shm *m, int from, int to);
static inline int shm_is_filled(const struct shm *m, int rank)
{
    return atomic_load_explicit(&shm_slot(m, rank, m->n)->n, memory_order_acquire) == m->n;
}
int shm_wait_filled(struct shm *m, int rank);
/* Waits until rank has filled its slot in the present operation (shm_is_filled()), or never will,
 * since it has passed. After 2^31 operations in which it did not pass it may seem so. */
static inline int shm_await_filled(struct shm *m, int rank)
{
    return shm_is_filled(m, rank) ? MPI_SUCCESS : shm_wait_filled(m, rank);
}
/* Publishes and waits until all have entered. */
int shm_meet(struct shm *m, struct slot *s, size_t bytes);
/* Ranks [from, to) have entered, and their parts are as long as this process's. Else the calls do
 * not match, and no memory is touched. */
int shm_alike(struct shm *m, int from, int to, size_t bytes);
/* The error of a part that is `there` bytes long, in place of `bytes`. */
int shm_unlike(struct shm *m, size_t there, size_t bytes);

static inline void shm_wake(const struct shm *m, int rank)
{
    mem_wake(m->host[rank]);
}

void shm_wake_others(const struct shm *m);

/* The calls; bytes: of one member's part. */
int shm_barrier(struct shm *m);
int shm_allreduce(struct shm *m, const struct coll_args *a, size_t bytes);
int shm_reduce(struct shm *m, const struct coll_args *a, size_t bytes);
int shm_reduce_scatter_block(struct shm *m, const struct coll_args *a, size_t bytes);
int shm_reduce_scatter(struct shm *m, const struct coll_args *a, size_t bytes); /* of all parts */
int shm_scan(struct shm *m, const struct coll_args *a, size_t bytes);
int shm_bcast(struct shm *m, const struct coll_args *a, size_t bytes);
int shm_gather(struct shm *m, const struct coll_args *a);
int shm_allgather(struct shm *m, const struct coll_args *a);
int shm_allgatherv(struct shm *m, const struct coll_args *a);
int shm_scatter(struct shm *m, const struct coll_args *a, size_t bytes);
int shm_alltoall(struct shm *m, const struct coll_args *a);
/* gatherv, scatterv, alltoallv. 1: done, *err is the result; 0: all that this process does goes by
 * messages, or it does nothing. */
int shm_mixed(struct shm *m, const struct coll_args *a, int *err);

#endif
