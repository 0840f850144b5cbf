/* stranger.h - a process that is not of the job and finds its ports (stranger.c); what it sends
 * through the network's own library is stranger_ofi.c's and stranger_ucx.c's. */
#ifndef TP_STRANGER_H
#define TP_STRANGER_H

#include "contract.h"

#define STRANGER_SPOIL 0x5a5a5a5a5a5a5a5au
/* of a message that carries the key: one that a stranger could not send */
enum { CONTROL_BYTES = 40 };

struct tongue {
    void (*meet)(const void *addr, size_t len); /* connect to the process that published these
                                                 * bytes */
    void (*speak)(void);                        /* send everything that shall have no effect */
    void (*control)(void);                      /* and what has one: a message that has the key */
    void (*turn)(void);
    void (*part)(void);
    const void *magic; /* what a connection begins with, without which nothing of it is looked at */
    size_t magic_len;
    int kinds;         /* of garbage that goes into connections which the library has made; 0:
                        * none */
};

/* a word of the victim's beside the memory that it lets others access */
uint64_t *stranger_spoil(void);
int stranger_run(const struct row *r, const struct tongue *t, uint64_t *spoil);

#endif
