/* test_async_poll.c - obj/async_poll.c: turns, which need a look of the engine between them; how
 * they become rare in waits; functions that start others. */
#include "unit_obj.h"

#include <mpi.h>

#include "obj/async_poll.h"
#include "obj/continue.h"
#include "progress/progress_types.h"

static int ran, left, state;

static int fn(MPIX_Async_thing thing)
{
    ck_assert_ptr_eq(async_state(thing), &state);
    ran++;
    async_turn(1); /* none inside another one */
    return --left > 0 ? MPIX_ASYNC_NOPROGRESS : MPIX_ASYNC_DONE;
}

static int starts(MPIX_Async_thing thing)
{
    (void)thing;
    ck_assert_int_eq(async_add(fn, &state), MPI_SUCCESS);
    return MPIX_ASYNC_DONE;
}

START_TEST(one_turn_a_poll)
{
    ran = 0;
    left = 3;
    ck_assert(!async_count() && !async_due());
    progress_poll();
    ck_assert_int_eq(async_add(fn, &state), MPI_SUCCESS);
    ck_assert(async_count() == 1 && proc->obj->continues_ready == 1 && continue_expects());
    async_turn(1);
    async_turn(1);
    ck_assert_int_eq(ran, 1);
    progress_poll();
    async_turn(1);
    ck_assert_int_eq(ran, 2);
    progress_poll();
    async_turn(1);
    progress_poll();
    async_turn(1);
    ck_assert(ran == 3 && !async_count() && !proc->obj->continues_ready && !continue_expects());
}
END_TEST

/* Every poll, every second, every fourth; at once after a completion, and at the start of calls. */
START_TEST(rare_in_waits)
{
    int at[5] = {0}, turns = 0;
    ran = 0;
    left = 1000;
    async_add(fn, &state);
    for (int polls = 1; polls <= 40 && turns < 5; polls++) {
        progress_poll();
        if (async_due())
            at[turns++] = polls;
        async_turn(0);
        ck_assert_int_eq(ran, turns);
    }
    ck_assert(at[0] == 1 && at[1] == 3 && at[2] == 7 && at[3] == 15 && at[4] == 31);
    progress_poll();
    ck_assert(!async_due());
    proc->obj->completions++;
    ck_assert(async_due());
    async_turn(0);
    progress_poll();
    ck_assert(async_due());
    async_turn(0);
    progress_poll();
    ck_assert(!async_due());
    async_turn(1);
    ck_assert_int_eq(ran, 8);
}
END_TEST

START_TEST(starts_another)
{
    ran = 0;
    left = 1;
    async_add(starts, NULL);
    progress_poll();
    async_turn(1);
    ck_assert(ran == 0 && async_count() == 1); /* not in the same turn */
    progress_poll();
    async_turn(0);
    ck_assert(ran == 1 && async_count() == 0);
}
END_TEST

START_TEST(drains)
{
    ran = 0;
    left = 20;
    async_add(fn, &state);
    async_drain();
    ck_assert(ran == 20 && !async_count());
}
END_TEST

static int continued;

static int continues(int error, void *data)
{
    (void)data;
    continued = 1;
    return error;
}

static int waits(MPIX_Async_thing thing)
{
    (void)thing;
    return continued ? MPIX_ASYNC_DONE : MPIX_ASYNC_NOPROGRESS;
}

/* A polled function waits for what a continuation does. */
START_TEST(drains_continuations)
{
    const struct continue_what what = {continues, NULL, MPIX_CONT_DEFER_COMPLETE};
    MPI_Request h, none = MPI_REQUEST_NULL;
    continued = 0;
    ck_assert_int_eq(continue_init(&(struct continue_mode){0}, &h), MPI_SUCCESS);
    struct request *cont = obj_find(OBJ_REQUEST, h);
    ck_assert_int_eq(request_start(cont), MPI_SUCCESS);
    ck_assert_int_eq(async_add(waits, NULL), MPI_SUCCESS);
    ck_assert_int_eq(continue_attach_one(cont, &what, NULL, &none, NULL), MPI_SUCCESS);
    async_drain();
    ck_assert(continued && !async_count());
}
END_TEST

/* The hook of functions that are never done is gone with the room. */
START_TEST(ends_early)
{
    left = 1000;
    async_add(fn, &state);
    async_add(fn, &state);
    obj_finalize();
    ck_assert(list_empty(&proc->progress->hooks));
    ck_assert_int_eq(obj_init(), 0);
    ck_assert(!async_count() && !proc->obj->continues_ready && !proc->obj->upcalls_wanted);
}
END_TEST

OBJ_SUITE(async_poll, one_turn_a_poll, rare_in_waits, starts_another, drains, drains_continuations,
          ends_early)
