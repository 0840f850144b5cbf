/* align_types.h - private types of align/. All under proc->lock.
 *
 *   struct check ---- aligns by key: struct align of each communicator
 *                        |-- ring of the last calls of this process
 *                        '-- others: the rings that came from other members (at the judge)
 *
 * The key is the context id with which the group of the judge receives: the same number at all
 * members, also of an intercommunicator. */
#ifndef ALIGN_TYPES_H
#define ALIGN_TYPES_H

#include "align/align.h"
#include "am/am.h"
#include "base/list.h"
#include "base/map.h"
#include "boot/boot.h"
#include "place/place.h"
#include "progress/progress.h"
#include "watch/watch.h"

enum { ALIGN_RING = AM_CHECK, ALIGN_ACK, ALIGN_ASK, ALIGN_VERDICT, ALIGN_ALIKE,
       ALIGN_CROSS, ALIGN_SOON };

enum check_level { CHECK_WATCH = 1, CHECK_GUARD, CHECK_STRICT }; /* MPIR_CVAR_COLL_CHECK */

/* --- a call, a history (digest.c) ------------------------------------------------------- */

/* `what`: the fields of a call that its text needs. */
enum {
    WHAT_FORM = 7, WHAT_OP = 9, WHAT_ROOT = 14, /* first bits; the call is below */
    ROOT_NONE = 1 << 17, /* root + 3: MPI_ROOT and MPI_PROC_NULL are negative */
    OP_USER = 15,        /* operations of users: OP_USER + whether it commutes */
    OP_MODES = 17,       /* of a fence: + 1 NOPRECEDE, + 2 NOSUCCEED */
    OP_PARTS = 20        /* of a file: + enum watch_part */
};
_Static_assert((int)WATCH_CALLS <= 1 << WHAT_FORM, "the call has its bits");
_Static_assert((int)WATCH_COLLS == (int)COLL_CALLS, "numbers of calls without a gap");

/* The call names no bytes that are equal at all processes. */
#define BYTES_NONE ((1ull << 33) - 1)
#define BYTES_MANY (BYTES_NONE - 1) /* so many or more; the history has all of them */
#define AMOUNT_NONE UINT64_MAX      /* BYTES_NONE, in a struct align_call */
enum { TYPE_BIT = 33 }; /* of bytes_type */

struct align_entry { /* 32 bytes */
    uint64_t site;  /* return address; in messages site_portable() of it */
    /* 33 bits: of the part that the call names, as far as they fit. Above: its type (text.c) */
    uint64_t bytes_type;
    uint32_t what;
    uint32_t hist;  /* of all calls up to this one, without types */
    uint32_t types; /* ... with types */
    uint32_t pos;   /* level 3: of a blocking call, the blocking calls made on the communicators
                     * that this one was made over */
};
_Static_assert(sizeof(struct align_entry) == 32, "what align.md states");

static inline uint64_t entry_bytes(const struct align_entry *e)
{
    return e->bytes_type & BYTES_NONE;
}
static inline uint64_t bytes_of(uint64_t amount)
{
    return amount == AMOUNT_NONE ? BYTES_NONE : amount < BYTES_MANY ? amount : BYTES_MANY;
}

struct align_call { /* what an entry is made of */
    uint32_t what;
    int between;    /* on an intercommunicator: root and bytes may differ */
    uint64_t amount, signature; /* amount: of bytes, or AMOUNT_NONE */
    int soft;       /* packed data: bytes are compared, types not */
    uint32_t pos, type; /* as in an entry */
};

/* A call, as it goes into the history; its arguments, if it may be met again (repeat.h): of
 * predefined types and operations, which last as long as the process. */
struct align_repeat {
    uint64_t site;         /* 0: none is kept here */
    uint32_t call;         /* and its form above 8 bits */
    int root;
    const struct dt_op *op;
    const struct dt_type *type;
    MPI_Aint count;
    uint64_t key, typed, bytes; /* bytes: with the type, as in an entry */
    uint32_t what;
    uint8_t blocking, soft;
};
enum { REPEATS = 4 }; /* a power of two: places of calls share them */

struct align_history {
    uint64_t hist, types;
    uint32_t calls, blocking;
    int soft;       /* a soft call was among them */
    uint32_t room;
    struct align_entry *ring; /* call k lies at (k - 1) % room */
    struct align_repeat repeat[REPEATS];
};

/* The calls [first, calls] of one process, oldest first. */
struct align_view {
    int rank;         /* between groups: of MPI_COMM_WORLD */
    int between;      /* an intercommunicator's */
    uint32_t calls, first;
    int final;        /* enum align_end: it makes no more calls */
    int soft;
    int order;        /* compare that across communicators as well */
    const struct align_entry *e;
};
enum align_end { ALIGN_GOES_ON, ALIGN_FREED, ALIGN_FINALIZED };

void digest_coll(const struct coll_args *a, enum watch_form form, struct align_call *out);
/* Add a call; 0 or -ENOMEM (then the ring stays as long as it is). */
int history_add(struct align_history *h, const struct align_call *c, const void *site,
                uint32_t room_max);
/* The call that was added last may come again from this place (not at level 3). */
void history_keep(struct align_history *h, const struct coll_args *a, enum watch_form form,
                  const struct align_call *c, const void *site);
/* The last call, an Alltoallv: which elements it names for all, in place of an amount. */
void history_elements(struct align_history *h, const struct coll_args *a);
/* The last n entries at most, oldest first, into e; how many. */
uint32_t history_copy(const struct align_history *h, struct align_entry *e, uint32_t n);
/* The first call that differs, as far as both views show it; 0: none. */
uint32_t views_differ(const struct align_view *a, const struct align_view *b);
/* Entry of call k, NULL: the view does not show it. */
const struct align_entry *view_at(const struct align_view *v, uint32_t k);
/* The same call, with the same types, by the histories up to k. */
int entries_alike(const struct align_view *a, const struct align_view *b, uint32_t k);

/* --- texts (text.c) --------------------------------------------------------------------- */

enum { TEXT_LINES = 8, TEXT_LINE = 256, TEXT_SHORT = 360 };
struct align_text {
    int n;
    char line[TEXT_LINES][TEXT_LINE];
    char brief[TEXT_SHORT]; /* the same in one line, for the error */
};
extern const char *const check_names[WATCH_CALLS]; /* without MPI_, or MPI; call_names.c is made */
void text_call(const struct align_entry *e, char *buf, size_t len);
/* "0,2-5" of a sorted list. */
void text_ranks(const int *ranks, int n, char *buf, size_t len);
/* A line of a message: ranks, their call, and its place. */
void text_group(int between, const int *ranks, int n, const char *call, const char *at, char *line,
                size_t len);
/* It shows call k, or has ended before it. */
int shows_call(const struct align_view *v, uint32_t k);
/* The places that the verdict names; how many. */
int text_sites(const struct align_view *v, int n, uint32_t k, uint64_t site[TEXT_LINES]);
/* The verdict about call k of the n views; site(id): text of a place. */
void text_verdict(const struct align_view *v, int n, uint32_t k, const char *name,
                  void (*site)(uint64_t id, char *buf, size_t len), struct align_text *out);

/* --- records and messages ------------------------------------------------------------------- */

struct align_others { /* of another member, at the judge */
    struct list link;
    struct align_view v;
    int world;
    struct align_entry e[];
};

/* How far a communicator's blocking calls have come. Those made over it keep it. */
struct align_pos {
    struct align_pos *over; /* NULL: none */
    int refs;
    uint32_t blocking;
};

struct align {
    uint64_t key;
    struct align_pos *pos; /* level 3, else NULL */
    struct comm *comm;     /* NULL: not made here yet, or freed */
    struct align_history h;
    int rank, size;        /* of this process (between groups: its world rank); of all members */
    int between;           /* an intercommunicator */
    int judge;             /* world rank; -1: not known */
    int final;             /* enum align_end */
    int fatal;             /* its error handler ends the job */
    int finals;            /* judge: final rings that came */
    uint32_t sent;         /* calls + 1 of the last ring sent to the judge */
    int closed;            /* the ring that says `final` was sent: no other one follows */
    struct list others;
    uint64_t look;         /* judge: when to give the verdict (ns); 0: no difference is known */
    int asked_again;       /* ... and whether all were asked for their rings a second time */
    int only_places;       /* ... and there is no difference: a hint waits for its lines */
    uint32_t alike;        /* all members' calls up to this one are known to be the same */
    int doubted;           /* judge: a process has an error, and waits for a word */
    int soon;              /* there is a difference: its verdict waits for lines of the program */
    uint64_t soon_at;      /* judge: this is said again then (ns) */
    uint32_t placed;       /* judge: the places of calls up to this one have been compared */
    int unguarded;         /* its calls carry no note */
    struct align_cross *cross; /* cross.c; NULL: nothing yet */
    int crossed;           /* a message that crosses a call was reported */
    char name[64];
    char *verdict;         /* the brief text; NULL: none */
};

struct check_post { /* a message that waits for room */
    struct list link;
    int dst, type;
    unsigned replies;
    size_t len;
    char bytes[];
};

/* A call that is under way: watch_turn.kept. */
struct check_turn {
    struct check_turn *outer;
    struct align *of;   /* NULL: the call is not compared */
    struct comm *comm;  /* with a reference */
    int began;          /* it was not refused because of calls before it */
    int refused;        /* it did nothing that other processes hear of, so it is none */
    struct check_before {
        uint64_t hist, types;
        uint32_t calls, blocking;
        int soft;
    } before;
};

enum { STALL_RINGS = 64 /* sent in one turn */ };

struct check {
    struct map aligns;
    struct check_turn *inside;
    struct list posts;
    struct progress_hook hook;
    int quiet;           /* MPIR_CVAR_WAIT_PROOF alone: no histories, and no verdict ends a job */
    int ending;          /* MPI_Finalize has begun */
    unsigned acks;       /* answers that MPI_Finalize waits for */
    int pending;         /* records whose verdict is due */
    int told;            /* a verdict is known here */
    int blind;           /* a process has failed, or a communicator was revoked, as others say */
    struct map hints;    /* sets of lines that a hint has named */
    uint64_t abort_at;   /* ns; 0: never */
    char abort_why[TEXT_SHORT + 128];
    struct stall *stall; /* stall.c */
};

/* turns.c */
extern const struct watcher align_watcher;
/* Such a call: note it. MPI_ERR_NOT_SAME: the communicator's calls are known to differ, and the
 * call must not run. check_leave() follows in any case, with the call's result, and returns what
 * the caller is to return. */
int check_coll(const struct coll_args *a, enum watch_form form, const void *site,
               struct check_turn *turn);
int check_leave(struct check_turn *turn, int err);

/* comm_record.c */
void align_close(struct align *a, enum align_end how); /* this process makes no more calls */
struct align *align_find(uint64_t key, int make);
/* The record of c; NULL: one process alone, no id yet, or no memory. */
struct align *align_of(struct comm *c);
void align_drop(struct align *a);
void align_rename(struct align *a);
int check_is_fatal(const struct comm *c); /* its error handler ends the job */
void align_windows(void); /* their error handlers, for check_is_fatal() */
void align_comms(void);   /* a record of each communicator that this process has */
void align_all(void);     /* ... and of each window's */
/* places.c */
/* The n views differ in no call. Names lines that differ, each set of them once; wait: for the
 * answers of addr2line. 1: these are awaited, look again. */
int places_look(struct align *a, const struct align_view *v, int n, int wait);
/* verdict.c */
/* A process has failed, or a communicator was revoked: members leave calls, and differ lawfully.
 * That is known here, or an error says so, or the ring of a process that knows it. */
int calls_may_differ(void);
void judge_verdict(struct align *a, const char *brief); /* it is known here */
void judge_end_job(const struct align *a); /* soon, if its error handler is fatal */
/* judge.c */
void judge_init(void);
/* What the judge is to do with a ring, besides. */
enum ring_wish { RING_ONLY, RING_ACK, RING_EXPLAIN /* an error: compare all members' */ };
void judge_send_ring(struct align *a, enum ring_wish wish);
void judge_stall(void);        /* a wait lasts */
/* Compare what is here. A verdict waits until all members' rings are, or the time for them is over,
 * or no more can come. */
enum judge_when { LOOK_EARLY, LOOK_DUE, LOOK_LAST };
void judge_look(struct align *a, enum judge_when now);
void judge_explain(struct align *a);       /* behind an error: ask all, wait a moment */
/* stall.c */
int stall_init(void);
void stall_finalize(void);
/* cross.c */
void cross_init(void);
/* Messages (levels 2 and 3): before one leaves for rank `dest` of c's peers; behind a wait for one,
 * or for all of n requests. */
void cross_sending(struct comm *c, int dest);
void cross_received(struct comm *c, const struct p2p_took *t);
void cross_waited(struct request *const *r, int n);
/* post.c */
void post_send(int dst, int type, const void *a, size_t alen, const void *b, size_t blen);
/* ... of a message that is answered by as many replies. */
void post_ask(int dst, int type, const void *a, size_t alen, unsigned replies);
int post_drain(struct check *k); /* messages sent */
void check_later(struct check *k); /* the hook has work */
/* fence_mode.c */
void fence_check(const struct watch_turn *t);
#endif
