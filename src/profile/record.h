/* record.h - what a process knows, in memory that outlives it (salvage.c), and where its parts are.
 *
 *   mpiexec -report, -trace makes a memfd for each rank, which inherits it (base/jobpage.h)
 *       ---> the rank maps it: its record ---> MPI_Finalize: head.over
 *       ---> the job has ended: mpiexec starts the program salvage, which inherits the memfds, too;
 *            where rank 0 is not over it writes what the ranks would have written
 *
 * Pointers in it are the process's own. Names of calls are constants, so the file of their module
 * has them: segment[] tells where. Without a memfd the record is plain memory. */
#ifndef PROFILE_RECORD_H
#define PROFILE_RECORD_H

#include "profile/trace_ring.h"

enum { RECORD_SEGMENTS = 64, RECORD_PATH = 160 };
#define RECORD_MAGIC 0x50524631u

struct record_segment {
    uint64_t from, to; /* addresses there */
    uint64_t base;     /* of its module */
    uint64_t in_file;  /* where `from` is in the file */
    char path[RECORD_PATH];
};

struct record_head {
    uint32_t magic, bytes; /* of the struct record */
    int32_t rank;
    int32_t over; /* the job has what the rank knows: its part of the record may be gone */
};

struct record {
    struct record_head head;
    int32_t ranks, cores, host_ranks;
    int32_t traces, reports;
    char program[64];
    size_t size;    /* of all of it */
    size_t ring_at; /* from the begin of the record; calls behind the record itself */
    unsigned segments;
    struct record_segment segment[RECORD_SEGMENTS];
    struct profile profile;
    struct trace trace;
};

/* record.c: zeroes but for what is known at once; NULL: no memory. */
struct record *record_open(int traces, uint64_t room);
void record_close(struct record *r);
/* The job has what it knows: the record is not needed. */
void record_over(struct record *r);
static inline struct trace_event *record_ring(const struct record *r)
{
    return (struct trace_event *)((char *)(uintptr_t)r + r->ring_at);
}
static inline struct profile_calls *record_calls(const struct record *r)
{
    return (struct profile_calls *)((char *)(uintptr_t)r + sizeof *r);
}

#endif
