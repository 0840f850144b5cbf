/* rma_types.h - what the files on top of rma/ share (private). It includes the contracts of all
 * sub-rooms. */
#ifndef RMA_TYPES_H
#define RMA_TYPES_H

#include "rma/window/window.h"

/* --- progress.c ---- */
int rma_advance_global(void *arg); /* the hook */
/* The launcher reported a failed rank: fail what waits for it. */
void rma_fail_peers(void);
/* For am_on_stall(): calls `ask` with the ranks that a window waits for and am/ has no record
 * of. */
void rma_name_awaited(void (*ask)(int rank));

/* --- op_begin.c ---- */
/* An operation with a request that the caller has made, asked: the program's. *later: the request
 * is completed when it is done. Else, or with an error, the request is the caller's still. */
int rma_op_with(struct rma_win *w, const struct rma_args *a, struct rma_request *q, int asked,
                int *later);

/* --- request.c ---- */
/* req NULL: without a handle, for internal use. */
int rma_request_make(const struct rma_win *w, struct rma_request **out, MPI_Request *req);

/* --- replicas.c ---- */
struct rma_place { /* of a copy: rank in the window, byte in its memory for copies */
    int rank;
    uint64_t at;
};
struct rma_owned { /* of a member */
    int64_t bytes, unit;
    int64_t node; /* among those of all jobs */
};
struct rma_changed { /* by accumulates: elements of a rank's part */
    int rank;
    struct rma_elems e;
};
struct rma_changes {
    struct rma_changed *of;
    size_t n, room;
};
/* A put that has begun at its owner, and not at all copies: bytes [from, end) of that part. What a
 * call forwards meanwhile may be read before it, and come to the copies behind it. */
struct rma_putting {
    struct list link;
    int rank;
    uint64_t from, end;
    int passed; /* by such a call: it leaves a note, too */
};
struct rma_replicas {
    unsigned users;          /* the window, and the one that was shrunk from it */
    int n, me, k;            /* members; own rank; copies of each part */
    int err;                 /* of a put that has not begun at a copy; 0: none */
    int near;                /* origins store to copies what their accumulates made */
    int exclusive;           /* the last lock of this process on itself was of this type */
    struct rma_win *copies;  /* all copies, under MPI_Win_lock_all(MPI_MODE_NOCHECK); or NULL */
    char *base;              /* those that this process keeps */
    struct rankmap *map;     /* of the window, with a reference */
    struct rma_owned *part;   /* [n] */
    struct rma_place *place; /* [rank * k + copy] */
    struct rma_forwards *forwards; /* replica_forward.c */
    struct rma_changes changes;    /* of which the copies do not know yet */
    struct list puts;              /* under way in calls of this process */
    struct rma_replicas *before; /* of the window that it was shrunk from; NULL: it was not */
};
/* Frees what there is without the other members: the window is dropped. */
void rma_replicas_drop(struct rma_win *w);
static inline const struct rma_place *rma_places_of(const struct rma_replicas *x, int rank)
{
    return &x->place[(size_t)rank * (size_t)x->k];
}

/* --- replica_notes.c ---- */
/* The elements that accumulate a, off bytes into its target's part, changes. MPI error code. */
int rma_changes_note(struct rma_changes *c, const struct rma_args *a, uint64_t off);
/* Are there elements of a rank (FORWARD_ALL: of any) that no call has taken yet? */
int rma_changes_due(const struct rma_changes *c, int rank);
void rma_changes_join(struct rma_changes *c); /* each element once, in order of ranks */
void rma_changes_forget(struct rma_changes *c);
/* All of e[0, n) lies in bytes [*from, *end) of the part. */
void rma_elems_bounds(const struct rma_elems *e, size_t n, uint64_t *from, uint64_t *end);
/* Does one of e[0, n) have one of bytes [from, end)? */
int rma_elems_meet(const struct rma_elems *e, size_t n, uint64_t from, uint64_t end);

/* --- replica_forward.c ---- */
/* 0 or -ENOMEM: end it. */
int rma_forward_begin(struct rma_replicas *x, struct rma_win *w);
void rma_forward_end(struct rma_replicas *x);
/* Nothing changes the copies here any more. */
void rma_forward_close(struct rma_replicas *x);
/* A call that waits until the copies of a rank's part have what accumulates of this process made of
 * it. It takes the notes, then waits for the accumulates, which other threads may go on to begin,
 * and for puts to copies. Then the rest. */
enum { FORWARD_ALL = -1, FORWARD_NONE = -2 }; /* ranks */
struct rma_forwarding {
    struct rma_win *w;
    int rank, err;
    uint32_t last; /* of those that it waits for */
};
void rma_forward_take(struct rma_win *w, int rank, struct rma_forwarding *c);
int rma_forward_wait(struct rma_forwarding *c); /* MPI error code */
/* Does a call wait for what is to be forwarded of that rank? */
int rma_forward_asked(const struct rma_replicas *x, int rank);
/* Between the two, p->passed is kept. */
void rma_putting_begin(struct rma_replicas *x, struct rma_putting *p);
static inline void rma_putting_end(struct rma_putting *p)
{
    list_del(&p->link);
}
/* What others have asked this process for is done, or the window is revoked. Waits. */
void rma_forward_settle(struct rma_win *w);
void rma_forward_failed(struct rma_replicas *x); /* a process has failed */
int rma_on_forward(int src, const void *msg, size_t len);
int rma_on_forwarded(int src, const void *msg, size_t len);
int rma_on_copy(int src, const void *msg, size_t len);
int rma_on_copied(int src, const void *msg, size_t len);

/* --- replica_near.c ---- */
/* Collective over the members: may origins store to copies? And all have their copies afterwards.
 * MPI error code; all that succeed know the same. */
int rma_mirror_agree(struct rma_win *w);
/* These elements of a rank's part, as they are now, to the copies that living processes keep. */
void rma_mirror(struct rma_win *w, int rank, const struct rma_elems *e, size_t n);

/* --- replica_calls.c ---- */
int rma_replicas_op(struct rma_win *w, const struct rma_args *a, MPI_Request *req);
/* All copies that living processes keep have what this process has put: MPI error code. Waits. */
int rma_replicas_flush(struct rma_replicas *x);

/* --- stats.c ---- */
void rma_stats_print(void);
void rma_time_stop(void); /* rma_time_waits() */
void rma_stats_write(const char *name);

/* --- invariants.c ---- */
void rma_check_invariants(const struct rma_win *w);

#endif
