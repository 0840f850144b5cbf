/* test_continue.c - obj/continue.c: what a handler completes runs at a safe point, once, with its
 * status; queues of a continuation request, active or not; a checker behind a request. */
#include "unit_obj.h"

#include <mpi.h>

#include "obj/continue.h"
#include "obj/err.h"
#include "obj/upcall.h"

static int ran, freed;
static MPI_Status st;

static int fn(int error, void *data)
{
    ran++;
    if (data)
        ck_assert_int_eq(st.MPI_SOURCE, *(int *)data);
    return error;
}

static void on_free(struct request *r)
{
    freed++;
}
static const struct request_ops ops = {.free = on_free};

static MPI_Request cont_make(int polled, int max_poll)
{
    MPI_Request h;
    ran = freed = 0;
    ck_assert_int_eq(continue_init(&(struct continue_mode){.polled = polled, .max_poll = max_poll},
                                   &h),
                     MPI_SUCCESS);
    return h;
}

static struct request *of(MPI_Request h)
{
    return obj_find(OBJ_REQUEST, h);
}

static MPI_Request op_make(struct request *r)
{
    MPI_Request h;
    request_init(r, REQUEST_RMA, &ops, NULL);
    ck_assert_int_eq(request_publish(r, &h), MPI_SUCCESS);
    return h;
}

static void attach(MPI_Request cont, MPI_Request op, void *data, int flags)
{
    struct continue_what what = {fn, data, flags};
    ck_assert_int_eq(continue_attach(of(cont), &what, 1, &op, &st), MPI_SUCCESS);
    ck_assert_int_eq(op, MPI_REQUEST_NULL);
}

START_TEST(not_in_the_handler)
{
    MPI_Request cont = cont_make(0, 0);
    struct request r, *c = of(cont);
    int source = 5;
    ck_assert_int_eq(request_start(c), MPI_SUCCESS);
    ck_assert(c->done && c->active);
    attach(cont, op_make(&r), &source, 0);
    ck_assert(!c->done && continue_holds(&r));
    ck_assert(!proc->obj->continues_ready);
    r.status.MPI_SOURCE = 5;
    request_complete(&r, MPI_SUCCESS);
    ck_assert_int_eq(ran, 0);
    ck_assert_uint_eq(proc->obj->continues_ready, 1);
    ck_assert(continue_may_run(NULL, 0));
    continue_run(NULL, 0);
    ck_assert(ran == 1 && freed == 1 && c->done);
    ck_assert_uint_eq(proc->obj->continues_ready, 0);
    continue_run(NULL, 0);
    ck_assert_int_eq(ran, 1);
    ck_assert_int_eq(request_finish(c, MPI_STATUS_IGNORE), MPI_SUCCESS);
    continue_release(c);
    ck_assert_ptr_null(of(cont));
}
END_TEST

START_TEST(inactive_waits)
{
    MPI_Request cont = cont_make(0, 0);
    struct request r[2], *c = of(cont);
    for (int i = 0; i < 2; i++)
        attach(cont, op_make(&r[i]), NULL, 0);
    request_complete(&r[1], MPI_SUCCESS);
    ck_assert(c->done && !proc->obj->continues_ready);
    continue_run(NULL, 0);
    ck_assert_int_eq(ran, 0);
    request_start(c);
    ck_assert(!c->done && proc->obj->continues_ready == 1);
    continue_run(NULL, 0);
    ck_assert(ran == 1 && !c->done);
    request_complete(&r[0], MPI_ERR_TRUNCATE);
    continue_run(NULL, 0); /* it does not run: the error is the continuation request's */
    ck_assert(ran == 1 && c->done && freed == 2);
    ck_assert_int_eq(request_finish(c, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    request_start(c);
    attach(cont, op_make(&r[0]), NULL, MPIX_CONT_INVOKE_FAILED);
    request_complete(&r[0], MPI_ERR_TRUNCATE);
    continue_run(NULL, 0);
    ck_assert(ran == 2 && st.MPI_ERROR == MPI_ERR_TRUNCATE);
    ck_assert_int_eq(request_finish(c, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE); /* fn's result */
    continue_release(c);
}
END_TEST

START_TEST(polled)
{
    MPI_Request cont = cont_make(1, 2), other = cont_make(0, 0);
    struct request *c = of(cont), *o = of(other);
    request_start(c);
    request_start(o);
    for (int i = 0; i < 5; i++)
        attach(cont, MPI_REQUEST_NULL, NULL, 0);
    ck_assert(!continue_may_run(&o, 1) && continue_may_run(&c, 1));
    continue_run(&o, 1);
    ck_assert_int_eq(ran, 0);
    c->ops->poke(c);
    ck_assert_int_eq(ran, 2);
    continue_run(&c, 1);
    ck_assert(ran == 5 && c->done);
    attach(other, MPI_REQUEST_NULL, NULL, MPIX_CONT_POLL_ONLY);
    ck_assert(!continue_may_run(NULL, 0) && continue_may_run(&o, 1));
    /* freed: what waits for its polls runs anywhere */
    continue_release(o);
    ck_assert_ptr_null(of(other));
    ck_assert(continue_may_run(NULL, 0));
    continue_run(NULL, 0);
    ck_assert_int_eq(ran, 6);
    continue_release(c);
}
END_TEST

/* A checker that takes the first completion back. */
static void takes_back(struct request *r, void *arg)
{
    r->then = NULL;
    r->done = 0;
    ++*(int *)arg;
}

START_TEST(checker_first)
{
    MPI_Request cont = cont_make(0, 0);
    struct request r, *c = of(cont);
    int seen = 0;
    request_start(c);
    MPI_Request h = op_make(&r);
    request_then(&r, takes_back, &seen);
    attach(cont, h, NULL, 0);
    request_complete(&r, MPI_SUCCESS);
    ck_assert(seen == 1 && !proc->obj->continues_ready && !r.done);
    request_complete(&r, MPI_SUCCESS);
    ck_assert(seen == 1 && proc->obj->continues_ready == 1);
    continue_run(NULL, 0);
    ck_assert(ran == 1 && c->done);
    continue_release(c);
}
END_TEST

/* It is ended by a copy of its handle. */
START_TEST(taken_away)
{
    MPI_Request cont = cont_make(0, 0);
    struct request r, *c = of(cont);
    request_start(c);
    attach(cont, op_make(&r), NULL, 0);
    request_complete(&r, MPI_SUCCESS);
    request_finish(&r, MPI_STATUS_IGNORE);
    continue_run(NULL, 0);
    ck_assert(ran == 0 && c->done);
    ck_assert_int_eq(err_class(request_finish(c, MPI_STATUS_IGNORE)), MPI_ERR_REQUEST);
    continue_release(c);
}
END_TEST

/* A continuation request that another one waits for, and that gets one more function. */
START_TEST(undone)
{
    MPI_Request inner = cont_make(0, 0), outer = cont_make(0, 0), op = inner;
    struct request r[2], *a = of(inner), *c = of(outer);
    struct continue_what what = {fn, NULL, 0};
    request_start(a);
    request_start(c);
    request_init(&r[1], REQUEST_RMA, &ops, NULL);
    MPI_Request two[2] = {inner, op_make(&r[1])};
    ck_assert_int_eq(continue_attach(c, &what, 2, two, NULL), MPI_SUCCESS);
    ck_assert_int_eq(op, two[0]);
    attach(inner, op_make(&r[0]), NULL, 0);
    request_complete(&r[1], MPI_SUCCESS); /* the other one is not */
    ck_assert(!proc->obj->continues_ready && !c->done);
    request_complete(&r[0], MPI_SUCCESS);
    continue_run(NULL, 0);
    ck_assert(ran == 1 && a->done && proc->obj->continues_ready == 1);
    /* it is to run, and has to wait again: three times, and it runs once */
    for (int i = 0; i < 3; i++) {
        attach(inner, op_make(&r[0]), NULL, 0);
        if (i != 1) {
            continue_run(NULL, 0);
            ck_assert(ran == 1 + i && !proc->obj->continues_ready);
        }
        request_complete(&r[0], MPI_SUCCESS);
        if (i == 1)
            ck_assert_uint_eq(proc->obj->continues_ready, 2);
        continue_run(NULL, 0);
        ck_assert(ran == 2 + i && a->done && !c->done);
        ck_assert_uint_eq(proc->obj->continues_ready, 1);
    }
    ck_assert(continue_expects());
    continue_run(NULL, 0);
    ck_assert(ran == 5 && c->done && !a->active && !continue_expects());
    continue_release(a);
    continue_release(c);
}
END_TEST

/* Code of the program that the library calls. */
START_TEST(held)
{
    MPI_Request cont = cont_make(0, 0);
    struct request *c = of(cont);
    struct upcall h[2];
    request_start(c);
    attach(cont, MPI_REQUEST_NULL, NULL, 0);
    upcall_begin(&h[0]);
    upcall_begin(&h[1]);
    upcall_end(&h[0]); /* another thread's may end first */
    ck_assert(!continue_may_run(&c, 1));
    continue_enter();
    c->ops->poke(c);
    ck_assert_int_eq(ran, 0);
    ck_assert_int_eq(err_class(continue_in_vain(&c, 1)), MPI_ERR_REQUEST);
    upcall_end(&h[1]);
    ck_assert_int_eq(continue_in_vain(&c, 1), MPI_SUCCESS);
    continue_enter();
    ck_assert_int_eq(ran, 1);
    continue_release(c);
}
END_TEST

/* Calls leave their short way while something is to run, and not longer. */
START_TEST(phase)
{
    MPI_Request cont = cont_make(0, 0);
    struct request *c = of(cont);
    atomic_store(&proc->phase, PROC_INIT);
    request_start(c);
    ck_assert_int_eq(atomic_load(&proc->phase), PROC_INIT);
    attach(cont, MPI_REQUEST_NULL, NULL, 0);
    ck_assert_int_eq(atomic_load(&proc->phase), PROC_CHECKED);
    continue_enter();
    ck_assert_int_eq(ran, 1);
    ck_assert_int_eq(atomic_load(&proc->phase), PROC_INIT);
    atomic_store(&proc->phase, PROC_CHECKED); /* a checker's */
    attach(cont, MPI_REQUEST_NULL, NULL, 0);
    continue_enter();
    ck_assert_int_eq(ran, 2);
    ck_assert_int_eq(atomic_load(&proc->phase), PROC_CHECKED);
    atomic_store(&proc->phase, PROC_NEW);
    continue_release(c);
}
END_TEST

OBJ_SUITE(continue_, not_in_the_handler, inactive_waits, polled, checker_first, taken_away, undone,
          held, phase)
