/* am_pingpong.c - active messages between two forked processes: half round trip, message rate,
 * bandwidth; the machine's own cache line time beside it, measured in the same run.
 *
 *   am_pingpong [repetitions]      median [lowest, tenth part - highest] of the repetitions */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "job.h"

#include "am/am.h"
#include "base/atomic.h"
#include "base/proc.h"
#include "base/sched.h"
#include "mem/mem.h"
#include "progress/progress.h"

enum { PING = AM_TEST, PONG, STREAM, REP_MAX = 999 };

static uint64_t pings, pongs, streamed;
static int reps = 101;

static int on_ping(int src, const void *msg, size_t len)
{
    pings++;
    return 0;
}

static int on_pong(int src, const void *msg, size_t len)
{
    pongs++;
    return 0;
}

static int on_stream(int src, const void *msg, size_t len)
{
    streamed++;
    return 0;
}

static int reached(void *arg)
{
    const uint64_t *p = arg;
    return *(const uint64_t *)(uintptr_t)p[0] >= p[1];
}

static void await(const uint64_t *counter, uint64_t goal)
{
    uint64_t a[2] = {(uintptr_t)counter, goal};
    progress_wait(reached, a, "the other side", -1);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void show(const char *what, size_t bytes, double *v, const char *unit)
{
    qsort(v, (size_t)reps, sizeof *v, by_value);
    if (boot_rank() == 0)
        printf("%-24s %8zu B  %10.1f [%.1f %.1f - %.1f] %s\n", what, bytes, v[reps / 2], v[0],
               v[reps / 10], v[reps - 1], unit);
}

/* One line bounced by plain loads and stores. */
static void line(void)
{
    enum { N = 10000 };
    _Atomic uint64_t *w = (_Atomic uint64_t *)job_words();
    uint64_t me = (uint64_t)boot_rank();
    double v[REP_MAX];
    uint64_t base = 0;
    for (int r = 0; r < reps; r++, base += 2 * N) {
        boot_barrier();
        uint64_t t = time_now();
        for (uint64_t i = 0; i < 2 * N; i += 2) {
            while (atomic_load_explicit(w, memory_order_acquire) != base + i + me)
                ;
            atomic_store_explicit(w, base + i + me + 1, memory_order_release);
        }
        v[r] = (double)(time_now() - t) / (2 * N);
    }
    show("cache line, bare", 8, v, "ns");
}

static int send(int type, char *buf, size_t bytes)
{
    struct iovec v = {buf, bytes};
    int err;
    while ((err = am_request(1 - boot_rank(), type, &v, 1, 0)) == AM_AGAIN)
        progress_poll();
    return err;
}

static void half_round_trip(size_t bytes, int n, char *buf)
{
    double v[REP_MAX];
    for (int r = 0; r < reps; r++) {
        boot_barrier();
        uint64_t t = time_now();
        for (int i = 0; i < n; i++) {
            if (boot_rank() == 0) {
                send(PING, buf, bytes);
                await(&pongs, pongs + 1);
            } else {
                await(&pings, (uint64_t)(r * n + i + 1));
                send(PONG, buf, bytes);
            }
        }
        v[r] = (double)(time_now() - t) / (2 * n);
    }
    pings = pongs = 0;
    boot_barrier();
    show("half round trip", bytes, v, "ns");
}

static void rate(size_t bytes, int n, char *buf)
{
    double v[REP_MAX];
    for (int r = 0; r < reps; r++) {
        boot_barrier();
        uint64_t t = time_now();
        if (boot_rank() == 0) {
            for (int i = 0; i < n; i++)
                send(STREAM, buf, bytes);
            await(&pongs, (uint64_t)(r + 1));
        } else {
            await(&streamed, (uint64_t)(r + 1) * (uint64_t)n);
            send(PONG, buf, 0);
        }
        double ns = (double)(time_now() - t);
        v[r] = bytes >= 512 ? (double)bytes * n / ns : n * 1e3 / ns;
    }
    pongs = streamed = 0;
    boot_barrier();
    show("stream", bytes, v, bytes >= 512 ? "GB/s" : "M messages/s");
}

static void body(void)
{
    char *buf = calloc(1, 1 << 20);
    job_check(mem_init() == 0 && progress_init() == 0 && am_init() == 0);
    am_handler(PING, on_ping);
    am_handler(PONG, on_pong);
    am_handler(STREAM, on_stream);
    size_t max = am_max(1 - boot_rank());
    line();
    const size_t sizes[] = {0, 8, 32, 64, 256, 1024, 4096, max};
    for (int i = 0; i < 8; i++)
        half_round_trip(sizes[i], 3000, buf);
    for (int i = 0; i < 8; i++)
        rate(sizes[i], 10000, buf);
    boot_barrier();
    am_finalize();
    progress_finalize();
    mem_finalize();
    free(buf);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        reps = atoi(argv[1]);
    if (reps < 1 || reps > REP_MAX)
        reps = 101;
    return job_run(2, NULL, body, 300) ? EXIT_FAILURE : EXIT_SUCCESS;
}
