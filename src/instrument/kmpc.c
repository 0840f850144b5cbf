/* kmpc.c - OpenMP of clang (libomp): the linker puts these before its functions. Start with body(),
 * which runs a part of a parallel region. */
#include "instrument/instrument.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#define DECLARE(type, name, params)                                                                \
    type REAL(name) params __attribute__((weak));                                                  \
    type WRAP(name) params;                                                                        \
    type WRAP(name) params

/* --- regions ---------------------------------------------------------------------------------- */

enum { MOST_ARGS = 32 };
/* It takes as many of the arguments as it has; a caller removes what it has given. */
typedef void microtask(int *thread, int *bound, ...);
typedef void microtask_all(int *, int *, void *, void *, void *, void *, void *, void *, void *,
                           void *, void *, void *, void *, void *, void *, void *, void *, void *,
                           void *, void *, void *, void *, void *, void *, void *, void *, void *,
                           void *, void *, void *, void *, void *, void *, void *);
struct parallel {
    struct region region;
    microtask *fn;
    void *arg[MOST_ARGS];
};

static void body(int *thread, int *bound, struct parallel *p)
{
    struct region *was;
    void **a = p->arg;
    region_enter(&p->region, &was);
    ((microtask_all *)(void (*)(void))p->fn)(
        thread, bound, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11],
        a[12], a[13], a[14], a[15], a[16], a[17], a[18], a[19], a[20], a[21], a[22], a[23], a[24],
        a[25], a[26], a[27], a[28], a[29], a[30], a[31]);
    region_leave(&p->region, was);
}

/* not weak: else a linker that drops what is not needed would drop libomp */
void REAL(__kmpc_fork_call)(void *loc, int args, microtask *fn, ...);
void WRAP(__kmpc_fork_call)(void *loc, int args, microtask *fn, ...);
void WRAP(__kmpc_fork_call)(void *loc, int args, microtask *fn, ...)
{
    static const char many[] = "mpicc -race: a parallel region has more than 32 shared variables\n";
    struct parallel p = {.fn = fn};
    va_list ap;
    if (args > MOST_ARGS) {
        if (write(2, many, sizeof many - 1) < 0)
            _exit(1);
        abort();
    }
    va_start(ap, fn);
    for (int i = 0; i < args; i++)
        p.arg[i] = va_arg(ap, void *);
    va_end(ap);
    region_open(&p.region);
    REAL(__kmpc_fork_call)(loc, 1, (microtask *)(void (*)(void))body, &p);
    region_close(&p.region);
}

/* --- inside a region -------------------------------------------------------------------------- */

DECLARE(void, __kmpc_barrier, (void *loc, int thread))
{
    region_barrier_before();
    REAL(__kmpc_barrier)(loc, thread);
    region_barrier_after();
}

DECLARE(int, __kmpc_cancel_barrier, (void *loc, int thread))
{
    region_barrier_before();
    int cancelled = REAL(__kmpc_cancel_barrier)(loc, thread);
    region_barrier_after();
    return cancelled;
}

DECLARE(void, __kmpc_critical, (void *loc, int thread, void *lock))
{
    REAL(__kmpc_critical)(loc, thread, lock);
    order_acquire(lock);
}

DECLARE(void, __kmpc_critical_with_hint, (void *loc, int thread, void *lock, uint32_t hint))
{
    REAL(__kmpc_critical_with_hint)(loc, thread, lock, hint);
    order_acquire(lock);
}

DECLARE(void, __kmpc_end_critical, (void *loc, int thread, void *lock))
{
    order_release(lock);
    REAL(__kmpc_end_critical)(loc, thread, lock);
}

DECLARE(void, __kmpc_ordered, (void *loc, int thread))
{
    REAL(__kmpc_ordered)(loc, thread);
    order_acquire(&region_now()->object[AT_ORDERED]);
}

DECLARE(void, __kmpc_end_ordered, (void *loc, int thread))
{
    order_release(&region_now()->object[AT_ORDERED]);
    REAL(__kmpc_end_ordered)(loc, thread);
}

#define REDUCE(name, end)                                                                          \
    DECLARE(int, name, (void *loc, int thread, int n, size_t size, void *data,                     \
                        void (*fn)(void *, void *), void *lock))                                   \
    {                                                                                              \
        order_release(&region_now()->object[AT_REDUCE]);                                           \
        int how = REAL(name)(loc, thread, n, size, data, fn, lock);                                \
        order_acquire(&region_now()->object[AT_REDUCE]);                                           \
        return how;                                                                                \
    }                                                                                              \
    DECLARE(void, end, (void *loc, int thread, void *lock))                                        \
    {                                                                                              \
        order_release(&region_now()->object[AT_REDUCE]);                                           \
        REAL(end)(loc, thread, lock);                                                              \
        order_acquire(&region_now()->object[AT_REDUCE]);                                           \
    }
REDUCE(__kmpc_reduce, __kmpc_end_reduce)
REDUCE(__kmpc_reduce_nowait, __kmpc_end_reduce_nowait)

/* --- tasks ------------------------------------------------------------------------------------ */

typedef int entry(int thread, void *task);
struct known { /* tasks that have not begun */
    struct known *next;
    void *task;
    entry *fn;
    const struct region *region;
    int ordered;
};
enum { BUCKETS = 256 };
static struct known *bucket[BUCKETS];
static char guard;

static void guard_take(void)
{
    while (__atomic_test_and_set(&guard, __ATOMIC_ACQUIRE))
        ;
}

static void guard_drop(void)
{
    __atomic_clear(&guard, __ATOMIC_RELEASE);
}

static struct known **place(const void *task)
{
    struct known **at = &bucket[(uintptr_t)task / 64 % BUCKETS];
    while (*at && (*at)->task != task)
        at = &(*at)->next;
    return at;
}

static struct known *take_known(const void *task)
{
    guard_take();
    struct known **at = place(task), *k = *at;
    if (k)
        *at = k->next;
    guard_drop();
    return k;
}

static int run_task(int thread, void *task)
{
    struct known *k = take_known(task), was;
    if (!k) /* it was kept by __kmpc_omp_task_alloc() */
        abort();
    was = *k;
    free(k);
    task_enter(was.region, was.ordered);
    int result = was.fn(thread, task);
    task_leave(was.region);
    return result;
}

DECLARE(void *, __kmpc_omp_task_alloc, (void *loc, int thread, int flags, size_t size,
                                        size_t shared, entry *fn))
{
    struct known *k = instrument_runs() ? malloc(sizeof *k) : NULL;
    void *task = REAL(__kmpc_omp_task_alloc)(loc, thread, flags, size, shared, k ? run_task : fn);
    if (!k)
        return task;
    free(take_known(task)); /* one at the same address that was run by its own function */
    *k = (struct known){NULL, task, fn, region_now(), 0};
    guard_take();
    struct known **at = place(task);
    *at = k;
    guard_drop();
    return task;
}

static void task_is_ordered(const void *task)
{
    guard_take();
    struct known *k = *place(task);
    if (k)
        k->ordered = 1;
    guard_drop();
}

DECLARE(int, __kmpc_omp_task, (void *loc, int thread, void *task))
{
    order_release(&region_now()->object[AT_TASK]);
    return REAL(__kmpc_omp_task)(loc, thread, task);
}

DECLARE(int, __kmpc_omp_task_with_deps, (void *loc, int thread, void *task, int n, void *deps,
                                         int aliases, void *no_alias))
{
    task_is_ordered(task);
    order_release(&region_now()->object[AT_TASK]);
    return REAL(__kmpc_omp_task_with_deps)(loc, thread, task, n, deps, aliases, no_alias);
}

DECLARE(int, __kmpc_omp_taskwait, (void *loc, int thread))
{
    int result = REAL(__kmpc_omp_taskwait)(loc, thread);
    order_acquire(&region_now()->object[AT_TASK_END]);
    return result;
}

DECLARE(void, __kmpc_end_taskgroup, (void *loc, int thread))
{
    REAL(__kmpc_end_taskgroup)(loc, thread);
    order_acquire(&region_now()->object[AT_TASK_END]);
}
