/* failed.c - failed processes in the order in which this process has dealt with them, and what is
 * acknowledged of them. */
#include "obj/failed.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/proc.h"
#include "base/vec.h"
#include "obj/obj_types.h"

/* proc->obj->failed; NULL: no process has failed. */
struct failed_list {
    int n, room;
    int *world;
};

void failed_note(int world)
{
    struct failed_list *f = proc->obj->failed;
    if (!f)
        f = proc->obj->failed = calloc(1, sizeof *f);
    for (int i = 0; f && i < f->n; i++)
        if (f->world[i] == world)
            return;
    if (!f || !VEC_FITS(f->world, f->room, f->n + 1, 16))
        log_fatal("no memory to note that process %d has failed", world);
    f->world[f->n++] = world;
}

static int is_member(const struct comm *c, int world)
{
    return rankmap_find(c->map, world) >= 0 || (c->remote && rankmap_find(c->remote, world) >= 0);
}

int comm_unacked(struct comm *c)
{
    const struct failed_list *f = proc->obj->failed;
    const struct rankmap *senders = c->remote ? c->remote : c->map;
    if (!f)
        return -1;
    for (; !c->unacked && c->failed_seen < f->n; c->failed_seen++)
        if (rankmap_find(senders, f->world[c->failed_seen]) >= 0)
            c->unacked = f->world[c->failed_seen] + 1;
    return c->unacked - 1;
}

void comm_ack(struct comm *c)
{
    const struct failed_list *f = proc->obj->failed;
    c->acked = c->failed_seen = f ? f->n : 0;
    c->unacked = 0;
}

static int next_member(const struct comm *c, int *i, int end)
{
    while (*i < end) {
        int world = proc->obj->failed->world[(*i)++];
        if (is_member(c, world))
            return world;
    }
    return -1;
}

int comm_acked(const struct comm *c, int *i)
{
    return next_member(c, i, c->acked);
}

int comm_failed(const struct comm *c, int *i)
{
    return next_member(c, i, proc->obj->failed ? proc->obj->failed->n : 0);
}

int failed_count(const struct comm *c, failed_next *next)
{
    int n = 0;
    for (int i = 0; next(c, &i) >= 0; n++)
        ;
    return n;
}

struct rankmap *failed_map(const struct comm *c, failed_next *next)
{
    int n = failed_count(c, next), *world = malloc((size_t)n * sizeof *world + 1);
    struct rankmap *m = NULL;
    if (world) {
        for (int i = 0, k = 0; k < n; k++)
            world[k] = next(c, &i);
        m = rankmap_make(world, n);
    }
    free(world);
    return m;
}

void comm_ack_first(struct comm *c, int n)
{
    int i = 0, got = 0;
    while (got < n && comm_failed(c, &i) >= 0)
        got++;
    if (got < n) { /* all of them */
        comm_ack(c);
    } else if (i > c->acked) {
        c->acked = c->failed_seen = i;
        c->unacked = 0;
    }
}

void failed_finalize(void)
{
    if (proc->obj->failed)
        free(proc->obj->failed->world);
    free(proc->obj->failed);
    proc->obj->failed = NULL;
}
