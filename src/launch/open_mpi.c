/* open_mpi.c - what mpiexec does for programs that were built for Open MPI (open_mpi.h). The folder
 * has nothing but Open MPI's names, so other programs see no change, and modules of Python find the
 * library though python itself names no MPI. */
#include "launch/open_mpi.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/folders.h"

static const char folder[] = "/windrose/ompi", library[] = "/libmpi.so.40";

int open_mpi_folder(char path[PATH_MAX])
{
    char bin[PATH_MAX], lib[PATH_MAX], file[PATH_MAX + sizeof folder + sizeof library];
    own_folders(bin, lib);
    int n = snprintf(file, sizeof file, "%s%s%s", lib, folder, library);
    int len = n - (int)sizeof library + 1;
    if (len >= PATH_MAX || access(file, F_OK))
        return 0;
    memcpy(path, file, (size_t)len);
    path[len] = 0;
    return 1;
}

int open_mpi_path(const struct args *a, struct env *e)
{
    char path[PATH_MAX];
    const char *had = env_find(e, "LD_LIBRARY_PATH");
    if (a->no_ompi || !open_mpi_folder(path))
        return 0;
    size_t len = strlen(path);
    if (had && !strncmp(had, path, len) && (!had[len] || had[len] == ':'))
        return 0; /* of an mpiexec around this one */
    size_t size = len + (had ? strlen(had) : 0) + 2;
    char *list = malloc(size);
    if (!list)
        return -ENOMEM;
    snprintf(list, size, "%s%s%s", path, had && *had ? ":" : "", had ? had : "");
    int err = env_put(e, "LD_LIBRARY_PATH", list);
    free(list);
    return err;
}

int open_mpi_variables(struct env *e, const struct block *block, int n, const struct block *own,
                       int universe)
{
    enum { NUMBER = 12 };
    size_t room = (size_t)n * NUMBER + 1, at = 0, ranks_at = 0;
    char *firsts = malloc(room), *sizes = malloc(room);
    int err = firsts && sizes ? 0 : -ENOMEM;
    for (int b = 0, first = 0; b < n && !err; first += block[b++].n) {
        at += (size_t)snprintf(firsts + at, room - at, "%s%d", b ? " " : "", first);
        ranks_at += (size_t)snprintf(sizes + ranks_at, room - ranks_at, "%s%d", b ? " " : "",
                                     block[b].n);
    }
    if (!err)
        err = env_put(e, "OMPI_FIRST_RANKS", firsts) |
              env_put(e, "OMPI_APP_CTX_NUM_PROCS", sizes) |
              env_put_int(e, "OMPI_NUM_APP_CTX", n) |
              env_put_int(e, "OMPI_UNIVERSE_SIZE", universe) |
              env_put(e, "OMPI_COMMAND", own->argv[0]);
    free(firsts);
    free(sizes);
    return err ? -ENOMEM : 0;
}
