/* region.c - teams of threads and their tasks, for both compilers' OpenMP. */
#include "instrument/instrument.h"

static struct region outside; /* no team: a thread alone */
static __thread struct region *team;

struct region *region_now(void)
{
    return team ? team : &outside;
}

struct region *region_set(struct region *r)
{
    struct region *was = team;
    team = r;
    return was;
}

void region_open(struct region *r)
{
    r->opener = &team;
    order_fork(&r->object[AT_BEGIN]);
}

void region_close(struct region *r)
{
    order_join(&r->object[AT_END]);
    for (int i = 0; i < REGION_OBJECTS; i++)
        order_forget(&r->object[i]);
    order_forked();
}

void region_enter(struct region *r, struct region **was)
{
    *was = region_set(r);
    if (r->opener == &team) /* must not wait for others before its share of the work */
        return;
    instrument_begin();
    order_join(&r->object[AT_BEGIN]);
}

void region_leave(const struct region *r, struct region *was)
{
    if (r->opener != &team)
        order_end(&r->object[AT_END]);
    region_set(was);
}

void region_barrier_before(void)
{
    order_release(&region_now()->object[AT_BARRIER]);
}

void region_barrier_after(void)
{
    order_acquire(&region_now()->object[AT_BARRIER]);
    order_acquire(&region_now()->object[AT_TASK_END]);
}

void task_enter(const struct region *r, int ordered)
{
    instrument_begin();
    order_acquire(&r->object[AT_TASK]);
    if (ordered) /* more than its dependences ask for */
        order_acquire(&r->object[AT_TASK_END]);
}

/* The end of the region waits for its tasks, too. */
void task_leave(const struct region *r)
{
    order_release(&r->object[AT_TASK_END]);
    order_release(&r->object[AT_END]);
}
