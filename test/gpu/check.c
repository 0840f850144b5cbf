/* check.c - what only a GPU can show of coherent windows.  Two ranks.
 *
 *   gpu_check [--small] cuda:0 ITEM
 *       bytes   what the library counts is what the driver was asked to copy (run under ledger.so)
 *       rates   copies beside a bare copy from pinned memory
 *       order   release_on_stream, fence, and a peer's get: never old data
 *       room    a window larger than its budget; a device that is full
 *       fault   a kernel that faults
 *       times   of a commit, a copy, a look at an event
 *
 * Each item prints "gpu: WHAT | VALUE | BOUND" lines, which maint/gpu-check makes a table of.
 * --small: few rounds and no bounds on time, for the stand-in driver.  Start at main(). */
#include "gpu.h"

#include <mpi.h>
#include <time.h>

enum { MIB = 1 << 20 };
static int rank, size, bad, small, dev;
static const char *space;

#define MUST(cond) must((cond) != 0, #cond, __LINE__)
static void must(int ok, const char *what, int line)
{
    if (ok)
        return;
    printf("check.c:%d: rank %d: not so: %s\n", line, rank, what);
    bad = 1;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3; /* us */
}

/* A line of the table; ok: the bound holds. Times mean nothing with the stand-in. */
static void tell(const char *what, double value, const char *unit, const char *bound, int ok)
{
    if (rank)
        return;
    printf("gpu: %s | %.4g%s%s | %s\n", what, value, *unit ? " " : "", unit, bound);
    if (!ok && !small) {
        printf("check.c: %s: beyond its bound\n", what);
        bad = 1;
    }
}

static long long counter(const char *name)
{
    MPI_T_pvar_session s;
    MPI_T_pvar_handle h;
    unsigned long long v = 0;
    int index, n;
    if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index))
        return -1;
    MPI_T_pvar_session_create(&s);
    MPI_T_pvar_handle_alloc(s, index, NULL, &h, &n);
    MPI_T_pvar_read(s, h, &v);
    MPI_T_pvar_handle_free(s, &h);
    MPI_T_pvar_session_free(&s);
    return (long long)v;
}

static MPI_Win window(size_t bytes, const char *budget)
{
    char list[64];
    void *base;
    MPI_Info info;
    MPI_Win win;
    snprintf(list, sizeof list, "host,%s", space);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_win_spaces", list);
    if (budget)
        MPI_Info_set(info, "mpix_win_bytes", budget);
    MPI_Win_allocate((MPI_Aint)bytes, 8, info, MPI_COMM_WORLD, &base, &win);
    MPI_Info_free(&info);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    return win;
}

static void *hold(MPI_Win win, size_t at, size_t bytes, int where, int mode)
{
    void *p = NULL;
    MUST(MPIX_Win_acquire(win, (MPI_Aint)at, (MPI_Aint)bytes, where, mode, &p) == MPI_SUCCESS);
    return p;
}
static void let_go(MPI_Win win, size_t at, size_t bytes, int where)
{
    MUST(MPIX_Win_release(win, (MPI_Aint)at, (MPI_Aint)bytes, where) == MPI_SUCCESS);
}

static void number(void *p, long long from, int n, void *stream)
{
    void *param[] = {&p, &from, &n};
    MUST(gpu_launch("number", stream, (unsigned)n, param) == 0);
}

/* The host writes all, so that the device has nothing. */
static void home(MPI_Win win, size_t bytes, int value)
{
    memset(hold(win, 0, bytes, 0, MPIX_WIN_DISCARD), value, bytes);
    let_go(win, 0, bytes, 0);
}

/* --- items ------------------------------------------------------------------------------------ */

static void bytes(void)
{
    enum { N = 4 * MIB };
    void (*ledger)(long long sum[3]) =
        (void (*)(long long[3]))dlsym(RTLD_DEFAULT, "gpu_ledger");
    long long before[3], after[3], in = counter("coh_bytes_in"), out = counter("coh_bytes_out");
    if (!ledger) {
        MUST(!"ledger.so is preloaded");
        return;
    }
    MPI_Win win = window(N, NULL);
    ledger(before);
    for (int i = 0; i < 10; i++) {
        home(win, N, i);
        hold(win, 1000, 70000 + (size_t)i * 777, dev, MPIX_WIN_WRITE);
        let_go(win, 1000, 70000 + (size_t)i * 777, dev);
        hold(win, 50000, 3000, 0, MPIX_WIN_READ);
        let_go(win, 50000, 3000, 0);
    }
    ledger(after);
    in = counter("coh_bytes_in") - in;
    out = counter("coh_bytes_out") - out;
    MUST(in > 0 && in == after[0] - before[0]);
    MUST(out > 0 && out == after[1] - before[1]);
    tell("bytes to the device, counted less asked of the driver",
         (double)(in - after[0] + before[0]), "bytes", "0", in == after[0] - before[0]);
    tell("bytes to the host, counted less asked of the driver",
         (double)(out - after[1] + before[1]), "bytes", "0", out == after[1] - before[1]);
    MPI_Win_free(&win);
}

/* us of a bare copy from pinned memory, the best of some */
static double bare(size_t n)
{
    unsigned long long there = 0;
    void *here = NULL, *stream = NULL;
    double best = 1e30;
    MUST(!posix_memalign(&here, 4096, n) && !gpu.pin(here, n, 0) && !gpu.alloc(&there, n) &&
         !gpu.stream(&stream, 1));
    memset(here, 1, n);
    for (int i = 0; i < 20; i++) {
        double begin = now(), took;
        gpu.in(there, here, n, stream);
        gpu.sync(stream);
        took = now() - begin;
        best = took < best ? took : best;
    }
    gpu.free(there);
    gpu.unpin(here);
    free(here);
    return best;
}

static void rates(void)
{
    static const size_t len[] = {64 << 10, MIB, 16 * MIB, 64 * MIB};
    MPI_Win win = window(64 * MIB, NULL);
    for (int i = 0; i < 4; i++) {
        double best = 1e30, plain = bare(len[i]), least = len[i] < MIB ? 0.6 : 0.9;
        char what[80];
        for (int k = 0; k < 20; k++) {
            home(win, len[i], k);
            double begin = now(), took;
            hold(win, 0, len[i], dev, MPIX_WIN_READ);
            took = now() - begin;
            best = took < best ? took : best;
            let_go(win, 0, len[i], dev);
        }
        snprintf(what, sizeof what, "acquire of %zu KiB: %.3g us; rate beside a bare copy",
                 len[i] >> 10, best);
        tell(what, plain / best, "", len[i] < MIB ? ">= 0.6" : ">= 0.9", plain / best >= least);
    }
    MPI_Win_free(&win);
}

static void order(void)
{
    enum { N = 1000 };
    MPI_Win win = window(N * 8, NULL);
    int rounds = small ? 20 : 1000, old = 0, n = N;
    long long got[N], ns = small ? 1000 : 20000000;
    double slowest = 0;
    void *stream = NULL;
    if (rank == 1)
        MUST(!gpu.stream(&stream, 1));
    for (long long i = 1; i <= rounds; i++) {
        MPI_Win_fence(0, win);
        if (rank == 1) {
            void *p = NULL, *param[] = {&p, &i, &n, &ns};
            double begin = now(), took;
            MUST(!MPIX_Win_acquire_on_stream(win, 0, N * 8, dev, MPIX_WIN_WRITE, stream, &p));
            took = now() - begin;
            slowest = i > 1 && took > slowest ? took : slowest; /* the first commits memory */
            MUST(gpu_launch("slow", stream, N, param) == 0);
            MUST(!MPIX_Win_release_on_stream(win, 0, N * 8, dev, stream));
        }
        MPI_Win_fence(0, win);
        if (rank == 0)
            MPI_Get(got, N, MPI_LONG_LONG, 1, 0, N, MPI_LONG_LONG, win);
        MUST(MPI_Win_fence(0, win) == MPI_SUCCESS);
        for (int k = 0; rank == 0 && k < N; k++)
            old += got[k] != i;
    }
    MPI_Bcast(&slowest, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    MUST(old == 0);
    tell("old values of a peer's gets after release_on_stream and fence", old, "", "0", old == 0);
    tell("slowest acquire_on_stream", slowest, "us", "< 100", slowest < 100);
    MPI_Win_free(&win);
}

/* A piece of the window is numbers from its place on. */
static void is_numbers(MPI_Win win, size_t at, size_t len)
{
    const long long *p = hold(win, at, len, 0, MPIX_WIN_READ);
    size_t wrong = 0;
    for (size_t k = 0; p && k < len / 8; k++)
        wrong += p[k] != (long long)(at / 8 + k);
    MUST(wrong == 0);
    let_go(win, at, len, 0);
}

static void room(void)
{
    size_t all = small ? 64 * MIB : (size_t)1024 * MIB, piece = all / 64;
    const char *budget = small ? "8388608" : "67108864";
    MPI_Win win = window(all, budget);
    for (size_t at = 0; at < all; at += piece) {
        number(hold(win, at, piece, dev, MPIX_WIN_DISCARD), (long long)(at / 8), (int)(piece / 8),
               NULL);
        MUST(gpu_wait(NULL) == 0);
        let_go(win, at, piece, dev);
    }
    for (size_t at = 0; at < all; at += piece)
        is_numbers(win, at, piece);
    double gone = (double)(counter("coh_evicted_home") + counter("coh_evicted_clean"));
    tell("chunks evicted from a window larger than its budget", gone, "", "> 0", gone > 0);
    MUST(gone > 0);
    MPI_Win_free(&win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) { /* another allocation takes all memory */
        enum { MOST = 4096 };
        static unsigned long long taken[MOST];
        int n = 0;
        for (size_t step = 1024 * (size_t)MIB; step >= MIB; step /= 2)
            while (n < MOST && gpu.alloc(&taken[n], step) == 0)
                n++;
        MPI_Info info;
        MPI_Win own;
        void *base, *p;
        char list[64];
        int err, cls = 0;
        snprintf(list, sizeof list, "host,%s", space);
        MPI_Info_create(&info);
        MPI_Info_set(info, "mpix_win_spaces", list);
        MPI_Info_set(info, "mpix_win_bytes", "67108864");
        MPI_Win_allocate(32 * MIB, 1, info, MPI_COMM_SELF, &base, &own);
        MPI_Win_set_errhandler(own, MPI_ERRORS_RETURN);
        err = MPIX_Win_acquire(own, 0, 32 * MIB, dev, MPIX_WIN_DISCARD, &p);
        MPI_Error_class(err, &cls);
        MUST(cls == MPI_ERR_NO_MEM);
        while (n)
            gpu.free(taken[--n]);
        hold(own, 0, 32 * MIB, dev, MPIX_WIN_DISCARD);
        let_go(own, 0, 32 * MIB, dev);
        tell("a full device is MPI_ERR_NO_MEM, then there is room again", cls == MPI_ERR_NO_MEM,
             "", "1", cls == MPI_ERR_NO_MEM);
        MPI_Win_free(&own);
        MPI_Info_free(&info);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The device is lost: what only it had is an error, the rest goes on, and MPI_Finalize ends. */
static void fault(void)
{
    enum { N = 512 << 10 };
    MPI_Win win = window(N, NULL);
    long long got = 0;
    void *p;
    int e1, e2, cls = 0;
    home(win, N, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        hold(win, 0, 64 << 10, dev, MPIX_WIN_WRITE);
        gpu_launch("fault", NULL, 1, NULL);
        gpu_wait(NULL);
        MPIX_Win_release(win, 0, 64 << 10, dev);
        MPI_Error_class(MPIX_Win_acquire(win, 0, 8, 0, MPIX_WIN_READ, &p), &cls);
        MUST(cls == MPI_ERR_OTHER);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        e1 = MPI_Get(&got, 1, MPI_LONG_LONG, 1, 0, 1, MPI_LONG_LONG, win);
        e2 = MPI_Win_flush(1, win);
        MPI_Error_class(e1 ? e1 : e2, &cls);
        MUST(cls == MPI_ERR_OTHER);
        MUST(!MPI_Get(&got, 1, MPI_LONG_LONG, 1, 30000, 1, MPI_LONG_LONG, win));
        MUST(!MPI_Win_unlock(1, win) && got == 0x0101010101010101);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    tell("after a kernel's fault: lost lanes are errors, others are served", !bad, "", "1", !bad);
    MPI_Win_free(&win);
}

static void times(void)
{
    enum { CHUNK = 2 * MIB, N = 16 };
    MPI_Win win = window((size_t)CHUNK * N, NULL);
    double begin = now(), first, again, copy = 1e30;
    for (int i = 0; i < N; i++) {
        hold(win, (size_t)i * CHUNK, CHUNK, dev, MPIX_WIN_DISCARD);
        let_go(win, (size_t)i * CHUNK, CHUNK, dev);
    }
    first = (now() - begin) / N;
    begin = now();
    for (int i = 0; i < 1000; i++) {
        hold(win, 0, CHUNK, dev, MPIX_WIN_READ);
        let_go(win, 0, CHUNK, dev);
    }
    again = (now() - begin) / 1000;
    for (int i = 0; i < 100; i++) {
        home(win, 1024, i);
        double at = now(), took;
        hold(win, 0, 1024, dev, MPIX_WIN_READ);
        took = now() - at;
        copy = took < copy ? took : copy;
        let_go(win, 0, 1024, dev);
    }
    tell("acquire that commits 2 MiB", first, "us", "-", 1);
    tell("acquire and release of what is there", again, "us", "-", 1);
    tell("acquire that copies 1 KiB: copy, event, query", copy, "us", "-", 1);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } item[] = {{"bytes", bytes}, {"rates", rates}, {"order", order},
                {"room", room},   {"fault", fault}, {"times", times}};
    int level, known = 0, any;
    if (argc > 1 && !strcmp(argv[1], "--small")) {
        small = 1;
        argv++;
        argc--;
    }
    if (argc != 3) {
        fprintf(stderr, "usage: gpu_check [--small] cuda:I ITEM\n");
        return 2;
    }
    space = argv[1];
    MPI_Init(NULL, NULL);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPIX_Space_find(space, &dev);
    MUST(dev != MPI_UNDEFINED && gpu_open(space) && size == 2);
    for (size_t i = 0; !bad && i < sizeof item / sizeof *item; i++)
        if (!strcmp(item[i].name, argv[2])) {
            known = 1;
            item[i].run();
        }
    MUST(known);
    MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_T_finalize();
    MPI_Finalize();
    return any != 0;
}
