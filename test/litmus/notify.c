/* notify.c - litmus program of notified operations near (rma/near/note.h, note.c,
 * rma/sync/note_wait.c, mem/wake.c): two or three processes, nothing of the library between them
 * but the counters, the data and the host page.
 *
 *   notify [SECONDS]   2 in `make check`; minutes by hand, on an idle machine; maint/litmus-arm64
 *                      builds it for arm64, and looks for the instructions that order it
 *
 * The writers put data and count, half of the time as the inline path does it (rma_note_add), else
 * as the slow one (rma_note_near). Process 0 waits with rma_notify_wait(). Each line gives the
 * rounds, the sleeps, and what must be 0: rounds whose data were not there, and wake-ups or
 * notifications that were lost.
 *
 *   mp N      N bytes and their count: a process that has seen the count sees all bytes
 *   two       two writers of one counter: a process that has seen it sees the data of both
 *   sb        the writer waits for each round, so that nothing later wakes a reader that sleeps
 *   take      1, 2 or 3 are taken while two writers count */
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
#include "rma/near/near_types.h"
#include "rma/sync/sync_types.h"
#include "var/var.h"
#include "watch/watch.h"

enum { MOST = 3, PLACES = 4, LONGEST = 65536, LONG_MS = 5000 };

static struct arena {
    struct mem_record record[MOST];
    _Alignas(128) char words[RMA_NOTE_FIRST];
    struct rma_peer peer; /* what process 0 publishes */
    struct word {
        _Alignas(128) _Atomic uint64_t n;
    } taken, last; /* so far, by process 0; rounds that each writer does */
    _Alignas(128) char data[PLACES][LONGEST];
    _Alignas(128) volatile uint64_t put[MOST][16]; /* the last round of each writer */
    _Alignas(128) uint64_t rounds, sleeps, wrong, lost;
} *a;

static const struct part {
    const char *name;
    int writers;
    size_t bytes; /* of data */
    unsigned ahead, take; /* the writer may be so many rounds ahead; at most so many are taken */
} parts[] = {{"mp 1", 1, 1, PLACES, 1},         {"mp 8", 1, 8, PLACES, 1},
             {"mp 65536", 1, 65536, PLACES, 1}, {"two", 2, 0, 8, 1},
             {"sb", 1, 8, 1, 1},                {"take", 2, 0, 64, 3}};
static const struct part *part;

/* --- what these sources want from elsewhere --------------------------------------------------- */

const struct sched_ops *sched; /* none: the kernel's */
static struct var_room var;
static struct mem mem;
static struct proc the_proc = {.var = &var, .mem = &mem};
struct proc *proc = &the_proc;

uint64_t random_bits(void)
{
    return (uint64_t)(uintptr_t)&mem ^ (uint64_t)mem.index * 0x9e3779b97f4a7c15u;
}
const char *rma_call(void) { return "litmus"; }
int rma_revoked_error(const struct rma_win *w) { return w ? MPIX_ERR_REVOKED : 0; }
const char *rma_win_text(const struct rma_win *w) { return w ? "" : NULL; }
int err_make(int error, const char *text, ...) { return text ? error : 0; }
int mem_segment_attach_again(const struct mem_key *key, struct mem_segment **seg)
{
    return key && seg ? -1 : 0; /* the words are mapped */
}
void watch_noted(struct rma_win *w, unsigned index, uint64_t word, struct request *req) {}
/* no duplicates */
void rma_copies_follow(struct rma_win *w, const struct rma_near *n) { (void)w, (void)n, abort(); }
void progress_signal_threads(void) {}
void progress_test(void) {}
void progress_glance(void) {}

/* As progress/engine.c doze() does it. Time that passes with the news there: the process that
 * brought it may stand before its wake-up, but not as long again. Without news it was lost. */
void progress_wait_why(int (*cond)(void *), void *arg, const char *what, int peer,
                       enum progress_why why, const void *of)
{
    struct pollfd fd = {.fd = mem_wake_fd(), .events = POLLIN};
    (void)what, (void)peer, (void)why, (void)of;
    /* sb: the look and the news meet; else most rounds find the news before they sleep. */
    int looks = part->ahead == 1 ? (int)(a->sleeps * 0x9e3779b97f4a7c15u >> 40) % 64 : 5000;
    int over = 0;
    while (!over && looks--)
        over = cond(arg);
    while (!over) {
        mem_wake_arm();
        over = cond(arg);
        if (!over) {
            a->sleeps++;
            if (poll(&fd, 1, LONG_MS) == 0 && poll(&fd, 1, LONG_MS) == 0) {
                a->lost++;
                _exit(1);
            }
        }
        mem_wake_disarm();
    }
}

/* --- writers ---------------------------------------------------------------------------------- */

static struct rma_win win;
static struct comm comm; /* not revoked */
static struct rma_near near[1]; /* process 0 */
static struct rma_note note;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Not inline: maint/litmus-arm64 looks at its instructions. */
static __attribute__((noinline)) void count(uint64_t i)
{
    if (i % 2)
        rma_note_near(&win, &near[0], 0);
    else if (rma_note_add(rma_note_word(note.words, 0), note.sleeping))
        mem_wake(0);
}

static uint64_t taken(void)
{
    return atomic_load_explicit(&a->taken.n, memory_order_acquire);
}

/* A writer is at most `ahead` rounds before what was taken, of all writers together. */
static void write_rounds(int me)
{
    static char from[LONGEST];
    uint64_t writers = (uint64_t)part->writers, i = 1;
    for (; i <= atomic_load_explicit(&a->last.n, memory_order_acquire); i++) {
        for (unsigned turn = 1; i * writers > taken() + part->ahead; turn++)
            if (turn % 1000 == 0)
                sched_yield();
        if (part->ahead == 1 && i % 8 == 0)
            usleep(50); /* process 0 sleeps */
        for (uint64_t k = (i * 0x9e3779b97f4a7c15u >> 40) % 256; part->ahead == 1 && k; k--)
            atomic_signal_fence(memory_order_seq_cst); /* news and sleep meet */
        if (part->bytes) {
            memset(from, (int)(i & 0xff), part->bytes);
            rma_near_put(from, a->data[i % PLACES], part->bytes);
        }
        a->put[me][0] = i;
        count(i);
    }
}

/* --- process 0 -------------------------------------------------------------------------------- */

static int is_there(uint64_t i)
{
    const uint64_t *at = (const uint64_t *)(const void *)a->data[i % PLACES];
    if (part->bytes < 8)
        return a->data[i % PLACES][0] == (char)(i & 0xff);
    for (size_t k = 0; k < part->bytes / 8; k++)
        if (at[k] != (i & 0xff) * 0x0101010101010101u)
            return 0;
    return 1;
}

static void read_rounds(double end)
{
    uint64_t all = 0, turn = 0, writers = (uint64_t)part->writers, total = UINT64_MAX, n;
    for (; all < total; all += n, turn++) {
        n = 1 + turn % part->take;
        n = n < total - all ? n : total - all;
        atomic_store_explicit(&a->taken.n, all, memory_order_release);
        rma_notify_wait(&win, 0, (MPI_Count)n, 1);
        if (part->bytes)
            a->wrong += !is_there(all + n);
        else
            a->wrong += a->put[1][0] + a->put[2][0] < all + n;
        if (total == UINT64_MAX && turn % 32 == 0 && now() > end) { /* no writer is there yet */
            total = ((all + part->ahead) / writers + 2) * writers;
            atomic_store_explicit(&a->last.n, total / writers, memory_order_release);
        }
    }
    a->rounds = all;
    a->wrong += rma_note_value(&win, 0) != 0;
}

/* --- processes -------------------------------------------------------------------------------- */

static int process(int me, double seconds)
{
    static uint64_t base[1];
    mem.index = me;
    mem.count = MOST;
    mem.record = a->record;
    note = (struct rma_note){.words = a->words, .sleeping = mem_sleeping(0)};
    near[0] = (struct rma_near){.rank = 0, .host_index = 0, .peer = &a->peer};
    atomic_init(&near[0].note, &note);
    win.comm = &comm;
    win.rank = me;
    win.near.near = near;
    win.notes = (struct rma_win_notes){.words = a->words, .base = base, .num = 1, .made = 1};
    list_init(&win.notes.calls);
    if (mem_wake_open())
        return 1;
    if (me)
        write_rounds(me);
    else
        read_rounds(now() + seconds);
    return 0;
}

static int run(double seconds)
{
    pid_t pid[MOST];
    int failed = 0, status;

    memset(a, 0, sizeof *a);
    atomic_init(&a->last.n, UINT64_MAX);
    atomic_init(&a->peer.notes.num, 1);
    for (int p = 0; p <= part->writers; p++) {
        pid[p] = fork();
        if (pid[p] < 0) {
            perror("fork");
            exit(2);
        }
        if (pid[p] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL); /* none is left at the start line */
            alarm((unsigned)seconds + 60);
            _exit(process(p, seconds));
        }
    }
    for (int p = 0; p <= part->writers; p++) {
        failed |= waitpid(pid[p], &status, 0) != pid[p] || status != 0;
        for (int k = 1; failed && p == 0 && k <= part->writers; k++)
            kill(pid[k], SIGKILL); /* they wait for process 0 */
    }
    printf("%-8s %10llu rounds, %8llu sleeps, %llu wrong, %llu lost%s\n", part->name,
           (unsigned long long)a->rounds, (unsigned long long)a->sleeps,
           (unsigned long long)a->wrong, (unsigned long long)a->lost,
           failed ? ", a process failed" : "");
    fflush(stdout);
    return failed || a->wrong || a->lost || !a->rounds || (part->ahead == 1 && !a->sleeps);
}

int main(int argc, char **argv)
{
    enum { N = sizeof parts / sizeof *parts };
    double seconds = argc > 1 ? atof(argv[1]) : 2;
    int failed = 0;

    if (!(seconds > 0)) {
        fprintf(stderr, "usage: notify [SECONDS]\n");
        return 2;
    }
    a = mmap(NULL, sizeof *a, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (a == MAP_FAILED) {
        fprintf(stderr, "notify: no memory\n");
        return 2;
    }
    for (part = parts; part < parts + N && !failed; part++)
        failed = run(seconds / N);
    munmap(a, sizeof *a);
    return failed;
}
