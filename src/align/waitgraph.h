/* waitgraph.h - which processes wait for each other, and for no other?  Private to align/.
 *
 *   waiter: a process that has reported for what it waits
 *     items: WAIT_ALL  it goes on when all are served: one that never is keeps it for ever
 *            WAIT_ANY  it goes on when one is served (MPI_Waitany)
 *            WAIT_ENDED  it is in MPI_Finalize, and makes no more calls
 *
 * graph_strike() strikes out each process that could be served by one that has not reported, or is
 * struck out.  What is left waits for ever, if all of it held at one moment (stall.c proves that).
 * Nothing here depends on other rooms or on messages. */
#ifndef ALIGN_WAITGRAPH_H
#define ALIGN_WAITGRAPH_H

#include <stdint.h>

enum wait_need {
    NEED_PROCESS, /* a call of process `world` */
    NEED_ANY,     /* ... of any other member of communicator `key`, which has `size` */
    NEED_CALL,    /* what process `world` sends in call `number` on communicator `key` */
    NEED_ALL      /* that call of all members */
};

struct wait_item {
    uint64_t key;
    int32_t world, size;
    uint32_t number;
    uint32_t hist; /* of all calls on it up to `number` */
    uint32_t need, unused;
};

struct wait_comm { /* a communicator that the process has, and its calls on it */
    uint64_t key;
    uint32_t calls, unused;
};

enum wait_mode { WAIT_ALL, WAIT_ANY, WAIT_ENDED };
enum { WAIT_ITEMS = 64, WAIT_COMMS = 64 };

struct waiter {
    int world;
    enum wait_mode mode;
    int items, comms;
    const struct wait_item *item;
    const struct wait_comm *comm;
    /* of graph_strike() and graph_core() */
    int stuck;
    uint64_t never;  /* items that are never served */
    uint64_t reason; /* those that the core rests on */
};

/* w: in the order of `world`.  How many are stuck. */
int graph_strike(struct waiter *w, int n);

/* The processes that keep the first stuck one, and each other: enough for a proof. */
enum { CORE_MAX = 128, CORE_EDGES = 1024 };
struct stuck_core {
    int n, edges;
    int member[CORE_MAX];         /* places in w, in the order found */
    int from[CORE_EDGES], to[CORE_EDGES]; /* places in w: `from` waits for `to` */
};
/* 0: no process is stuck, or the core is too large. */
int graph_core(struct waiter *w, int n, struct stuck_core *c);

#endif
