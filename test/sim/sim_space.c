/* sim_space.c - devices of simulated ranks (sim_space.h).  A copy moves its first half when it
 * begins and the second when it ends.  Streams run in order, and only when a rank asks. */
#include "sim_space.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

enum { DEVICES = 2, STREAMS = 16, FAILURES = 32, OWN = 0, GRAIN = 4096,
       RANGES = 16 };

struct task {
    struct task *next;
    struct space_mark wait; /* begins after this mark of `of` */
    struct space *of;
    struct space_run *run; /* a copy */
    unsigned n;
    struct space_job job;  /* a kernel */
    int fails;
    long ends; /* step; 0: not begun */
};
struct stream {
    void *key;
    struct task *head, **tail;
    uint64_t queued, done;
};
struct device {
    struct space space;
    int nstreams;
    struct stream stream[STREAMS];
    struct space_mark failed[FAILURES];
    unsigned nfailed;
    long used;
    struct {
        uint64_t addr;
        size_t len;
    } range[RANGES];
};
static struct rank_state {
    struct sim_space_knobs k;
    struct device *dev[DEVICES];
    long copies, commits, moved[SPACE_WAYS];
} state[SIM_RANKS];

static struct rank_state *here(void)
{
    return &state[sim_rank()];
}

static struct device *dev_of(struct space *s)
{
    return (struct device *)s;
}

/* --- streams ---------------------------------------------------------------------------------- */

static int passed(struct space *s, const struct space_mark *m)
{
    return !m->v[0] || dev_of(s)->stream[m->v[0] - 1].done >= m->v[1];
}

static void half(const struct task *t, int second)
{
    for (unsigned i = 0; i < t->n; i++) {
        size_t first = t->run[i].len / 2, at = second ? first : 0;
        memcpy((char *)(uintptr_t)t->run[i].dst + at, (char *)(uintptr_t)t->run[i].src + at,
               second ? t->run[i].len - first : first);
    }
}

static void task_free(struct task *t)
{
    free(t->run);
    free((void *)t->job.ptr);
    free((void *)t->job.arg);
    free(t);
}

/* 1: something happened. */
static int stream_step(struct device *d, struct stream *x)
{
    struct task *t = x->head;
    if (!t || (t->of && !passed(t->of, &t->wait)))
        return 0;
    if (!t->ends) {
        int delay = here()->k.delay;
        t->ends = sim_time() + (delay ? (long)(sim_random() % (unsigned)(delay + 1)) : 0) + 1;
        half(t, 0);
    }
    if (sim_time() < t->ends && here()->k.delay)
        return 0;
    if (!t->fails && !d->space.lost) {
        half(t, 1);
        if (t->job.kernel)
            t->job.kernel(t->job.ptr, t->job.arg);
    }
    x->head = t->next;
    if (!x->head)
        x->tail = &x->head;
    x->done++;
    if (t->fails)
        d->failed[d->nfailed++ % FAILURES] =
            (struct space_mark){{(uint64_t)(x - d->stream) + 1, x->done}};
    task_free(t);
    return 1;
}

static void run(void)
{
    int moved;
    do {
        moved = 0;
        for (int i = 0; i < DEVICES; i++)
            for (int k = 0; here()->dev[i] && k < here()->dev[i]->nstreams; k++)
                moved |= stream_step(here()->dev[i], &here()->dev[i]->stream[k]);
    } while (moved);
}

static int stream_of(struct device *d, void *key)
{
    for (int i = OWN + 1; i < d->nstreams; i++)
        if (d->stream[i].key == key)
            return i;
    SIM_CHECK(d->nstreams < STREAMS);
    d->stream[d->nstreams] = (struct stream){.key = key};
    d->stream[d->nstreams].tail = &d->stream[d->nstreams].head;
    return d->nstreams++;
}

static struct task *task_make(void)
{
    struct task *t = calloc(1, sizeof *t);
    SIM_CHECK(t != NULL);
    return t;
}

static void task_add(struct device *d, int i, struct task *t, struct space_mark *m)
{
    struct stream *x = &d->stream[i];
    *x->tail = t;
    x->tail = &t->next;
    x->queued++;
    if (m)
        *m = (struct space_mark){{(uint64_t)i + 1, x->queued}};
    run();
}

/* --- the table -------------------------------------------------------------------------------- */

static int dev_count(void)
{
    return DEVICES;
}

static int dev_open(int index, struct space **s, struct space_caps *caps)
{
    struct device *d = calloc(1, sizeof *d);
    SIM_CHECK(d != NULL);
    d->nstreams = OWN + 1;
    d->stream[OWN].tail = &d->stream[OWN].head;
    *caps = (struct space_caps){.flags = SPACE_PEER | SPACE_LAUNCH, .grain = GRAIN,
                                .bytes = (size_t)here()->k.bytes};
    *s = &d->space;
    here()->dev[index] = d;
    return 0;
}

static void dev_close(struct space *s)
{
    struct device *d = dev_of(s);
    for (int i = 0; i < d->nstreams; i++) {
        SIM_CHECK(!d->stream[i].head || s->lost); /* each was waited for */
        while (d->stream[i].head) {
            struct task *t = d->stream[i].head;
            d->stream[i].head = t->next;
            task_free(t);
        }
    }
    SIM_CHECK(d->used == 0);
    here()->dev[s->index] = NULL;
    free(d);
}

static int dev_reserve(struct space *s, size_t len, uint64_t *addr)
{
    void *p = aligned_alloc(GRAIN, len);
    SIM_CHECK(p != NULL);
    memset(p, 0xDD, len);
    *addr = (uint64_t)(uintptr_t)p;
    int i = 0;
    while (i < RANGES && dev_of(s)->range[i].len)
        i++;
    SIM_CHECK(i < RANGES);
    dev_of(s)->range[i].addr = *addr;
    dev_of(s)->range[i].len = len;
    return 0;
}

static void dev_unreserve(struct space *s, uint64_t addr, size_t len)
{
    for (int i = 0; i < RANGES; i++)
        if (dev_of(s)->range[i].addr == addr)
            dev_of(s)->range[i].len = 0;
    free((void *)(uintptr_t)addr);
}

static int dev_holds(struct space *s, uint64_t addr, size_t len)
{
    const struct device *d = dev_of(s);
    for (int i = 0; i < RANGES; i++)
        if (addr >= d->range[i].addr && addr + len <= d->range[i].addr + d->range[i].len)
            return 1;
    return 0;
}

static int dev_commit(struct space *s, uint64_t addr, size_t len)
{
    struct rank_state *r = here();
    struct device *d = dev_of(s);
    r->commits++;
    if (s->lost)
        return -EIO;
    if (d->used + (long)len > r->k.bytes || (r->k.no_commit && r->commits % r->k.no_commit == 0))
        return -ENOMEM;
    d->used += (long)len;
    memset((void *)(uintptr_t)addr, 0xDB, len);
    return 0;
}

static void dev_decommit(struct space *s, uint64_t addr, size_t len)
{
    dev_of(s)->used -= (long)len;
    memset((void *)(uintptr_t)addr, 0xDD, len);
}

static int dev_pin(struct space *s, void *host, size_t len)
{
    return 0;
}

static void dev_unpin(struct space *s, void *host, size_t len)
{
}

static int dev_copy(struct space *s, struct space *from, enum space_way way,
                    const struct space_run *r, unsigned n, struct space_mark *m)
{
    struct rank_state *x = here();
    struct task *t = task_make();
    x->copies++;
    s->lost |= x->k.dies_at && x->copies >= x->k.dies_at;
    if (s->lost || (from && from->lost)) {
        free(t);
        return -EIO;
    }
    t->n = n;
    t->run = malloc((n ? n : 1) * sizeof *r);
    memcpy(t->run, r, n * sizeof *r);
    t->fails = (x->k.fail_every && x->copies % x->k.fail_every == 0) ||
               (x->k.fail_evicting && way == SPACE_OUT);
    for (unsigned i = 0; i < n; i++)
        x->moved[way] += (long)r[i].len;
    task_add(dev_of(s), OWN, t, m);
    return 0;
}

static int dev_done(struct space *s, const struct space_mark *m)
{
    struct device *d = dev_of(s);
    run();
    if (s->lost)
        return -EIO;
    if (!passed(s, m))
        return SPACE_AGAIN;
    for (unsigned i = 0; m->v[0] && i < FAILURES; i++)
        if (d->failed[i].v[0] == m->v[0] && d->failed[i].v[1] == m->v[1])
            return -EIO;
    return 0;
}

static int dev_before(struct space *s, void *stream, const struct space_mark *m)
{
    struct task *t = task_make();
    t->wait = *m;
    t->of = s;
    task_add(dev_of(s), stream_of(dev_of(s), stream), t, NULL);
    return 0;
}

static int dev_after(struct space *s, void *stream, struct space_mark *m)
{
    int i = stream_of(dev_of(s), stream);
    *m = (struct space_mark){{(uint64_t)i + 1, dev_of(s)->stream[i].queued}};
    return 0;
}

static int dev_launch(struct space *s, void *stream, const struct space_job *job)
{
    struct task *t = task_make();
    size_t n = (size_t)job->n;
    void **ptr = malloc((n ? n : 1) * sizeof *ptr), *arg = malloc(job->bytes ? job->bytes : 1);
    memcpy(ptr, job->ptr, n * sizeof *ptr);
    memcpy(arg, job->arg, job->bytes);
    t->job = (struct space_job){job->kernel, job->n, ptr, arg, job->bytes};
    task_add(dev_of(s), stream_of(dev_of(s), stream), t, NULL);
    return 0;
}

static void dev_describe(struct space *s, char *text, size_t len)
{
    snprintf(text, len, "simulated device %d%s", s->index, s->lost ? ": it is lost" : "");
}

static const struct space_ops sim_device = {
    .name = "sim", .count = dev_count, .open = dev_open, .close = dev_close,
    .reserve = dev_reserve, .unreserve = dev_unreserve, .commit = dev_commit,
    .decommit = dev_decommit, .pin = dev_pin, .unpin = dev_unpin, .copy = dev_copy,
    .done = dev_done, .before = dev_before, .after = dev_after, .launch = dev_launch,
    .holds = dev_holds, .describe = dev_describe,
};
static const struct space_ops *const devices[] = {&space_host, &sim_device, NULL};

void sim_space_set(const struct sim_space_knobs *k)
{
    here()->k = *k;
}

void sim_space_use(const struct sim_space_knobs *k)
{
    memset(here(), 0, sizeof *here());
    sim_space_set(k);
    SIM_CHECK(space_use(devices) == 0);
}

long sim_space_moved(enum space_way way)
{
    return here()->moved[way];
}
