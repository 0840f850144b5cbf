/* continue.c - continuations: random requests of messages, one-sided operations and the
 * program's own, deaths, revocation; functions that call MPI; functions that are polled.
 * Their oracle: each function runs once, with its data and its status there, in no handler,
 * without the lock, never inside other code of the program that its thread runs, and where its
 * flags say. */
#include <stdlib.h>

#include "base/lock.h"
#include "progress/progress.h"
#include "ulfm.h"

enum { JOBS = 24, DEPTH = 2, CELLS = 64, TAG = 500, MOST = 3 };

/* Of one rank. */
static struct place {
    int rank, size, threads, open, over;
    int inside[SIM_THREADS]; /* code of the program that the library runs */
    MPI_Request any, polled; /* run anywhere; in tests of it, MOST each */
    int in_test, in_one;     /* of `polled`, and so many have run in this one */
    int attached, ran, polls;
    MPI_Win win;
    long *mem;
} places[SIM_RANKS];

static struct place *here(void)
{
    return &places[sim_rank()];
}

struct task {
    struct place *at;
    int runs, depth, polled, n, expects; /* expects: a tag, or -1: no status */
    MPI_Request persistent;
    MPI_Status st[2];
    long in, out, want;
};

static void enters(void)
{
    struct place *p = here();
    SIM_CHECK(!p->inside[sim_thread()]++);
    SIM_CHECK(!lock_mine(&proc->lock));
    SIM_CHECK(p->threads > 1 || !progress_is_polling());
}

static void leaves(void)
{
    here()->inside[sim_thread()]--;
}

static int no_query(void *x, MPI_Status *st)
{
    MPI_Status_set_elements(st, MPI_BYTE, 0);
    MPI_Status_set_cancelled(st, 0);
    st->MPI_SOURCE = sim_rank();
    st->MPI_TAG = TAG + 1;
    return MPI_SUCCESS;
}
static int no_free(void *x) { return MPI_SUCCESS; }
static int no_cancel(void *x, int done) { return MPI_SUCCESS; }

static void begin_job(int depth);

/* What a function calls. */
static void calls_more(struct task *j)
{
    MPI_Request r[2], *own = j->polled ? &j->at->polled : &j->at->any;
    long v = 5, w = 0;
    int flag;
    switch (sim_random() % 5) {
    case 0: turn(); break;
    case 1:
        OK(MPI_Irecv(&w, 1, MPI_LONG, j->at->rank, TAG + 2 + sim_thread(), MPI_COMM_WORLD, &r[0]));
        OK(MPI_Isend(&v, 1, MPI_LONG, j->at->rank, TAG + 2 + sim_thread(), MPI_COMM_WORLD, &r[1]));
        OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
        SIM_CHECK(w == 5);
        break;
    case 2: /* its own is not complete before it returns */
        OK(MPI_Test(own, &flag, MPI_STATUS_IGNORE));
        SIM_CHECK(!flag);
        break;
    case 3: ERR(MPI_ERR_REQUEST, MPI_Wait(own, MPI_STATUS_IGNORE)); break;
    default: break;
    }
    for (int i = (int)(sim_random() % 3); j->depth < DEPTH && i > 0; i--)
        begin_job(j->depth + 1);
}

static int runs_once(int error, void *data)
{
    struct task *j = data;
    enters();
    SIM_CHECK(error == MPI_SUCCESS && j->at == here() && !j->runs++);
    SIM_CHECK(j->in == j->want);
    if (j->expects >= 0)
        SIM_CHECK(j->st[0].MPI_TAG == j->expects && j->st[0].MPI_SOURCE == j->at->rank &&
                  j->st[0].MPI_ERROR == MPI_SUCCESS);
    if (j->polled && j->at->threads == 1)
        SIM_CHECK(j->at->in_test && ++j->at->in_one <= MOST);
    if (j->persistent != MPI_REQUEST_NULL)
        OK(MPI_Request_free(&j->persistent)); /* inactive */
    calls_more(j);
    j->at->ran++;
    leaves();
    free(j);
    return MPI_SUCCESS;
}

/* The operation of a job. How many requests. */
static int begin_op(struct task *j, MPI_Request *r, MPI_Request *finish)
{
    int to = (int)(sim_random() % (unsigned)j->at->size), self = j->at->rank, tag;
    int cell = (int)(sim_random() % CELLS);
    static const long one = 1;
    j->expects = -1;
    tag = (int)(sim_random() % 8);
    switch (sim_random() % 8) {
    case 0: /* both halves; messages with one tag are alike */
    case 1:
        j->out = j->want = 100 + tag;
        OK(MPI_Irecv(&j->in, 1, MPI_LONG, self, tag, MPI_COMM_WORLD, &r[0]));
        OK((sim_random() % 2 ? MPI_Isend : MPI_Issend)(&j->out, 1, MPI_LONG, self, tag,
                                                       MPI_COMM_WORLD, &r[1]));
        j->expects = tag;
        return 2;
    case 2:
        j->want = j->in = 0;
        OK(MPIX_Rfetch_and_op(&one, &j->out, MPI_LONG, to, 0, MPI_SUM, j->at->win, &r[0]));
        return 1;
    case 3: /* no process writes there */
        j->want = 1000 * to + 1 + cell % (CELLS - 1);
        OK(MPI_Rget(&j->in, 1, MPI_LONG, to, 1 + cell % (CELLS - 1), 1, MPI_LONG, j->at->win,
                    &r[0]));
        OK(MPI_Rget(&j->out, 1, MPI_LONG, self, 1, 1, MPI_LONG, j->at->win, &r[1]));
        return 2;
    case 4:
        OK(MPI_Grequest_start(no_query, no_free, no_cancel, NULL, &r[0]));
        *finish = r[0];
        j->expects = TAG + 1;
        return 1;
    case 5:
        OK(MPI_Recv_init(&j->in, 1, MPI_LONG, self, tag, MPI_COMM_WORLD, &r[0]));
        OK(MPI_Start(&r[0]));
        j->persistent = r[0];
        j->want = j->out = 100 + tag;
        OK(MPI_Send(&j->out, 1, MPI_LONG, self, tag, MPI_COMM_WORLD));
        j->expects = tag;
        return 1;
    case 6: /* one receive; it may be complete when it is attached */
        j->out = j->want = 100 + tag;
        OK(MPI_Send(&j->out, 1, MPI_LONG, self, tag, MPI_COMM_WORLD));
        OK(MPI_Irecv(&j->in, 1, MPI_LONG, self, tag, MPI_COMM_WORLD, &r[0]));
        j->expects = tag;
        return 1;
    default: /* null */
        return 1 + (int)(sim_random() % 2);
    }
}

static void begin_job(int depth)
{
    static const int flags[] = {0, MPIX_CONT_DEFER_COMPLETE, MPIX_CONT_INVOKE_FAILED,
                                MPIX_CONT_REQBUF_VOLATILE | MPIX_CONT_POLL_ONLY};
    struct task *j = calloc(1, sizeof *j);
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, finish = MPI_REQUEST_NULL;
    j->at = here();
    j->at->attached++;
    j->depth = depth;
    j->persistent = MPI_REQUEST_NULL;
    /* `polled` is tested by the program's first thread, which would not see the newer ones */
    j->polled = depth == 0 && !sim_thread() && sim_random() % 3 == 0;
    int kept, flag = flags[sim_random() % (j->polled ? 4 : 3)];
    int n = begin_op(j, r, &finish);
    kept = j->persistent != MPI_REQUEST_NULL;
    int statuses = j->expects >= 0;
    MPI_Request with = j->polled ? j->at->polled : j->at->any;
    if (n == 1)
        OK(MPIX_Continue(&r[0], runs_once, j, flag, statuses ? j->st : MPI_STATUS_IGNORE, with));
    else
        OK(MPIX_Continueall(n, r, runs_once, j, flag, statuses ? j->st : MPI_STATUSES_IGNORE,
                            with)); /* j may be free now */
    SIM_CHECK((r[0] == MPI_REQUEST_NULL) == !kept && r[1] == MPI_REQUEST_NULL);
    if (finish != MPI_REQUEST_NULL)
        OK(MPI_Grequest_complete(finish));
}

static void on_error(MPI_Comm *c, int *code, ...)
{
    int flag;
    here()->inside[sim_thread()]++; /* perhaps in a function, which has made the wrong call */
    OK(MPI_Iprobe(MPI_ANY_SOURCE, 98, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    leaves();
}

/* A function that is polled, and lives for some turns. */
static int polls(MPIX_Async_thing thing)
{
    int *left = MPIX_Async_get_state(thing), flag;
    enters();
    here()->polls++;
    OK(MPI_Iprobe(MPI_ANY_SOURCE, 98, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    if (*left == 1 && sim_random() % 2)
        begin_job(DEPTH);
    leaves();
    if (--*left > 0)
        return MPIX_ASYNC_NOPROGRESS;
    free(left);
    return MPIX_ASYNC_DONE;
}

static int start_polls(void)
{
    int *left = malloc(sizeof *left), n = 1 + (int)(sim_random() % 6);
    *left = n;
    OK(MPIX_Async_start(polls, left, MPIX_STREAM_NULL));
    return n;
}

/* Calls that may run functions, in between. */
static void some_call(struct place *p)
{
    int flag, tag = TAG + 20 + sim_thread();
    long v = 1, w = 0;
    MPI_Request r;
    switch (sim_random() % 6) {
    case 0: turn(); break;
    case 1: ERR(MPI_ERR_COUNT, MPI_Send(&v, -1, MPI_LONG, 0, 0, MPI_COMM_SELF)); break;
    case 2:
        OK(MPI_Irecv(&w, 1, MPI_LONG, p->rank, tag, MPI_COMM_WORLD, &r));
        OK(MPI_Send(&v, 1, MPI_LONG, p->rank, tag, MPI_COMM_WORLD));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        break;
    case 3: OK(MPI_Win_flush_all(p->win)); break;
    case 4:
        if (sim_thread())
            break;
        p->in_test = 1;
        p->in_one = 0;
        OK(MPI_Test(&p->polled, &flag, MPI_STATUS_IGNORE));
        if (flag)
            OK(MPI_Start(&p->polled));
        p->in_test = 0;
        break;
    default: break;
    }
}

static void work(struct place *p)
{
    for (int i = 0; i < JOBS; i++) {
        begin_job(0);
        some_call(p);
    }
}

static void random_program(void *arg)
{
    struct place *p = here();
    MPI_Errhandler h;
    int polled, flag, want = 0;
    (void)arg;
    memset(p, 0, sizeof *p);
    MPI_Comm_rank(MPI_COMM_WORLD, &p->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p->size);
    MPI_Query_thread(&polled);
    p->threads = polled == MPI_THREAD_MULTIPLE ? 2 : 1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_create_errhandler(on_error, &h);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, h);
    OK(MPI_Errhandler_free(&h));
    OK(MPI_Win_allocate(CELLS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &p->mem,
                        &p->win));
    for (int i = 0; i < CELLS; i++)
        p->mem[i] = i ? 1000 * p->rank + i : 0;
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_lock_all(0, p->win));
    OK(MPIX_Continue_init(0, 0, MPI_INFO_NULL, &p->any));
    OK(MPIX_Continue_init(MPIX_CONT_POLL_ONLY, MOST, MPI_INFO_NULL, &p->polled));
    OK(MPI_Start(&p->any));
    OK(MPI_Start(&p->polled));
    p->open = 1;
    for (int i = (int)(sim_seed() % 4); i > 0; i--)
        want += start_polls();
    work(p);
    while (p->over < p->threads - 1 || p->polls < want)
        turn();
    do {
        p->in_test = 1;
        p->in_one = 0;
        OK(MPI_Test(&p->polled, &flag, MPI_STATUS_IGNORE));
        p->in_test = 0;
    } while (!flag);
    OK(MPI_Wait(&p->any, MPI_STATUS_IGNORE));
    SIM_CHECK(p->ran == p->attached);
    OK(MPI_Request_free(&p->any));
    OK(MPI_Request_free(&p->polled));
    OK(MPI_Win_unlock_all(p->win));
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(p->ran == p->attached && p->polls == want);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    OK(MPI_Win_free(&p->win));
}

static void random_thread(int thread, void *arg)
{
    struct place *p = here();
    (void)thread, (void)arg;
    while (!p->open)
        sim_compute(1);
    work(p);
    p->over++;
}

/* --- failures ------------------------------------------------------------------------------ */

static struct {
    int known;
} seen;

struct outcome {
    int runs, class;
};

static int notes(int error, void *data)
{
    struct outcome *o = data;
    enters();
    o->runs++;
    o->class = class_of(error);
    leaves();
    return MPI_SUCCESS;
}

static void start_over(int *rank, int *size, MPI_Request *c)
{
    scene_of(rank, size, &seen, sizeof seen);
    memset(here(), 0, sizeof *here());
    OK(MPIX_Continue_init(0, 0, MPI_INFO_NULL, c));
    OK(MPI_Start(c));
}

/* The last rank dies. A receive from it ends with an error. One from any rank waits on, be it
 * posted and attached before the death is known or after, and gets what a living one sends. */
static void dies(void *arg)
{
    int rank, size, v[3] = {0, 0, 0}, one = 1;
    struct outcome o[3] = {{0, -1}, {0, -1}, {0, -1}};
    MPI_Request c, r[3];
    MPI_Group g = MPI_GROUP_EMPTY;
    (void)arg;
    start_over(&rank, &size, &c);
    int last = size - 1, left = (rank + last - 1) % last, right = (rank + 1) % last, n = 0;
    if (rank == last)
        sim_die();
    OK(MPI_Irecv(&v[0], 1, MPI_INT, last, 1, MPI_COMM_WORLD, &r[0]));
    OK(MPIX_Continue(&r[0], notes, &o[0], MPIX_CONT_INVOKE_FAILED, MPI_STATUS_IGNORE, c));
    int err = class_of(MPI_Irecv(&v[1], 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &r[1]));
    SIM_CHECK(err == MPI_SUCCESS);
    if (sim_seed() % 2)
        OK(MPIX_Continue(&r[1], notes, &o[1], 0, MPI_STATUS_IGNORE, c));
    while (!o[0].runs)
        turn();
    SIM_CHECK(o[0].class == MPIX_ERR_PROC_FAILED);
    while (!n) {
        OK(MPIX_Comm_get_failed(MPI_COMM_WORLD, &g));
        MPI_Group_size(g, &n);
        OK(MPI_Group_free(&g));
    }
    if (sim_seed() % 2 == 0)
        OK(MPIX_Continue(&r[1], notes, &o[1], 0, MPI_STATUS_IGNORE, c));
    for (int i = 0; i < 20; i++)
        turn();
    SIM_CHECK(!o[1].runs);
    /* the receiver has come so far */
    OK(MPI_Send(&one, 1, MPI_INT, left, 3, MPI_COMM_WORLD));
    OK(MPI_Recv(&v[2], 1, MPI_INT, right, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Send(&one, 1, MPI_INT, right, 2, MPI_COMM_WORLD));
    OK(MPI_Wait(&c, MPI_STATUS_IGNORE));
    SIM_CHECK(o[0].runs == 1 && o[1].runs == 1 && o[1].class == MPI_SUCCESS && v[1] == 1);
    OK(MPI_Request_free(&c));
}

/* One revokes. With the flag the function gets the error, otherwise the wait does. */
static void revoked(void *arg)
{
    int rank, size, v[2], flags = sim_seed() % 2 ? MPIX_CONT_INVOKE_FAILED : 0;
    struct outcome o = {0, -1};
    MPI_Request c, r[2];
    (void)arg;
    start_over(&rank, &size, &c);
    MPI_Comm d = copy_of(MPI_COMM_WORLD);
    OK(MPI_Irecv(&v[0], 1, MPI_INT, (rank + 1) % size, 1, d, &r[0]));
    OK(MPI_Irecv(&v[1], 1, MPI_INT, MPI_ANY_SOURCE, 2, d, &r[1]));
    OK(MPIX_Continueall(2, r, notes, &o, flags, MPI_STATUSES_IGNORE, c));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == (int)(sim_seed() / 2 % (unsigned)size))
        OK(MPIX_Comm_revoke(d));
    ERR(flags ? MPI_SUCCESS : MPIX_ERR_REVOKED, MPI_Wait(&c, MPI_STATUS_IGNORE));
    SIM_CHECK(o.runs == (flags != 0) && (!flags || o.class == MPIX_ERR_REVOKED));
    OK(MPI_Request_free(&c));
    OK(MPI_Comm_free(&d));
}

/* Attaches a function to a message that is complete. Returns how often it has run. */
static int attach_complete(MPI_Request c, int flags, struct outcome *o)
{
    int one = 1, rank, flag = 0;
    static MPI_Status st; /* written when the function runs, perhaps later */
    MPI_Request r;
    st.MPI_TAG = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    OK(MPI_Irecv(&one, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &r));
    OK(MPI_Send(&one, 1, MPI_INT, rank, 9, MPI_COMM_WORLD));
    while (!flag)
        OK(MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE));
    *o = (struct outcome){0, -1};
    OK(MPIX_Continue(&r, notes, o, flags, &st, c));
    SIM_CHECK(r == MPI_REQUEST_NULL && (!o->runs || st.MPI_TAG == 9));
    return o->runs;
}

/* What is complete runs in the call that attaches it, unless it is to wait. */
static void complete_before(void *arg)
{
    static const int waits[] = {MPIX_CONT_POLL_ONLY, MPIX_CONT_DEFER_COMPLETE};
    int rank, size;
    MPI_Request c, later;
    struct outcome o, kept;
    (void)arg;
    start_over(&rank, &size, &c);
    OK(MPIX_Continue_init(0, 0, MPI_INFO_NULL, &later));
    for (int times = 0; times < 3; times++) {
        SIM_CHECK(attach_complete(c, 0, &o) == 1 && o.class == MPI_SUCCESS);
        for (int i = 0; i < 2; i++) {
            SIM_CHECK(!attach_complete(c, waits[i], &kept));
            OK(MPI_Wait(&c, MPI_STATUS_IGNORE));
            SIM_CHECK(kept.runs == 1);
            OK(MPI_Start(&c));
        }
    }
    SIM_CHECK(!attach_complete(later, 0, &o) && !attach_complete(later, 0, &kept));
    OK(MPI_Start(&later));
    OK(MPI_Wait(&later, MPI_STATUS_IGNORE));
    SIM_CHECK(o.runs == 1 && kept.runs == 1);
    OK(MPI_Request_free(&c));
    OK(MPI_Request_free(&later));
}

const struct scenario scenarios_continue[] = {
    {"cont-complete", 1, 1, complete_before, NULL, NULL},
    {"cont-random-1", 1, 1, random_program, NULL, NULL},
    {"cont-random-3", 3, 1, random_program, NULL, NULL},
    {"cont-random-far", 2, 1, random_program, NULL, far_and_poor},
    {"cont-random-threads", 2, 2, random_program, random_thread, NULL},
    {"cont-dies-3", 3, 1, dies, NULL, mortal},
    {"cont-dies-5", 5, 1, dies, NULL, mortal},
    {"cont-revoked-3", 3, 1, revoked, NULL, NULL},
    {NULL, 0, 0, NULL, NULL, NULL},
};
