/* diagnosis.h - what the doctor found: of this host (host.c), of each network (networks.c), and how
 * it is written (write.c). */
#ifndef DOCTOR_DIAGNOSIS_H
#define DOCTOR_DIAGNOSIS_H

#include <stddef.h>
#include <stdio.h>

#include "doctor/doctor.h"

enum { NOTES = 48, NETWORKS = 4, FINDINGS = 16 };

/* One fact of the host. */
struct fact {
    char name[32], value[160];
    char advice[200]; /* what to set; "": nothing */
};

/* What a network promises falls into three parts: of a part that fails nothing is used. */
enum part { PART_MESSAGES, PART_PUTS, PART_ATOMICS, PARTS };

struct finding {
    enum part part;
    enum fault fault;
    const char *look; /* the name of what was looked at */
    char text[160];
};

/* Written by a process of the network's first job, read here. */
struct promise {
    int open; /* 1; 0: it does not open; -1: its library is not in this build */
    struct tp_caps caps;
    char about[160], variant[96];
    double ping_us, put_us; /* half a round trip of 8 bytes; put and flush; 0: not measured */
};

struct network {
    const struct row *row;
    const char *name;
    struct promise *promise;
    char why[160]; /* the check that failed when it was opened, or "" */
    int looks; /* that were made */
    unsigned looked; /* 1 << enum part: one of it was made */
    int nfindings;
    struct finding finding[FINDINGS];
};

/* To another host over a network, as this process and rank 0 of the launcher's job saw it. */
enum { WAYS = 16 };
struct ways {
    int n, failed; /* the last one failed */
    enum fault fault;
    char text[160];
    struct way {
        const char *network;
        char host[64];
        int messages, puts; /* 1: they hold */
        double ping_us, put_us, put_gbs; /* as in struct promise; puts of 1 MiB; 0: not measured */
    } way[WAYS];
};

struct report {
    struct ways *ways; /* NULL: none was looked at */
    char host[64];
    int nnotes;
    struct fact note[NOTES];
    int nnetworks;
    struct network network[NETWORKS];
};

/* host.c: limits, processors, cards. */
void host_look(struct report *r);
/* networks.c: `only` are names separated by commas, `part` is the name of one part (NULL: all);
 * quiet: seconds without any event after which a wait counts as one without end.  0, or -errno: no
 * memory or no process for it. */
int networks_look(struct report *r, const char *only, const char *part, unsigned quiet);
int networks_named(const char *only, const char *name); /* it is one of them */
int networks_known(const char *only); /* all of these names are networks */
/* The parts in which something failed, that are offered, and that were looked at. */
int network_fails(const struct network *n, enum part part);
int network_offers(const struct network *n, enum part part);
int network_looked(const struct network *n, enum part part);

/* way.c: to the other hosts of the launcher's job. 0 or -errno. */
int way_look(struct report *r, const char *only, unsigned quiet);

/* write.c */
extern const char *const part_names[PARTS];
void write_text(const struct report *r, FILE *out);
void write_json(const struct report *r, FILE *out);

#endif
