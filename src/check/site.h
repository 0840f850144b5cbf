/* site.h - places in the program, for this room and those above it. */
#ifndef CHECK_SITE_H
#define CHECK_SITE_H

#include <stddef.h>
#include <stdint.h>

/* Where the program has called the library; 0: not known. */
uint64_t site_here(void);
/* A number for a return address that means the same in other processes of the program. */
uint64_t site_portable(uint64_t address);
/* "heat.c:212", or "program+0x1234" without lines. It may wait for addr2line. */
void site_text(uint64_t portable, char *buf, size_t len);

#endif
