/* pmi_server.h - the server side of the PMI-1 wire (doc/pmi-wire.md) for all ranks of a job.
 *
 * It handles lines, not descriptors: bytes of a rank go in by pmi_feed(), answers and events come
 * out through the functions of struct pmi_host.  Ranks may send malformed lines. */
#ifndef LAUNCH_PMI_SERVER_H
#define LAUNCH_PMI_SERVER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/pmiline.h"

struct pmi_host {
    void (*reply)(void *arg, int rank, const char *line, size_t len);
    /* why: "" when none was sent */
    void (*aborted)(void *arg, int rank, int code, const char *why);
    /* it does not speak PMI: close the connection */
    void (*broken)(void *arg, int rank, const char *how);
    int (*appnum)(void *arg, int rank);
    /* it joined without a pid, which this library sends; NULL: not needed */
    void (*stranger)(void *arg, int rank);
    void *arg;
};

struct pmi_server;

int pmi_server_new(struct pmi_server **s, int size, int universe, const char *job,
                   const struct pmi_host *host);
void pmi_server_free(struct pmi_server *s);

void pmi_feed(struct pmi_server *s, int rank, const char *bytes, size_t len);

/* What a rank did so far. */
int pmi_initialized(const struct pmi_server *s, int rank); /* and not finalized since */
int pmi_finalized(const struct pmi_server *s, int rank);
int pmi_met(const struct pmi_server *s);             /* some rank has called MPI_Init, ever */
pid_t pmi_pid(const struct pmi_server *s, int rank); /* 0: it did not send one */
/* address of its struct where; 0: it did not send one */
uint64_t pmi_where(const struct pmi_server *s, int rank);
int pmi_waiting(const struct pmi_server *s);         /* ranks in the barrier */
/* The rank has ended. go_on = 1: the others' barriers count it as arrived from now on. */
void pmi_gone(struct pmi_server *s, int rank, int go_on);

#endif
