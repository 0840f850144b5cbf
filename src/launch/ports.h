/* ports.h - where processes of different jobs meet: ports.
 *
 *     rank 3: accept at port P, brings x --\              /--> rank 3 gets y
 *                                           meets_ask ----
 *     rank 7: connect at port P, brings y -/              \--> rank 7 gets x
 *
 * The first that accepts is paired with the first that connects.  What they bring is not read
 * here. */
#ifndef LAUNCH_PORTS_H
#define LAUNCH_PORTS_H

#include "base/list.h"

enum { MEET_PORT_MAX = 256, MEET_BRING_MAX = 512 }; /* bytes, with the terminating zero */

struct meets {
    struct list ports;
    const char *job;
    unsigned opened;
    void (*met)(void *arg, int rank, unsigned number, int rc, const char *brought);
    void *arg;
};

/* job stays.  met: the answer to a meets_ask() that returned 0. */
void meets_init(struct meets *m, const char *job,
                void (*met)(void *arg, int rank, unsigned number, int rc, const char *brought),
                void *arg);
void meets_free(struct meets *m);
/* A new port of this rank.  once: it closes when two have met. 0 or -ENOMEM. */
int meets_open(struct meets *m, int rank, int once, char port[MEET_PORT_MAX]);
/* Those that wait there get -ENOENT. 0; -ENOENT: the rank has no such port. */
int meets_close(struct meets *m, int rank, const char *port);
/* 0: met() is called, maybe at once. -ENOENT: there is no such port; -EXDEV: it is of another
 * mpiexec; -EACCES: only its owner accepts there; -ENOMEM. */
int meets_ask(struct meets *m, int rank, unsigned number, int accepts, const char *port,
              const char *bring);
/* The rank waits for this meeting no more, which has no answer then. 0: it did not wait. */
int meets_leave(struct meets *m, int rank, unsigned number);
/* Those that wait at the port get rc, and so does its owner, at once or when it accepts. Then it
 * closes. */
void meets_fail(struct meets *m, const char *port, int rc);
/* The rank has ended: its ports close, and it waits nowhere. */
void meets_gone(struct meets *m, int rank);

#endif
