/* near.c - litmus programs of the near protocols (rma/shared/shmlock.c, rma/shared/acc.c,
 * tp/shm/ring.c, base/atomic.h): two processes, nothing of the library between them but the words
 * in shared memory.
 *
 *   near [SECONDS]     2 in `make check`; minutes by hand, on an idle machine; maint/litmus-arm64
 *                      builds it for arm64
 *
 * Data that a protocol guards are plain memory, so what the protocol does not order shows as a
 * wrong value. Each line gives the number of rounds and of wrong outcomes; one wrong
 * outcome fails.  `sb bare` is the control: the same rounds without the fence, where the weak
 * outcome is allowed.  That it was seen shows that the rounds of the two processes met. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "mem/mem.h"
#include "rma/shared/shmlock.h"
#include "stripe.h"
#include "tp/shm/ring.h"

enum { BATCH = 4096, CELLS = 8, CELL_BYTES = 128, WORDS = 12, STRIPES = 4 };

struct both { /* one process writes each array; lines apart */
    _Alignas(64) volatile unsigned v[BATCH];
};

struct arena {
    _Alignas(64) char lock[4096];
    struct shmpair pairs[4];
    struct shmbar bar;
    int32_t host_index[2];
    atomic_ulong last; /* rounds to run */
    _Alignas(64) volatile unsigned long guarded;      /* changed under the exclusive lock */
    _Alignas(64) volatile unsigned long guarded_twin; /* on another line; equal outside writers */
    _Alignas(64) volatile unsigned to[2];             /* pairs: of the poster, of the starter */
    _Alignas(64) volatile unsigned cell[2][2];        /* barrier: [parity][process] */
    _Alignas(64) char ctl[1024];                      /* stripes */
    struct {
        _Alignas(64) volatile unsigned long v, twin;  /* guarded by the stripe; not on one line with
                                                       * ... */
        _Alignas(64) volatile unsigned long far_twin;
    } under[STRIPES];
    _Alignas(128) char ring[2][8192]; /* ring[i]: inbox of process i, few cells so that laps come
                                       * often */
    struct both x[2], r[2];
    struct {
        _Alignas(64) volatile unsigned i;
    } at[2]; /* sb: round of this batch */
    _Alignas(64) volatile unsigned long rounds[2], writes[2], adds[2], wrong[2], weak[2], met[2];
};

static struct arena *a;
static struct shmnode node;

/* --- what shmlock.c wants from the rooms below: no process dies, waiters spin ----------------- */

const struct sched_ops *sched; /* none: the kernel's */

int boot_host_rank(int index) { return index; }
int boot_failed(int rank) { return rank < 0; }
int boot_failed_count(void) { return 0; }
int mem_holder_died(unsigned word) { (void)word; return 0; } /* none dies here */
void mem_wake(int host_index) { (void)host_index; }
int mem_host_index(void) { return (int)node.me; }

void thread_pause(unsigned turn)
{
    if (turn % 64 < 63)
        cpu_relax();
    else
        sched_yield();
}

/* ---------------------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct shmlock *lock(void) { return (struct shmlock *)(void *)a->lock; }

static void note(int good)
{
    if (!good)
        a->wrong[node.me]++;
}

static void meet(unsigned *number)
{
    shmbar_arrive(&a->bar, &node, ++*number);
    for (unsigned turn = 0; !shmbar_poll(&a->bar, &node, *number); turn++)
        thread_pause(turn);
}

static void take(enum shmlock_type type)
{
    if (shmlock_enter(lock(), &node, type))
        return;
    for (unsigned turn = 0; !shmlock_poll(lock(), &node); turn++)
        thread_pause(turn);
}

static void inside(enum shmlock_type type)
{
    unsigned long v = a->guarded;
    note(a->guarded_twin == v);
    if (type == SHMLOCK_EXCLUSIVE) {
        a->guarded = v + 1;
        a->guarded_twin = v + 1;
        a->writes[node.me]++;
    } else {
        note(a->guarded == v);
    }
}

/* Writers and readers, near. */
static void lock_near(unsigned long i)
{
    enum shmlock_type type = i % 3 ? SHMLOCK_EXCLUSIVE : SHMLOCK_SHARED;
    take(type);
    inside(type);
    shmlock_leave(lock(), &node, type);
}

/* Process 0 is the target and takes every second turn for a far process, by reservation; 1 is
 * near. */
static void lock_far(unsigned long i)
{
    if (node.me || i % 2) {
        lock_near(i);
        return;
    }
    enum shmlock_type type = i % 3 ? SHMLOCK_EXCLUSIVE : SHMLOCK_SHARED;
    if (!shmlock_far_try(lock(), &node, type, 1, 0)) {
        shmlock_far_waiting(lock(), &node, (int)type,
                            shmlock_far_key(lock(), &node, type, SHMLOCK_NOW));
        for (unsigned turn = 0; !shmlock_far_try(lock(), &node, type, 1, 0); turn++)
            thread_pause(turn);
        shmlock_far_waiting(lock(), &node, 0, 0);
    }
    inside(type);
    shmlock_far_leave(lock(), &node, type);
}

/* Process 0 posts and waits, 1 starts and completes; each writes to plain memory first. */
static void pairs(unsigned long i)
{
    unsigned turn = 0;
    if (node.me == 0) {
        a->to[0] = (unsigned)i;
        shmpair_post(a->pairs, &node, 1);
        while (!shmpair_wait(a->pairs, &node, 1))
            thread_pause(turn++);
        note(a->to[1] == (unsigned)i + 7);
    } else {
        while (!shmpair_start(a->pairs, &node, 0))
            thread_pause(turn++);
        note(a->to[0] == (unsigned)i);
        a->to[1] = (unsigned)i + 7;
        shmpair_complete(a->pairs, &node, 0);
    }
}

/* What a peer wrote before barrier k is there after it, and its write before k + 2 is not. */
static unsigned barrier_number;
static void barrier(unsigned long i)
{
    unsigned k = (unsigned)i + 1;
    a->cell[k % 2][node.me] = k;
    meet(&barrier_number);
    note(a->cell[k % 2][!node.me] == k);
}

/* Stripes of accumulates: every third element crosses into the next, past the end of the table too,
 * where the two are taken in the order of the table. No circle forms, and what a stripe guards is
 * whole. */
static void stripes(unsigned long i)
{
    unsigned first = (unsigned)(node.me ? i * 7 + 2 : i) % (STRIPES + 1),
             last = first + (i % 3 == 0);
    litmus_stripe(a->ctl, first, last, 1);
    for (unsigned s = first; s <= last; s++) {
        unsigned long v = a->under[s % STRIPES].v;
        note(a->under[s % STRIPES].twin == v && a->under[s % STRIPES].far_twin == v);
        a->under[s % STRIPES].v = v + 1;
        a->under[s % STRIPES].far_twin = v + 1;
        a->under[s % STRIPES].twin = v + 1;
        a->adds[node.me]++;
    }
    litmus_stripe(a->ctl, first, last, 0);
}

/* Each sends to the other and to itself by turns, and reads its inbox; cells are plain memory.  In
 * order, whole, and overwritten only after they were read (two senders a ring). */
static struct ring_out to[2];
static uint64_t position;
static unsigned long seen_from[2];

static void ring_start(void)
{
    for (unsigned i = 0; i < 2; i++)
        to[i] = ring_out_of(ring_view_of(a->ring[i], 2, CELLS, CELL_BYTES), node.me);
    position = 0;
    seen_from[0] = seen_from[1] = 0;
}

static void ring_read(void)
{
    const struct ring_cell *c;
    while ((c = ring_peek(&to[node.me].v, position))) {
        const volatile unsigned long *w = (const volatile unsigned long *)(const void *)c->payload;
        unsigned from = c->src & 1;
        note(c->src < 2 && c->len == WORDS * sizeof *w);
        for (int k = 0; k < WORDS; k++)
            note(w[k] == seen_from[from] + (unsigned long)k);
        seen_from[from]++;
        ring_advance(&to[node.me].v, ++position);
    }
}

static void rings(unsigned long i)
{
    enum { BURST = 12 }; /* more than there are cells */
    unsigned long w[WORDS];
    struct iovec v = {w, sizeof w};
    unsigned turn = 0;
    if (i == 0)
        ring_start();
    for (unsigned long n = i * BURST; n < (i + 1) * BURST; n++) {
        for (unsigned long k = 0; k < WORDS; k++)
            w[k] = n + k;
        for (unsigned dest = 0; dest < 2; dest++)
            while (ring_send(&to[dest], &v, 1, sizeof w)) {
                ring_read();
                thread_pause(turn++);
            }
    }
    /* Both end a round with all of it read, so that the one that ends first leaves room for the
     * other. */
    while (seen_from[0] < (i + 1) * BURST || seen_from[1] < (i + 1) * BURST) {
        ring_read();
        thread_pause(turn++);
    }
}

/* Store buffering, put; flush; get: x = 1, fence, read y against y = 1, fence, read x.  Not both
 * may read 0.  Rounds come in batches; inside one, each waits a moment for the other before each
 * round, so that they meet. */
static unsigned long weak, met;
static unsigned sb_number;

static void sb_batch(int fenced)
{
    volatile unsigned *mine = a->x[node.me].v, *other = a->x[!node.me].v, *seen = a->r[node.me].v;
    for (unsigned i = 0; i < BATCH; i++)
        mine[i] = 0;
    a->at[node.me].i = 0;
    meet(&sb_number);
    for (unsigned i = 0; i < BATCH; i++) {
        a->at[node.me].i = i;
        for (int turn = 0; turn < 1000 && a->at[!node.me].i < i; turn++)
            ;
        met += a->at[!node.me].i == i;
        mine[i] = 1;
        if (fenced)
            fence_full();
        seen[i] = other[i];
    }
    meet(&sb_number);
    if (node.me == 0)
        for (unsigned i = 0; i < BATCH; i++) {
            weak += !a->r[0].v[i] && !a->r[1].v[i];
            if (fenced)
                note(a->r[0].v[i] || a->r[1].v[i]);
        }
    meet(&sb_number);
}

static void sb_fenced(unsigned long i) { (void)i; sb_batch(1); }
static void sb_bare(unsigned long i) { (void)i; sb_batch(0); }

/* Process 0 names the last round when time is up; in step with it, process 1 learns that in
 * time. */
static void rounds(void (*round)(unsigned long), double seconds)
{
    double end = now() + seconds;
    unsigned long i = 0;

    for (; i < atomic_load_explicit(&a->last, memory_order_acquire); i++) {
        if (node.me == 0 && now() > end &&
            atomic_load_explicit(&a->last, memory_order_relaxed) == ~0ul)
            atomic_store_explicit(&a->last, i + 2, memory_order_release);
        round(i);
    }
    a->rounds[node.me] = i;
    a->weak[node.me] = weak;
    a->met[node.me] = met;
}

static int run(const char *name, void (*round)(unsigned long), double seconds)
{
    pid_t pid[2];
    int failed = 0, status;

    memset(a, 0, sizeof *a);
    atomic_init(&a->last, ~0ul);
    a->host_index[1] = 1;
    shmlock_init(lock(), 2, 0);
    litmus_stripe_init(a->ctl, STRIPES);
    for (unsigned me = 0; me < 2; me++) {
        pid[me] = fork();
        if (pid[me] < 0) {
            perror("fork");
            exit(2);
        }
        if (pid[me] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL); /* none is left at the start line */
            alarm((unsigned)seconds + 60);
            node = (struct shmnode){2, me, a->host_index};
            rounds(round, seconds);
            _exit(0);
        }
    }
    for (unsigned me = 0; me < 2; me++)
        failed |= waitpid(pid[me], &status, 0) != pid[me] || status != 0;
    unsigned long wrong = a->wrong[0] + a->wrong[1];
    wrong += a->guarded != a->writes[0] + a->writes[1] || a->guarded != a->guarded_twin;
    unsigned long sum = 0;
    for (int s = 0; s < STRIPES; s++)
        sum += a->under[s].v;
    wrong += sum != a->adds[0] + a->adds[1];
    unsigned long each = round == sb_fenced || round == sb_bare ? BATCH : 1;
    printf("%-10s %12lu rounds, %lu wrong", name, (a->rounds[0] + a->rounds[1]) / 2 * each, wrong);
    if (each > 1)
        printf(", met %lu times, weak outcome %lu times", a->met[0], a->weak[0]);
    printf(failed ? ", a process failed\n" : "\n");
    fflush(stdout);
    return failed || wrong || !a->rounds[0];
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*round)(unsigned long);
    } all[] = {{"lock near", lock_near}, {"lock far", lock_far}, {"pairs", pairs},
               {"barrier", barrier},     {"stripes", stripes},   {"ring", rings},
               {"sb fenced", sb_fenced}, {"sb bare", sb_bare}};
    enum { N = sizeof all / sizeof all[0] };
    double seconds = argc > 1 ? atof(argv[1]) : 2;
    int failed = 0;

    if (!(seconds > 0)) {
        fprintf(stderr, "usage: near [SECONDS]\n");
        return 2;
    }
    a = mmap(NULL, sizeof *a, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (a == MAP_FAILED || shmlock_bytes(2) > sizeof a->lock ||
        litmus_stripe_bytes(STRIPES) > sizeof a->ctl ||
        ring_bytes(2, CELLS, CELL_BYTES) > sizeof a->ring[0]) {
        fprintf(stderr, "near: no memory\n");
        return 2;
    }
    for (int i = 0; i < N; i++)
        failed |= run(all[i].name, all[i].round, seconds / N);
    munmap(a, sizeof *a);
    return failed;
}
