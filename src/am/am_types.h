/* am_types.h - private types of am/. Start with struct am. */
#ifndef AM_AM_TYPES_H
#define AM_AM_TYPES_H

#include "am/am.h"
#include "base/list.h"
#include "base/map.h"
#include "base/proc.h"
#include "boot/boot.h"
#include "progress/progress.h"

/* In am.warned. */
enum { AM_WARN_REACH = 16, AM_WARN_MEMORY = 32, AM_WARN_CARD = 64, AM_WARN_FDS = 128 };
enum { AM_TPS = 8, AM_IOV = 16 }; /* open transports; pieces of one message, header included */

/* Precedes every message; 8 bytes, so that the room's part keeps the alignment of the
 * transport's. */
struct am_hdr {
    uint16_t type;
    uint16_t unused[3];
};
_Static_assert(sizeof(struct am_hdr) == 8, "messages stay aligned to 8 bytes");

struct am_tp { /* one open transport */
    const struct tp_ops *ops;
    struct tp *tp;
    struct tp_caps caps;
    unsigned credits; /* A1: caps.replies - sum of owed over its peers */
    int local;        /* only this process sends through it, so no descriptor signals its
                       * messages */
    struct progress_source source;
};

/* Above this many full records, idle ones are searched; those shrink to half a byte (peer.c). And
 * reports of malformed packets: by process, and in all. */
enum { AM_PEERS = 512, AM_MALFORMED_PEER = 3, AM_MALFORMED_ALL = 48 };

/* Transports of processes whose record was dropped: a nibble per rank, its place in am.tps + 1. */
enum { AM_CHUNK = 256 };
struct am_chunk {
    uint8_t tp[AM_CHUNK / 2];
};

enum { AM_HELLO = AM_INTERNAL, AM_HELLO_BACK, /* liveness.c */
       AM_ENDS, AM_ENDS_SEEN };                /* leave.c */

struct am_peer {
    int rank;
    uint8_t dead, malformed;
    uint8_t asked;     /* whether it lives; its next message goes to the failure detector */
    struct am_tp *t;
    unsigned owed;     /* replies that it may still send to this process */
    struct list zcopies;  /* replies to it that found no room, oldest first */
    unsigned nzcopies;
    struct list link;  /* on am.keepers while kept is not empty */
    void *card; /* needed to ask it whether it lives (boot_detector_ask); NULL: not available */
    size_t card_bytes;
};

enum am_fate { AM_LIVES, AM_FAILING, AM_FAILED };

struct am_zcopy {
    struct list link;
    size_t len;
    char bytes[]; /* am_hdr and message */
};

/* Processes named by rooms that are asked in one turn; all that are asked in it (boot/detector.c
 * holds twice as many); recently broken connections. */
enum { AM_NAMED = 8, AM_ASKED = 16, AM_LOST = 16 };

struct am_alive { /* liveness.c */
    uint64_t next;        /* when to ask again in a long wait (ns) */
    uint64_t next_calm;   /* ... in another wait */
    uint64_t next_room;   /* when to look for a free descriptor */
    int named[AM_NAMED];  /* a sample of those that rooms wait for */
    unsigned nnamed;      /* how many they named */
    int started;          /* the walk has a random start, so that processes do not all ask the same
                           * one first */
    int heard;            /* a message has come from another host */
    int blind;            /* rank + 1 of the last that was asked and has no record; 0: none */
    int asked;            /* a neighbour was asked, at the start */
    int greeted;          /* a process that this one greeted has answered */
    int met;              /* a process of another host was asked, so silence can be judged later
                           * (boot/detector.c, W2) */
    int phase;            /* of the walk: full records, idle ones, processes of this host */
    size_t at;            /* in that map, or the host index */
    uint64_t chunk;       /* key in am.idle; next place in it */
    unsigned in_chunk;
    struct am_broken {
        int rank;
        uint64_t at; /* ns */
        char why[BOOT_WHY_MAX];
        int doubted; /* by am_in_doubt(): the transport may know more */
    } lost[AM_LOST];
    unsigned nlost;
    void (*on_stall[AM_FAIL_HOOKS])(void (*ask)(int rank));
};

struct am {
    struct am_tp tps[AM_TPS];
    int ntps;
    struct am_tp ready; /* choice.c: the network that is open and has no place in tps yet; ops NULL:
                         * none */
    struct tp_env env, far_env; /* for transports of the host, for networks */
    int networks; /* how many of these lead beyond the host */
    am_fn *handler[2][AM_TYPES]; /* by class */
    struct map peers; /* world rank -> struct am_peer: peers with replies owed, failed peers, and
                       * recent ones */
    struct map idle;  /* world rank / AM_CHUNK + 1 -> struct am_chunk */
    size_t peers_max; /* idle records are dropped at this number */
    struct am_peer *last; /* the one looked up last */
    struct list zcopiers;
    struct progress_hook hook;
    int deaths;   /* am_failed_count() */
    int failing;  /* boot_failed_count() when `failed` was last looked at */
    int passes;   /* since then, in which messages still came */
    int failures; /* that EVENT_PEER_FAILED has told */
    unsigned char *failed; /* of each rank, enum am_fate; NULL: none yet */
    struct map cards; /* world rank + 1 -> am_card_learn() */
    struct boot_host here; /* addresses.c: */
    int here_known;
    struct am_leaving *leaving; /* leave.c; NULL: this process does not tell of its end now */
    int has_told;             /* it has told all of its end */
    void (*on_death[AM_FAIL_HOOKS])(void);
    void (*on_note)(uint32_t note);
    unsigned warned; /* bits: what was reported */
    unsigned told;   /* malformed packets: reported, */
    uint64_t malformed; /* ... all of them */
    struct am_alive alive;
    /* peers that sent a request and to which no connection could be made for lack of resources here
     * (peer.c) */
    struct {
        uint64_t since, next; /* ns; 0: none; when to try again */
    } cut;
    struct { /* connections that could not be made, for the same reason: the sender tries again */
        uint64_t since, next; /* as above */
        int rank;             /* the last one tried */
    } lack;
};

/* The peer, connected; NULL with *err = -errno.  (peer.c) */
struct am_peer *am_peer_get(int rank, int *err);
/* The same, if the caller can try again: while this process lacks something for a connection that
 * it may have soon, *err is AM_AGAIN, for 10 s. */
struct am_peer *am_peer_try(int rank, int *err);
/* The record of a process that was talked to; NULL: none. */
struct am_peer *am_peer_find(int rank);
static inline struct am_peer *am_peer_known(int rank)
{
    struct am_peer *p = proc->am->last;
    return __builtin_expect(p && p->rank == rank, 1) ? p : am_peer_find(rank);
}
/* It sent a request: may the answer leave? 0: yes, or it never will; TP_AGAIN: not now. */
int am_peer_way_back(int rank);

/* addresses.c */
#define AM_ALIVE "alive" /* the name of what boot_detector_ask() needs */
#define AM_JOB "job"     /* of what boot_job_learn() needs */
int am_publish(void);
int am_publish_guests(const struct am_tp *t); /* the address for processes of other jobs */
int am_card_known(const struct am *a, int rank); /* am_card_learn() had it */
void am_cards_free(struct am *a);
/* Connections of a network are descriptors, one or two a process that is talked to.  The soft limit
 * is a default, not a wish; programs that select(2) must not meet numbers beyond 1024 unasked, so
 * it grows with the job only, and the processes of others that it meets. */
void am_files_want(size_t processes);
/* Name of a network, a blank, its variant; "": none. */
enum { AM_CHOICE = 96 };
void am_choice_text(const struct am_tp *t, char text[AM_CHOICE]);
/* The same for the network that is open; -ENETUNREACH: none. */
int am_network_text(const struct am *a, char text[AM_CHOICE]);
/* What a process has published: 0 or -errno. */
int am_address_read(int rank, unsigned char text[BOOT_VALUE_MAX], size_t *size);
/* The address for a transport in it; NULL: none. */
const void *am_address_find(const unsigned char *text, size_t size, const char *name, size_t *len);
/* What it published for boot_detector_ask(): bytes, 0: nothing. */
size_t am_peer_card(int rank, void *card);

/* records.c */
/* Was the process at place i of the chunk talked to? (Its record was dropped.) */
int am_chunk_has(const struct am_chunk *c, unsigned i);
/* The transport of a process whose record was dropped; NULL: none. */
struct am_tp *am_idle_find(int rank);
/* Drop idle records. The next search comes at twice the remaining number, so its cost is constant
 * per new record. */
void am_peers_shrink(struct am *a);
/* Drop what failed peers owe and are owed. */
void am_peers_fail(void);
void am_peer_free(struct am_peer *p);
/* It has left, and its connection has ended: the room for what it owes is free. Perhaps in a send
 * to it, so the replies to it stay until they are refused. */
void am_peer_left(int rank);

/* choice.c, in this order. Open the network that this process would choose. */
int am_choice_open(struct am *a);
/* Rank 0: publish it. */
int am_choice_tell(const struct am *a);
/* After a barrier: rank 0's network replaces another one. If it does not open, the job ends, and
 * this does not return. */
int am_choice_follow(struct am *a);
/* All of them into tps. */
int am_choice_join(struct am *a);
void am_choice_close(struct am *a);
/* The inbox for processes of other jobs on this host, once. 0 or -errno. */
int am_choice_guests(struct am *a);

/* liveness.c: this process waits, for `peer` or any; `lasts`: for long. */
void am_stalled(int peer, int lasts);
extern const struct watcher am_watcher; /* it calls am_stalled() */
/* The failure detector starts here; guests: to be asked by processes of other jobs. */
void am_liveness_start(int guests);
/* Publish what others need to ask this process (before a barrier). After it, ask one of another
 * host. Before the next barrier, wait for its answer: so each process that leaves MPI_Init has
 * answered. */
int am_liveness_answer(void);
void am_liveness_ask(void);
void am_liveness_wait(void);
void am_liveness_init(void);

/* broken.c. Ask the failure detector, by fn, about a process. */
void am_ask_by(int rank, void (*fn)(int rank, const void *card, size_t len));
/* A process was talked to for the first time. */
void am_met(struct am_peer *p);
/* A message of it came by a network; p: its record, NULL: none. */
void am_heard(struct am *a, int rank, struct am_peer *p);
/* A transport cannot reach it any more. */
void am_lost(void *am, unsigned peer, int err);
/* The same, for a reason other than a broken connection. */
void am_lost_why(struct am *a, int rank, const char *why);
int am_is_lost(const struct am *a, int rank);
/* Peers that were lost some time ago count as dead; called from progress while there are any. */
void am_lost_look(struct am *a);

#endif
