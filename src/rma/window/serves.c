/* serves.c - MPIX_WIN_PROGRESS: which operations need a call of their target.  Start with
 * rma_serves_worst().
 *
 *   mapped, and by CMA  the target is not needed; one that polls may be asked, not waited for
 *   by message          its thread serves, where all members have one; else it must call MPI
 *   native              short data share packets, so the worst is that of a message
 *   coherent            not known: it depends on whether a device has the place
 *
 * Locks of near members are words in shared memory, however their data are reached. */
#include "rma/window/window_types.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int shift;
} kinds[] = {{"put", MPIX_PROGRESS_PUT},         {"get", MPIX_PROGRESS_GET},
             {"accumulate", MPIX_PROGRESS_ACCUMULATE}, {"fetch", MPIX_PROGRESS_FETCH},
             {"lock", MPIX_PROGRESS_LOCK},       {"notification", MPIX_PROGRESS_NOTIFICATION},
             {"strided", MPIX_PROGRESS_STRIDED}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Each kind has this answer. */
static int all(int answer)
{
    int bits = 0;
    for (int k = 0; k < KINDS; k++)
        bits |= answer << kinds[k].shift;
    return bits;
}

static int by_message(const struct rma_win *w)
{
    return all(w->helped ? MPIX_PROGRESS_THREAD : MPIX_PROGRESS_TARGET);
}

static int near_serves(const struct rma_win *w, const struct rma_near *n)
{
    int short_list = w->flavor == MPI_WIN_FLAVOR_DYNAMIC && n->peer && n->peer->overflow;
    if (n->rank == w->rank || (n->kind != RMA_NEAR_AM && !short_list))
        return all(MPIX_PROGRESS_ALONE);
    int data = n->alone && !w->helped ? all(MPIX_PROGRESS_UNKNOWN) : by_message(w);
    return data & ~(3 << MPIX_PROGRESS_LOCK);
}

int rma_serves_of(const struct rma_win *w, int rank)
{
    const struct rma_near *n = rma_near_of(w, rank);
    return n ? near_serves(w, n) : by_message(w);
}

/* Far members are alike, so only near ones are looked at. */
int rma_serves_worst(const struct rma_win *w)
{
    int worst = w->all_near ? 0 : by_message(w);
    for (unsigned i = 0; i < w->nears; i++) {
        int one = near_serves(w, &w->records[i]);
        for (int k = 0; k < KINDS; k++) {
            int mask = 3 << kinds[k].shift;
            if ((one & mask) > (worst & mask))
                worst = (worst & ~mask) | (one & mask);
        }
    }
    return worst;
}

void rma_serves_text(int bits, char *text, size_t len)
{
    static const char *const names[] = {"alone", "thread", "target", "unknown"};
    size_t at = 0;
    for (int k = 0; k < KINDS && at < len; k++)
        at += (size_t)snprintf(text + at, len - at, "%s%s:%s", k ? "," : "", kinds[k].name,
                               names[bits >> kinds[k].shift & 3]);
}
