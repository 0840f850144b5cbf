/* together.c - what two threads may not do at one time with MPI_THREAD_MULTIPLE: collective calls
 * on one communicator (MPI-4.1 6.14), and waits for one request (11.6.2). Start with begins() and
 * awaits().
 *
 * A thread that waits within a call gives proc->lock away, so the other one's call is seen to begin
 * meanwhile. Calls that are only not ordered are not named. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "finding/finding.h"
#include "obj/err.h"
#include "obj/request.h"
#include "place/place.h"
#include "progress/progress.h"
#include "threads/threads_types.h"
#include "watch/watch.h"

/* --- collective calls ------------------------------------------------------------------------- */

static int is_new(struct threads *t, uint64_t site)
{
    for (int i = 0; i < t->nnamed; i++)
        if (t->named[i] == site)
            return 0;
    if (t->nnamed == THREADS_CALLS)
        return 0;
    t->named[t->nnamed++] = site;
    return 1;
}

static void say(struct threads *t, const struct threads_collective *now,
                const struct threads_collective *other)
{
    char line[2][FINDING_PLACE] = {"", ""};
    struct finding f = {.class = "threads", .ranks = 1, .rank = {boot_rank()}};
    if (!is_new(t, now->site))
        return;
    site_text(site_portable(now->site), line[0], sizeof line[0]);
    site_text(site_portable(other->site), line[1], sizeof line[1]);
    finding_place(&f, line[0]);
    finding_place(&f, line[1]);
    snprintf(f.text, sizeof f.text,
             "%s%s%s, while another thread is in %s%s%s on the same communicator", now->call,
             *line[0] ? " at " : "", line[0], other->call, *line[1] ? " at " : "", line[1]);
    finding_say(&f);
}

static int begins(struct watch_turn *turn)
{
    struct threads *t = proc->threads;
    if (!turn->args || !proc->call || progress_is_helper() || t->collectives == THREADS_USERS)
        return MPI_SUCCESS;
    struct threads_collective now = {thread_self(), turn->comm, proc->call,
                                     (uint64_t)(uintptr_t)turn->site};
    for (int i = 0; i < t->collectives; i++)
        if (t->collective[i].comm == now.comm && t->collective[i].thread != now.thread) {
            say(t, &now, &t->collective[i]);
            break;
        }
    t->collective[t->collectives++] = now;
    return MPI_SUCCESS;
}

static int ended(struct watch_turn *turn, int err)
{
    struct threads *t = proc->threads;
    const void *self = thread_self();
    for (int i = t->collectives; turn->args && i-- > 0;)
        if (t->collective[i].thread == self && t->collective[i].comm == turn->comm) {
            t->collectives--; /* the order stays: the last of a thread's is the innermost */
            memmove(&t->collective[i], &t->collective[i + 1],
                    (size_t)(t->collectives - i) * sizeof t->collective[i]);
            break;
        }
    return err;
}

static int may_follow(const struct watch_turn *turn)
{
    (void)turn;
    return 1;
}

/* --- waits ------------------------------------------------------------------------------------ */

static int is_pending(const struct request *r)
{
    return r && r->active && !r->done;
}

static int waits_for(const struct threads_wait *w, const struct request *r)
{
    for (int i = 0; i < w->n; i++)
        if (w->r[i] == r)
            return 1;
    return 0;
}

/* The request goes with the first wait that sees its end: the other one would use memory that is
 * free. So it is refused. */
static int awaits(struct request *const *r, int n)
{
    struct threads *t = proc->threads;
    void *self = thread_self();
    int some = 0;
    for (int k = 0; k < n; k++)
        some |= is_pending(r[k]);
    if (!some || progress_is_helper() || t->waits == THREADS_USERS)
        return MPI_SUCCESS;
    for (int i = 0; i < t->waits; i++)
        for (int k = 0; k < n && t->wait[i].thread != self; k++)
            if (is_pending(r[k]) && waits_for(&t->wait[i], r[k]))
                return err_make(MPI_ERR_REQUEST,
                                "%s: another thread is in %s with request %#x", proc->call,
                                t->wait[i].call, (unsigned)r[k]->obj.handle);
    t->wait[t->waits++] = (struct threads_wait){self, r, n, proc->call};
    return MPI_SUCCESS;
}

/* A wait that nothing was pending for, or that was refused, has no record. A continuation may wait
 * within a wait, with a list of its own. */
static void awaited(struct request *const *r)
{
    struct threads *t = proc->threads;
    const void *self = thread_self();
    for (int i = t->waits; i-- > 0;)
        if (t->wait[i].thread == self && t->wait[i].r == r) {
            t->waits--;
            memmove(&t->wait[i], &t->wait[i + 1], (size_t)(t->waits - i) * sizeof t->wait[i]);
            return;
        }
}

const struct watcher threads_together = {.begins = begins, .ended = ended,
                                         .may_follow = may_follow, .awaits = awaits,
                                         .awaited = awaited};
