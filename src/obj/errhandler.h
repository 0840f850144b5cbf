/* errhandler.h - error handler objects.
 *
 * The predefined ones exist in every process; user handlers belong to one kind of holder. An object
 * with a handler holds a reference, and so does the user for each create and get. Handle and memory
 * are freed with the last one. */
#ifndef OBJ_ERRHANDLER_H
#define OBJ_ERRHANDLER_H

#include "obj/obj.h"

/* MPICH's C++ binding library calls its users' handlers by this; kind 0 is a communicator, 1 a
 * file, 2 a window. */
typedef void errhandler_cxx(int kind, int *handle, int *code, void (*fn)(void));

/* Holder of a handler: an obj_kind (OBJ_COMM, OBJ_WIN, OBJ_FILE, OBJ_SESSION) or 0 for the
 * predefined ones. */
struct errhandler {
    struct obj obj;
    int holder;
    void (*fn)(void *holder_handle, int *code, ...); /* user handlers */
    errhandler_cxx *cxx; /* calls fn, which is a function of C++; NULL: fn is one of C */
};

enum errhandler_builtin { ERRHANDLER_FATAL, ERRHANDLER_RETURN, ERRHANDLER_THROW, ERRHANDLER_ABORT };

/* A user handler with its handle; NULL: out of memory. */
struct errhandler *errhandler_make(int holder, void (*fn)(void *, int *, ...));
/* The predefined one, with a reference for the caller. */
struct errhandler *errhandler_of(enum errhandler_builtin which);
/* By its name in MPI_Comm_spawn's info and mpiexec's option, in upper or lower case; -1: there is
 * none. */
int errhandler_named(const char *name);
#define ERRHANDLER_NAMES "mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return"
/* That of MPI_COMM_WORLD and MPI_COMM_SELF at their start. */
enum errhandler_builtin errhandler_initial(void);
/* By handle, NULL if there is none. */
struct errhandler *errhandler_find(int handle);
struct errhandler *errhandler_ref(struct errhandler *e);
void errhandler_drop(struct errhandler *e); /* NULL is legal */

/* The code as the program gets it: MPIX_ERR_PROC_FAILED, PROC_FAILED_PENDING and REVOKED bare.
 * Programs compare them by == with what a call returns, and with the error of a status. The text of
 * the last one given out is from then on that of the bare class. In err.c. */
int err_give(int code);
/* Run the handler for `code` that happened in `call` on an object; `where` names the object for the
 * message of MPI_ERRORS_ARE_FATAL, e.g. "MPI_COMM_WORLD".  Returns the code for the caller.
 * handle_ptr points to the MPI handle that a user handler gets.  Runs user code: hold no lock that
 * it may need (proc->lock is recursive). */
int errhandler_run(struct errhandler *e, void *handle_ptr, const char *where, int code,
                   const char *call);

#endif
