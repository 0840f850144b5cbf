/* jobpage.h - what our mpiexec reports to all its ranks without a message: which ranks have died.
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

enum { JOB_PAGE_MAGIC = 0x57524a50, JOB_PAGE_VERSION = 1 };

struct job_page {
    uint32_t magic, version;
    uint32_t size; /* ranks */
    atomic_uint dead_count;
    _Atomic uint8_t dead[]; /* one per rank: enum job_death */
};

enum job_death { JOB_LIVES = 0, JOB_DIED = 1, JOB_NEVER_CAME = 2 /* ended before MPI_Init */ };

static inline size_t job_page_bytes(int size)
{
    return sizeof(struct job_page) + (size_t)size;
}

#endif
