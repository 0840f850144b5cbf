/* forked.c - the forked processes and the launcher that they talk to (forked.h). Start with
 * job_run(). */
#include "doctor/forked.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/proc.h"
#include "base/sched.h"
#include "var/var.h"

enum { WORDS = 256, ENTRIES = 256, PROCESSES = 64, CHECK_FAILED = 3 /* exit status */ };
/* How long the launcher may take to connect a process; then `quiet` counts (ms). */
enum { JOIN_MS = 300000 };

struct entry {
    char key[64];
    size_t len;
    char bytes[BOOT_PIECE_MAX];
};

static struct job { /* shared by the processes of one job_run */
    int size;
    atomic_int lock;
    atomic_uint arrived, round;
    int entries;
    struct entry entry[ENTRIES];
    uint64_t words[WORDS];
    int quiet;                  /* nothing is printed */
    atomic_int fault[PROCESSES]; /* enum fault: what each is about */
    atomic_uint events;
    atomic_int first; /* the first failed check has been noted */
    struct job_end end;
} *job;
static int my_rank;
const struct boot_ops *job_boot = &job_ops;
static unsigned my_round; /* of the barrier under way */

static void job_lock(void)
{
    while (atomic_exchange_explicit(&job->lock, 1, memory_order_acquire))
        sched_yield();
}

static void job_unlock(void)
{
    atomic_store_explicit(&job->lock, 0, memory_order_release);
}

static int job_init(int *rank, int *size, int *appnum)
{
    *rank = my_rank;
    *size = job->size;
    *appnum = 0;
    return 0;
}

static struct entry *find(const char *key)
{
    for (int i = 0; i < job->entries; i++)
        if (!strcmp(job->entry[i].key, key))
            return &job->entry[i];
    return NULL;
}

static int job_put(const char *key, const void *value, size_t len)
{
    if (len > BOOT_PIECE_MAX)
        return -EMSGSIZE;
    job_lock();
    struct entry *e = find(key);
    if (!e && job->entries < ENTRIES) {
        e = &job->entry[job->entries++];
        snprintf(e->key, sizeof e->key, "%s", key);
    }
    if (e) {
        memcpy(e->bytes, value, len);
        e->len = len;
    }
    job_unlock();
    return e ? 0 : -ENOSPC;
}

static int job_get(const char *key, void *value, size_t *len)
{
    job_lock();
    struct entry *e = find(key);
    int err = !e ? -ENOENT : e->len > *len ? -EMSGSIZE : 0;
    if (!err) {
        memcpy(value, e->bytes, e->len);
        *len = e->len;
    }
    job_unlock();
    return err;
}

static int job_barrier_begin(int *fd)
{
    *fd = -1;
    my_round = atomic_load_explicit(&job->round, memory_order_acquire);
    if (atomic_fetch_add_explicit(&job->arrived, 1, memory_order_acq_rel) + 1 ==
        (unsigned)job->size) {
        atomic_store_explicit(&job->arrived, 0, memory_order_relaxed);
        atomic_fetch_add_explicit(&job->round, 1, memory_order_release);
    }
    return 0;
}

static int job_barrier_test(void)
{
    return atomic_load_explicit(&job->round, memory_order_acquire) != my_round;
}

static int job_barrier(void)
{
    int fd;
    job_barrier_begin(&fd);
    while (!job_barrier_test())
        sched_yield();
    return 0;
}

static int job_node_map(char *text, size_t len)
{
    snprintf(text, len, "(vector,(0,1,%d))", job->size);
    return 0;
}

static int job_id(char *text, size_t len)
{
    snprintf(text, len, "unit-%ld", (long)getppid());
    return 0;
}

static void job_abort(int code, const char *why)
{
    fprintf(stderr, "rank %d aborts: %s\n", my_rank, why ? why : "");
    _exit(code ? code : 1);
}

static int job_finalize(void)
{
    return 0;
}

const struct boot_ops job_ops = {.name = "unit", .init = job_init, .put = job_put, .get = job_get,
                                 .barrier = job_barrier, .barrier_begin = job_barrier_begin,
                                 .barrier_test = job_barrier_test, .node_map = job_node_map,
                                 .job_id = job_id, .abort = job_abort, .finalize = job_finalize};

uint64_t *job_words(void)
{
    return job->words;
}

void job_word_set(int i, uint64_t v)
{
    atomic_store_explicit((_Atomic uint64_t *)&job_words()[i * 8], v, memory_order_release);
}

uint64_t job_word(int i)
{
    return atomic_load_explicit((_Atomic uint64_t *)&job_words()[i * 8], memory_order_acquire);
}

enum fault job_about(enum fault now)
{
    return (enum fault)atomic_exchange_explicit(&job->fault[my_rank], (int)now,
                                                memory_order_relaxed);
}

void job_event(void)
{
    atomic_fetch_add_explicit(&job->events, 1, memory_order_relaxed);
}

int job_quiet(void)
{
    return job->quiet;
}

void job_check_at(int ok, const char *text, const char *file, int line)
{
    if (ok)
        return;
    if (!atomic_exchange_explicit(&job->first, 1, memory_order_relaxed)) {
        job->end.fault = (enum fault)atomic_load_explicit(&job->fault[my_rank],
                                                          memory_order_relaxed);
        const char *slash = strrchr(file, '/');
        snprintf(job->end.text, sizeof job->end.text, "%s (%s:%d)", text, slash ? slash + 1 : file,
                 line);
    }
    if (!job->quiet)
        fprintf(stderr, "%s:%d: rank %d: check failed: %s\n", file, line, my_rank, text);
    _exit(CHECK_FAILED);
}

static void child(int rank, const char *const *sets, void (*body)(void))
{
    char why[256];
    my_rank = rank;
    if (job->quiet) { /* the libraries below complain of what they are put through */
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (null >= 0)
            dup2(null, 2);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (var_init(why, sizeof why) != 0)
        _exit(4);
    for (; sets && *sets; sets++) {
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*sets, "="), *sets);
        if (cvar_set(name, strchr(*sets, '=') + 1, why, sizeof why) != 0)
            job_check_at(0, *sets, __FILE__, __LINE__);
    }
    lock_init(&proc->lock);
    job_check(boot_init(job_boot) == 0);
    if (job_boot != &job_ops)
        job_event(); /* the others of the launcher's job have come */
    body();
    boot_finalize();
    var_finalize();
    fflush(NULL);
    _exit(0);
}

static int64_t now_ms(void)
{
    return (int64_t)(time_now() / 1000000);
}

/* When the job must be over (ms), with what was last seen of its events. */
struct limits {
    int64_t end, quiet_end;
    int64_t quiet; /* 0: events do not matter */
    unsigned events;
};

static int is_over(struct limits *l)
{
    unsigned events = atomic_load_explicit(&job->events, memory_order_relaxed);
    int64_t now = now_ms();
    if (events != l->events)
        l->quiet_end = now + l->quiet;
    l->events = events;
    return now >= l->end || (l->quiet && now >= l->quiet_end);
}

/* Collect the children until the limits; the first that fails leaves the others a second.
 * Collected ones become 0.  Number of failures among them. */
static int reap(pid_t *pid, int n, struct limits *l)
{
    const struct timespec pause_ts = {0, 2000000};
    int left = n, failed = 0, status;
    while (left && !is_over(l)) {
        for (int i = 0; i < n; i++) {
            if (!pid[i] || waitpid(pid[i], &status, WNOHANG) != pid[i])
                continue;
            pid[i] = 0;
            left--;
            if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
                continue;
            job->end.crashed |= !WIFEXITED(status) || WEXITSTATUS(status) != CHECK_FAILED;
            if (WIFSIGNALED(status) && !job->quiet)
                fprintf(stderr, "rank %d: %s\n", i, strsignal(WTERMSIG(status)));
            if (!failed++ && now_ms() + 1000 < l->end)
                l->end = now_ms() + 1000;
        }
        nanosleep(&pause_ts, NULL);
    }
    return failed;
}

/* Kill and collect those that reap() left: what was collected is 0, and its number may be that of a
 * stranger by now.  How many. */
static int end_left(const pid_t *pid, int n)
{
    int left = 0;
    for (int i = 0; i < n; i++) {
        if (pid[i] <= 0)
            continue;
        kill(pid[i], SIGKILL);
        waitpid(pid[i], NULL, 0);
        if (!job->quiet)
            fprintf(stderr, "rank %d did not end and was killed\n", i);
        left++;
    }
    return left;
}

/* 0, or -errno: none runs. */
static int start(pid_t *pid, int n, const char *const *sets, void (*body)(void))
{
    fflush(NULL);
    for (int i = 0; i < n; i++) {
        pid[i] = fork();
        if (pid[i] < 0) {
            int err = -errno;
            end_left(pid, i);
            return err;
        }
        if (pid[i] == 0)
            child(i, sets, body);
    }
    return 0;
}

int job_run_quiet(int size, const char *const *sets, void (*body)(void), unsigned seconds,
                  unsigned quiet, struct job_end *end)
{
    pid_t pid[PROCESSES];
    if (size > PROCESSES)
        return -E2BIG;
    job = mmap(NULL, sizeof *job, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (job == MAP_FAILED)
        return -ENOMEM;
    job->size = size;
    job->quiet = end != NULL;
    int err = start(pid, size, sets, body);
    if (err) {
        munmap(job, sizeof *job);
        return err;
    }
    struct limits l = {.end = now_ms() + (int64_t)seconds * 1000, .quiet = (int64_t)quiet * 1000};
    l.quiet_end = now_ms() + (job_boot == &job_ops ? l.quiet : JOIN_MS);
    int failed = reap(pid, size, &l), hung = end_left(pid, size);
    if (end) {
        *end = job->end;
        end->hung = hung && !failed;
        if (end->hung)
            end->fault = (enum fault)atomic_load(&job->fault[0]);
        end->failed = failed + hung;
    }
    munmap(job, sizeof *job);
    return failed + hung;
}

int job_run(int size, const char *const *sets, void (*body)(void), unsigned seconds)
{
    return job_run_quiet(size, sets, body, seconds, 0, NULL);
}
