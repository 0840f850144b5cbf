/* report.h - the text of reports (print.c), and what is said of a whole run at its end: advice
 * (redundant.c, redundant_barrier.c), and the graph (dependence.c). */
#ifndef RACE_REPORT_H
#define RACE_REPORT_H

#include "race/race_types.h"

/* print.c */
void race_print_init(void);
void race_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void race_print_later(const struct race_conflict *f); /* as soon as its lines are known */
void race_print_all(void); /* what is left; waits */
void race_site_text(uint64_t site, char *buf, size_t len); /* as site_text(); waits */
void race_print_free(void);
/* redundant.c: none of these does anything where no advice is asked for */
int race_advice_init(void);
void race_advice_run(enum race_call call, uint64_t site);
/* The call completes what was done at t. */
void race_advice_done(struct race_target *t, enum race_call call, uint64_t site);
void race_advice_release(void); /* others may acquire what this process did so far */
/* Its end orders it with late; NULL: perhaps with another. */
void race_advice_used(const struct race_access *early, const struct race_access *late);
void race_advice_came(const struct race_access *r);
void race_advice_gone(const struct race_target *t);
void race_advice_print(void);    /* all processes; waits */
struct race_call_site; /* what the text calls a place: a call at a place of the program */
struct race_call_site *race_call_site_of(enum race_call call,
                                         uint64_t site); /* once more; or NULL */
void race_call_site_needed(struct race_call_site *p);
/* Locks of windows whose bits these are: needed if race_barrier_judge() names one of them. */
void race_call_site_on(struct race_call_site *p, int64_t wins);
void race_advice_free(void);
/* redundant_barrier.c: nothing either, and not in mode rma */
int race_barrier_init(void);
void race_barrier_begins(enum race_call call, const void *site, uint64_t win); /* barrier, fence */
void race_barrier_ended_phase(uint64_t floor); /* it, or another call, has ended a phase */
void race_barrier_ends(void);
void race_barrier_fenced(struct race_win *x, int modes);
void race_barrier_no_fence(struct race_win *x);
/* Loads and stores are not seen: no barrier, fence or lock is said to be unneeded. */
void race_barrier_unseen(void);
void race_barrier_locked(const struct race_win *x, const void *site); /* exclusive */
void race_barrier_atomic(const struct race_win *x); /* an accumulate */
void race_barrier_used(const struct race_access *early, const struct race_access *late);
/* All processes say which barriers they needed; *wins: the bits of windows whose locks they needed.
 * 1: something may not have been seen. Waits. */
int race_barrier_judge(int64_t *wins);
void race_barrier_free(void);
/* dependence.c: the same as redundant.c */
int race_graph_init(void);
void race_graph_node(const struct race_access *r);
void race_graph_edge(const struct race_access *early, const struct race_access *late);
void race_graph_race(const struct race_conflict *f);
void race_graph_win_freed(struct race_win *x);
void race_graph_write(void); /* all processes; waits */
void race_graph_free(void);

#endif
