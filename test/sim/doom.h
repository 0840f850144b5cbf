/* doom.h - the calling rank dies in one of its next polls, whatever call it is in. */
#ifndef SIM_DOOM_H
#define SIM_DOOM_H

#include "progress/progress.h"
#include "sim.h"

struct doom {
    struct progress_hook hook;
    int polls; /* until it dies */
};

static inline int doom_comes(void *arg)
{
    struct doom *d = arg;
    if (d->polls-- == 0)
        sim_die();
    return 0;
}

static inline void doom_set(struct doom *d, int polls)
{
    *d = (struct doom){.hook = {.fn = doom_comes, .arg = d}, .polls = polls};
    progress_hook_add(&d->hook);
}

#endif
