/* jobpage.h - what our mpiexec reports to all its ranks without a message: which ranks have died.
 * The numbers are those of all processes that it has started, spawned ones too
 * (doc/design/dynamic.md).
 *
 * A memfd that mpiexec makes and the ranks inherit (environment WINDROSE_JOB_FD). mpiexec is the
 * only writer; ranks map it read-only. dead[rank] is set before dead_count grows, so that a reader
 * of the count sees the flags. The release pairs with the acquire load of dead_count in
 * boot_failed_count(). */
#ifndef BASE_JOBPAGE_H
#define BASE_JOBPAGE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define JOB_PAGE_ENV "WINDROSE_JOB_FD"
/* Of spawned processes: number of the first process of their job, and the port of their parents. */
#define JOB_FIRST_ENV "WINDROSE_FIRST"
#define JOB_PARENT_ENV "WINDROSE_PARENT"

/* With -trace or -report a rank of the first job inherits a second memfd, its own: its record
 * (profile/record.h). Its name tells whose it is. JOB_RECORD_NONE: what the program salvage exits
 * with when no rank has left anything. */
#define JOB_RECORD_ENV "WINDROSE_RECORD_FD"
#define JOB_RECORD_NAME "windrose-record %s %d" /* job, rank */
enum { JOB_RECORD_NONE = 3 };

enum { JOB_PAGE_MAGIC = 0x57524a50, JOB_PAGE_VERSION = 3 };

/* Places for processes, unless a job needs more: it is two less than a power of two, because two
 * numbers beside those of processes have a meaning (obj/comm.h). */
enum { JOB_PLACES = (1 << 14) - 2, JOB_NAME_MAX = 128 };

struct job_page {
    uint32_t magic, version;
    uint32_t size;     /* places for processes */
    uint32_t universe; /* MPI_UNIVERSE_SIZE */
    atomic_uint dead_count;
    /* 1: its first job has processes in different network namespaces.  Final when all processes of
     * that job have come to a barrier: the launcher's messages order it. */
    atomic_uint apart;
    char name[JOB_NAME_MAX]; /* of the first job: names of others begin with it */
    _Atomic uint8_t dead[]; /* one per rank: enum job_death */
};

enum job_death { JOB_LIVES = 0, JOB_DIED = 1, JOB_NEVER_CAME = 2 /* ended before MPI_Init */ };

static inline int job_places_for(int size)
{
    int places = JOB_PLACES;
    while (places < 2 * size)
        places = 2 * (places + 2) - 2;
    return places;
}

static inline size_t job_page_bytes(int size)
{
    return sizeof(struct job_page) + (size_t)size;
}

#endif
