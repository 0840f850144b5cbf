/* apart.c - two waiting processes that yield one core to each other part: one moves to a core that
 * none of the host uses (doc/design/progress.md P10).  Start with progress_yielded(). */
#include <sched.h>
#include <string.h>

#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "mem/mem.h"
#include "progress/progress_types.h"
#include "var/var.h"

/* So many yields in a row that others used are no accident: about 0.1 ms. */
enum { SHARED_FROM = 64 };
/* A look at the other processes costs less than 0.1 us each, a move some 50 us.  So both stay below
 * 0.1 % of the time: the first by LOOK_EACH ns for each process, the second by a gap that doubles.
 * One that has not moved for MOVE_CALM begins again with the least. */
static const uint64_t LOOK_EACH = 100000, GAP_LEAST = 1000000, GAP_MOST = 64000000,
                      MOVE_CALM = 1000000000;
/* Of the processes of a core that with the least number stays.  One above it may be bound there, or
 * busy: then it goes itself, after so many looks. */
enum { LEAVE_LOOKS = 4 };

enum { SETS = 8 }; /* as many processors as a kernel can have */

struct cores {
    cpu_set_t set[SETS];
};

static int mask_get(struct cores *c)
{
    memset(c, 0, sizeof *c);
    return sched_getaffinity(0, sizeof c->set, c->set) ? -1 : 0;
}

/* 1: this process is the one to move. */
static int is_mover(struct progress *p, int core)
{
    int above = 0, own = mem_host_index();
    for (int i = 0; i < boot_host_processes(); i++) {
        if (i == own || mem_core_of(i) != core)
            continue;
        if (i < own)
            return 1;
        above = 1;
    }
    if (!above || ++p->left < LEAVE_LOOKS)
        return 0;
    p->left = 0;
    return 1;
}

/* A core of the mask on which no process of the host is seen to run, or -1.  Each move begins its
 * search one further: a core may be taken by what is no process of the job. */
static int free_core(const struct progress *p, const struct cores *mask, int core)
{
    struct cores found = *mask;
    int most = SETS * CPU_SETSIZE;
    for (int i = 0; i < boot_host_processes(); i++) {
        int its = i == mem_host_index() ? core : mem_core_of(i); /* one look: it may change */
        if (its >= 0)
            CPU_CLR_S(its, sizeof found.set, found.set);
    }
    int left = CPU_COUNT_S(sizeof found.set, found.set);
    if (!left)
        return -1;
    int skip = (int)(p->moves % (unsigned)left), at = core;
    do {
        at = (at + 1) % most;
        skip -= !!CPU_ISSET_S(at, sizeof found.set, found.set);
    } while (skip >= 0);
    return at;
}

/* The kernel moves a thread at once when its mask no longer holds its core.  The mask is as before
 * afterwards, so it stays free to move the thread again.  If another has changed the mask since,
 * that change holds. */
static void move_to(const struct cores *mask, int core)
{
    struct cores one = {0}, now;
    CPU_SET_S(core, sizeof one.set, one.set);
    if (sched_setaffinity(0, sizeof one.set, one.set) != 0)
        return;
    mem_core_set(core);
    if (mask_get(&now) == 0 && memcmp(&now, &one, sizeof one) == 0)
        sched_setaffinity(0, sizeof mask->set, mask->set);
}

static __attribute__((cold)) void look(struct progress *p)
{
    struct cores mask;
    int core = sched ? -1 : sched_getcpu(), to; /* ranks of the simulator have none */
    uint64_t now = time_now();
    if (core < 0 || now < p->next_spread)
        return;
    mem_core_set(core);
    p->next_spread = now + LOOK_EACH * (uint64_t)boot_host_processes();
    if (!is_mover(p, core) || mask_get(&mask) || (to = free_core(p, &mask, core)) < 0)
        return;
    if (!p->spread_gap || now - p->moved > MOVE_CALM)
        p->spread_gap = GAP_LEAST / 2;
    p->spread_gap = p->spread_gap < GAP_MOST ? 2 * p->spread_gap : GAP_MOST;
    p->moves++;
    move_to(&mask, to);
    p->moved = time_now();
    p->next_spread = p->moved + p->spread_gap;
}

/* The progress thread is no rank: it stays where it is. */
static int is_progress_thread(struct progress *p)
{
    return atomic_load_explicit(&p->server, memory_order_relaxed) == thread_self();
}

void progress_yielded(struct progress *p, uint64_t ns)
{
    if (ns < PROGRESS_YIELD_EMPTY || ns > p->slice) {
        p->shared = 0;
        return;
    }
    if (++p->shared < SHARED_FROM)
        return;
    p->shared = 0;
    if (cvar.progress_spread && !is_progress_thread(p))
        look(p);
}

void progress_is_here(void)
{
    if (!sched && !is_progress_thread(proc->progress))
        mem_core_set(sched_getcpu());
}
