/* fence_mode.c - does the assertion of a fence hold? With MPI_MODE_NOPRECEDE it completes no
 * operation (MPI-4.1 12.5.5), so none may have been called since the last fence. */
#include <mpi.h>
#include <stdio.h>

#include "align/align_types.h"
#include "base/hash.h"
#include "finding/finding.h"
#include "rma/rma.h"

enum { REPORTS_MAX = 32 /* places of a process, with the hints of places.c */ };

static int is_reported(uint64_t site)
{
    struct map *told = &proc->check->hints;
    uint64_t key = hash_mix(WATCH_WIN_FENCE, site) | 1;
    if (told->count >= REPORTS_MAX || map_get(told, key))
        return 1;
    map_put(told, key, told);
    return 0;
}

void fence_check(const struct watch_turn *t)
{
    const char *name = rma_win_name(t->win);
    uint64_t site = site_portable((uint64_t)(uintptr_t)t->site);
    char line[FINDING_PLACE] = "";
    struct finding f = {.class = "assertion", .ranks = 1, .rank = {boot_rank()}};
    if (!(t->assert & MPI_MODE_NOPRECEDE) || !rma_fence_has_ops(t->win) || is_reported(site))
        return;
    if (site)
        site_text(site, line, sizeof line);
    finding_place(&f, line);
    snprintf(f.text, sizeof f.text,
             "MPI_Win_fence%s%s on %s%s: MPI_MODE_NOPRECEDE does not hold: operations were called "
             "since the last fence",
             *line ? " at " : "", line, *name ? "window " : "a window", name);
    finding_say(&f);
}
