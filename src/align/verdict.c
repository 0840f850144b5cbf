/* verdict.c - a verdict that is known here: of the communicator, and the end of the job. Start with
 * judge_verdict(). */
#include <stdio.h>
#include <string.h>

#include "align/align_types.h"
#include "base/sched.h"
#include "boot/boot.h"

static const uint64_t ABORT_NS = 300000000u; /* what hangs elsewhere ends so long after it */

int calls_may_differ(void)
{
    return proc->check->blind || boot_failed_count() || proc->obj->revocations;
}

void judge_verdict(struct align *a, const char *brief)
{
    if (a->verdict)
        return;
    proc->check->told = 1;
    a->verdict = strdup(brief);
    if (a->comm)
        comm_set_misaligned(a->comm, a->verdict ? a->verdict : "collective calls differ");
    progress_signal();
}

/* Calls that wait for another reason than the communicator's own messages do not hear of it. */
void judge_end_job(const struct align *a)
{
    struct check *k = proc->check;
    align_windows();
    int fatal = a->final || !a->comm ? a->fatal : check_is_fatal(a->comm);
    if (!fatal || k->abort_at)
        return;
    k->abort_at = time_now() + ABORT_NS;
    snprintf(k->abort_why, sizeof k->abort_why, "fatal error (MPI_ERR_NOT_SAME): %s", a->verdict);
    check_later(k);
}
