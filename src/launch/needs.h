/* needs.h - which MPI library the loader will give a program.
 *
 * The search for the libraries of the program, and for theirs, is that of glibc's loader: RPATH,
 * LD_LIBRARY_PATH, RUNPATH, its cache, the folders of the system.  Nothing is executed. */
#ifndef LAUNCH_NEEDS_H
#define LAUNCH_NEEDS_H

struct needs_where {
    int dir;             /* the folder in which the program starts, or AT_FDCWD */
    const char *libpath; /* its LD_LIBRARY_PATH; NULL: not set */
};

struct needs_mpi {
    int own;        /* it loads this library, of any version */
    char *other;    /* it loads this file, another MPI library; NULL: none is known */
    char *by;       /* name of the library that needs it; NULL: the program itself */
    int open_mpi;   /* the file belongs to Open MPI */
    /* of MPICH's ABI and not named by RPATH: LD_LIBRARY_PATH can replace it by this library */
    int swappable;
    int unsure;     /* the loader may look elsewhere */
};

/* The file that exec takes for a command, to be freed; NULL: none. */
char *needs_program(int dir, const char *command);
/* 0; -ENOEXEC: a script, a static program, or one for another loader; another -errno. */
int needs_look(struct needs_mpi *n, const struct needs_where *w, const char *file);
void needs_free(struct needs_mpi *n);
/* Is this the file name of an MPI library ("libmpi.so.12")? */
int needs_is_mpi(const char *name);

#endif
