/* buffers.c - origin, compare and result buffers of operations in memory of a device (the key
 * mpix_win_buffers): every operation, flavour and synchronization, derived types, requests, errors.
 * The memory comes from a coherent window `store`.  "--space NAME": another device than sim:0. */
#include "rw.h"

#include <stddef.h>
#include <string.h>

#include "../../gpu/gpu.h"

enum { N = 24 << 10, BYTES = N * 8, RES = 12 << 10, LONG_ONE = 10 << 10 };

struct pair {
    double v;
    int i;
};
struct mixed {
    int a;
    double b;
};

static const char *device = "sim:0";
static int dev;
static MPI_Win store;
static MPI_Datatype third, mixed;

static long long *take(int space, int mode)
{
    long long *p;

    CHECK_EQ(MPIX_Win_acquire(store, 0, BYTES, space, mode, &p), MPI_SUCCESS);
    return p;
}

static void give(int space)
{
    CHECK_EQ(MPIX_Win_release(store, 0, BYTES, space), MPI_SUCCESS);
}

static void types(void)
{
    int len[] = {1, 1};
    MPI_Aint at[] = {offsetof(struct mixed, a), offsetof(struct mixed, b)};
    MPI_Datatype of[] = {MPI_INT, MPI_DOUBLE};

    MPI_Type_vector(100, 1, 3, MPI_LONG_LONG, &third);
    MPI_Type_commit(&third);
    MPI_Type_create_struct(2, len, at, of, &mixed);
    MPI_Type_commit(&mixed);
}

/* What a rank's device has, and what its window has. */
static long long src(int rank, int i) { return 1000000LL * (rank + 1) + i; }
static long long old(int rank, int i) { return -1000000LL * (rank + 1) - i; }

static void fill(struct rw *w, int to)
{
    long long *p = take(0, MPIX_WIN_DISCARD), *t = (long long *)w->mem;
    struct pair *pairs = (struct pair *)&p[8000];
    struct mixed *m = (struct mixed *)&p[8500];
    int i;

    memset(p, 0, BYTES);
    for (i = 0; i < N; i++)
        p[i] = i < RES ? src(mt_rank, i) : -1;
    p[7000] = old(to, 5010);
    for (i = 0; i < 20; i++) {
        pairs[i] = (struct pair){i + 0.5, i};
        m[i] = (struct mixed){i, i * 0.25};
    }
    give(0);
    rw_own(w);
    for (i = 0; i < N; i++)
        t[i] = old(mt_rank, i);
    memset(&t[6000], 0, 40 * 8);
    rw_disown(w);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Displacements and lengths are in elements of 8 bytes. */
#define LL MPI_LONG_LONG
#define AT(i) to, rw_disp(w, to, (size_t)(i) * 8)
static void operate(struct rw *w, int to, long long *d, int with_requests)
{
    static long long host = 77;
    MPI_Win win = w->win;
    MPI_Datatype gone;
    MPI_Request r[4];

    MPI_Put(d, 1000, LL, AT(0), 1000, LL, win);
    MPI_Put(&d[5], 1, LL, AT(1000), 1, LL, win);
    MPI_Put(&d[1000], 1, third, AT(1100), 100, LL, win);
    MPI_Put(&d[8500], 20, mixed, AT(1300), 20, mixed, win);
    MPI_Put(&host, 1, LL, AT(1400), 1, LL, win);
    MPI_Accumulate(d, 500, LL, AT(2000), 500, LL, MPI_SUM, win);
    MPI_Accumulate(&d[7], 1, LL, AT(2600), 1, LL, MPI_SUM, win);
    MPI_Accumulate(&d[8000], 20, MPI_DOUBLE_INT, AT(6000), 20, MPI_DOUBLE_INT, MPI_MAXLOC, win);
    MPI_Get(&d[RES], 1000, LL, AT(3000), 1000, LL, win);
    MPI_Get(&d[RES + 1000], 1, LL, AT(4000), 1, LL, win);
    MPI_Type_dup(third, &gone);
    MPI_Get(&d[RES + 1100], 1, gone, AT(4100), 100, LL, win);
    MPI_Type_free(&gone);
    MPI_Get_accumulate(d, 300, LL, &d[RES + 1500], 300, LL, AT(4500), 300, LL, MPI_SUM, win);
    MPI_Get_accumulate(NULL, 0, LL, &d[RES + 1800], 100, LL, AT(4900), 100, LL, MPI_NO_OP, win);
    MPI_Fetch_and_op(&d[3], &d[RES + 1900], LL, AT(5000), MPI_SUM, win);
    MPI_Compare_and_swap(&d[1], &d[7000], &d[RES + 1910], LL, AT(5010), win);
    MPI_Put(d, LONG_ONE, LL, AT(LONG_ONE), LONG_ONE, LL, win); /* several packets */
    if (!with_requests)
        return;
    MPI_Rput(&d[20], 30, LL, AT(7000), 30, LL, win, &r[0]);
    MPI_Rget(&d[RES + 2000], 30, LL, AT(7100), 30, LL, win, &r[1]);
    MPI_Raccumulate(&d[20], 30, LL, AT(7200), 30, LL, MPI_SUM, win, &r[2]);
    MPI_Rget_accumulate(&d[20], 30, LL, &d[RES + 2100], 30, LL, AT(7300), 30, LL, MPI_SUM, win,
                        &r[3]);
    CHECK_EQ(MPI_Waitall(4, r, MPI_STATUSES_IGNORE), MPI_SUCCESS);
}

static int wrong(const long long *p, int n, long long first, int step)
{
    int i, bad = 0;

    for (i = 0; i < n; i++)
        bad += p[i] != first + (long long)i * step;
    return bad;
}

/* What came into the device, as the host sees it after the release. */
static void check_results(int to, int with_requests)
{
    long long *p = take(0, MPIX_WIN_READ);
    int i, bad = 0;

    CHECK_EQ(wrong(&p[RES], 1000, old(to, 3000), -1), 0);
    CHECK_EQ(p[RES + 1000], old(to, 4000));
    for (i = 0; i < 100; i++)
        bad += p[RES + 1100 + 3 * i] != old(to, 4100 + i) || p[RES + 1101 + 3 * i] != -1;
    CHECK_EQ(bad, 0);
    CHECK_EQ(wrong(&p[RES + 1500], 300, old(to, 4500), -1), 0);
    CHECK_EQ(wrong(&p[RES + 1800], 100, old(to, 4900), -1), 0);
    CHECK_EQ(p[RES + 1900], old(to, 5000));
    CHECK_EQ(p[RES + 1910], old(to, 5010));
    CHECK_EQ(p[RES + 1911], -1);
    if (with_requests) {
        CHECK_EQ(wrong(&p[RES + 2000], 30, old(to, 7100), -1), 0);
        CHECK_EQ(wrong(&p[RES + 2100], 30, old(to, 7300), -1), 0);
    }
    CHECK_EQ(wrong(p, 7000, src(mt_rank, 0), 1), 0);
    give(0);
}

/* What the left neighbour did to the own window. */
static void check_window(struct rw *w, int from, int with_requests)
{
    const long long *t = (const long long *)w->mem;
    const struct pair *pairs = (const struct pair *)&t[6000];
    const struct mixed *m = (const struct mixed *)&t[1300];
    int i, bad = 0;

    rw_own(w);
    CHECK_EQ(wrong(t, 1000, src(from, 0), 1), 0);
    CHECK_EQ(t[1000], src(from, 5));
    CHECK_EQ(t[1001], old(mt_rank, 1001));
    CHECK_EQ(wrong(&t[1100], 100, src(from, 1000), 3), 0);
    for (i = 0; i < 20; i++)
        bad += m[i].a != i || m[i].b != i * 0.25 || pairs[i].v != i + 0.5 || pairs[i].i != i;
    CHECK_EQ(bad, 0);
    CHECK_EQ(t[1400], 77);
    CHECK_EQ(wrong(&t[2000], 500, src(from, 0) + old(mt_rank, 2000), 0), 0);
    CHECK_EQ(t[2600], src(from, 7) + old(mt_rank, 2600));
    CHECK_EQ(wrong(&t[4500], 300, src(from, 0) + old(mt_rank, 4500), 0), 0);
    CHECK_EQ(wrong(&t[4900], 100, old(mt_rank, 4900), -1), 0);
    CHECK_EQ(t[5000], src(from, 3) + old(mt_rank, 5000));
    CHECK_EQ(t[5010], src(from, 1));
    CHECK_EQ(wrong(&t[LONG_ONE], 7000, src(from, 0), 1), 0);
    if (with_requests) {
        CHECK_EQ(wrong(&t[7000], 30, src(from, 20), 1), 0);
        CHECK_EQ(wrong(&t[7200], 30, src(from, 20) + old(mt_rank, 7200), 0), 0);
        CHECK_EQ(wrong(&t[7300], 30, src(from, 20) + old(mt_rank, 7300), 0), 0);
    }
    rw_disown(w);
}

static void everything(int flavour, int sync)
{
    int to = (mt_rank + 1) % mt_size, from = (mt_rank + mt_size - 1) % mt_size;
    int passive = sync >= RW_LOCK_EXCL;
    MPI_Info i = rw_info("mpix_win_buffers", device);
    struct rw w;
    int made = rw_make_info(&w, flavour, BYTES, MPI_COMM_WORLD, i);

    MPI_Info_free(&i);
    if (!made)
        return;
    fill(&w, to);
    long long *d = take(dev, MPIX_WIN_WRITE);
    rw_begin(&w, sync, to);
    operate(&w, to, d, passive);
    rw_end(&w, sync, to);
    give(dev);
    MPI_Barrier(MPI_COMM_WORLD);
    check_results(to, passive);
    check_window(&w, from, passive);
    MPI_Barrier(MPI_COMM_WORLD);
    rw_free(&w);
}

/* --- both at once: the target is a coherent window, too --------------------------------------- */

static void coherent_target(void)
{
    int to = (mt_rank + 1) % mt_size;
    char spaces[64];
    long long *mine, *d, *p;
    MPI_Win win;

    snprintf(spaces, sizeof spaces, "host,%s", device);
    MPI_Info i = rw_info("mpix_win_spaces", spaces);
    MPI_Info_set(i, "mpix_win_buffers", device);
    MPI_Win_allocate(BYTES, 8, i, MPI_COMM_WORLD, &mine, &win);
    MPI_Info_free(&i);
    CHECK_EQ(MPIX_Win_acquire(win, 0, BYTES, 0, MPIX_WIN_DISCARD, &p), MPI_SUCCESS);
    memset(p, 0, BYTES);
    CHECK_EQ(MPIX_Win_release(win, 0, BYTES, 0), MPI_SUCCESS);
    /* its first half: from the own device's rows into the neighbour's, as a halo exchange does */
    CHECK_EQ(MPIX_Win_acquire(win, 0, BYTES / 2, 0, MPIX_WIN_WRITE, &p), MPI_SUCCESS);
    for (int k = 0; k < N / 2; k++)
        p[k] = src(mt_rank, k);
    CHECK_EQ(MPIX_Win_release(win, 0, BYTES / 2, 0), MPI_SUCCESS);
    MPI_Win_fence(0, win);
    CHECK_EQ(MPIX_Win_acquire(win, 0, BYTES / 2, dev, MPIX_WIN_WRITE, &d), MPI_SUCCESS);
    MPI_Put(&d[10], 1, LL, to, N / 2, 1, LL, win);
    MPI_Put(&d[100], 2000, LL, to, N / 2 + 100, 2000, LL, win);
    MPI_Accumulate(&d[3], 1, LL, to, N / 2 + 3, 1, LL, MPI_SUM, win);
    MPI_Get(&d[50], 1, LL, to, N - 1, 1, LL, win);
    CHECK_EQ(MPI_Win_fence(0, win), MPI_SUCCESS);
    CHECK_EQ(MPIX_Win_release(win, 0, BYTES / 2, dev), MPI_SUCCESS);
    int from = (mt_rank + mt_size - 1) % mt_size;
    CHECK_EQ(MPIX_Win_acquire(win, 0, BYTES, 0, MPIX_WIN_READ, &p), MPI_SUCCESS);
    CHECK_EQ(p[N / 2], src(from, 10));
    CHECK_EQ(wrong(&p[N / 2 + 100], 2000, src(from, 100), 1), 0);
    CHECK_EQ(p[N / 2 + 3], src(from, 3));
    CHECK_EQ(p[50], 0);
    CHECK_EQ(p[51], src(mt_rank, 51));
    CHECK_EQ(MPIX_Win_release(win, 0, BYTES, 0), MPI_SUCCESS);
    MPI_Win_free(&win);
}

/* --- memory that the program allocated itself ------------------------------------------------- */

static void own_memory(struct rw *w, int to)
{
    unsigned long long at = 0;
    long long from = src(mt_rank, 0), *t = (long long *)w->mem;
    int n = 500;
    void *param[] = {&at, &from, &n};

    CHECK_EQ(gpu.alloc(&at, (size_t)n * 8), 0);
    CHECK_EQ(gpu_launch("number", NULL, (unsigned)n, param), 0);
    CHECK_EQ(gpu_wait(NULL), 0);
    long long *d = (long long *)(size_t)at;
    rw_begin(w, RW_FENCE, to);
    MPI_Put(d, 400, LL, AT(0), 400, LL, w->win);
    rw_end(w, RW_FENCE, to);
    rw_begin(w, RW_FENCE, to);
    MPI_Get(&d[1], 400, LL, AT(0), 400, LL, w->win);
    rw_end(w, RW_FENCE, to);
    rw_begin(w, RW_FENCE, to);
    MPI_Put(d, n, LL, AT(1000), n, LL, w->win);
    rw_end(w, RW_FENCE, to);
    from = src((mt_rank + mt_size - 1) % mt_size, 0);
    CHECK_EQ(wrong(t, 400, from, 1), 0);
    CHECK_EQ(t[1000], from);
    CHECK_EQ(wrong(&t[1001], 400, from, 1), 0);
    CHECK_EQ(t[1401], from + 401);
    gpu.free(at);
}

/* --- errors ----------------------------------------------------------------------------------- */

static void errors(int cuda)
{
    int to = (mt_rank + 1) % mt_size;
    char text[MPI_MAX_ERROR_STRING];
    int len, err;
    MPI_Win other;
    MPI_Info i = rw_info("mpix_win_buffers", "sim:9");
    struct rw at, *w = &at;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    err = MPI_Win_allocate(8, 1, i, MPI_COMM_WORLD, &(void *){NULL}, &other);
    CHECK_EQ(mt_class(err), MPI_ERR_ARG);
    MPI_Error_string(err, text, &len);
    CHECK(strstr(text, "mpix_win_buffers is \"sim:9\"") != NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Info_set(i, "mpix_win_buffers", device);
    rw_make_info(w, RW_ALLOCATE, BYTES, MPI_COMM_WORLD, i);
    MPI_Info_free(&i);
    MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
    long long *d = take(dev, MPIX_WIN_READ);
    rw_begin(w, RW_LOCK_SHARED, to);
    CHECK_EQ(MPI_Put(d, 10, LL, AT(0), 10, LL, w->win), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_flush(to, w->win), MPI_SUCCESS);
    /* a result needs a hold for writing: the call says so, or the synchronization */
    err = MPI_Get(d, 10, LL, AT(0), 10, LL, w->win);
    if (!err)
        err = MPI_Win_flush(to, w->win);
    CHECK_EQ(mt_class(err), MPI_ERR_BUFFER);
    MPI_Error_string(err, text, &len);
    CHECK(strstr(text, "is not held for writing in ") != NULL && strstr(text, device) != NULL);
    CHECK_EQ(MPI_Win_flush(to, w->win), MPI_SUCCESS);
    CHECK_EQ(mt_class(MPI_Put(d, 1 << 20, LL, AT(0), 1 << 20, LL, w->win)),
             MPI_ERR_BUFFER);
    give(dev);
    err = MPI_Put(d, 10, LL, AT(0), 10, LL, w->win);
    CHECK_EQ(mt_class(err), MPI_ERR_BUFFER);
    MPI_Error_string(err, text, &len);
    CHECK(strstr(text, "is not held in ") != NULL);
    rw_end(w, RW_LOCK_SHARED, to);
    MPI_Barrier(MPI_COMM_WORLD);
    if (cuda)
        own_memory(w, to);
    rw_free(w);
}

int main(int argc, char **argv)
{
    static const int flavours[] = {RW_ALLOCATE, RW_CREATE, RW_SHARED, RW_DYNAMIC};
    char spaces[64];
    long long *base;
    int f, s, cuda = 0;

    mt_init(&argc, &argv);
    if (argc > 2 && !strcmp(argv[1], "--space")) {
        device = argv[2];
        cuda = gpu_open(device);
    }
    snprintf(spaces, sizeof spaces, "host,%s", device);
    MPI_Info i = rw_info("mpix_win_spaces", spaces);
    MPI_Win_allocate(BYTES, 8, i, MPI_COMM_WORLD, &base, &store);
    MPI_Info_free(&i);
    MPIX_Space_find(device, &dev);
    types();
    for (s = 0; s < RW_SYNCS; s++)
        everything(RW_ALLOCATE, s);
    for (f = 1; f < 4; f++) {
        everything(flavours[f], RW_FENCE);
        everything(flavours[f], RW_FLUSH);
    }
    coherent_target();
    errors(cuda);
    MPI_Type_free(&third);
    MPI_Type_free(&mixed);
    MPI_Win_free(&store);
    return mt_finish();
}
