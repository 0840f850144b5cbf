/* source_line.h - a place in the program of a rank: file and line of an address in its memory. */
#ifndef LAUNCH_SOURCE_LINE_H
#define LAUNCH_SOURCE_LINE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SOURCE_LINE_PLACES = 16, SOURCE_LINE_MS = 1000 };

/* The newest answers of one report: the ranks of a job wait at few places. All zero at first. */
struct source_lines {
    uint64_t until; /* ns: after that, addr2line is not asked, and no rank is stopped */
    unsigned n;     /* answers so far; the oldest are overwritten */
    struct {
        uint64_t at;
        char path[512], text[120];
    } place[SOURCE_LINE_PLACES];
};
/* "heat.c:212", or "heat+0x1234" without lines; empty: the address lies in no file. It starts
 * addr2line, and waits for it at most SOURCE_LINE_MS, and not after lines->until. */
void source_line_text(pid_t pid, uint64_t address, struct source_lines *lines, char *buf,
                      size_t len);

#endif
