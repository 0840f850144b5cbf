/* mismatch.c - why a collective call fails: the calls of its members differ, or one has died. */
#include "am/am.h"
#include "boot/boot.h"
#include "coll/coll_types.h"
#include "obj/err.h"
#include "var/var.h"

const char *coll_hint(void)
{
    return cvar.coll_check ? "" : "; MPIR_CVAR_COLL_CHECK=1 names the calls that differ";
}

int sched_mismatch(size_t got, size_t want)
{
    return err_make(
        MPI_ERR_TRUNCATE,
        "%zu bytes came where %zu are expected: counts or types of the processes differ%s%s", got,
        want, got ? "" : ", or another process has met an error", coll_hint());
}

/* Searched once per failure, not at every poll. */
int coll_failed_member(struct comm *c)
{
    const struct rankmap *const groups[] = {c->map, c->remote, c->beside[0], c->beside[1]};
    int deaths = am_failed_count();
    for (int i = 0; i < 4 && c->deaths_seen != deaths && !c->member_dead; i++)
        for (int r = 0; groups[i] && (r = rankmap_dead(groups[i], r)) >= 0; r++)
            if (am_failed(rankmap_world(groups[i], r))) {
                c->member_dead = rankmap_world(groups[i], r) + 1;
                break;
            }
    c->deaths_seen = deaths;
    return c->member_dead - 1;
}

int coll_dead_member(const struct comm *c)
{
    const struct rankmap *const groups[] = {c->map, c->remote, c->beside[0], c->beside[1]};
    for (int i = 0, r; i < 4 && boot_failed_count(); i++)
        if (groups[i] && (r = rankmap_dead(groups[i], 0)) >= 0)
            return rankmap_world(groups[i], r);
    return -1;
}
