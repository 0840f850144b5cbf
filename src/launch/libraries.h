/* libraries.h - the libraries of a program: which the loader would load, which a process has. */
#ifndef LAUNCH_LIBRARIES_H
#define LAUNCH_LIBRARIES_H

#include <stddef.h>
#include <sys/types.h>

enum { LIBRARIES_MAX = 1024 };

struct library {
    const char *name; /* as it was asked for, or the path */
    const char *path;
};

struct libraries {
    char *text; /* names and paths point into it */
    int n;
    struct library lib[LIBRARIES_MAX]; /* in the order in which they are loaded, or lie in memory */
};

struct library_search {
    int dir;          /* the folder in which the program starts, or AT_FDCWD */
    const char *path; /* its LD_LIBRARY_PATH; NULL: not set */
};

/* What the loader would load for the program. 0; -ENOEXEC: a script, a static program, or one for
 * another loader than that of mpiexec; another -errno. The program is not executed. */
int libraries_list(struct libraries *l, const struct library_search *s, const char *program);
/* A name that the program asks for, that none of its libraries has, and that the regular expression
 * matches, to be freed; NULL: none is known. The program is not executed. */
char *libraries_undefined(const struct library_search *s, const char *program, const char *match);
/* What the process has mapped. 0 or -errno. */
int libraries_mapped(struct libraries *l, pid_t pid);
/* LD_LIBRARY_PATH of a process, to be freed; NULL: not set, or not to be read. */
char *libraries_path(pid_t pid);
void libraries_free(struct libraries *l);
/* Does the file hold these bytes? At most 4096. */
int file_has(int dir, const char *file, const void *bytes, size_t n);

#endif
