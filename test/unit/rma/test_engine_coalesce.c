/* test_engine_coalesce.c - rma/engine/coalesce.c: coalesced alike, coalesced or not. */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "unit_rma.h"
#include "world.h"

enum { RANKS = 3, ROOM = 4096, ENTRY = 16 };

static struct rma_win *w;
static struct rma_target *t;

static void begin(void)
{
    bare_room(0, 0);
    cvar.rma_slots = 2;
    cvar.rma_hold = 2;
    w = bare_window(RANKS, 200, 2);
    w->state = WIN_FENCE_GRANTED;
    t = rma_target_add(w, 1);
    rma_target_born(t, TARGET_LOCK_GRANTED);
    t->ordered = 1;
    t->gather = ROOM;
    t->packet = 65536;
}

static struct rma_args put_of(const long *v, MPI_Aint disp)
{
    struct dt_type *e = dt_find(MPI_LONG);
    return (struct rma_args){.kind = RMA_PUT, .rank = 1, .origin = v, .ocount = 1, .otype = e,
                             .disp = disp, .tcount = 1, .ttype = e};
}

/* What op_begin.c does of it, but for the sending. */
static struct rma_op *queue(const struct rma_args *a)
{
    struct rma_op *op = rma_op_alloc(w);
    job_check(op != NULL);
    op->t = t;
    op->kind = (uint8_t)a->kind;
    op->a = *a;
    op->bytes = 8;
    t->coalesced = NULL;
    if (t->next == &t->ops)
        t->next = &op->link;
    list_push(&t->ops, &op->link);
    t->nops++;
    t->queued++;
    w->table.nops++;
    rma_coalesce_open(t, op);
    return op;
}

static void end(void)
{
    while (!list_empty(&t->ops)) {
        t->next = &t->ops;
        rma_op_finish(LIST_OBJ(t->ops.next, struct rma_op, link));
    }
    job_check(!t->coalesced && !t->nops);
}

/* The room that was brought up cannot be taken down. */
static void quit(void)
{
    end();
    fflush(NULL);
    _exit(0);
}

/* Does the call take the operation into an open packet? */
static int append(const struct rma_args *x, size_t *bytes)
{
    struct rma_target *of = rma_target_find(w, x->rank);
    return of && rma_coalesce_append(of, x, bytes);
}

static int behind(const struct rma_args *x)
{
    return rma_coalesce_dry(t) && rma_coalesce_behind(t, x);
}

/* The third that waits opens it; those like it follow, and lie there as they travel. */
static void packed(void)
{
    begin();
    long v = 7;
    struct rma_args a = put_of(&v, 5);
    size_t bytes = 0;
    job_check(!queue(&a)->coalesced && !append(&a, &bytes) && !queue(&a)->coalesced);
    struct rma_op *op = queue(&a);
    job_check(op->coalesced && t->coalesced == op && op->coalesced_ops == 1 && op->bytes == ENTRY);
    for (v = 8; v < 12; v++) {
        a.disp = 2 * v;
        job_check(append(&a, &bytes) && bytes == 8);
    }
    uint64_t got[2];
    job_check(op->coalesced_ops == 5 && op->bytes == 5 * ENTRY && t->nops == 3);
    memcpy(got, op->coalesced + 4 * ENTRY, sizeof got);
    job_check(got[0] == 22 && got[1] == 11);
    v = 12; /* as MPI_Put without threads does it */
    job_check(rma_near_coalesce(&w->near, 1, 24, 1, a.ttype, NULL, &v) &&
              world_pvar(w, PVAR_RMA_PUT) == 1 && op->coalesced_ops == 6);
    job_check(!rma_near_coalesce(&w->near, 1, 24, 1, a.ttype, dt_op_find(MPI_SUM), &v) &&
              !rma_near_coalesce(&w->near, 1, 24, 2, a.ttype, NULL, &v));
    job_check(!rma_near_coalesce(&w->near, 2, 24, 1, a.ttype, NULL, &v) &&
              world_pvar(w, PVAR_RMA_PUT) == 1);
    rma_check_invariants(w); /* R10 */
    quit();
}

/* It is what it is: others do not go there. */
static void others(void)
{
    begin();
    long v[2] = {1, 2};
    struct rma_args a = put_of(v, 0), x;
    size_t bytes;
    queue(&a);
    queue(&a);
    struct rma_op *op = queue(&a);
    job_check(op->coalesced != NULL);
    x = a, x.rank = 2;
    job_check(!append(&x, &bytes));
    x.rank = 7; /* not in the window */
    job_check(!append(&x, &bytes));
    x.rank = -1;
    job_check(!append(&x, &bytes));
    x = a, x.disp = -1;
    job_check(!append(&x, &bytes));
    x = a, x.tcount = x.ocount = 2;
    job_check(!append(&x, &bytes));
    x = a, x.otype = dt_find(MPI_BYTE), x.ocount = 8;
    job_check(!append(&x, &bytes));
    x = a, x.ttype = x.otype = dt_find(MPI_DOUBLE);
    job_check(!append(&x, &bytes));
    x = a, x.kind = RMA_ACC;
    job_check(!append(&x, &bytes));
    w->starved = 1;
    job_check(!append(&a, &bytes));
    w->starved = 0;
    job_check(append(&a, &bytes));
    rma_coalesce_seal(op); /* it is packed */
    job_check(!append(&a, &bytes) && op->coalesced_ops == 2);
    /* after one comes another, however few wait */
    job_check(queue(&a)->coalesced && t->coalesced != op);
    quit();
}

/* Where none may begin. */
static void none(void)
{
    begin();
    long v = 1;
    struct rma_args a = put_of(&v, 0);
    queue(&a);
    queue(&a);
    t->gather = 0; /* a message costs little */
    job_check(!queue(&a)->coalesced);
    t->gather = 5 * (sizeof(struct rma_hdr) + 8);
    job_check(!queue(&a)->coalesced); /* too little room beside those that wait */
    t->gather = ROOM;
    t->ordered = 0;
    job_check(!queue(&a)->coalesced);
    t->ordered = 1;
    t->sync = RMA_F_DONE;
    job_check(!queue(&a)->coalesced);
    t->sync = 0;
    t->flags = TARGET_DRAIN;
    job_check(!queue(&a)->coalesced);
    t->flags = 0;
    struct rma_args x = a;
    x.kind = RMA_GET;
    /* the one before is another */
    job_check(!queue(&x)->coalesced && !queue(&x)->coalesced && !queue(&a)->coalesced);
    x = a;
    x.ttype = x.otype = dt_find(MPI_SHORT_INT); /* two gaps */
    job_check(!queue(&x)->coalesced && !queue(&x)->coalesced);
    job_check(!queue(&a)->coalesced && queue(&a)->coalesced);
    quit();
}

/* Full, and out of buffers; and they come back. */
static void bounds(void)
{
    begin();
    long v = 1;
    struct rma_args a = put_of(&v, 0);
    size_t bytes;
    queue(&a);
    queue(&a);
    struct rma_op *op = queue(&a);
    unsigned n = 1, buffers = 1;
    while (append(&a, &bytes))
        n++;
    job_check(rma_coalesce_full(op) && n == (ROOM - 2 * (sizeof(struct rma_hdr) + 8)) / ENTRY &&
              op->coalesced_ops == n);
    list_push(&w->table.ready, &t->ready);
    job_check(!behind(&a));
    while (!behind(&a) && buffers < 100) {
        op = queue(&a);
        job_check(op->coalesced && !rma_coalesce_full(op));
        buffers++;
    }
    job_check(buffers == rma_self()->coalesce_buffers && buffers < 100);
    op = queue(&a);
    job_check(!op->coalesced && !behind(&a)); /* by itself */
    list_del(&t->ready);
    end();
    queue(&a);
    queue(&a);
    job_check(queue(&a)->coalesced && rma_self()->coalesce_buffers == buffers);
    end();
    rma_coalesce_finalize(rma_self());
    job_check(!rma_self()->coalesce_idle);
    quit();
}

START_TEST(coalesced_alike)
{
    ck_assert_int_eq(world_run(1, NULL, packed), 0);
    ck_assert_int_eq(world_run(1, NULL, others), 0);
}
END_TEST

START_TEST(coalesced_or_not)
{
    ck_assert_int_eq(world_run(1, NULL, none), 0);
    ck_assert_int_eq(world_run(1, NULL, bounds), 0);
}
END_TEST

Suite *suite_coalesce(void)
{
    Suite *s = suite_create("rma/coalesce");
    TCase *t = tcase_create("coalesce");
    tcase_add_test(t, coalesced_alike);
    tcase_add_test(t, coalesced_or_not);
    suite_add_tcase(s, t);
    return s;
}
