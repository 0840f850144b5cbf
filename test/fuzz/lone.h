/* lone.h - one real process of a job of four; the other three are the input.
 *
 *     home (the target's loop)  ---- lone_deliver ---->  am_recv -> handlers of rank 0
 *       |                                                     |
 *       |  lone_call: queued, run by                          v am_request, am_reply
 *       '--> fiber: calls of rank 0; where they wait     recorded: lone_sent_back()
 *            they give way to home
 *
 * Ranks 1 and 2 are hostile, rank 3 is honest: at the end of each input it sees whether everything
 * still works.  Time is the number of turns; nothing sleeps, nothing depends on addresses. */
#ifndef FUZZ_LONE_H
#define FUZZ_LONE_H

#include "am/am.h"
#include "fuzz.h"

enum { LONE_RANKS = 4, LONE_HONEST = 3, LONE_SENT = 128, LONE_KEEP = 512 };

struct lone_knobs {
    int ordered;  /* the transport keeps order */
    int near;     /* all four are on one node */
    int am_max;   /* bytes of one message */
    int replies;  /* that may be outstanding */
    int gather;   /* bytes of small operations to wait for */
    int native;   /* a network with put and get: long accumulates are fetched */
};

struct lone_sent {
    int dst, type;
    enum tp_class cls;
    size_t len;     /* bytes of the message; at most LONE_KEEP of them are kept */
    int served;     /* an answer was made from it */
    _Alignas(8) char bytes[LONE_KEEP];
};

/* Control variables at their defaults, to be changed before lone_up(); lone_down() undoes it. */
void lone_defaults(void);
void lone_up(const struct lone_knobs *k);
/* The calls must be over (lone_end). */
void lone_down(void);

/* Let rank 0 call fn(arg), after what it does now; arg is freed.  0: too much is queued, nothing
 * happened. */
int lone_call(const char *name, void (*fn)(void *arg), void *arg);
/* Run rank 0 until it waits or has nothing to do. */
void lone_turn(void);
int lone_idle(void);  /* no call is under way */

/* A message of rank src comes in.  Refused ones are offered a few times more, then lost. */
void lone_deliver(int src, enum tp_class cls, int type, const void *msg, size_t len);
/* The transport refuses what rank 0 sends. */
void lone_refuse(int on);
void lone_fail(int rank);

/* Messages of rank 0, newest first; NULL: there are not so many. */
struct lone_sent *lone_sent_back(unsigned back);
/* Forget them. */
void lone_discard(void);
/* The last message of a type and class to dst, NULL if none since lone_discard(). */
struct lone_sent *lone_last(int dst, enum tp_class cls, int type);

/* All others die; every call of rank 0 must come to its end. */
void lone_end(void);

/* --- one input -------------------------------------------------------------------------------- */
enum lone_op {
    LONE_PACKET, LONE_ANSWER, LONE_SERVE, LONE_CALL, LONE_TURN, LONE_REFUSE, LONE_DEATH, LONE_OPS
};

struct lone_target {
    void (*up)(const uint8_t *settings); /* fuzz_settings bytes */
    void (*packet)(const struct record *r);
    void (*answer)(const struct record *r);
    void (*serve)(void);
    void (*call)(const struct record *r);
    void (*check)(void);       /* the invariants, after each record */
    void (*honest)(void);      /* rank 3 is served as if nothing had happened */
    void (*finish)(void *arg); /* a call of rank 0, when the others are dead: everything ends */
    void (*down)(void);
};
/* All of LLVMFuzzerTestOneInput: settings, at most 200 records, what must hold at the end
 * (doc/design/fuzz.md). */
int lone_input(const struct lone_target *t, const uint8_t *data, size_t size);

/* --- memory that must not be touched around it ------------------------------------------------ */
struct guarded {
    char *all, *mem;
    size_t size;
};
void guarded_make(struct guarded *g, size_t size);
void guarded_check(const struct guarded *g);
void guarded_free(struct guarded *g);

#endif
