/* async_poll.c - functions of the program that are polled until they are done (async_poll.h). Start
 * with async_turn(). */
#include "obj/async_poll.h"

#include <stdlib.h>

#include "base/proc.h"
#include "obj/continue.h"
#include "obj/err.h"
#include "obj/obj_types.h"
#include "obj/upcall.h"
#include "progress/progress.h"

/* What the program has as an MPIX_Async_thing. */
struct MPIR_Async_thing {
    MPIX_Async_poll_function *fn;
    void *state;
    struct list link;
};

struct async {
    struct list things; /* but for the one that runs */
    unsigned n;
    int turning;
    uint64_t polls, completions; /* of the process, after the last turn */
    uint64_t every;              /* polls between turns of waits */
    /* It has nothing to do: while a hook is there, sleeps are short. */
    struct progress_hook hook;
};

static int look(void *arg)
{
    (void)arg;
    return 0;
}

static struct async *room(void)
{
    struct async *s = proc->obj->async;
    if (!s && (s = calloc(1, sizeof *s))) {
        list_init(&s->things);
        s->hook.fn = look;
        proc->obj->async = s;
    }
    return s;
}

int async_add(MPIX_Async_poll_function *fn, void *state)
{
    struct async *s = room();
    struct MPIR_Async_thing *t = s ? malloc(sizeof *t) : NULL;
    if (!t)
        return err_make(MPI_ERR_NO_MEM, "no memory for one more function to poll");
    t->fn = fn;
    t->state = state;
    list_push(&s->things, &t->link);
    s->every = 1;
    if (!s->n++)
        progress_hook_add(&s->hook);
    continue_count(1);
    upcall_wanted(1);
    progress_signal(); /* threads that wait may sleep for long */
    return MPI_SUCCESS;
}

static void end(struct async *s, struct MPIR_Async_thing *t)
{
    free(t);
    if (!--s->n)
        progress_hook_del(&s->hook);
    continue_count(-1);
    upcall_wanted(-1);
}

void async_finalize(void)
{
    struct async *s = proc->obj->async;
    if (!s)
        return;
    while (!list_empty(&s->things)) {
        struct MPIR_Async_thing *t = LIST_OBJ(s->things.next, struct MPIR_Async_thing, link);
        list_del(&t->link);
        end(s, t);
    }
    free(s);
    proc->obj->async = NULL;
}

void *async_state(MPIX_Async_thing thing)
{
    return thing->state;
}

unsigned async_count(void)
{
    return proc->obj->async ? proc->obj->async->n : 0;
}

/* Turns without a look of the engine between them would keep a wait from its work. completions has
 * not what was complete where it began, as a short message that left at once: no wait awaits it. */
static int due(const struct async *s, int entry)
{
    uint64_t polls = progress_polls() - s->polls;
    if (!s->n || s->turning || !polls)
        return 0;
    return entry || polls >= s->every || proc->obj->completions != s->completions;
}

int async_due(void)
{
    return proc->obj->async && due(proc->obj->async, 0);
}

static int call(struct MPIR_Async_thing *t)
{
    const char *name = proc->call;
    struct upcall me;
    proc->call = NULL;
    upcall_begin(&me);
    unsigned depth = proc->threaded ? lock_drop(&proc->lock) : 0;
    int result = t->fn(t);
    if (depth)
        lock_retake(&proc->lock, depth);
    upcall_end(&me);
    proc->call = name;
    return result;
}

/* New ones come in at the end of the list, behind those of this turn. */
void async_turn(int entry)
{
    struct async *s = proc->obj->async;
    if (!s || !due(s, entry) || upcall_inside())
        return;
    int news = proc->obj->completions != s->completions;
    s->turning = 1;
    s->every = s->every < PROGRESS_SLEEP ? 2 * s->every : PROGRESS_SLEEP;
    for (unsigned n = s->n; n; n--) {
        struct MPIR_Async_thing *t = LIST_OBJ(s->things.next, struct MPIR_Async_thing, link);
        list_del(&t->link);
        if (call(t) == MPIX_ASYNC_DONE) {
            end(s, t);
            news = 1;
        } else {
            list_push(&s->things, &t->link);
        }
    }
    s->turning = 0;
    /* What the functions' own calls have looked at is no look of the wait. */
    s->polls = progress_polls();
    if (news || proc->obj->completions != s->completions)
        s->every = 1;
    s->completions = proc->obj->completions;
}

static int due_now(void *arg)
{
    const struct async *s = arg;
    return !s->n || continue_may_run(NULL, 0);
}

void async_drain(void)
{
    struct async *s = proc->obj->async;
    while (s && s->n && !upcall_inside()) {
        progress_wait(due_now, s, "a function of MPIX_Async_start", -1);
        continue_run(NULL, 0); /* a function may wait for what a continuation does */
    }
}
