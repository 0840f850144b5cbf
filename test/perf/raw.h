/* raw.h - a network library without us above it: what raw_ofi.c and raw_ucx.c have to offer so that
 * raw.c can time it.
 *
 * Two processes, each the other's peer. Calls that begin something wait, polling, where no more can
 * be under way. There are doors to the library, as its settings differ: one for memory and active
 * messages, opened like the transport's; one for tagged messages, as MPI libraries use them, but
 * with the transport's handling of failures; one for these without it, as the peers have it: a
 * library may be faster that need not outlive the other end. */
#ifndef RAW_H
#define RAW_H

#include <stddef.h>
#include <stdint.h>

#include "job.h"

enum { RAW_BYTES = 4 << 20 }; /* of the window and of the buffers, as in rmaperf.c */

struct raw_ops {
    void (*open)(char *words, size_t len); /* both; writes what it is */
    void (*put)(size_t len);               /* from raw_buf to the start of the peer's window */
    void (*get)(size_t len);               /* the other way, into raw_res */
    void (*flush)(void);                   /* all gets are here, and all puts in the peer's
                                            * memory */
    void (*am)(size_t from, size_t len);   /* from raw_buf + from; where they arrive raw_arrived()
                                            * is called */
    void (*poll)(void);
    void (*open_tagged)(int loose);        /* both; from now on messages go there; loose: without
                                            * handling of failures */
    void (*send)(size_t len);              /* from raw_buf, until the buffer is free */
    void (*recv)(size_t len);              /* into raw_res, until it is there */
    void (*poll_tagged)(void);
    int has_loose;                         /* the library knows that difference */
    size_t am_max;                         /* bytes of the longest message, as the transport sends
                                            * them */
};

extern int raw_me;        /* 0 measures, 1 serves */
extern int raw_spin;      /* --spin: the library need not be able to sleep */
extern char *raw_buf, *raw_res, *raw_window;
extern uint64_t raw_came; /* active messages that arrived here */

/* One has: a long one is a put, or the next piece of one, whose receiver brings it to its
 * window. */
void raw_arrived(const void *data, size_t len);

/* Give the peer some bytes, and take its own of the same name; both.  Bytes that came. */
size_t raw_swap(const char *name, const void *mine, size_t len, void *other, size_t room);

int raw_main(int argc, char **argv, const struct raw_ops *ops);

#endif
