/* gomp.c - OpenMP of gcc (libgomp): the linker puts these before its functions. Start with body(),
 * which runs a part of a parallel region. */
#include "instrument/instrument.h"

#include <stddef.h>

void *REAL(memcpy)(void *to, const void *from, size_t n);

#define DECLARE(type, name, params)                                                                \
    type REAL(name) params __attribute__((weak));                                                  \
    type WRAP(name) params;                                                                        \
    type WRAP(name) params

typedef void outlined(void *data);

/* --- regions ---------------------------------------------------------------------------------- */

struct parallel {
    struct region region;
    outlined *fn;
    void *data;
};

/* The sections that this thread has done: each is a thread of its own, as far as order goes. */
struct sections {
    int begun, done, number; /* number: of the thread itself */
    unsigned split;          /* bits of the numbers that it had besides */
    char from, to;
};
static __thread struct sections sections;

static void body(void *arg)
{
    struct parallel *p = arg;
    struct region *was;
    struct sections outer = sections;
    sections.begun = 0;
    region_enter(&p->region, &was);
    p->fn(p->data);
    sections = outer;
    region_leave(&p->region, was);
}

/* A region by a function that has these parameters behind fn and data. */
#define PARALLEL(name, params, args)                                                               \
    DECLARE(void, name, params)                                                                    \
    {                                                                                              \
        struct parallel p = {.fn = fn, .data = data};                                              \
        region_open(&p.region);                                                                    \
        REAL(name) args;                                                                           \
        region_close(&p.region);                                                                   \
    }
PARALLEL(GOMP_parallel, (outlined *fn, void *data, unsigned n, unsigned flags),
         (body, &p, n, flags))
PARALLEL(GOMP_parallel_sections,
         (outlined *fn, void *data, unsigned n, unsigned count, unsigned flags),
         (body, &p, n, count, flags))
#define PARALLEL_LOOP(name)                                                                        \
    PARALLEL(GOMP_parallel_loop_##name,                                                            \
             (outlined *fn, void *data, unsigned n, long from, long to, long step, long chunk,     \
              unsigned flags),                                                                     \
             (body, &p, n, from, to, step, chunk, flags))
PARALLEL_LOOP(static)
PARALLEL_LOOP(dynamic)
PARALLEL_LOOP(guided)
PARALLEL_LOOP(nonmonotonic_dynamic)
PARALLEL_LOOP(nonmonotonic_guided)
#define PARALLEL_RUNTIME(name)                                                                     \
    PARALLEL(GOMP_parallel_loop_##name,                                                            \
             (outlined *fn, void *data, unsigned n, long from, long to, long step,                 \
              unsigned flags),                                                                     \
             (body, &p, n, from, to, step, flags))
PARALLEL_RUNTIME(runtime)
PARALLEL_RUNTIME(nonmonotonic_runtime)
PARALLEL_RUNTIME(maybe_nonmonotonic_runtime)

DECLARE(unsigned, GOMP_parallel_reductions, (outlined *fn, void *data, unsigned n, unsigned flags))
{
    struct parallel p = {.fn = fn, .data = data};
    region_open(&p.region);
    unsigned threads = REAL(GOMP_parallel_reductions)(body, &p, n, flags);
    region_close(&p.region);
    return threads;
}

/* --- inside a region -------------------------------------------------------------------------- */

/* Not weak: else a linker that drops what is not needed would drop libgomp. */
#define BARRIER(name)                                                                              \
    void REAL(name)(void);                                                                         \
    void WRAP(name)(void);                                                                         \
    void WRAP(name)(void)                                                                          \
    {                                                                                              \
        region_barrier_before();                                                                   \
        REAL(name)();                                                                              \
        region_barrier_after();                                                                    \
    }
BARRIER(GOMP_barrier)
BARRIER(GOMP_loop_end)

#define BARRIER_CANCEL(name)                                                                       \
    DECLARE(_Bool, name, (void))                                                                   \
    {                                                                                              \
        region_barrier_before();                                                                   \
        _Bool cancelled = REAL(name)();                                                            \
        region_barrier_after();                                                                    \
        return cancelled;                                                                          \
    }
BARRIER_CANCEL(GOMP_barrier_cancel)
BARRIER_CANCEL(GOMP_loop_end_cancel)

static void sections_begin(void)
{
    sections = (struct sections){.begun = 1, .number = order_number()};
    order_release(&sections.from);
}

static unsigned section(unsigned id)
{
    if (!sections.begun || !id || !instrument_runs())
        return id;
    if (sections.done++) {
        order_release(&sections.to);
        sections.split |= 1u << order_split(&sections.from);
    }
    return id;
}

static void sections_over(void)
{
    if (sections.split) {
        order_release(&sections.to);
        order_unsplit(sections.number, sections.split);
        order_acquire(&sections.to);
    }
    sections.begun = 0;
    sections.split = 0;
}

DECLARE(unsigned, GOMP_sections_start, (unsigned count))
{
    if (instrument_runs())
        sections_begin();
    return section(REAL(GOMP_sections_start)(count));
}

DECLARE(unsigned, GOMP_sections_next, (void))
{
    if (!sections.begun && instrument_runs()) /* of GOMP_parallel_sections() */
        sections_begin();
    return section(REAL(GOMP_sections_next)());
}

DECLARE(void, GOMP_sections_end, (void))
{
    sections_over();
    region_barrier_before();
    REAL(GOMP_sections_end)();
    region_barrier_after();
}

DECLARE(_Bool, GOMP_sections_end_cancel, (void))
{
    sections_over();
    region_barrier_before();
    _Bool cancelled = REAL(GOMP_sections_end_cancel)();
    region_barrier_after();
    return cancelled;
}

DECLARE(void, GOMP_sections_end_nowait, (void))
{
    sections_over();
    REAL(GOMP_sections_end_nowait)();
}

DECLARE(void *, GOMP_single_copy_start, (void))
{
    void *data = REAL(GOMP_single_copy_start)();
    if (data)
        region_barrier_after();
    return data;
}

DECLARE(void, GOMP_single_copy_end, (void *data))
{
    region_barrier_before();
    REAL(GOMP_single_copy_end)(data);
}

DECLARE(void, GOMP_ordered_start, (void))
{
    REAL(GOMP_ordered_start)();
    order_acquire(&region_now()->object[AT_ORDERED]);
}

DECLARE(void, GOMP_ordered_end, (void))
{
    order_release(&region_now()->object[AT_ORDERED]);
    REAL(GOMP_ordered_end)();
}

static char critical, atomic;

#define SECTION(start, end, object, params, args)                                                  \
    DECLARE(void, start, params)                                                                   \
    {                                                                                              \
        REAL(start) args;                                                                          \
        order_acquire(object);                                                                     \
    }                                                                                              \
    DECLARE(void, end, params)                                                                     \
    {                                                                                              \
        order_release(object);                                                                     \
        REAL(end) args;                                                                            \
    }
SECTION(GOMP_critical_start, GOMP_critical_end, &critical, (void), ())
SECTION(GOMP_critical_name_start, GOMP_critical_name_end, name, (void **name), (name))
SECTION(GOMP_atomic_start, GOMP_atomic_end, &atomic, (void), ())

/* --- tasks ------------------------------------------------------------------------------------ */

enum { TASK_HEAD = 64, TASK_DEPEND = 8 };
struct task { /* stands before the data of the program's function */
    outlined *fn;
    void (*copy)(void *to, void *from);
    void *from;             /* the program's data, where it is to be copied by a function */
    size_t bytes;
    const struct region *region;
    int ordered;
};

/* Where the program's data begin, which may be aligned up to TASK_HEAD. */
static void run_task(void *arg)
{
    const struct task *t = arg;
    task_enter(t->region, t->ordered);
    t->fn((char *)arg + TASK_HEAD);
    task_leave(t->region);
}

static void copy_task(void *to, void *from)
{
    const struct task *t = from;
    *(struct task *)to = *t;
    if (t->copy)
        t->copy((char *)to + TASK_HEAD, t->from);
    else
        REAL(memcpy)((char *)to + TASK_HEAD, t->from, t->bytes);
}

/* Data with a stricter alignment than the head keeps its own function: it is not ordered. */
DECLARE(void, GOMP_task, (outlined *fn, void *data, void (*copy)(void *, void *), long size,
                          long align, _Bool deferred, unsigned flags, void **depend, int priority,
                          void *detach))
{
    struct task t = {fn, copy, data, (size_t)size, region_now(), (flags & TASK_DEPEND) != 0};
    if (!instrument_runs() || align > TASK_HEAD) {
        REAL(GOMP_task)(fn, data, copy, size, align, deferred, flags, depend, priority, detach);
        return;
    }
    order_release(&t.region->object[AT_TASK]);
    REAL(GOMP_task)(run_task, &t, copy_task, TASK_HEAD + size, TASK_HEAD, deferred, flags,
                    depend, priority, detach);
    if (!deferred)
        order_acquire(&t.region->object[AT_TASK_END]);
}

#define TASKS_END(name)                                                                            \
    DECLARE(void, name, (void))                                                                    \
    {                                                                                              \
        REAL(name)();                                                                              \
        order_acquire(&region_now()->object[AT_TASK_END]);                                         \
    }
TASKS_END(GOMP_taskwait)
TASKS_END(GOMP_taskgroup_end)

DECLARE(void, GOMP_taskwait_depend, (void **depend))
{
    REAL(GOMP_taskwait_depend)(depend);
    order_acquire(&region_now()->object[AT_TASK_END]);
}
