/* am_types.h - private types of am/. */
#ifndef AM_AM_TYPES_H
#define AM_AM_TYPES_H

#include "am/am.h"
#include "base/list.h"
#include "base/map.h"
#include "base/proc.h"
#include "boot/boot.h"
#include "progress/progress.h"

enum { AM_WARN_REACH = 16, AM_WARN_CARD = 64, AM_WARN_FDS = 128 }; /* in am.warned */
enum { AM_TPS = 8, AM_IOV = 16 }; /* open transports; pieces of one message, ours included */

/* Goes before every message; 8 bytes, so that the room's part keeps the alignment of the
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
    int local;        /* nobody else sends through it, so no descriptor tells of its messages */
    struct progress_source source;
};

/* More full records than this are looked through for idle ones; those shrink to half a byte
 * (peer.c).  And reports of packets that fit nothing: by process, and in all. */
enum { AM_PEERS = 512, AM_NONSENSE_PEER = 3, AM_NONSENSE_ALL = 48 };

/* Transports of processes whose record was dropped: a nibble per rank, its place in am.tps + 1. */
enum { AM_CHUNK = 256 };
struct am_chunk {
    uint8_t tp[AM_CHUNK / 2];
};

enum { AM_HELLO = AM_INTERNAL, AM_HELLO_BACK }; /* alive.c */

struct am_peer {
    int rank;
    uint8_t dead, nonsense;
    uint8_t asked;     /* whether it lives; its next message is to be told to the watch */
    struct am_tp *t;
    unsigned owed;     /* replies it may still send us */
    struct list kept;  /* replies to it that found no room, oldest first */
    unsigned nkept;
    struct list link;  /* on am.keepers while kept is not empty */
    void *card;        /* by which it is asked whether it lives (boot_watch_ask); NULL: not at
                        * hand */
    size_t card_bytes;
};

struct am_kept {
    struct list link;
    size_t len;
    char bytes[]; /* am_hdr and message */
};

/* Processes named by rooms that are asked in one turn; all that are asked in it (boot/watch.c holds
 * twice as many); connections that broke lately. */
enum { AM_NAMED = 8, AM_ASKED = 16, AM_LOST = 16 };

struct am_alive { /* alive.c */
    uint64_t next;        /* when to ask again in a wait that lasts (ns) */
    uint64_t next_calm;   /* in another */
    uint64_t next_room;   /* when to look for a free descriptor */
    int named[AM_NAMED];  /* a sample of those for which rooms wait */
    unsigned nnamed;      /* how many they named */
    int started;          /* the walk: at a place of chance, so that many processes do not all ask
                           * the same first */
    int heard;            /* a message has come from another host */
    int blind;            /* rank + 1 of the last that was asked and has no record; 0: none */
    int asked;            /* a neighbour was, at the start */
    int greeted;          /* one whom this process greeted has */
    int met;              /* a process of another host was asked, so that silence can be judged
                           * later (boot/watch.c, W2) */
    int phase;            /* of the walk: full records, idle ones, processes of this host */
    size_t at;            /* in that map, or the host index */
    uint64_t chunk;       /* key in am.idle; next place in it */
    unsigned in_chunk;
    struct {
        int rank;
        uint64_t at; /* ns */
        char why[BOOT_WHY_MAX];
    } lost[AM_LOST];
    unsigned nlost;
    void (*on_stall[AM_MOURNERS])(void (*ask)(int rank));
};

struct am {
    struct am_tp tps[AM_TPS];
    int ntps;
    struct am_tp ready; /* choice.c: the network that is open and has no place in tps yet; ops NULL:
                         * none */
    struct tp_env env, far_env; /* for transports of the host, for networks */
    int networks; /* of these: how many lead beyond the host */
    am_fn *handler[AM_TYPES];
    struct map peers; /* world rank -> struct am_peer: those that owe, are owed, died or were talked
                       * to lately */
    struct map idle;  /* world rank / AM_CHUNK + 1 -> struct am_chunk */
    size_t peers_max; /* idle records are dropped when there are so many */
    struct am_peer *last; /* the one looked up last */
    struct list keepers;
    struct progress_hook hook;
    int deaths; /* boot_dead_count() when peers were last looked at */
    void (*on_death[AM_MOURNERS])(void);
    unsigned warned; /* bits: what was reported already */
    unsigned told;   /* packets that fit nothing: reported, */
    uint64_t nonsense; /* ... all of them */
    struct am_alive alive;
    struct { /* askers to whom no connection could be made for want of something here (peer.c) */
        uint64_t since, next; /* ns; 0: none; when to try again */
    } cut;
    struct { /* connections that could not be made, likewise: what wants to send tries again */
        uint64_t since, next; /* as above */
        int rank;             /* the last that was tried */
    } lack;
};

/* The peer, connected; NULL with *err = -errno.  (peer.c) */
struct am_peer *am_peer_get(int rank, int *err);
/* The same where the caller can try again: while this process lacks something for a connection,
 * which it may have soon, *err is AM_AGAIN, for 10 s. */
struct am_peer *am_peer_try(int rank, int *err);
/* The record of a process that was talked to, NULL if there is none. */
struct am_peer *am_peer_find(int rank);
static inline struct am_peer *am_peer_known(int rank)
{
    struct am_peer *p = proc->am->last;
    return __builtin_expect(p && p->rank == rank, 1) ? p : am_peer_find(rank);
}
/* A request of it came: may its answer leave?  0: yes, or it never will; TP_AGAIN: not now. */
int am_peer_way_back(int rank);
int am_publish(void);
/* Forget what dead peers owe and are owed. */
void am_peers_bury(void);
void am_peer_free(struct am_peer *p);
/* What it published for boot_watch_ask(); bytes, 0: nothing. */
size_t am_peer_card(int rank, void *card);
/* Was it talked to?  Of records that were dropped: the place in a chunk. */
int am_chunk_has(const struct am_chunk *c, unsigned i);

/* choice.c, in this order.  The network that this process would take, opened. */
int am_choice_open(struct am *a);
/* Rank 0: which it is. */
int am_choice_tell(const struct am *a);
/* After a barrier: the others' network becomes rank 0's.  Where that does not open the job ends,
 * and this does not return. */
int am_choice_follow(struct am *a);
/* All of them into tps. */
int am_choice_join(struct am *a);
void am_choice_close(struct am *a);

/* alive.c: this process waits, for `peer` or somebody; `lasts`: in vain for long. */
void am_stalled(int peer, int lasts);
/* Publish what others need to ask for this process (before a barrier); after it ask one of another
 * host; before the next one wait for its answer, so that whoever lives to leave MPI_Init has
 * answered. */
int am_alive_tell(void);
void am_alive_ask(void);
void am_alive_wait(void);
void am_alive_init(void);
/* A process was talked to for the first time. */
void am_met(struct am_peer *p);
/* A message of it has come by a network; p: its record, NULL: none. */
void am_heard(struct am *a, int rank, struct am_peer *p);
/* A transport cannot reach it any more. */
void am_lost(void *am, unsigned peer, int err);
/* The same, for another reason than a connection that broke. */
void am_lost_why(struct am *a, int rank, const char *why);
int am_is_lost(const struct am *a, int rank);
/* Those that were lost a while ago are dead; from progress while there are any. */
void am_lost_look(struct am *a);

#endif
