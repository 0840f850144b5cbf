/* guard.h - between guard.c and guard_child.c. */
#ifndef GUARD_H
#define GUARD_H

#include <stdint.h>
#include <sys/types.h>

enum { PEERS = 6, BYTES = 1024, PAGE = 4096, STATES = 256 };

/* What is known of each peer, and in the last place of the far requests at the owner. */
struct peer {
    uint8_t holds, waits; /* enum shmlock_type, or 0 */
    uint8_t told;         /* errors */
    uint32_t key;         /* of a far request that waits */
};

struct state {
    _Alignas(64) unsigned char lock[BYTES];
};

struct shared {
    union {
        struct state now;
        char page[PAGE]; /* protected in a child */
    };
    struct state state[STATES]; /* that a child went through */
    volatile int states;
    struct peer peer[PEERS + 1];
    char grants[64];   /* the peers that got the lock, in order */
    volatile int failures;
};
extern struct shared *shared;

/* Calls of the peers, by letters (guard.c). */
void guard_play(const char *script);
extern int guard_in_child;

/* All that a process leaves of the lock when it dies in these calls; -1: they do not end. */
int guard_record(const char *script, struct state *states);

/* A child that stops before each store of its calls to the lock, and behind it. */
pid_t guard_start(const char *script);
/* It comes to its first stop, or goes on to its next.  0: its calls are over. */
int guard_step(int first);
/* Waits for its end.  1: it came to it. */
int guard_ended(pid_t child);

/* Can this processor step through stores? */
int guard_can_step(void);

#endif
