/* test_request.c - obj/request.c: status counts, complete then finish, freed before and after
 * completion, persistent requests, waits. */
#include "unit_obj.h"

#include <mpi.h>
#include <stdlib.h>

#include "obj/comm.h"
#include "obj/request.h"

static int freed, poked, started;

static void on_free(struct request *r)
{
    freed++;
}

static void on_poke(struct request *r)
{
    poked++;
}

static int on_start(struct request *r)
{
    started++;
    return started == 3 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int on_query(struct request *r, MPI_Status *st)
{
    status_set_count(st, 12);
    return MPI_SUCCESS;
}

static const struct request_ops ops = {.free = on_free, .poke = on_poke, .start = on_start};
static const struct request_ops query_ops = {.free = on_free, .query = on_query};

START_TEST(status_counts)
{
    MPI_Status st;
    static const int64_t counts[] = {0,          1,           0x7fffffff,   0x80000000,
                                     0xffffffff, 0x100000000, INT64_MAX / 2};
    status_empty(&st);
    ck_assert_int_eq(st.MPI_SOURCE, MPI_ANY_SOURCE);
    for (int cancelled = 0; cancelled < 2; cancelled++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            status_set_cancelled(&st, cancelled);
            status_set_count(&st, counts[i]);
            ck_assert_int_eq(status_count(&st), counts[i]);
            ck_assert_int_eq(status_cancelled(&st), cancelled);
        }
    status_proc_null(&st);
    ck_assert_int_eq(st.MPI_SOURCE, MPI_PROC_NULL);
    ck_assert_int_eq(status_count(&st), 0);
}
END_TEST

START_TEST(complete_then_finish)
{
    struct request r;
    MPI_Request h;
    MPI_Status st = {.MPI_ERROR = 55};
    struct comm *c = proc->obj->world;
    int refs = c->obj.refs;
    request_init(&r, REQUEST_RECV, &ops, c);
    ck_assert_int_eq(request_publish(&r, &h), MPI_SUCCESS);
    ck_assert_int_eq(c->obj.refs, refs + 1);
    ck_assert_ptr_eq(obj_find(OBJ_REQUEST, h), &r);
    r.status.MPI_SOURCE = 3;
    uint64_t before = proc->obj->completions;
    request_complete(&r, MPI_ERR_TRUNCATE);
    ck_assert_uint_eq(proc->obj->completions, before + 1);
    request_wait(&r); /* returns at once */
    ck_assert_int_eq(poked, 0);
    ck_assert_int_eq(request_finish(&r, &st), MPI_ERR_TRUNCATE);
    ck_assert_int_eq(st.MPI_SOURCE, 3);
    ck_assert_int_eq(st.MPI_ERROR, 55); /* left to calls on several requests */
    ck_assert_int_eq(freed, 1);
    ck_assert_ptr_null(obj_find(OBJ_REQUEST, h));
    ck_assert_int_eq(c->obj.refs, refs);
    request_init(&r, REQUEST_GENERAL, &query_ops, NULL);
    request_complete(&r, MPI_SUCCESS);
    ck_assert_int_eq(request_finish(&r, &st), MPI_SUCCESS);
    ck_assert_int_eq(status_count(&st), 12);
}
END_TEST

START_TEST(freed_before_and_after_completion)
{
    struct request r;
    MPI_Request h;
    struct comm *c = proc->obj->self;
    int refs = c->obj.refs;
    request_init(&r, REQUEST_SEND, &ops, c);
    request_publish(&r, &h);
    request_release(&r);
    ck_assert_ptr_null(obj_find(OBJ_REQUEST, h));
    ck_assert_int_eq(freed, 0);
    ck_assert_int_eq(c->obj.refs, refs + 1);
    request_complete(&r, MPI_SUCCESS);
    ck_assert_int_eq(freed, 1);
    ck_assert_int_eq(c->obj.refs, refs);
    request_init(&r, REQUEST_SEND, &ops, c);
    request_publish(&r, &h);
    request_complete(&r, MPI_SUCCESS);
    request_release(&r);
    ck_assert_int_eq(freed, 2);
    /* a generalized request is completed by the handle that was freed (MPI-3.1 12.2) */
    request_init(&r, REQUEST_GENERAL, &query_ops, NULL);
    request_publish(&r, &h);
    request_release(&r);
    ck_assert_ptr_eq(obj_find(OBJ_REQUEST, h), &r);
    request_complete(&r, MPI_SUCCESS);
    ck_assert_int_eq(freed, 3);
    ck_assert_ptr_null(obj_find(OBJ_REQUEST, h));
}
END_TEST

START_TEST(persistent_requests)
{
    struct request r;
    MPI_Request h;
    MPI_Status st;
    request_init(&r, REQUEST_PERSISTENT_SEND, &ops, NULL);
    ck_assert(r.done && !r.active);
    request_publish(&r, &h);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(request_start(&r), MPI_SUCCESS);
        ck_assert(!r.done && r.active);
        r.status.MPI_TAG = 9;
        request_complete(&r, MPI_SUCCESS);
        ck_assert_int_eq(request_finish(&r, &st), MPI_SUCCESS);
        ck_assert_int_eq(st.MPI_TAG, 9);
        ck_assert(!r.active);
        ck_assert_int_eq(request_finish(&r, &st), MPI_SUCCESS); /* inactive: the empty status */
        ck_assert_int_eq(st.MPI_TAG, MPI_ANY_TAG);
    }
    ck_assert_int_eq(request_start(&r), MPI_ERR_OTHER);
    ck_assert(r.done && !r.active);
    ck_assert_ptr_eq(obj_find(OBJ_REQUEST, h), &r);
    request_release(&r);
    ck_assert_int_eq(freed, 1);
}
END_TEST

/* Completes requests one per poll, from the last to the first. */
struct line {
    struct progress_hook hook;
    struct request *r;
    int n, polls;
};

static int next_one(void *arg)
{
    struct line *l = arg;
    l->polls++;
    if (l->n == 0)
        return 0;
    request_complete(&l->r[--l->n], MPI_SUCCESS);
    return 1;
}

START_TEST(waits)
{
    enum { N = 2000 };
    struct request *r = calloc(N, sizeof *r), **p = calloc(N, sizeof *p);
    struct line l = {.r = r, .n = N};
    for (int i = 0; i < N; i++) {
        request_init(&r[i], REQUEST_RMA, &ops, NULL);
        p[i] = i % 7 ? &r[i] : NULL; /* holes are passed over */
    }
    l.hook = (struct progress_hook){.fn = next_one, .arg = &l};
    progress_hook_add(&l.hook);
    request_wait_any(p, N);
    ck_assert_int_eq(l.n, N - 1);
    ck_assert_int_gt(poked, N / 2);
    request_wait_any(p, N); /* done already */
    ck_assert_int_eq(l.n, N - 1);
    request_wait(&r[N - 100]);
    ck_assert_int_eq(l.n, N - 100);
    request_wait_all(p, N);
    ck_assert_int_eq(l.n, 1); /* the first is a hole: it is not waited for */
    request_wait_all(p, N);
    request_wait_all(NULL, 0);
    progress_hook_del(&l.hook);
    free(r);
    free(p);
}
END_TEST

/* It may be finished and freed for ever. */
START_TEST(builtin_request)
{
    unsigned live = proc->obj->table[OBJ_REQUEST].live;
    for (int i = 0; i < 3; i++) {
        MPI_Status st = {.MPI_SOURCE = 4, .MPI_TAG = 4, .MPI_ERROR = 4};
        struct request *r = obj_find(OBJ_REQUEST, REQUEST_COMPLETE);
        ck_assert_ptr_nonnull(r);
        ck_assert(r->done && r->active && !request_is_persistent(r));
        request_wait(r);
        ck_assert_int_eq(request_finish(r, &st), MPI_SUCCESS);
        ck_assert_int_eq(st.MPI_SOURCE, MPI_ANY_SOURCE);
        ck_assert_int_eq(st.MPI_TAG, MPI_ANY_TAG);
        ck_assert_int_eq(st.MPI_ERROR, 4);
        request_release(r);
    }
    ck_assert_int_eq(MPI_MESSAGE_NO_PROC == REQUEST_COMPLETE, 0);
    ck_assert_uint_eq(proc->obj->table[OBJ_REQUEST].live, live);
}
END_TEST

OBJ_SUITE(request, status_counts, complete_then_finish, freed_before_and_after_completion,
          persistent_requests, waits, builtin_request)
