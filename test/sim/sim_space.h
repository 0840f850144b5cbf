/* sim_space.h - devices of simulated ranks, in the place of mem/space_sim.c: no thread; copies and
 * kernels are done at steps that the seed draws.  Start at sim_space_use(). */
#ifndef SIM_SPACE_H
#define SIM_SPACE_H

#include <stdint.h>

#include "mem/space.h"

struct sim_space_knobs {
    int delay;         /* most steps that a copy or a kernel takes */
    int fail_every;    /* each so many-th copy fails; 0: none */
    int fail_evicting; /* copies to the host fail */
    int no_commit;     /* each so many-th commit fails; 0: none */
    int dies_at;       /* the device is lost at this copy; 0: never */
    long bytes;        /* memory of a device */
};
/* The calling rank has such devices, sim:0 and sim:1, until the end of its MPI. */
void sim_space_use(const struct sim_space_knobs *k);
/* ... and they behave so from now on. */
void sim_space_set(const struct sim_space_knobs *k);
/* Bytes that the calling rank's devices have copied. */
long sim_space_moved(enum space_way way);

#endif
