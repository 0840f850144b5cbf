/* doctor_exec.c - mpiexec -doctor (doctor_exec.h). */
#include "launch/doctor_exec.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launch/folders.h"
#include "launch/handover.h"

enum { STATUS_USAGE = 255, WORDS = 6 };

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
    a->block[0] = (struct block){.n = n, .argv = argv}; /* the parser made it */
    a->nblocks = 1;
    a->size = n;
    a->ppn = 1;
    a->label = 1;
    a->no_cleanup = 1; /* one that finds something does not end the others */
    return engine_exec(a);
}

int doctor_exec(struct args *a)
{
    static char json[] = "-json", networks[] = "-networks";
    char bin[PATH_MAX], lib[PATH_MAX], path[PATH_MAX + 32], *argv[WORDS];
    int n = 0;
    if (a->nblocks) {
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
    argv[n] = NULL;
    if (a->far)
        return on_each_host(a, argv);
    execv(path, argv);
    fprintf(stderr, "mpiexec: %s cannot be started: %s\n", path, strerror(errno));
    return STATUS_USAGE;
}
