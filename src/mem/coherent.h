/* coherent.h - memory with one instance in each space, kept coherent lane by lane
 * (doc/design/coherent.md).
 *
 *   tile   `tile` bytes, 64 lanes; per space: V valid, M modified there, W held for writing
 *   home   instance 0, host memory that is always there; others have memory by chunk (a commit)
 *   hold   a range that a space uses; it is neither evicted nor, if for writing, copied
 *   flight a copy under way: a call that needs one of its lanes waits for it
 *
 * Results: 0; SPACE_AGAIN: something is under way, call again; -EBUSY: a lane is held for writing
 * elsewhere; -ENOMEM: the device is full of what is held; -EIO: a copy or the device failed;
 * -ENODATA: the lane was lost with its device; -ERANGE.  Nothing here waits but coh_drop().  All is
 * under the caller's lock.  Start at coh_acquire(). */
#ifndef MEM_COHERENT_H
#define MEM_COHERENT_H

#include <stdatomic.h>

#include "mem/space.h"

struct coh;
struct pvar_set;

enum coh_mode { COH_READ = 1, COH_WRITE = 2, COH_DISCARD = 4 };
enum { COH_SPACES = 8, COH_LANES = 64, COH_TILE_LEAST = 4096, COH_TILE_MOST = 4 << 20 };

/* Peers act on home memory themselves while a word per tile says that the tile is valid nowhere
 * else and that no hold writes there.  A peer that acts shows it, then reads the word. */
struct coh_gate {
    atomic_uchar *alone; /* [tiles], which the peers see */
    void (*look)(void *arg);  /* words were taken back: note the peers that act now ... */
    int (*inside)(void *arg); /* ... is any of them still acting? */
    void *arg;
};
struct coh_plan {
    const struct coh_gate *gate; /* NULL: peers send messages alone */
    void *home;
    size_t bytes, tile;           /* tile: a power of two, COH_TILE_LEAST to COH_TILE_MOST */
    size_t budget;                /* device memory for each space; 0: 3/4 of what is free */
    unsigned n;                   /* instances, home included */
    struct space *space[COH_SPACES]; /* of each; [0] is not used */
    struct pvar_set *pvars;
};
int coh_make(const struct coh_plan *p, struct coh **out); /* 0 or -errno */
/* Waits for copies under way.  What is valid on a device alone is lost. */
void coh_drop(struct coh *c);

/* One acquire or access while it goes on.  The caller fills the first block, clears the rest and
 * calls again with the same record until the result is not SPACE_AGAIN. */
struct coh_ask {
    size_t off, len;
    unsigned space, mode;
    int on_stream; /* the hold is there at once; the stream waits for the copies */
    void *stream;

    uint64_t ptr;       /* out: address of off in that space */
    size_t bad;         /* out, with an error: displacement ... */
    unsigned bad_space; /* ... and instance that holds or has lost it */
    int pinned, counted, shut, err;
};
int coh_acquire(struct coh *c, struct coh_ask *a);
/* The last hold of just this range.  -EINVAL: there is none. on_stream: it ends when the stream
 * gets there. */
int coh_release(struct coh *c, size_t off, size_t len, unsigned space, int on_stream, void *stream);
/* Begin what COH_READ would copy, if there is room; never SPACE_AGAIN. */
int coh_prefetch(struct coh *c, size_t off, size_t len, unsigned space);
/* -EBUSY: held.  The same record until the result is not SPACE_AGAIN. */
int coh_evict(struct coh *c, struct coh_ask *a);

/* An access of RMA at home.  COH_AT_PUT writes all named bytes.  The access itself must follow
 * under the same lock. */
enum coh_access {
    COH_AT_GET, COH_AT_PUT, COH_AT_UPDATE,
    /* before an access to several ranges: would it be refused? Bring what it does not write. */
    COH_AT_CHECK, COH_AT_EDGES
};
int coh_home(struct coh *c, struct coh_ask *a, enum coh_access how);

/* Complete what is done. Returns whether anything is still under way. */
int coh_poll(struct coh *c);
/* Has each release on a stream taken effect? */
int coh_settled(struct coh *c);
/* The first copy for such a hold that failed after its release: -errno, once, and a->off, a->len,
 * a->space of the hold; 0: none. */
int coh_late(struct coh *c, struct coh_ask *a);
/* Modes of the holds of a space that touch a range, or 0. */
unsigned coh_held(const struct coh *c, unsigned space, size_t off, size_t len);
/* Device memory [addr, addr + len), len > 0, of space s: 1 if it is in one hold that was not
 * released (writes: for writing); 0 if not; -1: it is not in the memory of this window there. */
int coh_in_hold(const struct coh *c, const struct space *s, uint64_t addr, size_t len, int writes);
/* Offset in the window of a device's address, for messages; -1: none of its. */
long long coh_offset_of(const struct coh *c, uint64_t addr, unsigned *at);
size_t coh_tile_bytes(const struct coh *c);
/* Holds that have not been released. */
unsigned coh_holds(const struct coh *c);

struct coh_view {
    int state;       /* 'M', 'S', 'I' */
    unsigned holds;
    size_t valid;    /* bytes */
};
void coh_look(const struct coh *c, size_t off, unsigned space, struct coh_view *v);
struct coh_sums {
    size_t held, used, budget; /* bytes of device memory */
};
void coh_sum(const struct coh *c, unsigned space, struct coh_sums *v);
/* The first rule of the design that does not hold, or NULL. */
const char *coh_check(const struct coh *c);

#endif
