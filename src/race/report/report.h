/* report.h - what is said of a whole run at its end: advice (redundant.c, redundant_barrier.c), and
 * the graph (dependence.c). */
#ifndef RACE_REPORT_H
#define RACE_REPORT_H

#include "race/race_types.h"

/* redundant.c: none of these does anything where no advice is asked for */
int race_advice_init(void);
void race_advice_run(enum race_call call, uint64_t site);
/* The call completes what was done at t. */
void race_advice_done(struct race_target *t, enum race_call call, uint64_t site);
void race_advice_release(void); /* others may hear of what this process did so far */
/* Its end orders it with late; NULL: perhaps with another. */
void race_advice_used(const struct race_rec *early, const struct race_rec *late);
void race_advice_came(const struct race_rec *r);
void race_advice_gone(const struct race_target *t);
void race_advice_tell(void);    /* all processes; waits */
struct race_spot; /* what the text calls a place: a call at a place of the program */
struct race_spot *race_advice_place(enum race_call call, uint64_t site); /* once more; or NULL */
void race_spot_needed(struct race_spot *p);
/* Locks of windows whose bits these are: needed if race_meet_judge() names one of them. */
void race_spot_on(struct race_spot *p, int64_t wins);
void race_advice_free(void);
/* redundant_barrier.c: nothing either, and not in mode rma */
int race_meet_init(void);
void race_meet_begins(enum race_call call, const void *site, uint64_t win); /* barrier, fence */
void race_meet_came(uint64_t floor); /* it, or another call, has ended a phase */
void race_meet_ends(void);
void race_meet_fenced(struct race_win *x, int modes);
void race_meet_no_fence(struct race_win *x);
/* Loads and stores are not seen: no barrier, fence or lock is said to be unneeded. */
void race_meet_blind(void);
void race_meet_locked(const struct race_win *x, const void *site); /* exclusive */
void race_meet_atomic(const struct race_win *x); /* an accumulate */
void race_meet_used(const struct race_rec *early, const struct race_rec *late);
/* All processes say which meetings they needed; *wins: the bits of windows whose locks they needed.
 * 1: something may not have been seen. Waits. */
int race_meet_judge(int64_t *wins);
void race_meet_free(void);
/* dependence.c: the same as redundant.c */
int race_graph_init(void);
void race_graph_node(const struct race_rec *r);
void race_graph_edge(const struct race_rec *early, const struct race_rec *late);
void race_graph_race(const struct race_found *f);
void race_graph_win_freed(struct race_win *x);
void race_graph_write(void); /* all processes; waits */
void race_graph_free(void);

#endif
