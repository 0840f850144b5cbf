/* err.h - MPI error codes with an exact text, and error handlers.
 *
 * A code is class | slot<<8 | round<<15. The class is a mask away. The text of a slot lives in a
 * ring of the last ERR_SLOTS errors of this process. The round distinguishes an old code from a new
 * one. Codes and classes added by users are above MPI_ERR_LASTCODE (bit 30). MPI_SUCCESS is 0.
 * Every room from L2 upwards returns such codes. Start with err_make(). */
#ifndef OBJ_ERR_H
#define OBJ_ERR_H

#include <stddef.h>

enum { ERR_SLOTS = 128, ERR_TEXT = 400, ERR_CLASS_MASK = 0x7f };

/* A new error code of `cls` with its text: name the call, the argument and the value. */
int err_make(int cls, const char *fmt, ...) __attribute__((cold, format(printf, 2, 3)));
int err_class(int code);
/* Text of a code for MPI_Error_string; if its slot was reused, the text of its class. */
void err_text(int code, char *buf, size_t len);
/* Prefix "call: " to a text without MPI call: rooms do not always have the call that they work
 * for. */
void err_name(int code, const char *call);
/* The same, and instead of the call that the text names: it may have been made in another one than
 * the one that returns it. */
void err_returned_by(int code, const char *call);
/* Returns code; or, if its text is lost, a code of the same class with this text. Equal texts share
 * a slot, so that other texts stay. */
int err_retell(int code, const char *fmt, ...) __attribute__((cold, format(printf, 2, 3)));
/* Whether code is one that MPI_Error_class and MPI_Error_string accept. */
int err_valid(int code);
/* "MPI_ERR_RMA_SYNC" and the like; NULL: a class that the program added. */
const char *err_class_name(int cls);
/* -errno of a lower room to an MPI error: class by errno, text "what: strerror". */
int err_from_errno(int neg_errno, const char *what) __attribute__((cold));

/* Classes, codes and texts added by the user (MPI-3.1 8.5). MPI error codes. */
int err_add_class(int *cls);
int err_add_code(int cls, int *code);
int err_add_string(int code, const char *text);
int err_delete(int code, int is_class); /* a class or code: not while codes of the class exist */
int err_delete_string(int code);
/* what MPI_LASTUSEDCODE points to; the address is good until MPI_Finalize */
int *err_last_used(void);

struct comm;
struct errhandler; /* group of MPI_Errhandler objects, see errhandler.c */

/* Call the error handler that belongs to the object; returns the code for the caller.
 * NULL comm: comm_of_none()'s. `call` names the MPI function. */
int err_report_comm(struct comm *c, int code, const char *call) __attribute__((cold));
/* For windows: the errhandler object, the window's handle and its name (NULL or "": none). */
int err_report_win(struct errhandler *eh, int win_handle, const char *name, int code,
                   const char *call);
/* For files: the handle is a pointer. */
int err_report_file(struct errhandler *eh, void *file, int code, const char *call);

#endif
