/* source_line.h - a place in the program of a rank: file and line of an address in its memory. */
#ifndef LAUNCH_SOURCE_LINE_H
#define LAUNCH_SOURCE_LINE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The last answer: the ranks of a job often wait at one place. */
struct source_line_last {
    uint64_t at;
    char path[512], text[120];
};
/* "heat.c:212", or "heat+0x1234" without lines; empty: the address lies in no file. It starts
 * addr2line, and waits for it at most SOURCE_LINE_MS. */
enum { SOURCE_LINE_MS = 1000 };
void source_line_text(pid_t pid, uint64_t address, struct source_line_last *last, char *buf,
                      size_t len);

#endif
