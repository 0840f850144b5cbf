/* bounds.c - buffers of calls against the memory that is there (bounds.h). Start with on_memory().
 *
 * A datatype may join what is not one object: absolute addresses of two variables that happen to be
 * adjacent are one run of bytes. So a run that goes on into the next variable is wrong only where
 * the elements are one array, as the makers of the datatype say. */
#include "bounds/bounds.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "bounds/bounds_types.h"
#include "dt/dt.h"
#include "dt/make.h"
#include "finding/finding.h"
#include "place/place.h"
#include "var/var.h"
#include "watch/watch.h"

enum {
    SAID = 32,         /* places and arguments that were named: beyond them none is */
    RUNS_MAX = 1 << 16 /* of one buffer: later ones are not looked at */
};
static const uint64_t ADDRESS_MAX = 1ull << 47;

enum fault { FINE, BEYOND, FREED, NOWHERE, CONSTANT };
struct bounds {
    struct bounds_heap heap;
    struct bounds_areas areas;
    struct bounds_variables variables;
    struct bounds_frames frames;
    struct {
        uint64_t site;
        const char *call, *name;
    } said[SAID];
    int n;
};

struct look { /* at one buffer */
    const struct watch_buffer *of;
    int runs;
    int joins;             /* a maker of its datatype may join objects */
    int is_one;            /* an array: all of it is in `object` */
    uint64_t hi;           /* one past its last byte */
    enum fault fault;
    uint64_t amount;       /* bytes at its end, or at that of the run at fault, that are beyond */
    struct bounds_object object;
};

/* --- reports ---------------------------------------------------------------------------------- */

static int is_new(struct bounds *b, uint64_t site, const char *name)
{
    for (int i = 0; i < b->n; i++)
        if (b->said[i].site == site && b->said[i].call == proc->call &&
            b->said[i].name == name)
            return 0;
    if (b->n == SAID)
        return 0;
    b->said[b->n].site = site;
    b->said[b->n].call = proc->call;
    b->said[b->n++].name = name;
    return 1;
}

static void what_is_wrong(const struct look *l, char *text, size_t len)
{
    const struct bounds_object *o = &l->object;
    unsigned long long n = l->amount, has = o->end - o->at;
    if (l->fault == FREED)
        snprintf(text, len, "is in memory that was freed");
    else if (l->fault == CONSTANT)
        snprintf(text, len, "is in memory of the program that cannot be written");
    else if (l->fault == NOWHERE)
        snprintf(text, len, "has %llu bytes at its end where no memory is", n);
    else if (o->kind == BOUNDS_VARIABLE)
        snprintf(text, len, "reaches %llu bytes beyond the end of %s, which has %llu bytes", n,
                 o->name, has);
    else if (o->kind == BOUNDS_BLOCK)
        snprintf(text, len, "reaches %llu bytes beyond the end of a block of malloc, which has "
                            "room for %llu bytes",
                 n, has);
    else
        snprintf(text, len, "reaches %llu bytes beyond the end of the stack frame it begins in",
                 n);
}

/* name: of the argument, a constant */
static void say(struct bounds *b, const char *name, const char *what)
{
    char line[FINDING_PLACE] = "";
    struct finding f = {.class = "memory", .ranks = 1, .rank = {boot_rank()}};
    uint64_t site = site_here();
    if (!is_new(b, site, name))
        return;
    if (site)
        site_text(site_portable(site), line, sizeof line);
    finding_place(&f, line);
    snprintf(f.text, sizeof f.text, "%s%s%s: the %s%s", proc->call, *line ? " at " : "", line, name,
             what);
    finding_say(&f);
}

static void say_beyond(struct bounds *b, const struct look *l)
{
    char what[FINDING_TEXT / 2], wrong[FINDING_TEXT / 4];
    const struct watch_buffer *of = l->of;
    what_is_wrong(l, wrong, sizeof wrong);
    snprintf(what, sizeof what, ", %lld of %s, %s", (long long)of->count,
             of->t->flags & DT_PREDEFINED ? dt_default_name(of->t) : "a derived datatype", wrong);
    say(b, of->name, what);
}

/* --- looks ------------------------------------------------------------------------------------ */

/* Of what goes on to `end`. */
static void object_of(struct bounds *b, uint64_t at, uint64_t end, struct bounds_object *o)
{
    o->kind = BOUNDS_UNKNOWN;
    if (bounds_heap_holds(&b->heap, at)) {
        bounds_heap_find(&b->heap, at, end, o);
    } else if (at >= b->variables.lo && at < b->variables.hi) {
        bounds_variables_find(&b->variables, at, o);
    } else {
        bounds_frame_find(&b->frames, at, end, o);
        if (o->kind == BOUNDS_UNKNOWN)
            bounds_area_find(&b->areas, at, end, o);
    }
}

/* Is a byte of [at, end) at fault? l->object is where it begins. */
static enum fault judge(const struct bounds *b, struct look *l, uint64_t at, uint64_t end)
{
    const struct bounds_object *o = &l->object;
    uint64_t hi = l->joins ? end : l->hi; /* what lies behind this run is in other objects */
    if (o->kind == BOUNDS_FREED)
        return FREED;
    if (o->kind != BOUNDS_UNKNOWN && (end <= o->end || (o->followed && l->joins)))
        return FINE;
    if (o->kind != BOUNDS_UNKNOWN) {
        l->amount = hi - o->end;
        return BEYOND;
    }
    if (l->of->writes && at >= b->variables.const_lo && end <= b->variables.const_hi)
        return CONSTANT;
    uint64_t there = bounds_mapped_end(at, end);
    if (there >= end || watch_wants(WATCH_DEVICES)) /* addresses of devices are no memory here */
        return FINE;
    l->amount = hi - there;
    return NOWHERE;
}

struct arg {
    struct bounds *b;
    struct look *l;
};

static int on_run(void *p, uintptr_t at, size_t n, size_t len, int64_t stride)
{
    const struct arg *x = p;
    struct look *l = x->l;
    if (stride == (int64_t)len) {
        len *= n;
        n = 1;
    }
    for (size_t i = 0; i < n && !l->fault && l->runs < RUNS_MAX; i++, at += (uintptr_t)stride) {
        if (!l->is_one)
            object_of(x->b, at, at + len, &l->object);
        l->fault = judge(x->b, l, at, at + len);
        l->runs++;
    }
    return l->fault || l->runs >= RUNS_MAX;
}

static int is_live(const struct bounds_object *o)
{
    return o->kind == BOUNDS_BLOCK || o->kind == BOUNDS_VARIABLE || o->kind == BOUNDS_FRAME;
}

/* Are the elements of one instance parts of one array? The makers that have displacements, or
 * strides in bytes, may join objects. */
static int is_array(const struct dt_type *t)
{
    for (; !(t->flags & DT_PREDEFINED); t = t->contents->types[0]) {
        int by = t->contents ? t->contents->combiner : MPI_COMBINER_STRUCT;
        if (by != MPI_COMBINER_DUP && by != MPI_COMBINER_CONTIGUOUS && by != MPI_COMBINER_VECTOR &&
            by != MPI_COMBINER_SUBARRAY)
            return 0;
    }
    return 1;
}

static void on_memory(const struct watch_buffer *of)
{
    struct bounds *b = proc->bounds;
    int64_t count = of->count * (of->parts ? of->parts : 1), lo, hi;
    size_t bytes;
    if (!of->t || count <= 0 || dt_total(of->t, (size_t)count, &bytes) || !bytes ||
        dt_bounds(of->t, (size_t)count, &lo, &hi))
        return;
    uint64_t base = (uint64_t)(uintptr_t)of->buf, from = base + (uint64_t)lo,
             to = base + (uint64_t)hi;
    if (to > ADDRESS_MAX || from >= to)
        return;
    struct look l = {.of = of, .hi = to};
    object_of(b, from, to, &l.object);
    if (is_live(&l.object) && to <= l.object.end) /* one object holds all that it spans */
        return;
    l.joins = !is_array(of->t);
    l.is_one = !l.joins && is_live(&l.object);
    struct arg x = {b, &l};
    if (!l.joins && dt_is_block(of->t, (size_t)count))
        l.fault = judge(b, &l, from, to);
    else
        dt_runs(of->t, (size_t)count, of->buf, on_run, &x);
    if (l.fault)
        say_beyond(b, &l);
}

static void on_apart(const struct watch_buffer *of, int n)
{
    char what[80];
    uint64_t bytes = bounds_common(of, n);
    if (!bytes)
        return;
    snprintf(what, sizeof what, " have %llu bytes in common", (unsigned long long)bytes);
    say(proc->bounds, "send buffer and the receive buffer", what);
}

static const struct watcher watcher = {.memory = on_memory, .apart = on_apart};

int bounds_init(void)
{
    if (!cvar.memory_check || sched) /* simulated: stacks and memory of its own */
        return 0;
    struct bounds *b = proc->bounds = calloc(1, sizeof *b);
    if (!b)
        return -ENOMEM;
    site_here(); /* the first one loads libgcc_s: not under a lock that others wait for */
    bounds_heap_init(&b->heap);
    b->areas.is_glibc = b->heap.lo != 0;
    bounds_variables_init(&b->variables);
    bounds_frames_init(&b->frames);
    return watch_add(&watcher);
}

void bounds_finalize(void)
{
    struct bounds *b = proc->bounds;
    if (!b)
        return;
    watch_drop(&watcher);
    bounds_variables_free(&b->variables);
    free(b);
    proc->bounds = NULL;
}
