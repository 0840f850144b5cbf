/* doctor_exec.c - mpiexec -doctor (doctor_exec.h). */
#include "launch/doctor_exec.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launch/env.h"
#include "launch/folders.h"
#include "launch/handover.h"

enum { STATUS_USAGE = 255, WORDS = 8 };

/* One on each host, by the launcher that starts ranks there; each looks at its own. */
static int on_each_host(struct args *a, char **argv)
{
    if (a->doctor_json && !strstr(a->doctor_json, "%h")) {
        fprintf(stderr, "mpiexec: -doctor-json %s: with several hosts the name needs %%h, which "
                        "becomes the host's\n", a->doctor_json);
        return STATUS_USAGE;
    }
    int n = 1;
    for (const char *c = a->hosts; *c; c++)
        n += *c == ',';
    a->block[0].n = n;
    a->block[0].argv = argv;
    a->size = n;
    a->ppn = 1;
    a->label = 1;
    a->no_cleanup = 1; /* one that finds something does not end the others */
    return engine_exec(a);
}

/* This process becomes it, with the variables that a rank would get.  Returns the exit status. */
static int on_this_host(const struct args *a, char **argv)
{
    struct env e;
    const char *other = a->gwdir           ? "-gwdir"
                        : a->block[0].wdir ? "-wdir"
                        : a->timeout > 0   ? "-timeout"
                                           : NULL;
    if (other) {
        fprintf(stderr, "mpiexec: %s does not go with -doctor on this host\n", other);
        return STATUS_USAGE;
    }
    errno = ENOMEM;
    if (env_of_block(&e, a, &a->block[0], environ) == 0)
        execve(*argv, argv, e.var);
    fprintf(stderr, "mpiexec: %s cannot be started: %s\n", *argv, strerror(errno));
    env_free(&e);
    return STATUS_USAGE;
}

int doctor_exec(struct args *a)
{
    static char json[] = "-json", networks[] = "-networks", way[] = "-way", yes[] = "1";
    char bin[PATH_MAX], lib[PATH_MAX], path[PATH_MAX + 32], *argv[WORDS];
    int n = 0;
    if (a->nblocks != 1 || a->block[0].argv) {
        fprintf(stderr, "mpiexec: -doctor runs no program\n");
        return STATUS_USAGE;
    }
    own_folders(bin, lib);
    snprintf(path, sizeof path, "%s/windrose/doctor", lib);
    argv[n++] = path;
    if (a->doctor_json) {
        argv[n++] = json;
        argv[n++] = (char *)(uintptr_t)a->doctor_json;
    }
    if (a->doctor_networks) {
        argv[n++] = networks;
        argv[n++] = (char *)(uintptr_t)a->doctor_networks;
    }
    if (a->far) {
        argv[n++] = way;
        argv[n++] = yes;
    }
    argv[n] = NULL;
    return a->far ? on_each_host(a, argv) : on_this_host(a, argv);
}
