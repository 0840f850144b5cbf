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
    if (!open_mpi_folder(path) || (a->no_ompi && !had))
        return 0;
    size_t len = strlen(path), n;
    int some = !a->no_ompi; /* entries in the list */
    char *list = malloc(len + (had ? strlen(had) : 0) + 2), *to = list;
    if (!list)
        return -ENOMEM;
    if (some)
        to = stpcpy(to, path);
    /* It may be there already: of an mpiexec around this one, or of the modulefile. */
    for (const char *p = had && *had ? had : NULL; p; p = p[n] ? p + n + 1 : NULL) {
        n = strcspn(p, ":");
        if (n == len && !memcmp(p, path, len))
            continue;
        if (some)
            *to++ = ':';
        some = 1;
        to = mempcpy(to, p, n);
    }
    *to = 0;
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
