/* doctor_exec.c - mpiexec -doctor (doctor_exec.h). */
#include "launch/doctor_exec.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launch/folders.h"

enum { STATUS_USAGE = 255, WORDS = 6 };

int doctor_exec(const struct args *a)
{
    static char json[] = "-json", networks[] = "-networks";
    char bin[PATH_MAX], lib[PATH_MAX], path[PATH_MAX + 32], *argv[WORDS];
    int n = 0;
    if (a->nblocks) {
        fprintf(stderr, "mpiexec: -doctor runs no program\n");
        return STATUS_USAGE;
    }
    if (a->far) {
        fprintf(stderr, "mpiexec: -doctor looks at this host only: run it on each of %s\n",
                a->hosts);
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
    execv(path, argv);
    fprintf(stderr, "mpiexec: %s cannot be started: %s\n", path, strerror(errno));
    return STATUS_USAGE;
}
