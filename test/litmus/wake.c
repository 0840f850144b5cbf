/* wake.c - litmus program of sleep and wake-up (mem/wake.c): two or three processes, nothing of the
 * library between them but the host page.
 *
 *   wake [SECONDS]     2 in `make check`; minutes by hand, on an idle machine; maint/litmus-arm64
 *                      builds it for arm64
 *
 * In each round all but one store their news and wake the other. At the same time that one arms,
 * looks, and sleeps until it has seen all. A sleep that goes on with the news there is a lost
 * wake-up: one fails. */
#include <poll.h>
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

#include "base/proc.h"
#include "base/sched.h"
#include "mem/mem_types.h"
#include "var/var.h"

enum { MOST = 3, LONG_MS = 5000 }; /* no wake-up takes so long, however busy the machine */

static struct arena {
    struct mem_record record[MOST];
    struct word {
        _Alignas(128) _Atomic uint64_t n;
    } news[MOST], start[MOST];
    _Alignas(128) _Atomic uint64_t last; /* rounds to run */
    _Alignas(128) uint64_t rounds[MOST], sleeps[MOST], lost[MOST];
} *a;
static int n; /* processes: 2, then 3 */

/* --- what wake.c wants from elsewhere --------------------------------------------------------- */

const struct sched_ops *sched; /* none: the kernel's */
static struct var_room var;
static struct proc the_proc = {.var = &var};
struct proc *proc = &the_proc;
static struct mem mem;

uint64_t random_bits(void)
{
    return (uint64_t)(uintptr_t)&mem ^ (uint64_t)mem.index * 0x9e3779b97f4a7c15u;
}

/* ---------------------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Words that all reach `i`: news, or the start line of a round. */
static int all_at(const struct word *w, uint64_t i)
{
    for (int p = 0; p < n; p++)
        if (atomic_load_explicit(&w[p].n, memory_order_acquire) < i)
            return 0;
    return 1;
}

/* As progress/engine.c doze() does it. */
static void sleep_until(uint64_t i)
{
    struct pollfd fd = {.fd = mem_wake_fd(), .events = POLLIN};
    for (int over = 0; !over;) {
        mem_wake_arm();
        over = all_at(a->news, i);
        if (!over) {
            a->sleeps[mem.index]++;
            /* Time passed with the news there. The process that brought it may stand before its
             * wake-up, but not as long again. */
            if (poll(&fd, 1, LONG_MS) == 0 && all_at(a->news, i) && poll(&fd, 1, LONG_MS) == 0)
                a->lost[mem.index]++;
        }
        mem_wake_disarm();
    }
}

/* Side by side, so that news and sleep meet: less or more apart in each round. */
static void start_line(int me, uint64_t i)
{
    atomic_store_explicit(&a->start[me].n, i, memory_order_release);
    for (int turn = 0; !all_at(a->start, i); turn++)
        if (turn % 1000 == 999)
            sched_yield();
    for (uint64_t k = (i * 0x9e3779b97f4a7c15u >> (20 + 10 * me)) % 512; k; k--)
        atomic_signal_fence(memory_order_seq_cst);
}

static int rounds(int me, double seconds)
{
    double end = now() + seconds;
    uint64_t i = 0;

    mem.index = me;
    mem.count = n;
    mem.record = a->record;
    proc->mem = &mem;
    if (mem_wake_open())
        return 1;
    /* Process 0 names the last round when time is up; in step with it, the others learn that in
     * time. */
    for (; i < atomic_load_explicit(&a->last, memory_order_acquire); i++) {
        if (me == 0 && now() > end &&
            atomic_load_explicit(&a->last, memory_order_relaxed) == UINT64_MAX)
            atomic_store_explicit(&a->last, i + 2, memory_order_release);
        start_line(me, i + 1);
        int sleeper = (int)(i % (unsigned)n);
        if (i % 8 == 0 && me != sleeper)
            usleep(50); /* the sleeper sleeps */
        atomic_store_explicit(&a->news[me].n, i + 1, memory_order_relaxed);
        if (me == sleeper)
            sleep_until(i + 1);
        else
            mem_wake(sleeper);
    }
    a->rounds[me] = i;
    return 0;
}

static int run(int processes, double seconds)
{
    pid_t pid[MOST];
    int failed = 0, status;
    uint64_t sleeps = 0, lost = 0;

    n = processes;
    memset(a, 0, sizeof *a);
    atomic_init(&a->last, UINT64_MAX);
    for (int p = 0; p < n; p++) {
        pid[p] = fork();
        if (pid[p] < 0) {
            perror("fork");
            exit(2);
        }
        if (pid[p] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL); /* none is left at the start line */
            alarm((unsigned)seconds + 60);
            _exit(rounds(p, seconds));
        }
    }
    for (int p = 0; p < n; p++) {
        failed |= waitpid(pid[p], &status, 0) != pid[p] || status != 0;
        sleeps += a->sleeps[p];
        lost += a->lost[p];
    }
    printf("wake, %d    %12llu rounds, %llu sleeps, %llu wake-ups lost%s\n", n,
           (unsigned long long)a->rounds[0], (unsigned long long)sleeps, (unsigned long long)lost,
           failed ? ", a process failed" : "");
    fflush(stdout);
    return failed || lost || !a->rounds[0];
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 2;

    if (!(seconds > 0)) {
        fprintf(stderr, "usage: wake [SECONDS]\n");
        return 2;
    }
    a = mmap(NULL, sizeof *a, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (a == MAP_FAILED) {
        fprintf(stderr, "wake: no memory\n");
        return 2;
    }
    int failed = run(2, seconds / 2);
    failed |= run(3, seconds / 2);
    munmap(a, sizeof *a);
    return failed;
}
