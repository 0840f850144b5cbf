/* streams.h - output of many ranks into one place, by lines; and the input of a terminal to rank 0.
 *
 *     rank 0 stdout --pipe--> stream --\
 *     rank 0 stderr --pipe--> stream ---+--> sink (our stdout, our stderr, or a file)
 *     rank 1 stdout --pipe--> stream --/
 *
 * A stream hands whole lines to its sink.  A line that is longer than the stream's buffer, or that
 * rests unfinished for the sink's timeout, goes out in parts.  The stream then owns the sink until
 * the line ends.  If the line rests for that time again and another stream wants to write, a
 * newline ends it first.
 * A sink holds a bounded number of bytes.  Streams that find no room are not read, so that a slow
 * reader slows the ranks down as a plain pipe would.  Nothing here blocks.
 * Start at stream_push(). */
#ifndef LAUNCH_STREAMS_H
#define LAUNCH_STREAMS_H

#include <stddef.h>
#include <stdint.h>

enum { STREAM_BYTES = 64 << 10, SINK_BYTES = 256 << 10, STREAM_LABEL = 64, STREAM_STAMP = 32 };

struct merged;

struct sink {
    int fd;
    int may_block;     /* a pipe, socket or terminal: ask poll(2) before each write */
    int tty;
    int broken;        /* 0, or the errno after which nothing more is written: EPIPE, a full disk */
    int told;          /* that it is broken, reported once */
    int mid_line;      /* the last byte given to it was no newline */
    uint64_t timeout; /* ns */
    struct stream *owner; /* may write the rest of its line; NULL: any stream may begin one */
    char *buf;
    size_t have;
};

struct stream {
    int fd;            /* -1: closed */
    struct sink *sink;
    char *label;       /* before each line; NULL: none, or closed */
    int stamped;       /* the time stands before it */
    char *buf;         /* STREAM_BYTES, while it holds something */
    size_t have;
    int mid_line;      /* begun in the sink, not ended */
    uint64_t since;    /* when it last got bytes (ns) */
    struct merged *merged; /* takes what the rank prints (merged.h); NULL: the sink does */
    int rank;
};

/* Take an open descriptor.  0 or -ENOMEM. */
int sink_open(struct sink *s, int fd);
void sink_close(struct sink *s);
/* Write what can be written without blocking. */
void sink_flush(struct sink *s);
/* Bytes for which sink_room() has room; it is not written yet. */
size_t sink_room(const struct sink *s);
void sink_add(struct sink *s, const char *bytes, size_t n);
/* A line of our own (with newline), whole; may exceed the bound. */
void sink_line(struct sink *s, const char *text);

/* label: at most STREAM_LABEL bytes with its end */
void stream_open(struct stream *t, int fd, struct sink *sink, const char *label);
/* Whether it may be read now. */
int stream_wants(const struct stream *t);
/* Its descriptor is readable.  1: it has ended, and fd is closed. */
int stream_read(struct stream *t, uint64_t now);
/* Pass on what can be passed on. */
void stream_push(struct stream *t, uint64_t now);
/* When stream_push must be called next even if nothing came (ns); UINT64_MAX: never. */
uint64_t stream_due(const struct stream *t);
/* Everything was passed on and the descriptor is closed. */
int stream_done(const struct stream *t);
/* The rank has ended: so has its last line. */
void stream_close(struct stream *t);

/* A descriptor that reads as an empty file, with these flags of open(2): /dev/null, or where there
 * is none, as in a bare chroot, a pipe without writers.  -1: errno is that of /dev/null. */
int empty_file(int flags);

/* --- a terminal's input to rank 0 --------------------------------------------------- */
struct pump {
    int from, to; /* -1: closed */
    size_t have, at;
    char buf[4096];
};

void pump_open(struct pump *p, int from, int to);
void pump_close(struct pump *p);
/* Which descriptor to wait for: *fd and *events (0: none now). */
void pump_wants(const struct pump *p, int *fd, short *events);
void pump_move(struct pump *p);

#endif
