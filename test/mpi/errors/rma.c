/* rma.c - errors of one-sided calls: arguments, synchronization state, ranges, flavours. The window
 * keeps working, and nothing outside it is written. MPI-3.1 11.6. The texts name the call, what is
 * wrong and its value. */
#include "../mt.h"

#include <limits.h>
#include <stddef.h>

#define BAD(call, cls) \
    do { \
        int e_ = (call), k_ = mt_class(e_); \
        MUST(k_ == (cls), "%s: class %d, expected %d", #call, k_, (int)(cls)); \
    } while (0)
#define GOOD(call) MUST((call) == MPI_SUCCESS, "%s failed", #call)

/* A call that must fail with this class and whose text begins so. */
#define SAYS(call, cls, ...) \
    do { \
        int e_ = (call); \
        MUST(mt_class(e_) == (cls), "%s: class %d, expected %d", #call, mt_class(e_), (int)(cls)); \
        says(e_, #call, __VA_ARGS__); \
    } while (0)

static void says(int err, const char *what, const char *fmt, ...)
{
    char s[MPI_MAX_ERROR_STRING] = "", want[300];
    int n;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(want, sizeof want, fmt, ap);
    va_end(ap);
    MPI_Error_string(err, s, &n);
    MUST(strncmp(s, want, strlen(want)) == 0, "%s: the text is \"%s\", not \"%s\"", what, s, want);
}

enum { N = 16 };

static int handled, handled_cls;
static MPI_Win handled_win;

static void handler(MPI_Win *w, int *err, ...)
{
    handled++;
    handled_win = *w;
    MPI_Error_class(*err, &handled_cls);
}

static void arguments(MPI_Win w)
{
    int v = 1, r = 0, next = (mt_rank + 1) % mt_size;
    double d[2] = { 0, 0 };

    MPI_Win_lock_all(0, w);
    BAD(MPI_Put(&v, 1, MPI_INT, mt_size, 0, 1, MPI_INT, w), MPI_ERR_RANK);
    BAD(MPI_Put(&v, -1, MPI_INT, next, 0, 1, MPI_INT, w), MPI_ERR_COUNT);
    BAD(MPI_Put(&v, 1, MPI_DATATYPE_NULL, next, 0, 1, MPI_INT, w), MPI_ERR_TYPE);
    BAD(MPI_Get(&v, 1, MPI_INT, next, 0, 1, MPI_DATATYPE_NULL, w), MPI_ERR_TYPE);
    BAD(MPI_Put(&v, 1, MPI_INT, next, -1, 1, MPI_INT, w), MPI_ERR_DISP);
    BAD(MPI_Put(&v, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_WIN_NULL), MPI_ERR_WIN);
    BAD(MPI_Accumulate(&v, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_OP_NULL, w), MPI_ERR_OP);
    BAD(MPI_Accumulate(&v, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_NO_OP, w), MPI_ERR_OP);
    BAD(MPI_Fetch_and_op(&v, &r, MPI_INT, -4, 0, MPI_SUM, w), MPI_ERR_RANK);
    BAD(MPI_Compare_and_swap(d, d, d + 1, MPI_DOUBLE, next, 0, w), MPI_ERR_TYPE);
    BAD(MPI_Rput(&v, 1, MPI_INT, next, 0, 1, MPI_INT, w, NULL), MPI_ERR_ARG);
    BAD(MPI_Rget(&v, 1, MPI_INT, next, 0, 1, MPI_INT, w, NULL), MPI_ERR_ARG);
    BAD(MPI_Raccumulate(&v, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_SUM, w, NULL), MPI_ERR_ARG);
    BAD(MPI_Rget_accumulate(&v, 1, MPI_INT, &r, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_SUM, w, NULL),
        MPI_ERR_ARG);
    MPI_Win_unlock_all(w);
    BAD(MPI_Win_lock(77, next, 0, w), MPI_ERR_LOCKTYPE);
    BAD(MPI_Win_lock(MPI_LOCK_SHARED, mt_size, 0, w), MPI_ERR_RANK);
    BAD(MPI_Win_lock(MPI_LOCK_SHARED, next, MPI_MODE_NOSTORE, w), MPI_ERR_ASSERT);
    BAD(MPI_Win_fence(1 << 29, w), MPI_ERR_ASSERT);
    BAD(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
    for (int h = 0; h < 512; h++) { /* no windows, whatever the look-up takes their low bits for */
        BAD(MPI_Win_fence(0, (MPI_Win)h), MPI_ERR_WIN);
        BAD(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, (MPI_Win)h), MPI_ERR_WIN);
        BAD(MPI_Put(&r, 1, MPI_INT, next, 0, 1, MPI_INT, (MPI_Win)h), MPI_ERR_WIN);
    }
    BAD(MPI_Win_post(MPI_GROUP_NULL, 0, w), MPI_ERR_GROUP);
}

/* Calls in the wrong state. */
/* MPI-3.1 11.5: a fence epoch without operations may be followed by any synchronization, which ends
 * it.  One with operations ends with a fence only, so MPI_Win_post is refused and the window can be
 * freed. */
static void fence_then_post(MPI_Win w, MPI_Group g, int assert)
{
    int v = 1, next = (mt_rank + 1) % mt_size;

    GOOD(MPI_Win_fence(assert, w));
    GOOD(MPI_Win_post(g, 0, w));
    BAD(MPI_Put(&v, 1, MPI_INT, next, 0, 1, MPI_INT, w), MPI_ERR_RMA_SYNC); /* no epoch any more */
    GOOD(MPI_Win_start(g, 0, w));
    GOOD(MPI_Win_complete(w));
    GOOD(MPI_Win_wait(w));
    GOOD(MPI_Win_fence(assert, w));
    GOOD(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w));
    GOOD(MPI_Win_unlock(next, w));
    MPI_Barrier(MPI_COMM_WORLD); /* no lock beside the operations of a fence epoch */
    GOOD(MPI_Win_fence(assert, w));
    GOOD(MPI_Win_lock_all(0, w));
    GOOD(MPI_Win_unlock_all(w));
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_Win_fence(assert, w));
    GOOD(MPI_Get(&v, 1, MPI_INT, next, 0, 1, MPI_INT, w));
    BAD(MPI_Win_start(g, 0, w), MPI_ERR_RMA_SYNC);
    BAD(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w), MPI_ERR_RMA_SYNC);
    BAD(MPI_Win_lock_all(0, w), MPI_ERR_RMA_SYNC);
    BAD(MPI_Win_free(&w), MPI_ERR_RMA_SYNC);
    BAD(MPI_Win_post(g, 0, w), MPI_ERR_RMA_SYNC);
    BAD(MPI_Win_wait(w), MPI_ERR_RMA_SYNC); /* nothing is exposed */
    GOOD(MPI_Win_fence(MPI_MODE_NOSUCCEED, w));
    GOOD(MPI_Win_post(g, 0, w)); /* behind NOSUCCEED */
    GOOD(MPI_Win_start(g, 0, w));
    GOOD(MPI_Win_complete(w));
    GOOD(MPI_Win_wait(w));
}

static void states(MPI_Win w)
{
    int v = 1, r, next = (mt_rank + 1) % mt_size, flag;
    MPI_Request req = MPI_REQUEST_NULL;
    MPI_Group g;

    BAD(MPI_Put(&v, 1, MPI_INT, next, 0, 1, MPI_INT, w), MPI_ERR_RMA_SYNC);
    BAD(MPI_Fetch_and_op(&v, &r, MPI_INT, next, 0, MPI_SUM, w), MPI_ERR_RMA_SYNC);
    BAD(MPI_Rput(&v, 1, MPI_INT, next, 0, 1, MPI_INT, w, &req), MPI_ERR_RMA_SYNC);
    BAD(MPI_Win_unlock(next, w), MPI_ERR_RMA_SYNC);
    BAD(MPI_Win_unlock_all(w), MPI_ERR_RMA_SYNC);
    BAD(MPI_Win_flush(next, w), MPI_ERR_RMA_SYNC);
    BAD(MPI_Win_flush_all(w), MPI_ERR_RMA_SYNC);
    BAD(MPI_Win_flush_local(next, w), MPI_ERR_RMA_SYNC);
    BAD(MPI_Win_complete(w), MPI_ERR_RMA_SYNC);
    BAD(MPI_Win_wait(w), MPI_ERR_RMA_SYNC);
    BAD(MPI_Win_test(w, &flag), MPI_ERR_RMA_SYNC);

    GOOD(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w));
    BAD(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w), MPI_ERR_RMA_SYNC);       /* twice */
    BAD(MPI_Win_lock_all(0, w), MPI_ERR_RMA_SYNC);
    BAD(MPI_Win_fence(0, w), MPI_ERR_RMA_SYNC);
    if (mt_size > 1)
        /* another target */
        BAD(MPI_Put(&v, 1, MPI_INT, mt_rank, 0, 1, MPI_INT, w), MPI_ERR_RMA_SYNC);
    GOOD(MPI_Win_unlock(next, w));
    GOOD(MPI_Win_lock_all(0, w));
    BAD(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w), MPI_ERR_RMA_SYNC);
    BAD(MPI_Win_unlock(next, w), MPI_ERR_RMA_SYNC);
    GOOD(MPI_Win_unlock_all(w));

    MPI_Win_get_group(w, &g);
    /* one's own window locked and exposed at once: whichever came second */
    GOOD(MPI_Win_lock(MPI_LOCK_SHARED, mt_rank, 0, w));
    BAD(MPI_Win_post(g, 0, w), MPI_ERR_RMA_CONFLICT);
    GOOD(MPI_Win_unlock(mt_rank, w));
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_Win_post(g, 0, w));
    BAD(MPI_Win_lock(MPI_LOCK_SHARED, mt_rank, 0, w), MPI_ERR_RMA_CONFLICT);
    BAD(MPI_Win_lock_all(0, w), MPI_ERR_RMA_CONFLICT);
    BAD(MPI_Win_post(g, 0, w), MPI_ERR_RMA_SYNC);
    GOOD(MPI_Win_start(g, 0, w));
    BAD(MPI_Win_start(g, 0, w), MPI_ERR_RMA_SYNC);
    GOOD(MPI_Win_complete(w));
    GOOD(MPI_Win_wait(w));
    fence_then_post(w, g, MPI_MODE_NOPRECEDE);
    fence_then_post(w, g, 0);
    MPI_Group_free(&g);
    MPI_Barrier(MPI_COMM_WORLD);
    /* an open epoch: the window stays */
    GOOD(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w));
    BAD(MPI_Win_free(&w), MPI_ERR_RMA_SYNC);
    CHECK(w != MPI_WIN_NULL);
    GOOD(MPI_Win_unlock(next, w));
}

/* Just past the end: the error comes at the call or at the one that completes the operation. */
static void ranges(MPI_Win w, int *mem)
{
    int v[4] = { 7, 7, 7, 7 }, next = (mt_rank + 1) % mt_size, e1, e2, k, i;
    MPI_Aint at[] = { N, N - 1, N + 1000000 };

    for (k = 0; k < 3; k++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, w);
        e1 = MPI_Put(v, 4, MPI_INT, next, at[k], 4, MPI_INT, w);
        e2 = MPI_Win_unlock(next, w);
        MUST(mt_class(e1) == MPI_ERR_RMA_RANGE || mt_class(e2) == MPI_ERR_RMA_RANGE,
             "put past the end (%ld): classes %d and %d", (long)at[k], mt_class(e1), mt_class(e2));
    }
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w);
    e1 = MPI_Get(v, 4, MPI_INT, next, N - 2, 4, MPI_INT, w);
    e2 = MPI_Win_flush(next, w);
    MUST(mt_class(e1) == MPI_ERR_RMA_RANGE || mt_class(e2) == MPI_ERR_RMA_RANGE,
         "get past the end: classes %d and %d", mt_class(e1), mt_class(e2));
    MPI_Win_unlock(next, w);
    MPI_Barrier(MPI_COMM_WORLD);
    for (i = N; i < N + 8; i++)
        CHECK_EQ(mem[i], -1);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void flavours(void)
{
    MPI_Win w, d;
    int mem[4], unit, *p;
    MPI_Aint size;

    MPI_Win_create(mem, sizeof mem, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    BAD(MPI_Win_shared_query(w, mt_size, &size, &unit, &p), MPI_ERR_RANK);
    GOOD(MPI_Win_shared_query(w, mt_rank, &size, &unit, &p));
    CHECK(p == mem && size == sizeof mem && unit == 1);
    BAD(MPI_Win_attach(w, mem, 4), MPI_ERR_RMA_FLAVOR);
    MPI_Win_free(&w);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &d);
    MPI_Win_set_errhandler(d, MPI_ERRORS_RETURN);
    BAD(MPI_Win_shared_query(d, 0, &size, &unit, &p), MPI_ERR_RMA_FLAVOR);
    BAD(MPI_Win_detach(d, mem), MPI_ERR_RMA_ATTACH);
    GOOD(MPI_Win_attach(d, mem, 0));            /* overlaps nothing, on whichever side it comes */
    GOOD(MPI_Win_attach(d, mem, sizeof mem));
    GOOD(MPI_Win_attach(d, mem + 1, 0));
    BAD(MPI_Win_attach(d, mem + 1, 4), MPI_ERR_RMA_ATTACH);
    GOOD(MPI_Win_detach(d, mem + 1));
    GOOD(MPI_Win_detach(d, mem));
    GOOD(MPI_Win_detach(d, mem));
    BAD(MPI_Win_detach(d, mem), MPI_ERR_RMA_ATTACH);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&d);
    BAD(MPI_Win_create(mem, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w), MPI_ERR_SIZE);
    BAD(MPI_Win_create(mem, 4, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &w), MPI_ERR_DISP);
    BAD(MPI_Win_create(mem, 4, 1, MPI_INFO_NULL, MPI_COMM_NULL, &w), MPI_ERR_COMM);
}

/* More memory than there is, or than can be counted: all members learn it, and the next window is
 * as good as ever. */
static void too_large(void)
{
    enum { SIZES = 5, KINDS = 3 };
    const MPI_Aint all[SIZES] = {(MPI_Aint)1 << 62, PTRDIFF_MAX, PTRDIFF_MAX - 4095,
                                 mt_rank < 2 ? PTRDIFF_MAX : 66,
                                 mt_rank == mt_size - 1 ? (MPI_Aint)1 << 62 : 8};
    MPI_Comm node;
    MPI_Info apart;
    MPI_Win w;
    void *p;
    int i, k;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
    MPI_Info_create(&apart);
    MPI_Info_set(apart, "alloc_shared_noncontig", "true");
    for (i = 0; i < 3; i++) /* of all, so that it does not depend on which ranks are on the node */
        for (k = 0; k < KINDS; k++)
            BAD(k < 2 ? MPI_Win_allocate_shared(all[i], 1, k ? apart : MPI_INFO_NULL, node, &p, &w)
                      : MPI_Win_allocate(all[i], 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w),
                MPI_ERR_NO_MEM);
    for (i = 3; i < SIZES; i++) {
        BAD(MPI_Win_allocate(all[i], 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w), MPI_ERR_NO_MEM);
        for (k = 0; k < 2; k++) {
            int e = MPI_Win_allocate_shared(all[i], 1, k ? apart : MPI_INFO_NULL, node, &p, &w),
                worst;
            /* some nodes may have no large one */
            MPI_Allreduce(&e, &worst, 1, MPI_INT, MPI_MAX, node);
            MUST(!e == !worst, "class %d here, another's error is %d", mt_class(e), worst);
            if (e)
                CHECK_EQ(mt_class(e), MPI_ERR_NO_MEM);
            else
                MPI_Win_free(&w);
        }
    }
    for (i = 0; i < 3; i++)
        BAD(MPI_Alloc_mem(all[i], MPI_INFO_NULL, &p), MPI_ERR_NO_MEM);
    for (k = 0; k < 2; k++) { /* no place for so few bytes */
        MPI_Info_set(apart, "alloc_shared_noncontig", k ? "true" : "false");
        MPI_Info_set(apart, "mpi_minimum_memory_alignment", "4611686018427387904");
        BAD(MPI_Win_allocate(64, 1, apart, MPI_COMM_WORLD, &p, &w), MPI_ERR_NO_MEM);
        BAD(MPI_Win_allocate_shared(64, 1, apart, node, &p, &w), MPI_ERR_NO_MEM);
        BAD(MPI_Alloc_mem(64, apart, &p), MPI_ERR_NO_MEM);
    }
    GOOD(MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, node, &p, &w));
    memset(p, mt_rank, 8);
    MPI_Win_free(&w);
    MPI_Info_free(&apart);
    MPI_Comm_free(&node);
}

static void sum(void *in, void *inout, int *n, MPI_Datatype *t)
{
    (void)in, (void)inout, (void)n, (void)t;
}

/* Which of the arguments of a kind, and what it is. */
static void arguments_by_name(MPI_Win w)
{
    int v[4] = { 7, 7, 7, 7 }, r[4], next = (mt_rank + 1) % mt_size;
    MPI_Datatype raw, mixed, none = MPI_DATATYPE_NULL;
    MPI_Op mine;

    MPI_Type_contiguous(2, MPI_INT, &raw);
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 4},
                           (MPI_Datatype[]){MPI_INT, MPI_FLOAT}, &mixed);
    MPI_Type_commit(&mixed);
    MPI_Op_create(sum, 1, &mine);
    SAYS(MPI_Put(v, -1, MPI_INT, next, 0, 1, MPI_INT, w), MPI_ERR_COUNT,
         "MPI_Put: origin_count is -1, less than 0");
    SAYS(MPI_Put(v, 1, MPI_INT, next, 0, -1, MPI_INT, w), MPI_ERR_COUNT,
         "MPI_Put: target_count is -1, less than 0");
    SAYS(MPI_Put_c(v, 1, MPI_INT, next, 0, -((MPI_Count)1 << 40), MPI_INT, w), MPI_ERR_COUNT,
         "MPI_Put_c: target_count is -1099511627776, less than 0");
    SAYS(MPI_Get_accumulate(v, 1, MPI_INT, r, -3, MPI_INT, next, 0, 1, MPI_INT, MPI_SUM, w),
         MPI_ERR_COUNT, "MPI_Get_accumulate: result_count is -3, less than 0");
    SAYS(MPI_Put(v, 1, none, next, 0, 1, MPI_INT, w), MPI_ERR_TYPE,
         "MPI_Put: origin_datatype is MPI_DATATYPE_NULL");
    SAYS(MPI_Accumulate(v, 1, MPI_INT, next, 0, 1, none, MPI_SUM, w), MPI_ERR_TYPE,
         "MPI_Accumulate: target_datatype is MPI_DATATYPE_NULL");
    SAYS(MPI_Get_accumulate(v, 1, MPI_INT, r, 1, none, next, 0, 1, MPI_INT, MPI_SUM, w),
         MPI_ERR_TYPE, "MPI_Get_accumulate: result_datatype is MPI_DATATYPE_NULL");
    SAYS(MPI_Get(v, 1, (MPI_Datatype)12345, next, 0, 1, MPI_INT, w), MPI_ERR_TYPE,
         "MPI_Get: origin_datatype handle 0x3039 does not exist");
    SAYS(MPI_Put(v, 2, MPI_INT, next, 0, 1, raw, w), MPI_ERR_TYPE,
         "MPI_Put: target_datatype %#x is not committed", (unsigned)raw);
    SAYS(MPI_Put(NULL, 1, MPI_INT, next, 0, 1, MPI_INT, w), MPI_ERR_BUFFER,
         "MPI_Put: origin_addr of 1 elements is a null pointer");
    SAYS(MPI_Get_accumulate(v, 1, MPI_INT, NULL, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_SUM, w),
         MPI_ERR_BUFFER, "MPI_Get_accumulate: result_addr of 1 elements is a null pointer");
    SAYS(MPI_Accumulate(v, 1, MPI_INT, next, 0, 1, MPI_INT, mine, w), MPI_ERR_OP,
         "MPI_Accumulate: op %#x is the user's", (unsigned)mine);
    SAYS(MPI_Accumulate(v, 0, MPI_INT, next, 0, 0, MPI_INT, mine, w), MPI_ERR_OP,
         "MPI_Accumulate: op %#x is the user's", (unsigned)mine);
    SAYS(MPI_Accumulate(v, 1, MPI_INT, next, 0, 1, MPI_FLOAT, MPI_SUM, w), MPI_ERR_TYPE,
         "MPI_Accumulate: the elements of the origin are MPI_INT, those of the target MPI_FLOAT");
    SAYS(MPI_Get_accumulate(v, 1, MPI_INT, r, 1, MPI_UNSIGNED, next, 0, 1, MPI_INT, MPI_SUM, w),
         MPI_ERR_TYPE,
         "MPI_Get_accumulate: the elements of the result are MPI_UNSIGNED, those of the target "
         "MPI_INT");
    SAYS(MPI_Accumulate(v, 1, mixed, next, 0, 2, MPI_INT, MPI_SUM, w), MPI_ERR_TYPE,
         "MPI_Accumulate: the elements of the origin are of more than one type, those of the "
         "target MPI_INT");
    MPI_Op_free(&mine);
    MPI_Type_free(&raw);
    MPI_Type_free(&mixed);
}

/* Legal operations beside others that the target refuses, the first of a long one's parts answered
 * for itself: they are done whole, and their requests end without an error. The refusal is the
 * error of its own request or of the flush. */
static void beside_refused(void)
{
    enum { WINDOW = 20 << 20, LONG = 17 << 20, TOO_LONG = WINDOW + 4096 };
    char *mem, *buf = malloc(TOO_LONG), *back = malloc(LONG);
    long v = 7, got = -1;
    MPI_Request q;
    MPI_Win w;
    int t = mt_size - 1, k, i, err;

    MPI_Win_allocate(mt_rank == t ? WINDOW : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &w);
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    if (mt_rank == t)
        memset(mem, 0, WINDOW);
    MPI_Barrier(MPI_COMM_WORLD);
    for (k = 0; k < 4 && mt_rank == 0; k++) {
        memset(buf, 'a' + k, TOO_LONG);
        GOOD(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, w));
        /* refused before: a long one by itself, or with a request; a short one */
        if (k == 0)
            err = MPI_Put(buf, TOO_LONG, MPI_BYTE, t, 0, TOO_LONG, MPI_BYTE, w);
        else if (k == 1 && (err = MPI_Rput(buf, TOO_LONG, MPI_BYTE, t, 0, TOO_LONG, MPI_BYTE, w,
                                           &q)) == MPI_SUCCESS)
            err = MPI_Wait(&q, MPI_STATUS_IGNORE);
        else if (k > 1)
            err = MPI_Put(&v, 8, MPI_BYTE, t, WINDOW, 8, MPI_BYTE, w);
        MUST(err == MPI_SUCCESS || mt_class(err) == MPI_ERR_RMA_RANGE, "class %d", mt_class(err));
        if (k < 3) {
            GOOD(MPI_Rput(buf, LONG, MPI_BYTE, t, 0, LONG, MPI_BYTE, w, &q));
        } else {
            GOOD(MPI_Rget(&got, 8, MPI_BYTE, t, 0, 8, MPI_BYTE, w, &q));
        }
        GOOD(MPI_Wait(&q, MPI_STATUS_IGNORE));
        if (err == MPI_SUCCESS)
            BAD(MPI_Win_flush(t, w), MPI_ERR_RMA_RANGE);
        else
            MPI_Win_flush(t, w); /* parts that were under way may be errors, too */
        /* and once more, the flush piggybacked on a get */
        err = MPI_Put(&v, 8, MPI_BYTE, t, WINDOW, 8, MPI_BYTE, w);
        memset(back, 0, LONG);
        GOOD(MPI_Get(back, LONG, MPI_BYTE, t, 0, LONG, MPI_BYTE, w));
        if (err == MPI_SUCCESS)
            BAD(MPI_Win_unlock(t, w), MPI_ERR_RMA_RANGE);
        else
            GOOD(MPI_Win_unlock(t, w));
        for (i = 0; i < LONG && back[i] == 'a' + (k < 3 ? k : 2); i++)
            ;
        CHECK_EQ(i, LONG);
        if (k == 3)
            CHECK(memcmp(&got, "cccccccc", 8) == 0);
        /* the data of a short get, when the flush piggybacked on it reports an error */
        GOOD(MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w));
        err = MPI_Put(&v, 8, MPI_BYTE, t, WINDOW, 8, MPI_BYTE, w);
        got = -1;
        GOOD(MPI_Get(&got, 8, MPI_BYTE, t, 0, 8, MPI_BYTE, w));
        if (err == MPI_SUCCESS)
            BAD(MPI_Win_unlock(t, w), MPI_ERR_RMA_RANGE);
        else
            GOOD(MPI_Win_unlock(t, w));
        CHECK(memcmp(&got, back, 8) == 0);
    }
    if (mt_rank == 0) {
        /* both are refused, and the flush is piggybacked on the one with a request: each is
         * reported where it belongs */
        GOOD(MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w));
        err = MPI_Put(&v, 8, MPI_BYTE, t, WINDOW, 8, MPI_BYTE, w);
        if (err == MPI_SUCCESS) {
            GOOD(MPI_Rget(&got, 8, MPI_BYTE, t, WINDOW + 8, 8, MPI_BYTE, w, &q));
            SAYS(MPI_Win_flush(t, w), MPI_ERR_RMA_RANGE,
                 "MPI_Win_flush: a put of 8 MPI_BYTE at displacement %d was refused", (int)WINDOW);
            BAD(MPI_Wait(&q, MPI_STATUS_IGNORE), MPI_ERR_RMA_RANGE);
        }
        GOOD(MPI_Win_unlock(t, w));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&w);
    free(buf);
    free(back);
}

/* More elements named at the target than are sent: all of them must lie in its window, by whatever
 * way the data go. */
static void longer_target(void)
{
    enum { CELLS = 1 << 17 };
    long *mem, *one = malloc(CELLS * sizeof *one), sum = 0;
    int t = mt_size - 1, i, err;
    MPI_Win w;

    MPI_Win_allocate(mt_rank == t ? CELLS * sizeof *mem : 0, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mem,
                     &w);
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    for (i = 0; i < CELLS; i++) {
        one[i] = 1;
        if (mt_rank == t)
            mem[i] = 0;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (mt_rank == 0) {
        GOOD(MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w));
        GOOD(MPI_Win_flush(t, w));
        err = MPI_Accumulate(one, CELLS / 2, MPI_LONG, t, 0, 2 * CELLS, MPI_LONG, MPI_SUM, w);
        if (err == MPI_SUCCESS)
            err = MPI_Win_flush(t, w);
        MUST(mt_class(err) == MPI_ERR_RMA_RANGE, "class %d", mt_class(err));
        GOOD(MPI_Accumulate(one, CELLS / 2, MPI_LONG, t, 0, CELLS, MPI_LONG, MPI_SUM, w));
        GOOD(MPI_Win_unlock(t, w));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (i = 0; i < CELLS && mt_rank == t; i++)
        sum += mem[i] == (i < CELLS / 2);
    CHECK_EQ(sum, mt_rank == t ? CELLS : 0);
    MPI_Win_free(&w);
    free(one);
}

/* A displacement in a dynamic window is an address; a negative one is reported as it was given. */
static void negative_address(void)
{
    int mem[4], v = 1, next = (mt_rank + 1) % mt_size, put, unlock;
    MPI_Win d;

    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &d);
    MPI_Win_set_errhandler(d, MPI_ERRORS_RETURN);
    GOOD(MPI_Win_attach(d, mem, sizeof mem));
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, d));
    put = MPI_Put(&v, 1, MPI_INT, next, -8, 1, MPI_INT, d);
    unlock = MPI_Win_unlock(next, d);
    if (put)
        SAYS(put, MPI_ERR_RMA_RANGE,
             "MPI_Put: displacement -8 (address 0xfffffffffffffff8) is not attached at rank %d",
             next);
    else
        SAYS(unlock, MPI_ERR_RMA_RANGE,
             "MPI_Win_unlock: a put of 1 MPI_INT at displacement -8 was refused by rank %d of "
             "window 0x%x: it does "
             "not lie in memory attached there",
             next, (unsigned)d);
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_Win_detach(d, mem));
    MPI_Win_free(&d);
}

/* The text of a call that fails. */
static void texts(MPI_Win w)
{
    int v[4] = { 7, 7, 7, 7 }, r, next = (mt_rank + 1) % mt_size, last = mt_size - 1;
    unsigned h = (unsigned)w;
    MPI_Request req;

    MPI_Win_lock_all(0, w);
    SAYS(MPI_Put(v, 1, MPI_INT, mt_size, 0, 1, MPI_INT, w), MPI_ERR_RANK,
         "MPI_Put: target rank %d is not in the window (0 to %d)", mt_size, last);
    SAYS(MPI_Fetch_and_op(v, &r, MPI_INT, -9, 0, MPI_SUM, w), MPI_ERR_RANK,
         "MPI_Fetch_and_op: target rank -9 is not in the window (0 to %d)", last);
    SAYS(MPI_Get(v, 1, MPI_INT, next, -3, 1, MPI_INT, w), MPI_ERR_DISP,
         "MPI_Get: target displacement -3 is negative");
    SAYS(MPI_Get(v, -2, MPI_INT, next, 0, 1, MPI_INT, w), MPI_ERR_COUNT,
         "MPI_Get: origin_count is -2, less than 0");
    arguments_by_name(w);
    SAYS(MPI_Accumulate(v, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_OP_NULL, w), MPI_ERR_OP,
         "MPI_Accumulate: ");
    SAYS(MPI_Accumulate(v, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_NO_OP, w), MPI_ERR_OP,
         "MPI_Accumulate: MPI_NO_OP is for operations that fetch");
    SAYS(MPI_Put(v, 2, MPI_INT, next, 0, 1, MPI_INT, w), MPI_ERR_TYPE,
         "MPI_Put: the origin has 8 bytes, the target 4");
    SAYS(MPI_Get(v, 1, MPI_INT, next, 0, 2, MPI_INT, w), MPI_ERR_TYPE,
         "MPI_Get: the origin has room for 4 bytes, the target has 8");
    SAYS(MPI_Accumulate(v, 3, MPI_INT, next, 0, 2, MPI_INT, MPI_SUM, w), MPI_ERR_TYPE,
         "MPI_Accumulate: the origin has 12 bytes, the target 8");
    SAYS(MPI_Get_accumulate(v, 1, MPI_INT, v, 2, MPI_INT, next, 0, 2, MPI_INT, MPI_SUM, w),
         MPI_ERR_TYPE, "MPI_Get_accumulate: the origin has 4 bytes, the target 8");
    SAYS(MPI_Get_accumulate(v, 2, MPI_INT, v, 1, MPI_INT, next, 0, 2, MPI_INT, MPI_SUM, w),
         MPI_ERR_TYPE, "MPI_Get_accumulate: the result has room for 4 bytes, the target has 8");
    SAYS(
        MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w), MPI_ERR_RMA_SYNC,
        "MPI_Win_lock: another kind of epoch is open on window 0x%x: call MPI_Win_unlock_all first",
        h);
    MPI_Win_unlock_all(w);

    SAYS(MPI_Win_lock(77, next, 0, w), MPI_ERR_LOCKTYPE,
         "MPI_Win_lock: lock type 77 is neither MPI_LOCK_SHARED nor MPI_LOCK_EXCLUSIVE");
    SAYS(MPI_Win_lock(MPI_LOCK_SHARED, mt_size, 0, w), MPI_ERR_RANK,
         "MPI_Win_lock: rank %d is not in the window (0 to %d)", mt_size, last);
    SAYS(MPI_Win_lock(MPI_LOCK_SHARED, next, MPI_MODE_NOSTORE, w), MPI_ERR_ASSERT,
         "MPI_Win_lock: assertion MPI_MODE_NOSTORE is not one for a lock");
    SAYS(MPI_Win_fence(MPI_MODE_NOCHECK | MPI_MODE_NOPUT | 1 << 29, w), MPI_ERR_ASSERT,
         "MPI_Win_fence: assertion MPI_MODE_NOCHECK | 0x20000000 is not one for a fence");
    SAYS(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN, "MPI_Win_fence: the window is MPI_WIN_NULL");

    SAYS(MPI_Put(v, 1, MPI_INT, next, 0, 1, MPI_INT, w), MPI_ERR_RMA_SYNC,
         "MPI_Put: no epoch is open for rank %d of window 0x%x: call MPI_Win_fence, MPI_Win_lock "
         "or MPI_Win_start first",
         next, h);
    MPI_Win_set_name(w, "halo");
    SAYS(MPI_Put(v, 0, MPI_INT, next, 0, 0, MPI_INT, w), MPI_ERR_RMA_SYNC,
         "MPI_Put: no epoch is open for rank %d of window \"halo\": call MPI_Win_fence, "
         "MPI_Win_lock or MPI_Win_start first",
         next);
    MPI_Win_set_name(w, "");
    SAYS(MPI_Rput(v, 1, MPI_INT, next, 0, 1, MPI_INT, w, &req), MPI_ERR_RMA_SYNC,
         "MPI_Rput: request-based operations need a passive-target epoch on window 0x%x: call "
         "MPI_Win_lock or MPI_Win_lock_all first",
         h);
    SAYS(MPI_Win_unlock(next, w), MPI_ERR_RMA_SYNC,
         "MPI_Win_unlock: rank %d of window 0x%x is not locked: call MPI_Win_lock first", next, h);
    SAYS(
        MPI_Win_unlock_all(w), MPI_ERR_RMA_SYNC,
        "MPI_Win_unlock_all: no lock_all epoch is open on window 0x%x: call MPI_Win_lock_all first",
        h);
    SAYS(MPI_Win_flush(next, w), MPI_ERR_RMA_SYNC,
         "MPI_Win_flush: no passive-target epoch is open for rank %d of window 0x%x: call "
         "MPI_Win_lock or MPI_Win_lock_all first",
         next, h);
    SAYS(MPI_Win_complete(w), MPI_ERR_RMA_SYNC,
         "MPI_Win_complete: no access epoch is open on window 0x%x: call MPI_Win_start first", h);
    SAYS(MPI_Win_wait(w), MPI_ERR_RMA_SYNC,
         "MPI_Win_wait: no exposure epoch is open on window 0x%x: call MPI_Win_post first", h);

    GOOD(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w));
    SAYS(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w), MPI_ERR_RMA_SYNC,
         "MPI_Win_lock: rank %d of window 0x%x is locked already: call MPI_Win_unlock first", next,
         h);
    SAYS(MPI_Win_fence(0, w), MPI_ERR_RMA_SYNC,
         "MPI_Win_fence: another epoch is open on window 0x%x: call MPI_Win_unlock first", h);
    if (mt_size > 1)
        SAYS(MPI_Put(v, 1, MPI_INT, mt_rank, 0, 1, MPI_INT, w), MPI_ERR_RMA_SYNC,
             "MPI_Put: no epoch is open for rank %d of window 0x%x: call MPI_Win_lock for this "
             "rank first",
             mt_rank, h);
    GOOD(MPI_Win_unlock(next, w));
}

/* Past the end: an origin that reaches the memory reports it at once, with all numbers; the owner
 * of memory that messages go to, at the synchronization, with its rank. */
static void texts_of_ranges(MPI_Win w)
{
    int v[4] = { 7, 7, 7, 7 }, r[4], next = (mt_rank + 1) % mt_size, put, get, unlock;
    MPI_Datatype pairs;

    GOOD(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, w));
    put = MPI_Put(v, 4, MPI_INT, next, N - 1, 4, MPI_INT, w);
    unlock = MPI_Win_unlock(next, w);
    if (put) {
        SAYS(put, MPI_ERR_RMA_RANGE,
             "MPI_Put: 4 elements at displacement %d (unit 4: bytes %d to %d) do not lie in the "
             "%d bytes of rank %d", N - 1, 4 * N - 4, 4 * N + 11, 4 * N, next);
        CHECK_EQ(unlock, MPI_SUCCESS);
    } else {
        SAYS(unlock, MPI_ERR_RMA_RANGE,
             "MPI_Win_unlock: a put of 4 MPI_INT at displacement %d was refused by rank %d of "
             "window 0x%x: it does not lie in the window there (%d bytes)",
             N - 1, next, (unsigned)w, N * (int)sizeof *v);
    }

    /* One of several is reported, even if they came in one packet. */
    GOOD(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, w));
    put = MPI_Put(v, 1, MPI_INT, next, 0, 1, MPI_INT, w);
    CHECK_EQ(put, MPI_SUCCESS);
    put = MPI_Accumulate(v, 2, MPI_INT, next, N + 5, 2, MPI_INT, MPI_SUM, w);
    get = MPI_Get(r, 3, MPI_INT, next, N, 3, MPI_INT, w);
    unlock = MPI_Win_unlock(next, w);
    if (put) {
        SAYS(put, MPI_ERR_RMA_RANGE,
             "MPI_Accumulate: 2 elements at displacement %d (unit 4: bytes %d to %d) do not lie "
             "in the %d bytes of rank %d", N + 5, 4 * N + 20, 4 * N + 27, 4 * N, next);
        CHECK(get != MPI_SUCCESS);
    } else if (unlock) {
        char s[MPI_MAX_ERROR_STRING], acc[200], got[200];
        int n;

        MPI_Error_string(unlock, s, &n);
        snprintf(acc, sizeof acc,
                 "MPI_Win_unlock: an accumulate of 2 MPI_INT at displacement %d was refused by "
                 "rank %d of "
                 "window 0x%x: it does not lie in the window there (%d bytes)",
                 N + 5, next, (unsigned)w, N * (int)sizeof *v);
        snprintf(got, sizeof got,
                 "MPI_Win_unlock: a get of 3 MPI_INT at displacement %d was refused by rank %d of "
                 "window 0x%x: it does not lie in the window there (%d bytes)",
                 N, next, (unsigned)w, N * (int)sizeof *v);
        MUST(strcmp(s, acc) == 0 || strcmp(s, got) == 0, "the text is \"%s\"", s);
    } else {
        CHECK(get != MPI_SUCCESS);
    }

    /* A layout that is no predefined type. */
    MPI_Type_vector(2, 1, N, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    GOOD(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, w));
    put = MPI_Put(v, 2, MPI_INT, next, 1, 1, pairs, w);
    unlock = MPI_Win_unlock(next, w);
    if (!put)
        SAYS(unlock, MPI_ERR_RMA_RANGE,
             "MPI_Win_unlock: a put of 1 of a derived datatype at displacement 1 was refused by "
             "rank %d",
             next);
    MPI_Type_free(&pairs);
}

/* Far ones in parts end soon after the first part was refused, and many end with the text of the
 * first: more than there is room for texts.  Elements that lie upon each other make a long put of
 * little memory. */
static void long_ones(MPI_Win w)
{
    int v[4] = { 7, 7, 7, 7 }, next = (mt_rank + 1) % mt_size, err, unlock, i, k;
    MPI_Count n = (MPI_Count)1 << 60;
    double begin = MPI_Wtime();
    MPI_Datatype still;

    MPI_Type_create_resized(MPI_INT, 0, 0, &still);
    MPI_Type_commit(&still);
    for (k = 0; k < 3; k++) {
        const char *call = k == 0   ? "MPI_Get_c"
                           : k == 1 ? "MPI_Put_c"
                                    : "MPI_Accumulate_c",
                   *what[] = {"a get", "a put", "an accumulate"};

        GOOD(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w));
        err = k == 0   ? MPI_Get_c(v, n, MPI_INT, next, 1, n, MPI_INT, w)
              : k == 1 ? MPI_Put_c(v, n, still, next, 1, n, MPI_INT, w)
                       : MPI_Accumulate_c(v, n, still, next, 1, n, MPI_INT, MPI_SUM, w);
        unlock = MPI_Win_unlock(next, w);
        if (err)
            SAYS(err, MPI_ERR_RMA_RANGE,
                 "%s: 1152921504606846976 elements at displacement 1 (unit 4: bytes 4 to "
                 "4611686018427387907) do not lie in the %d bytes of rank %d", call, 4 * N, next);
        else
            SAYS(unlock, MPI_ERR_RMA_RANGE,
                 "MPI_Win_unlock: %s of 1152921504606846976 MPI_INT at displacement 1 was refused "
                 "by rank %d of "
                 "window 0x%x: it does not lie in the window there (%d bytes)",
                 what[k], next, (unsigned)w, N * (int)sizeof *v);
    }
    MPI_Type_free(&still);
    MUST(MPI_Wtime() - begin < 60, "they took %.0f s", MPI_Wtime() - begin);
    GOOD(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w));
    for (i = err = 0; i < 1000 && !err; i++)
        err = MPI_Get(v, 1, MPI_INT, next, N + i, 1, MPI_INT, w);
    unlock = MPI_Win_unlock(next, w);
    if (!err)
        SAYS(unlock, MPI_ERR_RMA_RANGE,
             "MPI_Win_unlock: a get of 1 MPI_INT at displacement %d was refused by rank %d", N,
             next);
}

/* An error of a request is the window's (MPI-3.1 8.3), wherever it shows, and whether or not the
 * window is there still. */
static void requests(MPI_Win w)
{
    int v[4], next = (mt_rank + 1) % mt_size, err[2], called = 0;
    MPI_Errhandler eh, had;
    MPI_Request req[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };

    MPI_Win_get_errhandler(w, &had);
    MPI_Win_create_errhandler(handler, &eh);
    MPI_Win_set_errhandler(w, eh);
    handled = 0;
    GOOD(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w));
    err[0] = MPI_Rget(v, 4, MPI_INT, next, N - 3, 4, MPI_INT, w, &req[0]);
    called += err[0] != MPI_SUCCESS;
    CHECK_EQ(handled, called);
    err[0] = MPI_Wait(&req[0], MPI_STATUS_IGNORE);
    called += err[0] != MPI_SUCCESS;
    CHECK_EQ(called, 1);
    CHECK_EQ(handled, 1);
    CHECK_EQ(handled_cls, MPI_ERR_RMA_RANGE);
    CHECK(handled_win == w);
    err[0] = MPI_Rget(v, 1, MPI_INT, next, N - 1, 1, MPI_INT, w, &req[0]);
    err[1] = MPI_Rget(v, 1, MPI_INT, next, N, 1, MPI_INT, w, &req[1]);
    CHECK_EQ(err[0], MPI_SUCCESS);
    if (!err[1]) {
        MPI_Status st[2];

        handled_cls = 0;
        CHECK(MPI_Waitall(2, req, st) != MPI_SUCCESS);
        CHECK_EQ(handled_cls, MPI_ERR_IN_STATUS);
        CHECK_EQ(st[0].MPI_ERROR, MPI_SUCCESS);
        SAYS(st[1].MPI_ERROR, MPI_ERR_RMA_RANGE,
             "MPI_Waitall: MPI_Rget of 1 MPI_INT at displacement %d was refused by rank %d", N,
             next);
    } else {
        GOOD(MPI_Wait(&req[0], MPI_STATUS_IGNORE));
    }
    CHECK_EQ(handled, 2);
    GOOD(MPI_Win_unlock(next, w));
    MPI_Win_set_errhandler(w, had);
    MPI_Errhandler_free(&had);
    MPI_Errhandler_free(&eh);
}

enum asking { BY_WAIT, BY_TEST, BY_WAITANY, BY_STATUS, ASKS };

/* The error of req by one call or another. */
static int ask(enum asking how, MPI_Request *req)
{
    int err = MPI_SUCCESS, flag = 0, at;

    while (how == BY_STATUS && !flag) /* another call than the one that returns the error */
        MPI_Request_get_status(*req, &flag, MPI_STATUS_IGNORE);
    if (how == BY_WAITANY)
        return MPI_Waitany(1, req, &at, MPI_STATUS_IGNORE);
    for (flag = 0; how == BY_TEST && !flag;)
        err = MPI_Test(req, &flag, MPI_STATUS_IGNORE);
    return how == BY_TEST ? err : MPI_Wait(req, MPI_STATUS_IGNORE);
}

/* It names the call that returns it, the one that made the request, and the window. */
static void requests_by_name(MPI_Win w)
{
    static const char *const by[] = { "MPI_Wait", "MPI_Test", "MPI_Waitany", "MPI_Wait" };
    int v = 1, r[2], next = (mt_rank + 1) % mt_size, how, fetch, err;
    MPI_Request req;

    MPI_Win_set_name(w, "halo");
    for (how = 0; how < ASKS; how++)
        for (fetch = 0; fetch < 2; fetch++) {
            const char *made = fetch ? "MPI_Rget_accumulate" : "MPI_Rget";

            GOOD(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w));
            err = fetch ? MPI_Rget_accumulate(&v, 1, MPI_INT, r, 1, MPI_INT, next, N, 1, MPI_INT,
                                              MPI_SUM, w, &req)
                        : MPI_Rget(r, 2, MPI_INT, next, N, 2, MPI_INT, w, &req);
            if (err)
                SAYS(err, MPI_ERR_RMA_RANGE,
                     "%s: %d element%s at displacement %d (unit 4: bytes %d to %d) %s not lie in "
                     "the %d bytes of rank %d",
                     made, 2 - fetch, fetch ? "" : "s", N, 4 * N, 4 * (N + 2 - fetch) - 1,
                     fetch ? "does" : "do", 4 * N, next);
            else
                SAYS(ask((enum asking)how, &req), MPI_ERR_RMA_RANGE,
                     "%s: %s of %d MPI_INT at displacement %d was refused by rank %d of "
                     "window \"halo\": it does not lie in the window there (%d bytes)",
                     by[how], made, 2 - fetch, N, next, N * (int)sizeof v);
            (void)MPI_Win_unlock(next, w); /* an accumulate may report it once more */
        }
    MPI_Win_set_name(w, "");
}

enum { MANY = 300 }; /* more than there are texts of errors */

/* One that is out of range; the class of the call's error. */
static int refused_one(MPI_Win w, int i, int next, int *v, int *r, MPI_Request *req)
{
    *req = MPI_REQUEST_NULL;
    switch (i % 4) {
    case 0: return mt_class(MPI_Rget(r, 1, MPI_INT, next, N + i, 1, MPI_INT, w, req));
    case 1:
        return mt_class(MPI_Rget_accumulate(v, 1, MPI_INT, r, 1, MPI_INT, next, N + i, 1, MPI_INT,
                                            MPI_SUM, w, req));
    case 2: return mt_class(MPI_Rput(v, 1, MPI_INT, next, N + i, 1, MPI_INT, w, req));
    default:
        return mt_class(MPI_Raccumulate(v, 1, MPI_INT, next, N + i, 1, MPI_INT, MPI_SUM, w, req));
    }
}

/* One of them has ended with `err`: the class, and a text that gives at least the place. */
static void told(int err, int i, int next)
{
    char s[MPI_MAX_ERROR_STRING] = "", rank[40];
    int n;
    if (i % 4 > 1 && err == MPI_SUCCESS)
        return; /* an operation without an answer is reported at the end of the epoch */
    snprintf(rank, sizeof rank, " rank %d of ", next);
    MPI_Error_string(err, s, &n);
    MUST(mt_class(err) == MPI_ERR_RMA_RANGE, "request %d: class %d, \"%s\"", i, mt_class(err), s);
    MUST(!strncmp(s, "MPI_", 4) && strstr(s, rank), "request %d: the text is \"%s\"", i, s);
}

/* However many are refused at once, asked for together or one by one. */
static void many_refused(MPI_Win w)
{
    static MPI_Request req[MANY];
    static MPI_Status st[MANY];
    static int v[MANY], r[MANY];
    int next = (mt_rank + 1) % mt_size, at_call, cls, err, i, turn;

    for (turn = 0; turn < 2; turn++) {
        GOOD(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w));
        for (i = at_call = 0; i < MANY; i++) {
            cls = refused_one(w, i, next, &v[i], &r[i], &req[i]);
            MUST(cls == MPI_SUCCESS || (cls == MPI_ERR_RMA_RANGE && req[i] == MPI_REQUEST_NULL),
                 "call %d: class %d", i, cls);
            at_call += cls != MPI_SUCCESS;
        }
        MUST(at_call == 0 || at_call == MANY, "%d of %d calls were refused at once", at_call, MANY);
        if (turn == 0) {
            err = MPI_Waitall(MANY, req, st);
            CHECK_EQ(mt_class(err), at_call ? MPI_SUCCESS : MPI_ERR_IN_STATUS);
        }
        for (i = 0; i < MANY; i++) {
            err = turn ? MPI_Wait(&req[i], MPI_STATUS_IGNORE) : st[i].MPI_ERROR;
            if (!at_call)
                told(err, i, next);
        }
        err = MPI_Win_unlock(next, w); /* puts and accumulates have nothing to come back with */
        CHECK_EQ(mt_class(err), at_call ? MPI_SUCCESS : MPI_ERR_RMA_RANGE);
    }
}

/* The request outlives the epoch and the window, whose handler answers all the same. */
static void request_of_the_past(void)
{
    int v, next = (mt_rank + 1) % mt_size, mem[N], err;
    MPI_Errhandler eh;
    MPI_Request req;
    MPI_Win w;

    MPI_Win_create(mem, sizeof mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
    MPI_Win_create_errhandler(handler, &eh);
    MPI_Win_set_errhandler(w, eh);
    MPI_Win_set_name(w, "past");
    handled = 0;
    GOOD(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w));
    err = MPI_Rget(&v, 1, MPI_INT, next, N, 1, MPI_INT, w, &req);
    GOOD(MPI_Win_unlock(next, w));
    GOOD(MPI_Win_free(&w));
    MPI_Errhandler_free(&eh);
    if (!err)
        SAYS(MPI_Wait(&req, MPI_STATUS_IGNORE), MPI_ERR_RMA_RANGE,
             "MPI_Wait: MPI_Rget of 1 MPI_INT at displacement %d was refused by rank %d of "
             "window \"past\"",
             N, next);
    CHECK_EQ(handled, 1);
    CHECK_EQ(handled_cls, MPI_ERR_RMA_RANGE);
}

/* Displacement units: a value above an int is an error where an int is asked for. */
static void units(void)
{
    const MPI_Aint large = (MPI_Aint)INT_MAX + 1;
    MPI_Win w;
    int *p, mem[4], unit;
    MPI_Aint size;

    SAYS(MPI_Win_create(mem, 4, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &w), MPI_ERR_DISP,
         "MPI_Win_create: displacement unit is 0; it must be positive");
    SAYS(MPI_Win_create_c(mem, 4, -5, MPI_INFO_NULL, MPI_COMM_WORLD, &w), MPI_ERR_DISP,
         "MPI_Win_create_c: displacement unit is -5; it must be positive");
    GOOD(MPI_Win_create_c(mem, sizeof mem, large, MPI_INFO_NULL, MPI_COMM_WORLD, &w));
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    SAYS(MPI_Win_get_attr(w, MPI_WIN_DISP_UNIT, &p, &unit), MPI_ERR_VALUE_TOO_LARGE,
         "MPI_Win_get_attr: the displacement unit is %lld, more than an int holds",
         (long long)large);
    SAYS(MPI_Win_shared_query(w, mt_rank, &size, &unit, &p), MPI_ERR_VALUE_TOO_LARGE,
         "MPI_Win_shared_query: the displacement unit is %lld, more than an int holds",
         (long long)large);
    MPI_Win_free(&w);
    GOOD(MPI_Win_create_c(mem, sizeof mem, INT_MAX, MPI_INFO_NULL, MPI_COMM_WORLD, &w));
    GOOD(MPI_Win_shared_query(w, mt_rank, &size, &unit, &p));
    CHECK(p == mem && unit == INT_MAX);
    MPI_Win_free(&w);
}

/* A window over all ranks has shared memory only if they are on one node; else the error gives
 * the number of those that are not. */
static void shared(int on_node)
{
    MPI_Win w = MPI_WIN_NULL, c;
    int unit, *p, mem[4], err;
    MPI_Aint size;

    err = MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w);
    if (on_node == mt_size) {
        GOOD(err);
        MPI_Win_free(&w);
    } else {
        SAYS(err, MPI_ERR_RMA_SHARED,
             "MPI_Win_allocate_shared: %d of %d processes are on other nodes", mt_size - on_node,
             mt_size);
        CHECK(w == MPI_WIN_NULL);
    }
    MPI_Win_create(mem, sizeof mem, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &c);
    MPI_Win_set_errhandler(c, MPI_ERRORS_RETURN);
    SAYS(MPI_Win_attach(c, mem, 4), MPI_ERR_RMA_FLAVOR,
         "MPI_Win_attach: window 0x%x was not made by MPI_Win_create_dynamic", (unsigned)c);
    MPI_Win_free(&c);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &c);
    MPI_Win_set_errhandler(c, MPI_ERRORS_RETURN);
    SAYS(MPI_Win_shared_query(c, 0, &size, &unit, &p), MPI_ERR_RMA_FLAVOR,
         "MPI_Win_shared_query: window 0x%x is dynamic: it has no memory of its own", (unsigned)c);
    SAYS(MPI_Win_detach(c, mem), MPI_ERR_RMA_ATTACH,
         "MPI_Win_detach: no attached region begins at %p", (void *)mem);
    SAYS(MPI_Win_attach(c, mem, -5), MPI_ERR_SIZE, "MPI_Win_attach: size is -5, less than 0");
    GOOD(MPI_Win_attach(c, mem, sizeof mem));
    SAYS(MPI_Win_attach(c, mem + 1, 4), MPI_ERR_RMA_ATTACH,
         "MPI_Win_attach: [%p, +4) overlaps memory that is attached already", (void *)(mem + 1));
    GOOD(MPI_Win_detach(c, mem));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&c);
}

static int ranks_of_node(void)
{
    MPI_Comm node;
    int n;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n);
    MPI_Comm_free(&node);
    return n;
}

int main(int argc, char **argv)
{
    int mem[N + 8], i, v, next, strict = argc > 1 && strcmp(argv[1], "--args-only") == 0 ? 0 : 1;
    MPI_Win w;
    MPI_Errhandler h;

    mt_init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    next = (mt_rank + 1) % mt_size;
    for (i = 0; i < N + 8; i++)
        mem[i] = -1;
    MPI_Win_create(mem, N * sizeof *mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    arguments(w);
    states(w);
    texts(w);
    if (strict) {
        ranges(w, mem);
        texts_of_ranges(w);
        long_ones(w);
        requests(w);
        requests_by_name(w);
        many_refused(w);
        request_of_the_past();
    }
    /* still in order */
    MPI_Win_fence(0, w);
    v = 100 + mt_rank;
    MPI_Put(&v, 1, MPI_INT, next, 3, 1, MPI_INT, w);
    MPI_Win_fence(0, w);
    CHECK_EQ(mem[3], 100 + (mt_rank + mt_size - 1) % mt_size);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
    MPI_Win_create_errhandler(handler, &h);
    MPI_Win_set_errhandler(w, h);
    MPI_Errhandler_free(&h);
    handled = 0;
    CHECK(MPI_Win_unlock(next, w) != MPI_SUCCESS);
    CHECK_EQ(handled, 1);
    MPI_Win_call_errhandler(w, MPI_ERR_OTHER);
    CHECK_EQ(handled, 2);
    MPI_Win_free(&w);
    flavours();
    too_large();
    units();
    negative_address();
    beside_refused();
    longer_target();
    shared(ranks_of_node());
    return mt_finish();
}
