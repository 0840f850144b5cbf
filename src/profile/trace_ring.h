/* trace_ring.h - the events of a process, and how they travel; private to profile/. */
#ifndef PROFILE_TRACE_RING_H
#define PROFILE_TRACE_RING_H

#include <stdatomic.h>

#include "base/map.h"
#include "profile/profile_types.h"
#include "profile/trace.h"

enum trace_kind {
    TRACE_CALL, TRACE_WINDOW, TRACE_COLLECTIVE, TRACE_SENT, TRACE_GOT, TRACE_ARRIVED, TRACE_WAIT,
    TRACE_STATE, /* of a target element; its name in place of a call's, empty: it is gone */
    TRACE_KINDS
};
struct trace_chunk;

struct trace_event {
    uint64_t at;    /* begin: ticks here, ns of rank 0's clock in a chunk */
    uint64_t lasts; /* the same; of a wait: ns */
    union {
        const char *text; /* the call; in a chunk: index of its name */
        uint64_t index;
    } name;
    uint64_t site;    /* return address; in a chunk: portable */
    uint64_t bytes;
    uint64_t message; /* number of the message in the job, 0: none; of a wait: looks around */
    int32_t peer;     /* world rank, -1: none */
    int32_t window;   /* handle here; in a chunk: index of its name, -1: none */
    uint16_t kind, why; /* enum trace_kind, enum progress_why; of MPI_Win_test: it is done */
    uint32_t thread;  /* some bits of its identity, 0: the process has one */
};

enum { TRACE_WINS = 64, TRACE_NAMES = 512, TRACE_CALL_LEN = 40, TRACE_BLOCK = 512 };

struct trace_win {
    int32_t handle;
    uint32_t unused;
    uint64_t until; /* ticks at which it was freed */
    char name[PROFILE_NAME];
};

struct trace {
    struct trace_event *ring;
    uint64_t room;      /* a power of two */
    atomic_ullong n;    /* events so far; those before n - room are lost */
    uint64_t tick0, ns0; /* the same moment by both clocks */
    struct map sent, got; /* messages so far, by communicator, peer and tag */
    struct map posted;    /* receives: struct trace_receive by handle of the request */
    struct trace_win win[TRACE_WINS]; /* freed windows; the oldest are overwritten */
    uint64_t wins;
    int calls;            /* the traced library is loaded */
    struct trace_at now;  /* the call under way; its name is NULL outside the calls */
    struct trace_at last; /* MPI_Finalize, which has not returned when events are gathered */
    int sends_unsure;     /* one was cancelled: the messages of this process have no line */
    struct trace_chunk *chunk; /* for the end, when memory may be short */
};

/* A part of a process's events on its way to rank 0. */
enum trace_part {
    TRACE_ZERO_PART, TRACE_NAMES_PART, TRACE_WINS_PART, TRACE_EVENTS_PART, TRACE_LAST_PART
};
struct trace_chunk {
    uint32_t magic, part; /* enum trace_part */
    int32_t rank;
    uint32_t n;
    uint64_t lost;        /* with the windows: events that were overwritten; of the zero part: the
                           * begin of the job's first event (ns of rank 0's clock) */
    uint32_t first;       /* of the names: index of the first */
    uint32_t unused;
    union {
        char name[TRACE_BLOCK][TRACE_CALL_LEN];
        char win[TRACE_WINS][PROFILE_NAME];
        struct trace_event event[TRACE_BLOCK];
    } u;
};
#define TRACE_MAGIC 0x54524301u

/* trace.c */
/* t is zeroed. The room is a power of two. 0 or -ENOMEM. */
int trace_open(struct trace *t, struct trace_event *ring, uint64_t room);
uint64_t trace_room(void);
void trace_both_clocks(uint64_t *ticks, uint64_t *ns); /* the same moment */
void trace_close(struct trace *t);
int trace_calls_seen(void);
void trace_wait(struct trace *t, const struct progress_seen *s);
void trace_win_closed(struct trace *t, struct rma_win *w);
void trace_state(struct trace *t, struct rma_win *w, int world, const char *state);
/* trace_tree.c: all of them to rank 0, which calls take() for each chunk, one rank's one after the
 * other, and then the chunk's memory is used again. Waits. */
void trace_gather(struct trace *t, void (*take)(void *to, struct trace_chunk *c), void *to);
/* trace_file.c */
struct trace_file;
/* incomplete: what is missing, or NULL. */
int trace_file_open(struct trace_file **out, const char *path, const char *program, int ranks,
                    const char *incomplete);
/* Of a job that ended early: how, for this rank. */
void trace_file_ended(struct trace_file *f, int rank, const char *how);
void trace_file_take(void *file, struct trace_chunk *c);
/* 0, or -errno of the first write that failed; how many events were written, and had been lost. */
int trace_file_close(struct trace_file *f, uint64_t *lost, uint64_t *events);

#endif
