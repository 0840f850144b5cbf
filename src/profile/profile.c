/* profile.c - the begin and the end of a report and of a trace, and what they watch. Start with
 * profile_init() and profile_print(). */
#include "profile/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/proc.h"
#include "base/sched.h"
#include "base/where.h"
#include "boot/boot.h"
#include "place/place.h"
#include "rma/rma.h"
#include "watch/watch.h"

_Static_assert(offsetof(struct profile, trace) == offsetof(struct profile_asks, trace) &&
                   offsetof(struct profile, calls) == offsetof(struct profile_asks, calls),
               "trace_asked() and report_asked() read a struct profile as a struct profile_asks");

/* The wait goes on anyway, so that the search costs nothing. */
static void wait_lasts(struct progress_seen *s)
{
    if (cvar.report && !s->site)
        s->site = site_here();
}

static void wait_over(const struct progress_seen *seen)
{
    struct progress_seen s = *seen;
    if (s.of && s.peer < 0) /* several were waited for */
        s.peer = rma_win_came_last(s.of, s.why);
    if (cvar.report)
        profile_note(&s);
    if (proc->profile->trace)
        trace_wait(proc->profile->trace, &s);
}

static void win_closed(struct rma_win *w)
{
    if (cvar.report)
        profile_win_closed(w);
    if (proc->profile->trace)
        trace_win_closed(proc->profile->trace, w);
}

static void has_state(struct rma_win *w, int world, const char *state)
{
    trace_state(proc->profile->trace, w, world, state);
}

static int traces(void)
{
    return cvar.trace && *cvar.trace && !sched;
}

/* For mpiexec: where a wait lasts, and in which epoch. */
static void describe(struct where_wait *w, const void *of)
{
    uint64_t site = w->site ? w->site : site_here();
    w->site = site_address(site);
    w->call = site_front_call(site);
    if (of)
        rma_win_about(of, w->about, sizeof w->about);
}

static const struct watcher describer = {.wait_second = describe};
static const struct watcher watcher = {
    .wait_lasts = wait_lasts, .wait_over = wait_over, .win_closes = win_closed};
static const struct watcher tracer = {.target_state = has_state};

static int watch_job(void)
{
    return watch_add(&watcher) || rma_time_waits() || (traces() && watch_add(&tracer)) ? -ENOMEM
                                                                                       : 0;
}

static void watch_no_more(void)
{
    watch_drop(&watcher);
    watch_drop(&tracer);
}

int profile_init(void)
{
    if (!sched) {
        if (watch_add(&describer))
            return -ENOMEM;
        site_here(); /* the first one loads libgcc_s: not in a wait, where proc->lock is held */
    }
    if ((!cvar.report && !traces()) || boot_first()) /* the first job's alone */
        return 0;
    struct record *r = record_open(traces(), trace_room());
    if (!r)
        return -ENOMEM;
    struct profile *y = &r->profile;
    y->began = time_now();
    y->delayed = profile_delayed();
    proc->profile = y;
    y->trace = traces() ? &r->trace : NULL;
    y->calls = cvar.report && !sched ? record_calls(r) : NULL;
    int err = watch_job();
    if (!err && y->trace)
        err = trace_open(y->trace, record_ring(r), trace_room());
    if (!err && cvar.report && !sched)
        err = profile_sample_start(&y->sampler);
    if (err)
        profile_finalize();
    return err;
}

static void write_all(int fd, const struct profile_text *t, const char *name)
{
    for (size_t at = 0; at < t->n;) {
        ssize_t n = write(fd, t->s + at, t->n - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            log_warn("the report cannot be written to %s: %s", name, strerror(errno));
            return;
        }
        at += (size_t)n;
    }
}

void profile_print(const struct profile_page *p, const char *program, const char *file)
{
    struct profile_text page = {NULL, 0, 0}, json = {NULL, 0, 0};
    profile_page_print(p, program, &page);
    write_all(STDERR_FILENO, &page, "standard error");
    profile_free(&page);
    if (!file || !*file)
        return;
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) {
        log_warn("MPIR_CVAR_REPORT_FILE: %s: %s", file, strerror(errno));
        return;
    }
    profile_json_print(p, program, &json);
    write_all(fd, &json, file);
    profile_free(&json);
    close(fd);
}

static void trace_window_here(struct rma_win *w)
{
    trace_win_closed(proc->profile->trace, w);
}

/* The record is where the profile lies in it. */
static struct record *record_of(struct profile *y)
{
    return (struct record *)((char *)y - offsetof(struct record, profile));
}

static void drop_chunk(void *to, struct trace_chunk *c)
{
    (void)to, (void)c;
}

static void trace_written(struct trace_file *f)
{
    uint64_t lost, events;
    int err = trace_file_close(f, &lost, &events);
    if (err)
        log_warn("the trace cannot be written to %s: %s", cvar.trace, strerror(-err));
    else if (lost)
        log_warn("the trace in %s has the newest events only; %llu earlier ones are lost: "
                 "MPIR_CVAR_TRACE_EVENTS keeps more",
                 cvar.trace, (unsigned long long)lost);
    if (!err && !trace_calls_seen())
        log_warn("the trace in %s has waits only: the program does not load the library that "
                 "traces calls (mpiexec -trace; doc/howto/see-what-it-does.md)",
                 cvar.trace);
}

/* All take part, also where rank 0 cannot write. */
static void trace_ending(struct trace *t)
{
    struct trace_file *f = NULL;
    int err = 0;
    rma_each(trace_window_here);
    if (boot_rank() == 0)
        err = trace_file_open(&f, cvar.trace, program_invocation_short_name, boot_size(),
                              NULL);
    if (err)
        log_warn("MPIR_CVAR_TRACE: %s: %s", cvar.trace, strerror(-err));
    trace_gather(t, f ? trace_file_take : drop_chunk, f);
    if (f)
        trace_written(f);
}

static void end_all(struct profile *y)
{
    profile_sample_stop(&y->sampler);
    watch_no_more();
    if (y->trace)
        trace_ending(y->trace);
    if (!cvar.report)
        return;
    /* All take part, with or without memory: a child waits for its parent. */
    struct profile_page *p = calloc(1, sizeof *p);
    if (p)
        profile_page_of(p);
    profile_gather(p);
    if (p && boot_rank() == 0) {
        profile_places(p);
        profile_call_places(p);
        profile_page_sort(p);
        profile_page_places(p);
        profile_print(p, program_invocation_short_name, cvar.report_file);
    }
    free(p);
}

void profile_ending(void)
{
    struct profile *y = proc->profile;
    if (!y)
        return;
    end_all(y);
    record_over(record_of(y));
}

void profile_finalize(void)
{
    struct profile *y = proc->profile;
    watch_drop(&describer);
    if (!y)
        return;
    profile_sample_stop(&y->sampler);
    watch_no_more();
    trace_close(y->trace);
    record_close(record_of(y));
    proc->profile = NULL;
}
