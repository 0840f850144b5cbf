/* select.h - which algorithm serves a call: a table by bytes and processes, overridden by
 * MPIR_CVAR_COLL_ALGORITHMS="bcast=binomial,allreduce=ring". */
#ifndef COLL_SELECT_H
#define COLL_SELECT_H

#include <stddef.h>

enum coll_family {
    FAM_BCAST,
    FAM_REDUCE,
    FAM_ALLREDUCE,
    FAM_GATHER,
    FAM_SCATTER,
    FAM_ALLGATHER,
    FAM_ALLTOALL,
    FAM_REDUCE_SCATTER,
    FAM_BARRIER,
    FAM_COUNT
};

enum coll_algorithm {
    ALG_BINOMIAL,  /* tree: log P rounds, whole data */
    ALG_SCATTER_RING, /* bcast: scatter, then a ring; reduce: ring reduce-scatter, then gather */
    ALG_DOUBLING,  /* recursive doubling */
    ALG_RING,      /* P - 1 rounds of 1/P of the data */
    ALG_BRUCK,     /* log P rounds with data of others */
    ALG_LINEAR,    /* each process with each other, or with the root */
    ALG_PAIRWISE,  /* P - 1 rounds with one partner each */
    ALG_DISSEMINATION,
    ALG_COUNT
};

/* bytes: of one block (gather, scatter, allgather, alltoall) or of the whole. */
enum coll_algorithm coll_select(enum coll_family f, size_t bytes, int procs);
/* 0 or -EINVAL with the reason in msg: checks the CVAR's text. */
int coll_select_check(char *msg, size_t len);

#endif
