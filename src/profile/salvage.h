/* salvage.h - the report and the trace of a job that ended before MPI_Finalize. */
#ifndef PROFILE_SALVAGE_H
#define PROFILE_SALVAGE_H

#include <stdint.h>

/* From the records in the folder, which go. trace, json: files, or empty; report: a page, too. end:
 * when the job ended (ns of the host's clock); why: how. 0: something was written or printed. */
int profile_salvage(const char *folder, const char *trace, int report, const char *json,
                    uint64_t end, const char *why);

#endif
