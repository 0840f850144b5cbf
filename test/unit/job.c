/* job.c - job.h: the forked processes and the launcher that they talk to. */
#include "job.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "base/proc.h"
#include "var/var.h"

enum { WORDS = 256, ENTRIES = 256, PROCESSES = 64 };

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
} *job;
static int my_rank;
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

void job_check_at(int ok, const char *text, const char *file, int line)
{
    if (ok)
        return;
    fprintf(stderr, "%s:%d: rank %d: check failed: %s\n", file, line, my_rank, text);
    _exit(3);
}

static void child(int rank, const char *const *sets, void (*body)(void))
{
    char why[256];
    my_rank = rank;
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
    job_check(boot_init(&job_ops) == 0);
    body();
    boot_finalize();
    var_finalize();
    fflush(NULL);
    _exit(0);
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Collect the children until `end` (ms); the first that fails leaves the others a second.
 * Collected ones become 0.  Number of failures among them. */
static int reap(pid_t *pid, int n, int64_t end)
{
    const struct timespec pause_ts = {0, 2000000};
    int left = n, failed = 0, status;
    while (left && now_ms() < end) {
        for (int i = 0; i < n; i++) {
            if (!pid[i] || waitpid(pid[i], &status, WNOHANG) != pid[i])
                continue;
            pid[i] = 0;
            left--;
            if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
                continue;
            if (WIFSIGNALED(status))
                fprintf(stderr, "rank %d: %s\n", i, strsignal(WTERMSIG(status)));
            if (!failed++ && now_ms() + 1000 < end)
                end = now_ms() + 1000;
        }
        nanosleep(&pause_ts, NULL);
    }
    return failed;
}

int job_run(int size, const char *const *sets, void (*body)(void), unsigned seconds)
{
    pid_t pid[PROCESSES];
    job = mmap(NULL, sizeof *job, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (job == MAP_FAILED || size > PROCESSES)
        return -1;
    job->size = size;
    fflush(NULL);
    for (int i = 0; i < size; i++) {
        pid[i] = fork();
        if (pid[i] == 0)
            child(i, sets, body);
    }
    int failed = reap(pid, size, now_ms() + seconds * 1000);
    for (int i = 0; i < size; i++) {
        if (!pid[i])
            continue;
        kill(pid[i], SIGKILL);
        waitpid(pid[i], NULL, 0);
        fprintf(stderr, "rank %d did not end and was killed\n", i);
        failed++;
    }
    munmap(job, sizeof *job);
    return failed;
}
