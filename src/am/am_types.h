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

struct am_peer {
    int rank;
    int dead;
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
    struct map peers; /* world rank -> struct am_peer */
    struct am_peer *last; /* the one looked up last */
    struct list keepers;
    struct progress_hook hook;
    int deaths; /* boot_dead_count() when peers were last looked at */
    void (*on_death[AM_MOURNERS])(void);
    unsigned warned; /* bits: what was reported already */
};

/* The peer, connected; NULL with *err = -errno.  (peer.c) */
struct am_peer *am_peer_get(int rank, int *err);
struct am_peer *am_peer_known(int rank);
int am_publish(void);
/* Forget what dead peers owe and are owed. */
void am_peers_bury(void);
void am_peer_drop_kept(struct am_peer *p);

#endif
