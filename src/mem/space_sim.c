/* space_sim.c - a simulated device, from which no bug can hide.
 *
 *   host --- addresses that fault (PROT_NONE) ---+
 *                                                +--- a memfd
 *   worker thread --- alias, readable -----------+
 *
 * A commit fills memory with 0xDB, a decommit takes the pages away (reads give 0 afterwards).  One
 * worker executes the stream of our copies, another one the users' streams, so no kernel holds up a
 * copy.  A copy moves its first half when it begins and the second when it ends, so early reads and
 * early reuse show.  Start with sim_open() and work(). */
#include "mem/space_types.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/own_thread.h"
#include "base/sched.h"
#include "var/var.h"

enum { GRAIN = 64 << 10, STREAMS = 64, FAILURES = 64, OWN = 0, FILL = 0xDB };
enum { COPIES, KERNELS, WORKERS };

struct range {
    uint64_t addr;
    char *alias;
    size_t len;
    int fd;
    struct range *next;
};

enum task_kind { TASK_COPY, TASK_KERNEL, TASK_WAIT };
struct task {
    struct task *next;
    enum task_kind kind;
    int fails;
    uint64_t ends;           /* ns; 0: not begun */
    struct space_mark mark;  /* TASK_WAIT */
    struct space_run *run;   /* TASK_COPY, by addresses that the worker can use */
    unsigned n;
    void (*kernel)(void *const *ptr, const void *arg);
    void **ptr;
    void *arg;
};

struct stream {
    void *key; /* of the user */
    struct task *head, *tail;
    uint64_t queued, done; /* tasks so far */
};

struct sim {
    struct space space;
    pthread_t worker[WORKERS];
    struct lock lock; /* protects all below; ranges are changed by callers only */
    struct lock_cond more;
    int stop[WORKERS], dead;
    unsigned nstreams;
    struct stream stream[STREAMS];
    struct space_mark failed[FAILURES]; /* the last marks that failed */
    unsigned nfailed;
    struct range *ranges;
    size_t used; /* bytes committed */
    int64_t calls;
};

static struct sim *sim_of(struct space *s)
{
    return (struct sim *)s;
}

/* --- the worker ------------------------------------------------------------------------------- */

static void copy_half(const struct task *t, int second)
{
    for (unsigned i = 0; i < t->n; i++) {
        const struct space_run *r = &t->run[i];
        size_t half = r->len / 2, len = second ? r->len - half : half, at = second ? half : 0;
        memcpy((char *)(uintptr_t)r->dst + at, (const char *)(uintptr_t)r->src + at, len);
    }
}

static uint64_t copy_ns(const struct task *t)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < t->n; i++)
        bytes += t->run[i].len;
    uint64_t rate = (uint64_t)cvar.space_sim_gbps;
    return (uint64_t)cvar.space_sim_us * 1000 + (rate ? bytes / rate : 0);
}

static void task_free(struct task *t)
{
    free(t->run);
    free(t->ptr);
    free(t->arg);
    free(t);
}

static int mark_passed(const struct sim *d, const struct space_mark *m)
{
    return !m->v[0] || d->stream[m->v[0] - 1].done >= m->v[1];
}

static void task_over(struct sim *d, struct stream *x)
{
    struct task *t = x->head;
    x->head = t->next;
    if (!x->head)
        x->tail = NULL;
    x->done++;
    if (t->fails)
        d->failed[d->nfailed++ % FAILURES] =
            (struct space_mark){{(uint64_t)(x - d->stream) + 1, x->done}};
    task_free(t);
}

/* What can run outside the lock. The head of a stream is the worker's alone. */
static void unlocked(struct sim *d, struct task *t, int second)
{
    lock_release(&d->lock);
    if (t->kind == TASK_COPY)
        copy_half(t, second);
    else
        t->kernel(t->ptr, t->arg);
    lock_acquire(&d->lock);
}

/* One step of a stream: 1, or 0 and *at may become the time of the next one. */
static int stream_step(struct sim *d, struct stream *x, uint64_t *at)
{
    struct task *t = x->head;
    if (!t || (t->kind == TASK_WAIT && !mark_passed(d, &t->mark)))
        return 0;
    if (t->kind == TASK_COPY && !t->ends) {
        t->ends = time_now() + copy_ns(t) + 1;
        unlocked(d, t, 0);
        return 1;
    }
    if (t->kind == TASK_COPY && time_now() < t->ends) {
        *at = t->ends < *at ? t->ends : *at;
        return 0;
    }
    if (t->kind != TASK_WAIT && !t->fails && !d->dead)
        unlocked(d, t, 1);
    task_over(d, x);
    return 1;
}

static void work(struct sim *d, int which)
{
    lock_acquire(&d->lock);
    for (;;) {
        int moved = 0, left = 0;
        uint64_t at = UINT64_MAX;
        unsigned seq = atomic_load_explicit(&d->more.seq, memory_order_relaxed);
        unsigned end = which == COPIES ? OWN + 1 : d->nstreams;
        for (unsigned i = which == COPIES ? OWN : OWN + 1; i < end; i++) {
            moved |= stream_step(d, &d->stream[i], &at);
            left |= d->stream[i].head != NULL;
        }
        if (moved) {
            lock_cond_signal(&d->more); /* the other worker may wait for a mark */
            continue;
        }
        if (d->stop[which] && (!left || at == UINT64_MAX))
            break;
        uint64_t now = time_now();
        lock_cond_wait(&d->more, seq, &d->lock,
                       at == UINT64_MAX ? (uint64_t)1000000000 : at > now ? at - now : 1);
    }
    lock_release(&d->lock);
}

static void *work_copies(void *d)
{
    work(d, COPIES);
    return NULL;
}

static void *work_kernels(void *d)
{
    work(d, KERNELS);
    return NULL;
}

/* Ends once its streams are done, or wait for marks that never come. */
static void worker_end(struct sim *d, int which)
{
    lock_acquire(&d->lock);
    d->stop[which] = 1;
    lock_cond_signal(&d->more);
    lock_release(&d->lock);
    pthread_join(d->worker[which], NULL);
}

/* --- streams ---------------------------------------------------------------------------------- */

/* Index of a user's stream; -EMFILE: too many. */
static int stream_of(struct sim *d, void *key)
{
    for (unsigned i = OWN + 1; i < d->nstreams; i++)
        if (d->stream[i].key == key)
            return (int)i;
    if (d->nstreams == STREAMS)
        return -EMFILE;
    d->stream[d->nstreams].key = key;
    return (int)d->nstreams++;
}

static void task_add(struct sim *d, int i, struct task *t, struct space_mark *m)
{
    struct stream *x = &d->stream[i];
    if (x->tail)
        x->tail->next = t;
    else
        x->head = t;
    x->tail = t;
    x->queued++;
    if (m)
        *m = (struct space_mark){{(uint64_t)i + 1, x->queued}};
    lock_cond_signal(&d->more);
}

/* In a user's stream: 0, or -EMFILE and the task is freed. */
static int task_put(struct sim *d, void *key, struct task *t)
{
    lock_acquire(&d->lock);
    int i = stream_of(d, key);
    if (i >= 0)
        task_add(d, i, t, NULL);
    lock_release(&d->lock);
    if (i < 0)
        task_free(t);
    return i < 0 ? i : 0;
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Where the worker sees [addr, addr + len) of the device; NULL: not reserved. */
static char *alias_of(const struct sim *d, uint64_t addr, size_t len)
{
    for (const struct range *r = d->ranges; r; r = r->next)
        if (addr >= r->addr && addr - r->addr <= r->len && len <= r->len - (addr - r->addr))
            return r->alias + (addr - r->addr);
    return NULL;
}

static int sim_count(void)
{
    return (int)cvar.space_sim;
}

static int sim_open(int index, struct space **s, struct space_caps *caps)
{
    struct sim *d = index < sim_count() ? calloc(1, sizeof *d) : NULL;
    if (!d)
        return index < sim_count() ? -ENOMEM : -ENODEV;
    lock_init(&d->lock);
    d->nstreams = OWN + 1;
    int err = thread_start(&d->worker[COPIES], work_copies, d);
    int begun = !err;
    if (!err)
        err = thread_start(&d->worker[KERNELS], work_kernels, d);
    if (err) {
        if (begun)
            worker_end(d, COPIES);
        free(d);
        return err;
    }
    *caps = (struct space_caps){.flags = SPACE_PEER | SPACE_LAUNCH, .grain = GRAIN,
                                .bytes = (size_t)cvar.space_sim_bytes};
    *s = &d->space;
    return 0;
}

static void sim_unreserve(struct space *s, uint64_t addr, size_t len)
{
    struct range **at = &sim_of(s)->ranges;
    while (*at && (*at)->addr != addr)
        at = &(*at)->next;
    struct range *r = *at;
    if (!r)
        return;
    *at = r->next;
    munmap((void *)(uintptr_t)addr, len);
    munmap(r->alias, len);
    close(r->fd);
    free(r);
}

static void sim_close(struct space *s)
{
    struct sim *d = sim_of(s);
    worker_end(d, COPIES); /* first: kernels may wait for copies, never the other way */
    worker_end(d, KERNELS);
    for (unsigned i = 0; i < d->nstreams; i++) /* they wait for marks that never come */
        while (d->stream[i].head)
            task_over(d, &d->stream[i]);
    while (d->ranges)
        sim_unreserve(s, d->ranges->addr, d->ranges->len);
    free(d);
}

static int sim_reserve(struct space *s, size_t len, uint64_t *addr)
{
    struct range *r = calloc(1, sizeof *r);
    if (!r)
        return -ENOMEM;
    r->fd = memfd_create("windrose.device", MFD_CLOEXEC);
    r->len = len;
    if (r->fd < 0 || ftruncate(r->fd, (off_t)len))
        goto failed;
    void *p = mmap(NULL, len, PROT_NONE, MAP_SHARED | MAP_NORESERVE, r->fd, 0);
    if (p == MAP_FAILED)
        goto failed;
    r->alias = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, r->fd, 0);
    if (r->alias == MAP_FAILED) {
        munmap(p, len);
        goto failed;
    }
    *addr = r->addr = (uint64_t)(uintptr_t)p;
    r->next = sim_of(s)->ranges;
    sim_of(s)->ranges = r;
    return 0;
failed:
    if (r->fd >= 0)
        close(r->fd);
    free(r);
    return -ENOMEM;
}

/* Does this call fail, as MPIR_CVAR_SPACE_SIM_FAIL asks? */
static int fails_now(struct sim *d)
{
    int64_t n = cvar.space_sim_fail;
    d->calls += n != 0;
    if (n < 0 && d->calls == -n)
        d->dead = 1;
    return d->dead || (n > 0 && d->calls % n == 0);
}

static int sim_commit(struct space *s, uint64_t addr, size_t len)
{
    struct sim *d = sim_of(s);
    char *p = alias_of(d, addr, len);
    lock_acquire(&d->lock);
    int err = fails_now(d) || !p || d->used + len > s->caps.bytes;
    if (!err)
        d->used += len;
    lock_release(&d->lock);
    if (err)
        return d->dead ? -EIO : -ENOMEM;
    memset(p, FILL, len);
    return 0;
}

static void sim_decommit(struct space *s, uint64_t addr, size_t len)
{
    struct sim *d = sim_of(s);
    for (struct range *r = d->ranges; r; r = r->next)
        if (addr >= r->addr && addr - r->addr < r->len)
            fallocate(r->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(addr - r->addr),
                      (off_t)len);
    lock_acquire(&d->lock);
    d->used -= len;
    lock_release(&d->lock);
}

static int sim_pin(struct space *s, void *host, size_t len)
{
    (void)s;
    (void)host;
    (void)len;
    return 0;
}

static void sim_unpin(struct space *s, void *host, size_t len)
{
    (void)s;
    (void)host;
    (void)len;
}

/* --- work ------------------------------------------------------------------------------------- */

/* Runs by addresses that the worker can use: 0, or -EFAULT. */
static int runs_of(const struct sim *d, const struct sim *from, enum space_way way,
                   const struct space_run *r, struct task *t)
{
    for (unsigned i = 0; i < t->n; i++) {
        char *dst = way == SPACE_OUT ? (char *)(uintptr_t)r[i].dst
                                     : alias_of(d, r[i].dst, r[i].len);
        const struct sim *have = way == SPACE_ACROSS ? from : d;
        char *src = way == SPACE_IN ? (char *)(uintptr_t)r[i].src
                                    : alias_of(have, r[i].src, r[i].len);
        if (!dst || !src)
            return -EFAULT;
        t->run[i] = (struct space_run){(uintptr_t)dst, (uintptr_t)src, r[i].len};
    }
    return 0;
}

static int sim_copy(struct space *s, struct space *from, enum space_way way,
                    const struct space_run *r, unsigned n, struct space_mark *m)
{
    struct sim *d = sim_of(s);
    struct task *t = calloc(1, sizeof *t);
    if (!t || !(t->run = malloc((n ? n : 1) * sizeof *t->run))) {
        free(t);
        return -ENOMEM;
    }
    t->kind = TASK_COPY;
    t->n = n;
    int err = runs_of(d, way == SPACE_ACROSS ? sim_of(from) : NULL, way, r, t);
    lock_acquire(&d->lock);
    if (!err) {
        t->fails = fails_now(d);
        err = d->dead ? -EIO : 0;
    }
    s->lost |= d->dead;
    if (!err)
        task_add(d, OWN, t, m);
    lock_release(&d->lock);
    if (err)
        task_free(t);
    return err;
}

static int sim_done(struct space *s, const struct space_mark *m)
{
    struct sim *d = sim_of(s);
    int err = 0;
    lock_acquire(&d->lock);
    if (d->dead)
        err = -EIO;
    else if (!mark_passed(d, m))
        err = SPACE_AGAIN;
    for (unsigned i = 0; !err && m->v[0] && i < FAILURES; i++)
        if (d->failed[i].v[0] == m->v[0] && d->failed[i].v[1] == m->v[1])
            err = -EIO;
    s->lost |= d->dead;
    lock_release(&d->lock);
    return err;
}

static int sim_before(struct space *s, void *stream, const struct space_mark *m)
{
    struct task *t = calloc(1, sizeof *t);
    if (!t)
        return -ENOMEM;
    t->kind = TASK_WAIT;
    t->mark = *m;
    return task_put(sim_of(s), stream, t);
}

static int sim_after(struct space *s, void *stream, struct space_mark *m)
{
    struct sim *d = sim_of(s);
    lock_acquire(&d->lock);
    int i = stream_of(d, stream);
    if (i >= 0)
        *m = (struct space_mark){{(uint64_t)i + 1, d->stream[i].queued}};
    lock_release(&d->lock);
    return i < 0 ? i : 0;
}

static int sim_launch(struct space *s, void *stream, const struct space_job *job)
{
    struct sim *d = sim_of(s);
    struct task *t = calloc(1, sizeof *t);
    size_t n = job->n > 0 ? (size_t)job->n : 0;
    if (!t)
        return -ENOMEM;
    t->kind = TASK_KERNEL;
    t->kernel = job->kernel;
    t->ptr = malloc((n ? n : 1) * sizeof *t->ptr);
    t->arg = malloc(job->bytes ? job->bytes : 1);
    if (!t->ptr || !t->arg) {
        task_free(t);
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++)
        if (!(t->ptr[i] = alias_of(d, (uintptr_t)job->ptr[i], 1))) {
            task_free(t);
            return -EFAULT;
        }
    if (job->bytes)
        memcpy(t->arg, job->arg, job->bytes);
    return task_put(d, stream, t);
}

static int sim_holds(struct space *s, uint64_t addr, size_t len)
{
    return alias_of(sim_of(s), addr, len) != NULL;
}

static void sim_describe(struct space *s, char *text, size_t len)
{
    struct sim *d = sim_of(s);
    snprintf(text, len, "simulated device %d%s", s->index,
             d->dead ? ": it is lost (MPIR_CVAR_SPACE_SIM_FAIL)"
                     : cvar.space_sim_fail ? ": it failed (MPIR_CVAR_SPACE_SIM_FAIL)" : "");
}

const struct space_ops space_sim = {
    .name = "sim", .count = sim_count, .open = sim_open, .close = sim_close,
    .reserve = sim_reserve, .unreserve = sim_unreserve, .commit = sim_commit,
    .decommit = sim_decommit, .pin = sim_pin, .unpin = sim_unpin, .copy = sim_copy,
    .done = sim_done, .before = sim_before, .after = sim_after, .launch = sim_launch,
    .holds = sim_holds, .describe = sim_describe,
};
