/* loop.c - the one loop of mpiexec: wait for descriptors and times, pass events to job.c. Start
 * with job_run(). */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/sched.h"
#include "base/vec.h"
#include "launch/foreign.h"
#include "launch/gdb.h"
#include "launch/job.h"
#include "launch/spawned_job.h"

#define MS 1000000u /* ns */

enum {
    /* silence after which mpiexec no longer waits for output that a rank's left-over child keeps
     * open */
    QUIET_MS = 1000,
    FLUSH_MS = 2000,     /* time for a slow reader to take the last output of a job that failed */
    TTY_LOOK_MS = 500,   /* how often to see whether we are in the foreground again */
};

enum slot_kind {
    SLOT_SIGNAL, SLOT_REPORT, SLOT_SPAWNED, SLOT_PUMP, SLOT_PMI, SLOT_OUT, SLOT_ERR, SLOT_SINK
};

struct slots {
    int n, room;
    struct pollfd *fd;
    struct {
        enum slot_kind kind;
        int index;
    } *tag;
};

static void add(struct slots *s, int fd, short events, enum slot_kind kind, int index)
{
    s->fd[s->n] = (struct pollfd){.fd = fd, .events = events};
    s->tag[s->n].kind = kind;
    s->tag[s->n++].index = index;
}

/* Places for all that may be waited for: ranks may have started others. */
static int make_room(const struct job *j, struct slots *s)
{
    int need = 3 * j->size + j->nsinks + j->reporting + 4;
    int room = s->room; /* both arrays have it in common */
    return VEC_FITS(s->fd, room, need, 16) && VEC_FITS(s->tag, s->room, need, 16) ? 0 : -ENOMEM;
}

static void collect(struct job *j, struct slots *s)
{
    int fd;
    short events;
    s->n = 0;
    add(s, j->signal_fd, POLLIN, SLOT_SIGNAL, 0);
    if (j->report_fd >= 0)
        add(s, j->report_fd, POLLIN, SLOT_REPORT, 0);
    for (const struct spawned_job *g = j->spawned; g && j->reporting; g = g->next)
        if (g->report_fd >= 0)
            add(s, g->report_fd, POLLIN, SLOT_SPAWNED, 0);
    if (j->gdb)
        gdb_wants(j->gdb, &fd, &events);
    else
        pump_wants(&j->pump, &fd, &events);
    if (events)
        add(s, fd, events, SLOT_PUMP, 0);
    for (int r = 0; r < j->size; r++) {
        struct rank *k = &j->rank[r];
        if (k->pmi_fd >= 0)
            add(s, k->pmi_fd, k->pmi_have ? POLLIN | POLLOUT : POLLIN, SLOT_PMI, r);
        if (stream_wants(&k->out))
            add(s, k->out.fd, POLLIN, SLOT_OUT, r);
        if (stream_wants(&k->err))
            add(s, k->err.fd, POLLIN, SLOT_ERR, r);
    }
    for (int i = 0; i < j->nsinks; i++)
        if (j->sinks[i]->have)
            add(s, j->sinks[i]->fd, POLLOUT, SLOT_SINK, i);
}

static void on_signals(struct job *j)
{
    struct signalfd_siginfo info;
    while (read(j->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
        job_signal(j, (int)info.ssi_signo);
}

static void dispatch(struct job *j, const struct slots *s, uint64_t now)
{
    for (int i = 1; i < s->n; i++) {
        int x = s->tag[i].index;
        if (!s->fd[i].revents)
            continue;
        switch (s->tag[i].kind) {
        case SLOT_REPORT: job_report_readable(j); break;
        case SLOT_SPAWNED: spawned_job_look(j); break;
        case SLOT_PUMP:
            if (j->gdb)
                gdb_move(j->gdb, j);
            else
                pump_move(&j->pump);
            break;
        case SLOT_PMI:
            if (s->fd[i].revents & POLLOUT)
                job_pmi_flush(j, x);
            if (s->fd[i].revents & ~POLLOUT)
                job_pmi_readable(j, x);
            break;
        /* fd may be closed by now: an event of this round ended the rank */
        case SLOT_OUT:
            foreign_output(j);
            if (stream_wants(&j->rank[x].out))
                stream_read(&j->rank[x].out, now);
            break;
        case SLOT_ERR:
            foreign_output(j);
            if (stream_wants(&j->rank[x].err))
                stream_read(&j->rank[x].err, now);
            break;
        case SLOT_SINK: /* flushed below, as all are */
        case SLOT_SIGNAL: break;
        }
    }
    /* Deaths last: by then the rank's last output is here. */
    if (s->fd[0].revents)
        on_signals(j);
}

/* Output that cannot be written is a failure, unless its reader has closed. */
static void tell_broken(struct job *j)
{
    for (int i = 0; i < j->nsinks; i++) {
        struct sink *s = j->sinks[i];
        if (!s->broken || s->told)
            continue;
        s->told = 1;
        if (s->broken == EPIPE)
            continue;
        job_say(j, "output of the ranks is lost: %s", strerror(s->broken));
        if (!j->status)
            j->status = 1;
    }
}

/* Of -gdb: merged output that is due. 1: some is left. */
static int push_merged(struct gdb *g, uint64_t now, uint64_t *due)
{
    struct merged *both[2] = {g->out, g->err};
    int left = 0;
    for (int i = 0; i < 2; i++) {
        merged_push(both[i], now, 0);
        uint64_t t = merged_due(both[i]);
        *due = t < *due ? t : *due;
        left |= both[i]->first != 0;
    }
    return left;
}

/* Pass on what may be passed on, and find when the next line is due. 1: output is still under
 * way. */
static int push_output(struct job *j, uint64_t now, uint64_t *due)
{
    int under_way = 0;
    for (int i = 0; i < j->nsinks; i++)
        if (j->sinks[i]->have)
            sink_flush(j->sinks[i]);
    for (int r = 0; r < j->size; r++) {
        struct stream *both[2] = {&j->rank[r].out, &j->rank[r].err};
        for (int i = 0; i < 2; i++) {
            if (both[i]->have)
                stream_push(both[i], now);
            uint64_t t = stream_due(both[i]);
            *due = t < *due ? t : *due;
            under_way |= !stream_done(both[i]);
        }
    }
    if (j->gdb)
        under_way |= push_merged(j->gdb, now, due);
    for (int i = 0; i < j->nsinks; i++) {
        if (j->sinks[i]->have)
            sink_flush(j->sinks[i]);
        under_way |= j->sinks[i]->have != 0;
    }
    tell_broken(j);
    return under_way;
}

/* What is left when all ranks have ended: output that another process holds open. */
static void wind_up(struct job *j, uint64_t now, int active)
{
    if (j->phase != JOB_RUNNING) {
        strays_kill(j->name, 0);
        if (!j->leave_at || j->leave_at > now + (uint64_t)FLUSH_MS * MS)
            j->leave_at = now + (uint64_t)FLUSH_MS * MS;
        return;
    }
    int sinks_full = 0;
    for (int i = 0; i < j->nsinks; i++)
        sinks_full |= j->sinks[i]->have != 0;
    if (active || sinks_full || !j->leave_at) {
        /* a reader may take its time; a left-over child may not */
        j->leave_at = now + (uint64_t)QUIET_MS * MS;
        return;
    }
    if (now >= j->leave_at)
        strays_kill(j->name, 0);
}

static int wait_ms(const struct job *j, uint64_t due, uint64_t now)
{
    int runs = j->phase == JOB_RUNNING;
    const uint64_t ends[] = {runs ? j->timeout_at : 0, runs && j->warn_ns ? j->look_at : 0,
                             j->kill_at, j->leave_at, j->foreign_due};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends[i] && ends[i] < due)
            due = ends[i];
    if ((j->pump.to >= 0 && j->pump.from >= 0) || (j->gdb && j->gdb->is_tty)) {
        uint64_t look = now + (uint64_t)TTY_LOOK_MS * MS;
        due = look < due ? look : due;
    }
    if (due == UINT64_MAX)
        return -1;
    if (due <= now)
        return 0;
    return (int)((due - now) / MS > 3600000 ? 3600000 : (due - now + MS - 1) / MS);
}

int job_run(struct job *j)
{
    struct slots s = {0};
    if (make_room(j, &s)) {
        job_end(j, 255, SIGKILL, 0);
        job_kill(j);
    }
    for (int events = 1; s.room;) {
        uint64_t now = time_now(), due = UINT64_MAX;
        job_tick(j, now);
        int under_way = push_output(j, now, &due);
        if (!j->live) {
            if (!under_way)
                break;
            uint64_t leave = j->leave_at;
            wind_up(j, now, events > 0);
            if (leave && now >= leave && now >= j->leave_at)
                break;
        } else if (j->leave_at && now >= j->leave_at) {
            job_say(j, "%d killed process%s not ended by the kernel", j->live,
                    j->live == 1 ? " is" : "es are");
            break;
        }
        if (make_room(j, &s))
            break;
        collect(j, &s);
        events = poll(s.fd, (nfds_t)s.n, wait_ms(j, due, now));
        if (events > 0)
            dispatch(j, &s, time_now());
    }
    if (j->phase != JOB_RUNNING)
        strays_kill(j->name, 0);
    free(s.fd);
    free(s.tag);
    return j->status;
}
