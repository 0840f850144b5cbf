/* salvage.h - the report and the trace of a job that ended before MPI_Finalize. */
#ifndef PROFILE_SALVAGE_H
#define PROFILE_SALVAGE_H

#include <stdint.h>

/* From the records of the ranks: fd has a descriptor for each, -1 for none. trace, json: files, or
 * empty; report: a page, too. end: when the job ended (ns of the host's clock); why: how. 0: it is
 * written or printed, or rank 0 had done so; -ENOENT: no rank has left anything; -ENOMEM. */
int profile_salvage(const int *fd, int ranks, const char *trace, int report, const char *json,
                    uint64_t end, const char *why);

#endif
