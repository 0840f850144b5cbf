/* bounds.h - does the memory of a call's buffers exist? (MPIR_CVAR_MEMORY_CHECK)
 *
 *   watch/: a call is about to use a buffer ---> each run of its bytes: in which object does it
 *                                                begin, and does it end there? named if not
 *
 * Nothing is compiled again: objects are blocks of glibc's malloc, variables of the program by its
 * symbols, and frames of the calling thread's stack. Of other memory it is only asked whether it is
 * mapped. What is not known is never named (doc/design/watch.md, "Memory of buffers"). */
#ifndef BOUNDS_BOUNDS_H
#define BOUNDS_BOUNDS_H

int bounds_init(void); /* 0 or -ENOMEM */
void bounds_finalize(void);

#endif
