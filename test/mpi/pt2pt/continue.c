/* continue.c - MPIX_Continue: functions that run when requests are complete. Each kind of request,
 * flags, errors, and what a function may call. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <unistd.h>

#include "../mt.h"

static int ran, last_error;

static int count(int error, void *data)
{
    ran++;
    last_error = error;
    if (data)
        ++*(int *)data;
    return MPI_SUCCESS;
}

static MPI_Request made(int flags, int max_poll)
{
    MPI_Request c = MPI_REQUEST_NULL;

    CHECK_EQ(MPIX_Continue_init(flags, max_poll, MPI_INFO_NULL, &c), MPI_SUCCESS);
    CHECK_EQ(MPI_Start(&c), MPI_SUCCESS);
    ran = last_error = 0;
    return c;
}

static int is_over(MPI_Request *c)
{
    int flag;

    MPI_Test(c, &flag, MPI_STATUS_IGNORE);
    return flag;
}

/* Statuses are there when the function runs; handles are null at once. */
static void messages(void)
{
    MPI_Request c = made(0, 0), r[3];
    MPI_Status st[3];
    int v[3] = {0, 0, 0}, i, n = 0;

    for (i = 0; i < 3; i++) {
        st[i].MPI_TAG = -7;
        MPI_Irecv(&v[i], 1, MPI_INT, mt_rank, 20 + i, MPI_COMM_WORLD, &r[i]);
    }
    MPIX_Continue(&r[0], count, &n, 0, &st[0], c);
    CHECK(r[0] == MPI_REQUEST_NULL && ran == 0);
    MPIX_Continueall(2, &r[1], count, &n, 0, &st[1], c);
    CHECK(r[1] == MPI_REQUEST_NULL && r[2] == MPI_REQUEST_NULL);
    CHECK(!is_over(&c) && !MPIX_Request_is_complete(c));
    for (i = 2; i >= 0; i--)
        MPI_Send(&i, 1, MPI_INT, mt_rank, 20 + i, MPI_COMM_WORLD);
    MPI_Wait(&c, MPI_STATUS_IGNORE);
    CHECK(ran == 2 && n == 2);
    for (i = 0; i < 3; i++)
        CHECK(v[i] == i && st[i].MPI_TAG == 20 + i && st[i].MPI_SOURCE == mt_rank &&
              st[i].MPI_ERROR == MPI_SUCCESS);
    CHECK(is_over(&c)); /* inactive */
    MPI_Request_free(&c);
    CHECK(c == MPI_REQUEST_NULL);
}

static int see_status(int error, void *data)
{
    const MPI_Status *st = data;

    CHECK(error == MPI_SUCCESS && st->MPI_TAG == 31);
    return count(error, NULL);
}

/* Between processes; the receiver is in another wait meanwhile. */
static void far_messages(void)
{
    MPI_Request c = made(0, 0), r;
    MPI_Status st;
    int to = (mt_rank + 1) % mt_size, from = (mt_rank + mt_size - 1) % mt_size, v = -1, w = mt_rank;

    st.MPI_TAG = 0;
    MPI_Irecv(&v, 1, MPI_INT, from, 31, MPI_COMM_WORLD, &r);
    MPIX_Continue(&r, see_status, &st, 0, &st, c);
    MPI_Send(&w, 1, MPI_INT, to, 31, MPI_COMM_WORLD);
    MPI_Waitall(1, &c, MPI_STATUSES_IGNORE);
    CHECK(ran == 1 && v == from);
    MPI_Request_free(&c);
}

static int query(void *x, MPI_Status *st)
{
    ++*(int *)x;
    MPI_Status_set_elements(st, MPI_INT, 3);
    MPI_Status_set_cancelled(st, 0);
    st->MPI_SOURCE = 11;
    st->MPI_TAG = 12;
    return MPI_SUCCESS;
}

static int freed(void *x)
{
    *(int *)x += 10;
    return MPI_SUCCESS;
}

static int cancelled(void *x, int complete)
{
    (void)x, (void)complete;
    return MPI_SUCCESS;
}

static void kinds(void)
{
    enum { GENERAL = 300 };
    static MPI_Request general[GENERAL], copy[GENERAL];
    MPI_Request c = made(0, 0), r = MPI_REQUEST_NULL, p;
    MPI_Status st;
    int v = 0, one = 1, sum = 0, states[GENERAL] = {0}, i, n = 0;

    /* null */
    MPIX_Continue(&r, count, NULL, 0, &st, c);
    CHECK(ran == 1 && st.MPI_SOURCE == MPI_ANY_SOURCE && is_over(&c));
    MPI_Start(&c);
    MPIX_Continueall(0, NULL, count, NULL, 0, MPI_STATUSES_IGNORE, c);
    CHECK(ran == 2);
    /* persistent: the handle stays, inactive when the function runs */
    MPI_Recv_init(&v, 1, MPI_INT, mt_rank, 41, MPI_COMM_WORLD, &p);
    for (i = 0; i < 3; i++) {
        MPI_Start(&p);
        MPIX_Continue(&p, count, NULL, 0, &st, c);
        CHECK(p != MPI_REQUEST_NULL);
        MPI_Send(&one, 1, MPI_INT, mt_rank, 41, MPI_COMM_WORLD);
        MPI_Wait(&c, MPI_STATUS_IGNORE);
        CHECK(ran == 3 + i && st.MPI_TAG == 41);
        MPI_Start(&c);
    }
    MPIX_Continue(&p, count, NULL, 0, &st, c); /* inactive */
    CHECK(ran == 6 && st.MPI_TAG == MPI_ANY_TAG);
    MPI_Start(&p);
    MPIX_Continue(&p, count, NULL, 0, &st, c);
    MPI_Cancel(&p);
    MPI_Wait(&c, MPI_STATUS_IGNORE);
    MPI_Test_cancelled(&st, &i);
    CHECK(ran == 7 && i);
    MPI_Start(&c);
    MPI_Request_free(&p);
    /* collectives */
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
    MPIX_Continue(&r, count, NULL, 0, MPI_STATUS_IGNORE, c);
    MPI_Ibarrier(MPI_COMM_WORLD, &r);
    MPIX_Continue(&r, count, NULL, 0, MPI_STATUS_IGNORE, c);
    MPI_Wait(&c, MPI_STATUS_IGNORE);
    CHECK(ran == 9 && sum == mt_size);
    MPI_Start(&c);
    /* generalized; their query functions call MPI */
    for (i = 0; i < GENERAL; i++) {
        MPI_Grequest_start(query, freed, cancelled, &states[i], &general[i]);
        copy[i] = general[i];
    }
    for (i = 0; i < GENERAL; i++)
        MPIX_Continue(&general[i], count, NULL, MPIX_CONT_DEFER_COMPLETE, &st, c);
    for (i = 0; i < GENERAL; i++)
        MPI_Grequest_complete(copy[i]);
    MPI_Wait(&c, MPI_STATUS_IGNORE);
    for (i = 0; i < GENERAL; i++)
        n += states[i] == 11;
    CHECK(ran == 9 + GENERAL && n == GENERAL && st.MPI_SOURCE == 11 && st.MPI_TAG == 12);
    MPI_Request_free(&c);
}

static void more_kinds(void)
{
    MPI_Request c = made(0, 0), r, s;
    MPI_Status st;
    MPI_File f;
    MPI_Win w;
    char name[64];
    int v = 0, one = 1, i;
    int64_t *base, a = 5, b = 0;

    /* one-sided */
    MPI_Win_allocate(sizeof *base, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w);
    *base = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, w);
    ran = 0;
    for (i = 0; i < mt_size; i++) {
        MPIX_Rfetch_and_op(&a, &b, MPI_INT64_T, i, 0, MPI_SUM, w, &r);
        MPIX_Continue(&r, count, NULL, 0, &st, c);
        CHECK(r == MPI_REQUEST_NULL);
        MPI_Rget(&b, 8, MPI_BYTE, i, 0, 8, MPI_BYTE, w, &r);
        MPIX_Continue(&r, count, NULL, 0, MPI_STATUS_IGNORE, c);
    }
    MPI_Wait(&c, MPI_STATUS_IGNORE);
    CHECK(ran == 2 * mt_size && b >= 5 && b <= 5 * mt_size);
    MPI_Win_unlock_all(w);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(*base, 5 * mt_size);
    MPI_Win_free(&w);
    MPI_Start(&c);
    /* files */
    snprintf(name, sizeof name, "continue.%d.%d", mt_rank, mt_size);
    if (MPI_File_open(MPI_COMM_SELF, name,
                      MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                      &f) == MPI_SUCCESS) {
        ran = 0;
        MPI_File_iwrite_at(f, 0, &a, 8, MPI_BYTE, &r);
        MPIX_Continue(&r, count, NULL, 0, &st, c);
        MPI_Wait(&c, MPI_STATUS_IGNORE);
        MPI_Get_count(&st, MPI_BYTE, &i);
        CHECK(ran == 1 && i == 8);
        MPI_File_close(&f);
        MPI_Start(&c);
    }
    /* a continuation request */
    s = made(0, 0);
    MPI_Irecv(&v, 1, MPI_INT, mt_rank, 42, MPI_COMM_WORLD, &r);
    MPIX_Continue(&r, count, NULL, 0, MPI_STATUS_IGNORE, s);
    MPIX_Continue(&s, count, NULL, 0, MPI_STATUS_IGNORE, c);
    CHECK(ran == 0 && s != MPI_REQUEST_NULL);
    MPI_Send(&one, 1, MPI_INT, mt_rank, 42, MPI_COMM_WORLD);
    MPI_Wait(&c, MPI_STATUS_IGNORE);
    CHECK(ran == 2);
    MPI_Request_free(&s);
    MPI_Request_free(&c);
}

/* Where functions run: not before the start, not elsewhere, not too many, not at once. */
static void places(void)
{
    MPI_Request c = made(MPIX_CONT_POLL_ONLY, 0), r = MPI_REQUEST_NULL, other;
    MPI_Info info;
    int i, flag;

    for (i = 0; i < 5; i++)
        MPIX_Continue(&r, count, NULL, 0, MPI_STATUS_IGNORE, c);
    for (i = 0; i < 200; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(ran, 0);
    MPI_Ibarrier(MPI_COMM_SELF, &other);
    MPI_Wait(&other, MPI_STATUS_IGNORE);
    CHECK_EQ(ran, 0);
    CHECK(is_over(&c) && ran == 5);
    MPI_Request_free(&c);

    c = made(0, 2); /* two a test */
    for (i = 0; i < 5; i++)
        MPIX_Continue(&r, count, NULL, 0, MPI_STATUS_IGNORE, c);
    CHECK(!is_over(&c) && ran == 2);
    CHECK(!is_over(&c) && ran == 4);
    CHECK(is_over(&c) && ran == 5);
    MPI_Start(&c);
    for (i = 0; i < 5; i++)
        MPIX_Continue(&r, count, NULL, 0, MPI_STATUS_IGNORE, c);
    MPI_Wait(&c, MPI_STATUS_IGNORE);
    CHECK_EQ(ran, 10);
    MPI_Request_free(&c);

    c = made(0, 0);
    MPIX_Continue(&r, count, NULL, 0, MPI_STATUS_IGNORE, c);
    CHECK_EQ(ran, 1); /* at once */
    MPIX_Continue(&r, count, NULL, MPIX_CONT_DEFER_COMPLETE, MPI_STATUS_IGNORE, c);
    CHECK_EQ(ran, 1);
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE); /* any call */
    CHECK_EQ(ran, 2);
    MPIX_Continue(&r, count, NULL, MPIX_CONT_POLL_ONLY, MPI_STATUS_IGNORE, c);
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(ran, 2);
    CHECK(is_over(&c) && ran == 3);
    /* inactive now: they wait for the start */
    MPIX_Continue(&r, count, NULL, 0, MPI_STATUS_IGNORE, c);
    MPIX_Continue(&r, count, NULL, 0, MPI_STATUS_IGNORE, c);
    CHECK(is_over(&c) && ran == 3);
    MPI_Start(&c);
    MPI_Wait(&c, MPI_STATUS_IGNORE);
    CHECK_EQ(ran, 5);
    /* freed: what is registered runs, started or not, and of poll-only ones, too */
    MPIX_Continue(&r, count, NULL, MPIX_CONT_POLL_ONLY, MPI_STATUS_IGNORE, c);
    MPIX_Continue(&r, count, NULL, 0, MPI_STATUS_IGNORE, c);
    MPI_Request_free(&c);
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(ran, 7);

    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_continue_poll_only", "true");
    MPI_Info_set(info, "mpi_continue_enqueue_complete", "true");
    MPI_Info_set(info, "mpi_continue_max_poll", "1");
    MPI_Info_set(info, "mpi_continue_thread", "application");
    MPIX_Continue_init(0, 0, info, &c);
    MPI_Start(&c);
    ran = 0;
    MPIX_Continue(&r, count, NULL, 0, MPI_STATUS_IGNORE, c);
    MPIX_Continue(&r, count, NULL, 0, MPI_STATUS_IGNORE, c);
    CHECK(!is_over(&c) && ran == 1);
    MPI_Wait(&c, MPI_STATUS_IGNORE);
    CHECK_EQ(ran, 2);
    MPI_Request_free(&c);
    MPI_Info_set(info, "mpi_continue_max_poll", "0");
    MPI_Info_set(info, "mpi_continue_poll_only", "false");
    MPIX_Continue_init(0, 0, info, &c);
    MPI_Start(&c);
    ran = 0;
    MPIX_Continue(&r, count, NULL, 0, MPI_STATUS_IGNORE, c);
    CHECK_EQ(ran, 0);
    CHECK(is_over(&c) && ran == 1);
    MPI_Request_free(&c);
    MPI_Info_free(&info);
}

static MPI_Request chain;
static int inside, nested, left;

/* Each attaches the next one to what is complete, and two more: none runs inside another. */
static int go_on(int error, void *data)
{
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, keep = chain;
    int flag, v = 3, w = 0;

    (void)data;
    nested += inside++ > 0;
    CHECK_EQ(error, MPI_SUCCESS);
    if (left-- > 0) {
        MPIX_Continue(&r[0], go_on, NULL, 0, MPI_STATUS_IGNORE, chain);
        MPI_Test(&chain, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
        MPI_Irecv(&w, 1, MPI_INT, mt_rank, 51, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(&v, 1, MPI_INT, mt_rank, 51, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        CHECK_EQ(w, 3);
    }
    CHECK_EQ(mt_class(MPI_Wait(&chain, MPI_STATUS_IGNORE)), MPI_ERR_REQUEST);
    CHECK_EQ(mt_class(MPI_Waitall(1, &chain, MPI_STATUSES_IGNORE)), MPI_ERR_REQUEST);
    CHECK(chain == keep);
    inside--;
    ran++;
    return MPI_SUCCESS;
}

static void nesting(void)
{
    MPI_Request r = MPI_REQUEST_NULL;

    chain = made(0, 0);
    left = 20000;
    MPIX_Continue(&r, go_on, NULL, 0, MPI_STATUS_IGNORE, chain);
    MPI_Wait(&chain, MPI_STATUS_IGNORE);
    CHECK(ran == 20001 && !nested && !inside);
    MPI_Request_free(&chain);
}

static int give_error(int error, void *data)
{
    (void)data;
    count(error, NULL);
    return MPI_ERR_KEYVAL;
}

static void failures(void)
{
    MPI_Request c = made(0, 0), r[2], p;
    MPI_Status st[2];
    int v[2], w[3] = {1, 2, 3};

    /* too long a message: the function runs with the error only if it was asked for */
    MPI_Irecv(v, 1, MPI_INT, mt_rank, 61, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(v, 1, MPI_INT, mt_rank, 62, MPI_COMM_WORLD, &r[1]);
    MPIX_Continueall(2, r, count, NULL, MPIX_CONT_INVOKE_FAILED, st, c);
    MPI_Send(w, 3, MPI_INT, mt_rank, 61, MPI_COMM_WORLD);
    MPI_Send(w, 1, MPI_INT, mt_rank, 62, MPI_COMM_WORLD);
    CHECK_EQ(MPI_Wait(&c, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(ran == 1 && mt_class(last_error) == MPI_ERR_TRUNCATE);
    CHECK(mt_class(st[0].MPI_ERROR) == MPI_ERR_TRUNCATE && st[1].MPI_ERROR == MPI_SUCCESS);
    MPI_Start(&c);
    MPI_Irecv(v, 1, MPI_INT, mt_rank, 61, MPI_COMM_WORLD, &r[0]);
    MPIX_Continue(&r[0], count, NULL, 0, &st[0], c);
    MPI_Send(w, 3, MPI_INT, mt_rank, 61, MPI_COMM_WORLD);
    CHECK_EQ(mt_class(MPI_Wait(&c, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
    CHECK(ran == 1 && mt_class(st[0].MPI_ERROR) == MPI_ERR_TRUNCATE);
    MPI_Start(&c);
    r[0] = MPI_REQUEST_NULL;
    MPIX_Continue(&r[0], give_error, NULL, MPIX_CONT_DEFER_COMPLETE, MPI_STATUS_IGNORE, c);
    CHECK_EQ(mt_class(MPI_Wait(&c, MPI_STATUS_IGNORE)), MPI_ERR_KEYVAL);
    CHECK_EQ(ran, 2);
    MPI_Start(&c);
    CHECK_EQ(MPI_Wait(&c, MPI_STATUS_IGNORE), MPI_SUCCESS); /* it is told once */
    MPI_Start(&c);

    /* arguments */
    CHECK_EQ(mt_class(MPIX_Continue_init(1 << 20, 0, MPI_INFO_NULL, &p)), MPI_ERR_ARG);
    CHECK_EQ(mt_class(MPIX_Continue_init(0, -3, MPI_INFO_NULL, &p)), MPI_ERR_ARG);
    CHECK_EQ(mt_class(MPIX_Continue_init(0, 0, MPI_INFO_NULL, NULL)), MPI_ERR_ARG);
    CHECK_EQ(mt_class(MPIX_Continue(r, NULL, NULL, 0, MPI_STATUS_IGNORE, c)), MPI_ERR_ARG);
    CHECK_EQ(mt_class(MPIX_Continue(NULL, count, NULL, 0, MPI_STATUS_IGNORE, c)), MPI_ERR_ARG);
    CHECK_EQ(mt_class(MPIX_Continue(r, count, NULL, 1 << 20, MPI_STATUS_IGNORE, c)), MPI_ERR_ARG);
    CHECK_EQ(mt_class(MPIX_Continueall(-1, r, count, NULL, 0, MPI_STATUSES_IGNORE, c)),
             MPI_ERR_COUNT);
    CHECK_EQ(mt_class(MPIX_Continue(&c, count, NULL, 0, MPI_STATUS_IGNORE, c)), MPI_ERR_REQUEST);
    CHECK_EQ(mt_class(MPIX_Continue(r, count, NULL, 0, MPI_STATUS_IGNORE, MPI_REQUEST_NULL)),
             MPI_ERR_REQUEST);
    CHECK_EQ(mt_class(MPI_Cancel(&c)), MPI_ERR_REQUEST);
    CHECK_EQ(mt_class(MPI_Start(&c)), MPI_ERR_REQUEST); /* active */
    MPI_Recv_init(v, 1, MPI_INT, mt_rank, 63, MPI_COMM_WORLD, &p);
    CHECK_EQ(mt_class(MPIX_Continue(r, count, NULL, 0, MPI_STATUS_IGNORE, p)), MPI_ERR_REQUEST);
    MPI_Start(&p);
    MPIX_Continue(&p, count, NULL, 0, MPI_STATUS_IGNORE, c);
    CHECK_EQ(mt_class(MPIX_Continue(&p, count, NULL, 0, MPI_STATUS_IGNORE, c)), MPI_ERR_REQUEST);
    CHECK_EQ(mt_class(MPI_Request_free(&p)), MPI_ERR_REQUEST);
    CHECK_EQ(mt_class(MPI_Start(&p)), MPI_ERR_REQUEST);
    /* a copy of a handle that is the library's */
    MPI_Irecv(v, 1, MPI_INT, mt_rank, 64, MPI_COMM_WORLD, &r[0]);
    r[1] = r[0];
    MPIX_Continue(&r[0], count, NULL, 0, MPI_STATUS_IGNORE, c);
    CHECK_EQ(mt_class(MPI_Request_free(&r[1])), MPI_ERR_REQUEST);
    /* the same handle twice is one request */
    ran = 0;
    MPI_Irecv(v, 1, MPI_INT, mt_rank, 65, MPI_COMM_WORLD, &r[0]);
    r[1] = r[0];
    MPIX_Continueall(2, r, count, NULL, 0, st, c);
    CHECK(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL);
    MPI_Send(w, 1, MPI_INT, mt_rank, 65, MPI_COMM_WORLD);
    MPI_Send(w, 1, MPI_INT, mt_rank, 64, MPI_COMM_WORLD);
    MPI_Send(w, 1, MPI_INT, mt_rank, 63, MPI_COMM_WORLD);
    CHECK_EQ(MPI_Wait(&c, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(ran == 3 && st[0].MPI_TAG == 65 && st[1].MPI_TAG == MPI_ANY_TAG);
    MPI_Request_free(&p);
    MPI_Request_free(&c);
}

/* Many at a time, in any order of completion. */
static void many(void)
{
    enum { MANY = 100000 };
    MPI_Request c = made(0, 0), r;
    int i, v = 0, n = 0;

    for (i = 0; i < MANY; i++) {
        MPI_Irecv(&v, 1, MPI_INT, mt_rank, 70 + i % 3, MPI_COMM_WORLD, &r);
        MPIX_Continue(&r, count, &n, 0, MPI_STATUS_IGNORE, c);
    }
    for (i = 0; i < MANY; i++)
        MPI_Send(&i, 1, MPI_INT, mt_rank, 70 + (MANY - 1 - i) % 3, MPI_COMM_WORLD);
    MPI_Wait(&c, MPI_STATUS_IGNORE);
    CHECK(n == MANY && ran == MANY);
    MPI_Request_free(&c);
}

static int answer(int error, void *data)
{
    (void)error;
    MPI_Send(data, 1, MPI_INT, mt_rank ^ 1, 82, MPI_COMM_WORLD);
    return MPI_SUCCESS;
}

/* Both are in a wait for what the other's function sends: a blocking receive, a probe, a wait. */
static void in_waits(void)
{
    MPI_Request c = made(0, 0), r;
    MPI_Status st;
    int turn, v = 0, w = 7, got, k;

    if ((mt_rank ^ 1) < mt_size)
        for (turn = 0; turn < 60; turn++) {
            got = 0;
            MPI_Irecv(&v, 1, MPI_INT, mt_rank ^ 1, 81, MPI_COMM_WORLD, &r);
            MPIX_Continue(&r, answer, &w, 0, MPI_STATUS_IGNORE, c);
            MPI_Send(&w, 1, MPI_INT, mt_rank ^ 1, 81, MPI_COMM_WORLD);
            if (turn % 4 == 0) {
                MPI_Recv(&got, 1, MPI_INT, mt_rank ^ 1, 82, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else if (turn % 4 == 1) {
                MPI_Probe(mt_rank ^ 1, 82, MPI_COMM_WORLD, &st);
                MPI_Recv(&got, 1, MPI_INT, mt_rank ^ 1, 82, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                MPI_Irecv(&got, 1, MPI_INT, mt_rank ^ 1, 82, MPI_COMM_WORLD, &r);
                if (turn % 4 == 2)
                    MPI_Wait(&r, MPI_STATUS_IGNORE);
                else
                    MPI_Waitany(1, &r, &k, MPI_STATUS_IGNORE);
            }
            CHECK_EQ(got, 7);
        }
    MPI_Wait(&c, MPI_STATUS_IGNORE);
    MPI_Request_free(&c);
}

/* A send that is complete and whose function is about to run is not cancelled any more. */
static void late_cancel(void)
{
    MPI_Request c = made(MPIX_CONT_POLL_ONLY, 0), r, copy, p;
    MPI_Status st;
    int to = (mt_rank + 1) % mt_size, from = (mt_rank + mt_size - 1) % mt_size;
    int v = mt_rank, w, turn, flag;

    MPI_Send_init(&v, 1, MPI_INT, to, 91, MPI_COMM_WORLD, &p);
    for (turn = 0; turn < 8; turn++) {
        ran = 0;
        if (turn % 2) {
            MPI_Start(&p);
            copy = p;
            MPIX_Continue(&p, count, NULL, 0, &st, c);
        } else {
            MPI_Isend(&v, 1, MPI_INT, to, 91, MPI_COMM_WORLD, &r);
            copy = r;
            MPIX_Continue(&r, count, NULL, 0, &st, c);
        }
        CHECK_EQ(MPI_Cancel(&copy), MPI_SUCCESS);
        w = -1;
        MPI_Recv(&w, 1, MPI_INT, from, 91, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(w, from);
        MPI_Wait(&c, MPI_STATUS_IGNORE);
        MPI_Test_cancelled(&st, &flag);
        CHECK(ran == 1 && !flag);
        MPI_Start(&c);
    }
    MPI_Request_free(&p);
    MPI_Request_free(&c);
}

static MPI_Request undone;
static int value[2], order;

static int runs_last(int error, void *data)
{
    CHECK(error == MPI_SUCCESS && value[0] == 5);
    *(int *)data = ++order;
    return MPI_SUCCESS;
}

static int sends(int error, void *data)
{
    int five = 5;

    MPI_Send(&five, 1, MPI_INT, mt_rank, *(int *)data, MPI_COMM_WORLD);
    return error;
}

/* In a wait that has seen `undone` complete: one more is attached to it, and the others' last
 * message is sent; the new one's comes later. */
static int attaches(int error, void *data)
{
    static int tags[] = {92, 93};
    MPI_Request r, none = MPI_REQUEST_NULL;

    value[0] = 0;
    MPI_Irecv(&value[0], 1, MPI_INT, mt_rank, tags[0], MPI_COMM_WORLD, &r);
    MPIX_Continue(&r, runs_last, data, 0, MPI_STATUS_IGNORE, undone);
    sends(MPI_SUCCESS, &tags[1]);
    MPIX_Continue(&none, sends, &tags[0], MPIX_CONT_DEFER_COMPLETE, MPI_STATUS_IGNORE, chain);
    return error;
}

static int attaches_later(int error, void *data)
{
    MPI_Request none = MPI_REQUEST_NULL;

    MPIX_Continue(&none, attaches, data, MPIX_CONT_DEFER_COMPLETE, MPI_STATUS_IGNORE, chain);
    return error;
}

static int notes(int error, void *data)
{
    *(int *)data = ++order;
    return error;
}

/* A continuation request that is complete, and then is not. */
static void taken_back(void)
{
    MPI_Request r[2], none = MPI_REQUEST_NULL, outer;
    int inner_at, outer_at, turn, flag, k;

    for (turn = 0; turn < 2; turn++) {
        order = inner_at = 0;
        undone = made(0, 0);
        chain = made(0, 0);
        MPIX_Continue(&none, attaches_later, &inner_at, MPIX_CONT_DEFER_COMPLETE,
                      MPI_STATUS_IGNORE, chain);
        MPI_Irecv(&value[1], 1, MPI_INT, mt_rank, 93, MPI_COMM_WORLD, &r[1 - turn]);
        r[turn] = undone;
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        CHECK_EQ(inner_at, 1);
        CHECK(is_over(&chain) && r[1 - turn] == MPI_REQUEST_NULL);
        MPI_Request_free(&chain);
        MPI_Request_free(&undone);
    }

    /* the operation of another function, which is to run already */
    order = inner_at = outer_at = k = 0;
    undone = made(0, 0);
    outer = made(MPIX_CONT_POLL_ONLY, 0);
    MPIX_Continue(&undone, notes, &outer_at, 0, MPI_STATUS_IGNORE, outer);
    MPI_Irecv(&value[0], 1, MPI_INT, mt_rank, 92, MPI_COMM_WORLD, &r[0]);
    MPIX_Continue(&r[0], runs_last, &inner_at, 0, MPI_STATUS_IGNORE, undone);
    CHECK(!is_over(&outer) && order == 0);
    k = 92;
    sends(MPI_SUCCESS, &k);
    MPI_Wait(&outer, MPI_STATUS_IGNORE);
    CHECK(inner_at == 1 && outer_at == 2);
    MPI_Request_free(&outer);
    MPI_Request_free(&undone);

    /* a test of one that takes another one back */
    order = 0;
    undone = made(0, 0);
    chain = made(0, 0);
    outer = made(MPIX_CONT_POLL_ONLY, 0);
    MPIX_Continue(&none, attaches, &inner_at, 0, MPI_STATUS_IGNORE, outer);
    MPI_Irecv(&value[1], 1, MPI_INT, mt_rank, 93, MPI_COMM_WORLD, &none);
    r[0] = undone;
    r[1] = outer;
    MPI_Testany(2, r, &k, &flag, MPI_STATUS_IGNORE);
    CHECK(flag && k == 1);
    MPI_Wait(&none, MPI_STATUS_IGNORE);
    MPI_Wait(&undone, MPI_STATUS_IGNORE);
    MPI_Wait(&chain, MPI_STATUS_IGNORE);
    CHECK_EQ(order, 1);
    MPI_Request_free(&outer);
    MPI_Request_free(&chain);
    MPI_Request_free(&undone);
}

static int in_program, stops;

/* There is always one that is to run. */
static int again(int error, void *data)
{
    MPI_Request none = MPI_REQUEST_NULL;

    CHECK_EQ(in_program, 0);
    ran++;
    if (!stops)
        MPIX_Continue(&none, again, data, MPIX_CONT_DEFER_COMPLETE, MPI_STATUS_IGNORE, chain);
    return error;
}

static void add(void *in, void *inout, int *n, MPI_Datatype *t)
{
    int i;

    in_program++;
    MPI_Type_size(*t, &i);
    CHECK_EQ(mt_class(MPI_Wait(&chain, MPI_STATUS_IGNORE)), MPI_ERR_REQUEST);
    for (i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
    in_program--;
}

static int copies(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    (void)key, (void)extra;
    in_program++;
    MPI_Comm_rank(c, flag);
    in_program--;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int deletes(MPI_Comm c, int key, void *value_, void *extra)
{
    int rank;

    (void)key, (void)value_, (void)extra;
    in_program++;
    MPI_Comm_rank(c, &rank);
    in_program--;
    return MPI_SUCCESS;
}

static int asks(void *x, MPI_Status *st)
{
    in_program++;
    query(x, st);
    in_program--;
    return MPI_SUCCESS;
}

/* None runs inside other code of the program, or in the library's own waits. */
static void not_in_calls(void)
{
    MPI_Request none = MPI_REQUEST_NULL, g;
    MPI_Op op;
    MPI_Comm dup, some;
    MPI_Group group;
    MPI_Win win;
    int key, a = 1, b = 2, state = 0;

    chain = made(0, 0);
    stops = 0;
    MPIX_Continue(&none, again, NULL, MPIX_CONT_DEFER_COMPLETE, MPI_STATUS_IGNORE, chain);
    MPI_Op_create(add, 1, &op);
    MPI_Reduce_local(&a, &b, 1, MPI_INT, op);
    CHECK_EQ(b, 3);
    MPI_Op_free(&op);
    MPI_Comm_create_keyval(copies, deletes, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &a);
    MPI_Comm_dup(MPI_COMM_SELF, &dup);
    MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    MPI_Comm_free(&dup);
    MPI_Comm_free_keyval(&key);
    MPI_Grequest_start(asks, freed, cancelled, &state, &g);
    MPI_Grequest_complete(g);
    MPI_Wait(&g, MPI_STATUS_IGNORE);
    CHECK_EQ(state, 11);

    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Barrier(MPI_COMM_WORLD);
    if (mt_rank == 0)
        usleep(30000);
    ran = 0;
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 95, &some);
    CHECK(ran <= 1); /* at the start of the call */
    MPI_Win_create(&a, sizeof a, 1, MPI_INFO_NULL, some, &win);
    ran = 0;
    MPI_Win_free(&win);
    CHECK(ran <= 1);
    MPI_Comm_free(&some);
    MPI_Group_free(&group);
    stops = 1;
    MPI_Wait(&chain, MPI_STATUS_IGNORE);
    MPI_Request_free(&chain);
}

static jmp_buf out;
static int jumps, handled;

static void on_error(MPI_Comm *c, int *code, ...)
{
    int i, flag;

    (void)code;
    handled++;
    in_program++;
    for (i = 0; i < 5; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, 99, *c, &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(mt_class(MPI_Wait(&chain, MPI_STATUS_IGNORE)), MPI_ERR_REQUEST);
    in_program--;
    if (jumps)
        longjmp(out, 1);
}

/* An error handler is the program's code, too. Some leave and do not return. */
static void not_in_handlers(void)
{
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Errhandler h;
    MPI_Comm dup;
    volatile int turn;
    int flag;

    MPI_Comm_dup(MPI_COMM_SELF, &dup);
    MPI_Comm_create_errhandler(on_error, &h);
    MPI_Comm_set_errhandler(dup, h);
    MPI_Errhandler_free(&h);
    chain = made(0, 0);
    stops = 0;
    MPIX_Continue(&none, again, NULL, MPIX_CONT_DEFER_COMPLETE, MPI_STATUS_IGNORE, chain);
    for (turn = 0; turn < 6; turn++) {
        jumps = turn % 2;
        if (!setjmp(out))
            MPI_Send(NULL, -1, MPI_INT, 0, 0, dup);
        ran = 0;
        MPI_Iprobe(mt_rank, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK_EQ(ran, 1); /* the next call runs it */
    }
    CHECK_EQ(handled, 6);
    stops = 1;
    MPI_Wait(&chain, MPI_STATUS_IGNORE);
    MPI_Request_free(&chain);
    MPI_Comm_free(&dup);
}

static void leaves(MPI_Comm *c, int *code, ...)
{
    (void)c, (void)code;
    longjmp(out, 1);
}

static __attribute__((noinline)) void deeper(void)
{
    volatile char room[4 * 4096];
    MPI_Request r, c = made(0, 0);
    int v = 7, w = 0;

    memset((char *)room, 1, sizeof room);
    MPI_Irecv(&w, 1, MPI_INT, mt_rank, 15, MPI_COMM_WORLD, &r);
    MPIX_Continue(&r, count, NULL, 0, MPI_STATUS_IGNORE, c);
    MPI_Send(&v, 1, MPI_INT, mt_rank, 15, MPI_COMM_WORLD);
    CHECK_EQ(MPI_Wait(&c, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(ran == 1 && w == 7);
    MPI_Request_free(&c);
}

/* A handler was left before there was any continuation. They run in deeper code. */
static void after_a_jump(void)
{
    MPI_Errhandler h;
    MPI_Comm dup;

    MPI_Comm_dup(MPI_COMM_SELF, &dup);
    MPI_Comm_create_errhandler(leaves, &h);
    MPI_Comm_set_errhandler(dup, h);
    MPI_Errhandler_free(&h);
    if (!setjmp(out))
        MPI_Send(NULL, -1, MPI_INT, 0, 0, dup);
    deeper();
    MPI_Comm_free(&dup);
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    after_a_jump();
    messages();
    far_messages();
    kinds();
    more_kinds();
    places();
    nesting();
    failures();
    many();
    in_waits();
    late_cancel();
    taken_back();
    not_in_calls();
    not_in_handlers();
    MPI_Barrier(MPI_COMM_WORLD);
    return mt_finish();
}
