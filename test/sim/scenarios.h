/* scenarios.h - programs that run in the simulator. */
#ifndef SIM_SCENARIOS_H
#define SIM_SCENARIOS_H

#include <mpi.h>

#include "sim.h"

struct scenario {
    const char *name;
    int ranks, threads;
    void (*program)(void *arg);
    void (*thread_program)(int thread, void *arg);
    /* Change what sim_draw drew, set control variables in the environment ("NAME=VALUE", undone
     * afterwards). May be NULL. */
    void (*prepare)(struct sim_knobs *k);
};

extern const struct scenario scenarios_p2p[], scenarios_first[], scenarios_rma[],
    scenarios_atomics[], scenarios_blocks[], scenarios_counts[], scenarios_fetch[],
    scenarios_pscw[], scenarios_early[], scenarios_lock_age[], scenarios_aging[],
    scenarios_native[], scenarios_scripted[], scenarios_threads[], scenarios_rma_threads[],
    scenarios_deaths[], scenarios_newcomm[], scenarios_late[], scenarios_prepost[],
    scenarios_align[], scenarios_waits[], scenarios_bundles[], scenarios_ulfm[],
    scenarios_files[], scenarios_coherent[], scenarios_race[], scenarios_report[],
    scenarios_revoke[], scenarios_win_revoke[], scenarios_survive[], scenarios_jobs[],
    scenarios_replicas[], scenarios_replicas_exact[], scenarios_replicas_threads[],
    scenarios_race_threads[], scenarios_begun[],
    scenarios_race_few[], scenarios_scarce[], scenarios_notify[], scenarios_order[],
    scenarios_notify_native[], scenarios_race_scripts[], scenarios_dup[],
    scenarios_lanes[], scenarios_types[],
    scenarios_handles[], scenarios_continue[], scenarios_file_revoke[],
    scenarios_bundles_dropped[], scenarios_mixed[];

/* Set a control variable for this run only. */
void scenario_cvar(const char *name, const char *value);

/* A call of a scenario must succeed, or end with an error of this class. */
#define OK(call) must_be(MPI_SUCCESS, call, __FILE__, __LINE__)
#define ERR(cls, call) must_be(cls, call, __FILE__, __LINE__)

static inline void must_be(int cls, int err, const char *file, int line)
{
    int got = MPI_SUCCESS, len = 0;
    char text[MPI_MAX_ERROR_STRING] = "no error";
    if (err)
        MPI_Error_class(err, &got);
    if (got == cls)
        return;
    if (err)
        MPI_Error_string(err, text, &len);
    sim_fail("%s:%d: error class %d, not %d: %s", file, line, got, cls, text);
}

#endif
