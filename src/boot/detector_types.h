/* detector_types.h - the record of the watching thread (private to boot/; detector.c has the rules
 * W1 to W8). */
#ifndef BOOT_DETECTOR_TYPES_H
#define BOOT_DETECTOR_TYPES_H

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/socket.h>

#include "boot/boot_types.h"
#include "boot/detector.h"

enum {
    OWN = 64,     /* addresses of this host that are remembered */
    /* processes asked at a time: twice what am/ asks in a turn, so that stopped processes keep
     * their places (W1) */
    PROBES = 32,
    GUESTS = 16,  /* connections of others at a time */
    DEFER = 5,    /* seconds for which a connection without a question stays with the kernel */
    /* resets of one address, AGAIN_NS apart, until they count: any device may send a single one */
    REFUSALS = 2,
    /* processes of different hosts that have answered: at least one is not of the silent host */
    WITNESSES = 2,
    DEAF = 10, /* W7: in time-outs */
    /* connections of a process that end without its answer, until another program is assumed
     * there */
    SHUT_MAX = 3
};
#define MS 1000000u /* ns */
static const uint64_t GUEST_NS = 500 * (uint64_t)MS, AGAIN_NS = 250 * (uint64_t)MS,
                      SECOND = 1000 * (uint64_t)MS;

struct ask { /* passed to the thread through a pipe; at most PIPE_BUF bytes, so it arrives whole */
    int rank; /* number of the process, as everywhere here */
    /* ASK_HEARD is no question: a message came from it */
    enum ask_why { ASK_LIFE, ASK_PROOF, ASK_HEARD } why;
    struct detector_card card;
};
_Static_assert(sizeof(struct ask) <= 512, "POSIX's least PIPE_BUF");

enum line_state { LINE_IDLE, LINE_CONNECTING, LINE_OPEN, LINE_REFUSED };

struct line { /* one address of a probe */
    enum line_state state;
    int fd;         /* -1: none */
    int tried;      /* it left this host, by `via` */
    int refusals;
    uint64_t again; /* LINE_IDLE: when to try (ns) */
    uint64_t began; /* LINE_CONNECTING: when (ns) */
    struct detector_spot via; /* our address; port 0: there was no way out */
};

struct probe {
    int rank; /* -1: free */
    int near, host; /* host: boot_host_of() */
    struct detector_card card;
    struct line line[DETECTOR_SPOTS];
    /* last sign of life of any process of its host, or the first question (ns) */
    uint64_t host_since;
    /* when a third host answered first after half of the time (ns); 0: none has (W4) */
    uint64_t vouched;
    int called; /* a witness was asked */
    int proof; /* no wait depends on it: asked for W2 alone */
    int spoke; /* W8: a message came since the last question */
    uint64_t begun; /* the first question (ns) */
    uint64_t since; /* last sign of life, or the first question (ns) */
    uint64_t asked; /* by our process, last (ns) */
    int shut;       /* connections that ended without an answer */
    int lost;       /* a connection ended because the kernel there was silent for the whole time */
};

struct guest {
    int fd; /* -1: free */
    uint64_t since;
};

struct detector {
    struct boot *b;
    struct detector_card card;
    int listen_fd, ask_fd; /* ask_fd: written by the process */
    int answer_fd;         /* readable once `answered` */
    pthread_t thread;
    atomic_int stop; /* the thread must end */
    /* W2, W4: some process of another host has answered; 0: our process must ask any */
    atomic_int proven;
    /* W7: has any process of another host ever answered; sent a message or question */
    atomic_int answered, heard;
    /* 1 + a process of this host that a far one counts as failed: our process must ask it; 0:
     * none */
    atomic_int doubt;
    int64_t timeout; /* seconds */
    /* only the thread uses these */
    int control_fd;
    int spare_fd; /* closed for a guest when no other descriptor is free; -1: closed */
    struct probe probe[PROBES];
    struct guest guest[GUESTS];
    /* the last process that answered, and the last of another host before it; rank -1: none */
    struct ask witness[WITNESSES];
    uint64_t wake_by; /* when poll(2) had to end at the latest (ns); UINT64_MAX: any time */
    struct detector_spot own[OWN], good[OWN]; /* addresses of this host; W2 */
    unsigned nown, ngood;
    uint64_t take_at;   /* no guest is taken before this (ns) */
    unsigned tell_from; /* failures are reported in turn */
    int warned;
    struct pollfd fds[2 + GUESTS + PROBES * DETECTOR_SPOTS];
};

/* The number of this process. */
static inline int detector_self(const struct detector *w)
{
    return w->b->first + w->b->rank;
}

static inline int detector_is_near(const struct detector *w, int rank)
{
    return boot_host_of(w->b, rank) == w->b->map.host;
}

/* detector_addr.c.  -errno, or 0. */
int detector_spot_among(const struct detector_spot *s, const struct detector_spot *list,
                        unsigned n);
int detector_spot_of(const struct sockaddr *a, struct detector_spot *s);
socklen_t detector_spot_sockaddr(const struct detector_spot *s, struct sockaddr_storage *a);
/* Is p of the host `host`, as is the process with this card? The map has no number for that of a
 * process of another job (boot_host_of): it is known by its first address. */
int detector_host_same(const struct detector *w, const struct probe *p, int host,
                       const struct detector_card *card);
int detector_card_find(struct detector_card *card); /* its addresses */
int detector_addresses_find(struct detector *w);    /* those, and all of this host */
int detector_port_open(struct detector_card *card); /* at its addresses: a descriptor */
/* The kernel asks the other's: after `idle` seconds without a word, then `every` so many, `count`
 * times. */
void detector_keep_alive(int fd, int idle, int every, int count);

/* detector_serve.c */
void detector_spare_take(struct detector *w);
void detector_guest_drop(struct detector *w, struct guest *g);
void detector_guest_answer(struct detector *w, struct guest *g);
struct guest *detector_guest_place(struct detector *w);
void detector_guests_take(struct detector *w, uint64_t now);

/* detector_ask.c */
uint64_t detector_timeout(const struct detector *w);
int detector_is_deaf(const struct detector *w);
int detector_probe_open(const struct probe *p);
void detector_probe_end(struct probe *p);
void detector_probe_take(struct detector *w, const struct ask *a, uint64_t now);
void detector_probe_spoke(struct detector *w, int rank, uint64_t now);
void detector_line_retry(struct line *l, uint64_t when);
int detector_line_is_stale(const struct detector *w, const struct line *l, uint64_t now);
void detector_line_begin(struct detector *w, struct probe *p, struct line *l, uint64_t now);
void detector_line_opens(struct detector *w, struct probe *p, struct line *l, uint64_t now);
void detector_line_reads(struct detector *w, struct probe *p, struct line *l, uint64_t now);

/* detector_judge.c */
void detector_probe_judge(struct detector *w, struct probe *p, uint64_t now);
void detector_witness_call(struct detector *w, struct probe *p, uint64_t now);

#endif
