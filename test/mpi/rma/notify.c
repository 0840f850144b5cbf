/* notify.c - notified operations: each kind x synchronization x window flavour, short, long,
 * strided and of no bytes. A counter that says so much has so much data, with no flush anywhere.
 * Then what the counters promise, notifications that come before their counter, and errors. */
#include <unistd.h>

#include "rw.h"

/* Index and window, in Intel's guide's order where a handle is an int. */
#ifdef MPI_ABI_VERSION
#define OTHER_ORDER(index, win) index, win
#else
#define OTHER_ORDER(index, win) (int)(win), index
#endif

enum op { PUT, GET, ACC, OPS };
enum layout { ONE, MANY, STRIDED, LONG, EMPTY, LAYOUTS };
static const char *const op_names[] = {"put", "get", "acc"};
static const char *const layout_names[] = {"one", "many", "strided", "long", "empty"};
enum { FEW = 300, LONG_N = 40000, COUNTERS = 300 };

struct job {
    struct rw *w;
    int op, sync, layout, left, right;
    int64_t *out;
    int64_t *in;
    MPI_Datatype vec;
};

static int elements(const struct job *j)
{
    switch (j->layout) {
    case ONE: return 1;
    case LONG: return LONG_N;
    case EMPTY: return 0;
    default: return FEW;
    }
}

static int64_t value(int origin, int i, int round) { return origin * 100000 + i * 3 + round; }

static void issue(struct job *j, int index)
{
    int n = elements(j), strided = j->layout == STRIDED;
    MPI_Datatype l = MPI_INT64_T, t = strided ? j->vec : l;
    MPI_Aint d = rw_disp(j->w, j->right, 0);
    MPI_Win win = j->w->win;

    switch (j->op) {
    case PUT: MPIX_Put_notify(j->out, n, l, j->right, d, strided ? 1 : n, t, index, win); break;
    case GET: MPIX_Get_notify(j->in, n, l, j->right, d, strided ? 1 : n, t, index, win); break;
    default:
        MPIX_Accumulate_notify(j->out, n, l, j->right, d, strided ? 1 : n, t, MPI_SUM, index, win);
    }
}

/* This process is notified once by its left neighbour, at counter `index`. */
static void notified(struct job *j, int index, int round)
{
    const volatile int64_t *mem = (int64_t *)j->w->mem;
    int n = elements(j), step = j->layout == STRIDED ? 2 : 1, bad = 0, i;

    MPIX_Win_notify_take(j->w->win, index, 1);
    for (i = 0; i < n && j->op != GET; i++)
        bad += mem[i * step] != value(j->left, i, round);
    MUST(!bad, "%s, %s, %s, %s: %d elements are not there", rw_flavour_names[j->w->flavour],
         rw_sync_names[j->sync], op_names[j->op], layout_names[j->layout], bad);
    /* read at the target: it may change */
    for (i = 0; i < n && j->op == GET; i++)
        ((int64_t *)j->w->mem)[i * step] = -1;
}

static void fill(struct job *j, int round)
{
    int64_t *mem = (int64_t *)j->w->mem;
    int i;

    for (i = 0; i < LONG_N; i++) {
        mem[i] = j->op == GET ? value(j->w->rank, i, round) : 0;
        j->out[i] = value(j->w->rank, i, round);
        j->in[i] = 0;
    }
}

static void one(struct job *j, int round)
{
    int index = j->sync % 2 ? COUNTERS - 1 : j->op, step = j->layout == STRIDED ? 2 : 1;
    int n = elements(j), bad = 0, i;

    rw_own(j->w);
    fill(j, round);
    rw_disown(j->w);
    MPI_Barrier(j->w->comm);
    rw_begin(j->w, j->sync, j->right);
    issue(j, index);
    notified(j, index, round);
    rw_end(j->w, j->sync, j->right);
    for (i = 0; i < n && j->op == GET; i++)
        bad += j->in[i] != value(j->right, i * step, round);
    MUST(!bad, "%s, %s, get, %s: %d elements differ", rw_flavour_names[j->w->flavour],
         rw_sync_names[j->sync], layout_names[j->layout], bad);
    MPI_Barrier(j->w->comm);
}

static void all_kinds(int flavour, MPI_Comm comm)
{
    struct rw w;
    struct job j = {.w = &w};
    MPI_Count v = -1;
    int i;

    if (!rw_make(&w, flavour, LONG_N * sizeof(int64_t), comm))
        return;
    j.left = (w.rank + w.size - 1) % w.size;
    j.right = (w.rank + 1) % w.size;
    j.out = mt_alloc(LONG_N * sizeof *j.out);
    j.in = mt_alloc(LONG_N * sizeof *j.in);
    MPI_Type_vector(FEW, 1, 2, MPI_INT64_T, &j.vec);
    MPI_Type_commit(&j.vec);
    MPIX_Win_notify_set_num(w.win, MPI_INFO_NULL, COUNTERS);
    for (j.sync = 0; j.sync < RW_SYNCS; j.sync++)
        for (j.op = 0; j.op < OPS; j.op++)
            for (j.layout = 0; j.layout < LAYOUTS; j.layout++)
                one(&j, j.sync + j.layout);
    for (i = 0; i < COUNTERS; i++) {
        MPIX_Win_notify_get_value(w.win, i, &v);
        MUST(v == 0, "counter %d is %lld at the end", i, (long long)v);
    }
    MPI_Type_free(&j.vec);
    free(j.out);
    free(j.in);
    rw_free(&w);
}

/* Many from all ranks on one counter, and on one for each of them. */
static void many(MPI_Comm comm)
{
    enum { TIMES = 500 };
    struct rw w;
    MPI_Count v = -1;
    int64_t x = 1;
    int r, i;

    rw_make(&w, RW_ALLOCATE, 8, comm);
    MPIX_Win_notify_set_num(w.win, MPI_INFO_NULL, w.size + 1);
    MPI_Barrier(comm);
    MPI_Win_lock_all(0, w.win);
    for (i = 0; i < TIMES; i++)
        for (r = 0; r < w.size; r++) {
            MPIX_Accumulate_notify(&x, 1, MPI_INT64_T, r, 0, 1, MPI_INT64_T, MPI_SUM, w.size,
                                   w.win);
            MPIX_Put_notify(&x, 0, MPI_INT64_T, r, 0, 0, MPI_INT64_T, w.rank, w.win);
        }
    MPIX_Win_notify_wait(w.win, w.size, (MPI_Count)TIMES * w.size);
    CHECK_EQ(*(volatile int64_t *)w.mem, (int64_t)TIMES * w.size);
    for (r = 0; r < w.size; r++)
        MPIX_Win_notify_wait(w.win, r, TIMES);
    for (r = 0; r <= w.size; r++) {
        MPIX_Win_notify_get_value(w.win, r, &v);
        CHECK_EQ(v, r < w.size ? TIMES : TIMES * w.size);
    }
    MPI_Win_unlock_all(w.win);
    rw_free(&w);
}

/* A flush of the origin covers its notifications. */
static void flushed(MPI_Comm comm)
{
    struct rw w;
    MPI_Count v = -1;
    int64_t x = 5;
    int i, last;

    rw_make(&w, RW_CREATE, 64, comm);
    last = w.size - 1;
    MPIX_Win_notify_set_num(w.win, MPI_INFO_NULL, 2);
    MPI_Barrier(comm);
    if (w.rank == 0) {
        MPI_Win_lock_all(0, w.win);
        for (i = 0; i < 8; i++)
            MPIX_Put_notify(&x, 1, MPI_INT64_T, last, rw_disp(&w, last, (size_t)i * 8), 1,
                            MPI_INT64_T, 1, w.win);
        MPI_Win_flush(last, w.win);
        MPI_Send(NULL, 0, MPI_BYTE, last, 0, comm);
        MPI_Win_unlock_all(w.win);
    }
    if (w.rank == last) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
        MPIX_Win_notify_get_value(w.win, 1, &v);
        CHECK_EQ(v, 8);
    }
    rw_free(&w);
}

/* A waiter that sleeps: the origin comes much later. */
static void sleeper(MPI_Comm comm, int flavour)
{
    struct rw w;
    int64_t x = 77;
    int last;

    if (!rw_make(&w, flavour, 64, comm))
        return;
    last = w.size - 1;
    MPIX_Win_notify_set_num(w.win, MPI_INFO_NULL, 1);
    MPI_Barrier(comm);
    if (w.rank == last && w.size > 1) {
        MPIX_Win_notify_wait(w.win, 0, 1);
        CHECK_EQ(*(volatile int64_t *)w.mem, 77);
    } else if (w.rank == 0 && w.size > 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, last, 0, w.win);
        usleep(200000);
        MPIX_Put_notify(&x, 1, MPI_INT64_T, last, rw_disp(&w, last, 0), 1, MPI_INT64_T, 0, w.win);
        usleep(20000);
        MPI_Win_unlock(last, w.win);
    }
    rw_free(&w);
}

/* Notifications that come before their counter is made: kept, and counted then. */
static void early(MPI_Comm comm, int flavour)
{
    struct rw w;
    MPI_Count v = -1;
    int64_t x = 3;
    int last, round;

    if (!rw_make(&w, flavour, 64, comm))
        return;
    last = w.size - 1;
    for (round = 0; round < 3; round++) {
        if (w.rank == 0) {
            MPI_Win_lock_all(0, w.win);
            MPIX_Put_notify(&x, 1, MPI_INT64_T, last, rw_disp(&w, last, 0), 1, MPI_INT64_T, 1,
                            w.win);
            MPIX_Put_notify(&x, 1, MPI_INT64_T, last, rw_disp(&w, last, 8), 1, MPI_INT64_T, 400,
                            w.win);
            MPI_Win_flush(last, w.win);
            MPI_Send(NULL, 0, MPI_BYTE, last, 0, comm);
            MPI_Win_unlock_all(w.win);
        }
        if (w.rank == last) {
            static const int num[] = {2, 300, 401};
            MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
            MPIX_Win_notify_set_num(w.win, MPI_INFO_NULL, num[round]);
            MPIX_Win_notify_get_value(w.win, 1, &v);
            CHECK_EQ(v, round + 1);
            CHECK_EQ(((volatile int64_t *)w.mem)[1], 3);
            if (round == 2) {
                MPIX_Win_notify_get_value(w.win, 400, &v);
                CHECK_EQ(v, 3);
            }
        }
        MPI_Barrier(comm);
    }
    rw_free(&w);
}

/* What set_value, test and take promise; values beyond 2^31. */
static void values(void)
{
    const MPI_Count big = ((MPI_Count)1 << 31) - 1, huge = (MPI_Count)1 << 62;
    struct rw w;
    MPI_Count v = -1;
    int64_t x = 1;
    int flag = -1, i;

    rw_make(&w, RW_ALLOCATE, 8, MPI_COMM_SELF);
    MPIX_Win_notify_set_num(w.win, MPI_INFO_NULL, 3);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win);
    MPIX_Win_notify_test(w.win, 2, 1, &flag);
    CHECK_EQ(flag, 0);
    MPIX_Win_notify_test(w.win, 2, 0, &flag);
    CHECK_EQ(flag, 1);
    MPIX_Win_notify_set_value(w.win, 2, big);
    for (i = 0; i < 3; i++)
        MPIX_Put_notify(&x, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, 2, w.win);
    MPIX_Win_notify_wait(w.win, 2, big + 3);
    MPIX_Win_notify_test(w.win, 2, big + 4, &flag);
    CHECK_EQ(flag, 0);
    MPIX_Win_notify_take(w.win, 2, big + 1);
    MPIX_Win_notify_get_value(w.win, 2, &v);
    CHECK_EQ(v, 2);
    MPIX_Win_notify_set_value(w.win, 2, huge);
    MPIX_Put_notify(&x, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, 2, w.win);
    MPIX_Win_notify_get_value(w.win, 2, &v);
    CHECK_EQ(v, huge + 1);
    MPIX_Win_notify_get_value(w.win, 1, &v);
    CHECK_EQ(v, 0);
    /* given up and made again: it begins with what came meanwhile, the others go on */
    MPIX_Put_notify(&x, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, 0, w.win);
    MPIX_Win_notify_set_num(w.win, MPI_INFO_NULL, 1);
    MPIX_Put_notify(&x, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, 2, w.win);
    MPIX_Win_notify_set_num(w.win, MPI_INFO_NULL, 3);
    MPI_Win_flush(0, w.win); /* the counter was not there: a message, which may be under way */
    MPIX_Win_notify_get_value(w.win, 0, &v);
    CHECK_EQ(v, 1);
    MPIX_Win_notify_get_value(w.win, 1, &v);
    CHECK_EQ(v, 0);
    MPIX_Win_notify_get_value(w.win, 2, &v);
    CHECK_EQ(v, 1);
    MPI_Win_unlock(0, w.win);
    rw_free(&w);
}

/* Intel MPI's names, and both orders of window and index. */
static void names(void)
{
    MPI_Count v = -1;
    int64_t x = 1, y = 0, *mem;
    MPI_Win win;

    MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_SELF, &mem, &win);
    MPIX_Win_create_notify(win, 2);
    MPI_Win_lock_all(0, win);
    MPIX_Put_notify(&x, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, 1, win);
    MPIX_Put_notify(&x, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, OTHER_ORDER(1, win));
    MPIX_Get_notify(&y, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, OTHER_ORDER(1, win));
    MPIX_Get_notify_c(&y, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, 1, win);
    MPIX_Put_notify_c(&x, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, OTHER_ORDER(1, win));
    MPIX_Accumulate_notify(&x, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, OTHER_ORDER(1, win));
    MPIX_Accumulate_notify_c(&x, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, 1, win);
    MPIX_Win_get_notify(win, 1, &v);
    CHECK_EQ(v, 7);
    MPI_Win_unlock_all(win);
    CHECK_EQ(y, 1);
    CHECK_EQ(*mem, 3);
    MPIX_Win_set_notify(win, 1, 40);
    MPIX_Win_notify_get_value(win, 1, &v);
    CHECK_EQ(v, 40);
    MPIX_Win_free_notify(win);
    MPI_Win_free(&win);
}

static int class_of(int code)
{
    int cls = -1;

    MPI_Error_class(code, &cls);
    return cls;
}

static void order_is(MPI_Win win, const char *what)
{
    char text[32] = "";
    int flag = 0, len = sizeof text;
    MPI_Info got;

    MPI_Win_get_info(win, &got);
    MPI_Info_get_string(got, "mpix_notify_order", &len, text, &flag);
    MUST(flag && !strcmp(text, what), "mpix_notify_order is \"%s\", not %s", text, what);
    MPI_Info_free(&got);
}

/* The number comes from the info key, at creation and later. */
static void info_key(MPI_Comm comm)
{
    MPI_Info i = rw_info("mpix_notify_num", "5"), got;
    char text[32] = "";
    int flag = 0, len = sizeof text;
    MPI_Count v = -1;
    MPI_Win win;
    char *mem;

    MPI_Win_allocate(8, 1, i, comm, &mem, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPIX_Win_notify_get_value(win, 4, &v);
    CHECK_EQ(v, 0);
    CHECK_EQ(class_of(MPIX_Win_notify_get_value(win, 5, &v)), MPIX_ERR_INVALID_NOTIFICATION);
    MPI_Info_set(i, "mpix_notify_num", "7");
    MPI_Win_set_info(win, i);
    CHECK_EQ(MPIX_Win_notify_get_value(win, 6, &v), MPI_SUCCESS);
    MPI_Win_get_info(win, &got);
    MPI_Info_get_string(got, "mpix_notify_num", &len, text, &flag);
    MUST(flag && !strcmp(text, "7"), "mpix_notify_num is \"%s\"", text);
    MPI_Info_free(&got);
    order_is(win, "operation");
    MPI_Info_set(i, "mpix_notify_order", "target");
    MPI_Win_set_info(win, i);
    MPI_Info_set(i, "mpix_notify_order", "none"); /* no value of it: it changes nothing */
    MPI_Win_set_info(win, i);
    order_is(win, "target");
    /* what is no number changes nothing */
    MPIX_Win_notify_set_num(win, MPI_INFO_NULL, 9);
    MPI_Info_set(i, "mpix_notify_num", "abc");
    MPI_Win_set_info(win, i);
    CHECK_EQ(MPIX_Win_notify_get_value(win, 8, &v), MPI_SUCCESS);
    MPI_Info_free(&i);
    MPI_Win_free(&win);
}

/* With mpix_notify_order=target a notification covers the puts before it: short ones, strided ones,
 * and long ones, which the network may do itself. */
static void covers(MPI_Comm comm)
{
    enum { ROUNDS = 20 };
    MPI_Info info = rw_info("mpix_notify_order", "target");
    struct rw w;
    struct job j = {.w = &w};
    int round, i, bad, left;

    rw_make_info(&w, RW_CREATE, LONG_N * sizeof(int64_t), comm, info);
    left = (w.rank + w.size - 1) % w.size;
    j.right = (w.rank + 1) % w.size;
    j.out = mt_alloc(LONG_N * sizeof *j.out);
    MPIX_Win_notify_set_num(w.win, MPI_INFO_NULL, 1);
    MPI_Win_lock_all(0, w.win);
    for (round = 0; round < ROUNDS; round++) {
        const volatile int64_t *mem = (int64_t *)w.mem;
        for (i = 0; i < LONG_N; i++)
            j.out[i] = value(w.rank, i, round);
        MPI_Barrier(comm); /* what came was looked at */
        MPI_Put(j.out, 1, MPI_INT64_T, j.right, 0, 1, MPI_INT64_T, w.win);
        MPI_Put(&j.out[1], LONG_N - 1, MPI_INT64_T, j.right, 8, LONG_N - 1, MPI_INT64_T, w.win);
        MPIX_Put_notify(NULL, 0, MPI_INT64_T, j.right, 0, 0, MPI_INT64_T, 0, w.win);
        MPIX_Win_notify_take(w.win, 0, 1);
        for (i = LONG_N - 1, bad = 0; i >= 0; i--)
            bad += mem[i] != value(left, i, round);
        MUST(!bad, "round %d: %d elements are not there", round, bad);
        MPI_Win_flush(j.right, w.win);
    }
    MPI_Win_unlock_all(w.win);
    MPI_Info_free(&info);
    free(j.out);
    rw_free(&w);
}

/* Requests among others; several of one counter; cancelled, freed, open when the window ends. */
static void requests(MPI_Comm comm)
{
    enum { MANY_R = 40 };
    struct rw w;
    MPI_Request q[3], many_q[MANY_R];
    MPI_Status st;
    int64_t x = 1;
    int left, right, i, at = -1, flag = -1, token = 0, seen = 0;

    rw_make(&w, RW_CREATE, 64, comm);
    left = (w.rank + w.size - 1) % w.size;
    right = (w.rank + 1) % w.size;
    MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
    MPIX_Win_notify_set_num(w.win, MPI_INFO_NULL, 4);
    MPI_Irecv(&token, 1, MPI_INT, left, 1, comm, &q[0]);
    MPIX_Win_notify_request(w.win, 0, 1, &q[1]);
    MPIX_Win_notify_request(w.win, 3, 5, &q[2]);
    for (i = 0; i < MANY_R; i++)
        MPIX_Win_notify_request(w.win, 1, i % 5, &many_q[i]);
    MPI_Test(&q[1], &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(flag, 0);
    MPI_Barrier(comm);
    MPI_Win_lock_all(0, w.win);
    MPIX_Put_notify(&x, 1, MPI_INT64_T, right, rw_disp(&w, right, 0), 1, MPI_INT64_T, 0, w.win);
    MPI_Send(&w.rank, 1, MPI_INT, right, 1, comm);
    for (i = 0; i < 2; i++) {
        MPI_Waitany(3, q, &at, &st);
        CHECK_EQ(at ? *(volatile int64_t *)w.mem : token, at ? 1 : left);
        seen |= 1 << at;
    }
    CHECK_EQ(seen, 3);
    for (i = 0; i < 4; i++)
        MPIX_Put_notify(&x, 0, MPI_INT64_T, right, 0, 0, MPI_INT64_T, 1, w.win);
    MPI_Waitall(MANY_R, many_q, MPI_STATUSES_IGNORE);
    MPI_Win_unlock_all(w.win);
    CHECK_EQ(class_of(MPI_Win_free(&w.win)), MPI_ERR_RMA_SYNC);
    MPI_Cancel(&q[2]);
    MPI_Wait(&q[2], &st);
    MPI_Test_cancelled(&st, &flag);
    CHECK_EQ(flag, 1);
    MPIX_Win_notify_request(w.win, 3, 5, &q[2]);
    MPI_Request_free(&q[2]);
    CHECK_EQ(class_of(MPIX_Win_notify_request(w.win, 4, 1, &q[2])), MPIX_ERR_INVALID_NOTIFICATION);
    CHECK(q[2] == MPI_REQUEST_NULL);
    rw_free(&w);
}

/* A counter of the last rank is given up, notified meanwhile, and made again; the way of each kind
 * of member, not only of the process itself. */
static void again(MPI_Comm comm)
{
    int64_t x = 1;
    MPI_Count v = -1;
    struct rw w;
    int last, i;

    rw_make(&w, RW_ALLOCATE, 8, comm);
    last = w.size - 1;
    if (w.rank == last)
        MPIX_Win_create_notify(w.win, 2);
    MPI_Barrier(comm);
    for (i = 0; i < 2; i++) {
        if (w.rank == 0) {
            MPI_Win_lock(MPI_LOCK_SHARED, last, 0, w.win);
            MPIX_Put_notify(&x, 1, MPI_INT64_T, last, 0, 1, MPI_INT64_T, 1, w.win);
            MPI_Win_unlock(last, w.win);
        }
        MPI_Barrier(comm);
        if (!i && w.rank == last)
            MPIX_Win_free_notify(w.win);
        MPI_Barrier(comm);
    }
    if (w.rank == last) {
        MPIX_Win_create_notify(w.win, 2);
        MPIX_Win_notify_wait(w.win, 1, 1);
        MPIX_Win_notify_get_value(w.win, 1, &v);
        CHECK_EQ(v, 1);
    }
    rw_free(&w);
}

/* A window is not revoked with its communicator: notifications go on, and so does a sleeper. */
static void revoked(MPI_Comm world)
{
#ifndef MPI_ABI_VERSION /* it has no MPIX_Comm_revoke */
    int64_t x = 6;
    MPI_Comm comm;
    struct rw w;
    int last;

    MPI_Comm_dup(world, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    rw_make(&w, RW_CREATE, 64, comm);
    last = w.size - 1;
    MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
    MPIX_Win_notify_set_num(w.win, MPI_INFO_NULL, 2);
    CHECK_EQ(MPI_Win_lock_all(0, w.win), MPI_SUCCESS);
    MPI_Barrier(world);
    if (w.rank == 0) {
        usleep(50000); /* the last rank sleeps */
        MPIX_Comm_revoke(comm);
        CHECK_EQ(MPIX_Put_notify(&x, 1, MPI_INT64_T, last, rw_disp(&w, last, 0), 1, MPI_INT64_T, 1,
                                 w.win), MPI_SUCCESS);
    }
    if (w.rank == last) {
        CHECK_EQ(MPIX_Win_notify_take(w.win, 1, 1), MPI_SUCCESS);
        CHECK_EQ(*(volatile int64_t *)w.mem, 6);
    }
    CHECK_EQ(MPI_Win_unlock_all(w.win), MPI_SUCCESS);
    MPI_Barrier(world);
    rw_free(&w);
    MPI_Comm_free(&comm);
#else
    (void)world;
#endif
}

static int calls; /* of the window's handler */

static void on_error(MPI_Win *win, int *err, ...)
{
    (void)win;
    (void)err;
    calls++;
}

/* Each of the six calls, with a wrong index and with no window. */
static void operands(MPI_Comm comm)
{
    const int bad = MPIX_ERR_INVALID_NOTIFICATION;
    const MPI_Datatype t = MPI_INT64_T;
    MPI_Errhandler handler;
    int64_t x = 1;
    struct rw w;

    rw_make(&w, RW_ALLOCATE, 8, comm);
    MPI_Win_create_errhandler(on_error, &handler);
    MPI_Win_set_errhandler(w.win, handler);
    MPI_Win_lock_all(0, w.win);
    CHECK_EQ(class_of(MPIX_Put_notify(&x, 1, t, 0, 0, 1, t, -1, w.win)), bad);
    CHECK_EQ(class_of(MPIX_Put_notify_c(&x, 1, t, 0, 0, 1, t, -1, w.win)), bad);
    CHECK_EQ(class_of(MPIX_Get_notify(&x, 1, t, 0, 0, 1, t, -1, w.win)), bad);
    CHECK_EQ(class_of(MPIX_Get_notify_c(&x, 1, t, 0, 0, 1, t, -1, w.win)), bad);
    CHECK_EQ(class_of(MPIX_Accumulate_notify(&x, 1, t, 0, 0, 1, t, MPI_SUM, -1, w.win)), bad);
    CHECK_EQ(class_of(MPIX_Accumulate_notify_c(&x, 1, t, 0, 0, 1, t, MPI_SUM, -1, w.win)), bad);
    CHECK_EQ(calls, 6);
    CHECK_EQ(MPIX_Put_notify(&x, 1, t, MPI_PROC_NULL, 0, 1, t, 2147483647, w.win), MPI_SUCCESS);
    MPI_Win_unlock_all(w.win);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_EQ(class_of(MPIX_Put_notify(&x, 1, t, 0, 0, 1, t, 0, MPI_WIN_NULL)), MPI_ERR_WIN);
    CHECK_EQ(class_of(MPIX_Put_notify(&x, 1, t, 0, 0, 1, t, OTHER_ORDER(0, MPI_WIN_NULL))),
             MPI_ERR_WIN);
    CHECK_EQ(class_of(MPIX_Get_notify_c(&x, 1, t, 0, 0, 1, t, OTHER_ORDER(0, MPI_WIN_NULL))),
             MPI_ERR_WIN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    rw_free(&w);
}

static void errors(MPI_Comm comm)
{
    const int bad = MPIX_ERR_INVALID_NOTIFICATION;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Count v = -1;
    int64_t x = 1;
    int flag, len, last;
    struct rw w;

    rw_make(&w, RW_ALLOCATE, 8, comm);
    last = w.size - 1;
    MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
    CHECK_EQ(class_of(MPIX_Win_notify_set_num(w.win, MPI_INFO_NULL, -1)), bad);
    CHECK_EQ(class_of(MPIX_Win_notify_set_num(w.win, MPI_INFO_NULL, MPIX_NOTIFY_MAX + 1)), bad);
    CHECK_EQ(class_of(MPIX_Win_notify_get_value(w.win, 0, &v)), bad);
    MPIX_Win_notify_set_num(w.win, MPI_INFO_NULL, 2);
    CHECK_EQ(class_of(MPIX_Win_notify_get_value(w.win, 2, &v)), bad);
    CHECK_EQ(class_of(MPIX_Win_notify_get_value(w.win, -1, &v)), bad);
    CHECK_EQ(class_of(MPIX_Win_notify_get_value(w.win, 0, NULL)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPIX_Win_notify_set_value(w.win, 0, -1)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPIX_Win_notify_wait(w.win, 0, -1)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPIX_Win_notify_take(w.win, 2, 0)), bad);
    CHECK_EQ(class_of(MPIX_Win_notify_test(w.win, 0, 1, NULL)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPIX_Put_notify(&x, 1, MPI_INT64_T, last, 0, 1, MPI_INT64_T, 0, w.win)),
             MPI_ERR_RMA_SYNC);
    MPI_Win_lock_all(0, w.win);
    CHECK_EQ(class_of(MPIX_Put_notify(&x, 1, MPI_INT64_T, last, 0, 1, MPI_INT64_T, MPIX_NOTIFY_MAX,
                                      w.win)),
             bad);
    CHECK_EQ(class_of(MPIX_Put_notify(&x, 1, MPI_INT64_T, w.size, 0, 1, MPI_INT64_T, 0, w.win)),
             MPI_ERR_RANK);
    CHECK_EQ(MPIX_Put_notify(&x, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, 0, w.win),
             MPI_SUCCESS);
    CHECK_EQ(MPIX_Get_notify(&x, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, 0, w.win),
             MPI_SUCCESS);
    /* out of range: an error, now or with the flush, and not counted */
    x = MPIX_Put_notify(&x, 1, MPI_INT64_T, last, 1, 1, MPI_INT64_T, 1, w.win);
    len = MPI_Win_flush(last, w.win);
    CHECK_EQ(class_of(x ? (int)x : len), MPI_ERR_RMA_RANGE);
    MPI_Win_unlock_all(w.win);
    MPI_Barrier(comm);
    for (flag = 0; flag < 2; flag++) {
        MPIX_Win_notify_get_value(w.win, flag, &v);
        CHECK_EQ(v, 0);
    }
    MPI_Error_string(bad, text, &len);
    MUST(strstr(text, "notification") != NULL, "the class is \"%s\"", text);
    rw_free(&w);
}

int main(int argc, char **argv)
{
    int f;

    mt_init(&argc, &argv);
    covers(MPI_COMM_WORLD);
    if (argc > 1 && !strcmp(argv[1], "--order"))
        return mt_finish();
    for (f = 0; f < RW_FLAVOURS; f++) {
        all_kinds(f, MPI_COMM_WORLD);
        sleeper(MPI_COMM_WORLD, f);
        early(MPI_COMM_WORLD, f);
    }
    many(MPI_COMM_WORLD);
    flushed(MPI_COMM_WORLD);
    values();
    names();
    info_key(MPI_COMM_WORLD);
    requests(MPI_COMM_WORLD);
    again(MPI_COMM_WORLD);
    revoked(MPI_COMM_WORLD);
    operands(MPI_COMM_WORLD);
    errors(MPI_COMM_WORLD);
    return mt_finish();
}
