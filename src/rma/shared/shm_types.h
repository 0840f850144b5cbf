/* shm_types.h - what shmlock.c, shmpair.c and shmbar.c share (private). */
#ifndef RMA_SHM_TYPES_H
#define RMA_SHM_TYPES_H

#include "boot/boot.h"
#include "rma/shared/shmlock.h"

static inline int peer_dead(const struct shmnode *n, unsigned peer)
{
    return boot_failed(boot_host_rank(n->host_index[peer]));
}

#endif
