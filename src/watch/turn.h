/* turn.h - calls that all processes of a communicator make, as watchers see them. */
#ifndef WATCH_TURN_H
#define WATCH_TURN_H

struct coll_args;
struct comm;
struct io_file;
struct request;
struct rma_win;

enum { WATCH_COLLS = 22 }; /* numbers below it: enum coll_call (coll/coll.h) */
#include "watch/compared.h" /* enum watch_call: the others, made of api/calls.def */
enum watch_form { WATCH_BLOCKING, WATCH_NONBLOCKING, WATCH_PERSISTENT };
enum watch_part { WATCH_WHOLE, WATCH_BEGIN, WATCH_END }; /* of a split access to a file */

/* Such a call, whose arguments are right; on the caller's stack while it is under way. */
struct watch_turn {
    int call;               /* enum coll_call or enum watch_call */
    enum watch_form form;
    enum watch_part part;
    int assert;             /* of MPI_Win_fence */
    struct comm *comm;      /* the call is on this communicator, and win and file are NULL; */
    struct rma_win *win;    /* or on this window; */
    struct io_file *file;   /* or on this file */
    struct coll_args *args; /* of a collective, else NULL */
    struct request *request; /* what it has made: there when it has ended */
    const void *site;       /* its return address in the program */
    int passed_over;        /* it is no call of all: no watcher hears of it */
    int begun;              /* watch_begins() was told */
    _Alignas(8) char kept[96]; /* the checker's that compares such calls */
};

#endif
