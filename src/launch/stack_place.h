/* stack_place.h - where in its program another process is, found from outside. */
#ifndef LAUNCH_STACK_PLACE_H
#define LAUNCH_STACK_PLACE_H

#include <stdint.h>
#include <sys/types.h>

/* The address behind the innermost instruction of the process's own program, not of a library, that
 * its first thread executes or has called from; 0: not found. A process that sleeps in the kernel
 * is not disturbed; one that runs is stopped for a moment, which cuts no system call short. Its
 * stop is waited for up to the time `until` (ns); later it may come by waitpid(). */
uint64_t stack_place(pid_t pid, uint64_t until);

/* waitpid() has reported a stop, not an end: the process goes on, and a signal that stopped it is
 * delivered. */
void stack_place_let_go(pid_t pid, int stop);

#endif
