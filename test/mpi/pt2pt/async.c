/* async.c - MPIX_Async_start: functions that MPI calls until they are done: in calls, in each kind
 * of wait, with operations of their own, spawned by others, never inside one another. */
#define _GNU_SOURCE
#include <unistd.h>

#include "../mt.h"

static int calls, over, inside, nested;

struct state {
    int left;            /* so many calls until it is done */
    MPI_Request general; /* completed then; or MPI_REQUEST_NULL */
    int to;              /* sends a message then, if not negative */
};

static int counts_down(MPIX_Async_thing thing)
{
    struct state *s = MPIX_Async_get_state(thing);
    int seven = 7;

    nested += inside++ > 0;
    calls++;
    if (--s->left <= 0) {
        over++;
        if (s->general != MPI_REQUEST_NULL)
            MPI_Grequest_complete(s->general);
        if (s->to >= 0)
            MPI_Send(&seven, 1, MPI_INT, s->to, 11, MPI_COMM_WORLD);
    }
    inside--;
    return s->left <= 0 ? MPIX_ASYNC_DONE : MPIX_ASYNC_NOPROGRESS;
}

static struct state start(int left, MPI_Request general, int to)
{
    struct state s = {left, general, to};

    calls = over = 0;
    return s;
}

static int query(void *x, MPI_Status *st)
{
    (void)x;
    MPI_Status_set_elements(st, MPI_INT, 0);
    MPI_Status_set_cancelled(st, 0);
    st->MPI_SOURCE = st->MPI_TAG = 0;
    return MPI_SUCCESS;
}

static int freed(void *x) { (void)x; return MPI_SUCCESS; }
static int cancelled(void *x, int complete) { (void)x, (void)complete; return MPI_SUCCESS; }

/* At the start of calls that look around; never after it is done. */
static void in_calls(void)
{
    struct state s = start(3, MPI_REQUEST_NULL, -1);
    int i, flag;

    CHECK_EQ(MPIX_Async_start(counts_down, &s, MPIX_STREAM_NULL), MPI_SUCCESS);
    for (i = 0; i < 10; i++)
        MPI_Iprobe(mt_rank, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(calls == 3 && over == 1);
    s = start(1000, MPI_REQUEST_NULL, -1);
    MPIX_Async_start(counts_down, &s, MPIX_STREAM_NULL);
    while (!over) /* such calls look around sometimes */
        MPI_Iprobe(MPI_PROC_NULL, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(calls, 1000);
}

/* What the wait is for comes from the function alone. */
static void in_waits(void)
{
    MPI_Request r[2], copy;
    MPI_Message m;
    struct state s;
    int i, k, v;

    for (i = 0; i < 24; i++) {
        MPI_Grequest_start(query, freed, cancelled, NULL, &r[0]);
        copy = r[0];
        r[1] = MPI_REQUEST_NULL;
        s = start(i < 18 ? 1 + i : 40 + i, i % 6 < 4 ? copy : MPI_REQUEST_NULL,
                  i % 6 < 4 ? -1 : mt_rank);
        MPIX_Async_start(counts_down, &s, MPIX_STREAM_NULL);
        v = 7;
        switch (i % 6) {
        case 0: MPI_Wait(&r[0], MPI_STATUS_IGNORE); break;
        case 1: MPI_Waitall(2, r, MPI_STATUSES_IGNORE); break;
        case 2: MPI_Waitany(2, r, &k, MPI_STATUS_IGNORE); break;
        case 3: MPI_Waitsome(2, r, &k, (int[2]){0}, MPI_STATUSES_IGNORE); break;
        case 4:
            MPI_Recv(&v, 1, MPI_INT, mt_rank, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            break;
        default:
            MPI_Mprobe(mt_rank, 11, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
            MPI_Mrecv(&v, 1, MPI_INT, &m, MPI_STATUS_IGNORE);
        }
        CHECK(over == 1 && s.left == 0 && v == 7);
        if (i % 6 >= 4) {
            MPI_Grequest_complete(copy);
            MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        }
        CHECK(r[0] == MPI_REQUEST_NULL);
    }
}

/* Nothing happens in the wait, which sleeps. */
static int waits_for_time(MPIX_Async_thing thing)
{
    double *until = MPIX_Async_get_state(thing);

    calls++;
    if (MPI_Wtime() < *until)
        return MPIX_ASYNC_NOPROGRESS;
    MPI_Send(&mt_rank, 1, MPI_INT, mt_rank, 12, MPI_COMM_WORLD);
    return MPIX_ASYNC_DONE;
}

static void in_sleep(void)
{
    double until = MPI_Wtime() + 0.05;
    int v = -1;

    MPIX_Async_start(waits_for_time, &until, MPIX_STREAM_NULL);
    MPI_Recv(&v, 1, MPI_INT, mt_rank, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(v, mt_rank);
}

/* A token goes round, one operation after the other; each ends with a message to itself. */
struct ring {
    int rounds, v, w;
    MPI_Request r[2];
    MPI_Request general;
};

static int goes_round(MPIX_Async_thing thing)
{
    struct ring *g = MPIX_Async_get_state(thing);
    int to = (mt_rank + 1) % mt_size, from = (mt_rank + mt_size - 1) % mt_size, i, flag;

    nested += inside++ > 0;
    for (i = 0; i < 2; i++)
        if (g->r[i] != MPI_REQUEST_NULL && !MPIX_Request_is_complete(g->r[i])) {
            inside--;
            return MPIX_ASYNC_NOPROGRESS;
        }
    MPI_Testall(2, g->r, &flag, MPI_STATUSES_IGNORE);
    CHECK(flag);
    CHECK_EQ(g->w, g->rounds);
    if (g->rounds-- == 0) {
        MPI_Grequest_complete(g->general);
        inside--;
        return MPIX_ASYNC_DONE;
    }
    g->v = g->rounds;
    MPI_Irecv(&g->w, 1, MPI_INT, from, 13, MPI_COMM_WORLD, &g->r[0]);
    MPI_Isend(&g->v, 1, MPI_INT, to, 13, MPI_COMM_WORLD, &g->r[1]);
    inside--;
    return MPIX_ASYNC_NOPROGRESS;
}

static void machine(void)
{
    struct ring g = {200, 0, 200, {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, MPI_REQUEST_NULL};
    MPI_Request r;

    MPI_Grequest_start(query, freed, cancelled, NULL, &r);
    g.general = r;
    MPIX_Async_start(goes_round, &g, MPIX_STREAM_NULL);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK_EQ(g.rounds, -1);
}

static int tree_over;

/* Each starts two more, by both calls. */
static int grows(MPIX_Async_thing thing)
{
    int *depth = MPIX_Async_get_state(thing), i;

    nested += inside++ > 0;
    for (i = 0; i < 2 && *depth > 0; i++) {
        int *next = mt_alloc(sizeof *next);
        *next = *depth - 1;
        CHECK_EQ(i ? MPIX_Async_spawn(thing, grows, next, MPIX_STREAM_NULL)
                   : MPIX_Async_start(grows, next, MPIX_STREAM_NULL), MPI_SUCCESS);
    }
    free(depth);
    tree_over++;
    inside--;
    return MPIX_ASYNC_DONE;
}

static void tree(void)
{
    int *depth = mt_alloc(sizeof *depth), i, flag;

    *depth = 9;
    MPIX_Async_start(grows, depth, MPIX_STREAM_NULL);
    while (tree_over < 1023)
        MPI_Iprobe(mt_rank, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    for (i = 0; i < 10; i++)
        MPI_Iprobe(mt_rank, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(tree_over, 1023);
}

static MPI_Request cont;
static int continued;

static int continues(int error, void *data)
{
    (void)data;
    nested += inside++ > 0;
    continued++;
    inside--;
    return error;
}

/* Calls in it run neither it, nor another one, nor a continuation; and a wait works. */
static int calls_mpi(MPIX_Async_thing thing)
{
    MPI_Request none = MPI_REQUEST_NULL, r[2];
    int *turns = MPIX_Async_get_state(thing), i, flag, v = 1, w = 0;

    nested += inside++ > 0;
    MPIX_Continue(&none, continues, NULL, 0, MPI_STATUS_IGNORE, cont);
    for (i = 0; i < 100; i++)
        MPI_Iprobe(mt_rank, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Irecv(&w, 1, MPI_INT, mt_rank, 14, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(&v, 1, MPI_INT, mt_rank, 14, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    CHECK_EQ(w, 1);
    CHECK_EQ(mt_class(MPI_Wait(&cont, MPI_STATUS_IGNORE)), MPI_ERR_REQUEST);
    inside--;
    return --*turns > 0 ? MPIX_ASYNC_NOPROGRESS : MPIX_ASYNC_DONE;
}

static void together(void)
{
    int turns[3] = {5, 9, 14}, i, flag;

    MPIX_Continue_init(0, 0, MPI_INFO_NULL, &cont);
    MPI_Start(&cont);
    for (i = 0; i < 3; i++)
        MPIX_Async_start(calls_mpi, &turns[i], MPIX_STREAM_NULL);
    while (turns[0] + turns[1] + turns[2] > 0)
        MPI_Iprobe(mt_rank, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&cont, MPI_STATUS_IGNORE);
    CHECK_EQ(continued, 28);
    MPI_Request_free(&cont);
}

static void arguments(void)
{
    struct state s = start(1, MPI_REQUEST_NULL, -1);
    int flag;

    CHECK_EQ(mt_class(MPIX_Async_start(NULL, &s, MPIX_STREAM_NULL)), MPI_ERR_ARG);
    CHECK_EQ(mt_class(MPIX_Async_start(counts_down, &s, 5)), MPI_ERR_ARG);
    CHECK_EQ(mt_class(MPIX_Async_spawn(NULL, counts_down, &s, MPIX_STREAM_NULL)), MPI_ERR_ARG);
    MPI_Iprobe(mt_rank, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Iprobe(mt_rank, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(calls, 0);
}

/* It is done when a continuation has run, and completes the request of that one. */
static int waits_for_continuation(MPIX_Async_thing thing)
{
    struct state *s = MPIX_Async_get_state(thing);

    if (--s->left == 0)
        MPI_Grequest_complete(s->general);
    return continued ? MPIX_ASYNC_DONE : MPIX_ASYNC_NOPROGRESS;
}

/* A function that the program runs in MPI_Finalize starts one more. */
static int starts_at_end(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    return MPIX_Async_start(counts_down, value, MPIX_STREAM_NULL);
}

static void ends(struct state *waits, struct state *late)
{
    MPI_Request r;
    int key;

    MPIX_Continue_init(0, 0, MPI_INFO_NULL, &cont);
    MPI_Start(&cont);
    continued = 0;
    MPI_Grequest_start(query, freed, cancelled, NULL, &r);
    waits->left = 5;
    waits->general = r;
    MPIX_Continue(&r, continues, NULL, 0, MPI_STATUS_IGNORE, cont);
    MPIX_Async_start(waits_for_continuation, waits, MPIX_STREAM_NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, starts_at_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, late);
}

int main(int argc, char **argv)
{
    struct state last, waits, late = {15, MPI_REQUEST_NULL, -1};
    int result;

    mt_init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    in_calls();
    in_waits();
    in_sleep();
    machine();
    tree();
    together();
    arguments();
    CHECK_EQ(nested, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    last = start(30, MPI_REQUEST_NULL, -1);
    MPIX_Async_start(counts_down, &last, MPIX_STREAM_NULL);
    ends(&waits, &late);
    result = mt_finish();
    if (calls != 45 || over != 2 || !continued) {
        printf("rank %d: MPI_Finalize has not waited: %d calls, %d\n", mt_rank, calls, continued);
        return 1;
    }
    return result;
}
