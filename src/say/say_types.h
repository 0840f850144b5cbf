/* say_types.h - private records of say/. All under proc->lock, but those of sample.c.
 *
 *   struct say ---- cells: sums of this process by key, while the program runs
 *              \--- page: what all members of a subtree know; a fixed size, whatever their number
 *
 * A page holds the largest sums only; what does not fit is added up under SAY_REST. */
#ifndef SAY_TYPES_H
#define SAY_TYPES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/lock.h"
#include "progress/progress.h"
#include "say/say.h"
#include "var/var.h"

struct rma_win;

enum {
    SAY_CELLS = 256,  /* keys of a process; a power of two */
    SAY_WAITS = 48, SAY_CALLS = 32, SAY_WINS = 12, SAY_ROWS = 12, SAY_PEERS = 4,
    SAY_STRIP = 36,   /* parts of the run that a bar shows */
    SAY_CALL = 40, SAY_NAME = 24, SAY_PLACE = 48
};
#define SAY_MAGIC 0x53415903u

/* --- sums --------------------------------------------------------------------------------- */

struct say_peer {
    int32_t rank; /* world; -1: a free place */
    uint32_t unused;
    uint64_t ns;
};

/* Waits of one call at one place, for one window and one reason. */
struct say_wait {
    char call[SAY_CALL];
    uint64_t site;     /* portable; 0: not known */
    uint64_t win;      /* its id; 0: none */
    uint32_t why;      /* enum progress_why */
    uint32_t ranks;    /* processes that waited */
    uint64_t rank_sum; /* of their world ranks: names the one that did not wait */
    uint64_t n, ns, max;
    int32_t max_rank;
    int32_t least_rank; /* the process that waited least, and how long */
    uint64_t least;
    struct say_peer peer[SAY_PEERS]; /* awaited most */
    uint64_t others;   /* ns of other awaited processes */
    char place[SAY_PLACE]; /* text of `site`; rank 0 fills it in at the end */
};

/* A call at one place: all of them where they are counted, and those that waited. */
struct say_call {
    char call[SAY_CALL];
    uint64_t site; /* as in a wait */
    uint64_t calls;
    uint64_t waits, ns, max; /* a call may wait several times */
    int32_t max_rank;
    uint32_t unused;
    char place[SAY_PLACE];
};

/* Locks of a window by MPI_Win_lock, that were given back. */
struct say_locks {
    uint64_t n, ns;  /* how many, and for how long they were held */
    uint64_t waits;  /* for a lock; of MPI_Win_lock_all, too */
    uint64_t seen, seen_outside; /* ns the sampler has seen one held, and of them outside MPI */
};
/* The sampler writes it while other threads may read it. */
struct say_held {
    atomic_ullong seen, seen_outside;
};

struct say_win {
    uint64_t id;       /* 0: windows that did not fit */
    char name[SAY_NAME];
    int32_t flavor, size, members; /* members that were added up here */
    uint32_t unused;
    struct say_locks locks;
    uint64_t v[PVAR_COUNT]; /* its PVARs: sums, or largest */
};

struct say_row { /* a process */
    int32_t rank;
    uint32_t samples;
    uint64_t run, computing, working, waiting; /* ns */
    char strip[SAY_STRIP];
    uint32_t unused;
};

struct say_page {
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
    struct say_wait wait[SAY_WAITS];
    struct say_call call[SAY_CALLS];
    struct say_win win[SAY_WINS];
    struct say_row row[SAY_ROWS];
};

/* --- of a process ------------------------------------------------------------------------- */

struct say_cell {
    const char *call;
    uint64_t address; /* of the place, here */
    struct say_wait w;
};

enum say_state { SAY_COMPUTING, SAY_WORKING, SAY_WAITING, SAY_STATES };

struct say_sampler {
    pthread_t thread;
    int on, stop;
    struct lock lock; /* stop, and what follows */
    struct lock_cond cond;
    const struct proc *of;
    uint64_t every;   /* ns between looks; doubles when `seen` is full */
    uint64_t last;
    uint64_t ns[SAY_STATES];
    uint32_t looks;
    unsigned n;
    uint8_t seen[1024]; /* enum say_state */
};

struct say {
    struct trace *trace;     /* the first two: struct say_asks */
    struct say_calls *calls;
    struct say_held *_Atomic holding; /* of the window whose lock this process holds, or NULL */
    uint64_t began;
    uint64_t delayed; /* so far when it began */
    uint64_t waited;  /* ns */
    unsigned cells;
    struct say_cell cell[SAY_CELLS];
    struct say_win win[SAY_WINS]; /* freed ones */
    uint32_t wins;
    struct say_sampler sampler;
};

/* sums.c */
enum progress_why say_why_of(const struct progress_seen *s);
void say_note(const struct progress_seen *s);
void say_win_add(struct say_win *list, uint32_t *n, const struct say_win *w);
void say_wait_add(struct say_wait *list, uint32_t *n, const struct say_wait *w);
/* Waits without a place go to the largest sum of the same call, window and reason. */
void say_places(struct say_page *p);
void say_peer_add(struct say_wait *w, int rank, uint64_t ns);
void say_row_add(struct say_page *p, const struct say_row *r);
/* All of b. */
void say_page_add(struct say_page *p, const struct say_page *b);
/* A page came from another process: are its numbers within bounds? */
int say_page_is_good(struct say_page *p, size_t bytes);
/* What this process knows. */
void say_page_of(struct say_page *p);
void say_win_closed(struct rma_win *w);
void say_page_sort(struct say_page *p);
void say_page_places(struct say_page *p); /* texts of places; p is sorted */
/* calls.c. 0, or no memory */
int say_calls_open(struct say *y);
void say_calls_close(struct say *y);
void say_lock_waited(struct say *y, uint64_t win);
void say_locks_of(struct say *y, uint64_t win, struct say_locks *out); /* and forgets them */
void say_call_add(struct say_call *list, uint32_t *n, const struct say_call *c);
void say_calls_of(struct say_page *p); /* what this process knows; p has its waits */
/* Calls without a place go to the largest sum of the same call. */
void say_call_places(struct say_page *p);
uint64_t say_delayed(void); /* ns in which this process could run and had no core; 0: not known */
/* tree.c: the sum of all processes at rank 0; NULL: no memory, others are served */
void say_gather(struct say_page *p);
/* sample.c */
int say_sample_start(struct say_sampler *s);
void say_sample_stop(struct say_sampler *s);
void say_sample_row(const struct say_sampler *s, struct say_row *r);

/* --- words -------------------------------------------------------------------------------- */

struct say_text { /* grows; a failed allocation leaves what is there */
    char *s;
    size_t n, room;
};
void say_put(struct say_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void say_free(struct say_text *t);
int say_lines(const struct say_text *t);
const char *say_why_text(const struct say_wait *w); /* "late arrival at a fence" */
const char *say_flavor(int flavor);
uint64_t say_ops(const struct say_win *w); /* operations called */
void say_bytes(double n, char *buf, size_t len);
void say_count(double n, char *buf, size_t len);
const struct say_win *say_win_of(const struct say_page *p, uint64_t id);
void say_win_text(const struct say_page *p, uint64_t id, char *buf, size_t len);
int say_target_was_busy(const struct say_wait *w);
/* What the wait was for: ranks and their shares. */
void say_awaited(const struct say_page *p, const struct say_wait *w, char *buf, size_t len);
/* The one process that came late, -1: none stands out. */
int say_late_rank(const struct say_page *p, const struct say_wait *w);
/* "convoy.c:8  MPI_Win_lock" */
void say_call_at(const struct say_wait *w, char *buf, size_t len); /* in a sentence */
void say_where(const char *place, const char *call, char *buf, size_t len);

enum { SAY_ADVICE = 4, SAY_SENTENCE = 1100 };
struct say_advice {
    const char *cause; /* a word for programs: "lock-convoy" ... */
    char evidence[SAY_SENTENCE], remedy[SAY_SENTENCE];
};
/* advice.c: how many */
int say_advise(const struct say_page *p, struct say_advice *out);
/* one_page.c, json.c. p is sorted. */
enum { SAY_LINES = 60 };
void say_page_print(const struct say_page *p, const char *program, struct say_text *out);
void say_json_print(const struct say_page *p, const char *program, struct say_text *out);

#endif
