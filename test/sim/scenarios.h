/* scenarios.h - programs that run in the simulator. */
#ifndef SIM_SCENARIOS_H
#define SIM_SCENARIOS_H

#include "sim.h"

struct scenario {
    const char *name;
    int ranks, threads;
    void (*program)(void *arg);
    void (*thread_program)(int thread, void *arg);
    /* Change what sim_draw drew, set control variables in the environment ("NAME=VALUE", undone afterwards). May be NULL. */
    void (*prepare)(struct sim_knobs *k);
};

extern const struct scenario scenarios_p2p[], scenarios_first[], scenarios_rma[], scenarios_atomics[], scenarios_blocks[], scenarios_counts[],
    scenarios_native[], scenarios_scripted[], scenarios_threads[], scenarios_rma_threads[];

/* Set a control variable for this run only. */
void scenario_cvar(const char *name, const char *value);

#endif
