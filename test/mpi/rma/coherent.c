/* coherent.c - coherent windows: every operation on data whose newest instance is on a device, by
 * every synchronization; kernels, streams, conflicts, capacity, errors.  An argument "--space NAME"
 * takes another device than sim:0; on CUDA devices, kernels come from gpu.h. */
#include "rw.h"

#include <string.h>

#include "../../gpu/gpu.h"

enum { N = 24 << 10, BYTES = N * 8, LANE = 1024 };

static int dev, dev2, cuda; /* cuda: dev is a CUDA device */
static const char *spaces = "host,sim:0,sim:1";

static MPI_Info info_of(const char *value, const char *bytes)
{
    MPI_Info i = rw_info("mpix_win_spaces", value);

    if (bytes)
        MPI_Info_set(i, "mpix_win_bytes", bytes);
    return i;
}

static MPI_Win window(const char *bytes, long long **base)
{
    MPI_Info i = info_of(spaces, bytes);
    MPI_Win win;

    MPI_Win_allocate(BYTES, 8, i, MPI_COMM_WORLD, base, &win);
    MPI_Info_free(&i);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    return win;
}

struct fill {
    long long from, step;
    int n;
};

static void number(void *const *ptr, const void *arg)
{
    const struct fill *f = arg;
    long long *p = ptr[0];
    int i;

    for (i = 0; i < f->n; i++)
        p[i] = f->from + i * f->step;
}

static void add(void *const *ptr, const void *arg)
{
    const struct fill *f = arg;
    long long *p = ptr[0];
    int i;

    for (i = 0; i < f->n; i++)
        p[i] += f->from;
}

/* One of these two on the elements of p, in a stream; the result. */
static int launch(int space, void *stream, void (*fn)(void *const *, const void *), void *p,
                  struct fill *f)
{
    void *param[] = {&p, &f->from, &f->n};

    if (cuda && space == dev)
        return gpu_launch(fn == number ? "number" : "add", stream, (unsigned)f->n, param);
    return MPIX_Space_launch(space, stream, fn, 1, &p, f, sizeof *f);
}

/* A kernel on elements [at, at + n) of the own window. */
static void kernel(MPI_Win win, int space, void (*fn)(void *const *, const void *), int at, int n,
                   long long from, int mode)
{
    struct fill f = {from, 1, n};
    void *p;

    CHECK_EQ(MPIX_Win_acquire(win, (MPI_Aint)at * 8, (MPI_Aint)n * 8, space, mode, &p),
             MPI_SUCCESS);
    CHECK_EQ(launch(space, NULL, fn, p, &f), 0);
    CHECK_EQ(cuda && space == dev ? gpu_wait(NULL) : MPIX_Space_wait(space, NULL), 0);
    CHECK_EQ(MPIX_Win_release(win, (MPI_Aint)at * 8, (MPI_Aint)n * 8, space), MPI_SUCCESS);
}

/* All of the own window, as the host sees it. */
static int holds(MPI_Win win, int at, int n, long long from)
{
    long long *p;
    int i, wrong = 0;

    CHECK_EQ(MPIX_Win_acquire(win, (MPI_Aint)at * 8, (MPI_Aint)n * 8, 0, MPIX_WIN_READ, &p),
             MPI_SUCCESS);
    for (i = 0; i < n; i++)
        wrong += p[i] != from + i;
    CHECK_EQ(MPIX_Win_release(win, (MPI_Aint)at * 8, (MPI_Aint)n * 8, 0), MPI_SUCCESS);
    return !wrong;
}

/* --- operations ------------------------------------------------------------------------------- */

enum { FENCE, LOCK, LOCK_ALL, PSCW, SYNCS };
static MPI_Group all;

static void begin(MPI_Win win, int how, int to)
{
    if (how == FENCE)
        MPI_Win_fence(0, win);
    else
        MPI_Barrier(MPI_COMM_WORLD);
    if (how == LOCK)
        MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
    if (how == LOCK_ALL)
        MPI_Win_lock_all(0, win);
    if (how == PSCW) {
        MPI_Win_post(all, 0, win);
        MPI_Win_start(all, 0, win);
    }
}

static int end(MPI_Win win, int how, int to)
{
    int err = MPI_SUCCESS;

    if (how == FENCE)
        err = MPI_Win_fence(0, win);
    if (how == LOCK)
        err = MPI_Win_unlock(to, win);
    if (how == LOCK_ALL)
        err = MPI_Win_unlock_all(win);
    if (how == PSCW) {
        err = MPI_Win_complete(win);
        MPI_Win_wait(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return err;
}

/* The newest instance of a neighbour's data is on a device while operations act on it. */
static void operations(MPI_Win win, int how)
{
    int to = (mt_rank + 1) % mt_size, from = (mt_rank + mt_size - 1) % mt_size, i, wrong = 0;
    long long *got = mt_alloc(BYTES), *out = mt_alloc(BYTES), one = 5, old = 0, swap = 77, was;
    MPI_Datatype cols;

    MPI_Type_vector(100, 3, 17, MPI_LONG_LONG, &cols);
    MPI_Type_commit(&cols);
    kernel(win, dev, number, 0, N, 1000 * mt_rank, MPIX_WIN_DISCARD);
    begin(win, how, to);
    MPI_Get(got, N, MPI_LONG_LONG, to, 0, N, MPI_LONG_LONG, win);
    CHECK_EQ(end(win, how, to), MPI_SUCCESS);
    for (i = 0; i < N; i++)
        wrong += got[i] != 1000 * to + i;
    CHECK_EQ(wrong, 0);
    /* part of a lane, whole lanes, a layout, atomics: each over a fresh device instance */
    kernel(win, dev2, number, 0, N, 2000 * mt_rank, MPIX_WIN_DISCARD);
    for (i = 0; i < N; i++)
        out[i] = -i;
    begin(win, how, to);
    MPI_Put(out, 3, MPI_LONG_LONG, to, 5, 3, MPI_LONG_LONG, win);
    MPI_Put(out, 2000, MPI_LONG_LONG, to, 1001, 2000, MPI_LONG_LONG, win);
    MPI_Put(out, 1, cols, to, 4000, 1, cols, win);
    MPI_Accumulate(&one, 1, MPI_LONG_LONG, to, 8000, 1, MPI_LONG_LONG, MPI_SUM, win);
    MPI_Fetch_and_op(&one, &old, MPI_LONG_LONG, to, 8500, MPI_SUM, win);
    was = 2000 * to + 9000;
    MPI_Compare_and_swap(&swap, &was, got, MPI_LONG_LONG, to, 9000, win);
    MPI_Get_accumulate(out, 1000, MPI_LONG_LONG, got + 1, 1000, MPI_LONG_LONG, to, 10000, 1000,
                       MPI_LONG_LONG, MPI_SUM, win);
    CHECK_EQ(end(win, how, to), MPI_SUCCESS);
    CHECK_EQ(old, 2000 * to + 8500);
    CHECK_EQ(got[0], was);
    for (i = 0, wrong = 0; i < 1000; i++)
        wrong += got[1 + i] != 2000 * to + 10000 + i;
    CHECK_EQ(wrong, 0);
    /* what the left neighbour did, in the device's eyes: the kernel adds to the newest */
    kernel(win, dev, add, 0, N, 10, MPIX_WIN_WRITE);
    long long *p, b = 2000 * mt_rank + 10;
    MPIX_Win_acquire(win, 0, BYTES, 0, MPIX_WIN_READ, &p);
    CHECK_EQ(p[4], b + 4);
    CHECK_EQ(p[5], 10);
    CHECK_EQ(p[7], 8);
    CHECK_EQ(p[8], b + 8);
    CHECK_EQ(p[1001], 10);
    CHECK_EQ(p[3000], 10 - 1999);
    CHECK_EQ(p[3001], b + 3001);
    CHECK_EQ(p[4000 + 17 * 9 + 1], 10 - (17 * 9 + 1));
    CHECK_EQ(p[4000 + 17 * 9 + 3], b + 4000 + 17 * 9 + 3);
    CHECK_EQ(p[8000], b + 8000 + 5);
    CHECK_EQ(p[8500], b + 8500 + 5);
    CHECK_EQ(p[9000], 10 + 77);
    for (i = 0, wrong = 0; i < 1000; i++)
        wrong += p[10000 + i] != b + 10000;
    CHECK_EQ(wrong, 0);
    CHECK_EQ(p[N - 1], b + N - 1);
    MPIX_Win_release(win, 0, BYTES, 0);
    MPI_Type_free(&cols);
    free(got);
    free(out);
    (void)from;
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What the left neighbour does to data whose newest instance is on a device, counted here: the host
 * and then the device see it, with no flush anywhere. */
static void notified(MPI_Win win)
{
    const MPI_Datatype t = MPI_LONG_LONG;
    int to = (mt_rank + 1) % mt_size, from = (mt_rank + mt_size - 1) % mt_size, i, wrong = 0;
    long long *got = mt_alloc(BYTES), *out = mt_alloc(BYTES);
    MPI_Count left = -1;

    for (i = 0; i < N; i++)
        out[i] = 5000 * mt_rank + i;
    MPIX_Win_notify_set_num(win, MPI_INFO_NULL, 3);
    kernel(win, dev, number, 0, N, 1000 * mt_rank, MPIX_WIN_DISCARD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    MPIX_Get_notify(got, N, t, to, 0, N, t, 0, win);
    MPIX_Win_notify_take(win, 0, 1);
    kernel(win, dev2, number, 0, N, -1, MPIX_WIN_DISCARD); /* it was read, so it may change */
    MPI_Win_flush(to, win);
    for (i = 0; i < N; i++)
        wrong += got[i] != 1000 * to + i;
    CHECK_EQ(wrong, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPIX_Put_notify(out, 2000, t, to, 1001, 2000, t, 1, win);
    MPIX_Win_notify_take(win, 1, 1);
    CHECK(holds(win, 1001, 2000, 5000 * from));
    CHECK(holds(win, 0, 1001, -1));
    MPI_Barrier(MPI_COMM_WORLD);
    kernel(win, dev, add, 0, N, 10, MPIX_WIN_WRITE);
    MPI_Barrier(MPI_COMM_WORLD);
    for (i = 0; i < 100; i++)
        out[i] = 7;
    MPIX_Accumulate_notify(out, 100, t, to, 1001, 100, t, MPI_SUM, 2, win);
    MPIX_Put_notify(NULL, 0, t, to, 0, 0, t, 2, win);
    MPIX_Win_notify_take(win, 2, 2);
    CHECK(holds(win, 1001, 100, 5000 * from + 17));
    kernel(win, dev, add, 0, N, 1, MPIX_WIN_WRITE);
    CHECK(holds(win, 1001, 100, 5000 * from + 18));
    MPI_Win_unlock_all(win);
    for (i = 0; i < 3; i++) {
        MPIX_Win_notify_get_value(win, i, &left);
        CHECK_EQ(left, 0);
    }
    free(got);
    free(out);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* --- conflicts -------------------------------------------------------------------------------- */

/* A lane that a device holds for writing is refused, and nothing happens; others work. */
static void conflicts(MPI_Win win)
{
    int to = (mt_rank + 1) % mt_size, e1, e2;
    long long v = 9, got = 0;
    char text[MPI_MAX_ERROR_STRING];
    int len;
    void *p, *q;

    kernel(win, dev, number, 0, N, 100, MPIX_WIN_DISCARD);
    CHECK_EQ(MPIX_Win_acquire(win, 1024, 1024, dev, MPIX_WIN_WRITE, &p), MPI_SUCCESS);
    CHECK_EQ(mt_class(MPIX_Win_acquire(win, 2040, 16, 0, MPIX_WIN_READ, &q)), MPI_ERR_RMA_CONFLICT);
    CHECK_EQ(MPIX_Win_acquire(win, 2048, 16, 0, MPIX_WIN_READ, &q), MPI_SUCCESS);
    CHECK_EQ(MPIX_Win_release(win, 2048, 16, 0), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
    e1 = MPI_Put(&v, 1, MPI_LONG_LONG, to, 130, 1, MPI_LONG_LONG, win);
    e2 = MPI_Win_flush(to, win);
    e1 = e1 ? e1 : e2;
    CHECK_EQ(mt_class(e1), MPI_ERR_RMA_CONFLICT);
    MPI_Error_string(e1, text, &len);
    CHECK(strstr(text, "byte 1040") != NULL && strstr(text, "in ") != NULL);
    e1 = MPI_Get(&got, 1, MPI_LONG_LONG, to, 200, 1, MPI_LONG_LONG, win);
    e2 = MPI_Win_flush(to, win);
    CHECK_EQ(mt_class(e1 ? e1 : e2), MPI_ERR_RMA_CONFLICT);
    CHECK_EQ(MPI_Get(&got, 1, MPI_LONG_LONG, to, 256, 1, MPI_LONG_LONG, win), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_unlock(to, win), MPI_SUCCESS);
    CHECK_EQ(got, 100 + 256);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(mt_class(MPI_Win_free(&win)), MPI_ERR_RMA_SYNC);
    CHECK_EQ(MPIX_Win_release(win, 1024, 1024, dev), MPI_SUCCESS);
    CHECK(holds(win, 0, N, 100));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* --- streams ---------------------------------------------------------------------------------- */

static void streams(MPI_Win win)
{
    int to = (mt_rank + 1) % mt_size, round, other;
    struct fill f = {0, 1, N};
    long long *got = mt_alloc(BYTES);
    void *p, *stream = &other;

    if (cuda)
        CHECK_EQ(gpu.stream(&stream, 1), 0);

    for (round = 1; round <= 20; round++) {
        MPI_Win_fence(0, win);
        f.from = 100000 * round + mt_rank;
        CHECK_EQ(MPIX_Win_acquire_on_stream(win, 0, BYTES, dev, MPIX_WIN_DISCARD, stream, &p),
                 MPI_SUCCESS);
        CHECK_EQ(launch(dev, stream, number, p, &f), 0);
        CHECK_EQ(MPIX_Win_release_on_stream(win, 0, BYTES, dev, stream), MPI_SUCCESS);
        CHECK_EQ(MPIX_Win_acquire_on_stream(win, 80, 800, dev2, MPIX_WIN_WRITE, &other, &p),
                 MPI_SUCCESS);
        f.n = 100;
        f.from = 7;
        CHECK_EQ(launch(dev2, &other, add, p, &f), 0);
        CHECK_EQ(MPIX_Win_release_on_stream(win, 80, 800, dev2, &other), MPI_SUCCESS);
        MPI_Win_fence(0, win);
        f.n = N;
        MPI_Get(got, N, MPI_LONG_LONG, to, 0, N, MPI_LONG_LONG, win);
        CHECK_EQ(MPI_Win_fence(0, win), MPI_SUCCESS);
        CHECK_EQ(got[0], 100000 * round + to);
        CHECK_EQ(got[10], 100000 * round + to + 10 + 7);
        CHECK_EQ(got[109], 100000 * round + to + 109 + 7);
        CHECK_EQ(got[N - 1], 100000 * round + to + N - 1);
    }
    free(got);
}

/* --- capacity, errors ------------------------------------------------------------------------- */

/* A budget of a third of the window: right, and refused only when all is held. */
static void capacity(void)
{
    long long *base;
    MPI_Win win = window("65536", &base);
    int k, state, held;
    MPI_Count valid;
    void *p, *q;

    for (k = 0; k < 12; k++) /* pieces of 2048 elements, 16 KiB */
        kernel(win, k % 2 ? dev : dev2, number, k * 2048, 2048, k * 2048, MPIX_WIN_DISCARD);
    CHECK(holds(win, 0, N, 0));
    for (k = 0; k < 12; k++)
        kernel(win, dev, add, k * 2048, 2048, 3, MPIX_WIN_WRITE);
    CHECK(holds(win, 0, N, 3));
    CHECK_EQ(MPIX_Win_acquire(win, 0, 100, dev, MPIX_WIN_READ, &p), MPI_SUCCESS);
    CHECK_EQ(mt_class(MPIX_Win_acquire(win, 100000, 100, dev, MPIX_WIN_READ, &q)), MPI_ERR_NO_MEM);
    CHECK_EQ(mt_class(MPIX_Win_evict(win, 0, 4096, dev)), MPI_ERR_RMA_SYNC);
    CHECK_EQ(MPIX_Win_tile(win, 50, dev, &state, &held, &valid), MPI_SUCCESS);
    CHECK(state != MPIX_TILE_MODIFIED && held == 1 && valid >= LANE);
    CHECK_EQ(MPIX_Win_release(win, 0, 100, dev), MPI_SUCCESS);
    CHECK_EQ(MPIX_Win_prefetch(win, 0, 4096, dev), MPI_SUCCESS);
    CHECK_EQ(MPIX_Win_evict(win, 0, 65536, dev), MPI_SUCCESS);
    CHECK_EQ(MPIX_Win_tile(win, 50, dev, &state, &held, &valid), MPI_SUCCESS);
    CHECK(state == MPIX_TILE_INVALID && held == 0 && valid == 0);
    CHECK_EQ(MPI_Win_free(&win), MPI_SUCCESS);
}

static void arguments(MPI_Win win)
{
    int s, flag, *model;
    void *p;
    char *mem = mt_alloc(100);
    MPI_Info i = info_of("host,sim:9", NULL);
    MPI_Win other;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_EQ(MPIX_Space_find("sim:7", &s), MPI_SUCCESS);
    CHECK_EQ(s, MPI_UNDEFINED);
    CHECK_EQ(mt_class(MPIX_Space_find("sim", &s)), MPI_ERR_ARG);
    CHECK_EQ(mt_class(MPI_Win_create(mem, 100, 1, i, MPI_COMM_WORLD, &other)), MPI_ERR_ARG);
    MPI_Info_set(i, "mpix_win_spaces", spaces);
    CHECK_EQ(mt_class(MPI_Win_create_dynamic(i, MPI_COMM_WORLD, &other)), MPI_ERR_RMA_FLAVOR);
    MPI_Info_set(i, "mpix_win_tile", "5000");
    CHECK_EQ(mt_class(MPI_Win_create(mem, 100, 1, i, MPI_COMM_WORLD, &other)), MPI_ERR_ARG);
    MPI_Info_free(&i);
    CHECK_EQ(mt_class(MPIX_Win_acquire(win, 0, BYTES + 1, dev, MPIX_WIN_READ, &p)),
             MPI_ERR_RMA_RANGE);
    CHECK_EQ(mt_class(MPIX_Win_acquire(win, -1, 1, dev, MPIX_WIN_READ, &p)), MPI_ERR_RMA_RANGE);
    CHECK_EQ(mt_class(MPIX_Win_acquire(win, 0, 1, dev, 3, &p)), MPI_ERR_ARG);
    CHECK_EQ(mt_class(MPIX_Win_acquire(win, 0, 1, 12345678, MPIX_WIN_READ, &p)), MPI_ERR_ARG);
    CHECK_EQ(mt_class(MPIX_Win_release(win, 0, 1, dev)), MPI_ERR_ARG);
    CHECK_EQ(MPIX_Win_acquire(win, BYTES, 0, dev, MPIX_WIN_READ, &p), MPI_SUCCESS);
    CHECK_EQ(MPIX_Win_release(win, BYTES, 0, dev), MPI_SUCCESS);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag);
    CHECK(flag && *model == MPI_WIN_SEPARATE);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &other);
    MPI_Win_set_errhandler(other, MPI_ERRORS_RETURN);
    CHECK_EQ(mt_class(MPIX_Win_acquire(other, 0, 1, dev, MPIX_WIN_READ, &p)), MPI_ERR_RMA_FLAVOR);
    MPI_Win_free(&other);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    free(mem);
}

/* The user's memory has all data when the window is gone. */
static void created(void)
{
    long long *mem = mt_alloc(BYTES);
    MPI_Info i = info_of(spaces, NULL);
    MPI_Win win;
    int k, wrong = 0;

    MPI_Win_create(mem, BYTES, 8, i, MPI_COMM_WORLD, &win);
    MPI_Info_free(&i);
    kernel(win, dev, number, 0, N, 40, MPIX_WIN_DISCARD);
    MPI_Win_free(&win);
    for (k = 0; k < N; k++)
        wrong += mem[k] != 40 + k;
    CHECK_EQ(wrong, 0);
    free(mem);
}

int main(int argc, char **argv)
{
    static char list[64];
    long long *base;
    int how;

    mt_init(&argc, &argv);
    if (argc > 2 && !strcmp(argv[1], "--space")) {
        snprintf(list, sizeof list, "host,%s,sim:1", argv[2]);
        spaces = list;
        cuda = gpu_open(argv[2]);
    }
    MPI_Win win = window(NULL, &base);
    MPIX_Space_find(argc > 2 ? argv[2] : "sim:0", &dev);
    MPIX_Space_find("sim:1", &dev2);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (how = 0; how < SYNCS; how++)
        operations(win, how);
    notified(win);
    conflicts(win);
    streams(win);
    arguments(win);
    MPI_Win_free(&win);
    if (!cuda) /* a grain of a GPU is larger than this window: test/gpu/check.c, room */
        capacity();
    created();
    MPI_Group_free(&all);
    return mt_finish();
}
