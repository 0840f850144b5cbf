/* waits.h - for what this process waits, as it reports it; private to align/. */
#ifndef ALIGN_WAITS_H
#define ALIGN_WAITS_H

#include "align/waitgraph.h"
#include "progress/progress.h"

enum { WAITS_CALL = 120 };

struct waits {
    uint64_t id;   /* of this wait for these items: another one has another */
    uint64_t site; /* return address in the program, 0: not known */
    enum wait_mode mode;
    int sends;     /* a message of its own is among what it waits for */
    int items, comms;
    struct wait_item item[WAIT_ITEMS];
    struct wait_comm comm[WAIT_COMMS];
    char call[WAITS_CALL]; /* "MPI_Recv(source 1, tag 0)" */
};

/* 0: it may go on by itself, as far as is known. */
int waits_describe(const struct progress_waiting *w, struct waits *out);

#endif
