/* forked.h - several processes for a test: fork, and a launcher made of shared memory.
 *
 *   static void body(void) { ... job_check(boot_rank() == ...) ... }
 *   ck_assert_int_eq(job_run(4, NULL, body, 30), 0);
 *
 * Each process has the variables at their defaults (plus `env`), boot/ connected through job_ops,
 * and leaves with _exit, 0 if body returned.  All processes count as one host. */
#ifndef DOCTOR_FORKED_H
#define DOCTOR_FORKED_H

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "boot/boot.h"

extern const struct boot_ops job_ops;
extern const struct boot_ops *job_boot; /* what processes join: that, or NULL: the launcher's */

/* What a check that fails, or a wait that does not end, means: each process says it with
 * job_about(), by what it does just then. */
enum fault {
    FAULT_NONE, FAULT_ORDER, FAULT_TORN, FAULT_EARLY, FAULT_BESIDE, FAULT_LOST, FAULT_INJECT,
    FAULT_KEY, FAULT_AGAIN, FAULT_OPEN, FAULTS
};

/* How a job ended. */
struct job_end {
    int failed;       /* processes that did not leave with 0 */
    int hung;         /* it was ended for want of events */
    int crashed;      /* one ended otherwise than by a check; the checks of others may follow */
    enum fault fault; /* of the first check that failed; hung: of the first process */
    char text[160];   /* that check, or "" */
};

/* Run `body` in `size` processes; sets is NULL or "NAME=VALUE" texts ending with NULL, given to
 * cvar_set.  Number of processes that did not leave with 0; all are killed after `seconds`.
 * -errno: they cannot be started, and none runs. */
int job_run(int size, const char *const *sets, void (*body)(void), unsigned seconds);
/* The same, which also ends when no process had a job_event() for `quiet` seconds (0: no such end;
 * with a launcher's job_boot, the first may take long), prints nothing, and tells how it ended. */
int job_run_quiet(int size, const char *const *sets, void (*body)(void), unsigned seconds,
                  unsigned quiet, struct job_end *end);

enum fault job_about(enum fault now); /* returns what it was */
void job_event(void);                 /* what was waited for has come */
int job_quiet(void);                  /* the job prints nothing */

/* 256 words that all processes of the running job share, zero at its start. */
uint64_t *job_words(void);
/* One of 32 of them: a flag that all processes see (release; the reading acquires). */
void job_word_set(int i, uint64_t v);
uint64_t job_word(int i);

/* An assertion in such a process. */
#define job_check(cond) job_check_at((cond) != 0, #cond, __FILE__, __LINE__)
void job_check_at(int ok, const char *text, const char *file, int line);

#endif
