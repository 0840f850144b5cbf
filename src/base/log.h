/* log.h - messages to the user, one line each, written by one write(2).
 *
 * Functions that make messages and errors are `cold`.  So are the branches to them: the compiler
 * moves these out of the hot code.  Each system call evicts hot code from the nearest cache, so
 * less of it is better.
 *
 * Report at the place of detection, once, with the exact cause. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdarg.h>

/* "windrose[<rank>]: text\n" on stderr. */
void log_warn(const char *fmt, ...) __attribute__((cold, format(printf, 1, 2)));
/* The same, then the job ends (exit status 1) without returning.  For states in which the process
 * cannot go on. */
void log_fatal(const char *fmt, ...) __attribute__((cold, format(printf, 1, 2), noreturn));
/* Rank shown in messages; -1 until known.  Set by boot. */
void log_set_rank(int (*rank)(void));

/* Assert for our bugs: checked always when cheap, in debug builds (WR_ASSERT_DEBUG) when not. */
#define WR_ASSERT(cond) \
    ((cond) ? (void)0 : log_fatal("assertion failed: %s (%s:%d)", #cond, __FILE__, __LINE__))
#ifdef WR_DEBUG
#define WR_ASSERT_DEBUG(cond) WR_ASSERT(cond)
#else
#define WR_ASSERT_DEBUG(cond) ((void)sizeof(!(cond)))
#endif

#endif
