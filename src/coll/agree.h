/* agree.h - agreement of the living members of a communicator on a value; private to coll/. Start
 * with agree_start(). */
#ifndef COLL_AGREE_H
#define COLL_AGREE_H

#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "obj/comm.h"
#include "obj/request.h"
#include "progress/progress.h"

/* Failed members that one value names. */
enum { AGREE_NAMED = 32 };

enum agree_call { AGREE_FLAG = 1, AGREE_SHRINK };

/* What members contribute: one of them, or several together. */
struct agree_part {
    uint32_t flag[2];   /* by group: the bits that all have set */
    uint32_t call;      /* enum agree_call; 0: they differ */
    uint32_t alike;     /* all have acknowledged the same failed members: */
    uint32_t acked;     /* ... so many, */
    uint32_t alone;     /* none of them can be in another agreement at the same time */
    uint64_t acked_sum; /* ... and the sum of their mixed ranks */
};

/* What is agreed on. Members have numbers: ranks of group 0, then those of group 1. Group 0 is the
 * one with the lower id to receive with. */
struct agree_value {
    uint32_t flag[2];
    uint32_t call;    /* 0: members were in different calls */
    uint32_t unacked; /* a failed member was not acknowledged by all */
    uint64_t ctx[4];  /* AGREE_SHRINK: ids that group 0 and 1 receive with; those of their local
                       * communicators */
    uint32_t alone;   /* no member could be in another agreement meanwhile */
    uint32_t more;    /* more members have failed than it names */
    uint32_t nfailed;
    uint32_t failed[AGREE_NAMED]; /* members, ascending */
};

enum agree_step { AGREE_UP = 1, AGREE_ACCEPT, AGREE_ACK, AGREE_DECIDE, AGREE_REPORT, AGREE_ASK };

/* Ballots: that of the tree is the lowest, that of coordinator m is m + 1. */
enum { AGREE_TREE = 0 };

struct agree_msg {
    uint64_t ctx;      /* of the communicator: the lower id of its two groups */
    uint32_t number;   /* which agreement on it, from 1 on */
    uint32_t step;     /* enum agree_step */
    uint32_t ballot;
    uint32_t accepted; /* AGREE_REPORT: 1 + the ballot of `value`; 0: there is none */
    struct agree_part part;   /* AGREE_UP, AGREE_REPORT */
    struct agree_value value; /* ends behind its last failed member */
};

/* An agreement that this process has entered. */
struct agree_run {
    struct agree_part part;   /* its own, and those that it has got */
    uint32_t from;            /* failed members below were named by an earlier agreement */
    uint32_t ballot;          /* what belongs to a lower one is ignored */
    uint32_t accepted;        /* 1 + the ballot of `value`; 0: none */
    struct agree_value value;
    uint32_t below, ups, acks; /* children in the tree, by bit: all; that have contributed; that
                                * have accepted, with all below them */
    int up_sent, ack_sent;
    unsigned char *heard; /* coordinator: enum agree_heard of each member; NULL: it is none */
    int coordinates, proposes;
    int next;             /* ... all members before it have reported, or accepted, or are gone */
};
enum agree_heard { AGREE_NOT, AGREE_REPORTED, AGREE_ACCEPTED };

/* One for each communicator on which there was an agreement, or of which a message came. It stays
 * when the communicator is freed: others may yet ask for the last value, until records_sweep(). */
struct agree {
    uint64_t ctx;
    struct rankmap *group[2]; /* while `run`; [1] NULL: an intracommunicator */
    int me, n;                /* while `run`: this member, all members */
    int known;                /* this process has been in one of them */
    int own;                  /* ... and all members are of this job */
    int marked;               /* while records_sweep(): the communicator lives */
    int stale;                /* not known, and all of `early` is of this job's processes, and came
                               * before this one entered the agreement that it is in */
    uint32_t number;          /* agreements that have ended here */
    struct agree_value value; /* of the last */
    struct agree_run *run;    /* NULL: this process is in none */
    struct list ops;          /* struct agree_op: calls of this process; the first has the run */
    struct list early;        /* struct agree_early: for agreements not yet entered */
    unsigned nearly;
};

struct agree_early {
    struct list link;
    int src;
    struct agree_msg msg;
};

/* A call of this process. It enters its agreement when those before it on the communicator have
 * ended here, which is in the same order at all members. */
struct agree_op {
    struct request r;
    struct list link;         /* in struct agree */
    struct comm *c;
    struct agree_part part;   /* ... as it was when the call was made */
    uint32_t from;            /* failed members below were named by an earlier agreement of it */
    int entered;
    struct agree_value value; /* of its last agreement */
    /* That has ended, with an MPI error code. AGREE_MORE: `from` is set for another one, which
     * comes before those of later calls. Other results complete the request. In a handler, too. */
    int (*ended)(struct agree_op *op, int err);
};
enum { AGREE_MORE = -1 };

/* What coll/ keeps for this, from its first use on. */
struct survive {
    struct map agrees;     /* ctx -> struct agree */
    unsigned nops;         /* struct agree_op: those that have not ended */
    unsigned unknown;      /* ... of them, those that this process has never entered */
    size_t sweep_at;       /* records_sweep() is tried when there are so many; */
    int sweep_due;         /* ... and an agreement has ended that allows it */
    struct map revocations; /* revoke.c: key of a communicator -> struct revocation */
    struct list unmade;    /* ... those of communicators that this process does not have, the oldest
                            * first */
    unsigned nunmade;
    struct list outbox;    /* struct outgoing: messages that found no room */
    struct progress_hook hook; /* sends them; active while there are some */
    struct progress_hook gone; /* looks again; active when a process has left since */
};
struct survive *survive_room(void); /* never NULL */
/* It has failed, or it has left, being of another job: it has ended its agreements, has passed its
 * notices on, and does nothing more. */
int survive_gone(int world);

/* agree.c: agreements over all living members of c, which give all the same values. `call` and
 * `flag` are of this process; op->ended is set. blocks: agree_wait() follows at once. */
void agree_start(struct agree_op *op, struct comm *c, enum agree_call call, uint32_t flag,
                 int blocks, const struct request_ops *ops);
int agree_wait(struct agree_op *op); /* the MPI error code of its request */
/* The number of this member of c; the sizes of group 0 and of both groups. */
int agree_member(const struct comm *c, int *first, int *all);
void agree_send(const struct agree *a, int world, enum agree_step step, uint32_t ballot);
/* It ends here with the value of its run. Members that have reported to this one are told. */
void agree_end(struct agree *a);
static inline int agree_world(const struct agree *a, int m)
{
    int first = a->group[0]->size;
    return m < first ? rankmap_world(a->group[0], m) : rankmap_world(a->group[1], m - first);
}

/* agree_step.c: the rules. */
void agree_begin(struct agree *a);
/* A message of member m for the agreement that this process is in. 0: it breaks the rules. */
int agree_take(struct agree *a, int m, const struct agree_msg *msg);
/* Members have failed: go on without them, and without those that have left. */
void agree_failed(struct agree *a);

/* The lower id of the two groups of c; *side: whether this process is in the other one. */
uint64_t agree_key(const struct comm *c, int *side);

/* revoke.c */
struct revoke_msg {
    uint64_t ctx;   /* agree_key() of the communicator, the lower id of its two groups */
    uint64_t other; /* the higher one; the same within a group */
    uint32_t what;  /* enum revoke_what */
    uint32_t unused;
};
enum revoke_what { REVOKE_NOTICE = 1, REVOKE_UNKNOWN };
void revoke_start(void);
void revoke_failed(struct survive *s); /* processes have failed, or have left */
void revoke_free(struct survive *s);

/* outbox.c: sends now, or when there is room. What is for one that is gone is dropped. */
void outbox_send(struct survive *s, int world, int type, const void *msg, size_t len);
void outbox_free(struct survive *s);

enum { COLL_PKT_AGREE, COLL_PKT_REVOKE }; /* AM types, from AM_COLL on */

void survive_start(void);
void survive_stop(void);

#endif
