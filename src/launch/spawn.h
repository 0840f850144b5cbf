/* spawn.h - start one rank: fork, put descriptors and processors in place, exec.
 *
 * Each rank leads a process group of its own, so that its children can be signalled with it and a
 * terminal's Ctrl-C reaches mpiexec only.  The kernel kills it when mpiexec dies. */
#ifndef LAUNCH_SPAWN_H
#define LAUNCH_SPAWN_H

#include <sys/resource.h>
#include <sys/types.h>

#include "base/topo.h"

struct spawn {
    int rank;
    char *const *argv, *const *env;
    const char *gwdir, *wdir;    /* NULL: stay; wdir is taken relative to gwdir */
    const struct topo_set *cpus; /* NULL: anywhere */
    int in, out, err;            /* become 0, 1, 2 */
    int keep[3];                 /* stay open under their own numbers */
    int traced;                  /* stops after exec; waitpid() reports it */
    /* a struct spawn_failure is written here if the program cannot start */
    int report;
    struct rlimit files;         /* limit on descriptors to restore */
};

enum spawn_step { SPAWN_DIR, SPAWN_BIND, SPAWN_EXEC, SPAWN_GWDIR };

struct spawn_failure {
    int rank, err;
    enum spawn_step step;
};

/* Process id, or -errno.  All other descriptors of mpiexec must be close-on-exec. */
pid_t spawn_rank(const struct spawn *s);

#endif
