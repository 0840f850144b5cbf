/* signature_types.h - what the files of signature/ share; private to the room. */
#ifndef SIGNATURE_SIGNATURE_TYPES_H
#define SIGNATURE_SIGNATURE_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "dt/dt.h"
#include "watch/watch.h"

/* In place of a type. */
enum { DERIVED = 0, ANY_TYPE = UINT32_MAX /* MPI_PACKED is in it: fits any */ };

struct amount { /* of data; also in messages */
    uint64_t hash, bytes;
    uint64_t site; /* site_portable() */
    uint32_t type; /* index of the predefined type of all elements + 1, DERIVED or ANY_TYPE */
};

struct signature {
    struct map notes; /* world rank + 1 -> struct notes */
    struct map said;  /* pairs of places */
    struct map calls; /* comm_ctx() + 1 -> how many calls whose amounts are compared by pairs */
    struct map pairs; /* halves of pairs, see pairs.c */
};

/* signature.c */
/* The library may be in disorder: survivors of a failure leave calls, and have no partner. */
int signature_is_quiet(void);
/* count of t, at that place. 0: it cannot be. */
int signature_amount(const struct dt_type *t, int64_t count, const void *site, struct amount *out);
const char *signature_type_text(uint32_t type); /* as in struct amount */
struct signature_side {
    int rank; /* in MPI_COMM_WORLD */
    char does[96]; /* what; its place follows */
    const struct amount *amount;
};
/* Once for each pair of places and types. brief: head without what differs from time to time. */
void signature_report(const char *head, const char *brief, const struct signature_side side[2]);

/* pairs.c */
void pairs_init(struct signature *s);
void pairs_destroy(struct signature *s);
int pairs_begins(struct watch_turn *t);
int pairs_ended(struct watch_turn *t, int err); /* err */
int pairs_may_follow(const struct watch_turn *t);
void pairs_comm_freed(struct comm *c);
/* A message of that length is none of pairs.c: 0. */
int pairs_note(int src, const void *msg, size_t len);

#endif
