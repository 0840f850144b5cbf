/* am_types.h - private types of am/. */
#ifndef AM_AM_TYPES_H
#define AM_AM_TYPES_H

#include "am/am.h"
#include "base/list.h"
#include "base/map.h"
#include "progress/progress.h"

enum { AM_WARN_REACH = 16 }; /* in am.warned */
enum { AM_TPS = 8, AM_IOV = 16 }; /* open transports; pieces of one message, ours included */

/* Goes before every message; 8 bytes, so that the room's part keeps the alignment of the transport's. */
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

/* More full records than this are looked through for idle ones; those shrink to half a byte (peer.c).  And reports of
 * packets that fit nothing: by process, and in all. */
enum { AM_PEERS = 512, AM_NONSENSE_PEER = 3, AM_NONSENSE_ALL = 48 };

/* Transports of processes whose record was dropped: a nibble per rank, its place in am.tps + 1. */
enum { AM_CHUNK = 256 };
struct am_chunk {
    uint8_t tp[AM_CHUNK / 2];
};

struct am_peer {
    int rank;
    uint8_t dead, nonsense;
    struct am_tp *t;
    unsigned owed;     /* replies it may still send us */
    struct list kept;  /* replies to it that found no room, oldest first */
    unsigned nkept;
    struct list link;  /* on am.keepers while kept is not empty */
};

struct am_kept {
    struct list link;
    size_t len;
    char bytes[]; /* am_hdr and message */
};

struct am {
    struct am_tp tps[AM_TPS];
    int ntps;
    int networks; /* of these: how many lead beyond the host */
    am_fn *handler[AM_TYPES];
    struct map peers; /* world rank -> struct am_peer: those that owe, are owed, died or were talked to lately */
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
};

/* The peer, connected; NULL with *err = -errno.  (peer.c) */
struct am_peer *am_peer_get(int rank, int *err);
struct am_peer *am_peer_known(int rank);
int am_publish(void);
/* Forget what dead peers owe and are owed. */
void am_peers_bury(void);
void am_peer_drop_kept(struct am_peer *p);

#endif
