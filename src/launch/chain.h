/* chain.h - which rank waits for which through the job, from what each rank says. */
#ifndef LAUNCH_CHAIN_H
#define LAUNCH_CHAIN_H

/* peer[r]: the rank that rank r waits for; any other number: it waits for no single rank.
 * never[r]: its wait is known not to end; never may be NULL.  Calls line(to, text) for each circle
 * of ranks that wait for each other, then for ranks that wait for none and keep several waiting,
 * the most first; at most CHAIN_LINES each.  0 or -ENOMEM. */
enum { CHAIN_LINES = 4 };
int chain_tell(const int *peer, const char *never, int n,
               void (*line)(void *to, const char *text), void *to);

#endif
