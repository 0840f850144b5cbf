/* note.h - counters of notifications, as the processes of a node see them (part of near.h).
 *
 *   a word of the owner's memory for each counter: it only grows, by one atomic add for each
 *   notification; what the owner calls its value is word - base, and base is the owner's alone
 *
 *   origin                                owner
 *   data: plain or relaxed stores         word: load, acquire
 *   word: add, release                    data: plain loads
 *   full fence                            sleeping: store; full fence
 *   sleeping: load; odd: mem_wake()       word: load; else sleep
 *
 * The words of a window stay where they are until MPI_Win_free. */
#ifndef RMA_NOTE_H
#define RMA_NOTE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/list.h"
#include "base/map.h"
#include "mem/mem.h"
#include "progress/progress.h"

/* The first counters have a line each, so that origins of two do not share one. */
enum { RMA_NOTE_MAX = 65536, RMA_NOTE_LINES = 256, RMA_NOTE_LINE = 64,
       RMA_NOTE_FIRST = RMA_NOTE_LINES * RMA_NOTE_LINE,
       RMA_NOTE_BYTES = RMA_NOTE_FIRST + (RMA_NOTE_MAX - RMA_NOTE_LINES) * 8 };

/* In the owner's record of the node segment. */
struct rma_note_place {
    struct mem_key key; /* the segment of its words; read it behind ... */
    atomic_uint num;    /* ... their number; 0: there is none yet */
};

/* A call that waits for a counter; on its stack. */
struct rma_note_call {
    struct list link; /* rma_win_notes.calls, the last one first */
    pthread_t thread;
    unsigned i;
    int64_t asked;
};

/* Which processes notified a counter by message. */
enum { RMA_NOTE_SOURCES = 4 };
struct rma_note_sources {
    uint64_t all;           /* so many messages */
    struct {
        int rank;           /* in the window */
        unsigned n;         /* 0: none */
    } of[RMA_NOTE_SOURCES]; /* the last one first; the oldest goes */
};

struct rma_win_notes {          /* of a window: this process's counters */
    char *words;                /* NULL: none were made yet */
    uint64_t *base;             /* [made] value = word - base */
    unsigned lines;             /* of those in effect, that have a line each */
    unsigned looks, every;      /* inline looks since a poll; after so many a call polls */
    struct mem_segment *seg;    /* that holds the words; NULL: heap memory, alone on the node */
    unsigned num, made;         /* in effect; the largest num so far */
    struct map early;           /* index + 1 -> notifications that came before num passed it */
    struct map sources;         /* index + 1 -> struct rma_note_sources, for the hang report */
    struct list calls;          /* struct rma_note_call: calls that wait */
    unsigned requests;          /* that are not complete */
    unsigned deaths, told;      /* members that failed; of them reported by a wait */
    unsigned last;              /* index that was read last ... */
    uint64_t seen;              /* ... and its word then */
    uint8_t sent;               /* in this epoch a near target was notified by message */
    uint8_t covers;             /* mpix_notify_order=target: earlier operations, too */
    uint16_t number;            /* in notes of puts (note_number.c); 0: none was given */
};

struct rma_note_waiting { /* of this process (note_request.c) */
    struct list waiting;
    struct progress_hook hook; /* looks for them */
    struct rma_win **numbered; /* windows by their number in notes of puts (note_number.c) */
    unsigned numbers, number;  /* places of that; the number given last */
};

/* What a put_note of a transport carries: the number of the window above, the counter below. */
enum { RMA_NOTE_BITS = 16, RMA_NOTE_ASK = (1 << RMA_NOTE_BITS) - 1, RMA_NOTE_REACH = RMA_NOTE_ASK };

/* The words of one near member. What the inline path reads is one line. */
struct rma_note {
    _Alignas(64) char *words;
    const atomic_uint *sleeping; /* mem_sleeping() of the owner */
    /* Those that the inline path may count: they exist, and lie on lines of their own. */
    atomic_uint num;
    struct mem_segment *seg;     /* NULL: this process's own */
    _Atomic uint64_t counted;    /* by the inline path (PVAR_RMA_NOTIFIED) */
};

/* i < RMA_NOTE_MAX */
static inline _Atomic uint64_t *rma_note_word(char *words, unsigned i)
{
    uintptr_t at = i < RMA_NOTE_LINES ? i * (uintptr_t)RMA_NOTE_LINE
                                      : RMA_NOTE_FIRST + (i - RMA_NOTE_LINES) * (uintptr_t)8;
    return (_Atomic uint64_t *)((uintptr_t)words + at);
}

/* Counts by one word of another process, after all that this thread did so far. 1: that process
 * sleeps, and must be woken. */
static inline int rma_note_add(_Atomic uint64_t *word, const atomic_uint *sleeping)
{
    /* Release pairs with the acquire in rma_note_read(). The fence pairs with that in
     * mem_wake_arm(): this process sees that the owner sleeps, or the owner sees the count. */
    atomic_fetch_add_explicit(word, 1, memory_order_release);
    fence_beside_rmw();
    return atomic_load_explicit(sleeping, memory_order_relaxed) & 1;
}

/* This process's counter i. Acquire pairs with the release of the origins' adds: their data are
 * here, too. */
static inline int64_t rma_note_read(const struct rma_win_notes *x, unsigned i)
{
    return (int64_t)(atomic_load_explicit(rma_note_word(x->words, i), memory_order_acquire) -
                     x->base[i]);
}

#endif
