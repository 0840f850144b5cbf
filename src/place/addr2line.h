/* addr2line.h - one run of addr2line of binutils, for the library and for mpiexec. boot/crash.c has
 * a run of its own: after a crash nothing may allocate or take a lock. */
#ifndef PLACE_ADDR2LINE_H
#define PLACE_ADDR2LINE_H

#include <stdint.h>
#include <sys/types.h>

/* Starts it for the call before the return address `at` of the file; it writes its answer to `out`.
 * Returns 0, or an error of posix_spawnp(). */
int addr2line_start(pid_t *pid, const char *file, uint64_t at, int out);
/* Of what it wrote: "folder/name.c:212"; empty: it knows no line. */
void addr2line_answer(char *text);
/* What follows the last slash. */
const char *addr2line_last_part(const char *path);

#endif
