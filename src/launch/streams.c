/* streams.c - output of ranks: whole lines from pipes to mpiexec's own streams. Start with
 * stream_read() and stream_push(). */
#include "launch/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "launch/merged.h"

/* How long an unfinished line may rest.  On a terminal it is probably a prompt.  Elsewhere the line
 * of a program that prints it in pieces should not be cut by another's. */
#define TTY_TIMEOUT 100000000u    /* ns */
#define FILE_TIMEOUT 2000000000u  /* ns */

enum {
    PIECE = 4096, /* PIPE_BUF: a pipe that polls writable takes so much without blocking */
};

/* --- sinks ------------------------------------------------------------------ */

int sink_open(struct sink *s, int fd)
{
    struct stat st;
    memset(s, 0, sizeof *s);
    s->fd = fd;
    s->may_block = fstat(fd, &st) || !S_ISREG(st.st_mode);
    s->tty = isatty(fd);
    s->timeout = s->tty ? TTY_TIMEOUT : FILE_TIMEOUT;
    s->buf = malloc(SINK_BYTES);
    return s->buf ? 0 : -ENOMEM;
}

void sink_close(struct sink *s)
{
    free(s->buf);
    s->buf = NULL;
    s->have = 0;
}

void sink_flush(struct sink *s)
{
    size_t at = 0;
    while (at < s->have && !s->broken) {
        size_t n = s->have - at;
        if (s->may_block) {
            struct pollfd p = {.fd = s->fd, .events = POLLOUT};
            if (poll(&p, 1, 0) <= 0)
                break;
            n = n < PIECE ? n : PIECE;
        }
        ssize_t w = write(s->fd, s->buf + at, n);
        if (w > 0)
            at += (size_t)w;
        else if (w < 0 && (errno == EAGAIN || errno == EINTR))
            break;
        else
            s->broken = w ? errno : EIO; /* the streams are closed too, so that the ranks notice */
    }
    s->have -= at;
    memmove(s->buf, s->buf + at, s->have);
    if (s->broken)
        s->have = 0;
}

size_t sink_room(const struct sink *s)
{
    return SINK_BYTES - s->have;
}

void sink_add(struct sink *s, const char *bytes, size_t n)
{
    if (!n || s->broken)
        return;
    memcpy(s->buf + s->have, bytes, n);
    s->have += n;
    s->mid_line = bytes[n - 1] != '\n';
}

void sink_line(struct sink *s, const char *text)
{
    size_t n = strlen(text);
    if (s->owner) {
        s->owner->mid_line = 0;
        s->owner = NULL;
    }
    if (sink_room(s) < n + 1)
        sink_flush(s);
    /* Do not wait with a last message for a reader that has stalled for so long. */
    if (sink_room(s) < n + 1)
        return;
    if (s->mid_line)
        sink_add(s, "\n", 1);
    sink_add(s, text, n);
    sink_flush(s);
}

/* --- streams ------------------------------------------------------------------ */

void stream_open(struct stream *t, int fd, struct sink *sink, const char *label)
{
    memset(t, 0, sizeof *t);
    t->fd = fd;
    t->sink = sink;
    if (*label)
        t->label = strndup(label, STREAM_LABEL - 1);
}

/* A rank that has ended keeps no label. */
static void drop_label(struct stream *t)
{
    if (!stream_done(t))
        return;
    free(t->label);
    t->label = NULL;
}

void stream_close(struct stream *t)
{
    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
    drop_label(t);
}

int stream_wants(const struct stream *t)
{
    return t->fd >= 0 && t->have < STREAM_BYTES &&
           (!t->merged || merged_room(t->merged, t->rank));
}

int stream_done(const struct stream *t)
{
    return t->fd < 0 && !t->have;
}

/* Whether c ends a line here: on a terminal a carriage return does, too, so that progress bars
 * move. */
static int ends_line(const struct sink *s, char c)
{
    return c == '\n' || (c == '\r' && s->tty);
}

/* Bytes up to and including the last line end; 0 if there is none. */
static size_t whole_lines(const struct stream *t)
{
    size_t n = t->have;
    while (n && !ends_line(t->sink, t->buf[n - 1]))
        n--;
    return n;
}

/* Whether t may write to its sink now; an owner that rests loses the sink. */
static int may_write(struct stream *t, uint64_t now)
{
    struct sink *s = t->sink;
    if (!s->owner || s->owner == t)
        return 1;
    if (!stream_done(s->owner) && now < s->owner->since + s->timeout)
        return 0;
    s->owner->mid_line = 0; /* the rest of its line becomes a line of its own */
    s->owner = NULL;
    return 1;
}

/* What stands before a line that is written now; its length. */
static size_t line_begin(const struct stream *t, char *text, size_t len)
{
    struct timespec now;
    struct tm day;
    size_t n = 0;
    if (t->stamped && !clock_gettime(CLOCK_REALTIME, &now) && localtime_r(&now.tv_sec, &day)) {
        n = strftime(text, len, "%Y-%m-%d %H:%M:%S", &day);
        n += (size_t)snprintf(text + n, len - n, ".%03ld ", now.tv_nsec / 1000000);
    }
    size_t label = t->label ? strlen(t->label) : 0;
    if (label)
        memcpy(text + n, t->label, label);
    return n + label;
}

/* Give the first n bytes to the sink, as far as it has room; labels precede line starts.  Returns
 * the bytes given. */
static size_t give(struct stream *t, size_t n)
{
    struct sink *s = t->sink;
    char before[STREAM_STAMP + STREAM_LABEL];
    size_t at = 0, label = line_begin(t, before, sizeof before);
    if (s->mid_line && !t->mid_line && sink_room(s))
        sink_add(s, "\n", 1); /* the last line of another stream had no end */
    while (at < n) {
        size_t want = n - at, lead = t->mid_line ? 0 : label;
        if (label) { /* one line at a time */
            size_t i = at;
            while (i < n && !ends_line(s, t->buf[i]))
                i++;
            want = i < n ? i - at + 1 : n - at;
        }
        if (sink_room(s) < lead + want)
            break;
        sink_add(s, before, lead);
        sink_add(s, t->buf + at, want);
        at += want;
        t->mid_line = !ends_line(s, t->buf[at - 1]);
    }
    if (!t->mid_line && s->mid_line)
        s->mid_line = 0; /* ended by a carriage return */
    return at;
}

void stream_push(struct stream *t, uint64_t now)
{
    struct sink *s = t->sink;
    if (s->broken) {
        stream_close(t);
        t->have = 0;
    }
    if (t->have && may_write(t, now)) {
        size_t n = whole_lines(t);
        int ended = t->fd < 0, full = t->have == STREAM_BYTES && !n;
        if (ended || full || (!n && now >= t->since + s->timeout))
            n = t->have;
        n = give(t, n);
        if (t->mid_line)
            t->since = now; /* as the sink's owner it may rest once more */
        t->have -= n;
        memmove(t->buf, t->buf + n, t->have);
    }
    if (t->mid_line)
        s->owner = t;
    if (s->owner == t && (!t->mid_line || stream_done(t)))
        s->owner = NULL;
    if (!t->have) {
        free(t->buf);
        t->buf = NULL;
        drop_label(t);
    }
}

int stream_read(struct stream *t, uint64_t now)
{
    if (!t->buf && !(t->buf = malloc(STREAM_BYTES)))
        return 0;
    ssize_t n = read(t->fd, t->buf + t->have, STREAM_BYTES - t->have);
    if (n > 0) {
        t->have += (size_t)n;
        t->since = now;
    } else if (!n || (errno != EAGAIN && errno != EINTR)) {
        stream_close(t);
    }
    if (t->merged && t->have) {
        merged_add(t->merged, t->rank, t->buf, t->have, now);
        t->have = 0;
    }
    stream_push(t, now);
    return t->fd < 0;
}

uint64_t stream_due(const struct stream *t)
{
    const struct sink *s = t->sink;
    if (!t->have || sink_room(s) < STREAM_BYTES + STREAM_STAMP + STREAM_LABEL)
        return UINT64_MAX;
    const struct stream *first = s->owner && s->owner != t ? s->owner : t;
    return first->since + s->timeout;
}

int empty_file(int flags)
{
    int fd[2] = {open("/dev/null", O_RDONLY | flags), -1}, why = errno;
    if (fd[0] < 0 && why == ENOENT && !pipe2(fd, flags))
        close(fd[1]);
    errno = why;
    return fd[0];
}

/* --- input -------------------------------------------------------------------- */

void pump_open(struct pump *p, int from, int to)
{
    memset(p, 0, sizeof *p);
    p->from = from;
    p->to = to;
}

void pump_close(struct pump *p)
{
    if (p->to >= 0)
        close(p->to);
    p->to = p->from = -1; /* do not close the terminal itself */
}

void pump_wants(const struct pump *p, int *fd, short *events)
{
    *fd = -1;
    *events = 0;
    if (p->to < 0)
        return;
    if (p->have > p->at) {
        *fd = p->to;
        *events = POLLOUT;
    } else if (p->from >= 0 && tcgetpgrp(p->from) == getpgrp()) {
        /* In the background a read would stop us. */
        *fd = p->from;
        *events = POLLIN;
    }
}

void pump_move(struct pump *p)
{
    if (p->to < 0)
        return;
    if (p->at == p->have && p->from >= 0) {
        ssize_t n = read(p->from, p->buf, sizeof p->buf);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            return;
        if (n <= 0) { /* pass the end of file on */
            pump_close(p);
            return;
        }
        p->at = 0;
        p->have = (size_t)n;
    }
    ssize_t n = write(p->to, p->buf + p->at, p->have - p->at); /* `to` does not block */
    if (n > 0)
        p->at += (size_t)n;
    else if (errno != EAGAIN && errno != EINTR)
        pump_close(p); /* rank 0 reads no more */
}
