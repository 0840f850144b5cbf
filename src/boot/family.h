/* family.h - processes of other jobs where the launcher has no ports (private to boot/): Hydra and
 * its like start programs, and know nothing of meetings.
 *
 * A port is a socket of the process that opened it, and its name has all that the other side needs:
 *
 *     windrose-FAMILY:SECRET.ADDRESS.ADDRESS      (hexadecimal)
 *
 * The family is the first job and all that were spawned from it, by any of them: they share numbers
 * of processes.  Each process has some that are free, and gives a part of them to each job that it
 * spawns; so no number is given twice, and nothing is asked for one. */
#ifndef BOOT_FAMILY_H
#define BOOT_FAMILY_H

#include "boot/boot_types.h"
#include "boot/detector.h"

enum { FAMILY_SECRET = 16 };

struct family_port {
    struct family_port *next;
    int fd;       /* it listens */
    int spawned;  /* the one that connects is to come soon: it was just started */
    unsigned job; /* the meeting that started it (boot_ops.spawn_over); 0: none */
    int first, end; /* [first, end): the numbers that it has, and may give */
    int closed;   /* and kept while `waits` wait at it */
    unsigned waits;
    uint64_t stranger_ns; /* for one that connects to show the secret */
    unsigned char secret[FAMILY_SECRET];
    char name[BOOT_PORT_MAX];
};

struct family {
    uint64_t family;
    int free, end; /* this process may give the numbers [free, end) */
    unsigned spawned; /* jobs */
    struct family_port *ports;
    unsigned asking;  /* requests without an answer */
    int turn;         /* others wait at it while this process asks; -1: none */
    int queue;        /* connected to the process that asks now; -1: not */
    uint64_t turn_by; /* that one is waited for no longer (ns); 0: there is none */
    uint64_t deaf_by; /* the same where no process listens; 0: one does */
};

/* Makes b->family where this launcher starts programs and has no ports; else it stays NULL.  0 or
 * -errno. */
int family_start(struct boot *b);
void family_stop(struct boot *b);
/* Once the node map is known: whether other jobs are reached by the network (boot_far), and the
 * places of a first job.  NULL; else why this spawned job ends. */
const char *family_apart(struct boot *b);

int family_port_open(struct family *d, int spawned, struct family_port **port);
struct family_port *family_port_find(const struct family *d, const char *name);
void family_port_close(struct family *d, struct family_port *p);
void family_port_left(struct family *d, struct family_port *p); /* one that waited does no more */

/* What a name says.  -ENOENT: it is none; -EXDEV: of another family. */
struct family_name {
    unsigned char secret[FAMILY_SECRET];
    struct detector_spot spot[DETECTOR_SPOTS];
    unsigned spots;
};
int family_name_read(const struct family *d, const char *text, struct family_name *n);

/* -EAGAIN: another process of the family is asking; try again when *fd is readable, or, if it is
 * -1, soon. */
int family_spawn_begin(struct boot *b, struct boot_meeting *m, const struct boot_program *list,
                       int n, int *fd);
/* The answer has come, or none will: other processes of the family may ask. Once, or more often. */
void family_spawn_end(struct family *d, struct boot_meeting *m);
/* It was an error: no process will come. */
void family_spawn_failed(struct family *d, struct boot_meeting *m);

/* family_meet.c: as the calls of boot.h */
int family_meet_begin(struct family *d, struct boot_meeting *m, int accepts, const char *port,
                      const void *bring, size_t len, int *fd);
int family_meet_test(struct family *d, struct boot_meeting *m);
void family_meet_leave(struct boot_meeting *m);

#endif
