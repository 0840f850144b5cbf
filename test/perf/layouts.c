/* layouts.c - how the words that node peers share should lie, and what should guard accumulates.
 * Compiled with src/rma/shared/shmlock.c, several times with other values of its SHM*_ALIGN
 * (test/perf/layouts.sh), so that lock word and PSCW counters are the real protocol; the
 * alternatives to it and to the stripes are here.
 *
 *   layouts NAME      prints "value NANOSECONDS ROW" lines; two processes, each bound to a core of
 *                     its own */
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "mem/mem.h"
#include "rma/shared/shmlock.h"

/* what shmlock.c asks of other rooms: no process dies, none sleeps */
const struct sched_ops *sched;
static struct proc the_proc;
struct proc *proc = &the_proc;
int boot_failed_count(void) { return 0; }
int boot_failed(int rank) { (void)rank; return 0; }
int boot_host_rank(int index) { return index; }
int mem_holder_died(unsigned word) { (void)word; return 0; }
void mem_wake(int host_index) { (void)host_index; fence_full(); }
void thread_pause(unsigned turn)
{
    if (turn < 100)
        cpu_relax();
    else
        sched_yield();
}

enum { ROUNDS = 5, CELLS = 8192 };

static struct all { /* shared */
    _Alignas(128) atomic_uint ready, go;
    _Alignas(128) char lock[4096];
    _Alignas(128) struct shmpair pairs[4];
    _Alignas(128) atomic_ullong ticket;
    _Alignas(128) atomic_uint tas;
    _Alignas(128) struct { _Alignas(64) atomic_uint word; } stripe[64];
    _Alignas(4096) int64_t cell[CELLS];
} *all;
static int32_t hosts[2] = {0, 1};
static struct shmnode node = {.peers = 2, .host_index = hosts};
static int64_t mine[CELLS];
static volatile int64_t inside;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* --- what is measured: n times ---------------------------------------------------------------- */

static void lock_word(long n, int type)
{
    struct shmlock *l = (struct shmlock *)all->lock;
    while (n--) {
        if (!shmlock_enter(l, &node, type))
            for (unsigned turn = 0; shmlock_poll(l, &node) != 1; turn++)
                thread_pause(turn);
        fence_full();
        inside++;
        fence_full();
        shmlock_leave(l, &node, (enum shmlock_type)type);
    }
}
static void word_exclusive(long n) { lock_word(n, SHMLOCK_EXCLUSIVE); }
static void word_shared(long n) { lock_word(n, SHMLOCK_SHARED); }

/* Reader-writer ticket lock: 16 bits each of tickets given, readers served, writers served. */
static void ticket(long n, int shared)
{
    while (n--) {
        uint64_t me = atomic_fetch_add_explicit(&all->ticket, 1ull << 32, memory_order_acquire);
        unsigned turn = 0, at = shared ? 16 : 0;
        while (((atomic_load_explicit(&all->ticket, memory_order_acquire) >> at) & 0xffff) !=
               ((me >> 32) & 0xffff))
            thread_pause(turn++);
        if (shared) /* the next reader may come along */
            ((atomic_ushort *)&all->ticket)[1]++;
        fence_full();
        inside++;
        fence_full();
        if (!shared)
            ((atomic_ushort *)&all->ticket)[1]++;
        ((atomic_ushort *)&all->ticket)[0]++;
    }
}
static void ticket_exclusive(long n) { ticket(n, 0); }
static void ticket_shared(long n) { ticket(n, 1); }

static void take(atomic_uint *word)
{
    unsigned seen = 0;
    for (unsigned turn = 0; !atomic_compare_exchange_weak_explicit(
             word, &seen, 1, memory_order_acquire, memory_order_relaxed);
         seen = 0)
        thread_pause(turn++);
}

static void tas_exclusive(long n)
{
    while (n--) {
        take(&all->tas);
        fence_full();
        inside++;
        fence_full();
        atomic_store_explicit(&all->tas, 0, memory_order_release);
    }
}

/* post, start, complete, wait; `both`: each exposes to the other at once */
static void pscw(long n, int both)
{
    unsigned me = node.me, you = 1 - me;
    while (n--) {
        unsigned t = 0;
        if (both || me == 1)
            shmpair_post(all->pairs, &node, you);
        if (both || me == 0) {
            while (shmpair_start(all->pairs, &node, you) != 1)
                thread_pause(t++ / 64);
            shmpair_complete(all->pairs, &node, you);
        }
        if (both || me == 1)
            while (shmpair_wait(all->pairs, &node, you) != 1)
                thread_pause(t++ / 64);
    }
}
static void pscw_one(long n) { pscw(n, 0); }
static void pscw_both(long n) { pscw(n, 1); }

static void stripes(long n, size_t bytes, size_t cells)
{
    while (n--)
        for (size_t i = 0; i < cells;) {
            atomic_uint *word = &all->stripe[i * 8 / bytes % 64].word;
            size_t end = (i * 8 / bytes + 1) * bytes / 8;
            end = end < cells ? end : cells;
            take(word);
            for (; i < end; i++)
                all->cell[i] += mine[i];
            atomic_store_explicit(word, 0, memory_order_release);
        }
}
static void stripe4k_one(long n) { stripes(n, 4096, 1); }
static void stripe512_bulk(long n) { stripes(n, 512, CELLS); }
static void stripe4k_bulk(long n) { stripes(n, 4096, CELLS); }
static void stripe64k_bulk(long n) { stripes(n, 65536, CELLS); }

static void atomics(long n, size_t cells)
{
    while (n--)
        for (size_t i = 0; i < cells; i++)
            atomic_fetch_add_explicit((atomic_llong *)&all->cell[i], mine[i], memory_order_acq_rel);
}
static void atomic_one(long n) { atomics(n, 1); }
static void atomic_bulk(long n) { atomics(n, CELLS); }

/* --- driver ----------------------------------------------------------------------------------- */

static const struct row {
    const char *name;
    void (*fn)(long n);
    long n;
    int layout; /* depends on how shmlock.c was compiled */
} rows[] = {
    {"lock exclusive, word and queue", word_exclusive, 100000, 1},
    {"lock shared, word and queue", word_shared, 100000, 1},
    {"pscw, one exposes", pscw_one, 20000, 1},
    {"pscw, both expose", pscw_both, 20000, 1},
    {"lock exclusive, ticket", ticket_exclusive, 100000, 0},
    {"lock shared, ticket", ticket_shared, 100000, 0},
    {"lock exclusive, test and set", tas_exclusive, 100000, 0},
    {"add 8 B, stripe 4 KiB", stripe4k_one, 200000, 0},
    {"add 8 B, atomic", atomic_one, 200000, 0},
    {"add 64 KiB, stripe 512 B", stripe512_bulk, 200, 0},
    {"add 64 KiB, stripe 4 KiB", stripe4k_bulk, 200, 0},
    {"add 64 KiB, stripe 64 KiB", stripe64k_bulk, 200, 0},
    {"add 64 KiB, atomics", atomic_bulk, 50, 0},
};

static void together(unsigned number)
{
    if (atomic_fetch_add(&all->ready, 1) + 1 == 2 * number)
        atomic_store(&all->go, number);
    while (atomic_load(&all->go) < number)
        sched_yield();
}

static void bind(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* contended: both processes run it; else process 0 alone while the other sleeps at the barrier. */
static void measure(const char *layout, const struct row *r, int contended, unsigned *number)
{
    double t[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        together(++*number);
        t[i] = now();
        if (node.me == 0 || contended)
            r->fn(r->n);
        t[i] = (now() - t[i]) / (double)r->n;
        together(++*number);
    }
    qsort(t, ROUNDS, sizeof *t, by_value);
    if (node.me == 0)
        printf("value %.1f %s%s%s%s\n", t[ROUNDS / 2], r->name, r->layout ? ", " : "",
               r->layout ? layout : "", contended ? "; both" : "; alone");
}

int main(int argc, char **argv)
{
    unsigned number = 0;
    const char *layout = argc > 1 ? argv[1] : "built";
    all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || shmlock_bytes(2) > sizeof all->lock)
        return 1;
    memset(all, 0, sizeof *all);
    for (size_t i = 0; i < CELLS; i++)
        mine[i] = (int64_t)(i + (unsigned)argc);
    shmlock_init((struct shmlock *)all->lock, 2, 0);
    fflush(stdout);
    pid_t child = fork();
    node.me = child == 0;
    bind((int)node.me);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int contended = strncmp(rows[i].name, "pscw", 4) == 0; contended < 2; contended++)
            if (rows[i].layout || argc < 3)
                measure(layout, &rows[i], contended, &number);
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    return 0;
}
