/* pmi_server.h - the server side of the PMI-1 wire (doc/pmi-wire.md) for all ranks of a job, and of
 * the jobs that these start.
 *
 * It handles lines, not descriptors: bytes of a rank go in by pmi_feed(), answers and events come
 * out through the functions of struct pmi_host.  Ranks may send malformed lines. */
#ifndef LAUNCH_PMI_SERVER_H
#define LAUNCH_PMI_SERVER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/pmiline.h"

struct spawn_request;

struct pmi_host {
    void (*reply)(void *arg, int rank, const char *line, size_t len);
    /* own: it asks to end its own job only; why: "" when none was sent */
    void (*aborted)(void *arg, int rank, int code, int own, const char *why);
    /* it does not speak PMI: close the connection */
    void (*broken)(void *arg, int rank, const char *how);
    int (*appnum)(void *arg, int rank);
    /* it joined without a pid, which this library sends; NULL: not needed */
    void (*stranger)(void *arg, int rank);
    /* processes of the first job are in different network namespaces; NULL: not needed */
    void (*apart)(void *arg);
    /* Start a further job (pmi_world_add, and pmi_spawned when its programs run).  Takes q. 0 or
     * -errno.  NULL: refused */
    int (*spawn)(void *arg, int rank, struct spawn_request *q);
    void *arg;
};

struct pmi_server;

int pmi_server_new(struct pmi_server **s, int size, int universe, const char *job,
                   const struct pmi_host *host);
void pmi_server_free(struct pmi_server *s);

/* A further job with these ranks, whose numbers follow those before, and the port at which it meets
 * rank `by`, which asked for it. 0 or -errno. */
int pmi_world_add(struct pmi_server *s, int first, int size, int by);
const char *pmi_world_port(const struct pmi_server *s, int rank); /* NULL: the first job has none */
/* All its ranks have ended, and pmi_spawned() was called: only what each rank did stays known. */
void pmi_world_forget(struct pmi_server *s, int first);
/* Answer to the request: its programs run, or -errno. */
void pmi_spawned(struct pmi_server *s, int by, unsigned number, int first, int rc);
/* 1: its job was spawned, and has not met those that spawned it. */
int pmi_alone(const struct pmi_server *s, int rank);
/* The spawned job cannot go on: those that spawned it get rc (-errno) where they would meet it. */
void pmi_world_fail(struct pmi_server *s, int first, int rc);

void pmi_feed(struct pmi_server *s, int rank, const char *bytes, size_t len);

/* What a rank did so far. */
int pmi_initialized(const struct pmi_server *s, int rank); /* and not finalized since */
int pmi_finalized(const struct pmi_server *s, int rank);
int pmi_met(const struct pmi_server *s);             /* some rank has called MPI_Init, ever */
pid_t pmi_pid(const struct pmi_server *s, int rank); /* 0: it did not send one */
/* address of its struct where; 0: it did not send one */
uint64_t pmi_where(const struct pmi_server *s, int rank);
int pmi_waiting(const struct pmi_server *s, int rank); /* ranks of its job in the barrier */
/* A rank of its job that has ended while others wait for it in the barrier; -1: none.  The time is
 * constant unless there is one. */
int pmi_missing(const struct pmi_server *s, int rank);
/* The rank has ended. go_on = 1: the others' barriers count it as arrived from now on. */
void pmi_gone(struct pmi_server *s, int rank, int go_on);

#endif
