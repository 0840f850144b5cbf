/* stall.h - what stall.c and collect.c share: a process's own wait, what the collector knows. */
#ifndef ALIGN_STALL_H
#define ALIGN_STALL_H

#include "align/waitgraph.h"
#include "align/waits.h"
#include "base/map.h"
#include "progress/progress.h"

/* The first numbers of the block are the judge's. */
enum {
    STALL_STATE = AM_CHECK + 8, STALL_HAVE, STALL_ASK, STALL_FLUSH, STALL_FLUSHED, STALL_SAME,
    STALL_VERDICT
};
_Static_assert((int)STALL_VERDICT < (int)AM_SIGNATURE, "all checkers may be on");

enum { STALL_KEYS = 16 };

struct state_msg { /* items and communicators follow */
    uint64_t id, site, module;
    int32_t world;
    uint16_t items, comms;
    uint32_t mode, sends; /* as in struct waits */
    char call[WAITS_CALL], path[160];
};
_Static_assert(sizeof(struct state_msg) % 8 == 0, "items follow, aligned");

struct ask_msg { /* ranks follow */
    uint64_t id;
    uint32_t round;
    uint16_t turn, n;
};

struct round_msg { /* SAME: of process `world`; FLUSH, FLUSHED: in a round of collector `world` */
    uint64_t id; /* SAME: of the wait that was asked about */
    uint32_t round;
    uint16_t turn, same;
    int32_t world;
    uint32_t sent; /* FLUSH: p2p_sent_to() the receiver */
};

/* The text follows; one message, as all of it holds at the same time. Quiet: key[0] is the id of
 * the receiver's wait, which never ends. */
struct verdict_msg {
    uint32_t n, unused;
    uint64_t key[STALL_KEYS];
};

struct stall_ask { /* the collector's question that is to be answered */
    int on, flushed;
    int collector, n;
    uint32_t round;
    uint16_t turn;
    uint64_t id;
    int32_t peer[CORE_MAX];
};

struct stall_count { /* messages of one turn */
    int collector, n;
    uint32_t round;
    uint16_t turn;
};

struct stall_state; /* collect.c */

struct stall {
    /* the own wait */
    uint64_t never;         /* quiet: id of a wait that cannot end */
    uint64_t told, told_at; /* id of the wait that was reported, and when (ns) */
    int collector, have;    /* to which process; whether it has answered */
    uint64_t looked;        /* when it was last looked at (ns) */
    int soon;               /* a message came that it answers: it is looked at in the next turn */
    uint64_t rings_at;      /* when rings were sent last (ns) */
    struct stall_ask ask;
    struct stall_count came, back; /* FLUSH and FLUSHED */
    int over;               /* there was a verdict */
    /* the collector */
    struct map states;      /* world rank + 1 -> struct stall_state */
    struct progress_hook hook;
    uint64_t due;           /* when the graph is looked at (ns); 0: no news */
    uint32_t round;
    uint16_t turn;          /* 0: no round is under way */
    int awaited;            /* answers */
    uint64_t end;           /* of the turn, or of the pause behind it (ns) */
    uint64_t timeout;      /* how long answers are awaited (ns) */
    int pause;
    struct stall_state **core; /* its processes, by place in the core */
    int ncore;
    int *peers, *npeers;    /* of each: those that it waits for, or that wait for it */
    char *why;              /* text of the verdict; NULL: none */
    int nkeys;              /* ... and the communicators that it holds for */
    uint64_t keys[STALL_KEYS];
};

/* collect.c */
void collect_init(struct stall *s);
void collect_finalize(struct stall *s);
void stall_keep(struct stall *s, const struct state_msg *m, const void *tail);
void stall_same(struct stall *s, const struct round_msg *m);
/* stall.c, for a process's own questions and verdicts */
void stall_asked(struct stall *s, int src, const struct ask_msg *m, const int32_t *peer);
void stall_verdict(const struct verdict_msg *m, const char *text);

#endif
