/* profile_types.h - private records of profile/. All under proc->lock, but those of sample.c.
 *
 *   struct profile ---- cells: sums of this process by key, while the program runs
 *              \--- page: what all members of a subtree know; a fixed size, whatever their number
 *
 * A page holds the largest sums only; what does not fit is added up under PROFILE_REST. */
#ifndef PROFILE_TYPES_H
#define PROFILE_TYPES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/lock.h"
#include "profile/profile.h"
#include "progress/progress.h"
#include "var/var.h"

struct rma_win;

enum {
    PROFILE_CELLS = 256,  /* keys of a process; a power of two */
    PROFILE_WAITS = 48, PROFILE_CALLS = 32, PROFILE_WINS = 12, PROFILE_ROWS = 12, PROFILE_PEERS = 4,
    PROFILE_STRIP = 36,   /* parts of the run that a bar shows */
    PROFILE_CALL = 40, PROFILE_NAME = 24, PROFILE_PLACE = 48
};
#define PROFILE_MAGIC 0x53415903u

/* --- sums --------------------------------------------------------------------------------- */

struct profile_peer {
    int32_t rank; /* world; of WHY_NOTIFY a counter of the window */
    uint32_t unused;
    uint64_t ns;
};

/* Waits of one call at one place, for one window and one reason. */
struct profile_wait {
    char call[PROFILE_CALL];
    uint64_t site;     /* portable; 0: not known */
    uint64_t win;      /* its id; 0: none */
    uint32_t why;      /* enum progress_why */
    uint32_t ranks;    /* processes that waited */
    uint64_t rank_sum; /* of their world ranks: names the one that did not wait */
    uint64_t n, ns, max;
    int32_t max_rank;
    int32_t least_rank; /* the process that waited least, and how long */
    uint64_t least;
    struct profile_peer peer[PROFILE_PEERS]; /* awaited most */
    uint64_t others;   /* ns of other awaited processes */
    char place[PROFILE_PLACE]; /* text of `site`; rank 0 fills it in at the end */
};

/* A call at one place: all of them where they are counted, and those that waited. */
struct profile_call {
    char call[PROFILE_CALL];
    uint64_t site; /* as in a wait */
    uint64_t calls;
    uint64_t waits, ns, max; /* a call may wait several times */
    int32_t max_rank;
    uint32_t unused;
    char place[PROFILE_PLACE];
};

/* Locks of a window by MPI_Win_lock, that were given back. */
struct profile_locks {
    uint64_t n, ns;  /* how many, and for how long they were held */
    uint64_t waits;  /* for a lock; of MPI_Win_lock_all, too */
    uint64_t seen, seen_outside; /* ns the sampler has seen one held, and of them outside MPI */
};
/* The sampler writes it while other threads may read it. */
struct profile_held {
    atomic_ullong seen, seen_outside;
};

/* Put, flush, put of one element, flush: a flag that tells the target of the data. */
struct profile_flags {
    uint64_t n;
    uint64_t site; /* of the first flush, as in a wait */
};

struct profile_win {
    uint64_t id;       /* 0: windows that did not fit */
    char name[PROFILE_NAME];
    int32_t flavor, size, members; /* members that were added up here */
    uint32_t unused;
    struct profile_locks locks;
    struct profile_flags flags;
    uint64_t v[PVAR_COUNT]; /* its PVARs: sums, or largest */
};

struct profile_row { /* a process */
    int32_t rank;
    uint32_t samples;
    uint64_t run, computing, working, waiting; /* ns */
    char strip[PROFILE_STRIP];
    uint32_t unused;
};

struct profile_page {
    uint32_t magic, bytes; /* of this struct */
    int32_t ranks;         /* that were added up */
    uint32_t waits, wins, rows, calls;
    uint32_t counted;      /* ranks whose calls were counted, not only their waits */
    uint32_t unused;
    uint32_t crowded;      /* ranks on hosts with more processes than cores */
    int32_t cores;         /* least of a host */
    int32_t host_ranks;    /* most of a host */
    uint32_t missing;      /* subtrees that failed */
    uint64_t run;          /* longest */
    uint64_t all_run, computing, working, waiting; /* sums over ranks, ns */
    uint64_t delayed;      /* ns in which a process could run and had no core */
    struct profile_wait wait[PROFILE_WAITS];
    struct profile_call call[PROFILE_CALLS];
    struct profile_win win[PROFILE_WINS];
    struct profile_row row[PROFILE_ROWS];
    char incomplete[700]; /* what is missing, of a job that ended early; empty: it did not */
};

/* --- of a process ------------------------------------------------------------------------- */

struct profile_cell {
    const char *call;
    uint64_t address; /* of the place, here */
    struct profile_wait w;
};

enum profile_state { PROFILE_COMPUTING, PROFILE_WORKING, PROFILE_WAITING, PROFILE_STATES };

struct profile_sampler {
    pthread_t thread;
    int on, stop;
    struct lock lock; /* stop, and what follows */
    struct lock_cond cond;
    const struct proc *of;
    uint64_t every;   /* ns between looks; doubles when `seen` is full */
    uint64_t last;
    uint64_t ns[PROFILE_STATES];
    uint32_t looks;
    unsigned n;
    uint8_t seen[1024]; /* enum profile_state */
    /* For a job that ends early: the call under way, and its wait where it has lasted a second
     * (wait_since: ns, 0: none). */
    const char *in_call, *wait_what;
    uint64_t wait_since, wait_site;
    int wait_peer;
};

struct record;
struct profile { /* lies in its record (record.h) */
    struct trace *trace;     /* the first two: struct profile_asks */
    struct profile_calls *calls;
    struct profile_held *_Atomic holding; /* of the window whose lock this process holds, or NULL */
    uint64_t began;
    uint64_t delayed; /* so far when it began */
    uint64_t waited;  /* ns */
    unsigned cells;
    struct profile_cell cell[PROFILE_CELLS];
    struct profile_win win[PROFILE_WINS]; /* freed ones */
    uint32_t wins;
    struct profile_sampler sampler;
};

/* sums.c */
enum progress_why profile_why_of(const struct progress_seen *s);
void profile_note(const struct progress_seen *s);
void profile_win_add(struct profile_win *list, uint32_t *n, const struct profile_win *w);
void profile_wait_add(struct profile_wait *list, uint32_t *n, const struct profile_wait *w);
/* Waits without a place go to the largest sum of the same call, window and reason. */
void profile_places(struct profile_page *p);
void profile_peer_add(struct profile_wait *w, int rank, uint64_t ns);
void profile_row_add(struct profile_page *p, const struct profile_row *r);
/* All of b. */
void profile_page_add(struct profile_page *p, const struct profile_page *b);
/* A page came from another process: are its numbers within bounds? */
int profile_page_is_good(struct profile_page *p, size_t bytes);
/* What this process knows. */
void profile_page_of(struct profile_page *p);
/* Parts of it: its time, of which it has waited so long; and that its sums are of one rank. */
void profile_row_of(struct profile_page *p, const struct profile *y, int rank, uint64_t run,
                    uint64_t waited);
void profile_page_of_rank(struct profile_page *p, int rank);
/* profile.c: on standard error, and as JSON in a file, or NULL or empty */
void profile_print(const struct profile_page *p, const char *program, const char *file);
void profile_win_closed(struct rma_win *w);
void profile_page_sort(struct profile_page *p);
void profile_page_places(struct profile_page *p); /* texts of places; p is sorted */
/* calls.c */
void profile_lock_waited(struct profile *y, uint64_t win);
/* And forgets them. */
void profile_locks_of(struct profile *y, uint64_t win, struct profile_locks *out);
void profile_flags_of(struct profile *y, uint64_t win, struct profile_flags *out);
void profile_call_add(struct profile_call *list, uint32_t *n, const struct profile_call *c);
/* How the addresses of a process are read: the text of a constant, a portable place. */
struct profile_look {
    const char *(*text)(void *arg, const char *there);
    uint64_t (*site)(void *arg, uint64_t address);
    void *arg;
};
size_t profile_calls_bytes(void);
/* What a process knows, c: its calls or NULL; p has its waits. */
void profile_calls_of(struct profile_page *p, const struct profile_calls *c,
                      const struct profile_look *look);
/* Calls without a place go to the largest sum of the same call. */
void profile_call_places(struct profile_page *p);
/* ns in which this process could run and had no core; 0: not known */
uint64_t profile_delayed(void);
/* tree.c: the sum of all processes at rank 0; NULL: no memory, others are served */
void profile_gather(struct profile_page *p);
/* sample.c */
int profile_sample_start(struct profile_sampler *s);
void profile_sample_stop(struct profile_sampler *s);
void profile_sample_row(const struct profile_sampler *s, struct profile_row *r);

/* --- words -------------------------------------------------------------------------------- */

struct profile_text { /* grows; a failed allocation leaves what is there */
    char *s;
    size_t n, room;
};
void profile_put(struct profile_text *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void profile_free(struct profile_text *t);
int profile_lines(const struct profile_text *t);
const char *profile_why_text(const struct profile_wait *w); /* "late arrival at a fence" */
const char *profile_flavor(int flavor);
uint64_t profile_ops(const struct profile_win *w); /* operations called */
void profile_bytes(double n, char *buf, size_t len);
void profile_count(double n, char *buf, size_t len);
const struct profile_win *profile_win_of(const struct profile_page *p, uint64_t id);
void profile_win_text(const struct profile_page *p, uint64_t id, char *buf, size_t len);
int profile_target_was_busy(const struct profile_wait *w);
/* What the wait was for: ranks and their shares. */
void profile_awaited(const struct profile_page *p, const struct profile_wait *w, char *buf,
                     size_t len);
/* The one process that came late, -1: none stands out. */
int profile_late_rank(const struct profile_page *p, const struct profile_wait *w);
/* "convoy.c:8  MPI_Win_lock" */
void profile_call_at(const struct profile_wait *w, char *buf, size_t len); /* in a sentence */
void profile_where(const char *place, const char *call, char *buf, size_t len);

enum { PROFILE_ADVICE = 4, PROFILE_SENTENCE = 1100 };
struct profile_advice {
    const char *cause; /* a word for programs: "lock-convoy" ... */
    char evidence[PROFILE_SENTENCE], remedy[PROFILE_SENTENCE];
};
/* advice.c: how many */
int profile_advise(const struct profile_page *p, struct profile_advice *out);
/* one_page.c, json.c. p is sorted. */
enum { PROFILE_LINES = 60 };
void profile_page_print(const struct profile_page *p, const char *program,
                        struct profile_text *out);
void profile_json_print(const struct profile_page *p, const char *program,
                        struct profile_text *out);

#endif
