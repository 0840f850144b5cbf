/* group.c - what both halves of PSCW share: groups, their lists, errors, members that will not
 * come. */
#include "rma/sync/sync_types.h"

#include <stdio.h>
#include <stdlib.h>

enum { SCRATCH_KEPT = 4096 }; /* most bytes that a window keeps between two epochs, for each side */

void *rma_scratch_take(struct rma_scratch *s, size_t bytes)
{
    if (s->room < bytes) {
        free(s->mem);
        s->mem = malloc(bytes);
        s->room = s->mem ? bytes : 0;
    }
    return s->mem;
}

void rma_scratch_over(struct rma_scratch *s)
{
    if (s->room > SCRATCH_KEPT) {
        free(s->mem);
        *s = (struct rma_scratch){NULL, 0};
    }
}

unsigned rma_group_size(const struct group *g)
{
    return g->map ? (unsigned)g->map->size : 0;
}

/* Ranks in the window of the members of g, ascending. */
int rma_group_ranks(const struct rma_win *w, const struct group *g, int *ranks)
{
    unsigned n = rma_group_size(g);
    int sorted = 1;
    for (unsigned i = 0; i < n; i++) {
        ranks[i] = rankmap_find(w->map, rankmap_world(g->map, (int)i));
        if (ranks[i] < 0)
            return err_make(MPI_ERR_GROUP, "%s: member %d of the group is not in the window",
                            rma_call(), (int)i);
        sorted &= !i || ranks[i - 1] < ranks[i];
    }
    if (!sorted)
        qsort(ranks, n, sizeof *ranks, rma_by_rank);
    return MPI_SUCCESS;
}

int rma_no_memory(unsigned n)
{
    return err_make(MPI_ERR_NO_MEM, "%s: no memory for a group of %u", rma_call(), n);
}

void rma_pscw_free(struct rma_win *w)
{
    free(w->access.mem.mem);
    free(w->exposure.mem.mem);
}

int rma_assert_error(int wrong, const char *where)
{
    static const struct {
        int bit;
        const char *name;
    } known[] = {{MPI_MODE_NOCHECK, "MPI_MODE_NOCHECK"},
                 {MPI_MODE_NOSTORE, "MPI_MODE_NOSTORE"},
                 {MPI_MODE_NOPUT, "MPI_MODE_NOPUT"},
                 {MPI_MODE_NOPRECEDE, "MPI_MODE_NOPRECEDE"},
                 {MPI_MODE_NOSUCCEED, "MPI_MODE_NOSUCCEED"}};
    char names[160] = "";
    size_t n = 0;

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (wrong & known[i].bit) {
            n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? " | " : "",
                                  known[i].name);
            wrong &= ~known[i].bit;
        }
    if (wrong)
        snprintf(names + n, sizeof names - n, "%s%#x", n ? " | " : "", (unsigned)wrong);
    return err_make(MPI_ERR_ASSERT, "%s: assertion %s is not one for %s", rma_call(), names, where);
}

unsigned rma_near_index(const struct rma_win *w, const struct rma_near *n)
{
    return (unsigned)(n - w->near.near);
}

/* See sync_types.h. A process in MPI_Win_free after a failure: free_after_failure.c. */
int rma_has_gone(const struct rma_win *w, int rank)
{
    return boot_failed_count() && (boot_failed(rma_world(w, rank)) ||
                                 (rma_is_freeing(w, rank) && am_ordered(rma_world(w, rank))));
}

void rma_gone_error(struct rma_win *w, int rank)
{
    if (w->err)
        return;
    w->err = boot_failed(rma_world(w, rank)) || rma_is_revoked(w)
                 ? rma_failed_error(w, rank)
                 : err_make(
                       MPIX_ERR_PROC_FAILED,
                       "%s: process %d died, and rank %d of %s (process %d) is in MPI_Win_free",
                       rma_call(), boot_failed_last(), rank, rma_win_text(w), rma_world(w, rank));
}
