/* program.h - the file behind a program of the command line, and why it cannot be run. Start with
 * program_file(). */
#ifndef LAUNCH_PROGRAM_H
#define LAUNCH_PROGRAM_H

#include <limits.h>
#include <stddef.h>

#include "launch/args.h"

/* The folder in which a block starts, to be closed; AT_FDCWD; -1: there is none. */
int program_folder(const struct args *a, const struct block *b);
/* The file that exec takes for a command there, to be freed; NULL: none. */
char *program_file(int dir, const char *command);
/* The loader of a dynamic program, or the interpreter of a script. 0; -ENOEXEC: it names none;
 * another -errno. The file is not trusted. */
int program_interpreter(int dir, const char *file, char name[PATH_MAX]);
/* Why exec failed with `err`: its text, or what lies behind it. */
void program_why(const struct args *a, const struct block *b, int err, char *text, size_t len);

#endif
