/* job.h - several processes for a unit test: fork, and a launcher made of shared memory.
 *
 *   static void body(void) { ... job_check(boot_rank() == ...) ... }
 *   ck_assert_int_eq(job_run(4, NULL, body, 30), 0);
 *
 * Each process has the variables at their defaults (plus `env`), boot/ connected through job_ops,
 * and leaves with _exit, 0 if body returned.  All processes count as one host. */
#ifndef JOB_H
#define JOB_H

/* The signatures are given from outside; not every function needs all of its own. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "boot/boot.h"

extern const struct boot_ops job_ops;

/* Run `body` in `size` processes; sets is NULL or "NAME=VALUE" texts ending with NULL, given to
 * cvar_set.  Number of processes that did not leave with 0; all are killed after `seconds`. */
int job_run(int size, const char *const *sets, void (*body)(void), unsigned seconds);

/* 256 words that all processes of the running job share, zero at its start. */
uint64_t *job_words(void);

/* An assertion in such a process. */
#define job_check(cond) job_check_at((cond) != 0, #cond, __FILE__, __LINE__)
void job_check_at(int ok, const char *text, const char *file, int line);
/* ... about a call: it returns 0, which is MPI_SUCCESS. */
#define ok(call) job_check((call) == 0)

#endif
