/* limits.c - what this machine can do at best between two processes, without any MPI. Prints "value
 * NUMBER NAME (UNIT)" lines for test/perf/run. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Median of five batches of n calls, seconds per call. */
static double timed(void (*fn)(void *, long), void *arg, long n)
{
    double t[5];
    int i;

    fn(arg, n);
    for (i = 0; i < 5; i++) {
        t[i] = now();
        fn(arg, n);
        t[i] = (now() - t[i]) / (double)n;
    }
    qsort(t, 5, sizeof *t, by_value);
    return t[2];
}

static void store_fence(void *arg, long n)
{
    atomic_long *p = arg;

    while (n--) {
        atomic_store_explicit(p, n, memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);
    }
}

static void add(void *arg, long n)
{
    atomic_long *p = arg;

    while (n--)
        atomic_fetch_add(p, 1);
}

struct copying {
    char *to, *from;
    size_t bytes;
    pid_t pid;
};

static void copy(void *arg, long n)
{
    struct copying *c = arg;

    while (n--) {
        memcpy(c->to, c->from, c->bytes);
        __asm__ volatile("" ::: "memory");
    }
}

/* Loops as one would write them for just this shape: every second block. */
static void blocks_128(void *arg, long n)
{
    struct copying *c = arg;

    for (; n--; )
        for (size_t i = 0; i < 512; i++)
            memcpy(c->to + 256 * i, c->from + 256 * i, 128);
}

static void blocks_8(void *arg, long n)
{
    struct copying *c = arg;

    for (; n--; )
        for (size_t i = 0; i < 1024; i++) {
            memcpy(c->to + 16 * i, c->from + 16 * i, 8);
            __asm__ volatile("" ::: "memory");
        }
}

static void add_doubles(void *arg, long n)
{
    struct copying *c = arg;
    double *restrict to = (double *)(void *)c->to;
    const double *restrict from = (const double *)(const void *)c->from;

    for (; n--; ) {
        for (size_t i = 0; i < c->bytes / sizeof *to; i++)
            to[i] += from[i];
        __asm__ volatile("" ::: "memory");
    }
}

/* An element is read, changed and written back. */
static void change_far(void *arg, long n)
{
    struct copying *c = arg;
    struct iovec here = { c->from, c->bytes }, there = { c->to, c->bytes };

    while (n--)
        if (process_vm_readv(c->pid, &here, 1, &there, 1, 0) != (ssize_t)c->bytes ||
            process_vm_writev(c->pid, &here, 1, &there, 1, 0) != (ssize_t)c->bytes) {
            c->bytes = 0;
            return;
        }
}

static void write_far(void *arg, long n)
{
    struct copying *c = arg;
    struct iovec here = { c->from, c->bytes }, there = { c->to, c->bytes };

    while (n--)
        if (process_vm_writev(c->pid, &here, 1, &there, 1, 0) != (ssize_t)c->bytes) {
            c->bytes = 0;
            return;
        }
}

static void say(const char *name, const char *unit, double v)
{
    printf("value %.6g %s (%s)\n", v, name, unit);
}

/* A cache line that goes to another process and back: half of that. */
static void cache_line(atomic_long *p)
{
    long i, n = 20000;
    double t;
    pid_t child;

    p[0] = p[64] = 0;
    child = fork();
    if (child == 0) {
        for (i = 1; i <= n; i++) {
            while (atomic_load_explicit(&p[0], memory_order_acquire) < i)
                ;
            atomic_store_explicit(&p[64], i, memory_order_release);
        }
        _exit(0);
    }
    t = now();
    for (i = 1; i <= n && now() - t < 2; i++) {
        atomic_store_explicit(&p[0], i, memory_order_release);
        while (atomic_load_explicit(&p[64], memory_order_acquire) < i)
            ;
    }
    t = (now() - t) / (double)i / 2;
    atomic_store(&p[0], n);
    waitpid(child, NULL, 0);
    say("cache line there", "ns", t * 1e9);
}

static void single_copy(void (*fn)(void *, long), char *shared, size_t bytes, const char *name,
                        int latency)
{
    struct copying c = { shared, malloc(bytes), bytes, 0 };
    double t;

    memset(c.from, 1, bytes);
    c.pid = fork();
    if (c.pid == 0) {
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
        pause();
        _exit(0);
    }
    usleep(20000);
    t = timed(fn, &c, latency ? 20000 : 200);
    if (c.bytes)
        say(name, latency ? "us" : "GB/s", latency ? t * 1e6 : 1e-9 * (double)bytes / t);
    kill(c.pid, SIGKILL);
    waitpid(c.pid, NULL, 0);
    free(c.from);
}

int main(void)
{
    size_t m = 1 << 20;
    char *shared = mmap(NULL, 4 * m, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct copying c = { shared, shared + 2 * m, 65536, 0 };

    if (shared == MAP_FAILED)
        return 1;
    memset(shared, 0, 4 * m);
    say("store and full fence", "ns", timed(store_fence, shared, 1000000) * 1e9);
    say("atomic add", "ns", timed(add, shared, 1000000) * 1e9);
    cache_line((atomic_long *)(void *)shared);
    say("memcpy 64K", "GB/s", 65.536e-6 / timed(copy, &c, 2000));
    c.bytes = m;
    say("memcpy 1M", "GB/s", 1.048576e-3 / timed(copy, &c, 200));
    say("copy 512x128", "GB/s", 65.536e-6 / timed(blocks_128, &c, 2000));
    say("copy 1024x8", "GB/s", 8.192e-6 / timed(blocks_8, &c, 5000));
    c.bytes = 65536;
    say("add 64K", "GB/s", 65.536e-6 / timed(add_doubles, &c, 2000));
    single_copy(write_far, shared, 8, "process_vm_writev 8", 1);
    single_copy(change_far, shared, 8, "readv and writev 8", 1);
    single_copy(write_far, shared, m, "process_vm_writev 1M", 0);
    return 0;
}
