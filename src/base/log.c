/* log.c - messages of the library: one line each on standard error, with the rank in front. */
#include "base/log.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Set once by boot.  A function, so that messages name the simulator's rank. */
static int (*_Atomic rank_of)(void);

void log_set_rank(int (*rank)(void))
{
    atomic_store_explicit(&rank_of, rank, memory_order_relaxed);
}

static void put_line(const char *fmt, va_list ap)
{
    char line[1024];
    int (*ask)(void) = atomic_load_explicit(&rank_of, memory_order_relaxed);
    int rank = ask ? ask() : -1;
    int n = rank < 0 ? snprintf(line, sizeof line, "windrose: ")
                     : snprintf(line, sizeof line, "windrose[%d]: ", rank);
    int m = vsnprintf(line + n, sizeof line - (size_t)n - 1, fmt, ap);
    if (m < 0)
        m = 0;
    size_t len = (size_t)n + (size_t)m;
    if (len > sizeof line - 2)
        len = sizeof line - 2;
    line[len++] = '\n';
    ssize_t ignored = write(STDERR_FILENO, line, len);
    (void)ignored;
}

void log_warn(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    put_line(fmt, ap);
    va_end(ap);
}

void log_fatal(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    put_line(fmt, ap);
    va_end(ap);
    /* _exit: user atexit handlers may call MPI; the launcher ends the other ranks. */
#ifdef WR_DEBUG
    abort();
#endif
    _exit(1);
}
