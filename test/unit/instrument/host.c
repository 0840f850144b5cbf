/* host.c - vector clocks of up to 16 threads. */
#include "host.h"

#include <sched.h>
#include <stdlib.h>

/* past the run time */
void *__real_memcpy(void *to, const void *from, size_t n);
void *__real_memset(void *to, int c, size_t n);

enum { OBJECTS = 512, ACCESSES = 8192 };

static struct {
    char guard;
    unsigned clock[RACE_THREADS], view[RACE_THREADS][RACE_THREADS];
    struct object {
        const void *key;
        unsigned view[RACE_THREADS];
    } object[OBJECTS];
    struct race_log_entry list[ACCESSES];
    unsigned n;
} host;

static int enter(void)
{
    int me = windrose_race_runtime.number();
    windrose_race_runtime.flush();
    while (__atomic_test_and_set(&host.guard, __ATOMIC_ACQUIRE))
        sched_yield();
    return me;
}

static void leave(void)
{
    __atomic_clear(&host.guard, __ATOMIC_RELEASE);
}

static struct object *find(const void *key)
{
    for (int i = 0; i < OBJECTS; i++)
        if (host.object[i].key == key)
            return &host.object[i];
    return NULL;
}

static void join(unsigned *to, const unsigned *from)
{
    for (int i = 0; i < RACE_THREADS; i++)
        to[i] = from[i] > to[i] ? from[i] : to[i];
}

static void take(const struct race_log_entry *list, unsigned n)
{
    while (__atomic_test_and_set(&host.guard, __ATOMIC_ACQUIRE))
        sched_yield();
    for (unsigned i = 0; i < n && host.n < ACCESSES; i++)
        host.list[host.n++] = list[i];
    leave();
}

static void acquire(const void *key)
{
    int me = enter();
    const struct object *o = find(key);
    if (o)
        join(host.view[me], o->view);
    leave();
}

static void release(const void *key)
{
    int me = enter();
    struct object *o = find(key);
    if (!o && (o = find(NULL)) != NULL)
        o->key = key;
    if (o) {
        host.view[me][me] = host.clock[me];
        join(o->view, host.view[me]);
    }
    leave();
}

static void forget(const void *key)
{
    while (__atomic_test_and_set(&host.guard, __ATOMIC_ACQUIRE))
        sched_yield();
    struct object *o = find(key);
    if (o)
        __real_memset(o, 0, sizeof *o);
    leave();
}

static void renew(const void *key)
{
    int me = enter();
    const struct object *o = find(key);
    if (o)
        __real_memcpy(host.view[me], o->view, sizeof o->view);
    leave();
}

static void forked(void)
{
}

static void stranger(void)
{
    int me = enter();
    for (int i = 0; i < RACE_THREADS; i++)
        join(host.view[me], host.view[i]);
    join(host.view[me], host.clock);
    leave();
}

static const struct race_host table = {.take = take, .acquire = acquire, .release = release,
                                       .forget = forget, .renew = renew, .fork = release,
                                       .forked = forked, .end = release, .adopt = stranger};

void host_run(int watch)
{
    windrose_race_runtime.run(&table);
    if (watch)
        windrose_race_runtime.watch(0, UINT64_MAX / 2);
}

struct stamp host_mark(void)
{
    int me = enter();
    struct stamp s = {me, ++host.clock[me]};
    leave();
    return s;
}

int host_knows(struct stamp s)
{
    int me = enter();
    int knows = me == s.thread || host.view[me][s.thread] >= s.clock;
    leave();
    return knows;
}

unsigned host_noted(struct race_log_entry *list, unsigned most)
{
    (void)enter();
    unsigned n = host.n < most ? host.n : most;
    __real_memcpy(list, host.list, n * sizeof *list);
    n = host.n;
    host.n = 0;
    leave();
    return n;
}

unsigned host_singly(struct race_log_entry *list, unsigned n, unsigned most)
{
    for (unsigned i = 0; i < n; i++) {
        struct race_log_entry a = list[i];
        if (a.blocks < 2)
            continue;
        if (n == most)
            abort();
        for (unsigned j = n++; j > i + 1; j--)
            list[j] = list[j - 1];
        list[i].blocks = 1;
        list[i + 1] = a;
        list[i + 1].at += a.stride;
        list[i + 1].blocks--;
    }
    return n;
}

void flag_set(int *flag)
{
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
}

void flag_wait(int *flag)
{
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
        sched_yield();
}
