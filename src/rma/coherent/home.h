/* home.h - the contract of rma/coherent/: windows with instances on devices, as the rest of rma/
 * sees them.
 *
 * RMA acts on the home instance, w->base.  rma_home() makes lanes valid there before an operation
 * acts; it waits for the copy engine, never for a kernel, a hold or a peer.  rma.h declares the
 * user's calls that are defined here.  Start with rma_home().
 *
 *   ownership  a window owns its struct rma_coherent
 *   blocking   rma_home() spins for copies; the user's acquires and rma_coherent_settle() wait
 *   lock       all under proc->lock
 *   errors     MPI error classes where so stated, else MPI error codes */
#ifndef RMA_HOME_H
#define RMA_HOME_H

#include "base/atomic.h"
#include "base/sched.h"
#include "mem/coherent.h"
#include "rma/core/core.h"

struct rma_guard;
struct rma_gate;
struct rma_coherent {
    struct coh *coh;
    unsigned n;
    unsigned pinned;                 /* a bit for each instance whose device pinned home */
    int number[COH_SPACES];          /* of each instance's space (mem/space.h) */
    struct space *space[COH_SPACES]; /* [0]: NULL */
    struct rma_guard *guard;         /* guard.c; NULL: none */
    struct rma_gate *gate;           /* alone.c; NULL: all peers send messages */
    size_t bad;                      /* of the last refusal: displacement in bytes ... */
    unsigned bad_space;              /* ... and instance */
};

/* At creation.  rma_coherent_wanted: is the key given, and may this flavor have it? The text of its
 * spaces, or NULL. */
int rma_coherent_wanted(const struct rma_win *w, const char **spaces);
int rma_coherent_make(struct rma_win *w);
void rma_coherent_drop(struct rma_win *w);
/* MPI_Win_free: MPI_ERR_RMA_SYNC while something is held; else the user's memory gets all data. */
int rma_coherent_end(struct rma_win *w);
/* Until the streams of this process have come to the releases that are in them. A copy that failed
 * after its release goes to w->err, which the synchronization returns. */
void rma_coherent_settle(struct rma_win *w);
/* -errno of mem/ as an MPI error code, with the range of the ask. */
int rma_coherent_failed(struct rma_win *w, const struct coh_ask *a, int err);
/* progress_wait() where devices must be asked. */
void rma_coherent_wait(int (*cond)(void *), void *arg, const char *what);

/* --- guard.c: the program's view of home, where MPIR_CVAR_WIN_GUARD is set ---- */
int rma_guard_make(struct rma_win *w); /* before coh_make(): it changes w->base */
void rma_guard_drop(struct rma_win *w);
void *rma_guard_view(const struct rma_win *w);
/* Pages of a range as the holds of the host are now. */
void rma_guard_set(struct rma_win *w, size_t off, size_t len);
/* What the program gets as its memory. */
static inline void *rma_win_shown(const struct rma_win *w)
{
    return w->coherent ? rma_guard_view(w) : w->base;
}

/* --- alone.c: peers that map the memory act on tiles that no device has ---- */
/* The owner: at creation, where guard and near members are known. Failure is no error. */
void rma_alone_make(struct rma_win *w, size_t tile, struct coh_gate *gate);
void rma_alone_record(const struct rma_win *w, struct rma_peer *p);
void rma_alone_drop(struct rma_win *w, int retire);
struct rma_alone { /* a peer's view of it */
    struct mem_segment *seg;
    atomic_uint *sign;         /* this process's own; odd: it acts */
    const atomic_uchar *tiles; /* 1: home alone has it */
    unsigned shift;            /* a tile has 1 << shift bytes */
    int light;                 /* the owner executes this process's fence */
    uint64_t units;            /* whole displacement units in the window */
    char *base;
};
/* n->alone, if it can be reached; base: the memory of n in this process. */
void rma_alone_attach(struct rma_win *w, struct rma_near *n, char *base);
void rma_alone_detach(struct rma_near *n);
static inline void rma_alone_leave(struct rma_alone *a)
{
    unsigned sign = atomic_load_explicit(a->sign, memory_order_relaxed);
    atomic_store_explicit(a->sign, sign + 1, memory_order_release); /* pairs with inside() */
}
/* 1: [off, off + len), len > 0, may be acted on until rma_alone_leave(). Not by two threads at
 * once. */
static inline int rma_alone_enter(struct rma_alone *a, uint64_t off, uint64_t len)
{
    unsigned sign = atomic_load_explicit(a->sign, memory_order_relaxed);
    /* odd, whatever it was: a signal handler may have jumped out of an access */
    atomic_store_explicit(a->sign, (sign + 1) | 1, memory_order_relaxed);
    if (__builtin_expect(a->light, 1))
        atomic_signal_fence(memory_order_seq_cst); /* look() executes the fence here */
    else
        fence_full(); /* pairs with the one in coh_gate_shut() */
    for (uint64_t t = off >> a->shift; t <= (off + len - 1) >> a->shift; t++)
        /* acquire pairs with the release in coh_gate_open(): the data are at home */
        if (!atomic_load_explicit(&a->tiles[t], memory_order_acquire)) {
            rma_alone_leave(a);
            return 0;
        }
    sched_point(); /* the owner waits */
    return 1;
}

/* --- buffers.c: buffers of operations in memory of devices ---- */
enum { RMA_BUFFER_RUNS = 256 }; /* blocks of one copy */
struct rma_buffers { /* by the key mpix_win_buffers: where they may lie */
    unsigned n;
    struct space *space[COH_SPACES];
};
struct rma_buffer {
    const char *what, *call;    /* "origin"; the call that gave it: for messages */
    struct space *space;        /* NULL: it is host memory, and the rest is not set */
    void *at;
    const struct dt_type *type;
    size_t count, bytes;        /* bytes: without gaps */
    struct dt_type *elem;       /* its instance on the host has n of these, */
    size_t n;
    char *host, *packed;        /* in one allocation, which the caller frees by `host` */
};
/* spaces.c: w->buffers, NULL without the key. */
int rma_buffers_make(struct rma_win *w);
void rma_buffers_drop(struct rma_win *w);
void rma_buffers_end(void); /* of all windows */
/* The caller gives b->what and clears the rest. t NULL: there is no such buffer. MPI error codes,
 * as of the next three. */
int rma_buffer_find(const struct rma_win *w, const void *buf, size_t count,
                    const struct dt_type *t, struct rma_buffer *b);
/* b->host with what the device has (waits), or for what an operation brings. */
int rma_buffer_out(struct rma_win *w, struct rma_buffer *b);
int rma_buffer_room(struct rma_buffer *b);
/* The first `len` bytes go to the device. waits 0: it spins for the copy engine. */
int rma_buffer_in(struct rma_win *w, const struct rma_buffer *b, size_t len, int waits);
/* boot_fault_words(): the host touched memory of a device. */
size_t rma_buffer_fault(const void *at, char *text, size_t len);

/* --- home.c ---- */
/* [off, off + len) before an access at home: MPI error class or 0. */
int rma_home(struct rma_win *w, uint64_t off, uint64_t len, enum coh_access how);
/* The blocks of packed bytes [from, from + len) of a layout at off. All are checked before any
 * changes. */
int rma_home_layout(struct rma_win *w, uint64_t off, const struct dt_type *t, size_t count,
                    size_t from, size_t len, enum coh_access how);
/* The same for runs that a packet names. */
int rma_home_runs(struct rma_win *w, uint64_t off, const struct rma_run *runs, unsigned n,
                  enum coh_access how);
/* This process's own operation at off: MPI error code. */
int rma_home_own(struct rma_win *w, const struct rma_args *a, uint64_t off, size_t bytes);

#endif
